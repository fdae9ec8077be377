//! The module in `python/`, by its own tests, and the script that a document shows. Skipped, visibly, without Python.

use crate::support::command::text;
use std::path::Path;
use std::process::{Command, Output};

/// Runs Python in the project's directory with the module and the program at hand.
fn python(arguments: &[&str]) -> Option<Output> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = Command::new("python3")
        .args(arguments)
        .current_dir(root)
        .env("SEQCON", env!("CARGO_BIN_EXE_seqcon"))
        .env("PYTHONPATH", root.join("python"))
        // The project's folders stay as they are.
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output();
    if let Err(error) = &output {
        eprintln!("SKIPPED: no python3: {error}");
    }
    output.ok()
}

#[test]
fn the_module_passes_its_own_tests() {
    let Some(output) = python(&["-m", "unittest", "discover", "-s", "python/tests", "-t", "python"]) else { return };
    let said = text(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("Ran 11 tests"), "{said}");
}

#[test]
fn the_script_of_the_document_prints_the_table() {
    let Some(output) = python(&["docs/howto/examples/table.py"]) else { return };
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(text(&output.stdout), "peterson tso 20 2\npeterson pso 20 4\nmp tso 9 0\nmp pso 9 1\n");
}
