//! How an instruction becomes operations: expressions are evaluated in the order of the text, every shared read goes to
//! a slot of its own, and each operation notes those that it needs ([`split`](super::split)).

use super::split::{Cell, Operation, SplitStep, SplitThread, TooLong, bit};
use crate::ids::{InstrAt, LocationAt, Slot, ThreadAt};
use crate::program::compiled::{Code, outranked};
use crate::program::{BinaryOperator, Expression, Program, Reference, Scope};

/// Splits the instructions of a thread; shared variables begin at these locations.
///
/// # Errors
/// If an instruction has more than 64 operations.
pub(super) fn split_thread(program: &Program, thread: ThreadAt, shared: &[LocationAt]) -> Result<SplitThread, TooLong> {
    let own = program.thread(thread);
    let mut locals = Vec::new();
    let mut bases = Vec::new();
    for variable in &own.locals {
        bases.push(Slot::new(locals.len()));
        locals.extend(&variable.initial);
    }
    let mut steps = vec![Vec::new(); own.states.len()];
    for (number, instruction) in own.instructions_at() {
        let mut splitter = Splitter {
            program,
            thread,
            shared,
            versions: bases.clone(),
            operations: Vec::new(),
            needs: Vec::new(),
            addresses: Vec::new(),
            producers: vec![None; locals.len()],
            decision: 0,
            indices: Vec::new(),
        };
        splitter.condition(number);
        let condition_indices = splitter.indices.len();
        for assignment in &instruction.assignments {
            splitter.assignment(&assignment.target, &assignment.value);
        }
        if splitter.operations.len() > 64 {
            return Err(TooLong { span: instruction.span });
        }
        let results = own.locals.iter().enumerate().flat_map(|(variable, declared)| {
            let (old, new) = (bases[variable], splitter.versions[variable]);
            old.run(declared.initial.len()).zip(new.run(declared.initial.len())).filter(|(old, new)| old != new)
        });
        steps[instruction.from.index()].push(SplitStep {
            instruction: number,
            to: instruction.to,
            kind: instruction.kind,
            drained: false,
            ordered: false,
            inside: Vec::new(),
            results: results.collect(),
            frame: splitter.producers.len(),
            operations: splitter.operations,
            before: closed(&splitter.needs),
            needs: splitter.needs,
            addresses: splitter.addresses,
            indices: splitter.indices,
            condition_indices,
        });
    }
    Ok(SplitThread { initial: own.initial, locals, steps, controls: own.states.len() })
}

struct Splitter<'p> {
    program: &'p Program,
    thread: ThreadAt,
    shared: &'p [LocationAt],
    /// Where the newest value of each local is: its first slot.
    versions: Vec<Slot>,
    operations: Vec<Operation>,
    needs: Vec<u64>,
    addresses: Vec<u64>,
    /// For each slot of the frame, the operation that fills it.
    producers: Vec<Option<usize>>,
    /// The operation that decides whether the instruction is taken, as a bit: what comes later needs it.
    decision: u64,
    /// The indices computed so far.
    indices: Vec<(Code, usize)>,
}

