//! Paths that no fence meets yet: the separation step of placement (method §9).
//!
//! For a delay, the search of method §5 runs with the chosen fences in place; the first unsafe path that it finds from a to b is a shortest one, and gives the constraint
//! "a fence at one of the points that this path crosses". For a cumulative delay every path counts, and the fence must be cumulative.
//! If no path is found, the fences are enough.

use crate::aeg::AbstractEventGraph;
use crate::cycles::Delay;
use crate::ids::VertexId;
use crate::memory::{FenceStrength, MemoryModel};
use crate::safety::chain::{ChainSearch, Meeting, Trail};
use crate::safety::open::explore_open;
use crate::safety::{Point, Synchronisation, points_between};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

/// A path that must meet a fence: the points that it crosses, and how strong the fence must be.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OpenPath {
    /// The points that the path crosses, sorted.
    pub points: Vec<Point>,
    /// The strength that is needed.
    pub strength: FenceStrength,
}

impl OpenPath {
    /// Whether one of the fences meets the path.
    #[must_use]
    pub fn is_met_by(&self, fences: &BTreeMap<Point, FenceStrength>) -> bool {
        self.points.iter().any(|point| fences.get(point).is_some_and(|&strength| strength >= self.strength))
    }
}

/// For every delay that is still open with these fences in place, one path that no fence meets.
#[must_use]
pub fn open_paths(
    graph: &AbstractEventGraph,
    model: &MemoryModel,
    in_place: &Synchronisation,
    delays: &[&Delay],
) -> BTreeSet<OpenPath> {
    let mut found = BTreeSet::new();
    let chains = ChainSearch::new(graph, model, in_place);
    for strength in [FenceStrength::Plain, FenceStrength::Cumulative] {
        let mut ends: BTreeMap<VertexId, BTreeSet<VertexId>> = BTreeMap::new();
        for delay in delays {
            let asks = match strength {
                FenceStrength::Plain => delay.is_unsafe,
                FenceStrength::Cumulative => delay.cumulative,
            };
            if asks {
                ends.entry(delay.from).or_default().insert(delay.to);
            }
        }
        for (a, mut wanted) in ends {
            let mut report = |met: Meeting, trail: &Trail<'_>| {
                if let Meeting::Access { vertex, event } = met
                    && wanted.remove(&vertex)
                {
                    found.insert(OpenPath { points: crossed(graph, trail, event), strength });
                }
                if wanted.is_empty() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            };
            match strength {
                FenceStrength::Plain => chains.explore(a, &mut report),
                FenceStrength::Cumulative => explore_open(graph, in_place, a, &mut report),
            }
        }
    }
    found
}

/// The points between the event that a path begins with and one of its last label.
fn crossed(graph: &AbstractEventGraph, trail: &Trail<'_>, end: usize) -> Vec<Point> {
    let (start, labels) = trail.start_and_labels();
    let path: Vec<_> = labels.iter().map(|&label| graph.evaluation(label)).collect();
    let (first, last) = (path[0], path[path.len() - 1]);
    points_between(&path, first.events[start].level, last.events[end].level).into_iter().collect()
}
