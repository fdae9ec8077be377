//! How a result came about: version, command, inputs with their hashes, so that a reader of a report can repeat it.

use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// What is needed to repeat a run.
#[derive(Clone, Debug, Default)]
pub struct Provenance {
    /// The command as it was typed, quoted for a shell.
    pub command: String,
    /// What was read, in the order of the command.
    pub inputs: Vec<Input>,
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

    /// The command line, and the files that it names as inputs. Reads all of them.
    ///
    /// # Errors
    /// If an input cannot be read.
    pub fn of<'a>(
        arguments: impl IntoIterator<Item = String>,
        inputs: impl IntoIterator<Item = &'a Path>,
    ) -> io::Result<Provenance> {
        let command: Vec<String> = arguments.into_iter().map(|argument| quoted(&argument)).collect();
        let inputs = inputs.into_iter().map(|path| Ok(Input { path: path.display().to_string(), sha256: hash(path)? }));
        Ok(Provenance { command: command.join(" "), inputs: inputs.collect::<io::Result<_>>()? })
    }
}

fn hash(path: &Path) -> io::Result<Option<String>> {
    // What is not a regular file has been read already, and is gone.
    if !path.is_file() {
        return Ok(None);
    }
    let mut file = File::open(path)?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        match file.read(&mut buffer)? {
            0 => break,
            read => hasher.update(&buffer[..read]),
        }
    }
    Ok(Some(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()))
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
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("abc");
        std::fs::write(&path, "abc").expect("written");
        // The example of FIPS 180-4.
        let known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(hash(&path).expect("readable").as_deref(), Some(known));
    }
}
