//! What orders memory in a program and is not counted: partial fences, and marks on accesses.
//!
//! They are known from the text, or from the labels of a state space.

use crate::analysis::Outcome;
use crate::lts::label::LabelKind;
use crate::ordering::{Marks, PartialFence};

/// Instructions, by their names with those of their threads.
#[derive(Default)]
pub(super) struct Unheeded {
    /// Partial fences, each with its kind.
    pub fences: Vec<(String, PartialFence)>,
    /// Instructions whose accesses have marks that order something.
    pub marked: Vec<String>,
}

impl Unheeded {
    /// All partial fences and marks of what was analysed.
    pub(super) fn of(outcome: &Outcome) -> Unheeded {
        let mut found = Unheeded::default();
        match (&outcome.source, &outcome.analysis) {
            (Some(source), _) => {
                let program = &source.program;
                program.instructions_at().for_each(|(at, known)| found.put(known.kind.into(), || program.name_of(at)));
            }
            (None, Some(analysis)) => {
                let labels = analysis.labels.iter().zip(&analysis.graph.evaluations);
                for (label, evaluation) in labels {
                    let (thread, instr) = outcome.accesses.names_of(evaluation.instr);
                    found.put(label.kind, || format!("{thread}.{instr}"));
                }
            }
            (None, None) => {}
        }
        found
    }

    fn put(&mut self, kind: LabelKind, name: impl FnOnce() -> String) {
        match kind {
            LabelKind::PartialFence(kind) => put(&mut self.fences, (name(), kind)),
            LabelKind::Marked(marks) | LabelKind::Rmw(marks) if orders(marks) => put(&mut self.marked, name()),
            _ => {}
        }
    }
}

fn put<T: PartialEq>(found: &mut Vec<T>, what: T) {
    if !found.contains(&what) {
        found.push(what);
    }
}

/// Whether they order something: relaxed accesses are as plain ones here.
fn orders(marks: Marks) -> bool {
    [Marks::ACQUIRE, Marks::ACQUIRE_PC, Marks::RELEASE, Marks::SC].into_iter().any(|mark| marks.has(mark))
}
