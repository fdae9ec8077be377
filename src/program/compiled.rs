//! The compiled form: every variable element has a slot, every expression is a tree over slots, evaluated without
//! allocation.
//!
//! Evaluating an instruction also gives its *key*: the digits of all computed indices, in the order of evaluation;
//! constants in range are not computed. Instruction, verdict (taken or refused) and key together decide which
//! accesses were made, so they stand for the label; [`labels`](super::labels) builds it when it is first needed.

use fixedbitset::FixedBitSet;

use super::arithmetic::{apply, apply_unary};
use super::{Assignment, BinaryOperator, Expression, Program, Reference, Scope, Span, Thread, UnaryOperator};
use crate::ids::{ControlAt, InstrAt, Slot, ThreadAt};

/// The values of all variables, by slot.
pub type Values = [i64];

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

/// Where a value is written.
#[derive(Clone, Debug)]
pub enum Target {
    /// Into a slot.
    Slot(Slot),
    /// Into an element of an array: first slot, number of elements, index.
    Element(Slot, usize, Code),
}

/// An instruction over slots.
#[derive(Clone, Debug)]
pub struct Step {
    /// Its position in the thread.
    pub instruction: InstrAt,
    /// The control state that it leads to.
    pub to: ControlAt,
    /// The conditions of the instructions that come first: it is taken only if none of them holds.
    pub outranked: Vec<Code>,
    /// Its own condition.
    pub condition: Option<Code>,
    /// What it does.
    pub assignments: Vec<(Target, Code)>,
    computes_index: bool,
    /// The slots that it may write.
    writes: FixedBitSet,
}

/// A thread over slots.
#[derive(Clone, Debug)]
pub struct CompiledThread {
    /// The steps from each control state, in the order of the source.
    pub steps: Vec<Vec<Step>>,
    /// Where it starts.
    pub initial: ControlAt,
    /// The slots that the steps from each control state may read.
    reads: Vec<FixedBitSet>,
}

/// A program over slots.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The threads, by position.
    pub threads: Vec<CompiledThread>,
    /// The values at the start, by slot.
    pub initial: Vec<i64>,
    /// Which slots hold Booleans.
    pub is_boolean: Vec<bool>,
    /// Slots with the same number are alike: elements of one array, locals of one name in several threads. Their
    /// values have similar ranges.
    pub kinds: Vec<usize>,
}

/// Why a program cannot be compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManyIndices {
    /// The instruction.
    pub span: Span,
}

/// The slots of a program's variables.
pub(crate) struct Slots<'p> {
    program: &'p Program,
    shared: Vec<(Slot, usize)>,
    locals: Vec<Vec<(Slot, usize)>>,
}

impl<'p> Slots<'p> {
    pub(crate) fn of(program: &'p Program) -> Slots<'p> {
        let mut next = 0;
        let mut place = |length: usize| {
            next += length;
            (Slot::new(next - length), length)
        };
        Slots {
            program,
            shared: program.shared.iter().map(|variable| place(variable.initial.len())).collect(),
            locals: program
                .threads
                .iter()
                .map(|thread| thread.locals.iter().map(|variable| place(variable.initial.len())).collect())
                .collect(),
        }
    }

    /// First slot and number of elements.
    pub(super) fn place(&self, thread: ThreadAt, reference: &Reference) -> (Slot, usize) {
        match reference.scope {
            Scope::Shared => self.shared[reference.variable],
            Scope::Local => self.locals[thread.index()][reference.variable],
        }
    }

    /// The position of an element whose index is a constant in range: it is as good as a variable, and no part of the
    /// key.
    pub(super) fn constant_index(&self, thread: ThreadAt, reference: &Reference) -> Option<usize> {
        reference.constant_index(self.program, thread)
    }

    pub(crate) fn code(&self, thread: ThreadAt, expression: &Expression) -> Code {
        let code = |inner: &Expression| Box::new(self.code(thread, inner));
        match expression {
            Expression::Constant(value) => Code::Constant(*value),
            Expression::Read(reference) => match &reference.index {
                None => Code::Slot(self.place(thread, reference).0),
                Some(index) => {
                    let (base, length) = self.place(thread, reference);
                    match self.constant_index(thread, reference) {
                        Some(position) => Code::Slot(base.plus(position)),
                        None => Code::Element(base, length, code(index)),
                    }
                }
            },
            Expression::Unary(operator, operand) => Code::Unary(*operator, code(operand)),
            Expression::Binary(operator, left, right, span) => Code::Binary(*operator, code(left), code(right), *span),
        }
    }

    fn assignment(&self, thread: ThreadAt, assignment: &Assignment) -> (Target, Code) {
        let (base, length) = self.place(thread, &assignment.target);
        let target = match (&assignment.target.index, self.constant_index(thread, &assignment.target)) {
            (None, _) => Target::Slot(base),
            (Some(_), Some(position)) => Target::Slot(base.plus(position)),
            (Some(index), None) => Target::Element(base, length, self.code(thread, index)),
        };
        let value = self.code(thread, &assignment.value);
        let variable = assignment.target.variable(self.program, thread);
        let value = match variable.modulus {
            Some(modulus) => {
                let modulus = Box::new(Code::Constant(modulus));
                Code::Binary(BinaryOperator::Modulo, Box::new(value), modulus, assignment.target.span)
            }
            None => value,
        };
        (target, value)
    }
}

impl Compiled {
    /// A thread.
    #[inline]
    #[must_use]
    pub fn thread(&self, thread: ThreadAt) -> &CompiledThread {
        &self.threads[thread.index()]
    }

