//! Options and commands around the formats that other programs read, and around results side by side.

use super::{AtomicityArgument, InputArguments, JsonArgument, positive};
use clap::builder::{PathBufValueParser, TypedValueParser};
use clap::{ArgGroup, Args};
use std::path::PathBuf;

/// What several inputs are.
#[derive(Args)]
pub struct MergeArguments {
    /// The inputs are separate explorations of one program, to be united [default: each is a model of its own]. What
    /// has one name must have one text; parts of one state space (shards) are refused
    #[arg(long, help_heading = "Input")]
    pub merge: bool,
}

/// Reports for other programs.
#[derive(Args)]
#[command(group = ArgGroup::new("pictures").args(["dot", "svg"]).multiple(true))]
pub struct FormatArguments {
    /// Write aeg.dot here: the event graph for Graphviz, one digraph for each memory model (- for standard output)
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub dot: Option<PathBuf>,
    /// Draw one reason here as SVG, for a paper or a slide: a cycle with one column for each thread, or a run with its
    /// store buffers; one picture for each memory model (- for standard output)
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub svg: Option<PathBuf>,
    /// With --dot: only one cycle; with --svg: which one [default there: the first that is not
    /// ruled out]. It is the witness of delay N (row N of
    /// delays.csv, from 0), or, with --cycles, listed cycle N; with --svg, where there are no cycles, run N
    #[arg(long, value_name = "N", requires = "pictures", help_heading = "Output")]
    pub cycle: Option<usize>,
    /// Write report.sarif here: SARIF 2.1.0, for code-hosting sites and editors (- for standard output)
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub sarif: Option<PathBuf>,
    /// Write the witness of each delay as a litmus test for herd7 and litmus7 into this directory (made if it does
    /// not exist)
    #[arg(long, value_name = "DIR", help_heading = "Output", value_parser = PathBufValueParser::new().try_map(directory))]
    pub litmus: Option<PathBuf>,
}

/// A path that can be a directory.
fn directory(path: PathBuf) -> Result<PathBuf, &'static str> {
    if path.as_os_str() == "-" {
        return Err(
            "these are several files, which cannot go to standard output; give a directory (./- if it is to be called -)",
        );
    }
    Ok(path)
}

impl FormatArguments {
    /// The files that single reports go to.
    pub fn outputs(&self) -> [&Option<PathBuf>; 3] {
        [&self.dot, &self.svg, &self.sarif]
    }
}

#[derive(Args)]
pub struct CompareArguments {
    /// A report.json: how it was
    #[arg(value_name = "A.json")]
    pub before: PathBuf,
    /// A report.json: how it is
    #[arg(value_name = "B.json")]
    pub after: PathBuf,
    /// Only this memory model; with two, the first one's result in A.json against the second one's in B.json
    #[arg(long = "mm", value_name = "NAME[,NAME]", value_delimiter = ',')]
    pub memory_models: Vec<String>,
    #[command(flatten)]
    pub document: JsonArgument,
}

#[derive(Args)]
pub struct MatrixArguments {
    #[command(flatten)]
    pub input: InputArguments,
    #[command(flatten)]
    pub merging: MergeArguments,
    /// Memory models, comma-separated: names from 'seqcon models', or TOML files with a table [default: all built-in
    /// ones]
    #[arg(long = "mm", value_name = "LIST", value_delimiter = ',')]
    pub memory_models: Vec<String>,
    /// How many inputs are at work at a time; the output does not depend on it
    #[arg(long, value_name = "N", value_parser = positive, default_value = "1")]
    pub jobs: usize,
    /// How instructions with several accesses are read
    #[arg(long, value_enum, value_name = "WHICH", default_value = "full", default_missing_value = "full", num_args = 0..=1)]
    pub atomicity: AtomicityArgument,
    /// Of equally cheap placements prefer those of the memory models to the left, so that rows can be read across
    /// (the default); costs are the same as without, numbers and places may differ from those of 'analyse'
    #[arg(long, overrides_with = "no_stable")]
    pub stable: bool,
    /// Choose among equally cheap placements for each memory model by itself, as 'analyse' does
    #[arg(long, overrides_with = "stable")]
    pub no_stable: bool,
    /// Write the matrix here, as a table (- for standard output)
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub csv: Option<PathBuf>,
    #[command(flatten)]
    pub document: JsonArgument,
}
