//! `seqcon compare`: what changed between two reports.

use super::arguments::CompareArguments;
use super::failure::Failure;
use crate::compare::{Report, Selection, compare, write};
use crate::report::streams;
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
    let mut out: Box<dyn Write> = if arguments.json { streams::data() } else { Box::new(streams::text()) };
    out.write_all(shown.as_bytes()).and_then(|()| out.flush())?;
    Ok(status)
}

fn report(path: &Path) -> Result<Report, Failure> {
    let text = fs::read_to_string(path).map_err(|error| Failure::in_file(path, error))?;
    Report::from_json(&text).map_err(|error| Failure::in_file(path, error))
}
