//! What ends a run early: one message, and exit status 2, or 3 if a limit ended it.

use crate::lts::error::Error;
use crate::report::output::OutputError;
use std::io;
use std::path::Path;
use std::process::ExitCode;

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
    /// A limit was reached, and a part of the answer would be of no use.
    #[error("{0}")]
    Limit(String),
}

impl Failure {
    /// What the command ends with.
    pub fn status(&self) -> ExitCode {
        match self {
            Failure::Limit(_) => ExitCode::from(3),
            Failure::Input(_) | Failure::Output(_) | Failure::Io(_) | Failure::Usage(_) => ExitCode::from(2),
        }
    }

    /// Something is wrong with a small text file given by an option.
    pub fn in_file(path: &Path, problem: impl std::fmt::Display) -> Failure {
        Failure::Usage(format!("{}: {problem}", path.display()))
    }
}
