//! All threads on one sequentially consistent memory.
//!
//! With [`Granularity::Accesses`] a step is one access; with [`Granularity::Instructions`] it is a whole instruction.

use super::Granularity;
use super::split::SplitProgram;
use super::threads::{Access, AccessKind, Action, ConfigId, Configurations, Move, Order, Progress};
use super::visited::{Allowance, LimitReached, Visited, reaches};
use crate::ids::ThreadAt;
use crate::program::At;

/// The threads of a program, with all configurations met so far.
pub struct System<'p> {
    /// The program.
    pub program: &'p SplitProgram,
    /// Its threads.
    pub threads: Vec<Configurations<'p>>,
    /// What a step is.
    pub granularity: Granularity,
    /// For each thread the first of its twins, whose configurations are its own, too, if they are not told apart.
    twins: Vec<ThreadAt>,
}

/// A memory, and where each thread is.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct State {
    /// The values, by location.
    pub memory: Box<[i64]>,
    /// The configurations, by thread.
    pub threads: Box<[ConfigId]>,
}

impl State {
    /// Where a thread is.
    #[must_use]
    pub fn config(&self, thread: ThreadAt) -> ConfigId {
        self.threads[thread.index()]
    }
}

/// What happened in a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The instruction.
    pub at: At,
    /// The accesses, in order.
    pub accesses: Vec<Access>,
    /// Which of the instruction's accesses these are.
    pub order: Order,
    /// How the instruction stands afterwards.
    pub progress: Progress,
}

impl<'p> System<'p> {
    /// Nothing has happened.
    #[must_use]
    pub fn new(program: &'p SplitProgram, granularity: Granularity) -> System<'p> {
        let threads = program.threads.iter().map(Configurations::new).collect();
        System { program, threads, granularity, twins: program.threads_at().collect() }
    }

    /// The same, with twins not told apart: states that differ in which of them is where are one.
    #[must_use]
    pub fn merging_twins(self) -> System<'p> {
        System { twins: self.program.twins(), ..self }
    }

    /// The first of the twins of a thread, or itself if they are told apart.
    #[must_use]
    pub fn twin(&self, thread: ThreadAt) -> ThreadAt {
        self.twins[thread.index()]
    }

    /// Sorts what belongs to threads among twins, but for one of them.
    pub fn sort_twins<T: Ord + Copy>(&self, of_threads: &mut [T], but_for: Option<ThreadAt>) {
        for first in self.program.threads_at().filter(|&thread| self.twin(thread) == thread) {
            let twins = || {
                let twins = self.program.threads_at().filter(|&thread| self.twin(thread) == first);
                twins.filter(|&thread| Some(thread) != but_for).map(ThreadAt::index)
            };
            if twins().nth(1).is_some() {
                let mut sorted: Vec<T> = twins().map(|thread| of_threads[thread]).collect();
                sorted.sort_unstable();
                twins().zip(sorted).for_each(|(thread, own)| of_threads[thread] = own);
            }
        }
    }

