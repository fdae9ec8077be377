//! From an instruction's verdict and key to its label.
//!
//! The key has the digits of all computed indices in the order of evaluation ([`Trace`](super::compiled::Trace));
//! walking the instruction in the same order, each array element takes its digit and so becomes a location. An
//! element out of range makes no access, but its index was read.
//!
//! A variable is listed as often as it is mentioned: each mention of a shared one is a read of its own (`x + x` is
//! `x, x`).

use super::compiled::{Slots, outranked};
use super::{At, Expression, InstructionKind, Program, Reference, Scope};
use crate::ids::ThreadAt;
use crate::lts::label::{Access, Label, LabelKind, Step};

/// Whether an instruction was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Decision {
    /// It was taken: its condition and its assignments were evaluated.
    Taken,
    /// It was refused: only its condition was evaluated.
    Refused,
}

/// Builds the label of an instruction.
#[must_use]
pub fn label(program: &Program, at: At, verdict: Decision, key: u64) -> Label {
    let (thread, own) = (at.thread, program.instruction(at));
    let slots = Slots::of(program);
    let outranked: Vec<Expression> = outranked(program.thread(thread), at.instruction).collect();
    let mut lengths = Vec::new();
    for condition in outranked.iter().chain(&own.condition) {
        expression_lengths(&slots, thread, condition, &mut lengths);
    }
    if verdict == Decision::Taken {
        for assignment in &own.assignments {
            expression_lengths(&slots, thread, &assignment.value, &mut lengths);
            reference_lengths(&slots, thread, &assignment.target, &mut lengths);
        }
    }
    let mut builder = Builder { program, thread, slots: &slots, digits: digits(key, &lengths).into_iter() };
    let mut steps = Vec::new();
    if !outranked.is_empty() || own.condition.is_some() {
        let mut reads = Vec::new();
        for condition in outranked.iter().chain(&own.condition) {
            builder.reads(condition, &mut reads);
        }
        steps.push(Step::Condition { reads });
    }
    if verdict == Decision::Taken {
        for assignment in &own.assignments {
            let mut reads = Vec::new();
            builder.reads(&assignment.value, &mut reads);
            let writes = match builder.access(&assignment.target) {
                Ok(write) => vec![write],
                // Nothing is written, but the index was computed.
                Err(index) => {
                    reads.extend(index);
                    Vec::new()
                }
            };
            steps.push(Step::Assignment { writes, reads });
        }
    }
    Label {
        thread: program.thread(thread).name.clone(),
        instr: own.name.clone(),
        kind: own.kind.into(),
        refused: verdict == Decision::Refused,
        steps,
    }
}

impl From<InstructionKind> for LabelKind {
    fn from(kind: InstructionKind) -> LabelKind {
        match kind {
            InstructionKind::Plain => LabelKind::Plain,
            InstructionKind::Marked(marks) => LabelKind::Marked(marks),
            InstructionKind::Fence => LabelKind::Fence,
            InstructionKind::PartialFence(kind) => LabelKind::PartialFence(kind),
            InstructionKind::Atomic => LabelKind::Atomic,
            InstructionKind::Rmw(marks) => LabelKind::Rmw(marks),
        }
    }
}

/// The digits of a key, the first one first.
fn digits(mut key: u64, lengths: &[usize]) -> Vec<u64> {
    let mut digits: Vec<u64> = lengths
        .iter()
        .rev()
        .map(|&length| {
            let radix = length as u64 + 1;
            let digit = key % radix;
            key /= radix;
            digit
        })
        .collect();
    digits.reverse();
    digits
}

fn expression_lengths(slots: &Slots<'_>, thread: ThreadAt, expression: &Expression, lengths: &mut Vec<usize>) {
    match expression {
        Expression::Constant(_) => {}
        Expression::Read(reference) => reference_lengths(slots, thread, reference, lengths),
        Expression::Unary(_, operand) => expression_lengths(slots, thread, operand, lengths),
        Expression::Binary(_, left, right, _) => {
            expression_lengths(slots, thread, left, lengths);
            expression_lengths(slots, thread, right, lengths);
        }
    }
}

fn reference_lengths(slots: &Slots<'_>, thread: ThreadAt, reference: &Reference, lengths: &mut Vec<usize>) {
    if let Some(index) = &reference.index
        && slots.constant_index(thread, reference).is_none()
    {
        expression_lengths(slots, thread, index, lengths);
        lengths.push(slots.place(thread, reference).1);
    }
}

struct Builder<'a> {
    program: &'a Program,
    thread: ThreadAt,
    slots: &'a Slots<'a>,
    digits: std::vec::IntoIter<u64>,
}

impl Builder<'_> {
    /// Adds what an expression reads.
    fn reads(&mut self, expression: &Expression, reads: &mut Vec<Access>) {
        match expression {
            Expression::Constant(_) => {}
            Expression::Read(reference) => match self.access(reference) {
                Ok(access) => reads.push(access),
                Err(index) => reads.extend(index),
            },
            Expression::Unary(_, operand) => self.reads(operand, reads),
            Expression::Binary(_, left, right, _) => {
                self.reads(left, reads);
                self.reads(right, reads);
            }
        }
    }

    /// The access to a variable or element; if the index is out of range, only what was read to compute it.
    fn access(&mut self, reference: &Reference) -> Result<Access, Vec<Access>> {
        let variable = reference.variable(self.program, self.thread);
        let local = reference.scope == Scope::Local;
        let Some(index) = &reference.index else {
            return Ok(Access { name: variable.name.clone(), local, address: Vec::new() });
        };
        if let Some(position) = self.slots.constant_index(self.thread, reference) {
            return Ok(Access { name: format!("{}[{position}]", variable.name), local, address: Vec::new() });
        }
        let mut address = Vec::new();
        self.reads(index, &mut address);
        // Digit 0 stands for an index out of range.
        match self.digits.next().and_then(|digit| digit.checked_sub(1)) {
            Some(position) => Ok(Access { name: format!("{}[{position}]", variable.name), local, address }),
            None => Err(address),
        }
    }
}
