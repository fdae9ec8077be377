//! CSV: one table a file (RFC 4180), the header always present.

use super::Report;
use super::rows::{CycleRow, DelayRow, FenceRow, LockRow, SummaryRow, TimesRow};
use crate::analysis::Outcome;
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

/// Defines a table: its file, its header (written even if there is no row), and its rows.
macro_rules! table {
    ($table:ty, $row:ty, $file:literal, $header:literal, $rows:expr) => {
        impl Report for $table {
            fn file_name(&self) -> &'static str {
                $file
            }

            fn write(&self, outcome: &Outcome, out: &mut dyn Write) -> io::Result<()> {
                let rows: fn(&Outcome) -> Vec<$row> = $rows;
                write_table($header, &rows(outcome), out)
            }
        }
    };
}

table!(
    Fences,
    FenceRow,
    "fences.csv",
    "memory_model,thread,instruction,position,kind,mnemonic,cost,delays,source",
    |outcome| outcome.results.iter().flat_map(|result| outcome.fence_rows(result)).collect()
);
table!(Locks, LockRow, "locks.csv", "memory_model,lock,thread,instruction,role,locations,source", |outcome| outcome
    .results
    .iter()
    .flat_map(|result| outcome.lock_rows(result))
    .collect());
table!(
    Delays,
    DelayRow,
    "delays.csv",
    "memory_model,thread,from_instruction,from_access,to_instruction,to_access,cumulative,confirmed",
    |outcome| outcome.results.iter().flat_map(|result| outcome.delay_rows(result)).collect()
);
table!(Cycles, CycleRow, "cycles.csv", "memory_model,cycle,step,thread,instruction,access,edge,unsafe", |outcome| {
    outcome.results.iter().flat_map(|result| outcome.cycle_rows(result)).collect()
});
table!(
    Summary,
    (SummaryRow, TimesRow),
    "summary.csv",
    "model,memory_model,profile,conflicts,atomicity,states,transitions,labels,vertices,program_edges,conflict_edges,unsafe_pairs,delays,cumulative_delays,cycles,torn,locks,fences,plain_fences,cumulative_fences,placement,minimal,complete,engine,abstraction,seconds,explore_seconds,analyse_seconds",
    |outcome| outcome.results.iter().map(|result| (outcome.summary_row(result), outcome.times_row(result))).collect()
);

fn write_table<Row: Serialize>(header: &str, rows: &[Row], out: &mut dyn Write) -> io::Result<()> {
    let mut writer = csv::WriterBuilder::new().has_headers(false).from_writer(out);
    writer.write_record(header.split(','))?;
    for row in rows {
        writer.serialize(row)?;
    }
    writer.flush()
}
