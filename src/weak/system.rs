//! All threads on one sequentially consistent memory.
//!
//! With [`Granularity::Accesses`] a step is one access; with [`Granularity::Instructions`] it is a whole instruction.

use super::Granularity;
use super::split::SplitProgram;
use super::threads::{Access, AccessKind, Action, ConfigId, Move, Order, Progress, Threads};
use super::visited::{Allowance, LimitReached, Visited, reaches};

/// The threads of a program, with all configurations met so far.
pub struct System<'p> {
    /// The program.
    pub program: &'p SplitProgram,
    /// Its threads.
    pub threads: Vec<Threads<'p>>,
    /// What a step is.
    pub granularity: Granularity,
}

/// A memory, and where each thread is.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct State {
    /// The values, by location.
    pub memory: Box<[i64]>,
    /// The configurations, by thread.
    pub threads: Box<[ConfigId]>,
}

/// What happened in a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The thread.
    pub thread: usize,
    /// Its instruction, by position.
    pub instruction: usize,
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
        System { program, threads: program.threads.iter().map(Threads::new).collect(), granularity }
    }

    /// Where it starts.
    #[must_use]
    pub fn initial(&self) -> State {
        State { memory: self.program.memory.clone().into(), threads: vec![0; self.threads.len()].into() }
    }

    /// Whether every thread is between two instructions.
    #[must_use]
    pub fn is_at_boundary(&self, state: &State) -> bool {
        self.threads.iter().zip(&state.threads).all(|(thread, &config)| thread.is_at_boundary(config))
    }

    /// Whether nothing that a thread presumes is open.
    #[must_use]
    pub fn is_certain(&self, state: &State) -> bool {
        self.threads.iter().zip(&state.threads).all(|(thread, &config)| thread.config(config).is_certain())
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
        (0..self.threads.len()).flat_map(|thread| self.steps_of(state, thread)).collect()
    }

    /// The steps of one thread.
    pub fn steps_of(&mut self, state: &State, thread: usize) -> Vec<(Event, State)> {
        let config = state.threads[thread];
        let pool = &mut self.threads[thread];
        match self.granularity {
            Granularity::Accesses => {
                let moves = pool.moves(config);
                moves.iter().filter_map(|step| self.step(state, thread, step)).collect()
            }
            Granularity::Instructions => (0..pool.steps(config).len() as u32)
                .filter_map(|step| self.perform(state, thread, step))
                .filter(|(event, next)| !event.accesses.is_empty() || next != state)
                .collect(),
        }
    }

    /// A move, performed on the memory.
    pub fn step(&mut self, state: &State, thread: usize, step: &Move) -> Option<(Event, State)> {
        let config = state.threads[thread];
        let mut next = state.clone();
        let mut accesses = Vec::new();
        next.threads[thread] = match step.action {
            Action::Silent { next } => next,
            Action::Read { operation, location } => {
                let value = state.memory[location as usize];
                accesses.push(Access { kind: AccessKind::Read, location, value });
                self.threads[thread].after_read(config, step.step, operation, value)
            }
            Action::Write { location, value, next: after } => {
                accesses.push(Access { kind: AccessKind::Write, location, value });
                next.memory[location as usize] = value;
                after
            }
            Action::Whole => return self.perform(state, thread, step.step),
        };
        let is_write = matches!(step.action, Action::Write { .. });
        let progress = self.threads[thread].progress(config, step.step, next.threads[thread], is_write);
        let (instruction, order) = (step.instruction as usize, step.order);
        Some((Event { thread, instruction, accesses, order, progress }, next))
    }

    /// A step, performed as a whole.
    pub fn perform(&mut self, state: &State, thread: usize, step: u32) -> Option<(Event, State)> {
        let config = state.threads[thread];
        let mut next = state.clone();
        let instruction = self.threads[thread].step(config, step).instruction;
        if self.threads[thread].config(config).is_faulty {
            return None;
        }
        let (after, accesses) = self.threads[thread].perform(config, step, &mut next.memory)?;
        next.threads[thread] = after;
        let has_written = accesses.iter().any(|access| access.kind == AccessKind::Write);
        let progress = self.threads[thread].progress(config, step, after, has_written);
        Some((Event { thread, instruction, accesses, order: Order::WHOLE, progress }, next))
    }

    /// All reachable states.
    ///
    /// # Errors
    /// If there are more than the limit.
    pub fn reach(&mut self, allowance: impl Into<Allowance>) -> Result<Visited<State>, LimitReached> {
        let mut visited = Visited::within(allowance, &self.program.budget);
        visited.start(self.initial())?;
        let mut at = 0;
        while (at as usize) < visited.len() {
            let state = visited.get(at);
            for (_, next) in self.steps(&state) {
                visited.insert(next, at)?;
            }
            at += 1;
        }
        Ok(visited)
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
