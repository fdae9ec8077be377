//! One thread alone: it keeps a write back and goes on.
//!
//! Its writes go to an overlay that only it sees; fences and atomic instructions would empty it and are not passed.
//! On PSO a further write can also become visible at once, unless an earlier one to its location is kept back, or a
//! fence of stores stands between it and the first one that is.

use super::{Pair, Seen, Vertex, Visibility};
use crate::ids::{InstrAt, LocationAt, ThreadAt};
use crate::program::At;
use crate::weak::system::Event;
use crate::weak::threads::{Access, AccessKind, Action, ConfigId, Configurations, Move, Progress};
use crate::weak::visited::{LimitReached, Visited};
use crate::weak::{Granularity, Machine};

/// Who runs, and how.
#[derive(Clone, Copy)]
pub(super) struct Rules {
    pub thread: ThreadAt,
    pub machine: Machine,
    pub granularity: Granularity,
}

/// Where the thread is on its own.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Position {
    config: ConfigId,
    /// What the others see.
    memory: Box<[i64]>,
    /// The writes that are kept back: the last one to each location, sorted.
    overlay: Vec<(LocationAt, i64)>,
    /// The write of the pair, once it was made.
    delayed: Option<Vertex>,
    /// What of its instruction comes after it, itself included, while the thread has not left that.
    within: Within,
    /// The thread has passed a fence of stores since: its further writes are kept back, too.
    is_ordered: bool,
    /// The thread has left the instruction of that write.
    has_left: bool,
    /// What the instruction at hand has done so far that the others can see.
    seen: Seen,
}

impl Position {
    pub(super) fn start(config: ConfigId, memory: Box<[i64]>) -> Position {
        let within = Within::default();
        let (overlay, seen) = (Vec::new(), Vec::new());
        Position { config, memory, overlay, delayed: None, within, is_ordered: false, has_left: false, seen }
    }
}

/// Accesses of one instruction that come after the delayed write by their dependencies: other accesses of it are in
/// no order with that.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Within {
    operations: u64,
    /// Kind and location, sorted.
    accesses: Vec<(AccessKind, LocationAt)>,
}

impl Within {
    fn is_before(&self, event: &Event) -> bool {
        let conflicts = |access: &Access| {
            let is_same = |&(kind, location): &(AccessKind, LocationAt)| {
                location == access.location && (kind == AccessKind::Write || access.kind == AccessKind::Write)
            };
            self.accesses.iter().any(is_same)
        };
        event.order.before & self.operations != 0 || event.accesses.iter().any(conflicts)
    }

    fn add(&mut self, event: &Event) {
        self.operations |= event.order.own;
        self.accesses.extend(event.accesses.iter().map(|access| (access.kind, access.location)));
        self.accesses.sort_unstable();
        self.accesses.dedup();
    }
}

/// Where the thread stops, and what it keeps back.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Left {
    pub config: ConfigId,
    pub overlay: Vec<(LocationAt, i64)>,
}

/// The delayed write was overtaken.
pub(super) struct Overtaking {
    /// The pair; its thread is not filled in.
    pub pair: Pair,
    /// What the others see of it.
    pub after: Seen,
    /// The memory that they go on with.
    pub memory: Box<[i64]>,
    /// What the thread is left with.
    pub left: Left,
    /// Where the thread was before the second access, and that access.
    pub position: u32,
    pub last: (Event, Visibility),
}

/// All that the thread can do alone from one state.
pub(super) struct PrivateRun {
    rules: Rules,
    visited: Visited<Position>,
    pub found: Vec<Overtaking>,
}

impl PrivateRun {
    pub(super) fn new(rules: Rules, visited: Visited<Position>) -> PrivateRun {
        PrivateRun { rules, visited, found: Vec::new() }
    }

    pub(super) fn go(&mut self, thread: &mut Configurations<'_>, start: Position) -> Result<(), LimitReached> {
        self.visited.start(start)?;
        let mut at = 0;
        while (at as usize) < self.visited.len() {
            let position = self.visited.get(at);
            for (event, visibility, next) in self.steps(thread, &position) {
                if let Some(pair) = self.overtaking(&position, &event, visibility) {
                    let after = match self.rules.granularity {
                        Granularity::Accesses => {
                            event.accesses.iter().map(|access| Access { value: 0, ..*access }).collect()
                        }
                        Granularity::Instructions => {
                            let seen = position.seen.iter().chain(&event.accesses);
                            seen.map(|access| Access { value: 0, ..*access }).collect()
                        }
                    };
                    let after = sorted(after);
                    let memory = next.memory.clone();
                    let left = Left { config: next.config, overlay: next.overlay.clone() };
                    let last = (event.clone(), visibility);
                    self.found.push(Overtaking { pair, after, memory, left, position: at, last });
                }
                self.visited.insert(next, at)?;
            }
            at += 1;
        }
        Ok(())
    }

    /// The pair, if this step overtakes the delayed write and the others can tell.
    fn overtaking(&self, before: &Position, event: &Event, visibility: Visibility) -> Option<Pair> {
        let from = before.delayed?;
        let &access = event.accesses.first()?;
        let counts = match self.rules.granularity {
            Granularity::Accesses => before.has_left || before.within.is_before(event),
            Granularity::Instructions => before.has_left,
        };
        let is_own = before.overlay.iter().any(|&(location, _)| location == access.location);
        (counts && visibility == Visibility::Visible && !is_own).then_some(Pair {
            thread: self.rules.thread,
            from,
            to: vertex(event.at.instruction, access),
        })
    }

