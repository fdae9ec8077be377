//! Verdicts on litmus tests: whether the final condition holds.

use super::{Failure, Model, Outcomes, outcomes_within};
use crate::budget::Budget;
use crate::lang::litmus::Test;

/// What a memory model says of a litmus test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Whether its condition holds; nothing if it has none.
    pub condition_holds: Option<bool>,
    /// All that it can do.
    pub outcomes: Outcomes,
}

/// Runs a test under a memory model; loops go round at most `unroll` times.
///
/// # Errors
/// If an execution of the test goes wrong.
pub fn verdict(test: &Test, model: Model, unroll: usize) -> Result<Verdict, Failure> {
    verdict_within(test, model, unroll, &Budget::default())
}

/// The same, as far as the budget goes.
///
/// # Errors
/// If an execution of the test goes wrong.
pub fn verdict_within(test: &Test, model: Model, unroll: usize, budget: &Budget) -> Result<Verdict, Failure> {
    let outcomes = outcomes_within(&test.program, model, unroll, budget)?;
    let states = || outcomes.ends.iter().map(|end| (end.shared.as_slice(), end.locals.as_slice()));
    let condition_holds = test.condition.as_ref().map(|condition| condition.holds(states()));
    Ok(Verdict { condition_holds, outcomes })
}
