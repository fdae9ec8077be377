//! The fewest fences for the program: a lower bound from runs, and a search for fences that cost no more.
//!
//! A run that shows a feasible pair has its thread go alone from the delayed write to what overtakes it. Fences
//! elsewhere do not stop it: before the write the thread and after it the others are sequentially consistent. So
//! every set of fences that is enough has one at a point of that way ([`Fewest::demand`]), and the cheapest fences
//! that meet all ways are a lower bound ([`Fewest::cost_of`]).
//!
//! [`Fewest::place`] goes on until the bound is met: the cheapest fences that meet all ways known are put in, and the
//! program is searched again; every run that gets past them is another way. If there is none, on PSO in none of [all
//! runs](crate::weak::runs) either, these fences are enough and cost no more than the bound.

use super::Subject;
use crate::analysis::Recheck;
use crate::budget::Exhausted;
use crate::insertion::{Answer, Candidate, Choice, Demand, Fences, Insertion, Weight, fewest};
use crate::memory::FenceStrength;
use crate::placement::exact::unreadability;
use crate::placement::{Minimality, Placement};
use crate::repair::Repair;
use crate::weak::attack::{Attack, Pair, Witness};
use crate::weak::runs::{self, RunsVerdict};
use crate::weak::split::SplitProgram;
use crate::weak::visited::{Allowance, LimitReached};
use crate::weak::ways::Way;
use crate::weak::{Granularity, Machine};
use std::collections::BTreeSet;

/// What is known of fences found here: with them no pair is feasible, and each is on the way of a run that the others
/// let pass.
pub(super) const RECHECKED: Recheck = Recheck { done: true, enough: true, each_needed: true };

/// All sites of a program at which a fence can stand.
pub(super) struct Fewest<'a> {
    subject: &'a Subject<'a>,
    candidates: Vec<Candidate>,
}

/// What is searched with fences in place.
pub(super) struct FencedSearch<'a> {
    /// The pairs that may be feasible; only these are tried.
    pub pairs: BTreeSet<Pair>,
    pub split: &'a SplitProgram,
    pub machine: Machine,
    pub granularity: Granularity,
    pub allowance: Allowance,
    pub buffer: usize,
}

/// The fewest fences that are enough, and the pairs for which runs were found on the way to them.
pub(super) struct Found {
    pub placement: Placement,
    pub confirmed: BTreeSet<Pair>,
}

/// The search did not come to an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GivenUp {
    /// The states are spent.
    OutOfStates,
    /// A limit of the command was reached.
    Stopped(Exhausted),
    /// No fence is known to help, or, on PSO, some run was not seen to its end or is not stopped.
    Undecided,
}

impl From<LimitReached> for GivenUp {
    fn from(limit: LimitReached) -> GivenUp {
        match limit {
            LimitReached::States => GivenUp::OutOfStates,
            LimitReached::Budget(limit) => GivenUp::Stopped(limit),
        }
    }
}

