//! Values of which some are not known: `None` stands for any value.
//!
//! Where everything is known this is the evaluator of [`compiled`](crate::program::compiled), with the same results.
//! Where something is not, the result is not known either, unless it is the same for all values. What would go wrong
//! is not known: with unknown values around, nobody can say that it really happens.

use crate::ids::{LocationAt, Slot};
use crate::program::arithmetic::{apply, apply_unary};
use crate::program::compiled::{Code, Step, Target};
use crate::program::{BinaryOperator, UnaryOperator};

/// A value, or any.
pub(super) type Value = Option<i64>;

/// The value of an expression.
pub(super) fn evaluate(code: &Code, values: &[Value]) -> Value {
    match code {
        Code::Constant(value) => Some(*value),
        Code::Slot(slot) => values[slot.index()],
        Code::Element(base, length, index) => match evaluate(index, values) {
            Some(index) => position(index, *length).map_or(Some(0), |position| values[base.index() + position]),
            None => None,
        },
        Code::Unary(operator, operand) => {
            evaluate(operand, values).and_then(|operand| apply_unary(*operator, operand).ok())
        }
        Code::Binary(operator, left, right, _) => {
            let (left, right) = (evaluate(left, values), evaluate(right, values));
            match (operator, left, right) {
                (BinaryOperator::And | BinaryOperator::Multiply, Some(0), _)
                | (BinaryOperator::And | BinaryOperator::Multiply, _, Some(0)) => Some(0),
                (BinaryOperator::Or, Some(known), _) | (BinaryOperator::Or, _, Some(known)) if known != 0 => Some(1),
                (_, Some(left), Some(right)) => apply(*operator, left, right).ok(),
                _ => None,
            }
        }
    }
}

/// Whether a step is taken: yes, no, or nobody knows.
pub(super) fn is_taken(step: &Step, values: &[Value]) -> Option<bool> {
    let refusals = step.outranked.iter().map(|condition| {
        let holds = evaluate(condition, values);
        holds.and_then(|holds| apply_unary(UnaryOperator::Not, holds).ok())
    });
    let conditions = refusals.chain(step.condition.iter().map(|condition| evaluate(condition, values)));
    let mut taken = Some(true);
    for holds in conditions {
        match holds {
            Some(0) => return Some(false),
            Some(_) => {}
            None => taken = None,
        }
    }
    taken
}

/// Adds the locations that an expression reads, where so many slots are shared; of an element whose index is not
/// known, all.
pub(super) fn reads(code: &Code, values: &[Value], shared: usize, found: &mut Vec<LocationAt>) {
    let mut add = |slot: Slot| {
        if let Some(location) = slot.location(shared)
            && !found.contains(&location)
        {
            found.push(location);
        }
    };
    match code {
        Code::Constant(_) => {}
        Code::Slot(slot) => add(*slot),
        Code::Element(base, length, index) => {
            match evaluate(index, values) {
                Some(index) => {
                    if let Some(position) = position(index, *length) {
                        add(base.plus(position));
                    }
                }
                None => base.run(*length).for_each(add),
            }
            reads(index, values, shared, found);
        }
        Code::Unary(_, operand) => reads(operand, values, shared, found),
        Code::Binary(_, left, right, _) => {
            reads(left, values, shared, found);
            reads(right, values, shared, found);
        }
    }
}

/// Adds the locations that the conditions of a step read.
pub(super) fn condition_reads(step: &Step, values: &[Value], shared: usize, found: &mut Vec<LocationAt>) {
    for condition in step.outranked.iter().chain(&step.condition) {
        reads(condition, values, shared, found);
    }
}

/// What an assignment may write: the slots, and whether it may be that nothing is written.
pub(super) struct Written {
    /// The slots.
    pub slots: Vec<Slot>,
    /// Its index may be out of range.
    pub may_miss: bool,
}

/// Where an assignment goes.
pub(super) fn written(target: &Target, values: &[Value]) -> Written {
    match target {
        Target::Slot(slot) => Written { slots: vec![*slot], may_miss: false },
        Target::Element(base, length, index) => match evaluate(index, values) {
            Some(index) => {
                let slots: Vec<Slot> =
                    position(index, *length).map(|position| base.plus(position)).into_iter().collect();
                Written { may_miss: slots.is_empty(), slots }
            }
            None => Written { slots: base.run(*length).collect(), may_miss: true },
        },
    }
}

/// Performs an assignment where it goes to one slot for certain; where it may go to several, none of them is known
/// afterwards.
pub(super) fn assign(written: &Written, value: Value, values: &mut [Value]) {
    for &slot in &written.slots {
        values[slot.index()] = if written.slots.len() == 1 && !written.may_miss { value } else { None };
    }
}

fn position(index: i64, length: usize) -> Option<usize> {
    usize::try_from(index).ok().filter(|&position| position < length)
}
