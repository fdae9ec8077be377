//! Which locals of a thread can still be read: the others are dead, and their values make no difference.
//!
//! The classical backward analysis, over control states: a local is live where some step may read it, or where a step
//! leads to a state in which it is live and does not overwrite it. An element of an array is overwritten only if its
//! index is a constant.

use super::compiled::{CompiledThread, Step, Target};
use crate::ids::{ControlAt, Slot};
use fixedbitset::FixedBitSet;

/// For each control state of a thread, the slots of the locals that are live there.
#[derive(Clone, Debug)]
pub struct Liveness(Vec<FixedBitSet>);

impl Liveness {
    /// Of a thread of a program whose first slots, so many, are shared.
    #[must_use]
    pub fn of(thread: &CompiledThread, shared: usize) -> Liveness {
        let is_local = |slot: &Slot| slot.location(shared).is_none();
        let reads = |step: &Step| step.reads().into_iter().filter(is_local).map(Slot::index).collect();
        let reads: Vec<Vec<FixedBitSet>> = thread.steps.iter().map(|steps| steps.iter().map(reads).collect()).collect();
        let mut live = vec![FixedBitSet::new(); thread.steps.len()];
        let mut changed = true;
        while changed {
            changed = false;
            for (control, steps) in thread.steps.iter().enumerate().rev() {
                let mut more = live[control].clone();
                for (step, reads) in steps.iter().zip(&reads[control]) {
                    let mut behind = live[step.to.index()].clone();
                    for (target, _) in &step.assignments {
                        if let Target::Slot(slot) = target
                            && slot.index() < behind.len()
                        {
                            behind.set(slot.index(), false);
                        }
                    }
                    more.union_with(&behind);
                    more.union_with(reads);
                }
                changed |= more != live[control];
                live[control] = more;
            }
        }
        Liveness(live)
    }

    /// Whether a local is live at a control state.
    #[must_use]
    pub fn is_live(&self, control: ControlAt, local: Slot) -> bool {
        self.0[control.index()].contains(local.index())
    }
}
