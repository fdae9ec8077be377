//! Memory models side by side: where synchronisation is needed, under which of them, and what kind.
//!
//! A row for each place that needs something under some model: a fence point, or an instruction that takes a lock; a
//! column for each memory model, in the order of the outcome. As text for people (80 columns where the names allow:
//! of the instruction's text only as much is shown as fits) and as CSV.

use super::csv::Table;
use super::names;
use super::prose::COLUMNS;
use crate::analysis::{ModelOutcome, Outcome};
use crate::ids::InstrId;
use crate::memory::FenceStrength;
use crate::outline::{Place, Site};
use crate::placement::cost::place_name;
use crate::placement::locks::Role;
use crate::text::excerpt::{printable, shortened, width};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Write as _};
use std::io;

/// How much of the name of a place is shown.
const NAME: usize = 40;
/// How much of an instruction's text is worth showing.
const LEAST_TEXT: usize = 6;

/// Stands where nothing was found before a limit was reached: nothing is known then.
const UNKNOWN: &str = "?";
/// Why a column may differ from what an analysis of its model alone says.
const PREFERENCE: &str = "of equally cheap placements those like the ones to the left are preferred:\n'analyse' and --no-stable may give other places and numbers at the same cost";

/// Whether a fence is of a kind.
type IsKind = fn(FenceStrength) -> bool;

/// What is needed at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// A fence.
    Fence(FenceStrength),
    /// A lock.
    Lock(Role),
}

impl Need {
    fn symbol(self) -> char {
        match self {
            Need::Fence(FenceStrength::Stores) => 'S',
            Need::Fence(FenceStrength::Loads) => 'R',
            Need::Fence(FenceStrength::Lightweight) => 'W',
            Need::Fence(FenceStrength::Between(..)) => 'B',
            Need::Fence(FenceStrength::Marks(_)) => 'A',
            Need::Fence(FenceStrength::Plain) => 'F',
            Need::Fence(FenceStrength::Cumulative) => 'C',
            Need::Lock(Role::TornUpdate | Role::TornCondition) => 'L',
            Need::Lock(Role::Partner) => 'l',
        }
    }

    /// As the CSV files call it.
    #[must_use]
    pub fn name(self) -> String {
        match self {
            Need::Fence(strength) => strength.to_string(),
            Need::Lock(role) => role.name().to_owned(),
        }
    }
}

/// Where something is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Row {
    /// The instruction.
    pub instr: InstrId,
    /// Where a fence is to stand; none for a lock.
    pub fence: Option<Place>,
}

/// The matrix.
pub struct Matrix<'a> {
    outcome: &'a Outcome,
    /// Whether of equally cheap placements those of the models to the left were preferred.
    is_stable: bool,
    /// The places, in the order of the program.
    pub rows: Vec<Row>,
}

