//! `seqcon fix`: the specification with what it needs put in.

use super::analyse::{atomicity, for_reading};
use super::arguments::{FixArguments, Verbosity};
use super::failure::Failure;
use super::idle;
use super::input::memory_model;
use super::interrupt::Interruptible;
use super::outputs::tell_each;
use super::places::refuse_clashes;
use super::specification::Specification;
use super::verify::{outcome, reported, tell_if_unconfirmable};
use crate::aeg::Profile;
use crate::analysis::{Analysis, Options};
use crate::caveat::idle::Happenings;
use crate::ids::InstrId;
use crate::lang::slco::edit::has_statement;
use crate::memory::MemoryModel;
use crate::placement::cost::Costs;
use crate::repair::{Repair, Reported};
use crate::report::output::Staged;
use crate::report::streams;
use crate::tell;
use similar::TextDiff;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

/// After so many rounds something is wrong with us.
const ROUNDS: usize = 20;

pub fn run(arguments: &FixArguments, verbosity: Verbosity) -> Result<ExitCode, Failure> {
    let model = memory_model(&arguments.memory_model)?;
    let inputs = [arguments.specification.as_path(), Path::new(&arguments.memory_model)];
    let diff = arguments.diff.then_some(Path::new("-"));
    refuse_clashes(
        diff.into_iter().chain(arguments.output.as_deref()),
        inputs.into_iter().chain(arguments.with.as_deref()),
    )?;
    let original = Specification::read(&arguments.specification)?;
    let fixed = match &arguments.with {
        Some(path) => {
            let Reported { repair, is_complete } = reported(path, &original, &model)?;
            if !is_complete {
                return Err(Failure::in_file(
                    path,
                    "this report is of a part only, so not all that is missing is known; allow the analysis more",
                ));
            }
            original.with(&repair)?.text
        }
        None => fix(arguments, &model, &original, verbosity)?,
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

/// The text with suggestions put in until an analysis finds nothing more to do.
fn fix(
    arguments: &FixArguments,
    model: &MemoryModel,
    original: &Specification,
    verbosity: Verbosity,
) -> Result<String, Failure> {
    tell_if_unconfirmable(model, &arguments.confirmation);
    let _heard = Interruptible::new();
    let mut current = Specification::from_text(original.name.clone(), original.text.clone())?;
    for round in 0..ROUNDS {
        let (facts, reached) = current.facts(&arguments.limits)?;
        let happenings = Happenings::of(&facts);
        let whole = Analysis::within(facts, Profile::Sound, &arguments.limits.budget.for_the_rest());
        if round == 0 {
            tell_each(&current.name, &idle::of_whole(&happenings, &whole, &current));
        }
        let (asked, limit) = (atomicity(arguments.atomicity), arguments.confirmation.max_weak_states);
        let analysis = for_reading(whole, asked, Some(&current), limit)?;
        if analysis.cut_off {
            let at = reached.map_or(String::new(), |limit| format!(" (stopped at {limit})"));
            return Err(Failure::Exhausted(format!(
                "{}: not all of the state space was explored{at}, so not all that is missing is known; allow more",
                current.name
            )));
        }
        let has_text = |instr: InstrId| {
            let at = current.outline.at(instr);
            at.is_some_and(|at| has_statement(current.program.instruction(at)))
        };
        let costs = Costs::for_text(&analysis.graph, has_text);
        let options = Options { atomicity: asked, costs, ..Options::default() };
        let outcome = outcome(&analysis, &current, model, &options, &arguments.confirmation)?;
        if let Some(limit) = outcome.stopped {
            return Err(Failure::Exhausted(format!(
                "{}: stopped at {limit}, so not all that is missing is known; allow more",
                current.name
            )));
        }
        if outcome.is_clean() {
            let rounds = if round > 1 { format!(", in {round} rounds") } else { String::new() };
            let changed = if round == 0 { "nothing to do" } else { "repaired; an analysis finds nothing more to do" };
            if verbosity == Verbosity::Verbose || round == 0 {
                tell!("seqcon: {}: {} for {}{rounds}", original.name, changed, model.name);
            }
            return Ok(current.text);
        }
        let repair = Repair::of(&outcome);
        current = current.with(&repair)?;
    }
    Err(Failure::Usage(format!(
        "{}: the suggestions for {} cannot be written down in this language; see them with 'seqcon analyse'",
        original.name, model.name
    )))
}
