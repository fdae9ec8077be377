//! The fewest fences for the program: a lower bound from runs, and a search for fences that cost no more.
//!
//! A run that shows a feasible pair has its thread go alone from the delayed write to what overtakes it. Fences elsewhere do not stop it: before the write the thread and after it the others are sequentially consistent.
//! So every set of fences that is enough has one at a point of that way ([`Fewest::demand`]), and the cheapest fences that meet all ways are a lower bound ([`Fewest::cost_of`]).
//!
//! [`Fewest::place`] goes on until the bound is met: the cheapest fences that meet all ways known are put in, and the program is searched again; every run that gets past them is another way. If there is none, on PSO in none
//! of [all runs](crate::weak::runs) either, these fences are enough and cost no more than the bound.

use super::Subject;
use crate::analysis::Recheck;
use crate::budget::Exhausted;
use crate::memory::FenceStrength;
use crate::placement::exact::unreadability;
use crate::placement::maxsat::Minimiser;
use crate::placement::{Minimality, Placement};
use crate::repair::Repair;
use crate::safety::{Place, Point};
use crate::source::{At, instruction};
use crate::weak::attack::{Attack, Pair, Visibility, Witness};
use crate::weak::runs::{self, Verdict};
use crate::weak::split::SplitProgram;
use crate::weak::system::Event;
use crate::weak::threads::Progress;
use crate::weak::visited::{Allowance, LimitReached};
use crate::weak::{Granularity, Machine};
use std::collections::{BTreeMap, BTreeSet};

/// What is known of fences found here: with them no pair is feasible, and each is on the way of a run that the others let pass.
pub(super) const RECHECKED: Recheck = Recheck { done: true, enough: true, each_needed: true };

/// All points of a program at which a fence can stand.
pub(super) struct Fewest<'a> {
    subject: &'a Subject<'a>,
    points: Vec<(Point, At)>,
}