impl Splitter<'_> {
    fn condition(&mut self, number: InstrAt) {
        let thread = self.program.thread(self.thread);
        let outranked: Vec<Code> = outranked(thread, number).map(|c| self.expression(&c)).collect();
        let own = thread.instruction(number).condition.as_ref().map(|condition| self.expression(condition));
        if outranked.is_empty() && own.is_none() {
            return;
        }
        let needs = outranked.iter().chain(&own).fold(0, |needs, code| needs | self.producers_of(code));
        let decision = self.push(Operation::Decide(outranked, own), needs);
        self.decision = bit(decision);
    }

    fn assignment(&mut self, target: &Reference, value: &Expression) {
        let value = self.expression(value);
        let variable = target.variable(self.program, self.thread);
        let (length, modulus) = (variable.initial.len(), variable.modulus);
        let value = match modulus {
            Some(modulus) => {
                let modulus = Box::new(Code::Constant(modulus));
                Code::Binary(BinaryOperator::Modulo, Box::new(value), modulus, target.span)
            }
            None => value,
        };
        let index = self.index(target);
        let index_needs = index.as_ref().map_or(0, |index| self.producers_of(index));
        match (target.scope, index) {
            (Scope::Shared, index) => {
                let slot = self.compute(value);
                let needs = index_needs | self.producers_of(&Code::Slot(slot));
                let cell = Cell { base: self.shared[target.variable], length, index };
                self.push(Operation::Write(cell, slot), needs);
            }
            (Scope::Local, None) => self.versions[target.variable] = self.compute(value),
            (Scope::Local, Some(index)) => {
                let old = self.versions[target.variable];
                let old_needs = old.run(length).fold(0, |needs, slot| needs | self.producers_of(&Code::Slot(slot)));
                let needs = index_needs | old_needs | self.producers_of(&value);
                let new = self.next_slot();
                let operation = self.push(Operation::Update { old, new, length, index, value }, needs);
                self.producers.extend(vec![Some(operation); length]);
                self.versions[target.variable] = new;
            }
        }
    }

    /// The slot of the next value that the frame gets.
    fn next_slot(&self) -> Slot {
        Slot::new(self.producers.len())
    }

    fn compute(&mut self, value: Code) -> Slot {
        let needs = self.producers_of(&value);
        let slot = self.next_slot();
        let operation = self.push(Operation::Compute(value, slot), needs);
        self.producers.push(Some(operation));
        slot
    }

    /// The expression over the frame; its shared reads become operations.
    fn expression(&mut self, expression: &Expression) -> Code {
        match expression {
            Expression::Constant(value) => Code::Constant(*value),
            Expression::Unary(operator, operand) => Code::Unary(*operator, Box::new(self.expression(operand))),
            Expression::Binary(operator, left, right, span) => {
                let (left, right) = (self.expression(left), self.expression(right));
                Code::Binary(*operator, Box::new(left), Box::new(right), *span)
            }
            Expression::Read(reference) => {
                let length = reference.variable(self.program, self.thread).initial.len();
                let index = self.index(reference);
                match (reference.scope, index) {
                    (Scope::Local, None) => Code::Slot(self.versions[reference.variable]),
                    (Scope::Local, Some(index)) => {
                        Code::Element(self.versions[reference.variable], length, Box::new(index))
                    }
                    (Scope::Shared, index) => {
                        let needs = index.as_ref().map_or(0, |index| self.producers_of(index));
                        let slot = self.next_slot();
                        let cell = Cell { base: self.shared[reference.variable], length, index };
                        let operation = self.push(Operation::Read(cell, slot), needs);
                        self.producers.push(Some(operation));
                        Code::Slot(slot)
                    }
                }
            }
        }
    }

    /// The index of an element over the frame; what is not a constant in range is noted as computed.
    fn index(&mut self, reference: &Reference) -> Option<Code> {
        let index = reference.index.as_ref().map(|index| self.expression(index))?;
        if reference.constant_index(self.program, self.thread).is_none() {
            let length = reference.variable(self.program, self.thread).initial.len();
            self.indices.push((index.clone(), length));
        }
        Some(index)
    }

    fn push(&mut self, operation: Operation, needs: u64) -> usize {
        let index = match &operation {
            Operation::Read(cell, _) | Operation::Write(cell, _) => cell.index.as_ref(),
            _ => None,
        };
        self.addresses.push(index.map_or(0, |index| self.producers_of(index)));
        self.operations.push(operation);
        self.needs.push(needs | self.decision);
        self.operations.len() - 1
    }

    fn producers_of(&self, code: &Code) -> u64 {
        let mut needs = 0;
        code.for_each_slot(&mut |slot| needs |= self.producers[slot.index()].map_or(0, bit));
        needs
    }
}

/// What each operation needs, directly or not: operations need earlier ones only.
fn closed(needs: &[u64]) -> Vec<u64> {
    let mut before: Vec<u64> = Vec::with_capacity(needs.len());
    for &needed in needs {
        let earlier = (0..before.len()).filter(|&earlier| needed & bit(earlier) != 0);
        let all = earlier.fold(needed, |all, earlier| all | before[earlier]);
        before.push(all);
    }
    before
}
