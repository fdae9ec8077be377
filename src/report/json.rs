//! `report.json`: all tables in one document with a versioned schema, and the witnesses, which CSV has no place for.

mod instructions;
mod runs;

pub use runs::{RunObject, run_object};

use super::edges::Edges;
use super::rows::{CycleRow, DelayRow, FenceRow, LockRow, SummaryRow};
use super::{Report, limits, names};
use crate::analysis::{Confirmation, Confirming, Inserted, ModelOutcome, OtherReading, Outcome, Verification};
use crate::caveat::Caveat;
use crate::outline::Place;
use crate::placement::Minimality;
use crate::provenance::{Input, Provenance};
use crate::source::Source;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Raised by one when a key changes its meaning or goes away.
const SCHEMA_VERSION: u32 = 2;

/// `report.json`
pub struct Json;

/// The document about one model.
#[derive(Serialize)]
struct Document<'a> {
    schema_version: u32,
    seqcon: &'static str,
    #[serde(flatten)]
    model: ModelObject<'a>,
}

/// The document about several.
#[derive(Serialize)]
struct Documents<'a> {
    schema_version: u32,
    seqcon: &'static str,
    models: Vec<ModelObject<'a>>,
}

/// A model and its results.
#[derive(Serialize)]
struct ModelObject<'a> {
    model: &'a str,
    inputs: Vec<InputObject<'a>>,
    engine: EngineObject<'a>,
    /// Instructions that are partial fences: an event graph does not take them into account.
    partial_fences: Vec<String>,
    caveats: Vec<CaveatObject<'a>>,
    /// What results speak of, by names that may change, and what a comparison goes by.
    instructions: Vec<instructions::InstructionObject<'a>>,
    results: Vec<ResultObject<'a>>,
}

#[derive(Serialize)]
struct InputObject<'a> {
    path: &'a str,
    /// None of what was read from standard input.
    sha256: Option<&'a str>,
}

#[derive(Serialize)]
struct EngineObject<'a> {
    name: &'a str,
    guarantees: &'a str,
    /// The condition that no state is to satisfy, if the property is that.
    #[serde(skip_serializing_if = "Option::is_none")]
    condition: Option<String>,
    /// None if no abstraction was used.
    abstraction: Option<String>,
}

/// What must be known before the results are believed.
#[derive(Serialize)]
pub struct CaveatObject<'a> {
    topic: &'static str,
    level: &'static str,
    sentence: &'a str,
    /// Where in the specification.
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<String>,
}

#[derive(Serialize)]
struct ResultObject<'a> {
    summary: SummaryRow,
    /// Which limit it was, if `complete` of the summary is `no`.
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<String>,
    /// If no fences are enough, or it is not known which are; then there are none below.
    #[serde(skip_serializing_if = "Option::is_none")]
    inserted: Option<InsertedObject<'static>>,
    /// Fences that are known to be enough, where it is not known which are the fewest.
    #[serde(skip_serializing_if = "Option::is_none")]
    enough: Option<EnoughObject<'a>>,
    /// What `minimal` of the summary means here.
    minimal_in_words: String,
    /// How far delays were confirmed.
    confirming: ConfirmingObject,
    /// What the memory model is: its name says less.
    rules: BTreeMap<String, String>,
    /// If it is not proved that all fences are needed: so many are for certain.
    #[serde(skip_serializing_if = "Option::is_none")]
    needed_at_least: Option<usize>,
    rechecked: RecheckObject,
    verified: VerificationObject,
    /// Instructions with several accesses that nothing makes atomic: `summary.atomicity` says how they are read.
    composites: Vec<String>,
    /// Atomic instructions that stand where a fence would be needed.
    atomic_fences: Vec<String>,
    other_readings: Vec<ReadingObject>,
    fences: Vec<FenceObject>,
    /// The runs that fences stop, and first the one that none does.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    runs: Vec<RunObject<'a>>,
    locks: Vec<LockRow>,
    delays: Vec<DelayObject>,
    cycles: Vec<CycleRow>,
    /// What robustness would need, beside a property of states.
    #[serde(skip_serializing_if = "Option::is_none")]
    robustness: Option<LadderObject>,
    /// What it rests on that the fences are enough, if the engine runs the program to know it.
    #[serde(skip_serializing_if = "Option::is_none")]
    enough_by: Option<&'a str>,
    /// For each thread that needs fences its minimal sets, if they were asked for; of a property of states those of the
    /// program.
    #[serde(skip_serializing_if = "Option::is_none")]
    minimal_sets: Option<Vec<Vec<Vec<String>>>>,
}

#[derive(Serialize)]
struct LadderObject {
    /// How many fences.
    fences: usize,
    /// Whether no fewer are enough for robustness.
    fewest: bool,
    /// Those of them that the property does not ask for.
    not_asked_for: Vec<String>,
}

