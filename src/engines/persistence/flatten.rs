//! Flattening with bound k (`--abstraction k`), the paper's abstraction: for each pivot a small program instead of the whole one.
//!
//! In the program for pivot p, p is as it is, and every other thread r is as it is for its first k steps. After that only its writes and atomic instructions on *kept* locations remain; everything else of it is a step that does
//! nothing, conditions included, and its locals are not known. If the pattern with pivot p is in the program it is in this one, too: so no pattern here means that there is none, while a pattern here may be none of the program, and
//! a fence for it one too many. Larger k tell apart more.
//!
//! Two things that the paper leaves out (both are tested):
//!
//! - *What is written.* A write whose value or address depends on locals can write anything that it could write: here any value ([`values`](super::values)), to any element. An atomic instruction is taken unless its condition is certainly false.
//! - *What is kept.* The locations that p reads are not enough for k > 0: the first k steps of some r may wait for a location that a third thread writes only after its own first k steps. Kept is therefore also all that the first k steps of any other thread may read.
//!
//! So that every small program is finite, also one that counts without end, only values are told apart that the program names, their neighbours, and the first few; any other is any value.
//!
//! The state of a flattened thread is which kept instructions it can come to without passing another one, so that steps that do nothing are no steps at all. Threads that can never be pivots are not looked at.
//!
//! *Cost.* One exploration for each pivot, in parallel, over packed states in which values are numbered as they occur. *Limits.* Those on states, time and memory hold for each pivot; if one is reached the result says that it is not complete.

use super::machine::{Machine, Role};
use super::outcome::Size;
use super::record::{Entries, Fringe, Key, add};
use super::values::{Value, assign, evaluate, is_taken, written};
use crate::explore::Limits;
use crate::program::compiled::Step;
use fixedbitset::FixedBitSet;
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// Values below this are told apart even if the program does not name them.
const SMALL: i64 = 8;

/// What the small programs have shown together.
#[derive(Default)]
pub(super) struct Flat {
    pub entries: Entries,
    pub size: Size,
}

/// Checks every thread as the pivot.
pub(super) fn check(machine: &Machine<'_>, bound: usize, limits: &Limits<'_>) -> Flat {
    let threads = 0..machine.locals.len();
    let parts: Vec<Flat> = threads
        .into_par_iter()
        .filter(|&pivot| machine.can_be_pivot(pivot))
        .map(|pivot| Search::new(machine, pivot, bound).run(limits))
        .collect();
    parts.into_iter().fold(Flat::default(), |mut all, part| {
        all.entries.extend(part.entries);
        all.size.states += part.size.states;
        all.size.transitions += part.size.transitions;
        all.size.cut_off |= part.size.cut_off;
        all
    })
}

/// The exploration for one pivot.
struct Search<'m> {
    machine: &'m Machine<'m>,
    pivot: usize,
    bound: usize,
    kept: Vec<usize>,
    is_kept: FixedBitSet,
    /// For each thread and control state, the class of a flattened thread there.
    classes: Vec<Vec<usize>>,
    /// For each thread and class, the kept instructions that come next.
    next: Vec<Vec<Vec<usize>>>,
    /// Values that are told apart.
    distinguished: BTreeSet<i64>,
    known_values: FxHashMap<Value, u16>,
    values: Vec<Value>,
    flat: Flat,
}

/// Another thread.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Other {
    /// In its first steps: control state, steps taken.
    Prefix(usize, usize),
    /// Flattened: class.
    Flat(usize),
}

/// A state, unpacked.
#[derive(Clone)]
struct State {
    control: usize,
    /// All slots; those that are not kept, and the locals of flattened threads, are not known.
    values: Vec<Value>,
    /// The threads; the pivot's place is not used.
    others: Vec<Other>,
}

