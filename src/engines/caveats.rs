//! What must be known of a program before any engine's answer is believed: what never happens in it, and what nothing
//! can conflict with.

use super::Subject;
use crate::aeg::Profile;
use crate::analysis::Analysis;
use crate::budget::Budget;
use crate::caveat::idle::Happenings;
use crate::caveat::{Caveat, conflicts};
use crate::explore::observe::{FactsObserver, facts};
use crate::explore::{Limits, Stop, explore};
use crate::facts::Facts;
use crate::specification::Specification;

/// As far as a program is explored only for what never happens in it.
pub const CHEAP_STATES: usize = 100_000;

/// What never happens in what was analysed; the analysis is of the facts that the happenings are of, before its
/// instructions are read in any other way.
pub(super) fn of_whole(happenings: &Happenings, whole: &Analysis, subject: Subject<'_>) -> Vec<Caveat> {
    let mut caveats = whole.caveats.clone();
    // If only a part of the state space is known, nothing is said of what never happens: it may, elsewhere.
    if whole.cut_off {
        return caveats;
    }
    let source = match subject {
        Subject::Program(specification) => Some(specification.source()),
        Subject::StateSpace(_) => None,
    };
    caveats.extend(happenings.caveats(&whole.graph, source.as_ref()));
    caveats.extend(conflicts::caveats(&whole.graph, source.is_none()));
    caveats
}

/// The caveats of a program whose whole state space nobody has looked at: some engines look at more than that, or at
/// less, and a program that is only run is not analysed. So it is explored for itself, as far as that is cheap.
pub(super) fn explored(specification: &Specification, limits: &Limits<'_>) -> Vec<Caveat> {
    let most = limits.states.map_or(CHEAP_STATES, |states| states.min(CHEAP_STATES));
    let limits = Limits { states: Some(most), invariants: &[], ..*limits };
    // What is wrong is said by whoever meets it.
    let Ok((exploration, watchers)) = explore(&specification.compiled, &limits, &mut FactsObserver) else {
        return Vec::new();
    };
    if exploration.stop != Stop::Complete {
        return Vec::new();
    }
    let size = (exploration.states.len() as u64, exploration.transitions);
    let facts = facts(&specification.program, &watchers, size);
    of_facts(facts, Subject::Program(specification), &Budget::default())
}

/// What must be known of a program, or of a state space, by its facts.
#[must_use]
pub fn of_facts(facts: Facts, subject: Subject<'_>, budget: &Budget) -> Vec<Caveat> {
    let happenings = Happenings::of(&facts);
    of_whole(&happenings, &Analysis::within(facts, Profile::Sound, budget), subject)
}
