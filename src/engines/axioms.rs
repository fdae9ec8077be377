//! Axioms: is there an execution that a memory model allows and sequential consistency does not?
//!
//! For the models without a machine. Beginnings of executions are searched with more and more rounds of loops; where a
//! loop is cut off, a positive verdict is one for so many rounds. It does not know which fences could forbid an
//! execution, and only judges.

use super::judged::{Method, Runnable, by_trial};
use super::{Description, Engine, Examined, Purpose, Task, Trouble};
use crate::memory::Known;
use crate::property::PropertyKind;

/// The engine.
pub struct Axioms;

/// Its name.
pub(super) const NAME: &str = "axioms";
const PROPERTIES: &[PropertyKind] = &[PropertyKind::Robust, PropertyKind::SameStates];

impl Engine for Axioms {
    fn description(&self) -> Description {
        Description {
            name: NAME,
            properties: PROPERTIES,
            models: &[Known::Armv8, Known::Riscv, Known::Armv7, Known::Power, Known::Rc11],
            input: "specifications",
            after: "herding cats: Alglave, Maranget and Tautschnig 2014 (docs/method.md §10)",
            purpose: Purpose::Judges,
            takes: &["--atomicity", "--max-weak-states", "--unroll"],
        }
    }

    fn examine<'a>(&self, task: &Task<'a>) -> Result<Box<dyn Examined + 'a>, Trouble> {
        let same_states = "every final state is reached under sequential consistency";
        Ok(Box::new(Runnable::new(
            task,
            Method { engine: NAME, same_states, knows_store_fences: true, decide: Box::new(by_trial) },
        )?))
    }
}
