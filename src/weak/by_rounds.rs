//! Is every execution sequentially consistent, with more and more rounds of loops?
//!
//! [`search`](beginnings::search) looks at all executions that take no instruction more than so many times. Asked with
//! one round, then with two, and so on, it finds a violation where it is shortest; and where a limit ends it, the
//! rounds before are known. If no loop is cut off, the answer is for all executions. The rounds before the last take a
//! fraction of its time.

use super::axiomatic::beginnings::{self, Bounds, Found};
use super::axiomatic::{Failure, Model};
use super::verify::{Ground, Limit, Verdict, Violation};
use crate::budget::Budget;
use crate::program::Program;

/// Whether every execution is sequentially consistent, with at most so many rounds and beginnings.
///
/// # Errors
/// If an execution goes wrong.
pub fn robust(program: &Program, model: &Model, most: Bounds, budget: &Budget) -> Result<Verdict, Failure> {
    let mut known = None;
    for rounds in most.rounds.min(1)..=most.rounds {
        match beginnings::search(program, model, Bounds { rounds, ..most }, budget)? {
            Found::Consistent { is_complete: true, beginnings } => {
                return Ok(Verdict::Verified(Ground::Beginnings(beginnings)));
            }
            Found::Consistent { beginnings, .. } => known = Some((rounds, beginnings)),
            Found::Violated(beginning) => {
                return Ok(Verdict::Violated(Box::new(Violation::Beginning(beginning))));
            }
            Found::Stopped(limit) => {
                return Ok(Verdict::Undecided(match known {
                    Some((rounds, beginnings)) => Limit::Rounds { rounds, beginnings, stopped: Some(limit) },
                    None => limit.into(),
                }));
            }
        }
    }
    let (rounds, beginnings) = known.unwrap_or_default();
    Ok(Verdict::Undecided(Limit::Rounds { rounds, beginnings, stopped: None }))
}
