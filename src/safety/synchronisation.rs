//! What is in place: fences at points of the program text, and locked instructions.

use crate::aeg::{AbstractEventGraph, Evaluation};
use crate::ids::InstrId;
use crate::memory::FenceStrength;
use std::collections::{BTreeMap, BTreeSet};

/// A place in the program text where a fence can stand (method §9).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Point {
    /// The instruction.
    pub instr: InstrId,
    /// Where at the instruction.
    pub place: Place,
}

/// Where at an instruction a fence stands; the order is that of the program text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// On every way into the instruction.
    Before,
    /// Within it: after the accesses of the levels below this one, before the others. Level 1 of `if x = 0 then y := z` is after the
    /// condition.
    Inside(u32),
    /// On every way out of it.
    After,
    /// At the control state that the instruction leads to: on every way into that state, by whatever instruction, and so on every way on from there. All
    /// instructions that lead there name the same place; whoever places the fence chooses one of them. A thread that starts in the state passes no fence.
    ///
    /// One fence after the only way in, or before the only way out, does as much; the place counts where a state has several of both. Event graphs have no
    /// control states, so the main analysis has no such candidate, and its searches do not see such a fence: they keep less in order than it does.
    State,
}

/// Fences and locks in place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Synchronisation {
    /// The fences.
    pub fences: BTreeMap<Point, FenceStrength>,
    /// The locked instructions: whole, and preserved against everything.
    pub locked: BTreeSet<InstrId>,
}

impl Synchronisation {
    /// Nothing in place.
    #[must_use]
    pub fn none() -> Synchronisation {
        Synchronisation::default()
    }

    /// Whether the evaluation is whole and keeps every order on both sides: a fence, an atomic or a locked instruction.
    #[must_use]
    pub fn is_barrier(&self, evaluation: &Evaluation) -> bool {
        evaluation.barrier || self.locked.contains(&evaluation.instr)
    }

    /// Whether a fence of at least this strength stands there.
    #[must_use]
    pub fn has_fence(&self, instr: InstrId, place: Place, strength: FenceStrength) -> bool {
        self.fences.get(&Point { instr, place }).is_some_and(|&present| present >= strength)
    }

    /// The level before which the first fence of at least this strength stands inside the evaluation, behind `level`. A fence before a
    /// level that this evaluation of the instruction does not have is not on its way.
    #[must_use]
    pub fn first_fence_inside(&self, evaluation: &Evaluation, level: u32, strength: FenceStrength) -> Option<u32> {
        (level + 1..=evaluation.last_level()).find(|&k| self.has_fence(evaluation.instr, Place::Inside(k), strength))
    }
}

/// The points that a path crosses between an event of its first evaluation and an event of its last one.
///
/// `path` are the evaluations in order; `from` and `to` the levels of the two events.
#[must_use]
pub fn points_between(path: &[&Evaluation], from: u32, to: u32) -> BTreeSet<Point> {
    let mut points = BTreeSet::new();
    for (position, evaluation) in path.iter().enumerate() {
        let instr = evaluation.instr;
        let is_last = position + 1 == path.len();
        if position > 0 {
            points.insert(Point { instr, place: Place::Before });
        }
        let first_level = if position == 0 { from + 1 } else { 1 };
        let last_level = if is_last { to } else { evaluation.last_level() };
        points.extend((first_level..=last_level).map(|level| Point { instr, place: Place::Inside(level) }));
        if !is_last {
            points.insert(Point { instr, place: Place::After });
        }
    }
    points
}

impl Point {
    /// All points of the program at which a fence can make a difference.
    #[must_use]
    pub fn all(graph: &AbstractEventGraph) -> BTreeSet<Point> {
        let mut points = BTreeSet::new();
        for evaluation in &graph.evaluations {
            let instr = evaluation.instr;
            points.extend([Place::Before, Place::After].map(|place| Point { instr, place }));
            points.extend((1..=evaluation.last_level()).map(|level| Point { instr, place: Place::Inside(level) }));
        }
        points
    }
}
