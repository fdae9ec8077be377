//! What is known of a program of single accesses before it runs: what its instructions are to the pattern, and what a
//! thread can read without leaving it.
//!
//! The *region* of a control state is all that a thread can do from it by reads and local steps alone. A write can
//! begin the pattern only if the region behind it reads something; and of the state after it, only the slots that the
//! region reads decide what the thread will read.

use super::values::written;
use crate::budget::Budget;
use crate::outline::Outline;
use crate::program::compiled::{Code, Compiled, Step, Target};
use crate::program::single_access::SingleAccess;
use crate::program::{Expression, Instruction, InstructionKind, Program, Reference, Scope};
use fixedbitset::FixedBitSet;
use std::collections::BTreeSet;
use std::ops::Range;

/// Values below this are told apart even if the program does not name them.
const SMALL: i64 = 8;

/// What an instruction is to the pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// A write: its assignment at this position goes to a shared location.
    Write(usize),
    /// A fence or an atomic instruction: the buffer is empty behind it.
    Barrier,
    /// A read or a local step.
    Harmless,
}

/// What a thread can do from a control state by harmless steps alone.
#[derive(Clone, Debug)]
pub(super) struct Region {
    /// The shared slots that it may read.
    pub reads: FixedBitSet,
    /// All slots that decide what it does.
    pub decides: Vec<usize>,
}

/// A program of single accesses with what is known of it.
pub(super) struct Machine<'p> {
    pub single: &'p SingleAccess,
    /// The outline of the program as it is written.
    pub outline: &'p Outline,
    pub compiled: &'p Compiled,
    /// What searches over it may use that have no states to count.
    pub budget: Budget,
    /// The number of shared slots; they come first.
    pub shared: usize,
    /// The slots of the locals of each thread.
    pub locals: Vec<Range<usize>>,
    /// For each thread and instruction.
    pub roles: Vec<Vec<Role>>,
    /// For each thread and control state.
    pub regions: Vec<Vec<Region>>,
    /// The values that abstractions tell apart: those that the program names, their neighbours, and the first few.
    pub distinguished: BTreeSet<i64>,
    /// For each thread and instruction.
    writes: Vec<Vec<Vec<usize>>>,
    /// For each thread and instruction, whether it is an atomic instruction that looks at other locations than the
    /// one that it writes.
    mixes: Vec<Vec<bool>>,
}

