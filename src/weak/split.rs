//! Instructions as accesses: a list of operations with the order that their dependencies ask for.
//!
//! Every shared read goes to a temporary of its own, every computed value, too (static single assignment), so that
//! two operations are ordered exactly if one needs what the other produces: an address, the data of a write, or, for
//! everything in the assignments, the verdict of the condition (method §3). Each mention of a shared variable is an
//! access. Where two of them touch the same element and one writes, they keep the order of the text; that is decided
//! when the indices are known ([`readiness`](super::readiness)).
//!
//! *Levels* say where a fence inside an instruction stands, so they must be those of the [event
//! graph](crate::aeg::Event::level). They do not depend on what indices evaluate to: two accesses to one array, of
//! which one writes, are on different levels, unless their indices are different constants. But an index that is
//! known to be out of range makes no access, and no level.
//!
//! *Limit.* An instruction has at most 64 operations; a longer one is an error that says so.

use super::splitter::split_thread;
use crate::budget::Budget;
use crate::ids::{ControlAt, InstrAt, LocationAt, Slot, ThreadAt};
use crate::memory::FenceStrength;
use crate::program::compiled::{Code, Trace};
use crate::program::{At, InstructionKind, Marks, PartialFence, Program, Span};

/// A program, access by access.
#[derive(Clone, Debug)]
pub struct SplitProgram {
    /// The threads.
    pub threads: Vec<SplitThread>,
    /// The shared memory at the start, by location.
    pub memory: Vec<i64>,
    /// The names of the locations.
    pub locations: Vec<String>,
    /// What searches in it may use; once that is exhausted they end with
    /// [`LimitReached`](super::visited::LimitReached).
    pub budget: Budget,
}

/// A thread.
#[derive(Clone, Debug, PartialEq)]
pub struct SplitThread {
    /// Where it starts.
    pub initial: ControlAt,
    /// The values of its locals at the start: the first slots of every frame.
    pub locals: Vec<i64>,
    /// The steps from each control state, and behind them those of fences that were put in, from states of their own.
    pub steps: Vec<Vec<SplitStep>>,
    /// The number of its own control states.
    pub(super) controls: usize,
}

/// What a fence that is put in waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fenced {
    /// Until the thread's buffer is empty.
    Drained,
    /// For nothing: it keeps the order of stores.
    Ordered,
    /// For nothing, and it keeps no order that a store buffer does not keep: a fence of loads.
    Idle,
}

impl From<FenceStrength> for Fenced {
    fn from(strength: FenceStrength) -> Fenced {
        match strength {
            FenceStrength::Loads | FenceStrength::Marks(_) => Fenced::Idle,
            FenceStrength::Between(..) if !strength.does_all_of(FenceStrength::Stores) => Fenced::Idle,
            FenceStrength::Stores | FenceStrength::Lightweight | FenceStrength::Between(..) => Fenced::Ordered,
            FenceStrength::Plain | FenceStrength::Cumulative => Fenced::Drained,
        }
    }
}

/// An instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct SplitStep {
    /// Its position in the thread.
    pub instruction: InstrAt,
    /// Where it leads.
    pub to: ControlAt,
    /// Plain, a fence, or atomic.
    pub kind: InstructionKind,
    /// A fence stands before it: it starts only when the thread's buffer is empty.
    pub drained: bool,
    /// A fence of stores stands before it.
    pub ordered: bool,
    /// Fences inside it: before the accesses of these levels and later ones, after all others; and whether they are
    /// fences of stores only.
    pub inside: Vec<(u32, Fenced)>,
    /// The operations, in the order of the text.
    pub operations: Vec<Operation>,
    /// For each operation, the ones that it needs, as bits.
    pub needs: Vec<u64>,
    /// For each operation, all that come before it: what it needs, what that needs, and so on.
    pub before: Vec<u64>,
    /// For each operation, those of them that its location needs.
    pub addresses: Vec<u64>,
    /// The number of slots of its frame: locals, then temporaries.
    pub frame: usize,
    /// The locals that it changes: slot of the local, slot of the new value.
    pub results: Vec<(Slot, Slot)>,
    /// The indices that it computes, in the order of evaluation, with the number of elements: they decide its label.
    pub indices: Vec<(Code, usize)>,
    /// How many of these its condition computes.
    pub condition_indices: usize,
}

