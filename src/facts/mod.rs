//! Facts: all that the analysis needs of a state space, however large (method §2).
//!
//! Four small tables over labels:
//!
//! - `labels`: the distinct labels;
//! - `follows(A, B)`: same thread; some transition `s --A--> s'` that is not a blocked evaluation, and `B` enabled in
//!   `s'`;
//! - `waits(A, B)`: same thread; in some state `A` is enabled and `B` is not, and a step of another thread enables
//!   `B`: the thread, waiting where it could have evaluated `A`, goes on with `B`;
//! - `concurrent(A, B)`: different threads; some state enables both.
//!
//! What the state space does not show and still may be there is kept apart, see [`Presumed`].
//!
//! They can be computed shard by shard and [merged](Facts::merge) by set union. [`extract`] computes them from an
//! `.aut` state space, [`mod@file`] saves and reads them back, [`load`] takes either.

#![forbid(unsafe_code)]

pub mod agreement;
pub mod extract;
pub mod file;
pub mod labels;
pub mod quotient;
pub mod sql;

use crate::budget::Budget;
use crate::ids::LabelId;
use crate::lts::dot;
use crate::lts::error::Error;
use crate::lts::is_facts;
use crate::lts::label::Label;
use crate::lts::source::Bytes;
use crate::outline::Outline;
use extract::{Extraction, Options, Progress};
use quotient::{Quotient, phases, table};
use std::collections::BTreeMap;
use std::path::Path;

/// Takes the facts from `path`: a state space (`.aut` or DOT, plain or compressed; Parquet), a facts file, or a table
/// of steps between enabled sets ([`quotient::table`]), told apart by their contents; `-` is standard input.
///
/// # Errors
/// If it cannot be opened or is none of them; see [`extract::extract`], [`file::read`] and [`table::read`].
pub fn load(path: &Path, options: &Options, progress: &dyn Progress) -> Result<Extraction, Error> {
    read(&[Bytes::open_within(path, &options.budget)?], options, progress)
}

/// Takes the facts from what is open: from one file as [`load`] does; several are the shards of one state space, or
/// the tables of their steps. If one was written to meanwhile, that is an error.
///
/// # Errors
/// As for [`load`], and if the files do not go together.
pub fn read(sources: &[Bytes], options: &Options, progress: &dyn Progress) -> Result<Extraction, Error> {
    let extraction = match sources {
        [source] if is_facts(source.bytes()) => {
            let facts = file::read(source.bytes(), source.name())?;
            Extraction { facts, dialect: "native".to_owned(), warnings: Vec::new(), part: None }
        }
        [first, ..] if table::is_table(first.bytes()) => {
            merged(sources, &options.budget)?.facts(first.name(), options)?
        }
        _ => {
            if let Some(source) =
                sources.iter().find(|source| is_facts(source.bytes()) || table::is_table(source.bytes()))
            {
                let expected = "a shard in the format of the others";
                let remedy =
                    "state spaces go together with state spaces, and tables with tables; facts files with nothing";
                return Err(Error::unexpected(source.name(), source.bytes(), 0, expected, remedy));
            }
            match sources {
                [source] => of_state_space(source, options, progress)?,
                _ => extract::extract_all(sources, options, progress)?,
            }
        }
    };
    sources.iter().try_for_each(Bytes::check_unchanged)?;
    Ok(extraction)
}

/// The quotient of the state space that tables are of.
///
/// # Errors
/// If one is no table, they are not all of one run, or a limit is reached.
pub fn merged(tables: &[Bytes], budget: &Budget) -> Result<Quotient, Error> {
    let read = |source: &Bytes| Ok((source.name().to_owned(), table::read(source.bytes(), source.name(), budget)?));
    phases::merge(&tables.iter().map(read).collect::<Result<Vec<_>, Error>>()?)
}