/// What is searched with fences in place.
pub(super) struct Search<'a> {
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
        let points = Point::all(&subject.analysis.graph).into_iter();
        let points =
            points.filter_map(|point| Some((point, instruction(subject.program, subject.analysis, point.instr)?)));
        Fewest { subject, points: points.collect() }
    }

    /// What a fence costs at one of the points.
    fn cost(&self, variable: usize) -> u64 {
        self.subject.options.costs.of(self.points[variable].0, FenceStrength::Plain)
    }

    /// The least that fences cost which meet the ways of all these runs; nothing if the budget is exhausted before that is known, so that nobody takes it for a proof.
    pub(super) fn cost_of(&self, witnesses: &[Witness]) -> u64 {
        let chosen = self.minimiser(witnesses).minimise(|variable| self.cost(variable), |_| Vec::new());
        chosen.into_iter().flatten().map(|variable| self.cost(variable)).sum()
    }

    fn minimiser(&self, witnesses: &[Witness]) -> Minimiser {
        let mut minimiser = Minimiser::new(self.points.len(), &self.subject.analysis.graph.budget);
        let demands: BTreeSet<Vec<usize>> = witnesses.iter().map(|witness| self.demand(witness)).collect();
        // A run that no fence stops asks for nothing.
        for demand in demands.into_iter().filter(|demand| !demand.is_empty()) {
            minimiser.require_one_of(demand);
        }
        minimiser
    }

    /// The fewest fences that leave no pair feasible, and of these such as are easy to see in a text.
    pub(super) fn place(&self, search: &Search<'_>, witnesses: &[Witness]) -> Result<Found, GivenUp> {
        let mut minimiser = self.minimiser(witnesses);
        let mut confirmed = BTreeSet::new();
        let mut given_up = None;
        let mut fences = BTreeMap::new();
        let graph = &self.subject.analysis.graph;
        let weights: [&dyn Fn(usize) -> u64; 2] =
            [&|variable| self.cost(variable), &|variable| unreadability(graph, self.points[variable].0)];
        for weight in weights {
            let chosen = minimiser.minimise(weight, |chosen| {
                self.demands(search, chosen, &mut confirmed).unwrap_or_else(|reason| {
                    given_up = Some(reason);
                    Vec::new()
                })
            });
            if let Some(reason) = given_up {
                return Err(reason);
            }
            let chosen = chosen.ok_or_else(|| graph.budget.exhausted().map_or(GivenUp::Undecided, GivenUp::Stopped))?;
            fences = chosen.iter().map(|&variable| (self.points[variable].0, FenceStrength::Plain)).collect();
        }
        let cost = self.subject.options.costs.total(&fences);
        Ok(Found { placement: Placement { fences, cost, minimality: Minimality::Program }, confirmed })
    }

    /// The points of which each run that gets past these fences asks for one.
    fn demands(
        &self,
        search: &Search<'_>,
        chosen: &[usize],
        confirmed: &mut BTreeSet<Pair>,
    ) -> Result<Vec<Vec<usize>>, GivenUp> {
        let fences = chosen.iter().map(|&variable| (self.points[variable].1, self.points[variable].0.place)).collect();
        let mut split = search.split.clone();
        Repair { fences, ..Repair::default() }.apply(&mut split);
        let mut attack = Attack::new(&split, search.machine, search.granularity, search.allowance.clone())?;
        let mut demands = Vec::new();
        for pair in attack.pairs().into_iter().filter(|pair| search.pairs.contains(pair)) {
            let Some(witness) = attack.confirm(pair)? else { continue };
            let demand = self.demand(&witness);
            // A fence inside an instruction can stand where it does not stop this run.
            if demand.is_empty() || demand.iter().any(|variable| chosen.contains(variable)) {
                return Err(GivenUp::Undecided);
            }
            confirmed.insert(pair);
            demands.push(demand);
        }
        if demands.is_empty() && search.machine == Machine::Pso && !attack.pairs().is_empty() {
            // On PSO attacks by one thread that stops are not all.
            let (machine, granularity) = (search.machine, search.granularity);
            let all_runs = runs::examine(&split, machine, granularity, search.buffer, search.allowance.clone());
            if !matches!(all_runs?, Verdict::Robust { is_complete: true, .. }) {
                return Err(GivenUp::Undecided);
            }
        }
        Ok(demands)
    }

    /// The points that a fence could stop this run at.
    fn demand(&self, witness: &Witness) -> Vec<usize> {
        let way = Way::of(witness);
        (0..self.points.len())
            .filter(|&variable| way.passes(self.points[variable].1, self.points[variable].0.place))
            .collect()
    }
}

/// What the thread of a witness passes between the two accesses of the pair.
struct Way {
    between: BTreeSet<(At, Place)>,
    /// Instructions that it was in the middle of: a fence inside them may have been passed.
    inside: BTreeSet<At>,
}

impl Way {
    fn of(witness: &Witness) -> Way {
        let delayed = witness.private.iter().position(|(_, visibility)| *visibility == Visibility::Delayed);
        let steps: Vec<&Event> = witness.private.iter().skip(delayed.unwrap_or(0)).map(|(event, _)| event).collect();
        let mut way = Way { between: BTreeSet::new(), inside: BTreeSet::new() };
        // Between two steps there is a point if the first ends its instruction: behind it, if it was taken, and before the next one.
        for (before, after) in steps.iter().zip(steps.iter().skip(1)) {
            let (left, entered) = ((before.thread, before.instruction), (after.thread, after.instruction));
            match before.progress {
                Progress::InTheMiddle => {
                    way.inside.insert(left);
                }
                Progress::Done => {
                    way.between.extend([(left, Place::After), (entered, Place::Before)]);
                }
                Progress::WithoutEffect => {
                    way.between.insert((entered, Place::Before));
                }
            }
        }
        way
    }

    fn passes(&self, at: At, place: Place) -> bool {
        match place {
            Place::Inside(_) => self.inside.contains(&at),
            Place::Before | Place::After | Place::State => self.between.contains(&(at, place)),
        }
    }
}
