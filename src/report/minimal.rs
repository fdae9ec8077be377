//! Whether fewer fences would do: one word for tables and one sentence for people, the same in all reports.
//!
//! What is proved is proved either of the program or only of its event graph, which asks for at least as much
//! ([`confirm`](crate::confirm)). Of a part of a state space, and of definitions that are known to miss something,
//! nothing is said about the program.

use super::unheeded::Unheeded;
use crate::aeg::Profile;
use crate::analysis::{Confirmation, Confirming, Inserted, ModelOutcome, Offered, Outcome};
use crate::cycles::ConflictRule;
use crate::placement::Minimality;
use crate::placement::cost::Costs;
use crate::text::counted;
use std::fmt;

/// Of what it is proved that no fewer fences would do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Minimal {
    /// Of the program: no cheaper fences are enough.
    Program,
    /// Of the event graph: no cheaper fences meet all that it has.
    EventGraph,
    /// Of an abstraction: no cheaper fences are enough for it.
    Abstraction,
    /// Of nothing.
    No,
}

impl fmt::Display for Minimal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Minimal::Program => "program",
            Minimal::EventGraph => "event-graph",
            Minimal::Abstraction => "abstraction",
            Minimal::No => "no",
        })
    }
}

impl Outcome {
    /// Of what it is proved that nothing less would do.
    #[must_use]
    pub fn minimal(&self, result: &ModelOutcome) -> Minimal {
        let is_sound = self.profile() == Profile::Sound && self.conflict_rule() != ConflictRule::Concurrent;
        match result.placement.minimality {
            _ if result.inserted != Inserted::Enough => Minimal::No,
            _ if self.explored.cut_off || result.stopped.is_some() => Minimal::No,
            Minimality::Greedy | Minimality::AtLeast(_) => Minimal::No,
            Minimality::Program | Minimality::EventGraph if !is_sound => Minimal::EventGraph,
            Minimality::Program => Minimal::Program,
            Minimality::Abstraction if result.fences.is_empty() => Minimal::Program,
            Minimality::Abstraction => Minimal::Abstraction,
            // There is nothing less than nothing.
            Minimality::EventGraph if result.fences.is_empty() => Minimal::Program,
            Minimality::EventGraph => Minimal::EventGraph,
        }
    }

    /// The same in words.
    #[must_use]
    pub fn minimal_in_words(&self, result: &ModelOutcome) -> String {
        // With weights, the cheapest fences need not be the fewest.
        let least = if self.options.costs == Costs::default() { "fewest" } else { "cheapest" };
        match &result.inserted {
            Inserted::Enough => {}
            Inserted::NotAtSites => return format!("{least}: no fences at the sites allowed are enough"),
            Inserted::Unfixable => return format!("{least}: no fences are enough"),
            Inserted::NotAbstractly(_) => return format!("{least}: not known (none are enough for the abstraction)"),
            Inserted::Undecided(needed, _) => {
                let most =
                    result.upper.as_ref().map_or(String::new(), |upper| format!(", {} enough", upper.fences.len()));
                return format!("{least}: not known (at least {needed} needed{most})");
            }
        }
        match (self.minimal(result), result.placement.minimality) {
            _ if result.stopped.is_some() => format!("{least}: not proved (stopped at a limit)"),
            (Minimal::No, _) if result.confirming == Confirming::NoMixture => {
                format!("{least}: not proved (the axioms of {} still allow a cycle)", result.model.name)
            }
            (Minimal::No, Minimality::Greedy) => format!("{least}: not proved (greedy placement)"),
            (Minimal::No, Minimality::AtLeast(needed)) if needed >= result.fences.len() && !result.locks.is_empty() => {
                format!("{least}: not proved (locks may be more than are needed)")
            }
            (Minimal::No, Minimality::AtLeast(needed)) => format!("{least}: not proved (at least {needed} needed)"),
            (Minimal::No, _) => format!("{least}: not proved (a part only)"),
            (Minimal::Program, _) if result.fences.is_empty() => format!("{least}: no fence"),
            (Minimal::Program, _) if result.fences.iter().all(|fence| !fence.runs.is_empty()) => {
                format!("{least}: each is needed by a run")
            }
            (Minimal::Program, _) if !self.engine.is_default() => {
                format!("{least}: each is needed for {}", self.engine.name)
            }
            (Minimal::Program, _) => {
                let fences = result.fences.len();
                format!("{least}: each is needed by a run ({fences} of {fences} confirmed)")
            }
            (Minimal::Abstraction, _) => {
                format!("{least} for the abstraction (the program may need fewer: --engine auto)")
            }
            (Minimal::EventGraph, _) if result.confirming.is_by_axioms() && self.options.kinds == Offered::Mixture => {
                format!("cheapest for the event graph, cost {}{}", result.placement.cost, self.reservations(result))
            }
            (Minimal::EventGraph, _) => format!("{least} for the event graph{}", self.reservations(result)),
        }
    }

