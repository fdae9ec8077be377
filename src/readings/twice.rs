//! Cycles that pass through one instruction twice.
//!
//! A critical cycle visits each thread once, for of two visits one comes first in program order, and then there is a
//! shorter cycle (method §7). That fails for two accesses of one instruction that is not one step: nothing orders them.
//! With `[x := 1; y := 1]` in one thread, and `r := x; s := y` and `r := y; s := x` in two others, an execution in
//! which the readers disagree about which write came first is a cycle that visits the first thread twice.
//!
//! Such a visit is a single write, between two *reads* of others: beside any other access its neighbours conflict with
//! each other, and the cycle is shorter without it. [`is_possible`] says whether there can be such a cycle: whether
//! from some write of an instruction reads of its location lead, through other threads, to reads of the location of
//! another write of it that is not ordered with the first, and from there in the end back. Threads and locations may
//! be used twice on the way, and nothing need be unsafe: it says yes too often, never too rarely.
//!
//! *Cost.* For each such write a search over the accesses, linear in program order and conflicts.

use crate::aeg::{Conflicts, Evaluation};
use crate::analysis::Analysis;
use crate::ids::VertexId;
use crate::memory::Kind;
use fixedbitset::FixedBitSet;
use petgraph::algo::is_cyclic_directed;
use petgraph::graph::DiGraph;

/// Whether a cycle may pass through some instruction twice that is not one step.
#[must_use]
pub fn is_possible(analysis: &Analysis) -> bool {
    let graph = &analysis.graph;
    graph.threads.len() > 2
        && graph.evaluations.iter().filter(|evaluation| !evaluation.is_whole()).any(|evaluation| {
            let writes = unordered_writes(analysis, evaluation);
            !writes.is_empty() && is_passed_twice(analysis, analysis.reachable(), &writes)
        })
}

/// The writes of an evaluation that are not ordered with some other write of it, to another location.
fn unordered_writes(analysis: &Analysis, evaluation: &Evaluation) -> Vec<VertexId> {
    let graph = &analysis.graph;
    let events = &evaluation.events;
    let is_write = |position: usize| graph.vertex(events[position].vertex).kind == Kind::Write;
    let is_apart = |a: usize, b: usize| {
        a != b
            && !events[a].before.contains(&b)
            && !events[b].before.contains(&a)
            && !graph.vertex(events[a].vertex).is_at_location_of(graph.vertex(events[b].vertex))
    };
    let writes: Vec<usize> = (0..events.len()).filter(|&position| is_write(position)).collect();
    let unordered = writes.iter().filter(|&&a| writes.iter().any(|&b| is_apart(a, b)));
    unordered.map(|&position| events[position].vertex).collect()
}

fn is_passed_twice(analysis: &Analysis, conflicts: &Conflicts, writes: &[VertexId]) -> bool {
    let reached: Vec<FixedBitSet> = writes.iter().map(|&write| exits_from(analysis, conflicts, write)).collect();
    let mut passages: DiGraph<(), ()> = DiGraph::new();
    let nodes: Vec<_> = writes.iter().map(|_| passages.add_node(())).collect();
    for (from, reached) in reached.iter().enumerate() {
        for (to, &write) in writes.iter().enumerate() {
            let is_read = |&vertex: &VertexId| analysis.graph.vertex(vertex).kind == Kind::Read;
            let mut before = conflicts.of(write).iter().filter(|vertex| is_read(vertex));
            if from != to && before.any(|vertex| reached.contains(vertex.index())) {
                passages.add_edge(nodes[from], nodes[to], ());
            }
        }
    }
    is_cyclic_directed(&passages)
}

/// The accesses of other threads where a way can end that begins with a read of what is written.
fn exits_from(analysis: &Analysis, conflicts: &Conflicts, write: VertexId) -> FixedBitSet {
    let graph = &analysis.graph;
    let own = graph.vertex(write).thread;
    let (mut entered, mut left) = (vec![false; graph.vertices.len()], FixedBitSet::with_capacity(graph.vertices.len()));
    let is_read = |&&vertex: &&VertexId| graph.vertex(vertex).kind == Kind::Read;
    let mut open: Vec<VertexId> = conflicts.of(write).iter().filter(is_read).copied().collect();
    while let Some(entry) = open.pop() {
        if std::mem::replace(&mut entered[entry.index()], true) {
            continue;
        }
        // What is one step is left by any of its accesses.
        let whole = graph.occurrences(entry).iter().map(|&(label, _)| graph.evaluation(label));
        let beside = whole.filter(|evaluation| evaluation.is_whole()).flat_map(|evaluation| &evaluation.events);
        for exit in analysis.order.after(entry).chain(beside.map(|event| event.vertex)) {
            if !left.put(exit.index()) {
                open.extend(conflicts.of(exit).iter().filter(|&&next| graph.vertex(next).thread != own));
            }
        }
        // A write between two others is an entry and an exit in one.
        if graph.vertex(entry).kind == Kind::Write {
            open.extend(conflicts.of(entry).iter().filter(|&&next| graph.vertex(next).thread != own));
        }
    }
    left
}
