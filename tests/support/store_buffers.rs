//! Runs programs of the test language on store buffers: what TSO and PSO machines do, as an operational model.
//!
//! A write goes into the buffer of its thread; a read sees the latest write to its location in the buffer of its own
//! thread, else memory. At any time an entry can leave a buffer for memory: under TSO the oldest one, under PSO the
//! oldest one to its location. Fences and atomic instructions wait until the buffer is empty.

use super::mini::{Instr, Kind, Program, State};
use rustc_hash::FxHashSet;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Machine {
    /// No buffers.
    Sc,
    Tso,
    Pso,
}

/// Where a run can end: memory, locals, and the names of the instructions that each thread is left with.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct End {
    pub shared: BTreeMap<String, i64>,
    pub locals: Vec<BTreeMap<String, i64>>,
    pub left: Vec<Vec<String>>,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Configuration {
    state: State,
    /// For each thread, the oldest entry first: (location, value).
    buffers: Vec<Vec<(String, i64)>>,
}

/// All ends of all runs; the program must be finite on the machine.
pub fn ends(program: &Program, machine: Machine) -> BTreeSet<End> {
    let mut ends = BTreeSet::new();
    explore(program, machine, usize::MAX, |configuration, is_end| {
        if is_end {
            ends.insert(configuration.end(program));
        }
    });
    ends
}

/// All states that are reached with empty buffers, if no buffer ever has more than `capacity` entries: not all that
/// the machine does, but with loops all would be endless.
pub fn drained_states(program: &Program, machine: Machine, capacity: usize) -> BTreeSet<State> {
    let mut states = BTreeSet::new();
    explore(program, machine, capacity, |configuration, _| {
        if configuration.buffers.iter().all(Vec::is_empty) {
            states.insert(configuration.state.clone());
        }
    });
    states
}

/// Visits all configurations, and says of each whether it is an end.
fn explore(program: &Program, machine: Machine, capacity: usize, mut visit: impl FnMut(&Configuration, bool)) {
    let start = Configuration { state: program.start(), buffers: vec![Vec::new(); program.threads.len()] };
    let mut seen = FxHashSet::from_iter([start.clone()]);
    let mut stack = vec![start];
    while let Some(configuration) = stack.pop() {
        let mut next = configuration.flushed(machine);
        for (thread, automaton) in program.threads.iter().enumerate() {
            let here = automaton.instrs.iter().filter(|instr| instr.from == configuration.state.positions[thread]);
            next.extend(here.filter_map(|instr| configuration.performed(machine, thread, instr)));
        }
        visit(&configuration, next.is_empty());
        let fits = |configuration: &Configuration| configuration.buffers.iter().all(|buffer| buffer.len() <= capacity);
        stack.extend(next.into_iter().filter(|next| fits(next) && seen.insert(next.clone())));
    }
}

impl Configuration {
    /// After one entry has left a buffer.
    fn flushed(&self, machine: Machine) -> Vec<Configuration> {
        let mut next = Vec::new();
        for (thread, buffer) in self.buffers.iter().enumerate() {
            for (position, (location, value)) in buffer.iter().enumerate() {
                let is_oldest = match machine {
                    Machine::Sc | Machine::Tso => position == 0,
                    Machine::Pso => buffer[..position].iter().all(|(earlier, _)| earlier != location),
                };
                if is_oldest {
                    let mut after = self.clone();
                    after.buffers[thread].remove(position);
                    after.state.store(location, *value);
                    next.push(after);
                }
            }
        }
        next
    }

    /// After the thread has performed the instruction; nothing if it cannot now.
    fn performed(&self, machine: Machine, thread: usize, instr: &Instr) -> Option<Configuration> {
        let mut after = self.clone();
        if instr.kind != Kind::Plain && !self.buffers[thread].is_empty() {
            return None;
        }
        let mut seen_by_thread = self.view(thread);
        let mut ignored = Vec::new();
        let holds = |condition| seen_by_thread.eval(thread, condition, &mut Vec::new()) != 0;
        if !instr.condition.as_ref().is_none_or(holds) {
            return None;
        }
        for (target, value) in &instr.assignments {
            let value = seen_by_thread.eval(thread, value, &mut ignored);
            let (location, _) = seen_by_thread.resolve(thread, target);
            seen_by_thread.assign(thread, target, value);
            if !target.local {
                match machine {
                    Machine::Sc => after.state.store(&location, value),
                    // What is atomic writes to memory; its buffer is empty.
                    _ if instr.kind == Kind::Atomic => after.state.store(&location, value),
                    Machine::Tso | Machine::Pso => after.buffers[thread].push((location, value)),
                }
            }
        }
        after.state.locals[thread].clone_from(&seen_by_thread.locals[thread]);
        after.state.positions[thread] = instr.to;
        Some(after)
    }

    /// The state as the thread sees it: memory below its own buffer.
    fn view(&self, thread: usize) -> State {
        let mut view = self.state.clone();
        for (location, value) in &self.buffers[thread] {
            view.store(location, *value);
        }
        view
    }

    fn end(&self, program: &Program) -> End {
        let left = |(thread, position): (usize, &usize)| -> Vec<String> {
            let instrs = program.threads[thread].instrs.iter().filter(|instr| instr.from == *position);
            instrs.map(|instr| instr.name.clone()).collect()
        };
        let State { shared, locals, positions } = self.state.clone();
        End { shared, locals, left: positions.iter().enumerate().map(left).collect() }
    }
}
