//! Single buffer: exact reachability on TSO and PSO, without a bound on store buffers (Memorax).
//!
//! After Abdulla, Atig, Chen, Leonardsson and Rezine, "Counter-Example Guided Fence Insertion under Weak Memory
//! Models": a search backwards, from the forbidden states to the start, over configurations that each stand for all
//! larger ones, of threads that are finite [automata](super::automata). The order of configurations is a
//! well-quasi-order, so a finite set of minimal ones, [minors](tso::Minor), says all, and the search ends, whatever
//! loops the program has.
//!
//! | part | holds |
//! |---|---|
//! | [`tso`] | one buffer of snapshots for all threads, and the rules backwards |
//! | [`pso`] | a buffer for each thread and location, and the rules backwards |
//! | [`history`] | what a thread can have written at all |
//! | [`targets`] | where the search starts: states that satisfy the condition, or deadlocks |
//! | [`search`] | the antichain of minors, closed under predecessors |
//! | [`recheck`] | the same, looked at a second time by plain rules |
//! | [`replay`] | the way that was found, as a run on store buffers |
//!
//! *Variant.* Before it searches backwards the engine runs the program forwards on store buffers with few waiting
//! writes ([`weak::forbidden`](crate::weak::forbidden)): violations are near, and runs are shortest there; and where
//! no buffer was full all states are known. Only what that leaves open is decided backwards. Values of snapshots are
//! left open until something asks for them; registers are part of a thread's state, and states that cannot be told
//! apart are one.
//!
//! *Complexity.* Not primitive recursive in the worst case. *Limits.* Finite domains, at most 100 shared locations,
//! on TSO 32 threads and 250 pairs of a thread and a location; the number of minors is bounded by
//! `--max-weak-states`. If a limit is reached, there is no verdict.

mod decide;
mod history;
mod pso;
mod recheck;
mod replay;
mod search;
mod targets;
#[cfg(test)]
mod tests;
mod tso;

#[cfg(feature = "internals")]
pub use crate::engines::automata::Stop;
#[cfg(feature = "internals")]
pub use decide::backwards;
pub(super) use decide::decided_backwards;
#[cfg(feature = "internals")]
pub use search::{Rule, Rules};

use super::judged::{Method, Runnable};
use super::{Description, Engine, Examined, Purpose, Task, Trouble};
use crate::memory::Known;
use crate::property::PropertyKind;

/// The engine.
pub struct SingleBuffer;

const NAME: &str = "single-buffer";
const PROPERTIES: &[PropertyKind] = &[PropertyKind::Never, PropertyKind::NoDeadlock];

impl Engine for SingleBuffer {
    fn description(&self) -> Description {
        Description {
            name: NAME,
            properties: PROPERTIES,
            models: &[Known::Tso, Known::Pso],
            input: "specifications",
            after: "Memorax: Abdulla, Atig, Chen, Leonardsson and Rezine 2012 (docs/engines/single-buffer.md)",
            purpose: Purpose::FindsAndJudges,
            takes: &["--atomicity", "--max-weak-states", "--buffer-bound", "--minimal-sets", "--fence-sites"],
        }
    }

    fn examine<'a>(&self, task: &Task<'a>) -> Result<Box<dyn Examined + 'a>, Trouble> {
        Ok(Box::new(Runnable::new(
            task,
            Method { engine: NAME, same_states: "", knows_store_fences: true, decide: Box::new(decide::decide) },
        )?))
    }
}
