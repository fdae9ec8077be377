//! `seqcon litmus`: whether the final conditions of litmus tests hold under a memory model.

use super::arguments::{LitmusArguments, Verbosity, refuse_language_without_stdin};
use super::documents::{Document, summary_lines};
use super::failure::Failure;
use super::input::{memory_model, memory_model_or_axioms, name_of_input, refuse_repeated_models};
use super::interrupt::Interruptible;
use super::places::refuse_clashes;
use super::progress::TestCount;
use crate::budget::Budget;
use crate::lang::litmus::{self, Test};
use crate::memory::MemoryModel;
use crate::property::Quantifier;
use crate::report::csv::guarded;
use crate::report::names::yes_no;
use crate::report::output::Staged;
use crate::text::counted;
use crate::text::excerpt::printable;
use crate::weak::axiomatic::litmus::{Answer, Judgement};
use crate::weak::axiomatic::{Model, outcomes_within};
use rayon::prelude::*;
use serde::Serialize;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The schema of what `--json` writes.
const SCHEMA_VERSION: u32 = 1;

/// A file, and the name under which its test is reported.
struct Named {
    path: PathBuf,
    name: String,
}

/// A test under one memory model.
struct Judged {
    name: String,
    memory_model: String,
    quantifier: Option<Quantifier>,
    verdict: Judgement,
}

pub fn run(arguments: &LitmusArguments, verbosity: Verbosity) -> Result<ExitCode, Failure> {
    let tables: Vec<MemoryModel> =
        arguments.memory_models.iter().map(|name| memory_model_or_axioms(name)).collect::<Result<_, _>>()?;
    refuse_repeated_models(&tables)?;
    let models: Vec<(String, Model)> = tables.into_iter().map(axiomatic).collect::<Result<_, _>>()?;
    if arguments.language.is_some() {
        refuse_language_without_stdin(&arguments.inputs)?;
    }
    let files = files(&arguments.inputs)?;
    let tables = arguments.memory_models.iter().map(Path::new);
    let outputs = arguments.csv.as_deref().into_iter().chain(arguments.document.path());
    refuse_clashes(outputs, files.iter().map(|file| file.path.as_path()).chain(tables))?;
    // Many are at work at a time: they are counted, and nobody watches a single one.
    let budget = arguments.budget.heeding().unwatched();
    let count = TestCount::new("judging litmus tests".to_owned(), files.len());
    let heard = Interruptible::new();
    let answered = |file: &Named| {
        let judged = judge(file, &models, arguments.unroll, &budget);
        count.one_more();
        judged
    };
    let judged: Vec<Result<Vec<Judged>, Failure>> = files.par_iter().map(answered).collect();
    drop(count);
    drop(heard);
    let (right, wrong): (Vec<_>, Vec<_>) = judged.into_iter().partition(Result::is_ok);
    let wrong: Vec<String> = wrong.into_iter().filter_map(Result::err).map(|failure| failure.to_string()).collect();
    let judged: Vec<Judged> = right.into_iter().filter_map(Result::ok).flatten().collect();
    if wrong.is_empty() || !judged.is_empty() {
        write_csv(arguments, &judged)?;
        let tests = || judged.iter().map(|test| verdict(test, arguments.unroll)).collect();
        arguments.document.write(|| Document::new(SCHEMA_VERSION, Tests { tests: tests() }))?;
        write_lines(arguments, verbosity, &judged)?;
    }
    // One test that cannot be answered does not keep the others from it.
    if !wrong.is_empty() {
        return Err(Failure::Usage(wrong.join("\nseqcon: ")));
    }
    let is_answered = judged.iter().all(|test| test.verdict.is_definite());
    Ok(if is_answered { ExitCode::SUCCESS } else { ExitCode::from(3) })
}

/// The name of a memory model, and its axioms.
fn axiomatic(table: MemoryModel) -> Result<(String, Model), Failure> {
    let axioms = Model::of(&table).map_err(|cannot| Failure::Usage(cannot.to_string()))?;
    Ok((table.name, axioms))
}

/// The tests that the command names; of a directory all below it, in order, called by their place in it.
fn files(inputs: &[PathBuf]) -> Result<Vec<Named>, Failure> {
    let mut files = Vec::new();
    for input in inputs {
        if !input.is_dir() {
            files.push(Named { path: input.clone(), name: name_of_input(input) });
            continue;
        }
        let before = files.len();
        walk(input, input, &mut files)?;
        if files.len() == before {
            return Err(Failure::in_file(input, "no .litmus file in this directory"));
        }
    }
    Ok(files)
}

fn walk(root: &Path, directory: &Path, files: &mut Vec<Named>) -> Result<(), Failure> {
    let entries = fs::read_dir(directory).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let entries = entries.map_err(|error| Failure::in_file(directory, error))?;
    let mut paths: Vec<PathBuf> = entries.into_iter().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        // A link to a directory could lead back up.
        if path.is_dir() && !path.is_symlink() {
            walk(root, &path, files)?;
        } else if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("litmus")) {
            let name = path.strip_prefix(root).unwrap_or(&path).display().to_string();
            files.push(Named { path, name });
        }
    }
    Ok(())
}