/// Takes the facts from a state space that is open: `.aut`, or a graph in the DOT language.
///
/// # Errors
/// If it is neither; see [`extract::extract`] and [`dot::read`].
pub fn of_state_space(source: &Bytes, options: &Options, progress: &dyn Progress) -> Result<Extraction, Error> {
    if !dot::is_graph(source.bytes()) {
        return extract::extract(source, options, progress);
    }
    let how = dot::Options { internal: options.tau.first().map(String::as_str), lenient: options.lenient };
    let mut graph = dot::read(source.bytes(), source.name(), how)?;
    let aut = Bytes::from_bytes(source.name(), std::mem::take(&mut graph.aut))?;
    let mut extraction = extract::extract(&aut, options, progress).map_err(|error| graph.placed(aut.bytes(), error))?;
    extraction.warnings.append(&mut graph.warnings);
    extraction.facts.cut_off |= graph.is_part;
    Ok(extraction)
}

/// `to` is enabled after a step `from` of the same thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Follows {
    /// The step taken.
    pub from: LabelId,
    /// What is enabled afterwards.
    pub to: LabelId,
    /// Whether some step `from` newly enabled `to`, that is, `to` was not enabled before it. The published
    /// analysis takes only such pairs.
    pub newly: bool,
}

/// Waits without a label: state spaces in which a condition that does not hold is no self-loop. Sorted, each label
/// once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Silences {
    /// After some step with this label the thread has nothing enabled: it waits, or has ended.
    pub begin: Vec<LabelId>,
    /// A step of another thread took this one away, and left nothing.
    pub lapse: Vec<LabelId>,
    /// A step of another thread enabled this one where nothing was: the thread had waited.
    pub end: Vec<LabelId>,
}

impl Silences {
    /// The same with other label numbers.
    fn renumbered(&self, number: impl Fn(LabelId) -> LabelId) -> Silences {
        let renumber = |labels: &[LabelId]| {
            let mut labels: Vec<LabelId> = labels.iter().map(|&label| number(label)).collect();
            labels.sort_unstable();
            labels.dedup();
            labels
        };
        Silences { begin: renumber(&self.begin), lapse: renumber(&self.lapse), end: renumber(&self.end) }
    }

    fn extend(&mut self, other: &Silences) {
        self.begin.extend(&other.begin);
        self.lapse.extend(&other.lapse);
        self.end.extend(&other.end);
    }
}

/// What the tables leave out because the state space does not show it (method §2).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Presumed {
    /// Nothing: every refused evaluation is there, and no thread waits for an internal step.
    #[default]
    Nothing,
    /// The same tables together with all refused evaluations that may be there unseen, and with the program order
    /// across waits for internal steps.
    More(Box<Facts>),
    /// Nobody has looked: the facts are from a file of an earlier version.
    Unknown,
}

/// The tables, sorted, and the size of what they were taken from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// The distinct labels, sorted; a [`LabelId`] is a position here.
    pub labels: Vec<Label>,
    /// Sorted by (from, to), each pair once.
    pub follows: Vec<Follows>,
    /// What is enabled when others have taken steps: (enabled before, newly enabled), sorted, each pair once.
    pub waits: Vec<(LabelId, LabelId)>,
    /// What a thread does without a label enabled.
    pub silences: Silences,
    /// Sorted, each unordered pair once, the smaller label first.
    pub concurrent: Vec<(LabelId, LabelId)>,
    /// States of the state space (of all shards together, if merged).
    pub states: u64,
    /// Transitions of the state space (of all shards together, if merged).
    pub transitions: u64,
    /// A limit, or damage that was recovered from, has left a part of the state space out: what is missing there is
    /// not known.
    pub cut_off: bool,
    /// What has to be presumed besides.
    pub presumed: Presumed,
    /// The outline of the specification that was explored; none if only labels are known.
    pub outline: Option<Outline>,
}

/// How threads wait, in any order and with repetitions; see [`Facts::waits`] and [`Silences`].
#[derive(Clone, Debug, Default)]
pub struct Waits {
    /// The pairs of [`Facts::waits`].
    pub with_labels: Vec<(LabelId, LabelId)>,
    /// Waits without a label.
    pub without: Silences,
}

