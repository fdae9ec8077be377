//! Threads whose next step can be made before all others (thesis, chapter 5: persistent sets).
//!
//! A thread that can only write, or go on without an access, and that waits for nothing, changes no more than its own
//! place and the end of its own buffers. Nobody else notices, its own commits take what is oldest, and what others do
//! does not change what it can do. So of a run in which it moves later, its first move can be made first, and the run
//! is still one. Where it moves at all, nothing else needs to be followed from such a state. It does move:
//!
//! - *it must*: nothing forbidden is ever seen while it is where it is; or
//! - *it may*: one of its moves makes no difference to what is forbidden. That move can be made first, too, in a run
//!   in which the thread does not move: so it leads to a forbidden state still. (Then the run does not become shorter,
//!   and all others may be put off for ever. Hence [ranks](super::closing).) What such a move writes, to a location
//!   that nobody asks for, may still wait in the end, and therefore does not keep a state [from being
//!   judged](Space::violated): else each time that it has become visible, the thread could have written again. A fence
//!   of stores is no such move: its mark would have to leave.
//!
//! *Variant.* The thesis takes a thread only if the place where it is occurs in no forbidden state, and some move of
//! it leads off the path of the search. Here conditions may speak of locals and of memory, too.

use super::space::{Memory, Space};
use crate::engines::automata::observed::Observed;
use crate::ids::{LocationAt, Slot, ThreadAt};
use crate::weak::forbidden::Forbidden;
use crate::weak::split::SplitProgram;
use crate::weak::system::State;
use crate::weak::threads::{Action, ConfigId, Move};
use rustc_hash::FxHashMap;

/// How a thread may go first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GoesFirst {
    /// It moves in every run to a forbidden state.
    Must,
    /// These of its moves, by position as bits, make no difference to what is forbidden.
    May(u64),
}

impl GoesFirst {
    /// Whether a move of the thread, by position, is one for which it can go first.
    #[must_use]
    pub fn counts(self, number: u32) -> bool {
        match self {
            GoesFirst::Must => true,
            GoesFirst::May(moves) => number < 64 && moves & 1 << number != 0,
        }
    }
}

/// Knows which threads can go first.
pub struct Persistent<'f> {
    forbidden: Forbidden<'f>,
    observed: Observed,
    /// The first slot of each thread's locals, as a condition counts them, and behind them of the control states.
    slots: Vec<usize>,
    known: FxHashMap<(ThreadAt, ConfigId), Option<GoesFirst>>,
}

impl<'f> Persistent<'f> {
    /// Of a program, and what is forbidden.
    #[must_use]
    pub fn new(split: &SplitProgram, forbidden: Forbidden<'f>) -> Persistent<'f> {
        let mut slots = vec![split.memory.len()];
        for thread in &split.threads {
            slots.push(slots[slots.len() - 1] + thread.locals.len());
        }
        Persistent { forbidden, observed: Observed::of(split, forbidden), slots, known: FxHashMap::default() }
    }

    /// Whether a thread can go first, and why.
    pub fn goes_first(&mut self, space: &mut Space<'_>, shared: &State, thread: ThreadAt) -> Option<GoesFirst> {
        let config = shared.config(thread);
        if let Some(&known) = self.known.get(&(thread, config)) {
            return known;
        }
        let found = self.find(space, thread, config);
        self.known.insert((thread, config), found);
        found
    }

    fn find(&self, space: &mut Space<'_>, thread: ThreadAt, config: ConfigId) -> Option<GoesFirst> {
        let moves = space.machine.system.thread_mut(thread).moves(config);
        let is_private = |known: &Move| match known.action {
            Action::Write { .. } => space.memory != Memory::Sc,
            Action::Silent { .. } => true,
            Action::Read { .. } | Action::Whole => false,
        };
        if !moves.iter().all(|known| !known.drained && is_private(known))
            || moves.iter().all(|known| stays(known, config))
        {
            return None;
        }
        if self.must_move(space, thread, config, &moves) {
            return Some(GoesFirst::Must);
        }
        // Behind the 64th move none is looked for.
        let numbered = moves.iter().take(64).enumerate();
        let invisible = numbered.filter(|(_, known)| self.is_invisible(space, thread, config, known));
        let invisible = invisible.fold(0, |bits, (number, _)| bits | 1 << number);
        (invisible != 0).then_some(GoesFirst::May(invisible))
    }

    /// Whether nothing forbidden is seen while a thread is there, which can move.
    fn must_move(&self, space: &Space<'_>, thread: ThreadAt, config: ConfigId, moves: &[Move]) -> bool {
        let known = space.machine.system.thread(thread);
        match self.forbidden {
            _ if !known.is_judged(config) => true,
            // It has not ended.
            Forbidden::End(_) => true,
            // Who comes home through a fence that was put in is stuck all the same.
            Forbidden::Deadlock => moves.iter().any(|step| match step.action {
                Action::Write { .. } => true,
                Action::Silent { next } => next != config && known.is_judged(next),
                Action::Read { .. } | Action::Whole => false,
            }),
            Forbidden::State(condition) => {
                let (locals, controls) = (self.slots[thread.index()], self.slots[self.slots.len() - 1]);
                let config = known.config(config);
                let of_thread = |slot: Slot| {
                    if slot.index() == controls + thread.index() {
                        return Some(i64::from(config.control.0));
                    }
                    slot.index().checked_sub(locals).and_then(|local| config.frame.get(local)).copied()
                };
                !condition.may_hold(&of_thread)
            }
        }
    }

    /// Whether a move makes no difference to what is forbidden: not by where it leads, and not by what it writes.
    fn is_invisible(&self, space: &Space<'_>, thread: ThreadAt, config: ConfigId, known: &Move) -> bool {
        let is_seen = |location: LocationAt| space.is_observed(location);
        let to = match known.action {
            _ if known.ordered => return false,
            Action::Write { location, next, .. } if !is_seen(location) => next,
            Action::Silent { next } if next != config => next,
            _ => return false,
        };
        let thread_known = space.machine.system.thread(thread);
        let key = |config: ConfigId| self.observed.key(thread.index(), thread_known, config);
        key(config).is_some() && key(config) == key(to)
    }
}

/// Whether a move does nothing.
fn stays(known: &Move, config: ConfigId) -> bool {
    !known.ordered && known.action == Action::Silent { next: config }
}
