//! Which delays a fence serves.
//!
//! A fence serves the delay (a, b) if it is the first fence that some path from a meets, unreached by chains until there, and b comes behind it. So on every unsafe path
//! of a delay its first fence serves it: choosing for each fence an instruction that keeps the orders of all delays that it serves is safe.

use super::Problem;
use crate::ids::{LabelId, VertexId};
use crate::memory::FenceStrength;
use crate::outline::{Place, Site};
use crate::safety::Synchronisation;
use crate::safety::chain::{ChainSearch, Meeting, Trail};
use crate::safety::open::explore_open;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

/// For every fence, the positions of the delays that it serves.
#[must_use]
pub fn served_delays(problem: &Problem<'_>, fences: &BTreeMap<Site, FenceStrength>) -> BTreeMap<Site, Vec<usize>> {
    let graph = problem.graph;
    let in_place = Synchronisation { fences: fences.clone(), locked: problem.in_place.locked.clone() };
    let chains = ChainSearch::new(graph, problem.model, &in_place);
    let mut served: BTreeMap<Site, Vec<usize>> = fences.keys().map(|&site| (site, Vec::new())).collect();
    for (position, delay) in problem.delays.iter().enumerate() {
        let mut first_met: BTreeSet<(Site, LabelId)> = BTreeSet::new();
        let mut note = |met: Meeting, trail: &Trail<'_>| {
            if let Meeting::Fence(site) = met {
                first_met.extend(trail.labels().last().map(|&label| (site, label)));
            }
            ControlFlow::Continue(())
        };
        if delay.is_unsafe {
            chains.explore(delay.from, &mut note);
        }
        if delay.cumulative {
            explore_open(graph, &in_place, delay.from, &mut note);
        }
        for (site, label) in first_met {
            let list = served.entry(site).or_default();
            if comes_behind(problem, site, label, delay.to) && list.last() != Some(&position) {
                list.push(position);
            }
        }
    }
    served
}

/// Whether a path can perform `b` behind the fence that stands at this site of this label.
fn comes_behind(problem: &Problem<'_>, site: Site, label: LabelId, b: VertexId) -> bool {
    let graph = problem.graph;
    let first_level = match site.place {
        Place::Before => Some(0),
        Place::Inside(level) => Some(level),
        Place::After | Place::State => None,
    };
    let here = &graph.evaluation(label).events;
    if first_level.is_some_and(|level| here.iter().any(|event| event.vertex == b && event.level >= level)) {
        return true;
    }
    let mut seen = BTreeSet::new();
    let mut stack = vec![label];
    while let Some(current) = stack.pop() {
        for &next in &graph.evaluation(current).successors {
            if graph.evaluation(next).events.iter().any(|event| event.vertex == b) {
                return true;
            }
            if seen.insert(next) {
                stack.push(next);
            }
        }
    }
    false
}
