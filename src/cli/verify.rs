//! `seqcon verify`: is the program right under a weak memory model, with the suggestions in place?

use super::analyse::{atomicity, for_reading};
use super::arguments::{ConfirmArgument, ConfirmationArguments, PropertyArgument, Verbosity, VerifyArguments};
use super::failure::Failure;
use super::idle;
use super::input::{memory_model, refuse_repeated_models};
use super::interrupt::Interruptible;
use super::outputs::tell_each;
use super::progress::Spinner;
use super::specification::Specification;
use crate::aeg::Profile;
use crate::analysis::{Analysis, ModelOutcome, Options, Verification};
use crate::budget::Budget;
use crate::caveat::Caveat;
use crate::caveat::idle::Happenings;
use crate::confirm::{self, Limits, Subject};
use crate::cycles::Atomicity;
use crate::lang::edit::{CannotWrite, edited};
use crate::memory::MemoryModel;
use crate::repair::{Repair, Reported};
use crate::report::reading;
use crate::report::streams;
use crate::report::text::write_caveats;
use crate::tell;
use crate::trial::{self, Trouble};
use crate::weak::Machine;
use crate::weak::semantics::Semantics;
use crate::weak::split::SplitProgram;
use crate::weak::verify::{Ground, Limit, Property, Verdict, Violation};
use crate::weak::words::Words;
use std::fmt::{self, Write as _};
use std::fs;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::ExitCode;

pub fn run(arguments: &VerifyArguments, verbosity: Verbosity) -> Result<ExitCode, Failure> {
    let models: Vec<MemoryModel> =
        arguments.memory_models.iter().map(|name| memory_model(name)).collect::<Result<_, _>>()?;
    // Before anything is read or explored.
    refuse_repeated_models(&models)?;
    models.iter().try_for_each(|model| semantics(model).map(drop))?;
    let specification = Specification::read(&arguments.specification)?;
    let _heard = Interruptible::new();
    let analysed = Analysed::new(arguments, &specification)?;
    if verbosity == Verbosity::Quiet {
        tell_each(&specification.name, &analysed.caveats);
    } else {
        let mut text = String::new();
        write_caveats(&analysed.caveats, &mut text).map_err(io::Error::other)?;
        let mut out = streams::coloured();
        out.write_all(text.as_bytes()).and_then(|()| out.flush())?;
    }
    let mut worst = 0;
    for model in &models {
        let (text, status) = verify_under(arguments, &specification, &analysed, model)?;
        let mut out = streams::text();
        out.write_all(text.as_bytes()).and_then(|()| out.flush())?;
        // A violation is known even if something else was not decided.
        worst = if worst == 1 || status == 1 { 1 } else { worst.max(status) };
    }
    Ok(ExitCode::from(worst))
}

/// What is known of the specification before it is run.
struct Analysed {
    /// The analysis for the reading that was asked for; none if nothing is asked of it.
    analysis: Option<Analysis>,
    /// What must be known before the verdicts are believed.
    caveats: Vec<Caveat>,
}

impl Analysed {
    /// Explores the specification: for suggestions in full, else as far as that is cheap.
    fn new(arguments: &VerifyArguments, specification: &Specification) -> Result<Analysed, Failure> {
        if arguments.as_is || arguments.with.is_some() {
            return Ok(Analysed { analysis: None, caveats: idle::explored(specification, &arguments.limits) });
        }
        let (facts, reached) = specification.facts(&arguments.limits)?;
        let happenings = Happenings::of(&facts);
        let budget = arguments.limits.budget.for_the_rest();
        let whole = Analysis::within(facts, Profile::Sound, &budget).because(reached);
        let caveats = idle::of_whole(&happenings, &whole, specification);
        let (asked, limit) = (atomicity(arguments.atomicity), arguments.confirmation.max_weak_states);
        let analysis = for_reading(whole, asked, Some(specification), limit)?;
        Ok(Analysed { analysis: Some(analysis), caveats })
    }
}