impl<'a> Matrix<'a> {
    /// Of all results of an outcome; `is_stable` says that of equally cheap placements those of the models to the left
    /// were preferred.
    #[must_use]
    pub fn of(outcome: &'a Outcome, is_stable: bool) -> Matrix<'a> {
        let rows: BTreeSet<Row> = outcome
            .results
            .iter()
            .flat_map(|result| {
                let fences = result.fences.iter().map(|fence| fence.site);
                let fences = fences.map(|Site { instr, place }| Row { instr, fence: Some(place) });
                let users = result.locks.iter().flat_map(|lock| lock.users.keys());
                fences.chain(users.map(|&instr| Row { instr, fence: None })).collect::<Vec<_>>()
            })
            .collect();
        Matrix { outcome, is_stable, rows: rows.into_iter().collect() }
    }

    /// What a memory model needs there.
    #[must_use]
    pub fn need(&self, result: &ModelOutcome, row: Row) -> Option<Need> {
        match row.fence {
            Some(place) => {
                let point = Site { instr: row.instr, place };
                result.fences.iter().find(|fence| fence.site == point).map(|fence| Need::Fence(fence.strength))
            }
            None => {
                // Of several locks that it takes, the one that it needs for itself.
                let roles = result.locks.iter().filter_map(|lock| lock.users.get(&row.instr).copied());
                roles.min().map(Need::Lock)
            }
        }
    }

    /// Whether the preference for the models to the left may have been heeded: there are such, and fences to place.
    fn has_preferences(&self) -> bool {
        let with_fences = self.outcome.results.iter().filter(|result| !result.fences.is_empty());
        self.is_stable && with_fences.count() > 1
    }

    /// A cell of a table: what is needed there, nothing, or [`UNKNOWN`] if a limit was reached before that was known.
    fn cell(&self, result: &ModelOutcome, row: Row) -> String {
        match self.need(result, row) {
            Some(need) => need.name(),
            None if result.complete => String::new(),
            None => UNKNOWN.to_owned(),
        }
    }

    fn is_complete(&self) -> bool {
        self.outcome.results.iter().all(|result| result.complete)
    }

    fn place(row: Row) -> String {
        row.fence.map_or_else(|| "lock".to_owned(), place_name)
    }

    fn text(&self, instr: InstrId) -> String {
        let written = self.outcome.source.as_ref().and_then(|source| source.text_of(instr));
        written.unwrap_or_else(|| names::instruction_text(self.outcome, instr))
    }

    /// For people, with a legend.
    ///
    /// # Errors
    /// If the writer fails.
    pub fn write_text(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        let accesses = &self.outcome.accesses;
        let results = &self.outcome.results;
        let name =
            |row: &Row| format!("{} {}", Self::place(*row), shortened(&names::instruction(accesses, row.instr), NAME));
        let first = self.rows.iter().map(|row| width(&name(row))).chain([width("needed")]).max().unwrap_or(0);
        let cells: Vec<usize> = results.iter().map(|result| width(&result.model.name).max(2)).collect();
        let line = |head: &str, values: &mut dyn Iterator<Item = String>| {
            let values = values.zip(&cells).fold(String::new(), |mut line, (value, cell)| {
                let _ = write!(line, " {value:>cell$}");
                line
            });
            format!("{head}{} {values}", " ".repeat(first.saturating_sub(width(head))))
        };
        writeln!(out, "{}", line("needed", &mut results.iter().map(|result| result.model.name.clone())))?;
        for &row in &self.rows {
            let symbol = |result: &ModelOutcome| match self.need(result, row) {
                Some(need) => need.symbol().to_string(),
                None if result.complete => ".".to_owned(),
                None => UNKNOWN.to_owned(),
            };
            let shown = line(&name(&row), &mut results.iter().map(symbol));
            let room = COLUMNS.saturating_sub(width(&shown) + 2);
            let text =
                if room < LEAST_TEXT { String::new() } else { shortened(&printable(&self.text(row.instr)), room) };
            writeln!(out, "{}", format!("{shown}  {text}").trim_end())?;
        }
        let number = |result: &ModelOutcome, found: usize| match (result.complete, found) {
            (true, found) => found.to_string(),
            (false, 0) => UNKNOWN.to_owned(),
            (false, found) => format!("{found}{UNKNOWN}"),
        };
        let count =
            |wanted: fn(&ModelOutcome) -> usize| results.iter().map(move |result| number(result, wanted(result)));
        writeln!(out, "{}", line("fences", &mut count(|result| result.fences.len())))?;
        if results.iter().any(|result| !result.locks.is_empty()) {
            writeln!(out, "{}", line("locks", &mut count(|result| result.locks.len())))?;
        }
        let is_any = |is: IsKind| results.iter().flat_map(|result| &result.fences).any(|fence| is(fence.strength));
        let kinds: [(&str, IsKind); 5] = [
            ("S store-store fence", |strength| strength == FenceStrength::Stores),
            ("R load fence", |strength| strength == FenceStrength::Loads),
            ("W lightweight fence", |strength| strength == FenceStrength::Lightweight),
            ("B fence of some accesses", |strength| matches!(strength, FenceStrength::Between(..))),
            ("A acquire or release", |strength| matches!(strength, FenceStrength::Marks(_))),
        ];
        let lighter: Vec<&str> = kinds.into_iter().filter(|(_, is)| is_any(*is)).map(|(name, _)| name).collect();
        for line in lighter.chunks(3) {
            writeln!(out, "{}", line.join(", "))?;
        }
        writeln!(out, "F fence, C cumulative fence, L lock (can be torn), l the same lock, . nothing")?;
        if self.has_preferences() {
            writeln!(out, "{PREFERENCE}")?;
        }
        if self.is_complete() {
            Ok(())
        } else {
            writeln!(out, "not complete: a limit was reached, and more may be needed; {UNKNOWN} is not known")
        }
    }

    fn records(&self) -> impl Iterator<Item = Vec<String>> {
        let accesses = &self.outcome.accesses;
        self.rows.iter().map(move |&row| {
            let (thread, name) = accesses.names_of(row.instr);
            let needs = self.outcome.results.iter().map(|result| self.cell(result, row));
            let place = [thread.to_owned(), name.to_owned(), Self::place(row), self.text(row.instr)];
            let complete = names::yes_no(self.is_complete()).to_owned();
            [self.outcome.model.clone()].into_iter().chain(place).chain(needs).chain([complete]).collect()
        })
    }
}

/// A matrix as data.
#[derive(Serialize)]
pub struct MatrixObject<'a> {
    model: &'a str,
    memory_models: Vec<MemoryModelObject<'a>>,
    /// Whether nothing was left out under any of them.
    complete: bool,
    rows: Vec<RowObject<'a>>,
}

