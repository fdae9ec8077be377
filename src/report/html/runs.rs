//! The reasons that are runs, as the page knows them.

use crate::analysis::{Deed, Evidence, ModelOutcome, RunStep, Told};
use crate::report::runs;
use serde::Serialize;

/// A run, or the lines that there are instead of one.
#[derive(Serialize)]
pub(super) struct RunData<'a> {
    because: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    threads: Option<&'a [String]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    steps: Option<Vec<StepData>>,
}

/// Values are texts: a script has no numbers of 64 bits.
#[derive(Serialize)]
struct StepData {
    /// The position in the threads of the run.
    thread: usize,
    /// The position of the instruction that is executed, or that made the write.
    #[serde(skip_serializing_if = "Option::is_none")]
    instruction: Option<usize>,
    /// Kind, location and value, unless a write becomes visible.
    #[serde(skip_serializing_if = "Option::is_none")]
    accesses: Option<Vec<(String, String)>>,
    /// The write.
    #[serde(skip_serializing_if = "Option::is_none")]
    becomes_visible: Option<String>,
    /// For each thread what waits afterwards; of a run without buffers nothing.
    buffers: Vec<Vec<String>>,
}

/// The runs that are reasons.
pub(super) fn run_data(result: &ModelOutcome) -> Vec<RunData<'_>> {
    if runs::are_reasons(result) { result.runs.iter().map(run).collect() } else { Vec::new() }
}

fn run(told: &Told) -> RunData<'_> {
    let because = told.because.split_whitespace().collect::<Vec<_>>().join(" ");
    match &told.evidence {
        Evidence::Text(text) => RunData { because, text: Some(text.trim_end()), threads: None, steps: None },
        Evidence::Run(run) => {
            let steps = run.steps.iter().map(step).collect();
            RunData { because, text: None, threads: Some(&run.threads), steps: Some(steps) }
        }
    }
}

fn step(step: &RunStep) -> StepData {
    let (accesses, becomes_visible) = match &step.deed {
        Deed::Executes { accesses, .. } => {
            let access = accesses
                .iter()
                .map(|access| (access.kind.to_string(), format!("{} = {}", access.location, access.value)));
            (Some(access.collect()), None)
        }
        Deed::BecomesVisible { write, .. } => (None, Some(write.to_string())),
    };
    StepData {
        thread: step.thread.index(),
        instruction: step.deed.instr().map(|instr| instr.index()),
        accesses,
        becomes_visible,
        buffers: step.buffers.iter().map(|buffer| buffer.iter().map(ToString::to_string).collect()).collect(),
    }
}
