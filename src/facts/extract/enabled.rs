//! The first pass: which labels are enabled in each state, `out(s)` of method §2.
//!
//! The transitions of a state usually stand together, so the labels of consecutive lines with the same source are gathered and interned
//! once. Where they do not (unsorted input, the border of two chunks) the state gets the union of what was there
//! and what is new, by compare-and-swap: union is commutative and associative, so the order of arrival does not matter.

use super::chunks::{Meter, Reason, Stop, Worker, pass};
use super::labels::{self, INTERNAL, Labels};
use super::layout::{Layout, Numbering};
use super::sets::{self, EMPTY, Sets};
use crate::lts::aut::Transition;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

/// The enabled set of every state.
pub(super) struct Enabled {
    numbering: Numbering,
    set_of: Vec<AtomicU32>,
    /// The distinct sets, over label numbers.
    pub(super) sets: Sets,
    /// States, as the header counts them if it is believed.
    pub(super) states: u64,
    /// Transitions read.
    pub(super) transitions: u64,
}

/// Runs the pass.
pub(super) fn collect<'a>(
    bytes: &'a [u8],
    layout: &Layout,
    labels: &Labels<'a>,
    meter: &Meter<'_>,
) -> Result<Enabled, Stop> {
    let (numbering, states) = layout.numbering(bytes, meter)?;
    let size = match &numbering {
        Numbering::Dense(size) => *size,
        Numbering::Sparse(states) => states.len(),
    };
    let set_of = (0..size).map(|_| AtomicU32::new(EMPTY)).collect();
    let mut enabled = Enabled { numbering, set_of, sets: Sets::new(), states, transitions: 0 };
    let sets = Mutex::new(Sets::new());
    let workers = pass(bytes, layout.body(), meter, || Gatherer {
        enabled: &enabled,
        state_limit: layout.state_limit(),
        labels: labels::Cache::new(labels),
        sets: sets::Cache::new(&sets),
        from: 0,
        gathered: Vec::new(),
        transitions: 0,
    })?;
    let transitions = workers.iter().map(|worker| worker.transitions).sum();
    drop(workers);
    enabled.transitions = transitions;
    enabled.sets = sets.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(enabled)
}

impl Enabled {
    /// The enabled set of a state; empty if the state has no transitions.
    #[inline]
    pub(super) fn of(&self, state: u64) -> u32 {
        self.entry(state).map_or(EMPTY, |entry| entry.load(Ordering::Relaxed))
    }

    #[inline]
    fn entry(&self, state: u64) -> Option<&AtomicU32> {
        match &self.numbering {
            Numbering::Dense(_) => self.set_of.get(usize::try_from(state).ok()?),
            Numbering::Sparse(states) => self.set_of.get(states.binary_search(&state).ok()?),
        }
    }

    fn add(&self, state: u64, set: u32, sets: &mut sets::Cache<'_>) {
        let entry = self.entry(state).expect("every state below the limit, or that occurs, has an entry");
        let mut present = EMPTY;
        // Nearly always the state is new. The numbers carry no other data with them, so relaxed ordering is enough:
        // the members of a set are read under a lock, or after the pass.
        while let Err(other) =
            entry.compare_exchange(present, sets.union(set, present), Ordering::Relaxed, Ordering::Relaxed)
        {
            present = other;
        }
    }
}

struct Gatherer<'a, 't> {
    enabled: &'t Enabled,
    state_limit: u64,
    labels: labels::Cache<'a, 't>,
    sets: sets::Cache<'t>,
    from: u64,
    gathered: Vec<u32>,
    transitions: u64,
}

impl Gatherer<'_, '_> {
    fn flush(&mut self) {
        if !self.gathered.is_empty() {
            let set = self.sets.set_of(&self.gathered);
            self.enabled.add(self.from, set, &mut self.sets);
            self.gathered.clear();
        }
    }
}

impl<'a> Worker<'a> for Gatherer<'a, '_> {
    #[inline]
    fn transition(&mut self, transition: &Transition<'a>) -> Result<(), Stop> {
        let [from_place, _, to_place] = transition.places;
        for (state, offset) in [(transition.from, from_place), (transition.to, to_place)] {
            if state >= self.state_limit {
                return Err(Stop { offset, reason: Reason::State(self.state_limit) });
            }
        }
        let label = self.labels.number(transition)?;
        self.transitions += 1;
        if transition.from != self.from {
            self.flush();
            self.from = transition.from;
        }
        if label != INTERNAL {
            self.gathered.push(label);
        }
        Ok(())
    }

    fn end_of_chunk(&mut self) {
        self.flush();
    }
}
