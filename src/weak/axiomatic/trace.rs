//! What a thread may do on its own: its traces.
//!
//! A trace is one way through the thread, with the accesses that it makes, for one choice of what its reads return.
//! Which values a read may return is given from outside ([`Offers`]); whether some write really has the value for it
//! is found out later, when the traces of all threads are put together.
//!
//! *Accesses.* Each mention of a location in an instruction is an access of its own. Accesses of one instruction are
//! ordered only by their dependencies: a condition's reads come before the accesses of the assignments, an access
//! comes after those that its address or value depends on, and accesses to one location, of which one writes, keep
//! the order in which they are evaluated (method §3, §8). In an atomic instruction all are ordered as they are
//! evaluated.
//!
//! Whether an element is one that the instruction has just written depends on the indices of these writes: in `v[i]
//! := 1; x := v[0]` the read of the element does not depend on `i`, but what is written to `x` does.
//!
//! *Dependencies* flow through locals: with every local goes the set of reads that its value derives from, whether
//! the value depends on them or not (`r - r` still derives from `r`). The condition of an instruction that is taken
//! adds to the control dependencies of all that comes later.
//!
//! *Where a thread stops.* Where it has no instruction left; and, if all instructions there have conditions, where it
//! may wait forever: then none of them holds in the final state, which is checked when that is known
//! ([`Trace::waits`]). Evaluations that are refused and repeated need no accesses: an execution without them is
//! allowed whenever one with them is, as axioms only forbid.
//!
//! *Loops.* No instruction is taken more than `unroll` times (fences: as often as one comes to them); a way through the
//! thread that would is left out, and it is said ([`Traces::cut_off`]).
//!
//! Values are enumerated, so the number of traces is exponential in the number of reads, with the number of different
//! values that others write as its base.

use super::access::{Access, AccessKind, Fence, Sources, closure};
use super::choices::{Choices, Guide, Halt, Offered};
use super::execution::Strand;
use crate::budget::Budget;
use crate::ids::{ControlAt, InstrAt, LocationAt, Slot, ThreadAt};
use crate::memory::cat::execution::Atomicity;
use crate::program::arithmetic::{apply, apply_unary};
use crate::program::compiled::{Code, Compiled, Fault, FaultKind, Step, Target, Trace as Evaluation};
use crate::program::{InstructionKind, Marks, Span, Thread};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::ops::Range;

/// How a trace ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// There is no instruction left.
    Finished,
    /// It waits, if no condition there holds in the final state.
    Waiting,
    /// An instruction goes wrong.
    Faulty {
        /// How.
        fault: Fault,
        /// Which instruction.
        instruction: InstrAt,
    },
}

/// One way through a thread.
#[derive(Clone, Debug)]
pub struct Trace {
    /// Its accesses.
    pub accesses: Vec<Access>,
    /// Its fences.
    pub fences: Vec<Fence>,
    /// The control state where it ends.
    pub control: ControlAt,
    /// The values of the locals at its end; the slots of other variables mean nothing.
    pub values: Vec<i64>,
    /// Why it ends.
    pub stop: Stop,
}

impl Trace {
    /// Whether it ends where the thread waits.
    #[must_use]
    pub fn waits(&self) -> bool {
        self.stop == Stop::Waiting
    }

    /// What the thread does on it.
    #[must_use]
    pub fn strand(&self) -> Strand<'_> {
        Strand { accesses: &self.accesses, fences: &self.fences }
    }
}

/// The traces of a thread.
#[derive(Clone, Debug, Default)]
pub struct Traces {
    /// The traces.
    pub traces: Vec<Trace>,
    /// Whether a trace was left out because of the bound on loops.
    pub cut_off: bool,
    /// The most writes on any way, also on those that were left out or ended at a condition that did not hold.
    pub most_writes: usize,
}

/// What other threads may write: values, by location.
pub type Offers = Vec<BTreeSet<i64>>;

/// A thread, and all that its traces depend on.
pub struct TracedThread<'a> {
    /// The program.
    pub compiled: &'a Compiled,
    /// The thread, as it was written.
    pub thread: &'a Thread,
    /// Its position.
    pub position: ThreadAt,
    /// How many slots are shared; they come first.
    pub num_of_locations: usize,
    /// How often an instruction may be taken that is no fence.
    pub unroll: usize,
}

