//! `seqcon fix`: the specification with what it needs put in.

use super::analyse::atomicity;
use super::arguments::{FixArguments, SpecificationArguments, Verbosity};
use super::engine::{self, Chosen};
use super::failure::Failure;
use super::input::is_state_space;
use super::input::{memory_model, refuse_repeated_models};
use super::interrupt::Interruptible;
use super::outputs::tell_each;
use super::places::refuse_clashes;
use super::progress::Spinner;
use super::specification::with_limits;
use super::verify::{asked, reported, tell_if_unconfirmable};
use crate::analysis::{Inserted, ModelOutcome};
use crate::engines::{Settings, Subject};
use crate::fix::{Fixed, Fixing, Unfixed};
use crate::lang::edit::{CannotWrite, edited};
use crate::lang::{Language, rmm};
use crate::memory::MemoryModel;
use crate::repair::Reported;
use crate::report::output::Staged;
use crate::report::runs;
use crate::report::streams;
use crate::specification::Specification;
use crate::tell;
use similar::TextDiff;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

pub fn run(arguments: &FixArguments, verbosity: Verbosity) -> Result<ExitCode, Failure> {
    let models: Vec<MemoryModel> =
        arguments.memory_models.iter().map(|name| memory_model(name)).collect::<Result<_, _>>()?;
    refuse_repeated_models(&models)?;
    let chosen = arguments.engine.finding()?;
    engine::refuse_models(&chosen, &models)?;
    engine::refuse_options(chosen.engine, &asked(arguments.atomicity, &arguments.confirmation))?;
    engine::refuse_options(chosen.engine, &arguments.engine.of_engine())?;
    let tables = arguments.memory_models.iter().map(Path::new);
    let inputs = [arguments.specification.path.as_path()].into_iter().chain(tables);
    let diff = arguments.diff.then_some(Path::new("-"));
    refuse_clashes(diff.into_iter().chain(arguments.output.as_deref()), inputs.chain(arguments.with.as_deref()))?;
    refuse_state_space(&arguments.specification)?;
    let original = arguments.specification.read()?;
    let fixed = match (&arguments.with, &models[..]) {
        (Some(path), [model]) => with_report(path, &original, model)?,
        (Some(_), _) => {
            return Err(Failure::Usage(
                "--with puts in what a report says of one memory model: give one with --mm".to_owned(),
            ));
        }
        (None, models) => fix_for_all(arguments, &chosen, models, &original, verbosity)?,
    };
    if arguments.diff {
        let diff = TextDiff::from_lines(&original.text, &fixed);
        let new_name = arguments.output.as_ref().map_or(original.name.clone(), |path| path.display().to_string());
        let mut diff = diff.unified_diff();
        let mut out = streams::data();
        write!(out, "{}", diff.header(&original.name, &new_name)).and_then(|()| out.flush())?;
    }
    let output = arguments.output.as_deref().or((!arguments.diff).then_some(Path::new("-")));
    if let Some(path) = output {
        let mut staged = Staged::new();
        staged.write(path, &mut |out| out.write_all(fixed.as_bytes()))?;
        staged.put_in_place()?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What has no text cannot be repaired.
fn refuse_state_space(specification: &SpecificationArguments) -> Result<(), Failure> {
    let path = &specification.path;
    if specification.language.is_specification(path) || !is_state_space(path) {
        return Ok(());
    }
    let what = "this is a state space, which has no text that fences could be put into; 'seqcon analyse' tells where they are needed, or give the specification that it was explored from";
    Err(Failure::in_file(path, what))
}

/// The text with what a report suggests.
fn with_report(path: &Path, original: &Specification, model: &MemoryModel) -> Result<String, Failure> {
    let Reported { repair, is_complete } = reported(path, original, model)?;
    if !is_complete {
        return Err(Failure::in_file(
            path,
            "this report is of a part only, so not all that is missing is known; allow the analysis more",
        ));
    }
    let changes = repair.changes(&original.outline);
    let text = edited(&original.name, &original.text, &original.program, &changes);
    let text = text.map_err(|cannot| not_written(original, cannot))?;
    // It must be one that can be read again.
    let parsed = Specification::parse(original.name.clone(), text);
    Ok(parsed.map_err(|wrong| Failure::Usage(wrong.to_string()))?.0.text)
}

/// The text with what each of the memory models needs, one after the other: what one has got does not take anything
/// from what is right under another.
fn fix_for_all(
    arguments: &FixArguments,
    chosen: &Chosen,
    models: &[MemoryModel],
    original: &Specification,
    verbosity: Verbosity,
) -> Result<String, Failure> {
    let mut current = original.clone();
    for model in models {
        let text = fix(arguments, chosen, model, &current, verbosity)?;
        let parsed = Specification::parse(original.name.clone(), text);
        current = parsed.map_err(|wrong| Failure::Usage(wrong.to_string()))?.0;
    }
    Ok(current.text)
}

/// The text with suggestions put in until the engine finds nothing more to do.
fn fix(
    arguments: &FixArguments,
    chosen: &Chosen,
    model: &MemoryModel,
    original: &Specification,
    verbosity: Verbosity,
) -> Result<String, Failure> {
    tell_if_unconfirmable(model, &arguments.confirmation);
    let _heard = Interruptible::new();
    let settings = Settings {
        atomicity: arguments.atomicity.map(atomicity),
        confirm: arguments.confirmation.how()?,
        searches: arguments.confirmation.searches(),
        abstracting: arguments.engine.abstracting(),
        reductions: arguments.engine.reductions(),
        approach: arguments.limits.approach(None)?,
        ..Settings::default()
    };
    // What is wrong with the command is known before anything is repaired.
    chosen.wanted.of(Subject::Program(original), chosen.engine)?;
    let property = |current: &Specification| {
        chosen.wanted.of_specification(current, &mut |_| ()).map_err(|failure| failure.to_string())
    };
    let spinner = Spinner::under(model, "repairing", &original.name);
    let rest = || arguments.limits.budget.for_the_rest();
    let fixed = with_limits(Subject::Program(original), &arguments.limits, |limits| {
        let (engine, property) = (chosen.engine, &property);
        let kinds = arguments.confirmation.kinds.offered();
        Fixing { engine, property, model, settings: &settings, kinds, limits, rest: &rest }.fix(original)
    });
    drop(spinner);
    let Fixed { text, rounds, caveats } = fixed.map_err(|unfixed| failure(original, model, unfixed))?;
    tell_each(&original.name, &caveats);
    let changed = if rounds == 0 { "nothing to do" } else { "repaired; an analysis finds nothing more to do" };
    let rounds_told = if rounds > 1 { format!(", in {rounds} rounds") } else { String::new() };
    let is_remarkable = rounds == 0 && verbosity > Verbosity::Quiet;
    if verbosity == Verbosity::Verbose || is_remarkable {
        tell!("seqcon: {}: {} for {}{rounds_told}", original.name, changed, model.name);
    }
    Ok(text)
}

fn failure(original: &Specification, model: &MemoryModel, unfixed: Unfixed) -> Failure {
    match unfixed {
        Unfixed::Trouble(trouble, current) => engine::failure(Subject::Program(&current), *trouble),
        Unfixed::Exhausted(said) => Failure::Exhausted(said),
        Unfixed::NoFences(outcome) => no_fences(original, &outcome),
        Unfixed::NoLonger(outcome) => Failure::Nothing(format!(
            "{}: fences are enough for {} ('seqcon analyse' tells which), but the text with them does not have the property: between two statements, as before a fence, a thread is in a control state that has no name",
            original.name, outcome.model.name
        )),
        Unfixed::CannotWrite(cannot, current) => not_written(&current, cannot),
        Unfixed::Wrong(wrong) => Failure::Usage(wrong.to_string()),
        Unfixed::Lost(problem) => Failure::Usage(problem),
        Unfixed::Endless => Failure::Usage(format!(
            "{}: the suggestions for {} cannot be written down in this language; see them with 'seqcon analyse'",
            original.name, model.name
        )),
    }
}

/// There is nothing to be written.
fn no_fences(original: &Specification, outcome: &ModelOutcome) -> Failure {
    let (name, model) = (&original.name, &outcome.model.name);
    match &outcome.inserted {
        Inserted::Undecided(_, why) => {
            Failure::Exhausted(format!("{name}: it is not known which fences are enough for {model}: {why}"))
        }
        Inserted::NotAbstractly(advice) => {
            Failure::Exhausted(format!("{name}: no fences are enough for the abstraction of {model}: {advice}"))
        }
        Inserted::Enough | Inserted::Unfixable | Inserted::NotAtSites => {
            let run = outcome.runs.first();
            let run = run.map_or(String::new(), |run| format!(":\n{}{}", runs::list(&run.evidence), run.because));
            Failure::Nothing(format!("{name}: no fences are enough for {model}{}", run.trim_end()))
        }
    }
}

/// Why something cannot be put into a text.
fn not_written(specification: &Specification, cannot: CannotWrite) -> Failure {
    let name = &specification.name;
    match cannot {
        CannotWrite::At(at) if Language::of(name).is_some_and(|language| language.name == rmm::LANGUAGE.name) => {
            let span = specification.program.instruction(at).span;
            specification.failure_at(span, "a fence must be put here, where a macro gives only a part of a statement")
        }
        CannotWrite::At(at) => {
            let thread = specification.program.thread(at.thread);
            let instruction = thread.instruction(at.instruction);
            let problem = format!(
                "something must be put at {}.{}, a transition without a statement; write `true` as its statement",
                thread.name, instruction.name
            );
            specification.failure_at(instruction.span, problem)
        }
        CannotWrite::Atomic => {
            Failure::Usage(format!("{name}: only fences can be put into this text: no instruction becomes atomic"))
        }
        CannotWrite::PartialFence(kind) => Failure::Usage(format!(
            "{name}: its language has no word for a fence of the kind `{kind}`; 'seqcon analyse' tells where it would stand"
        )),
        CannotWrite::Marks(at, marks) => {
            let (thread, instruction) =
                (specification.program.thread(at.thread), specification.program.instruction(at));
            let problem = format!(
                "{}.{} must get the marks `{marks}`, for which its language has no word here",
                thread.name, instruction.name
            );
            specification.failure_at(instruction.span, problem)
        }
        CannotWrite::Anything => Failure::Usage(format!(
            "{name}: fences can be put into the text of .slco, .txt, .trench, .rmm, .rmx and .remmex specifications only"
        )),
    }
}
