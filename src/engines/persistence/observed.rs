//! What an abstraction tells apart while one thread is the pivot: the locations that it keeps, and the values that it
//! knows by name.
//!
//! Any other location, and any other value, is any value ([`values`](super::values)). So that a search over such
//! states is finite, also for a program that counts without end, only values are told apart that the program names,
//! their neighbours, and the first few ([`Machine::distinguished`]).

use super::machine::{Machine, Role};
use super::record::{Entries, Fringe, Key, add};
use super::values::{Value, assign, evaluate, written};
use crate::ids::{LocationAt, Slot, ThreadAt};
use crate::program::At;
use crate::program::compiled::Step;
use fixedbitset::FixedBitSet;

/// What is told apart.
pub(super) struct Observed<'m> {
    pub machine: &'m Machine<'m>,
    pub pivot: ThreadAt,
    /// The locations whose values are kept.
    pub kept: FixedBitSet,
}

impl<'m> Observed<'m> {
    pub(super) fn new(machine: &'m Machine<'m>, pivot: ThreadAt, kept: FixedBitSet) -> Observed<'m> {
        Observed { machine, pivot, kept }
    }

    /// The values at the start.
    pub(super) fn initial(&self) -> Vec<Value> {
        let values = &self.machine.compiled.initial;
        Slot::all(values.len()).zip(values).map(|(slot, &value)| self.is_kept(slot).then_some(value)).collect()
    }

    fn is_kept(&self, slot: Slot) -> bool {
        slot.location(self.machine.shared).is_none_or(|location| self.keeps(location))
    }

    /// Whether the value of a location is kept.
    pub(super) fn keeps(&self, location: LocationAt) -> bool {
        self.kept.contains(location.index())
    }

    /// Performs the assignments; what is not kept stays unknown.
    pub(super) fn execute(&self, step: &Step, values: &mut [Value]) {
        for (target, value) in &step.assignments {
            let value = evaluate(value, values).filter(|value| self.machine.distinguished.contains(value));
            let mut goes = written(target, values);
            let all = goes.slots.len();
            goes.slots.retain(|&slot| self.is_kept(slot));
            // A write that may go elsewhere may miss what is kept.
            goes.may_miss |= goes.slots.len() < all;
            assign(&goes, value, values);
        }
    }

    /// Enters a step of the pivot into the record table, if it is a write, with the locations that others are about
    /// to change.
    pub(super) fn record(
        &self,
        step: &Step,
        (before, after): (&[Value], &[Value]),
        hot: &[(LocationAt, Fringe)],
        entries: &mut Entries,
    ) {
        let at = At { thread: self.pivot, instruction: step.instruction };
        let Role::Write(position) = self.machine.role(at) else { return };
        let mut values = before.to_vec();
        for (target, value) in &step.assignments[..position] {
            let value = evaluate(value, &values);
            assign(&written(target, &values), value, &mut values);
        }
        let goes = written(&step.assignments[position].0, &values);
        if goes.slots.is_empty() {
            return;
        }
        let written =
            (goes.slots.len() == 1).then(|| goes.slots[0]).and_then(|slot| slot.location(self.machine.shared));
        let region = self.machine.region(self.pivot, step.to);
        let is_hot = |&&(location, _): &&(LocationAt, Fringe)| {
            Some(location) != written && region.reads.contains(location.index())
        };
        let mut hot = hot.iter().filter(is_hot).peekable();
        if hot.peek().is_none() {
            return;
        }
        // Alone, the pivot reads back what it has written, also where others write.
        let own = (!goes.may_miss).then(|| evaluate(&step.assignments[position].1, &values)).flatten();
        let value = |slot: &Slot| {
            let kept = after[slot.index()];
            if Some(*slot) == written.map(LocationAt::slot) { own.or(kept) } else { kept }
        };
        let values = region.decides.iter().map(value).collect();
        let key = Key { at, written, values };
        let entry = entries.entry(key).or_default();
        for &(location, fringe) in hot {
            add(entry, location, fringe);
        }
    }
}
