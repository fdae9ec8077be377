//! Fences as hitting sets: every path of every pattern must meet one.
//!
//! A path is the pivot's write and the instructions up to and with the read; a fence between two of these removes the
//! run, and nothing else does. It stands after the first of the two, as in the paper, or before the second: where
//! several instructions lead to one, a fence before that one does for all of them. Where several lead to a control
//! state and several leave it, one at the state does for all of both. Fences do nothing under sequential consistency,
//! so the patterns of the program with fences in place are those of the program itself whose path avoids them: one
//! exploration is enough, whatever sets are tried.
//!
//! [`minimum`] finds a set of least cost, and of those one with the fewest fences at states; [`minimal_sets`] lists
//! every set from which no fence can be left out, as in the paper with fences after instructions only. Both go
//! through the one [loop](crate::insertion): it is the paper's Algorithm 1. Threads are solved on their own, as
//! fences of one do nothing for another: the minimal sets of the program are all combinations.
//!
//! *Cost.* The instructions are those on paths of one thread, some dozens.

use super::local::{Pattern, Patterns};
use super::machine::Machine;
use crate::budget::Budget;
use crate::ids::{InstrAt, InstrId, LocationAt, ThreadAt};
use crate::insertion::{Answer, Candidate, Choice, Demand, Fences, Insertion, all_minimal, fewest};
use crate::memory::FenceStrength;
use crate::outline::{Outline, Place, Site};
use crate::program::At;
use crate::program::single_access::{Origin, SingleAccess};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::convert::Infallible;

/// Fences of a thread.
pub(super) type Cuts = BTreeSet<Site>;

/// The patterns of one thread.
pub(super) struct Paths<'a> {
    pub patterns: Vec<&'a Pattern>,
    /// Where the instructions of the thread come from.
    single: &'a SingleAccess,
    /// The outline of the program as it is written.
    pub outline: &'a Outline,
    thread: ThreadAt,
}

/// A path: the write, the instructions before the read, and the read.
pub(super) struct Path {
    pub instructions: Vec<InstrAt>,
    pub read: (InstrAt, LocationAt),
}

impl<'a> Paths<'a> {
    /// Those of these patterns that are of one thread.
    pub(super) fn of(patterns: &'a Patterns, thread: ThreadAt, machine: &Machine<'a>) -> Paths<'a> {
        let patterns: Vec<&Pattern> = patterns.keys().filter(|pattern| pattern.thread == thread).collect();
        Paths { patterns, single: machine.single, outline: machine.outline, thread }
    }

    /// The instruction as it is written.
    pub(super) fn instr(&self, number: InstrAt) -> InstrId {
        self.outline.instr(self.at(number))
    }

    /// Where it is written.
    fn at(&self, number: InstrAt) -> At {
        At { thread: self.thread, instruction: self.origin(number).instruction }
    }

    /// Where an instruction of the thread comes from.
    pub(super) fn origin(&self, instruction: InstrAt) -> Origin {
        self.single.origin(At { thread: self.thread, instruction })
    }

    /// The fences that would stand between an instruction and the next; none within one that is performed in parts.
    fn between(&self, first: InstrAt, then: InstrAt) -> impl Iterator<Item = Site> + use<> {
        let (left, entered) = (self.instr(first), self.instr(then));
        let sites = [Some(Site::after(left)), Some(Site::before(entered)), self.outline.junction_behind(left)];
        let completes = self.origin(first).completes;
        sites.into_iter().flatten().filter(move |_| completes)
    }

    fn is_cut(&self, first: InstrAt, then: InstrAt, fences: &Cuts) -> bool {
        self.between(first, then).any(|cut| fences.contains(&cut))
    }

    /// All places for fences on paths.
    fn candidates(&self) -> Cuts {
        let mut cuts = Cuts::new();
        for pattern in &self.patterns {
            let mut add = |first: InstrAt, node: usize| {
                let node = &pattern.nodes[node];
                let next = node.edges.iter().map(|&(then, _)| then).chain(node.reads.iter().map(|&(then, _)| then));
                next.for_each(|then| cuts.extend(self.between(first, then)));
            };
            add(pattern.write, 0);
            for &(first, to) in pattern.nodes.iter().flat_map(|node| &node.edges) {
                add(first, to);
            }
        }
        cuts
    }

    /// For each pattern that these fences leave open, the places for fences on a shortest path.
    pub(super) fn open(&self, fences: &Cuts) -> BTreeSet<Cuts> {
        let cuts = |path: Path| {
            let then = path.instructions.iter().skip(1).copied().chain([path.read.0]);
            path.instructions.iter().zip(then).flat_map(|(&first, then)| self.between(first, then)).collect()
        };
        self.patterns.iter().filter_map(|pattern| self.open_path(pattern, fences, |_| true)).map(cuts).collect()
    }

    /// An instruction, as it is written, that a pattern is inside of: no fence beside instructions meets it.
    pub(super) fn uncut(&self) -> Option<At> {
        let all = self.candidates();
        let open = self.patterns.iter().find_map(|pattern| self.open_path(pattern, &all, |_| true))?;
        Some(self.at(open.read.0))
    }

    /// A shortest path of the pattern that no fence meets to a read that is wanted.
    pub(super) fn open_path(
        &self,
        pattern: &Pattern,
        fences: &Cuts,
        wanted: impl Fn(&(InstrAt, LocationAt)) -> bool,
    ) -> Option<Path> {
        // Where the thread is, and the instruction that led there: a fence between that one and the next may be in
        // the way.
        type Here = (usize, InstrAt);
        let start: Here = (0, pattern.write);
        let mut came: BTreeMap<Here, Option<Here>> = BTreeMap::from([(start, None)]);
        let mut queue = VecDeque::from([start]);
        while let Some(at) = queue.pop_front() {
            let (node, last) = (&pattern.nodes[at.0], at.1);
            let read = node.reads.iter().find(|&read| wanted(read) && !self.is_cut(last, read.0, fences));
            if let Some(&read) = read {
                let steps = std::iter::successors(Some(at), |at| came[at]);
                let mut instructions: Vec<InstrAt> = steps.map(|(_, instruction)| instruction).collect();
                instructions.reverse();
                return Some(Path { instructions, read });
            }
            for &(instruction, to) in &node.edges {
                let next = (to, instruction);
                if !came.contains_key(&next) && !self.is_cut(last, instruction, fences) {
                    came.insert(next, Some(at));
                    queue.push_back(next);
                }
            }
        }
        None
    }

    /// The reads, by instruction and location, that come behind the first fence on some path of the pattern if that
    /// fence is this one.
    pub(super) fn served(&self, pattern: &Pattern, fences: &Cuts, fence: Site) -> BTreeSet<(InstrAt, LocationAt)> {
        let mut served = BTreeSet::new();
        let mut behind = Vec::new();
        let mut seen = BTreeSet::from([(0, pattern.write)]);
        let mut stack = vec![(0, pattern.write)];
        while let Some((at, last)) = stack.pop() {
            let is_here = |then: InstrAt| self.between(last, then).any(|cut| cut == fence);
            let node = &pattern.nodes[at];
            served.extend(node.reads.iter().filter(|read| is_here(read.0)));
            for &(instruction, to) in &node.edges {
                if is_here(instruction) {
                    behind.push(to);
                } else if !self.is_cut(last, instruction, fences) && seen.insert((to, instruction)) {
                    stack.push((to, instruction));
                }
            }
        }
        let behind = reach(pattern, behind);
        served.extend(behind.into_iter().flat_map(|at| pattern.nodes[at].reads.iter().copied()));
        served
    }
}

