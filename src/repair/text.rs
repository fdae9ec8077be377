//! Suggestions in the text of a specification: how a fence stands there is for its [language](crate::lang::edit) to
//! say. A fence inside an instruction has no place in any text: the instruction becomes atomic, which is more than a
//! fence. Marks stand where the language has words for them.

use super::Repair;
use crate::lang::edit::Change;
use crate::outline::{Outline, Place};

impl Repair {
    /// The changes that put it into the text of the program that has this outline.
    #[must_use]
    pub fn changes(&self, outline: &Outline) -> Vec<Change> {
        let locked = self.locked.iter().filter_map(|&instr| outline.at(instr)).map(Change::Atomic);
        let fences = self.fences_at(outline).map(|(site, at, strength)| match (site.place, strength.partial()) {
            (Place::Inside(_) | Place::On, _) => Change::Atomic(at),
            (Place::Before, Some(kind)) => Change::PartialFenceBefore(at, kind),
            (Place::After, Some(kind)) => Change::PartialFenceAfter(at, kind),
            (Place::State, Some(kind)) => Change::PartialFenceAtTarget(at, kind),
            (Place::Before, None) => Change::FenceBefore(at),
            (Place::After, None) => Change::FenceAfter(at),
            (Place::State, None) => Change::FenceAtTarget(at),
        });
        let marks = self.marks_at(outline).map(|(at, marks)| Change::Mark(at, marks));
        locked.chain(fences).chain(marks).collect()
    }
}
