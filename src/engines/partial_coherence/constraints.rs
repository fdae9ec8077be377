//! The paper's way to fences: ordering constraints, and a formula over them.
//!
//! A constraint `[a < b]` on two instructions of a thread says that nothing written by `a` waits when `b` accesses
//! memory. Fences enforce it if there is one on every way from `a` to `b`. A step of a run by `b`, an access while
//! something waits, is *prevented* by one enforced constraint `[a < b]` for some `a` that waits; of sets that were
//! united, where a write may be missing, all of them must be enforced. A run can no longer be if one of its steps is
//! prevented.
//!
//! The program is searched without fences, and what is prevented is left out. A run to a bad state that is left
//! demands: for each of its steps and each way to prevent that, a constraint that is not enforced, and so a site on a
//! way from `a` to `b` that has no fence. One of all these sites must get one. (The paper computes the formula for all
//! states at once, as decision diagrams; this adds to it what is needed, one run after the other, and looks for the
//! fewest fences, not constraints.)
//!
//! What [`runs`](super::runs) demands asks for less: a fence stops a thread as long as *anything* waits.
//!
//! *Limit.* Instructions with one access: between those of one instruction there is no constraint.

use super::coherence::Coherence;
use super::expander::Traced;
use super::layout::Layout;
use super::space::{Enforced, Space};
use crate::engines::automata::replay::Scheduled;
use crate::engines::automata::{Automata, Operation};
use crate::ids::{ControlAt, InstrAt, ThreadAt};
use crate::outline::{Outline, Place, Site};
use crate::program::{At, InstructionKind, Program, Thread};
use std::collections::{BTreeSet, VecDeque};

/// The ways through a thread, with fences on them.
struct Flow<'f> {
    thread: &'f Thread,
    position: ThreadAt,
    outline: &'f Outline,
    fences: &'f BTreeSet<Site>,
}

impl Flow<'_> {
    /// The sites that are passed from the end of one instruction to the beginning of another.
    fn between(&self, from: InstrAt, to: InstrAt) -> Vec<Site> {
        let instr = |instruction: InstrAt| self.outline.instr(At { thread: self.position, instruction });
        let mut sites = vec![Site::after(instr(from)), Site::before(instr(to))];
        sites.extend(self.outline.site_behind(instr(from)));
        sites
    }

    /// The sites on a shortest way from one instruction to another that has no fence, if there is one.
    fn open(&self, from: InstrAt, to: InstrAt) -> Option<Vec<Site>> {
        let instructions = || InstrAt::all(self.thread.instructions.len());
        let target = |instruction: InstrAt| -> ControlAt { self.thread.instruction(instruction).to };
        // Nothing waits behind a fence of the program.
        let passes = |instruction: &InstrAt| match self.thread.instruction(*instruction).kind {
            InstructionKind::Plain | InstructionKind::Marked(_) | InstructionKind::PartialFence(_) => true,
            InstructionKind::Fence | InstructionKind::Atomic | InstructionKind::Rmw(_) => false,
        };
        let mut before: Vec<Option<InstrAt>> = vec![None; self.thread.instructions.len()];
        let mut queue = VecDeque::from([from]);
        while let Some(at) = queue.pop_front() {
            let is_next = |next: &InstrAt| self.thread.instruction(*next).from == target(at);
            for next in instructions().filter(is_next) {
                let is_open = self.between(at, next).iter().all(|site| !self.fences.contains(site));
                if !is_open || before[next.index()].is_some() {
                    continue;
                }
                before[next.index()] = Some(at);
                if next == to {
                    let mut sites = Vec::new();
                    let mut at = next;
                    loop {
                        let earlier = before[at.index()]?;
                        sites.extend(self.between(earlier, at));
                        if earlier == from {
                            return Some(sites);
                        }
                        at = earlier;
                    }
                }
                queue.extend(Some(next).filter(passes));
            }
        }
        None
    }
}

/// The constraints that fences enforce, and what runs that are left demand.
pub struct Constraints<'c> {
    program: &'c Program,
    outline: &'c Outline,
    /// Not those inside instructions.
    fences: BTreeSet<Site>,
}

impl<'c> Constraints<'c> {
    /// Of these fences.
    pub fn new(program: &'c Program, outline: &'c Outline, fences: &BTreeSet<Site>) -> Constraints<'c> {
        let is_between = |site: &&Site| !matches!(site.place, Place::Inside(_));
        Constraints { program, outline, fences: fences.iter().filter(is_between).copied().collect() }
    }

    fn flow(&self, thread: usize) -> Flow<'_> {
        let position = ThreadAt::new(thread);
        Flow { thread: self.program.thread(position), position, outline: self.outline, fences: &self.fences }
    }

    /// For each thread and label what must not wait.
    pub fn enforced(&self, layout: &Layout) -> Enforced {
        let of_thread = |thread: usize| {
            let flow = self.flow(thread);
            let of_label = |label: InstrAt| {
                let queues = layout.queues[layout.of_thread[thread].clone()].iter();
                let of_queue = |queue: &super::layout::Queue| {
                    let is_enforced = |entry: &usize| flow.open(InstrAt(queue.entries[*entry].label), label).is_none();
                    (0..queue.entries.len()).filter(is_enforced).fold(0, |bits, entry| bits | 1 << entry)
                };
                queues.map(of_queue).collect()
            };
            InstrAt::all(self.program.threads[thread].instructions.len()).map(of_label).collect()
        };
        (0..self.program.threads.len()).map(of_thread).collect()
    }

    /// The sites of which a run demands one: its steps, and the state before each.
    pub fn demand(
        &self,
        space: &Space<'_>,
        automata: &Automata<'_>,
        coherence: Coherence,
        (traced, states): (&[Traced], &[Vec<u64>]),
    ) -> BTreeSet<Site> {
        let mut sites = BTreeSet::new();
        for (Traced { step, .. }, before) in traced.iter().zip(states) {
            let Scheduled::Step(thread, number) = *step else { continue };
            let known = &automata.threads[thread].transitions[number as usize];
            if known.operation == Operation::Silent {
                continue;
            }
            let flow = self.flow(thread);
            let open = |label: &u32| flow.open(InstrAt(*label), InstrAt(known.label));
            let waiting = space.waiting_labels(before, thread);
            let mut open = waiting.iter().filter_map(open);
            match coherence {
                // One that is not enforced leaves all of them without use.
                Coherence::Partial(_) => sites.extend(open.next().into_iter().flatten()),
                Coherence::Set | Coherence::Full(_) => sites.extend(open.flatten()),
            }
        }
        sites
    }
}
