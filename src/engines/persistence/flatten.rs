//! Flattening with bound k (`--abstraction k`), the paper's abstraction: for each pivot a small program instead of
//! the whole one.
//!
//! In the program for pivot p, p is as it is, and every other thread r is as it is for its first k steps. After that
//! only its writes and atomic instructions on *kept* locations remain; everything else of it is a step that does
//! nothing, conditions included, and its locals are not known. If the pattern with pivot p is in the program it is in
//! this one, too: so no pattern here means that there is none, while a pattern here may be none of the program, and a
//! fence for it one too many. Larger k tell apart more.
//!
//! Two things that the paper leaves out (both are tested):
//!
//! - *What is written.* A write whose value or address depends on locals can write anything that it could write: here
//!   any value ([`values`](super::values)), to any element. An atomic instruction is taken unless its condition is
//!   certainly false.
//! - *What is kept.* The locations that p reads are not enough for k > 0: the first k steps of some r may wait for a
//!   location that a third thread writes only after its own first k steps. Kept is therefore also all that the first
//!   k steps of any other thread may read.
//!
//! The state of a flattened thread is which kept instructions it can come to without passing another one, so that
//! steps that do nothing are no steps at all.
//!
//! *Cost.* One exploration for each pivot, over packed states in which values are numbered as they occur: still a
//! product over the other threads, of all that each can come to.

use super::abstraction::{Budget, Shown};
use super::machine::Machine;
use super::observed::Observed;
use super::record::{Fringe, Seen};
use super::values::{Value, is_taken, written};
use crate::ids::{ControlAt, InstrAt, LocationAt, ThreadAt};
use crate::program::At;
use crate::program::compiled::Step;
use fixedbitset::FixedBitSet;
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// Checks these threads as pivots.
pub(super) fn check(machine: &Machine<'_>, pivots: &[ThreadAt], bound: usize, budget: &Budget<'_>) -> Shown {
    let parts: Vec<Shown> =
        pivots.par_iter().map(|&pivot| PivotSearch::new(machine, pivot, bound).run(budget)).collect();
    parts.into_iter().fold(Shown::default(), |mut all, part| {
        all.entries.extend(part.entries);
        all.size += part.size;
        all
    })
}

/// The exploration for one pivot.
struct PivotSearch<'m> {
    machine: &'m Machine<'m>,
    pivot: ThreadAt,
    bound: usize,
    observed: Observed<'m>,
    /// For each thread and control state, the class of a flattened thread there.
    classes: Vec<Vec<usize>>,
    /// For each thread and class, the kept instructions that come next.
    next: Vec<Vec<Vec<InstrAt>>>,
    known_values: FxHashMap<Value, u32>,
    values: Vec<Value>,
    shown: Shown,
}

/// Another thread.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Other {
    /// In its first steps: control state, steps taken.
    Prefix(ControlAt, usize),
    /// Flattened: class.
    Flat(usize),
}

/// A state, unpacked.
#[derive(Clone)]
struct State {
    control: ControlAt,
    /// All slots; those that are not kept, and the locals of flattened threads, are not known.
    values: Vec<Value>,
    /// The threads; the pivot's place is not used.
    others: Vec<Other>,
}

