//! The exact placement: an integer program over points, path constraints added lazily (method §9).
//!
//! Variables are (point, strength); every open path asks for one of its points. Solved by descent with a SAT solver (RustSAT's interface to BatSat, pure Rust): ask for a cheaper choice that meets
//! all paths seen so far; if there is none, the best choice so far is a proven minimum; if there is one, look for a path that it leaves
//! open, and add that path or take the choice as the new best. The greedy choice is where it starts. All arithmetic is in integers.
//!
//! *Ties.* Of several choices of least cost the one with the fewest cumulative fences is taken, and of those the one whose fences stand after or before instructions
//! rather than inside: three [objectives](Objective), minimised one after the other.
//!
//! *Cost.* A hitting set problem, NP-hard; the variables are those of one thread, some hundreds at most in practice.

use super::paths::OpenPath;
use super::{ThreadProblem, greedy};
use crate::memory::FenceStrength;
use crate::safety::{Place, Point};
use rustsat::encodings::pb::{BoundUpper, BoundUpperIncremental, GeneralizedTotalizer};
use rustsat::instances::{BasicVarManager, ManageVars};
use rustsat::solvers::{Solve, SolveIncremental, SolverResult};
use rustsat::types::{Clause, Lit, RsHashMap, TernaryVal};
use rustsat_batsat::BasicSolver;
use std::collections::{BTreeMap, BTreeSet};

type Fences = BTreeMap<Point, FenceStrength>;

/// What is minimised, the first before the second before the third.
#[derive(Clone, Copy)]
enum Objective {
    Cost,
    Cumulative,
    /// After an instruction is where a reader looks first, inside one where it is hardest to place.
    Readability,
}

impl Objective {
    fn weight(self, part: &ThreadProblem<'_>, point: Point, strength: FenceStrength) -> usize {
        match self {
            Objective::Cost => {
                usize::try_from(part.cost(point, strength)).expect("costs are bounded when they are read")
            }
            Objective::Cumulative => usize::from(strength == FenceStrength::Cumulative),
            Objective::Readability => match point.place {
                Place::After => 0,
                Place::Before => 1,
                Place::Inside(_) => 2,
            },
        }
    }

    fn total(self, part: &ThreadProblem<'_>, fences: &Fences) -> usize {
        fences.iter().map(|(&point, &strength)| self.weight(part, point, strength)).sum()
    }
}

/// Fences of least cost that meet every path of the thread's delays.
#[must_use]
pub fn minimum(part: &ThreadProblem<'_>) -> Fences {
    let start = greedy::choose(part);
    let mut best = without_superfluous(part, start.fences);
    let mut solver = Program::new(part);
    for path in &start.paths {
        solver.require(path);
    }
    for objective in [Objective::Cost, Objective::Cumulative, Objective::Readability] {
        best = solver.minimise(part, objective, best);
    }
    best
}

/// Drops fences that are not needed; a better start for the descent.
fn without_superfluous(part: &ThreadProblem<'_>, mut fences: Fences) -> Fences {
    for point in fences.keys().copied().collect::<Vec<_>>() {
        if let Some(strength) = fences.remove(&point) {
            if !part.open_paths(&fences).is_empty() {
                fences.insert(point, strength);
            }
        }
    }
    fences
}

/// The integer program, as clauses.
struct Program {
    solver: BasicSolver,
    variables: BasicVarManager,
    literals: BTreeMap<(Point, FenceStrength), Lit>,
}

impl Program {
    fn new(part: &ThreadProblem<'_>) -> Program {
        let graph = part.problem.graph;
        let thread = graph.vertex(part.delays[0].from).thread;
        let mut strengths = BTreeSet::new();
        for delay in &part.delays {
            strengths.extend(delay.is_unsafe.then_some(FenceStrength::Plain));
            strengths.extend(delay.cumulative.then_some(FenceStrength::Cumulative));
        }
        let mut variables = BasicVarManager::default();
        let mut literals = BTreeMap::new();
        for point in Point::all(graph).into_iter().filter(|point| graph.instruction(point.instr).thread == thread) {
            for &strength in &strengths {
                literals.insert((point, strength), variables.new_var().pos_lit());
            }
        }
        Program { solver: BasicSolver::default(), variables, literals }
    }

    /// One of the path's points must have a fence that is strong enough.
    fn require(&mut self, path: &OpenPath) {
        let strong_enough =
            [FenceStrength::Plain, FenceStrength::Cumulative].into_iter().filter(|&s| s >= path.strength);
        let clause: Clause = strong_enough
            .flat_map(|strength| path.points.iter().map(move |&point| (point, strength)))
            .filter_map(|variable| self.literals.get(&variable).copied())
            .collect();
        self.solver.add_clause(clause).expect("the solver takes clauses as long as memory lasts");
    }

    /// Goes down from `best`, and keeps the value reached for the objectives to come.
    fn minimise(&mut self, part: &ThreadProblem<'_>, objective: Objective, mut best: Fences) -> Fences {
        let weights: RsHashMap<Lit, usize> = self
            .literals
            .iter()
            .map(|(&(point, strength), &literal)| (literal, objective.weight(part, point, strength)))
            .filter(|&(_, weight)| weight > 0)
            .collect();
        let mut bound = GeneralizedTotalizer::from(weights);
        let mut value = objective.total(part, &best);
        bound
            .encode_ub_change(0..=value, &mut self.solver, &mut self.variables)
            .expect("the encoding fits into memory");
        while value > 0 {
            let below = bound.enforce_ub(value - 1).expect("bounds up to the value were encoded");
            match self.solver.solve_assumps(&below).expect("the solver has no limit set") {
                SolverResult::Sat => {
                    let fences = self.choice();
                    let open = part.open_paths(&fences);
                    for path in &open {
                        self.require(path);
                    }
                    if open.is_empty() {
                        value = objective.total(part, &fences);
                        best = fences;
                    }
                }
                SolverResult::Unsat => break,
                SolverResult::Interrupted => unreachable!("nobody interrupts the solver"),
            }
        }
        for literal in bound.enforce_ub(value).expect("bounds up to the value were encoded") {
            self.solver.add_unit(literal).expect("the solver takes clauses as long as memory lasts");
        }
        best
    }

    /// The fences that the solver chose, the strongest at each point.
    fn choice(&self) -> Fences {
        let mut fences = Fences::new();
        for (&(point, strength), &literal) in &self.literals {
            let value = self.solver.lit_val(literal).expect("the solver has just found a solution");
            if value == TernaryVal::True {
                let present = fences.entry(point).or_insert(strength);
                *present = strength.max(*present);
            }
        }
        fences
    }
}