    /// What keeps a statement about the event graph from being one about the program.
    fn reservations(&self, result: &ModelOutcome) -> String {
        let mut known = Vec::new();
        let confirmed = result.num_of(Confirmation::Yes);
        let delays = counted(result.confirmations.len() - result.infeasible.len(), "delay");
        match result.confirming {
            Confirming::NotAsked => {}
            Confirming::NoMachine => known.push(format!("not confirmed: no machine runs {}", result.model.name)),
            Confirming::Unperformed => known.push(format!(
                "not confirmed: the machine of {} does not perform atomic instructions that are no full fences",
                result.model.name
            )),
            Confirming::ByAxioms => {
                known.push(format!("every critical cycle was judged by the axioms of {}", result.model.name));
            }
            Confirming::ByAxiomsRoughly => known.push(format!(
                "every critical cycle was judged by the axioms of {}, those round loops by the weakest way: marks on accesses between might do for less",
                result.model.name
            )),
            Confirming::TooManyCycles(steps) => known.push(format!(
                "full fences only: there are too many critical cycles for the axioms of {} to judge each, more than {}",
                result.model.name,
                counted(steps, "step")
            )),
            Confirming::NoMixture => {
                known.push(format!("the axioms of {} allow a cycle whatever is put in", result.model.name));
            }
            Confirming::Done => known.push(format!("{confirmed} of {delays} confirmed")),
            Confirming::OfFew => known.push(format!("{confirmed} of {delays} confirmed by runs of few threads")),
            Confirming::OutOfStates(states) => {
                known.push(format!(
                    "{confirmed} of {delays} confirmed, the rest not within {}",
                    counted(states, "state")
                ));
            }
            Confirming::Stopped(limit) => {
                known.push(format!("{confirmed} of {delays} confirmed, the rest not within {limit}"));
            }
        }
        let Unheeded { fences, marked } = Unheeded::of(self);
        match (fences.is_empty(), marked.is_empty()) {
            _ if result.confirming.is_by_axioms() => {}
            (true, true) => {}
            (false, true) => known.push("partial fences are not counted".to_owned()),
            (true, false) => known.push("marks on accesses are not counted".to_owned()),
            (false, false) => known.push("partial fences and marks on accesses are not counted".to_owned()),
        }
        if known.is_empty() { String::new() } else { format!(" ({})", known.join("; ")) }
    }
}

/// How many delays were confirmed, and what is known of the others; nothing where nothing was found out.
#[must_use]
pub fn confirmed_in_words(result: &ModelOutcome) -> Option<String> {
    let [yes, no, no_longer, unknown] =
        [Confirmation::Yes, Confirmation::No, Confirmation::NoLonger, Confirmation::Unknown]
            .map(|confirmation| result.num_of(confirmation));
    let is_asked = match result.confirming {
        Confirming::Done | Confirming::OfFew | Confirming::OutOfStates(_) | Confirming::Stopped(_) => true,
        Confirming::ByAxioms | Confirming::ByAxiomsRoughly => {
            let all = result.confirmations.len();
            let unfenced = if result.infeasible.is_empty() { "" } else { " and get no fence" };
            return (no > 0).then(|| {
                format!("delays: {all}, of which {no} {} on no cycle that the axioms allow{unfenced}", are(no))
            });
        }
        Confirming::NotAsked
        | Confirming::NoMachine
        | Confirming::NoMixture
        | Confirming::Unperformed
        | Confirming::TooManyCycles(_) => false,
    };
    let all = result.confirmations.len();
    if all == 0 || (!is_asked && yes == 0) {
        return None;
    }
    let mut parts = vec![format!("delays: {all}, of which {yes} {} confirmed by a run", were(yes))];
    let unfenced = match result.infeasible.len() {
        0 => "",
        1 => " and needs no fence",
        _ => " and need no fence",
    };
    if no > 0 {
        parts.push(format!("{no} {} proved infeasible{unfenced}", were(no)));
    }
    if no_longer > 0 {
        parts.push(format!("{no_longer} {} proved infeasible with the fences in place", were(no_longer)));
    }
    match result.confirming {
        Confirming::OutOfStates(states) if unknown > 0 => {
            parts.push(format!("{unknown} {} not decided within {}", were(unknown), counted(states, "state")));
        }
        Confirming::Stopped(limit) if unknown > 0 => {
            parts.push(format!("{unknown} {} not decided within {limit}", were(unknown)));
        }
        Confirming::OfFew if unknown > 0 => {
            parts.push(format!("for {unknown} no run of two or three threads was found"));
        }
        Confirming::Done if unknown > 0 => {
            parts.push(format!("for {unknown} no run was found, which proves nothing under {}", result.model.name));
        }
        _ => {}
    }
    Some(parts.join("; "))
}

/// `was` or `were`.
fn are(number: usize) -> &'static str {
    if number == 1 { "is" } else { "are" }
}

fn were(number: usize) -> &'static str {
    if number == 1 { "was" } else { "were" }
}