#[derive(Serialize)]
struct InsertedObject<'a> {
    /// `unfixable`, `not-at-sites`, `not-abstractly` or `undecided`.
    verdict: &'a str,
    /// At least so many fences are needed.
    #[serde(skip_serializing_if = "Option::is_none")]
    at_least: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

/// Fences that are enough, and may be more than are needed.
#[derive(Serialize)]
struct EnoughObject<'a> {
    sites: Vec<String>,
    rests_on: &'a str,
}

/// What another reading of composite instructions would answer.
#[derive(Serialize)]
struct ReadingObject {
    atomicity: &'static str,
    fences: usize,
    locks: usize,
    complete: bool,
}

#[derive(Serialize)]
struct RecheckObject {
    enough: bool,
    /// Without any one fence a path of a delay opens again.
    each_fence_closes_a_path: bool,
}

#[derive(Serialize)]
struct ConfirmingObject {
    /// `not asked`, `no machine`, `done`, `out of states`, `stopped`.
    verdict: &'static str,
    /// The budget that was spent.
    #[serde(skip_serializing_if = "Option::is_none")]
    states: Option<usize>,
    /// How many delays a run needs.
    confirmed: usize,
    /// How many none does.
    infeasible: usize,
}

/// What running the repaired program has shown; `report.html` has the same.
#[derive(Serialize)]
pub(super) struct VerificationObject {
    /// `yes`, `violated`, `up to a bound`, `not decided`, `not asked`.
    verdict: &'static str,
    /// What a positive verdict rests on.
    #[serde(skip_serializing_if = "Option::is_none")]
    rests_on: Option<String>,
    /// The limit that left it open.
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<String>,
}

/// A fence; `report.html` has the same.
#[derive(Serialize)]
pub(super) struct FenceObject {
    #[serde(flatten)]
    row: FenceRow,
    point: String,
    /// Of a fence inside an instruction: it stands before the accesses of this level.
    #[serde(skip_serializing_if = "Option::is_none")]
    level: Option<u32>,
    /// Of a fence at a control state: the name of the state, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<String>,
    /// Positions in `delays`.
    serves: Vec<usize>,
    /// Positions in `runs`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    stops: Vec<usize>,
}

#[derive(Serialize)]
struct DelayObject {
    #[serde(flatten)]
    row: DelayRow,
    is_unsafe: bool,
    witness_name: String,
    witness: Vec<CycleRow>,
}

impl Report for Json {
    fn file_name(&self) -> &'static str {
        "report.json"
    }

    fn write(&self, outcome: &Outcome, out: &mut dyn Write) -> io::Result<()> {
        let model = model_object(outcome);
        let document = Document { schema_version: SCHEMA_VERSION, seqcon: Provenance::VERSION, model };
        serde_json::to_writer_pretty(&mut *out, &document)?;
        writeln!(out)
    }

    fn write_all(&self, outcomes: &[Outcome], out: &mut dyn Write) -> io::Result<()> {
        let models = outcomes.iter().map(model_object).collect();
        let documents = Documents { schema_version: SCHEMA_VERSION, seqcon: Provenance::VERSION, models };
        serde_json::to_writer_pretty(&mut *out, &documents)?;
        writeln!(out)
    }
}

fn model_object(outcome: &Outcome) -> ModelObject<'_> {
    ModelObject {
        model: &outcome.model,
        inputs: outcome.provenance.inputs.iter().map(input_object).collect(),
        engine: EngineObject {
            name: &outcome.engine.name,
            guarantees: outcome.property.kind().in_words(),
            condition: outcome.property.condition().map(ToString::to_string),
            abstraction: outcome.engine.abstraction.map(|abstraction| abstraction.to_string()),
        },
        partial_fences: super::unheeded::Unheeded::of(outcome).fences.into_iter().map(|(name, _)| name).collect(),
        caveats: outcome.caveats.iter().map(|caveat| caveat_object(outcome.source.as_ref(), caveat)).collect(),
        instructions: instructions::instruction_objects(outcome),
        results: outcome.results.iter().map(|result| result_object(outcome, result)).collect(),
    }
}

fn reading_object(other: &OtherReading) -> ReadingObject {
    let &OtherReading { atomicity, fences, locks, complete } = other;
    ReadingObject { atomicity: names::atomicity(atomicity), fences, locks, complete }
}

fn input_object(input: &Input) -> InputObject<'_> {
    InputObject { path: &input.path, sha256: input.sha256.as_deref() }
}

/// What must be known of a program that this is the source of.
#[must_use]
pub fn caveat_object<'a>(source: Option<&Source>, caveat: &'a Caveat) -> CaveatObject<'a> {
    let source = source.zip(caveat.span).map(|(source, span)| source.reference_to(span));
    CaveatObject { topic: caveat.topic.name(), level: caveat.topic.level().name(), sentence: &caveat.sentence, source }
}

