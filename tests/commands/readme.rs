//! Every command that the README and the documents show is executed, and its output is what they show.
//!
//! A `console` block has commands after `$ ` and their output below; a block with commands only shows no output. The
//! commands of one document run one after the other in one directory of their own, in which `specs/`, `lts/` and the
//! like are those of the project, so they may write files. A block that begins with "```LANGUAGE NAME.EXTENSION" is a
//! file of that name there, for the commands behind it. `SEQCON_BLESS=1 cargo test --test commands readme::`
//! writes the real output into the blocks.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// A directory in which the project's own files can be named as in its root.
fn workplace() -> TempDir {
    let directory = TempDir::new().unwrap();
    for name in ["specs", "lts", "litmus", "docs", "scripts"] {
        std::os::unix::fs::symlink(root().join(name), directory.path().join(name)).unwrap();
    }
    directory
}

/// What the command prints, with the time it took made constant.
fn run(command: &str, directory: &Path) -> String {
    let binary = Path::new(env!("CARGO_BIN_EXE_seqcon"));
    let path = format!("{}:{}", binary.parent().expect("in a directory").display(), std::env::var("PATH").unwrap());
    let output = Command::new("sh")
        .args(["-c", command])
        .current_dir(directory)
        .env("PATH", path)
        // Help texts are as wide as the terminal.
        .env_remove("COLUMNS")
        .stdin(Stdio::null())
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

/// The name of the file that a block shows, if its first line is "```LANGUAGE NAME.EXTENSION".
fn file_of_block(line: &str) -> Option<&str> {
    let (_, name) = line.strip_prefix("```")?.split_once(' ')?;
    let is_name = !name.contains(['/', ' ', '"']) && name.contains('.');
    is_name.then_some(name)
}

/// The document with the output of every command as it really is.
fn with_real_output(document: &str) -> (String, usize) {
    let directory = workplace();
    let mut result = String::new();
    let mut commands = 0;
    let mut in_block = false;
    // The file that the block at hand shows, and its text.
    let mut shown: Option<(PathBuf, String)> = None;
    for line in document.lines() {
        if line == "```console" {
            in_block = true;
        } else if line == "```" {
            in_block = false;
            if let Some((path, text)) = shown.take() {
                std::fs::write(path, text).unwrap();
            }
        } else if let Some(name) = file_of_block(line) {
            shown = Some((directory.path().join(name), String::new()));
        } else if let Some((_, text)) = &mut shown {
            text.push_str(line);
            text.push('\n');
        } else if in_block {
            let Some(command) = line.strip_prefix("$ ") else { continue };
            commands += 1;
            writeln!(result, "{line}").unwrap();
            if let Some(arguments) = command.strip_prefix("cargo run --release -- ") {
                // The two commands at the top are shown without their output.
                run(&format!("seqcon {arguments}"), directory.path());
            } else if command == "cargo test" {
                // Running it here would not end; `.ci/run` does.
                let ci = std::fs::read_to_string(root().join(".ci/run")).expect("the CI script exists");
                assert!(ci.lines().any(|line| line == command), ".ci/run does not run {command:?}");
            } else {
                result.push_str(&run(command, directory.path()));
            }
            continue;
        }
        writeln!(result, "{line}").unwrap();
    }
    (result, commands)
}

/// Executes the commands of a document; gives how many there were.
fn check(path: &Path) -> usize {
    let document = std::fs::read_to_string(path).unwrap();
    let (real, commands) = with_real_output(&document);
    if std::env::var_os("SEQCON_BLESS").is_some() {
        std::fs::write(path, real).unwrap();
    } else {
        let name = path.display();
        assert!(real == document, "{name} is not what the commands print; SEQCON_BLESS=1 updates it. Real:\n{real}");
    }
    commands
}

#[test]
fn every_command_of_the_readme_prints_what_it_shows() {
    let commands = check(&root().join("README.md"));
    assert!(commands >= 10, "only {commands} commands were found");
}

#[test]
fn every_command_of_the_tutorial_prints_what_it_shows() {
    let commands = check(&root().join("docs/tutorial.md"));
    assert!(commands >= 8, "only {commands} commands were found");
}

#[test]
fn every_command_of_the_other_documents_prints_what_it_shows() {
    let mut documents = vec![root().join("docs")];
    let mut commands = 0;
    while let Some(path) = documents.pop() {
        if path.is_dir() {
            documents.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|extension| extension == "md") && !path.ends_with("tutorial.md") {
            commands += check(&path);
        }
    }
    assert!(commands >= 10, "only {commands} commands were found");
}

/// A link to a file that is not there is worse than none.
#[test]
fn links_between_documents_lead_somewhere() {
    let link = regex::Regex::new(r"\]\(([\w./+-]+)(?:#[^)]*)?\)").unwrap();
    let mut documents = vec![root().join("README.md"), root().join("docs")];
    let mut links = 0;
    while let Some(path) = documents.pop() {
        if path.is_dir() {
            documents.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|extension| extension == "md") {
            let text = std::fs::read_to_string(&path).unwrap();
            for captures in link.captures_iter(&text) {
                links += 1;
                let target = path.parent().unwrap().join(&captures[1]);
                assert!(target.exists(), "{}: {} does not exist", path.display(), &captures[1]);
            }
        }
    }
    assert!(links >= 10, "only {links} links were found");
}
