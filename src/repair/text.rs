//! Suggestions in the text of a specification.
//!
//! A fence after an instruction is a statement after it. A fence before one is a statement before it, if that is on
//! every way into it and on no other way; a fence before the first statement of a transition would commit to the
//! transition before its condition is known, so there it goes to the end of everything that leads to the state
//! instead. So does one at a control state: in SLCO that is a fence on each way in; in the languages of automata it
//! is one fence, on a new state that all lead to. A fence inside an instruction has no place in the text: the
//! instruction becomes atomic, which is more than a fence.

use super::Repair;
use crate::lang::automata::edit::Spot;
use crate::lang::slco::edit::Edit;
use crate::outline::{Outline, Place};
use crate::program::{At, Instruction, InstructionKind, Program, Span};
use std::collections::BTreeSet;

/// The changes that put a repair into the text.
///
/// # Errors
/// The instruction at which something must stand and that has no statement: a transition without any.
pub fn edits(program: &Program, repair: &Repair) -> Result<BTreeSet<Edit>, At> {
    let outline = &Outline::of_program(program);
    let mut edits = BTreeSet::new();
    for at in repair.locked.iter().filter_map(|&instr| outline.at(instr)) {
        edits.insert(Edit::Atomic(statement(program, at)?));
    }
    for (site, at) in repair.fences_at(outline) {
        match site.place {
            Place::After => {
                edits.insert(Edit::FenceAfter(statement(program, at)?));
            }
            Place::Inside(_) => {
                edits.insert(Edit::Atomic(statement(program, at)?));
            }
            Place::Before if is_alone(program, at) => {
                edits.insert(Edit::FenceBefore(statement(program, at)?));
            }
            Place::Before | Place::State => {
                let own = program.instruction(at);
                let state = if site.place == Place::Before { own.from } else { own.to };
                for instruction in program.thread(at.thread).ways_into(state) {
                    edits.insert(Edit::FenceAfter(statement(program, At { instruction, ..at })?));
                }
            }
        }
    }
    Ok(edits)
}

/// Where fences must stand in the text of automata; `None` if the repair needs more than fences between instructions.
/// A fence before an instruction is one at the state where it begins, if several lead there.
#[must_use]
pub fn spots(program: &Program, repair: &Repair) -> Option<BTreeSet<Spot>> {
    let outline = &Outline::of_program(program);
    let mut spots = BTreeSet::new();
    for (site, at) in repair.fences_at(outline) {
        let thread = program.thread(at.thread);
        let own = program.instruction(at).span;
        match site.place {
            Place::After => {
                spots.insert(Spot::After(own));
            }
            Place::State => {
                spots.insert(Spot::AtTarget(own));
            }
            Place::Before => {
                let mut earlier = thread.ways_into(program.instruction(at).from);
                match (earlier.next(), earlier.next()) {
                    (Some(_), Some(_)) => spots.insert(Spot::AtOrigin(own)),
                    (Some(only), None) => spots.insert(Spot::After(thread.instruction(only).span)),
                    // Before a first instruction there is nothing to keep in order.
                    (None, _) => false,
                };
            }
            Place::Inside(_) => return None,
        }
    }
    repair.locked.is_empty().then_some(spots)
}

/// Whether nothing is decided where the instruction starts: it has no condition, and nothing else starts there.
fn is_alone(program: &Program, at: At) -> bool {
    let (own, instructions) = (program.instruction(at), &program.thread(at.thread).instructions);
    own.condition.is_none() && instructions.iter().filter(|other| other.from == own.from).count() == 1
}

/// Whether an instruction has a statement of its own: a transition without statements is an instruction without one.
#[must_use]
pub fn has_statement(instruction: &Instruction) -> bool {
    instruction.condition.is_some() || !instruction.assignments.is_empty() || instruction.kind != InstructionKind::Plain
}

fn statement(program: &Program, at: At) -> Result<Span, At> {
    let instruction = program.instruction(at);
    if has_statement(instruction) { Ok(instruction.span) } else { Err(at) }
}