impl TracedThread<'_> {
    /// How often an instruction may be taken. A fence, as often as one comes to it, on whatever way.
    #[must_use]
    pub fn most(&self, instruction: InstrAt) -> usize {
        let known = self.thread.instruction(instruction);
        match known.kind {
            InstructionKind::Fence | InstructionKind::PartialFence(_) => {
                self.unroll * self.thread.ways_into(known.from).count().max(1)
            }
            _ => self.unroll,
        }
    }

    /// The traces in which reads return what the thread itself has written, the initial value, or one of the
    /// `offers`; as many as the budget allows.
    #[must_use]
    pub fn traces(&self, offers: &Offers, budget: &Budget) -> Traces {
        let mut found = Traces::default();
        let mut choices = Choices::default();
        loop {
            let followed = Run::new(self, Offered { offers, choices: &mut choices }).follow();
            let accesses = &followed.accesses;
            let writes = accesses.iter().filter(|access| access.kind == AccessKind::Write).count();
            found.most_writes = found.most_writes.max(writes);
            match followed.ended {
                Ended::At(control, stop) => found.traces.push(followed.trace(control, stop)),
                Ended::CutOff => found.cut_off = true,
                Ended::Refused | Ended::Paused => {}
            }
            if !choices.advance() || budget.is_over() {
                return found;
            }
        }
    }
}

/// How a run ends.
pub(super) enum Ended {
    At(ControlAt, Stop),
    /// A condition did not hold, with these values.
    Refused,
    CutOff,
    /// The guide wanted no more.
    Paused,
}

/// A way through a thread, as far as it was followed.
pub(super) struct Way {
    pub ended: Ended,
    pub accesses: Vec<Access>,
    pub fences: Vec<Fence>,
    pub values: Vec<i64>,
    /// How many of the accesses are those of whole instructions.
    pub whole: usize,
}

impl Way {
    /// The trace that ends here.
    pub fn trace(self, control: ControlAt, stop: Stop) -> Trace {
        Trace { accesses: self.accesses, fences: self.fences, control, values: self.values, stop }
    }
}

/// A value and the reads that it derives from.
struct Derived {
    value: i64,
    sources: Sources,
}

/// A write of an instruction.
struct Written {
    /// All elements that it could be.
    elements: Range<Slot>,
    /// The one that it is; none if the index is out of range.
    slot: Option<Slot>,
    /// The reads that the index derives from.
    addr: Sources,
}

/// A trace in the making.
pub(super) struct Run<'a, G> {
    source: &'a TracedThread<'a>,
    guide: G,
    values: Vec<i64>,
    /// For each slot of a local, what its value derives from.
    sources: FxHashMap<Slot, Sources>,
    accesses: Vec<Access>,
    /// The thread's latest write to each location.
    last_write: FxHashMap<LocationAt, usize>,
    ctrl: Sources,
    fences: Vec<Fence>,
    step: usize,
    instruction: InstrAt,
    kind: InstructionKind,
    /// Whether the instruction at hand has been taken as often as it may be.
    is_beyond: bool,
    whole: usize,
    /// The accesses of this instruction's condition.
    condition: Sources,
    /// The writes that this instruction has made or, with an index out of range, would have made.
    written: Vec<Written>,
}

