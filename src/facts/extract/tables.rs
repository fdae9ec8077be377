//! From distinct steps to the tables of method §2.
//!
//! `follows(A, B)`: B is in the local set after A, or in one that internal steps of A's thread lead to from there. It
//! is *newly* enabled if some such A had it not enabled before. The searches through internal steps run over local
//! sets, once for each distinct set after a step. `waits(A, B)`: a step of another thread leads from a local set with
//! A to one in which B is new.
//!
//! The tables are made a second time if something has to be presumed: with the local sets filled up with refused
//! evaluations that may be there [unseen](super::refusals), and with `follows` that looks through steps of other
//! threads, too, where a thread may wait for an internal step.

use super::concurrent;
use super::enabled::Enabled;
use super::labels::Known;
use super::local_sets::{EMPTY, LocalSets};
use super::refusals::Unseen;
use super::steps::Steps;
use crate::facts::{Facts, Follows, Presumed, Waits};
use crate::ids::{LabelId, ThreadId};
use crate::lts::label::Label;
use rustc_hash::{FxHashMap, FxHashSet};

/// Builds the tables; what is unseen is for the caller to find.
pub(super) fn build(labels: &Known, enabled: &Enabled, steps: &Steps, unseen: Unseen) -> Facts {
    let shown = Tables { labels: &labels.labels, thread_of: &labels.thread_of, locals: &enabled.locals };
    let facts = shown.build(enabled, steps, Closures::new(steps));
    let closures = Closures::across_waits(steps);
    if unseen.members.is_empty() && closures.waits.is_empty() {
        return facts;
    }
    let all_labels: Vec<Label> = labels.labels.iter().cloned().chain(unseen.labels).collect();
    let locals = enabled.locals.with(&unseen.members);
    let all = Tables { labels: &all_labels, thread_of: &labels.thread_of, locals: &locals };
    let all = all.build(enabled, steps, closures);
    Facts { presumed: if all == facts { Presumed::Nothing } else { Presumed::More(Box::new(all)) }, ..facts }
}

/// What the tables are about.
struct Tables<'t> {
    labels: &'t [Label],
    /// By number; of the labels with steps.
    thread_of: &'t [ThreadId],
    locals: &'t LocalSets,
}

impl Tables<'_> {
    fn build(&self, enabled: &Enabled, steps: &Steps, mut closures: Closures) -> Facts {
        let mut follows: FxHashMap<(u32, u32), bool> = FxHashMap::default();
        for step in &steps.visible {
            let thread = self.thread_of[step.label as usize];
            let before = self.locals.members(thread, step.before);
            for &set in closures.from((thread, step.after, step.then_internal)) {
                for &next in self.locals.members(thread, set) {
                    *follows.entry((step.label, next)).or_default() |= before.binary_search(&next).is_err();
                }
            }
        }
        let follows =
            follows.into_iter().map(|((from, to), newly)| Follows { from: LabelId(from), to: LabelId(to), newly });
        let size = (enabled.states, enabled.transitions);
        let concurrent = concurrent::pairs(&enabled.table, self.locals);
        Facts::canonical_with_waits(self.labels, follows, self.waits(steps), concurrent, size)
    }

    fn waits(&self, steps: &Steps) -> Waits {
        let mut waits = Waits::default();
        for step in steps.waking.iter().filter(|step| step.before != step.after) {
            let members = |set: u32| self.locals.members(step.thread, set);
            let (before, after) = (members(step.before), members(step.after));
            let woken = after.iter().filter(|label| before.binary_search(label).is_err());
            let woken = woken.flat_map(|&new| before.iter().map(move |&old| (LabelId(old), LabelId(new))));
            waits.with_labels.extend(woken);
            if step.before == EMPTY {
                waits.without.end.extend(after.iter().map(|&label| LabelId(label)));
            }
            if step.after == EMPTY {
                waits.without.lapse.extend(before.iter().map(|&label| LabelId(label)));
            }
        }
        let last = steps.visible.iter().filter(|step| step.after == EMPTY);
        waits.without.begin.extend(last.map(|step| LabelId(step.label)));
        waits
    }
}

/// A thread's local set in some state, and whether that state has an internal step.
type Node = (ThreadId, u32, bool);

/// The local sets that internal steps of a thread lead to.
struct Closures {
    internal: FxHashMap<(ThreadId, u32), Vec<Node>>,
    /// Steps of other threads, of threads that may wait for an internal step.
    waits: FxHashMap<Node, Vec<Node>>,
    found: FxHashMap<Node, Vec<u32>>,
}

impl Closures {
    fn new(steps: &Steps) -> Self {
        let mut internal: FxHashMap<(ThreadId, u32), Vec<Node>> = FxHashMap::default();
        for step in &steps.internal {
            let after = (step.thread, step.after, step.then_internal);
            internal.entry((step.thread, step.before)).or_default().push(after);
        }
        Closures { internal, waits: FxHashMap::default(), found: FxHashMap::default() }
    }

    /// Looks also through steps of other threads, where a thread may wait for an internal step: another thread made
    /// such a step possible where none was, and this thread has the same enabled as elsewhere before an internal step
    /// of its own.
    fn across_waits(steps: &Steps) -> Self {
        let mut closures = Closures::new(steps);
        let is_awaited = |thread, set| closures.internal.contains_key(&(thread, set));
        let awaited = steps.waking.iter().filter(|step| step.internal == [false, true]);
        let threads: FxHashSet<ThreadId> =
            awaited.filter(|step| is_awaited(step.thread, step.after)).map(|step| step.thread).collect();
        for step in steps.waking.iter().filter(|step| threads.contains(&step.thread)) {
            let [before, after] = step.internal;
            let after = (step.thread, step.after, after);
            closures.waits.entry((step.thread, step.before, before)).or_default().push(after);
        }
        closures
    }

    /// The set itself and all that can be reached from it, some perhaps twice.
    fn from(&mut self, start: Node) -> &[u32] {
        let Closures { internal, waits, found } = self;
        found.entry(start).or_insert_with(|| {
            let mut seen = FxHashSet::from_iter([start]);
            let mut reached = vec![start];
            let mut position = 0;
            while let Some(&node) = reached.get(position) {
                position += 1;
                let (thread, set, has_internal) = node;
                if has_internal {
                    let after = internal.get(&(thread, set)).into_iter().flatten();
                    reached.extend(after.filter(|&&after| seen.insert(after)));
                }
                if !waits.is_empty() {
                    reached.extend(waits.get(&node).into_iter().flatten().filter(|&&after| seen.insert(after)));
                    // The internal step may be another thread's.
                    reached.extend(Some((thread, set, false)).filter(|&after| seen.insert(after)));
                }
            }
            reached.into_iter().map(|(_, set, _)| set).collect()
        })
    }
}
