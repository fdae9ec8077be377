//! What a cycle can reach outside of one thread: over conflicts, and over single accesses, of the other threads.
//!
//! All exits of a thread are searched with the same surroundings, so these are computed once for the thread:
//! [`Outside`] joins every access to the accesses that come next, which conflict with it or with an access of a third
//! thread that conflicts with it. Two questions are answered from that, the conditions on threads and locations
//! aside: which entries an exit can come back to at all, and which exits lead to them. What they say no to is on no
//! cycle; the search does the rest.
//!
//! *Cost:* for a thread, conflicts × accesses / 64; for a question, at most (accesses² / 64 + moves). All of it for
//! one thread at a time: accesses² bits.

use super::graph::CycleGraph;
use crate::ids::{ThreadId, VertexId};
use fixedbitset::FixedBitSet;

/// The other threads, as one thread sees them.
pub struct Outside<'g> {
    pub(super) graph: &'g CycleGraph<'g>,
    pub(super) own: ThreadId,
    /// What conflicts with each access, directly or over a single access that is not of the own thread. As conflicts
    /// are, this is symmetric.
    near: Vec<FixedBitSet>,
}

impl<'g> Outside<'g> {
    /// What `own` sees.
    #[must_use]
    pub fn new(graph: &'g CycleGraph<'g>, own: ThreadId) -> Outside<'g> {
        let near = |vertex: VertexId| {
            let mut near = graph.conflicts.row(vertex).clone();
            let singles = graph.conflicts.of(vertex).iter().filter(|&&single| graph.alike[single.index()] == single);
            for &single in singles.filter(|&&single| graph.thread(single) != own) {
                near.union_with(graph.conflicts.row(single));
            }
            near
        };
        let vertices = graph.graph.vertex_ids().take_while(|_| !graph.graph.budget.is_over());
        let mut known: Vec<FixedBitSet> = Vec::with_capacity(graph.graph.vertices.len());
        for vertex in vertices {
            let alike = graph.alike[vertex.index()];
            known.push(if alike == vertex { near(vertex) } else { known[alike.index()].clone() });
        }
        known.resize_with(graph.graph.vertices.len(), FixedBitSet::new);
        Outside { graph, own, near: known }
    }

    /// The wanted entries that can be reached from `b`.
    pub(super) fn reached_from(&self, b: VertexId, wanted: &FixedBitSet) -> FixedBitSet {
        let own = &self.graph.of_thread[self.own.index()];
        let mut entered = FixedBitSet::with_capacity(wanted.len());
        let mut left = FixedBitSet::with_capacity(wanted.len());
        let mut stack = vec![b.index()];
        while let Some(exit) = stack.pop() {
            let new: Vec<usize> = self.near[exit].difference(&entered).collect();
            entered.extend(new.iter().copied());
            for entry in new.into_iter().filter(|&entry| !own.contains(entry)) {
                let first = stack.len();
                stack.extend(self.graph.exits[entry].difference(&left));
                left.extend(stack[first..].iter().copied());
            }
        }
        entered.intersect_with(wanted);
        entered
    }

    /// The exits of other threads from which a wanted entry can be reached.
    pub(super) fn leading_to(&self, wanted: &FixedBitSet) -> FixedBitSet {
        let own = &self.graph.of_thread[self.own.index()];
        let mut leading = FixedBitSet::with_capacity(wanted.len());
        let mut entered = wanted.clone();
        let mut stack: Vec<usize> = wanted.ones().collect();
        while let Some(entry) = stack.pop() {
            let new: Vec<usize> = self.near[entry].difference(&leading).filter(|&exit| !own.contains(exit)).collect();
            leading.extend(new.iter().copied());
            for exit in new {
                let entries = self.graph.entries[exit].iter().map(|entry| entry.index());
                stack.extend(entries.filter(|&entry| !entered.put(entry)));
            }
        }
        leading
    }
}