impl<'a, G: Guide> Run<'a, G> {
    pub fn new(source: &'a TracedThread<'a>, guide: G) -> Run<'a, G> {
        Run {
            source,
            guide,
            values: source.compiled.initial.clone(),
            sources: FxHashMap::default(),
            accesses: Vec::new(),
            last_write: FxHashMap::default(),
            ctrl: Sources::new(),
            fences: Vec::new(),
            step: 0,
            instruction: InstrAt::new(0),
            kind: InstructionKind::Plain,
            is_beyond: false,
            whole: 0,
            condition: Sources::new(),
            written: Vec::new(),
        }
    }

    /// Follows the guide to the end.
    pub fn follow(mut self) -> Way {
        let ended = self.run();
        let Run { mut accesses, fences, values, whole, .. } = self;
        let before: Vec<Sources> = (0..accesses.len()).map(|access| closure(&accesses, access)).collect();
        accesses.iter_mut().zip(before).for_each(|(access, before)| access.before = before);
        Way { ended, accesses, fences, values, whole }
    }

    fn run(&mut self) -> Ended {
        let automaton = self.source.compiled.thread(self.source.position);
        let mut control = automaton.initial;
        let mut taken = vec![0; self.source.thread.instructions.len()];
        loop {
            let steps = automaton.steps_from(control);
            if steps.is_empty() {
                return Ended::At(control, Stop::Finished);
            }
            let may_wait = steps.iter().all(Step::has_condition);
            let chosen = self.guide.choose(steps.len() + usize::from(may_wait));
            let Some(step) = steps.get(chosen) else {
                return if self.goes_on(control) { Ended::Refused } else { Ended::At(control, Stop::Waiting) };
            };
            let times = &mut taken[step.instruction.index()];
            self.is_beyond = *times == self.source.most(step.instruction);
            match self.take(step) {
                Ok(true) => {}
                Ok(false) => return Ended::Refused,
                Err(Halt::Paused) => return Ended::Paused,
                Err(Halt::CutOff) => return Ended::CutOff,
                Err(Halt::Fault(fault)) => {
                    return Ended::At(control, Stop::Faulty { fault, instruction: step.instruction });
                }
            }
            if self.is_beyond {
                return Ended::CutOff;
            }
            *times += 1;
            self.whole = self.accesses.len();
            control = step.to;
        }
    }

    /// Whether the locals alone say that the thread does not wait here.
    fn goes_on(&self, control: ControlAt) -> bool {
        let automaton = self.source.compiled.thread(self.source.position);
        let depends_on_others = automaton.reads(control).ones().any(|slot| slot < self.source.num_of_locations);
        !depends_on_others
            && automaton
                .steps_from(control)
                .iter()
                // What goes wrong has a trace of its own.
                .any(|step| step.is_enabled(&self.values, &mut Evaluation::default()).unwrap_or(true))
    }

    /// What one instruction does from these values on: the values behind it, and what it writes; nothing if it is not
    /// taken.
    pub fn once(mut self, step: &Step, values: &[i64]) -> Option<(Vec<i64>, Vec<Access>)> {
        self.values.copy_from_slice(values);
        let is_taken = self.take(step).is_ok_and(|is_taken| is_taken);
        self.accesses.retain(|access| access.kind == AccessKind::Write);
        is_taken.then_some((self.values, self.accesses))
    }

    /// Takes an instruction; says whether its condition held.
    fn take(&mut self, step: &Step) -> Result<bool, Halt> {
        let kind = self.source.thread.instruction(step.instruction).kind;
        self.step += 1;
        self.instruction = step.instruction;
        self.kind = kind;
        self.condition.clear();
        self.written.clear();
        self.pass();
        let mut enabled = true;
        let mut sources = Sources::new();
        for condition in &step.outranked {
            let derived = self.evaluate(condition)?;
            enabled &= derived.value == 0;
            sources.extend(derived.sources);
        }
        if let Some(condition) = &step.condition {
            let derived = self.evaluate(condition)?;
            enabled &= derived.value != 0;
            sources.extend(derived.sources);
        }
        if !enabled {
            return Ok(false);
        }
        self.ctrl.extend(sources);
        self.condition = (0..self.accesses.len()).filter(|&access| self.is_own(access)).collect();
        for (target, value) in &step.assignments {
            let value = self.evaluate(value)?;
            self.assign(target, value)?;
        }
        self.pass();
        Ok(self.exclusives_are_paired())
    }

    /// Whether a store exclusive that has just been made follows a load exclusive of its location, with no other
    /// exclusive access between: otherwise it fails, which is another way.
    fn exclusives_are_paired(&self) -> bool {
        let is_exclusive = |access: &&Access| access.marks.has(Marks::EXCLUSIVE);
        let mut exclusive = self.accesses.iter().rev().filter(is_exclusive);
        let Some(last) = exclusive.next().filter(|last| last.step == self.step) else { return true };
        let is_load = |before: &Access| before.kind == AccessKind::Read && before.location == last.location;
        last.kind == AccessKind::Read || exclusive.next().is_some_and(is_load)
    }

    /// Passes the fence on one side of an instruction, if it is or has one. Equal ones at one place are one.
    fn pass(&mut self) {
        let partial = match self.kind {
            InstructionKind::Plain | InstructionKind::Marked(_) | InstructionKind::Rmw(_) => return,
            InstructionKind::Fence | InstructionKind::Atomic => None,
            InstructionKind::PartialFence(partial) => Some(partial),
        };
        let place = self.accesses.len();
        let is_there = |last: &Fence| {
            last.place == place && last.partial == partial && (partial.is_none() || last.ctrl == self.ctrl)
        };
        if self.fences.last().is_some_and(is_there) {
            return;
        }
        self.fences.push(Fence { partial, place, ctrl: self.ctrl.clone() });
    }

    fn is_atomic(&self) -> bool {
        matches!(self.kind, InstructionKind::Atomic | InstructionKind::Rmw(_))
    }

    /// Whether the access belongs to the instruction at hand.
    fn is_own(&self, access: usize) -> bool {
        self.accesses[access].step == self.step
    }

    fn assign(&mut self, target: &Target, value: Derived) -> Result<(), Halt> {
        let (elements, slot, addr) = match target {
            Target::Slot(slot) => (*slot..slot.plus(1), Some(*slot), Sources::new()),
            Target::Element(base, length, index) => {
                let index = self.evaluate(index)?;
                let slot = in_range(index.value, *length).map(|position| base.plus(position));
                (*base..base.plus(*length), slot, index.sources)
            }
        };
        self.written.push(Written { elements, slot, addr: addr.clone() });
        let Some(slot) = slot else { return Ok(()) };
        if let Some(location) = slot.location(self.source.num_of_locations) {
            self.access(AccessKind::Write, location, value.value, addr, value.sources)?;
            return if self.guide.goes_on_behind_a_write() { Ok(()) } else { Err(Halt::Paused) };
        }
        self.values[slot.index()] = value.value;
        self.sources.insert(slot, &value.sources | &addr);
        Ok(())
    }

    fn evaluate(&mut self, code: &Code) -> Result<Derived, Halt> {
        match code {
            Code::Constant(value) => Ok(Derived { value: *value, sources: Sources::new() }),
            Code::Slot(slot) => self.fetch(*slot, Sources::new()),
            Code::Element(base, length, index) => {
                let index = self.evaluate(index)?;
                match in_range(index.value, *length) {
                    Some(position) => self.fetch(base.plus(position), index.sources),
                    None => Ok(Derived { value: 0, sources: index.sources }),
                }
            }
            Code::Unary(operator, operand) => {
                let operand = self.evaluate(operand)?;
                let fault = |kind: FaultKind| Halt::Fault(Fault { kind, span: Span::default() });
                Ok(Derived { value: apply_unary(*operator, operand.value).map_err(fault)?, ..operand })
            }
            Code::Binary(operator, left, right, span) => {
                let (left, mut right) = (self.evaluate(left)?, self.evaluate(right)?);
                let fault = |kind: FaultKind, span: Span| Halt::Fault(Fault { kind, span });
                let value = apply(*operator, left.value, right.value).map_err(|kind| fault(kind, *span))?;
                right.sources.extend(left.sources);
                Ok(Derived { value, sources: right.sources })
            }
        }
    }

    /// The reads that decide which write of this instruction a read of the location comes after, if after any: those
    /// for the indices of the last one to it and of all that come later.
    fn deciding(&self, slot: Slot) -> Sources {
        let last = self.written.iter().rposition(|write| write.slot == Some(slot)).unwrap_or(0);
        let writes = self.written[last..].iter().filter(|write| write.elements.contains(&slot));
        writes.flat_map(|write| &write.addr).copied().collect()
    }

    /// The value in a slot: of a local as it is, of a location by a read.
    fn fetch(&mut self, slot: Slot, addr: Sources) -> Result<Derived, Halt> {
        let Some(location) = slot.location(self.source.num_of_locations) else {
            let sources = self.sources.get(&slot).map_or_else(|| addr.clone(), |sources| sources | &addr);
            return Ok(Derived { value: self.values[slot.index()], sources });
        };
        let own = self.last_write.get(&location).map(|&write| &self.accesses[write]);
        let nearest = own.map_or(self.source.compiled.initial[location.index()], |write| write.value);
        self.stay_within_the_bound()?;
        let value = self.guide.read(location, nearest).ok_or(Halt::Paused)?;
        let access = self.access(AccessKind::Read, location, value, addr, Sources::new())?;
        Ok(Derived { value, sources: &self.deciding(slot) | &Sources::from([access]) })
    }

    /// No access of an instruction that has been taken as often as it may be, if the guide wants none.
    fn stay_within_the_bound(&self) -> Result<(), Halt> {
        if self.is_beyond && !self.guide.passes_the_bound() { Err(Halt::CutOff) } else { Ok(()) }
    }

    /// Which accesses of this instruction come directly before one that is made now.
    fn before(&self, kind: AccessKind, location: LocationAt, depends: &Sources) -> Sources {
        let is_before = |&earlier: &usize| {
            let other = &self.accesses[earlier];
            let same_location =
                other.location == location && (kind == AccessKind::Write || other.kind == AccessKind::Write);
            self.is_atomic() || same_location || self.condition.contains(&earlier) || depends.contains(&earlier)
        };
        (0..self.accesses.len()).filter(|&earlier| self.is_own(earlier)).filter(is_before).collect()
    }

    fn access(
        &mut self,
        kind: AccessKind,
        location: LocationAt,
        value: i64,
        addr: Sources,
        data: Sources,
    ) -> Result<usize, Halt> {
        self.stay_within_the_bound()?;
        let position = self.accesses.len();
        let atomicity = match self.kind {
            InstructionKind::Atomic => Atomicity::Fenced,
            InstructionKind::Rmw(_) => Atomicity::Indivisible,
            _ => Atomicity::Divisible,
        };
        if atomicity == Atomicity::Fenced {
            self.pass();
        }
        self.accesses.push(Access {
            kind,
            location,
            value,
            step: self.step,
            instruction: self.instruction,
            atomicity,
            marks: self.kind.marks(),
            before: self.before(kind, location, &(&addr | &data)),
            addr,
            data,
            ctrl: self.ctrl.clone(),
        });
        if kind == AccessKind::Write {
            self.last_write.insert(location, position);
        }
        Ok(position)
    }
}

fn in_range(index: i64, length: usize) -> Option<usize> {
    usize::try_from(index).ok().filter(|&position| position < length)
}
