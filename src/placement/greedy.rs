//! The paper's placement: again and again a fence at the place that most open paths share (§5 of the paper).
//!
//! The paper counts instructions over the paths of all listed cycles; here the paths come one for each open delay,
//! until none is left. The result is enough, rarely minimal, and never better than the exact one. The paper knows no
//! control states: no fence stands at one.

use super::ThreadProblem;
use crate::insertion::{Demand, Fences};
use crate::memory::FenceStrength;
use crate::outline::{Place, Site};
use std::collections::{BTreeMap, BTreeSet};

/// The fences chosen, and all paths that were seen on the way.
pub struct Choice {
    /// The fences.
    pub fences: Fences,
    /// The paths that they were chosen for.
    pub paths: BTreeSet<Demand>,
}

/// Chooses fences until no path is open.
#[must_use]
pub fn choose(part: &ThreadProblem<'_>) -> Choice {
    let mut fences = Fences::new();
    let mut paths = BTreeSet::new();
    loop {
        let new = part.open_paths(&fences);
        if new.is_empty() {
            return Choice { fences, paths };
        }
        let mut open: Vec<&Demand> = new.iter().collect();
        while let Some((site, strength)) = most_shared(part, &open) {
            let present = fences.entry(site).or_insert(strength);
            *present = strength.max(*present);
            open.retain(|path| !path.is_met_by(&fences));
        }
        paths.extend(new);
    }
}

/// A site, how many open paths cross it, and how strong a fence they ask for.
type Candidate = (Site, (u64, FenceStrength));

/// The site on the most open paths for its cost; of equals, the first in the program text. It must be as strong as
/// the strongest path there asks.
fn most_shared(part: &ThreadProblem<'_>, open: &[&Demand]) -> Option<(Site, FenceStrength)> {
    let mut counters: BTreeMap<Site, (u64, FenceStrength)> = BTreeMap::new();
    for path in open {
        for (&site, &asked) in path.sites.iter().filter(|(site, _)| site.place != Place::State) {
            let (count, strength) = counters.entry(site).or_insert((0, asked));
            *count += 1;
            *strength = asked.max(*strength);
        }
    }
    // `count / cost` is compared by cross multiplication.
    let better = |(site, (count, strength)): Candidate, (other, (other_count, other_strength)): Candidate| {
        u128::from(count) * u128::from(part.cost(other, other_strength))
            > u128::from(other_count) * u128::from(part.cost(site, strength))
    };
    let (site, (_, strength)) =
        counters.into_iter().reduce(|best, next| if better(next, best) { next } else { best })?;
    Some((site, strength))
}