pub(super) fn verification_object(verification: &Verification) -> VerificationObject {
    let (rests_on, limit) = match verification {
        Verification::Verified(ground) => (Some(ground.clone()), None),
        Verification::Bounded(limit) | Verification::Undecided(limit) => (None, Some(limit.clone())),
        Verification::Violated | Verification::NotAsked => (None, None),
    };
    VerificationObject { verdict: names::verification(verification), rests_on, limit }
}

fn confirming_object(result: &ModelOutcome) -> ConfirmingObject {
    ConfirmingObject {
        verdict: names::confirming(result.confirming),
        states: match result.confirming {
            Confirming::OutOfStates(states) => Some(states),
            _ => None,
        },
        confirmed: result.num_of(Confirmation::Yes),
        infeasible: result.num_of(Confirmation::No) + result.num_of(Confirmation::NoLonger),
    }
}

pub(super) fn fence_objects(outcome: &Outcome, result: &ModelOutcome) -> Vec<FenceObject> {
    let accesses = &outcome.accesses;
    let fences = outcome.fence_rows(result).into_iter().zip(&result.fences).map(|(row, fence)| FenceObject {
        row,
        point: names::point(accesses, fence.site),
        level: match fence.site.place {
            Place::Inside(level) => Some(level),
            Place::Before | Place::After | Place::On | Place::State => None,
        },
        state: (fence.site.place == Place::State).then(|| outcome.target(fence.site.instr)).flatten(),
        serves: fence.delays.clone(),
        stops: fence.runs.clone(),
    });
    fences.collect()
}

fn inserted_object(inserted: &Inserted) -> Option<InsertedObject<'static>> {
    let (at_least, why) = match inserted {
        Inserted::Enough => return None,
        Inserted::NotAtSites | Inserted::Unfixable => (None, None),
        Inserted::NotAbstractly(advice) => (None, Some(advice.clone())),
        Inserted::Undecided(needed, why) => (Some(*needed), Some(why.clone())),
    };
    Some(InsertedObject { verdict: inserted.name(), at_least, why })
}

fn result_object<'a>(outcome: &Outcome, result: &'a ModelOutcome) -> ResultObject<'a> {
    let accesses = &outcome.accesses;
    let delays = outcome.delay_rows(result).into_iter().zip(result.all_delays()).enumerate();
    let edges = Edges::new(outcome, result);
    let delays = delays.map(|(position, (row, delay))| {
        let steps = edges.steps(&delay.witness, &[]);
        let names: Vec<&str> = steps.iter().map(|step| step.name.as_str()).collect();
        DelayObject {
            row,
            is_unsafe: delay.is_unsafe,
            witness_name: names.join(" "),
            witness: outcome.witness_rows(result, position, delay, &steps),
        }
    });
    ResultObject {
        summary: outcome.summary_row(result),
        limit: limits::in_words(outcome, result),
        inserted: inserted_object(&result.inserted),
        enough: result.upper.as_ref().map(|upper| EnoughObject {
            sites: upper.fences.iter().map(|&site| names::point(accesses, site)).collect(),
            rests_on: &upper.rests_on,
        }),
        minimal_in_words: outcome.minimal_in_words(result),
        confirming: confirming_object(result),
        rules: result.model.rules(),
        needed_at_least: match result.placement.minimality {
            Minimality::AtLeast(needed) if result.inserted == Inserted::Enough => Some(needed),
            Minimality::AtLeast(_) => None,
            Minimality::Program | Minimality::EventGraph | Minimality::Abstraction | Minimality::Greedy => None,
        },
        rechecked: RecheckObject {
            enough: result.recheck.enough,
            each_fence_closes_a_path: result.recheck.each_needed,
        },
        verified: verification_object(&result.verification),
        composites: result.composites.iter().map(|&instr| names::instruction(accesses, instr)).collect(),
        atomic_fences: result.atomic_fences.iter().map(|&instr| names::instruction(accesses, instr)).collect(),
        other_readings: result.other_readings.iter().map(reading_object).collect(),
        fences: fence_objects(outcome, result),
        runs: runs::run_objects(outcome, result),
        locks: outcome.lock_rows(result),
        delays: delays.collect(),
        cycles: outcome.cycle_rows(result),
        robustness: result.ladder.as_ref().map(|ladder| LadderObject {
            fences: ladder.fences,
            fewest: ladder.is_fewest,
            not_asked_for: ladder.spared.iter().map(|&site| names::point(accesses, site)).collect(),
        }),
        enough_by: result.ground.as_deref(),
        minimal_sets: result.minimal_sets.as_ref().map(|sets| {
            let set = |set: &Vec<_>| set.iter().map(|&site| names::fence(accesses, site)).collect();
            sets.parts.iter().map(|thread| thread.iter().map(set).collect()).collect()
        }),
    }
}
