//! The answer of an [abstraction](crate::environment), between two bounds.
//!
//! *At most*: its facts include those of the program, so the fences and locks that they ask for are enough.
//! *At least*: [runs of few threads](crate::confirm::place_between) ask for so many fences, whatever the others do; and
//! the [facts of few threads](super::few) are included in those of the program, which so asks for no less than they do.
//!
//! | what is known | what is said |
//! |---|---|
//! | runs ask for as much as is placed, and few threads tear what is locked | the fewest for the program |
//! | facts of few threads ask for as much as is placed, and tear what is locked | the fewest for the event graph |
//! | else | at least as many are needed as runs ask for |

use super::few::facts_of_few;
use crate::aeg::Profile;
use crate::analysis::{Analysis, Confirming, ModelOutcome, Options};
use crate::budget::Budget;
use crate::confirm::{self, Limits, MOST_IN_DISPUTE};
use crate::cycles::Findings;
use crate::engines::{Confirm, Settings, Trouble};
use crate::explore;
use crate::facts::Facts;
use crate::ids::InstrId;
use crate::memory::MemoryModel;
use crate::placement::Minimality;
use crate::specification::Specification;
use crate::weak::Machine;
use std::cell::OnceCell;
use std::collections::BTreeSet;

/// Knows a program only by an abstraction and by few of its threads.
pub(super) struct Between<'a> {
    specification: &'a Specification,
    settings: &'a Settings,
    budget: Budget,
    /// The analysis of facts that the program has for certain.
    few: OnceCell<Analysis>,
}

impl<'a> Between<'a> {
    pub(super) fn new(specification: &'a Specification, settings: &'a Settings, budget: Budget) -> Between<'a> {
        Between { specification, settings, budget, few: OnceCell::new() }
    }

    /// Whether runs are searched for under a memory model.
    pub(super) fn is_confirming(&self, model: &MemoryModel) -> bool {
        self.settings.confirm != Confirm::Off
            && Machine::of(model).is_ok_and(|machine| machine.refuses(&self.specification.program).is_none())
    }

    /// Fences and locks for all that an abstraction has, with what is known of how many are needed.
    pub(super) fn place(
        &self,
        analysis: &Analysis,
        model: &MemoryModel,
        options: &Options,
    ) -> Result<ModelOutcome, Trouble> {
        let subject = confirm::Subject { program: &self.specification.program, analysis, model, options };
        let limits = Limits { states: self.settings.searches.states, buffer: self.settings.searches.buffer };
        let mut outcome = match self.settings.confirm {
            Confirm::Off => analysis.run(model, options),
            Confirm::Auto => {
                confirm::place_between(subject, Limits { states: limits.states.min(MOST_IN_DISPUTE), ..limits })?
            }
            Confirm::Full | Confirm::Mark => confirm::place_between(subject, limits)?,
        };
        let needed = match outcome.placement.minimality {
            Minimality::Greedy => return Ok(outcome),
            Minimality::Program if outcome.findings.torn.is_empty() => return Ok(outcome),
            Minimality::Program => outcome.fences.len(),
            Minimality::EventGraph | Minimality::Abstraction => 0,
            Minimality::AtLeast(needed) => needed,
        };
        let few = self.few();
        let findings = few.find(model, options);
        let is_locked = torn(&findings) == torn(&outcome.findings);
        let is_event_graphs = || few.place(model, options, findings.clone()).placement.cost == outcome.placement.cost;
        outcome.placement.minimality = match outcome.placement.minimality {
            Minimality::Program if is_locked => Minimality::Program,
            _ if analysis.graph.budget.exhausted().is_some() => Minimality::AtLeast(needed),
            // What was refuted the event graph asks for all the same.
            _ if is_locked && outcome.infeasible.is_empty() && is_event_graphs() => Minimality::EventGraph,
            _ => Minimality::AtLeast(needed),
        };
        if self.settings.confirm == Confirm::Off {
            outcome.confirming = Confirming::NotAsked;
        }
        Ok(outcome)
    }

    fn few(&self) -> &Analysis {
        self.few.get_or_init(|| {
            let limits = explore::Limits { budget: Some(&self.budget), ..explore::Limits::default() };
            let facts = facts_of_few(self.specification, &limits);
            Analysis::within(Facts { cut_off: false, ..facts }, Profile::Sound, &self.budget)
        })
    }
}

fn torn(findings: &Findings) -> BTreeSet<InstrId> {
    findings.torn.iter().map(|torn| torn.instr).collect()
}
