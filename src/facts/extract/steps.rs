//! The second pass: what each thread has enabled before and after its steps.
//!
//! Collects the distinct triples (label, the thread's local set after, its local set before) of the steps that are
//! not blocked evaluations, and for internal steps the distinct pairs of local sets that they lead between; besides,
//! which labels have blocked evaluations. See the [parent's page](super) on internal steps.

use super::Question;
use super::chunks::{At, Body, Meter, Worker, pass};
use super::enabled::Enabled;
use super::labels::{INTERNAL, Known, Lookup};
use super::local_sets::EMPTY;
use super::stop::{Reason, Stop};
use crate::ids::ThreadId;
use crate::lts::space::{Transition, UNREAD};
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashSet;

/// A visible step of a thread, as its thread sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Step {
    pub(super) label: u32,
    /// The local set after.
    pub(super) after: u32,
    /// The local set before.
    pub(super) before: u32,
    /// Whether the state after it has an internal step to another state, of whatever thread.
    pub(super) then_internal: bool,
}

/// A step of another thread that changes what this one has enabled, or is followed by an internal step where none was
/// possible before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct WakingStep {
    pub(super) thread: ThreadId,
    /// The local set before.
    pub(super) before: u32,
    /// The local set after.
    pub(super) after: u32,
    /// Whether the states before and after it have an internal step to another state, of whatever thread.
    pub(super) internal: [bool; 2],
}

/// An internal step of a thread, as its thread sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct InternalStep {
    pub(super) thread: ThreadId,
    /// The local set before.
    pub(super) before: u32,
    /// The local set after.
    pub(super) after: u32,
    /// Whether the state after it has an internal step to another state, of whatever thread.
    pub(super) then_internal: bool,
}

/// The distinct steps of a state space.
#[derive(Default)]
pub(super) struct Steps {
    pub(super) visible: FxHashSet<Step>,
    pub(super) internal: FxHashSet<InternalStep>,
    /// Steps of other threads that change what a thread has enabled: it waits, and goes on with something else than
    /// it had enabled before.
    pub(super) waking: FxHashSet<WakingStep>,
    /// Labels with a blocked evaluation.
    pub(super) blocked: FxHashSet<u32>,
    /// Internal transitions that changed what several threads have enabled.
    ambiguous: u64,
}

/// Runs the pass.
pub(super) fn collect(
    bodies: &[Body<'_>],
    labels: &Known,
    enabled: &Enabled,
    question: &Question,
    meter: &Meter<'_>,
) -> Result<Steps, Stop> {
    let workers = pass(bodies, meter, || Walker {
        labels,
        texts: Lookup::new(labels),
        enabled,
        question,
        input: 0,
        recent: vec![Step { label: INTERNAL, after: EMPTY, before: EMPTY, then_internal: false }; RECENT],
        recent_waking: vec![NO_WAKING_STEP; RECENT],
        blocked: FixedBitSet::with_capacity(labels.labels.len()),
        steps: Steps::default(),
    })?;
    let mut steps = Steps::default();
    for worker in workers {
        steps.visible.extend(worker.steps.visible);
        steps.internal.extend(worker.steps.internal);
        steps.waking.extend(worker.steps.waking);
        steps.blocked.extend(worker.blocked.ones().map(|label| label as u32));
        steps.ambiguous += worker.steps.ambiguous;
    }
    Ok(steps)
}

impl Steps {
    pub(super) fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.ambiguous > 0 {
            let steps = if self.ambiguous == 1 { "step changes" } else { "steps change" };
            let taken = "taken as a step of each of them";
            warnings.push(format!("{} internal {steps} what several threads have enabled: {taken}", self.ambiguous));
        }
        warnings
    }
}

/// Size of the direct-mapped cache of steps: it keeps nearly all transitions from being hashed into the set.
const RECENT: usize = 1 << 12;

struct Walker<'t> {
    labels: &'t Known,
    texts: Lookup<'t>,
    enabled: &'t Enabled,
    question: &'t Question,
    /// Which input the transitions at hand are in.
    input: usize,
    recent: Vec<Step>,
    recent_waking: Vec<WakingStep>,
    blocked: FixedBitSet,
    steps: Steps,
}