impl SplitThread {
    /// Whether a control state is one of the program, and not that of a fence which was put in.
    #[must_use]
    pub fn is_own(&self, control: ControlAt) -> bool {
        control.index() < self.controls
    }

    fn fence_after(&mut self, instruction: InstrAt, fenced: Fenced) {
        let next = ControlAt::new(self.steps.len());
        let to = std::mem::replace(&mut self.find(instruction).to, next);
        self.push_fence(instruction, to, fenced);
    }

    fn fence_at_target(&mut self, instruction: InstrAt, fenced: Fenced) {
        let next = ControlAt::new(self.steps.len());
        let state = self.find(instruction).to;
        for step in self.steps.iter_mut().flatten().filter(|step| step.to == state) {
            step.to = next;
        }
        self.push_fence(instruction, state, fenced);
    }

    fn push_fence(&mut self, instruction: InstrAt, to: ControlAt, fenced: Fenced) {
        let kind = match fenced {
            Fenced::Drained => InstructionKind::Fence,
            Fenced::Ordered => InstructionKind::PartialFence(PartialFence::Stores),
            Fenced::Idle => InstructionKind::PartialFence(PartialFence::Loads),
        };
        let fence = SplitStep {
            to,
            instruction,
            kind,
            drained: fenced == Fenced::Drained,
            ordered: fenced == Fenced::Ordered,
            inside: Vec::new(),
            operations: Vec::new(),
            needs: Vec::new(),
            before: Vec::new(),
            addresses: Vec::new(),
            frame: self.locals.len(),
            results: Vec::new(),
            indices: Vec::new(),
            condition_indices: 0,
        };
        self.steps.push(vec![fence]);
    }

    fn find(&mut self, instruction: InstrAt) -> &mut SplitStep {
        let own = &mut self.steps[..self.controls];
        let is_it = |step: &&mut SplitStep| step.instruction == instruction;
        own.iter_mut().flatten().find(is_it).expect("every instruction has a step")
    }
}

impl SplitStep {
    /// Whether one of its accesses may be made before the index of another one to the same array is known.
    #[must_use]
    pub fn can_presume(&self) -> bool {
        let bases = || {
            self.operations.iter().zip(&self.addresses).filter_map(|(operation, &address)| match operation {
                Operation::Read(cell, _) => Some((cell.base, false, address != 0)),
                Operation::Write(cell, _) => Some((cell.base, true, address != 0)),
                _ => None,
            })
        };
        let is_shared_with_a_write = |base: LocationAt| {
            bases().filter(|other| other.0 == base).count() > 1 && bases().any(|other| other.0 == base && other.1)
        };
        !self.is_whole() && bases().any(|(base, _, is_computed)| is_computed && is_shared_with_a_write(base))
    }

    /// For each operation, how many accesses come before it, one after the other, if indices that may be equal are.
    /// An operation that makes no access, as its index is out of range, is not there for others.
    pub fn levels(&self, makes_access: impl Fn(usize) -> bool) -> Vec<u32> {
        let mut levels: Vec<u32> = Vec::new();
        for (position, (operation, &needed)) in self.operations.iter().zip(&self.needs).enumerate() {
            let is_made = |number: usize| {
                matches!(self.operations[number], Operation::Read(..) | Operation::Write(..)) && makes_access(number)
            };
            let is_before = |earlier: &usize| {
                let is_coherent = || may_be_coherent(&self.operations[*earlier], operation);
                needed & bit(*earlier) != 0 || (is_made(*earlier) && is_made(position) && is_coherent())
            };
            let before = (0..position).filter(is_before);
            let level = before.map(|earlier| levels[earlier] + u32::from(is_made(earlier))).max();
            levels.push(level.unwrap_or(0));
        }
        levels
    }

