//! Atomic instructions that do the work of a fence.
//!
//! An atomic instruction is a full fence on every memory model here. Not every way of making one atomic is: a lock-prefixed instruction is on x86, a load-linked/store-conditional loop on ARMv7 is not. So whoever relies on it
//! should know: an atomic instruction stands where a fence would be needed if there are delays across it as soon as it orders nothing but itself.
//!
//! The delays are computed once more on the event graph with all atomic instructions taken for plain ones; each delay that appears, between two other instructions or between one of them and another one, names the atomic
//! instructions of its thread. A thread whose atomic instructions all lie elsewhere may so be named for one of them too many: it is a remark, not a finding.

use crate::analysis::{Analysis, Options};
use crate::cycles::{Atomicity, Findings, Listing};
use crate::ids::{InstrId, ThreadId};
use crate::lts::label::LabelKind;
use crate::memory::MemoryModel;
use std::collections::BTreeSet;

impl Analysis {
    /// The atomic instructions that stand where a fence would be needed under a memory model, given what was found with them.
    #[must_use]
    pub fn atomic_fences(&self, model: &MemoryModel, options: &Options, findings: &Findings) -> Vec<InstrId> {
        let is_atomic = |label: usize| self.labels[label].kind == LabelKind::Atomic;
        let atomic: BTreeSet<InstrId> = (0..self.labels.len())
            .filter(|&label| is_atomic(label))
            .map(|label| self.graph.evaluations[label].instr)
            .collect();
        if atomic.is_empty() {
            return Vec::new();
        }
        let mut plain = self.clone();
        for (label, evaluation) in plain.graph.evaluations.iter_mut().enumerate() {
            evaluation.barrier &= !is_atomic(label);
        }
        let options = Options { atomicity: Atomicity::Split, listing: Listing::None, ..options.clone() };
        let known: BTreeSet<_> = findings.delays.iter().map(|delay| (delay.from, delay.to)).collect();
        let threads: BTreeSet<ThreadId> = plain
            .find(model, &options)
            .delays
            .iter()
            .filter(|delay| !known.contains(&(delay.from, delay.to)))
            .map(|delay| (self.graph.vertex(delay.from), self.graph.vertex(delay.to)))
            .filter(|(from, to)| from.instr != to.instr)
            .map(|(from, _)| from.thread)
            .collect();
        atomic.into_iter().filter(|&instr| threads.contains(&self.graph.instruction(instr).thread)).collect()
    }
}
