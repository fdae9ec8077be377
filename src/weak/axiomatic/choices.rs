//! Choices that a run through a thread leaves open: made in all combinations, or by somebody who looks at the others.

use super::trace::Offers;
use crate::ids::LocationAt;
use crate::program::compiled::Fault;

/// Who decides what a run leaves open.
pub(super) trait Guide {
    /// One of so many ways.
    fn choose(&mut self, options: usize) -> usize;

    /// What a read returns, where the thread itself has left this value; nothing if the run is to stop before it.
    fn read(&mut self, location: LocationAt, nearest: i64) -> Option<i64>;

    /// Whether the run goes on behind a write.
    fn goes_on_behind_a_write(&mut self) -> bool;

    /// Whether an instruction that was taken as often as it may be is looked at once more, to see if it would be taken.
    fn passes_the_bound(&self) -> bool;
}

/// Why a run does not go on.
pub(super) enum Halt {
    /// It goes wrong.
    Fault(Fault),
    /// Its guide wants no more.
    Paused,
    /// An instruction would be taken too often.
    CutOff,
}

/// A sequence of choices, replayed and extended until all have been made: depth-first search without a copy of the
/// state.
#[derive(Default)]
pub(super) struct Choices {
    made: Vec<(usize, usize)>,
    next: usize,
}

impl Choices {
    /// One of so many.
    pub(super) fn choose(&mut self, options: usize) -> usize {
        if self.next == self.made.len() {
            self.made.push((0, options));
        }
        self.next += 1;
        self.made[self.next - 1].0
    }

    /// To the next sequence, if there is one.
    pub(super) fn advance(&mut self) -> bool {
        self.made.truncate(self.next);
        self.next = 0;
        while let Some((chosen, options)) = self.made.pop() {
            if chosen + 1 < options {
                self.made.push((chosen + 1, options));
                return true;
            }
        }
        false
    }
}

/// Makes all choices, and lets a read return all that is offered.
pub(super) struct Offered<'a> {
    pub offers: &'a Offers,
    pub choices: &'a mut Choices,
}

impl Guide for Offered<'_> {
    fn choose(&mut self, options: usize) -> usize {
        self.choices.choose(options)
    }

    fn read(&mut self, location: LocationAt, nearest: i64) -> Option<i64> {
        let others = self.offers[location.index()].iter().filter(|&&value| value != nearest);
        let options: Vec<i64> = std::iter::once(nearest).chain(others.copied()).collect();
        Some(options[self.choices.choose(options.len())])
    }

    fn goes_on_behind_a_write(&mut self) -> bool {
        true
    }

    fn passes_the_bound(&self) -> bool {
        true
    }
}
