//! Suggestions in the text of a specification.
//!
//! A fence after an instruction is a statement after it. A fence before one is a statement before it, if that is on every way into it and on no other way; a fence before the first statement of a transition
//! would commit to the transition before its condition is known, so there it goes to the end of everything that leads to the state instead. A fence inside an instruction has no place in the text: the instruction becomes
//! atomic, which is more than a fence.

use super::{At, Repair};
use crate::lang::slco::edit::Edit;
use crate::program::{Program, Thread};
use crate::safety::Place;
use std::collections::BTreeSet;

/// The changes that put a repair into the text.
#[must_use]
pub fn edits(program: &Program, repair: &Repair) -> BTreeSet<Edit> {
    let mut edits = BTreeSet::new();
    for &at in &repair.locked {
        edits.insert(Edit::Atomic(instruction(program, at).span));
    }
    for &(at, place) in &repair.fences {
        let span = instruction(program, at).span;
        match place {
            Place::After => {
                edits.insert(Edit::FenceAfter(span));
            }
            Place::Inside(_) => {
                edits.insert(Edit::Atomic(span));
            }
            Place::Before if is_alone(&program.threads[at.0], at.1) => {
                edits.insert(Edit::FenceBefore(span));
            }
            Place::Before => {
                let thread = &program.threads[at.0];
                let state = thread.instructions[at.1].from;
                let earlier = thread.instructions.iter().filter(|earlier| earlier.to == state);
                edits.extend(earlier.map(|earlier| Edit::FenceAfter(earlier.span)));
            }
        }
    }
    edits
}

/// Whether nothing is decided where the instruction starts: it has no condition, and nothing else starts there.
fn is_alone(thread: &Thread, number: usize) -> bool {
    let own = &thread.instructions[number];
    own.condition.is_none() && thread.instructions.iter().filter(|other| other.from == own.from).count() == 1
}

fn instruction(program: &Program, (thread, number): At) -> &crate::program::Instruction {
    &program.threads[thread].instructions[number]
}
