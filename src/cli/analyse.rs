//! `seqcon analyse`: from a state space to fences and locks.

use super::arguments::{
    AnalyseArguments, AtomicityArgument, ConflictsArgument, CyclesArgument, PlacementArgument, ProfileArgument,
    Verbosity,
};
use super::engine;
use super::failure::Failure;
use super::input::{Model, memory_model};
use super::outputs::Outputs;
use super::progress::Spinner;
use super::specification::Specification;
use super::verify::Trial;
use crate::aeg::Profile;
use crate::analysis::{Analysis, EngineUse, ModelOutcome, Options, Outcome, Verification};
use crate::caveat::idle::Happenings;
use crate::caveat::{conflicts, definitions};
use crate::confirm;
use crate::cycles::{Atomicity, ConflictRule, Listing};
use crate::engines::{self, Engine};
use crate::memory::MemoryModel;
use crate::placement::Method;
use crate::placement::cost::Costs;
use crate::provenance::Provenance;
use crate::repair::Repair;
use crate::report::names;
use crate::report::run::Words;
use crate::source::Source;
use crate::weak::verify::Property;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

/// The models of `--mm` if none are given and the engine is for all.
const USUAL: [&str; 4] = ["tso", "pso", "armv7", "power"];

/// The memory models that are asked for, else the usual ones that the engine is for.
fn memory_models(arguments: &AnalyseArguments, engine: &dyn Engine) -> Result<Vec<MemoryModel>, Failure> {
    if arguments.memory_models.is_empty() {
        let usual = USUAL.iter().map(|name| memory_model(name)).collect::<Result<Vec<MemoryModel>, Failure>>()?;
        return Ok(usual.into_iter().filter(|model| engine.description().knows(model)).collect());
    }
    arguments.memory_models.iter().map(|name| memory_model(name)).collect()
}

pub fn run(arguments: &AnalyseArguments, verbosity: Verbosity) -> Result<ExitCode, Failure> {
    // Everything that can be wrong with the command is found before the state space is read.
    let engine = engine::named(&arguments.engine)?;
    let models = memory_models(arguments, engine)?;
    refuse_repetitions(&models)?;
    let outputs = Outputs::new(arguments)?;
    refuse_for_state_spaces(arguments)?;
    let outcomes = if engine.description() == engines::all()[0].description() {
        engine::refuse_for_default(arguments)?;
        let inputs = arguments.input.models(&arguments.merging, verbosity)?;
        let outcome = |input: Model| outcome(arguments, input, &models, verbosity);
        inputs.into_iter().map(outcome).collect::<Result<Vec<Outcome>, Failure>>()?
    } else {
        engine::outcomes(arguments, engine, &models, verbosity)?
    };
    outputs.write_files(&outcomes)?;
    match outputs.write_text(&outcomes, verbosity) {
        // Who has seen enough of the text still gets the verdict.
        Err(failure) if failure.is_unread() => {}
        result => result?,
    }
    Ok(exit_status(arguments, &outcomes))
}

/// What the default engine finds in one of the inputs.
fn outcome(
    arguments: &AnalyseArguments,
    input: Model,
    models: &[MemoryModel],
    verbosity: Verbosity,
) -> Result<Outcome, Failure> {
    let profile = match arguments.profile {
        ProfileArgument::Sound => Profile::Sound,
        ProfileArgument::Literal => Profile::Literal,
        ProfileArgument::Published => Profile::Published,
    };
    let Model { name, paths, specification, facts, mut caveats } = input;
    let happenings = Happenings::of(&facts);
    let analysis = Analysis::new(facts, profile);
    let options = options(arguments, &analysis)?;
    let results = models
        .iter()
        .map(|model| result(arguments, specification.as_ref(), &analysis, model, &options, verbosity))
        .collect::<Result<_, _>>()?;
    let source =
        specification.map(|Specification { name, text, program, .. }| Source::new(name, text, program, &analysis));
    caveats.extend(analysis.caveats.iter().cloned());
    caveats.extend(definitions::caveats(profile, analysis.conflict_rule(options.conflicts)));
    caveats.extend(happenings.caveats(&analysis, source.as_ref()));
    caveats.extend(conflicts::caveats(&analysis, source.is_none()));
    Ok(Outcome {
        model: arguments.name.clone().unwrap_or(name),
        analysis,
        engine: EngineUse::default(),
        options,
        results,
        caveats,
        source,
        provenance: provenance(arguments, &paths)?,
    })
}

/// The result under one memory model.
fn result(
    arguments: &AnalyseArguments,
    specification: Option<&Specification>,
    analysis: &Analysis,
    model: &MemoryModel,
    options: &Options,
    verbosity: Verbosity,
) -> Result<ModelOutcome, Failure> {
    let spinner = Spinner::new(format!("analysing under {}", model.name));
    let outcome = match specification {
        Some(specification) if arguments.confirm || arguments.confirmation.only_confirmed => {
            confirmed(arguments, specification, analysis, model, options, verbosity)?
        }
        _ => analysis.run(model, options),
    };
    drop(spinner);
    match specification {
        Some(specification) if arguments.verify => {
            let verification = verification(arguments, specification, analysis, model, options, &outcome)?;
            Ok(ModelOutcome { verification, ..outcome })
        }
        _ => Ok(outcome),
    }
}

/// Runs the repaired program.
fn verification(
    arguments: &AnalyseArguments,
    specification: &Specification,
    analysis: &Analysis,
    model: &MemoryModel,
    options: &Options,
    outcome: &ModelOutcome,
) -> Result<Verification, Failure> {
    let repair = Repair::of(&specification.program, analysis, outcome);
    let trial = Trial {
        specification,
        model,
        repair: &repair,
        atomicity: options.atomicity,
        property: Property::Traces,
        confirmation: &arguments.confirmation,
        unroll: arguments.unroll,
    };
    trial.verification()
}

