//! Suggestions in the text of a specification: how a fence stands there is for its [language](crate::lang::edit) to
//! say. A fence inside an instruction has no place in any text: the instruction becomes atomic, which is more than a
//! fence.

use super::Repair;
use crate::lang::edit::Change;
use crate::memory::FenceStrength;
use crate::outline::{Outline, Place};

impl Repair {
    /// The changes that put it into the text of the program that has this outline.
    #[must_use]
    pub fn changes(&self, outline: &Outline) -> Vec<Change> {
        let locked = self.locked.iter().filter_map(|&instr| outline.at(instr)).map(Change::Atomic);
        let fences = self.fences_at(outline).map(|(site, at, strength)| match (site.place, strength) {
            (Place::Inside(_), _) => Change::Atomic(at),
            (Place::Before, FenceStrength::Stores) => Change::StoreFenceBefore(at),
            (Place::After, FenceStrength::Stores) => Change::StoreFenceAfter(at),
            (Place::State, FenceStrength::Stores) => Change::StoreFenceAtTarget(at),
            (Place::Before, _) => Change::FenceBefore(at),
            (Place::After, _) => Change::FenceAfter(at),
            (Place::State, _) => Change::FenceAtTarget(at),
        });
        locked.chain(fences).collect()
    }
}
