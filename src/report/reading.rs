//! What reports say of instructions with several accesses: how they were read, what other readings would answer, and which atomic instructions do the work of a fence (method §8).

use super::names;
use crate::aeg::Profile;
use crate::analysis::{ModelOutcome, Outcome};
use crate::cycles::Atomicity;
use crate::ids::InstrId;

/// All of it, a sentence each.
pub(super) fn sentences(outcome: &Outcome, result: &ModelOutcome) -> Vec<String> {
    let sentences = [interrupted(outcome), reading(outcome, result), others(result), atomic_fences(outcome, result)];
    sentences.into_iter().flatten().collect()
}

/// One sentence on how instructions with several accesses were read; nothing if there are none.
fn reading(outcome: &Outcome, result: &ModelOutcome) -> Option<String> {
    let (named, several) = (first_of(outcome, &result.composites)?, result.composites.len() > 1);
    let (are, one) = if several { ("are", "one step each") } else { ("is", "one step") };
    let option = format!("(--atomicity {})", names::atomicity(outcome.options.atomicity));
    Some(match outcome.options.atomicity {
        Atomicity::Full if result.findings.torn.is_empty() => {
            format!("{named} {are} to be {one}, and cannot be torn {option}")
        }
        Atomicity::Full => format!("{named} {are} to be {one}: what can be torn gets a lock {option}"),
        Atomicity::Updates => {
            format!("{named} {are} to be {one} if written to, and conditions are performed read by read {option}")
        }
        Atomicity::Presumed => {
            format!("{named} {are} presumed to be atomic, and ordered like a full fence, by other means {option}")
        }
        Atomicity::Split if outcome.analysis.profile == Profile::Published => {
            format!("{named} {are} not checked for being torn, as in the paper {option}")
        }
        Atomicity::Split => format!("{named} {are} not meant to be {one}: every access is a step of its own {option}"),
    })
}

/// What a reading needs and the state space does not have.
fn interrupted(outcome: &Outcome) -> Option<String> {
    let named = first_of(outcome, &outcome.analysis.interrupted)?;
    Some(format!(
        "{named} can be interrupted, and the state space shows whole instructions only: what follows then is not known (analyse the specification, or read it with --atomicity full)"
    ))
}

/// What the other readings would answer: `split: 21 fences; presumed: 12 fences`.
fn others(result: &ModelOutcome) -> Option<String> {
    let answer = |other: &crate::readings::OtherReading| {
        let at_least = if other.complete { "" } else { "at least " };
        let locks = match other.locks {
            0 => String::new(),
            more => format!(", {}", names::counted(more, "lock")),
        };
        let fences = names::counted(other.fences, "fence");
        format!("{}: {at_least}{fences}{locks}", names::atomicity(other.atomicity))
    };
    let answers: Vec<String> = result.other_readings.iter().map(answer).collect();
    (!answers.is_empty()).then(|| format!("other readings of such instructions (--atomicity): {}", answers.join("; ")))
}

/// Atomic instructions that stand where a fence would be needed.
fn atomic_fences(outcome: &Outcome, result: &ModelOutcome) -> Option<String> {
    let named = first_of(outcome, &result.atomic_fences)?;
    let (are, fence) = if result.atomic_fences.len() > 1 { ("are", "full fences") } else { ("is", "a full fence") };
    Some(format!("{named} {are} atomic, and taken for {fence} as on every memory model: else a fence would be needed"))
}

/// The first of some instructions, and how many there are.
fn first_of(outcome: &Outcome, instrs: &[InstrId]) -> Option<String> {
    let first = names::instruction(&outcome.analysis.graph, *instrs.first()?);
    Some(match instrs.len() {
        1 => first,
        more => format!("{first} and {} more", more - 1),
    })
}
