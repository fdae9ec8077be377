//! The environment abstraction (`--abstraction environment`): each thread alone, among locations that hold anything.
//!
//! All other threads become one environment that may perform any of their writes and atomic instructions at any time.
//! What the environment may change has therefore any value whenever the thread looks, and all of it is about to be
//! changed in every state; only what nobody else changes is kept. If the pattern with pivot p is in the program it is
//! here, too: every state of a run is one of these states, once the values that the environment may change are
//! forgotten, and who was about to change a location there may do so here. So, as with [flattening](super::flatten),
//! fences may be too many, never too few. The released tool of the paper's authors merges the other threads in the
//! same way.
//!
//! What a thread may write is first read off its text. That is enough to let every thread run among the others once,
//! which tells more exactly what it writes: where its indices lead, and whether a location ever gets another value
//! than it has at the start. With that the threads run again, until nothing changes (a thread-modular analysis: each
//! round assumes of the others only what the round before has shown of them).
//!
//! *Cost.* For each thread its control states times the values of its registers, as far as these do not come from
//! locations that others change; few rounds. The number of threads only adds.

use super::abstraction::{Budget, Shown};
use super::machine::{Machine, Role};
use super::observed::Observed;
use super::record::{Fringe, Seen};
use super::values::{Value, assign, evaluate, is_taken, written};
use crate::ids::{ControlAt, InstrAt, LocationAt, ThreadAt};
use crate::program::At;
use crate::program::compiled::Step;
use fixedbitset::FixedBitSet;
use rayon::prelude::*;
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;

/// A state: where the thread is, and the values, those that the environment may change unknown.
type State = (ControlAt, Box<[Value]>);

/// What a thread may write: instruction, location, value.
type Effects = BTreeSet<(InstrAt, LocationAt, Value)>;

/// Checks these threads as pivots.
pub(super) fn check(machine: &Machine<'_>, pivots: &[ThreadAt], budget: &Budget<'_>) -> Shown {
    let threads: Vec<ThreadAt> = machine.threads().collect();
    let mut effects: Vec<Effects> = threads.iter().map(|&thread| in_the_text(machine, thread)).collect();
    loop {
        let runs = threads.par_iter().map(|&thread| search(machine, thread, &effects, budget));
        let (shown, found): (Vec<Shown>, Vec<Effects>) = runs.collect::<Vec<_>>().into_iter().unzip();
        if found != effects && !shown.iter().any(|shown| shown.size.is_cut_off()) {
            effects = found;
            continue;
        }
        let mut all = Shown::default();
        for (thread, shown) in threads.into_iter().zip(shown) {
            // What is not known of one thread is not known of what it does to another.
            all.size.stop = all.size.stop.or(shown.size.stop);
            if pivots.contains(&thread) {
                all.size += shown.size;
                all.entries.extend(shown.entries);
            }
        }
        return all;
    }
}

/// What a thread may write as far as its text tells.
fn in_the_text(machine: &Machine<'_>, thread: ThreadAt) -> Effects {
    let steps = machine.compiled.thread(thread).steps.iter().flatten();
    let writes = |instruction| machine.may_write(At { thread, instruction }).iter();
    steps.flat_map(|step| writes(step.instruction).map(|&location| (step.instruction, location, None))).collect()
}

/// All that a thread may do among the others: the patterns that it is the pivot of, and what it writes.
fn search(machine: &Machine<'_>, thread: ThreadAt, effects: &[Effects], budget: &Budget<'_>) -> (Shown, Effects) {
    let hot = about_to_be_changed(machine, thread, effects);
    let mut kept = machine.read_by(thread);
    hot.iter().for_each(|(location, _)| kept.set(location.index(), false));
    let observed = Observed::new(machine, thread, kept);
    let mut values = observed.initial();
    for other in machine.others(thread) {
        values[machine.locals(other)].fill(None);
    }
    let bytes = size_of::<State>() + size_of_val(&*values);
    let initial: State = (machine.compiled.thread(thread).initial, values.into());
    let mut seen = FxHashSet::from_iter([initial.clone()]);
    let mut order = vec![initial];
    let (mut shown, mut own) = (Shown::default(), Effects::new());
    let mut at = 0;
    while at < order.len() {
        if let Some(stop) = budget.spent(order.len(), bytes, at) {
            shown.size.stop = Some(stop);
            break;
        }
        let (control, before) = order[at].clone();
        for step in machine.steps(thread, control).iter().filter(|step| is_taken(step, &before) != Some(false)) {
            let mut after = before.clone();
            observed.execute(step, &mut after);
            observed.record(step, (&before, &after), &hot, &mut shown.entries);
            if machine.role(At { thread, instruction: step.instruction }) != Role::Harmless {
                own.extend(writes(machine, step, &before));
            }
            shown.size.transitions += 1;
            let next = (step.to, after);
            if seen.insert(next.clone()) {
                order.push(next);
            }
        }
        at += 1;
    }
    shown.size.states = order.len() as u64;
    (shown, own)
}

/// What a step may write.
fn writes(machine: &Machine<'_>, step: &Step, before: &[Value]) -> Vec<(InstrAt, LocationAt, Value)> {
    let mut values = before.to_vec();
    let mut writes = Vec::new();
    for (target, value) in &step.assignments {
        let (goes, value) = (written(target, &values), evaluate(value, &values));
        let shared = goes.slots.iter().filter_map(|slot| slot.location(machine.shared));
        writes.extend(shared.map(|location| (step.instruction, location, value)));
        assign(&goes, value, &mut values);
    }
    writes
}

/// What the others may change, and who of them.
fn about_to_be_changed(machine: &Machine<'_>, pivot: ThreadAt, effects: &[Effects]) -> Vec<(LocationAt, Fringe)> {
    let mut varying = FixedBitSet::with_capacity(machine.shared);
    let initial = |location: LocationAt| machine.compiled.initial[location.index()];
    let new = effects.iter().flatten().filter(|&&(_, location, value)| value != Some(initial(location)));
    varying.extend(new.map(|(_, location, _)| location.index()));
    let mut hot = BTreeSet::new();
    for thread in machine.others(pivot) {
        let changes = effects[thread.index()].iter().filter(|(_, location, _)| varying.contains(location.index()));
        hot.extend(changes.map(|&(instruction, location, _)| {
            let at = At { thread, instruction };
            (location, Fringe { presumed: false, seen: Seen::Abstractly, at })
        }));
    }
    hot.into_iter().collect()
}
