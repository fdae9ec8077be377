//! Whether the initial state leads to every state, as it does in a state space that is whole: a part of one, a shard,
//! has states that are reached through the other parts only.
//!
//! Generators number states as they discover them, so nearly always every state has a step to it from a state with a
//! smaller number; then all are reached, by induction, and that is seen in passing, with one bit a state. Where some
//! state has none (a minimised state space, or a part) the steps are gathered in one more scan and searched, with
//! eight bytes a transition.

use super::chunks::{At, Body, Meter, Worker, pass};
use super::state_table::StateTable;
use super::stop::{Reason, Stop};
use crate::lts::space::Transition;
use fixedbitset::FixedBitSet;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// Which states have a step to them from the initial state, or from a state with a smaller number.
pub(super) struct Discovery {
    /// No position, if it is not known.
    initial: usize,
    states: usize,
    discovered: Vec<AtomicU64>,
}

impl Discovery {
    /// Nothing but the initial state; none if that is no state of the table.
    pub(super) fn new(table: &StateTable, initial: u64) -> Option<Discovery> {
        let (initial, states) = (table.position(initial)?, table.num_of_states());
        let discovered = (0..states.div_ceil(64)).map(|_| AtomicU64::new(0)).collect();
        let discovery = Discovery { initial, states, discovered };
        discovery.discover(initial);
        Some(discovery)
    }

    /// Nothing: the initial state is not in the table, or not known.
    pub(super) fn of_no_initial(table: &StateTable) -> Discovery {
        let states = table.num_of_states();
        let discovered = (0..states.div_ceil(64)).map(|_| AtomicU64::new(0)).collect();
        Discovery { initial: usize::MAX, states, discovered }
    }

    /// The states that were discovered, in runs.
    pub(super) fn runs(&self, table: &StateTable) -> Vec<Range<u64>> {
        let mut runs: Vec<Range<u64>> = Vec::new();
        let is_discovered =
            |position: &usize| self.discovered[position / 64].load(Ordering::Relaxed) & 1 << (position % 64) != 0;
        for state in (0..self.states).filter(is_discovered).filter_map(|position| table.state_at(position)) {
            match runs.last_mut() {
                Some(last) if last.end == state => last.end += 1,
                _ => runs.push(state..state + 1),
            }
        }
        runs
    }

    /// There is a step between the states at these positions.
    #[inline]
    pub(super) fn step(&self, from: usize, to: usize) {
        if from < to || from == self.initial {
            self.discover(to);
        }
    }

    #[inline]
    fn discover(&self, position: usize) {
        let (word, bit) = (&self.discovered[position / 64], 1 << (position % 64));
        if word.load(Ordering::Relaxed) & bit == 0 {
            word.fetch_or(bit, Ordering::Relaxed);
        }
    }

    fn is_complete(&self) -> bool {
        // State 0 has no smaller one; if it is not the initial one, only a search can tell.
        let is_full = |(position, word): (usize, &AtomicU64)| {
            let used = (self.states - 64 * position).min(64);
            word.load(Ordering::Relaxed).count_ones() as usize == used
        };
        self.discovered.iter().enumerate().all(is_full)
    }

    /// The first state that the initial state does not lead to, when the pass is over.
    pub(super) fn first_unreached(
        &self,
        bodies: &[Body<'_>],
        table: &StateTable,
        meter: &Meter<'_>,
    ) -> Result<Option<u64>, Stop> {
        if self.is_complete() {
            return Ok(None);
        }
        if u32::try_from(self.states).is_err() {
            // Too many for a search: what is not known to be whole is a part.
            let undiscovered =
                |position: &usize| self.discovered[position / 64].load(Ordering::Relaxed) & 1 << (position % 64) == 0;
            return Ok((0..self.states).find(undiscovered).and_then(|position| table.state_at(position)));
        }
        let workers = pass(bodies, &meter.silent(), || Edges { table, edges: Vec::new() })?;
        let mut edges: Vec<u64> = workers.into_iter().flat_map(|worker| worker.edges).collect();
        edges.sort_unstable();
        let mut reached = FixedBitSet::with_capacity(self.states);
        reached.insert(self.initial);
        let mut waiting = vec![self.initial];
        while let Some(from) = waiting.pop() {
            let first = edges.partition_point(|&edge| edge >> 32 < from as u64);
            for edge in edges[first..].iter().take_while(|&&edge| edge >> 32 == from as u64) {
                let to = (edge & u64::from(u32::MAX)) as usize;
                if !reached.put(to) {
                    waiting.push(to);
                }
            }
        }
        Ok((0..self.states).find(|&position| !reached[position]).and_then(|position| table.state_at(position)))
    }
}

/// The steps between different states: the positions of both in one number.
struct Edges<'t> {
    table: &'t StateTable,
    edges: Vec<u64>,
}

impl Worker for Edges<'_> {
    fn batch(&mut self, transitions: &[Transition]) -> Result<(), At<Reason>> {
        for transition in transitions {
            let positions = (self.table.position(transition.from), self.table.position(transition.to));
            if let (Some(from), Some(to)) = positions
                && from != to
            {
                self.edges.push((from as u64) << 32 | to as u64);
            }
        }
        Ok(())
    }
}
