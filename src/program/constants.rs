//! The values that an abstraction tells apart: those that a program names, their neighbours, and the first few.
//!
//! A search over states in which every other value is "any" is finite, also for a program that counts without end.

use super::compiled::{Code, Compiled, Target};
use std::collections::BTreeSet;

/// Values below this are told apart even if the program does not name them.
const SMALL: i64 = 8;

/// The values that are told apart.
#[must_use]
pub fn distinguished(compiled: &Compiled) -> BTreeSet<i64> {
    let mut constants = compiled.initial.clone();
    for step in compiled.threads.iter().flat_map(|thread| thread.steps.iter().flatten()) {
        let mut add = |code: &Code| constants_of(code, &mut constants);
        step.outranked.iter().chain(&step.condition).for_each(&mut add);
        for (target, value) in &step.assignments {
            add(value);
            if let Target::Element(_, _, index) = target {
                add(index);
            }
        }
    }
    let neighbours = |&value: &i64| [value.saturating_sub(1), value, value.saturating_add(1)];
    constants.iter().flat_map(neighbours).chain(0..SMALL).collect()
}

fn constants_of(code: &Code, found: &mut Vec<i64>) {
    match code {
        Code::Constant(value) => found.push(*value),
        Code::Slot(_) => {}
        Code::Element(_, _, operand) | Code::Unary(_, operand) => constants_of(operand, found),
        Code::Binary(_, left, right, _) => {
            constants_of(left, found);
            constants_of(right, found);
        }
    }
}
