//! How the accesses of some beginnings, one for each thread, communicate.
//!
//! A [`Graph`] has a number for each access, thread by thread: for a write its place in coherence among the writes to
//! its location, for a read the write that it reads from. What graphs of the same beginnings share is in a [`Frame`].

use super::tree::Node;
use crate::ids::LocationAt;
use crate::memory::cat::relation::Relation;
use crate::weak::axiomatic::access::AccessKind;
use crate::weak::axiomatic::execution::{Atomicity, Communication, Strand, accesses, is_before};
use std::collections::BTreeMap;

/// A number for each access.
pub type Graph = Box<[u32]>;

/// What a read has that returns the initial value.
pub const INITIAL: u32 = 0;
/// What a read has whose write is still to come.
pub const UNBOUND: u32 = 1;
/// The bits that the position of an access in its thread takes.
const POSITION: u32 = 20;

/// What a read has that returns what this access of a thread wrote.
pub fn source(thread: usize, position: usize) -> u32 {
    2 + ((thread as u32) << POSITION | position as u32)
}

/// An access.
#[derive(Clone, Copy, Debug)]
pub struct Cell {
    /// Its thread.
    pub thread: usize,
    /// Its position in the thread.
    pub position: usize,
    /// Read or write.
    pub kind: AccessKind,
    /// Its location.
    pub location: LocationAt,
    /// The value.
    pub value: i64,
}

/// What all graphs of some beginnings share.
pub struct Frame {
    /// The accesses, thread by thread.
    pub cells: Vec<Cell>,
    /// Where those of each thread begin.
    starts: Vec<usize>,
    /// For each location, its reads and its writes.
    locations: BTreeMap<LocationAt, (Vec<usize>, Vec<usize>)>,
    /// Program order.
    before: Relation,
    /// For each access the first of its indivisible instruction, or itself.
    class: Vec<usize>,
    /// Program order between these, if there are some with several accesses.
    contracted: Option<Relation>,
}

impl Frame {
    /// Of these beginnings.
    pub fn new(nodes: &[&Node]) -> Frame {
        let strands: Vec<Strand<'_>> = nodes.iter().map(|node| node.strand()).collect();
        let accesses = accesses(&strands);
        let mut starts = vec![0];
        nodes.iter().for_each(|node| starts.push(starts.last().copied().unwrap_or(0) + node.accesses.len()));
        let mut cells = Vec::new();
        let mut locations: BTreeMap<LocationAt, (Vec<usize>, Vec<usize>)> = BTreeMap::new();
        let mut class: Vec<usize> = Vec::new();
        for (event, of) in accesses.iter().enumerate() {
            let (thread, access) = (of.thread.index(), of.access);
            let (kind, location, value) = (access.kind, access.location, access.value);
            cells.push(Cell { thread, position: of.position, kind, location, value });
            let (reads, writes) = locations.entry(location).or_default();
            if kind == AccessKind::Read {
                reads.push(event);
            } else {
                writes.push(event);
            }
            let is_with = |other: &usize| {
                let other = &accesses[*other];
                other.thread == of.thread && other.access.step == access.step
            };
            let is_indivisible = access.atomicity != Atomicity::Divisible;
            class.push((starts[thread]..event).find(is_with).filter(|_| is_indivisible).unwrap_or(event));
        }
        let before = Relation::new(cells.len(), |a, b| is_before(&accesses[a], &accesses[b]));
        let has_several = class.iter().enumerate().any(|(event, first)| event != *first);
        let contracted = has_several.then(|| {
            let mut contracted = Relation::empty(cells.len());
            let between = before.pairs().map(|(a, b)| (class[a], class[b])).filter(|(a, b)| a != b);
            between.for_each(|(a, b)| contracted.insert(a, b));
            contracted
        });
        Frame { cells, starts, locations, before, class, contracted }
    }

    /// The event that a number of a read stands for, if it does for one.
    fn event(&self, number: u32) -> Option<usize> {
        let code = number.checked_sub(2)?;
        Some(self.starts[(code >> POSITION) as usize] + (code & ((1 << POSITION) - 1)) as usize)
    }

    /// The write that a read returns, if it returns one.
    pub fn source_of(&self, graph: &Graph, read: usize) -> Option<usize> {
        self.event(graph[read])
    }

    /// The writes to a location in coherence order.
    pub fn writes(&self, graph: &Graph, location: LocationAt) -> Vec<usize> {
        let mut writes = self.locations.get(&location).map(|(_, writes)| writes.clone()).unwrap_or_default();
        writes.sort_unstable_by_key(|write| graph[*write]);
        writes
    }

