//! `seqcon facts`: from state spaces to a facts file.

use super::arguments::{FactsArguments, Verbosity};
use super::failure::Failure;
use super::places::refuse_clashes;
use crate::facts::file;
use crate::report::output::Staged;
use std::path::Path;
use std::process::ExitCode;

pub fn run(arguments: &FactsArguments, verbosity: Verbosity) -> Result<ExitCode, Failure> {
    refuse_clashes(arguments.output.as_deref(), arguments.input.files())?;
    let facts = arguments.input.load(verbosity)?;
    let path = arguments.output.as_deref().unwrap_or(Path::new("-"));
    let mut staged = Staged::new();
    staged.write(path, &mut |out| file::write(&facts, out))?;
    staged.put_in_place()?;
    Ok(if facts.cut_off { ExitCode::from(3) } else { ExitCode::SUCCESS })
}
