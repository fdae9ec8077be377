//! Store buffers: the program is run on the machines of TSO and PSO.
//!
//! *Robust*: by the exact search of [`weak::attack`](crate::weak::attack), on PSO also by all runs. *The same states*:
//! by all states of the machine, as long as no buffer reaches its bound; *properties of states* likewise, by
//! [`weak::forbidden`](crate::weak::forbidden). What a violating run demands is told by
//! [`ways`](crate::weak::ways), so the engine finds fences, too: it runs the program again for every set that it tries,
//! and so is for small programs, and to judge what other engines have found.
//!
//! *Limits.* States and the length of buffers are bounded; where a bound was reached and nothing was found, there is
//! no verdict.

use super::judged::{Method, Runnable, by_trial};
use super::{Description, Engine, Examined, Purpose, Task, Trouble};
use crate::memory::Known;
use crate::property::PropertyKind;

/// The engine.
pub struct StoreBuffers;

const NAME: &str = "store-buffers";
const PROPERTIES: &[PropertyKind] = &[
    PropertyKind::Robust,
    PropertyKind::SameStates,
    PropertyKind::Never,
    PropertyKind::Final,
    PropertyKind::NoDeadlock,
];

impl Engine for StoreBuffers {
    fn description(&self) -> Description {
        Description {
            name: NAME,
            properties: PROPERTIES,
            models: &[Known::Tso, Known::Pso],
            input: "specifications",
            after: "machines with store buffers; attacks: Bouajjani, Derevenetc and Meyer 2013 (docs/method.md §11)",
            purpose: Purpose::FindsAndJudges,
            takes: &["--atomicity", "--max-weak-states", "--buffer-bound", "--minimal-sets", "--fence-sites"],
        }
    }

    fn examine<'a>(&self, task: &Task<'a>) -> Result<Box<dyn Examined + 'a>, Trouble> {
        let same_states = "every state between instructions is reached under sequential consistency";
        Ok(Box::new(Runnable::new(
            task,
            Method { engine: NAME, same_states, knows_store_fences: true, decide: Box::new(by_trial) },
        )?))
    }
}
