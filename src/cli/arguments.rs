//! The clap definitions. Every text of `--help` is a doc comment here.

mod engine;
mod formats;
mod limits;

pub use engine::{EngineArguments, PropertyArgument};
pub use formats::{CompareArguments, FormatArguments, MatrixArguments, MergeArguments};
pub use limits::{BudgetArguments, LimitArguments};

use super::fence_sites::FenceSites;
use super::instances::{Instances, instances};
use crate::analysis::Offered;
use crate::engines::Approach;
use crate::provenance::Hashes;
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

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
    /// Print only the summary line of each memory model
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    quiet: bool,
    /// Also tell on standard error what is being done
    #[arg(short, long, global = true)]
    verbose: bool,
}

const EXIT_STATUS: &str = "\
Exit status:
  0  done
  1  done; synchronisation is missing (--check), no fences are enough, or a property fails
  2  the command or its input is wrong
  3  a limit or Ctrl-C stopped it before the answer was complete (also: --cycles N left cycles
     out, or an abstraction does not decide it)";

const VERIFY_STATUS: &str = "\
Exit status:
  0  verified (the output says what that rests on)
  1  violated (the output shows a run)
  2  the command or its input is wrong
  3  not decided: a limit was reached";

const COMPARE_STATUS: &str = "\
Exit status:
  0  the same
  1  different
  2  the command or its input is wrong";

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
    #[command(visible_alias = "analyze", after_help = EXIT_STATUS)]
    Analyse(Box<AnalyseArguments>),
    /// Tell what changed between two reports (report.json): fences gained, lost and moved, locks, delays, figures
    #[command(after_help = COMPARE_STATUS)]
    Compare(CompareArguments),
    /// Explore the state space of a specification, count it, and write it as .aut
    #[command(after_help = EXIT_STATUS)]
    Explore(ExploreArguments),
    /// Write a specification in the language of another tool
    #[command(after_help = EXIT_STATUS)]
    Export(ExportArguments),
    /// Extract the facts of a state space: all that an analysis needs of it, in a small file
    #[command(after_help = EXIT_STATUS)]
    Facts(FactsArguments),
    /// Tell what is in specifications, state spaces and facts files: threads, instructions, variables, how many states
    #[command(after_help = EXIT_STATUS)]
    Info(InfoArguments),
    /// Tell whether the final conditions of litmus tests hold, by all executions that a memory model's axioms allow
    #[command(after_help = EXIT_STATUS)]
    Litmus(LitmusArguments),
    /// Show where synchronisation is needed under every built-in memory model, side by side
    #[command(after_help = EXIT_STATUS)]
    Matrix(MatrixArguments),
    /// Run a specification under a weak memory model, with the suggested fences and locks in place, or as it is for
    /// properties of states: is it right?
    #[command(after_help = VERIFY_STATUS)]
    Verify(VerifyArguments),
    /// Write a specification with the fences and atomic instructions that it needs put in
    #[command(after_help = EXIT_STATUS)]
    Fix(FixArguments),
    /// List the memory models, or show one: its table and what it does to the litmus programs
    Models(ModelsArguments),
    /// List the engines of 'analyse': which property each guarantees, for which memory models
    Engines,
    /// Print the help of a command, or a page: labels, models, method, formats
    Help(HelpArguments),
    /// Print the manual page of seqcon, or of one of its commands, for man
    Man(ManArguments),
    /// Print a script that completes commands and options in a shell
    Completions(CompletionsArguments),
}

