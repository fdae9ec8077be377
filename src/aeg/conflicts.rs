//! Conflicts, the paper's `cmp` (method §6): pairs of vertices of different threads, on one location, one of which
//! writes.
//!
//! - *reachable* conflicts: every such pair that occurs in the state space;
//! - *concurrent* conflicts (the paper's): only pairs with a in `[α]+`, b in `[β]+` for labels α, β that some state
//!   enables together, where `[α]+` is `[α]` and everything that can be reordered before one of its accesses. In the
//!   sound profile the *instructions* of α and β count, with all that they can access: an instruction whose condition
//!   was read while it held goes on with its other accesses when it does not hold any more, so that no state enables
//!   these together with what the others do meanwhile (`tests/library/regressions.rs`,
//!   `an_instruction_goes_on_after_its_condition_has_changed`).

use super::{AbstractEventGraph, Instruction, Profile};
use crate::ids::{LabelId, VertexId};
use fixedbitset::FixedBitSet;

/// A symmetric conflict relation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflicts {
    neighbours: Vec<Vec<VertexId>>,
    matrix: Vec<FixedBitSet>,
}

/// Whether the instruction can be in the middle of one evaluation where another one of it is enabled.
fn goes_on(graph: &AbstractEventGraph, instruction: &Instruction) -> bool {
    instruction.labels.iter().any(|&label| graph.evaluation(label).events.len() > 1)
}

impl Conflicts {
    /// Every conflicting pair of accesses that occur in the state space.
    #[must_use]
    pub fn reachable(graph: &AbstractEventGraph) -> Conflicts {
        let mut relation = Conflicts::empty(graph.vertices.len());
        for a in graph.vertex_ids().take_while(|_| !graph.budget.is_over()) {
            for b in graph.vertex_ids().skip(a.index() + 1) {
                if graph.vertex(a).conflicts_with(graph.vertex(b)) {
                    relation.insert(a, b);
                }
            }
        }
        relation.sorted()
    }

    /// The conflicts of labels, or instructions, that are enabled together, each extended by what can be reordered
    /// before it: `early(a)` are the vertices that can be executed before `a` although program order has them after
    /// it.
    ///
    /// O((concurrent pairs + labels × vertices) × vertices / 64).
    #[must_use]
    pub fn concurrent(graph: &AbstractEventGraph, early: impl Fn(VertexId) -> FixedBitSet) -> Conflicts {
        let extended = |label: usize| -> FixedBitSet {
            let evaluation = &graph.evaluations[label];
            let instruction = graph.instruction(evaluation.instr);
            let mut set = FixedBitSet::with_capacity(graph.vertices.len());
            let goes_on = graph.profile == Profile::Sound && goes_on(graph, instruction);
            let labels = if goes_on { &instruction.labels[..] } else { &[LabelId::new(label)] };
            for event in labels.iter().flat_map(|&label| &graph.evaluation(label).events) {
                set.insert(event.vertex.index());
                set.union_with(&early(event.vertex));
            }
            set
        };
        let extended: Vec<_> = (0..graph.evaluations.len()).map(extended).collect();
        // What some label that is concurrent with this one makes, or can make early.
        let mut around = vec![FixedBitSet::with_capacity(graph.vertices.len()); graph.evaluations.len()];
        for &(alpha, beta) in graph.concurrent.iter().take_while(|_| !graph.budget.is_over()) {
            around[alpha.index()].union_with(&extended[beta.index()]);
            around[beta.index()].union_with(&extended[alpha.index()]);
        }
        let mut matrix = vec![FixedBitSet::with_capacity(graph.vertices.len()); graph.vertices.len()];
        for (own, around) in extended.iter().zip(&around) {
            own.ones().for_each(|vertex| matrix[vertex].union_with(around));
        }
        let mut relation = Conflicts::reachable(graph);
        relation.matrix.iter_mut().zip(&matrix).for_each(|(conflicts, row)| conflicts.intersect_with(row));
        for (list, row) in relation.neighbours.iter_mut().zip(&relation.matrix) {
            list.retain(|vertex| row.contains(vertex.index()));
        }
        relation
    }

    fn empty(vertices: usize) -> Conflicts {
        Conflicts {
            neighbours: vec![Vec::new(); vertices],
            matrix: vec![FixedBitSet::with_capacity(vertices); vertices],
        }
    }

    fn insert(&mut self, a: VertexId, b: VertexId) {
        if !self.matrix[a.index()].put(b.index()) {
            self.matrix[b.index()].insert(a.index());
            self.neighbours[a.index()].push(b);
            self.neighbours[b.index()].push(a);
        }
    }

    fn sorted(mut self) -> Conflicts {
        self.neighbours.iter_mut().for_each(|list| list.sort_unstable());
        self
    }

    /// What conflicts with `vertex`, sorted.
    #[must_use]
    pub fn of(&self, vertex: VertexId) -> &[VertexId] {
        &self.neighbours[vertex.index()]
    }

    /// The same as a set.
    #[must_use]
    pub fn row(&self, vertex: VertexId) -> &FixedBitSet {
        &self.matrix[vertex.index()]
    }

    /// Whether the two conflict.
    #[must_use]
    pub fn contains(&self, a: VertexId, b: VertexId) -> bool {
        self.matrix[a.index()].contains(b.index())
    }

    /// Number of unordered pairs.
    #[must_use]
    pub fn num_of_pairs(&self) -> usize {
        self.neighbours.iter().map(Vec::len).sum::<usize>() / 2
    }
}