impl<'a> Fewest<'a> {
    pub(super) fn new(subject: &'a Subject<'a>) -> Fewest<'a> {
        let sites = subject.analysis.graph.sites().into_iter();
        Fewest { subject, candidates: sites.map(|site| (site, FenceStrength::Plain)).collect() }
    }

    fn cost(&self, (site, strength): Candidate) -> u64 {
        self.subject.options.costs.of(site, strength)
    }

    /// The least that fences cost which meet the ways of all these runs; a run that no fence stops asks for nothing.
    /// Nothing if the budget is exhausted before that is known, so that nobody takes it for a proof.
    pub(super) fn cost_of(&self, witnesses: &[Witness]) -> u64 {
        self.subject.options.costs.total(&self.meeting(witnesses, &|candidate| self.cost(candidate)))
    }

    /// The fewest fences that meet the ways of all these runs; none, as for [`cost_of`](Fewest::cost_of).
    pub(super) fn num_of(&self, witnesses: &[Witness]) -> usize {
        self.meeting(witnesses, &|_| 1).len()
    }

    fn meeting(&self, witnesses: &[Witness], weight: Weight<'_>) -> Fences {
        let demands = self.demands_of(witnesses);
        match fewest(&self.choice(&[weight]), demands, &mut |_: &Fences| Answer::<()>::Holds) {
            Insertion::Fewest(fences) => fences,
            _ => Fences::new(),
        }
    }

    fn choice<'c>(&'c self, weights: &'c [Weight<'c>]) -> Choice<'c> {
        Choice { candidates: &self.candidates, weights, budget: &self.subject.analysis.graph.budget }
    }

    /// What runs demand that some fence stops.
    fn demands_of(&self, witnesses: &[Witness]) -> BTreeSet<Demand> {
        witnesses.iter().map(|witness| self.demand(witness)).filter(|demand| !demand.sites.is_empty()).collect()
    }

    /// The fewest fences that leave no pair feasible, and of these such as are easy to see in a text.
    pub(super) fn place(&self, search: &FencedSearch<'_>, witnesses: &[Witness]) -> Result<Found, GivenUp> {
        let mut confirmed = BTreeSet::new();
        let graph = &self.subject.analysis.graph;
        let mut checker = |fences: &Fences| match self.demands(search, fences, &mut confirmed) {
            Ok(demands) if demands.is_empty() => Answer::Holds,
            Ok(demands) => Answer::Fails(demands),
            Err(reason) => Answer::Undecided(reason),
        };
        let costs = &self.subject.options.costs;
        let (cost, readability) = (|candidate| self.cost(candidate), |(site, _): Candidate| unreadability(graph, site));
        let unfamiliarity = |(site, _): Candidate| costs.unfamiliarity(site);
        let mut weights: Vec<Weight<'_>> = vec![&cost, &readability];
        if costs.has_familiar() {
            weights.insert(1, &unfamiliarity);
        }
        let fences = match fewest(&self.choice(&weights), self.demands_of(witnesses), &mut checker) {
            Insertion::Fewest(fences) => fences,
            Insertion::Unfixable(_) => return Err(GivenUp::Undecided),
            Insertion::Undecided(_, reason) => return Err(reason),
            Insertion::Exhausted => return Err(graph.budget.exhausted().map_or(GivenUp::Undecided, GivenUp::Stopped)),
        };
        let cost = costs.total(&fences);
        Ok(Found { placement: Placement { fences, cost, minimality: Minimality::Program }, confirmed })
    }

    /// What each run that gets past these fences demands.
    fn demands(
        &self,
        search: &FencedSearch<'_>,
        fences: &Fences,
        confirmed: &mut BTreeSet<Pair>,
    ) -> Result<BTreeSet<Demand>, GivenUp> {
        let mut split = search.split.clone();
        let repair = Repair { fences: fences.clone(), ..Repair::default() };
        repair.apply(&self.subject.analysis.graph.outline, &mut split);
        let mut attack = Attack::new(&split, search.machine, search.granularity, search.allowance.clone())?;
        let mut demands = BTreeSet::new();
        for pair in attack.pairs().into_iter().filter(|pair| search.pairs.contains(pair)) {
            let Some(witness) = attack.confirm(pair)? else { continue };
            let demand = self.demand(&witness);
            // A fence inside an instruction can stand where it does not stop this run.
            if demand.sites.is_empty() || demand.is_met_by(fences) {
                return Err(GivenUp::Undecided);
            }
            confirmed.insert(pair);
            demands.insert(demand);
        }
        if demands.is_empty() && search.machine == Machine::Pso && !attack.pairs().is_empty() {
            // On PSO attacks by one thread that stops are not all.
            let (machine, granularity) = (search.machine, search.granularity);
            let all_runs = runs::examine(&split, machine, granularity, search.buffer, search.allowance.clone());
            if !matches!(all_runs?, RunsVerdict::Robust { is_complete: true, .. }) {
                return Err(GivenUp::Undecided);
            }
        }
        Ok(demands)
    }

    /// The sites at which a fence could stop this run.
    fn demand(&self, witness: &Witness) -> Demand {
        let way = Way::of_witness(witness, &self.subject.analysis.graph.outline);
        let sites = self.candidates.iter().map(|&(site, _)| site);
        Demand { sites: sites.filter_map(|site| Some((site, way.stops(site)?))).collect() }
    }
}