/// Where the state space comes from and how it is read.
#[derive(Args)]
pub struct InputArguments {
    /// Specifications (.slco, .litmus, .txt, .trench, .rmm, .rmx), state spaces (.aut, .aut.gz, - for standard input)
    /// or facts files; each is a model of its own
    #[arg(required = true, value_name = "FILE")]
    pub inputs: Vec<PathBuf>,
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

#[derive(Args)]
pub struct AnalyseArguments {
    #[command(flatten)]
    pub input: InputArguments,
    #[command(flatten)]
    pub merging: MergeArguments,
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
    /// Under armv7 and power, --verify takes no instruction more often than this in one execution
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

#[derive(Args)]
pub struct ExploreArguments {
    /// The specification (.slco, .litmus, .txt, .trench, .rmm, .rmx)
    #[arg(value_name = "SPEC")]
    pub specification: PathBuf,
    /// Write the state space here, as .aut in mCRL2's shape (- for standard output)
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// What must hold in every state, as a condition over shared variables, Thread.variable and Thread@State, for
    /// example 'not (P0@CS and P1@CS)'; may be given several times. If it does not hold somewhere: a shortest run
    /// that leads there, exit status 1
    #[arg(long = "invariant", value_name = "EXPR")]
    pub invariants: Vec<String>,
    /// What no state may satisfy, for example 'P0@CS and P1@CS': the same as --invariant 'not (EXPR)'; may be given
    /// several times. A condition is judged between instructions under sequential consistency, where every write is
    /// visible
    #[arg(long = "never", value_name = "EXPR", allow_hyphen_values = true)]
    pub nevers: Vec<String>,
    /// Do not check the properties that stand in the specification itself (`never`, `assert`)
    #[arg(long)]
    pub no_properties: bool,
    #[command(flatten)]
    pub limits: LimitArguments,
}

#[derive(Args)]
pub struct ExportArguments {
    /// The specification (.slco, .litmus, .txt, .trench, .rmm, .rmx)
    #[arg(value_name = "SPEC")]
    pub specification: PathBuf,
    /// The language
    #[arg(long, value_enum, value_name = "LANGUAGE")]
    pub to: ExportLanguage,
    /// Where to write it [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
pub enum ExportLanguage {
    /// For mcrl22lps and lps2lts (201908 or later); the labels of the state space are in the rw dialect
    Mcrl2,
}

#[derive(Args)]
pub struct InfoArguments {
    #[command(flatten)]
    pub input: InputArguments,
    /// Write JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct VerifyArguments {
    /// The specification
    #[arg(value_name = "SPEC")]
    pub specification: PathBuf,
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
    /// Under armv7 and power, no instruction is taken more often than this in one execution; the output says if that
    /// leaves some out
    #[arg(long, value_name = "N", value_parser = positive, default_value = "2", help_heading = "Weak memory")]
    pub unroll: usize,
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
    /// The specification (.slco, .txt, .trench, .rmm, .rmx)
    #[arg(value_name = "SPEC")]
    pub specification: PathBuf,
    /// The memory model
    #[arg(long = "mm", value_name = "NAME|FILE", default_value = "tso")]
    pub memory_model: String,
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

#[derive(Args)]
pub struct FactsArguments {
    #[command(flatten)]
    pub input: InputArguments,
    #[command(flatten)]
    pub merging: MergeArguments,
    /// Where to write the facts [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[derive(Args)]
pub struct LitmusArguments {
    /// Litmus tests in herd's format (.litmus), or directories with such tests in them
    #[arg(required = true, value_name = "FILE")]
    pub inputs: Vec<PathBuf>,
    /// Memory models, comma-separated: sc, tso, pso, armv8, riscv, armv7, power, rc11, or files with axioms (.cat)
    /// [default: that of each test's architecture]
    #[arg(long = "mm", value_name = "LIST", value_delimiter = ',')]
    pub memory_models: Vec<String>,
    /// How often each instruction of a loop is taken at most; if that may turn an answer, it is 'unknown', and the
    /// exit status is 3
    #[arg(long, value_name = "N", value_parser = positive, default_value = "2")]
    pub unroll: usize,
    /// Write the verdicts here, as a table: test, memory_model, condition_holds (1, 0 or unknown; - for standard
    /// output)
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    #[command(flatten)]
    pub budget: BudgetArguments,
}

#[derive(Args)]
pub struct ModelsArguments {
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
    },
}

#[derive(Args)]
pub struct HelpArguments {
    /// A command, or labels, models, method, formats
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

fn cycles(text: &str) -> Result<CyclesArgument, String> {
    match text {
        "all" => Ok(CyclesArgument::All),
        number => number.parse().map(CyclesArgument::First).map_err(|_| "a number or 'all' is expected".to_owned()),
    }
}

fn positive(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|&n| n > 0).ok_or_else(|| "a number from 1 is expected".to_owned())
}