    /// The same, with locals that are dead forgotten.
    #[must_use]
    pub fn forgetting(mut self) -> System<'p> {
        self.threads = self.program.threads.iter().map(Configurations::forgetting).collect();
        self
    }

    /// A thread.
    #[must_use]
    pub fn thread(&self, thread: ThreadAt) -> &Configurations<'p> {
        &self.threads[self.twin(thread).index()]
    }

    /// A thread that may come to new configurations.
    pub fn thread_mut(&mut self, thread: ThreadAt) -> &mut Configurations<'p> {
        let twin = self.twin(thread);
        &mut self.threads[twin.index()]
    }

    /// Where it starts.
    #[must_use]
    pub fn initial(&self) -> State {
        State { memory: self.program.memory.clone().into(), threads: vec![0; self.threads.len()].into() }
    }

    /// Whether every thread is between two instructions.
    #[must_use]
    pub fn is_at_boundary(&self, state: &State) -> bool {
        let is_at_boundary = |thread| self.thread(thread).is_at_boundary(state.config(thread));
        self.program.threads_at().all(is_at_boundary)
    }

    /// Whether nothing that a thread presumes is open.
    #[must_use]
    pub fn is_certain(&self, state: &State) -> bool {
        let is_certain = |thread| self.thread(thread).config(state.config(thread)).is_certain();
        self.program.threads_at().all(is_certain)
    }

    /// Whether all that is presumed in a state can come true, access by access: whether there is a run that comes to
    /// it.
    ///
    /// # Errors
    /// If the search has more states than the limit.
    pub fn can_be_certain(&mut self, state: &State, allowance: impl Into<Allowance>) -> Result<bool, LimitReached> {
        let granularity = std::mem::replace(&mut self.granularity, Granularity::Accesses);
        let result = reaches(state, Visited::within(allowance, &self.program.budget), |state| {
            (!self.is_certain(state)).then(|| self.steps(state).into_iter().map(|(_, next)| next).collect())
        });
        self.granularity = granularity;
        result
    }

    /// The steps of all threads.
    pub fn steps(&mut self, state: &State) -> Vec<(Event, State)> {
        self.program.threads_at().flat_map(|thread| self.steps_of(state, thread)).collect()
    }

    /// The steps of one thread.
    pub fn steps_of(&mut self, state: &State, thread: ThreadAt) -> Vec<(Event, State)> {
        let config = state.config(thread);
        match self.granularity {
            Granularity::Accesses => {
                let moves = self.thread_mut(thread).moves(config);
                moves.iter().filter_map(|step| self.step(state, thread, step)).collect()
            }
            Granularity::Instructions => (0..self.thread(thread).steps(config).len() as u32)
                .filter_map(|step| self.perform(state, thread, step))
                .filter(|(event, next)| !event.accesses.is_empty() || next != state)
                .collect(),
        }
    }

    /// A move, performed on the memory.
    pub fn step(&mut self, state: &State, thread: ThreadAt, step: &Move) -> Option<(Event, State)> {
        let config = state.config(thread);
        let mut next = state.clone();
        let mut accesses = Vec::new();
        next.threads[thread.index()] = match step.action {
            Action::Silent { next } => next,
            Action::Read { operation, location } => {
                let value = state.memory[location.index()];
                accesses.push(Access { kind: AccessKind::Read, location, value });
                self.thread_mut(thread).after_read(config, step.step, operation, value)
            }
            Action::Write { location, value, next: after } => {
                accesses.push(Access { kind: AccessKind::Write, location, value });
                next.memory[location.index()] = value;
                after
            }
            Action::Whole => return self.perform(state, thread, step.step),
        };
        let is_write = matches!(step.action, Action::Write { .. });
        let progress = self.thread(thread).progress(config, step.step, next.config(thread), is_write);
        let at = At { thread, instruction: step.instruction };
        Some((Event { at, accesses, order: step.order, progress }, next))
    }

    /// A step, performed as a whole.
    pub fn perform(&mut self, state: &State, thread: ThreadAt, step: u32) -> Option<(Event, State)> {
        let config = state.config(thread);
        let mut next = state.clone();
        let instruction = self.thread(thread).step(config, step).instruction;
        if self.thread(thread).config(config).is_faulty {
            return None;
        }
        let (after, accesses) = self.thread_mut(thread).perform(config, step, &mut next.memory)?;
        next.threads[thread.index()] = after;
        let has_written = accesses.iter().any(|access| access.kind == AccessKind::Write);
        let progress = self.thread(thread).progress(config, step, after, has_written);
        let at = At { thread, instruction };
        Some((Event { at, accesses, order: Order::WHOLE, progress }, next))
    }

    /// All reachable states.
    ///
    /// # Errors
    /// If there are more than the limit.
    pub fn reach(&mut self, allowance: impl Into<Allowance>) -> Result<Visited<State>, LimitReached> {
        let mut visited = Visited::within(allowance, &self.program.budget);
        self.reach_more(&mut visited)?;
        Ok(visited)
    }

    /// Reachable states, as many as may be seen.
    ///
    /// # Errors
    /// If the budget is exhausted.
    pub fn reach_some(&mut self, most: usize) -> Result<Visited<State>, LimitReached> {
        let mut visited = Visited::within(most, &self.program.budget);
        match self.reach_more(&mut visited) {
            Ok(()) | Err(LimitReached::States) => Ok(visited),
            Err(limit) => Err(limit),
        }
    }

    fn reach_more(&mut self, visited: &mut Visited<State>) -> Result<(), LimitReached> {
        visited.start(self.initial())?;
        let mut at = 0;
        while (at as usize) < visited.len() {
            let state = visited.get(at);
            for (_, mut next) in self.steps(&state) {
                self.sort_twins(&mut next.threads, None);
                visited.insert(next, at)?;
            }
            at += 1;
        }
        Ok(())
    }

    /// What happened on the way along these states.
    pub fn events_along(&mut self, states: &[std::rc::Rc<State>]) -> Vec<Event> {
        let mut events = Vec::new();
        for pair in states.windows(2) {
            let step = self.steps(&pair[0]).into_iter().find(|(_, next)| *next == *pair[1]);
            events.extend(step.map(|(event, _)| event));
        }
        events
    }
}
