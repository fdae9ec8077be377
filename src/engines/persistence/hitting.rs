//! Fences as hitting sets: every path of every pattern must meet one.
//!
//! A path is the pivot's write and the instructions up to the read; a fence after one of these, that is complete before the read, removes the run, and nothing else does (digest of the paper's
//! fence insertion). Fences do nothing under sequential consistency, so the patterns of the program with fences in place are those of the program itself whose path
//! avoids them: one exploration is enough, whatever sets are tried.
//!
//! [`minimum`] finds a set of least cost, by the [same solver](crate::placement::maxsat) as the main analysis: paths are added as they are found to be open. [`all_minimal`]
//! lists every set from which no fence can be left out, after the paper's Algorithm 1: a set with an open path is replaced by all those with one more fence on it, smallest sets first, and
//! those with a subset that is a solution are dropped. Threads are solved on their own, as fences of one do nothing for another: the minimal sets of the program are all combinations.
//!
//! *Cost.* Minimum hitting sets are NP-hard, and there can be exponentially many minimal ones; the instructions are those on paths of one thread, some dozens.

use super::local::Pattern;
use crate::placement::maxsat::Minimiser;
use crate::program::single_access::Origin;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Instructions of a thread of the program as it is written.
pub(super) type Instructions = BTreeSet<usize>;

/// The patterns of one thread.
pub(super) struct Paths<'a> {
    pub patterns: Vec<&'a Pattern>,
    /// Where the instructions of the thread come from.
    pub origins: &'a [Origin],
}

impl Paths<'_> {
    /// The instruction after which a fence would stand between this one and the next.
    fn point(&self, instruction: usize) -> Option<usize> {
        let origin = self.origins[instruction];
        origin.completes.then_some(origin.instruction)
    }

    /// All points on paths.
    fn points(&self) -> Instructions {
        let taken = |pattern: &&Pattern| {
            let edges = pattern.nodes.iter().flat_map(|node| &node.edges).map(|&(instruction, _)| instruction);
            edges.chain([pattern.write]).collect::<Vec<usize>>()
        };
        self.patterns.iter().flat_map(taken).filter_map(|instruction| self.point(instruction)).collect()
    }

    fn is_fenced(&self, instruction: usize, fences: &Instructions) -> bool {
        self.point(instruction).is_some_and(|point| fences.contains(&point))
    }

    /// For each pattern that these fences leave open, the points of a shortest path.
    pub(super) fn open(&self, fences: &Instructions) -> BTreeSet<Instructions> {
        let points = |path: Vec<usize>| path.into_iter().filter_map(|instruction| self.point(instruction)).collect();
        self.patterns.iter().filter_map(|pattern| self.open_path(pattern, fences, |_| true)).map(points).collect()
    }

    /// A shortest path of the pattern that no fence meets to a read that is wanted: the write, and the instructions before the read.
    pub(super) fn open_path(
        &self,
        pattern: &Pattern,
        fences: &Instructions,
        wanted: impl Fn(&(usize, usize)) -> bool,
    ) -> Option<Vec<usize>> {
        if self.is_fenced(pattern.write, fences) {
            return None;
        }
        let mut came: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
        let mut queue = VecDeque::from([0]);
        while let Some(at) = queue.pop_front() {
            let node = &pattern.nodes[at];
            if node.reads.iter().any(&wanted) {
                let mut path = Vec::new();
                let mut number = at;
                while number != 0 {
                    let (instruction, before) = came[&number];
                    path.push(instruction);
                    number = before;
                }
                path.push(pattern.write);
                path.reverse();
                return Some(path);
            }
            for &(instruction, to) in &node.edges {
                if to != 0 && !came.contains_key(&to) && !self.is_fenced(instruction, fences) {
                    came.insert(to, (instruction, at));
                    queue.push_back(to);
                }
            }
        }
        None
    }

    /// The reads, by instruction and location, that come behind the first fence on some path of the pattern if that fence stands after `point`.
    pub(super) fn served(&self, pattern: &Pattern, fences: &Instructions, point: usize) -> BTreeSet<(usize, usize)> {
        let is_point = |instruction: usize| self.point(instruction) == Some(point);
        let mut behind = Vec::new();
        if self.is_fenced(pattern.write, fences) {
            if is_point(pattern.write) {
                behind.push(0);
            }
        } else {
            for at in reach(pattern, [0], |instruction| !self.is_fenced(instruction, fences)) {
                let edges = &pattern.nodes[at].edges;
                behind.extend(edges.iter().filter(|(instruction, _)| is_point(*instruction)).map(|&(_, to)| to));
            }
        }
        let behind = reach(pattern, behind, |_| true);
        behind.into_iter().flat_map(|at| pattern.nodes[at].reads.iter().copied()).collect()
    }
}

/// The nodes that can be reached from these.
fn reach(pattern: &Pattern, from: impl IntoIterator<Item = usize>, passes: impl Fn(usize) -> bool) -> BTreeSet<usize> {
    let mut reached: BTreeSet<usize> = from.into_iter().collect();
    let mut stack: Vec<usize> = reached.iter().copied().collect();
    while let Some(at) = stack.pop() {
        for &(instruction, to) in &pattern.nodes[at].edges {
            if passes(instruction) && reached.insert(to) {
                stack.push(to);
            }
        }
    }
    reached
}

/// A set of least cost; of those the one of least second cost.
pub(super) fn minimum(paths: &Paths<'_>, costs: [&dyn Fn(usize) -> u64; 2]) -> Instructions {
    let candidates: Vec<usize> = paths.points().into_iter().collect();
    let variable = |point: &usize| candidates.binary_search(point).expect("every point is a candidate");
    let points = |chosen: &[usize]| chosen.iter().map(|&variable| candidates[variable]).collect::<Instructions>();
    let mut minimiser = Minimiser::new(candidates.len());
    let mut best = Instructions::new();
    for cost in costs {
        let chosen = minimiser.minimise(
            |variable| cost(candidates[variable]),
            |chosen| {
                let open = paths.open(&points(chosen));
                open.iter().map(|path| path.iter().map(variable).collect()).collect()
            },
        );
        best = points(&chosen);
    }
    best
}

/// All minimal sets, the smallest first, but no more than `most`; and whether these are all.
pub(super) fn all_minimal(paths: &Paths<'_>, most: usize) -> (Vec<Instructions>, bool) {
    let mut minimal: Vec<Instructions> = Vec::new();
    let mut seen: BTreeSet<Instructions> = BTreeSet::from([Instructions::new()]);
    let mut queue = VecDeque::from([Instructions::new()]);
    while let Some(fences) = queue.pop_front() {
        if minimal.iter().any(|smaller| smaller.is_subset(&fences)) {
            continue;
        }
        let open = paths.open(&fences);
        let Some(path) = open.iter().min_by_key(|path| path.len()) else {
            // Smaller sets came first, but a larger one can still have a fence too many: it was needed for another path only.
            let is_minimal = fences.iter().all(|fence| {
                let less: Instructions = fences.iter().copied().filter(|other| other != fence).collect();
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
        for &point in path {
            let mut more = fences.clone();
            more.insert(point);
            if seen.insert(more.clone()) {
                queue.push_back(more);
            }
        }
    }
    (minimal, true)
}
