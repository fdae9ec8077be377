//! CSV: one table a file (RFC 4180), the header always present.

use super::Report;
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

/// Defines a table: its file, its header (written even if there is no row), and its rows. The first column is the model.
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
                write_table($header, outcomes, $rows, out)
            }
        }
    };
}

table!(
    Fences,
    "fences.csv",
    "model,memory_model,thread,instruction,position,kind,mnemonic,cost,delays,source",
    |outcome, result| of_model(outcome, outcome.fence_rows(result))
);
table!(Locks, "locks.csv", "model,memory_model,lock,thread,instruction,role,locations,source", |outcome, result| {
    of_model(outcome, outcome.lock_rows(result))
});
table!(
    Delays,
    "delays.csv",
    "model,memory_model,thread,from_instruction,from_access,to_instruction,to_access,cumulative,confirmed",
    |outcome, result| of_model(outcome, outcome.delay_rows(result))
);
table!(
    Cycles,
    "cycles.csv",
    "model,memory_model,cycle,step,thread,instruction,access,edge,unsafe",
    |outcome, result| of_model(outcome, outcome.cycle_rows(result))
);
table!(
    Summary,
    "summary.csv",
    "model,memory_model,profile,conflicts,atomicity,states,transitions,labels,vertices,program_edges,conflict_edges,unsafe_pairs,delays,cumulative_delays,cycles,torn,locks,fences,plain_fences,cumulative_fences,placement,minimal,complete,engine,abstraction,seconds,explore_seconds,analyse_seconds",
    |outcome, result| vec![(outcome.summary_row(result), outcome.times_row(result))]
);

/// A row, and the model that it is about: in JSON that is said once, for all rows.
#[derive(Serialize)]
struct Of<'a, Row>(&'a str, Row);

fn of_model<Row>(outcome: &Outcome, rows: Vec<Row>) -> Vec<Of<'_, Row>> {
    rows.into_iter().map(|row| Of(&outcome.model, row)).collect()
}

fn write_table<'a, Row: Serialize>(
    header: &str,
    outcomes: &'a [Outcome],
    rows: fn(&'a Outcome, &'a ModelOutcome) -> Vec<Row>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut writer = csv::WriterBuilder::new().has_headers(false).from_writer(out);
    writer.write_record(header.split(','))?;
    for outcome in outcomes {
        for row in outcome.results.iter().flat_map(|result| rows(outcome, result)) {
            writer.serialize(row)?;
        }
    }
    writer.flush()
}
