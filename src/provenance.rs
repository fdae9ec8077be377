//! How a result came about: version, command, inputs with their hashes, so that a reader of a report can repeat it.

use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What is needed to repeat a run.
#[derive(Clone, Debug, Default)]
pub struct Provenance {
    /// The command as it was typed, quoted for a shell.
    pub command: String,
    /// What was read, in the order of the command.
    pub inputs: Vec<Input>,
    /// What was wrong with other inputs of the same command, of which nothing is told.
    pub refused: Vec<String>,
}

/// A file that was read.
#[derive(Clone, Debug)]
pub struct Input {
    /// Its name, as it was given.
    pub path: String,
    /// The SHA-256 of its bytes in hexadecimal digits; none for standard input, which cannot be read again.
    pub sha256: Option<String>,
}

impl Provenance {
    /// The version of this program.
    pub const VERSION: &'static str = env!("CARGO_PKG_VERSION");

    /// The command line, and the files that were read.
    #[must_use]
    pub fn of(arguments: impl IntoIterator<Item = String>, inputs: Vec<Input>) -> Provenance {
        let command: Vec<String> = arguments.into_iter().map(|argument| quoted(&argument)).collect();
        Provenance { command: command.join(" "), inputs, refused: Vec::new() }
    }
}

/// The hashes of what was read, noted when it is read: at the end of a run another file may stand in its place.
#[derive(Clone, Debug, Default)]
pub struct Hashes(Arc<Mutex<Noted>>);

#[derive(Debug, Default)]
struct Noted {
    is_wanted: bool,
    known: BTreeMap<PathBuf, String>,
}

impl Hashes {
    fn noted(&self) -> MutexGuard<'_, Noted> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on, hashes are noted: a report will say them. They take time, so nobody else has them made.
    pub fn want(&self) {
        self.noted().is_wanted = true;
    }

    /// Notes the hash of what was read from a path.
    pub fn note(&self, path: &Path, hash: impl FnOnce() -> Option<String>) {
        let mut noted = self.noted();
        if noted.is_wanted {
            noted.known.extend(hash().map(|hash| (path.to_owned(), hash)));
        }
    }

    /// What was read, with its hash if it was noted.
    #[must_use]
    pub fn input(&self, path: &Path) -> Input {
        Input { path: path.display().to_string(), sha256: self.noted().known.get(path).cloned() }
    }
}

/// The SHA-256 in hexadecimal digits.
#[must_use]
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// An argument as a POSIX shell takes it.
fn quoted(argument: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./,=:+@%".contains(c);
    if !argument.is_empty() && argument.chars().all(is_plain) {
        argument.to_owned()
    } else {
        format!("'{}'", argument.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_quoted_where_a_shell_needs_it() {
        assert_eq!(quoted("specs/mp.slco"), "specs/mp.slco");
        assert_eq!(quoted("it's here"), r"'it'\''s here'");
        assert_eq!(quoted(""), "''");
    }

    #[test]
    fn the_hash_is_that_of_other_tools() {
        // The example of FIPS 180-4.
        let known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sha256(b"abc"), known);
    }
}