impl<'p> Machine<'p> {
    pub(super) fn new(
        (single, outline): (&'p SingleAccess, &'p Outline),
        compiled: &'p Compiled,
        budget: &Budget,
    ) -> Machine<'p> {
        let program = &single.program;
        let shared = program.shared.iter().map(|variable| variable.initial.len()).sum();
        let mut next = shared;
        let locals = program.threads.iter().map(|thread| {
            let first = next;
            next += thread.locals.iter().map(|variable| variable.initial.len()).sum::<usize>();
            first..next
        });
        let locals = locals.collect();
        let roles = (0..program.threads.len()).map(|thread| roles(program, compiled, thread, shared)).collect();
        let mut machine = Machine {
            single,
            outline,
            compiled,
            budget: budget.clone(),
            shared,
            locals,
            roles,
            regions: Vec::new(),
            distinguished: constants(compiled).into_iter().chain(0..SMALL).collect(),
            writes: Vec::new(),
            mixes: Vec::new(),
        };
        machine.regions = (0..program.threads.len()).map(|thread| machine.regions_of(thread)).collect();
        let writes = (0..program.threads.len()).map(|thread| {
            let instructions = 0..program.threads[thread].instructions.len();
            instructions.map(|number| machine.writes_of(thread, machine.step(thread, number))).collect()
        });
        machine.writes = writes.collect();
        let mixes = program.threads.iter().enumerate().map(|(thread, own)| {
            let is_outranked = |number: usize| !machine.step(thread, number).outranked.is_empty();
            let instructions = own.instructions.iter().enumerate();
            instructions.map(|(number, known)| mixes(known) || known.is_atomic() && is_outranked(number)).collect()
        });
        machine.mixes = mixes.collect();
        machine
    }

    /// The step of an instruction.
    pub(super) fn step(&self, thread: usize, instruction: usize) -> &'p Step {
        let from = self.single.program.threads[thread].instructions[instruction].from;
        let steps = &self.compiled.threads[thread].steps[from];
        steps.iter().find(|step| step.instruction == instruction).expect("every instruction has a step")
    }

    /// The steps from a control state.
    pub(super) fn steps(&self, thread: usize, control: usize) -> &'p [Step] {
        &self.compiled.threads[thread].steps[control]
    }

    /// All that some thread reads or updates atomically: the shared slots that its steps may read.
    pub(super) fn read_by(&self, thread: usize) -> FixedBitSet {
        let mut read = FixedBitSet::with_capacity(self.shared);
        for step in self.compiled.threads[thread].steps.iter().flatten() {
            read.extend(step.reads().into_iter().filter(|&slot| slot < self.shared));
        }
        read
    }

    /// The shared slots that a step may write.
    pub(super) fn may_write(&self, thread: usize, step: &Step) -> &[usize] {
        &self.writes[thread][step.instruction]
    }

    /// The shared slots that an atomic instruction may write if that depends on other locations: the pattern cannot
    /// ask for its effect before the pivot has moved, because it may see what the pivot has written before, or, on
    /// TSO, not see it. So all that it may write counts as about to be changed wherever it can be tried: fences may
    /// be too many, never too few.
    pub(super) fn may_change(&self, thread: usize, instruction: usize) -> &[usize] {
        if self.mixes[thread][instruction] { &self.writes[thread][instruction] } else { &[] }
    }

    fn writes_of(&self, thread: usize, step: &Step) -> Vec<usize> {
        if self.roles[thread][step.instruction] == Role::Harmless {
            return Vec::new();
        }
        let nothing = vec![None; self.compiled.initial.len()];
        let slots = step.assignments.iter().flat_map(|(target, _)| written(target, &nothing).slots);
        slots.filter(|&slot| slot < self.shared).collect()
    }

    /// The shared slots that other threads may write.
    pub(super) fn written_by_others(&self, pivot: usize) -> FixedBitSet {
        let mut written = FixedBitSet::with_capacity(self.shared);
        for (thread, others) in self.compiled.threads.iter().enumerate().filter(|&(thread, _)| thread != pivot) {
            written.extend(others.steps.iter().flatten().flat_map(|step| self.may_write(thread, step).iter().copied()));
        }
        written
    }

    /// Whether some write of the thread is followed by a read of another location that another thread may write.
    pub(super) fn can_be_pivot(&self, pivot: usize) -> bool {
        let by_others = self.written_by_others(pivot);
        self.compiled.threads[pivot].steps.iter().flatten().any(|step| {
            let Role::Write(_) = self.roles[pivot][step.instruction] else { return false };
            let own = self.may_write(pivot, step);
            let is_other = |slot: usize| own.len() > 1 || own.first() != Some(&slot);
            self.regions[pivot][step.to].reads.ones().any(|slot| by_others.contains(slot) && is_other(slot))
        })
    }

    /// Whether some thread can be the pivot.
    pub(super) fn has_pivot(&self) -> bool {
        (0..self.locals.len()).any(|thread| self.can_be_pivot(thread))
    }

    fn regions_of(&self, thread: usize) -> Vec<Region> {
        let slots = self.compiled.initial.len();
        let steps = &self.compiled.threads[thread].steps;
        let mut decides = vec![FixedBitSet::with_capacity(slots); steps.len()];
        let mut changed = true;
        while changed {
            changed = false;
            for (control, steps) in steps.iter().enumerate() {
                let mut more = decides[control].clone();
                for step in steps {
                    let role = self.roles[thread][step.instruction];
                    if role != Role::Barrier {
                        more.extend(step.reads());
                    }
                    if may_pass(step, role) {
                        more.union_with(&decides[step.to]);
                    }
                }
                changed |= more != decides[control];
                decides[control] = more;
            }
        }
        let region = |decides: FixedBitSet| Region {
            reads: decides.ones().filter(|&slot| slot < self.shared).collect(),
            decides: decides.ones().collect(),
        };
        decides.into_iter().map(region).collect()
    }
}

