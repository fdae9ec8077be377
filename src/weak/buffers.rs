//! All threads on store buffers: the operational machines of TSO and PSO.
//!
//! A write goes into the thread's buffer and becomes visible later: on TSO in the order of the writes, on PSO in that
//! order only for each location. A read sees the thread's own last write to the location in the buffer, else the
//! memory. Fences and atomic instructions wait until the buffer is empty.
//!
//! *Fences of stores* wait for nothing. On PSO they put a marker behind all writes that wait, and a write becomes
//! visible only when no marker stands before it; a marker vanishes once no write stands before it. (That is one buffer
//! for all locations with markers in it, instead of a marker in the buffer of each location: Linden's extended PSO.) On
//! TSO, where writes never overtake writes, they are nothing.
//!
//! The state space is exact as long as no buffer reaches the bound; [`BufferStep`]s that would overflow it are left
//! out and that is said.

use super::Machine;
use super::split::SplitProgram;
use super::system::{Event, State, System};
use super::threads::{Access, AccessKind, Action, Configurations};
use super::visited::{Allowance, LimitReached, Visited, reaches};
use crate::ids::{LocationAt, ThreadAt};
use crate::program::At;
use crate::weak::Granularity;

/// A state of the machine.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BufferState {
    /// Memory and threads.
    pub shared: State,
    /// For each thread the writes that are not yet visible, oldest first.
    pub buffers: Box<[Vec<(LocationAt, i64)>]>,
    /// Fences of stores among these writes, sorted: the thread, and how many of its writes stand before the fence, at
    /// least one. Apart from the writes, since they are none, and most programs have no such fences.
    pub markers: Vec<(ThreadAt, usize)>,
}

impl BufferState {
    /// How many of a thread's waiting writes stand before all its fences of stores.
    #[must_use]
    pub fn before_markers(&self, thread: ThreadAt) -> usize {
        let first = self.markers.iter().find(|(of, _)| *of == thread);
        first.map_or(self.buffers[thread.index()].len(), |&(_, before)| before)
    }

    /// Puts a fence of stores behind the writes of a thread that wait; nothing if none waits.
    fn mark(&mut self, thread: ThreadAt) {
        let before = self.buffers[thread.index()].len();
        let marker = (thread, before);
        if let (true, Err(place)) = (before > 0, self.markers.binary_search(&marker)) {
            self.markers.insert(place, marker);
        }
    }

    /// Takes a write that becomes visible out of its thread's buffer.
    fn commit(&mut self, thread: ThreadAt, position: usize) {
        let (location, value) = self.buffers[thread.index()].remove(position);
        self.shared.memory[location.index()] = value;
        // No marker stands before the write.
        self.markers.iter_mut().filter(|(of, _)| *of == thread).for_each(|(_, before)| *before -= 1);
        self.markers.retain(|&(_, before)| before > 0);
    }
}

/// What happened in a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BufferStep {
    /// A thread made an access; a write went into the buffer. Atomic instructions act on the memory.
    Issued(Event),
    /// A thread's write at this position of its buffer became visible.
    Committed {
        /// The thread.
        thread: ThreadAt,
        /// The position in its buffer.
        position: usize,
        /// The location.
        location: LocationAt,
        /// The value.
        value: i64,
    },
}

/// The machine.
pub struct Buffers<'p> {
    /// Its threads.
    pub system: System<'p>,
    /// Which machine.
    pub machine: Machine,
    /// The most writes in a buffer.
    pub bound: usize,
    /// A step was left out because of the bound.
    pub is_cut_off: bool,
}

impl<'p> Buffers<'p> {
    /// A machine with empty buffers.
    #[must_use]
    pub fn new(program: &'p SplitProgram, machine: Machine, bound: usize) -> Buffers<'p> {
        Buffers { system: System::new(program, Granularity::Accesses), machine, bound, is_cut_off: false }
    }

    /// The same with threads of which some configurations are known.
    #[must_use]
    pub fn with(
        program: &'p SplitProgram,
        threads: Vec<Configurations<'p>>,
        machine: Machine,
        bound: usize,
    ) -> Buffers<'p> {
        let mut buffers = Buffers::new(program, machine, bound);
        buffers.system.threads = threads;
        buffers
    }

