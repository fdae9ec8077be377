//! What a worker collects from its part of a block: the successors, as candidates for new states.

use super::store::hash;
use super::successors::{Evaluated, Visitor, Whose};
use super::table::Candidates;
use crate::ids::ThreadAt;
use crate::program::compiled::Step;

/// Collects the successors and passes all steps on to the watcher.
pub(super) struct Collector<W> {
    pub(super) watcher: W,
    words: usize,
    packed: Vec<u64>,
    hashes: Vec<u64>,
    pub(super) counts: Counts,
    is_stuck: bool,
}

/// What is counted.
#[derive(Clone, Copy, Default)]
pub(super) struct Counts {
    pub(super) transitions: u64,
    pub(super) deadlocks: u64,
}

impl<W> Collector<W> {
    /// For states of this many words.
    pub(super) fn new(watcher: W, words: usize) -> Collector<W> {
        Collector { watcher, words, packed: Vec::new(), hashes: Vec::new(), counts: Counts::default(), is_stuck: true }
    }

    /// The next block begins; gives the counts of the last one.
    pub(super) fn clear(&mut self) -> Counts {
        self.packed.clear();
        self.hashes.clear();
        std::mem::take(&mut self.counts)
    }
}

impl<W: Visitor> Visitor for Collector<W> {
    fn begin_state(&mut self, number: usize) {
        self.watcher.begin_state(number);
    }

    #[inline]
    fn executed(&mut self, thread: ThreadAt, step: &Step, before: &[i64], after: &[i64]) {
        self.watcher.executed(thread, step, before, after);
    }

    #[inline]
    fn step(&mut self, evaluated: Evaluated, successor: Option<&[u64]>) {
        self.counts.transitions += 1;
        if let Some(state) = successor {
            self.is_stuck = false;
            self.packed.extend_from_slice(state);
            self.hashes.push(hash(state));
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
        self.is_stuck = true;
        self.watcher.end_of_state();
    }
}

/// The candidates of all workers, one worker's after the other's.
pub(super) struct Block<'c, W> {
    collectors: Vec<&'c Collector<W>>,
    /// The position of each worker's first candidate.
    firsts: Vec<usize>,
    num_of_candidates: usize,
}

impl<'c, W> Block<'c, W> {
    pub(super) fn new(collectors: impl Iterator<Item = &'c Collector<W>>) -> Block<'c, W> {
        let collectors: Vec<&Collector<W>> = collectors.collect();
        let mut firsts = Vec::with_capacity(collectors.len());
        let mut num_of_candidates = 0;
        for collector in &collectors {
            firsts.push(num_of_candidates);
            num_of_candidates += collector.hashes.len();
        }
        Block { collectors, firsts, num_of_candidates }
    }

    pub(super) fn num_of_candidates(&self) -> usize {
        self.num_of_candidates
    }
}

impl<W: Sync> Candidates for Block<'_, W> {
    #[inline]
    fn state(&self, position: u32) -> &[u64] {
        let position = position as usize;
        let owner = self.firsts.iter().rposition(|&first| first <= position).unwrap_or(0);
        let Collector { packed, words, .. } = self.collectors[owner];
        let offset = (position - self.firsts[owner]) * words;
        &packed[offset..offset + words]
    }

    #[inline]
    fn hashes(&self) -> impl Iterator<Item = u64> {
        self.collectors.iter().flat_map(|collector| collector.hashes.iter().copied())
    }
}
