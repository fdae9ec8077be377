//! `seqcon analyse`: from a state space to fences and locks.

use super::arguments::{
    AnalyseArguments, AtomicityArgument, ConfirmArgument, ConflictsArgument, CyclesArgument, PlacementArgument,
    ProfileArgument, Verbosity,
};
use super::engine;
use super::failure::Failure;
use super::idle;
use super::input::{Model, memory_model, refuse_repeated_models};
use super::interrupt::Interruptible;
use super::outputs::Outputs;
use super::progress::Spinner;
use super::specification::Specification;
use super::verify::{self, Trial, semantics, tell_if_without_machine};
use crate::aeg::Profile;
use crate::analysis::{Analysis, EngineUse, ModelOutcome, Options, Outcome, Verification};
use crate::caveat::definitions;
use crate::caveat::idle::Happenings;
use crate::confirm::{self, Subject};
use crate::cycles::{Atomicity, ConflictRule, Listing};
use crate::engines::{self, Engine};
use crate::memory::MemoryModel;
use crate::placement::Method;
use crate::placement::cost::Costs;
use crate::provenance::Provenance;
use crate::readings::{self, Others, STATES_FOR_OTHERS, Splittable};
use crate::repair::Repair;
use crate::report::names;
use crate::source::Source;
use crate::tell;
use crate::weak::split::TooLong;
use crate::weak::verify::Property;
use crate::weak::words::Words;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

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
    refuse_repeated_models(&models)?;
    let outputs = Outputs::new(arguments)?;
    if says_provenance(arguments) {
        arguments.input.hashes.want();
    }
    if arguments.verify {
        models.iter().try_for_each(|model| semantics(model).map(drop))?;
    }
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
    outputs.write_text(&outcomes, verbosity)?;
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
    let started = Instant::now();
    let Model { name, paths, specification, facts, limit: reached, mut caveats, read_in } = input;
    let happenings = Happenings::of(&facts);
    let _heard = Interruptible::new();
    let budget = arguments.input.limits.budget.for_the_rest();
    let whole = Analysis::within(facts, profile, &budget).because(reached);
    caveats.extend(definitions::caveats(profile, whole.conflict_rule(rule(arguments))));
    caveats.extend(whole.caveats.iter().cloned());
    // What never happens is a matter of the program, however its instructions are read.
    caveats.extend(idle::caveats(&happenings, &whole, specification.as_ref()));
    let asked = reading(arguments);
    let limit = arguments.confirmation.max_weak_states;
    let others = others(&whole, asked, specification.as_ref(), limit)?;
    let mut analysis = for_reading(whole, asked, specification.as_ref(), limit)?;
    let explored_in = read_in + started.elapsed();
    let options = options(arguments, asked, &analysis)?;
    let results = models
        .iter()
        .map(|model| {
            let result = result(arguments, specification.as_ref(), &analysis, model, &options, verbosity)?;
            let (other_readings, atomic_fences) =
                (others.run(model, &options), analysis.atomic_fences(&options, &result));
            Ok(ModelOutcome { other_readings, atomic_fences, ..result })
        })
        .collect::<Result<_, Failure>>()?;
    analysis.graph.budget = analysis.graph.budget.settled();
    let source = specification.map(|Specification { name, text, program, .. }| Source::new(name, text, program));
    Ok(Outcome {
        model: arguments.name.clone().unwrap_or(name),
        analysis,
        engine: EngineUse::default(),
        explored_in,
        options,
        results,
        caveats,
        source,
        provenance: provenance(arguments, &paths),
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
    let started = Instant::now();
    let spinner = Spinner::new(format!("analysing under {}", model.name));
    let outcome = match specification {
        Some(specification) => confirmed(arguments, specification, analysis, model, options, verbosity)?,
        None => analysis.run(model, options),
    };
    drop(spinner);
    tell_if_stopped(&outcome);
    let verification = match specification {
        Some(specification) if arguments.verify => {
            verification(arguments, specification, analysis, model, options, &outcome)?
        }
        _ => outcome.verification,
    };
    // Confirming and verifying are a part of what was asked.
    Ok(ModelOutcome { verification, elapsed: started.elapsed(), ..outcome })
}

/// Warns if a limit was reached, and names it, as of an exploration.
pub fn tell_if_stopped(outcome: &ModelOutcome) {
    if let Some(limit) = outcome.stopped {
        let name = &outcome.model.name;
        tell!("seqcon: warning: the analysis under {name} stopped at {limit}; the result is not complete");
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
    let repair = Repair::of(outcome);
    let trial = Trial {
        specification,
        model,
        repair: &repair,
        atomicity: options.atomicity,
        property: Property::Traces,
        confirmation: &arguments.confirmation,
        unroll: arguments.unroll,
        budget: analysis.graph.budget.clone(),
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
        (matches!(arguments.confirmation.confirm, Some(ConfirmArgument::Full | ConfirmArgument::Mark)), "--confirm"),
        (arguments.verify, "--verify"),
    ];
    options.into_iter().find(|&(asked, _)| asked).map(|(_, option)| option)
}

/// Whether a report is written that says how to repeat the run.
fn says_provenance(arguments: &AnalyseArguments) -> bool {
    let reports = [&arguments.json, &arguments.html, &arguments.formats.sarif, &arguments.out];
    reports.into_iter().any(Option::is_some)
}

/// How to repeat the run, if a report says it.
pub fn provenance(arguments: &AnalyseArguments, paths: &[PathBuf]) -> Provenance {
    if !says_provenance(arguments) {
        return Provenance::default();
    }
    let arguments_typed = std::env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned());
    let command = std::iter::once("seqcon".to_owned()).chain(arguments_typed);
    Provenance::of(command, paths.iter().map(|path| arguments.input.hashes.input(path)).collect())
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
    let how = arguments.confirmation.how()?;
    if matches!(how, ConfirmArgument::Full | ConfirmArgument::Mark) {
        tell_if_without_machine(model);
    }
    if how != ConfirmArgument::Mark {
        return verify::outcome(analysis, specification, model, options, &arguments.confirmation);
    }
    let subject = Subject { program: &specification.program, analysis, model, options };
    let limits = arguments.confirmation.limits();
    let (outcome, witnesses) = confirm::mark(subject, limits).map_err(|error| specification.too_long(error))?;
    if verbosity == Verbosity::Verbose {
        let locations = specification.split()?.locations;
        let words = Words { program: &specification.program, text: &specification.text, locations: &locations };
        for witness in &witnesses {
            let mut run = String::new();
            words.write_witness(witness, &mut run).map_err(io::Error::other)?;
            tell!("seqcon: {}: a run that needs a delay of {}:\n{run}", specification.name, model.name);
        }
    }
    Ok(outcome)
}

/// What is missing is known even if not all cycles were listed, so it comes first.
fn exit_status(arguments: &AnalyseArguments, outcomes: &[Outcome]) -> ExitCode {
    let results = || outcomes.iter().flat_map(|outcome| &outcome.results);
    let violated = results().any(|result| result.verification == Verification::Violated);
    if violated || arguments.check && results().any(|result| !result.is_clean()) {
        return ExitCode::from(1);
    }
    let is_answered = |result: &ModelOutcome| result.complete && !result.verification.is_open();
    let complete = results().all(is_answered);
    if complete { ExitCode::SUCCESS } else { ExitCode::from(3) }
}

/// What `--atomicity` asks for.
pub fn atomicity(argument: AtomicityArgument) -> Atomicity {
    match argument {
        AtomicityArgument::Full => Atomicity::Full,
        AtomicityArgument::Updates => Atomicity::Updates,
        AtomicityArgument::Presumed => Atomicity::Presumed,
        AtomicityArgument::Split => Atomicity::Split,
    }
}

/// How instructions with several accesses are read: the paper's profile does not check them, unless it is asked to.
fn reading(arguments: &AnalyseArguments) -> Atomicity {
    match (arguments.atomicity, arguments.profile) {
        (Some(asked), _) => atomicity(asked),
        (None, ProfileArgument::Published) => Atomicity::Split,
        (None, _) => Atomicity::Full,
    }
}

/// The analysis for a reading, from that of whole instructions; a specification is explored access by access where
/// that is needed, up to so many states.
pub fn for_reading(
    whole: Analysis,
    atomicity: Atomicity,
    specification: Option<&Specification>,
    limit: usize,
) -> Result<Analysis, Failure> {
    let _spinner = Spinner::new("reading instructions access by access".to_owned());
    let program = specification.map(|specification| Splittable { program: &specification.program, limit });
    readings::analysis(whole, atomicity, program).map_err(|error| too_long(specification, error))
}

/// The readings that were not asked for.
fn others(
    whole: &Analysis,
    asked: Atomicity,
    specification: Option<&Specification>,
    limit: usize,
) -> Result<Others, Failure> {
    let limit = limit.min(STATES_FOR_OTHERS);
    let program = specification.map(|specification| Splittable { program: &specification.program, limit });
    Others::new(whole, asked, program).map_err(|error| too_long(specification, error))
}

fn too_long(specification: Option<&Specification>, error: TooLong) -> Failure {
    let unknown = || Failure::Usage("an instruction has more than 64 operations; split it".to_owned());
    specification.map_or_else(unknown, |specification| specification.too_long(error))
}

/// Which conflicts are asked for.
fn rule(arguments: &AnalyseArguments) -> ConflictRule {
    match arguments.conflicts {
        ConflictsArgument::Auto => ConflictRule::Auto,
        ConflictsArgument::Concurrent => ConflictRule::Concurrent,
        ConflictsArgument::Reachable => ConflictRule::Reachable,
    }
}

/// What is asked of the analysis.
pub fn options(arguments: &AnalyseArguments, atomicity: Atomicity, analysis: &Analysis) -> Result<Options, Failure> {
    let costs = match &arguments.cost {
        None => Costs::default(),
        Some(path) => {
            let text = fs::read_to_string(path).map_err(|error| Failure::in_file(path, error))?;
            Costs::from_toml(&text, &analysis.graph, |point| names::point(&analysis.graph, point))
                .map_err(|error| Failure::in_file(path, error))?
        }
    };
    Ok(Options {
        conflicts: rule(arguments),
        atomicity,
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
