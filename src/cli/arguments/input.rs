//! What is read, and how.

use super::{LanguageArgument, LimitArguments};
use crate::provenance::Hashes;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Where the state space comes from and how it is read.
#[derive(Args)]
pub struct InputArguments {
    /// Specifications (.slco, .litmus, .txt, .trench, .rmm, .rmx), state spaces (.aut, .aut.gz, .aut.zst, .parquet,
    /// .dot, - for standard input) or facts files; each is a model of its own. Standard input is a state space, unless
    /// --language is given
    #[arg(required = true, value_name = "FILE")]
    pub inputs: Vec<PathBuf>,
    #[command(flatten)]
    pub language: LanguageArgument,
    /// How labels are written: native, rw (the published mCRL2 translation), or a TOML file with a regular expression
    /// [default: detected]
    #[arg(long, value_name = "NAME|FILE", help_heading = "Input")]
    pub dialect: Option<PathBuf>,
    /// Labels of internal steps, comma-separated
    #[arg(long, value_name = "NAMES", default_value = "tau", value_delimiter = ',', help_heading = "Input")]
    pub tau: Vec<String>,
    /// Labels that match this regular expression are internal steps, too
    #[arg(long, value_name = "PATTERN", help_heading = "Input")]
    pub internal: Option<String>,
    /// How backslashes in labels are meant
    #[arg(long, value_enum, default_value = "none", help_heading = "Input")]
    pub escapes: EscapesArgument,
    /// State spaces have a self-loop for every condition that is refused: presume none besides
    #[arg(long, help_heading = "Input")]
    pub refusals_shown: bool,
    /// The inputs are parts of one state space, with common numbers for its states and transitions split anyhow; each
    /// has the header of the whole, or none. Or they are the tables that 'seqcon facts --phase steps' wrote for them
    #[arg(long, help_heading = "Input")]
    pub shards: bool,
    /// Of a table that does not tell (of steps, or in Parquet from another tool): it has the whole state space, and the
    /// initial state leads to every state. Else it is an error
    #[arg(long, help_heading = "Input")]
    pub whole: bool,
    /// Wrong counts in the header are warnings, not errors
    #[arg(long, help_heading = "Input")]
    pub lenient: bool,
    /// Read what an interrupted generator left behind: no counts in the header, the last line cut off
    #[arg(long, help_heading = "Input")]
    pub recover: bool,
    #[command(flatten)]
    pub limits: LimitArguments,
    /// No argument: what was read for them.
    #[arg(skip)]
    pub hashes: Hashes,
}

#[derive(Clone, Copy, ValueEnum)]
pub enum EscapesArgument {
    /// As themselves (mCRL2, CADP)
    None,
    /// As LTSmin writes them
    Ltsmin,
}
