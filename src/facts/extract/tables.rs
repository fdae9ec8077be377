//! From distinct steps to the tables of method §2.
//!
//! `follows(A, B)`: B is in the local set after A, or in one that internal steps of A's thread lead to from there; it is *newly* enabled
//! if some such A had it not enabled before. B follows *later* if steps of other threads, too, are needed to get from the set after A to one with B:
//! a wait that is never over at once (`await f`, where f is set in answer to A) is still passed after A. The searches run over local
//! sets, once for each distinct set after a step.

use super::concurrent;
use super::enabled::Enabled;
use super::labels::Known;
use super::steps::{InternalStep, Steps};
use crate::facts::{Facts, Follows, When};
use crate::ids::{LabelId, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet};

/// Builds the tables.
pub(super) fn build(labels: &Known<'_>, enabled: &Enabled, steps: &Steps) -> Facts {
    let mut at_once = Closures::new(&steps.internal, &FxHashSet::default());
    let mut later = Closures::new(&steps.internal, &steps.waking);
    let mut follows: FxHashMap<(u32, u32), When> = FxHashMap::default();
    let mut note = |pair: (u32, u32), when: When| {
        let best = follows.entry(pair).or_insert(when);
        *best = when.min(*best);
    };
    for step in &steps.visible {
        let thread = labels.thread_of[step.label as usize];
        let before = enabled.locals.members(thread, step.before);
        let after = (thread, step.after, step.then_internal);
        for &set in at_once.from(after) {
            for &next in enabled.locals.members(thread, set) {
                let newly = before.binary_search(&next).is_err();
                note((step.label, next), if newly { When::Newly } else { When::AtOnce });
            }
        }
        for &set in later.from(after) {
            for &next in enabled.locals.members(thread, set) {
                note((step.label, next), When::Later);
            }
        }
    }
    let follows = follows.into_iter().map(|((from, to), when)| Follows { from: LabelId(from), to: LabelId(to), when });
    Facts::canonical(&labels.labels, follows, concurrent::pairs(enabled), (enabled.states, enabled.transitions))
}

/// A thread's local set in some state, and whether that state has an internal step.
type Node = (ThreadId, u32, bool);

/// The local sets that internal steps of a thread lead to, and steps of others.
struct Closures {
    next: FxHashMap<(ThreadId, u32), Vec<Node>>,
    woken: FxHashMap<(ThreadId, u32), Vec<Node>>,
    found: FxHashMap<Node, Vec<u32>>,
}

impl Closures {
    fn new(internal: &FxHashSet<InternalStep>, waking: &FxHashSet<InternalStep>) -> Self {
        let by_set = |steps: &FxHashSet<InternalStep>| {
            let mut next: FxHashMap<(ThreadId, u32), Vec<Node>> = FxHashMap::default();
            for step in steps {
                let after = (step.thread, step.after, step.then_internal);
                next.entry((step.thread, step.before)).or_default().push(after);
            }
            next
        };
        Closures { next: by_set(internal), woken: by_set(waking), found: FxHashMap::default() }
    }

    /// The set itself and all that can be reached from it, some perhaps twice.
    fn from(&mut self, start: Node) -> &[u32] {
        let (next, woken) = (&self.next, &self.woken);
        self.found.entry(start).or_insert_with(|| {
            let mut seen = FxHashSet::from_iter([start]);
            let mut reached = vec![start];
            let mut position = 0;
            while let Some(&(thread, set, has_internal)) = reached.get(position) {
                position += 1;
                let others = woken.get(&(thread, set)).into_iter().flatten();
                reached.extend(others.filter(|&&after| seen.insert(after)));
                if has_internal {
                    let after = next.get(&(thread, set)).into_iter().flatten();
                    reached.extend(after.filter(|&&after| seen.insert(after)));
                }
            }
            reached.into_iter().map(|(_, set, _)| set).collect()
        })
    }
}
