//! Local sets: what one thread has enabled in some state, numbered within the thread. Equal sets have equal numbers.
//!
//! A thread has few of them, about as many as places in its program. A set is built label by label, and `set + label`
//! is remembered, so that gathering a state's labels costs one small lookup a transition and the order in which they
//! come does not matter.

use super::chunks::lock;
use crate::ids::ThreadId;
use rustc_hash::FxHashMap;
use std::sync::Mutex;

/// The number of every thread's empty set.
pub(super) const EMPTY: u32 = 0;

/// The local sets of all threads, over label numbers.
#[derive(Clone, Default)]
pub(super) struct LocalSets {
    threads: Vec<OfThread>,
}

#[derive(Clone)]
struct OfThread {
    /// By number; sorted.
    sets: Vec<Box<[u32]>>,
    numbers: FxHashMap<Box<[u32]>, u32>,
}

impl Default for OfThread {
    fn default() -> Self {
        let empty: Box<[u32]> = Box::default();
        OfThread { sets: vec![empty.clone()], numbers: FxHashMap::from_iter([(empty, EMPTY)]) }
    }
}

impl LocalSets {
    /// How many sets each thread has, the empty one included.
    pub(super) fn sizes(&self) -> impl Iterator<Item = usize> {
        self.threads.iter().map(|thread| thread.sets.len())
    }

    /// The labels of a set, sorted by their numbers.
    pub(super) fn members(&self, thread: ThreadId, set: u32) -> &[u32] {
        &self.threads[thread.index()].sets[set as usize]
    }

    /// The same sets under the same numbers, some with another label: thread, set and label.
    pub(super) fn with(&self, more: &[(ThreadId, u32, u32)]) -> LocalSets {
        let mut changed = self.clone();
        for &(thread, set, label) in more {
            let members = &mut changed.threads[thread.index()].sets[set as usize];
            let mut larger = members.to_vec();
            if let Err(position) = larger.binary_search(&label) {
                larger.insert(position, label);
            }
            *members = larger.into_boxed_slice();
        }
        changed
    }

    fn add(&mut self, thread: ThreadId, set: u32, label: u32) -> u32 {
        if thread.index() >= self.threads.len() {
            self.threads.resize_with(thread.index() + 1, OfThread::default);
        }
        let OfThread { sets, numbers } = &mut self.threads[thread.index()];
        let mut members = sets[set as usize].to_vec();
        match members.binary_search(&label) {
            Ok(_) => return set,
            Err(position) => members.insert(position, label),
        }
        *numbers.entry(members.into_boxed_slice()).or_insert_with_key(|members| {
            sets.push(members.clone());
            u32::try_from(sets.len() - 1).expect("memory ends before 2^32 local sets")
        })
    }
}

/// Size of a worker's direct-mapped cache of sums.
const RECENT: usize = 1 << 12;

#[derive(Clone, Copy)]
struct Sum {
    set: u32,
    label: u32,
    sum: u32,
}

/// A worker's view of the local sets that all workers share.
pub(super) struct Cache<'t> {
    shared: &'t Mutex<LocalSets>,
    recent: Vec<Sum>,
}

impl<'t> Cache<'t> {
    pub(super) fn new(shared: &'t Mutex<LocalSets>) -> Self {
        // No set has the number u32::MAX, so the initial entries are never found.
        Cache { shared, recent: vec![Sum { set: u32::MAX, label: 0, sum: EMPTY }; RECENT] }
    }

    /// A set with one more label of its thread.
    #[inline]
    pub(super) fn add(&mut self, thread: ThreadId, set: u32, label: u32) -> u32 {
        let mixed = set.wrapping_mul(0x9e37_79b1) ^ label.wrapping_mul(0x85eb_ca77);
        let recent = &mut self.recent[(mixed >> 16) as usize & (RECENT - 1)];
        if recent.set != set || recent.label != label {
            *recent = Sum { set, label, sum: lock(self.shared).add(thread, set, label) };
        }
        recent.sum
    }

    /// The union of two sets of a thread.
    #[inline]
    pub(super) fn union(&mut self, thread: ThreadId, a: u32, b: u32) -> u32 {
        if a == b || b == EMPTY {
            return a;
        }
        if a == EMPTY {
            return b;
        }
        let members = lock(self.shared).members(thread, b).to_vec();
        members.into_iter().fold(a, |union, label| self.add(thread, union, label))
    }
}
