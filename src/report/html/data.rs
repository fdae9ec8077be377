//! What the page knows: the outcome by numbers, with every name once.
//!
//! Threads, locations, instructions and nodes are tables; everything else refers to them by position. The fences are
//! those of `report.json`, key by key, and `summary` is its summary. Conflicts are not listed: two nodes conflict if
//! their threads differ, their location is the same and one writes, which a script finds faster than it reads.

use super::super::edges::Edges;
use super::super::{limits, program_order, reading};
use super::drawing::Drawing;
use super::listing::Listing;
use super::runs::{RunData, run_data};
use crate::aeg::{Accesses, Evaluation, Vertex};
use crate::analysis::{Confirmation, ModelOutcome, Outcome};
use crate::caveat::Caveat;
use crate::cycles::{Cycle, Delay, SegmentVerdict, Torn};
use crate::ids::InstrId;
use crate::provenance::Provenance;
use crate::report::engine;
use crate::report::json::{FenceObject, VerificationObject, fence_objects, verification_object};
use crate::report::names;
use crate::report::rows::SummaryRow;
use serde::Serialize;

/// Raised by one when a key changes its meaning or goes away.
const SCHEMA_VERSION: u32 = 2;

/// The document in the page.
#[derive(Serialize)]
pub struct Data<'a> {
    schema_version: u32,
    seqcon: &'static str,
    model: &'a str,
    command: &'a str,
    inputs: Vec<InputData<'a>>,
    cut_off: bool,
    /// What must be known before the results are believed, how they were found, and what was not taken into account.
    notices: Vec<String>,
    threads: &'a [String],
    locations: &'a [String],
    instructions: Vec<InstructionData<'a>>,
    /// The vertices, then the instructions without any.
    nodes: Vec<NodeData>,
    program_edges: Vec<(usize, usize)>,
    listing: Listing,
    results: Vec<ResultData<'a>>,
}

#[derive(Serialize)]
struct InputData<'a> {
    path: &'a str,
    sha256: Option<&'a str>,
}

#[derive(Serialize)]
struct InstructionData<'a> {
    thread: usize,
    name: &'a str,
    text: String,
    row: usize,
    source: Option<String>,
}

#[derive(Serialize)]
struct NodeData {
    instruction: usize,
    /// `R` or `W`.
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    location: Option<usize>,
    level: u32,
}

#[derive(Serialize)]
struct ResultData<'a> {
    memory_model: String,
    title: String,
    summary: SummaryRow,
    enough: bool,
    each_fence_closes_a_path: bool,
    minimal_in_words: String,
    verified: VerificationObject,
    complete: bool,
    notices: Vec<String>,
    fences: Vec<FenceData>,
    locks: Vec<LockData>,
    delays: Vec<DelayData>,
    /// The reasons that are runs.
    runs: Vec<RunData<'a>>,
    /// No fence stops the first of them.
    unfixable: bool,
}

#[derive(Serialize)]
struct FenceData {
    #[serde(flatten)]
    fence: FenceObject,
    /// The position of the instruction that it stands at.
    at: usize,
}

#[derive(Serialize)]
struct LockData {
    locations: Vec<usize>,
    users: Vec<(usize, &'static str)>,
    /// The shortest cycle that tears an instruction under it.
    witness: Option<Vec<StepData>>,
}

#[derive(Serialize)]
struct DelayData {
    from: usize,
    to: usize,
    is_unsafe: bool,
    cumulative: bool,
    confirmed: &'static str,
    witness: Vec<StepData>,
}

/// A node of a cycle and the name of the edge that leaves it.
#[derive(Serialize)]
struct StepData(usize, String);

/// What the page is to know of the outcome.
#[must_use]
pub fn of(outcome: &Outcome) -> Data<'_> {
    let accesses = &outcome.accesses;
    let evaluations = program_order::evaluations(outcome);
    let drawing = Drawing::of(accesses, &evaluations);
    let instructions = accesses.outline.instrs().map(|instr| {
        let instruction = accesses.outline.instruction(instr);
        InstructionData {
            thread: instruction.thread.index(),
            name: &instruction.name,
            text: instruction_text(outcome, instr),
            row: drawing.rows[instr.index()],
            source: outcome.source.as_ref().and_then(|source| source.reference(instr)),
        }
    });
    let quiet =
        drawing.quiet.iter().map(|instr| NodeData { instruction: instr.index(), kind: None, location: None, level: 0 });
    Data {
        schema_version: SCHEMA_VERSION,
        seqcon: Provenance::VERSION,
        model: &outcome.model,
        command: &outcome.provenance.command,
        inputs: outcome
            .provenance
            .inputs
            .iter()
            .map(|input| InputData { path: &input.path, sha256: input.sha256.as_deref() })
            .collect(),
        cut_off: outcome.explored.cut_off,
        notices: notices(outcome),
        threads: &accesses.threads,
        locations: &accesses.locations,
        instructions: instructions.collect(),
        nodes: accesses.vertices.iter().zip(levels(accesses, &evaluations)).map(node).chain(quiet).collect(),
        listing: Listing::of(outcome, &drawing),
        program_edges: drawing.edges,
        results: outcome.results.iter().map(|result| result_data(outcome, result)).collect(),
    }
}

