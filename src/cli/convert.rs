//! `seqcon convert`: a state space in another format.

use super::arguments::ConvertArguments;
use super::failure::Failure;
use super::input::open;
use super::places::refuse_clashes;
use crate::facts::quotient::table::is_table;
use crate::lts::copy::{Refusal, copy};
use crate::lts::is_facts;
use crate::lts::output::Format;
use crate::report::output::Staged;
use std::path::Path;
use std::process::ExitCode;

pub fn run(arguments: &ConvertArguments) -> Result<ExitCode, Failure> {
    refuse_clashes([arguments.output.as_path()], [arguments.input.as_path()])?;
    let budget = arguments.limits.budget();
    let format = format_of(&arguments.output)?;
    let source = open(&arguments.input, &budget)?;
    let refused =
        |what: &str| Failure::in_file(&arguments.input, format!("this is {what}; only state spaces can be converted"));
    if is_facts(source.bytes()) {
        return Err(refused("a facts file"));
    }
    if is_table(source.bytes()) {
        return Err(refused("a table of steps"));
    }
    let mut copy = copy(&source, format, &budget).map_err(|refusal| match refusal {
        Refusal::Input(error) => Failure::Input(error),
        Refusal::Output(error) => Failure::Usage(format!("a temporary file: {error}; make room for it")),
    })?;
    let mut staged = Staged::new();
    staged.write(&arguments.output, &mut |out| copy.write(out))?;
    staged.put_in_place()?;
    Ok(ExitCode::SUCCESS)
}

/// The format in which a state space is written to a file of that name.
pub fn format_of(path: &Path) -> Result<Format, Failure> {
    Format::of(path).ok_or_else(|| {
        Failure::in_file(
            path,
            "a state space is written as .aut, .aut.gz, .aut.zst or .parquet, as the name of the file says",
        )
    })
}
