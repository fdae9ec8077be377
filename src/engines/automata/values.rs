//! Values that have no bound, given up: a program that does all that another does, with fewer values.
//!
//! What is *given up* is a set of variables, shared or local, closed under assignments: what is computed from one of
//! them is one of them. They have one value; a condition that asks for one of them may hold or not, and so is left out,
//! and so is one that comes first by its priority, which may not hold either. Every run of the program is one of this
//! one, with other values.
//!
//! The accesses stay as they are, with the order that their dependencies ask for.
//!
//! *Limits.* An array element whose index is computed from what is given up could be any, and a division by it can go
//! wrong: then nothing is given up. (That a value does not fit into 64 bits is not found out.)

use super::{Automata, Detail, Domains, Stop};
use crate::ids::{Slot, ThreadAt};
use crate::program::compiled::Code;
use crate::program::{BinaryOperator, Program};
use crate::weak::forbidden::Forbidden;
use crate::weak::split::{Cell, Operation, SplitProgram, SplitStep};
use std::collections::BTreeSet;

/// What is given up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GivenUp {
    /// Shared, by location.
    pub locations: BTreeSet<usize>,
    /// By thread and slot.
    pub locals: BTreeSet<(usize, usize)>,
}

/// Something is computed from a value that is given up, and could be any location, or go wrong.
struct CannotGiveUp;

/// The program with as much given up as is needed for bounds, and what that is; nothing, if it has bounds. A location
/// that has more than so many values has none.
///
/// # Errors
/// As for [`Automata::of`], if that does not help.
pub fn bounded(
    split: &SplitProgram,
    forbidden: Forbidden<'_>,
    most: usize,
) -> Result<Option<(SplitProgram, GivenUp)>, Stop> {
    let mut given_up = GivenUp::default();
    let mut current: Option<SplitProgram> = None;
    loop {
        let program = current.as_ref().unwrap_or(split);
        let stop = match Automata::within(program, forbidden, Detail::Merged, Domains::Closed(most)) {
            Ok(_) => return Ok(current.map(|program| (program, given_up))),
            Err(stop) => stop,
        };
        let known = given_up.clone();
        match &stop {
            Stop::ManyValues(location, _) => {
                given_up.locations.insert(*location);
            }
            Stop::ThreadTooLarge { thread, locals, .. } => {
                given_up.locals.extend(locals.iter().map(|&local| (*thread, local)));
            }
            Stop::Limit(_) | Stop::TooLarge(_) | Stop::Fault(_) | Stop::GoesWrong(_) => return Err(stop),
        }
        let Ok(program) = without(split, &mut given_up) else { return Err(stop) };
        if given_up == known || mentions(split, forbidden, &given_up) {
            return Err(stop);
        }
        current = Some(program);
    }
}

/// Whether what is forbidden depends on what is given up.
fn mentions(split: &SplitProgram, forbidden: Forbidden<'_>, given_up: &GivenUp) -> bool {
    let Forbidden::State(condition) = forbidden else { return true };
    let mut slots: BTreeSet<usize> = given_up.locations.clone();
    let mut first = split.memory.len();
    for (thread, known) in split.threads.iter().enumerate() {
        let own = given_up.locals.iter().filter(|(of, _)| *of == thread);
        slots.extend(own.map(|(_, local)| first + local));
        first += known.locals.len();
    }
    let mut mentions = false;
    condition.for_each_slot(&mut |slot| mentions |= slots.contains(&slot.index()));
    mentions
}

/// The program without these values, once all is among them that is computed from them.
fn without(split: &SplitProgram, given_up: &mut GivenUp) -> Result<SplitProgram, CannotGiveUp> {
    loop {
        let known = given_up.clone();
        let mut program = split.clone();
        for (thread, own) in ThreadAt::all(split.threads.len()).zip(&mut program.threads) {
            for step in own.steps.iter_mut().flatten() {
                give_up(step, thread.index(), given_up)?;
            }
        }
        if *given_up == known {
            return Ok(program);
        }
    }
}

