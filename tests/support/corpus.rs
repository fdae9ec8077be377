//! Inputs by other people, which are not part of the project: tests read them in place, if they are there.

use std::path::{Path, PathBuf};

/// The corpus next to the project; if it is absent, says so, visibly, and the caller skips its test.
pub fn corpus_dir() -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus");
    if path.is_dir() {
        return Some(path);
    }
    eprintln!("SKIPPED: no corpus at {}", path.display());
    None
}