fn verify_under(
    arguments: &VerifyArguments,
    specification: &Specification,
    analysed: &Analysed,
    model: &MemoryModel,
) -> Result<(String, u8), Failure> {
    let atomicity = atomicity(arguments.atomicity);
    let property = match arguments.property {
        PropertyArgument::Traces => Property::Traces,
        PropertyArgument::States => Property::States,
    };
    let (repair, is_partial) = suggestions(arguments, specification, analysed, model)?;
    let (confirmation, unroll) = (&arguments.confirmation, arguments.unroll);
    let budget = arguments.limits.budget.heeding();
    let trial = Trial { specification, model, repair: &repair, atomicity, property, confirmation, unroll, budget };
    let (split, verdict) = trial.run()?;
    let words = Words { program: &specification.program, text: &specification.text, locations: &split.locations };
    let mut text = String::new();
    let status = trial.write_verdict(&words, &verdict, &mut text).map_err(io::Error::other)?;
    let composites = specification.split()?.composites();
    if let Some(&first) = composites.first() {
        let named = reading::and_more(words.instruction(first), composites.len());
        writeln!(text, "  {}", reading::in_words(atomicity, &named)).map_err(io::Error::other)?;
    }
    if is_partial {
        text += "  only a part of the state space was explored, so what was put in may lack something: allow the exploration more\n";
    }
    Ok((text, status))
}

/// A specification that is run under a memory model, with suggestions put in.
pub struct Trial<'a> {
    pub specification: &'a Specification,
    pub model: &'a MemoryModel,
    pub repair: &'a Repair,
    pub atomicity: Atomicity,
    pub property: Property,
    pub confirmation: &'a ConfirmationArguments,
    pub unroll: usize,
    pub budget: Budget,
}

impl Trial<'_> {
    /// The repaired program, access by access, and the verdict on it.
    pub fn run(&self) -> Result<(SplitProgram, Verdict), Failure> {
        let specification = self.specification;
        let _spinner = Spinner::new(format!("verifying {} under {}", specification.name, self.model.name));
        let ConfirmationArguments { max_weak_states: states, buffer_bound: buffer, .. } = *self.confirmation;
        let trial = trial::Trial {
            program: &specification.program,
            outline: &specification.outline,
            model: self.model,
            repair: self.repair,
            atomicity: self.atomicity,
            property: self.property,
            limits: trial::Limits { states, buffer, unroll: self.unroll },
            budget: self.budget.clone(),
        };
        trial.run().map_err(|trouble| match trouble {
            Trouble::CannotRun(cannot) => Failure::Usage(cannot.to_string()),
            Trouble::TooLong(error) => specification.too_long(error),
            Trouble::Execution(failure) => Failure::Usage(format!("{}: {failure}", specification.name)),
        })
    }

    /// The verdict alone, as a report says it.
    pub fn verification(&self) -> Result<Verification, Failure> {
        Ok(match self.run()?.1 {
            Verdict::Verified(ground) => Verification::Verified(ground_text(&ground)),
            Verdict::Violated(_) => Verification::Violated,
            Verdict::Bounded { bound, states } => Verification::Bounded(bounded_text(bound, states)),
            Verdict::Undecided(limit) => Verification::Undecided(self.limit_text(limit)),
        })
    }

    /// Writes the verdict and what it rests on; gives the exit status.
    fn write_verdict(&self, words: &Words<'_>, verdict: &Verdict, out: &mut String) -> Result<u8, fmt::Error> {
        let Trial { model, repair, property, .. } = *self;
        let in_place = format!("{} fences and {} atomic instructions put in", repair.fences.len(), repair.locked.len());
        let name = &model.name;
        match verdict {
            Verdict::Verified(ground) => {
                let holds = match (property, ground) {
                    (Property::Traces, _) => "every run is sequentially consistent",
                    (Property::States, Ground::Axioms { .. }) => {
                        "every final state is reached under sequential consistency"
                    }
                    (Property::States, _) => "every state between instructions is reached under sequential consistency",
                };
                writeln!(out, "{name}: verified: {holds} ({in_place})\n  rests on: {}", ground_text(ground))?;
                Ok(0)
            }
            Verdict::Bounded { bound, states } => {
                writeln!(out, "{name}: no violation with at most {bound} waiting writes ({in_place})")?;
                writeln!(
                    out,
                    "  not decided: a store buffer was full (--buffer-bound), and of runs with more waiting writes nothing is known; looked at: {states} states"
                )?;
                Ok(3)
            }
            Verdict::Undecided(limit) => {
                writeln!(out, "{name}: not decided ({in_place})\n  {}", self.limit_text(*limit))?;
                Ok(3)
            }
            Verdict::Violated(violation) => {
                writeln!(out, "{name}: violated ({in_place}):")?;
                write_violation(words, violation, out)?;
                Ok(1)
            }
        }
    }

    /// The limit that left the question open, and how to raise it.
    fn limit_text(&self, limit: Limit) -> String {
        match limit {
            Limit::States => {
                format!("a search reached {} states (--max-weak-states)", self.confirmation.max_weak_states)
            }
            Limit::Budget(limit) => format!("stopped at {limit}"),
            Limit::Unrolling => {
                format!("a loop was cut off: no instruction was taken more than {} times (--unroll)", self.unroll)
            }
        }
    }
}