/// What may go wrong for some values, other than by being too large, is not given up: its thread would stop.
fn refuse_faults(code: &Code) -> Result<(), CannotGiveUp> {
    match code {
        Code::Constant(_) | Code::Slot(_) => Ok(()),
        Code::Element(_, _, operand) | Code::Unary(_, operand) => refuse_faults(operand),
        Code::Binary(operator, left, right, _) => {
            refuse_faults(left)?;
            refuse_faults(right)?;
            let is_safe = match operator {
                BinaryOperator::Divide | BinaryOperator::Modulo => {
                    matches!(&**right, Code::Constant(divisor) if *divisor > 0)
                }
                BinaryOperator::Power => matches!(&**right, Code::Constant(exponent) if *exponent >= 0),
                _ => true,
            };
            if is_safe { Ok(()) } else { Err(CannotGiveUp) }
        }
    }
}

/// Gives up what a step computes; adds what it assigns that to.
fn give_up(step: &mut SplitStep, thread: usize, given_up: &mut GivenUp) -> Result<(), CannotGiveUp> {
    let own = given_up.locals.iter().filter(|(of, _)| *of == thread);
    let mut lost: BTreeSet<usize> = own.map(|&(_, local)| local).collect();
    let is_lost = |lost: &BTreeSet<usize>, code: &Code| {
        let mut is_lost = false;
        code.for_each_slot(&mut |slot| is_lost |= lost.contains(&slot.index()));
        is_lost
    };
    // An array is given up as a whole.
    let locations = |cell: &Cell| cell.base.index()..cell.base.index() + cell.length;
    for operation in &mut step.operations {
        match operation {
            Operation::Read(cell, slot) => {
                if cell.index.as_ref().is_some_and(|index| is_lost(&lost, index)) {
                    return Err(CannotGiveUp);
                }
                if locations(cell).any(|location| given_up.locations.contains(&location)) {
                    lost.insert(slot.index());
                }
            }
            Operation::Write(cell, slot) => {
                if cell.index.as_ref().is_some_and(|index| is_lost(&lost, index)) {
                    return Err(CannotGiveUp);
                }
                if lost.contains(&slot.index()) {
                    given_up.locations.extend(locations(cell));
                }
            }
            Operation::Compute(code, slot) => {
                if is_lost(&lost, code) {
                    refuse_faults(code)?;
                    *code = Code::Constant(0);
                    lost.insert(slot.index());
                }
            }
            Operation::Update { old, new, length, index, value } => {
                let is_any = is_lost(&lost, index) || is_lost(&lost, value);
                if is_any {
                    refuse_faults(index)?;
                    refuse_faults(value)?;
                    (*index, *value) = (Code::Constant(0), Code::Constant(0));
                }
                let of_old = old.run(*length).map(|slot| lost.contains(&slot.index())).collect::<Vec<_>>();
                let gone = new.run(*length).zip(of_old).filter(|(_, of_old)| is_any || *of_old);
                lost.extend(gone.map(|(slot, _)| slot.index()).collect::<Vec<_>>());
            }
            Operation::Decide(outranked, own) => {
                let mut gone = outranked.iter().chain(&*own).filter(|code| is_lost(&lost, code));
                gone.try_for_each(refuse_faults)?;
                outranked.retain(|code| !is_lost(&lost, code));
                if own.as_ref().is_some_and(|code| is_lost(&lost, code)) {
                    *own = None;
                }
            }
        }
    }
    let assigned = step.results.iter().filter(|(_, slot)| lost.contains(&slot.index()));
    let assigned: Vec<(usize, usize)> = assigned.map(|(local, _): &(Slot, Slot)| (thread, local.index())).collect();
    given_up.locals.extend(assigned);
    Ok(())
}

impl GivenUp {
    /// The names of the variables, if there are any.
    pub fn names(&self, program: &Program, split: &SplitProgram) -> Option<String> {
        let local = |&(thread, slot): &(usize, usize)| {
            let thread = &program.threads[thread];
            let mut end = 0;
            let variable = thread.locals.iter().find(|variable| {
                end += variable.initial.len();
                slot < end
            });
            format!("{}.{}", thread.name, variable.map_or("", |variable| &variable.name))
        };
        let shared = self.locations.iter().map(|&location| split.locations[location].clone());
        let names: Vec<String> = shared.chain(self.locals.iter().map(local)).collect();
        (!names.is_empty()).then(|| names.join(", "))
    }
}