    /// Whether it makes several accesses, one by one.
    #[must_use]
    pub fn is_composite(&self) -> bool {
        let is_access = |operation: &&Operation| matches!(operation, Operation::Read(..) | Operation::Write(..));
        matches!(self.kind, InstructionKind::Plain | InstructionKind::Marked(_))
            && self.operations.iter().filter(is_access).count() > 1
    }

    /// Whether it keeps the order of stores: a fence of stores stands before it, or it is one, or a fence of more than
    /// stores, but not of all.
    #[must_use]
    pub fn orders_stores(&self) -> bool {
        self.ordered || matches!(self.kind, InstructionKind::PartialFence(kind) if kind.orders_stores())
    }

    /// Whether it is performed as a whole: atomic instructions, and fences that have something to decide first.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        match self.kind {
            InstructionKind::Atomic | InstructionKind::Rmw(_) => true,
            InstructionKind::Fence => !self.operations.is_empty(),
            InstructionKind::Plain | InstructionKind::Marked(_) | InstructionKind::PartialFence(_) => false,
        }
    }
}

/// An element of the shared memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// The first location of the variable.
    pub base: LocationAt,
    /// The number of its elements.
    pub length: usize,
    /// Which element, over the frame; none if it is no array.
    pub index: Option<Code>,
}

impl Cell {
    /// The index, if it is computed from constants alone.
    fn constant_index(&self) -> Option<i64> {
        let index = self.index.as_ref()?;
        let mut is_constant = true;
        index.for_each_slot(&mut |_| is_constant = false);
        is_constant.then(|| index.evaluate(&[], &mut Trace::default()).ok()).flatten()
    }
}

/// What an instruction does, over the slots of its frame.
#[derive(Clone, Debug, PartialEq)]
pub enum Operation {
    /// Reads a location into a slot.
    Read(Cell, Slot),
    /// Writes the value in a slot to a location.
    Write(Cell, Slot),
    /// Computes a value into a slot.
    Compute(Code, Slot),
    /// Copies an array with one element changed.
    Update {
        /// First slot of the array as it was.
        old: Slot,
        /// First slot of the new one.
        new: Slot,
        /// The number of elements.
        length: usize,
        /// Which element.
        index: Code,
        /// Its value.
        value: Code,
    },
    /// Goes on only if none of these conditions holds, and the last one does, if there is one.
    Decide(Vec<Code>, Option<Code>),
}

/// Why a program cannot be split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong {
    /// The instruction with more than 64 operations.
    pub span: Span,
}

impl SplitProgram {
    /// The same in which only these threads move: every run of it is one of the program.
    #[must_use]
    pub fn moving(&self, group: &[ThreadAt]) -> SplitProgram {
        let mut moving = self.clone();
        for (thread, still) in ThreadAt::all(moving.threads.len()).zip(&mut moving.threads) {
            if !group.contains(&thread) {
                still.steps.iter_mut().for_each(Vec::clear);
            }
        }
        moving
    }

    /// Splits all instructions.
    ///
    /// # Errors
    /// If an instruction has more than 64 operations.
    pub fn new(program: &Program) -> Result<SplitProgram, TooLong> {
        let mut memory = Vec::new();
        let mut locations = Vec::new();
        let mut bases = Vec::new();
        for variable in &program.shared {
            bases.push(LocationAt::new(memory.len()));
            memory.extend(&variable.initial);
            if variable.is_array {
                locations.extend((0..variable.initial.len()).map(|i| format!("{}[{i}]", variable.name)));
            } else {
                locations.push(variable.name.clone());
            }
        }
        let threads: Result<_, TooLong> =
            ThreadAt::all(program.threads.len()).map(|thread| split_thread(program, thread, &bases)).collect();
        Ok(SplitProgram { threads: threads?, memory, locations, budget: Budget::default() })
    }

