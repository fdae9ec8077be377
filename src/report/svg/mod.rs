//! `witness.svg`: one reason as a picture for a paper or a slide, with no other tool.
//!
//! The reason is a critical cycle ([`cycle`]: a column for each thread, program order downwards, conflicts as arrows
//! across), or a run ([`run`]: a lane for each thread, time downwards, with what waits in the store buffers). Which one
//! is its number, as in `--dot --cycle`: a listed cycle, else the witness of a delay, else a run. Without a number it
//! is the first that is not ruled out; of a cycle that is, the picture says so. Each memory model has a picture, one
//! below the other, on white. [`Verdicts`] are the runs that `seqcon verify` finds.
//!
//! *Layout:* no fonts are known here, so the width of a text is taken to be that of its columns in a monospaced font;
//! all numbers are whole. *Text is text*, escaped, and can be searched, copied and set in another font. The same
//! outcome gives the same bytes.

mod canvas;
mod cycle;
mod ruled_out;
mod run;
mod verdicts;

pub use verdicts::Verdicts;

use super::{Report, limits};
use crate::analysis::{ModelOutcome, Outcome, Run};
use crate::cycles::{Cycle, SegmentVerdict};
use canvas::{Canvas, Look};
use ruled_out::{Ground, ruled_out};
use std::io::{self, Write};

/// `witness.svg`
pub struct Svg {
    /// Which reason; the first one that is not ruled out, if nobody says.
    pub number: Option<usize>,
}

/// There is no reason of that number.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "under {memory_model} there {}; choose another number, or other memory models with --mm",
    match count { 0 => "is no cycle and no run".to_owned(), 1 => "is one reason, number 0".to_owned(), more => format!("are {more} reasons, numbered from 0 to {}", more - 1) }
)]
pub struct NoSuchReason {
    memory_model: String,
    count: usize,
}

/// Whether every memory model has a reason of that number.
///
/// # Errors
/// The first one that has not.
pub fn check(outcome: &Outcome, number: usize) -> Result<(), NoSuchReason> {
    outcome.results.iter().try_for_each(|result| {
        let count = num_of_reasons(result);
        let memory_model = result.model.name.clone();
        if number < count { Ok(()) } else { Err(NoSuchReason { memory_model, count }) }
    })
}

/// What is drawn.
enum Reason<'a> {
    /// A cycle, what is known of its segments, and the position of its delay, if it is the witness of one.
    Cycle(&'a Cycle, &'a [SegmentVerdict], Option<usize>),
    Run(&'a Run),
}

fn num_of_reasons(result: &ModelOutcome) -> usize {
    match &result.findings.cycles {
        Some(list) if !list.cycles.is_empty() => list.cycles.len(),
        _ => match result.all_delays().count() {
            0 => result.runs.iter().filter(|told| told.evidence.run().is_some()).count(),
            delays => delays,
        },
    }
}

fn reason(result: &ModelOutcome, number: usize) -> Option<Reason<'_>> {
    if let Some(judged) = result.findings.cycles.as_ref().and_then(|list| list.cycles.get(number)) {
        return Some(Reason::Cycle(&judged.cycle, &judged.verdicts, None));
    }
    if let Some(delay) = result.all_delays().nth(number) {
        return Some(Reason::Cycle(&delay.witness, &[], Some(number)));
    }
    result.runs.iter().filter_map(|told| told.evidence.run()).nth(number).map(Reason::Run)
}

/// The first reason that is not ruled out, else the first.
fn first(result: &ModelOutcome) -> usize {
    let remains = |number: &usize| match reason(result, *number) {
        Some(Reason::Cycle(cycle, verdicts, delay)) => ruled_out(result, cycle, verdicts, delay).is_none(),
        _ => true,
    };
    (0..num_of_reasons(result)).find(remains).unwrap_or(0)
}

impl Report for Svg {
    fn file_name(&self) -> &'static str {
        "witness.svg"
    }

    fn write(&self, outcome: &Outcome, out: &mut dyn Write) -> io::Result<()> {
        self.write_all(std::slice::from_ref(outcome), out)
    }

    fn write_all(&self, outcomes: &[Outcome], out: &mut dyn Write) -> io::Result<()> {
        let mut canvas = Canvas::default();
        for outcome in outcomes {
            for result in &outcome.results {
                self.draw(outcome, result, &mut canvas);
            }
        }
        out.write_all(canvas.document().as_bytes())
    }
}

impl Svg {
    fn draw(&self, outcome: &Outcome, result: &ModelOutcome, canvas: &mut Canvas) {
        let limit = limits::in_words(outcome, result);
        let note = limit.map_or(String::new(), |limit| format!(" (not complete: {limit})"));
        let caption = |what: &str| format!("{} under {}: {what}{note}", outcome.model, result.model.name);
        let number = self.number.unwrap_or_else(|| first(result));
        match reason(result, number) {
            None => canvas.caption(&caption("nothing to show")),
            Some(Reason::Cycle(cycle, verdicts, delay)) => {
                let ground = ruled_out(result, cycle, verdicts, delay);
                let picture = cycle::Picture::new(outcome, result, cycle, verdicts, delay, ground);
                let ruled_out = ground.map_or(String::new(), |ground| format!(": {}", ground.in_words()));
                canvas.caption(&caption(&format!("{}{ruled_out}", picture.name)));
                picture.draw(canvas);
            }
            Some(Reason::Run(run)) => {
                canvas.caption(&caption(&format!("run {number}")));
                run::draw(run, canvas);
            }
        }
        canvas.end_picture();
    }
}

/// How a name of an edge is drawn: dependencies and fences keep the order that the others do not.
fn look_of(name: &str) -> Look {
    if name.starts_with("Dp") { Look::Dependency } else { Look::Order }
}
