//! The environment abstraction (`--abstraction environment`): the pivot alone, among locations that hold anything.
//!
//! All other threads become one environment that may perform any of their writes and atomic instructions at any time. What the environment may write has therefore any value whenever the pivot looks, and all of it is about to be changed
//! in every state; only what nobody but the pivot writes is kept. If the pattern with pivot p is in the program it is here, too: every state of a run is one of these states, once the values that the environment may write are
//! forgotten, and who was about to change a location there may do so here. So, as with [flattening](super::flatten), fences may be too many, never too few. The released tool of the paper's authors merges the other threads in the same way.
//!
//! A location is not about to be changed if all that is ever written to it is the constant that it holds at the start.
//!
//! *Cost.* For each pivot the control states of one thread times the values of its registers, as far as these do not come from locations that others write: other threads only add to what is about to be changed.

use super::abstraction::{Budget, Shown};
use super::machine::Machine;
use super::observed::Observed;
use super::record::{Fringe, Seen};
use super::values::{Value, is_taken, written};
use crate::program::compiled::Code;
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashSet;

/// A state: where the pivot is, and the values, those of locations of the environment unknown.
type State = (usize, Box<[Value]>);

/// All that the pivot may do in the environment of the others.
pub(super) fn search(machine: &Machine<'_>, pivot: usize, budget: &Budget<'_>) -> Shown {
    let hot = about_to_be_changed(machine, pivot);
    let mut kept = machine.read_by(pivot);
    kept.difference_with(&machine.written_by_others(pivot));
    let observed = Observed::new(machine, pivot, kept);
    let mut values = observed.initial();
    for (_, locals) in machine.locals.iter().enumerate().filter(|&(thread, _)| thread != pivot) {
        values[locals.clone()].fill(None);
    }
    let bytes = size_of::<State>() + size_of_val(&*values);
    let initial: State = (machine.compiled.threads[pivot].initial, values.into());
    let mut seen = FxHashSet::from_iter([initial.clone()]);
    let mut order = vec![initial];
    let mut shown = Shown::default();
    let mut at = 0;
    while at < order.len() {
        if budget.is_spent(order.len(), bytes, at) {
            shown.size.cut_off = true;
            break;
        }
        let (control, before) = order[at].clone();
        for step in machine.steps(pivot, control).iter().filter(|step| is_taken(step, &before) != Some(false)) {
            let mut after = before.clone();
            observed.execute(step, &mut after);
            observed.record(step, (&before, &after), &hot, &mut shown.entries);
            shown.size.transitions += 1;
            let next = (step.to, after);
            if seen.insert(next.clone()) {
                order.push(next);
            }
        }
        at += 1;
    }
    shown.size.states = order.len() as u64;
    shown
}

/// What the environment may change, and who of it.
fn about_to_be_changed(machine: &Machine<'_>, pivot: usize) -> Vec<(usize, Fringe)> {
    let varying = varying(machine);
    let mut hot = Vec::new();
    for (thread, steps) in machine.compiled.threads.iter().enumerate().filter(|&(thread, _)| thread != pivot) {
        for step in steps.steps.iter().flatten() {
            let fringe = Fringe { seen: Seen::Abstractly, thread, instruction: step.instruction };
            let slots = machine.may_write(thread, step).iter().filter(|&&slot| varying.contains(slot));
            hot.extend(slots.map(|&slot| (slot, fringe)));
        }
    }
    hot
}

/// The locations to which something else may be written than they hold at the start.
fn varying(machine: &Machine<'_>) -> FixedBitSet {
    let nothing = vec![None; machine.compiled.initial.len()];
    let mut varying = FixedBitSet::with_capacity(machine.compiled.initial.len());
    let steps = machine.compiled.threads.iter().flat_map(|thread| thread.steps.iter().flatten());
    for (target, value) in steps.flat_map(|step| &step.assignments) {
        let is_initial =
            |slot: &usize| matches!(value, Code::Constant(value) if *value == machine.compiled.initial[*slot]);
        varying.extend(written(target, &nothing).slots.into_iter().filter(|slot| !is_initial(slot)));
    }
    varying
}
