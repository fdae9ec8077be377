//! All critical cycles, one after the other, never stored (method §7).
//!
//! After Tarjan's enumeration of elementary circuits, as the paper uses it: each cycle is found from one root only,
//! by backtracking, and a branch from which the root cannot be reached is not entered; moves between two strongly
//! connected components are not in the graph at all. Tarjan's marks, which keep a vertex blocked after a fruitless
//! visit, are not used: here a visit can also fail because a thread or a location was used up, which says nothing
//! about a visit on another path.
//!
//! *Root.* A cycle changes its location at least twice, so it has segments whose entry and exit differ; it is listed
//! from the one of the least thread. The exception is an instruction torn between two accesses to one location, with
//! one access of another thread in between.
//!
//! *Cost:* proportional to the number of cycles times their length in practice; there can be exponentially many cycles.

use super::graph::CycleGraph;
use super::witness::{Cycle, Segment};
use crate::ids::{LocationId, ThreadId, VertexId};
use fixedbitset::FixedBitSet;
use std::ops::ControlFlow;

/// Calls `visit` for every cycle of the graph that satisfies the conditions on threads and locations, in a fixed
/// order; whether one of its parts is unsafe is for the caller to say.
pub fn for_each_cycle(graph: &CycleGraph<'_>, visit: &mut dyn FnMut(&Cycle) -> ControlFlow<()>) -> ControlFlow<()> {
    for entry in graph.graph.vertex_ids().filter(|entry| !graph.exits[entry.index()].is_clear()) {
        let returns = returns_to(graph, entry);
        for exit in graph.exits(entry) {
            let mut threads = FixedBitSet::with_capacity(graph.graph.threads.len());
            threads.insert(graph.thread(entry).index());
            let mut locations = FixedBitSet::with_capacity(graph.graph.locations.len());
            locations.extend(graph.location(exit).map(LocationId::index));
            let root = Segment { entry, exit };
            let mut walk =
                Walk { graph, returns: &returns, root, threads, locations, segments: vec![root], visit: &mut *visit };
            walk.leave_from(exit)?;
        }
    }
    for &(entry, exit) in &graph.torn_in_place {
        for &other in graph.conflicts.of(exit).iter().filter(|&&other| graph.conflicts.contains(other, entry)) {
            visit(&Cycle { segments: vec![Segment { entry, exit }, Segment { entry: other, exit: other }] })?;
        }
    }
    ControlFlow::Continue(())
}

struct Walk<'w, 'g> {
    graph: &'w CycleGraph<'g>,
    returns: &'w FixedBitSet,
    root: Segment,
    threads: FixedBitSet,
    locations: FixedBitSet,
    segments: Vec<Segment>,
    visit: &'w mut dyn FnMut(&Cycle) -> ControlFlow<()>,
}

impl Walk<'_, '_> {
    fn root_thread(&self) -> ThreadId {
        self.graph.thread(self.root.entry)
    }

    /// Goes on from the exit of the last segment.
    fn leave_from(&mut self, exit: VertexId) -> ControlFlow<()> {
        let graph = self.graph;
        for &entry in graph.conflicts.of(exit) {
            self.enter(entry)?;
            if !self.is_free(entry) {
                continue;
            }
            self.take(Segment { entry, exit: entry });
            for &second in graph.conflicts.of(entry) {
                self.enter(second)?;
            }
            self.give_back();
        }
        ControlFlow::Continue(())
    }

    /// Comes in at `entry`: closes the cycle, or passes the thread to each of its exits.
    fn enter(&mut self, entry: VertexId) -> ControlFlow<()> {
        if self.graph.graph.budget.is_over() {
            return ControlFlow::Break(());
        }
        if entry == self.root.entry {
            return (self.visit)(&Cycle { segments: self.segments.clone() });
        }
        if !self.is_free(entry) || self.graph.thread(entry) < self.root_thread() {
            return ControlFlow::Continue(());
        }
        let graph = self.graph;
        for exit in graph.exits(entry) {
            let location = graph.location(exit).map(LocationId::index);
            let is_used = location.is_some_and(|location| self.locations.contains(location));
            if !self.returns.contains(exit.index()) || is_used {
                continue;
            }
            self.locations.extend(location);
            self.take(Segment { entry, exit });
            self.leave_from(exit)?;
            self.give_back();
            location.into_iter().for_each(|location| self.locations.remove(location));
        }
        ControlFlow::Continue(())
    }

    fn is_free(&self, vertex: VertexId) -> bool {
        !self.threads.contains(self.graph.thread(vertex).index())
    }

    fn take(&mut self, segment: Segment) {
        self.threads.insert(self.graph.thread(segment.entry).index());
        self.segments.push(segment);
    }

    fn give_back(&mut self) {
        let segment = self.segments.pop().expect("a segment is given back after it was taken");
        self.threads.remove(self.graph.thread(segment.entry).index());
    }
}

/// The exits from which `root` can be reached over threads that are not before the root's.
fn returns_to(graph: &CycleGraph<'_>, root: VertexId) -> FixedBitSet {
    let first = graph.thread(root);
    let mut marked = FixedBitSet::with_capacity(graph.graph.vertices.len());
    let mut stack = vec![root];
    while let Some(entry) = stack.pop() {
        for &near in graph.conflicts.of(entry) {
            for &exit in [near].iter().chain(graph.conflicts.of(near)) {
                if graph.thread(exit) > first && !marked.put(exit.index()) {
                    stack.extend(graph.entries[exit.index()].iter().copied());
                }
            }
        }
    }
    marked
}
