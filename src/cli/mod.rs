//! The command line: arguments in, validated options out. No algorithm lives here, and nothing past here sees a raw
//! argument.

// A stream whose reader is gone would be a panic; and what is not ours may garble a terminal.
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod analyse;
mod arguments;
mod batch;
mod check;
mod compare;
mod convert;
mod documents;
mod engine;
mod explore;
mod export;
mod facts;
mod failure;
mod fence_sites;
mod fix;
mod help;
mod info;
mod input;
mod instances;
mod interrupt;
mod labels;
mod litmus;
mod matrix;
mod models;
mod outputs;
mod places;
mod progress;
mod reduce;
mod runs;
mod specification;
mod verify;

use crate::lts::source;
use crate::tell;
use arguments::{Cli, Command};
use clap::Parser;
use failure::Failure;
use std::process::ExitCode;

/// Runs the command that was typed.
#[must_use]
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    interrupt::listen();
    source::explain_lost_bytes();
    match run(&cli) {
        Ok(code) => code,
        Err(failure) => {
            tell!("seqcon: {failure}");
            ExitCode::from(failure.status())
        }
    }
}

fn run(cli: &Cli) -> Result<ExitCode, Failure> {
    if let Some(threads) = cli.threads {
        rayon::ThreadPoolBuilder::new()
            .num_threads(usize::from(threads))
            .build_global()
            .map_err(|error| Failure::Usage(format!("--threads {threads}: {error}")))?;
    }
    match &cli.command {
        Command::Analyse(arguments) => analyse::run(arguments, cli.verbosity()),
        Command::Check(arguments) => check::run(arguments, cli.verbosity()),
        Command::Compare(arguments) => compare::run(arguments, cli.verbosity()),
        Command::Convert(arguments) => convert::run(arguments),
        Command::Explore(arguments) => explore::run(arguments, cli.verbosity()),
        Command::Export(arguments) => export::run(arguments),
        Command::Facts(arguments) => facts::run(arguments, cli.verbosity()),
        Command::Info(arguments) => info::run(arguments, cli.verbosity()),
        Command::Labels(arguments) => labels::run(arguments),
        Command::Litmus(arguments) => litmus::run(arguments, cli.verbosity()),
        Command::Matrix(arguments) => matrix::run(arguments, cli.verbosity()),
        Command::Reduce(arguments) => reduce::run(arguments),
        Command::Verify(arguments) => verify::run(arguments, cli.verbosity()),
        Command::Fix(arguments) => fix::run(arguments, cli.verbosity()),
        Command::Models(arguments) => models::run(arguments, cli.verbosity()),
        Command::Engines => engine::list(cli.verbosity()),
        Command::Help(arguments) => help::run(arguments),
        Command::Man(arguments) => help::man(arguments),
        Command::Completions(arguments) => help::completions(arguments),
    }
}
