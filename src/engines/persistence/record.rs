//! The record table, filled during the exploration: which writes can be followed by what, while others are about to
//! change what.
//!
//! In every state s, for every thread p and every write of p that can be taken to some y: the locations x ≠ y that
//! other threads are about to change (a write or an atomic instruction that can be taken at s and gives x another
//! value) are *hot*. The entry of a write has as its key all that decides what p reads next, alone: the instruction,
//! y, and the values after the write of the slots that the [region](super::machine) behind it reads. Its content are
//! the hot locations that the region reads, each with the first state in which it was hot and who was about to change
//! it. So all states that make no difference share an entry, and the table stays small however large the state space
//! is.
//!
//! Steps without a shared access need not be interleaved: what stands before its write and what before another, with
//! which memory, is seen without that ([`LocalStates`]).
//!
//! Every worker fills its own table. States are numbered in the order of a sequential search, so that the merged
//! table does not depend on the number of workers.

use super::machine::{Machine, Role};
use crate::explore::driver::Observer;
use crate::explore::successors::{Evaluated, LocalStates, Visitor};
use crate::ids::{ControlAt, InstrAt, LocationAt, ThreadAt};
use crate::program::At;
use crate::program::compiled::{Compiled, Step, Target, Trace};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Where something was seen; what was seen in a run of the program comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Seen {
    /// In a state of the program: the number of the exploration, and that of the state.
    In(usize, usize),
    /// In an abstraction only.
    Abstractly,
}

/// Who is about to change a location, and where that was first seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Fringe {
    /// Only presumed to make the change: an atomic instruction that looks at other locations, see
    /// [`Machine::may_change`].
    pub presumed: bool,
    /// Where.
    pub seen: Seen,
    /// The instruction.
    pub at: At,
}

impl Fringe {
    /// Whether it makes the change in a run of the program.
    pub(super) fn is_certain(&self) -> bool {
        !self.presumed && self.seen != Seen::Abstractly
    }
}

/// A write and all that decides what the thread reads next.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Key {
    pub at: At,
    /// The location written; none if that is not known.
    pub written: Option<LocationAt>,
    /// The values that decide.
    pub values: Box<[Option<i64>]>,
}

/// The entries: for each key the hot locations.
pub(super) type Entries = BTreeMap<Key, BTreeMap<LocationAt, Fringe>>;

/// Adds a hot location to an entry, keeping the first state.
pub(super) fn add(entry: &mut BTreeMap<LocationAt, Fringe>, location: LocationAt, fringe: Fringe) {
    entry.entry(location).and_modify(|known| *known = fringe.min(*known)).or_insert(fringe);
}

/// Watches an exploration.
pub(super) struct Recording<'m> {
    pub machine: &'m Machine<'m>,
    /// What is explored: the program, or some of its threads.
    pub compiled: &'m Compiled,
    /// The number of the exploration.
    pub part: usize,
}

/// What one worker has seen.
pub(super) struct Recorder<'m> {
    machine: &'m Machine<'m>,
    part: usize,
    /// What was evaluated anywhere: the labels.
    evaluated: FxHashSet<Evaluated>,
    state: usize,
    /// Locations that are about to be changed in the state at hand, and by whom.
    hot: Vec<(LocationAt, Fringe)>,
    writes: Vec<Write>,
    values: Vec<i64>,
    table: FxHashMap<Box<[i64]>, BTreeMap<LocationAt, Fringe>>,
    key: Vec<i64>,
}

/// A write that can be taken in the state at hand.
struct Write {
    at: At,
    /// The control state behind it.
    to: ControlAt,
    /// The location.
    written: LocationAt,
    /// Where the values that decide begin in `values`.
    begin: usize,
}

impl<'m> Observer for Recording<'m> {
    type Watcher = Recorder<'m>;

    fn watcher(&self) -> Recorder<'m> {
        Recorder {
            machine: self.machine,
            part: self.part,
            evaluated: FxHashSet::default(),
            state: 0,
            hot: Vec::new(),
            writes: Vec::new(),
            values: Vec::new(),
            table: FxHashMap::default(),
            key: Vec::new(),
        }
    }

    fn leaves_out(&self) -> Option<Arc<LocalStates>> {
        Some(Arc::new(LocalStates::of(self.compiled, self.machine.shared)))
    }
}

