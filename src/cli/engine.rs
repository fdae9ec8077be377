//! `seqcon analyse --engine` and `seqcon engines`: methods other than the main analysis.

use super::analyse::{options, provenance, tell_if_stopped};
use super::arguments::{AnalyseArguments, ConfirmArgument, PlacementArgument, Verbosity};
use super::failure::Failure;
use super::idle;
use super::interrupt::Interruptible;
use super::progress::Spinner;
use super::specification::Specification;
use super::verify::Trial;
use crate::analysis::{Abstraction, EngineUse, ModelOutcome, Outcome, Verification};
use crate::cycles::Atomicity;
use crate::engines::{self, Engine, Evidence, Task, Trouble};
use crate::memory::MemoryModel;
use crate::provenance::Provenance;
use crate::repair::Repair;
use crate::report::streams;
use crate::source::Source;
use crate::tell;
use crate::weak::verify::Property;
use crate::weak::words::Words;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

/// Lists the engines.
pub fn list() -> Result<ExitCode, Failure> {
    let mut out = streams::text();
    for (position, engine) in engines::all().into_iter().enumerate() {
        let description = engine.description();
        let default = if position == 0 { " (the default)" } else { "" };
        writeln!(out, "{}{default}", description.name)?;
        writeln!(out, "  guarantees     {}", description.guarantees)?;
        writeln!(out, "  memory models  {}", description.models_in_words())?;
        writeln!(out, "  input          {}", description.input)?;
        writeln!(out, "  after          {}", description.after)?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// The engine of that name.
pub fn named(name: &str) -> Result<&'static dyn Engine, Failure> {
    engines::named(name).ok_or_else(|| {
        let known: Vec<&str> = engines::all().iter().map(|engine| engine.description().name).collect();
        Failure::Usage(format!("there is no engine {name:?}: expected one of {}", known.join(", ")))
    })
}

/// How results of this engine are described.
pub fn used(engine: &dyn Engine, abstraction: Option<Abstraction>) -> EngineUse {
    let description = engine.description();
    EngineUse { name: description.name.to_owned(), guarantees: description.guarantees.to_owned(), abstraction }
}

/// What belongs to other engines is refused where the default one is used.
pub fn refuse_for_default(arguments: &AnalyseArguments) -> Result<(), Failure> {
    let asked = match (arguments.abstraction, arguments.minimal_sets) {
        (Some(_), _) => "--abstraction",
        (None, Some(_)) => "--minimal-sets",
        (None, None) => return Ok(()),
    };
    Err(Failure::Usage(format!("{asked} is for --engine persistence")))
}

/// What the engine does not know is refused before anything is read.
fn refuse_unknown(arguments: &AnalyseArguments, engine: &dyn Engine, models: &[MemoryModel]) -> Result<(), Failure> {
    let description = engine.description();
    let name = description.name;
    if let Some(model) = models.iter().find(|model| !description.knows(model)) {
        let models = description.models_in_words();
        let why = match model.known() {
            Ok(known) if known.name() == model.name => String::new(),
            Ok(known) => format!(" (its rules are those of {known})"),
            Err(unknown) => format!(" ({unknown})"),
        };
        return Err(Failure::Usage(format!(
            "the engine {name} is for {models}, not for {}{why}; give --mm {}, or use --engine cycles",
            model.name,
            models.replace(", ", ",")
        )));
    }
    let unsupported = [
        (arguments.atomicity.is_some(), "--atomicity"),
        (!matches!(arguments.placement, PlacementArgument::Exact), "--placement greedy"),
        (matches!(arguments.confirmation.confirm, Some(ConfirmArgument::Full | ConfirmArgument::Mark)), "--confirm"),
        (arguments.confirmation.only_confirmed, "--only-confirmed"),
    ];
    match unsupported.iter().find(|(asked, _)| *asked) {
        Some((_, option)) => Err(Failure::Usage(format!("the engine {name} has no {option}; use --engine cycles"))),
        None => Ok(()),
    }
}

/// The outcomes of an engine other than the default one, for each of the inputs.
pub fn outcomes(
    arguments: &AnalyseArguments,
    engine: &dyn Engine,
    models: &[MemoryModel],
    verbosity: Verbosity,
) -> Result<Vec<Outcome>, Failure> {
    refuse_unknown(arguments, engine, models)?;
    let inputs = &arguments.input.inputs;
    if arguments.merging.merge || !inputs.iter().all(|path| Specification::is_one(path)) {
        let name = engine.description().name;
        return Err(Failure::Usage(format!(
            "the engine {name} needs the values that a program reads and writes, and so specifications as inputs, without --merge (a state space has only labels)"
        )));
    }
    let specifications = arguments.input.specifications()?;
    let names = arguments.input.model_names(&arguments.merging);
    let inputs = specifications.into_iter().zip(names).zip(inputs);
    let outcome = |((specification, name), path): ((Specification, String), &PathBuf)| {
        let provenance = provenance(arguments, std::slice::from_ref(path));
        outcome(arguments, engine, models, specification, verbosity).map(|outcome| Outcome {
            model: arguments.name.clone().unwrap_or(name),
            provenance,
            ..outcome
        })
    };
    inputs.map(outcome).collect()
}

/// The outcome for one specification; its name and provenance are for the caller.
fn outcome(
    arguments: &AnalyseArguments,
    engine: &dyn Engine,
    models: &[MemoryModel],
    specification: Specification,
    verbosity: Verbosity,
) -> Result<Outcome, Failure> {
    let started = Instant::now();
    let _heard = Interruptible::new();
    let evidence = specification.with_limits(&arguments.input.limits, |compiled, limits| {
        let _spinner = Spinner::new(format!("checking {}", specification.name));
        let task = Task {
            program: &specification.program,
            compiled,
            limits,
            approach: arguments.abstraction.unwrap_or_default(),
        };
        engine.check(&task)
    });
    let evidence = evidence.map_err(|trouble| failure(&specification, trouble))?;
    let mut analysis = evidence.analysis().clone();
    if analysis.cut_off {
        let limit = analysis.missing.as_deref().unwrap_or("a limit");
        tell!(
            "seqcon: warning: {}: stopped at {limit} after {} states; the result is not complete",
            specification.name,
            analysis.num_of_states
        );
    }
    specification.tell_out_of_range(&arguments.input.limits, evidence.out_of_range())?;
    // Programs are performed access by access.
    let explored_in = started.elapsed();
    let options = options(arguments, Atomicity::Split, &analysis)?;
    let mut results = Vec::with_capacity(models.len());
    for model in models {
        let started = Instant::now();
        let mut result = evidence.insert_fences(model, &options);
        tell_if_stopped(&result);
        if arguments.verify {
            result.verification = verification(arguments, &specification, model, &result)?;
        }
        result.elapsed = started.elapsed();
        results.push(result);
    }
    if verbosity == Verbosity::Verbose {
        for model in models {
            show_runs(&specification, &*evidence, model)?;
        }
    }
    analysis.graph.budget = evidence.analysis().graph.budget.settled();
    let engine = used(engine, evidence.abstraction());
    drop(evidence);
    let caveats = idle::explored(&specification, &arguments.input.limits);
    let Specification { name, text, program, .. } = specification;
    let model = name.clone();
    let source = Some(Source::new(name, text, program));
    let provenance = Provenance::default();
    Ok(Outcome { model, analysis, explored_in, options, results, caveats, source, engine, provenance })
}

/// Runs the program with the fences in place, access by access: does it reach the same states?
fn verification(
    arguments: &AnalyseArguments,
    specification: &Specification,
    model: &MemoryModel,
    result: &ModelOutcome,
) -> Result<Verification, Failure> {
    let repair = Repair::of(result);
    let trial = Trial {
        specification,
        model,
        repair: &repair,
        atomicity: Atomicity::Split,
        property: Property::States,
        confirmation: &arguments.confirmation,
        unroll: arguments.unroll,
        budget: arguments.input.limits.budget.for_the_rest(),
    };
    trial.verification()
}

/// The runs that show why, on standard error.
fn show_runs(specification: &Specification, evidence: &dyn Evidence, model: &MemoryModel) -> Result<(), Failure> {
    let locations = specification.split()?.locations;
    let words = Words { program: &specification.program, text: &specification.text, locations: &locations };
    for run in evidence.runs(model) {
        let mut text = String::new();
        words.write_run(&run, &mut text).map_err(io::Error::other)?;
        tell!(
            "seqcon: {}: a run of {} whose program and store orders no sequentially consistent run has:\n{text}",
            specification.name,
            model.name
        );
    }
    Ok(())
}

fn failure(specification: &Specification, trouble: Trouble) -> Failure {
    match trouble {
        Trouble::Exploration(failure) => specification.failure(failure),
        Trouble::Unsupported(problem) => Failure::Usage(problem),
        Trouble::Inside(at) => {
            let thread = specification.program.thread(at.thread);
            let instruction = thread.instruction(at.instruction);
            let name = format!("{}.{}", thread.name, instruction.name);
            let problem = format!(
                "{name} writes and then reads: a fence would have to stand inside it, where this engine has no place; write it as two instructions or as an atomic one, or use --engine cycles"
            );
            specification.failure_at(instruction.span, problem)
        }
        Trouble::TooManyIndices(span) => {
            specification.failure_at(span, "this instruction computes too many indices; split it")
        }
        Trouble::Fault(fault, at) => {
            let thread = specification.program.thread(at.thread);
            let instruction = thread.instruction(at.instruction);
            let problem = format!("{} in {}.{}, performed access by access", fault.kind, thread.name, instruction.name);
            specification.failure_at(instruction.span, problem)
        }
    }
}
