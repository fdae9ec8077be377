//! What a checker says of a program with fences and locks in place: the one answer of all engines.

use crate::analysis::{Told, Verification};
use crate::insertion::{Candidate, Demand};
use crate::text::counted;
use std::collections::BTreeSet;

/// What a checker says of a program with fences and locks in place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The property holds.
    Holds(Ground),
    /// It does not.
    Fails {
        /// A run that shows it.
        told: Told,
        /// What it demands: one without a site, if no fence can stop it; nothing, if it is not known which could.
        demands: Option<BTreeSet<Demand>>,
        /// The fence that it calls for, where fences are put in one by one.
        latest: Option<Candidate>,
    },
    /// A run of an abstraction violates it; it is not known whether the program has such a run.
    Suspected {
        /// What the run demands.
        demands: BTreeSet<Demand>,
        /// Whether every set of fences after which no run of the abstraction violates the property meets that.
        necessary: bool,
        /// What the abstraction is, and what could be tried instead.
        advice: String,
    },
    /// No run with at most so many writes in a buffer violates it; a buffer was full, and what happens with more is
    /// not known.
    Bounded {
        /// The bound.
        bound: usize,
        /// The number of states.
        states: usize,
    },
    /// No execution in which no instruction is taken more than so many times violates it; what happens beyond is not
    /// known.
    UpTo {
        /// How many times.
        rounds: usize,
        /// What was looked at, and what ended that.
        because: String,
    },
    /// A limit was reached first: which.
    Undecided(String),
}

impl Answer {
    /// The verdict alone, as a report says it.
    #[must_use]
    pub fn verification(self) -> Verification {
        match self {
            Answer::Holds(ground) => Verification::Verified(ground.rests_on),
            Answer::Fails { .. } => Verification::Violated,
            Answer::Suspected { advice, .. } => Verification::Undecided(advice),
            Answer::Bounded { bound, states } => Verification::Bounded(format!(
                "no violation with at most {} in a store buffer (--buffer-bound): {}; with more, nothing is known",
                counted(bound, "waiting write"),
                counted(states, "state")
            )),
            Answer::UpTo { because, .. } => Verification::Bounded(because),
            Answer::Undecided(limit) => Verification::Undecided(limit),
        }
    }
}

/// What a positive answer says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ground {
    /// What holds, in the terms of what was looked at.
    pub claim: &'static str,
    /// What that rests on.
    pub rests_on: String,
}