/// What runs the model; if nothing does, there is no verdict.
pub fn semantics(model: &MemoryModel) -> Result<Semantics, Failure> {
    Semantics::of(model).map_err(|cannot| Failure::Usage(cannot.to_string()))
}

/// What is put in, and whether it is what a part of the state space asks for.
fn suggestions(
    arguments: &VerifyArguments,
    specification: &Specification,
    analysed: &Analysed,
    model: &MemoryModel,
) -> Result<(Repair, bool), Failure> {
    if let Some(path) = &arguments.with {
        let Reported { repair, is_complete } = reported(path, specification, model)?;
        return Ok((repair, !is_complete));
    }
    let Some(analysis) = &analysed.analysis else { return Ok((Repair::default(), false)) };
    tell_if_unconfirmable(model, &arguments.confirmation);
    let options = Options { atomicity: atomicity(arguments.atomicity), ..Options::default() };
    let outcome = outcome(analysis, specification, model, &options, &arguments.confirmation)?;
    let is_partial = analysis.cut_off || outcome.stopped.is_some();
    Ok((Repair::of(&outcome), is_partial))
}

/// What a `report.json` suggests.
pub fn reported(path: &Path, specification: &Specification, model: &MemoryModel) -> Result<Reported, Failure> {
    let json = fs::read_to_string(path).map_err(|error| Failure::in_file(path, error))?;
    Repair::from_json(&json, model, &specification.outline).map_err(|error| Failure::in_file(path, error))
}

/// The analysis of a specification, with what is confirmed of its delays as far as that was asked for.
pub fn outcome(
    analysis: &Analysis,
    specification: &Specification,
    model: &MemoryModel,
    options: &Options,
    arguments: &ConfirmationArguments,
) -> Result<ModelOutcome, Failure> {
    let _spinner = Spinner::new(format!("analysing under {}", model.name));
    let subject = Subject { program: &specification.program, analysis, model, options };
    let outcome = match arguments.how()? {
        ConfirmArgument::Auto => confirm::place_by_default(subject, arguments.limits()),
        ConfirmArgument::Full => confirm::place_confirmed(subject, arguments.limits()),
        ConfirmArgument::Off | ConfirmArgument::Mark => Ok(analysis.run(model, options)),
    };
    outcome.map_err(|error| specification.too_long(error))
}

/// Says it if only confirmed delays are to get fences, and there is no machine on which delays could be tried: then
/// they stay unknown, and all get fences.
pub fn tell_if_unconfirmable(model: &MemoryModel, arguments: &ConfirmationArguments) {
    if arguments.how().is_ok_and(|how| how == ConfirmArgument::Full) {
        tell_if_without_machine(model);
    }
}

/// Says it if there is no machine on which delays could be tried.
pub fn tell_if_without_machine(model: &MemoryModel) {
    if let Err(cannot) = Machine::of(model) {
        tell!("seqcon: warning: {cannot}; no delay is confirmed, and none is left out");
    }
}

impl ConfirmationArguments {
    /// How far searches go.
    pub fn limits(&self) -> Limits {
        Limits { states: self.max_weak_states, buffer: self.buffer_bound }
    }

