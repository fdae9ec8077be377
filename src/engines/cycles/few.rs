//! Facts of few threads: tables that are included in those of the program, where an
//! [abstraction](crate::environment) has given tables that include them.
//!
//! States that are reached while some threads never move are states of the program. What is found in them is found in
//! the program, and more facts ask for more fences and locks, never for fewer. So where the facts of few threads ask
//! for as much as those of the abstraction, the facts of the program do, too: the answer is that of its event graph,
//! and nobody had to see all states.
//!
//! *Limits.* Two threads at a time, then three, each with so many states and together with so many that it takes a
//! second or two; what is not seen until then is not known to be there.

use crate::explore::observe::{FactsObserver, Forgetting, facts};
use crate::explore::{Limits, explore};
use crate::facts::Facts;
use crate::program::groups::{pairs, triples};
use crate::specification::Specification;

/// The most states of an exploration in which few threads move, and of all of them.
const MOST_OF_A_FEW: usize = 20_000;
const MOST: usize = 400_000;

/// The facts that few threads show.
pub(super) fn facts_of_few(specification: &Specification, limits: &Limits<'_>) -> Facts {
    let Specification { program, compiled, .. } = specification;
    let mut left = MOST;
    let mut parts = Vec::new();
    let threads = program.threads.len();
    for group in pairs(threads).chain(triples(threads)) {
        if left == 0 || limits.budget.is_some_and(|budget| budget.is_over()) {
            break;
        }
        let moving = compiled.moving(&group);
        let bounds = Limits { states: Some(MOST_OF_A_FEW.min(left)), invariants: &[], ..*limits };
        // Who goes wrong does so in the program, too, but what was seen until then is there all the same.
        let Ok((exploration, watchers)) = explore(&moving, &bounds, &mut Forgetting(FactsObserver)) else { continue };
        left = left.saturating_sub(exploration.states.len());
        parts.push(facts(program, &watchers, (exploration.states.len() as u64, exploration.transitions)));
    }
    Facts::merge(&parts)
}
