//! The exact placement: an integer program over sites, path constraints added lazily (method §9).
//!
//! Every open path demands a fence at one of its sites; [`insertion`](crate::insertion) chooses the cheapest fences
//! that meet all paths seen so far, and [`paths`](super::paths) looks for one that they leave open. When there is
//! none, the choice is a proven minimum.
//!
//! *Ties.* Of several choices of least cost the one with the fewest cumulative fences is taken, and of those the one
//! whose fences stand where a reader looks first, after shared accesses rather than before or inside instructions:
//! three [objectives](Objective), minimised one after the other. If [costs](super::cost::Costs::preferring) prefer
//! some sites, these come before the last one.
//!
//! *Cost.* A hitting set problem, NP-hard; but the variables are those of one thread, some hundreds at most in
//! practice.

use super::{ThreadProblem, greedy};
use crate::aeg::Accesses;
use crate::insertion::{Answer, Candidate, Choice, Fences, Insertion, Weight, fewest};
use crate::memory::FenceStrength;
use crate::outline::{Place, Site};
use std::collections::BTreeSet;
use std::convert::Infallible;

/// What is minimised, the first before the second before the third.
#[derive(Clone, Copy)]
enum Objective {
    Cost,
    Cumulative,
    /// Where fences stand already for another memory model, if somebody asked for that.
    Unfamiliarity,
    /// After a shared access is where a reader looks first, inside an instruction is where a fence is hardest to place.
    Readability,
}

impl Objective {
    fn weight(self, part: &ThreadProblem<'_>, (site, strength): Candidate) -> u64 {
        match self {
            Objective::Cost => part.cost(site, strength),
            Objective::Cumulative => u64::from(strength == FenceStrength::Cumulative),
            Objective::Unfamiliarity => part.problem.costs.unfamiliarity(site),
            Objective::Readability => unreadability(part.problem.graph, site),
        }
    }
}

/// Weighs more than any other fences of a thread: of two choices with equally many fences, none with one at a control
/// state is taken if there is another.
const AT_A_STATE: u64 = 1 << 20;

/// How hard it is to see a fence at this site in the program's text: easiest after a shared access, hardest at a
/// control state, which is not at one place in the text.
#[must_use]
pub fn unreadability(accesses: &Accesses, site: Site) -> u64 {
    match site.place {
        Place::On => 0,
        Place::After => u64::from(accesses.is_quiet(site.instr)),
        Place::Before => 2,
        Place::Inside(_) => 3,
        Place::State => AT_A_STATE,
    }
}

/// Fences of least cost that meet every path of the thread's delays; those of the greedy choice if the budget is
/// exhausted before these are known.
#[must_use]
pub fn minimum(part: &ThreadProblem<'_>) -> Fences {
    let familiar = part.problem.costs.has_familiar().then_some(Objective::Unfamiliarity);
    let objectives =
        [Objective::Cost, Objective::Cumulative].into_iter().chain(familiar).chain([Objective::Readability]);
    let weights: Vec<_> = objectives.map(|objective| move |candidate| objective.weight(part, candidate)).collect();
    let weights: Vec<Weight<'_>> = weights.iter().map(|weight| weight as Weight<'_>).collect();
    let choice = Choice { candidates: &candidates(part), weights: &weights, budget: &part.problem.graph.budget };
    // The paths that the greedy choice meets are a good start.
    let start = greedy::choose(part);
    let mut open_paths = |fences: &Fences| match part.open_paths(fences) {
        open if open.is_empty() => Answer::<Infallible>::Holds,
        open => Answer::Fails(open),
    };
    match fewest(&choice, start.paths, &mut open_paths) {
        Insertion::Fewest(fences) => fences,
        Insertion::Unfixable(path) => unreachable!("{path:?} crosses a site of the thread"),
        Insertion::Undecided(_, never) => match never {},
        Insertion::Exhausted => start.fences,
    }
}

/// All sites of the thread, with the strengths that its delays ask for.
fn candidates(part: &ThreadProblem<'_>) -> Vec<Candidate> {
    let graph = part.problem.graph;
    let threads: BTreeSet<_> = part.delays.iter().map(|delay| graph.vertex(delay.from).thread).collect();
    let mut strengths = BTreeSet::new();
    for delay in &part.delays {
        strengths.extend(delay.is_unsafe.then_some(FenceStrength::Plain));
        strengths.extend(delay.cumulative.then_some(FenceStrength::Cumulative));
    }
    let sites = graph.sites().into_iter().filter(|site| threads.contains(&graph.thread_of(site.instr)));
    sites.flat_map(|site| strengths.iter().map(move |&strength| (site, strength))).collect()
}
