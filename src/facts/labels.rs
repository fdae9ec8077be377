//! The labels of a state space as a table: what a query needs to know of a text without understanding it.
//!
//! | column | holds |
//! |---|---|
//! | `text` | the label as it is written |
//! | `id` | its number; texts that mean the same have the same |
//! | `thread` | its thread; empty if it is internal |
//! | `kind` | `internal`; `condition` if it is nothing but a condition, so that a self-loop is a refused evaluation; else `step` |
//! | `meaning` | the label in the native dialect, or `tau` |
//!
//! Numbers are in the order of the meanings, texts in their own.

#![forbid(unsafe_code)]

use super::extract::{Options, Progress, texts};
use super::quotient::{Meaning, minds_loops, space};
use crate::lts::error::Error;
use crate::lts::source::Bytes;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Texts with what they mean.
pub type Labels = BTreeMap<Vec<u8>, Meaning>;

/// The labels of a state space in one file or several.
///
/// # Errors
/// As for [`extract_all`](super::extract::extract_all).
pub fn of_state_spaces(sources: &[Bytes], options: &Options, progress: &dyn Progress) -> Result<Labels, Error> {
    texts::of_state_spaces(sources, options, progress)
}

/// Labels from lists of texts, a line each. A text in quotes is what is between them, with quotes doubled, as databases
/// write it. Blank lines are skipped.
///
/// # Errors
/// If no dialect reads one of them.
pub fn of_lists(sources: &[Bytes], options: &Options) -> Result<Labels, Error> {
    texts::of_lists(sources, options)
}

/// Writes the table.
///
/// # Errors
/// If `out` cannot be written.
pub fn write(labels: &Labels, out: &mut dyn Write) -> io::Result<()> {
    let mut numbers: BTreeMap<&Meaning, usize> = labels.values().map(|meaning| (meaning, 0)).collect();
    numbers.values_mut().enumerate().for_each(|(position, number)| *number = position);
    let mut rows = csv::Writer::from_writer(out);
    rows.write_record(["text", "id", "thread", "kind", "meaning"]).map_err(io::Error::other)?;
    for (text, meaning) in labels {
        let (thread, kind) = match meaning {
            None => ("", "internal"),
            Some(label) if minds_loops(meaning) => (&*label.thread, "condition"),
            Some(label) => (&*label.thread, "step"),
        };
        let (id, meaning) = (numbers[meaning].to_string(), space::text(meaning));
        let row: [&[u8]; 5] = [text, id.as_bytes(), thread.as_bytes(), kind.as_bytes(), meaning.as_bytes()];
        rows.write_record(row).map_err(io::Error::other)?;
    }
    rows.flush()
}
