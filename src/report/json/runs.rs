//! The runs of `report.json`.

use crate::analysis::{Deed, Evidence, ModelOutcome, Outcome, Run, RunAccess, RunStep, Told, Waiting};
use crate::report::runs;
use crate::source::Source;
use serde::Serialize;

/// A reason that is a run, in the program's words.
#[derive(Serialize)]
pub struct RunObject<'a> {
    /// A line for each step, or what there is instead of a run.
    steps: Vec<String>,
    because: String,
    /// The run, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<RunSteps<'a>>,
}

#[derive(Serialize)]
struct RunSteps<'a> {
    threads: &'a [String],
    steps: Vec<StepObject<'a>>,
}

#[derive(Serialize)]
struct StepObject<'a> {
    thread: &'a str,
    /// What is executed, unless a write becomes visible.
    #[serde(flatten)]
    executes: Option<ExecutesObject<'a>>,
    /// The write that becomes visible.
    #[serde(skip_serializing_if = "Option::is_none")]
    becomes_visible: Option<WriteObject<'a>>,
    /// Where the instruction stands that is executed, or that made the write.
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<String>,
    /// For each of the threads what waits in its buffer afterwards; none if there are no buffers.
    #[serde(skip_serializing_if = "Option::is_none")]
    buffers: Option<Vec<Vec<WriteObject<'a>>>>,
}

#[derive(Serialize)]
struct ExecutesObject<'a> {
    instruction: &'a str,
    text: &'a str,
    accesses: Vec<AccessObject<'a>>,
}

#[derive(Serialize)]
struct AccessObject<'a> {
    /// `R` or `W`.
    kind: String,
    location: &'a str,
    value: i64,
}

#[derive(Serialize)]
struct WriteObject<'a> {
    location: &'a str,
    value: i64,
}

/// The runs that are reasons: those that are told besides are for the terminal.
pub(super) fn run_objects<'a>(outcome: &Outcome, result: &'a ModelOutcome) -> Vec<RunObject<'a>> {
    let object = |told: &'a Told| run_object(outcome.source.as_ref(), told);
    if runs::are_reasons(result) { result.runs.iter().map(object).collect() } else { Vec::new() }
}

/// A run of the program that this is the source of.
#[must_use]
pub fn run_object<'a>(source: Option<&Source>, told: &'a Told) -> RunObject<'a> {
    RunObject {
        steps: runs::list(&told.evidence).lines().map(|line| line.trim().to_owned()).collect(),
        because: told.because.split_whitespace().collect::<Vec<_>>().join(" "),
        run: match &told.evidence {
            Evidence::Run(run) => Some(run_steps(source, run)),
            Evidence::Text(_) => None,
        },
    }
}

fn run_steps<'a>(source: Option<&Source>, run: &'a Run) -> RunSteps<'a> {
    RunSteps { threads: &run.threads, steps: run.steps.iter().map(|step| step_object(source, run, step)).collect() }
}

fn step_object<'a>(source: Option<&Source>, run: &'a Run, step: &'a RunStep) -> StepObject<'a> {
    let (executes, becomes_visible) = match &step.deed {
        Deed::Executes { name, text, accesses, .. } => {
            let accesses = accesses.iter().map(access_object).collect();
            (Some(ExecutesObject { instruction: name, text, accesses }), None)
        }
        Deed::BecomesVisible { write, .. } => (None, Some(write_object(write))),
    };
    let source = source.zip(step.deed.instr());
    let buffers = step.buffers.iter().map(|buffer| buffer.iter().map(write_object).collect());
    StepObject {
        thread: &run.threads[step.thread.index()],
        executes,
        becomes_visible,
        source: source.and_then(|(source, instr)| source.reference(instr)),
        buffers: run.has_buffers.then(|| buffers.collect()),
    }
}

fn access_object(access: &RunAccess) -> AccessObject<'_> {
    AccessObject { kind: access.kind.to_string(), location: &access.location, value: access.value }
}

fn write_object(write: &Waiting) -> WriteObject<'_> {
    WriteObject { location: &write.location, value: write.value }
}
