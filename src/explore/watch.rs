//! The limits of a command, for searches that are not [explorations](super::driver) and count their states themselves.

use super::driver::{Limits, Stop};
use crate::budget::Exhausted;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// How many states are expanded between two looks at the clock.
const STRIDE: usize = 256;

/// Limits, and when the work began.
#[derive(Clone, Copy)]
pub struct Watch<'l> {
    limits: &'l Limits<'l>,
    started: Instant,
}

impl<'l> Watch<'l> {
    /// Begins now.
    #[must_use]
    pub fn new(limits: &'l Limits<'l>) -> Watch<'l> {
        Watch { limits, started: Instant::now() }
    }

    /// Whether a search may have so many states.
    ///
    /// # Errors
    /// If that is one too many.
    pub fn check_size(&self, states: usize) -> Result<(), Stop> {
        if self.limits.states.is_some_and(|most| states > most) { Err(Stop::States) } else { Ok(()) }
    }

    /// Whether work may go on that is about to expand the state of this number.
    ///
    /// # Errors
    /// The limit that was reached.
    pub fn check(&self, at: usize) -> Result<(), Stop> {
        if !at.is_multiple_of(STRIDE) {
            return Ok(());
        }
        let Limits { time, interrupted, budget, .. } = self.limits;
        if let Some(budget) = budget {
            budget.found_states(at);
        }
        if interrupted.is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            return Err(Stop::Interrupted);
        }
        if time.is_some_and(|most| self.started.elapsed() >= most) {
            return Err(Stop::Time);
        }
        match budget.and_then(|budget| budget.check().err()) {
            Some(Exhausted::Time) => Err(Stop::Time),
            Some(Exhausted::Memory) => Err(Stop::Memory),
            Some(Exhausted::Interrupted) => Err(Stop::Interrupted),
            None => Ok(()),
        }
    }
}
