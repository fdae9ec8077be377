//! What `--json` writes: one object, with the version of its schema, into a file or onto standard output.
//!
//! Where data go to standard output, words for people do not: only the summary lines are said, on standard error. There
//! are no times in a document: the same command on the same input writes the same bytes.

use super::arguments::JsonArgument;
use super::failure::Failure;
use crate::provenance::Provenance;
use crate::report::output::Staged;
use crate::report::streams;
use serde::Serialize;
use std::io::Write;
use std::path::Path;

/// A document.
#[derive(Serialize)]
pub struct Document<T> {
    /// Raised by one when a key changes its meaning or goes away.
    schema_version: u32,
    seqcon: &'static str,
    #[serde(flatten)]
    content: T,
}

impl<T: Serialize> Document<T> {
    pub fn new(schema_version: u32, content: T) -> Document<T> {
        Document { schema_version, seqcon: Provenance::VERSION, content }
    }
}

impl JsonArgument {
    /// The file that is to be written, for who looks after clashes.
    pub fn path(&self) -> Option<&Path> {
        self.json.as_deref()
    }

    /// Whether the document goes to standard output.
    pub fn takes_stdout(&self) -> bool {
        self.json.as_deref().is_some_and(|path| path.as_os_str() == "-")
    }

    /// Writes the document, if it is wanted.
    pub fn write<T: Serialize>(&self, document: impl FnOnce() -> T) -> Result<(), Failure> {
        let Some(path) = &self.json else { return Ok(()) };
        let document = document();
        let mut staged = Staged::new();
        staged.write(path, &mut |out| {
            serde_json::to_writer_pretty(&mut *out, &document)?;
            writeln!(out)
        })?;
        Ok(staged.put_in_place()?)
    }
}

/// Where summary lines go: to standard error, if standard output has data.
pub fn summary_lines(stdout_is_taken: bool) -> Box<dyn Write> {
    if stdout_is_taken { Box::new(streams::errors()) } else { Box::new(streams::text()) }
}
