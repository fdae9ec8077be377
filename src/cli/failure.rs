//! What ends a run early: one message, exit status 2.

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
}

impl Failure {
    /// Whether the reader of our output has seen enough: that is no failure of ours.
    pub fn is_unread(&self) -> bool {
        match self {
            Failure::Io(error) => error.kind() == io::ErrorKind::BrokenPipe,
            Failure::Output(error) => error.is_unread(),
            Failure::Input(_) | Failure::Usage(_) => false,
        }
    }

    /// Something is wrong with a small text file given by an option.
    pub fn in_file(path: &Path, problem: impl std::fmt::Display) -> Failure {
        Failure::Usage(format!("{}: {problem}", path.display()))
    }
}
