//! The labels that a refused evaluation of an instruction can have, as far as its other labels tell.
//!
//! A refused evaluation reads what the condition reads and does nothing else. An element whose index is computed may
//! have been another one of its array: any that occurs in the state space, one index after the other.

use crate::lts::label::{Access, Label, LabelKind, Step};
use std::collections::BTreeSet;

/// The labels of refused evaluations of the instruction that `taken` is a label of; none, if nothing shared is read.
/// `labels` are those that elements are looked up in.
pub(super) fn of(taken: &Label, labels: &[Label]) -> Vec<Label> {
    let Some(last) = taken.steps.iter().rposition(|step| matches!(step, Step::Condition { .. })) else {
        return Vec::new();
    };
    let steps: Vec<Step> = taken.steps[..=last].iter().map(refused).collect();
    if !steps.iter().flat_map(reads_of).any(reads_shared) {
        return Vec::new();
    }
    let with_steps = |steps| Label { refused: true, steps, ..taken.clone() };
    let mut others = Vec::new();
    for (position, step) in steps.iter().enumerate() {
        let Step::Condition { reads } = step else { continue };
        for reads in with_other_elements(reads, labels) {
            let mut steps = steps.clone();
            steps[position] = Step::Condition { reads };
            others.push(with_steps(steps));
        }
    }
    others.push(with_steps(steps));
    others
}

/// The label of a refused evaluation of an instruction with a condition that its label `taken` does not tell: it may
/// read whatever other threads write.
pub(super) fn of_unknown(taken: &Label, labels: &[Label]) -> Vec<Label> {
    let mut names: BTreeSet<&str> = BTreeSet::new();
    for step in labels.iter().filter(|label| label.thread != taken.thread).flat_map(|label| &label.steps) {
        if let Step::Assignment { writes, .. } = step {
            names.extend(writes.iter().filter(|write| !write.local).map(|write| write.name.as_str()));
        }
    }
    if names.is_empty() {
        return Vec::new();
    }
    let read = |name: &str| Access { name: name.to_owned(), local: false, address: Vec::new() };
    let steps = vec![Step::Condition { reads: names.into_iter().map(read).collect() }];
    let kind = match taken.kind {
        LabelKind::Fence | LabelKind::PartialFence(_) => LabelKind::Plain,
        kind => kind,
    };
    // Who waits there is not known, so it is an instruction of its own: what stands before `taken` need not stand
    // before the wait.
    vec![Label { instr: format!("{}-wait", taken.instr), kind, refused: true, steps, ..taken.clone() }]
}

/// A step of which nothing remains for others to see.
fn refused(step: &Step) -> Step {
    match step {
        Step::Condition { .. } => step.clone(),
        Step::Assignment { writes, reads } => {
            let writes = writes.iter().filter(|write| write.local).cloned().collect();
            Step::Assignment { writes, reads: reads.clone() }
        }
    }
}

fn reads_of(step: &Step) -> &[Access] {
    match step {
        Step::Condition { reads } | Step::Assignment { reads, .. } => reads,
    }
}

fn reads_shared(access: &Access) -> bool {
    !access.local || access.address.iter().any(reads_shared)
}

/// The reads with one element replaced by another one of its array, in all ways.
fn with_other_elements(reads: &[Access], labels: &[Label]) -> Vec<Vec<Access>> {
    let mut ways = Vec::new();
    for (position, read) in reads.iter().enumerate() {
        let inner = with_other_elements(&read.address, labels).into_iter();
        let inner = inner.map(|address| Access { address, ..read.clone() });
        let elements = if read.address.is_empty() { BTreeSet::new() } else { elements(read, labels) };
        let others = elements.into_iter().map(|name| Access { name: name.to_owned(), ..read.clone() });
        for other in inner.chain(others) {
            let mut way = reads.to_vec();
            way[position] = other;
            ways.push(way);
        }
    }
    ways
}

/// The other elements of the array that `of` is an element of.
fn elements<'l>(of: &Access, labels: &'l [Label]) -> BTreeSet<&'l str> {
    let mut found = BTreeSet::new();
    let Some((array, _)) = of.name.split_once('[') else { return found };
    let is_other = |access: &Access| {
        access.local == of.local
            && access.name != of.name
            && access.name.split_once('[').is_some_and(|(own, _)| own == array)
    };
    for step in labels.iter().flat_map(|label| &label.steps) {
        let writes = match step {
            Step::Condition { .. } => &[][..],
            Step::Assignment { writes, .. } => writes,
        };
        for access in writes.iter().chain(reads_of(step)) {
            visit(access, &mut |access| {
                if is_other(access) {
                    found.insert(access.name.as_str());
                }
            });
        }
    }
    found
}

/// Calls `see` for the access and all that its address needs.
fn visit<'l>(access: &'l Access, see: &mut dyn FnMut(&'l Access)) {
    see(access);
    access.address.iter().for_each(|inner| visit(inner, see));
}
