//! Suggestions in the text of a specification.
//!
//! A fence after an instruction is a statement after it. A fence before one is a statement before it, if that is on
//! every way into it and on no other way; a fence before the first statement of a transition would commit to the
//! transition before its condition is known, so there it goes to the end of everything that leads to the state
//! instead. So does one at a control state: in SLCO that is a fence on each way in; in the languages of automata it
//! is one fence, on a new state that all lead to. A fence inside an instruction has no place in the text: the
//! instruction becomes atomic, which is more than a fence.

use super::Repair;
use crate::lang::Language;
use crate::lang::automata::edit::{Spot, fenced};
use crate::lang::slco::edit::{Edit, edited};
use crate::outline::{Outline, Place};
use crate::program::{At, Instruction, InstructionKind, Program, Span, Thread};
use std::collections::BTreeSet;

/// Why a repair cannot be put into a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CannotWrite {
    /// Something must be put at an instruction that has no statement: a transition without any.
    At(At),
    /// More than fences between instructions is needed, and the language has no place for that.
    OnlyFences,
    /// No fence can be put into a text in this language.
    Language,
}

/// The text of a specification with a repair put in; its name tells the language.
///
/// # Errors
/// If the language cannot say it.
pub fn written(name: &str, text: &str, program: &Program, repair: &Repair) -> Result<String, CannotWrite> {
    if *repair == Repair::default() {
        return Ok(text.to_owned());
    }
    match Language::of(name) {
        Some(Language::Slco) => Ok(edited(text, &edits(program, repair).map_err(CannotWrite::At)?)),
        Some(Language::Automata) => Ok(fenced(text, &spots(program, repair).ok_or(CannotWrite::OnlyFences)?)),
        _ => Err(CannotWrite::Language),
    }
}

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
            Place::Before if is_alone(&program.threads[at.0], at.1) => {
                edits.insert(Edit::FenceBefore(statement(program, at)?));
            }
            Place::Before | Place::State => {
                let thread = &program.threads[at.0];
                let own = &thread.instructions[at.1];
                let state = if site.place == Place::Before { own.from } else { own.to };
                for earlier in (0..thread.instructions.len()).filter(|&i| thread.instructions[i].to == state) {
                    edits.insert(Edit::FenceAfter(statement(program, (at.0, earlier))?));
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
    for (site, (thread, number)) in repair.fences_at(outline) {
        let instructions = &program.threads[thread].instructions;
        let own = instructions[number].span;
        match site.place {
            Place::After => {
                spots.insert(Spot::After(own));
            }
            Place::State => {
                spots.insert(Spot::AtTarget(own));
            }
            Place::Before => {
                let mut earlier = instructions.iter().filter(|earlier| earlier.to == instructions[number].from);
                match (earlier.next(), earlier.next()) {
                    (Some(_), Some(_)) => spots.insert(Spot::AtOrigin(own)),
                    (Some(only), None) => spots.insert(Spot::After(only.span)),
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
fn is_alone(thread: &Thread, number: usize) -> bool {
    let own = &thread.instructions[number];
    own.condition.is_none() && thread.instructions.iter().filter(|other| other.from == own.from).count() == 1
}

/// Whether an instruction has a statement of its own: a transition without statements is an instruction without one.
#[must_use]
pub fn has_statement(instruction: &Instruction) -> bool {
    instruction.condition.is_some() || !instruction.assignments.is_empty() || instruction.kind != InstructionKind::Plain
}

fn statement(program: &Program, at: At) -> Result<Span, At> {
    let instruction = &program.threads[at.0].instructions[at.1];
    if has_statement(instruction) { Ok(instruction.span) } else { Err(at) }
}
