//! Paths that no fence meets yet: the separation step of placement (method §9).
//!
//! For a delay, the search of method §5 runs with the chosen fences in place; the first unsafe path that it finds
//! from a to b is a shortest one, and gives the constraint "a fence at one of the sites that this path crosses". For
//! a cumulative delay every path counts, and the fence must be cumulative. If no path is found, the fences are
//! enough.

use crate::aeg::AbstractEventGraph;
use crate::cycles::Delay;
use crate::ids::VertexId;
use crate::insertion::Demand;
use crate::memory::{FenceStrength, MemoryModel};
use crate::outline::Site;
use crate::safety::chain::{ChainSearch, Meeting, Trail};
use crate::safety::open::explore_open;
use crate::safety::{Synchronisation, sites_between};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

/// For every delay that is still open with these fences in place, one path that no fence meets.
#[must_use]
pub fn open_paths(
    graph: &AbstractEventGraph,
    model: &MemoryModel,
    in_place: &Synchronisation,
    delays: &[&Delay],
) -> BTreeSet<Demand> {
    let mut found = BTreeSet::new();
    let chains = ChainSearch::new(graph, model, in_place);
    for strength in [FenceStrength::Plain, FenceStrength::Cumulative] {
        let mut ends: BTreeMap<VertexId, BTreeSet<VertexId>> = BTreeMap::new();
        for delay in delays {
            let asks = match strength {
                FenceStrength::Cumulative => delay.cumulative,
                _ => delay.is_unsafe,
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
                    found.insert(Demand::of(crossed(graph, trail, event), strength));
                }
                if wanted.is_empty() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            };
            match strength {
                FenceStrength::Cumulative => explore_open(graph, in_place, a, &mut report),
                _ => chains.explore(a, &mut report),
            }
        }
    }
    found
}

/// The sites between the event that a path begins with and one of its last label.
fn crossed(graph: &AbstractEventGraph, trail: &Trail<'_>, end: usize) -> BTreeSet<Site> {
    let (start, labels) = trail.start_and_labels();
    let path: Vec<_> = labels.iter().map(|&label| graph.evaluation(label)).collect();
    let (first, last) = (path[0], path[path.len() - 1]);
    sites_between(graph, &path, first.events[start].level, last.events[end].level)
}
