//! The steps of a state: for each thread, every instruction of its control state, taken or refused.
//!
//! A refused one is a blocked evaluation, a self-loop (method §2). [`Expander`] has the scratch space, so that
//! nothing is allocated for a state.

use super::layout::{DoesNotFit, Layout};
use crate::ids::{ControlAt, ThreadAt};
use crate::program::At;
use crate::program::compiled::{Compiled, CompiledThread, Fault, Step, Target, Trace};
use crate::program::labels::Decision;
use crate::property::StateCondition;
use std::sync::Arc;

/// One step: which instruction, how it went, and what the labels of its indices are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Evaluated {
    /// The instruction.
    pub at: At,
    /// Taken or refused.
    pub verdict: Decision,
    /// The digits of its computed indices.
    pub key: u64,
}

/// Why a state cannot be expanded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// A field is too narrow: start again with a wider one.
    TooNarrow(DoesNotFit),
    /// The program goes wrong here.
    Fault(Fault, At),
    /// An invariant cannot be evaluated here; which of them.
    Invariant(Fault, usize),
    /// An invariant does not hold here; which of them.
    Violated(usize),
}

/// Control states, by thread, whose steps make no shared access and never go round among themselves.
///
/// Such steps of a thread commute with those of all others, so a search that is only asked about accesses need not
/// interleave them: where a thread is in such a state and can move, its steps alone are enough (an ample set: nothing
/// that another thread does enables or disables them, and a thread leaves these states after finitely many of them).
/// Whatever set of threads stands before accesses in some reachable state, with some memory, does so in a state that
/// is still reached.
#[derive(Debug)]
pub struct LocalStates(Vec<Vec<bool>>);

impl LocalStates {
    /// Those of a program whose first slots, so many, are shared.
    #[must_use]
    pub fn of(compiled: &Compiled, shared: usize) -> LocalStates {
        let of_thread = |thread: &CompiledThread| {
            let is_local = |step: &Step| !step.accesses().any(|slot| slot.location(shared).is_some());
            let mut local: Vec<bool> =
                thread.steps.iter().map(|steps| !steps.is_empty() && steps.iter().all(is_local)).collect();
            // A state is left for certain if all its steps lead to states that are, or that are not local.
            let mut leaves: Vec<bool> = local.iter().map(|local| !local).collect();
            let mut changed = true;
            while changed {
                changed = false;
                for control in 0..leaves.len() {
                    if !leaves[control] && thread.steps[control].iter().all(|step| leaves[step.to.index()]) {
                        leaves[control] = true;
                        changed = true;
                    }
                }
            }
            local.iter_mut().zip(&leaves).for_each(|(local, leaves)| *local &= leaves);
            local
        };
        LocalStates(compiled.threads.iter().map(of_thread).collect())
    }
}

/// Whether a step was the thread's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// Its own.
    Own,
    /// Another thread's.
    Other,
}

/// Who is told about the steps of a state.
pub trait Visitor {
    /// The state with this number comes next.
    fn begin_state(&mut self, _number: usize) {}

    /// A step that is taken, in full, just before it is told: the values of all slots before it and after it.
    fn executed(&mut self, _thread: ThreadAt, _step: &Step, _before: &[i64], _after: &[i64]) {}

    /// A step; `successor` is the packed state that it leads to, none for a blocked evaluation.
    fn step(&mut self, evaluated: Evaluated, successor: Option<&[u64]>);

    /// Whether the visitor wants to know what threads have enabled after a step.
    fn wants_outlooks(&self) -> bool {
        false
    }

    /// After a step that was taken: what `thread` has enabled now comes next. It is the thread of the step, or
    /// another one for which the step may have changed it.
    fn outlook(&mut self, _thread: ThreadAt, _whose: Whose) {}

    /// An instruction that the thread of the outlook has enabled, or evaluates and refuses.
    fn next(&mut self, _evaluated: Evaluated) {}

    /// After the last step of a state.
    fn end_of_state(&mut self) {}

