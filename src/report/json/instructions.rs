//! The instructions of `report.json`: what a comparison of two versions of a program goes by.

use crate::analysis::Outcome;
use crate::ids::{ControlId, InstrId};
use crate::lts::label::LabelKind;
use crate::report::identity;
use serde::Serialize;

/// An instruction.
#[derive(Serialize)]
pub(super) struct InstructionObject<'a> {
    thread: &'a str,
    instruction: &'a str,
    /// What it says.
    text: String,
    /// What it is, whatever it is called.
    identity: String,
    /// `plain`, `fence` or `atomic`, the latter two with what they order if that is less than all; marks.
    kind: String,
    /// The control states between which it leads, if they are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<&'a str>,
}

/// All of them.
pub(super) fn instruction_objects(outcome: &Outcome) -> Vec<InstructionObject<'_>> {
    let accesses = &outcome.accesses;
    let control = |instr: InstrId| {
        let way = accesses.outline.instruction(instr).way?;
        let name = |control: ControlId| accesses.outline.controls[control.index()].name.as_str();
        Some((name(way.from), name(way.to)))
    };
    let object = |(instr, identity): (InstrId, String)| {
        let (thread, instruction) = accesses.names_of(instr);
        let (from, to) = control(instr).unzip();
        InstructionObject {
            thread,
            instruction,
            text: identity::text(outcome, instr),
            identity,
            kind: kind(outcome, instr),
            from,
            to,
        }
    };
    accesses.outline.instrs().zip(identity::identities(outcome)).map(object).collect()
}

/// How it takes part in the ordering, in a word or two.
fn kind(outcome: &Outcome, instr: InstrId) -> String {
    let written = outcome.source.as_ref().and_then(|source| source.kind(instr)).map(LabelKind::from);
    let shown = || {
        let analysis = outcome.analysis.as_ref()?;
        let label = analysis.graph.instruction(instr).labels.first()?;
        Some(analysis.labels[label.index()].kind)
    };
    match written.or_else(shown).unwrap_or(LabelKind::Plain) {
        LabelKind::Plain => "plain".to_owned(),
        LabelKind::Marked(marks) => marks.to_string(),
        LabelKind::Fence => "fence".to_owned(),
        LabelKind::PartialFence(kind) => format!("fence {kind}"),
        LabelKind::Atomic => "atomic".to_owned(),
        LabelKind::Rmw(marks) => format!("atomic [{marks}]"),
    }
}