/// The nodes that can be reached from these.
fn reach(pattern: &Pattern, from: Vec<usize>) -> BTreeSet<usize> {
    let mut reached: BTreeSet<usize> = from.iter().copied().collect();
    let mut stack = from;
    while let Some(at) = stack.pop() {
        stack.extend(pattern.nodes[at].edges.iter().map(|&(_, to)| to).filter(|&to| reached.insert(to)));
    }
    reached
}

/// What the patterns that these fences leave open demand.
fn answer(paths: &Paths<'_>, fences: &Fences) -> Answer<Infallible> {
    let open = paths.open(&fences.keys().copied().collect());
    // What is inside of an instruction is refused elsewhere: [`Paths::uncut`].
    let can_be_cut = open.into_iter().filter(|path| !path.is_empty());
    let demands: BTreeSet<Demand> = can_be_cut.map(|sites| Demand::of(sites, FenceStrength::Plain)).collect();
    if demands.is_empty() { Answer::Holds } else { Answer::Fails(demands) }
}

/// A set of least cost; of those the one of least second cost. If the budget is exhausted before it is known, a set
/// that is enough; the answer then says that nothing is proved.
pub(super) fn minimum(paths: &Paths<'_>, costs: [&dyn Fn(Site) -> u64; 2], budget: &Budget) -> Cuts {
    let candidates: Vec<Candidate> = paths.candidates().into_iter().map(|site| (site, FenceStrength::Plain)).collect();
    let [first, second] = costs.map(|cost| move |(site, _): Candidate| cost(site));
    let choice = Choice { candidates: &candidates, weights: &[&first, &second], budget };
    match fewest(&choice, [], &mut |fences: &Fences| answer(paths, fences)) {
        Insertion::Fewest(fences) => fences.into_keys().collect(),
        Insertion::Unfixable(demand) => unreachable!("every site on a path is a candidate: {demand:?}"),
        Insertion::Undecided(_, never) => match never {},
        Insertion::Exhausted => enough(paths),
    }
}

/// A set that meets all paths, found without trying others.
fn enough(paths: &Paths<'_>) -> Cuts {
    let mut fences = Cuts::new();
    loop {
        let open = paths.open(&fences);
        let next: Cuts = open.iter().filter_map(|path| path.first().copied()).collect();
        if next.is_empty() {
            return fences;
        }
        fences.extend(next);
    }
}

/// All minimal sets of fences after instructions, the smallest first, but no more than `most`; and whether these are
/// all.
pub(super) fn minimal_sets(paths: &Paths<'_>, most: usize, budget: &Budget) -> (Vec<Cuts>, bool) {
    let is_allowed = |site: Site| site.place == Place::After;
    match all_minimal(is_allowed, most, &mut |fences: &Fences| answer(paths, fences), budget) {
        Ok(sets) => sets,
        Err(never) => match never {},
    }
}
