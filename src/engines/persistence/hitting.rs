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
use crate::budget::Budget;
use crate::placement::maxsat::Minimiser;
use crate::program::Thread;
use crate::program::single_access::{Origin, SingleAccess};
use crate::safety::Place;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// A place for a fence: an instruction of the thread as it is written, and whether the fence stands before it, after it, or at the state that it leads to.
pub(super) type Cut = (usize, Place);

/// Fences of a thread.
pub(super) type Cuts = BTreeSet<Cut>;

/// The patterns of one thread.
pub(super) struct Paths<'a> {
    pub patterns: Vec<&'a Pattern>,
    /// Where the instructions of the thread come from.
    pub origins: &'a [Origin],
    /// For each instruction as it is written, the control state that it leads to.
    pub targets: Vec<usize>,
    /// For each instruction as it is written, the one that names the state that both lead to; none if a fence there is no better than one after the instruction or before the next.
    junctions: Vec<Option<usize>>,
}

/// A path: the write, the instructions before the read, and the read.
pub(super) struct Path {
    pub instructions: Vec<usize>,
    pub read: (usize, usize),
}

impl<'a> Paths<'a> {
    /// Those of these patterns that are of one thread.
    pub(super) fn of(patterns: &'a Patterns, thread: usize, single: &'a SingleAccess) -> Paths<'a> {
        let patterns: Vec<&Pattern> = patterns.keys().filter(|pattern| pattern.thread == thread).collect();
        let origins = &single.origins[thread];
        let ends = ends(&single.program.threads[thread], origins);
        let junctions = junctions(&ends);
        Paths { patterns, origins, targets: ends.into_iter().map(|(_, to)| to).collect(), junctions }
    }

    /// The fences that would stand between an instruction and the next; none within one that is performed in parts.
    fn between(&self, first: usize, then: usize) -> impl Iterator<Item = Cut> + use<> {
        let Origin { instruction, completes } = self.origins[first];
        let beside = [(instruction, Place::After), (self.origins[then].instruction, Place::Before)];
        let cuts = beside.into_iter().chain(self.junctions[instruction].map(|name| (name, Place::State)));
        cuts.filter(|_| completes).collect::<Vec<Cut>>().into_iter()
    }

    /// The instructions by which this place can be named: all that lead to the state, if it is one.
    pub(super) fn named_by(&self, (number, place): Cut) -> impl Iterator<Item = usize> {
        let is_it = move |&other: &usize| {
            other == number || place == Place::State && self.targets[other] == self.targets[number]
        };
        (0..self.targets.len()).filter(is_it)
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
    pub(super) fn uncut(&self) -> Option<usize> {
        let all = self.candidates();
        let open = self.patterns.iter().find_map(|pattern| self.open_path(pattern, &all, |_| true))?;
        Some(self.origins[open.read.0].instruction)
    }

    /// A shortest path of the pattern that no fence meets to a read that is wanted.
    pub(super) fn open_path(
        &self,
        pattern: &Pattern,
        fences: &Cuts,
        wanted: impl Fn(&(usize, usize)) -> bool,
    ) -> Option<Path> {
        // Where the thread is, and the instruction that led there: a fence between that one and the next may be in the way.
        type At = (usize, usize);
        let start: At = (0, pattern.write);
        let mut came: BTreeMap<At, Option<At>> = BTreeMap::from([(start, None)]);
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
    pub(super) fn served(&self, pattern: &Pattern, fences: &Cuts, fence: Cut) -> BTreeSet<(usize, usize)> {
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

/// For each instruction as it is written, the control states where it begins and where it leads. Those of the program as it is written keep their numbers when instructions are split.
fn ends(thread: &Thread, origins: &[Origin]) -> Vec<(usize, usize)> {
    let mut ends: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
    for (part, origin) in thread.instructions.iter().zip(origins) {
        // The first part begins where the instruction does.
        let (_, to) = ends.entry(origin.instruction).or_insert((part.from, part.to));
        if origin.completes {
            *to = part.to;
        }
    }
    ends.into_values().collect()
}

/// For each instruction, the name of the state that it leads to, where several instructions lead and that several leave: the first that leads there. With one way in, a fence after it does the same, and with one way out, one before
/// that.
fn junctions(ends: &[(usize, usize)]) -> Vec<Option<usize>> {
    let name = |state: usize| {
        let is_left_by_several = ends.iter().filter(|end| end.0 == state).count() > 1;
        let mut ways_in = (0..ends.len()).filter(|&number| ends[number].1 == state);
        let first = ways_in.next().filter(|_| is_left_by_several)?;
        ways_in.next().map(|_| first)
    };
    ends.iter().map(|&(_, to)| name(to)).collect()
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

/// A set of least cost; of those the one of least second cost. If the budget is exhausted before it is known, a set that is enough; the answer then says that nothing is proved.
pub(super) fn minimum(paths: &Paths<'_>, costs: [&dyn Fn(Cut) -> u64; 2], budget: &Budget) -> Cuts {
    let candidates: Vec<Cut> = paths.candidates().into_iter().collect();
    let variable = |cut: &Cut| candidates.binary_search(cut).expect("every place on a path is a candidate");
    let cuts = |chosen: &[usize]| chosen.iter().map(|&variable| candidates[variable]).collect::<Cuts>();
    let mut minimiser = Minimiser::new(candidates.len(), budget);
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
        let Some(chosen) = chosen else { return enough(paths) };
        best = cuts(&chosen);
    }
    best
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

/// All minimal sets of fences after instructions, the smallest first, but no more than `most`; and whether these are all.
pub(super) fn all_minimal(paths: &Paths<'_>, most: usize, budget: &Budget) -> (Vec<Cuts>, bool) {
    let mut minimal: Vec<Cuts> = Vec::new();
    let mut seen: BTreeSet<Cuts> = BTreeSet::from([Cuts::new()]);
    let mut queue = VecDeque::from([Cuts::new()]);
    while let Some(fences) = queue.pop_front() {
        if budget.is_over() {
            return (minimal, false);
        }
        if minimal.iter().any(|smaller| smaller.is_subset(&fences)) {
            continue;
        }
        let after = |path: &Cuts| path.iter().copied().filter(|(_, place)| *place == Place::After).collect();
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
