//! From distinct steps to the tables of method §2.
//!
//! `follows(A, B)`: B is in the local set after A, or in one that internal steps of A's thread lead to from there. It is *newly* enabled
//! if some such A had it not enabled before. The searches through internal steps run over local sets, once for
//! each distinct set after a step. `waits(A, B)`: a step of another thread leads from a local set with A to one in which B is new.

use super::concurrent;
use super::enabled::Enabled;
use super::labels::Known;
use super::local_sets::EMPTY;
use super::steps::Steps;
use crate::facts::{Facts, Follows, Waits};
use crate::ids::{LabelId, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet};

/// Builds the tables.
pub(super) fn build(labels: &Known<'_>, enabled: &Enabled, steps: &Steps) -> Facts {
    let mut closures = Closures::new(steps);
    let mut follows: FxHashMap<(u32, u32), bool> = FxHashMap::default();
    for step in &steps.visible {
        let thread = labels.thread_of[step.label as usize];
        let before = enabled.locals.members(thread, step.before);
        for &set in closures.from((thread, step.after, step.then_internal)) {
            for &next in enabled.locals.members(thread, set) {
                *follows.entry((step.label, next)).or_default() |= before.binary_search(&next).is_err();
            }
        }
    }
    let follows =
        follows.into_iter().map(|((from, to), newly)| Follows { from: LabelId(from), to: LabelId(to), newly });
    let mut waits = Waits::default();
    for step in &steps.waking {
        let members = |set: u32| enabled.locals.members(step.thread, set);
        let (before, after) = (members(step.before), members(step.after));
        let woken = after.iter().filter(|label| before.binary_search(label).is_err());
        waits.with_labels.extend(woken.flat_map(|&new| before.iter().map(move |&old| (LabelId(old), LabelId(new)))));
        if before.is_empty() {
            waits.without.end.extend(after.iter().map(|&label| LabelId(label)));
        }
        if after.is_empty() {
            waits.without.lapse.extend(before.iter().map(|&label| LabelId(label)));
        }
    }
    let last = steps.visible.iter().filter(|step| step.after == EMPTY);
    waits.without.begin.extend(last.map(|step| LabelId(step.label)));
    let size = (enabled.states, enabled.transitions);
    Facts::canonical_with_waits(&labels.labels, follows, waits, concurrent::pairs(enabled), size)
}

/// A thread's local set in some state, and whether that state has an internal step.
type Node = (ThreadId, u32, bool);

/// The local sets that internal steps of a thread lead to.
struct Closures {
    next: FxHashMap<(ThreadId, u32), Vec<Node>>,
    found: FxHashMap<Node, Vec<u32>>,
}

impl Closures {
    fn new(steps: &Steps) -> Self {
        let mut next: FxHashMap<(ThreadId, u32), Vec<Node>> = FxHashMap::default();
        for step in &steps.internal {
            let after = (step.thread, step.after, step.then_internal);
            next.entry((step.thread, step.before)).or_default().push(after);
        }
        Closures { next, found: FxHashMap::default() }
    }

    /// The set itself and all that can be reached from it, some perhaps twice.
    fn from(&mut self, start: Node) -> &[u32] {
        let next = &self.next;
        self.found.entry(start).or_insert_with(|| {
            let mut seen = FxHashSet::from_iter([start]);
            let mut reached = vec![start];
            let mut position = 0;
            while let Some(&(thread, set, has_internal)) = reached.get(position) {
                position += 1;
                if has_internal {
                    let after = next.get(&(thread, set)).into_iter().flatten();
                    reached.extend(after.filter(|&&after| seen.insert(after)));
                }
            }
            reached.into_iter().map(|(_, set, _)| set).collect()
        })
    }
}
