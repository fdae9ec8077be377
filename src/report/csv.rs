//! CSV: one table a file (RFC 4180), the header always present.
//!
//! A table of which a limit has left out something says so in its last column, `complete`; if it has no row for a
//! memory model then, there is one that has nothing but the names of the model and the memory model in it. A cell
//! that a spreadsheet would take for a formula has an apostrophe before it.

use super::Report;
use super::rows::CompleteRow;
use crate::analysis::{ModelOutcome, Outcome};
use serde::Serialize;
use std::io::{self, Write};

/// `fences.csv`
pub struct Fences;
/// `locks.csv`
pub struct Locks;
/// `delays.csv`
pub struct Delays;
/// `cycles.csv`
pub struct Cycles;
/// `summary.csv`
pub struct Summary;

/// Defines a table: its file, its header (written even if there is no row), and its rows. The first column is the
/// model.
macro_rules! table {
    ($table:ty, $file:literal, $header:literal, $rows:expr) => {
        impl Report for $table {
            fn file_name(&self) -> &'static str {
                $file
            }

            fn write(&self, outcome: &Outcome, out: &mut dyn Write) -> io::Result<()> {
                self.write_all(std::slice::from_ref(outcome), out)
            }

            fn write_all(&self, outcomes: &[Outcome], out: &mut dyn Write) -> io::Result<()> {
                let write: fn(&Outcome, &ModelOutcome, &mut Table<&mut dyn Write>) -> io::Result<()> = $rows;
                let mut table = Table::new($header, out)?;
                for outcome in outcomes {
                    outcome.results.iter().try_for_each(|result| write(outcome, result, &mut table))?;
                }
                table.end()
            }
        }
    };
}

table!(
    Fences,
    "fences.csv",
    "model,memory_model,thread,instruction,position,kind,mnemonic,cost,delays,source,complete",
    |outcome, result, table| of_model(outcome, result, outcome.fence_rows(result), table)
);
table!(
    Locks,
    "locks.csv",
    "model,memory_model,lock,thread,instruction,role,locations,source,complete",
    |outcome, result, table| { of_model(outcome, result, outcome.lock_rows(result), table) }
);
table!(
    Delays,
    "delays.csv",
    "model,memory_model,thread,from_instruction,from_access,to_instruction,to_access,cumulative,confirmed,complete",
    |outcome, result, table| of_model(outcome, result, outcome.delay_rows(result), table)
);
table!(
    Cycles,
    "cycles.csv",
    "model,memory_model,cycle,step,thread,instruction,access,edge,unsafe,complete",
    |outcome, result, table| of_model(outcome, result, outcome.cycle_rows(result), table)
);
table!(
    Summary,
    "summary.csv",
    "model,memory_model,profile,conflicts,atomicity,states,transitions,labels,vertices,program_edges,conflict_edges,unsafe_pairs,delays,cumulative_delays,cycles,torn,locks,fences,plain_fences,cumulative_fences,store_fences,light_fences,marks,placement,minimal,complete,engine,abstraction,property,inserted,seconds,explore_seconds,analyse_seconds",
    |outcome, result, table| table.write(&(outcome.summary_row(result), outcome.times_row(result)))
);

/// A row with the model that it is about, which JSON says once for all rows, and whether there may be others.
#[derive(Serialize)]
struct Of<'a, Row>(&'a str, Row, CompleteRow);

/// What was found under a memory model: all rows, or a part of them.
fn of_model<Row: Serialize>(
    outcome: &Outcome,
    result: &ModelOutcome,
    rows: Vec<Row>,
    table: &mut Table<&mut dyn Write>,
) -> io::Result<()> {
    if rows.is_empty() && !result.complete {
        table.write_part(&[&outcome.model, &result.model.name])?;
    }
    let complete = outcome.complete_row(result);
    rows.into_iter().try_for_each(|row| table.write(&Of(&outcome.model, row, complete)))
}

/// A table that is being written.
pub(super) struct Table<W: Write> {
    writer: csv::Writer<W>,
    columns: usize,
}

impl<W: Write> Table<W> {
    /// Writes the header.
    pub(super) fn new(header: &str, out: W) -> io::Result<Table<W>> {
        Table::with_columns(&header.split(',').collect::<Vec<_>>(), out)
    }

    /// Writes the header.
    pub(super) fn with_columns(columns: &[&str], out: W) -> io::Result<Table<W>> {
        let mut writer = csv::WriterBuilder::new().has_headers(false).from_writer(out);
        writer.write_record(columns.iter().map(|cell| guarded(cell)))?;
        Ok(Table { writer, columns: columns.len() })
    }

    /// Writes a row.
    pub(super) fn write(&mut self, row: &impl Serialize) -> io::Result<()> {
        // The cells of a row are known when it has been written.
        let mut cells = csv::WriterBuilder::new().has_headers(false).from_writer(Vec::new());
        cells.serialize(row)?;
        let cells = cells.into_inner().map_err(|error| error.into_error())?;
        let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(&*cells);
        for record in reader.records() {
            self.write_cells(record?.iter())?;
        }
        Ok(())
    }

    /// Writes a row of texts.
    pub(super) fn write_cells<'c>(&mut self, cells: impl IntoIterator<Item = &'c str>) -> io::Result<()> {
        Ok(self.writer.write_record(cells.into_iter().map(guarded))?)
    }

    /// Writes the row that says that there may be others: names in the first columns, `no` in the last.
    pub(super) fn write_part(&mut self, names: &[&str]) -> io::Result<()> {
        let between = std::iter::repeat_n("", self.columns.saturating_sub(names.len() + 1));
        self.write_cells(names.iter().copied().chain(between).chain(["no"]))
    }

    /// Everything was written.
    pub(super) fn end(mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

/// The cell as a spreadsheet takes it for a text, where it would take it for a formula; a number stays one.
pub(crate) fn guarded(cell: &str) -> String {
    let is_formula = cell.starts_with(['=', '+', '-', '@', '\t', '\r']) && cell.parse::<f64>().is_err();
    if is_formula { format!("'{cell}") } else { cell.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_guarded_and_numbers_are_not() {
        for (cell, expected) in [
            ("=1+1", "'=1+1"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("+x", "'+x"),
            ("-x", "'-x"),
            ("-", "'-"),
            ("\t=1", "'\t=1"),
            ("-1", "-1"),
            ("-0.5", "-0.5"),
            ("x = 1", "x = 1"),
            ("", ""),
        ] {
            assert_eq!(guarded(cell), expected);
        }
    }
}
