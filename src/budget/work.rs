//! How far work is, for whoever shows it to a person: which phase, how many states, how deep, how many steps.
//!
//! A [`Budget`] is handed to everything that can be long, so what is long can say through it how far it is. If nobody
//! [watches](Budget::watched), that costs a branch; else an atomic operation. Nothing depends on what is said.

use super::Budget;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// How far work is.
#[derive(Debug)]
pub struct Work {
    phase: Mutex<&'static str>,
    steps: AtomicU64,
    states: AtomicU64,
    depth: AtomicU64,
}

/// How far it is at a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// What is being done; empty if nothing is said of that.
    pub phase: &'static str,
    /// How often the budget was asked: pieces of work, small in themselves.
    pub steps: u64,
    /// How many states the search at hand has found.
    pub states: u64,
    /// How many steps from the start they are.
    pub depth: u64,
}

impl Work {
    /// Nothing was done yet.
    #[must_use]
    pub const fn new() -> Work {
        Work { phase: Mutex::new(""), steps: AtomicU64::new(0), states: AtomicU64::new(0), depth: AtomicU64::new(0) }
    }

    /// How far it is.
    #[must_use]
    pub fn progress(&self) -> Progress {
        Progress {
            phase: *self.phase.lock().unwrap_or_else(PoisonError::into_inner),
            steps: self.steps.load(Ordering::Relaxed),
            states: self.states.load(Ordering::Relaxed),
            depth: self.depth.load(Ordering::Relaxed),
        }
    }

    /// Something else begins.
    pub fn begin(&self, phase: &'static str) {
        *self.phase.lock().unwrap_or_else(PoisonError::into_inner) = phase;
        [&self.steps, &self.states, &self.depth].into_iter().for_each(|count| count.store(0, Ordering::Relaxed));
    }

    #[inline]
    pub(super) fn step(&self) {
        self.steps.fetch_add(1, Ordering::Relaxed);
    }
}

impl Default for Work {
    fn default() -> Work {
        Work::new()
    }
}

impl Budget {
    /// The same for work that somebody watches.
    #[must_use]
    pub fn watched(self, work: &'static Work) -> Budget {
        Budget { work: Some(work), ..self }
    }

    /// The same for work that nobody watches.
    #[must_use]
    pub fn unwatched(self) -> Budget {
        Budget { work: None, ..self }
    }

    /// Another phase of the work begins: its name in words, as `placing fences`.
    pub fn enter(&self, phase: &'static str) {
        if let Some(work) = self.work {
            work.begin(phase);
        }
    }

    /// A search has found so many states.
    #[inline]
    pub fn found_states(&self, states: usize) {
        if let Some(work) = self.work {
            work.states.store(states as u64, Ordering::Relaxed);
        }
    }

    /// An exploration has found so many states, the last ones so many steps from the start.
    pub fn explored(&self, states: usize, depth: impl FnOnce() -> usize) {
        if let Some(work) = self.work {
            work.states.store(states as u64, Ordering::Relaxed);
            work.depth.store(depth() as u64, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_watched_says_how_far_it_is_and_so_do_its_parts() {
        static WORK: Work = Work::new();
        let budget = Budget::default().watched(&WORK);
        budget.explored(12, || 3);
        assert!(budget.check().is_ok() && budget.share(2).check().is_ok() && budget.for_the_rest().check().is_ok());
        assert_eq!(WORK.progress(), Progress { phase: "", steps: 3, states: 12, depth: 3 });
        budget.enter("placing fences");
        budget.found_states(7);
        assert_eq!(WORK.progress(), Progress { phase: "placing fences", steps: 0, states: 7, depth: 0 });
        // Nobody watches this one.
        Budget::default().enter("nothing");
        assert_eq!(WORK.progress().phase, "placing fences");
    }

    #[test]
    fn limits_hold_for_who_is_watched_too() {
        static WORK: Work = Work::new();
        let budget = Budget::new(Some(std::time::Duration::ZERO), None).watched(&WORK);
        assert!(budget.check().is_err());
        assert!(budget.settled().check().is_err());
    }
}
