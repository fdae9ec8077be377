//! Each distinct enabled set, split by thread.
//!
//! A *local set* is what one thread has enabled in some state. `concurrent` (method §2) holds between the members of two local sets of
//! different threads that occur together in a state; that is asked once for each distinct pair of local sets.

use super::labels::Known;
use super::sets::Sets;
use crate::ids::{LabelId, ThreadId};
use rustc_hash::FxHashSet;

/// The local sets of every distinct set.
pub(super) struct Locals {
    threads: usize,
    /// By set and thread: the number of the local set.
    table: Vec<u32>,
    /// The distinct local sets. Label numbers tell the thread, so one table serves all; only the empty set is shared.
    pub(super) sets: Sets,
}

impl Locals {
    /// Splits the sets.
    pub(super) fn of(sets: &Sets, labels: &Known<'_>) -> Locals {
        let threads = labels.num_of_threads();
        let mut locals = Locals { threads, table: Vec::with_capacity(sets.len() * threads), sets: Sets::new() };
        let mut parts: Vec<Vec<u32>> = vec![Vec::new(); threads];
        for number in 0..sets.len() {
            let number = u32::try_from(number).expect("sets are numbered with 32 bits");
            for &label in sets.members(number) {
                parts[labels.thread_of[label as usize].index()].push(label);
            }
            for part in &mut parts {
                locals.table.push(locals.sets.intern(part));
                part.clear();
            }
        }
        locals
    }

    /// What `thread` has enabled, where `set` is enabled.
    #[inline]
    pub(super) fn of_thread(&self, set: u32, thread: ThreadId) -> u32 {
        self.table[set as usize * self.threads + thread.index()]
    }

    /// What each thread has enabled, where `set` is enabled.
    #[inline]
    pub(super) fn of_threads(&self, set: u32) -> &[u32] {
        &self.table[set as usize * self.threads..][..self.threads]
    }

    /// The pairs of labels that are enabled together.
    pub(super) fn concurrent(&self) -> Vec<(LabelId, LabelId)> {
        let mut pairs: FxHashSet<(u32, u32)> = FxHashSet::default();
        if self.threads > 0 {
            for row in self.table.chunks_exact(self.threads) {
                for (position, &a) in row.iter().enumerate() {
                    pairs.extend(row[position + 1..].iter().map(|&b| (a, b)));
                }
            }
        }
        let mut concurrent: FxHashSet<(LabelId, LabelId)> = FxHashSet::default();
        for (a, b) in pairs {
            for &first in self.sets.members(a) {
                concurrent.extend(self.sets.members(b).iter().map(|&second| (LabelId(first), LabelId(second))));
            }
        }
        concurrent.into_iter().collect()
    }
}
