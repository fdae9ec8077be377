//! The files in `lts/` are what the test programs' own explorer writes, byte for byte. `SEQCON_BLESS=1` writes them.

use crate::support::mini::state_space;
use crate::support::programs::bundled;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("lts")
}

#[test]
fn bundled_files_are_the_state_spaces_of_the_test_programs() {
    for (name, program) in bundled() {
        let path = folder().join(format!("{name}.aut"));
        let text = state_space(&program);
        if std::env::var_os("SEQCON_BLESS").is_some() {
            fs::write(&path, &text).expect("lts/ can be written");
        }
        let file = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert!(file == text, "{} differs from its program; SEQCON_BLESS=1 writes it anew", path.display());
        assert!(file.len() < 200_000, "{name} is too large to be bundled");
    }
}

#[test]
fn every_bundled_file_has_a_program() {
    let known: BTreeSet<String> = bundled().into_iter().map(|(name, _)| format!("{name}.aut")).collect();
    for entry in fs::read_dir(folder()).expect("lts/ is there") {
        let file = entry.expect("lts/ can be listed").file_name().into_string().expect("names are text");
        assert!(
            known.contains(&file) || !file.ends_with(".aut"),
            "lts/{file} has no program in tests/support/programs.rs"
        );
    }
}
