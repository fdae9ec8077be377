//! Commands and options around facts: of state spaces in parts, by other engines, and as small state spaces.

use super::{InputArguments, MergeArguments};
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

#[derive(Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct FactsArguments {
    #[command(subcommand)]
    pub command: Option<FactsCommand>,
    #[command(flatten)]
    pub input: InputArguments,
    #[command(flatten)]
    pub merging: MergeArguments,
    /// Where to write the facts [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Do one phase for one shard, on a machine of its own: first the sets of all shards, then the steps of each;
    /// 'seqcon facts merge' makes the facts of all steps
    #[arg(long, value_enum, value_name = "PHASE", requires = "output", conflicts_with = "merge")]
    pub phase: Option<PhaseArgument>,
    /// With --phase steps: the sets of all shards
    #[arg(long, value_name = "FILES", num_args = 1.., requires = "phase")]
    pub sets: Vec<PathBuf>,
    /// Print queries that do it where the data are: in the language of an engine, over the tables transitions(src,
    /// label, dst) and labels, which 'seqcon labels' writes. Their result is a table that can be given wherever a state
    /// space can
    #[arg(long, value_enum, value_name = "ENGINE", exclusive = true)]
    pub sql: Option<SqlArgument>,
}

#[derive(Subcommand)]
pub enum FactsCommand {
    /// Make the facts of a state space from the tables that --phase steps wrote for its shards
    Merge {
        #[command(flatten)]
        input: Box<InputArguments>,
        /// Where to write the facts [default: standard output]
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
}

/// What is done with a shard.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PhaseArgument {
    /// Write what its transitions say is enabled in each state
    Sets,
    /// Write its steps, with what all shards say is enabled
    Steps,
}

/// An engine for queries.
#[derive(Clone, Copy, ValueEnum)]
pub enum SqlArgument {
    Duckdb,
    Spark,
    Datafusion,
}

#[derive(Args)]
pub struct LabelsArguments {
    #[command(flatten)]
    pub input: InputArguments,
    /// The files are no state spaces, but lists of label texts, a line each
    #[arg(long)]
    pub list: bool,
    /// Where to write the table: text, id, thread, kind, meaning [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[derive(Args)]
pub struct ReduceArguments {
    #[command(flatten)]
    pub input: InputArguments,
    /// Where to write the state space, as .aut with labels in the native dialect [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}
