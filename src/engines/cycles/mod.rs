//! The main analysis as an engine: robustness by critical cycles (method §1 to §11).
//!
//! The stations themselves are [`facts`](crate::facts) to [`placement`](crate::placement), with
//! [`readings`] for instructions with several accesses and [`confirm`] for delays
//! that no run needs; this is their common face. Fences are not found by trying sets of them: the event graph demands
//! all that it demands at once, and confirmation goes through [the loop](crate::insertion) by itself.

mod approach;
mod between;
mod few;
mod recheck;

use super::words::Words;
use super::{Checker, Confirm, Description, Engine, Examined, Purpose, Settings, Subject, Task, Trouble, caveats};
use crate::aeg::Accesses;
use crate::analysis::{Abstraction, Analysis, CYCLES, Explored, ModelOutcome, Options, Told};
use crate::budget::Budget;
use crate::caveat::Caveat;
use crate::caveat::idle::Happenings;
use crate::confirm::{self, Limits};
use crate::cycles::Atomicity;
use crate::explore::observe::{FactsObserver, Forgetting, facts};
use crate::explore::{Stop, explore};
use crate::facts::Facts;
use crate::kinds::outcome as kinds;
use crate::memory::{Known, MemoryModel};
use crate::placement::Minimality;
use crate::property::PropertyKind;
use crate::readings::{self, Others, STATES_FOR_OTHERS, Splittable};
use crate::specification::Specification;
use crate::text::counted;
use crate::weak::attack::Witness;
use crate::weak::split::{SplitProgram, TooLong};
use approach::Looked;
use between::Between;
use std::time::Instant;

/// The engine.
pub struct Cycles;

const PROPERTIES: &[PropertyKind] = &[PropertyKind::Robust];

/// The analysis for a reading of instructions.
struct Analysed<'a> {
    specification: Option<&'a Specification>,
    settings: &'a Settings,
    atomicity: Atomicity,
    analysis: Analysis,
    /// What other readings would answer, if that is told.
    others: Option<Others>,
    caveats: Vec<Caveat>,
    out_of_range: u64,
    stopped: Option<String>,
    /// The abstraction that was looked at, if one was, and what it is between.
    abstracted: Option<(Abstraction, Between<'a>)>,
    /// What was found out on the way.
    known: Vec<ModelOutcome>,
}

/// The facts of a program, as far as the limits let it be explored, and how often an index was out of range. States
/// that differ only in locals which are never read again are one.
///
/// # Errors
/// If the program goes wrong.
pub fn explored_facts(
    specification: &Specification,
    limits: &crate::explore::Limits<'_>,
) -> Result<ExploredFacts, Trouble> {
    let (exploration, watchers) = explore(&specification.compiled, limits, &mut Forgetting(FactsObserver))?;
    let size = (exploration.states.len() as u64, exploration.transitions);
    let cut_off = exploration.stop != Stop::Complete;
    Ok(ExploredFacts {
        facts: Facts { cut_off, ..facts(&specification.program, &watchers, size) },
        limit: exploration.stop.limit(),
        stop: exploration.stop,
        expanded: exploration.expanded,
        out_of_range: exploration.out_of_range,
    })
}

/// The facts of a program.
pub struct ExploredFacts {
    /// The facts.
    pub facts: Facts,
    /// The limit at which the exploration ended, if it was one.
    pub limit: Option<&'static str>,
    /// Why it ended.
    pub stop: Stop,
    /// How many states were expanded.
    pub expanded: usize,
    /// How often an index was out of range.
    pub out_of_range: u64,
}

impl ExploredFacts {
    /// Facts that nobody had to explore.
    fn read(facts: Facts) -> ExploredFacts {
        ExploredFacts { facts, limit: None, stop: Stop::Complete, expanded: 0, out_of_range: 0 }
    }
}

impl Engine for Cycles {
    fn description(&self) -> Description {
        Description {
            name: CYCLES,
            properties: PROPERTIES,
            models: &[],
            input: "specifications, state spaces and facts files",
            after: "critical cycles: Shasha and Snir 1988; on state spaces de Putter and Wijs, corrected (docs/method.md)",
            purpose: Purpose::Finds,
            takes: &[
                "--abstraction",
                "--atomicity",
                "--profile",
                "--conflicts",
                "--cycles",
                "--placement greedy",
                "--confirm",
                "--only-confirmed",
                "--max-weak-states",
                "--buffer-bound",
            ],
        }
    }

