//! Every command that the README and the documents show is executed, and its output is what they show.
//!
//! A `console` block has commands after `$ ` and their output below; a block with commands only shows no output.
//! `SEQCON_BLESS=1 cargo test --test readme` writes the real output into the blocks.

// A panic is how a test fails.
#![allow(clippy::unwrap_used)]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// What the command prints, with the time it took made constant.
fn run(command: &str) -> String {
    let binary = Path::new(env!("CARGO_BIN_EXE_seqcon"));
    let path = format!("{}:{}", binary.parent().expect("in a directory").display(), std::env::var("PATH").unwrap());
    let output = Command::new("sh")
        .args(["-c", command])
        .current_dir(root())
        .env("PATH", path)
        .output()
        .expect("a shell runs the command");
    // With a table on standard output the summary line goes to standard error, which the document does not show.
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.lines().all(|line| line.starts_with("model=")), "{command}: {errors}");
    assert!(output.status.success(), "{command}: {}", output.status);
    let text = String::from_utf8(output.stdout).expect("output is UTF-8");
    let seconds = regex::Regex::new(r"seconds=\d+\.\d+").expect("a valid expression");
    seconds.replace_all(&text, "seconds=0.00").into_owned()
}

/// The document with the output of every command as it really is.
fn with_real_output(document: &str) -> (String, usize) {
    let mut result = String::new();
    let mut commands = 0;
    let mut in_block = false;
    for line in document.lines() {
        if line == "```console" {
            in_block = true;
        } else if line == "```" {
            in_block = false;
        } else if in_block {
            let Some(command) = line.strip_prefix("$ ") else { continue };
            commands += 1;
            writeln!(result, "{line}").unwrap();
            if let Some(arguments) = command.strip_prefix("cargo run --release -- ") {
                // The two commands at the top are shown without their output.
                run(&format!("seqcon {arguments}"));
            } else if command == "cargo test" {
                // Running it here would not end; `.ci/run` does.
                let ci = std::fs::read_to_string(root().join(".ci/run")).expect("the CI script exists");
                assert!(ci.lines().any(|line| line == command), ".ci/run does not run {command:?}");
            } else {
                result.push_str(&run(command));
            }
            continue;
        }
        writeln!(result, "{line}").unwrap();
    }
    (result, commands)
}

#[test]
fn every_command_of_the_readme_prints_what_it_shows() {
    let path = root().join("README.md");
    let document = std::fs::read_to_string(&path).expect("there is a README");
    let (real, commands) = with_real_output(&document);
    assert!(commands >= 10, "only {commands} commands were found");
    if std::env::var_os("SEQCON_BLESS").is_some() {
        std::fs::write(&path, real).expect("the README can be written");
    } else {
        assert!(
            real == document,
            "the README is not what the commands print; SEQCON_BLESS=1 updates it. Real:\n{real}"
        );
    }
}
