//! The quotient of a state space: all that facts can tell of it, without its states.
//!
//! What [`extract`](super::extract) asks of a state is only what is enabled in it: the labels, and whether an
//! internal step leads elsewhere. That is its *enabled set*. The quotient has
//!
//! - the enabled sets that occur;
//! - the *steps*: enabled set before, label, enabled set after, and whether it leads back to the same state, each once,
//!   with the number of its transitions;
//! - the numbers of states and transitions, the enabled set of the initial state, and whether that state leads to
//!   every state.
//!
//! # Why it is exact
//!
//! Every table of method §2 is a union over states or over transitions. A state contributes to `concurrent`, and to
//! where refusals are presumed, what its enabled set says. A transition contributes to `follows`, `waits`, the
//! silences and the internal steps what the enabled sets of its two ends say, and its label. Only of a label that is
//! nothing but a condition, and of an internal one, it matters besides whether both ends are one state. So state
//! spaces with the same enabled sets and the same steps have the same facts but for their sizes, and of parts of a
//! state space the union of the steps is that of the whole, *if the enabled sets are those of the whole*: what is
//! enabled in a state may stand in several parts. That is why shards are read in two phases ([`phases`]).
//!
//! What is not a matter of enabled sets is whether the initial state leads to every state ([`Reached`]): who makes a
//! quotient says what he knows of it.
//!
//! # Forms
//!
//! - a [`table`] as comma-separated values: what a phase writes for a shard, and what queries in the language of
//!   databases give ([`sql`](super::sql));
//! - a state space ([`mod@space`]), the smallest one with these sets and steps: what `seqcon reduce` writes. It is
//!   also how facts are made from a quotient: it is read by the extraction that reads all others.
//!
//! Size: at most one set a state and one step a transition. The sets do not tell values of variables, so there are
//! fewer, the more so the larger a state space is: of 250,000 transitions a fifteenth to a half is left.

#![forbid(unsafe_code)]

pub mod phases;
mod sets_file;
pub mod space;
pub mod table;

use super::extract::{Extraction, NoProgress, Options, extract};
use super::{Facts, Presumed};
use crate::lts::dialect::Dialect;
use crate::lts::error::{BytePosition, Error};
use crate::lts::label::Label;
use crate::lts::source::Bytes;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};

/// How an internal label is written.
pub const INTERNAL: &str = "tau";

/// What a label of a quotient means; `None` is an internal one.
pub type Meaning = Option<Label>;

/// The number of transitions between states with these enabled sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Step {
    /// The enabled set before, by position.
    pub before: u32,
    /// The label, by position.
    pub label: u32,
    /// The enabled set after, by position.
    pub after: u32,
    /// It leads back to the same state. Of labels for which this does not matter it is `false`.
    pub is_loop: bool,
}

/// Whether the initial state leads to every state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reached {
    /// It does.
    All,
    /// It does not: this is a part of a state space, for this reason.
    NotAll(String),
    /// Nobody has found out: why.
    Unknown(String),
}

/// A quotient. See the [module](self).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quotient {
    /// The labels that occur, sorted.
    pub labels: Vec<Meaning>,
    /// The enabled sets, sorted; of sorted positions of labels.
    pub sets: Vec<Box<[u32]>>,
    /// The steps, each with the number of its transitions.
    pub steps: BTreeMap<Step, u64>,
    /// The enabled set of the initial state.
    pub initial: u32,
    /// States of the state space.
    pub states: u64,
    /// Transitions of the state space.
    pub transitions: u64,
    /// Whether the initial state leads to them all.
    pub reached: Reached,
}

/// Whether it matters for facts that a transition with this label is a self-loop.
#[must_use]
pub fn minds_loops(label: &Meaning) -> bool {
    label.as_ref().is_none_or(Label::is_only_a_condition)
}

/// Quotients that are being put together: sets and steps in any order and with repetitions.
#[derive(Debug, Default)]
pub struct Builder {
    labels: Numbered<Meaning>,
    sets: Numbered<Box<[u32]>>,
    steps: FxHashMap<Step, u64>,
}

