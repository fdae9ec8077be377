//! Control states that no chain of transitions leads to, whatever the conditions are: what can be said of a program
//! that was not explored in full. Linear in the instructions.

use super::{Finding, NEVER_REACHED, Place, Severity};
use crate::ids::ControlAt;
use crate::program::{Instruction, Program, Thread};
use std::collections::BTreeSet;

/// A finding for each such control state that something leaves.
pub fn unreached(program: &Program) -> Vec<Finding> {
    program.threads.iter().flat_map(of_thread).collect()
}

fn of_thread(thread: &Thread) -> Vec<Finding> {
    let reached = reached(thread);
    let mut told = BTreeSet::new();
    let leaving = thread.instructions.iter().filter(|known| !reached.contains(&known.from));
    let first = leaving.filter(|known| told.insert(known.from));
    let finding = |known: &Instruction| Finding {
        severity: Severity::Warning,
        topic: NEVER_REACHED,
        message: format!("no transitions lead to `{}` of {}", thread.states[known.from.index()], thread.name),
        help: None,
        place: Place::Span(known.span),
    };
    first.map(finding).collect()
}

fn reached(thread: &Thread) -> BTreeSet<ControlAt> {
    let mut reached = BTreeSet::from([thread.initial]);
    let mut open = vec![thread.initial];
    while let Some(state) = open.pop() {
        let next = thread.instructions.iter().filter(|known| known.from == state).map(|known| known.to);
        open.extend(next.filter(|to| reached.insert(*to)));
    }
    reached
}
