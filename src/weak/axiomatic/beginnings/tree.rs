//! The beginnings of a thread, access by access, made when they are asked for.
//!
//! A node is a beginning: what the thread has decided, and what its reads have returned. From there go *moves*: the
//! accesses that may come next, a read with a child for each value that it may return. A beginning of which nothing can
//! come, because a condition does not hold with these values, is none.

use crate::ids::{InstrAt, LocationAt};
use crate::program::compiled::Fault;
use crate::weak::axiomatic::access::{Access, AccessKind, Fence};
use crate::weak::axiomatic::choices::{Choices, Guide};
use crate::weak::axiomatic::execution::Strand;
use crate::weak::axiomatic::trace::{Ended, Run, Stop, TracedThread};
use rustc_hash::FxHashMap;

/// The position of a beginning in its tree.
pub type NodeAt = u32;

/// What may come next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed {
    /// A read.
    Read(LocationAt),
    /// A write, and its value.
    Write(LocationAt, i64),
}

/// One access that may come next.
pub struct Move {
    /// What it is.
    pub deed: Deed,
    /// What the thread has decided until then.
    decisions: Vec<i64>,
}

/// A beginning.
pub struct Node {
    /// Its accesses.
    pub accesses: Vec<Access>,
    /// The fences before the last of them.
    pub fences: Vec<Fence>,
    /// What may come next.
    pub moves: Vec<Move>,
    /// Whether it ends between two instructions.
    pub is_whole: bool,
    /// Whether an instruction that comes next has been taken as often as it may be.
    pub is_cut_off: bool,
    /// How the next instruction goes wrong, if it does.
    pub fault: Option<(Fault, InstrAt)>,
    children: FxHashMap<(usize, i64), Option<NodeAt>>,
}

impl Node {
    /// What the thread does in it.
    pub fn strand(&self) -> Strand<'_> {
        Strand { accesses: &self.accesses, fences: &self.fences }
    }
}

/// The beginnings of a thread.
pub struct Tree<'a> {
    source: &'a TracedThread<'a>,
    nodes: Vec<Node>,
}

impl<'a> Tree<'a> {
    /// Of a thread; the first node is the beginning without accesses.
    pub fn new(source: &'a TracedThread<'a>) -> Tree<'a> {
        let mut tree = Tree { source, nodes: Vec::new() };
        let start = tree.follow(&[], 0);
        tree.nodes.push(start);
        tree
    }

    /// A beginning.
    pub fn node(&self, at: NodeAt) -> &Node {
        &self.nodes[at as usize]
    }

    /// The beginning behind a move, which reads or writes this value; nothing if there is none.
    pub fn child(&mut self, at: NodeAt, number: usize, value: i64) -> Option<NodeAt> {
        let node = self.node(at);
        if let Some(known) = node.children.get(&(number, value)) {
            return *known;
        }
        let depth = node.accesses.len() + 1;
        let decisions: Vec<i64> = node.moves[number].decisions.iter().copied().chain([value]).collect();
        let child = self.follow(&decisions, depth);
        let found = (child.is_whole || !child.moves.is_empty()).then(|| {
            self.nodes.push(child);
            (self.nodes.len() - 1) as NodeAt
        });
        self.nodes[at as usize].children.insert((number, value), found);
        found
    }

    /// The beginning with these decisions and so many accesses.
    fn follow(&self, decisions: &[i64], depth: usize) -> Node {
        let mut choices = Choices::default();
        let (mut moves, mut strand) = (Vec::new(), None);
        let (mut is_whole, mut is_cut_off, mut fault) = (depth == 0, false, None);
        loop {
            let mut guided = Guided { known: decisions, at: 0, more: Vec::new(), choices: &mut choices, next: None };
            let way = Run::new(self.source, &mut guided).follow();
            let Guided { more, next, .. } = guided;
            is_whole |= way.whole == depth;
            match way.ended {
                Ended::At(_, Stop::Faulty { fault: kind, instruction }) => {
                    (is_whole, fault) = (true, Some((kind, instruction)));
                }
                Ended::At(..) | Ended::Refused => {}
                Ended::CutOff => is_cut_off = true,
                Ended::Paused => {
                    let deed = next.map(Deed::Read).or_else(|| way.accesses.get(depth).map(written));
                    let decisions = decisions.iter().copied().chain(more).collect();
                    moves.extend(deed.map(|deed| Move { deed, decisions }));
                }
            }
            let (mut accesses, mut fences) = (way.accesses, way.fences);
            accesses.truncate(depth);
            fences.retain(|fence| fence.place < depth);
            strand.get_or_insert((accesses, fences));
            if !choices.advance() {
                break;
            }
        }
        let (accesses, fences) = strand.unwrap_or_default();
        Node { accesses, fences, moves, is_whole, is_cut_off, fault, children: FxHashMap::default() }
    }
}

fn written(access: &Access) -> Deed {
    match access.kind {
        AccessKind::Write => Deed::Write(access.location, access.value),
        AccessKind::Read => Deed::Read(access.location),
    }
}

/// Decides as it was decided, then in all ways, up to the next access.
struct Guided<'a> {
    known: &'a [i64],
    at: usize,
    /// What was decided besides.
    more: Vec<i64>,
    choices: &'a mut Choices,
    /// The location that is read next.
    next: Option<LocationAt>,
}

impl Guided<'_> {
    fn known(&mut self) -> Option<i64> {
        self.at += 1;
        self.known.get(self.at - 1).copied()
    }
}

impl Guide for &mut Guided<'_> {
    fn choose(&mut self, options: usize) -> usize {
        if let Some(known) = self.known() {
            return known as usize;
        }
        let chosen = self.choices.choose(options);
        self.more.push(chosen as i64);
        chosen
    }

    fn read(&mut self, location: LocationAt, _nearest: i64) -> Option<i64> {
        let known = self.known();
        if known.is_none() {
            self.next = Some(location);
        }
        known
    }

    fn goes_on_behind_a_write(&mut self) -> bool {
        self.known().is_some()
    }

    fn passes_the_bound(&self) -> bool {
        false
    }
}