    /// Compiles a program.
    ///
    /// # Errors
    /// If the computed indices of one instruction have more combinations than 64 bits can number.
    pub fn new(program: &Program) -> Result<Compiled, TooManyIndices> {
        let slots = Slots::of(program);
        let mut threads = Vec::new();
        for (position, thread) in program.threads_at() {
            let mut steps: Vec<Vec<Step>> = vec![Vec::new(); thread.states.len()];
            for (number, instruction) in thread.instructions_at() {
                let outranked: Vec<Code> =
                    outranked(thread, number).map(|condition| slots.code(position, &condition)).collect();
                let assignments: Vec<(Target, Code)> =
                    instruction.assignments.iter().map(|a| slots.assignment(position, a)).collect();
                let step = Step {
                    instruction: number,
                    to: instruction.to,
                    outranked,
                    condition: instruction.condition.as_ref().map(|condition| slots.code(position, condition)),
                    computes_index: assignments.iter().any(|(target, value)| {
                        let mut found = matches!(target, Target::Element(..));
                        value.for_each_array(&mut |_| found = true);
                        found
                    }),
                    writes: assignments.iter().flat_map(|(target, _)| target.slots()).map(Slot::index).collect(),
                    assignments,
                };
                if step.num_of_keys().is_none() {
                    return Err(TooManyIndices { span: instruction.span });
                }
                steps[instruction.from.index()].push(step);
            }
            let reads = |steps: &Vec<Step>| steps.iter().flat_map(Step::reads).map(Slot::index).collect();
            let reads = steps.iter().map(reads).collect();
            threads.push(CompiledThread { steps, initial: thread.initial, reads });
        }
        let variables = || program.shared.iter().chain(program.threads.iter().flat_map(|thread| &thread.locals));
        Ok(Compiled {
            threads,
            initial: variables().flat_map(|variable| variable.initial.iter().copied()).collect(),
            is_boolean: variables()
                .flat_map(|variable| variable.initial.iter().map(|_| variable.ty == super::Type::Boolean))
                .collect(),
            kinds: kinds(program),
        })
    }
}

/// Which slots are alike; see [`Compiled::kinds`].
fn kinds(program: &Program) -> Vec<usize> {
    let mut kinds = Vec::new();
    let mut known: Vec<(&str, super::Type)> = Vec::new();
    for (kind, variable) in program.shared.iter().enumerate() {
        kinds.extend(variable.initial.iter().map(|_| kind));
    }
    for variable in program.threads.iter().flat_map(|thread| &thread.locals) {
        let own = (variable.name.as_str(), variable.ty);
        let kind = known.iter().position(|other| *other == own).unwrap_or_else(|| {
            known.push(own);
            known.len() - 1
        });
        kinds.extend(variable.initial.iter().map(|_| program.shared.len() + kind));
    }
    kinds
}

/// The conditions that must not hold for an instruction to be taken, in the order of the source: those of the
/// instructions from the same control state with a smaller priority number.
pub(crate) fn outranked(thread: &Thread, number: InstrAt) -> impl Iterator<Item = Expression> + '_ {
    let own = thread.instruction(number);
    thread
        .instructions
        .iter()
        .filter(|other| other.from == own.from && other.priority < own.priority)
        .map(|other| other.condition.clone().unwrap_or(Expression::Constant(1)))
}

