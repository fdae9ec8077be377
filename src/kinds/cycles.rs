//! All tests of a program: its critical cycles, by what a memory model can tell of them.
//!
//! Which instruction an access is of makes no difference to a model. So the passages of a thread are taken together
//! that have the same kinds, marks and locations, and of these only the weakest links are told apart; cycles are
//! enumerated over these: far fewer than over accesses. Each passage keeps all pairs of accesses that have at least its
//! link, with a path, those with just its link first.
//!
//! A cycle is listed from its passage of the least thread; each thread and each location occurs once (see
//! [`test`](super::test)), but for vague locations, which may be several.
//!
//! *Cost.* Exponential in the number of threads. [`Passages::for_each`] stops after a number of steps, which is then
//! said.

use super::elements::InPlace;
use super::link::{Link, keep_weakest};
use super::paths::{Path, links};
use super::test::{Access, Between, Part};
use crate::aeg::AbstractEventGraph;
use crate::cycles::CycleGraph;
use crate::ids::{LabelId, LocationId, ThreadId, VertexId};
use crate::memory::Kind;
use crate::memory::cat::execution::Atomicity;
use crate::ordering::Marks;
use fixedbitset::FixedBitSet;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// A passage through a thread.
#[derive(Clone, Debug)]
pub struct Passage {
    /// What a test has of it.
    pub part: Part,
    /// The pairs of accesses that have it.
    pub pairs: Vec<Pair>,
    entry_at: LocationId,
    exit_at: LocationId,
    entry: Kind,
    exit: Kind,
}

/// Where a passage comes in and goes out.
#[derive(Clone, Debug)]
pub struct Pair {
    /// In.
    pub from: VertexId,
    /// Out.
    pub to: VertexId,
    /// How it goes from one to the other; none within an atomic instruction.
    pub path: Option<Path>,
}

/// A write between two accesses of other threads.
#[derive(Clone, Copy, Debug)]
pub struct Write {
    /// The access.
    pub vertex: VertexId,
    marks: Marks,
    at: LocationId,
}

/// A part of a cycle.
#[derive(Clone, Copy)]
pub enum Piece<'p> {
    /// A passage through a thread.
    Passage(&'p Passage),
    /// A write between.
    Write(&'p Write),
}

impl Piece<'_> {
    /// What a test has of it.
    #[must_use]
    pub fn part(&self) -> Part {
        match self {
            Piece::Passage(passage) => passage.part,
            Piece::Write(write) => Part::Write(write.marks),
        }
    }
}

/// The passages and writes of all threads.
pub struct Passages<'a> {
    graph: &'a AbstractEventGraph,
    passages: Vec<Vec<Passage>>,
    writes: Vec<Vec<Write>>,
    /// For each location, whether it is vague.
    vague: Vec<bool>,
}

/// Too many steps were made: cycles were left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooMany;

/// What a model can tell of a passage, but for its link.
type Key = (LocationId, Access, LocationId, Access);

