//! Partial coherence: store buffers of which only a part is kept (Blender).
//!
//! After Kuperstein, Vechev and Yahav, "Partial-Coherence Abstractions for Relaxed Memory Models" (PLDI 2011).
mod coherence;
mod decide;
mod layout;
mod runs;
mod search;
mod space;

pub use coherence::Coherence;

use super::judged::{Decided, Method, Ruling, Runnable};
use super::{Description, Engine, Examined, Purpose, Task, Trouble};
use crate::engines::automata::Stop;
use crate::memory::Known;
use crate::property::PropertyKind;
use crate::trial::{self, Trial};
use crate::weak::Machine;
use crate::weak::forbidden::Forbidden;
use crate::weak::verify::Verdict;
use decide::{Judgement, judge};

/// The engine.
pub struct PartialCoherence;

const NAME: &str = "partial-coherence";
const PROPERTIES: &[PropertyKind] = &[PropertyKind::Never, PropertyKind::Final];

impl Engine for PartialCoherence {
    fn description(&self) -> Description {
        Description {
            name: NAME,
            properties: PROPERTIES,
            models: &[Known::Tso, Known::Pso],
            input: "specifications",
            after: "Blender: Kuperstein, Vechev and Yahav 2011 (docs/engines/partial-coherence.md)",
            purpose: Purpose::FindsAndJudges,
            takes: &["--atomicity", "--max-weak-states", "--buffers", "--minimal-sets", "--fence-sites"],
        }
    }

    fn examine<'a>(&self, task: &Task<'a>) -> Result<Box<dyn Examined + 'a>, Trouble> {
        let coherence = task.settings.coherence;
        let decide = Box::new(move |trial: &Trial<'_>| decided(trial, coherence));
        Ok(Box::new(Runnable::new(task, Method { engine: NAME, same_states: "", decide })?))
    }
}

fn decided(trial: &Trial<'_>, coherence: Coherence) -> Decided {
    let machine = Machine::of(trial.model).map_err(trial::Trouble::CannotRun)?;
    let Some(forbidden @ (Forbidden::State(_) | Forbidden::End(_))) = Forbidden::by(trial.property) else {
        return Err(trial::Trouble::Undecidable(trial.property.kind()));
    };
    let (split, _) = trial.repaired()?;
    let judged = judge(&split, trial.outline, forbidden, (machine, coherence), trial.limits.states);
    let ruling = match judged {
        Ok(Judgement::Proved(states)) => Ruling::Holds(format!(
            "all states of an abstraction that has every run of the program (--buffers {coherence}): {states} states"
        )),
        Ok(Judgement::Violated(violation)) => Verdict::Violated(Box::new(violation)).into(),
        Ok(Judgement::GoesWrong(at)) => return Err(trial::Trouble::GoesWrong(at)),
        Ok(Judgement::Suspected(way)) => Ruling::Suspected(
            way,
            format!(
                "a run of the abstraction --buffers {coherence} violates it, and the program may have no such run; try --buffers {}, or --engine auto",
                coherence.with_longer_head()
            ),
        ),
        Err(Stop::Limit(limit)) => Verdict::Undecided(limit.into()).into(),
        Err(Stop::TooLarge(problem)) => return Err(trial::Trouble::Unbounded(problem)),
        Err(Stop::ThreadTooLarge(thread, problem)) => {
            return Err(trial::Trouble::Unbounded(format!("thread {} {problem}", trial.program.threads[thread].name)));
        }
        Err(Stop::Fault(fault)) => return Err(trial::Trouble::Condition(fault)),
    };
    Ok((split, ruling))
}