    fn steps(&self, thread: &mut Configurations<'_>, position: &Position) -> Vec<(Event, Visibility, Position)> {
        let mut steps = Vec::new();
        for step in thread.moves(position.config).iter() {
            let is_kept_back = position.delayed.is_some();
            if step.action == Action::Whole || (is_kept_back && step.drained) {
                continue;
            }
            let is_ordered = is_kept_back && step.ordered && self.rules.machine == Machine::Pso;
            let ordered = is_ordered.then(|| Position { is_ordered: true, ..position.clone() });
            let position = ordered.as_ref().unwrap_or(position);
            match step.action {
                Action::Write { location, .. } => {
                    steps.push(self.write(thread, position, step, Visibility::Delayed));
                    let is_behind =
                        position.is_ordered || position.overlay.iter().any(|&(earlier, _)| earlier == location);
                    if !is_kept_back || (self.rules.machine == Machine::Pso && !is_behind) {
                        steps.push(self.write(thread, position, step, Visibility::Visible));
                    }
                }
                _ => steps.push(self.read(thread, position, step)),
            }
        }
        // Before the delayed write, sequentially consistent steps are the business of the search for states; only the
        // beginning of its instruction is left to this run, where the states are those between instructions.
        if position.delayed.is_none() {
            let within = self.rules.granularity == Granularity::Instructions;
            steps.retain(|(_, _, next)| next.delayed.is_some() || (within && !thread.is_at_boundary(next.config)));
        }
        steps
    }

    fn write(
        &self,
        thread: &Configurations<'_>,
        position: &Position,
        step: &Move,
        visibility: Visibility,
    ) -> (Event, Visibility, Position) {
        let Action::Write { location, value, next: config } = step.action else { unreachable!("a write") };
        let access = Access { kind: AccessKind::Write, location, value };
        let mut next = Position { config, ..position.clone() };
        match visibility {
            Visibility::Visible => {
                next.memory[location.index()] = value;
                next.seen.push(Access { value: 0, ..access });
            }
            Visibility::Delayed => {
                match next.overlay.binary_search_by_key(&location, |&(location, _)| location) {
                    Ok(known) => next.overlay[known].1 = value,
                    Err(place) => next.overlay.insert(place, (location, value)),
                }
                next.delayed = next.delayed.or(Some(vertex(step.instruction, access)));
            }
        }
        let event = self.event(step, vec![access], thread.progress(position.config, step.step, next.config, true));
        if position.delayed.is_none() && next.delayed.is_some() {
            next.within.add(&event);
        }
        self.arrived(thread, &event, &mut next);
        (event, visibility, next)
    }

    fn read(&self, thread: &mut Configurations<'_>, position: &Position, step: &Move) -> (Event, Visibility, Position) {
        let mut next = position.clone();
        let mut accesses = Vec::new();
        match step.action {
            Action::Read { operation, location } => {
                let own = position.overlay.iter().find(|&&(written, _)| written == location);
                let value = own.map_or(position.memory[location.index()], |&(_, value)| value);
                let access = Access { kind: AccessKind::Read, location, value };
                accesses.push(access);
                if own.is_none() {
                    next.seen.push(Access { value: 0, ..access });
                }
                next.config = thread.after_read(position.config, step.step, operation, value);
            }
            Action::Silent { next: config } => next.config = config,
            _ => {}
        }
        let event = self.event(step, accesses, thread.progress(position.config, step.step, next.config, false));
        self.arrived(thread, &event, &mut next);
        (event, Visibility::Visible, next)
    }

    fn arrived(&self, thread: &Configurations<'_>, event: &Event, next: &mut Position) {
        if next.within.is_before(event) {
            next.within.add(event);
        }
        if thread.is_at_boundary(next.config) {
            next.within = Within::default();
            next.seen.clear();
            next.has_left = next.delayed.is_some();
        }
        match self.rules.granularity {
            Granularity::Accesses => next.seen.clear(),
            Granularity::Instructions => next.within = Within::default(),
        }
        next.seen = sorted(std::mem::take(&mut next.seen));
    }

    fn event(&self, step: &Move, accesses: Vec<Access>, progress: Progress) -> Event {
        let at = At { thread: self.rules.thread, instruction: step.instruction };
        Event { at, accesses, order: step.order, progress }
    }

    /// What the thread did up to a position, and a last step.
    pub(super) fn events_to(
        &self,
        thread: &mut Configurations<'_>,
        position: u32,
        last: (Event, Visibility),
    ) -> Vec<(Event, Visibility)> {
        let path = self.visited.path_to(position);
        let mut events = Vec::new();
        for pair in path.windows(2) {
            let (before, after) = (self.visited.get(pair[0]), self.visited.get(pair[1]));
            let step = self.steps(thread, &before).into_iter().find(|(_, _, next)| *next == *after);
            events.extend(step.map(|(event, visibility, _)| (event, visibility)));
        }
        events.push(last);
        events
    }
}

fn vertex(instruction: InstrAt, access: Access) -> Vertex {
    Vertex { instruction, kind: access.kind, location: access.location }
}

fn sorted(mut accesses: Seen) -> Seen {
    accesses.sort_unstable();
    accesses.dedup();
    accesses
}
