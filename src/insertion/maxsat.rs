//! Weighted minimisation over clauses that are only known as they are needed: OLL over a SAT solver.
//!
//! Every variable has a weight that is paid if it is true; clauses say "one of these". Assume that all variables are
//! false; as long as that is impossible the solver names a *core*, a set of variables of which one must be true, so
//! the lightest weight of the core must be paid: the lower bound grows, and "at most one of the core" is assumed
//! instead of "none" (then "at most two", and so on). When the assumptions can be met, the model costs exactly the
//! lower bound: it is a minimum. This is the OLL algorithm (Morgado, Dodaro, Marques-Silva: Core-guided MaxSAT with
//! soft cardinality constraints, CP 2014); it shines here because paths through sequential code are like intervals,
//! whose minimum cut equals the number of disjoint ones, and disjoint paths are cores.
//!
//! Clauses come lazily: a model is shown to the caller, who may answer with clauses that it breaks. RustSAT gives the
//! interface and the totalizer encoding, BatSat is the solver, all arithmetic is in integers.

use crate::budget::Budget;
use rustsat::encodings::card::{BoundUpper, BoundUpperIncremental, Totalizer};
use rustsat::instances::{BasicVarManager, ManageVars};
use rustsat::solvers::{Solve, SolveIncremental, SolverResult};
use rustsat::types::{Clause, Lit, TernaryVal};
use rustsat_batsat::BasicSolver;
use std::collections::BTreeMap;

/// A variable of the problem, by position.
pub type Variable = usize;

/// Clauses over variables, and what was settled by earlier minimisations.
pub struct Minimiser {
    solver: BasicSolver,
    manager: BasicVarManager,
    literals: Vec<Lit>,
    budget: Budget,
}

/// What is paid if an assumption is given up, and the sum that it bounds, if it does.
struct Soft {
    weight: u64,
    sum: Option<(usize, usize)>,
}

const MEMORY: &str = "the solver takes clauses as long as memory lasts";

impl Minimiser {
    /// A problem with this many variables and no clauses; the solver asks the budget, too.
    #[must_use]
    pub fn new(num_of_variables: usize, budget: &Budget) -> Minimiser {
        let mut manager = BasicVarManager::default();
        let literals = (0..num_of_variables).map(|_| manager.new_var().pos_lit()).collect();
        let mut solver = BasicSolver::default();
        let asked = budget.clone();
        solver.batsat_mut().cb_mut().set_stop(move || asked.is_over());
        Minimiser { solver, manager, literals, budget: budget.clone() }
    }

    /// One of these variables must be true.
    pub fn require_one_of(&mut self, variables: impl IntoIterator<Item = Variable>) {
        let clause: Clause = variables.into_iter().map(|variable| self.literals[variable]).collect();
        self.solver.add_clause(clause).expect(MEMORY);
    }

    /// Finds the true variables of a solution of least total weight, and keeps that weight for all later minimisations.
    ///
    /// `refute` sees every candidate and answers with clauses that it breaks; an answer without clauses accepts it.
    /// There is no solution if the budget is exhausted before it is known to be of least weight.
    pub fn minimise(
        &mut self,
        weight: impl Fn(Variable) -> u64,
        mut refute: impl FnMut(&[Variable]) -> Vec<Vec<Variable>>,
    ) -> Option<Vec<Variable>> {
        let mut softs: BTreeMap<Lit, Soft> = BTreeMap::new();
        for (variable, &literal) in self.literals.iter().enumerate() {
            if weight(variable) > 0 {
                softs.insert(!literal, Soft { weight: weight(variable), sum: None });
            }
        }
        let mut sums: Vec<Totalizer> = Vec::new();
        // Each call of the solver may be short, and their number large.
        while !self.budget.is_over() {
            let assumptions: Vec<Lit> = softs.keys().copied().collect();
            match self.solver.solve_assumps(&assumptions).expect("the solver takes any assumptions") {
                SolverResult::Sat => {
                    let chosen = self.chosen();
                    let broken = refute(&chosen);
                    if broken.is_empty() {
                        // A solution of this weight gives up none of the assumptions.
                        for literal in assumptions {
                            self.solver.add_unit(literal).expect(MEMORY);
                        }
                        return Some(chosen);
                    }
                    for clause in broken {
                        self.require_one_of(clause);
                    }
                }
                SolverResult::Unsat => {
                    let core: Vec<Lit> = self
                        .solver
                        .core()
                        .expect("the solver has just found a core")
                        .into_iter()
                        .map(|lit| !lit)
                        .collect();
                    assert!(!core.is_empty(), "all variables true is a solution: every clause has a variable");
                    self.relax(&core, &mut softs, &mut sums);
                }
                SolverResult::Interrupted => return None,
            }
        }
        None
    }

    /// Pays for a core: its lightest weight once, and the right to give up one more of its assumptions later.
    fn relax(&mut self, core: &[Lit], softs: &mut BTreeMap<Lit, Soft>, sums: &mut Vec<Totalizer>) {
        let paid = core.iter().map(|literal| softs[literal].weight).min().unwrap_or(0);
        for literal in core {
            let Some(soft) = softs.get_mut(literal) else { continue };
            soft.weight -= paid;
            let sum = soft.sum;
            if soft.weight == 0 {
                softs.remove(literal);
            }
            if let Some((sum, bound)) = sum {
                self.bound(sum, bound + 1, paid, softs, sums);
            }
        }
        if core.len() > 1 {
            sums.push(core.iter().map(|&literal| !literal).collect());
            self.bound(sums.len() - 1, 1, paid, softs, sums);
        }
    }

    /// Assumes that at most `bound` literals of the sum are true.
    fn bound(
        &mut self,
        sum: usize,
        bound: usize,
        weight: u64,
        softs: &mut BTreeMap<Lit, Soft>,
        sums: &mut [Totalizer],
    ) {
        sums[sum].encode_ub_change(bound..=bound, &mut self.solver, &mut self.manager).expect(MEMORY);
        // No literal is needed where the bound cannot be exceeded.
        for literal in sums[sum].enforce_ub(bound).expect("the bound was encoded") {
            softs.entry(literal).or_insert(Soft { weight: 0, sum: Some((sum, bound)) }).weight += weight;
        }
    }

    /// The variables that are true in the solver's model.
    fn chosen(&self) -> Vec<Variable> {
        let is_true = |literal: Lit| {
            self.solver.lit_val(literal).expect("the solver has just found a solution") == TernaryVal::True
        };
        (0..self.literals.len()).filter(|&variable| is_true(self.literals[variable])).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    /// A cover of the edges of a random graph: a hard problem for the solver itself, whoever asks between its calls.
    fn cover(vertices: usize, budget: &Budget) -> Option<Vec<Variable>> {
        let mut minimiser = Minimiser::new(vertices, budget);
        let mut seed = 1_usize;
        let mut next = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % vertices
        };
        for _ in 0..5 * vertices {
            minimiser.require_one_of([next(), next()]);
        }
        minimiser.minimise(|_| 1, |_| Vec::new())
    }

    #[test]
    fn a_long_search_ends_with_the_budget() {
        assert!(cover(12, &Budget::default()).is_some_and(|cover| cover.len() >= 6));
        let begun = Instant::now();
        assert_eq!(cover(400, &Budget::new(Some(Duration::from_secs(1)), None)), None);
        assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
    }
}
