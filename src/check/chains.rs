//! Control states that no chain of transitions leads to, whatever the conditions are: what can be said of a program
//! that was not explored in full. Linear in the instructions.

use super::{Finding, NEVER_REACHED, Place, Severity};
use crate::caveat::idle::is_in_text;
use crate::ids::ControlAt;
use crate::program::{Program, Thread};
use std::collections::BTreeSet;

/// A finding for each such control state.
pub fn unreached(program: &Program, text: &str) -> Vec<Finding> {
    program.threads.iter().flat_map(|thread| of_thread(thread, text)).collect()
}

fn of_thread(thread: &Thread, text: &str) -> Vec<Finding> {
    let reached = reached(thread);
    let is_unreached = |state: &ControlAt| !reached.contains(state) && is_in_text(thread, *state, text);
    let unreached = ControlAt::all(thread.states.len()).filter(is_unreached);
    let finding = |state: ControlAt| Finding {
        severity: Severity::Warning,
        topic: NEVER_REACHED,
        message: format!("no transitions lead to `{}` of {}", thread.states[state.index()], thread.name),
        help: None,
        // A state that is only declared has no place that is known.
        place: thread
            .instructions
            .iter()
            .find(|known| known.from == state)
            .map_or(Place::Whole, |known| Place::Span(known.span)),
    };
    unreached.map(finding).collect()
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
