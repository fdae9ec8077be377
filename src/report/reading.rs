//! What reports say of instructions with several accesses: how they were read, what other readings would answer, and
//! which atomic instructions do the work of a fence (method §8).

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
    let named = first_of(outcome, &result.composites)?;
    let atomicity = outcome.options.atomicity;
    if atomicity == Atomicity::Split && outcome.profile() == Profile::Published {
        return Some(format!("not checked for being torn, as in the paper: {named} (--atomicity split)"));
    }
    Some(in_words(atomicity, &named))
}

/// How these instructions with several accesses are read.
#[must_use]
pub fn in_words(atomicity: Atomicity, instructions: &str) -> String {
    let how = match atomicity {
        Atomicity::Full => "to be one step each, and locked if they can be torn",
        Atomicity::Updates => {
            "to be one step each, and locked if they can be torn, but conditions are performed read by read"
        }
        Atomicity::Presumed => "presumed to be one step each, and ordered like a full fence, by other means",
        Atomicity::Split => "not meant to be one step: each access is a step of its own",
    };
    format!("{how}: {instructions} (--atomicity {})", names::atomicity(atomicity))
}

/// What a reading needs and the state space does not have.
fn interrupted(outcome: &Outcome) -> Option<String> {
    let named = first_of(outcome, &outcome.analysis.as_ref()?.interrupted)?;
    Some(format!(
        "{named} can be interrupted, and the state space shows whole instructions only: what follows then is not known (analyse the specification, or read it with --atomicity full)"
    ))
}

/// What the other readings would answer: `split: 21 fences; presumed: 12 fences`.
fn others(result: &ModelOutcome) -> Option<String> {
    let answer = |other: &crate::analysis::OtherReading| {
        let at_least = if other.complete { "" } else { "at least " };
        let locks = match other.locks {
            0 => String::new(),
            more => format!(", {}", names::counted(more, "lock")),
        };
        let fences = names::counted(other.fences, "fence");
        format!("{}: {at_least}{fences}{locks}", names::atomicity(other.atomicity))
    };
    let answers: Vec<String> = result.other_readings.iter().map(answer).collect();
    (!answers.is_empty())
        .then(|| format!("by the event graph, other readings (--atomicity) give: {}", answers.join("; ")))
}

/// Atomic instructions that stand where a fence would be needed.
fn atomic_fences(outcome: &Outcome, result: &ModelOutcome) -> Option<String> {
    let named = first_of(outcome, &result.atomic_fences)?;
    let (are, fence) = if result.atomic_fences.len() > 1 { ("are", "full fences") } else { ("is", "a full fence") };
    Some(format!(
        "{named} {are} atomic, and taken for {fence} as on every memory model: else a fence may be needed (SLCO has `atomic relaxed [ … ]` for what is atomic and no fence)"
    ))
}

/// The first of some instructions, and how many there are.
fn first_of(outcome: &Outcome, instrs: &[InstrId]) -> Option<String> {
    let first = names::instruction(&outcome.accesses, *instrs.first()?);
    Some(and_more(first, instrs.len()))
}

/// `T0.0`, `T0.0 and 2 more`.
#[must_use]
pub fn and_more(first: String, count: usize) -> String {
    match count {
        0 | 1 => first,
        more => format!("{first} and {} more", more - 1),
    }
}
