//! From distinct steps to the tables of method §2.
//!
//! `follows(A, B)`: B is in the local set after A, or in one that internal steps of A's thread lead to from there. It is *newly* enabled
//! if some such A had it not enabled before. The searches through internal steps run over local sets, once for
//! each distinct set after a step.

use super::labels::Known;
use super::locals::Locals;
use super::steps::Steps;
use crate::facts::{Facts, Follows};
use crate::ids::{LabelId, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet};

/// Builds the tables; `counts` are states and transitions.
pub(super) fn build(labels: &Known<'_>, locals: &Locals, steps: &Steps, counts: (u64, u64)) -> Facts {
    let mut closures = Closures::new(steps);
    let mut follows: FxHashMap<(u32, u32), bool> = FxHashMap::default();
    for step in &steps.visible {
        let before = locals.sets.members(step.before);
        for &set in closures.from(labels.thread_of[step.label as usize], step.after) {
            for &next in locals.sets.members(set) {
                *follows.entry((step.label, next)).or_default() |= before.binary_search(&next).is_err();
            }
        }
    }
    let follows =
        follows.into_iter().map(|((from, to), newly)| Follows { from: LabelId(from), to: LabelId(to), newly });
    Facts::canonical(&labels.labels, follows, locals.concurrent(), counts)
}

/// The local sets that internal steps of a thread lead to.
struct Closures {
    next: FxHashMap<(ThreadId, u32), Vec<u32>>,
    found: FxHashMap<(ThreadId, u32), Vec<u32>>,
}

impl Closures {
    fn new(steps: &Steps) -> Self {
        let mut next: FxHashMap<(ThreadId, u32), Vec<u32>> = FxHashMap::default();
        for step in &steps.internal {
            next.entry((step.thread, step.before)).or_default().push(step.after);
        }
        Closures { next, found: FxHashMap::default() }
    }

    /// The set itself and all that can be reached from it.
    fn from(&mut self, thread: ThreadId, set: u32) -> &[u32] {
        let next = &self.next;
        self.found.entry((thread, set)).or_insert_with(|| {
            let mut seen = FxHashSet::from_iter([set]);
            let mut reached = vec![set];
            let mut position = 0;
            while let Some(&at) = reached.get(position) {
                position += 1;
                for &after in next.get(&(thread, at)).into_iter().flatten() {
                    if seen.insert(after) {
                        reached.push(after);
                    }
                }
            }
            reached
        })
    }
}
