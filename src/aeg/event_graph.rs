//! The event graph as a petgraph graph, for whoever wants to go on with it: paths, components, a drawing of one's own.
//!
//! The nodes are the [vertices](Vertex), with the numbers of their [`VertexId`](crate::ids::VertexId)s; an edge is a
//! pair of program order, or a conflict, of which there is one edge in each direction. Critical cycles (method §7)
//! are cycles of this graph, those of its cycles that satisfy the conditions on threads and locations; so each lies
//! within one strongly connected component. Conflicts are the reachable ones.
//!
//! It is made when it is asked for, in time linear in its edges. The analysis itself keeps both relations as rows of
//! bits, which its searches combine by the word.

use super::{AbstractEventGraph, Conflicts, ProgramOrder, Vertex};
use petgraph::graph::DiGraph;

/// The event graph; see the page of its module.
pub type EventGraph = DiGraph<Vertex, Relation>;

/// Why there is an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Relation {
    /// Some path of the thread performs the first access and later the second one.
    Program,
    /// The accesses conflict.
    Conflict,
}

impl AbstractEventGraph {
    /// The graph with its program order and conflicts.
    #[must_use]
    pub fn with_relations(&self, order: &ProgramOrder, conflicts: &Conflicts) -> EventGraph {
        let mut graph = EventGraph::new();
        let nodes: Vec<_> = self.vertices.iter().map(|&vertex| graph.add_node(vertex)).collect();
        for a in self.vertex_ids() {
            for b in order.after(a) {
                graph.add_edge(nodes[a.index()], nodes[b.index()], Relation::Program);
            }
            for &b in conflicts.of(a) {
                graph.add_edge(nodes[a.index()], nodes[b.index()], Relation::Conflict);
            }
        }
        graph
    }
}
