//! Groups of threads that are alike: they do the same, to other locations.
//!
//! The code of a group is written down with its slots numbered in the order in which they are mentioned, each with the
//! value that it starts with ([`Shape`]). If two groups are written down alike, then the slots of the one correspond to
//! those of the other, number by number, and so do their threads and instructions: every run in which only the one
//! group moves is, renamed, a run in which only the other one does. So what was found for one of them need not be
//! searched for again.
//!
//! Values are not renamed: threads that write their own numbers are not alike. The order of the threads in a group does
//! not matter, if it has no more than three: of all orders the one is taken that is written down first by the order of
//! lists.
//!
//! *Cost.* The length of the code, for each order of the group's threads; groups are small.

use super::compiled::{Code, Compiled, Step, Target};
use super::{At, InstructionKind, Program};
use crate::ids::{LocationAt, Slot, ThreadAt};
use rustc_hash::FxHashMap;

/// Groups of more threads have too many orders.
const MOST_IN_ANY_ORDER: usize = 3;

/// The code of a group of threads, whatever its locations are called.
#[derive(Clone, Debug)]
pub struct Shape {
    /// What is written down.
    key: Vec<i64>,
    /// The threads, in the order in which they are written down.
    threads: Vec<ThreadAt>,
    /// The slots, by number.
    slots: Vec<Slot>,
}

impl Shape {
    /// Of some threads of a program, in which some instructions are made atomic.
    #[must_use]
    pub fn of(program: &Program, compiled: &Compiled, group: &[ThreadAt], is_locked: impl Fn(At) -> bool) -> Shape {
        let write = |threads: Vec<ThreadAt>| {
            let mut writer = Writer {
                compiled,
                shared: program.num_of_locations(),
                numbers: FxHashMap::default(),
                slots: Vec::new(),
                key: Vec::new(),
            };
            for &thread in &threads {
                writer.thread(program, thread, &is_locked);
            }
            Shape { key: writer.key, threads, slots: writer.slots }
        };
        let orders = if group.len() <= MOST_IN_ANY_ORDER { orders(group) } else { vec![group.to_vec()] };
        orders.into_iter().map(write).min_by(|a, b| a.key.cmp(&b.key)).expect("there is an order, if only of nobody")
    }

    /// The threads.
    #[must_use]
    pub fn threads(&self) -> &[ThreadAt] {
        &self.threads
    }

    /// What is the same for groups that are alike.
    #[must_use]
    pub fn key(&self) -> &[i64] {
        &self.key
    }

    /// The thread of another group, alike, that corresponds to one of this.
    #[must_use]
    pub fn thread_in(&self, other: &Shape, thread: ThreadAt) -> Option<ThreadAt> {
        self.threads.iter().position(|&own| own == thread).map(|position| other.threads[position])
    }

    /// The location of another group, alike, that corresponds to one of this.
    #[must_use]
    pub fn location_in(&self, other: &Shape, location: LocationAt) -> Option<LocationAt> {
        let number = self.slots.iter().position(|&own| own == location.slot())?;
        Some(LocationAt(other.slots[number].0))
    }
}

/// All orders of a few threads.
fn orders(group: &[ThreadAt]) -> Vec<Vec<ThreadAt>> {
    if group.is_empty() {
        return vec![Vec::new()];
    }
    let first = |&thread: &ThreadAt| {
        let rest: Vec<ThreadAt> = group.iter().copied().filter(|&other| other != thread).collect();
        orders(&rest).into_iter().map(move |rest| [vec![thread], rest].concat())
    };
    group.iter().flat_map(first).collect()
}

struct Writer<'p> {
    compiled: &'p Compiled,
    shared: usize,
    numbers: FxHashMap<Slot, usize>,
    slots: Vec<Slot>,
    key: Vec<i64>,
}

impl Writer<'_> {
    fn thread(&mut self, program: &Program, thread: ThreadAt, is_locked: &impl Fn(At) -> bool) {
        let compiled = self.compiled;
        let own = compiled.thread(thread);
        self.number(own.steps.len());
        self.number(own.initial.index());
        for steps in &own.steps {
            self.number(steps.len());
            for step in steps {
                let at = At { thread, instruction: step.instruction };
                self.kind(program.instruction(at).kind);
                self.number(usize::from(is_locked(at)));
                self.step(step);
            }
        }
    }

    fn kind(&mut self, kind: InstructionKind) {
        // Its name tells all of it.
        let name = format!("{kind:?}");
        self.number(name.len());
        self.key.extend(name.bytes().map(i64::from));
    }

    fn step(&mut self, step: &Step) {
        self.number(step.instruction.index());
        self.number(step.to.index());
        self.number(step.outranked.len());
        step.outranked.iter().for_each(|code| self.code(code));
        self.number(usize::from(step.condition.is_some()));
        step.condition.iter().for_each(|code| self.code(code));
        self.number(step.assignments.len());
        for (target, value) in &step.assignments {
            match target {
                Target::Slot(slot) => {
                    self.key.push(0);
                    self.slot(*slot);
                }
                Target::Element(base, length, index) => self.element(*base, *length, index),
            }
            self.code(value);
        }
    }

    fn code(&mut self, code: &Code) {
        match code {
            Code::Constant(value) => self.key.extend([2, *value]),
            Code::Slot(slot) => {
                self.key.push(0);
                self.slot(*slot);
            }
            Code::Element(base, length, index) => self.element(*base, *length, index),
            Code::Unary(operator, operand) => {
                self.key.extend([3, *operator as i64]);
                self.code(operand);
            }
            Code::Binary(operator, left, right, _) => {
                self.key.extend([4, *operator as i64]);
                self.code(left);
                self.code(right);
            }
        }
    }

    fn element(&mut self, base: Slot, length: usize, index: &Code) {
        self.key.push(1);
        self.number(length);
        base.run(length).for_each(|slot| self.slot(slot));
        self.code(index);
    }

    /// A slot: its number, and if it is mentioned for the first time, what it starts with, and whose it is.
    fn slot(&mut self, slot: Slot) {
        if let Some(&number) = self.numbers.get(&slot) {
            return self.number(number);
        }
        self.number(self.slots.len());
        self.key.push(self.compiled.initial[slot.index()]);
        self.number(usize::from(slot.location(self.shared).is_some()));
        self.numbers.insert(slot, self.slots.len());
        self.slots.push(slot);
    }

    fn number(&mut self, number: usize) {
        self.key.push(number as i64);
    }
}
