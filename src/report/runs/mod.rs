//! The reasons that are runs, for a terminal: [drawn](drawing), or as a list with a line for each step.

mod drawing;

use super::streams::harmless;
use crate::analysis::{Deed, Evidence, ModelOutcome, Run, RunStep, Told};
use std::fmt::{self, Write};

/// How a run is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// A line for each step.
    List,
    /// A column for each thread; as a list where that is too wide.
    Drawing,
}

/// Whether the runs of a result are its reasons; else they are told besides, on the terminal alone.
#[must_use]
pub fn are_reasons(result: &ModelOutcome) -> bool {
    result.inserted.is_hopeless() || result.fences.iter().any(|fence| !fence.runs.is_empty())
}

/// How much of an instruction's text a list has.
const TEXT: usize = 40;
/// How wide a drawing may be: with its indentation, 80 columns.
const WIDEST: usize = 76;

/// Writes what is shown and what is wrong with it. Colours are the only commands to a terminal in it.
///
/// # Errors
/// If the writer fails.
pub fn write(told: &Told, style: Style, out: &mut dyn Write) -> fmt::Result {
    let drawn = told.evidence.run().filter(|_| style == Style::Drawing).and_then(|run| drawing::draw(run, WIDEST));
    match drawn {
        Some(lines) => lines.iter().try_for_each(|line| writeln!(out, "    {line}"))?,
        None => write!(out, "{}", harmless(&list(&told.evidence)))?,
    }
    write!(out, "{}", harmless(&told.because))
}

/// A line for each step, as it is, or the lines that stand for a run.
#[must_use]
pub fn list(evidence: &Evidence) -> String {
    match evidence {
        Evidence::Run(run) => lines(run).into_iter().map(|line| format!("    {line}\n")).collect(),
        Evidence::Text(text) => text.clone(),
    }
}

fn lines(run: &Run) -> Vec<String> {
    let name = |step: &RunStep| match &step.deed {
        Deed::Executes { name, .. } => name.clone(),
        Deed::BecomesVisible { .. } => run.threads[step.thread.index()].clone(),
    };
    let text = |step: &RunStep| match &step.deed {
        Deed::Executes { text, .. } => match text.char_indices().nth(TEXT) {
            Some((end, _)) => format!("{}…", &text[..end]),
            None => text.clone(),
        },
        Deed::BecomesVisible { .. } => String::new(),
    };
    let rows: Vec<(String, String)> = run.steps.iter().map(|step| (name(step), text(step))).collect();
    let width = |column: fn(&(String, String)) -> &String| {
        rows.iter().map(|row| column(row).chars().count()).max().unwrap_or(0)
    };
    let (names, texts) = (width(|row| &row.0), width(|row| &row.1));
    let line = |(number, (step, (name, text))): (usize, (&RunStep, &(String, String)))| {
        let waiting = waiting(run, step);
        let waiting = if waiting.is_empty() { waiting } else { format!("  | {waiting}") };
        format!("{:>3}  {name:names$}  {text:texts$}  {}{waiting}", number + 1, step.deed.in_words())
    };
    run.steps.iter().zip(&rows).enumerate().map(line).collect()
}

/// What waits after a step, as `buffer of T0: x = 1; buffer of T1: y = 1`; empty if nothing does.
#[must_use]
pub fn waiting(run: &Run, step: &RunStep) -> String {
    let buffers = run.threads.iter().zip(&step.buffers).filter(|(_, buffer)| !buffer.is_empty());
    let buffers = buffers.map(|(thread, buffer)| {
        let writes: Vec<String> = buffer.iter().map(ToString::to_string).collect();
        format!("buffer of {thread}: {}", writes.join(", "))
    });
    buffers.collect::<Vec<_>>().join("; ")
}
