//! The graph in which cycles are searched: conflict edges between threads, and moves from entry to exit within a
//! thread.
//!
//! *Components.* A cycle stays within a strongly connected component of the accesses under moves and conflicts. So a
//! move from one component to another is on none, and is left out from the beginning: the search and the enumeration
//! see only what can be on a cycle. The components are Tarjan's, by petgraph, on a compressed sparse row graph:
//! linear in moves and conflicts, once for a graph.
//!
//! *Exits that are alike.* What a cycle can do after an exit depends on its thread, its location and what conflicts
//! with it, not on the access itself. Exits that have all of these in common are known under the least of them
//! ([`CycleGraph::alike`]).

use crate::aeg::{AbstractEventGraph, Conflicts, ProgramOrder};
use crate::ids::{LocationId, ThreadId, VertexId};
use crate::safety::Synchronisation;
use fixedbitset::FixedBitSet;
use petgraph::algo::tarjan_scc;
use petgraph::csr::Csr;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// A way through an instruction that its own order does not give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sideways<'a> {
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
    /// For each entry, its exits at another location.
    pub(super) exits: Vec<FixedBitSet>,
    /// For each exit, its entries at another location, sorted.
    pub(super) entries: Vec<Vec<VertexId>>,
    /// For each access, the least one that is the same as an exit.
    pub(super) alike: Vec<VertexId>,
    /// The accesses of each thread.
    pub(super) of_thread: Vec<FixedBitSet>,
    /// The accesses that use up each location.
    pub(super) at_location: Vec<FixedBitSet>,
    /// Torn moves between two accesses to one location, or two of one vertex: a cycle with one access of one other
    /// thread.
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
        let nothing = FixedBitSet::with_capacity(graph.vertices.len());
        let row = |a| if graph.budget.is_over() { nothing.clone() } else { order.row(a).clone() };
        let mut exits: Vec<FixedBitSet> = graph.vertex_ids().map(row).collect();
        let sideways_moves = sideways_moves(graph, sideways);
        let same_location = |a: VertexId, b: VertexId| graph.vertex(a).is_at_location_of(graph.vertex(b));
        let torn_in_place = match sideways {
            Sideways::Torn(_) => sideways_moves.iter().copied().filter(|&(a, b)| same_location(a, b)).collect(),
            Sideways::Through(_) => Vec::new(),
        };
        let through = match sideways {
            // What is atomic already is whole while others are torn: a cycle passes through it.
            Sideways::Torn(_) => self::sideways_moves(graph, Sideways::Through(&Synchronisation::none())),
            Sideways::Through(_) => BTreeSet::new(),
        };
        for (a, b) in sideways_moves.into_iter().chain(through) {
            exits[a.index()].insert(b.index());
        }
        let mut of_thread = vec![nothing.clone(); graph.threads.len()];
        let mut at_location = vec![nothing; graph.locations.len()];
        for vertex in graph.vertex_ids() {
            of_thread[graph.vertex(vertex).thread.index()].insert(vertex.index());
            if let Some(location) = used_location(graph, vertex) {
                at_location[location.index()].insert(vertex.index());
            }
        }
        for (a, exits) in graph.vertex_ids().zip(&mut exits) {
            // A thread that enters and leaves at one location would make four consecutive accesses to it.
            if let Some(location) = used_location(graph, a) {
                exits.difference_with(&at_location[location.index()]);
            }
        }
        keep_within(&components(conflicts, &exits), &mut exits);
        let mut entries = vec![Vec::new(); graph.vertices.len()];
        for a in graph.vertex_ids() {
            exits[a.index()].ones().for_each(|b| entries[b].push(a));
        }
        let alike = alike(graph, conflicts);
        CycleGraph { graph, conflicts, exits, entries, alike, of_thread, at_location, torn_in_place }
    }

    /// The event graph.
    #[must_use]
    pub fn graph(&self) -> &'a AbstractEventGraph {
        self.graph
    }

    /// The exits of an entry, at another location, with which it can be on a cycle.
    pub fn exits(&self, entry: VertexId) -> impl Iterator<Item = VertexId> + '_ {
        self.exits[entry.index()].ones().map(VertexId::new)
    }

    pub(super) fn thread(&self, vertex: VertexId) -> ThreadId {
        self.graph.vertex(vertex).thread
    }

    /// The location that a cycle uses up with this access: none if it is vague, as another access to it may be
    /// elsewhere.
    pub(super) fn location(&self, vertex: VertexId) -> Option<LocationId> {
        used_location(self.graph, vertex)
    }
}

fn used_location(graph: &AbstractEventGraph, vertex: VertexId) -> Option<LocationId> {
    let vertex = graph.vertex(vertex);
    (!vertex.is_vague).then_some(vertex.location)
}

/// How much of the stack petgraph's Tarjan may need for a vertex: it calls itself for each on a path.
const STACK_PER_VERTEX: usize = 2048;
/// So many vertices fit into the stack of any thread.
const FEW_VERTICES: usize = 256;

