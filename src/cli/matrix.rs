//! `seqcon matrix`: all built-in memory models side by side.

use super::analyse::{atomicity, tell_if_stopped};
use super::arguments::{MatrixArguments, Verbosity};
use super::engine::{self, Chosen, Wanted};
use super::failure::Failure;
use super::input::Model;
use super::outputs::tell_caveats;
use super::places::refuse_clashes;
use super::progress::Spinner;
use crate::analysis::{ModelOutcome, Options, Outcome};
use crate::engines::{self, Settings};
use crate::memory::MemoryModel;
use crate::property::Property;
use crate::report::matrix::{self, Matrix};
use crate::report::output::Staged;
use crate::report::{streams, text};
use crate::text::excerpt::printable;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

pub fn run(arguments: &MatrixArguments, verbosity: Verbosity) -> Result<ExitCode, Failure> {
    refuse_clashes(arguments.csv.as_deref(), arguments.input.files())?;
    let models = arguments.input.models(&arguments.merging, verbosity)?;
    let several = models.len() > 1;
    let outcomes = models.iter().map(|model| outcome(arguments, model)).collect::<Result<Vec<Outcome>, Failure>>()?;
    let matrices: Vec<Matrix<'_>> = outcomes.iter().map(Matrix::of).collect();
    if let Some(path) = &arguments.csv {
        let mut staged = Staged::new();
        staged.write(path, &mut |out| matrix::write_csv(&matrices, out))?;
        staged.put_in_place()?;
    }
    if arguments.csv.as_deref() == Some(Path::new("-")) || verbosity == Verbosity::Quiet {
        outcomes.iter().for_each(tell_caveats);
    } else {
        let mut shown = String::new();
        for (position, (matrix, outcome)) in matrices.iter().zip(&outcomes).enumerate() {
            if several {
                let gap = if position > 0 { "\n" } else { "" };
                let path = arguments.input.inputs[position].display();
                shown += &format!("{gap}{}\n\n", printable(&format!("model {} ({path})", outcome.model)));
            }
            text::write_caveats(&outcome.caveats, &mut shown).map_err(io::Error::other)?;
            matrix.write_text(&mut shown).map_err(io::Error::other)?;
        }
        let mut out = streams::coloured();
        out.write_all(shown.as_bytes()).and_then(|()| out.flush())?;
    }
    let complete = outcomes.iter().flat_map(|outcome| &outcome.results).all(|result| result.complete);
    Ok(if complete { ExitCode::SUCCESS } else { ExitCode::from(3) })
}

fn outcome(arguments: &MatrixArguments, input: &Model) -> Result<Outcome, Failure> {
    let started = Instant::now();
    let chosen = Chosen { engine: engines::all()[0], wanted: Wanted::Named(Property::Robust) };
    let approach = arguments.input.limits.approach(None)?;
    let settings = Settings { atomicity: Some(atomicity(arguments.atomicity)), approach, ..Settings::default() };
    let spinner = Spinner::new(format!("exploring {}", input.paths[0].display()));
    let models = MemoryModel::builtin();
    engine::examine(&chosen, (input.subject(), &models), &settings, &arguments.input.limits, |task, examined| {
        drop(spinner);
        let explored_in = input.read_in + started.elapsed();
        let options = Options { atomicity: examined.atomicity(), ..Options::default() };
        let analysed = |model: &MemoryModel| {
            let _spinner = Spinner::new(format!("analysing under {}", model.name));
            let placed = examined.place(model, &options).map_err(|trouble| engine::failure(task.subject, trouble))?;
            tell_if_stopped(&placed);
            Ok(placed)
        };
        let results = models.iter().map(analysed).collect::<Result<Vec<ModelOutcome>, Failure>>()?;
        let mut outcome = engines::outcome(chosen.engine, task, examined, options, results, explored_in);
        outcome.model = input.name.clone();
        outcome.caveats = input.caveats.iter().cloned().chain(outcome.caveats).collect();
        Ok(outcome)
    })
}
