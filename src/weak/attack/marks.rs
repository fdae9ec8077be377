//! The others: sequentially consistent steps, with marks for what happens after the second access of a pair.
//!
//! A step is marked if its thread is marked, or if it conflicts with a marked access; it then marks its thread and
//! its accesses. When a marked step touches the location of the delayed write, the cycle is closed.

use super::private::Left;
use crate::ids::{LocationAt, ThreadAt};
use crate::weak::system::{Event, State, System};
use crate::weak::threads::{Access, AccessKind, ConfigId, Progress};
use crate::weak::visited::{LimitReached, Visited};
use std::rc::Rc;

/// A state with marks.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Marked {
    /// Memory and threads; that of the pair's thread does not count and is 0.
    pub state: State,
    /// What the pair's thread is left with, where it matters: where instructions can presume something.
    pub left: Option<Left>,
    marks: Marks,
}

/// Whether what a thread does next is marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum ThreadMark {
    No,
    /// These operations of the present instruction are, and so is what comes after them in it; everything after the
    /// instruction, if that has an effect.
    InInstruction(u64),
    Yes,
}

/// What happens after something.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::weak) struct Marks {
    threads: Box<[ThreadMark]>,
    read: Box<[bool]>,
    written: Box<[bool]>,
}

impl Marks {
    /// Only these accesses.
    pub(in crate::weak) fn start(threads: usize, locations: usize, accesses: &[Access]) -> Marks {
        let mut marks = Marks {
            threads: vec![ThreadMark::No; threads].into(),
            read: vec![false; locations].into(),
            written: vec![false; locations].into(),
        };
        accesses.iter().for_each(|access| marks.add(access));
        marks
    }

    /// Marks an access.
    pub(in crate::weak) fn add(&mut self, access: &Access) {
        match access.kind {
            AccessKind::Read => self.read[access.location.index()] = true,
            AccessKind::Write => self.written[access.location.index()] = true,
        }
    }

    /// Whether the access conflicts with a marked one.
    pub(in crate::weak) fn conflict(&self, access: &Access) -> bool {
        let location = access.location.index();
        self.written[location] || (self.read[location] && access.kind == AccessKind::Write)
    }

    /// Whether the event is marked; if so, its thread and accesses are from now on.
    pub(in crate::weak) fn spread(&mut self, event: &Event) -> bool {
        let is_after = match self.threads[event.at.thread.index()] {
            ThreadMark::No => false,
            ThreadMark::InInstruction(operations) => event.order.before & operations != 0,
            ThreadMark::Yes => true,
        };
        let is_marked = is_after || event.accesses.iter().any(|access| self.conflict(access));
        if is_marked {
            self.mark(event);
        } else if let ThreadMark::InInstruction(_) = self.threads[event.at.thread.index()] {
            self.settle(event, 0);
        }
        is_marked
    }

    /// Marks an event: its thread and its accesses.
    pub(in crate::weak) fn mark(&mut self, event: &Event) {
        if !event.accesses.is_empty() {
            self.settle(event, event.order.own);
            event.accesses.iter().for_each(|access| self.add(access));
        }
    }

    /// How the thread of an event is marked after it, if these operations of its instruction are marked now.
    fn settle(&mut self, event: &Event, operations: u64) {
        let mark = &mut self.threads[event.at.thread.index()];
        let known = if let ThreadMark::InInstruction(known) = mark { *known } else { 0 };
        *mark = match (*mark, event.progress) {
            (ThreadMark::Yes, _) | (_, Progress::Done) => ThreadMark::Yes,
            (_, Progress::InTheMiddle) => ThreadMark::InInstruction(known | operations),
            (_, Progress::WithoutEffect) => ThreadMark::No,
        };
    }
}

impl Marked {
    pub(super) fn start(state: State, left: Option<Left>, accesses: &[Access]) -> Marked {
        let marks = Marks::start(state.threads.len(), state.memory.len(), accesses);
        Marked { state, left, marks }
    }

    /// Sorts twins, but for the thread of the pair.
    fn sort_twins(&mut self, system: &System<'_>, but_for: ThreadAt) {
        let mut both: Vec<(ConfigId, ThreadMark)> =
            self.state.threads.iter().copied().zip(self.marks.threads.iter().copied()).collect();
        system.sort_twins(&mut both, Some(but_for));
        for (thread, (config, mark)) in both.into_iter().enumerate() {
            (self.state.threads[thread], self.marks.threads[thread]) = (config, mark);
        }
    }