impl Recorder<'_> {
    /// The location that a write goes to.
    fn written(&self, step: &Step, position: usize, before: &[i64]) -> Option<LocationAt> {
        let (base, length, index) = match &step.assignments[position].0 {
            Target::Slot(slot) => return slot.location(self.machine.shared),
            Target::Element(base, length, index) => (*base, *length, index),
        };
        let mut trace = Trace::default();
        let index = if position == 0 {
            index.evaluate(before, &mut trace)
        } else {
            let mut values = before.to_vec();
            let mut first = step.clone();
            first.assignments.truncate(position);
            first.execute(&mut values, &mut trace).and_then(|()| index.evaluate(&values, &mut trace))
        };
        // The step was taken, so nothing in it goes wrong.
        let index = usize::try_from(index.ok()?).ok()?;
        (index < length).then(|| base.plus(index)).and_then(|slot| slot.location(self.machine.shared))
    }

    /// The writes of the state at hand, now that all that is hot in it is known.
    fn settle(&mut self) {
        let Recorder { machine, hot, writes, values, table, key, .. } = self;
        for (position, &Write { at, to, written, begin }) in writes.iter().enumerate() {
            let reads = &machine.region(at.thread, to).reads;
            let is_hot = |&&(location, fringe): &&(LocationAt, Fringe)| {
                fringe.at.thread != at.thread && location != written && reads.contains(location.index())
            };
            let mut hot = hot.iter().filter(is_hot).peekable();
            if hot.peek().is_none() {
                continue;
            }
            let end = writes.get(position + 1).map_or(values.len(), |next| next.begin);
            key.clear();
            key.extend([at.thread.0, at.instruction.0, written.0].map(i64::from));
            key.extend_from_slice(&values[begin..end]);
            let entry = match table.get_mut(key.as_slice()) {
                Some(entry) => entry,
                None => table.entry(key.as_slice().into()).or_default(),
            };
            for &(location, fringe) in hot {
                add(entry, location, fringe);
            }
        }
    }

    /// Who changes something in the state at hand.
    fn fringe(&self, at: At) -> Fringe {
        Fringe { presumed: false, seen: Seen::In(self.part, self.state), at }
    }

    fn clear(&mut self) {
        self.hot.clear();
        self.writes.clear();
        self.values.clear();
    }
}

impl Visitor for Recorder<'_> {
    fn begin_state(&mut self, number: usize) {
        self.state = number;
    }

    fn executed(&mut self, thread: ThreadAt, step: &Step, before: &[i64], after: &[i64]) {
        let at = At { thread, instruction: step.instruction };
        let fringe = self.fringe(at);
        match self.machine.role(at) {
            Role::Harmless => {}
            Role::Barrier => {
                for (target, _) in &step.assignments {
                    let slots = match target {
                        Target::Slot(slot) => slot.run(1),
                        Target::Element(base, length, _) => base.run(*length),
                    };
                    let shared = slots.filter_map(|slot| slot.location(self.machine.shared));
                    let changed = shared.filter(|location| before[location.index()] != after[location.index()]);
                    self.hot.extend(changed.map(|location| (location, fringe)));
                }
            }
            Role::Write(position) => {
                let Some(written) = self.written(step, position, before) else { return };
                if before[written.index()] != after[written.index()] {
                    self.hot.push((written, fringe));
                }
                let region = self.machine.region(thread, step.to);
                if region.reads.ones().any(|location| location != written.index()) {
                    self.writes.push(Write { at, to: step.to, written, begin: self.values.len() });
                    self.values.extend(region.decides.iter().map(|slot| after[slot.index()]));
                }
            }
        }
    }

    fn step(&mut self, evaluated: Evaluated, _: Option<&[u64]>) {
        let changed = self.machine.may_change(evaluated.at).iter();
        let fringe = Fringe { presumed: true, ..self.fringe(evaluated.at) };
        self.hot.extend(changed.map(|&location| (location, fringe)));
        self.evaluated.insert(evaluated);
    }

    fn end_of_state(&mut self) {
        self.settle();
        self.clear();
    }

    fn discard_block(&mut self) {
        // Entries of whole states stay true; the last state is not complete.
        self.clear();
    }
}

/// What all workers have seen.
pub(super) fn merged(watchers: &[Recorder<'_>]) -> Entries {
    let mut entries = Entries::new();
    for (key, hot) in watchers.iter().flat_map(|watcher| &watcher.table) {
        let [thread, instruction, written] = [0, 1, 2].map(|position| key[position] as u32);
        let at = At { thread: ThreadAt(thread), instruction: InstrAt(instruction) };
        let values = key[3..].iter().map(|&value| Some(value)).collect();
        let entry = entries.entry(Key { at, written: Some(LocationAt(written)), values }).or_default();
        for (&location, &fringe) in hot {
            add(entry, location, fringe);
        }
    }
    entries
}

/// The entries without what is only presumed; nothing if that is all of them.
pub(super) fn certain(entries: &Entries) -> Option<Entries> {
    if entries.values().flat_map(BTreeMap::values).all(Fringe::is_certain) {
        return None;
    }
    let mut certain = entries.clone();
    certain.values_mut().for_each(|hot| hot.retain(|_, fringe| fringe.is_certain()));
    certain.retain(|_, hot| !hot.is_empty());
    Some(certain)
}

/// All that was evaluated.
pub(super) fn evaluated(watchers: &[Recorder<'_>]) -> BTreeSet<Evaluated> {
    watchers.iter().flat_map(|watcher| watcher.evaluated.iter().copied()).collect()
}
