//! Whether the steps that are made at once may be.

use super::Claim;
use crate::engines::automata::{Location, Operation};
use crate::weak::forbidden::Forbidden;

impl Claim<'_> {
    /// Whether each step that is made at once may be: it is the only one of its state, nobody sees it, and no such
    /// steps make a circle.
    pub(super) fn are_private(&self) -> bool {
        let mentions = |location: Location| match self.forbidden {
            Forbidden::State(condition) => {
                let mut mentions = false;
                condition.for_each_slot(&mut |slot| mentions |= slot.index() == location as usize);
                mentions
            }
            Forbidden::End(_) => true,
            // Whose write it is has to move: that is asked below.
            Forbidden::Deadlock => false,
        };
        let looks = |thread: usize, state: usize| {
            let seen = &self.seen[thread][state];
            let is_judged = seen.is_judged && (seen.has_ended || !matches!(self.forbidden, Forbidden::End(_)));
            (is_judged, seen.is_wrong)
        };
        (0..self.private.len()).all(|thread| {
            let transitions = self.transitions[thread];
            let next = |state: usize| self.private[thread][state].map(|at| transitions[at as usize].to as usize);
            self.private[thread].iter().enumerate().all(|(state, private)| {
                let Some(at) = private else { return true };
                let known = &transitions[*at as usize];
                let is_unseen = match &known.operation {
                    Operation::Silent => true,
                    Operation::Write(location, _) => !mentions(*location),
                    Operation::Read(..) | Operation::Whole(..) => false,
                };
                let mut end = Some(state);
                (0..self.private[thread].len()).for_each(|_| end = end.and_then(next));
                self.from[thread][state] == [*at as usize]
                    && !self.outside[thread].iter().any(|known| known.from as usize == state)
                    && is_unseen
                    && end.is_none()
                    && match self.forbidden {
                        Forbidden::Deadlock => self.is_in_no_deadlock(thread, state),
                        Forbidden::State(_) | Forbidden::End(_) => {
                            looks(thread, state) == looks(thread, known.to as usize)
                                && self.is_told_alike(thread, state, known.to as usize)
                        }
                    }
            })
        })
    }

    /// Whether the condition cannot tell two states of a thread apart: it mentions neither a local that differs, nor
    /// one of their control states.
    fn is_told_alike(&self, thread: usize, one: usize, other: usize) -> bool {
        let (one, other) = (&self.seen[thread][one], &self.seen[thread][other]);
        let Forbidden::State(condition) = self.forbidden else { return !one.has_ended && !other.has_ended };
        if !one.is_judged {
            return true;
        }
        let locals =
            |thread: usize| self.seen[thread].iter().find(|seen| seen.is_judged).map_or(0, |seen| seen.frame.len());
        let first: usize = self.domains.len() + (0..thread).map(locals).sum::<usize>();
        let controls: usize = self.domains.len() + (0..self.seen.len()).map(locals).sum::<usize>();
        let mut is_alike = true;
        condition.for_each_slot(&mut |slot| {
            if let Some(local) = slot.index().checked_sub(first).filter(|&local| local < one.frame.len()) {
                is_alike &= one.frame[local] == other.frame[local];
            }
        });
        condition.for_each_place(&mut |slot, state| {
            if slot.index() == controls + thread {
                is_alike &= (one.control == state) == (other.control == state);
            }
        });
        is_alike
    }

    /// Whether no deadlock has a thread in this state: it is not judged there, or moves on whatever the memory holds.
    fn is_in_no_deadlock(&self, thread: usize, state: usize) -> bool {
        !self.seen[thread][state].is_judged || self.exits.as_ref().is_some_and(|exits| exits.never_stuck(thread, state))
    }
}
