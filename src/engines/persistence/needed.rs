//! Which fences are needed for certain, where an [abstraction](super::abstraction) has told how many are enough.
//!
//! A run in which some threads never move is a run of the program. So a pattern that is found while only a few
//! threads move is one of the program; and a set of fences after which the program is persistent must cut it. The
//! fewest fences that cut all patterns found so are a lower bound. Where it is what the abstraction asks for, that is
//! the minimum, and no state space of the whole program was needed.
//!
//! Threads move two at a time, then three at a time, and then all. Fences of one thread do nothing for another, so a
//! thread is settled as soon as its bound is met; what has only settled threads in it is not explored.
//!
//! What is only [presumed](super::record::Fringe::is_certain) to be changed does not count, and neither do
//! [widened](super::local) patterns.
//!
//! *Cost.* With n threads, n² / 2 explorations of two threads, of some hundred states for mutual exclusion
//! algorithms. *Limits.* So many states for each exploration and for all of them that this takes a few seconds at
//! most; what is not found until then is not known to be needed.

use super::hitting::{Paths, minimum};
use super::local::{Patterns, patterns};
use super::machine::Machine;
use super::record::{Recording, add, certain, merged};
use crate::explore::{Exploration, Limits, explore};
use crate::ids::ThreadAt;
use crate::outline::Site;
use crate::program::compiled::Compiled;
use crate::program::groups::{pairs, triples};
use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// The most states of an exploration in which some threads do not move.
const MOST_OF_A_FEW: usize = 20_000;

/// The most states of all explorations together.
const MOST: usize = 1_000_000;

/// An exploration that patterns were found in, to lead runs there.
pub(super) struct Part {
    /// The program as far as it moves.
    pub compiled: Compiled,
    /// Its states.
    pub exploration: Exploration,
}

/// What is certain.
pub(super) struct Needed {
    /// Patterns of the program itself.
    pub patterns: Patterns,
    /// Where they were found.
    pub parts: Vec<Part>,
    /// The threads that are not known to need as many fences as are enough.
    pub open: BTreeSet<ThreadAt>,
}

impl Needed {
    /// Adds patterns of an exploration that are certain.
    pub(super) fn add(&mut self, found: Patterns) {
        add_all(&mut self.patterns, found);
    }

    /// Adds what is certain to the patterns of an abstraction.
    pub(super) fn add_to(&self, patterns: &mut Patterns) {
        add_all(patterns, self.patterns.clone());
    }

    /// Closes the threads that need as many fences as these patterns ask for, which are enough.
    pub(super) fn settle(&mut self, machine: &Machine<'_>, enough: &Patterns) {
        let fences = |patterns: &Patterns, thread: ThreadAt| num_of_fences_in(machine, patterns, thread);
        self.open.retain(|&thread| fences(&self.patterns, thread) < fences(enough, thread));
    }
}

fn add_all(known: &mut Patterns, found: Patterns) {
    for (pattern, hot) in found {
        let known = known.entry(pattern).or_default();
        hot.into_iter().for_each(|(location, fringe)| add(known, location, fringe));
    }
}

/// Looks for patterns of the program until these are as hard to cut as the patterns of an abstraction, which are
/// enough.
pub(super) fn search(machine: &Machine<'_>, enough: &Patterns, limits: &Limits<'_>) -> Needed {
    let started = Instant::now();
    let open = enough.keys().map(|pattern| pattern.thread).collect();
    let mut needed = Needed { patterns: Patterns::new(), parts: Vec::new(), open };
    let mut states_left = limits.states.unwrap_or(MOST).min(MOST);
    for group in groups(machine.threads().count()) {
        let is_interrupted = limits.interrupted.is_some_and(|flag| flag.load(Ordering::Relaxed));
        let time = limits.time.map(|time| time.saturating_sub(started.elapsed()));
        if states_left == 0 || is_interrupted || time.is_some_and(|time| time.is_zero()) {
            break;
        }
        if group.iter().all(|thread| !needed.open.contains(thread)) {
            continue;
        }
        let most =
            if group.len() < machine.compiled.threads.len() { MOST_OF_A_FEW.min(states_left) } else { states_left };
        let compiled = machine.compiled.moving(&group);
        let bounds = Limits { states: Some(most), time, invariants: &[], ..*limits };
        let mut recording = Recording { machine, compiled: &compiled, part: needed.parts.len() };
        // Who goes wrong does so in the program, too: that is for the exploration of the program to tell.
        let Ok((exploration, watchers)) = explore(&compiled, &bounds, &mut recording) else { continue };
        states_left = states_left.saturating_sub(exploration.states.len());
        let entries = merged(&watchers);
        let found = exact(patterns(machine, &certain(&entries).unwrap_or(entries)));
        if !found.is_empty() {
            needed.add(found);
            needed.parts.push(Part { compiled, exploration });
            needed.settle(machine, enough);
        }
    }
    needed
}

/// The fewest fences that cut these patterns.
pub(super) fn num_of_fences(machine: &Machine<'_>, patterns: &Patterns) -> usize {
    machine.threads().map(|thread| num_of_fences_in(machine, patterns, thread)).sum()
}

/// The fewest fences of a thread that cut these patterns.
fn num_of_fences_in(machine: &Machine<'_>, patterns: &Patterns, thread: ThreadAt) -> usize {
    let cost = |_: Site| 1;
    minimum(&Paths::of(patterns, thread, machine), [&cost, &cost], &machine.budget).len()
}

/// Sets of threads: all of two, all of three, and the set of all.
fn groups(num_of_threads: usize) -> impl Iterator<Item = Vec<ThreadAt>> {
    let all = (num_of_threads > 3).then(|| ThreadAt::all(num_of_threads).collect());
    pairs(num_of_threads).chain(triples(num_of_threads)).chain(all)
}

/// The patterns of which it is known that the pivot can do all that they say.
pub(super) fn exact(mut patterns: Patterns) -> Patterns {
    patterns.retain(|pattern, _| pattern.is_exact);
    patterns
}