/// The constants of the program and their neighbours.
fn constants(compiled: &Compiled) -> Vec<i64> {
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
    constants.iter().flat_map(|&value| [value.saturating_sub(1), value, value.saturating_add(1)]).collect()
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

/// Whether the pattern may go on behind a step; a write whose index is out of range writes nothing.
fn may_pass(step: &Step, role: Role) -> bool {
    match role {
        Role::Barrier => false,
        Role::Harmless => true,
        Role::Write(position) => match &step.assignments[position].0 {
            Target::Slot(_) => false,
            Target::Element(_, length, Code::Constant(index)) => !(0..*length as i64).contains(index),
            Target::Element(..) => true,
        },
    }
}

/// Whether an atomic instruction writes, and accesses more than one location that its text can tell.
fn mixes(instruction: &Instruction) -> bool {
    let targets = || instruction.assignments.iter().map(|assignment| &assignment.target);
    let assigned = |variable: usize| targets().any(|known| known.scope == Scope::Local && known.variable == variable);
    // The variable, and its index: a constant, or a register that the instruction leaves alone.
    let location = |reference: &Reference| match reference.index.as_deref() {
        None => Some((reference.variable, None, None)),
        Some(&Expression::Constant(index)) => Some((reference.variable, Some(index), None)),
        Some(Expression::Read(index)) if index.scope == Scope::Local && index.index.is_none() => {
            (!assigned(index.variable)).then_some((reference.variable, None, Some(index.variable)))
        }
        Some(_) => None,
    };
    let is_shared = |reference: &&Reference| reference.scope == Scope::Shared;
    let Some(written) = targets().find(is_shared).map(location) else { return false };
    let mut accessed: Vec<&Reference> = targets().filter(is_shared).collect();
    instruction.condition.iter().for_each(|condition| shared_reads(condition, &mut accessed));
    for assignment in &instruction.assignments {
        shared_reads(&assignment.value, &mut accessed);
        assignment.target.index.iter().for_each(|index| shared_reads(index, &mut accessed));
    }
    instruction.is_atomic() && (written.is_none() || accessed.into_iter().any(|known| location(known) != written))
}

fn shared_reads<'e>(expression: &'e Expression, reads: &mut Vec<&'e Reference>) {
    match expression {
        Expression::Constant(_) => {}
        Expression::Read(reference) => {
            if reference.scope == Scope::Shared {
                reads.push(reference);
            }
            reference.index.iter().for_each(|index| shared_reads(index, reads));
        }
        Expression::Unary(_, operand) => shared_reads(operand, reads),
        Expression::Binary(_, left, right, _) => {
            shared_reads(left, reads);
            shared_reads(right, reads);
        }
    }
}

fn roles(program: &Program, compiled: &Compiled, thread: usize, shared: usize) -> Vec<Role> {
    let mut roles = vec![Role::Harmless; program.threads[thread].instructions.len()];
    for step in compiled.threads[thread].steps.iter().flatten() {
        let is_shared = |(target, _): &(Target, Code)| match target {
            Target::Slot(slot) => *slot < shared,
            Target::Element(base, ..) => *base < shared,
        };
        roles[step.instruction] = match program.threads[thread].instructions[step.instruction].kind {
            InstructionKind::Atomic | InstructionKind::Fence => Role::Barrier,
            // On TSO a partial fence does nothing: what it orders is ordered.
            InstructionKind::Plain | InstructionKind::PartialFence(_) => {
                step.assignments.iter().position(is_shared).map_or(Role::Harmless, Role::Write)
            }
        };
    }
    roles
}