    /// For each thread the first one that is its twin: it does the same, to the same locations.
    #[must_use]
    pub fn twins(&self) -> Vec<ThreadAt> {
        let first = |thread: &SplitThread| self.threads.iter().position(|other| other == thread);
        self.threads.iter().map(|thread| ThreadAt::new(first(thread).expect("it is its own twin"))).collect()
    }

    /// Whether it has a fence that keeps the order of stores, and not of all accesses.
    #[must_use]
    pub fn orders_stores(&self) -> bool {
        let is_of_stores =
            |step: &SplitStep| step.orders_stores() || step.inside.iter().any(|(_, fenced)| *fenced == Fenced::Ordered);
        self.threads.iter().flat_map(|thread| &thread.steps).flatten().any(is_of_stores)
    }

    /// The threads, by position.
    pub fn threads_at(&self) -> impl Iterator<Item = ThreadAt> + Clone + use<> {
        ThreadAt::all(self.threads.len())
    }

    /// The instructions with several accesses that nothing makes atomic.
    #[must_use]
    pub fn composites(&self) -> Vec<At> {
        let of_thread = |thread: ThreadAt| {
            let known = &self.threads[thread.index()];
            let steps = known.steps[..known.controls].iter().flatten().filter(|step| step.is_composite());
            steps.map(move |step| At { thread, instruction: step.instruction })
        };
        self.threads_at().flat_map(of_thread).collect()
    }

    /// Makes an instruction atomic.
    pub fn lock(&mut self, at: At) {
        self.find(at).kind = InstructionKind::Atomic;
    }

    /// Puts marks on an instruction, besides those that it has.
    pub fn mark(&mut self, at: At, marks: Marks) {
        let step = self.find(at);
        step.kind = step.kind.marked(marks);
    }

    /// Puts a fence before an instruction.
    pub fn fence_before(&mut self, at: At, fenced: impl Into<Fenced>) {
        let step = self.find(at);
        match fenced.into() {
            Fenced::Drained => step.drained = true,
            Fenced::Ordered => step.ordered = true,
            Fenced::Idle => {}
        }
    }

    /// Puts a fence into an instruction, before the accesses of a level.
    pub fn fence_inside(&mut self, at: At, level: u32, fenced: impl Into<Fenced>) {
        self.find(at).inside.push((level, fenced.into()));
    }

    /// Puts a fence after an instruction: a control state of its own.
    pub fn fence_after(&mut self, at: At, fenced: impl Into<Fenced>) {
        self.threads[at.thread.index()].fence_after(at.instruction, fenced.into());
    }

    /// Puts a fence at the control state that an instruction leads to: a control state of its own, on every way
    /// there. To be called before [`fence_after`](SplitProgram::fence_after), which changes where an instruction
    /// leads.
    pub fn fence_at_target(&mut self, at: At, fenced: impl Into<Fenced>) {
        self.threads[at.thread.index()].fence_at_target(at.instruction, fenced.into());
    }

    fn find(&mut self, at: At) -> &mut SplitStep {
        self.threads[at.thread.index()].find(at.instruction)
    }
}

/// Whether two operations may touch one location, and one of them writes.
fn may_be_coherent(first: &Operation, second: &Operation) -> bool {
    use Operation::{Read, Write};
    let (Read(a, _) | Write(a, _), Read(b, _) | Write(b, _)) = (first, second) else { return false };
    let writes = matches!(first, Write(..)) || matches!(second, Write(..));
    let are_different = matches!((a.constant_index(), b.constant_index()), (Some(a), Some(b)) if a != b);
    writes && a.base == b.base && !are_different
}

/// The bit of an operation; those beyond the limit have none, and the instruction is refused.
pub(super) fn bit(operation: usize) -> u64 {
    1_u64.checked_shl(operation as u32).unwrap_or(0)
}
