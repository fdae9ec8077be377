//! `seqcon matrix`: all built-in memory models side by side.

use super::analyse::{atomicity, for_reading, tell_if_stopped};
use super::arguments::{MatrixArguments, Verbosity};
use super::failure::Failure;
use super::idle;
use super::input::Model;
use super::interrupt::Interruptible;
use super::outputs::tell_caveats;
use super::places::refuse_clashes;
use super::progress::Spinner;
use super::specification::Specification;
use crate::aeg::Profile;
use crate::analysis::{Analysis, EngineUse, ModelOutcome, Options, Outcome};
use crate::caveat::idle::Happenings;
use crate::confirm::{self, AUTO_STATES, Limits, Subject};
use crate::memory::MemoryModel;
use crate::provenance::Provenance;
use crate::report::matrix::{self, Matrix};
use crate::report::output::Staged;
use crate::report::{streams, text};
use crate::source::Source;
use crate::text::excerpt::printable;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

/// As `analyse` has them by default.
const LIMITS: Limits = Limits { states: AUTO_STATES, buffer: 4 };
/// The most states that are explored access by access.
const MOST_STATES: usize = 2_000_000;

pub fn run(arguments: &MatrixArguments, verbosity: Verbosity) -> Result<ExitCode, Failure> {
    refuse_clashes(arguments.csv.as_deref(), arguments.input.files())?;
    let models = arguments.input.models(&arguments.merging, verbosity)?;
    let several = models.len() > 1;
    let outcomes =
        models.into_iter().map(|model| outcome(arguments, model)).collect::<Result<Vec<Outcome>, Failure>>()?;
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

fn outcome(arguments: &MatrixArguments, input: Model) -> Result<Outcome, Failure> {
    let started = Instant::now();
    let Model { name, specification, facts, limit, mut caveats, read_in, .. } = input;
    let happenings = Happenings::of(&facts);
    let atomicity = atomicity(arguments.atomicity);
    let _heard = Interruptible::new();
    let budget = arguments.input.limits.budget.for_the_rest();
    let whole = Analysis::within(facts, Profile::Sound, &budget).because(limit);
    caveats.extend(whole.caveats.iter().cloned());
    caveats.extend(idle::caveats(&happenings, &whole, specification.as_ref()));
    let mut analysis = for_reading(whole, atomicity, specification.as_ref(), MOST_STATES)?;
    let explored_in = read_in + started.elapsed();
    let options = Options { atomicity, ..Options::default() };
    let told = |outcome: ModelOutcome| {
        tell_if_stopped(&outcome);
        outcome
    };
    let analysed = |model: MemoryModel| {
        let _spinner = Spinner::new(format!("analysing under {}", model.name));
        let Some(specification) = &specification else { return Ok(told(analysis.run(&model, &options))) };
        let subject =
            Subject { program: &specification.program, analysis: &analysis, model: &model, options: &options };
        confirm::place_by_default(subject, LIMITS).map(told).map_err(|error| specification.too_long(error))
    };
    let results = MemoryModel::builtin().into_iter().map(analysed).collect::<Result<_, Failure>>()?;
    analysis.graph.budget = analysis.graph.budget.settled();
    let source = specification.map(|Specification { name, text, program, .. }| Source::new(name, text, program));
    Ok(Outcome {
        model: name,
        analysis,
        engine: EngineUse::default(),
        explored_in,
        options,
        results,
        caveats,
        source,
        provenance: Provenance::default(),
    })
}
