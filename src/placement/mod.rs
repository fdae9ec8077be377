//! Placement: where the fences go (method §9), and which locks are taken by whom (method §8).
//!
//! A fence stands at a [`Site`]: before an instruction, after it, inside it between two levels of its accesses, or at
//! a control state. For every delay, every unsafe path from a to b must meet a chosen site; for a cumulative delay,
//! every path must meet a site with a cumulative fence. That is a minimum-cost cut, solved exactly by [`exact`], or
//! quickly by [`greedy`]. Both take paths from [`paths`], which finds those that no chosen fence meets; [`recheck`]
//! believes neither of them.
//!
//! Fences of one thread do nothing for another, so each thread is solved on its own.

pub mod cost;
pub mod exact;
pub mod greedy;
pub mod locks;
pub mod paths;
pub mod recheck;
pub mod service;

use crate::aeg::AbstractEventGraph;
use crate::cycles::Delay;
use crate::ids::ThreadId;
use crate::insertion::{Demand, Fences};
use crate::memory::{FenceStrength, MemoryModel};
use crate::outline::Site;
use crate::safety::Synchronisation;
use cost::Costs;
use std::collections::BTreeSet;

/// How fences are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Minimum cost, proven for the paths of the delays.
    Exact,
    /// The paper's: the point on the most open paths first.
    Greedy,
}

/// The fences chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    /// The sites and what stands there.
    pub fences: Fences,
    /// The sum of their costs.
    pub cost: u64,
    /// Whether that is the least possible.
    pub minimality: Minimality,
}

/// What is known of whether less would do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Minimality {
    /// No cheaper fences are enough for the program: proven.
    Program,
    /// No cheaper fences meet all paths of all delays: proven. The program may need less than the event graph.
    EventGraph,
    /// No cheaper fences are enough for an abstraction of the program: proven. The program may need less than that.
    Abstraction,
    /// The placement was greedy.
    Greedy,
    /// The fences are for what the program may do, and so enough; for what it certainly does at least so many are
    /// needed.
    AtLeast(usize),
}

/// All sets of fences from which no fence can be left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MinimalSets {
    /// For each part of the program that needs fences its minimal sets, smallest first: the threads, or all of it.
    /// Those of the program are all combinations.
    pub parts: Vec<Vec<Vec<Site>>>,
    /// Whether these are all.
    pub complete: bool,
}

/// What fences are placed for.
pub struct Problem<'a> {
    /// The graph.
    pub graph: &'a AbstractEventGraph,
    /// The memory model.
    pub model: &'a MemoryModel,
    /// The delays to enforce.
    pub delays: &'a [Delay],
    /// The locks in place.
    pub in_place: &'a Synchronisation,
    /// What fences cost.
    pub costs: &'a Costs,
}

/// Chooses fences that enforce all delays.
#[must_use]
pub fn place(problem: &Problem<'_>, method: Method) -> Placement {
    let mut fences = Fences::new();
    for thread in (0..problem.graph.threads.len()).map(ThreadId::new) {
        let delays: Vec<&Delay> =
            problem.delays.iter().filter(|delay| problem.graph.vertex(delay.from).thread == thread).collect();
        if delays.is_empty() {
            continue;
        }
        let part = ThreadProblem { problem, delays };
        fences.extend(match method {
            Method::Exact => exact::minimum(&part),
            Method::Greedy => greedy::choose(&part).fences,
        });
    }
    let cost = problem.costs.total(&fences);
    let minimality = match method {
        Method::Exact => Minimality::EventGraph,
        Method::Greedy => Minimality::Greedy,
    };
    Placement { fences, cost, minimality }
}

/// The part of a problem that concerns one thread.
pub struct ThreadProblem<'a> {
    problem: &'a Problem<'a>,
    delays: Vec<&'a Delay>,
}

impl ThreadProblem<'_> {
    /// The paths that fences must still meet, if these are chosen.
    fn open_paths(&self, fences: &Fences) -> BTreeSet<Demand> {
        let in_place = Synchronisation { fences: fences.clone(), locked: self.problem.in_place.locked.clone() };
        paths::open_paths(self.problem.graph, self.problem.model, &in_place, &self.delays)
    }

    fn cost(&self, site: Site, strength: FenceStrength) -> u64 {
        self.problem.costs.of(site, strength)
    }
}
