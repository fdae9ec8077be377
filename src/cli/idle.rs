//! What is said of a model in which something never happens, or nothing can conflict.

use super::specification::Specification;
use crate::analysis::Analysis;
use crate::caveat::idle::Happenings;
use crate::caveat::{Caveat, conflicts};
use crate::source::Source;

/// The caveats; the analysis is of the facts that the happenings are of, before its instructions are read in any other way.
pub fn caveats(happenings: &Happenings, whole: &Analysis, specification: Option<&Specification>) -> Vec<Caveat> {
    // If only a part of the state space is known, nothing is said of what never happens: it may, elsewhere.
    if whole.cut_off {
        return Vec::new();
    }
    let source = specification.map(|specification| {
        let Specification { name, text, program, .. } = specification;
        Source::new(name.clone(), text.clone(), program.clone())
    });
    let mut caveats = happenings.caveats(&whole.graph, source.as_ref());
    caveats.extend(conflicts::caveats(&whole.graph, source.is_none()));
    caveats
}
