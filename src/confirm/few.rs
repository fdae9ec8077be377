//! Runs of few threads: what fences are needed for certain, without the state space of the program.
//!
//! A run in which some threads never move is a run of the program. So a delay that is confirmed while only two or
//! three threads move is confirmed, whatever the rest does, and the fewest fences that stop such runs are a lower
//! bound for the program, as in [`fewest`](super::fewest). Where it is what fences cost that are known to be enough,
//! that is the minimum, and nobody has to see all states.
//!
//! Fences of one thread do nothing for another, so a thread is *settled* as soon as the runs ask for as much of it as
//! is placed in it. Threads move two at a time, first those that the cycle of a delay goes through, then three at a
//! time; groups of settled threads are left out, and of groups that are [alike](crate::program::alike) one is searched
//! and its runs are copied for the others.
//!
//! *Cost.* With n threads some n² / 2 searches of two threads, of some hundred states for mutual exclusion
//! algorithms. *Limits.* So many states for each search and for all of them that this takes a few seconds at most, also
//! if two threads alone have infinitely many; what is not found until then is not known to be needed.

use super::alike::renamed;
use super::fewest::Fewest;
use super::{Subject, granularity};
use crate::analysis::ModelOutcome;
use crate::cycles::Findings;
use crate::ids::{ThreadAt, VertexId};
use crate::program::At;
use crate::program::alike::Shape;
use crate::program::compiled::Compiled;
use crate::program::groups::{pairs, triples};
use crate::weak::Machine;
use crate::weak::attack::{Attack, Pair, Witness};
use crate::weak::split::SplitProgram;
use crate::weak::visited::LimitReached;
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// The most states of a search in which few threads move.
const MOST_OF_A_FEW: usize = 20_000;

/// The most states of all these searches.
const MOST: usize = 1_000_000;

/// The most kinds of groups of threads that are tried.
const MOST_KINDS: usize = 400;

/// Groups that are searched at the same time.
const AT_ONCE: usize = 4;

/// What is looked for.
pub(super) struct Few<'a> {
    pub subject: &'a Subject<'a>,
    pub fewest: &'a Fewest<'a>,
    pub split: &'a SplitProgram,
    pub machine: Machine,
}

