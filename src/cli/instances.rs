//! `seqcon analyse --instances A..B`: the same program with different numbers of instances, as one table.

use super::analyse::{exit_status, outcome};
use super::arguments::{AnalyseArguments, Verbosity};
use super::engine::Chosen;
use super::failure::Failure;
use super::input::{Content, Model};
use super::outputs::tell_caveats;
use super::places::refuse_clashes;
use crate::analysis::Outcome;
use crate::lang::{Diagnostics, Language};
use crate::memory::MemoryModel;
use crate::report::instances::{Series, write_html};
use crate::report::output::Staged;
use crate::report::streams;
use crate::specification::{Specification, Wrong};
use std::collections::BTreeSet;
use std::io::{self, Write};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

/// The most instances.
const MOST: usize = 100;

/// Numbers of instances, the first and the last: `2..10`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instances(RangeInclusive<usize>);

/// Reads `A..B`.
pub fn instances(text: &str) -> Result<Instances, String> {
    let expected = || format!("expected A..B, numbers from 1 to {MOST}, the first not above the second: 2..10");
    let (first, last) = text.split_once("..").ok_or_else(expected)?;
    let number = |text: &str| text.parse().ok().filter(|number| (1..=MOST).contains(number)).ok_or_else(expected);
    let range = number(first)?..=number(last)?;
    if range.is_empty() { Err(expected()) } else { Ok(Instances(range)) }
}

/// Analyses all of them, and writes the table.
pub fn run(
    arguments: &AnalyseArguments,
    Instances(range): &Instances,
    chosen: &Chosen,
    models: &[MemoryModel],
    verbosity: Verbosity,
) -> Result<ExitCode, Failure> {
    let [path] = &arguments.input.inputs[..] else {
        return Err(Failure::Usage("--instances is for one specification".to_owned()));
    };
    if path.as_os_str() == "-" {
        return Err(Failure::Usage("--instances needs a file: its name tells the language".to_owned()));
    }
    refuse_other_outputs(arguments)?;
    let files = [&arguments.csv, &arguments.html].into_iter().flatten().map(PathBuf::as_path);
    refuse_clashes(files, arguments.input.files())?;
    let text = Specification::read(path)?.text;
    let names = arguments.input.model_names(&arguments.merging);
    let name = arguments.name.clone().unwrap_or_else(|| names[0].clone());
    let numbers: Vec<usize> = range.clone().collect();
    // All texts are right before the first is analysed.
    let texts = numbers.iter().map(|&number| with_instances(path, &text, number));
    let specifications = texts.collect::<Result<Vec<Specification>, Failure>>()?;
    let mut outcomes = Vec::new();
    for (number, specification) in numbers.iter().zip(specifications) {
        let model = Model {
            name: format!("{name}@{number}"),
            paths: vec![path.clone()],
            content: Content::Specification(Box::new(specification)),
            caveats: Vec::new(),
            read_in: Instant::now().elapsed(),
        };
        let found = outcome(arguments, chosen, &model, models, verbosity)?;
        outcomes.push(Outcome { model: model.name, ..found });
    }
    let instantiated = instantiated(path, &text)?;
    let series = Series { numbers: &numbers, outcomes: &outcomes, instantiated: &instantiated };
    let mut staged = Staged::new();
    if let Some(path) = &arguments.csv {
        staged.write(path, &mut |out| series.write_csv(out))?;
    }
    if let Some(path) = &arguments.html {
        staged.write(path, &mut |out| write_html(&series, &name, out))?;
    }
    staged.put_in_place()?;
    outcomes.iter().for_each(tell_caveats);
    let is_taken = |path: &Option<PathBuf>| path.as_deref() == Some(Path::new("-"));
    if !is_taken(&arguments.csv) && !is_taken(&arguments.html) {
        let mut shown = String::new();
        match verbosity {
            Verbosity::Quiet => {
                let lines = outcomes
                    .iter()
                    .flat_map(|outcome| outcome.results.iter().map(|result| outcome.summary_line(result)));
                lines.for_each(|line| shown += &format!("{line}\n"));
            }
            _ => series.write_text(&mut shown).map_err(io::Error::other)?,
        }
        let mut out = streams::coloured();
        out.write_all(shown.as_bytes()).and_then(|()| out.flush())?;
    }
    Ok(ExitCode::from(exit_status(arguments, &outcomes)))
}

/// The names of the threads that there are instances of: what there is of two and not of one, without its number.
fn instantiated(path: &Path, text: &str) -> Result<BTreeSet<String>, Failure> {
    let names = |number| {
        let threads = with_instances(path, text, number)?.program.threads;
        Ok::<BTreeSet<String>, Failure>(threads.into_iter().map(|thread| thread.name).collect())
    };
    let (one, two) = (names(1)?, names(2)?);
    Ok(two.difference(&one).filter_map(|name| name.strip_suffix("_2")).map(str::to_owned).collect())
}

/// The specification with so many instances.
fn with_instances(path: &Path, text: &str, number: usize) -> Result<Specification, Failure> {
    let name = path.display().to_string();
    let Some(instances) = Language::of(&name).and_then(|language| language.instances) else {
        return Err(Failure::in_file(path, "this language has no numbers of instances (--instances)"));
    };
    let wrong = |errors| Failure::Usage(Diagnostics::new(&name, text, errors).to_string());
    let text = instances(text, number).map_err(wrong)?;
    // The text itself is right: it was read before.
    let wrong = |wrong: Wrong| {
        Failure::Usage(format!(
            "{wrong}\nwith {number} of them (--instances), threads have other names (NAME_1, NAME_2, …; with one, NAME), or there are more: what is said of single threads must fit every number"
        ))
    };
    let (specification, _) = Specification::parse(name.clone(), text).map_err(wrong)?;
    Ok(specification)
}

/// What is about one program.
fn refuse_other_outputs(arguments: &AnalyseArguments) -> Result<(), Failure> {
    let asked = [
        (arguments.out.is_some(), "--out"),
        (arguments.locks_csv.is_some(), "--locks-csv"),
        (arguments.delays_csv.is_some(), "--delays-csv"),
        (arguments.cycles_csv.is_some(), "--cycles-csv"),
        (arguments.summary_csv.is_some(), "--summary-csv"),
        (arguments.json.is_some(), "--json"),
        (arguments.formats.dot.is_some(), "--dot"),
        (arguments.formats.sarif.is_some(), "--sarif"),
        (arguments.formats.litmus.is_some(), "--litmus"),
        (arguments.explain, "--explain"),
        (arguments.verify, "--verify"),
        (arguments.merging.merge, "--merge"),
    ];
    match asked.iter().find(|(is_asked, _)| *is_asked) {
        Some((_, option)) => Err(Failure::Usage(format!(
            "{option} is about one program, and --instances gives a table of several (--csv, --html); write the number of instances into the text for it"
        ))),
        None => Ok(()),
    }
}