impl CompiledThread {
    /// The slots that the steps from a control state may read.
    #[must_use]
    pub fn reads(&self, control: ControlAt) -> &FixedBitSet {
        &self.reads[control.index()]
    }

    /// The steps from a control state, in the order of the source.
    #[inline]
    #[must_use]
    pub fn steps_from(&self, control: ControlAt) -> &[Step] {
        &self.steps[control.index()]
    }

    /// The step of an instruction, if the thread has it.
    #[must_use]
    pub fn step_of(&self, instruction: InstrAt) -> Option<&Step> {
        self.steps.iter().flatten().find(|step| step.instruction == instruction)
    }
}

impl Target {
    fn slots(&self) -> impl Iterator<Item = Slot> + use<> {
        match self {
            Target::Slot(slot) => elements(*slot, 1, &Code::Constant(0)),
            Target::Element(base, length, index) => elements(*base, *length, index),
        }
    }
}

/// The slots of an element: one if its index is a constant, none if that is out of range, else all.
fn elements(base: Slot, length: usize, index: &Code) -> impl Iterator<Item = Slot> + use<> {
    match index {
        Code::Constant(index) => match usize::try_from(*index).ok().filter(|&position| position < length) {
            Some(position) => base.plus(position).run(1),
            None => base.run(0),
        },
        _ => base.run(length),
    }
}

impl Step {
    /// Whether it may write one of these slots.
    #[inline]
    #[must_use]
    pub fn may_change(&self, slots: &FixedBitSet) -> bool {
        !self.writes.is_disjoint(slots)
    }

    /// The slots that it may read or write.
    pub(crate) fn accesses(&self) -> impl Iterator<Item = Slot> {
        self.reads().into_iter().chain(self.writes.ones().map(Slot::new))
    }

    /// The slots that it may read.
    pub(crate) fn reads(&self) -> Vec<Slot> {
        let mut slots = Vec::new();
        let mut add = |code: &Code| code.for_each_slot(&mut |slot| slots.push(slot));
        self.outranked.iter().chain(&self.condition).for_each(&mut add);
        for (target, value) in &self.assignments {
            add(value);
            if let Target::Element(_, _, index) = target {
                add(index);
            }
        }
        slots
    }

    /// Whether the step is taken in this state.
    ///
    /// # Errors
    /// If the evaluation of a condition goes wrong.
    #[inline]
    pub fn is_enabled(&self, values: &Values, trace: &mut Trace) -> Result<bool, Fault> {
        let mut enabled = true;
        for condition in &self.outranked {
            enabled &= condition.evaluate(values, trace)? == 0;
        }
        if let Some(condition) = &self.condition {
            enabled &= condition.evaluate(values, trace)? != 0;
        }
        Ok(enabled)
    }

    /// Performs the assignments.
    ///
    /// # Errors
    /// If the evaluation of a value or an index goes wrong.
    #[inline]
    pub fn execute(&self, values: &mut Values, trace: &mut Trace) -> Result<(), Fault> {
        for (target, value) in &self.assignments {
            let value = value.evaluate(values, trace)?;
            match target {
                Target::Slot(slot) => {
                    values[slot.index()] = value;
                    trace.writes += 1;
                }
                Target::Element(base, length, index) => {
                    let index = index.evaluate(values, trace)?;
                    if let Some(position) = trace.index(index, *length) {
                        values[base.index() + position] = value;
                        trace.writes += 1;
                    }
                }
            }
        }
        Ok(())
    }

    /// Whether it has a condition: its own, or one that it outranks.
    #[must_use]
    pub fn has_condition(&self) -> bool {
        self.condition.is_some() || !self.outranked.is_empty()
    }

    /// Whether one of its assignments computes an index.
    #[must_use]
    pub fn has_computed_index(&self) -> bool {
        self.computes_index
    }

    /// How many keys the step can have; nothing if more than 64 bits can number.
    fn num_of_keys(&self) -> Option<u64> {
        let mut keys = Some(1_u64);
        let mut radix = |length: usize| keys = keys.and_then(|keys| keys.checked_mul(length as u64 + 1));
        for code in self.outranked.iter().chain(&self.condition) {
            code.for_each_array(&mut radix);
        }
        for (target, value) in &self.assignments {
            value.for_each_array(&mut radix);
            if let Target::Element(_, length, index) = target {
                index.for_each_array(&mut radix);
                radix(*length);
            }
        }
        keys
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
    fn for_each_array(&self, visit: &mut impl FnMut(usize)) {
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
