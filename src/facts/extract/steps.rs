//! The second pass: what each thread has enabled before and after its steps.
//!
//! Collects the distinct triples (label, the thread's local set after, its local set before) of the steps that are not blocked
//! evaluations, and for internal steps the distinct pairs of local sets that they lead between. See the
//! [parent's page](super) on internal steps.

use super::chunks::{Meter, Reason, Stop, Worker, pass};
use super::enabled::Enabled;
use super::labels::{INTERNAL, Known};
use super::locals::Locals;
use crate::ids::ThreadId;
use crate::lts::aut::Transition;
use rustc_hash::FxHashSet;
use std::ops::Range;

/// A visible step of a thread, as its thread sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Step {
    pub(super) label: u32,
    /// The local set after.
    pub(super) after: u32,
    /// The local set before.
    pub(super) before: u32,
}

/// An internal step of a thread, as its thread sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct InternalStep {
    pub(super) thread: ThreadId,
    /// The local set before.
    pub(super) before: u32,
    /// The local set after.
    pub(super) after: u32,
}

/// The distinct steps of a state space.
#[derive(Default)]
pub(super) struct Steps {
    pub(super) visible: FxHashSet<Step>,
    pub(super) internal: FxHashSet<InternalStep>,
    /// Internal transitions that changed what several threads have enabled.
    ambiguous: u64,
}

/// Runs the pass.
pub(super) fn collect<'a>(
    bytes: &'a [u8],
    body: Range<usize>,
    labels: &Known<'a>,
    enabled: &Enabled,
    locals: &Locals,
    meter: &Meter<'_>,
) -> Result<Steps, Stop> {
    let workers = pass(bytes, body, meter, || Walker {
        labels,
        enabled,
        locals,
        from: None,
        recent: vec![Step { label: INTERNAL, after: 0, before: 0 }; RECENT],
        steps: Steps::default(),
    })?;
    let mut steps = Steps::default();
    for worker in workers {
        steps.visible.extend(worker.steps.visible);
        steps.internal.extend(worker.steps.internal);
        steps.ambiguous += worker.steps.ambiguous;
    }
    Ok(steps)
}

impl Steps {
    pub(super) fn warnings(&self) -> Option<String> {
        let steps = if self.ambiguous == 1 { "step changes" } else { "steps change" };
        (self.ambiguous > 0).then(|| {
            let taken = "taken as a step of each of them";
            format!("{} internal {steps} what several threads have enabled: {taken}", self.ambiguous)
        })
    }
}

/// Size of the direct-mapped cache of steps: it keeps nearly all transitions from being hashed into the set.
const RECENT: usize = 1 << 12;

struct Walker<'a, 't> {
    labels: &'t Known<'a>,
    enabled: &'t Enabled,
    locals: &'t Locals,
    /// The last source state and its enabled set.
    from: Option<(u64, u32)>,
    recent: Vec<Step>,
    steps: Steps,
}

impl<'a> Worker<'a> for Walker<'a, '_> {
    #[inline]
    fn transition(&mut self, transition: &Transition<'a>) -> Result<(), Stop> {
        let Some(label) = self.labels.number(transition.label) else {
            return Err(Stop { offset: transition.places[1], reason: Reason::Changed });
        };
        let before = match self.from {
            Some((from, set)) if from == transition.from => set,
            _ => self.enabled.of(transition.from),
        };
        self.from = Some((transition.from, before));
        if label == INTERNAL {
            self.internal_step(before, self.enabled.of(transition.to));
            return Ok(());
        }
        if transition.from == transition.to && self.labels.only_a_condition[label as usize] {
            return Ok(());
        }
        let after = self.enabled.of(transition.to);
        let thread = self.labels.thread_of[label as usize];
        let (after, before) = (self.locals.of_thread(after, thread), self.locals.of_thread(before, thread));
        let step = Step { label, after, before };
        let recent = &mut self.recent[slot(step)];
        if *recent != step {
            *recent = step;
            self.steps.visible.insert(step);
        }
        Ok(())
    }
}

impl Walker<'_, '_> {
    fn internal_step(&mut self, before: u32, after: u32) {
        if before == after {
            return;
        }
        let mut changed = 0;
        let both = self.locals.of_threads(before).iter().zip(self.locals.of_threads(after));
        for (thread, (&before, &after)) in both.enumerate() {
            if before != after {
                changed += 1;
                self.steps.internal.insert(InternalStep { thread: ThreadId::new(thread), before, after });
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
