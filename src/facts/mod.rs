//! Facts: all that the analysis needs of a state space, however large (method §2).
//!
//! Three small tables over labels:
//!
//! - `labels`: the distinct labels;
//! - `follows(A, B)`: same thread; some transition `s --A--> s'` that is not a blocked evaluation, and `B` enabled in `s'`, or enabled
//!   when steps of other threads have changed what the thread has enabled ([`When`]);
//! - `concurrent(A, B)`: different threads; some state enables both.
//!
//! They can be computed shard by shard and [merged](Facts::merge) by set union. [`extract`] computes them from an
//! `.aut` state space, [`mod@file`] saves and reads them back, [`load`] takes either.

#![forbid(unsafe_code)]

pub mod extract;
pub mod file;

use crate::ids::LabelId;
use crate::lts::error::Error;
use crate::lts::label::Label;
use crate::lts::source::Source;
use extract::{Extraction, Options, Progress};
use std::collections::BTreeMap;
use std::path::Path;

/// Takes the facts from `path`: a state space (`.aut`, plain or compressed with gzip) or a facts file, told apart by their
/// contents; `-` is standard input.
///
/// # Errors
/// If it cannot be opened or is neither; see [`extract::extract`] and [`file::read`].
pub fn load(path: &Path, options: &Options, progress: &dyn Progress) -> Result<Extraction, Error> {
    let source = Source::open(path)?;
    if file::is_facts(source.bytes()) {
        let facts = file::read(source.bytes(), source.name())?;
        return Ok(Extraction { facts, dialect: "native".to_owned(), warnings: Vec::new() });
    }
    extract::extract(&source, options, progress)
}

/// `to` is enabled after a step `from` of the same thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Follows {
    /// The step taken.
    pub from: LabelId,
    /// What is enabled afterwards.
    pub to: LabelId,
    /// How soon `to` is enabled, at best.
    pub when: When,
}

/// How soon after a step of its thread a label is enabled; the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum When {
    /// In the state after some step, and not in the state before it. The published analysis takes only such pairs.
    Newly,
    /// In the state after some step.
    AtOnce,
    /// Not in the state after any step, but when others have taken steps: the thread waits in between, and goes on with this one.
    Later,
}

/// The three tables, sorted, and the size of what they were taken from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// The distinct labels, sorted; a [`LabelId`] is a position here.
    pub labels: Vec<Label>,
    /// Sorted by (from, to), each pair once.
    pub follows: Vec<Follows>,
    /// Sorted, each unordered pair once, the smaller label first.
    pub concurrent: Vec<(LabelId, LabelId)>,
    /// States of the state space (of all shards together, if merged).
    pub states: u64,
    /// Transitions of the state space (of all shards together, if merged).
    pub transitions: u64,
}

impl Facts {
    /// Sorts and deduplicates tables whose label indices refer to `labels` in any order and with repetitions.
    #[must_use]
    pub fn canonical(
        labels: &[Label],
        follows: impl IntoIterator<Item = Follows>,
        concurrent: impl IntoIterator<Item = (LabelId, LabelId)>,
        (states, transitions): (u64, u64),
    ) -> Facts {
        let mut sorted: Vec<Label> = labels.to_vec();
        sorted.sort();
        sorted.dedup();
        let rank: Vec<LabelId> = labels
            .iter()
            .map(|label| LabelId::new(sorted.binary_search(label).expect("every label was put into the sorted table")))
            .collect();
        let mut pairs: BTreeMap<(LabelId, LabelId), When> = BTreeMap::new();
        for Follows { from, to, when } in follows {
            let best = pairs.entry((rank[from.index()], rank[to.index()])).or_insert(when);
            *best = when.min(*best);
        }
        let mut unordered: Vec<(LabelId, LabelId)> = concurrent
            .into_iter()
            .map(|(a, b)| (rank[a.index()], rank[b.index()]))
            .map(|(a, b)| if a <= b { (a, b) } else { (b, a) })
            .collect();
        unordered.sort_unstable();
        unordered.dedup();
        Facts {
            labels: sorted,
            follows: pairs.into_iter().map(|((from, to), when)| Follows { from, to, when }).collect(),
            concurrent: unordered,
            states,
            transitions,
        }
    }

    /// The union of the tables; states and transitions are added up.
    #[must_use]
    pub fn merge(parts: &[Facts]) -> Facts {
        let mut labels = Vec::new();
        let mut follows = Vec::new();
        let mut concurrent = Vec::new();
        let (mut states, mut transitions) = (0, 0);
        for part in parts {
            let shift = |id: LabelId| LabelId::new(labels.len() + id.index());
            follows.extend(part.follows.iter().map(|pair| Follows {
                from: shift(pair.from),
                to: shift(pair.to),
                ..*pair
            }));
            concurrent.extend(part.concurrent.iter().map(|&(a, b)| (shift(a), shift(b))));
            labels.extend_from_slice(&part.labels);
            states += part.states;
            transitions += part.transitions;
        }
        Facts::canonical(&labels, follows, concurrent, (states, transitions))
    }
}
