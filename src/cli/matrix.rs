//! `seqcon matrix`: memory models side by side.

use super::analyse::{atomicity, tell_if_stopped};
use super::arguments::{MatrixArguments, Verbosity};
use super::batch;
use super::documents::{Document, summary_lines};
use super::engine::{self, Chosen, Wanted};
use super::failure::Failure;
use super::input::{Model, memory_model, refuse_repeated_models};
use super::outputs::tell_caveats;
use super::places::refuse_clashes;
use super::progress::{Spinner, short};
use crate::analysis::{ModelOutcome, Options, Outcome};
use crate::engines::{self, Settings};
use crate::memory::MemoryModel;
use crate::placement::cost::Costs;
use crate::property::Property;
use crate::report::json::{CaveatObject, caveat_object};
use crate::report::matrix::{self, Matrix, MatrixObject};
use crate::report::output::Staged;
use crate::report::{streams, text};
use crate::text::excerpt::printable;
use serde::Serialize;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

pub fn run(arguments: &MatrixArguments, verbosity: Verbosity) -> Result<ExitCode, Failure> {
    let memory_models = memory_models(arguments)?;
    let outputs = arguments.csv.as_deref().into_iter().chain(arguments.document.path());
    let tables = arguments.memory_models.iter().map(Path::new);
    refuse_clashes(outputs, arguments.input.files().chain(tables))?;
    let inputs = arguments.input.named(&arguments.merging)?;
    let several = inputs.len() > 1;
    let reading = arguments.input.options()?;
    let mut done = batch::each(&inputs, arguments.jobs, |named| {
        outcome(arguments, &arguments.input.read(named, &reading, verbosity)?, &memory_models)
    })?;
    let (positions, outcomes): (Vec<usize>, Vec<Outcome>) = std::mem::take(&mut done.results).into_iter().unzip();
    if outcomes.is_empty() {
        return Ok(done.exit_status(0));
    }
    let is_stable = is_stable(arguments);
    let matrices: Vec<Matrix<'_>> = outcomes.iter().map(|outcome| Matrix::of(outcome, is_stable)).collect();
    if let Some(path) = &arguments.csv {
        let mut staged = Staged::new();
        staged.write(path, &mut |out| matrix::write_csv(&matrices, out))?;
        staged.put_in_place()?;
    }
    arguments.document.write(|| {
        let about = |(matrix, outcome)| ModelObject::of(matrix, outcome);
        Document::new(SCHEMA_VERSION, Models { models: matrices.iter().zip(&outcomes).map(about).collect() })
    })?;
    let taken = arguments.csv.as_deref() == Some(Path::new("-")) || arguments.document.takes_stdout();
    if taken || verbosity == Verbosity::Quiet {
        outcomes.iter().for_each(tell_caveats);
        let mut out = summary_lines(taken);
        for outcome in &outcomes {
            outcome.results.iter().try_for_each(|result| writeln!(out, "{}", outcome.summary_line(result)))?;
        }
        out.flush()?;
    } else {
        let mut shown = String::new();
        for (position, (matrix, outcome)) in matrices.iter().zip(&outcomes).enumerate() {
            if several {
                let gap = if position > 0 { "\n" } else { "" };
                let path = arguments.input.inputs[positions[position]].display();
                shown += &format!("{gap}{}\n\n", printable(&format!("model {} ({path})", outcome.model)));
            }
            text::write_caveats(&outcome.caveats, &mut shown).map_err(io::Error::other)?;
            matrix.write_text(&mut shown).map_err(io::Error::other)?;
        }
        let mut out = streams::coloured();
        out.write_all(shown.as_bytes()).and_then(|()| out.flush())?;
    }
    let complete = outcomes.iter().flat_map(|outcome| &outcome.results).all(|result| result.complete);
    Ok(done.exit_status(if complete { 0 } else { 3 }))
}

/// The schema of what `--json` writes.
const SCHEMA_VERSION: u32 = 1;

/// The matrices as data.
#[derive(Serialize)]
struct Models<'a> {
    models: Vec<ModelObject<'a>>,
}

/// The matrix of a model, and what must be known before it is believed.
#[derive(Serialize)]
struct ModelObject<'a> {
    #[serde(flatten)]
    matrix: MatrixObject<'a>,
    caveats: Vec<CaveatObject<'a>>,
}

impl<'a> ModelObject<'a> {
    fn of(matrix: &Matrix<'a>, outcome: &'a Outcome) -> ModelObject<'a> {
        let caveats = outcome.caveats.iter().map(|caveat| caveat_object(outcome.source.as_ref(), caveat));
        ModelObject { matrix: matrix.data(), caveats: caveats.collect() }
    }
}

/// The memory models that are asked for, else all built-in ones.
fn memory_models(arguments: &MatrixArguments) -> Result<Vec<MemoryModel>, Failure> {
    if arguments.memory_models.is_empty() {
        return Ok(MemoryModel::builtin());
    }
    let models = arguments.memory_models.iter().map(|name| memory_model(name)).collect::<Result<Vec<_>, _>>()?;
    refuse_repeated_models(&models)?;
    Ok(models)
}

/// Whether places of memory models to the left are preferred: the default, and of two options the last one counts.
fn is_stable(arguments: &MatrixArguments) -> bool {
    arguments.stable || !arguments.no_stable
}

/// These costs; of equally cheap fences such are preferred as stand where those of other memory models do.
fn preferring_places_of(costs: &Costs, results: &[ModelOutcome]) -> Costs {
    costs.preferring(results.iter().flat_map(|result| &result.fences).map(|fence| fence.site))
}

fn outcome(arguments: &MatrixArguments, input: &Model, models: &[MemoryModel]) -> Result<Outcome, Failure> {
    let started = Instant::now();
    let chosen = Chosen { engine: engines::all()[0], wanted: Wanted::Named(Property::Robust) };
    let approach = arguments.input.limits.approach(None)?;
    let settings = Settings { atomicity: Some(atomicity(arguments.atomicity)), approach, ..Settings::default() };
    let spinner = Spinner::new(format!("{} {}", input.begins(), short(&input.name)));
    engine::examine(&chosen, (input.subject(), models), &settings, &arguments.input.limits, |task, examined| {
        drop(spinner);
        let explored_in = input.read_in + started.elapsed();
        let options = Options { atomicity: examined.atomicity(), ..Options::default() };
        let mut results: Vec<ModelOutcome> = Vec::new();
        for model in models {
            let _spinner = Spinner::under(model, "analysing", &input.name);
            // A row is read across: of equally cheap places those are taken that weaker demands have taken.
            let before: &[ModelOutcome] = if is_stable(arguments) { &results } else { &[] };
            let options = Options { costs: preferring_places_of(&options.costs, before), ..options.clone() };
            let placed = examined.place(model, &options).map_err(|trouble| engine::failure(task.subject, trouble))?;
            tell_if_stopped(&placed);
            results.push(placed);
        }
        let mut outcome = engines::outcome(chosen.engine, task, examined, options, results, explored_in);
        outcome.model = input.name.clone();
        outcome.caveats = input.caveats.iter().cloned().chain(outcome.caveats).collect();
        Ok(outcome)
    })
}
