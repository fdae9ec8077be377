//! The compiled form: every variable element has a slot, every expression is a tree over slots, evaluated without
//! allocation.
//!
//! Evaluating an instruction also gives its *key*: the digits of all computed indices, in the order of evaluation;
//! constants in range are not computed. Instruction, verdict (taken or refused) and key together decide which
//! accesses were made, so they stand for the label; [`labels`](super::labels) builds it when it is first needed.

mod code;

pub use code::{Code, Fault, FaultKind, Trace};

use super::{Assignment, BinaryOperator, Expression, Program, Reference, Scope, Span, Thread};
use crate::ids::{ControlAt, InstrAt, Slot, ThreadAt};
use code::elements;
use fixedbitset::FixedBitSet;

/// The values of all variables, by slot.
pub type Values = [i64];

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
    /// How many slots are shared: the first ones.
    pub shared: usize,
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
            shared: program.shared.iter().map(|variable| variable.initial.len()).sum(),
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
