//! `seqcon verify` and `seqcon fix`: suggestions put to use.

use super::{AtomicityArgument, EngineArguments, JsonArgument, LimitArguments, SpecificationArguments, positive};
use crate::analysis::Offered;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

#[derive(Args)]
pub struct VerifyArguments {
    #[command(flatten)]
    pub specification: SpecificationArguments,
    /// Memory models, comma-separated: tso and pso, by machines; armv8, riscv, armv7, power and rc11, by axioms, for
    /// small programs; with --as-is also files with axioms (.cat)
    #[arg(long = "mm", value_name = "LIST", default_value = "tso", value_delimiter = ',')]
    pub memory_models: Vec<String>,
    /// Put in what this report.json suggests [default: what an analysis with these options suggests; for --never,
    /// --deadlock and --property never, final and no-deadlock: nothing]
    #[arg(long, value_name = "FILE", conflicts_with_all = ["as_is", "only_confirmed", "confirm"])]
    pub with: Option<PathBuf>,
    /// Put nothing in
    #[arg(long, conflicts_with_all = ["only_confirmed", "confirm"])]
    pub as_is: bool,
    #[command(flatten)]
    pub engine: EngineArguments,
    /// How instructions with several accesses are read [default: full, if the engine can be told; for
    /// never, final and no-deadlock: split]
    #[arg(long, value_enum, value_name = "WHICH", default_missing_value = "full", num_args = 0..=1)]
    pub atomicity: Option<AtomicityArgument>,
    #[command(flatten)]
    pub confirmation: ConfirmationArguments,
    /// Under models that are run by axioms, no instruction is taken more often than this in one execution; the output
    /// says if that leaves some out
    #[arg(long, value_name = "N", value_parser = positive, default_value = "2", help_heading = "Weak memory")]
    pub unroll: usize,
    #[command(flatten)]
    pub document: JsonArgument,
    /// Draw the run of a violation here as SVG, for a paper or a slide: one lane for each thread, and its store
    /// buffers; one picture for each memory model (- for standard output)
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub svg: Option<PathBuf>,
    #[command(flatten)]
    pub limits: LimitArguments,
}

/// Searches under a weak memory model.
#[derive(Args)]
pub struct ConfirmationArguments {
    /// Search a run for each delay (tso, pso; specifications only), or ask the axioms about each critical cycle (armv7,
    /// armv8, riscv, power, rc11). auto: with a budget of states, and no fence for what is proved infeasible; off:
    /// trust the event graph; full: as auto, with --max-weak-states for each search; mark (if no value is given): only
    /// tell which were confirmed (delays.csv; --verbose shows the runs), fences are for all [default: auto]
    #[arg(long, value_enum, value_name = "HOW", default_missing_value = "mark", num_args = 0..=1, require_equals = true, hide_possible_values = true, help_heading = "Weak memory")]
    pub confirm: Option<ConfirmArgument>,
    /// The same as --confirm=full
    #[arg(long, help_heading = "Weak memory")]
    pub only_confirmed: bool,
    /// What may be put in where axioms judge cycles (armv7, armv8, riscv, power, rc11): the cheapest mixture of what
    /// the architecture has (lwsync, ldar, stlr, dmb ishst, ...), or full fences only
    #[arg(long, value_enum, value_name = "WHICH", default_value = "mixture", help_heading = "Weak memory")]
    pub kinds: KindsArgument,
    /// The most writes that wait in a store buffer; if that was not enough, and nothing was found, there is no
    /// verdict (status 3)
    #[arg(long, value_name = "N", value_parser = positive, default_value = "4", help_heading = "Weak memory")]
    pub buffer_bound: usize,
    /// The most states of a search under a weak memory model; the output says if that was not enough
    #[arg(long, value_name = "N", value_parser = positive, default_value = "2000000", help_heading = "Weak memory")]
    pub max_weak_states: usize,
}

/// What may be put in where axioms judge cycles.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum KindsArgument {
    Mixture,
    Full,
}

impl KindsArgument {
    /// As the analysis calls it.
    pub fn offered(self) -> Offered {
        match self {
            KindsArgument::Mixture => Offered::Mixture,
            KindsArgument::Full => Offered::Full,
        }
    }
}

/// What is done about delays that no run may need.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ConfirmArgument {
    Auto,
    Off,
    Full,
    Mark,
}

#[derive(Args)]
pub struct FixArguments {
    #[command(flatten)]
    pub specification: SpecificationArguments,
    /// Memory models, comma-separated: names from 'seqcon models', or TOML files with a table. Of several, what the
    /// first one needs is put in first, then what the next one still lacks: the text is for all of them
    #[arg(long = "mm", value_name = "LIST", default_value = "tso", value_delimiter = ',')]
    pub memory_models: Vec<String>,
    #[command(flatten)]
    pub engine: EngineArguments,
    /// Put in what this report.json suggests, of whatever engine, and nothing else [default: what analyses find,
    /// until nothing is left to do]
    #[arg(long, value_name = "FILE", conflicts_with_all = ["only_confirmed", "confirm", "atomicity", "max_states", "memory_limit", "timeout"])]
    pub with: Option<PathBuf>,
    /// Where to write the repaired specification [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Print what changes as a unified diff
    #[arg(long)]
    pub diff: bool,
    /// How instructions with several accesses are read; those that can be torn are made atomic [default: full, if the
    /// engine can be told; for never, final and no-deadlock: split]
    #[arg(long, value_enum, value_name = "WHICH", default_missing_value = "full", num_args = 0..=1)]
    pub atomicity: Option<AtomicityArgument>,
    #[command(flatten)]
    pub confirmation: ConfirmationArguments,
    #[command(flatten)]
    pub limits: LimitArguments,
}
