//! Programs by other people that tests are judged by: used in place, if they are there.

use std::path::{Path, PathBuf};

/// The programs of these names next to the project; if one is absent, says so, visibly, and the caller skips its test.
pub fn tools<const N: usize>(names: [&str; N]) -> Option<[PathBuf; N]> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/tools");
    let paths = names.map(|name| folder.join(name));
    match paths.iter().find(|path| !path.is_file()) {
        None => Some(paths),
        Some(absent) => {
            eprintln!("SKIPPED: no {}", absent.display());
            None
        }
    }
}
