//! What the state space does not show, and what was presumed instead (method §2).

use super::{Caveat, Topic, listed};
use crate::facts::{Facts, Presumed};
use crate::ids::LabelId;
use crate::lts::label::{Label, Step};
use std::collections::BTreeSet;

/// What is said of the facts.
#[must_use]
pub fn caveats(facts: &Facts) -> Vec<Caveat> {
    let mut caveats = Vec::new();
    match &facts.presumed {
        Presumed::Nothing => {}
        Presumed::Unknown => caveats.push(Caveat::new(
            Topic::Unseen,
            "the facts were written by an earlier seqcon, which did not tell whether refused conditions are shown: there may be more to find; write them again with `seqcon facts`",
        )),
        Presumed::More(all) => {
            let more = More::new(facts, all);
            caveats.extend(refusals(&more));
            caveats.extend(internal_waits(&more));
        }
    }
    caveats.extend(silences(facts));
    caveats
}

/// What is in the tables with all that is presumed, and not in the others.
struct More<'f> {
    facts: &'f Facts,
    all: &'f Facts,
    follows: BTreeSet<(LabelId, LabelId)>,
    concurrent: BTreeSet<(LabelId, LabelId)>,
}

impl<'f> More<'f> {
    fn new(facts: &'f Facts, all: &'f Facts) -> More<'f> {
        let number =
            |label: LabelId| LabelId::new(all.labels.binary_search(&facts.labels[label.index()]).unwrap_or(usize::MAX));
        let shown: BTreeSet<_> = facts.follows.iter().map(|pair| (number(pair.from), number(pair.to))).collect();
        let follows = all.follows.iter().map(|pair| (pair.from, pair.to)).filter(|pair| !shown.contains(pair));
        let shown: BTreeSet<_> = facts.concurrent.iter().map(|&(a, b)| (number(a), number(b))).collect();
        let concurrent = all.concurrent.iter().copied().filter(|pair| !shown.contains(pair));
        More { facts, all, follows: follows.collect(), concurrent: concurrent.collect() }
    }

    fn label(&self, label: LabelId) -> &'f Label {
        &self.all.labels[label.index()]
    }

    /// Threads with program order across a wait for an internal step: between steps that are there anyway.
    fn waiting_threads(&self) -> BTreeSet<&'f str> {
        let taken = self.follows.iter().filter(|(_, to)| !self.label(*to).refused);
        taken.map(|(from, _)| self.label(*from).thread.as_str()).collect()
    }

    /// Instructions with refused evaluations that are only presumed.
    fn refused(&self) -> BTreeSet<(&'f str, &'f str)> {
        let waiting = self.waiting_threads();
        let new = self.all.labels.iter().filter(|label| self.facts.labels.binary_search(label).is_err());
        let after = self.follows.iter().map(|(_, to)| self.label(*to));
        let after = after.filter(|label| label.refused && !waiting.contains(label.thread.as_str()));
        let beside = self.concurrent.iter().flat_map(|&(a, b)| [a, b]).map(|label| self.label(label));
        new.chain(after).chain(beside.filter(|label| label.refused)).map(instruction).collect()
    }
}

/// Instructions whose refused evaluations are only presumed.
fn refusals(more: &More<'_>) -> Vec<Caveat> {
    let facts = more.facts;
    let presumed = more.refused();
    let is_condition = |step: &Step| matches!(step, Step::Condition { .. });
    let has_condition = |&of: &(&str, &str)| {
        facts.labels.iter().any(|label| instruction(label) == of && label.steps.iter().any(is_condition))
    };
    let (with, without): (Vec<_>, Vec<_>) = presumed.into_iter().partition(has_condition);
    let named = |of: &[(&str, &str)]| listed(of.iter().map(|(thread, instr)| format!("{thread}.{instr}")));
    let mut caveats = Vec::new();
    if let Some((thread, instr)) = with.first() {
        caveats.push(Caveat::new(
            Topic::Unseen,
            format!(
                "the state space does not show where the condition of {} is refused: presumed is every place where that may be, but for conditions that never hold; self-loops for them (`{thread}.{instr}: ?! …`) \
                 give a better answer",
                named(&with)
            ),
        ));
    }
    if !without.is_empty() {
        caveats.push(Caveat::new(
            Topic::Unseen,
            format!(
                "steps of other threads enable {}, and no label says what is waited for: presumed are waits that read all that other threads write; a self-loop with what is read (`T.n: ?! …`) gives a better answer",
                named(&without)
            ),
        ));
    }
    caveats
}

/// Threads with program order across a wait for an internal step.
fn internal_waits(more: &More<'_>) -> Option<Caveat> {
    let threads = more.waiting_threads();
    (!threads.is_empty()).then(|| {
        let named = listed(threads.iter().map(|&thread| thread.to_owned()));
        let sentence = format!(
            "an internal step may be waited for by {named}: program order is kept across it, but what is read meanwhile is not known; give such steps a label"
        );
        Caveat::new(Topic::Unseen, sentence)
    })
}

/// Threads that wait without a label, and of whose waits nothing could be presumed.
fn silences(facts: &Facts) -> Option<Caveat> {
    let all = facts.with_presumed();
    let presumed = all.labels.iter().filter(|label| facts.labels.binary_search(label).is_err());
    let presumed: BTreeSet<&str> = presumed.map(|label| label.thread.as_str()).collect();
    let waiting = facts.silences.end.iter().map(|label| facts.labels[label.index()].thread.as_str());
    let waiting: BTreeSet<&str> = waiting.filter(|thread| !presumed.contains(thread)).collect();
    (!waiting.is_empty()).then(|| {
        let named = listed(waiting.iter().map(|&thread| thread.to_owned()));
        let sentence = format!("what {named} reads in waits without a label is not known");
        Caveat::new(Topic::Unseen, sentence)
    })
}

fn instruction(label: &Label) -> (&str, &str) {
    (&label.thread, &label.instr)
}
