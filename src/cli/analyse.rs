//! `seqcon analyse`: from a state space to fences and locks.

use super::arguments::{
    AnalyseArguments, AtomicityArgument, ConflictsArgument, CyclesArgument, PlacementArgument, ProfileArgument,
    Verbosity,
};
use super::engine;
use super::failure::Failure;
use super::input::{memory_model, refuse_repeated_models};
use super::places::refuse_clashes;
use super::progress::Spinner;
use super::specification::Specification;
use super::verify::{Trial, semantics, tell_if_without_machine};
use crate::aeg::Profile;
use crate::analysis::{Analysis, EngineUse, ModelOutcome, Options, Outcome, Verification};
use crate::caveat;
use crate::confirm;
use crate::cycles::{Atomicity, ConflictRule, Listing};
use crate::engines::{self, Engine};
use crate::memory::MemoryModel;
use crate::placement::Method;
use crate::placement::cost::Costs;
use crate::provenance::Provenance;
use crate::readings::{self, Others, STATES_FOR_OTHERS, Splittable};
use crate::repair::Repair;
use crate::report::output::Staged;
use crate::report::run::Words;
use crate::report::{self, Report, names, streams, text};
use crate::source::Source;
use crate::tell;
use crate::weak::split::TooLong;
use crate::weak::verify::Property;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
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
    refuse_repetitions(arguments, &models)?;
    if says_provenance(arguments) {
        arguments.input.hashes.want();
    }
    if arguments.verify {
        models.iter().try_for_each(|model| semantics(model).map(drop))?;
    }
    if engine.description() != engines::all()[0].description() {
        return finish(arguments, &engine::outcome(arguments, engine, &models, verbosity)?, verbosity);
    }
    engine::refuse_for_default(arguments)?;
    let profile = match arguments.profile {
        ProfileArgument::Sound => Profile::Sound,
        ProfileArgument::Literal => Profile::Literal,
        ProfileArgument::Published => Profile::Published,
    };
    let started = Instant::now();
    let specification = specification(arguments)?;
    let facts = match &specification {
        Some(specification) => specification.facts(&arguments.input.limits)?,
        None => arguments.input.load(verbosity)?,
    };
    let whole = Analysis::new(facts, profile);
    let asked = reading(arguments);
    let limit = arguments.confirmation.max_weak_states;
    let others = others(&whole, asked, specification.as_ref(), limit)?;
    let analysis = for_reading(whole, asked, specification.as_ref(), limit)?;
    let explored_in = started.elapsed();
    let options = options(arguments, asked, &analysis)?;
    let results = models
        .iter()
        .map(|model| {
            let result = result(arguments, specification.as_ref(), &analysis, model, &options, verbosity)?;
            Ok(ModelOutcome { other_readings: others.run(model, &options), ..result })
        })
        .collect::<Result<_, Failure>>()?;
    let name = arguments.name.clone().unwrap_or_else(|| arguments.input.model_name());
    let source =
        specification.map(|Specification { name, text, program, .. }| Source::new(name, text, program, &analysis));
    let provenance = provenance(arguments);
    let engine = EngineUse::default();
    let caveats = caveat::of_definitions(analysis.profile, analysis.conflict_rule(options.conflicts));
    let outcome = Outcome { model: name, analysis, engine, explored_in, options, results, caveats, source, provenance };
    finish(arguments, &outcome, verbosity)
}

/// Writes the reports; what is found decides the exit status.
fn finish(arguments: &AnalyseArguments, outcome: &Outcome, verbosity: Verbosity) -> Result<ExitCode, Failure> {
    write_files(arguments, outcome)?;
    write_summary(arguments, outcome, verbosity)?;
    Ok(exit_status(arguments, outcome))
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
        Some(specification) if arguments.confirm || arguments.confirmation.only_confirmed => {
            confirmed(arguments, specification, analysis, model, options, verbosity)?
        }
        _ => analysis.run(model, options),
    };
    drop(spinner);
    let verification = match specification {
        Some(specification) if arguments.verify => {
            verification(arguments, specification, analysis, model, options, &outcome)?
        }
        _ => outcome.verification,
    };
    // Confirming and verifying are a part of what was asked.
    Ok(ModelOutcome { verification, elapsed: started.elapsed(), ..outcome })
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

/// The specification, if there is one input and it is one.
fn specification(arguments: &AnalyseArguments) -> Result<Option<Specification>, Failure> {
    match (&arguments.input.inputs[..], runs_the_program(arguments)) {
        ([path], _) if Specification::is_one(path) => arguments.input.specification(path).map(Some),
        (_, None) => Ok(None),
        (_, Some(asked)) => {
            Err(Failure::Usage(format!("{asked} runs the program, and needs exactly one input: a specification")))
        }
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

/// Whether a report is written that says how to repeat the run.
fn says_provenance(arguments: &AnalyseArguments) -> bool {
    let reports = [&arguments.json, &arguments.html, &arguments.formats.sarif, &arguments.out];
    reports.into_iter().any(Option::is_some)
}

/// How to repeat the run, if a report says it.
pub fn provenance(arguments: &AnalyseArguments) -> Provenance {
    if !says_provenance(arguments) {
        return Provenance::default();
    }
    let arguments_typed = std::env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned());
    let command = std::iter::once("seqcon".to_owned()).chain(arguments_typed);
    Provenance::of(command, arguments.input.inputs.iter().map(|path| arguments.input.hashes.input(path)).collect())
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
    tell_if_without_machine(model);
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
            tell!("seqcon: {}: a run that needs a delay of {}:\n{run}", specification.name, model.name);
        }
    }
    Ok(ModelOutcome { confirmations: confirmed.verdicts, ..outcome })
}

