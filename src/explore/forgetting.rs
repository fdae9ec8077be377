//! Locals that are never read again are forgotten: a state is packed with their first values.
//!
//! States that differ only in dead locals ([`liveness`](crate::program::liveness)) have the same steps with the same
//! labels, and so have the states behind them: what is told of labels alone (facts) is the same, and there are fewer
//! states. Who looks at values, or counts states that others count, too, does not forget.

use crate::ids::{ControlAt, Slot, ThreadAt};
use crate::program::compiled::{Compiled, CompiledThread, Step};
use crate::program::liveness::Liveness;
use fixedbitset::FixedBitSet;

/// The dead locals of each thread, by control state.
#[derive(Debug)]
pub(super) struct DeadLocals(Vec<Vec<FixedBitSet>>);

impl DeadLocals {
    pub(super) fn of(compiled: &Compiled) -> DeadLocals {
        let of_thread = |thread: &CompiledThread| {
            let live = Liveness::of(thread, compiled.shared);
            let own: FixedBitSet = thread
                .steps
                .iter()
                .flatten()
                .flat_map(Step::accesses)
                .filter(|slot| slot.location(compiled.shared).is_none())
                .map(Slot::index)
                .collect();
            let dead = |control: usize| {
                own.ones().filter(|&slot| !live.is_live(ControlAt(control as u32), Slot::new(slot))).collect()
            };
            (0..thread.steps.len()).map(dead).collect()
        };
        DeadLocals(compiled.threads.iter().map(of_thread).collect())
    }

    /// The slots of the locals of a thread that are dead at a control state.
    #[inline]
    pub(super) fn at(&self, thread: ThreadAt, control: ControlAt) -> &FixedBitSet {
        &self.0[thread.index()][control.index()]
    }

    /// The same for all threads and control states, in their order.
    pub(super) fn all(&self) -> impl Iterator<Item = impl Iterator<Item = &FixedBitSet>> {
        self.0.iter().map(|of_thread| of_thread.iter())
    }
}
