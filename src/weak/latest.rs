//! The fence that Linden's thesis puts in next, by a run that violates a property (sections 5.5 and 6.5): for
//! comparison with the fewest.
//!
//! If a write becomes visible before an earlier one of its thread: a fence of stores, before the last write that does.
//! Else, if a thread reads while a write of it waits: a full fence, after the write that the thread has issued last
//! before the last such read.
//!
//! *Variant.* The thesis reads this off a symbolic path, with a second buffer automaton on PSO that has no overtaking;
//! here the run is one of the machine, and both are seen.

use super::buffers::{BufferState, BufferStep};
use super::threads::AccessKind;
use crate::ids::InstrId;
use crate::memory::FenceStrength;
use crate::outline::{Outline, Site};

/// Where, and which; nothing if the run is sequentially consistent.
#[must_use]
pub fn latest(run: &[(BufferStep, BufferState)], outline: &Outline) -> Option<(Site, FenceStrength)> {
    let threads = run.first().map_or(0, |(_, state)| state.buffers.len());
    let mut waiting: Vec<Vec<InstrId>> = vec![Vec::new(); threads];
    let mut full = None;
    let mut stores = None;
    for (step, state) in run {
        match step {
            BufferStep::Issued(event) => {
                let (instr, waits) = (outline.instr(event.at), &mut waiting[event.at.thread.index()]);
                for access in &event.accesses {
                    match (access.kind, waits.last()) {
                        (AccessKind::Write, _) => waits.push(instr),
                        (AccessKind::Read, Some(&write)) => full = Some((Site::after(write), FenceStrength::Plain)),
                        (AccessKind::Read, None) => {}
                    }
                }
                // What acts on the memory at once does not wait.
                waits.truncate(state.buffers[event.at.thread.index()].len());
            }
            BufferStep::Committed { thread, position, .. } => {
                let write = waiting[thread.index()].remove(*position);
                if *position > 0 {
                    stores = Some((Site::before(write), FenceStrength::Stores));
                }
            }
        }
    }
    stores.or(full)
}
