//! Fences as hitting sets: every path of every pattern must meet one.
//!
//! A path is the pivot's write and the instructions up to and with the read; a fence between two of these removes the run, and nothing else does. It stands after the first of the two, as in the paper, or before the second:
//! where several instructions lead to one, a fence before that one does for all of them. Where several lead to a control state and several leave it, one at the state does for all of both. Fences do nothing under sequential consistency, so the patterns of the program with fences in place are those of the program itself whose path
//! avoids them: one exploration is enough, whatever sets are tried.
//!
//! [`minimum`] finds a set of least cost, and of those one with the fewest fences at states, by the [same solver](crate::placement::maxsat) as the main analysis: paths are added as they are found to be open. [`all_minimal`]
//! lists every set from which no fence can be left out, after the paper's Algorithm 1: a set with an open path is replaced by all those with one more fence on it, smallest sets first, and
//! those with a subset that is a solution are dropped. As in the paper, its fences stand after instructions only. Threads are solved on their own, as fences of one do nothing for another: the minimal sets of the program are all combinations.
//!
//! *Cost.* Minimum hitting sets are NP-hard, and there can be exponentially many minimal ones; the instructions are those on paths of one thread, some dozens.

use super::local::{Pattern, Patterns};
use super::machine::Machine;
use crate::ids::InstrId;
use crate::outline::{Outline, Place, Site};
use crate::placement::maxsat::Minimiser;
use crate::program::At;
use crate::program::single_access::Origin;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Fences of a thread.
pub(super) type Cuts = BTreeSet<Site>;

/// The patterns of one thread.
pub(super) struct Paths<'a> {
    pub patterns: Vec<&'a Pattern>,
    /// Where the instructions of the thread come from.
    pub origins: &'a [Origin],
    /// The outline of the program as it is written.
    pub outline: &'a Outline,
    thread: usize,
}

/// A path: the write, the instructions before the read, and the read.
pub(super) struct Path {
    pub instructions: Vec<usize>,
    pub read: (usize, usize),
}

impl<'a> Paths<'a> {
    /// Those of these patterns that are of one thread.
    pub(super) fn of(patterns: &'a Patterns, thread: usize, machine: &Machine<'a>) -> Paths<'a> {
        let patterns: Vec<&Pattern> = patterns.keys().filter(|pattern| pattern.thread == thread).collect();
        Paths { patterns, origins: &machine.single.origins[thread], outline: machine.outline, thread }
    }

    /// The instruction as it is written.
    pub(super) fn instr(&self, number: usize) -> InstrId {
        self.outline.instr((self.thread, self.origins[number].instruction))
    }

    /// The fences that would stand between an instruction and the next; none within one that is performed in parts.
    fn between(&self, first: usize, then: usize) -> impl Iterator<Item = Site> + use<> {
        let (left, entered) = (self.instr(first), self.instr(then));
        let sites = [Some(Site::after(left)), Some(Site::before(entered)), self.outline.junction_behind(left)];
        let completes = self.origins[first].completes;
        sites.into_iter().flatten().filter(move |_| completes)
    }

    fn is_cut(&self, first: usize, then: usize, fences: &Cuts) -> bool {
        self.between(first, then).any(|cut| fences.contains(&cut))
    }

    /// All places for fences on paths.
    fn candidates(&self) -> Cuts {
        let mut cuts = Cuts::new();
        for pattern in &self.patterns {
            let mut add = |first: usize, node: usize| {
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
        Some((self.thread, self.origins[open.read.0].instruction))
    }

    /// A shortest path of the pattern that no fence meets to a read that is wanted.
    pub(super) fn open_path(
        &self,
        pattern: &Pattern,
        fences: &Cuts,
        wanted: impl Fn(&(usize, usize)) -> bool,
    ) -> Option<Path> {
        // Where the thread is, and the instruction that led there: a fence between that one and the next may be in the way.
        type Here = (usize, usize);
        let start: Here = (0, pattern.write);
        let mut came: BTreeMap<Here, Option<Here>> = BTreeMap::from([(start, None)]);
        let mut queue = VecDeque::from([start]);
        while let Some(at) = queue.pop_front() {
            let (node, last) = (&pattern.nodes[at.0], at.1);
            let read = node.reads.iter().find(|&read| wanted(read) && !self.is_cut(last, read.0, fences));
            if let Some(&read) = read {
                let steps = std::iter::successors(Some(at), |at| came[at]);
                let mut instructions: Vec<usize> = steps.map(|(_, instruction)| instruction).collect();
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

    /// The reads, by instruction and location, that come behind the first fence on some path of the pattern if that fence is this one.
    pub(super) fn served(&self, pattern: &Pattern, fences: &Cuts, fence: Site) -> BTreeSet<(usize, usize)> {
        let mut served = BTreeSet::new();
        let mut behind = Vec::new();
        let mut seen = BTreeSet::from([(0, pattern.write)]);
        let mut stack = vec![(0, pattern.write)];
        while let Some((at, last)) = stack.pop() {
            let is_here = |then: usize| self.between(last, then).any(|cut| cut == fence);
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

/// A set of least cost; of those the one of least second cost.
pub(super) fn minimum(paths: &Paths<'_>, costs: [&dyn Fn(Site) -> u64; 2]) -> Cuts {
    let candidates: Vec<Site> = paths.candidates().into_iter().collect();
    let variable = |cut: &Site| candidates.binary_search(cut).expect("every place on a path is a candidate");
    let cuts = |chosen: &[usize]| chosen.iter().map(|&variable| candidates[variable]).collect::<Cuts>();
    let mut minimiser = Minimiser::new(candidates.len());
    let mut best = Cuts::new();
    for cost in costs {
        let chosen = minimiser.minimise(
            |variable| cost(candidates[variable]),
            |chosen| {
                let open = paths.open(&cuts(chosen));
                // What is inside of an instruction is refused elsewhere: [`Paths::uncut`].
                let can_be_cut = open.iter().filter(|path| !path.is_empty());
                can_be_cut.map(|path| path.iter().map(variable).collect()).collect()
            },
        );
        best = cuts(&chosen);
    }
    best
}

/// All minimal sets of fences after instructions, the smallest first, but no more than `most`; and whether these are all.
pub(super) fn all_minimal(paths: &Paths<'_>, most: usize) -> (Vec<Cuts>, bool) {
    let mut minimal: Vec<Cuts> = Vec::new();
    let mut seen: BTreeSet<Cuts> = BTreeSet::from([Cuts::new()]);
    let mut queue = VecDeque::from([Cuts::new()]);
    while let Some(fences) = queue.pop_front() {
        if minimal.iter().any(|smaller| smaller.is_subset(&fences)) {
            continue;
        }
        let after = |path: &Cuts| path.iter().copied().filter(|site| site.place == Place::After).collect();
        let open: BTreeSet<Cuts> = paths.open(&fences).iter().map(after).collect();
        let Some(path) = open.iter().min_by_key(|path| path.len()) else {
            // Smaller sets came first, but a larger one can still have a fence too many: it was needed for another path only.
            let is_minimal = fences.iter().all(|fence| {
                let less: Cuts = fences.iter().copied().filter(|other| other != fence).collect();
                !paths.open(&less).is_empty()
            });
            if is_minimal {
                if minimal.len() == most {
                    return (minimal, false);
                }
                minimal.push(fences);
            }
            continue;
        };
        for &cut in path {
            let mut more = fences.clone();
            more.insert(cut);
            if seen.insert(more.clone()) {
                queue.push_back(more);
            }
        }
    }
    (minimal, true)
}
