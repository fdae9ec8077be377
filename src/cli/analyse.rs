//! `seqcon analyse`: from a program or a state space to fences and locks.

use super::arguments::{
    AnalyseArguments, AtomicityArgument, ConfirmArgument, ConflictsArgument, CyclesArgument, PlacementArgument,
    ProfileArgument, Verbosity,
};
use super::batch;
use super::engine::{self, Chosen};
use super::failure::Failure;
use super::input::{Model, memory_model, refuse_repeated_models};
use super::instances;
use super::outputs::Outputs;
use super::progress::{Spinner, short};
use super::verify::{asked, judged, tell_if_without_machine};
use crate::aeg::{Accesses, Profile};
use crate::analysis::{Inserted, ModelOutcome, Options, Outcome, Verification};
use crate::cycles::{Atomicity, ConflictRule, Listing};
use crate::engines::{self, Approach, Confirm, Engine, Examined, Settings, Subject, Task};
use crate::kinds::outcome as kinds;
use crate::memory::{Known, MemoryModel};
use crate::placement::Method;
use crate::placement::cost::Costs;
use crate::provenance::Provenance;
use crate::repair::Repair;
use crate::report::names;
use crate::report::runs;
use crate::specification::Specification;
use crate::tell;
use crate::trial;
use std::fs;
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
    let chosen = arguments.engine.finding()?;
    let models = memory_models(arguments, chosen.engine)?;
    refuse_repeated_models(&models)?;
    if let Some(instances) = &arguments.instances {
        refuse_for_engine(arguments, &chosen, &models)?;
        return instances::run(arguments, instances, &chosen, &models, verbosity);
    }
    let outputs = Outputs::new(arguments)?;
    if says_provenance(arguments) {
        arguments.input.hashes.want();
    }
    if arguments.verify {
        models.iter().try_for_each(|model| judged(chosen.wanted.kind(), model).map(drop))?;
    }
    refuse_for_state_spaces(arguments, &models)?;
    refuse_for_engine(arguments, &chosen, &models)?;
    let inputs = arguments.input.named(&arguments.merging)?;
    let reading = arguments.input.options()?;
    let mut done = batch::each(&inputs, arguments.jobs, |named| {
        let input = arguments.input.read(named, &reading, verbosity)?;
        outcome(arguments, &chosen, &input, &models, verbosity)
    })?;
    let (positions, mut outcomes): (Vec<usize>, Vec<Outcome>) = std::mem::take(&mut done.results).into_iter().unzip();
    outcomes.iter_mut().for_each(|outcome| outcome.provenance.refused = done.refused());
    if !outcomes.is_empty() {
        let outputs = outputs.of(&positions);
        outputs.write_files(&outcomes)?;
        outputs.write_text(&outcomes, verbosity)?;
    }
    Ok(done.exit_status(exit_status(arguments, &outcomes)))
}

/// What the engine does not know is refused before anything is read.
fn refuse_for_engine(arguments: &AnalyseArguments, chosen: &Chosen, models: &[MemoryModel]) -> Result<(), Failure> {
    engine::refuse_models(chosen, models)?;
    let engine = chosen.engine;
    let own = [
        (arguments.abstraction.is_some(), "--abstraction"),
        (arguments.minimal_sets.is_some(), "--minimal-sets"),
        (arguments.fence_sites.is_some(), "--fence-sites"),
        (!matches!(arguments.placement, PlacementArgument::Exact), "--placement greedy"),
        (!matches!(arguments.profile, ProfileArgument::Sound), "--profile"),
        (!matches!(arguments.conflicts, ConflictsArgument::Auto), "--conflicts"),
        (arguments.cycles.is_some(), "--cycles"),
    ];
    engine::refuse_options(engine, &own)?;
    engine::refuse_options(engine, &arguments.engine.of_engine())?;
    engine::refuse_options(engine, &asked(arguments.atomicity, &arguments.confirmation))?;
    let description = engine.description();
    let are_programs = arguments.input.are_specifications();
    let of_one = arguments.merging.merge || arguments.input.shards;
    match description.input == "specifications" && (of_one || !are_programs) {
        true => Err(engine::needs_program(description.name)),
        false => Ok(()),
    }
}

