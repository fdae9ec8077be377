//! Whether explorations can be of one program: what has one name must have one text.
//!
//! An instruction has several labels: other elements of an array, a condition that is decided early, an evaluation
//! that is refused. So texts are not compared letter by letter. Two labels can be evaluations of one instruction if
//! they are of one kind (plain, fence, atomic), if the conditions have a variable in common (or one reads none), and,
//! where both went on after the condition, if they write the same variables; indices are left out. A label that no
//! label of the same name in the other exploration agrees with is a contradiction.

use super::Facts;
use crate::lts::label::{Access, Label, Step};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Two explorations that are not of one program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contradiction {
    /// The positions of the explorations.
    pub explorations: (usize, usize),
    /// A label of each, of the same thread and instruction.
    pub labels: (Label, Label),
}

impl fmt::Display for Contradiction {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "`{}` and `{}`", self.labels.0, self.labels.1)
    }
}

type Name<'a> = (&'a str, &'a str);

/// The first contradiction between explorations.
#[must_use]
pub fn contradiction(explorations: &[&Facts]) -> Option<Contradiction> {
    let by_name: Vec<BTreeMap<Name<'_>, Vec<&Label>>> = explorations.iter().map(|facts| labels(facts)).collect();
    for second in 1..by_name.len() {
        for first in 0..second {
            for (name, seconds) in &by_name[second] {
                let Some(firsts) = by_name[first].get(name) else { continue };
                let stray = |label: &&&Label, others: &[&Label]| !others.iter().any(|other| agree(label, other));
                let of_first = firsts.iter().find(|label| stray(label, seconds)).map(|label| (*label, seconds[0]));
                let of_second = || seconds.iter().find(|label| stray(label, firsts)).map(|label| (firsts[0], *label));
                if let Some((a, b)) = of_first.or_else(of_second) {
                    return Some(Contradiction { explorations: (first, second), labels: (a.clone(), b.clone()) });
                }
            }
        }
    }
    None
}

fn labels(facts: &Facts) -> BTreeMap<Name<'_>, Vec<&Label>> {
    let mut by_name: BTreeMap<Name<'_>, Vec<&Label>> = BTreeMap::new();
    for label in &facts.labels {
        by_name.entry((&label.thread, &label.instr)).or_default().push(label);
    }
    by_name
}

/// Whether two labels can be evaluations of one instruction.
fn agree(a: &Label, b: &Label) -> bool {
    let (read_by_a, read_by_b) = (condition(a), condition(b));
    let conditions = read_by_a.is_empty() || read_by_b.is_empty() || !read_by_a.is_disjoint(&read_by_b);
    let stopped = |label: &Label| label.refused || label.is_only_a_condition();
    a.kind == b.kind && conditions && (stopped(a) || stopped(b) || written(a) == written(b))
}

/// The variables that conditions read.
fn condition(label: &Label) -> BTreeSet<(bool, &str)> {
    let reads = label.steps.iter().flat_map(|step| match step {
        Step::Condition { reads } => reads.as_slice(),
        Step::Assignment { .. } => &[],
    });
    reads.map(variable).collect()
}

/// The variables that are written, in the order of the assignments.
fn written(label: &Label) -> Vec<(bool, &str)> {
    let writes = label.steps.iter().flat_map(|step| match step {
        Step::Condition { .. } => &[],
        Step::Assignment { writes, .. } => writes.as_slice(),
    });
    writes.map(variable).collect()
}

/// A variable without its index.
fn variable(access: &Access) -> (bool, &str) {
    (access.local, access.name.split('[').next().unwrap_or(&access.name))
}
