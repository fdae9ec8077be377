//! What a worker sees of its part of a block: its watcher is told all steps, and successors become candidates for new
//! states.

use super::blocks::{Expand, Successors};
use super::successors::{Evaluated, Expander, Trouble, Visitor, Whose};
use crate::ids::ThreadAt;
use crate::program::compiled::Step;

/// Expands states of a program for a watcher.
pub(super) struct Watched<'p, W> {
    pub(super) expander: Expander<'p>,
    pub(super) watcher: W,
    pub(super) counts: Counts,
}

/// What is counted in a block.
#[derive(Clone, Copy, Default)]
pub(super) struct Counts {
    pub(super) transitions: u64,
    pub(super) deadlocks: u64,
}

impl<W: Visitor + Send> Expand for Watched<'_, W> {
    type Trouble = Trouble;

    fn expand(&mut self, number: usize, state: &[u64], successors: &mut Successors) -> Result<(), Trouble> {
        self.watcher.begin_state(number);
        let mut collector =
            Collector { watcher: &mut self.watcher, counts: &mut self.counts, successors, is_stuck: true };
        self.expander.expand(state, &mut collector)
    }
}

/// Collects the successors of a state and passes all steps on to the watcher.
struct Collector<'c, W> {
    watcher: &'c mut W,
    counts: &'c mut Counts,
    successors: &'c mut Successors,
    is_stuck: bool,
}

impl<W: Visitor> Visitor for Collector<'_, W> {
    #[inline]
    fn executed(&mut self, thread: ThreadAt, step: &Step, before: &[i64], after: &[i64]) {
        self.watcher.executed(thread, step, before, after);
    }

    #[inline]
    fn step(&mut self, evaluated: Evaluated, successor: Option<&[u64]>) {
        self.counts.transitions += 1;
        if let Some(state) = successor {
            self.is_stuck = false;
            self.successors.push(state);
        }
        self.watcher.step(evaluated, successor);
    }

    fn wants_outlooks(&self) -> bool {
        self.watcher.wants_outlooks()
    }

    fn outlook(&mut self, thread: ThreadAt, whose: Whose) {
        self.watcher.outlook(thread, whose);
    }

    fn next(&mut self, evaluated: Evaluated) {
        self.watcher.next(evaluated);
    }

    fn end_of_state(&mut self) {
        self.counts.deadlocks += u64::from(self.is_stuck);
        self.watcher.end_of_state();
    }
}