/// The strongly connected components under moves and conflicts.
fn components(conflicts: &Conflicts, exits: &[FixedBitSet]) -> Vec<Vec<u32>> {
    let number = |vertex: usize| VertexId::new(vertex).0;
    let mut edges: Vec<(u32, u32)> = Vec::new();
    for (vertex, exits) in exits.iter().enumerate() {
        let both = exits.union(conflicts.row(VertexId::new(vertex)));
        let first = edges.len();
        edges.extend(both.map(|next| (number(vertex), number(next))));
        edges[first..].sort_unstable();
    }
    let mut graph: Csr<(), ()> = Csr::from_sorted_edges(&edges).unwrap_or_else(|_| unreachable!("edges are sorted"));
    while graph.node_count() < exits.len() {
        graph.add_node(());
    }
    if exits.len() <= FEW_VERTICES {
        return tarjan_scc(&graph);
    }
    let large_stack = std::thread::Builder::new().stack_size(STACK_PER_VERTEX * exits.len());
    std::thread::scope(|scope| {
        let thread = large_stack.spawn_scoped(scope, || tarjan_scc(&graph));
        thread.ok().and_then(|thread| thread.join().ok())
    })
    // Where the system gives no thread, everything is one component, which is always right.
    .unwrap_or_else(|| vec![(0..number(exits.len())).collect()])
}

/// Leaves out the moves from one component to another.
fn keep_within(components: &[Vec<u32>], exits: &mut [FixedBitSet]) {
    let mut own = FixedBitSet::with_capacity(exits.len());
    for component in components {
        own.clear();
        own.extend(component.iter().map(|&vertex| vertex as usize));
        component.iter().for_each(|&vertex| exits[vertex as usize].intersect_with(&own));
    }
}

/// For each access, the least one that has its thread, its location and its conflicts.
fn alike(graph: &AbstractEventGraph, conflicts: &Conflicts) -> Vec<VertexId> {
    let mut known: FxHashMap<_, VertexId> = FxHashMap::default();
    let least = |vertex: VertexId| {
        let (thread, location) = (graph.vertex(vertex).thread, used_location(graph, vertex));
        *known.entry((thread, location, conflicts.row(vertex))).or_insert(vertex)
    };
    graph.vertex_ids().map(least).collect()
}

/// The sideways moves, ordered pairs of vertices of one instruction. Where an instruction makes an access twice,
/// there is a move from its vertex to itself.
pub(super) fn sideways_moves(graph: &AbstractEventGraph, sideways: Sideways<'_>) -> BTreeSet<(VertexId, VertexId)> {
    let mut moves = BTreeSet::new();
    for evaluation in graph.evaluations.iter().take_while(|_| !graph.budget.is_over()) {
        let (in_scope, keeps_own_order) = match sideways {
            Sideways::Torn(scope) => {
                let instruction = graph.instruction(evaluation.instr);
                (!evaluation.is_whole() && (scope == TornScope::All || instruction.update), true)
            }
            Sideways::Through(in_place) => (in_place.is_barrier(evaluation) || evaluation.is_whole(), false),
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

#[cfg(test)]
mod tests {
    use super::{CycleGraph, Sideways};
    use crate::aeg::{AbstractEventGraph, Conflicts, Profile, ProgramOrder};
    use crate::facts::{Facts, Follows};
    use crate::ids::{LabelId, VertexId};
    use crate::lts::dialect::native;
    use crate::safety::Synchronisation;

    /// Threads of instructions, one after the other; all exits of each access.
    fn moves(threads: &[Vec<&str>]) -> Vec<Vec<usize>> {
        let mut labels = Vec::new();
        let mut follows = Vec::new();
        for (thread, accesses) in threads.iter().enumerate() {
            for (position, access) in accesses.iter().enumerate() {
                let label = native::parse(&format!("T{thread}.{position}: {access}")).expect("a label");
                let to = LabelId::new(labels.len());
                follows.extend((position > 0).then(|| Follows { from: LabelId(to.0 - 1), to, newly: true }));
                labels.push(label);
            }
        }
        let facts = Facts::canonical(&labels, follows, [], (1, 1));
        let graph = AbstractEventGraph::build(&facts, Profile::Sound);
        let (order, conflicts) = (ProgramOrder::new(&graph), Conflicts::reachable(&graph));
        let cycles = CycleGraph::new(&graph, &order, &conflicts, Sideways::Through(&Synchronisation::none()));
        graph.vertex_ids().map(|vertex| cycles.exits(vertex).map(VertexId::index).collect()).collect()
    }

    #[test]
    fn only_moves_within_a_component_are_left() {
        let store_buffering = [vec!["x :=", "~r := y", "~s := z"], vec!["y :=", "~r := x"]];
        assert_eq!(moves(&store_buffering), [vec![1], vec![], vec![], vec![4], vec![]], "nobody else accesses z");
        let one_way = [vec!["x :=", "y :="], vec!["~r := x", "~s := y"]];
        assert_eq!(moves(&one_way).concat(), [0; 0], "there is no way back from y to x");
    }

    #[test]
    fn long_threads_do_not_overflow_the_stack() {
        let long: Vec<&str> = (0..3000).map(|position| if position % 2 == 0 { "x :=" } else { "y :=" }).collect();
        let count = || moves(&[long, vec!["x :=", "y :="]]).concat().len();
        let small_stack = std::thread::Builder::new().stack_size(256 << 10);
        let counted = small_stack.spawn(count).expect("a thread").join().expect("no overflow");
        assert_eq!(counted, 1500 * 1500 + 1);
    }
}