    /// Where it starts.
    #[must_use]
    pub fn initial(&self) -> BufferState {
        let shared = self.system.initial();
        let buffers = vec![Vec::new(); shared.threads.len()].into();
        BufferState { shared, buffers, markers: Vec::new() }
    }

    /// All steps of a state, thread by thread.
    pub fn steps(&mut self, state: &BufferState) -> Vec<(BufferStep, BufferState)> {
        let mut steps = Vec::new();
        for thread in self.system.program.threads_at() {
            self.commits(state, thread, &mut steps);
            self.issues(state, thread, &mut steps);
        }
        steps
    }

    fn commits(&self, state: &BufferState, thread: ThreadAt, steps: &mut Vec<(BufferStep, BufferState)>) {
        let buffer = &state.buffers[thread.index()];
        let before_markers = state.before_markers(thread);
        for (position, &(location, value)) in buffer[..before_markers].iter().enumerate() {
            let is_first = match self.machine {
                Machine::Tso => position == 0,
                Machine::Pso => buffer[..position].iter().all(|&(earlier, _)| earlier != location),
            };
            if is_first {
                let mut next = state.clone();
                next.commit(thread, position);
                steps.push((BufferStep::Committed { thread, position, location, value }, next));
            }
        }
    }

    fn issues(&mut self, state: &BufferState, thread: ThreadAt, steps: &mut Vec<(BufferStep, BufferState)>) {
        let config = state.shared.config(thread);
        let buffer = &state.buffers[thread.index()];
        for step in self.system.thread_mut(thread).moves(config).iter() {
            if step.drained && !buffer.is_empty() {
                continue;
            }
            let mut next = state.clone();
            if step.ordered && self.machine == Machine::Pso {
                next.mark(thread);
            }
            let mut accesses = Vec::new();
            next.shared.threads[thread.index()] = match step.action {
                Action::Silent { next } => next,
                Action::Read { operation, location } => {
                    let own = buffer.iter().rev().find(|&&(written, _)| written == location);
                    let value = own.map_or(state.shared.memory[location.index()], |&(_, value)| value);
                    accesses.push(Access { kind: AccessKind::Read, location, value });
                    self.system.thread_mut(thread).after_read(config, step.step, operation, value)
                }
                Action::Write { .. } if buffer.len() >= self.bound => {
                    self.is_cut_off = true;
                    continue;
                }
                Action::Write { location, value, next: after } => {
                    accesses.push(Access { kind: AccessKind::Write, location, value });
                    next.buffers[thread.index()].push((location, value));
                    after
                }
                Action::Whole => {
                    let Some((event, shared)) = self.system.perform(&state.shared, thread, step.step) else { continue };
                    next.shared = shared;
                    steps.push((BufferStep::Issued(event), next));
                    continue;
                }
            };
            let is_write = matches!(step.action, Action::Write { .. });
            let progress = self.system.thread(thread).progress(config, step.step, next.shared.config(thread), is_write);
            let at = At { thread, instruction: step.instruction };
            let event = Event { at, accesses, order: step.order, progress };
            steps.push((BufferStep::Issued(event), next));
        }
    }

    /// Whether all that threads presume in a state can come true: whether there is a run that comes to it.
    ///
    /// # Errors
    /// If the search has more states than the limit.
    pub fn can_be_certain(
        &mut self,
        state: &BufferState,
        allowance: impl Into<Allowance>,
    ) -> Result<bool, LimitReached> {
        reaches(state, Visited::within(allowance, &self.system.program.budget), |state| {
            (!self.system.is_certain(&state.shared))
                .then(|| self.steps(state).into_iter().map(|(_, next)| next).collect())
        })
    }

    /// Whether every buffer is empty and every thread between two instructions.
    #[must_use]
    pub fn is_at_boundary(&self, state: &BufferState) -> bool {
        state.buffers.iter().all(Vec::is_empty) && self.system.is_at_boundary(&state.shared)
    }
}