    pub(super) fn is_started_by(&self, accesses: &[Access]) -> bool {
        self.marks == Marks::start(self.state.threads.len(), self.state.memory.len(), accesses)
    }
}

/// The search for one thread and location; what it has seen without success is not looked at again.
pub(super) struct MarkSearch {
    thread: ThreadAt,
    location: LocationAt,
    visited: Visited<Marked>,
}

/// A way to the cycle.
pub(super) struct Found {
    pub states: Vec<Rc<Marked>>,
    pub events: Vec<Event>,
}

impl MarkSearch {
    pub(super) fn new(thread: ThreadAt, location: LocationAt, visited: Visited<Marked>) -> MarkSearch {
        MarkSearch { thread, location, visited }
    }

    /// Whether there is a way from one of these states.
    pub(super) fn exists<'m>(
        &mut self,
        system: &mut System<'_>,
        starts: impl Iterator<Item = &'m Marked>,
    ) -> Result<bool, LimitReached> {
        let result = self.search(system, starts);
        if !matches!(result, Ok(None)) {
            // Only failed searches are remembered.
            self.visited = self.visited.emptied();
        }
        Ok(result?.is_some())
    }

    /// A shortest way from one of these states; states seen before lead nowhere, or were left when the goal was
    /// found, and are looked at again in that case.
    pub(super) fn find<'m>(
        &mut self,
        system: &mut System<'_>,
        starts: impl Iterator<Item = &'m Marked>,
    ) -> Result<Option<Found>, LimitReached> {
        let result = self.search(system, starts);
        if result.is_err() {
            // States that were not looked at say nothing.
            self.visited = self.visited.emptied();
        }
        Ok(result?.map(|(at, event)| self.found(system, at, event)))
    }

    fn search<'m>(
        &mut self,
        system: &mut System<'_>,
        starts: impl Iterator<Item = &'m Marked>,
    ) -> Result<Option<(u32, Event)>, LimitReached> {
        let mut at = self.visited.len() as u32;
        for start in starts {
            self.visited.start(start.clone())?;
        }
        while (at as usize) < self.visited.len() {
            let current = self.visited.get(at);
            for thread in system.program.threads_at().filter(|&thread| thread != self.thread) {
                for (event, state) in system.steps_of(&current.state, thread) {
                    let mut next = Marked { state, ..(*current).clone() };
                    let is_marked = next.marks.spread(&event);
                    let closes = is_marked && event.accesses.iter().any(|access| access.location == self.location);
                    if closes && self.is_run(system, &next)? {
                        return Ok(Some((at, event)));
                    }
                    next.sort_twins(system, self.thread);
                    self.visited.insert(next, at)?;
                }
            }
            at += 1;
        }
        Ok(None)
    }

    /// Whether all that is presumed can come true once the thread of the pair has made its writes visible.
    fn is_run(&self, system: &mut System<'_>, end: &Marked) -> Result<bool, LimitReached> {
        let Some(left) = &end.left else { return Ok(true) };
        let mut state = end.state.clone();
        state.threads[self.thread.index()] = left.config;
        for &(location, value) in &left.overlay {
            state.memory[location.index()] = value;
        }
        system.can_be_certain(&state, self.visited.allowance())
    }

    fn found(&mut self, system: &mut System<'_>, at: u32, last: Event) -> Found {
        let states: Vec<Rc<Marked>> = self.visited.path_to(at).iter().map(|&n| self.visited.get(n)).collect();
        let mut events = Vec::new();
        for pair in states.windows(2) {
            let step = system
                .program
                .threads_at()
                .filter(|&thread| thread != self.thread)
                .flat_map(|thread| system.steps_of(&pair[0].state, thread))
                .find(|(event, state)| {
                    let mut marks = pair[0].marks.clone();
                    marks.spread(event);
                    *state == pair[1].state && marks == pair[1].marks
                });
            events.extend(step.map(|(event, _)| event));
        }
        events.push(last);
        // What was seen now may lead to the goal: only failed searches are remembered.
        self.visited = self.visited.emptied();
        Found { states, events }
    }
}
