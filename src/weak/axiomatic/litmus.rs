//! Verdicts on litmus tests: whether the final condition holds.
//!
//! Where loops are cut off, what was found is there, and what was not found may be: a final state that decides the
//! condition by itself (one that `exists` looks for, that `~exists` forbids, that `forall` does not allow) decides it
//! however far loops go; without one the answer is not known.

use super::Outcomes;
use crate::property::{FinalCondition, Quantifier};

/// What a memory model says of a litmus test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// Whether its condition holds; nothing if it has none.
    pub condition: Option<Answer>,
    /// All that it can do, as far as loops were unrolled.
    pub outcomes: Outcomes,
}

/// Whether a condition holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It does, whatever loops do beyond the bound.
    Holds,
    /// It does not, whatever loops do beyond the bound.
    Fails,
    /// A loop was cut off, and that may make the difference.
    Unknown,
}

impl Judgement {
    /// What these outcomes say.
    #[must_use]
    pub fn of(condition: Option<&FinalCondition>, outcomes: Outcomes) -> Judgement {
        Judgement { condition: condition.map(|condition| answer(condition, &outcomes)), outcomes }
    }

    /// Whether what was asked is answered: the condition, or all outcomes if there is none.
    #[must_use]
    pub fn is_definite(&self) -> bool {
        self.condition.map_or(self.outcomes.complete, |answer| answer != Answer::Unknown)
    }
}

fn answer(condition: &FinalCondition, outcomes: &Outcomes) -> Answer {
    let states = outcomes.ends.iter().map(|end| (end.shared.as_slice(), end.locals.as_slice()));
    let holds = condition.holds(states);
    // More final states can only turn the answer this way round.
    let may_turn = match condition.quantifier {
        Quantifier::Exists => !holds,
        Quantifier::NotExists | Quantifier::Forall => holds,
    };
    match (may_turn && !outcomes.complete, holds) {
        (true, _) => Answer::Unknown,
        (false, true) => Answer::Holds,
        (false, false) => Answer::Fails,
    }
}
