//! What is in place: fences at sites of the program, and locked instructions.

use crate::aeg::{AbstractEventGraph, Evaluation};
use crate::ids::InstrId;
use crate::memory::FenceStrength;
use crate::outline::Site;
use std::collections::{BTreeMap, BTreeSet};

/// Fences and locks in place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Synchronisation {
    /// The fences.
    pub fences: BTreeMap<Site, FenceStrength>,
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
    pub fn has_fence(&self, site: Site, strength: FenceStrength) -> bool {
        self.fences.get(&site).is_some_and(|&present| present >= strength)
    }

    /// The level before which the first fence of at least this strength stands inside the evaluation, behind `level`.
    /// A fence before a level that this evaluation of the instruction does not have is not on its way.
    #[must_use]
    pub fn first_fence_inside(&self, evaluation: &Evaluation, level: u32, strength: FenceStrength) -> Option<u32> {
        (level + 1..=evaluation.last_level_inside())
            .find(|&k| self.has_fence(Site::inside(evaluation.instr, k), strength))
    }

    /// A fence of at least this strength that stands behind the instruction: after it, or where it leads.
    #[must_use]
    pub fn fence_behind(&self, graph: &AbstractEventGraph, instr: InstrId, strength: FenceStrength) -> Option<Site> {
        let sites = [Some(Site::after(instr)), graph.outline.site_behind(instr)];
        sites.into_iter().flatten().find(|&site| self.has_fence(site, strength))
    }
}

/// The sites that a path crosses between an event of its first evaluation and an event of its last one.
///
/// `path` are the evaluations in order; `from` and `to` the levels of the two events.
#[must_use]
pub fn sites_between(graph: &AbstractEventGraph, path: &[&Evaluation], from: u32, to: u32) -> BTreeSet<Site> {
    let mut sites = BTreeSet::new();
    for (position, evaluation) in path.iter().enumerate() {
        let instr = evaluation.instr;
        let is_last = position + 1 == path.len();
        if position > 0 {
            sites.insert(Site::before(instr));
        }
        let first_level = if position == 0 { from + 1 } else { 1 };
        let last_level = evaluation.last_level_inside().min(if is_last { to } else { u32::MAX });
        sites.extend((first_level..=last_level).map(|level| Site::inside(instr, level)));
        if !is_last {
            sites.insert(Site::after(instr));
            sites.extend(graph.outline.junction_behind(instr));
        }
    }
    sites
}