/// Values with numbers in the order in which they came.
#[derive(Debug)]
struct Numbered<T> {
    values: Vec<T>,
    numbers: FxHashMap<T, u32>,
}

impl<T> Default for Numbered<T> {
    fn default() -> Self {
        Numbered { values: Vec::new(), numbers: FxHashMap::default() }
    }
}

impl<T: Clone + Eq + std::hash::Hash> Numbered<T> {
    fn number(&mut self, value: T) -> u32 {
        if let Some(&number) = self.numbers.get(&value) {
            return number;
        }
        let number = u32::try_from(self.values.len()).expect("memory ends before 2^32 values");
        self.values.push(value.clone());
        self.numbers.insert(value, number);
        number
    }
}

impl Builder {
    /// The number of a label.
    pub fn label(&mut self, label: Meaning) -> u32 {
        self.labels.number(label)
    }

    /// The number of an enabled set, of numbers of labels in any order.
    pub fn set(&mut self, mut labels: Vec<u32>) -> u32 {
        labels.sort_unstable();
        labels.dedup();
        self.sets.number(labels.into_boxed_slice())
    }

    /// Adds so many transitions, between sets by these numbers.
    pub fn step(&mut self, step: Step, count: u64) {
        let is_loop = step.is_loop && minds_loops(&self.labels.values[step.label as usize]);
        *self.steps.entry(Step { is_loop, ..step }).or_default() += count;
    }

    /// Adds the sets and steps of a quotient; gives the number of its initial set.
    pub fn add(&mut self, part: &Quotient) -> u32 {
        let labels: Vec<u32> = part.labels.iter().map(|label| self.label(label.clone())).collect();
        let members = |set: &[u32]| set.iter().map(|&label| labels[label as usize]).collect();
        let sets: Vec<u32> = part.sets.iter().map(|set| self.set(members(set))).collect();
        for (step, &count) in &part.steps {
            let (before, after) = (sets[step.before as usize], sets[step.after as usize]);
            self.step(Step { before, after, label: labels[step.label as usize], ..*step }, count);
        }
        sets[part.initial as usize]
    }

    /// The number of a set that another builder has a number of.
    pub fn set_of(&mut self, other: &Builder, set: u32) -> u32 {
        let members = other.sets.values[set as usize].iter();
        let members: Vec<u32> = members.map(|&label| self.label(other.labels.values[label as usize].clone())).collect();
        self.set(members)
    }

    /// Adds steps with the numbers of another builder, and of its sets and labels those that they have.
    pub fn add_steps(&mut self, other: &Builder, steps: &FxHashMap<Step, u64>) {
        let mut sets: FxHashMap<u32, u32> = FxHashMap::default();
        for (step, &count) in steps {
            let [before, after] =
                [step.before, step.after].map(|set| *sets.entry(set).or_insert_with(|| self.set_of(other, set)));
            let label = self.label(other.labels.values[step.label as usize].clone());
            self.step(Step { before, label, after, ..*step }, count);
        }
    }

    /// The labels and sets by their numbers.
    #[must_use]
    pub fn into_parts(self) -> (Vec<Meaning>, Vec<Box<[u32]>>) {
        (self.labels.values, self.sets.values)
    }

    /// The quotient, everything sorted.
    #[must_use]
    pub fn finish(self, initial: u32, (states, transitions): (u64, u64), reached: Reached) -> Quotient {
        // Internal labels come first: there is one of them at most.
        let (label_rank, labels) = sorted(self.labels.values);
        let renumber = |set: &[u32]| -> Box<[u32]> {
            let mut members: Vec<u32> = set.iter().map(|&label| label_rank[label as usize]).collect();
            members.sort_unstable();
            members.into_boxed_slice()
        };
        let (set_rank, sets) = sorted(self.sets.values.iter().map(|set| renumber(set)).collect());
        let step = |step: Step| Step {
            before: set_rank[step.before as usize],
            label: label_rank[step.label as usize],
            after: set_rank[step.after as usize],
            ..step
        };
        let steps = self.steps.into_iter().map(|(old, count)| (step(old), count)).collect();
        Quotient { labels, sets, steps, initial: set_rank[initial as usize], states, transitions, reached }
    }
}

