//! The run that shows that a program is fragile, on store buffers.
//!
//! Up to the state s it is sequentially consistent. Then the pivot's write of y waits in its buffer, the pivot goes
//! on to its read of x, the fringe's write of x reaches memory, and only then y does. No sequentially consistent run
//! has the same program and store orders: in it y is written after x has its new value, and the pivot, which reads x
//! after that, would read the new one.

use super::local::Pattern;
use super::machine::Machine;
use super::record::Fringe;
use super::values::{Value, assign, condition_reads, evaluate, reads, written};
use crate::explore::successors::Evaluated;
use crate::ids::{InstrAt, LocationAt, ThreadAt};
use crate::program::At;
use crate::weak::buffers::{BufferState, BufferStep};
use crate::weak::system::{Event, State};
use crate::weak::threads::{Access, AccessKind, Order, Progress};

/// A run under a weak memory model: each step, and the store buffers after it.
pub(super) type Run = Vec<(BufferStep, BufferState)>;

/// A run in the making: the values of all slots, and the pivot's write that waits.
struct Making<'m> {
    machine: &'m Machine<'m>,
    values: Vec<Value>,
    /// The pivot, and the location and value that wait in its buffer.
    waiting: Option<(ThreadAt, LocationAt, i64)>,
    run: Run,
}

/// The run of a pattern along a path of the pivot: its write and the instructions up to the read, which is `read` of
/// a location.
pub(super) fn witness(
    machine: &Machine<'_>,
    prefix: &[Evaluated],
    pattern: &Pattern,
    path: &[InstrAt],
    (read, location): (InstrAt, LocationAt),
    fringe: Fringe,
) -> Run {
    let values = machine.compiled.initial.iter().map(|&value| Some(value)).collect();
    let mut making = Making { machine, values, waiting: None, run: Run::new() };
    for step in prefix {
        making.step(step.at);
    }
    for &instruction in path {
        making.step(pattern.at(instruction));
        if instruction == pattern.write && making.waiting.is_none() {
            making.hold_back(pattern.thread);
        }
    }
    making.read(pattern.at(read), location);
    making.step(fringe.at);
    making.release();
    making.run
}

impl Making<'_> {
    /// Performs an instruction on the memory.
    fn step(&mut self, at: At) {
        let step = self.machine.step(at);
        let shared = self.machine.shared;
        let mut read = Vec::new();
        let mut accesses = Vec::new();
        condition_reads(step, &self.values, shared, &mut read);
        let mut note = |found: &mut Vec<LocationAt>, values: &[Value]| {
            accesses.extend(found.drain(..).map(|location| access(AccessKind::Read, location, values)));
        };
        note(&mut read, &self.values);
        let mut own: Vec<LocationAt> = Vec::new();
        for (target, value) in &step.assignments {
            reads(value, &self.values, shared, &mut read);
            read.retain(|location| !own.contains(location));
            note(&mut read, &self.values);
            let value = evaluate(value, &self.values);
            let goes = written(target, &self.values);
            assign(&goes, value, &mut self.values);
            own.extend(goes.slots.into_iter().filter_map(|slot| slot.location(shared)));
        }
        accesses.extend(own.into_iter().map(|location| access(AccessKind::Write, location, &self.values)));
        self.push(BufferStep::Issued(self.event(at, accesses)));
    }

    /// The read of the old value.
    fn read(&mut self, at: At, location: LocationAt) {
        let accesses = vec![access(AccessKind::Read, location, &self.values)];
        self.push(BufferStep::Issued(self.event(at, accesses)));
    }

    /// The write that was just made goes into the buffer instead of the memory.
    fn hold_back(&mut self, thread: ThreadAt) {
        if let Some((BufferStep::Issued(event), _)) = self.run.last() {
            let write = event.accesses.iter().find(|access| access.kind == AccessKind::Write);
            self.waiting = write.map(|write| (thread, write.location, write.value));
        }
        let buffers = self.buffers();
        if let Some((_, state)) = self.run.last_mut() {
            state.buffers = buffers;
        }
    }

    /// What waits becomes visible.
    fn release(&mut self) {
        if let Some((thread, location, value)) = self.waiting.take() {
            self.push(BufferStep::Committed { thread, position: 0, location, value });
        }
    }

    fn event(&self, at: At, accesses: Vec<Access>) -> Event {
        Event { at: self.machine.origin(at), accesses, order: Order::WHOLE, progress: Progress::Done }
    }

    fn buffers(&self) -> Box<[Vec<(LocationAt, i64)>]> {
        let mut buffers = vec![Vec::new(); self.machine.compiled.threads.len()];
        if let Some((thread, location, value)) = self.waiting {
            buffers[thread.index()].push((location, value));
        }
        buffers.into()
    }

    fn push(&mut self, step: BufferStep) {
        // What is shown of a state are its buffers and its memory; where threads are is in the steps.
        let memory = self.values[..self.machine.shared].iter().map(|value| value.unwrap_or(0)).collect();
        let shared = State { memory, threads: Box::default() };
        let buffers = self.buffers();
        self.run.push((step, BufferState { shared, buffers, markers: Vec::new() }));
    }
}

fn access(kind: AccessKind, location: LocationAt, values: &[Value]) -> Access {
    // In a run of the program itself every value is known.
    Access { kind, location, value: values[location.index()].unwrap_or(0) }
}
