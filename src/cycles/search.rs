//! Is the pair (a, b) the entry→exit part of some critical cycle? Decided without listing cycles (method §7).
//!
//! From exit `b` the search crosses conflict edges to other threads, passes them from entry to exit, and comes back
//! to the entries asked for. A search state is (exit, threads used, locations used); states are taken by the number
//! of accesses so far, and one is dropped if a state with an exit [alike](CycleGraph::alike), no more threads and no
//! more locations was there before (dominance). So the first way back to an entry is a shortest cycle.
//!
//! *A location is one run of at most three accesses*, so a thread either changes the location (entry and exit
//! differ), or takes part with one access between two others on the same location. One search from `b` answers for
//! all entries `a` of its thread.
//!
//! *Which of several shortest cycles* is found follows from the order in which states are taken: by length, those of
//! one length by the state before them (those that passed a single access first), then by the accesses. Dropping a
//! state never changes the answer: whatever it could close, the one that dominates it closes in fewer accesses, or
//! first. For the same reason states are made only when their length has come, which for most exits it never does,
//! and an exit is passed once from a state, over the first entry that leads to it.
//!
//! *Locations that are as good as used.* A location from which only threads leave that were used makes no difference
//! any more, so it counts as used: paths that differ only in which of such locations they took become one. Without
//! this, a ring of threads in which neighbours share several locations has exponentially many.
//!
//! *Pruning:* exits from which no wanted entry can be reached at all, threads and locations aside, are not visited
//! ([`Outside`]). *Cost:* a state is expanded by conflicts² operations on sets of accesses; the number of states is
//! linear in the exits times the width of the dominance lists; in the worst case exponential in the number of
//! threads, there is no bound on the length.

use super::graph::CycleGraph;
use super::outside::Outside;
use super::witness::{Cycle, Segment};
use crate::ids::VertexId;
use fixedbitset::FixedBitSet;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// For each wanted entry that lies on a critical cycle with exit `b`, of the thread that `outside` is for: a shortest
/// such cycle, its first segment being (entry, b).
///
/// A wanted entry at the location of `b` is only closed over a single access of one other thread: a torn instruction
/// (method §8). It can be `b` itself, if the instruction makes that access twice.
#[must_use]
pub fn shortest_cycles(outside: &Outside<'_>, b: VertexId, wanted: &FixedBitSet) -> BTreeMap<VertexId, Cycle> {
    let wanted = outside.reached_from(b, wanted);
    if wanted.is_clear() {
        return BTreeMap::new();
    }
    let mut search = CycleSearch::new(outside, b, wanted);
    search.run();
    search.found
}

struct State {
    exit: VertexId,
    used: Used,
    /// The state before, and how it went on from there.
    parent: Option<(usize, Passage)>,
}

/// From one exit to the next.
#[derive(Clone, Copy)]
struct Passage {
    /// The access of a thread that takes part with no other.
    single: Option<VertexId>,
    segment: Segment,
}

/// Threads and locations that a path has used: one set, the threads first. Locations that no other thread can leave
/// from any more count as used.
type Used = FixedBitSet;

struct CycleSearch<'g> {
    graph: &'g CycleGraph<'g>,
    b: VertexId,
    /// The wanted entries that were not found yet.
    open: FixedBitSet,
    leads_back: FixedBitSet,
    /// For each location, the threads that can leave from there and still come back.
    leaving: Vec<Used>,
    states: Vec<State>,
    /// Per exit, the least of those alike, the states expanded.
    expanded: FxHashMap<VertexId, Vec<usize>>,
    /// What was made a state already.
    made: FxHashSet<(VertexId, Used)>,
    found: BTreeMap<VertexId, Cycle>,
}

impl<'g> CycleSearch<'g> {
    fn new(outside: &Outside<'g>, b: VertexId, wanted: FixedBitSet) -> Self {
        let graph = outside.graph;
        let nothing = Used::with_capacity(graph.graph.threads.len() + graph.graph.locations.len());
        let leads_back = outside.leading_to(&wanted);
        let mut leaving = vec![nothing.clone(); graph.graph.locations.len()];
        for exit in leads_back.ones().map(VertexId::new) {
            leaving[graph.graph.vertex(exit).location.index()].insert(graph.thread(exit).index());
        }
        let mut search = CycleSearch {
            graph,
            b,
            leads_back,
            leaving,
            open: wanted,
            states: Vec::new(),
            expanded: FxHashMap::default(),
            made: FxHashSet::default(),
            found: BTreeMap::new(),
        };
        let mut used = nothing;
        used.insert(search.thread_bit(b));
        used.extend(search.location_bit(b));
        search.states.push(State { exit: b, used, parent: None });
        search
    }

    fn thread_bit(&self, vertex: VertexId) -> usize {
        self.graph.thread(vertex).index()
    }

    fn location_bit(&self, vertex: VertexId) -> Option<usize> {
        self.graph.location(vertex).map(|location| self.graph.graph.threads.len() + location.index())
    }

    fn run(&mut self) {
        // The states expanded one, two and three accesses ago.
        let [mut one, mut two, mut three]: [Vec<usize>; 3] = Default::default();
        let mut reached = vec![0];
        loop {
            three.iter().for_each(|&state| self.pass_over_single(state, &mut reached));
            two.iter().for_each(|&state| self.pass(state, &mut reached));
            reached.iter().for_each(|&state| self.close_directly(state));
            one.iter().for_each(|&state| self.close_over_single(state));
            if self.open.is_clear() || self.graph.graph.budget.is_over() {
                return;
            }
            reached.retain(|&state| self.is_expanded_now(state));
            (three, two, one) = (two, one, std::mem::take(&mut reached));
            if one.is_empty() && two.is_empty() && three.is_empty() {
                return;
            }
        }
    }

