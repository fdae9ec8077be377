//! `seqcon facts`: from state spaces to a facts file.

use super::arguments::{FactsArguments, Verbosity};
use super::failure::Failure;
use super::places::refuse_clashes;
use crate::caveat;
use crate::facts::file;
use crate::report::output::Staged;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub fn run(arguments: &FactsArguments, verbosity: Verbosity) -> Result<ExitCode, Failure> {
    refuse_clashes(arguments.output.as_deref(), arguments.input.inputs.iter().map(PathBuf::as_path))?;
    let facts = arguments.input.load(verbosity)?;
    for caveat in caveat::unseen::caveats(&facts) {
        eprintln!("seqcon: {}", caveat.in_words());
    }
    let path = arguments.output.as_deref().unwrap_or(Path::new("-"));
    let mut staged = Staged::new();
    staged.write(path, &mut |out| file::write(&facts, out))?;
    staged.put_in_place()?;
    Ok(if facts.cut_off { ExitCode::from(3) } else { ExitCode::SUCCESS })
}
