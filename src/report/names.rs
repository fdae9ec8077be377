//! How things are called in reports: in the program's own words.

pub use crate::text::counted;

use crate::aeg::{Accesses, Profile};
use crate::analysis::{Confirmation, Confirming, Outcome, Verification};
use crate::cycles::{Atomicity, ConflictRule};
use crate::ids::{InstrId, LabelId, LocationId, VertexId};
use crate::lts::label::StepsOf;
use crate::outline::{Place, Site};
use crate::placement::Method;
use crate::placement::cost::place_name;

/// The instruction with its thread: `T0.3`.
#[must_use]
pub fn instruction(accesses: &Accesses, instr: InstrId) -> String {
    let (thread, name) = accesses.names_of(instr);
    format!("{thread}.{name}")
}

/// What the instruction does, as its labels say: `v[0] := v[0]`. Of several labels the fullest is shown, with an
/// ellipsis if there are others as full.
#[must_use]
pub fn instruction_text(outcome: &Outcome, instr: InstrId) -> String {
    // Without an event graph there are no labels, but then there is a specification.
    let Some(analysis) = &outcome.analysis else { return String::new() };
    let size = |label: &LabelId| {
        let label = &analysis.labels[label.index()];
        (label.has_write(), !label.refused, analysis.graph.shown(&StepsOf(label).to_string()).len())
    };
    let labels = &analysis.graph.instruction(instr).labels;
    let Some(fullest) = labels.iter().copied().reduce(|best, next| if size(&next) > size(&best) { next } else { best })
    else {
        return String::new();
    };
    let accesses = |label: LabelId| analysis.graph.evaluation(label).events.iter().map(|event| event.vertex);
    let shown: Vec<VertexId> = accesses(fullest).collect();
    let others = labels.iter().any(|&label| accesses(label).any(|vertex| !shown.contains(&vertex)));
    let text = analysis.graph.shown(&StepsOf(&analysis.labels[fullest.index()]).to_string());
    if others { format!("{text} …") } else { text }
}

/// The access alone: `W b0`.
#[must_use]
pub fn access(accesses: &Accesses, vertex: VertexId) -> String {
    let vertex = accesses.vertex(vertex);
    format!("{} {}", vertex.kind, location(accesses, vertex.location))
}

/// The location.
#[must_use]
pub fn location(accesses: &Accesses, location: LocationId) -> &str {
    &accesses.locations[location.index()]
}

/// Where at an instruction, so that its name can follow.
#[must_use]
pub fn place(place: Place) -> String {
    match place {
        Place::State => "at the state behind".to_owned(),
        Place::Before | Place::Inside(_) | Place::On | Place::After => place_name(place),
    }
}

/// The point as cost files write it: `T0.3 after`.
#[must_use]
pub fn point(accesses: &Accesses, point: Site) -> String {
    format!("{} {}", instruction(accesses, point.instr), place_name(point.place))
}

/// The point of a fence in a list of such: those after instructions are called after them.
#[must_use]
pub fn fence(accesses: &Accesses, site: Site) -> String {
    match site.place {
        Place::After => instruction(accesses, site.instr),
        _ => point(accesses, site),
    }
}

/// `yes` or `no`.
#[must_use]
pub fn yes_no(value: bool) -> &'static str {
    if value { "yes" } else { "no" }
}

/// Whether a run was found that needs a delay: `yes`, `no`, `no longer` (with the fences in place) or `unknown`.
#[must_use]
pub fn confirmed(confirmation: Confirmation) -> &'static str {
    match confirmation {
        Confirmation::Yes => "yes",
        Confirmation::No => "no",
        Confirmation::NoLonger => "no longer",
        Confirmation::Unknown => "unknown",
    }
}

/// How far delays were confirmed, in a word or two.
#[must_use]
pub fn confirming(confirming: Confirming) -> &'static str {
    match confirming {
        Confirming::NotAsked => "not asked",
        Confirming::NoMachine => "no machine",
        Confirming::Unperformed => "not performed",
        Confirming::ByAxioms | Confirming::ByAxiomsRoughly => "axioms",
        Confirming::TooManyCycles(_) => "too many cycles",
        Confirming::NoMixture => "no mixture",
        Confirming::Done => "done",
        Confirming::OfFew => "few-threads",
        Confirming::OutOfStates(_) => "out of states",
        Confirming::Stopped(_) => "stopped",
    }
}

/// As `--profile` takes it.
#[must_use]
pub fn profile(profile: Profile) -> &'static str {
    match profile {
        Profile::Sound => "sound",
        Profile::Literal => "literal",
        Profile::Published => "published",
    }
}

/// As `--conflicts` takes it.
#[must_use]
pub fn conflicts(rule: ConflictRule) -> &'static str {
    match rule {
        ConflictRule::Auto => "auto",
        ConflictRule::Concurrent => "concurrent",
        ConflictRule::Reachable => "reachable",
    }
}

/// As `--atomicity` takes it.
#[must_use]
pub fn atomicity(atomicity: Atomicity) -> &'static str {
    match atomicity {
        Atomicity::Full => "full",
        Atomicity::Updates => "updates",
        Atomicity::Presumed => "presumed",
        Atomicity::Split => "split",
    }
}

/// What running the repaired program has shown.
#[must_use]
pub fn verification(verification: &Verification) -> &'static str {
    match verification {
        Verification::NotAsked => "not asked",
        Verification::Verified(_) => "yes",
        Verification::Violated => "violated",
        Verification::Bounded(_) => "up to a bound",
        Verification::Undecided(_) => "not decided",
    }
}

/// As `--placement` takes it.
#[must_use]
pub fn placement(method: Method) -> &'static str {
    match method {
        Method::Exact => "exact",
        Method::Greedy => "greedy",
    }
}
