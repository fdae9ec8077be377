//! `seqcon compare`: what changed between two reports.

use super::arguments::{CompareArguments, Verbosity};
use super::documents::summary_lines;
use super::failure::Failure;
use super::places::refuse_clashes;
use crate::compare::{Report, Selection, compare, write};
use crate::report::names::yes_no;
use crate::report::rows::word;
use std::fs;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::ExitCode;

pub fn run(arguments: &CompareArguments, verbosity: Verbosity) -> Result<ExitCode, Failure> {
    let selection = match &arguments.memory_models[..] {
        [] => Selection::All,
        [one] => Selection::Pair(one.clone(), one.clone()),
        [first, second] => Selection::Pair(first.clone(), second.clone()),
        _ => return Err(Failure::Usage("--mm takes one memory model, or one for each report".to_owned())),
    };
    let reports = [arguments.before.as_path(), arguments.after.as_path()];
    refuse_clashes(arguments.document.path(), reports)?;
    let (before, after) = (report(&arguments.before)?, report(&arguments.after)?);
    let comparison = compare(&before, &after, &selection).map_err(|error| Failure::Usage(error.to_string()))?;
    arguments.document.write(|| &comparison)?;
    let taken = arguments.document.takes_stdout();
    let mut shown = String::new();
    if taken || verbosity == Verbosity::Quiet {
        let [before, after] = reports.map(|path| word(&path.display().to_string()));
        shown = format!("before={before} after={after} identical={}\n", yes_no(comparison.identical));
    } else {
        write(&comparison, &mut shown).map_err(io::Error::other)?;
    }
    let status = if comparison.identical { ExitCode::SUCCESS } else { ExitCode::from(1) };
    let mut out = summary_lines(taken);
    out.write_all(shown.as_bytes()).and_then(|()| out.flush())?;
    Ok(status)
}

fn report(path: &Path) -> Result<Report, Failure> {
    let text = fs::read_to_string(path).map_err(|error| Failure::in_file(path, error))?;
    Report::from_json(&text).map_err(|error| Failure::in_file(path, error))
}
