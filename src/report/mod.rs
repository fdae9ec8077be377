//! Reports: one file a format behind one trait, [`Report`]; a run may write several.
//!
//! What a row says is decided once, in [`rows`]: the names there are the columns of the CSV files and the keys of
//! `report.json`. Whether fewer fences would do is decided in [`minimal`]. [`text`] is for people, with [`drawing`]
//! for cycles, [`runs`] for runs and [`snippet`] for the source; [`output`] puts files in place whole or not at all,
//! [`streams`] is what a terminal and a pipe get.

pub mod csv;
pub mod dot;
pub mod drawing;
pub mod edges;
mod engine;
pub mod html;
pub mod identity;
pub mod instances;
pub mod json;
pub mod limits;
pub mod litmus;
pub mod matrix;
pub mod minimal;
pub mod names;
pub mod output;
mod program_order;
pub mod prose;
pub mod reading;
pub mod rows;
pub mod runs;
pub mod sarif;
pub mod snippet;
pub mod streams;
pub mod style;
pub mod svg;
pub mod text;
mod unheeded;

use crate::analysis::Outcome;
use std::io::{self, Write};

/// A format in which an outcome can be written.
pub trait Report {
    /// The file's name in an output directory.
    fn file_name(&self) -> &'static str;

    /// Writes the outcome.
    ///
    /// # Errors
    /// If the writer fails.
    fn write(&self, outcome: &Outcome, out: &mut dyn Write) -> io::Result<()>;

    /// Whether one file can have several models in it.
    fn takes_several(&self) -> bool {
        true
    }

    /// Writes the outcomes of several models into one file, also if only one of them was to be had: whoever asked for
    /// several gets the form for several. Unless a format has a way of its own, one after the other.
    ///
    /// # Errors
    /// If the writer fails.
    fn write_all(&self, outcomes: &[Outcome], out: &mut dyn Write) -> io::Result<()> {
        outcomes.iter().try_for_each(|outcome| self.write(outcome, out))
    }
}

/// All formats, in the order in which they are documented.
#[must_use]
pub fn all() -> Vec<Box<dyn Report>> {
    vec![
        Box::new(csv::Fences),
        Box::new(csv::Locks),
        Box::new(csv::Delays),
        Box::new(csv::Cycles),
        Box::new(csv::Summary),
        Box::new(json::Json),
        Box::new(html::Html),
        Box::new(dot::Dot { cycle: None }),
        Box::new(sarif::Sarif),
    ]
}