impl<'a> Passages<'a> {
    /// Of the pairs that can be on a cycle, with what is in place.
    #[must_use]
    pub fn new(cycles: &CycleGraph<'a>, in_place: &InPlace) -> Passages<'a> {
        let graph = cycles.graph();
        let mut passages = vec![Vec::new(); graph.threads.len()];
        let mut writes = vec![Vec::new(); graph.threads.len()];
        for thread in (0..graph.threads.len()).map(ThreadId::new) {
            passages[thread.index()] = of_thread(cycles, in_place, thread);
            let mut known: BTreeMap<(LocationId, Marks), VertexId> = BTreeMap::new();
            for vertex in graph.vertex_ids().filter(|&vertex| graph.vertex(vertex).thread == thread) {
                if graph.vertex(vertex).kind == Kind::Write {
                    known.entry((graph.vertex(vertex).location, in_place.marks(graph, vertex))).or_insert(vertex);
                }
            }
            let write = |((at, marks), vertex)| Write { vertex, marks, at };
            writes[thread.index()] = known.into_iter().map(write).collect();
        }
        let mut vague = vec![false; graph.locations.len()];
        graph.vertices.iter().for_each(|vertex| vague[vertex.location.index()] |= vertex.is_vague);
        Passages { graph, passages, writes, vague }
    }

    /// Shows every cycle, until the answer is to stop, or no steps are left, which are counted down.
    ///
    /// # Errors
    /// If there were more steps to make.
    pub fn for_each(
        &self,
        left: &Cell<u64>,
        visit: &mut dyn FnMut(&[Piece<'_>]) -> ControlFlow<()>,
    ) -> Result<(), TooMany> {
        for root in 0..self.passages.len() {
            for first in &self.passages[root] {
                let mut threads = FixedBitSet::with_capacity(self.passages.len());
                threads.insert(root);
                let mut walk = Walk {
                    all: self,
                    root,
                    first,
                    threads,
                    locations: vec![first.exit_at],
                    pieces: vec![Piece::Passage(first)],
                    left,
                };
                match walk.leave(first, visit) {
                    ControlFlow::Continue(()) => {}
                    ControlFlow::Break(Ended::Stopped) => return Ok(()),
                    ControlFlow::Break(Ended::TooMany) => return Err(TooMany),
                }
            }
        }
        Ok(())
    }

    fn is_vague(&self, location: LocationId) -> bool {
        self.vague[location.index()]
    }
}

/// The passages of a thread.
fn of_thread(cycles: &CycleGraph<'_>, in_place: &InPlace, thread: ThreadId) -> Vec<Passage> {
    let graph = cycles.graph();
    let mut known: BTreeMap<Key, Vec<(Link, Pair)>> = BTreeMap::new();
    let mut atomic: BTreeMap<(Key, Atomicity), Vec<Pair>> = BTreeMap::new();
    let access = |vertex: VertexId| Access { kind: graph.vertex(vertex).kind, marks: in_place.marks(graph, vertex) };
    for from in graph.vertex_ids().filter(|&vertex| graph.vertex(vertex).thread == thread) {
        let mut exits = cycles.exits(from).peekable();
        if exits.peek().is_none() {
            continue;
        }
        let links = links(graph, in_place, from);
        for to in exits {
            let key = (graph.vertex(from).location, access(from), graph.vertex(to).location, access(to));
            for (link, path) in links.get(&to).into_iter().flatten() {
                let pair = Pair { from, to, path: Some(path.clone()) };
                known.entry(key).or_default().push((*link, pair));
            }
            if is_through(graph, in_place, from, to) {
                let atomicity = in_place.atomicity(graph, from);
                atomic.entry((key, atomicity)).or_default().push(Pair { from, to, path: None });
            }
        }
    }
    let passage = |(entry_at, entry, exit_at, exit): Key, between: Between, pairs: Vec<Pair>| Passage {
        part: Part::Pass { entry, exit, between },
        pairs,
        entry_at,
        exit_at,
        entry: entry.kind,
        exit: exit.kind,
    };
    let mut passages = Vec::new();
    for (key, linked) in known {
        let mut weakest = Vec::new();
        linked.iter().for_each(|(link, _)| {
            keep_weakest(&mut weakest, *link, || ());
        });
        for (least, ()) in weakest {
            let (same, more): (Vec<_>, Vec<_>) =
                linked.iter().filter(|(link, _)| link.has(least)).partition(|(link, _)| *link == least);
            let pairs = same.into_iter().chain(more).map(|(_, pair)| pair.clone()).collect();
            passages.push(passage(key, Between::Order(least), pairs));
        }
    }
    let whole = |((key, atomicity), pairs)| passage(key, Between::Atomic(atomicity), pairs);
    passages.extend(atomic.into_iter().map(whole));
    passages
}

/// Whether both are of one evaluation, which is in one piece, and the second does not come after the first there. A
/// path may lead round a loop besides.
fn is_through(graph: &AbstractEventGraph, in_place: &InPlace, from: VertexId, to: VertexId) -> bool {
    graph.occurrences(from).iter().any(|&(label, first)| {
        let evaluation = graph.evaluation(label);
        let is_behind = |&&(same, last): &&(LabelId, usize)| {
            same == label && last != first && !evaluation.events[last].before.contains(&first)
        };
        (evaluation.is_whole() || in_place.is_barrier(evaluation))
            && graph.occurrences(to).iter().any(|to| is_behind(&to))
    })
}

enum Ended {
    Stopped,
    TooMany,
}

struct Walk<'w, 'a> {
    all: &'w Passages<'a>,
    root: usize,
    first: &'w Passage,
    threads: FixedBitSet,
    locations: Vec<LocationId>,
    pieces: Vec<Piece<'w>>,
    left: &'w Cell<u64>,
}

impl<'w> Walk<'w, '_> {
    /// Goes on from the exit of a passage.
    fn leave(
        &mut self,
        passage: &'w Passage,
        visit: &mut dyn FnMut(&[Piece<'_>]) -> ControlFlow<()>,
    ) -> ControlFlow<Ended> {
        let (location, is_read) = (passage.exit_at, passage.exit == Kind::Read);
        // Directly, where one of the two writes.
        self.arrive(location, &|entry| !is_read || entry == Kind::Write, visit)?;
        let all = self.all;
        for thread in 0..all.writes.len() {
            for write in all.writes[thread].iter().filter(|write| write.at == location) {
                if self.threads.put(thread) {
                    break;
                }
                self.pieces.push(Piece::Write(write));
                // Over a write that the next one reads from.
                let ended = self.arrive(location, &|entry| entry == Kind::Read, visit);
                self.pieces.pop();
                self.threads.remove(thread);
                ended?;
            }
        }
        ControlFlow::Continue(())
    }

    /// Comes in at a location, where the kind of the entry fits: closes the cycle, or passes through another thread.
    fn arrive(
        &mut self,
        location: LocationId,
        fits: &dyn Fn(Kind) -> bool,
        visit: &mut dyn FnMut(&[Piece<'_>]) -> ControlFlow<()>,
    ) -> ControlFlow<Ended> {
        let all = self.all;
        if self.pieces.len() > 1 && location == self.first.entry_at && fits(self.first.entry) {
            visit(&self.pieces).map_break(|()| Ended::Stopped)?;
        }
        if location == self.first.entry_at && !all.is_vague(location) {
            return ControlFlow::Continue(());
        }
        for thread in self.root + 1..all.passages.len() {
            if self.threads.put(thread) {
                continue;
            }
            for next in all.passages[thread].iter().filter(|next| next.entry_at == location && fits(next.entry)) {
                if self.left.get() == 0 || all.graph.budget.is_over() {
                    return ControlFlow::Break(Ended::TooMany);
                }
                self.left.set(self.left.get() - 1);
                if self.locations.contains(&next.exit_at) && !all.is_vague(next.exit_at) {
                    continue;
                }
                self.locations.push(next.exit_at);
                self.pieces.push(Piece::Passage(next));
                let ended = self.leave(next, visit);
                self.pieces.pop();
                self.locations.pop();
                ended?;
            }
            self.threads.remove(thread);
        }
        ControlFlow::Continue(())
    }
}
