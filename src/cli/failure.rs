//! What ends a run early: one message, and exit status 2, or 3 if a limit was reached.

use crate::lts::error::Error;
use crate::report::output::OutputError;
use std::io;
use std::path::Path;

/// Why a command could not be carried out.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The input cannot be read; the message has file, line and column.
    #[error(transparent)]
    Input(#[from] Error),
    /// An output file cannot be written.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// Standard output cannot be written.
    #[error("standard output: {0}")]
    Io(#[from] io::Error),
    /// Something else is wrong with the command or one of its files.
    #[error("{0}")]
    Usage(String),
    /// A limit was reached before anything could be said.
    #[error("{0}")]
    Exhausted(String),
    /// What is asked for is known not to be there.
    #[error("{0}")]
    Nothing(String),
}

impl Failure {
    /// The exit status: 3 if a limit was reached, 1 if there is nothing to be had, else 2.
    pub fn status(&self) -> u8 {
        match self {
            Failure::Nothing(_) => 1,
            Failure::Exhausted(_) => 3,
            Failure::Input(error) if error.exhausted().is_some() => 3,
            _ => 2,
        }
    }

    /// Something is wrong with a small text file given by an option.
    pub fn in_file(path: &Path, problem: impl std::fmt::Display) -> Failure {
        Failure::Usage(format!("{}: {problem}", path.display()))
    }
}
