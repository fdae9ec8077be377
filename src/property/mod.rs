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
pub use state::{ConditionFault, Observables, StateCondition};

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

/// What kind of property it is: what engines say that they decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PropertyKind {
    /// [`Property::Robust`].
    Robust,
    /// [`Property::Persistent`].
    Persistent,
    /// [`Property::SameStates`].
    SameStates,
    /// [`Property::Never`].
    Never,
    /// [`Property::Final`].
    Final,
    /// [`Property::NoDeadlock`].
    NoDeadlock,
}

impl PropertyKind {
    /// The property, if it needs no condition.
    #[must_use]
    pub fn without_condition(self) -> Option<Property> {
        match self {
            PropertyKind::Robust => Some(Property::Robust),
            PropertyKind::Persistent => Some(Property::Persistent),
            PropertyKind::SameStates => Some(Property::SameStates),
            PropertyKind::NoDeadlock => Some(Property::NoDeadlock),
            PropertyKind::Never | PropertyKind::Final => None,
        }
    }

    /// In a word, as options take it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            PropertyKind::Robust => "robust",
            PropertyKind::Persistent => "persistent",
            PropertyKind::SameStates => "same-states",
            PropertyKind::Never => "never",
            PropertyKind::Final => "final",
            PropertyKind::NoDeadlock => "no-deadlock",
        }
    }

    /// What holds of a program that has it, in one sentence without its subject.
    #[must_use]
    pub fn in_words(self) -> &'static str {
        match self {
            PropertyKind::Robust => {
                "robustness: every run is sequentially consistent, judged by program order, reads-from and the order of writes to each location"
            }
            PropertyKind::Persistent => {
                "persistence: every run has the program order and the store order of a sequentially consistent run, so the same states are reached"
            }
            PropertyKind::SameStates => {
                "the same states: every state between instructions with empty buffers is reached under sequential consistency"
            }
            PropertyKind::Never => "no state between instructions with empty buffers satisfies the condition",
            PropertyKind::Final => "the final states are as the condition says",
            PropertyKind::NoDeadlock => "no state between instructions with empty buffers is a deadlock",
        }
    }
}

impl Property {
    /// Its kind.
    #[must_use]
    pub fn kind(&self) -> PropertyKind {
        match self {
            Property::Robust => PropertyKind::Robust,
            Property::Persistent => PropertyKind::Persistent,
            Property::SameStates => PropertyKind::SameStates,
            Property::Never(_) => PropertyKind::Never,
            Property::Final(_) => PropertyKind::Final,
            Property::NoDeadlock => PropertyKind::NoDeadlock,
        }
    }

    /// The condition that no state is to satisfy, if it is that.
    #[must_use]
    pub fn condition(&self) -> Option<&StateCondition> {
        match self {
            Property::Never(condition) => Some(condition),
            _ => None,
        }
    }
}

impl fmt::Display for Property {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Property::Never(condition) => write!(out, "{condition}"),
            other => out.write_str(other.kind().name()),
        }
    }
}
