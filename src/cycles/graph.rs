//! The graph in which cycles are searched: conflict edges between threads, and moves from entry to exit within a thread.

use crate::aeg::{AbstractEventGraph, Conflicts, ProgramOrder};
use crate::ids::{LocationId, ThreadId, VertexId};
use crate::safety::Synchronisation;
use std::collections::BTreeSet;

/// A way through an instruction that its own order does not give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sideways<'a> {
    /// None: instructions are taken as whole, and so is every order of unordered accesses.
    None,
    /// *Torn* moves, against the dependency or between unordered accesses of one instruction (method §8).
    Torn(TornScope),
    /// Moves *through* an instruction that is locked or atomic, in at any of its accesses and out at any other.
    Through(&'a Synchronisation),
}

/// Which instructions are checked for atomicity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TornScope {
    /// Instructions that write.
    Updates,
    /// All instructions.
    All,
}

/// The moves and conflict edges of one search.
pub struct CycleGraph<'a> {
    pub(super) graph: &'a AbstractEventGraph,
    pub(super) conflicts: &'a Conflicts,
    /// For each entry, its exits at another location, sorted.
    pub(super) exits: Vec<Vec<VertexId>>,
    /// For each exit, its entries at another location, sorted.
    pub(super) entries: Vec<Vec<VertexId>>,
    /// Torn moves between two accesses to one location, or two of one vertex: a cycle with one access of one other thread.
    pub(super) torn_in_place: Vec<(VertexId, VertexId)>,
}

impl<'a> CycleGraph<'a> {
    /// The graph for a conflict relation, program order, and sideways moves.
    #[must_use]
    pub fn new(
        graph: &'a AbstractEventGraph,
        order: &ProgramOrder,
        conflicts: &'a Conflicts,
        sideways: Sideways<'_>,
    ) -> CycleGraph<'a> {
        let mut moves: BTreeSet<(VertexId, VertexId)> = graph
            .vertex_ids()
            .take_while(|_| !graph.budget.is_over())
            .flat_map(|a| order.after(a).map(move |b| (a, b)))
            .collect();
        let sideways_moves = sideways_moves(graph, sideways);
        let same_location = |a: VertexId, b: VertexId| graph.vertex(a).is_at_location_of(graph.vertex(b));
        let torn_in_place = match sideways {
            Sideways::Torn(_) => sideways_moves.iter().copied().filter(|&(a, b)| same_location(a, b)).collect(),
            Sideways::None | Sideways::Through(_) => Vec::new(),
        };
        moves.extend(sideways_moves);
        if let Sideways::Torn(_) = sideways {
            // What is atomic already is whole while others are torn: a cycle passes through it.
            moves.extend(self::sideways_moves(graph, Sideways::Through(&Synchronisation::none())));
        }
        let mut exits = vec![Vec::new(); graph.vertices.len()];
        let mut entries = vec![Vec::new(); graph.vertices.len()];
        for (a, b) in moves {
            // A thread that enters and leaves at one location would make four consecutive accesses to it.
            if !same_location(a, b) {
                exits[a.index()].push(b);
                entries[b.index()].push(a);
            }
        }
        CycleGraph { graph, conflicts, exits, entries, torn_in_place }
    }

    pub(super) fn thread(&self, vertex: VertexId) -> ThreadId {
        self.graph.vertex(vertex).thread
    }

    /// The location that a cycle uses up with this access: none if it is vague, as another access to it may be elsewhere.
    pub(super) fn location(&self, vertex: VertexId) -> Option<LocationId> {
        let vertex = self.graph.vertex(vertex);
        (!vertex.is_vague).then_some(vertex.location)
    }
}

/// The sideways moves, ordered pairs of vertices of one instruction. Where an instruction makes an access twice, there is a move from its vertex to itself.
pub(super) fn sideways_moves(graph: &AbstractEventGraph, sideways: Sideways<'_>) -> BTreeSet<(VertexId, VertexId)> {
    let mut moves = BTreeSet::new();
    for evaluation in graph.evaluations.iter().take_while(|_| !graph.budget.is_over()) {
        let (in_scope, keeps_own_order) = match sideways {
            Sideways::None => (false, true),
            Sideways::Torn(scope) => {
                let instruction = graph.instruction(evaluation.instr);
                (!evaluation.barrier && (scope == TornScope::All || instruction.update), true)
            }
            Sideways::Through(in_place) => (in_place.is_barrier(evaluation), false),
        };
        if !in_scope {
            continue;
        }
        for (position, to) in evaluation.events.iter().enumerate() {
            for (other, from) in evaluation.events.iter().enumerate() {
                if other != position && !(keeps_own_order && to.before.contains(&other)) {
                    moves.insert((from.vertex, to.vertex));
                }
            }
        }
    }
    moves
}
