//! `seqcon compare`: what changed between two reports.

use super::arguments::CompareArguments;
use super::failure::Failure;
use crate::compare::{Report, Selection, compare, write};
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

pub fn run(arguments: &CompareArguments) -> Result<ExitCode, Failure> {
    let selection = match &arguments.memory_models[..] {
        [] => Selection::All,
        [one] => Selection::Pair(one.clone(), one.clone()),
        [first, second] => Selection::Pair(first.clone(), second.clone()),
        _ => return Err(Failure::Usage("--mm takes one memory model, or one for each report".to_owned())),
    };
    let (before, after) = (report(&arguments.before)?, report(&arguments.after)?);
    let comparison = compare(&before, &after, &selection).map_err(|error| Failure::Usage(error.to_string()))?;
    let mut shown = String::new();
    if arguments.json {
        shown = serde_json::to_string_pretty(&comparison).map_err(io::Error::from)? + "\n";
    } else {
        write(&comparison, &mut shown).map_err(io::Error::other)?;
    }
    let status = if comparison.identical { ExitCode::SUCCESS } else { ExitCode::from(1) };
    match io::stdout().lock().write_all(shown.as_bytes()) {
        // Who has seen enough of the text still gets the verdict.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(status),
        written => Ok(written.map(|()| status)?),
    }
}

fn report(path: &Path) -> Result<Report, Failure> {
    let text = fs::read_to_string(path).map_err(|error| Failure::in_file(path, error))?;
    Report::from_json(&text).map_err(|error| Failure::in_file(path, error))
}