    /// What is asked for.
    pub fn how(&self) -> Result<ConfirmArgument, Failure> {
        match (self.only_confirmed, self.confirm) {
            (true, Some(ConfirmArgument::Auto | ConfirmArgument::Off)) => {
                Err(Failure::Usage("--only-confirmed is --confirm=full; give one of them".to_owned()))
            }
            (true, _) => Ok(ConfirmArgument::Full),
            (false, how) => Ok(how.unwrap_or(ConfirmArgument::Auto)),
        }
    }
}

/// What is known where a buffer was full.
fn bounded_text(bound: usize, states: usize) -> String {
    format!(
        "no violation with at most {bound} waiting writes in a store buffer (--buffer-bound): {states} states; with more, nothing is known"
    )
}

/// What a positive verdict rests on.
fn ground_text(ground: &Ground) -> String {
    match ground {
        Ground::Attacks { states, pairs } => {
            format!(
                "an exact search (no bound): {pairs} pairs that a thread can reorder, {states} states under sequential consistency"
            )
        }
        Ground::AllRuns { states } => format!("all runs on store buffers (no bound was reached): {states} states"),
        Ground::Axioms { executions } => format!("all {executions} executions that the axioms allow"),
    }
}

fn write_violation(words: &Words<'_>, violation: &Violation, out: &mut String) -> fmt::Result {
    match violation {
        Violation::Torn(torn) => {
            words.write_events(&torn.run, out)?;
            let name = words.instruction(torn.at);
            writeln!(
                out,
                "  {name} is torn: it happens before and after what others did in between; as one step it could not"
            )
        }
        Violation::Attack(witness) => {
            words.write_witness(witness, out)?;
            let pair = witness.pair;
            writeln!(
                out,
                "  {} comes first in the program, but its write to {} is seen after {} has accessed {}: the last step but one still happens before it.",
                words.instruction(pair.at(pair.from)),
                words.locations[pair.from.location.index()],
                words.instruction(pair.at(pair.to)),
                words.locations[pair.to.location.index()],
            )?;
            writeln!(out, "  Under sequential consistency the write would be visible before the second access.")
        }
        Violation::End(end) => {
            words.write_end(end, out)?;
            writeln!(out, "  No execution under sequential consistency ends here.")
        }
        Violation::Executions(more, all) => {
            writeln!(
                out,
                "  {more} of {all} executions are not sequentially consistent, although they end where others end."
            )
        }
        Violation::Run(run) => {
            words.write_run(run, out)?;
            writeln!(out, "  No order of these accesses that keeps the program's order gives these values.")
        }
        Violation::State(run) => {
            words.write_run(run, out)?;
            writeln!(out, "  All buffers are empty, and no run under sequential consistency reaches this state.")
        }
    }
}

impl Specification {
    /// The specification with a repair put into its text.
    pub fn with(&self, repair: &Repair) -> Result<Specification, Failure> {
        if *repair == Repair::default() {
            return Specification::from_text(self.name.clone(), self.text.clone());
        }
        let changes = repair.changes(&self.outline);
        let text = edited(&self.name, &self.text, &self.program, &changes);
        Specification::from_text(self.name.clone(), text.map_err(|problem| self.cannot_write(problem))?)
    }

    fn cannot_write(&self, problem: CannotWrite) -> Failure {
        match problem {
            CannotWrite::Anything => Failure::Usage(format!(
                "{}: fences can be put into the text of .slco, .txt and .trench specifications only",
                self.name
            )),
            CannotWrite::Atomic => {
                Failure::Usage(format!("{}: only fences can be put into the text of automata", self.name))
            }
            CannotWrite::At(at) => {
                let (thread, instruction) = (self.program.thread(at.thread), self.program.instruction(at));
                let problem = format!(
                    "something must be put at {}.{}, a transition without a statement; write `true` as its statement",
                    thread.name, instruction.name
                );
                self.failure_at(instruction.span, problem)
            }
        }
    }

    /// The program, access by access.
    pub fn split(&self) -> Result<SplitProgram, Failure> {
        SplitProgram::new(&self.program).map_err(|error| self.too_long(error))
    }
}
