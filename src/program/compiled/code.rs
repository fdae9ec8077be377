//! Expressions over slots, and what evaluating one leaves.

use super::Values;
use crate::ids::Slot;
use crate::program::arithmetic::{apply, apply_unary};
use crate::program::{BinaryOperator, Span, UnaryOperator};

/// What went wrong in an evaluation: the run has no next state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What.
    pub kind: FaultKind,
    /// Where in the source.
    pub span: Span,
}

/// The kinds of faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FaultKind {
    /// A result does not fit into 64 bits.
    #[error("the result does not fit into 64 bits")]
    Overflow,
    /// A division by zero.
    #[error("division by zero")]
    DivisionByZero,
    /// A power with a negative exponent.
    #[error("a power with a negative exponent")]
    NegativeExponent,
    /// An index out of range, where that is no value.
    #[error("an index out of range")]
    IndexOutOfRange,
    /// An address that the memory does not have.
    #[error("an address outside of the memory (`memory_size` tells how large it is)")]
    OutsideOfMemory,
}

/// What an evaluation leaves besides its value.
#[derive(Clone, Copy, Debug, Default)]
pub struct Trace {
    /// The digits of all computed indices so far.
    pub key: u64,
    /// How many indices were out of range.
    pub out_of_range: u64,
    /// How many assignments were made.
    pub writes: u64,
}

/// An expression over slots.
#[derive(Clone, Debug)]
pub enum Code {
    /// A constant.
    Constant(i64),
    /// The value in a slot.
    Slot(Slot),
    /// An element of an array: first slot, number of elements, index.
    Element(Slot, usize, Box<Code>),
    /// An operator with one operand, and where it stands.
    Unary(UnaryOperator, Box<Code>),
    /// An operator with two operands, and where it stands.
    Binary(BinaryOperator, Box<Code>, Box<Code>, Span),
}

/// Whether two expressions compute the same: where they stand does not count.
impl PartialEq for Code {
    fn eq(&self, other: &Code) -> bool {
        match (self, other) {
            (Code::Constant(a), Code::Constant(b)) => a == b,
            (Code::Slot(a), Code::Slot(b)) => a == b,
            (Code::Element(a, m, i), Code::Element(b, n, j)) => (a, m, i) == (b, n, j),
            (Code::Unary(f, a), Code::Unary(g, b)) => (f, a) == (g, b),
            (Code::Binary(f, a, b, _), Code::Binary(g, c, d, _)) => (f, a, b) == (g, c, d),
            _ => false,
        }
    }
}

impl Trace {
    /// Notes a computed index; gives the position if it is in range.
    #[inline]
    pub(crate) fn index(&mut self, index: i64, length: usize) -> Option<usize> {
        let position = usize::try_from(index).ok().filter(|&position| position < length);
        let digit = position.map_or(0, |position| position as u64 + 1);
        self.out_of_range += u64::from(position.is_none());
        // Compilation has checked that the digits of one instruction fit.
        self.key = self.key * (length as u64 + 1) + digit;
        position
    }
}

impl Code {
    /// Calls `visit` with the number of elements for every array element, in the order of evaluation.
    pub(super) fn for_each_array(&self, visit: &mut impl FnMut(usize)) {
        match self {
            Code::Constant(_) | Code::Slot(_) => {}
            Code::Element(_, length, index) => {
                index.for_each_array(visit);
                visit(*length);
            }
            Code::Unary(_, operand) => operand.for_each_array(visit),
            Code::Binary(_, left, right, _) => {
                left.for_each_array(visit);
                right.for_each_array(visit);
            }
        }
    }

    /// Calls `visit` for every comparison of a slot with a constant, for equality.
    pub(crate) fn for_each_comparison(&self, visit: &mut impl FnMut(Slot, i64)) {
        match self {
            Code::Constant(_) | Code::Slot(_) => {}
            Code::Element(_, _, operand) | Code::Unary(_, operand) => operand.for_each_comparison(visit),
            Code::Binary(operator, left, right, _) => {
                if let (BinaryOperator::Equal, Code::Slot(slot), Code::Constant(value)) = (operator, &**left, &**right)
                {
                    visit(*slot, *value);
                }
                left.for_each_comparison(visit);
                right.for_each_comparison(visit);
            }
        }
    }

    /// Calls `visit` for every slot that may be read.
    pub(crate) fn for_each_slot(&self, visit: &mut impl FnMut(Slot)) {
        match self {
            Code::Constant(_) => {}
            Code::Slot(slot) => visit(*slot),
            Code::Element(base, length, index) => {
                elements(*base, *length, index).for_each(&mut *visit);
                index.for_each_slot(visit);
            }
            Code::Unary(_, operand) => operand.for_each_slot(visit),
            Code::Binary(_, left, right, _) => {
                left.for_each_slot(visit);
                right.for_each_slot(visit);
            }
        }
    }

    /// The value in this state.
    ///
    /// # Errors
    /// If an operation has no result.
    #[inline]
    pub fn evaluate(&self, values: &Values, trace: &mut Trace) -> Result<i64, Fault> {
        self.value(values, trace).map_err(|fault| *fault)
    }

    /// The value; a fault is boxed, so that the result of every part fits into two registers.
    #[inline]
    fn value(&self, values: &Values, trace: &mut Trace) -> Result<i64, Box<Fault>> {
        // Most parts of expressions are these; they are evaluated without a call.
        match self {
            Code::Constant(value) => Ok(*value),
            Code::Slot(slot) => Ok(values[slot.index()]),
            compound => compound.compute(values, trace),
        }
    }

    fn compute(&self, values: &Values, trace: &mut Trace) -> Result<i64, Box<Fault>> {
        match self {
            Code::Constant(value) => Ok(*value),
            Code::Slot(slot) => Ok(values[slot.index()]),
            Code::Element(base, length, index) => {
                let index = index.value(values, trace)?;
                Ok(trace.index(index, *length).map_or(0, |position| values[base.index() + position]))
            }
            Code::Unary(operator, operand) => {
                let value = operand.value(values, trace)?;
                apply_unary(*operator, value).map_err(|kind| Box::new(Fault { kind, span: Span::default() }))
            }
            Code::Binary(operator, left, right, span) => {
                let (left, right) = (left.value(values, trace)?, right.value(values, trace)?);
                apply(*operator, left, right).map_err(|kind| Box::new(Fault { kind, span: *span }))
            }
        }
    }
}

/// The slots of an element: one if its index is a constant, none if that is out of range, else all.
pub(super) fn elements(base: Slot, length: usize, index: &Code) -> impl Iterator<Item = Slot> + use<> {
    match index {
        Code::Constant(index) => match usize::try_from(*index).ok().filter(|&position| position < length) {
            Some(position) => base.plus(position).run(1),
            None => base.run(0),
        },
        _ => base.run(length),
    }
}