    /// The reads that are unbound.
    pub fn unbound<'g>(&'g self, graph: &'g Graph) -> impl Iterator<Item = usize> + 'g {
        let reads = self.locations.values().flat_map(|(reads, _)| reads);
        reads.copied().filter(|read| graph[*read] == UNBOUND)
    }

    /// For each access, whether it comes after an unbound read, or is on a cycle, by the order of the threads and
    /// reads-from.
    pub fn tainted(&self, graph: &Graph) -> Vec<bool> {
        let mut order = Relation::empty(self.cells.len());
        for (event, cell) in self.cells.iter().enumerate() {
            if cell.position > 0 {
                order.insert(event - 1, event);
            }
            if cell.kind == AccessKind::Read {
                self.source_of(graph, event).iter().for_each(|&write| order.insert(write, event));
            }
        }
        let order = order.plus();
        let begins = |event: usize| {
            order.contains(event, event) || self.cells[event].kind == AccessKind::Read && graph[event] == UNBOUND
        };
        let begins: Vec<usize> = (0..self.cells.len()).filter(|event| begins(*event)).collect();
        let is_behind = |event| begins.iter().any(|&begin| begin == event || order.contains(begin, event));
        (0..self.cells.len()).map(is_behind).collect()
    }

    /// The last access of a thread.
    pub fn last(&self, thread: usize) -> Option<usize> {
        (self.starts[thread]..self.starts[thread + 1]).next_back()
    }

    /// The graph with one more access at the end of a thread, a read with this number.
    pub fn with_read(&self, graph: &Graph, thread: usize, number: u32) -> Graph {
        let at = self.starts[thread + 1];
        graph[..at].iter().copied().chain([number]).chain(graph[at..].iter().copied()).collect()
    }

    /// The graph with one more write to a location at the end of a thread, at this place in coherence, which these
    /// reads return.
    pub fn with_write(
        &self,
        graph: &Graph,
        (thread, location): (usize, LocationAt),
        place: u32,
        readers: &[usize],
    ) -> Graph {
        let at = self.starts[thread + 1];
        let mut longer = graph.to_vec();
        if let Some((_, writes)) = self.locations.get(&location) {
            writes.iter().filter(|write| graph[**write] >= place).for_each(|write| longer[*write] += 1);
        }
        readers.iter().for_each(|read| longer[*read] = source(thread, at - self.starts[thread]));
        longer.insert(at, place);
        longer.into()
    }

    /// For each access to a location its place in coherence: that of the write that a read returns, 0 for the initial
    /// value; nothing for a read that is unbound.
    fn place(&self, graph: &Graph, event: usize) -> Option<u32> {
        match (self.cells[event].kind, graph[event]) {
            (AccessKind::Write, place) => Some(place + 1),
            (AccessKind::Read, INITIAL) => Some(0),
            (AccessKind::Read, number) => self.event(number).map(|write| graph[write] + 1),
        }
    }

    /// SC-per-location: along program order places do not fall, and to a write they rise.
    pub fn is_coherent(&self, graph: &Graph) -> bool {
        self.locations.values().all(|(reads, writes)| {
            let here: Vec<(usize, u32)> =
                reads.iter().chain(writes).filter_map(|event| Some((*event, self.place(graph, *event)?))).collect();
            here.iter().all(|&(a, place)| {
                here.iter().all(|&(b, later)| {
                    let is_write = self.cells[b].kind == AccessKind::Write;
                    !self.before.contains(a, b) || place < later || place == later && !is_write
                })
            })
        })
    }

    /// Enough of communication to see cycles: reads-from, next in coherence, and the first write behind what is read.
    fn edges(&self, graph: &Graph) -> Vec<(usize, usize)> {
        let mut edges = Vec::new();
        for (location, (reads, _)) in &self.locations {
            let writes = self.writes(graph, *location);
            edges.extend(writes.windows(2).map(|pair| (pair[0], pair[1])));
            for &read in reads {
                let Some(place) = self.place(graph, read) else { continue };
                edges.extend(self.source_of(graph, read).map(|write| (write, read)));
                edges.extend(writes.get(place as usize).map(|write| (read, *write)));
            }
        }
        edges
    }

    /// Whether sequential consistency allows the graph, as far as reads are bound.
    pub fn is_sequential(&self, graph: &Graph) -> bool {
        let edges = self.edges(graph);
        self.order(&edges).is_acyclic() && self.contracted_order(&edges).is_none_or(|order| order.is_acyclic())
    }

