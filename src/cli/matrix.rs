//! `seqcon matrix`: all built-in memory models side by side.

use super::analyse::{atomicity, for_reading};
use super::arguments::{MatrixArguments, Verbosity};
use super::failure::Failure;
use super::places::refuse_clashes;
use super::progress::Spinner;
use super::specification::Specification;
use crate::aeg::Profile;
use crate::analysis::{Analysis, EngineUse, Options, Outcome};
use crate::memory::MemoryModel;
use crate::provenance::Provenance;
use crate::report::matrix::Matrix;
use crate::report::output::Staged;
use crate::report::streams;
use crate::source::Source;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

/// The most states that are explored access by access.
const MOST_STATES: usize = 2_000_000;

pub fn run(arguments: &MatrixArguments, verbosity: Verbosity) -> Result<ExitCode, Failure> {
    refuse_clashes(arguments.csv.as_deref(), arguments.input.files())?;
    let outcome = outcome(arguments, verbosity)?;
    let matrix = Matrix::of(&outcome);
    if let Some(path) = &arguments.csv {
        let mut staged = Staged::new();
        staged.write(path, &mut |out| matrix.write_csv(out))?;
        staged.put_in_place()?;
    }
    if arguments.csv.as_deref() != Some(Path::new("-")) && verbosity > Verbosity::Quiet {
        let mut shown = String::new();
        matrix.write_text(&mut shown).map_err(io::Error::other)?;
        let mut out = streams::text();
        out.write_all(shown.as_bytes()).and_then(|()| out.flush())?;
    }
    let complete = outcome.results.iter().all(|result| result.complete);
    Ok(if complete { ExitCode::SUCCESS } else { ExitCode::from(3) })
}

fn outcome(arguments: &MatrixArguments, verbosity: Verbosity) -> Result<Outcome, Failure> {
    let started = Instant::now();
    let specification = match &arguments.input.inputs[..] {
        [path] if Specification::is_one(path) => Some(Specification::read(path)?),
        _ => None,
    };
    let facts = match &specification {
        Some(specification) => specification.facts(&arguments.input.limits)?,
        None => arguments.input.load(verbosity)?,
    };
    let atomicity = atomicity(arguments.atomicity);
    let whole = Analysis::new(facts, Profile::Sound);
    let analysis = for_reading(whole, atomicity, specification.as_ref(), MOST_STATES)?;
    let explored_in = started.elapsed();
    let options = Options { atomicity, ..Options::default() };
    let analysed = |model: MemoryModel| {
        let _spinner = Spinner::new(format!("analysing under {}", model.name));
        analysis.run(&model, &options)
    };
    let results = MemoryModel::builtin().into_iter().map(analysed).collect();
    let source =
        specification.map(|Specification { name, text, program, .. }| Source::new(name, text, program, &analysis));
    let model = arguments.input.model_name();
    Ok(Outcome {
        model,
        analysis,
        engine: EngineUse::default(),
        explored_in,
        options,
        results,
        caveats: Vec::new(),
        source,
        provenance: Provenance::default(),
    })
}
