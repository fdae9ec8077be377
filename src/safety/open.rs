//! Open pairs: accesses joined by a path on which no cumulative fence stands.
//!
//! Where stores are not atomic, a read may see a write before other threads do, and what its thread does next can
//! overtake that write although program order and dependencies are kept. So for a cumulative delay (method §7, §9)
//! *every* path counts, not only the unsafe ones: all must meet a cumulative fence or a barrier. Plain reachability
//! over labels, O(follows) for each access.

use super::chain::{From, Meeting, Trail, TrailStep};
use super::synchronisation::Synchronisation;
use crate::aeg::{AbstractEventGraph, Evaluation};
use crate::ids::VertexId;
use crate::memory::FenceStrength;
use crate::outline::Site;
use fixedbitset::FixedBitSet;
use std::ops::ControlFlow;

/// Walks all paths from `a` that meet no cumulative fence, the shortest first, and reports every access on them that
/// comes after `a`, and every cumulative fence that ends a path, with the path; both can be reported several times.
pub fn explore_open(
    graph: &AbstractEventGraph,
    in_place: &Synchronisation,
    a: VertexId,
    report: &mut dyn FnMut(Meeting, &Trail<'_>) -> ControlFlow<()>,
) {
    let mut steps: Vec<TrailStep> = Vec::new();
    let mut seen = FixedBitSet::with_capacity(graph.evaluations.len());
    // The steps behind which the path goes on.
    let mut queue: Vec<usize> = Vec::new();
    let mut walk = |steps: &mut Vec<TrailStep>, queue: &mut Vec<usize>, step: TrailStep, start: Option<usize>| {
        let evaluation = graph.evaluation(step.label);
        steps.push(step);
        let trail = Trail { steps, last: steps.len() - 1 };
        let goes_on = pass((graph, evaluation), in_place, start, &mut |met| report(met, &trail))?;
        queue.extend(goes_on.then_some(steps.len() - 1));
        ControlFlow::Continue(())
    };
    for &(label, position) in graph.occurrences(a) {
        if in_place.is_barrier(graph.evaluation(label)) {
            continue;
        }
        let start = TrailStep { label, from: From::Event(position) };
        if walk(&mut steps, &mut queue, start, Some(position)).is_break() {
            return;
        }
    }
    let mut next = 0;
    while next < queue.len() && !graph.budget.is_over() {
        let parent = queue[next];
        for &label in &graph.evaluation(steps[parent].label).successors {
            if in_place.is_barrier(graph.evaluation(label)) || seen.put(label.index()) {
                continue;
            }
            let step = TrailStep { label, from: From::Step(parent) };
            if walk(&mut steps, &mut queue, step, None).is_break() {
                return;
            }
        }
        next += 1;
    }
}

/// Reports what the path meets in one evaluation, from its entry or from an event of it; says whether the path goes
/// on behind it.
fn pass(
    (graph, evaluation): (&AbstractEventGraph, &Evaluation),
    in_place: &Synchronisation,
    start: Option<usize>,
    report: &mut dyn FnMut(Meeting) -> ControlFlow<()>,
) -> ControlFlow<(), bool> {
    let before = Site::before(evaluation.instr);
    if start.is_none() && in_place.has_fence(before, FenceStrength::Cumulative) {
        report(Meeting::Fence(before))?;
        return ControlFlow::Continue(false);
    }
    let level = start.map_or(0, |position| evaluation.events[position].level);
    let fence = in_place.first_fence_inside(evaluation, level, FenceStrength::Cumulative);
    let events = evaluation.events.iter().enumerate();
    for (position, event) in events.filter(|(_, event)| fence.is_none_or(|level| event.level < level)) {
        // Nothing comes between the accesses of an atomic instruction.
        if start.is_none_or(|first| event.before.contains(&first) && !evaluation.is_whole()) {
            report(Meeting::Access { vertex: event.vertex, event: position })?;
        }
    }
    let inside = fence.map(|level| Site::inside(evaluation.instr, level));
    let behind = || in_place.fence_behind(graph, evaluation.instr, FenceStrength::Cumulative);
    if let Some(fence) = inside.or_else(behind) {
        report(Meeting::Fence(fence))?;
        return ControlFlow::Continue(false);
    }
    ControlFlow::Continue(true)
}
