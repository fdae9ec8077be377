//! What changed between two reports: two runs, two versions, or two memory models.
//!
//! Results are matched by memory model, instructions by what they are ([`same`]), whatever they are called; then a
//! fence by instruction and position, a delay by its two accesses, a lock by the instruction that takes it. So reports
//! of different versions of a program can be compared, and everything is called as in the first one. Per memory model:
//!
//! - a fence or lock that only the first report asks for and that now stands in the program ([`in_place`]) was *put
//!   in*; if the second report asks for nothing, and is complete, what the first one asked for is *done*;
//! - another fence that is only in one report is *lost* (needed no longer) or *gained* (newly needed); a lost one and
//!   a gained one of one thread that serve the same delays are one that *moved*;
//! - a fence, lock or delay in both reports that is not the same in its other columns has *changed*;
//! - *figures* are the columns of `summary.csv`, and the verdict of `--verify`.
//!
//! Versions, commands and input hashes are told, but are no difference: the results are compared, not how they came
//! about. Linear in the size of the reports, but for moves, which are looked for among the lost and gained fences
//! pair by pair.

mod in_place;
mod report;
mod same;
mod text;

pub use report::{Mismatch, Report, ResultObject};
pub use text::write;

use in_place::InPlace;
use report::{Delay, Fence, Lock};
use same::Same;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// What changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Comparison {
    /// Raised by one when a key changes its meaning or goes away.
    pub schema_version: u32,
    /// Whether nothing changed.
    pub identical: bool,
    /// How the reports came about, where that differs: what it is, before and after.
    pub provenance: Vec<Change>,
    /// Instructions that are called otherwise in the second report: what they say, and how they are called.
    pub renamed: Vec<Change>,
    /// Memory models that only the first report has.
    pub only_before: Vec<String>,
    /// Memory models that only the second report has.
    pub only_after: Vec<String>,
    /// The others.
    pub results: Vec<ModelComparison>,
}

/// What changed under one memory model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ModelComparison {
    /// The memory model of the first report.
    pub before: String,
    /// That of the second one: the same, unless two were chosen.
    pub after: String,
    /// The first report asks for something, the second one for nothing, and it is complete.
    pub done: bool,
    /// Fences and locks that the first report asks for, and that stand in the program of the second.
    pub put_in: PutIn,
    /// How many fences and locks both ask for.
    pub still_needed: usize,
    /// Fences.
    pub fences: Changes,
    /// Fences that moved.
    pub moved_fences: Vec<Change>,
    /// Instructions under locks.
    pub locks: Changes,
    /// Delays.
    pub delays: Changes,
    /// Figures that changed.
    pub figures: Vec<Change>,
}

/// What stands in the program now.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PutIn {
    /// Fences, marks among them.
    pub fences: Vec<String>,
    /// Instructions that were to take locks, and are atomic.
    pub locks: Vec<String>,
}

/// Rows of one kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Changes {
    /// Only after.
    pub gained: Vec<String>,
    /// Only before.
    pub lost: Vec<String>,
    /// In both, but not the same.
    pub changed: Vec<Change>,
}

/// One thing that is not what it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// What.
    pub what: String,
    /// How it was.
    pub before: String,
    /// How it is.
    pub after: String,
}

impl Changes {
    fn is_empty(&self) -> bool {
        self.gained.is_empty() && self.lost.is_empty() && self.changed.is_empty()
    }
}

impl ModelComparison {
    /// Whether nothing changed.
    #[must_use]
    pub fn is_identical(&self) -> bool {
        self.put_in == PutIn::default()
            && self.fences.is_empty()
            && self.moved_fences.is_empty()
            && self.locks.is_empty()
            && self.delays.is_empty()
            && self.figures.is_empty()
    }
}

/// Which results are compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selection {
    /// Each memory model with itself.
    All,
    /// This one of the first report with that one of the second.
    Pair(String, String),
}

/// Compares two reports.
///
/// # Errors
/// If a memory model that was chosen is not in its report, or if the two have none in common.
pub fn compare(before: &Report, after: &Report, selection: &Selection) -> Result<Comparison, Mismatch> {
    let models = |report: &Report| -> BTreeSet<String> {
        report.results.iter().map(|result| result.memory_model().to_owned()).collect()
    };
    let (models_before, models_after) = (models(before), models(after));
    let (pairs, only_before, only_after) = match selection {
        Selection::Pair(first, second) => (vec![(first.clone(), second.clone())], Vec::new(), Vec::new()),
        Selection::All => {
            let order = before.results.iter().map(|result| result.memory_model().to_owned());
            let common = order.filter(|name| models_after.contains(name)).map(|name| (name.clone(), name));
            let only = |these: &BTreeSet<String>, those| these.difference(those).cloned().collect::<Vec<_>>();
            (common.collect(), only(&models_before, &models_after), only(&models_after, &models_before))
        }
    };
    if pairs.is_empty() && !(models_before.is_empty() && models_after.is_empty()) {
        let list = |models: &BTreeSet<String>| models.iter().cloned().collect::<Vec<_>>().join(", ");
        return Err(Mismatch::NothingInCommon(list(&models_before), list(&models_after)));
    }
    let same = Same::of(before, after);
    let programs = Programs {
        in_place: InPlace::new(before, after, &same),
        same: &same,
        is_changed: before.program() != after.program(),
    };
    let results: Vec<ModelComparison> = pairs
        .iter()
        .map(|(first, second)| Ok(programs.compare(before.result(first)?, after.result(second)?)))
        .collect::<Result<_, Mismatch>>()?;
    let identical =
        only_before.is_empty() && only_after.is_empty() && results.iter().all(ModelComparison::is_identical);
    let provenance = changes(&before.origin(), &after.origin());
    let renamed = same.renamed.clone();
    Ok(Comparison { schema_version: 2, identical, provenance, renamed, only_before, only_after, results })
}

