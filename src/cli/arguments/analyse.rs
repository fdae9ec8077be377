//! `seqcon analyse`.

use super::{ConfirmationArguments, EngineArguments, FormatArguments, InputArguments, MergeArguments, positive};
use crate::cli::fence_sites::FenceSites;
use crate::cli::instances::{Instances, instances};
use crate::engines::Approach;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

#[derive(Args)]
pub struct AnalyseArguments {
    #[command(flatten)]
    pub input: InputArguments,
    #[command(flatten)]
    pub merging: MergeArguments,
    /// How many inputs are at work at a time; the output does not depend on it
    #[arg(long, value_name = "N", value_parser = positive, default_value = "1")]
    pub jobs: usize,
    /// Memory models, comma-separated: names from 'seqcon models', or TOML files with a table [default: those of tso,
    /// pso, armv7 and power that the engine is for]
    #[arg(long = "mm", value_name = "LIST", value_delimiter = ',')]
    pub memory_models: Vec<String>,
    #[command(flatten)]
    pub engine: EngineArguments,
    /// Look at the program itself (none); or at each thread among an environment that writes what the others write at
    /// any time; or at two threads at a time among that (pairs; with --engine persistence instead: among the others
    /// flattened after their first K steps): faster, but perhaps with more fences. The default, auto, explores small
    /// programs, abstracts larger ones, and explores those in full only if the fences are not proved to be the fewest
    #[arg(long, value_name = "auto|none|environment|pairs|K")]
    pub abstraction: Option<Approach>,
    /// A table over the number of instances, from A to B: of threads written 'thread NAME COUNT', or of SLCO objects
    /// of one class (which share nothing); --csv and --html write it, as a table and as a picture
    #[arg(long, value_name = "A..B", value_parser = instances)]
    pub instances: Option<Instances>,
    /// List the minimal sets of fences, from which none can be left out: at most N, or all of them (--engine
    /// persistence: of each thread; engines that run the program: of the program)
    #[arg(long, value_name = "N|all", value_parser = cycles)]
    pub minimal_sets: Option<CyclesArgument>,
    /// Where fences may stand, for engines that run the program: anywhere (all), only right after instructions that
    /// write or right before such that read, or at the sites in a file, one a line, as 'T0.3 after' [default: all]
    #[arg(long, value_name = "all|after-writes|before-reads|FILE")]
    pub fence_sites: Option<FenceSites>,
    /// How instructions with several accesses are read [default: full; with --profile published, and
    /// for never, final and no-deadlock: split]
    #[arg(long, value_enum, value_name = "WHICH", default_missing_value = "full", num_args = 0..=1)]
    pub atomicity: Option<AtomicityArgument>,
    /// Whose definitions: the corrected ones; the same without program order across waits; or those of the paper.
    /// Only the first are sound
    #[arg(long, value_enum, default_value = "sound")]
    pub profile: ProfileArgument,
    /// Which conflicts cycles are searched over: chosen for each pair, only of accesses enabled together, or all
    #[arg(long, value_enum, default_value = "auto")]
    pub conflicts: ConflictsArgument,
    /// How fences are chosen: the fewest, or by a paper's heuristic (--engine cycles; --engine buffer-automata: one by
    /// one, as a run calls for them)
    #[arg(long, value_enum, default_value = "exact")]
    pub placement: PlacementArgument,
    /// Weights of fence kinds (stores, plain, cumulative) and points (a TOML file, see docs/formats.md)
    #[arg(long, value_name = "FILE")]
    pub cost: Option<PathBuf>,
    /// List critical cycles: at most N, or all of them
    #[arg(long, value_name = "N|all", value_parser = cycles)]
    pub cycles: Option<CyclesArgument>,
    /// Exit with status 1 if the program needs a fence or a lock under one of the memory models
    #[arg(long)]
    pub check: bool,
    #[command(flatten)]
    pub confirmation: ConfirmationArguments,
    /// Run the repaired program under each memory model (tso, pso: machines; armv7, power: axioms; specifications
    /// only), as 'seqcon verify' does
    #[arg(long, help_heading = "Weak memory")]
    pub verify: bool,
    /// Under models that are run by axioms (armv8, riscv, armv7, power, rc11), --verify takes no instruction more often
    /// than this in one execution
    #[arg(long, value_name = "N", value_parser = positive, default_value = "2", requires = "verify", help_heading = "Weak memory")]
    pub unroll: usize,
    /// Draw every reason, with one column for each thread: the cycle of every delay, program order downwards and
    /// conflicts across; or every run that a fence stops, time downwards, with what waits in the store buffers
    #[arg(long, help_heading = "Output")]
    pub explain: bool,
    /// The program's name in reports, if it is one [default: the file's name without its extension]
    #[arg(long, value_name = "NAME", help_heading = "Output")]
    pub name: Option<String>,
    /// Write all reports into this directory (made if it does not exist); of several models report.html goes into a
    /// directory for each
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub out: Option<PathBuf>,
    /// Write fences.csv here (- for standard output)
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub csv: Option<PathBuf>,
    /// Write locks.csv here
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub locks_csv: Option<PathBuf>,
    /// Write delays.csv here
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub delays_csv: Option<PathBuf>,
    /// Write cycles.csv here (what --cycles lists)
    #[arg(long, value_name = "FILE", requires = "cycles", help_heading = "Output")]
    pub cycles_csv: Option<PathBuf>,
    /// Write summary.csv here
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub summary_csv: Option<PathBuf>,
    /// Write report.json here
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub json: Option<PathBuf>,
    /// Write report.html here: one page for a browser, which needs nothing else; for one model
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub html: Option<PathBuf>,
    #[command(flatten)]
    pub formats: FormatArguments,
}

impl AnalyseArguments {
    /// The files that single reports go to.
    pub fn outputs(&self) -> Vec<&PathBuf> {
        let tables = [&self.csv, &self.locks_csv, &self.delays_csv, &self.cycles_csv, &self.summary_csv];
        tables.into_iter().chain([&self.json, &self.html]).chain(self.formats.outputs()).flatten().collect()
    }
}

#[derive(Clone, Copy, ValueEnum)]
pub enum AtomicityArgument {
    /// Each is to be one step: those that can be torn are found and locked
    Full,
    /// The same for those that write; conditions are performed read by read
    Updates,
    /// Each is atomic and a full fence by other means: the answer for the program with 'atomic [ ... ]' around each
    Presumed,
    /// None is meant to be one step: every access is a step of its own, and sequential consistency is that of the
    /// split program
    #[value(alias = "off")]
    Split,
}

#[derive(Clone, Copy, ValueEnum)]
pub enum ProfileArgument {
    Sound,
    Literal,
    Published,
}

#[derive(Clone, Copy, ValueEnum)]
pub enum ConflictsArgument {
    Auto,
    Concurrent,
    Reachable,
}

#[derive(Clone, Copy, ValueEnum)]
pub enum PlacementArgument {
    Exact,
    Greedy,
}

#[derive(Clone, Copy)]
pub enum CyclesArgument {
    First(usize),
    All,
}

fn cycles(text: &str) -> Result<CyclesArgument, String> {
    match text {
        "all" => Ok(CyclesArgument::All),
        number => number.parse().map(CyclesArgument::First).map_err(|_| "a number or 'all' is expected".to_owned()),
    }
}
