//! Which delays a fence serves.
//!
//! A fence serves the delay (a, b) if it is the first fence that some path from a meets, unreached by chains until
//! there, and b comes behind it. So on every unsafe path of a delay its first fence serves it: choosing for each
//! fence an instruction that keeps the orders of all delays that it serves is safe.
//!
//! *Cost:* a walk for each access that delays begin with, and one for each label at which a fence is met; delays only
//! look up.

use super::Problem;
use crate::aeg::AbstractEventGraph;
use crate::ids::{LabelId, VertexId};
use crate::memory::FenceStrength;
use crate::outline::{Place, Site};
use crate::safety::Synchronisation;
use crate::safety::chain::{ChainSearch, Meeting, Trail};
use crate::safety::open::explore_open;
use fixedbitset::FixedBitSet;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

/// A fence, and the label at which a path meets it.
type Met = (Site, LabelId);

/// For every fence, the positions of the delays that it serves.
#[must_use]
pub fn served_delays(problem: &Problem<'_>, fences: &BTreeMap<Site, FenceStrength>) -> BTreeMap<Site, Vec<usize>> {
    let graph = problem.graph;
    let in_place = Synchronisation { fences: fences.clone(), locked: problem.in_place.locked.clone() };
    let chains = ChainSearch::new(graph, problem.model, &in_place);
    let mut served: BTreeMap<Site, Vec<usize>> = fences.keys().map(|&site| (site, Vec::new())).collect();
    let mut first_met: BTreeMap<(VertexId, FenceStrength), BTreeSet<Met>> = BTreeMap::new();
    let mut behind: BTreeMap<Met, FixedBitSet> = BTreeMap::new();
    for (position, delay) in problem.delays.iter().enumerate() {
        let asked = [(delay.is_unsafe, FenceStrength::Plain), (delay.cumulative, FenceStrength::Cumulative)];
        for (_, strength) in asked.into_iter().filter(|(is_asked, _)| *is_asked) {
            let met = first_met.entry((delay.from, strength)).or_insert_with(|| {
                fences_met(|note| match strength {
                    FenceStrength::Cumulative => explore_open(graph, &in_place, delay.from, note),
                    _ => chains.explore(delay.from, note),
                })
            });
            for &(site, label) in met.iter() {
                let vertices = behind.entry((site, label)).or_insert_with(|| comes_behind(graph, site, label));
                let list = served.entry(site).or_default();
                if vertices.contains(delay.to.index()) && list.last() != Some(&position) {
                    list.push(position);
                }
            }
        }
    }
    served
}

/// The fences that end the paths of a walk.
fn fences_met(walk: impl FnOnce(&mut dyn FnMut(Meeting, &Trail<'_>) -> ControlFlow<()>)) -> BTreeSet<Met> {
    let mut met = BTreeSet::new();
    walk(&mut |meeting, trail| {
        if let Meeting::Fence(site) = meeting {
            met.insert((site, trail.last_label()));
        }
        ControlFlow::Continue(())
    });
    met
}

/// What a path can perform behind the fence that stands at this site of this label.
fn comes_behind(graph: &AbstractEventGraph, site: Site, label: LabelId) -> FixedBitSet {
    let mut behind = FixedBitSet::with_capacity(graph.vertices.len());
    let first_level = match site.place {
        Place::Before => Some(0),
        Place::Inside(level) => Some(level),
        Place::After | Place::On | Place::State => None,
    };
    let here = graph.evaluation(label).events.iter();
    let here = here.filter(|event| first_level.is_some_and(|level| event.level >= level));
    behind.extend(here.map(|event| event.vertex.index()));
    for later in graph.labels_after(label).ones() {
        behind.extend(graph.evaluations[later].events.iter().map(|event| event.vertex.index()));
    }
    behind
}