fn notices(outcome: &Outcome) -> Vec<String> {
    let caveats = outcome.caveats.iter().map(Caveat::in_words);
    caveats.chain(engine::guarantee(outcome)).chain(engine::left_out(outcome)).collect()
}

/// As the specification says it, or as the labels do.
fn instruction_text(outcome: &Outcome, instr: InstrId) -> String {
    let source = outcome.source.as_ref().and_then(|source| source.text_of(instr));
    source.unwrap_or_else(|| names::instruction_text(outcome, instr))
}

/// For each vertex the lowest level at which some evaluation has it.
fn levels(accesses: &Accesses, evaluations: &[Evaluation]) -> Vec<u32> {
    let mut levels = vec![None; accesses.vertices.len()];
    for event in evaluations.iter().flat_map(|evaluation| &evaluation.events) {
        let known = &mut levels[event.vertex.index()];
        *known = Some(known.map_or(event.level, |level: u32| level.min(event.level)));
    }
    levels.into_iter().map(Option::unwrap_or_default).collect()
}

fn node((vertex, level): (&Vertex, u32)) -> NodeData {
    NodeData {
        instruction: vertex.instr.index(),
        kind: Some(vertex.kind.to_string()),
        location: Some(vertex.location.index()),
        level,
    }
}

fn result_data<'a>(outcome: &Outcome, result: &'a ModelOutcome) -> ResultData<'a> {
    let fences = fence_objects(outcome, result).into_iter().zip(&result.fences);
    let edges = Edges::new(outcome, result);
    let limit = limits::in_words(outcome, result).map(|limit| format!("not complete: {limit}"));
    ResultData {
        memory_model: result.model.name.clone(),
        title: result.model.title.clone(),
        summary: outcome.summary_row(result),
        enough: result.recheck.enough,
        each_fence_closes_a_path: result.recheck.each_needed,
        minimal_in_words: outcome.minimal_in_words(result),
        verified: verification_object(&result.verification),
        complete: result.complete,
        notices: limit.into_iter().chain(reading::sentences(outcome, result)).collect(),
        fences: fences.map(|(object, fence)| FenceData { fence: object, at: fence.site.instr.index() }).collect(),
        locks: locks(outcome, result),
        delays: result
            .all_delays()
            .zip(&result.confirmations)
            .map(|(delay, &confirmed)| delay_data(&edges, delay, confirmed))
            .collect(),
        runs: run_data(result),
        unfixable: result.inserted.is_hopeless(),
    }
}

fn locks(outcome: &Outcome, result: &ModelOutcome) -> Vec<LockData> {
    let torn_verdict = [SegmentVerdict { torn: true, ..SegmentVerdict::default() }];
    let edges = Edges::new(outcome, result);
    let lock = |lock: &crate::placement::locks::Lock| {
        let torn = result.findings.torn.iter().filter(|torn: &&Torn| lock.users.contains_key(&torn.instr));
        let shortest = torn.min_by_key(|torn| torn.witness.num_of_accesses());
        LockData {
            locations: lock.locations.iter().map(|location| location.index()).collect(),
            users: lock.users.iter().map(|(instr, role)| (instr.index(), role.name())).collect(),
            witness: shortest.map(|torn| steps(&edges, &torn.witness, &torn_verdict)),
        }
    };
    result.locks.iter().map(lock).collect()
}

fn delay_data(edges: &Edges<'_>, delay: &Delay, confirmation: Confirmation) -> DelayData {
    DelayData {
        from: delay.from.index(),
        to: delay.to.index(),
        is_unsafe: delay.is_unsafe,
        cumulative: delay.cumulative,
        confirmed: names::confirmed(confirmation),
        witness: steps(edges, &delay.witness, &[]),
    }
}

fn steps(edges: &Edges<'_>, cycle: &Cycle, verdicts: &[SegmentVerdict]) -> Vec<StepData> {
    edges.steps(cycle, verdicts).into_iter().map(|step| StepData(step.vertex.index(), step.name)).collect()
}
