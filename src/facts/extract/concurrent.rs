//! `concurrent(A, B)` of method §2: labels of different threads that some state enables together.
//!
//! Asked of local sets first, state by state: which local sets of two threads occur together? They are few, so that
//! is a small matrix of bits. Then each pair of local sets gives the pairs of their members, once.

use super::labels::INTERNAL;
use super::local_sets::LocalSets;
use super::state_table::{Part, StateTable};
use crate::ids::{LabelId, ThreadId};
use fixedbitset::FixedBitSet;
use rayon::iter::{ParallelBridge, ParallelIterator};
use rustc_hash::FxHashSet;

/// Up to here a matrix of bits over local sets takes no more than two megabytes.
const MATRIX_SIDE: usize = 1 << 12;

/// The pairs of labels that are enabled together; internal labels are nobody's.
pub(super) fn pairs(table: &StateTable, locals: &LocalSets) -> Vec<(LabelId, LabelId)> {
    // A local set of any thread: its number, counted on from the sets of the threads before.
    let mut first_of_thread: Vec<usize> = vec![0];
    for size in locals.sizes() {
        first_of_thread.push(first_of_thread[first_of_thread.len() - 1] + size);
    }
    let side = first_of_thread[first_of_thread.len() - 1];
    let members = |set: usize| {
        let thread = first_of_thread.partition_point(|&first| first <= set) - 1;
        let number = u32::try_from(set - first_of_thread[thread]).expect("local sets are numbered with 32 bits");
        locals.members(ThreadId::new(thread), number)
    };
    let mut inhabited = FixedBitSet::with_capacity(side);
    inhabited.extend((0..side).filter(|&set| !members(set).is_empty()));
    let seen = table
        .parts()
        .par_bridge()
        .fold(|| Pairs::new(side), |pairs, part| with_states(pairs, &part, &first_of_thread, &inhabited))
        .reduce(|| Pairs::new(side), Pairs::union);
    let mut pairs: FxHashSet<(LabelId, LabelId)> = FxHashSet::default();
    for (a, b) in seen.into_vec() {
        // The local set of what stands for a thread of all internal labels.
        if members(a) == [INTERNAL] || members(b) == [INTERNAL] {
            continue;
        }
        for &first in members(a) {
            pairs.extend(members(b).iter().map(|&second| (LabelId(first), LabelId(second))));
        }
    }
    pairs.into_iter().collect()
}

fn with_states(mut pairs: Pairs, part: &Part<'_>, first_of_thread: &[usize], inhabited: &FixedBitSet) -> Pairs {
    let mut sets: Vec<usize> = Vec::new();
    let mut last: Vec<u32> = Vec::new();
    part.for_each(|local_sets| {
        if last == local_sets {
            return;
        }
        last.clear();
        last.extend_from_slice(local_sets);
        sets.clear();
        let numbered = local_sets.iter().zip(first_of_thread).map(|(&set, first)| first + set as usize);
        sets.extend(numbered.filter(|&set| inhabited.contains(set)));
        for (position, &a) in sets.iter().enumerate() {
            for &b in &sets[position + 1..] {
                pairs.insert(a, b);
            }
        }
    });
    pairs
}

/// Pairs of local sets.
enum Pairs {
    Matrix { side: usize, bits: FixedBitSet },
    Listed(FxHashSet<(usize, usize)>),
}

impl Pairs {
    fn new(side: usize) -> Pairs {
        if side <= MATRIX_SIDE {
            Pairs::Matrix { side, bits: FixedBitSet::with_capacity(side * side) }
        } else {
            Pairs::Listed(FxHashSet::default())
        }
    }

    #[inline]
    fn insert(&mut self, a: usize, b: usize) {
        match self {
            Pairs::Matrix { side, bits } => bits.insert(a * *side + b),
            Pairs::Listed(pairs) => {
                pairs.insert((a, b));
            }
        }
    }

    fn union(self, other: Pairs) -> Pairs {
        match (self, other) {
            (Pairs::Matrix { side, mut bits }, Pairs::Matrix { bits: others, .. }) => {
                bits.union_with(&others);
                Pairs::Matrix { side, bits }
            }
            (Pairs::Listed(mut pairs), other) | (other, Pairs::Listed(mut pairs)) => {
                pairs.extend(other.into_vec());
                Pairs::Listed(pairs)
            }
        }
    }

    fn into_vec(self) -> Vec<(usize, usize)> {
        match self {
            Pairs::Matrix { side, bits } => bits.ones().map(|position| (position / side, position % side)).collect(),
            Pairs::Listed(pairs) => pairs.into_iter().collect(),
        }
    }
}
