//! What is said of a model in which something never happens, or nothing can conflict.

use super::arguments::LimitArguments;
use super::info::CHEAP_STATES;
use super::specification::Specification;
use crate::aeg::Profile;
use crate::analysis::Analysis;
use crate::caveat::idle::Happenings;
use crate::caveat::{Caveat, conflicts};
use crate::explore::Stop;
use crate::explore::observe::{FactsObserver, facts};
use crate::source::Source;

/// The caveats; the analysis is of the facts that the happenings are of, before its instructions are read in any
/// other way.
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

/// The caveats of a program whose whole state space nobody has looked at: engines look at more than that, or at less,
/// and a program that is only run is not analysed. So it is explored for itself, as far as that is cheap.
pub fn explored(specification: &Specification, limits: &LimitArguments) -> Vec<Caveat> {
    let most = limits.max_states.map_or(CHEAP_STATES, |states| states.min(CHEAP_STATES));
    let limits = LimitArguments { max_states: Some(most), strict: false, ..limits.clone() };
    // What is wrong is said by whoever meets it.
    let Ok((exploration, watchers)) = specification.search(&limits, &mut FactsObserver) else { return Vec::new() };
    if exploration.stop != Stop::Complete {
        return Vec::new();
    }
    let facts = facts(&specification.program, &watchers, (exploration.states.len() as u64, exploration.transitions));
    of_whole(&Happenings::of(&facts), &Analysis::new(facts, Profile::Sound), specification)
}

/// All that must be known of a specification: what its analysis rests on, and what never happens.
pub fn of_whole(happenings: &Happenings, whole: &Analysis, specification: &Specification) -> Vec<Caveat> {
    let mut all = whole.caveats.clone();
    all.extend(caveats(happenings, whole, Some(specification)));
    all
}
