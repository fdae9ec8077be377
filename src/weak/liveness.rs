//! Which locals of a split thread can still be read; as [`program::liveness`](crate::program::liveness), over the
//! operations of its steps and with the fences that were put in.
//!
//! What a conditional step assigns that leads back to its control state is live there, too: whether it changes anything
//! decides whether the step has had an effect ([`Progress`](super::threads::Progress)), and whether the thread is
//! [stuck](super::forbidden). A fence that was put in on the way back makes no difference.

use super::split::{Cell, Operation, SplitStep, SplitThread};
use crate::ids::{ControlAt, Slot};
use crate::program::compiled::Code;
use fixedbitset::FixedBitSet;

/// For each control state, the locals that are live there.
pub struct Liveness(Vec<FixedBitSet>);

impl Liveness {
    /// Of a thread.
    #[must_use]
    pub fn of(thread: &SplitThread) -> Liveness {
        let locals = thread.locals.len();
        let reads: Vec<Vec<FixedBitSet>> = thread
            .steps
            .iter()
            .enumerate()
            .map(|(control, steps)| {
                let reads = |step: &SplitStep| {
                    let mut reads = reads_of(step, locals);
                    if behind_fences(thread, step.to).index() == control {
                        reads.extend(step.results.iter().map(|(local, _)| local.index()));
                    }
                    reads
                };
                steps.iter().map(reads).collect()
            })
            .collect();
        let mut live = vec![FixedBitSet::with_capacity(locals); thread.steps.len()];
        let mut changed = true;
        while changed {
            changed = false;
            for (control, steps) in thread.steps.iter().enumerate().rev() {
                let mut more = live[control].clone();
                for (step, reads) in steps.iter().zip(&reads[control]) {
                    let mut behind = live[step.to.index()].clone();
                    step.results.iter().for_each(|(local, _)| behind.set(local.index(), false));
                    more.union_with(&behind);
                    more.union_with(reads);
                }
                changed |= more != live[control];
                live[control] = more;
            }
        }
        Liveness(live)
    }

    /// Sets the locals to 0 that are dead at a control state.
    pub fn forget(&self, control: ControlAt, locals: &mut [i64]) {
        let live = &self.0[control.index()];
        locals.iter_mut().enumerate().filter(|(local, _)| !live.contains(*local)).for_each(|(_, value)| *value = 0);
    }
}

/// Where a thread comes to that passes the fences that were put in.
fn behind_fences(thread: &SplitThread, mut control: ControlAt) -> ControlAt {
    while !thread.is_own(control) {
        control = thread.steps[control.index()][0].to;
    }
    control
}

/// The locals, as they were before it, that a step may read.
fn reads_of(step: &SplitStep, locals: usize) -> FixedBitSet {
    let mut reads = FixedBitSet::with_capacity(locals);
    let mut add = |slot: Slot| {
        if slot.index() < locals {
            reads.insert(slot.index());
        }
    };
    let mut add_code = |code: &Code| code.for_each_slot(&mut add);
    for operation in &step.operations {
        match operation {
            Operation::Read(Cell { index, .. }, _) => index.iter().for_each(&mut add_code),
            Operation::Write(Cell { index, .. }, value) => {
                index.iter().for_each(&mut add_code);
                add_code(&Code::Slot(*value));
            }
            Operation::Compute(code, _) => add_code(code),
            Operation::Update { old, length, index, value, .. } => {
                old.run(*length).for_each(|slot| add_code(&Code::Slot(slot)));
                add_code(index);
                add_code(value);
            }
            Operation::Decide(outranked, own) => outranked.iter().chain(own).for_each(&mut add_code),
        }
    }
    // What a local becomes can be another local as it was.
    step.results.iter().for_each(|(_, result)| add_code(&Code::Slot(*result)));
    reads
}