impl<'m> PivotSearch<'m> {
    fn new(machine: &'m Machine<'m>, pivot: ThreadAt, bound: usize) -> PivotSearch<'m> {
        let mut kept = machine.read_by(pivot);
        for thread in machine.others(pivot) {
            kept.union_with(&read_in_prefix(machine, thread, bound));
        }
        let mut search = PivotSearch {
            machine,
            pivot,
            bound,
            observed: Observed::new(machine, pivot, kept),
            classes: Vec::new(),
            next: Vec::new(),
            known_values: FxHashMap::default(),
            values: Vec::new(),
            shown: Shown::default(),
        };
        for thread in machine.threads() {
            let (classes, next) = search.classes_of(thread);
            search.classes.push(classes);
            search.next.push(next);
        }
        search
    }

    fn is_kept_step(&self, at: At) -> bool {
        self.machine.may_write(at).iter().any(|&location| self.observed.keeps(location))
    }

    /// Control states from which the same kept instructions come next are one class.
    fn classes_of(&self, thread: ThreadAt) -> (Vec<usize>, Vec<Vec<InstrAt>>) {
        let steps = &self.machine.compiled.thread(thread).steps;
        let mut sets: Vec<BTreeSet<InstrAt>> = vec![BTreeSet::new(); steps.len()];
        let mut changed = true;
        while changed {
            changed = false;
            for control in 0..steps.len() {
                let mut set = sets[control].clone();
                for step in &steps[control] {
                    if self.is_kept_step(At { thread, instruction: step.instruction }) {
                        set.insert(step.instruction);
                    } else {
                        set.extend(sets[step.to.index()].iter().copied());
                    }
                }
                changed |= set != sets[control];
                sets[control] = set;
            }
        }
        let distinct: Vec<&BTreeSet<InstrAt>> = sets.iter().collect::<BTreeSet<_>>().into_iter().collect();
        let class = |set: &BTreeSet<InstrAt>| distinct.binary_search(&set).unwrap_or(0);
        let next = distinct.iter().map(|set| set.iter().copied().collect()).collect();
        (sets.iter().map(class).collect(), next)
    }

    fn arrived(&self, thread: ThreadAt, control: ControlAt, count: usize) -> Other {
        if count < self.bound { Other::Prefix(control, count) } else { self.flat(thread, control) }
    }

    /// A flattened thread in a control state.
    fn flat(&self, thread: ThreadAt, control: ControlAt) -> Other {
        Other::Flat(self.classes[thread.index()][control.index()])
    }

    fn initial(&self) -> State {
        let compiled = self.machine.compiled;
        let others = self.machine.threads().map(|thread| self.arrived(thread, compiled.thread(thread).initial, 0));
        let mut state = State {
            control: compiled.thread(self.pivot).initial,
            values: self.observed.initial(),
            others: others.collect(),
        };
        for thread in self.machine.threads() {
            self.forget(thread, &mut state);
        }
        state
    }

    /// A flattened thread has no locals.
    fn forget(&self, thread: ThreadAt, state: &mut State) {
        if thread != self.pivot && matches!(state.others[thread.index()], Other::Flat(_)) {
            state.values[self.machine.locals(thread)].fill(None);
        }
    }

    /// Explores the program of the pivot.
    fn run(mut self, budget: &Budget<'_>) -> Shown {
        let initial = self.initial();
        let packed = self.pack(&initial);
        let bytes = 4 * packed.len() + 40;
        let mut seen: FxHashSet<Box<[u32]>> = FxHashSet::from_iter([packed.clone()]);
        let mut order = vec![packed];
        let mut at = 0;
        while at < order.len() {
            if let Some(stop) = budget.spent(order.len(), bytes, at) {
                self.shown.size.stop = Some(stop);
                break;
            }
            let state = self.unpack(&order[at]);
            for next in self.successors(&state) {
                self.shown.size.transitions += 1;
                let packed = self.pack(&next);
                if !seen.contains(&packed) {
                    seen.insert(packed.clone());
                    order.push(packed);
                }
            }
            at += 1;
        }
        self.shown.size.states = order.len() as u64;
        self.shown
    }

    /// The states after one step; the pivot's writes are recorded.
    fn successors(&mut self, state: &State) -> Vec<State> {
        let mut next = Vec::new();
        let mut hot: Vec<(LocationAt, Fringe)> = Vec::new();
        for thread in self.machine.others(self.pivot) {
            for (step, to) in self.steps_of_other(state, thread) {
                let at = At { thread, instruction: step.instruction };
                let fringe = Fringe { presumed: false, seen: Seen::Abstractly, at };
                let mixed = self.machine.may_change(at).iter().copied();
                hot.extend(mixed.filter(|&known| self.observed.keeps(known)).map(|known| (known, fringe)));
                if is_taken(step, &state.values) == Some(false) {
                    continue;
                }
                let mut after = state.clone();
                self.observed.execute(step, &mut after.values);
                after.others[thread.index()] = to;
                self.forget(thread, &mut after);
                let may_change = |location: &LocationAt| {
                    let (before, after) = (state.values[location.index()], after.values[location.index()]);
                    before.is_none() || after.is_none() || before != after
                };
                hot.extend(self.written_kept(at, state).filter(may_change).map(|known| (known, fringe)));
                next.push(after);
            }
        }
        for step in self.machine.steps(self.pivot, state.control) {
            if is_taken(step, &state.values) == Some(false) {
                continue;
            }
            let mut after = state.clone();
            self.observed.execute(step, &mut after.values);
            after.control = step.to;
            self.observed.record(step, (&state.values, &after.values), &hot, &mut self.shown.entries);
            next.push(after);
        }
        next
    }

    /// The instructions that another thread may come to, and where they lead.
    fn steps_of_other(&self, state: &State, thread: ThreadAt) -> Vec<(&'m Step, Other)> {
        match state.others[thread.index()] {
            Other::Prefix(control, count) => {
                let steps = self.machine.steps(thread, control).iter();
                steps.map(|step| (step, self.arrived(thread, step.to, count + 1))).collect()
            }
            Other::Flat(class) => {
                let steps = self.next[thread.index()][class].iter();
                let steps = steps.map(|&instruction| self.machine.step(At { thread, instruction }));
                steps.map(|step| (step, self.flat(thread, step.to))).collect()
            }
        }
    }

    /// Of the locations that an instruction may write, those that are kept and that it may write in this state.
    fn written_kept(&self, at: At, state: &State) -> impl Iterator<Item = LocationAt> {
        let possible = match &self.machine.step(at).assignments[..] {
            // Only for a single assignment is its index that of the state before.
            [(target, _)] => Some(written(target, &state.values).slots),
            _ => None,
        };
        let is_possible =
            move |location: LocationAt| possible.as_ref().is_none_or(|slots| slots.contains(&location.slot()));
        let may_write = self.machine.may_write(at).iter().copied();
        may_write.filter(move |&location| is_possible(location) && self.observed.keeps(location))
    }

    /// The number of a value; when there are too many different ones, it is not known any more.
    fn number(&mut self, value: Value) -> u32 {
        if let Some(&number) = self.known_values.get(&value) {
            return number;
        }
        match u32::try_from(self.values.len()) {
            Ok(number) => {
                self.known_values.insert(value, number);
                self.values.push(value);
                number
            }
            // "Any" got its number when the initial state was packed, see below.
            Err(_) => self.known_values.get(&None).copied().unwrap_or(0),
        }
    }

    /// The positions of the values that are always part of a state: the pivot's locals, and what is kept.
    fn pivot_slots(&self) -> Vec<usize> {
        self.machine.locals(self.pivot).chain(self.observed.kept.ones()).collect()
    }

    fn pack(&mut self, state: &State) -> Box<[u32]> {
        self.number(None);
        let mut packed = vec![state.control.0];
        let (machine, pivot) = (self.machine, self.pivot);
        for slot in self.pivot_slots() {
            packed.push(self.number(state.values[slot]));
        }
        for thread in machine.others(pivot) {
            match state.others[thread.index()] {
                Other::Flat(class) => packed.extend([u32::MAX, class as u32]),
                Other::Prefix(control, count) => {
                    packed.extend([count as u32, control.0]);
                    for slot in machine.locals(thread) {
                        packed.push(self.number(state.values[slot]));
                    }
                }
            }
        }
        packed.into()
    }

    fn unpack(&self, packed: &[u32]) -> State {
        let mut fields = packed.iter().map(|&field| field as usize);
        let mut field = || fields.next().expect("it was packed with all fields");
        let machine = self.machine;
        let control = ControlAt::new(field());
        let mut values = vec![None; machine.compiled.initial.len()];
        for slot in self.pivot_slots() {
            values[slot] = self.values[field()];
        }
        let mut others = vec![Other::Flat(0); machine.compiled.threads.len()];
        for thread in machine.others(self.pivot) {
            let (tag, place) = (field(), field());
            if tag == u32::MAX as usize {
                others[thread.index()] = Other::Flat(place);
            } else {
                others[thread.index()] = Other::Prefix(ControlAt::new(place), tag);
                for slot in machine.locals(thread) {
                    values[slot] = self.values[field()];
                }
            }
        }
        State { control, values, others }
    }
}

/// The locations that the first `bound` steps of a thread may read.
fn read_in_prefix(machine: &Machine<'_>, thread: ThreadAt, bound: usize) -> FixedBitSet {
    let mut reached = BTreeSet::from([machine.compiled.thread(thread).initial]);
    let mut read = FixedBitSet::with_capacity(machine.shared);
    for _ in 0..bound {
        let here: Vec<&Step> = reached.iter().flat_map(|&control| machine.steps(thread, control)).collect();
        let slots = here.iter().flat_map(|step| step.reads());
        read.extend(slots.filter_map(|slot| slot.location(machine.shared)).map(LocationAt::index));
        let known = reached.len();
        reached.extend(here.iter().map(|step| step.to));
        if reached.len() == known {
            break;
        }
    }
    read
}