/// What runs the program needs specifications.
fn refuse_for_state_spaces(arguments: &AnalyseArguments) -> Result<(), Failure> {
    let are_programs = arguments.input.inputs.iter().all(|path| Specification::is_one(path));
    let are_merged = arguments.merging.merge && arguments.input.inputs.len() > 1;
    match runs_the_program(arguments) {
        Some(asked) if !are_programs || are_merged => Err(Failure::Usage(format!(
            "{asked} runs the program, and needs specifications as inputs, not merged (a state space has only labels)"
        ))),
        _ => Ok(()),
    }
}

/// The option for which the program itself is needed.
fn runs_the_program(arguments: &AnalyseArguments) -> Option<&'static str> {
    let options = [
        (arguments.confirmation.only_confirmed, "--only-confirmed"),
        (arguments.confirm, "--confirm"),
        (arguments.verify, "--verify"),
    ];
    options.into_iter().find(|&(asked, _)| asked).map(|(_, option)| option)
}

/// How to repeat the run, if a report is written that says it: that reads the inputs once more.
pub fn provenance(arguments: &AnalyseArguments, paths: &[PathBuf]) -> Result<Provenance, Failure> {
    let reports = [&arguments.json, &arguments.html, &arguments.formats.sarif, &arguments.out];
    if reports.into_iter().all(Option::is_none) {
        return Ok(Provenance::default());
    }
    let arguments_typed = std::env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned());
    let command = std::iter::once("seqcon".to_owned()).chain(arguments_typed);
    Ok(Provenance::of(command, paths.iter().map(PathBuf::as_path))?)
}

/// The result with what is confirmed of its delays.
fn confirmed(
    arguments: &AnalyseArguments,
    specification: &Specification,
    analysis: &Analysis,
    model: &MemoryModel,
    options: &Options,
    verbosity: Verbosity,
) -> Result<ModelOutcome, Failure> {
    let (program, limits) = (&specification.program, arguments.confirmation.limits());
    let too_long = |error| specification.too_long(error);
    if arguments.confirmation.only_confirmed {
        return confirm::place_confirmed(program, analysis, model, options, limits).map_err(too_long);
    }
    let outcome = analysis.run(model, options);
    let confirmed = confirm::confirm(program, analysis, model, options, &outcome.findings, limits).map_err(too_long)?;
    if verbosity == Verbosity::Verbose {
        let locations = specification.split()?.locations;
        let words = Words { program, text: &specification.text, locations: &locations };
        for witness in confirmed.witnesses.iter().flatten() {
            let mut run = String::new();
            words.write_witness(witness, &mut run).map_err(io::Error::other)?;
            eprintln!("seqcon: {}: a run that needs a delay of {}:\n{run}", specification.name, model.name);
        }
    }
    Ok(ModelOutcome { confirmations: confirmed.verdicts, ..outcome })
}

/// A memory model that is named twice is a slip: one result would hide the other.
fn refuse_repetitions(models: &[MemoryModel]) -> Result<(), Failure> {
    let repeated =
        models.iter().enumerate().find(|(position, model)| models[..*position].iter().any(|m| m.name == model.name));
    match repeated {
        Some((_, model)) => {
            Err(Failure::Usage(format!("--mm names the memory model {} twice; name it once", model.name)))
        }
        None => Ok(()),
    }
}

/// What is missing is known even if not all cycles were listed, so it comes first.
fn exit_status(arguments: &AnalyseArguments, outcomes: &[Outcome]) -> ExitCode {
    let results = || outcomes.iter().flat_map(|outcome| &outcome.results);
    let violated = results().any(|result| result.verification == Verification::Violated);
    if violated || arguments.check && results().any(|result| !result.is_clean()) {
        return ExitCode::from(1);
    }
    let is_answered = |result: &ModelOutcome| result.complete && result.verification != Verification::Undecided;
    let complete = results().all(is_answered);
    if complete { ExitCode::SUCCESS } else { ExitCode::from(3) }
}

/// What `--atomicity` asks for.
pub fn atomicity(argument: AtomicityArgument) -> Atomicity {
    match argument {
        AtomicityArgument::Off => Atomicity::Off,
        AtomicityArgument::Updates => Atomicity::Updates,
        AtomicityArgument::Full => Atomicity::Full,
    }
}

/// What is asked of the analysis.
pub fn options(arguments: &AnalyseArguments, analysis: &Analysis) -> Result<Options, Failure> {
    let costs = match &arguments.cost {
        None => Costs::default(),
        Some(path) => {
            let text = fs::read_to_string(path).map_err(|error| Failure::in_file(path, error))?;
            Costs::from_toml(&text, &analysis.graph, |point| names::point(&analysis.graph, point))
                .map_err(|error| Failure::in_file(path, error))?
        }
    };
    Ok(Options {
        conflicts: match arguments.conflicts {
            ConflictsArgument::Auto => ConflictRule::Auto,
            ConflictsArgument::Concurrent => ConflictRule::Concurrent,
            ConflictsArgument::Reachable => ConflictRule::Reachable,
        },
        atomicity: atomicity(arguments.atomicity),
        listing: listing(arguments.cycles),
        minimal_sets: listing(arguments.minimal_sets),
        method: match arguments.placement {
            PlacementArgument::Exact => Method::Exact,
            PlacementArgument::Greedy => Method::Greedy,
        },
        costs,
    })
}

fn listing(argument: Option<CyclesArgument>) -> Listing {
    match argument {
        None => Listing::None,
        Some(CyclesArgument::First(limit)) => Listing::First(limit),
        Some(CyclesArgument::All) => Listing::All,
    }
}
