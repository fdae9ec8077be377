//! Atomic instructions that do the work of a fence.
//!
//! An atomic instruction is a full fence on every memory model here. Not every way of making one atomic is: a
//! lock-prefixed instruction is on x86, a load-linked/store-conditional loop on ARMv7 is not. So whoever relies on it
//! should know. An atomic instruction stands where a fence would be needed if there is a delay across it, or from or
//! to one of its accesses, as soon as the atomic instructions of its thread order nothing but themselves.
//!
//! The delays of each such thread are computed once more, on the event graph with its atomic instructions taken for
//! plain ones, and with the locks in place that were found; those of other threads stay as they are, since cycles
//! pass through them. *Cost*: an analysis for each thread with atomic instructions. The event graph is not confirmed,
//! so some run may not need the fence after all: it is a remark, not a finding.

use crate::analysis::{Analysis, ModelOutcome, Options};
use crate::cycles::{Atomicity, Delay, Listing};
use crate::ids::{InstrId, ThreadId};
use crate::lts::label::LabelKind;
use std::collections::BTreeSet;

impl Analysis {
    /// The atomic instructions that stand where a fence would be needed, besides those that the result asks for.
    #[must_use]
    pub fn atomic_fences(&self, options: &Options, result: &ModelOutcome) -> Vec<InstrId> {
        let instructions = self.labels.iter().zip(&self.graph.evaluations);
        let atomic: BTreeSet<InstrId> = instructions
            .filter(|(label, _)| label.kind == LabelKind::Atomic)
            .map(|(_, evaluation)| evaluation.instr)
            .collect();
        let thread = |instr: InstrId| self.graph.thread_of(instr);
        let known: BTreeSet<_> = result.all_delays().map(|delay| (delay.from, delay.to)).collect();
        let mut named = BTreeSet::new();
        for of in atomic.iter().map(|&instr| thread(instr)).collect::<BTreeSet<ThreadId>>() {
            let own: Vec<InstrId> = atomic.iter().copied().filter(|&instr| thread(instr) == of).collect();
            let across = self.delays_without_barriers(&own, options, result);
            let new = across.iter().filter(|delay| !known.contains(&(delay.from, delay.to)));
            for delay in new.filter(|delay| self.graph.vertex(delay.from).thread == of) {
                named.extend(own.iter().filter(|&&instr| self.is_between(instr, delay)));
            }
        }
        named.into_iter().collect()
    }

    /// The delays if these atomic instructions were plain ones, with the locks that were found.
    fn delays_without_barriers(&self, atomic: &[InstrId], options: &Options, result: &ModelOutcome) -> Vec<Delay> {
        let mut plain = self.clone();
        for evaluation in &mut plain.graph.evaluations {
            evaluation.barrier |= result.findings.in_place.locked.contains(&evaluation.instr);
            evaluation.barrier &= !atomic.contains(&evaluation.instr);
        }
        let options = Options { atomicity: Atomicity::Split, listing: Listing::None, ..options.clone() };
        plain.find(&result.model, &options).delays
    }

    /// Whether some path of a delay passes the instruction, or begins or ends with it; not if it does both.
    fn is_between(&self, instr: InstrId, delay: &Delay) -> bool {
        let own = |vertex| self.graph.vertex(vertex).instr == instr;
        if own(delay.from) || own(delay.to) {
            return own(delay.from) != own(delay.to);
        }
        let mut passed = self.order.after(delay.from).filter(|&vertex| own(vertex));
        passed.any(|vertex| self.order.contains(vertex, delay.to))
    }
}
