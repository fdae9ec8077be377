//! What reports say of how a result was found: of the engine, nothing of the default one, and of what was left out of
//! account.

use super::unheeded::Unheeded;
use super::{names, prose};
use crate::analysis::{Abstraction, ModelOutcome, Outcome};
use crate::outline::Place;
use crate::property::{Property, PropertyKind};
use std::fmt::{self, Write};

/// What the result guarantees, and how it was found: a sentence each.
pub(super) fn guarantee(outcome: &Outcome) -> Vec<String> {
    let engine = &outcome.engine;
    let mut sentences = Vec::new();
    if !engine.is_default() {
        let what = outcome.property.kind().in_words();
        sentences.push(match outcome.property.condition() {
            None => format!("engine {}, which guarantees {what}", engine.name),
            Some(condition) => format!("engine {}, which guarantees {condition} ({what})", engine.name),
        });
    }
    if outcome.property == Property::Persistent && outcome.explored.states == 0 {
        sentences.push("what its threads write and read decides it: no state had to be explored".to_owned());
    }
    let how = engine.abstraction.map(|abstraction| match abstraction {
        Abstraction::Flattening(bound) => format!("flattened (--abstraction {bound})"),
        Abstraction::Environment => {
            "each thread alone among what others may write (--abstraction environment)".to_owned()
        }
        Abstraction::Pairs => "two threads at a time among what others may write (--abstraction pairs)".to_owned(),
    });
    let enough = match outcome.explored.cut_off {
        false => "the fences are enough, and 'fewest' tells whether all are needed",
        true => "a limit was reached before that was done, and fences may be missing",
    };
    let whose = if engine.is_default() { "these searches; the program was not explored in full" } else { "all pivots" };
    sentences.extend(how.map(|how| format!("{how}: {enough}; states are those of {whose}")));
    sentences
}

/// Engines that run the program, fence by fence.
const KNOW_PARTIAL_FENCES: [&str; 3] = ["auto", "buffer-automata", "store-buffers"];
/// Engines that know all of them, and marks on accesses.
const KNOW_MARKS: [&str; 1] = ["axioms"];

/// Partial fences and marks, which the analysis takes for nothing.
pub(super) fn left_out(outcome: &Outcome) -> Option<String> {
    let knows = |who: &[&str]| who.contains(&&*outcome.engine.name);
    let mut unheeded = Unheeded::of(outcome);
    // Where nothing is needed, nothing was left out.
    let by_axioms = |result: &ModelOutcome| {
        result.confirming.is_by_axioms() || result.complete && result.fences.is_empty() && result.locks.is_empty()
    };
    if knows(&KNOW_MARKS) || !outcome.results.is_empty() && outcome.results.iter().all(by_axioms) {
        unheeded = Unheeded::default();
    }
    if knows(&KNOW_PARTIAL_FENCES) {
        // Store buffers keep the order of stores behind a fence, or are emptied: nothing is in between.
        unheeded.fences.retain(|(_, kind)| kind.orders_loads_behind_stores());
    }
    let (first, others) = match (&unheeded.fences[..], &unheeded.marked[..]) {
        ([(only, _)], []) => (only, " is a partial fence, and".to_owned()),
        ([(first, _), more @ ..], []) => (first, format!(" and {} more are partial fences, and", more.len())),
        ([], [only]) => (only, " has marks on its accesses,".to_owned()),
        ([], [first, more @ ..]) => (first, format!(" and {} more have marks on their accesses,", more.len())),
        ([(first, _), ..], [marked, ..]) => {
            (first, format!(" is a partial fence, {marked} has marks on its accesses, and such are"))
        }
        ([], []) => return None,
    };
    Some(format!("{first}{others} not taken into account: fewer fences may do ('seqcon verify --as-is' decides)"))
}

/// What it rests on that the fences are enough, and what robustness would need besides.
pub(super) fn write_ladder(outcome: &Outcome, result: &ModelOutcome, out: &mut dyn Write) -> fmt::Result {
    if let Some(ground) = &result.ground {
        prose::write(out, 2, 4, &format!("enough by {ground}"))?;
    }
    let Some(ladder) = &result.ladder else { return Ok(()) };
    let spared: Vec<String> = ladder.spared.iter().map(|&site| names::point(&outcome.accesses, site)).collect();
    // Of an event graph alone it is not proved that the program needs as many.
    let need = if ladder.is_fewest { "would need" } else { "would get (not proved to be the fewest)" };
    let sentence = match (ladder.fences, &spared[..]) {
        (0, _) => "robustness needs no fence either: every run is sequentially consistent".to_owned(),
        (1, []) => format!("robustness {need} 1 fence, and the property asks for it, too"),
        (fences, []) => format!("robustness {need} {fences} fences, and the property asks for each of them"),
        (fences, spared) => {
            let spared = spared.join(", ");
            format!(
                "robustness {need} {}, of which the property does not ask for {spared}",
                names::counted(fences, "fence")
            )
        }
    };
    prose::write(out, 2, 4, &sentence)
}

/// The minimal sets of fences, part by part.
pub(super) fn write_minimal_sets(outcome: &Outcome, result: &ModelOutcome, out: &mut dyn Write) -> fmt::Result {
    let Some(sets) = &result.minimal_sets else { return Ok(()) };
    let accesses = &outcome.accesses;
    let more = match (sets.complete, result.stopped) {
        (true, _) => String::new(),
        (false, None) => " (and more: the limit of --minimal-sets was reached)".to_owned(),
        (false, Some(limit)) => format!(" (and more: stopped at {limit})"),
    };
    match (&sets.parts[..], outcome.property.kind()) {
        (parts, PropertyKind::Persistent) if !parts.is_empty() => {
            writeln!(out, "  minimal sets of fences, each to be combined with one of every other thread{more}:")?;
        }
        (parts, _) => writeln!(out, "  {} minimal sets of fences{more}:", parts.iter().map(Vec::len).sum::<usize>())?,
    }
    for set in sets.parts.iter().flatten() {
        let are_after = set.iter().all(|site| site.place == Place::After);
        let names: Vec<String> = match are_after {
            true => set.iter().map(|&site| names::instruction(accesses, site.instr)).collect(),
            false => set.iter().map(|&site| names::point(accesses, site)).collect(),
        };
        match (set.is_empty(), are_after) {
            (true, _) => writeln!(out, "    none")?,
            (false, true) => writeln!(out, "    after {}", names.join(", "))?,
            (false, false) => writeln!(out, "    {}", names.join(", "))?,
        }
    }
    Ok(())
}
