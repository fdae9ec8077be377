//! The command `seqcon`, as a user runs it.

use std::path::Path;
use std::process::{Command, Output};

/// `seqcon` with these arguments, in the project's directory.
pub fn command(arguments: &[&str]) -> Command {
    command_in(env!("CARGO_MANIFEST_DIR"), arguments)
}

/// `seqcon` with these arguments, in another directory.
pub fn command_in(directory: impl AsRef<Path>, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_seqcon"));
    command.args(arguments).current_dir(directory);
    command
}

/// Runs `seqcon` in the project's directory.
pub fn seqcon(arguments: &[&str]) -> Output {
    command(arguments).output().expect("seqcon runs")
}

/// Runs `seqcon` in the project's directory; gives exit status, standard output, standard error.
pub fn run(arguments: &[&str]) -> (i32, String, String) {
    let output = seqcon(arguments);
    let status = output.status.code().unwrap_or_else(|| panic!("{arguments:?}: {}", output.status));
    (status, stdout(&output), stderr(&output))
}

/// What a run printed.
pub fn stdout(output: &Output) -> String {
    text(&output.stdout)
}

/// What a run had to say.
pub fn stderr(output: &Output) -> String {
    text(&output.stderr)
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("output is UTF-8")
}
