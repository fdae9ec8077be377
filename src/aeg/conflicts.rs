//! Conflicts, the paper's `cmp` (method §6): pairs of vertices of different threads, on one location, one of which writes.
//!
//! - *reachable* conflicts: every such pair that occurs in the state space;
//! - *concurrent* conflicts (the paper's): only pairs with a in `[α]+`, b in `[β]+` for labels α, β that some state enables
//!   together, where `[α]+` is `[α]` and everything that can be reordered before one of its accesses.

use super::AbstractEventGraph;
use crate::ids::VertexId;
use fixedbitset::FixedBitSet;
use std::collections::BTreeSet;

/// A symmetric conflict relation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflicts {
    neighbours: Vec<Vec<VertexId>>,
    matrix: Vec<FixedBitSet>,
}

impl Conflicts {
    /// Every conflicting pair of accesses that occur in the state space.
    #[must_use]
    pub fn reachable(graph: &AbstractEventGraph) -> Conflicts {
        let mut relation = Conflicts::empty(graph.vertices.len());
        for a in graph.vertex_ids() {
            for b in graph.vertex_ids().skip(a.index() + 1) {
                if graph.vertex(a).conflicts_with(graph.vertex(b)) {
                    relation.insert(a, b);
                }
            }
        }
        relation.sorted()
    }

    /// The conflicts of labels that are enabled together, each extended by what can be reordered before it:
    /// `early(a)` are the vertices that can be executed before `a` although program order has them after it.
    #[must_use]
    pub fn concurrent(graph: &AbstractEventGraph, early: impl Fn(VertexId) -> FixedBitSet) -> Conflicts {
        let extended: Vec<Vec<VertexId>> = graph
            .evaluations
            .iter()
            .map(|evaluation| {
                let mut set = BTreeSet::new();
                for event in &evaluation.events {
                    set.insert(event.vertex);
                    set.extend(early(event.vertex).ones().map(VertexId::new));
                }
                set.into_iter().collect()
            })
            .collect();
        let mut relation = Conflicts::empty(graph.vertices.len());
        for &(alpha, beta) in &graph.concurrent {
            for &a in &extended[alpha.index()] {
                for &b in &extended[beta.index()] {
                    if graph.vertex(a).conflicts_with(graph.vertex(b)) {
                        relation.insert(a, b);
                    }
                }
            }
        }
        relation.sorted()
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