    /// What was told since the last block ended, the last state perhaps only in part, will be told again.
    fn discard_block(&mut self) {}
}

/// Expands states.
pub struct Expander<'p> {
    compiled: &'p Compiled,
    layout: &'p Layout,
    control: Vec<ControlAt>,
    values: Vec<i64>,
    after: Vec<i64>,
    scratch: Vec<i64>,
    packed: Vec<u64>,
    invariants: &'p [StateCondition],
    local_states: Option<Arc<LocalStates>>,
    /// What invariants see: the values, then the control states.
    observed: Vec<i64>,
    /// Indices out of range so far.
    pub out_of_range: u64,
}

impl<'p> Expander<'p> {
    /// Scratch space for a program.
    #[must_use]
    pub fn new(compiled: &'p Compiled, layout: &'p Layout) -> Expander<'p> {
        Expander {
            compiled,
            layout,
            control: compiled.threads.iter().map(|thread| thread.initial).collect(),
            values: compiled.initial.clone(),
            after: compiled.initial.clone(),
            scratch: compiled.initial.clone(),
            packed: vec![0; layout.words()],
            invariants: &[],
            local_states: None,
            observed: Vec::new(),
            out_of_range: 0,
        }
    }

    /// The same, with invariants that are checked in every state before it is expanded.
    #[must_use]
    pub fn checking(self, invariants: &'p [StateCondition]) -> Expander<'p> {
        Expander { invariants, ..self }
    }

    /// The same, with local steps not interleaved.
    #[must_use]
    pub fn leaving_out(self, local_states: Option<Arc<LocalStates>>) -> Expander<'p> {
        Expander { local_states, ..self }
    }

    /// The positions of the threads whose steps are told: one if its local steps alone are enough.
    fn threads(&mut self) -> Result<std::ops::Range<u32>, Trouble> {
        for thread in ThreadAt::all(self.control.len()) {
            let control = self.control[thread.index()];
            let is_local = |states: &Arc<LocalStates>| states.0[thread.index()][control.index()];
            if !self.local_states.as_ref().is_some_and(is_local) {
                continue;
            }
            for step in self.compiled.thread(thread).steps_from(control) {
                if self.evaluate(thread, step)?.1 {
                    return Ok(thread.0..thread.0 + 1);
                }
            }
        }
        Ok(0..self.control.len() as u32)
    }

    /// Tells the visitor all steps of a state, thread by thread, in the order of the source.
    ///
    /// # Errors
    /// If a field is too narrow, the program goes wrong, or an invariant does not hold.
    pub fn expand(&mut self, state: &[u64], visitor: &mut impl Visitor) -> Result<(), Trouble> {
        self.layout.unpack(state, &mut self.control, &mut self.values);
        if !self.invariants.is_empty() {
            self.check_invariants()?;
        }
        for thread in self.threads()?.map(ThreadAt) {
            for step in self.compiled.thread(thread).steps_from(self.control[thread.index()]) {
                let (evaluated, is_taken) = self.evaluate(thread, step)?;
                if !is_taken {
                    visitor.step(evaluated, None);
                    continue;
                }
                let (evaluated, has_written) = self.execute(thread, step, evaluated, state)?;
                visitor.executed(thread, step, &self.values, &self.after);
                visitor.step(evaluated, Some(&self.packed));
                // A self-loop with a condition and no write is a blocked evaluation even if the condition held
                // (method §2).
                let is_blocked = !has_written && step.has_condition() && self.packed == state;
                if visitor.wants_outlooks() && !is_blocked {
                    visitor.outlook(thread, Whose::Own);
                    self.tell_next(thread, step.to, visitor)?;
                    for other in ThreadAt::all(self.control.len()).filter(|&other| other != thread) {
                        let control = self.control[other.index()];
                        if step.may_change(self.compiled.thread(other).reads(control)) {
                            visitor.outlook(other, Whose::Other);
                            self.tell_next(other, control, visitor)?;
                        }
                    }
                }
            }
        }
        visitor.end_of_state();
        Ok(())
    }

    fn check_invariants(&mut self) -> Result<(), Trouble> {
        self.observed.clear();
        self.observed.extend_from_slice(&self.values);
        self.observed.extend(self.control.iter().map(|state| i64::from(state.0)));
        let mut trace = Trace::default();
        for (position, invariant) in self.invariants.iter().enumerate() {
            match invariant.holds(&self.observed, &mut trace) {
                Ok(true) => {}
                Ok(false) => return Err(Trouble::Violated(position)),
                Err(fault) => return Err(Trouble::Invariant(fault, position)),
            }
        }
        self.out_of_range += trace.out_of_range;
        Ok(())
    }

    /// Evaluates the condition.
    #[inline]
    fn evaluate(&mut self, thread: ThreadAt, step: &Step) -> Result<(Evaluated, bool), Trouble> {
        let mut trace = Trace::default();
        let is_taken = step.is_enabled(&self.values, &mut trace).map_err(|fault| trouble(fault, thread, step))?;
        self.out_of_range += trace.out_of_range;
        let verdict = if is_taken { Decision::Taken } else { Decision::Refused };
        Ok((evaluated(thread, step, verdict, trace.key), is_taken))
    }

    /// Performs the assignments: `after` and `packed` are the state afterwards. Says whether anything was written.
    #[inline]
    fn execute(
        &mut self,
        thread: ThreadAt,
        step: &Step,
        before: Evaluated,
        state: &[u64],
    ) -> Result<(Evaluated, bool), Trouble> {
        let mut trace = Trace { key: before.key, ..Trace::default() };
        self.after.copy_from_slice(&self.values);
        step.execute(&mut self.after, &mut trace).map_err(|fault| trouble(fault, thread, step))?;
        self.out_of_range += trace.out_of_range;
        self.packed.copy_from_slice(state);
        self.layout.set_control(&mut self.packed, thread, step.to).map_err(Trouble::TooNarrow)?;
        for (target, _) in &step.assignments {
            let (first, length) = match target {
                Target::Slot(slot) => (*slot, 1),
                Target::Element(base, length, _) => (*base, *length),
            };
            for slot in first.run(length) {
                let (value, before) = (self.after[slot.index()], self.values[slot.index()]);
                if value != before && !self.layout.forgets(thread, step.to, slot) {
                    self.layout.set_value(&mut self.packed, slot, value).map_err(Trouble::TooNarrow)?;
                }
            }
        }
        self.layout.forget(&mut self.packed, thread, step.to);
        Ok((Evaluated { key: trace.key, ..before }, trace.writes > 0))
    }

    /// Tells what a thread evaluates in the state after a step. Keys of instructions that are taken need their
    /// assignments' indices, too.
    fn tell_next(&mut self, thread: ThreadAt, control: ControlAt, visitor: &mut impl Visitor) -> Result<(), Trouble> {
        for next in self.compiled.thread(thread).steps_from(control) {
            let mut trace = Trace::default();
            let is_taken = next.is_enabled(&self.after, &mut trace).map_err(|fault| trouble(fault, thread, next))?;
            let verdict = if is_taken { Decision::Taken } else { Decision::Refused };
            if is_taken && next.has_computed_index() {
                self.scratch.copy_from_slice(&self.after);
                next.execute(&mut self.scratch, &mut trace).map_err(|fault| trouble(fault, thread, next))?;
            }
            visitor.next(evaluated(thread, next, verdict, trace.key));
        }
        Ok(())
    }
}

fn evaluated(thread: ThreadAt, step: &Step, verdict: Decision, key: u64) -> Evaluated {
    Evaluated { at: At { thread, instruction: step.instruction }, verdict, key }
}

fn trouble(fault: Fault, thread: ThreadAt, step: &Step) -> Trouble {
    Trouble::Fault(fault, At { thread, instruction: step.instruction })
}