impl Worker for Walker<'_> {
    fn begin_chunk(&mut self, input: usize) {
        self.input = input;
    }

    #[inline]
    fn label(&mut self, text: &[u8]) -> Option<u32> {
        self.texts.get(text)
    }

    fn batch(&mut self, transitions: &[Transition]) -> Result<(), At<Reason>> {
        let table = &self.enabled.table;
        for transition in transitions {
            if transition.label == UNREAD {
                return Err(At { at: transition.at, what: Reason::Changed });
            }
            let label = self.texts.seen(transition.label);
            if let Some(discovery) = &self.question.discovery
                && let (Some(from), Some(to)) = (table.position(transition.from), table.position(transition.to))
            {
                discovery.step(from, to);
            }
            if label.number == INTERNAL {
                self.internal_step(transition.from, transition.to);
                continue;
            }
            if transition.from == transition.to && label.only_a_condition {
                self.blocked.insert(label.number as usize);
                continue;
            }
            self.wake(transition.from, transition.to, label.thread);
            let before = table.local_set(transition.from, label.thread);
            let after = table.local_set(transition.to, label.thread);
            let step = Step { label: label.number, after, before, then_internal: self.has_internal(transition.to) };
            let recent = &mut self.recent[slot(step)];
            if *recent != step {
                *recent = step;
                self.steps.visible.insert(step);
            }
        }
        if let Some(contents) = &self.question.contents {
            contents.add(self.input, transitions, |label| self.texts.seen(label).number);
        }
        Ok(())
    }
}

impl Walker<'_> {
    #[inline]
    fn has_internal(&self, state: u64) -> bool {
        self.labels.internal.is_some_and(|thread| self.enabled.table.local_set(state, thread) != EMPTY)
    }

    /// A step of thread `own`, as the other threads see it.
    #[inline]
    fn wake(&mut self, from: u64, to: u64, own: ThreadId) {
        let table = &self.enabled.table;
        let internal = [self.has_internal(from), self.has_internal(to)];
        let (recent, waking) = (&mut self.recent_waking, &mut self.steps.waking);
        let mut add = |step: WakingStep| {
            let recent = &mut recent[waking_slot(step)];
            if *recent != step {
                *recent = step;
                waking.insert(step);
            }
        };
        if internal == [false, true] {
            for thread in self.labels.threads().filter(|&thread| thread != own) {
                let (before, after) = (table.local_set(from, thread), table.local_set(to, thread));
                add(WakingStep { thread, before, after, internal });
            }
            return;
        }
        table.for_each_other_that_differs(from, to, own, |thread, before, after| {
            // What stands for the internal steps waits for nothing.
            if Some(thread) != self.labels.internal {
                add(WakingStep { thread, before, after, internal });
            }
        });
    }

    fn internal_step(&mut self, from: u64, to: u64) {
        let then_internal = self.has_internal(to);
        let mut changed = 0;
        for thread in self.labels.threads() {
            let before = self.enabled.table.local_set(from, thread);
            let after = self.enabled.table.local_set(to, thread);
            if before != after {
                changed += 1;
                self.steps.internal.insert(InternalStep { thread, before, after, then_internal });
            }
        }
        if changed > 1 {
            self.steps.ambiguous += 1;
        }
    }
}

#[inline]
fn slot(step: Step) -> usize {
    let mixed = step.label.wrapping_mul(0x9e37_79b1)
        ^ step.after.wrapping_mul(0x85eb_ca77)
        ^ step.before.wrapping_mul(0xc2b2_ae3d);
    (mixed >> 16) as usize & (RECENT - 1)
}

/// No step: it has a thread that there is not.
const NO_WAKING_STEP: WakingStep =
    WakingStep { thread: ThreadId(u32::MAX), before: EMPTY, after: EMPTY, internal: [false; 2] };

#[inline]
fn waking_slot(step: WakingStep) -> usize {
    let mixed = step.thread.0.wrapping_mul(0x9e37_79b1)
        ^ step.after.wrapping_mul(0x85eb_ca77)
        ^ step.before.wrapping_mul(0xc2b2_ae3d);
    (mixed >> 16) as usize & (RECENT - 1)
}
