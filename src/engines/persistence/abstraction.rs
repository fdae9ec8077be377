//! The abstractions (`--abstraction`): for every thread that can be the pivot one small search instead of a large one
//! for all.
//!
//! Both give all patterns of the program, and perhaps more: [`flatten`] lets the other threads write as in their
//! text, [`environment`] whenever they like. Threads that can never be pivots are not looked at.
//!
//! *Limits.* Those on states and memory hold for each pivot, that on time for all; if one is reached the result says
//! that it is not complete.

use super::machine::Machine;
use super::outcome::Size;
use super::record::Entries;
use super::{environment, flatten};
use crate::analysis::Abstraction;
use crate::explore::{Limits, Stop};
use crate::ids::ThreadAt;
use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// What a search has shown, or several together.
#[derive(Default)]
pub(super) struct Shown {
    pub entries: Entries,
    pub size: Size,
}

/// Checks these threads as pivots.
pub(super) fn check(
    machine: &Machine<'_>,
    abstraction: Abstraction,
    threads: &BTreeSet<ThreadAt>,
    limits: &Limits<'_>,
) -> Shown {
    let budget = Budget { limits, started: Instant::now() };
    let pivots: Vec<ThreadAt> = threads.iter().copied().filter(|&pivot| machine.can_be_pivot(pivot)).collect();
    match abstraction {
        Abstraction::Flattening(bound) => flatten::check(machine, &pivots, bound, &budget),
        // Pairs are refused before; the environment has all that they have.
        Abstraction::Environment | Abstraction::Pairs => environment::check(machine, &pivots, &budget),
    }
}

/// Limits of a search that began at some time.
pub(super) struct Budget<'a> {
    limits: &'a Limits<'a>,
    started: Instant,
}

impl Budget<'_> {
    /// Why a search must stop, if it must, that has found so many states of so many bytes, and is about to expand the
    /// one of this number.
    pub(super) fn spent(&self, states: usize, bytes: usize, at: usize) -> Option<Stop> {
        let Limits { states: most_states, bytes: most_bytes, time, interrupted, .. } = self.limits;
        let reached = [
            (most_states.is_some_and(|most| states >= most), Stop::States),
            // Each is in the list and in the set.
            (most_bytes.is_some_and(|most| 2 * states * bytes >= most), Stop::Memory),
            (time.is_some_and(|most| at.is_multiple_of(1024) && self.started.elapsed() >= most), Stop::Time),
            (interrupted.is_some_and(|flag| flag.load(Ordering::Relaxed)), Stop::Interrupted),
        ];
        reached.into_iter().find(|(is_reached, _)| *is_reached).map(|(_, stop)| stop)
    }
}
