//! `seqcon explore`, `export`, `info` and `litmus`: what a program or a test is and does.

use super::{BudgetArguments, InputArguments, JsonArgument, LimitArguments, SpecificationArguments, positive};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

#[derive(Args)]
pub struct ExploreArguments {
    #[command(flatten)]
    pub specification: SpecificationArguments,
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
    pub document: JsonArgument,
    #[command(flatten)]
    pub limits: LimitArguments,
}

#[derive(Args)]
pub struct ExportArguments {
    #[command(flatten)]
    pub specification: SpecificationArguments,
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
pub struct CheckArguments {
    #[command(flatten)]
    pub input: InputArguments,
    /// Do not explore specifications: tell only what their texts say, and which control states no chain of transitions
    /// leads to
    #[arg(long)]
    pub text_only: bool,
    #[command(flatten)]
    pub document: JsonArgument,
}

#[derive(Args)]
pub struct ConvertArguments {
    /// A state space, of whatever format
    #[arg(value_name = "FILE")]
    pub input: PathBuf,
    /// Where to write it; its name tells the format: .aut.gz, .aut.zst and .parquet, else .aut
    #[arg(value_name = "OUTPUT")]
    pub output: PathBuf,
    #[command(flatten)]
    pub limits: BudgetArguments,
}

#[derive(Args)]
pub struct InfoArguments {
    #[command(flatten)]
    pub input: InputArguments,
    #[command(flatten)]
    pub document: JsonArgument,
}

#[derive(Args)]
pub struct LitmusArguments {
    /// Litmus tests in herd's format (.litmus, - for standard input), or directories with such tests in them
    #[arg(required = true, value_name = "FILE")]
    pub inputs: Vec<PathBuf>,
    /// What standard input (-) is: there is nothing else here but litmus tests
    #[arg(long, value_name = "NAME", value_parser = ["litmus"], help_heading = "Input")]
    pub language: Option<String>,
    /// Memory models, comma-separated: sc, tso, pso, armv8, riscv, armv7, power, rc11, or files with axioms (.cat)
    /// [default: that of each test's architecture]
    #[arg(long = "mm", value_name = "LIST", value_delimiter = ',')]
    pub memory_models: Vec<String>,
    /// How often each instruction of a loop is taken at most; if that may turn an answer, it is 'unknown', and the
    /// exit status is 3
    #[arg(long, value_name = "N", value_parser = positive, default_value = "2")]
    pub unroll: usize,
    /// Write the verdicts here, as a table: model (the test), memory_model, condition_holds (1, 0 or unknown), complete
    /// (- for standard output)
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    #[command(flatten)]
    pub document: JsonArgument,
    #[command(flatten)]
    pub budget: BudgetArguments,
}