impl Few<'_> {
    /// Runs that need delays of the outcome, until they ask for as much as it places.
    pub(super) fn runs(&self, outcome: &ModelOutcome) -> Result<Vec<Witness>, LimitReached> {
        let findings = &outcome.findings;
        let mut sought: BTreeMap<ThreadAt, BTreeSet<Pair>> = BTreeMap::new();
        for delay in &findings.delays {
            for pair in self.subject.pairs(self.split, delay.from, delay.to) {
                sought.entry(pair.thread).or_default().insert(pair);
            }
        }
        let mut found: Vec<Witness> = Vec::new();
        let all = sought.clone();
        let mut open: BTreeSet<ThreadAt> = sought.keys().copied().collect();
        let threads = self.split.threads.len();
        // Nobody has to know which triples are alike if pairs are enough.
        let phases = [self.pairs_of(findings), triples(threads).collect()];
        let mut states = 0;
        let mut kinds = phases.into_iter().flat_map(|groups| self.kinds(groups, findings));
        loop {
            let is_open = |kind: &Vec<Shape>| kind.iter().flat_map(Shape::threads).any(|thread| open.contains(thread));
            let next: Vec<Vec<Shape>> = kinds.by_ref().filter(is_open).take(AT_ONCE).collect();
            if next.is_empty() || open.is_empty() || states > MOST {
                return Ok(found);
            }
            let search = |kind: &Vec<Shape>| {
                // What one need not look for, another one of the kind may.
                let wanted = |pair: &Pair| match &kind[..] {
                    [_] => open.contains(&pair.thread) && sought[&pair.thread].contains(pair),
                    _ => all.get(&pair.thread).is_some_and(|pairs| pairs.contains(pair)),
                };
                self.runs_of(kind[0].threads(), wanted)
            };
            let runs: Vec<_> = next.par_iter().map(search).collect();
            for (kind, runs) in next.iter().zip(runs) {
                let (runs, seen) = runs?;
                states += seen;
                let copies = |shape| runs.iter().filter_map(move |run| renamed(run, &kind[0], shape));
                for witness in kind.iter().flat_map(copies) {
                    if sought.get_mut(&witness.pair.thread).is_some_and(|pairs| pairs.remove(&witness.pair)) {
                        found.push(witness);
                    }
                }
            }
            open.retain(|thread| !sought[thread].is_empty() && !self.is_settled(*thread, &found, outcome));
        }
    }

    /// The groups of threads, those together that are alike.
    fn kinds(&self, groups: Vec<Vec<ThreadAt>>, findings: &Findings) -> Vec<Vec<Shape>> {
        let program = self.subject.program;
        let Ok(compiled) = Compiled::new(program) else { return Vec::new() };
        let locked: BTreeSet<At> = findings
            .in_place
            .locked
            .iter()
            .filter_map(|&instr| self.subject.analysis.graph.outline.at(instr))
            .collect();
        let mut kinds: Vec<Vec<Shape>> = Vec::new();
        let mut known: FxHashMap<Vec<i64>, usize> = FxHashMap::default();
        for group in groups {
            let shape = Shape::of(program, &compiled, &group, |at| locked.contains(&at));
            match known.get(shape.key()) {
                Some(&kind) => kinds[kind].push(shape),
                None if kinds.len() == MOST_KINDS => {}
                None => {
                    known.insert(shape.key().to_vec(), kinds.len());
                    kinds.push(vec![shape]);
                }
            }
        }
        kinds
    }

    /// Whether the runs ask for all that is placed in a thread.
    fn is_settled(&self, thread: ThreadAt, found: &[Witness], outcome: &ModelOutcome) -> bool {
        let outline = &self.subject.analysis.graph.outline;
        let is_own = |instr| outline.at(instr).is_some_and(|at| at.thread == thread);
        let own = outcome.placement.fences.iter().filter(|(site, _)| is_own(site.instr));
        let placed: u64 = own.map(|(&site, &strength)| self.subject.options.costs.of(site, strength)).sum();
        let runs: Vec<Witness> = found.iter().filter(|witness| witness.pair.thread == thread).cloned().collect();
        self.fewest.cost_of(&runs) >= placed
    }

    /// The wanted runs in which only these threads move, and how many states they have.
    fn runs_of(
        &self,
        group: &[ThreadAt],
        wanted: impl Fn(&Pair) -> bool,
    ) -> Result<(Vec<Witness>, usize), LimitReached> {
        let split = self.split.moving(group);
        let granularity = granularity(self.subject.options.atomicity);
        let mut attack = Attack::in_part(&split, self.machine, granularity, MOST_OF_A_FEW)?;
        let mut found = Vec::new();
        for pair in attack.pairs().into_iter().filter(|pair| wanted(pair)) {
            match attack.confirm(pair) {
                Ok(witness) => found.extend(witness),
                Err(LimitReached::States) => {}
                Err(limit) => return Err(limit),
            }
        }
        Ok((found, attack.num_of_states()))
    }

    /// Groups of threads: those of cycles, and all of two.
    fn pairs_of(&self, findings: &Findings) -> Vec<Vec<ThreadAt>> {
        let graph = &self.subject.analysis.graph;
        let thread = |id: VertexId| graph.outline.at(graph.vertex(id).instr).map(|at| at.thread);
        let mut groups: Vec<Vec<ThreadAt>> = Vec::new();
        let mut known: BTreeSet<Vec<ThreadAt>> = BTreeSet::new();
        let mut add = |group: BTreeSet<ThreadAt>| {
            let group: Vec<ThreadAt> = group.into_iter().collect();
            if group.len() > 1 && known.insert(group.clone()) {
                groups.push(group);
            }
        };
        for delay in &findings.delays {
            add(delay.witness.segments.iter().filter_map(|segment| thread(segment.entry)).collect());
        }
        let threads = self.split.threads.len();
        pairs(threads).for_each(|group| add(group.into_iter().collect()));
        groups
    }
}