/// What the engine finds in one of the inputs.
pub fn outcome(
    arguments: &AnalyseArguments,
    chosen: &Chosen,
    input: &Model,
    models: &[MemoryModel],
    verbosity: Verbosity,
) -> Result<Outcome, Failure> {
    let started = Instant::now();
    let settings = settings(arguments, verbosity)?;
    let limits = &arguments.input.limits;
    let spinner = Spinner::new(format!("{} {}", input.begins(), short(&input.name)));
    engine::examine(chosen, (input.subject(), models), &settings, limits, |task, examined| {
        drop(spinner);
        let explored_in = input.read_in + started.elapsed();
        let options = options(arguments, examined)?;
        let result = |model: &MemoryModel| result(arguments, (task, &input.name), examined, model, &options);
        let results = models.iter().map(result).collect::<Result<Vec<ModelOutcome>, Failure>>()?;
        let mut outcome = engines::outcome(chosen.engine, task, examined, options, results, explored_in);
        outcome.caveats = input.caveats.iter().cloned().chain(outcome.caveats).collect();
        outcome.model = arguments.name.clone().unwrap_or_else(|| input.name.clone());
        outcome.provenance = provenance(arguments, &input.paths);
        Ok(outcome)
    })
}

/// How the engine goes about it.
fn settings(arguments: &AnalyseArguments, verbosity: Verbosity) -> Result<Settings, Failure> {
    let profile = match arguments.profile {
        ProfileArgument::Sound => Profile::Sound,
        ProfileArgument::Literal => Profile::Literal,
        ProfileArgument::Published => Profile::Published,
    };
    Ok(Settings {
        profile,
        atomicity: reading(arguments),
        approach: arguments.input.limits.approach(arguments.abstraction)?,
        confirm: arguments.confirmation.how()?,
        searches: trial::Limits { unroll: arguments.unroll, ..arguments.confirmation.searches() },
        abstracting: arguments.engine.abstracting(),
        reductions: arguments.engine.reductions(),
        tells_runs: verbosity == Verbosity::Verbose,
        tells_readings: true,
    })
}