fn judge(file: &Named, models: &[(String, Model)], unroll: usize, budget: &Budget) -> Result<Vec<Judged>, Failure> {
    let is_stdin = file.path.as_os_str() == "-";
    let text = if is_stdin { io::read_to_string(io::stdin()) } else { fs::read_to_string(&file.path) };
    let text = text.map_err(|error| Failure::in_file(&file.path, error))?;
    let path_name = if is_stdin { "stdin.litmus".to_owned() } else { file.path.display().to_string() };
    let test = litmus::read(&path_name, &text).map_err(|errors| Failure::Usage(errors.to_string()))?;
    let models = if models.is_empty() { vec![default_model(&test)?] } else { models.to_vec() };
    let judge = |(name, model): (String, Model)| {
        let outcomes = outcomes_within(&test.program, &model, unroll, budget);
        let verdict = outcomes.map(|outcomes| Judgement::of(test.condition.as_ref(), outcomes));
        let verdict = verdict.map_err(|failure| Failure::in_file(&file.path, failure))?;
        let quantifier = test.condition.as_ref().map(|condition| condition.quantifier);
        Ok(Judged { name: file.name.clone(), memory_model: name, quantifier, verdict })
    };
    models.into_iter().map(judge).collect()
}

fn default_model(test: &Test) -> Result<(String, Model), Failure> {
    axiomatic(memory_model(test.architecture.memory_model())?)
}

fn write_csv(arguments: &LitmusArguments, judged: &[Judged]) -> Result<(), Failure> {
    let Some(path) = &arguments.csv else { return Ok(()) };
    let mut staged = Staged::new();
    staged.write(path, &mut |out| {
        let mut writer = csv::Writer::from_writer(out);
        writer.write_record(["model", "memory_model", "condition_holds", "complete"])?;
        for Judged { name, memory_model, verdict, .. } in judged {
            let holds = match verdict.condition {
                None => "",
                Some(Answer::Holds) => "1",
                Some(Answer::Fails) => "0",
                Some(Answer::Unknown) => "unknown",
            };
            let complete = yes_no(verdict.outcomes.complete && verdict.outcomes.stopped.is_none());
            writer.write_record([guarded(name).as_str(), memory_model, holds, complete])?;
        }
        writer.flush()
    })?;
    Ok(staged.put_in_place()?)
}

/// A line for each test, and one for all; with a table on standard output, the last one goes to standard error and
/// the others are not needed.
fn write_lines(arguments: &LitmusArguments, verbosity: Verbosity, judged: &[Judged]) -> Result<(), Failure> {
    let table_is_shown = arguments.csv.as_ref().is_some_and(|path| path.as_os_str() == "-");
    let stdout_is_taken = table_is_shown || arguments.document.takes_stdout();
    let mut out = summary_lines(stdout_is_taken);
    if verbosity > Verbosity::Quiet && !stdout_is_taken {
        for test in judged {
            writeln!(out, "{}", printable(&line(test, arguments.unroll)))?;
        }
    }
    let count = |answer| judged.iter().filter(|test| test.verdict.condition == Some(answer)).count();
    let (holding, unknown) = (count(Answer::Holds), count(Answer::Unknown));
    let executions: u64 = judged.iter().map(|test| test.verdict.outcomes.executions).sum();
    writeln!(out, "tests={} condition_holds={holding} unknown={unknown} executions={executions}", judged.len())?;
    Ok(out.flush()?)
}

/// The verdicts as data.
#[derive(Serialize)]
struct Tests<'a> {
    tests: Vec<Verdict<'a>>,
}

#[derive(Serialize)]
struct Verdict<'a> {
    model: &'a str,
    memory_model: &'a str,
    /// `exists`, `~exists` or `forall`; none if the test has no final condition.
    quantifier: Option<&'static str>,
    /// `yes`, `no` or `unknown`.
    condition_holds: Option<&'static str>,
    executions: u64,
    outcomes: usize,
    /// Whether no limit and no loop that was cut off has left executions out.
    complete: bool,
    limit: Option<String>,
}

fn verdict(test: &Judged, unroll: usize) -> Verdict<'_> {
    let outcomes = &test.verdict.outcomes;
    Verdict {
        model: &test.name,
        memory_model: &test.memory_model,
        quantifier: test.quantifier.map(quantifier_in_words),
        condition_holds: test.verdict.condition.map(|answer| match answer {
            Answer::Holds => "yes",
            Answer::Fails => "no",
            Answer::Unknown => "unknown",
        }),
        executions: outcomes.executions,
        outcomes: outcomes.ends.len(),
        complete: outcomes.complete && outcomes.stopped.is_none(),
        limit: match (outcomes.stopped, outcomes.complete) {
            (Some(limit), _) => Some(limit.to_string()),
            (None, true) => None,
            (None, false) => Some(format!("loops cut off after {} (--unroll)", counted(unroll, "round"))),
        },
    }
}

fn quantifier_in_words(quantifier: Quantifier) -> &'static str {
    match quantifier {
        Quantifier::Exists => "exists",
        Quantifier::NotExists => "~exists",
        Quantifier::Forall => "forall",
    }
}

fn line(test: &Judged, unroll: usize) -> String {
    let Judged { name, memory_model, quantifier, verdict } = test;
    let asked = quantifier.map_or("no condition", quantifier_in_words);
    let holds = match verdict.condition {
        Some(Answer::Holds) => ": holds",
        Some(Answer::Fails) => ": does not hold",
        Some(Answer::Unknown) => ": unknown",
        None => "",
    };
    let bounded = match (verdict.outcomes.stopped, verdict.outcomes.complete) {
        (Some(limit), _) => format!(", stopped at {limit}"),
        (None, true) => String::new(),
        (None, false) => format!(", loops cut off after {}", counted(unroll, "round")),
    };
    let executions = counted(verdict.outcomes.executions, "execution");
    let outcomes = counted(verdict.outcomes.ends.len(), "outcome");
    format!("{name} {memory_model}: {asked}{holds} ({executions}, {outcomes}{bounded})")
}