#[derive(Serialize)]
struct MemoryModelObject<'a> {
    name: &'a str,
    fences: usize,
    locks: usize,
    minimal: String,
    complete: bool,
}

#[derive(Serialize)]
struct RowObject<'a> {
    thread: &'a str,
    instruction: &'a str,
    position: String,
    text: String,
    /// By memory model; those that need nothing there are left out, and `?` is for those of which that is not known.
    needs: BTreeMap<&'a str, String>,
}

impl<'a> Matrix<'a> {
    /// As data.
    #[must_use]
    pub fn data(&self) -> MatrixObject<'a> {
        let outcome = self.outcome;
        let memory_model = |result: &'a ModelOutcome| MemoryModelObject {
            name: &result.model.name,
            fences: result.fences.len(),
            locks: result.locks.len(),
            minimal: outcome.minimal(result).to_string(),
            complete: result.complete,
        };
        let row = |&row: &Row| {
            let (thread, instruction) = outcome.accesses.names_of(row.instr);
            let need = |result: &'a ModelOutcome| {
                let cell = self.cell(result, row);
                (!cell.is_empty()).then_some((result.model.name.as_str(), cell))
            };
            RowObject {
                thread,
                instruction,
                position: Self::place(row),
                text: self.text(row.instr),
                needs: outcome.results.iter().filter_map(need).collect(),
            }
        };
        MatrixObject {
            model: &outcome.model,
            memory_models: outcome.results.iter().map(memory_model).collect(),
            complete: self.is_complete(),
            rows: self.rows.iter().map(row).collect(),
        }
    }
}

/// The matrices of several models, of the same memory models, as one table.
///
/// # Errors
/// If the writer fails.
pub fn write_csv(matrices: &[Matrix<'_>], out: &mut dyn io::Write) -> io::Result<()> {
    let memory_models = matrices.first().map_or(&[][..], |matrix| &matrix.outcome.results);
    let memory_models = memory_models.iter().map(|result| result.model.name.as_str());
    let columns = ["model", "thread", "instruction", "position", "text"].into_iter().chain(memory_models);
    let mut table = Table::with_columns(&columns.chain(["complete"]).collect::<Vec<_>>(), out)?;
    for matrix in matrices {
        if matrix.rows.is_empty() && !matrix.is_complete() {
            table.write_part(&[&matrix.outcome.model])?;
        }
        matrix.records().try_for_each(|record| table.write_cells(record.iter().map(String::as_str)))?;
    }
    table.end()
}
