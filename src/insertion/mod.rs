//! One loop that turns demands into the fewest fences.
//!
//! A [`Checker`] knows whether a property holds with given fences in place, and if it does not, what it asks for: a
//! [`Demand`] is a set of sites of which every set of fences that is enough has one, at least of the strength that the
//! demand has for that site.
//! [`fewest`] keeps the demands, proposes the cheapest fences that meet them all, has them checked, adds the new
//! demands, and stops when the property holds. All demands are necessary, so nothing cheaper is enough.
//!
//! *Ties.* Several weights can be given; the second decides between choices that are equal by the first, and so on.
//! Each needs a round of its own, for a choice that no demand is against may still fail.
//!
//! [`all_minimal`] lists every set from which no fence can be left out, smallest first: a set that is not enough is
//! replaced by all those with one more fence that a demand asks for.
//!
//! *Cost.* A hitting set problem, NP-hard, solved by [`maxsat`]; demands of sequential code are like intervals, where
//! it is easy. There can be exponentially many minimal sets.
//!
//! *Limits.* If a checker cannot decide, the outcome is [`Insertion::Undecided`] with a lower bound. A checker whose
//! demands are not necessary for its property must not say that the result is a minimum.

pub(crate) mod maxsat;

use crate::budget::Budget;
use crate::memory::FenceStrength;
use crate::outline::Site;
use maxsat::{Minimiser, Variable};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Fences by site.
pub type Fences = BTreeMap<Site, FenceStrength>;

/// A fence that may be put in.
pub type Candidate = (Site, FenceStrength);

/// One of these sites needs a fence, at least of the strength that it has here.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Demand {
    /// The sites, and the least strength of a fence there.
    pub sites: BTreeMap<Site, FenceStrength>,
}

impl Demand {
    /// One of these sites needs a fence, at least of this strength.
    #[must_use]
    pub fn of(sites: impl IntoIterator<Item = Site>, strength: FenceStrength) -> Demand {
        Demand { sites: sites.into_iter().map(|site| (site, strength)).collect() }
    }

    /// Whether one of the fences meets it.
    #[must_use]
    pub fn is_met_by(&self, fences: &Fences) -> bool {
        fences.iter().any(|(&site, &strength)| self.is_met_by_one((site, strength)))
    }

    /// Whether this fence meets it.
    #[must_use]
    pub fn is_met_by_one(&self, (site, strength): Candidate) -> bool {
        self.sites.get(&site).is_some_and(|&least| strength.does_all_of(least))
    }
}

/// What a checker says of fences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer<Stop> {
    /// With these the property holds.
    Holds,
    /// It does not; every set of fences that is enough meets these, and these fences miss one of them.
    Fails(BTreeSet<Demand>),
    /// It could not be found out: why.
    Undecided(Stop),
}

/// Knows whether a property holds with fences in place. It may keep whatever it likes between calls.
pub trait Checker {
    /// Why it cannot decide.
    type Stop;

    /// Whether the property holds with these fences in place.
    fn check(&mut self, fences: &Fences) -> Answer<Self::Stop>;
}

impl<Stop, F: FnMut(&Fences) -> Answer<Stop>> Checker for F {
    type Stop = Stop;

    fn check(&mut self, fences: &Fences) -> Answer<Stop> {
        self(fences)
    }
}

/// What came of the loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Insertion<Stop> {
    /// These fences are enough, and nothing weighs less.
    Fewest(Fences),
    /// No candidate meets this demand: no fences are enough.
    Unfixable(Demand),
    /// The checker stopped. No set that is enough weighs less than these fences, by the first weight.
    Undecided(Fences, Stop),
    /// The budget was exhausted before an answer was known.
    Exhausted,
}

/// What a fence weighs.
pub type Weight<'w> = &'w dyn Fn(Candidate) -> u64;

/// What can be chosen from.
#[derive(Clone, Copy)]
pub struct Choice<'c> {
    /// The fences that may be put in.
    pub candidates: &'c [Candidate],
    /// What they weigh: the first before the second, and so on.
    pub weights: &'c [Weight<'c>],
    /// What the search may use.
    pub budget: &'c Budget,
}

