//! Conditions on final states, as litmus tests end with one: a quantifier, and a proposition on the values in a state
//! in which all threads have ended and all buffers are empty.

use crate::ids::{LocationAt, ThreadAt};

/// Of which final states the proposition is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantifier {
    /// Of some.
    Exists,
    /// Of none.
    NotExists,
    /// Of all.
    Forall,
}

/// What a final state is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Observed {
    /// A location.
    Shared(LocationAt),
    /// A local, by its position among those of its thread.
    Local(ThreadAt, usize),
}

/// What is said of a final state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proposition {
    /// Always or never.
    Constant(bool),
    /// Something has this value.
    Is(Observed, i64),
    /// The contrary.
    Not(Box<Proposition>),
    /// All of them.
    All(Vec<Proposition>),
    /// One of them.
    Any(Vec<Proposition>),
}

/// A condition on the final states of all runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FinalCondition {
    /// Of which final states.
    pub quantifier: Quantifier,
    /// What.
    pub proposition: Proposition,
}

/// A final state: the values of the shared variables, and for each thread those of its locals.
pub type FinalState<'s> = (&'s [i64], &'s [Vec<i64>]);

impl FinalCondition {
    /// Whether it holds, if these are all final states.
    pub fn holds<'s>(&self, mut states: impl Iterator<Item = FinalState<'s>>) -> bool {
        match self.quantifier {
            Quantifier::Exists => states.any(|state| self.proposition.holds(state)),
            Quantifier::NotExists => !states.any(|state| self.proposition.holds(state)),
            Quantifier::Forall => states.all(|state| self.proposition.holds(state)),
        }
    }
}

impl Proposition {
    /// Whether it holds in a final state.
    #[must_use]
    pub fn holds(&self, state: FinalState<'_>) -> bool {
        match self {
            Proposition::Constant(truth) => *truth,
            Proposition::Is(Observed::Shared(location), value) => state.0[location.index()] == *value,
            Proposition::Is(Observed::Local(thread, local), value) => state.1[thread.index()][*local] == *value,
            Proposition::Not(inner) => !inner.holds(state),
            Proposition::All(parts) => parts.iter().all(|part| part.holds(state)),
            Proposition::Any(parts) => parts.iter().any(|part| part.holds(state)),
        }
    }
}