impl Facts {
    /// Tables without `waits`; see [`canonical_with_waits`](Facts::canonical_with_waits).
    #[must_use]
    pub fn canonical(
        labels: &[Label],
        follows: impl IntoIterator<Item = Follows>,
        concurrent: impl IntoIterator<Item = (LabelId, LabelId)>,
        size: (u64, u64),
    ) -> Facts {
        Facts::canonical_with_waits(labels, follows, Waits::default(), concurrent, size)
    }

    /// Sorts and deduplicates tables whose label indices refer to `labels` in any order and with repetitions.
    #[must_use]
    pub fn canonical_with_waits(
        labels: &[Label],
        follows: impl IntoIterator<Item = Follows>,
        waits: Waits,
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
        let mut pairs: BTreeMap<(LabelId, LabelId), bool> = BTreeMap::new();
        for Follows { from, to, newly } in follows {
            *pairs.entry((rank[from.index()], rank[to.index()])).or_default() |= newly;
        }
        let silences = waits.without.renumbered(|label| rank[label.index()]);
        let mut waits: Vec<(LabelId, LabelId)> =
            waits.with_labels.into_iter().map(|(a, b)| (rank[a.index()], rank[b.index()])).collect();
        waits.sort_unstable();
        waits.dedup();
        let mut unordered: Vec<(LabelId, LabelId)> = concurrent
            .into_iter()
            .map(|(a, b)| (rank[a.index()], rank[b.index()]))
            .map(|(a, b)| if a <= b { (a, b) } else { (b, a) })
            .collect();
        unordered.sort_unstable();
        unordered.dedup();
        Facts {
            labels: sorted,
            follows: pairs.into_iter().map(|((from, to), newly)| Follows { from, to, newly }).collect(),
            waits,
            silences,
            concurrent: unordered,
            states,
            transitions,
            cut_off: false,
            presumed: Presumed::Nothing,
            outline: None,
        }
    }

    /// The tables with all that has to be presumed.
    #[must_use]
    pub fn with_presumed(&self) -> &Facts {
        match &self.presumed {
            Presumed::More(all) => all,
            Presumed::Nothing | Presumed::Unknown => self,
        }
    }

    /// The union of the tables; states and transitions are added up.
    #[must_use]
    pub fn merge(parts: &[Facts]) -> Facts {
        let shown = Facts::union(parts.iter());
        let presumed = if parts.iter().any(|part| part.presumed == Presumed::Unknown) {
            Presumed::Unknown
        } else if parts.iter().all(|part| part.presumed == Presumed::Nothing) {
            Presumed::Nothing
        } else {
            Presumed::More(Box::new(Facts::union(parts.iter().map(Facts::with_presumed))))
        };
        Facts { presumed, ..shown }
    }

    fn union<'f>(parts: impl Iterator<Item = &'f Facts> + Clone) -> Facts {
        let mut outlines = parts.clone().map(|part| &part.outline);
        let outline = outlines.next().filter(|first| outlines.all(|other| other == *first)).cloned().flatten();
        let mut labels = Vec::new();
        let mut follows = Vec::new();
        let mut waits = Waits::default();
        let mut concurrent = Vec::new();
        let (mut states, mut transitions) = (0, 0);
        let mut cut_off = false;
        for part in parts {
            let shift = |id: LabelId| LabelId::new(labels.len() + id.index());
            follows.extend(part.follows.iter().map(|pair| Follows {
                from: shift(pair.from),
                to: shift(pair.to),
                ..*pair
            }));
            waits.with_labels.extend(part.waits.iter().map(|&(a, b)| (shift(a), shift(b))));
            waits.without.extend(&part.silences.renumbered(shift));
            concurrent.extend(part.concurrent.iter().map(|&(a, b)| (shift(a), shift(b))));
            labels.extend_from_slice(&part.labels);
            states += part.states;
            transitions += part.transitions;
            cut_off |= part.cut_off;
        }
        let merged = Facts::canonical_with_waits(&labels, follows, waits, concurrent, (states, transitions));
        Facts { cut_off, outline, ..merged }
    }
}