impl<'m> Search<'m> {
    fn new(machine: &'m Machine<'m>, pivot: usize, bound: usize) -> Search<'m> {
        let num_of_threads = machine.locals.len();
        let mut is_kept = machine.read_by(pivot);
        is_kept.grow(machine.shared);
        for thread in (0..num_of_threads).filter(|&thread| thread != pivot) {
            is_kept.union_with(&read_in_prefix(machine, thread, bound));
        }
        let mut search = Search {
            machine,
            pivot,
            bound,
            kept: is_kept.ones().collect(),
            is_kept,
            classes: Vec::new(),
            next: Vec::new(),
            distinguished: machine.constants().into_iter().chain(0..SMALL).collect(),
            known_values: FxHashMap::default(),
            values: Vec::new(),
            flat: Flat::default(),
        };
        for thread in 0..num_of_threads {
            let (classes, next) = search.classes_of(thread);
            search.classes.push(classes);
            search.next.push(next);
        }
        search
    }

    fn is_kept_step(&self, thread: usize, step: &Step) -> bool {
        self.machine.may_write(thread, step).iter().any(|&slot| self.is_kept.contains(slot))
    }

    /// Control states from which the same kept instructions come next are one class.
    fn classes_of(&self, thread: usize) -> (Vec<usize>, Vec<Vec<usize>>) {
        let steps = &self.machine.compiled.threads[thread].steps;
        let mut sets: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); steps.len()];
        let mut changed = true;
        while changed {
            changed = false;
            for control in 0..steps.len() {
                let mut set = sets[control].clone();
                for step in &steps[control] {
                    if self.is_kept_step(thread, step) {
                        set.insert(step.instruction);
                    } else {
                        set.extend(sets[step.to].iter().copied());
                    }
                }
                changed |= set != sets[control];
                sets[control] = set;
            }
        }
        let distinct: Vec<&BTreeSet<usize>> = sets.iter().collect::<BTreeSet<_>>().into_iter().collect();
        let class = |set: &BTreeSet<usize>| distinct.binary_search(&set).unwrap_or(0);
        let next = distinct.iter().map(|set| set.iter().copied().collect()).collect();
        (sets.iter().map(class).collect(), next)
    }

    fn arrived(&self, thread: usize, control: usize, count: usize) -> Other {
        if count < self.bound { Other::Prefix(control, count) } else { Other::Flat(self.classes[thread][control]) }
    }

    fn initial(&self) -> State {
        let compiled = self.machine.compiled;
        let others =
            (0..compiled.threads.len()).map(|thread| self.arrived(thread, compiled.threads[thread].initial, 0));
        let mut state = State {
            control: compiled.threads[self.pivot].initial,
            values: compiled.initial.iter().map(|&value| Some(value)).collect(),
            others: others.collect(),
        };
        for slot in (0..self.machine.shared).filter(|&slot| !self.is_kept.contains(slot)) {
            state.values[slot] = None;
        }
        for thread in 0..state.others.len() {
            self.forget(thread, &mut state);
        }
        state
    }

    /// A flattened thread has no locals.
    fn forget(&self, thread: usize, state: &mut State) {
        if thread != self.pivot && matches!(state.others[thread], Other::Flat(_)) {
            state.values[self.machine.locals[thread].clone()].fill(None);
        }
    }

    fn run(mut self, limits: &Limits<'_>) -> Flat {
        let started = Instant::now();
        let initial = self.initial();
        let packed = self.pack(&initial);
        let bytes = 2 * packed.len() + 40;
        let mut seen: FxHashSet<Box<[u16]>> = FxHashSet::from_iter([packed.clone()]);
        let mut order = vec![packed];
        let mut at = 0;
        while at < order.len() {
            let is_over = limits.states.is_some_and(|most| order.len() >= most)
                || limits.bytes.is_some_and(|most| 2 * order.len() * bytes >= most)
                || limits.time.is_some_and(|most| at % 1024 == 0 && started.elapsed() >= most)
                || limits.interrupted.is_some_and(|flag| flag.load(Ordering::Relaxed));
            if is_over {
                self.flat.size.cut_off = true;
                break;
            }
            let state = self.unpack(&order[at]);
            for next in self.successors(&state, at) {
                self.flat.size.transitions += 1;
                let packed = self.pack(&next);
                if !seen.contains(&packed) {
                    seen.insert(packed.clone());
                    order.push(packed);
                }
            }
            at += 1;
        }
        self.flat.size.states = order.len() as u64;
        self.flat
    }

    /// The states after one step; the pivot's writes are recorded.
    fn successors(&mut self, state: &State, number: usize) -> Vec<State> {
        let mut next = Vec::new();
        let mut hot: Vec<(usize, Fringe)> = Vec::new();
        for thread in (0..state.others.len()).filter(|&thread| thread != self.pivot) {
            for (step, to) in self.steps_of_other(state, thread) {
                let fringe = Fringe { state: number, thread, instruction: step.instruction };
                let mixed = self.machine.may_change(thread, step.instruction).iter().copied();
                hot.extend(mixed.filter(|slot| self.is_kept.contains(*slot)).map(|slot| (slot, fringe)));
                if is_taken(step, &state.values) == Some(false) {
                    continue;
                }
                let mut after = state.clone();
                self.execute(step, &mut after.values);
                after.others[thread] = to;
                self.forget(thread, &mut after);
                let may_change = |slot: &usize| {
                    let (before, after) = (state.values[*slot], after.values[*slot]);
                    before.is_none() || after.is_none() || before != after
                };
                let slots = self.machine.may_write(thread, step).iter().copied();
                hot.extend(self.written_kept(step, state, slots).filter(may_change).map(|slot| (slot, fringe)));
                next.push(after);
            }
        }
        for step in self.machine.steps(self.pivot, state.control) {
            if is_taken(step, &state.values) == Some(false) {
                continue;
            }
            let mut after = state.clone();
            self.execute(step, &mut after.values);
            after.control = step.to;
            if let Role::Write(position) = self.machine.roles[self.pivot][step.instruction] {
                self.record(step, position, state, &after, &hot);
            }
            next.push(after);
        }
        next
    }

    /// The instructions that another thread may come to, and where they lead.
    fn steps_of_other(&self, state: &State, thread: usize) -> Vec<(&'m Step, Other)> {
        match state.others[thread] {
            Other::Prefix(control, count) => {
                let steps = self.machine.steps(thread, control).iter();
                steps.map(|step| (step, self.arrived(thread, step.to, count + 1))).collect()
            }
            Other::Flat(class) => {
                let steps = self.next[thread][class].iter().map(|&number| self.machine.step(thread, number));
                steps.map(|step| (step, Other::Flat(self.classes[thread][step.to]))).collect()
            }
        }
    }

    /// Of the slots that a step may write, those that are kept and that it may write in this state.
    fn written_kept<'s>(
        &'s self,
        step: &'s Step,
        state: &'s State,
        slots: impl Iterator<Item = usize> + 's,
    ) -> impl Iterator<Item = usize> + 's {
        let possible: Vec<usize> = match &step.assignments[..] {
            // Only for a single assignment is its index that of the state before.
            [(target, _)] => written(target, &state.values).slots,
            _ => (0..self.machine.shared).collect(),
        };
        slots.filter(move |slot| possible.contains(slot) && self.is_kept.contains(*slot))
    }

    /// Performs the assignments; what is not kept stays unknown.
    fn execute(&self, step: &Step, values: &mut [Value]) {
        for (target, value) in &step.assignments {
            let value = evaluate(value, values).filter(|value| self.distinguished.contains(value));
            let mut goes = written(target, values);
            let all = goes.slots.len();
            goes.slots.retain(|&slot| slot >= self.machine.shared || self.is_kept.contains(slot));
            // A write that may go elsewhere may miss what is kept.
            goes.may_miss |= goes.slots.len() < all;
            assign(&goes, value, values);
        }
    }

    fn record(&mut self, step: &Step, position: usize, before: &State, after: &State, hot: &[(usize, Fringe)]) {
        let mut values = before.values.clone();
        for (target, value) in &step.assignments[..position] {
            let value = evaluate(value, &values);
            assign(&written(target, &values), value, &mut values);
        }
        let goes = written(&step.assignments[position].0, &values);
        if goes.slots.is_empty() {
            return;
        }
        let written = (goes.slots.len() == 1).then(|| goes.slots[0]);
        let region = &self.machine.regions[self.pivot][step.to];
        let is_hot = |(slot, _): &&(usize, Fringe)| Some(*slot) != written && region.reads.contains(*slot);
        let mut hot = hot.iter().filter(is_hot).peekable();
        if hot.peek().is_none() {
            return;
        }
        let values = region.decides.iter().map(|&slot| after.values[slot]).collect();
        let key = Key { thread: self.pivot, instruction: step.instruction, written, values };
        let entry = self.flat.entries.entry(key).or_default();
        for &(slot, fringe) in hot {
            add(entry, slot, fringe);
        }
    }

    /// The number of a value; when there are too many different ones, it is not known any more.
    fn number(&mut self, value: Value) -> u16 {
        if let Some(&number) = self.known_values.get(&value) {
            return number;
        }
        match u16::try_from(self.values.len()) {
            Ok(number) => {
                self.known_values.insert(value, number);
                self.values.push(value);
                number
            }
            // "Any" got its number when the initial state was packed, see below.
            Err(_) => self.known_values.get(&None).copied().unwrap_or(0),
        }
    }

    fn pack(&mut self, state: &State) -> Box<[u16]> {
        self.number(None);
        let mut packed = vec![state.control as u16];
        let (machine, pivot) = (self.machine, self.pivot);
        for slot in machine.locals[pivot].clone().chain(self.kept.clone()) {
            packed.push(self.number(state.values[slot]));
        }
        for thread in (0..state.others.len()).filter(|&thread| thread != pivot) {
            match state.others[thread] {
                Other::Flat(class) => packed.extend([u16::MAX, class as u16]),
                Other::Prefix(control, count) => {
                    packed.extend([count as u16, control as u16]);
                    for slot in machine.locals[thread].clone() {
                        packed.push(self.number(state.values[slot]));
                    }
                }
            }
        }
        packed.into()
    }

    fn unpack(&self, packed: &[u16]) -> State {
        let mut fields = packed.iter().map(|&field| usize::from(field));
        let mut field = || fields.next().expect("it was packed with all fields");
        let machine = self.machine;
        let control = field();
        let mut values = vec![None; machine.compiled.initial.len()];
        for slot in machine.locals[self.pivot].clone().chain(self.kept.iter().copied()) {
            values[slot] = self.values[field()];
        }
        let mut others = vec![Other::Flat(0); machine.locals.len()];
        for thread in (0..others.len()).filter(|&thread| thread != self.pivot) {
            let (tag, place) = (field(), field());
            if tag == usize::from(u16::MAX) {
                others[thread] = Other::Flat(place);
            } else {
                others[thread] = Other::Prefix(place, tag);
                for slot in machine.locals[thread].clone() {
                    values[slot] = self.values[field()];
                }
            }
        }
        State { control, values, others }
    }
}

/// The shared slots that the first `bound` steps of a thread may read.
fn read_in_prefix(machine: &Machine<'_>, thread: usize, bound: usize) -> FixedBitSet {
    let steps = &machine.compiled.threads[thread].steps;
    let mut reached = BTreeSet::from([machine.compiled.threads[thread].initial]);
    let mut read = FixedBitSet::with_capacity(machine.shared);
    for _ in 0..bound {
        let here: Vec<&Step> = reached.iter().flat_map(|&control| &steps[control]).collect();
        read.extend(here.iter().flat_map(|step| step.reads()).filter(|&slot| slot < machine.shared));
        reached.extend(here.iter().map(|step| step.to));
    }
    read
}
