//! Program order for drawings: the evaluations of the event graph; without one, what control flow tells.
//!
//! An engine that looks at no event graph names accesses all the same, and a drawing wants to know which come first.
//! Then every instruction is one evaluation that makes all its accesses, reads before writes, and is followed by the
//! instructions that begin where it leads: more than the program does, perhaps, but nothing that its text does not say.

use crate::aeg::{Evaluation, Event, Sources};
use crate::analysis::Outcome;
use crate::ids::{InstrId, LabelId, VertexId};
use crate::lts::label::LabelKind;
use crate::memory::Kind;
use crate::program::InstructionKind;
use std::borrow::Cow;

/// The evaluations of instructions, each with those that follow it.
pub fn evaluations(outcome: &Outcome) -> Cow<'_, [Evaluation]> {
    match &outcome.analysis {
        Some(analysis) => Cow::Borrowed(&analysis.graph.evaluations),
        None => Cow::Owned(outcome.accesses.outline.instrs().map(|instr| evaluation(outcome, instr)).collect()),
    }
}

/// The one evaluation of an instruction; it has the instruction's number.
fn evaluation(outcome: &Outcome, instr: InstrId) -> Evaluation {
    let accesses = &outcome.accesses;
    let is_own = |kind: Kind| {
        let own = move |vertex: &VertexId| {
            let vertex = accesses.vertex(*vertex);
            vertex.instr == instr && vertex.kind == kind
        };
        accesses.vertex_ids().filter(own)
    };
    let reads = is_own(Kind::Read).count();
    let event = |(position, vertex)| Event {
        vertex,
        address: Sources::default(),
        data: Sources::default(),
        control: Sources::default(),
        before: (0..reads).filter(|_| position >= reads).collect(),
        level: 0,
    };
    let next = accesses.outline.target(instr).map(|control| &control.ways_out);
    let kind = outcome.source.as_ref().and_then(|source| source.kind(instr));
    Evaluation {
        thread: accesses.thread_of(instr),
        instr,
        barrier: matches!(kind, Some(InstructionKind::Fence | InstructionKind::Atomic)),
        kind: LabelKind::Plain,
        events: is_own(Kind::Read).chain(is_own(Kind::Write)).enumerate().map(event).collect(),
        condition: Sources::default(),
        locals: Vec::new(),
        successors: next.into_iter().flatten().map(|next| LabelId::new(next.index())).collect(),
    }
}
