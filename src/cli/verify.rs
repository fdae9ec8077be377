//! `seqcon verify`: is the program right under a weak memory model, with the suggestions in place?

use super::arguments::{ConfirmationArguments, PropertyArgument, VerifyArguments, VerifyAtomicityArgument};
use super::failure::Failure;
use super::input::memory_model;
use super::progress::Spinner;
use super::specification::Specification;
use crate::aeg::Profile;
use crate::analysis::{Analysis, ModelOutcome, Options, Verification};
use crate::confirm::{self, Limits, granularity, machine};
use crate::cycles::Atomicity;
use crate::lang::Language;
use crate::lang::automata::edit::fenced;
use crate::lang::slco::edit::edited;
use crate::memory::MemoryModel;
use crate::repair::{
    Repair, Reported,
    text::{edits, spots},
};
use crate::report::run::Words;
use crate::report::streams;
use crate::weak::axiomatic::Model;
use crate::weak::split::SplitProgram;
use crate::weak::torn::torn;
use crate::weak::verify::{self, Ground, Property, Question, Verdict, Violation, verify};
use std::fmt::{self, Write as _};
use std::fs;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::ExitCode;

pub fn run(arguments: &VerifyArguments) -> Result<ExitCode, Failure> {
    let models: Vec<MemoryModel> =
        arguments.memory_models.iter().map(|name| memory_model(name)).collect::<Result<_, _>>()?;
    let specification = Specification::read(&arguments.specification)?;
    let mut worst = 0;
    for model in &models {
        let (text, status) = verify_under(arguments, &specification, model)?;
        let mut out = streams::text();
        out.write_all(text.as_bytes()).and_then(|()| out.flush())?;
        // A violation is known even if something else was not decided.
        worst = if worst == 1 || status == 1 { 1 } else { worst.max(status) };
    }
    Ok(ExitCode::from(worst))
}

fn verify_under(
    arguments: &VerifyArguments,
    specification: &Specification,
    model: &MemoryModel,
) -> Result<(String, u8), Failure> {
    let atomicity = match arguments.atomicity {
        VerifyAtomicityArgument::Off => Atomicity::Off,
        VerifyAtomicityArgument::Full => Atomicity::Full,
    };
    let property = match arguments.property {
        PropertyArgument::Traces => Property::Traces,
        PropertyArgument::States => Property::States,
    };
    let repair = suggestions(arguments, specification, model, atomicity)?;
    let (confirmation, unroll) = (&arguments.confirmation, arguments.unroll);
    let trial = Trial { specification, model, repair: &repair, atomicity, property, confirmation, unroll };
    let (split, verdict) = trial.run()?;
    let words = Words { program: &specification.program, text: &specification.text, locations: &split.locations };
    let mut text = String::new();
    let limit = arguments.confirmation.max_weak_states;
    let status =
        write_verdict(&words, model, &repair, property, limit, &verdict, &mut text).map_err(io::Error::other)?;
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
}

impl Trial<'_> {
    /// The repaired program, access by access, and the verdict on it.
    pub fn run(&self) -> Result<(SplitProgram, Verdict), Failure> {
        let Trial { specification, model, repair, atomicity, property, .. } = *self;
        let mut split = specification.split()?;
        repair.apply(&mut split);
        let _spinner = Spinner::new(format!("verifying {} under {}", specification.name, model.name));
        let verdict = match (machine(model), Model::named(&model.name)) {
            (Some(machine), _) => {
                let (bound, limit) = (self.confirmation.buffer_bound, self.confirmation.max_weak_states);
                verify(&split, &Question { machine, granularity: granularity(atomicity), property, bound, limit })
            }
            (None, Some(axioms)) => self.by_axioms(&split, axioms)?,
            (None, None) => {
                return Err(Failure::Usage(format!(
                    "verify knows sc, tso, pso, armv7 and power; there is no machine and there are no axioms for {}",
                    model.name
                )));
            }
        };
        Ok((split, verdict))
    }

    /// The verdict alone, as a report says it.
    pub fn verification(&self) -> Result<Verification, Failure> {
        Ok(match self.run()?.1 {
            Verdict::Verified(ground) => Verification::Verified(ground_text(&ground)),
            Verdict::Violated(_) => Verification::Violated,
            Verdict::Undecided => Verification::Undecided,
        })
    }

    /// The verdict of the axioms on the text with the suggestions put in; where whole instructions count, none may be torn.
    fn by_axioms(&self, split: &SplitProgram, model: Model) -> Result<Verdict, Failure> {
        if self.atomicity == Atomicity::Full {
            match torn(split, self.confirmation.max_weak_states) {
                Err(_) => return Ok(Verdict::Undecided),
                Ok(torn) => {
                    if let Some(torn) = torn.into_iter().next() {
                        return Ok(Verdict::Violated(Box::new(Violation::Torn(torn))));
                    }
                }
            }
        }
        let repaired = self.repair.put_into(&self.specification.program);
        verify::by_axioms(&repaired, model, self.property, self.unroll)
            .map_err(|failure| Failure::Usage(format!("{}: {failure}", self.specification.name)))
    }
}