    /// Program order with these.
    fn order(&self, edges: &[(usize, usize)]) -> Relation {
        let mut order = self.before.clone();
        edges.iter().for_each(|&(a, b)| order.insert(a, b));
        order
    }

    /// The same between indivisible instructions, if there are some with several accesses.
    fn contracted_order(&self, edges: &[(usize, usize)]) -> Option<Relation> {
        let mut order = self.contracted.clone()?;
        let between = edges.iter().map(|&(a, b)| (self.class[a], self.class[b])).filter(|(a, b)| a != b);
        between.for_each(|(a, b)| order.insert(a, b));
        Some(order)
    }

    /// A shortest cycle of program order and communication, where the accesses of an indivisible instruction count as
    /// one if only so there is a cycle: then it enters such an instruction by one access and may leave it by another.
    pub fn cycle(&self, graph: &Graph) -> Vec<usize> {
        let edges = self.edges(graph);
        let order = self.order(&edges);
        if let Some(cycle) = shortest_cycle(&order) {
            return cycle;
        }
        let of = self.contracted_order(&edges).and_then(|order| shortest_cycle(&order)).unwrap_or_default();
        let members = |class: usize| (0..self.cells.len()).filter(move |event| self.class[*event] == class);
        let between = |(from, to): (usize, usize)| {
            members(from).flat_map(|a| members(to).map(move |b| (a, b))).find(|(a, b)| order.contains(*a, *b))
        };
        let steps = of.iter().copied().zip(of.iter().copied().cycle().skip(1)).filter_map(between);
        let mut cycle: Vec<usize> = steps.flat_map(|(a, b)| [a, b]).collect();
        // The first comes behind the last.
        let is_some = usize::from(!cycle.is_empty());
        cycle.rotate_right(is_some);
        cycle.dedup();
        cycle
    }

    /// All of communication, for axioms over so many events of which the accesses are the first.
    pub fn communication(&self, graph: &Graph, size: usize) -> Communication {
        let mut communication = Communication::none(size);
        for (location, (reads, _)) in &self.locations {
            let writes = self.writes(graph, *location);
            for (place, &write) in writes.iter().enumerate() {
                writes[place + 1..].iter().for_each(|&later| communication.co.insert(write, later));
            }
            for &read in reads {
                let Some(place) = self.place(graph, read) else { continue };
                self.source_of(graph, read).iter().for_each(|&write| communication.rf.insert(write, read));
                writes[place as usize..].iter().for_each(|&later| communication.fr.insert(read, later));
            }
        }
        communication
    }

    /// All accesses in an order that keeps that of the threads, and writes before the reads that return them as far as
    /// that is possible.
    pub fn in_order(&self, graph: &Graph) -> Vec<usize> {
        let threads = self.starts.len() - 1;
        let mut next: Vec<usize> = self.starts[..threads].to_vec();
        let mut order = Vec::new();
        let mut is_done = vec![false; self.cells.len()];
        while order.len() < self.cells.len() {
            let open = || (0..threads).filter(|&thread| next[thread] < self.starts[thread + 1]);
            let can_come = |thread: &usize| {
                let event = next[*thread];
                self.cells[event].kind == AccessKind::Write
                    || self.source_of(graph, event).is_none_or(|write| is_done[write])
            };
            let Some(thread) = open().find(can_come).or_else(|| open().next()) else { break };
            is_done[next[thread]] = true;
            order.push(next[thread]);
            next[thread] += 1;
        }
        order
    }
}

/// A cycle with as few events as any.
fn shortest_cycle(order: &Relation) -> Option<Vec<usize>> {
    let from = |start: usize| -> Option<Vec<usize>> {
        let mut came_from: Vec<Option<usize>> = vec![None; order.size()];
        let mut open = std::collections::VecDeque::from([start]);
        while let Some(event) = open.pop_front() {
            if order.contains(event, start) {
                let back = std::iter::successors(Some(event), |event| came_from[*event].filter(|_| *event != start));
                let mut cycle: Vec<usize> = back.collect();
                cycle.reverse();
                return Some(cycle);
            }
            for next in (0..order.size()).filter(|&next| order.contains(event, next)) {
                if next != start && came_from[next].is_none() {
                    came_from[next] = Some(event);
                    open.push_back(next);
                }
            }
        }
        None
    };
    (0..order.size()).filter_map(from).min_by_key(Vec::len)
}
