//! Properties: what can be asked of a program under a memory model, one type for all who ask, answer and report.
//!
//! | property | holds if |
//! |---|---|
//! | [`Robust`](Property::Robust) | every run has the trace of a sequentially consistent one: program order, reads-from, order of writes |
//! | [`Persistent`](Property::Persistent) | every run has the program order and the store order of a sequentially consistent one |
//! | [`SameStates`](Property::SameStates) | every state between instructions with empty buffers is reached under sequential consistency, too |
//! | [`Never`](Property::Never) | no reachable state with empty buffers satisfies the condition |
//! | [`Final`](Property::Final) | the condition of a litmus test, in states where all threads have ended and all buffers are empty |
//! | [`NoDeadlock`](Property::NoDeadlock) | in no reachable state with empty buffers is every thread stuck and one of them not at an end |
//!
//! They form a ladder: robust and persistent programs reach the same states, and a program that reaches the same
//! states has every property of states that it has under sequential consistency. So the fewest fences can only become
//! fewer along it. (Robust and persistent cannot be compared.)
//!
//! An assertion of a thread is a `Never` as well: the language that has it leads the thread to a control state of its
//! own where it fails, and that state is never to be reached.
//!
//! Conditions are judged where all buffers are empty. For control states and the threads' own variables that makes no
//! difference: buffers can be emptied without a thread moving. For shared variables it keeps a write that is merely on
//! its way from counting.

mod ending;
mod state;

pub use ending::{FinalCondition, FinalState, Observed, Proposition, Quantifier};
pub use state::{Observables, StateCondition};

use std::fmt;

/// What is asked of a program under a memory model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Property {
    /// Every run has the trace of a sequentially consistent one.
    Robust,
    /// Every run has the program order and the store order of a sequentially consistent one.
    Persistent,
    /// Every state between instructions is reached under sequential consistency, too.
    SameStates,
    /// No state satisfies this.
    Never(StateCondition),
    /// The final states are as this says.
    Final(FinalCondition),
    /// No state is a deadlock.
    NoDeadlock,
}

impl Property {
    /// The properties that need no condition, each by the name that options take.
    pub const NAMED: [(Property, &'static str); 4] = [
        (Property::Robust, "robust"),
        (Property::Persistent, "persistent"),
        (Property::SameStates, "same-states"),
        (Property::NoDeadlock, "no-deadlock"),
    ];

    /// Its kind, in a word.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Property::Robust => "robust",
            Property::Persistent => "persistent",
            Property::SameStates => "same-states",
            Property::Never(_) => "never",
            Property::Final(_) => "final",
            Property::NoDeadlock => "no-deadlock",
        }
    }

    /// What holds of a program that has it, in one sentence without its subject.
    #[must_use]
    pub fn in_words(&self) -> &'static str {
        match self {
            Property::Robust => {
                "robustness: every run is sequentially consistent, judged by program order, reads-from and the order of writes to each location"
            }
            Property::Persistent => {
                "persistence: every run has the program order and the store order of a sequentially consistent run, so the same states are reached"
            }
            Property::SameStates => {
                "the same states: every state between instructions with empty buffers is reached under sequential consistency"
            }
            Property::Never(_) => "no state with empty buffers satisfies the condition",
            Property::Final(_) => "the final states are as the condition says",
            Property::NoDeadlock => "no state with empty buffers is a deadlock",
        }
    }
}

impl fmt::Display for Property {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Property::Never(condition) => match &condition.name {
                _ if condition.is_assertion => out.write_str(&condition.text),
                Some(name) => write!(out, "never {name}: {}", condition.text),
                None => write!(out, "never {}", condition.text),
            },
            other => out.write_str(other.kind()),
        }
    }
}