/// What is put in.
fn suggestions(
    arguments: &VerifyArguments,
    specification: &Specification,
    model: &MemoryModel,
    atomicity: Atomicity,
) -> Result<Repair, Failure> {
    if arguments.as_is {
        return Ok(Repair::default());
    }
    if let Some(path) = &arguments.with {
        return Ok(reported(path, specification, model)?.repair);
    }
    let analysis = Analysis::new(specification.facts(&arguments.limits)?, Profile::Sound);
    let options = Options { atomicity, ..Options::default() };
    let outcome = outcome(&analysis, specification, model, &options, &arguments.confirmation)?;
    Ok(Repair::of(&specification.program, &analysis, &outcome))
}

/// What a `report.json` suggests.
pub fn reported(path: &Path, specification: &Specification, model: &MemoryModel) -> Result<Reported, Failure> {
    let json = fs::read_to_string(path).map_err(|error| Failure::in_file(path, error))?;
    Repair::from_json(&json, &model.name, &specification.program).map_err(|error| Failure::in_file(path, error))
}

/// The analysis of a specification, with only the confirmed delays if that was asked for.
pub fn outcome(
    analysis: &Analysis,
    specification: &Specification,
    model: &MemoryModel,
    options: &Options,
    arguments: &ConfirmationArguments,
) -> Result<ModelOutcome, Failure> {
    let _spinner = Spinner::new(format!("analysing under {}", model.name));
    if !arguments.only_confirmed {
        return Ok(analysis.run(model, options));
    }
    confirm::place_confirmed(&specification.program, analysis, model, options, arguments.limits())
        .map_err(|error| specification.too_long(error))
}

impl ConfirmationArguments {
    /// How far searches go.
    pub fn limits(&self) -> Limits {
        Limits { states: self.max_weak_states, buffer: self.buffer_bound }
    }
}

/// Writes the verdict and what it rests on; gives the exit status.
fn write_verdict(
    words: &Words<'_>,
    model: &MemoryModel,
    repair: &Repair,
    property: Property,
    limit: usize,
    verdict: &Verdict,
    out: &mut String,
) -> Result<u8, fmt::Error> {
    let holds = match property {
        Property::Traces => "every run is sequentially consistent",
        Property::States => "every state between instructions is reached under sequential consistency",
    };
    let in_place = format!("{} fences and {} atomic instructions put in", repair.fences.len(), repair.locked.len());
    let name = &model.name;
    match verdict {
        Verdict::Verified(ground) => {
            writeln!(out, "{name}: verified: {holds} ({in_place})\n  rests on: {}", ground_text(ground))?;
            Ok(0)
        }
        Verdict::Undecided => {
            writeln!(out, "{name}: not decided ({in_place})")?;
            writeln!(out, "  a search reached {limit} states (--max-weak-states), or a loop was cut off (--unroll)")?;
            Ok(3)
        }
        Verdict::Violated(violation) => {
            writeln!(out, "{name}: violated ({in_place}):")?;
            write_violation(words, violation, out)?;
            Ok(1)
        }
    }
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
        Ground::BoundedBuffers { bound, states } => {
            format!("all runs with at most {bound} writes in a store buffer (--buffer-bound): {states} states")
        }
        Ground::Axioms { executions } => format!("all {executions} executions that the axioms allow"),
    }
}

fn write_violation(words: &Words<'_>, violation: &Violation, out: &mut String) -> fmt::Result {
    match violation {
        Violation::Torn(torn) => {
            words.write_events(&torn.run, out)?;
            let name = words.instruction(torn.thread, torn.instruction);
            writeln!(
                out,
                "  {name} is torn: it happens before and after what others did in between; as one step it could not"
            )
        }
        Violation::Attack(witness) => {
            words.write_witness(witness, out)?;
            let pair = witness.pair;
            let (first, second) = (pair.from.instruction as usize, pair.to.instruction as usize);
            writeln!(
                out,
                "  {} comes first in the program, but its write to {} is seen after {} has accessed {}: the last step but one still happens before it.",
                words.instruction(pair.thread, first),
                words.locations[pair.from.location as usize],
                words.instruction(pair.thread, second),
                words.locations[pair.to.location as usize],
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
        match Language::of(&self.name) {
            Some(Language::Slco) => {}
            Some(Language::Automata) => {
                let spots = spots(&self.program, repair).ok_or_else(|| {
                    Failure::Usage(format!("{}: only fences can be put into the text of automata", self.name))
                })?;
                return Specification::from_text(self.name.clone(), fenced(&self.text, &spots));
            }
            _ => {
                return Err(Failure::Usage(format!(
                    "{}: fences can be put into the text of .slco, .txt and .trench specifications only",
                    self.name
                )));
            }
        }
        let edits = edits(&self.program, repair).map_err(|(thread, number)| {
            let thread = &self.program.threads[thread];
            let problem = format!(
                "something must be put at {}.{}, a transition without a statement; write `true` as its statement",
                thread.name, thread.instructions[number].name
            );
            self.failure_at(thread.instructions[number].span, problem)
        })?;
        Specification::from_text(self.name.clone(), edited(&self.text, &edits))
    }

    /// The program, access by access.
    pub fn split(&self) -> Result<SplitProgram, Failure> {
        SplitProgram::new(&self.program).map_err(|error| self.too_long(error))
    }
}