/// The values sorted, and the new position of each.
fn sorted<T: Ord>(values: Vec<T>) -> (Vec<u32>, Vec<T>) {
    let mut order: Vec<u32> = (0..).take(values.len()).collect();
    order.sort_unstable_by(|&a, &b| values[a as usize].cmp(&values[b as usize]));
    let mut rank = vec![0; values.len()];
    order.iter().zip(0..).for_each(|(&old, new)| rank[old as usize] = new);
    let mut values: Vec<Option<T>> = values.into_iter().map(Some).collect();
    (rank, order.iter().filter_map(|&old| values[old as usize].take()).collect())
}

impl Quotient {
    /// How many transitions its steps are: all of them, if no part is missing.
    #[must_use]
    pub fn transitions_of_steps(&self) -> u64 {
        self.steps.values().fold(0, |sum, &count| sum.saturating_add(count))
    }

    /// Whether all steps are there: as many transitions as there should be, and of every set a step for each label.
    /// `name` is for messages.
    ///
    /// # Errors
    /// If some are missing, or there are too many.
    pub fn check(&self, name: &str) -> Result<(), Error> {
        let found = self.transitions_of_steps();
        let wrong = |expected: String, found: String| {
            let remedy = "steps are missing, or given twice: make the table again";
            Error::contents(name, BytePosition { line: 1, column: 1 }, expected, found, remedy)
        };
        if found != self.transitions {
            let expected =
                format!("steps with {} transitions together, as many as it says there are", self.transitions);
            return Err(wrong(expected, found.to_string()));
        }
        let taken: FxHashSet<(u32, u32)> = self.steps.keys().map(|step| (step.before, step.label)).collect();
        for (set, members) in (0..).zip(&self.sets) {
            if let Some(&label) = members.iter().find(|&&label| !taken.contains(&(set, label))) {
                let label = space::text(&self.labels[label as usize]);
                return Err(wrong(format!("a step `{label}` from every set that has it"), "a set without".to_owned()));
            }
        }
        Ok(())
    }

    /// The positions of the sets that no step has at either end.
    fn sets_without_steps(&self) -> impl Iterator<Item = u32> {
        let with: BTreeSet<u32> = self.steps.keys().flat_map(|step| [step.before, step.after]).collect();
        (0..).take(self.sets.len()).filter(move |set| !with.contains(set))
    }

    /// The facts: those of every state space with this quotient. `name` is for messages.
    ///
    /// # Errors
    /// If a limit is reached.
    pub fn facts(&self, name: &str, options: &Options) -> Result<Extraction, Error> {
        // How labels were written elsewhere is of no matter any more.
        let native = Options {
            refusals: options.refusals,
            budget: options.budget.clone(),
            dialect: Some(Dialect::Native),
            ..Options::default()
        };
        let mut extraction = extract(&Bytes::from_bytes(name, space::text_of(self))?, &native, &NoProgress)?;
        let part = match &self.reached {
            Reached::All => None,
            Reached::NotAll(reason) => Some(reason.clone()),
            Reached::Unknown(reason) if options.whole => {
                extraction.warnings.push(format!("taken to be a whole state space, as --whole says, for {reason}"));
                None
            }
            Reached::Unknown(reason) => Some(format!(
                "whether the initial state leads to every state is not known, for {reason}; --whole says that it does. If not"
            )),
        };
        let sized = |facts: Facts| Facts { states: self.states, transitions: self.transitions, ..facts };
        let presumed = match extraction.facts.presumed {
            Presumed::More(all) => Presumed::More(Box::new(sized(*all))),
            other => other,
        };
        extraction.facts.presumed = Presumed::Nothing;
        let facts = Facts { presumed, cut_off: part.is_some(), ..sized(extraction.facts) };
        Ok(Extraction { facts, part, ..extraction })
    }
}
