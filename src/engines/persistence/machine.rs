//! What is known of a program of single accesses before it runs: what its instructions are to the pattern, and what a
//! thread can read without leaving it.
//!
//! The *region* of a control state is all that a thread can do from it by reads and local steps alone. A write can
//! begin the pattern only if the region behind it reads something; and of the state after it, only the slots that the
//! region reads decide what the thread will read.

use super::values::written;
use crate::budget::Budget;
use crate::ids::{ControlAt, InstrAt, LocationAt, Slot, ThreadAt};
use crate::outline::Outline;
use crate::program::compiled::{Code, Compiled, Step, Target};
use crate::program::constants::distinguished;
use crate::program::single_access::SingleAccess;
use crate::program::{At, Expression, Instruction, InstructionKind, Program, Reference, Scope};
use fixedbitset::FixedBitSet;
use std::collections::BTreeSet;
use std::ops::Range;

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
    /// The locations that it may read.
    pub reads: FixedBitSet,
    /// All slots that decide what it does.
    pub decides: Vec<Slot>,
}

/// A program of single accesses with what is known of it.
pub(super) struct Machine<'p> {
    pub single: &'p SingleAccess,
    /// The outline of the program as it is written.
    pub outline: &'p Outline,
    pub compiled: &'p Compiled,
    /// What searches over it may use that have no states to count.
    pub budget: Budget,
    /// The number of locations; their slots come first.
    pub shared: usize,
    /// Where the locals of each thread are among the values of all slots.
    locals: Vec<Range<usize>>,
    /// For each thread and instruction.
    roles: Vec<Vec<Role>>,
    /// For each thread and control state.
    regions: Vec<Vec<Region>>,
    /// The values that abstractions tell apart.
    pub distinguished: BTreeSet<i64>,
    /// For each thread and instruction.
    writes: Vec<Vec<Vec<LocationAt>>>,
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
        let shared = program.num_of_locations();
        let mut next = shared;
        let locals = program.threads.iter().map(|thread| {
            let first = next;
            next += thread.locals.iter().map(|variable| variable.initial.len()).sum::<usize>();
            first..next
        });
        let locals = locals.collect();
        let threads = ThreadAt::all(program.threads.len());
        let roles = threads.clone().map(|thread| roles(program, compiled, thread, shared)).collect();
        let mut machine = Machine {
            single,
            outline,
            compiled,
            budget: budget.clone(),
            shared,
            locals,
            roles,
            regions: Vec::new(),
            distinguished: distinguished(compiled),
            writes: Vec::new(),
            mixes: Vec::new(),
        };
        machine.regions = threads.map(|thread| machine.regions_of(thread)).collect();
        let writes = program.threads_at().map(|(thread, own)| {
            let instructions = InstrAt::all(own.instructions.len());
            instructions.map(|instruction| machine.writes_of(At { thread, instruction })).collect()
        });
        machine.writes = writes.collect();
        let mixes = program.threads_at().map(|(thread, own)| {
            let is_outranked = |instruction| !machine.step(At { thread, instruction }).outranked.is_empty();
            let instructions = own.instructions_at();
            instructions.map(|(number, known)| mixes(known) || known.is_atomic() && is_outranked(number)).collect()
        });
        machine.mixes = mixes.collect();
        machine
    }

    /// The step of an instruction.
    pub(super) fn step(&self, at: At) -> &'p Step {
        let steps = self.steps(at.thread, self.single.program.instruction(at).from);
        steps.iter().find(|step| step.instruction == at.instruction).expect("every instruction has a step")
    }

    /// The instruction of the program as it is written that one comes from.
    pub(super) fn origin(&self, at: At) -> At {
        At { instruction: self.single.origin(at).instruction, ..at }
    }

    /// The threads.
    pub(super) fn threads(&self) -> impl Iterator<Item = ThreadAt> + Clone + use<> {
        ThreadAt::all(self.locals.len())
    }

    /// The threads but for one.
    pub(super) fn others(&self, pivot: ThreadAt) -> impl Iterator<Item = ThreadAt> + use<> {
        self.threads().filter(move |&thread| thread != pivot)
    }

    /// Where the locals of a thread are among the values of all slots.
    pub(super) fn locals(&self, thread: ThreadAt) -> Range<usize> {
        self.locals[thread.index()].clone()
    }

    /// What an instruction is to the pattern.
    pub(super) fn role(&self, at: At) -> Role {
        self.roles[at.thread.index()][at.instruction.index()]
    }

    /// What a thread can do from a control state by harmless steps alone.
    pub(super) fn region(&self, thread: ThreadAt, control: ControlAt) -> &Region {
        &self.regions[thread.index()][control.index()]
    }

    /// The steps from a control state.
    pub(super) fn steps(&self, thread: ThreadAt, control: ControlAt) -> &'p [Step] {
        self.compiled.thread(thread).steps_from(control)
    }

    /// All that some thread reads or updates atomically: the locations that its steps may read.
    pub(super) fn read_by(&self, thread: ThreadAt) -> FixedBitSet {
        let mut read = FixedBitSet::with_capacity(self.shared);
        for step in self.compiled.thread(thread).steps.iter().flatten() {
            read.extend(step.reads().into_iter().filter_map(|slot| slot.location(self.shared)).map(LocationAt::index));
        }
        read
    }

    /// The locations that an instruction may write.
    pub(super) fn may_write(&self, at: At) -> &[LocationAt] {
        &self.writes[at.thread.index()][at.instruction.index()]
    }

    /// The locations that an atomic instruction may write if that depends on other locations: the pattern cannot
    /// ask for its effect before the pivot has moved, because it may see what the pivot has written before, or, on
    /// TSO, not see it. So all that it may write counts as about to be changed wherever it can be tried: fences may
    /// be too many, never too few.
    pub(super) fn may_change(&self, at: At) -> &[LocationAt] {
        if self.mixes[at.thread.index()][at.instruction.index()] { self.may_write(at) } else { &[] }
    }

    fn writes_of(&self, at: At) -> Vec<LocationAt> {
        if self.role(at) == Role::Harmless {
            return Vec::new();
        }
        let nothing = vec![None; self.compiled.initial.len()];
        let assignments = &self.step(at).assignments;
        let slots = assignments.iter().flat_map(|(target, _)| written(target, &nothing).slots);
        slots.filter_map(|slot| slot.location(self.shared)).collect()
    }

    /// The locations that other threads may write.
    pub(super) fn written_by_others(&self, pivot: ThreadAt) -> FixedBitSet {
        let mut written = FixedBitSet::with_capacity(self.shared);
        for thread in self.others(pivot) {
            let writes = self.writes[thread.index()].iter().flatten();
            written.extend(writes.map(|location| location.index()));
        }
        written
    }

    /// Whether some write of the thread is followed by a read of another location that another thread may write.
    pub(super) fn can_be_pivot(&self, pivot: ThreadAt) -> bool {
        let by_others = self.written_by_others(pivot);
        self.compiled.thread(pivot).steps.iter().flatten().any(|step| {
            let at = At { thread: pivot, instruction: step.instruction };
            let Role::Write(_) = self.role(at) else { return false };
            let own = self.may_write(at);
            let is_other = |location: usize| own.len() > 1 || own.first() != Some(&LocationAt::new(location));
            let mut reads = self.region(pivot, step.to).reads.ones();
            reads.any(|location| by_others.contains(location) && is_other(location))
        })
    }

    /// Whether some thread can be the pivot.
    pub(super) fn has_pivot(&self) -> bool {
        self.threads().any(|thread| self.can_be_pivot(thread))
    }

    fn regions_of(&self, thread: ThreadAt) -> Vec<Region> {
        let slots = self.compiled.initial.len();
        let steps = &self.compiled.thread(thread).steps;
        let mut decides = vec![FixedBitSet::with_capacity(slots); steps.len()];
        let mut changed = true;
        while changed {
            changed = false;
            for (control, steps) in steps.iter().enumerate() {
                let mut more = decides[control].clone();
                for step in steps {
                    let role = self.role(At { thread, instruction: step.instruction });
                    if role != Role::Barrier {
                        more.extend(step.reads().into_iter().map(Slot::index));
                    }
                    if may_pass(step, role) {
                        more.union_with(&decides[step.to.index()]);
                    }
                }
                changed |= more != decides[control];
                decides[control] = more;
            }
        }
        let region = |decides: FixedBitSet| Region {
            reads: decides.ones().filter(|&slot| slot < self.shared).collect(),
            decides: decides.ones().map(Slot::new).collect(),
        };
        decides.into_iter().map(region).collect()
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

fn roles(program: &Program, compiled: &Compiled, thread: ThreadAt, shared: usize) -> Vec<Role> {
    let mut roles = vec![Role::Harmless; program.thread(thread).instructions.len()];
    for step in compiled.thread(thread).steps.iter().flatten() {
        let is_shared = |(target, _): &(Target, Code)| match target {
            Target::Slot(slot) | Target::Element(slot, ..) => slot.location(shared).is_some(),
        };
        roles[step.instruction.index()] = match program.thread(thread).instruction(step.instruction).kind {
            InstructionKind::Atomic | InstructionKind::Rmw(_) | InstructionKind::Fence => Role::Barrier,
            // On TSO a partial fence does nothing: what it orders is ordered.
            InstructionKind::Plain | InstructionKind::Marked(_) | InstructionKind::PartialFence(_) => {
                step.assignments.iter().position(is_shared).map_or(Role::Harmless, Role::Write)
            }
        };
    }
    roles
}
