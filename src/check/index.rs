//! Which instruction has an index out of range: the exploration only counts.

use crate::budget::Budget;
use crate::explore::Exploration;
use crate::ids::{ControlAt, ThreadAt};
use crate::program::At;
use crate::program::compiled::{Compiled, Trace};

/// The first one in the order of the expanded states, if there is one, and it is found within the budget.
pub(super) fn out_of_range(compiled: &Compiled, exploration: &Exploration, budget: &Budget) -> Option<At> {
    let layout = &exploration.layout;
    let mut packed = vec![0; layout.words()];
    let mut control = vec![ControlAt(0); compiled.threads.len()];
    let mut values = compiled.initial.clone();
    for number in 0..exploration.expanded {
        budget.check().ok()?;
        exploration.states.load(number, &mut packed);
        layout.unpack(&packed, &mut control, &mut values);
        for (thread, &state) in ThreadAt::all(control.len()).zip(&control) {
            for step in compiled.thread(thread).steps_from(state) {
                let mut trace = Trace::default();
                let mut after = values.clone();
                // All of this was performed before, so nothing goes wrong now.
                if step.is_enabled(&values, &mut trace) == Ok(true) {
                    let _ = step.execute(&mut after, &mut trace);
                }
                if trace.out_of_range > 0 {
                    return Some(At { thread, instruction: step.instruction });
                }
            }
        }
    }
    None
}