/// What connects the two programs.
struct Programs<'a> {
    same: &'a Same,
    in_place: InPlace<'a>,
    /// Something was done to the program: else another result has other reasons.
    is_changed: bool,
}

impl Programs<'_> {
    fn compare(&self, before: &ResultObject, after: &ResultObject) -> ModelComparison {
        let before = &before.called(|instruction| instruction, self.same);
        let after = &after.called(|instruction| self.same.named(instruction), self.same);
        let mut fence_rows = rows(&before.fences, &after.fences, Fence::name, Fence::details);
        let mut locks = rows(&before.locks, &after.locks, Lock::name, Lock::details);
        let mut put_in = PutIn::default();
        let stands =
            |lost: &String| before.fences.iter().any(|fence| fence.name() == *lost && self.in_place.has_fence(fence));
        (put_in.fences, fence_rows.lost) = fence_rows.lost.into_iter().partition(stands);
        let is_atomic = |lost: &String| {
            before.locks.iter().any(|lock| lock.name() == *lost && self.in_place.is_atomic(&lock.named()))
        };
        (put_in.locks, locks.lost) = locks.lost.into_iter().partition(is_atomic);
        let (fences, moved_fences) = moves(before, after, fence_rows);
        // What tells the two apart is no figure.
        let figures = |result: &ResultObject| -> BTreeMap<String, String> {
            result.figures().into_iter().filter(|(name, _)| name != "memory_model").collect()
        };
        let asked_for = |result: &ResultObject| -> BTreeSet<String> {
            result.fences.iter().map(Fence::name).chain(result.locks.iter().map(Lock::name)).collect()
        };
        // What no longer says the same needs something else, but that is another matter.
        let mut asking = before.fences.iter().map(Fence::named).chain(before.locks.iter().map(Lock::named));
        let is_same_program = asking.all(|instruction| self.same.is_unchanged(&instruction));
        ModelComparison {
            before: before.memory_model().to_owned(),
            after: after.memory_model().to_owned(),
            done: self.is_changed
                && is_same_program
                && before.memory_model() == after.memory_model()
                && !asked_for(before).is_empty()
                && after.asks_for_nothing(),
            still_needed: asked_for(before).intersection(&asked_for(after)).count(),
            put_in,
            fences,
            moved_fences,
            locks,
            delays: rows(&before.delays, &after.delays, Delay::name, Delay::details),
            figures: changes(&figures(before), &figures(after)),
        }
    }
}

/// What is not the same in two lists of named values; what one of them does not have is `-`.
fn changes(before: &BTreeMap<String, String>, after: &BTreeMap<String, String>) -> Vec<Change> {
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let value = |values: &BTreeMap<String, String>, name: &String| values.get(name).cloned().unwrap_or("-".to_owned());
    names
        .into_iter()
        .map(|name| Change { what: name.clone(), before: value(before, name), after: value(after, name) })
        .filter(|change| change.before != change.after)
        .collect()
}

/// Compares rows by name.
fn rows<Row>(before: &[Row], after: &[Row], name: fn(&Row) -> String, details: fn(&Row) -> String) -> Changes {
    // An instruction under two locks has two rows of one name.
    let by_name = |rows: &[Row]| -> BTreeMap<String, String> {
        let mut named: BTreeMap<String, String> = BTreeMap::new();
        for row in rows {
            let known = named.entry(name(row)).or_default();
            let separator = if known.is_empty() { "" } else { "; " };
            *known += &format!("{separator}{}", details(row));
        }
        named
    };
    let (known_before, known_after) = (by_name(before), by_name(after));
    let in_order = |rows: &[Row], other: &BTreeMap<String, String>| -> Vec<String> {
        let mut seen = BTreeSet::new();
        rows.iter().map(name).filter(|name| !other.contains_key(name) && seen.insert(name.clone())).collect()
    };
    let both = |known: &BTreeMap<String, String>, other: &BTreeMap<String, String>| -> BTreeMap<String, String> {
        known.iter().filter(|(name, _)| other.contains_key(*name)).map(|(k, v)| (k.clone(), v.clone())).collect()
    };
    Changes {
        gained: in_order(after, &known_before),
        lost: in_order(before, &known_after),
        changed: changes(&both(&known_before, &known_after), &both(&known_after, &known_before)),
    }
}

/// Fences that are lost and gained may have moved.
fn moves(before: &ResultObject, after: &ResultObject, mut fences: Changes) -> (Changes, Vec<Change>) {
    let mut moved = Vec::new();
    let find = |result: &ResultObject, name: &str| result.fences.iter().find(|fence| fence.name() == name).cloned();
    fences.lost.retain(|lost| {
        let Some(old) = find(before, lost) else { return true };
        let serves = before.served_by(&old);
        let is_it = |gained: &String| {
            let new = find(after, gained);
            new.is_some_and(|new| new.thread == old.thread && !serves.is_empty() && after.served_by(&new) == serves)
        };
        let Some(position) = fences.gained.iter().position(is_it) else { return true };
        let what = format!("{}, serves the same {}", old.thread, count(serves.len(), "delay"));
        moved.push(Change { what, before: lost.clone(), after: fences.gained.remove(position) });
        false
    });
    (fences, moved)
}

/// `1 delay`, `2 delays`.
fn count(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}
