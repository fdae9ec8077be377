//! Which values the threads of a program may write at all: at least all that they write in some execution.
//!
//! Each thread runs on its own, among all values that any thread writes to a location and the initial one; what it
//! writes is added until nothing is new, or as often as an execution can write. A thread in a control state, with
//! values of its locals and a count of what it has taken, is looked at once. No value of an execution is missed: the
//! models forbid that values depend on themselves, so a write depends on earlier ones only, each of which is a round,
//! and whatever else its thread reads it reads something. (`next := next + 1` in two threads has a new value in each
//! round, and no execution has more than two.)

use crate::budget::Budget;
use crate::ids::{ControlAt, InstrAt};
use crate::program::Scope;
use crate::program::compiled::Step;
use crate::weak::axiomatic::choices::{Choices, Offered};
use crate::weak::axiomatic::trace::{Offers, Run, TracedThread};
use crate::weak::visited::LimitReached;
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;

/// A thread in between: where, with which values, and how often it has taken each instruction.
type Place = (ControlAt, Vec<i64>, Vec<usize>);

/// For each thread and location, the values that others may write to it.
///
/// # Errors
/// If a thread has more places than `limit`, or the budget is exhausted.
pub fn of_others_in(sources: &[TracedThread<'_>], limit: usize, budget: &Budget) -> Result<Vec<Offers>, LimitReached> {
    let Some(first) = sources.first() else { return Ok(Vec::new()) };
    let initial = &first.compiled.initial[..first.num_of_locations];
    let mut written = vec![vec![BTreeSet::new(); initial.len()]; sources.len()];
    for _ in 0..most_writes(sources) {
        let mut offers: Offers = initial.iter().map(|value| BTreeSet::from([*value])).collect();
        written.iter().for_each(|of_thread| add(&mut offers, of_thread));
        let before = written.clone();
        for (source, written) in sources.iter().zip(&mut written) {
            of_thread(source, &offers, written, (limit, budget))?;
        }
        if written == before {
            break;
        }
    }
    Ok((0..sources.len()).map(|thread| of_others(&written, thread)).collect())
}

/// How many writes an execution can have at most.
fn most_writes(sources: &[TracedThread<'_>]) -> usize {
    let of_instruction = |source: &TracedThread<'_>, at: InstrAt| {
        let assignments = &source.thread.instruction(at).assignments;
        let writes = assignments.iter().filter(|assignment| assignment.target.scope == Scope::Shared).count();
        source.most(at).saturating_mul(writes)
    };
    let of_thread = |source: &TracedThread<'_>| -> usize {
        InstrAt::all(source.thread.instructions.len()).map(|at| of_instruction(source, at)).sum()
    };
    sources.iter().map(of_thread).sum()
}

fn add(offers: &mut Offers, more: &Offers) {
    offers.iter_mut().zip(more).for_each(|(offer, values)| offer.extend(values));
}

fn of_others(written: &[Offers], thread: usize) -> Offers {
    let mut offers = vec![BTreeSet::new(); written[thread].len()];
    let others = written.iter().enumerate().filter(|(other, _)| *other != thread);
    others.for_each(|(_, written)| add(&mut offers, written));
    offers
}

fn of_thread(
    source: &TracedThread<'_>,
    offers: &Offers,
    written: &mut Offers,
    (limit, budget): (usize, &Budget),
) -> Result<(), LimitReached> {
    let automaton = source.compiled.thread(source.position);
    let start: Place = (automaton.initial, source.compiled.initial.clone(), vec![0; source.thread.instructions.len()]);
    let mut seen = FxHashSet::from_iter([start.clone()]);
    let mut open = vec![start];
    while let Some((control, values, taken)) = open.pop() {
        budget.check().map_err(LimitReached::Budget)?;
        for step in automaton.steps_from(control) {
            if taken[step.instruction.index()] == source.most(step.instruction) {
                continue;
            }
            let mut taken = taken.clone();
            taken[step.instruction.index()] += 1;
            for values in behind(source, step, &values, offers, written) {
                let place = (step.to, values, taken.clone());
                if seen.len() >= limit {
                    return Err(LimitReached::States);
                }
                if seen.insert(place.clone()) {
                    open.push(place);
                }
            }
        }
    }
    Ok(())
}

/// The values behind an instruction, whatever is offered to it; what it writes is added.
fn behind(
    source: &TracedThread<'_>,
    step: &Step,
    values: &[i64],
    offers: &Offers,
    written: &mut Offers,
) -> BTreeSet<Vec<i64>> {
    let (mut found, mut choices) = (BTreeSet::new(), Choices::default());
    loop {
        let guide = Offered { offers, choices: &mut choices };
        if let Some((values, writes)) = Run::new(source, guide).once(step, values) {
            found.insert(values);
            for write in writes {
                written[write.location.index()].insert(write.value);
            }
        }
        if !choices.advance() {
            return found;
        }
    }
}