/// A model or an output that is named twice is a slip: one result would hide the other.
fn refuse_repetitions(arguments: &AnalyseArguments, models: &[MemoryModel]) -> Result<(), Failure> {
    refuse_repeated_models(models)?;
    let reports = report::all();
    let in_directory = |directory: &PathBuf| reports.iter().map(|report| directory.join(report.file_name())).collect();
    let in_directory: Vec<PathBuf> = arguments.out.as_ref().map(in_directory).unwrap_or_default();
    let outputs = arguments.outputs().into_iter().chain(&in_directory).map(PathBuf::as_path);
    refuse_clashes(outputs, inputs(arguments))
}

/// Everything that is read.
fn inputs(arguments: &AnalyseArguments) -> impl Iterator<Item = &Path> {
    let tables = arguments.memory_models.iter().map(Path::new);
    arguments.input.files().chain(tables).chain(arguments.cost.as_deref())
}

/// What is missing is known even if not all cycles were listed, so it comes first.
fn exit_status(arguments: &AnalyseArguments, outcome: &Outcome) -> ExitCode {
    let violated = outcome.results.iter().any(|result| result.verification == Verification::Violated);
    if violated || arguments.check && outcome.results.iter().any(|result| !result.is_clean()) {
        return ExitCode::from(1);
    }
    let is_answered = |result: &ModelOutcome| result.complete && !result.verification.is_open();
    let complete = outcome.results.iter().all(is_answered);
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

/// The analysis for a reading, from that of whole instructions; a specification is explored access by access where that is needed, up to so many states.
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
        conflicts: match arguments.conflicts {
            ConflictsArgument::Auto => ConflictRule::Auto,
            ConflictsArgument::Concurrent => ConflictRule::Concurrent,
            ConflictsArgument::Reachable => ConflictRule::Reachable,
        },
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

/// All files are written before the first one gets its name.
fn write_files(arguments: &AnalyseArguments, outcome: &Outcome) -> Result<(), Failure> {
    let dot: &dyn Report = &report::dot::Dot { cycle: arguments.formats.cycle };
    let single: [(&Option<PathBuf>, &dyn Report); 9] = [
        (&arguments.csv, &report::csv::Fences),
        (&arguments.locks_csv, &report::csv::Locks),
        (&arguments.delays_csv, &report::csv::Delays),
        (&arguments.cycles_csv, &report::csv::Cycles),
        (&arguments.summary_csv, &report::csv::Summary),
        (&arguments.json, &report::json::Json),
        (&arguments.html, &report::html::Html),
        (&arguments.formats.dot, dot),
        (&arguments.formats.sarif, &report::sarif::Sarif),
    ];
    if let Some(number) = arguments.formats.cycle {
        report::dot::check_cycle(outcome, number)
            .map_err(|error| Failure::Usage(format!("--cycle {number}: {error}")))?;
    }
    let mut staged = Staged::new();
    if let Some(directory) = &arguments.out {
        fs::create_dir_all(directory)
            .map_err(|error| Failure::in_file(directory, format!("{error}; --out takes a directory")))?;
    }
    for (path, report) in single {
        if let Some(path) = path {
            staged.write(path, &mut |out| report.write(outcome, out))?;
        }
    }
    if let Some(directory) = &arguments.formats.litmus {
        write_litmus_tests(arguments, directory, outcome, &mut staged)?;
    }
    if let Some(directory) = &arguments.out {
        for report in report::all() {
            staged.write(&directory.join(report.file_name()), &mut |out| report.write(outcome, out))?;
        }
    }
    Ok(staged.put_in_place()?)
}

/// One file a test. What cannot be one is said on standard error.
fn write_litmus_tests(
    arguments: &AnalyseArguments,
    directory: &Path,
    outcome: &Outcome,
    staged: &mut Staged,
) -> Result<(), Failure> {
    fs::create_dir_all(directory)
        .map_err(|error| Failure::in_file(directory, format!("{error}; --litmus takes a directory")))?;
    let exported = report::litmus::export(outcome);
    let places: Vec<PathBuf> = exported.tests.iter().map(|test| directory.join(&test.file_name)).collect();
    let others = arguments.outputs().into_iter().map(PathBuf::as_path);
    refuse_clashes(others.chain(places.iter().map(PathBuf::as_path)), inputs(arguments))?;
    for (test, place) in exported.tests.iter().zip(&places) {
        staged.write(place, &mut |out| out.write_all(test.text.as_bytes()))?;
    }
    for line in &exported.remarks {
        tell!("seqcon: --litmus: {line}");
    }
    Ok(())
}

/// For people, unless they asked for a table on standard output or for quiet; then only the summary lines, and with a table on standard output those go
/// to standard error.
fn write_summary(arguments: &AnalyseArguments, outcome: &Outcome, verbosity: Verbosity) -> Result<(), Failure> {
    let stdout_is_taken = arguments.outputs().into_iter().any(|path| path.as_os_str() == "-");
    let mut out: Box<dyn Write> =
        if stdout_is_taken { Box::new(streams::errors()) } else { Box::new(streams::coloured()) };
    if verbosity > Verbosity::Quiet {
        let mut caveats = String::new();
        text::write_caveats(outcome, &mut caveats).map_err(io::Error::other)?;
        write!(out, "{caveats}")?;
    }
    for result in &outcome.results {
        if verbosity > Verbosity::Quiet && !stdout_is_taken {
            let mut shown = String::new();
            let write = if arguments.explain { text::write_explained } else { text::write_result };
            write(outcome, result, &mut shown).map_err(io::Error::other)?;
            writeln!(out, "{shown}")?;
        }
    }
    for result in &outcome.results {
        writeln!(out, "{}", outcome.summary_line(result))?;
    }
    Ok(out.flush()?)
}
