//! Other people's model checkers, started for real. Nothing is installed here: `.ci/run` does that where it can.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A program that a variable names or that is on the path; if there is none, says so, visibly, and the caller skips its
/// test. With `SEQCON_REQUIRE_…=1` that is a failure.
fn program(name: &str, variable: &str) -> Option<PathBuf> {
    if let Some(named) = std::env::var_os(format!("SEQCON_{variable}")) {
        return Some(PathBuf::from(named));
    }
    let directories: Vec<PathBuf> = std::env::var_os("PATH").map(|path| std::env::split_paths(&path).collect())?;
    let found = directories.iter().map(|directory| directory.join(name)).find(|file| file.is_file());
    if found.is_none() {
        let required = std::env::var_os(format!("SEQCON_REQUIRE_{variable}")).is_some_and(|value| value != "0");
        assert!(!required, "SEQCON_REQUIRE_{variable} is set, and there is no {name}");
        eprintln!("SKIPPED: no {name} (SEQCON_{variable} names one)");
    }
    found
}

/// `scripts/spin2aut` in this directory, if there is SPIN, a C compiler and Python; it looks for them itself.
pub fn spin2aut(directory: &Path, arguments: &[&str]) -> Option<Output> {
    program("spin", "SPIN")?;
    program("cc", "CC")?;
    program("python3", "PYTHON")?;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/spin2aut");
    let output =
        Command::new("python3").arg(script).args(arguments).current_dir(directory).stdin(Stdio::null()).output();
    Some(output.expect("python3 runs"))
}

/// umaudemc, the tool that explores Maude's models, in this directory.
pub fn umaudemc(directory: &Path, arguments: &[&str]) -> Option<Output> {
    let program = program("umaudemc", "UMAUDEMC")?;
    Some(Command::new(program).args(arguments).current_dir(directory).stdin(Stdio::null()).output().expect("it runs"))
}

/// tla-checker, in this directory.
pub fn tla_checker(directory: &Path, arguments: &[&str]) -> Option<Output> {
    let program = program("tla", "TLA_CHECKER")?;
    Some(Command::new(program).args(arguments).current_dir(directory).stdin(Stdio::null()).output().expect("it runs"))
}
