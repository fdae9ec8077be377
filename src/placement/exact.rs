//! The exact placement: an integer program over points, path constraints added lazily (method §9).
//!
//! Variables are (point, strength); every open path asks for one of its points. [`Minimiser`] chooses the cheapest fences that meet all
//! paths seen so far; [`paths`](super::paths) looks for one that they leave open. When there is none, the choice is a proven minimum.
//!
//! *Ties.* Of several choices of least cost the one with the fewest cumulative fences is taken, and of those the one whose fences stand where
//! a reader looks first, after shared accesses rather than before or inside instructions: three [objectives](Objective), minimised one after the other.
//!
//! *Cost.* A hitting set problem, NP-hard; but the variables are those of one thread, some hundreds at most in practice.

use super::maxsat::{Minimiser, Variable};
use super::paths::OpenPath;
use super::{ThreadProblem, greedy};
use crate::aeg::AbstractEventGraph;
use crate::memory::FenceStrength;
use crate::safety::{Place, Point};
use std::collections::{BTreeMap, BTreeSet};

type Fences = BTreeMap<Point, FenceStrength>;

/// What is minimised, the first before the second before the third.
#[derive(Clone, Copy)]
enum Objective {
    Cost,
    Cumulative,
    /// After a shared access is where a reader looks first, inside an instruction is where a fence is hardest to place.
    Readability,
}

impl Objective {
    fn weight(self, part: &ThreadProblem<'_>, (point, strength): (Point, FenceStrength)) -> u64 {
        match self {
            Objective::Cost => part.cost(point, strength),
            Objective::Cumulative => u64::from(strength == FenceStrength::Cumulative),
            Objective::Readability => unreadability(part.problem.graph, point),
        }
    }
}

/// Weighs more than any other fences of a thread: of two choices with equally many fences, none with one at a control state is taken if there is another.
const AT_A_STATE: u64 = 1 << 20;

/// How hard it is to see a fence at this point in the program's text: easiest after a shared access, hardest at a control state, which is not at one place in the text.
#[must_use]
pub fn unreadability(graph: &AbstractEventGraph, point: Point) -> u64 {
    let mut labels = graph.instruction(point.instr).labels.iter();
    match point.place {
        Place::After => u64::from(labels.all(|&label| graph.evaluation(label).events.is_empty())),
        Place::Before => 2,
        Place::Inside(_) => 3,
        Place::State => AT_A_STATE,
    }
}

/// Fences of least cost that meet every path of the thread's delays.
#[must_use]
pub fn minimum(part: &ThreadProblem<'_>) -> Fences {
    let candidates = candidates(part);
    let mut minimiser = Minimiser::new(candidates.len());
    // The paths that the greedy choice meets are a good start.
    for path in greedy::choose(part).paths {
        minimiser.require_one_of(meeting(&candidates, &path));
    }
    let mut best = Fences::new();
    for objective in [Objective::Cost, Objective::Cumulative, Objective::Readability] {
        let chosen = minimiser.minimise(
            |variable| objective.weight(part, candidates[variable]),
            |chosen| {
                part.open_paths(&fences(&candidates, chosen)).iter().map(|path| meeting(&candidates, path)).collect()
            },
        );
        best = fences(&candidates, &chosen);
    }
    best
}

/// All points of the thread, with the strengths that its delays ask for.
fn candidates(part: &ThreadProblem<'_>) -> Vec<(Point, FenceStrength)> {
    let graph = part.problem.graph;
    let threads: BTreeSet<_> = part.delays.iter().map(|delay| graph.vertex(delay.from).thread).collect();
    let mut strengths = BTreeSet::new();
    for delay in &part.delays {
        strengths.extend(delay.is_unsafe.then_some(FenceStrength::Plain));
        strengths.extend(delay.cumulative.then_some(FenceStrength::Cumulative));
    }
    let points = Point::all(graph).into_iter().filter(|point| threads.contains(&graph.instruction(point.instr).thread));
    points.flat_map(|point| strengths.iter().map(move |&strength| (point, strength))).collect()
}

/// The variables whose fence meets the path.
fn meeting(candidates: &[(Point, FenceStrength)], path: &OpenPath) -> Vec<Variable> {
    let meets = |&(point, strength): &(Point, FenceStrength)| {
        strength >= path.strength && path.points.binary_search(&point).is_ok()
    };
    candidates.iter().enumerate().filter(|(_, candidate)| meets(candidate)).map(|(variable, _)| variable).collect()
}

/// The fences chosen, the strongest at each point.
fn fences(candidates: &[(Point, FenceStrength)], chosen: &[Variable]) -> Fences {
    let mut fences = Fences::new();
    for &variable in chosen {
        let (point, strength) = candidates[variable];
        let present = fences.entry(point).or_insert(strength);
        *present = strength.max(*present);
    }
    fences
}
