//! Is the pair (a, b) the entry→exit part of some critical cycle? Decided without listing cycles (method §7).
//!
//! From exit `b` the search crosses conflict edges to other threads, passes them from entry to exit, and comes back to the entries asked for.
//! A search state is (exit, threads used, locations used); states are taken by the number of accesses so far, and one is dropped if a state with
//! the same exit, no more threads and no more locations was there before (dominance). So the first way back to an entry is a shortest cycle.
//!
//! *A location is one run of at most three accesses*, so a thread either changes the location (entry and exit differ), or takes part with one access between two others
//! on the same location. One search from `b` answers for all entries `a` of its thread.
//!
//! *Pruning:* exits from which no wanted entry can be reached at all, threads and locations aside, are not visited. *Cost:* linear in the edges times
//! the width of the dominance lists; in the worst case exponential in the number of threads, there is no bound on the length.

use super::graph::CycleGraph;
use super::witness::{Cycle, Segment};
use crate::ids::VertexId;
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

/// For each wanted entry that lies on a critical cycle with exit `b`: a shortest such cycle, its first segment being (entry, b).
///
/// A wanted entry at the location of `b` is only closed over a single access of one other thread: a torn instruction (method §8). It can be `b` itself, if the instruction makes that access twice.
#[must_use]
pub fn shortest_cycles(graph: &CycleGraph<'_>, b: VertexId, wanted: &BTreeSet<VertexId>) -> BTreeMap<VertexId, Cycle> {
    let possible = possible_entries(graph, b, wanted);
    let mut search = Search::new(graph, b, &possible);
    search.run();
    search.found
}

struct State {
    exit: VertexId,
    used: Used,
    /// The state before, and the segments taken from there to here.
    parent: Option<(usize, Vec<Segment>)>,
}

enum Item {
    /// A state to expand, by position.
    Expand(usize),
    /// A way back to an entry from a state, over a single access.
    Close { state: usize, over: VertexId, entry: VertexId },
}

struct Search<'s, 'g> {
    graph: &'s CycleGraph<'g>,
    b: VertexId,
    wanted: &'s BTreeSet<VertexId>,
    leads_back: FixedBitSet,
    states: Vec<State>,
    /// Per exit, the states expanded.
    expanded: FxHashMap<VertexId, Vec<usize>>,
    /// What was put into a bucket already, with the least length.
    pushed: FxHashMap<(VertexId, Used), usize>,
    /// Items by the number of accesses so far.
    buckets: Vec<Vec<Item>>,
    found: BTreeMap<VertexId, Cycle>,
}

/// Threads and locations that a path has used: one set, the threads first.
type Used = FixedBitSet;

impl<'s, 'g> Search<'s, 'g> {
    fn new(graph: &'s CycleGraph<'g>, b: VertexId, wanted: &'s BTreeSet<VertexId>) -> Self {
        let mut search = Search {
            graph,
            b,
            leads_back: leads_back(graph, b, wanted),
            wanted,
            states: Vec::new(),
            expanded: FxHashMap::default(),
            pushed: FxHashMap::default(),
            buckets: vec![vec![Item::Expand(0)]],
            found: BTreeMap::new(),
        };
        let mut used = Used::with_capacity(graph.graph.threads.len() + graph.graph.locations.len());
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
        let mut length = 0;
        while length < self.buckets.len() && self.found.len() < self.wanted.len() {
            let items = std::mem::take(&mut self.buckets[length]);
            // First look whether the ways back of this length are all that was wanted, then go on to longer ones.
            for item in &items {
                match *item {
                    Item::Expand(state) => self.close_directly(state),
                    Item::Close { state, over, entry } => {
                        self.close(state, Some(Segment { entry: over, exit: over }), entry);
                    }
                }
            }
            if self.found.len() == self.wanted.len() {
                return;
            }
            for item in items {
                if self.graph.graph.budget.is_over() {
                    return;
                }
                if let Item::Expand(state) = item {
                    self.expand(state, length);
                }
            }
            length += 1;
        }
    }

    /// Whether a state that was expanded before, and so is no longer, has the same exit and uses no more.
    fn is_dominated(&self, exit: VertexId, used: &Used) -> bool {
        let expanded = self.expanded.get(&exit).map_or(&[][..], Vec::as_slice);
        expanded.iter().any(|&other| self.states[other].used.is_subset(used))
    }

    /// Closes cycles over the conflict edges from the state's exit.
    fn close_directly(&mut self, state: usize) {
        let graph = self.graph;
        for entry in graph.conflicts.of(self.states[state].exit) {
            if self.wanted.contains(entry) {
                self.close(state, None, *entry);
            }
        }
    }