/// The fences of least weight with which the property holds; these demands are known already.
pub fn fewest<C: Checker>(
    choice: &Choice<'_>,
    known: impl IntoIterator<Item = Demand>,
    checker: &mut C,
) -> Insertion<C::Stop> {
    let Choice { candidates, weights, budget } = *choice;
    let mut minimiser = Minimiser::new(candidates.len(), budget);
    for demand in known {
        match meeting(candidates, &demand) {
            clause if clause.is_empty() => return Insertion::Unfixable(demand),
            clause => minimiser.require_one_of(clause),
        }
    }
    let mut best: Option<Fences> = None;
    for weight in weights {
        let mut end = None;
        let chosen = minimiser.minimise(
            |variable| weight(candidates[variable]),
            |chosen| {
                let chosen = fences(candidates, chosen);
                let demands = match checker.check(&chosen) {
                    Answer::Holds => return Vec::new(),
                    Answer::Undecided(stop) => {
                        end = Some(Insertion::Undecided(chosen, stop));
                        return Vec::new();
                    }
                    Answer::Fails(demands) => demands,
                };
                let clauses: Vec<Vec<Variable>> = demands.iter().map(|demand| meeting(candidates, demand)).collect();
                if let Some((_, demand)) = clauses.iter().zip(demands).find(|(clause, _)| clause.is_empty()) {
                    end = Some(Insertion::Unfixable(demand));
                    return Vec::new();
                }
                clauses
            },
        );
        match (end, chosen, &best) {
            (None, Some(chosen), _) => best = Some(fences(candidates, &chosen)),
            // Of those that weigh least by the first weight one is known to be enough, if not the best by the others.
            (_, _, Some(known)) => return Insertion::Fewest(known.clone()),
            (Some(end), _, None) => return end,
            (None, None, None) => return Insertion::Exhausted,
        }
    }
    Insertion::Fewest(best.unwrap_or_default())
}

/// All minimal sets of plain fences, whatever weaker ones would do, at sites that are allowed, the smallest first, but
/// no more than `most`, or than the budget lasts; and whether these are all. What the checker demands once is
/// remembered: it is asked only about sets that meet all of it.
///
/// # Errors
/// If the checker cannot decide.
pub fn all_minimal<C: Checker>(
    is_allowed: impl Fn(Site) -> bool,
    most: usize,
    checker: &mut C,
    budget: &Budget,
) -> Result<(Vec<BTreeSet<Site>>, bool), C::Stop> {
    let mut known: BTreeSet<Demand> = BTreeSet::new();
    let mut demands_of = |sites: &BTreeSet<Site>| {
        let fences: Fences = sites.iter().map(|&site| (site, FenceStrength::Plain)).collect();
        let unmet: BTreeSet<Demand> = known.iter().filter(|demand| !demand.is_met_by(&fences)).cloned().collect();
        if !unmet.is_empty() {
            return Ok(unmet);
        }
        match checker.check(&fences) {
            Answer::Holds => Ok(BTreeSet::new()),
            Answer::Undecided(stop) => Err(stop),
            Answer::Fails(demands) => {
                known.extend(demands.iter().cloned());
                Ok(demands)
            }
        }
    };
    let mut minimal: Vec<BTreeSet<Site>> = Vec::new();
    let mut seen = BTreeSet::from([BTreeSet::new()]);
    let mut queue = VecDeque::from([BTreeSet::new()]);
    while let Some(sites) = queue.pop_front() {
        if budget.is_over() {
            return Ok((minimal, false));
        }
        if minimal.iter().any(|smaller| smaller.is_subset(&sites)) {
            continue;
        }
        let demands = demands_of(&sites)?;
        let allowed = |demand: Demand| demand.sites.into_keys().filter(|&site| is_allowed(site)).collect();
        let demands: BTreeSet<BTreeSet<Site>> = demands.into_iter().map(allowed).collect();
        let Some(asked) = demands.into_iter().min_by_key(BTreeSet::len) else {
            // Smaller sets came first, but a larger one can still have a fence too many: it was needed for another
            // demand only.
            let mut is_minimal = true;
            for fence in &sites {
                let less = sites.iter().copied().filter(|other| other != fence).collect();
                is_minimal &= !demands_of(&less)?.is_empty();
            }
            if is_minimal {
                if minimal.len() == most {
                    return Ok((minimal, false));
                }
                minimal.push(sites);
            }
            continue;
        };
        for site in asked {
            let mut more = sites.clone();
            more.insert(site);
            if seen.insert(more.clone()) {
                queue.push_back(more);
            }
        }
    }
    Ok((minimal, true))
}

/// The variables whose fence meets the demand.
fn meeting(candidates: &[Candidate], demand: &Demand) -> Vec<Variable> {
    (0..candidates.len()).filter(|&variable| demand.is_met_by_one(candidates[variable])).collect()
}

/// The fences chosen, the strongest at each site.
fn fences(candidates: &[Candidate], chosen: &[Variable]) -> Fences {
    let mut fences = Fences::new();
    for &variable in chosen {
        let (site, strength) = candidates[variable];
        let present = fences.entry(site).or_insert(strength);
        *present = strength.join(*present);
    }
    fences
}
