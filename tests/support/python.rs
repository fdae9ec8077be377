//! A Python with packages by other people, for tests against them.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The one that `scripts/sql-engines` makes, or that `SEQCON_PYTHON` names, if it has these packages. Says it if not;
/// with `SEQCON_REQUIRE_PYTHON` that is an error.
pub fn python_with(packages: &str) -> Option<PathBuf> {
    let usual = || Path::new(env!("CARGO_MANIFEST_DIR")).join("target/sql-engines/bin/python");
    let python = std::env::var_os("SEQCON_PYTHON").map_or_else(usual, PathBuf::from);
    let import = Command::new(&python).args(["-c", &format!("import {packages}")]).output();
    if import.is_ok_and(|output| output.status.success()) {
        return Some(python);
    }
    let required = std::env::var_os("SEQCON_REQUIRE_PYTHON").is_some_and(|value| value != "0");
    assert!(!required, "SEQCON_REQUIRE_PYTHON is set, and {} has no {packages}", python.display());
    eprintln!("SKIPPED: {} has no {packages}; scripts/sql-engines puts it there", python.display());
    None
}