    fn expand(&mut self, state: usize, length: usize) {
        let graph = self.graph;
        let exit = self.states[state].exit;
        if self.is_dominated(exit, &self.states[state].used) {
            return;
        }
        self.expanded.entry(exit).or_default().push(state);
        let own = graph.thread(self.b);
        for &entry in graph.conflicts.of(exit).iter().take_while(|_| !graph.graph.budget.is_over()) {
            // Its own thread is among the used ones.
            if self.states[state].used.contains(self.thread_bit(entry)) {
                continue;
            }
            self.leave(state, length + 2, None, entry);
            // The thread of `entry` takes part with this one access, the next one comes in at the same location. Where that one can be
            // entered directly, this would only be a detour.
            for &second in graph.conflicts.of(entry).iter().filter(|&&second| !graph.conflicts.contains(exit, second)) {
                if graph.thread(second) == own {
                    if self.wanted.contains(&second) {
                        self.push(length + 1, Item::Close { state, over: entry, entry: second });
                    }
                } else if !self.states[state].used.contains(self.thread_bit(second)) {
                    self.leave(state, length + 3, Some(entry), second);
                }
            }
        }
    }

    /// Passes the thread of `entry` to all its exits; `single` is the access of the thread passed in between.
    fn leave(&mut self, state: usize, length: usize, single: Option<VertexId>, entry: VertexId) {
        let graph = self.graph;
        for &exit in &graph.exits[entry.index()] {
            let location = self.location_bit(exit);
            let is_used = location.is_some_and(|bit| self.states[state].used.contains(bit));
            if !self.leads_back.contains(exit.index()) || is_used {
                continue;
            }
            let mut used = self.states[state].used.clone();
            used.extend(single.map(|vertex| self.thread_bit(vertex)));
            used.insert(self.thread_bit(entry));
            used.extend(location);
            if self.is_dominated(exit, &used) {
                continue;
            }
            match self.pushed.entry((exit, used.clone())) {
                Entry::Occupied(least) if *least.get() <= length => continue,
                Entry::Occupied(mut least) => {
                    least.insert(length);
                }
                Entry::Vacant(vacant) => {
                    vacant.insert(length);
                }
            }
            let segments = single
                .map(|vertex| Segment { entry: vertex, exit: vertex })
                .into_iter()
                .chain([Segment { entry, exit }]);
            let position = self.states.len();
            self.states.push(State { exit, used, parent: Some((state, segments.collect())) });
            self.push(length, Item::Expand(position));
        }
    }

    fn push(&mut self, length: usize, item: Item) {
        if self.buckets.len() <= length {
            self.buckets.resize_with(length + 1, Vec::new);
        }
        self.buckets[length].push(item);
    }

    fn close(&mut self, state: usize, last: Option<Segment>, entry: VertexId) {
        if self.found.contains_key(&entry) {
            return;
        }
        let mut groups: Vec<Vec<Segment>> = vec![last.into_iter().collect()];
        let mut at = state;
        while let Some((parent, segments)) = &self.states[at].parent {
            groups.push(segments.clone());
            at = *parent;
        }
        groups.push(vec![Segment { entry, exit: self.b }]);
        self.found.insert(entry, Cycle { segments: groups.into_iter().rev().flatten().collect() });
    }
}

/// The wanted entries that can be reached from `b`, the conditions on threads and locations aside: without the others the search can stop
/// when it has found all.
fn possible_entries(graph: &CycleGraph<'_>, b: VertexId, wanted: &BTreeSet<VertexId>) -> BTreeSet<VertexId> {
    let own = graph.thread(b);
    let mut possible = BTreeSet::new();
    let mut entered = FixedBitSet::with_capacity(graph.graph.vertices.len());
    let mut left = FixedBitSet::with_capacity(graph.graph.vertices.len());
    let mut stack = vec![b];
    while let Some(exit) = stack.pop() {
        let direct = graph.conflicts.of(exit).iter();
        let over_single =
            direct.clone().filter(|&&near| graph.thread(near) != own).flat_map(|&near| graph.conflicts.of(near));
        for &entry in direct.chain(over_single) {
            if entered.put(entry.index()) {
                continue;
            }
            if graph.thread(entry) == own {
                possible.extend(wanted.get(&entry).copied());
            } else {
                stack.extend(graph.exits[entry.index()].iter().copied().filter(|next| !left.put(next.index())));
            }
        }
    }
    possible
}

/// The exits from which some wanted entry can be reached, the conditions on threads and locations aside.
fn leads_back(graph: &CycleGraph<'_>, b: VertexId, wanted: &BTreeSet<VertexId>) -> FixedBitSet {
    let own = graph.thread(b);
    let mut marked = FixedBitSet::with_capacity(graph.graph.vertices.len());
    let mut stack: Vec<VertexId> = wanted.iter().copied().collect();
    let mut entered = FixedBitSet::with_capacity(graph.graph.vertices.len());
    // `stack` holds entries from which the way back is known; each gives the exits that conflict with it, directly or over a single access.
    while let Some(entry) = stack.pop() {
        if entered.put(entry.index()) {
            continue;
        }
        let direct = graph.conflicts.of(entry).iter();
        let over_single = direct.clone().flat_map(|&single| graph.conflicts.of(single));
        for &exit in direct.chain(over_single) {
            if graph.thread(exit) != own && !marked.put(exit.index()) {
                stack.extend(graph.entries[exit.index()].iter().copied());
            }
        }
    }
    marked
}
