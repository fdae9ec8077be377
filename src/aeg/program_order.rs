//! Program order between vertices: `(a, b)` if some path of the thread performs a and later b.
//!
//! Either both are events of one evaluation and `a` is before `b` there, or an evaluation with b is reached from one
//! with a by one or more `follows` steps. This is transitive closure, label by label: O(labels × follows), done once
//! for all memory models.

use super::AbstractEventGraph;
use crate::ids::{LabelId, VertexId};
use fixedbitset::FixedBitSet;

/// The program-order pairs of vertices.
#[derive(Clone, Debug)]
pub struct ProgramOrder {
    after: Vec<FixedBitSet>,
}

impl ProgramOrder {
    /// Computes it; when the graph's budget is exhausted, what is known so far.
    #[must_use]
    pub fn new(graph: &AbstractEventGraph) -> ProgramOrder {
        let mut after = vec![FixedBitSet::with_capacity(graph.vertices.len()); graph.vertices.len()];
        for (position, evaluation) in graph.evaluations.iter().enumerate() {
            if evaluation.events.is_empty() {
                continue;
            }
            if graph.budget.is_over() {
                break;
            }
            let mut later = FixedBitSet::with_capacity(graph.vertices.len());
            for label in graph.labels_after(LabelId::new(position)).ones() {
                later.extend(graph.evaluations[label].events.iter().map(|event| event.vertex.index()));
            }
            for event in &evaluation.events {
                after[event.vertex.index()].union_with(&later);
                for &earlier in &event.before {
                    after[evaluation.events[earlier].vertex.index()].insert(event.vertex.index());
                }
            }
        }
        ProgramOrder { after }
    }

    /// Whether some path performs `a` and later `b`.
    #[must_use]
    pub fn contains(&self, a: VertexId, b: VertexId) -> bool {
        self.after[a.index()].contains(b.index())
    }

    /// What some path performs after `a`, as a set.
    #[must_use]
    pub fn row(&self, a: VertexId) -> &FixedBitSet {
        &self.after[a.index()]
    }

    /// What some path performs after `a`, sorted.
    pub fn after(&self, a: VertexId) -> impl Iterator<Item = VertexId> + '_ {
        self.after[a.index()].ones().map(VertexId::new)
    }
}

impl AbstractEventGraph {
    /// The labels reached from `label` by one or more steps.
    pub(crate) fn labels_after(&self, label: LabelId) -> FixedBitSet {
        let mut reached = FixedBitSet::with_capacity(self.evaluations.len());
        let mut stack = vec![label];
        while let Some(current) = stack.pop() {
            for &next in &self.evaluation(current).successors {
                if !reached.put(next.index()) {
                    stack.push(next);
                }
            }
        }
        reached
    }
}