/// The result under one memory model.
fn result(
    arguments: &AnalyseArguments,
    (task, name): (&Task<'_>, &str),
    examined: &dyn Examined,
    model: &MemoryModel,
    options: &Options,
) -> Result<ModelOutcome, Failure> {
    let started = Instant::now();
    if let (Subject::Program(_), Confirm::Full | Confirm::Mark) = (task.subject, task.settings.confirm) {
        tell_if_without_machine(model);
    }
    let spinner = Spinner::under(model, "analysing", name);
    let mut result = examined.place(model, options).map_err(|trouble| engine::failure(task.subject, trouble))?;
    drop(spinner);
    tell_if_stopped(&result);
    if let Subject::Program(specification) = task.subject {
        if result.inserted == Inserted::Enough {
            let _spinner = Spinner::under(model, "comparing with robustness", name);
            // It is said beside the answer: where it goes wrong, the answer stays.
            result.ladder = engines::ladder(task, examined, &result).unwrap_or(None);
        }
        for run in result.runs.iter().filter(|_| task.settings.tells_runs) {
            tell!("seqcon: {}: {}:\n{}", specification.name, run.because, runs::list(&run.evidence));
        }
        if arguments.verify && result.inserted == Inserted::Enough {
            let atomicity = Some(examined.atomicity());
            let settings = Settings { atomicity, ..task.settings.clone() };
            let task = Task { settings: &settings, ..*task };
            result.verification = verification(&task, specification, model, &Repair::of(&result))?;
        }
    }
    // Confirming and verifying are a part of what was asked.
    Ok(ModelOutcome { elapsed: started.elapsed(), ..result })
}

/// Warns if a limit was reached, and names it, as of an exploration.
pub fn tell_if_stopped(outcome: &ModelOutcome) {
    if let Some(limit) = outcome.stopped {
        let name = &outcome.model.name;
        tell!("seqcon: warning: the analysis under {name} stopped at {limit}; the result is not complete");
    }
}

/// Runs the repaired program: does it have the property, or what is next to it?
fn verification(
    task: &Task<'_>,
    specification: &Specification,
    model: &MemoryModel,
    repair: &Repair,
) -> Result<Verification, Failure> {
    let (engine, kind) = judged(task.property.kind(), model)?;
    let property = kind.without_condition().unwrap_or_else(|| task.property.clone());
    let _spinner = Spinner::under(model, "verifying", &specification.name);
    let failure = |trouble| engine::failure(task.subject, trouble);
    let examined = engine.examine(&Task { property: &property, ..*task }).map_err(failure)?;
    let answer = examined.checker(model).and_then(|mut checker| checker.check(repair)).map_err(failure)?;
    Ok(answer.verification())
}

/// What runs the program needs specifications.
fn refuse_for_state_spaces(arguments: &AnalyseArguments, models: &[MemoryModel]) -> Result<(), Failure> {
    let are_merged = arguments.merging.merge && arguments.input.inputs.len() > 1;
    if arguments.input.are_specifications() && !are_merged {
        return Ok(());
    }
    let needs = "needs specifications as inputs, not merged (a state space has only labels)";
    let of_program = [
        (arguments.verify, "--verify"),
        (matches!(arguments.abstraction, Some(Approach::Abstract(_))), "--abstraction"),
    ];
    if let Some((_, option)) = of_program.into_iter().find(|&(asked, _)| asked) {
        return Err(Failure::Usage(format!("{option} runs the program, and {needs}")));
    }
    let confirming = [
        (arguments.confirmation.only_confirmed, "--only-confirmed"),
        (matches!(arguments.confirmation.confirm, Some(ConfirmArgument::Full | ConfirmArgument::Mark)), "--confirm"),
    ];
    let Some((_, option)) = confirming.into_iter().find(|&(asked, _)| asked) else { return Ok(()) };
    // Labels are enough for axioms; a machine needs the program.
    let is_judged = |model: &MemoryModel| kinds::are_asked(model) || model.known() == Ok(Known::Sc);
    match models.iter().find(|model| !is_judged(model)) {
        None => Ok(()),
        Some(model) => Err(Failure::Usage(format!(
            "{option} runs the program under {}, and {needs}; of a state space the axioms of {} judge what is needed",
            model.name,
            kinds::MODELS.map(|known| known.to_string()).join(", ")
        ))),
    }
}

/// Whether a report is written that says how to repeat the run.
fn says_provenance(arguments: &AnalyseArguments) -> bool {
    let reports = [&arguments.json, &arguments.html, &arguments.formats.sarif, &arguments.out];
    reports.into_iter().any(Option::is_some)
}

/// How to repeat the run, if a report says it.
fn provenance(arguments: &AnalyseArguments, paths: &[PathBuf]) -> Provenance {
    if !says_provenance(arguments) {
        return Provenance::default();
    }
    let arguments_typed = std::env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned());
    let command = std::iter::once("seqcon".to_owned()).chain(arguments_typed);
    Provenance::of(command, paths.iter().map(|path| arguments.input.hashes.input(path)).collect())
}

/// What is missing is known even if not all cycles were listed, so it comes first.
pub fn exit_status(arguments: &AnalyseArguments, outcomes: &[Outcome]) -> u8 {
    let results = || outcomes.iter().flat_map(|outcome| &outcome.results);
    let violated = results().any(|result| result.verification == Verification::Violated);
    let unfixable = results().any(|result| result.inserted.is_hopeless());
    if violated || unfixable || arguments.check && results().any(|result| !result.is_clean()) {
        return 1;
    }
    let is_answered = |result: &ModelOutcome| result.complete && !result.verification.is_open();
    if results().all(is_answered) { 0 } else { 3 }
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
fn reading(arguments: &AnalyseArguments) -> Option<Atomicity> {
    match (arguments.atomicity, arguments.profile) {
        (Some(asked), _) => Some(atomicity(asked)),
        (None, ProfileArgument::Published) => Some(Atomicity::Split),
        (None, _) => None,
    }
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
fn options(arguments: &AnalyseArguments, examined: &dyn Examined) -> Result<Options, Failure> {
    let accesses: &Accesses = examined.accesses();
    let costs = match &arguments.cost {
        None => Costs::default(),
        Some(path) => {
            let text = fs::read_to_string(path).map_err(|error| Failure::in_file(path, error))?;
            Costs::from_toml(&text, accesses, |point| names::point(accesses, point))
                .map_err(|error| Failure::in_file(path, error))?
        }
    };
    Ok(Options {
        conflicts: rule(arguments),
        atomicity: examined.atomicity(),
        listing: listing(arguments.cycles),
        minimal_sets: listing(arguments.minimal_sets),
        sites: arguments.fence_sites.as_ref().map(|which| which.sites(accesses)).transpose()?,
        kinds: arguments.confirmation.kinds.offered(),
        store_fences: true,
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
