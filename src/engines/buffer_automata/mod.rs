//! Buffer automata: all states of a program whose store buffers hold any number of writes, with the contents of each
//! buffer as a finite automaton (Remmex).
//!
//! After Linden, "On the Verification of Programs on Relaxed Memory Models" (Liège, 2014). A [symbolic
//! state](space::Symbolic) has one memory, one place for each thread, and for each store buffer a regular
//! [language](crate::regular): all that the buffer can hold. It stands for every combination of these. A step of the
//! machine is an operation on languages; where a thread goes round and only its own buffer grows, the language behind
//! one round is replaced by that behind any number of them ([`acceleration`]). So loops that write end, without a
//! bound on buffers.
//!
//! | part | holds |
//! |---|---|
//! | [`space`] | symbolic states and their steps, on SC, TSO and PSO |
//! | [`acceleration`] | rounds that can be repeated |
//! | [`persistent`] | threads whose next step can be made before all others |
//! | [`independence`] | steps that can be made in either order: sleep sets |
//! | [`search`] | all symbolic states, breadth first, with all of this |
//! | [`closing`] | the states seen, made closed under steps |
//! | [`recheck`] | the same, looked at a second time by plain rules |
//! | [`concrete`] | a symbolic path as a run on store buffers |
//!
//! *Variant.* The thesis trusts its acceleration and its reductions; here neither an answer rests on them. "Holds" is
//! said of a set of symbolic states that has the start, nothing bad, and is [closed](closing) under the steps of the
//! machine, but for steps that a [persistent] thread makes first; a [second look](recheck) goes through
//! that set with plain automata. "Violated" is said of a [run](concrete) that the machine with store buffers makes. So
//! what the thesis argues about acceleration, on PSO about buffers whose rounds are counted apart, and about sleep sets
//! decides only whether there is an answer, and how soon. Locals are part of a thread's place, and those that are dead
//! are forgotten. Reads that lead to one place are one step.
//!
//! *Complexity.* Reachability is not primitive recursive; the search need not end: rounds that take several threads
//! and their buffers together are not accelerated. *Limits.* The number of symbolic states is bounded by
//! `--max-weak-states`; at a limit there is no verdict. Values need no finite domain, but if there are infinitely many
//! the search comes to its limit.

mod acceleration;
mod closing;
mod concrete;
mod decide;
mod independence;
mod persistent;
mod recheck;
mod search;
mod space;
#[cfg(test)]
mod tests;
mod tree;

pub use decide::{Judgement, Proof, judge};
pub use search::{Ended, Reductions};
pub use space::Memory;

use super::judged::{Method, Runnable};
use super::{Description, Engine, Examined, Purpose, Task, Trouble};
use crate::memory::Known;
use crate::property::PropertyKind;
use crate::trial::Trial;

/// The engine.
pub struct BufferAutomata;

const NAME: &str = "buffer-automata";
const PROPERTIES: &[PropertyKind] = &[PropertyKind::Never, PropertyKind::Final, PropertyKind::NoDeadlock];

impl Engine for BufferAutomata {
    fn description(&self) -> Description {
        Description {
            name: NAME,
            properties: PROPERTIES,
            models: &[Known::Sc, Known::Tso, Known::Pso],
            input: "specifications",
            after: "Remmex: Linden 2014 (docs/engines/buffer-automata.md)",
            purpose: Purpose::FindsAndJudges,
            takes: &[
                "--atomicity",
                "--max-weak-states",
                "--minimal-sets",
                "--fence-sites",
                "--no-reduction",
                "--reduction",
                "--placement greedy",
            ],
        }
    }

    fn examine<'a>(&self, task: &Task<'a>) -> Result<Box<dyn Examined + 'a>, Trouble> {
        let reductions = task.settings.reductions;
        let decide = Box::new(move |trial: &Trial<'_>| decide::decide(trial, reductions));
        Ok(Box::new(Runnable::new(task, Method { engine: NAME, same_states: "", knows_store_fences: true, decide })?))
    }
}
