//! Cycles that were found to be impossible: a picture of one must not look like a reason for a fence.

use crate::analysis::{Confirmation, ModelOutcome};
use crate::cycles::{Cycle, SegmentVerdict};

/// Why there is no such cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ground {
    /// Searches found that no run has it.
    NoRun,
    /// No run has it once the fences are in place.
    NoRunWithFences,
    /// No execution that the memory model's axioms allow has it.
    Axioms,
}

impl Ground {
    pub fn in_words(self) -> &'static str {
        match self {
            Ground::NoRun => "ruled out, no run has it",
            Ground::NoRunWithFences => "ruled out, no run has it with the fences in place",
            Ground::Axioms => "ruled out, the axioms forbid it",
        }
    }
}

/// Whether the cycle is ruled out: a delay in it is. It is the witness of a delay, or its segments are judged.
pub(super) fn ruled_out(
    result: &ModelOutcome,
    cycle: &Cycle,
    verdicts: &[SegmentVerdict],
    delay: Option<usize>,
) -> Option<Ground> {
    let ground = |position: usize| match result.confirmations.get(position)? {
        Confirmation::No if result.confirming.is_by_axioms() => Some(Ground::Axioms),
        Confirmation::No => Some(Ground::NoRun),
        Confirmation::NoLonger => Some(Ground::NoRunWithFences),
        Confirmation::Yes | Confirmation::Unknown => None,
    };
    if let Some(delay) = delay {
        return ground(delay);
    }
    let is_unsafe = |position: &usize| verdicts.get(*position).is_some_and(|verdict| verdict.is_unsafe);
    (0..cycle.segments.len()).filter(is_unsafe).find_map(|position| {
        let segment = &cycle.segments[position];
        let found = result.all_delays().position(|delay| (delay.from, delay.to) == (segment.entry, segment.exit));
        found.and_then(ground)
    })
}