    /// Whether a state that was expanded before, and so is no longer, has an exit of this kind and uses no more.
    fn is_dominated(&self, alike: VertexId, used: &Used) -> bool {
        let expanded = self.expanded.get(&alike).map_or(&[][..], Vec::as_slice);
        expanded.iter().any(|&other| self.states[other].used.is_subset(used))
    }

    /// Expands the state, unless it is dominated.
    fn is_expanded_now(&mut self, state: usize) -> bool {
        let alike = self.graph.alike[self.states[state].exit.index()];
        let is_new = !self.is_dominated(alike, &self.states[state].used);
        if is_new {
            self.expanded.entry(alike).or_default().push(state);
        }
        is_new
    }

    /// Closes cycles over the conflict edges from the state's exit.
    fn close_directly(&mut self, state: usize) {
        let entries: Vec<usize> = self.graph.conflicts.row(self.states[state].exit).intersection(&self.open).collect();
        entries.into_iter().for_each(|entry| self.close(state, None, VertexId::new(entry)));
    }

    /// Closes cycles over one more access, unless it would only be a detour.
    fn close_over_single(&mut self, state: usize) {
        let conflicts = self.graph.conflicts;
        let exit = self.states[state].exit;
        for &single in conflicts.of(exit) {
            if self.states[state].used.contains(self.thread_bit(single)) {
                continue;
            }
            let entries: Vec<usize> = conflicts.row(single).intersection(&self.open).collect();
            let entries = entries.into_iter().map(VertexId::new).filter(|&entry| !conflicts.contains(exit, entry));
            entries.for_each(|entry| self.close(state, Some(single), entry));
        }
    }

    /// The exits that a path may take after this state.
    fn free_exits(&self, state: usize) -> FixedBitSet {
        let mut free = self.leads_back.clone();
        let threads = self.graph.graph.threads.len();
        for bit in self.states[state].used.ones() {
            let taken = bit.checked_sub(threads).map(|location| &self.graph.at_location[location]);
            free.difference_with(taken.unwrap_or_else(|| &self.graph.of_thread[bit]));
        }
        free
    }

    /// Passes the next thread, from its entries to its exits.
    fn pass(&mut self, state: usize, reached: &mut Vec<usize>) {
        let mut free = self.free_exits(state);
        for &entry in self.graph.conflicts.of(self.states[state].exit) {
            if self.graph.graph.budget.is_over() {
                return;
            }
            self.leave(state, None, entry, &mut free, reached);
        }
    }

    /// Passes a single access of one thread, and then the next one, which comes in at the same location. Where that
    /// one can be entered directly, this would only be a detour.
    fn pass_over_single(&mut self, state: usize, reached: &mut Vec<usize>) {
        let conflicts = self.graph.conflicts;
        let exit = self.states[state].exit;
        let free = self.free_exits(state);
        // For the single accesses of one thread, which follow each other: the exits left to take, and the entries
        // that are done with.
        let (mut thread, mut left, mut entered) = (None, free.clone(), conflicts.row(exit).clone());
        for &single in conflicts.of(exit) {
            if self.graph.graph.budget.is_over() {
                return;
            }
            if self.states[state].used.contains(self.thread_bit(single)) {
                continue;
            }
            if thread != Some(self.graph.thread(single)) {
                (thread, left, entered) = (Some(self.graph.thread(single)), free.clone(), conflicts.row(exit).clone());
            }
            let entries: Vec<usize> = conflicts.row(single).difference(&entered).collect();
            for entry in entries {
                entered.insert(entry);
                self.leave(state, Some(single), VertexId::new(entry), &mut left, reached);
            }
        }
    }

    /// Passes the thread of `entry` to those of its exits that are still free.
    fn leave(
        &mut self,
        state: usize,
        single: Option<VertexId>,
        entry: VertexId,
        free: &mut FixedBitSet,
        reached: &mut Vec<usize>,
    ) {
        let graph = self.graph;
        let mut used = self.states[state].used.clone();
        used.extend(single.map(|vertex| self.thread_bit(vertex)));
        used.insert(self.thread_bit(entry));
        for (location, leaving) in self.leaving.iter().enumerate() {
            if leaving.is_subset(&used) {
                used.insert(graph.graph.threads.len() + location);
            }
        }
        for exit in graph.exits(entry) {
            // Of exits that are alike the first is enough; they are free together.
            let alike = graph.alike[exit.index()];
            if !free.contains(alike.index()) {
                continue;
            }
            free.remove(alike.index());
            let location = self.location_bit(exit).filter(|&bit| !used.put(bit));
            if !self.is_dominated(alike, &used) && self.made.insert((alike, used.clone())) {
                let passage = Passage { single, segment: Segment { entry, exit } };
                reached.push(self.states.len());
                self.states.push(State { exit, used: used.clone(), parent: Some((state, passage)) });
            }
            location.into_iter().for_each(|bit| used.remove(bit));
        }
    }

    fn close(&mut self, state: usize, last: Option<VertexId>, entry: VertexId) {
        let at_one_access = |single: VertexId| Segment { entry: single, exit: single };
        let mut segments: Vec<Segment> = last.map(at_one_access).into_iter().collect();
        let mut at = state;
        while let Some((parent, passage)) = self.states[at].parent {
            segments.push(passage.segment);
            segments.extend(passage.single.map(at_one_access));
            at = parent;
        }
        segments.push(Segment { entry, exit: self.b });
        segments.reverse();
        self.open.remove(entry.index());
        self.found.insert(entry, Cycle { segments });
    }
}
