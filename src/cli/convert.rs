//! `seqcon convert`: a state space in another format.

use super::arguments::ConvertArguments;
use super::failure::Failure;
use super::places::refuse_clashes;
use crate::lts::copy::{Refusal, copy};
use crate::lts::is_facts;
use crate::lts::output::Format;
use crate::lts::source::Bytes;
use crate::report::output::Staged;
use std::process::ExitCode;

pub fn run(arguments: &ConvertArguments) -> Result<ExitCode, Failure> {
    refuse_clashes([arguments.output.as_path()], [arguments.input.as_path()])?;
    let budget = arguments.limits.budget();
    let source = Bytes::open_within(&arguments.input, &budget)?;
    if is_facts(source.bytes()) {
        return Err(Failure::in_file(&arguments.input, "this is a facts file; only state spaces can be converted"));
    }
    let mut copy = copy(&source, Format::of(&arguments.output), &budget).map_err(|refusal| match refusal {
        Refusal::Input(error) => Failure::Input(error),
        Refusal::Output(error) => Failure::Usage(format!("a temporary file: {error}; make room for it")),
    })?;
    let mut staged = Staged::new();
    staged.write(&arguments.output, &mut |out| copy.write(out))?;
    staged.put_in_place()?;
    Ok(ExitCode::SUCCESS)
}
