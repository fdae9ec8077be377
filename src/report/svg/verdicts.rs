//! The runs of `seqcon verify`: a picture for each memory model, as of the runs of an analysis.

use super::canvas::Canvas;
use super::run;
use crate::analysis::{Evidence, Told};
use std::io::{self, Write};

/// What was found, memory model by memory model.
#[derive(Default)]
pub struct Verdicts {
    canvas: Canvas,
}

impl Verdicts {
    /// A violation, or another verdict, which has nothing to show but itself.
    pub fn add(&mut self, model: &str, memory_model: &str, verdict: &str, violation: Option<&Told>) {
        let caption = format!("{model} under {memory_model}: {verdict}");
        match violation.map(|told| &told.evidence) {
            Some(Evidence::Run(run)) => {
                self.canvas.caption(&caption);
                run::draw(run, &mut self.canvas);
            }
            Some(Evidence::Text(_)) => self.canvas.caption(&format!("{caption}, by an execution that is told as text")),
            None => self.canvas.caption(&caption),
        }
        self.canvas.end_picture();
    }

    /// Writes all pictures, one below the other.
    ///
    /// # Errors
    /// If the writer fails.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(self.canvas.document().as_bytes())
    }
}
