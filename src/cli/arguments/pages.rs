//! `seqcon models`, `help`, `man` and `completions`: what is known without any input.

use super::JsonArgument;
use clap::{Args, Subcommand};

#[derive(Args)]
pub struct ModelsArguments {
    #[command(flatten)]
    pub document: JsonArgument,
    #[command(subcommand)]
    pub command: Option<ModelsCommand>,
}

#[derive(Subcommand)]
pub enum ModelsCommand {
    /// Print a model's table and the verdicts on the litmus programs, computed by the analysis
    Show {
        /// A name from 'seqcon models', or a TOML file with a table
        #[arg(value_name = "NAME|FILE")]
        model: String,
        /// Print the table as TOML: the form of a file for --mm
        #[arg(long, conflicts_with = "json")]
        toml: bool,
        #[command(flatten)]
        document: JsonArgument,
    },
}

#[derive(Args)]
pub struct HelpArguments {
    /// A command, or slco, labels, models, method, formats
    pub topic: Option<String>,
}

#[derive(Args)]
pub struct ManArguments {
    /// A command [default: seqcon itself]
    pub command: Option<String>,
}

#[derive(Args)]
pub struct CompletionsArguments {
    /// Whose
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}