    fn examine<'a>(&self, task: &Task<'a>) -> Result<Box<dyn Examined + 'a>, Trouble> {
        task.subject.refuse_exclusives()?;
        let (specification, Looked { explored, abstraction, known }) = match task.subject {
            Subject::Program(specification) => (Some(specification), approach::look(task, specification)?),
            Subject::StateSpace(facts) => (None, ExploredFacts::read(facts.clone()).into()),
        };
        let settings = task.settings;
        let happenings = Happenings::of(&explored.facts);
        let whole = Analysis::within(explored.facts, settings.profile, &(task.rest)()).because(explored.limit);
        // What never happens is a matter of the program, however its instructions are read.
        let caveats = caveats::of_whole(&happenings, &whole, task.subject);
        let atomicity = settings.atomicity.unwrap_or(Atomicity::Full);
        let limit = settings.searches.states;
        let split = |limit| specification.map(|known| Splittable { program: &known.program, limit });
        let too_long = |error: TooLong| Trouble::TooLong(specification.map(|_| error.span));
        let others = || Others::new(&whole, atomicity, split(limit.min(STATES_FOR_OTHERS))).map_err(too_long);
        // What an abstraction asks for in other readings may be far from what the program does.
        let others = (settings.tells_readings && abstraction.is_none()).then(others).transpose()?;
        let states = whole.num_of_states;
        let analysis = readings::analysis(whole, atomicity, split(limit)).map_err(too_long)?;
        let (out_of_range, expanded) = (explored.out_of_range, explored.expanded);
        let stopped = explored
            .limit
            .map(|limit| format!("stopped at {limit} after {expanded} of at least {}", counted(states, "state")));
        let between = specification.map(|specification| Between::new(specification, settings, (task.rest)()));
        let abstracted = abstraction.zip(between);
        Ok(Box::new(Analysed {
            specification,
            settings,
            atomicity,
            analysis,
            others,
            caveats,
            out_of_range,
            stopped,
            abstracted,
            known,
        }))
    }
}

impl Examined for Analysed<'_> {
    fn accesses(&self) -> &Accesses {
        &self.analysis.graph.accesses
    }

    fn explored(&self) -> Explored {
        self.analysis.explored()
    }

    fn analysis(&self) -> Option<&Analysis> {
        Some(&self.analysis)
    }

    fn caveats(&self) -> Vec<Caveat> {
        self.caveats.clone()
    }

    fn atomicity(&self) -> Atomicity {
        self.atomicity
    }

    fn abstraction(&self) -> Option<Abstraction> {
        self.abstracted.as_ref().map(|(abstraction, _)| *abstraction)
    }

    fn out_of_range(&self) -> u64 {
        self.out_of_range
    }

    fn stopped_exploring(&self) -> Option<String> {
        self.stopped.clone()
    }

    fn budget(&self) -> &Budget {
        &self.analysis.graph.budget
    }

    fn checker<'c>(&'c self, model: &'c MemoryModel) -> Result<Box<dyn Checker + 'c>, Trouble> {
        Ok(Box::new(recheck::Second { analysis: &self.analysis, model, atomicity: self.atomicity }))
    }

    fn place(&self, model: &MemoryModel, options: &Options) -> Result<ModelOutcome, Trouble> {
        let started = Instant::now();
        let is_asked = |known: &&ModelOutcome| known.model == *model && *options == approach::usual(self.atomicity);
        if let Some(known) = self.known.iter().find(is_asked) {
            return Ok(known.clone());
        }
        let by_axioms = |result: ModelOutcome| match self.settings.confirm {
            Confirm::Off => result,
            Confirm::Mark => kinds::marked(&self.analysis, model, options, result),
            Confirm::Auto | Confirm::Full => kinds::by_axioms(&self.analysis, model, options, result),
        };
        let mut result = match (self.specification, &self.abstracted) {
            (None, _) => by_axioms(self.analysis.run(model, options)),
            (Some(_), Some((_, between))) => between.place(&self.analysis, model, options)?,
            (Some(specification), None) => by_axioms(self.confirmed(specification, model, options)?),
        };
        if options.costs.prefer_stores() && model.known() == Ok(Known::Pso) && !result.fences.is_empty() {
            // Only full fences are placed here, and with fences of stores something may be cheaper.
            result.placement.minimality = Minimality::AtLeast(0);
        }
        let Some(others) = &self.others else { return Ok(result) };
        let (other_readings, atomic_fences) =
            (others.run(model, options), self.analysis.atomic_fences(options, &result));
        Ok(ModelOutcome { other_readings, atomic_fences, elapsed: started.elapsed(), ..result })
    }
}

impl Analysed<'_> {
    /// The result with what is confirmed of its delays.
    fn confirmed(
        &self,
        specification: &Specification,
        model: &MemoryModel,
        options: &Options,
    ) -> Result<ModelOutcome, Trouble> {
        let subject = confirm::Subject { program: &specification.program, analysis: &self.analysis, model, options };
        let limits = Limits { states: self.settings.searches.states, buffer: self.settings.searches.buffer };
        match self.settings.confirm {
            Confirm::Off => Ok(self.analysis.run(model, options)),
            Confirm::Auto => Ok(confirm::place_by_default(subject, limits)?),
            Confirm::Full => Ok(confirm::place_confirmed(subject, limits)?),
            Confirm::Mark => {
                let (outcome, witnesses) = confirm::mark(subject, limits)?;
                let runs = if self.settings.tells_runs { told(specification, model, &witnesses)? } else { Vec::new() };
                Ok(ModelOutcome { runs, ..outcome })
            }
        }
    }
}

/// The runs that need delays, in the program's words.
fn told(specification: &Specification, model: &MemoryModel, witnesses: &[Witness]) -> Result<Vec<Told>, TooLong> {
    let locations = SplitProgram::new(&specification.program)?.locations;
    let words = Words { specification, locations: &locations };
    let told = |witness| Told {
        evidence: words.witness(witness),
        because: format!("a run that needs a delay of {}", model.name),
    };
    Ok(witnesses.iter().map(told).collect())
}
