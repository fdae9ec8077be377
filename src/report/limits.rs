//! Which limit has left something out of a result, in the words in which every report says it.

use crate::analysis::{Inserted, ModelOutcome, Outcome};

/// What the result lacks, and because of what; nothing if it is complete.
#[must_use]
pub fn in_words(outcome: &Outcome, result: &ModelOutcome) -> Option<String> {
    if result.complete {
        return None;
    }
    let listing = result.findings.cycles.as_ref().filter(|list| !list.complete);
    let inserted = match &result.inserted {
        Inserted::Enough => None,
        Inserted::NotAtSites => Some("no fences at the sites allowed (--fence-sites) are enough".to_owned()),
        Inserted::Unfixable => Some("no fences are enough".to_owned()),
        Inserted::NotAbstractly(advice) => Some(format!("no fences are enough for the abstraction: {advice}")),
        Inserted::Undecided(_, why) => Some(format!("it is not known which fences are enough: {why}")),
    };
    let reasons: Vec<String> = [
        inserted,
        outcome.explored.missing.clone().map(|missing| format!("only a part of the state space is known: {missing}")),
        result.stopped.map(|limit| format!("the analysis stopped at {limit}")),
        // A listing that a limit of the whole analysis has ended is that one's affair.
        listing
            .filter(|_| result.stopped.is_none())
            .map(|_| "not all cycles are listed: the limit of --cycles was reached".to_owned()),
    ]
    .into_iter()
    .flatten()
    .collect();
    Some(if reasons.is_empty() { "a limit was reached".to_owned() } else { reasons.join("; ") })
}
