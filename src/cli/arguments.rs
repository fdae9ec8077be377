//! The clap definitions. Every text of `--help` is a doc comment here.

mod analyse;
mod engine;
mod explore;
mod formats;
mod input;
mod limits;
mod pages;
mod shards;
mod specification;
mod status;
mod verify;

pub use analyse::{
    AnalyseArguments, AtomicityArgument, ConflictsArgument, CyclesArgument, PlacementArgument, ProfileArgument,
};
pub use engine::{EngineArguments, PropertyArgument};
pub use explore::{
    CheckArguments, ConvertArguments, ExploreArguments, ExportArguments, ExportLanguage, InfoArguments, LitmusArguments,
};
pub use formats::{CompareArguments, FormatArguments, MatrixArguments, MergeArguments};
pub use input::{EscapesArgument, InputArguments};
pub use limits::{BudgetArguments, LimitArguments};
pub use pages::{CompletionsArguments, HelpArguments, ManArguments, ModelsArguments, ModelsCommand};
pub use shards::{FactsArguments, FactsCommand, LabelsArguments, PhaseArgument, ReduceArguments, SqlArgument};
pub use specification::{JsonArgument, LanguageArgument, SpecificationArguments, refuse_language_without_stdin};
pub use verify::{ConfirmArgument, ConfirmationArguments, FixArguments, VerifyArguments};

use clap::{Parser, Subcommand};
use status::EXIT_STATUS;

/// Finds where a concurrent program needs fences and locks to stay sequentially consistent on weak memory.
///
/// seqcon explores a specification, or reads the state space that a model checker explored under sequential
/// consistency, and tells which fences and locks keep the program sequentially consistent on TSO (x86), PSO (SPARC),
/// ARMv7 and POWER: the fewest for the program or for its event graph, as the output says, each with a cycle that
/// shows why.
#[derive(Parser)]
#[command(version, max_term_width = 100, after_help = EXIT_STATUS, disable_help_subcommand = true)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
    /// Number of threads for reading [default: all cores]; the output does not depend on it
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Print only summary lines, 'name=value name=value …', one for each result (for lists, only the names). What
    /// must be known is still said on standard error, and data that are asked for are not touched
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    quiet: bool,
    /// Also tell on standard error what is being done
    #[arg(short, long, global = true)]
    verbose: bool,
}

/// How much is said.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verbosity {
    Quiet,
    Normal,
    Verbose,
}

impl Cli {
    pub fn verbosity(&self) -> Verbosity {
        match (self.quiet, self.verbose) {
            (true, _) => Verbosity::Quiet,
            (_, true) => Verbosity::Verbose,
            _ => Verbosity::Normal,
        }
    }
}

#[derive(Subcommand)]
pub enum Command {
    /// Tell where fences and locks are needed
    #[command(visible_alias = "analyze", after_help = status::ANALYSE)]
    Analyse(Box<AnalyseArguments>),
    /// Tell what is wrong in inputs before anything is asked of them, for editors and CI: syntax, names, types, what
    /// never happens
    #[command(after_help = status::CHECK)]
    Check(CheckArguments),
    /// Tell what changed between two reports (report.json): what was put in, what is needed now and no longer
    #[command(after_help = status::COMPARE)]
    Compare(CompareArguments),
    /// Write a state space in another format: .aut, .aut.gz, .aut.zst, .parquet
    #[command(after_help = status::CONVERT)]
    Convert(ConvertArguments),
    /// Explore the state space of a specification, count it, and write it as .aut or .parquet
    #[command(after_help = status::EXPLORE)]
    Explore(ExploreArguments),
    /// Write a specification in the language of another tool
    #[command(after_help = status::EXPORT)]
    Export(ExportArguments),
    /// Extract the facts of a state space: all that an analysis needs of it, in a small file
    #[command(after_help = status::FACTS)]
    Facts(Box<FactsArguments>),
    /// Tell what is in specifications, state spaces and facts files: threads, instructions, variables, how many states
    #[command(after_help = status::INFO)]
    Info(InfoArguments),
    /// List the labels of a state space as a table: what the queries of 'seqcon facts --sql' need
    #[command(after_help = status::LABELS)]
    Labels(LabelsArguments),
    /// Tell whether the final conditions of litmus tests hold, by all executions that a memory model's axioms allow
    #[command(after_help = status::LITMUS)]
    Litmus(LitmusArguments),
    /// Show where synchronisation is needed under every built-in memory model, or some, side by side
    #[command(after_help = status::MATRIX)]
    Matrix(MatrixArguments),
    /// Write the smallest state space with the same facts: one to send to a colleague
    #[command(after_help = status::REDUCE)]
    Reduce(ReduceArguments),
    /// Run a specification under a weak memory model, with the suggested fences and locks in place, or as it is for
    /// properties of states: is it right?
    #[command(after_help = status::VERIFY)]
    Verify(VerifyArguments),
    /// Write a specification with the fences and atomic instructions that it needs put in
    #[command(after_help = status::FIX)]
    Fix(FixArguments),
    /// List the memory models, or show one: its table and what it does to the litmus programs
    #[command(after_help = status::PAGE)]
    Models(ModelsArguments),
    /// List the engines of 'analyse': which property each guarantees, for which memory models
    #[command(after_help = status::PAGE)]
    Engines,
    /// Print the help of a command, or a page: slco, labels, models, method, formats
    #[command(after_help = status::PAGE)]
    Help(HelpArguments),
    /// Print the manual page of seqcon, or of one of its commands, for man
    #[command(after_help = status::PAGE)]
    Man(ManArguments),
    /// Print a script that completes commands and options in a shell
    #[command(after_help = status::PAGE)]
    Completions(CompletionsArguments),
}

fn positive(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|&n| n > 0).ok_or_else(|| "a number from 1 is expected".to_owned())
}
