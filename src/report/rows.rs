//! The rows of the tables: the same names in CSV headers, JSON keys and the documentation.

use super::edges::Edges;
use super::names;
use crate::aeg::Profile;
use crate::analysis::{Confirmation, Fence, Inserted, ModelOutcome, Outcome};
use crate::caveat::{Level, Topic};
use crate::cycles::{ConflictRule, Cycle, Delay, Edge, JudgedCycle, SegmentVerdict, Step};
use crate::ids::{InstrId, VertexId};
use crate::memory::{FenceStrength, Kind};
use crate::outline::Place;
use crate::property::PropertyKind;
use crate::text::excerpt::printable;
use serde::Serialize;
use std::time::Duration;

/// A fence.
#[derive(Serialize)]
pub struct FenceRow {
    memory_model: String,
    thread: String,
    instruction: String,
    position: &'static str,
    kind: String,
    mnemonic: String,
    cost: u64,
    delays: usize,
    source: String,
}

/// An instruction under a lock.
#[derive(Serialize)]
pub struct LockRow {
    memory_model: String,
    lock: usize,
    thread: String,
    instruction: String,
    role: &'static str,
    locations: String,
    source: String,
}

/// A delay.
#[derive(Serialize)]
pub struct DelayRow {
    memory_model: String,
    thread: String,
    from_instruction: String,
    from_access: String,
    to_instruction: String,
    to_access: String,
    cumulative: &'static str,
    confirmed: &'static str,
}

/// A step of a listed cycle.
#[derive(Serialize)]
pub struct CycleRow {
    memory_model: String,
    cycle: usize,
    step: usize,
    thread: String,
    instruction: String,
    access: String,
    edge: String,
    #[serde(rename = "unsafe")]
    is_unsafe: &'static str,
}

/// A memory model.
#[derive(Serialize)]
pub struct SummaryRow {
    model: String,
    memory_model: String,
    profile: &'static str,
    conflicts: &'static str,
    atomicity: &'static str,
    /// What looks at no states of the program has no number of them.
    states: Option<u64>,
    transitions: Option<u64>,
    /// Of an engine that looks at no event graph there are none of these.
    labels: Option<usize>,
    vertices: usize,
    program_edges: Option<usize>,
    conflict_edges: Option<usize>,
    unsafe_pairs: Option<usize>,
    delays: usize,
    cumulative_delays: usize,
    cycles: Option<usize>,
    torn: usize,
    locks: usize,
    fences: usize,
    plain_fences: usize,
    cumulative_fences: usize,
    store_fences: usize,
    light_fences: usize,
    marks: usize,
    placement: &'static str,
    minimal: String,
    complete: &'static str,
    engine: String,
    abstraction: Option<String>,
    property: &'static str,
    /// What came of the search for fences: without `enough` their number is no answer.
    inserted: &'static str,
}

/// Whether nothing was left out: the last column of every table whose rows could be a part only.
#[derive(Clone, Copy, Serialize)]
pub struct CompleteRow {
    complete: &'static str,
}

/// How long a result took. Only `summary.csv` and the summary line have it: the other files of two runs are the same.
#[derive(Serialize)]
pub struct TimesRow {
    seconds: f64,
    explore_seconds: f64,
    analyse_seconds: f64,
}

/// The position of a fence in one word.
#[must_use]
pub fn position(place: Place) -> &'static str {
    match place {
        Place::Before => "before",
        Place::Inside(_) => "inside",
        Place::On => "on",
        Place::After => "after",
        Place::State => "state",
    }
}

impl Outcome {
    fn thread_and_name(&self, instr: InstrId) -> (String, String) {
        let (thread, name) = self.accesses.names_of(instr);
        (thread.to_owned(), name.to_owned())
    }

    /// Where the instruction stands, if that is known.
    fn source_of(&self, instr: InstrId) -> String {
        self.source.as_ref().and_then(|source| source.reference(instr)).unwrap_or_default()
    }

    /// The name of the control state that the instruction leads to, if it is known.
    #[must_use]
    pub fn target(&self, instr: InstrId) -> Option<String> {
        self.accesses.outline.target(instr).map(|control| control.name.clone())
    }

    /// All instructions that lead to the same control state, as far as that is known: one with a fence is passed
    /// behind each of them.
    #[must_use]
    pub fn leading_along(&self, instr: InstrId) -> Vec<InstrId> {
        self.accesses.outline.target(instr).map_or_else(|| vec![instr], |control| control.ways_in.clone())
    }

    fn instruction_of(&self, vertex: VertexId) -> (String, String) {
        self.thread_and_name(self.accesses.vertex(vertex).instr)
    }

    /// The rows of `fences.csv` for one memory model.
    #[must_use]
    pub fn fence_rows(&self, result: &ModelOutcome) -> Vec<FenceRow> {
        let row = |fence: &Fence| {
            let (thread, instruction) = self.thread_and_name(fence.site.instr);
            FenceRow {
                memory_model: result.model.name.clone(),
                thread,
                instruction,
                position: position(fence.site.place),
                kind: fence.strength.to_string(),
                mnemonic: fence.mnemonic.clone(),
                cost: fence.cost,
                delays: fence.delays.len(),
                source: self.source_of(fence.site.instr),
            }
        };
        result.fences.iter().map(row).collect()
    }

    /// The rows of `locks.csv` for one memory model.
    #[must_use]
    pub fn lock_rows(&self, result: &ModelOutcome) -> Vec<LockRow> {
        let accesses = &self.accesses;
        let mut rows = Vec::new();
        for (number, lock) in result.locks.iter().enumerate() {
            let locations: Vec<&str> =
                lock.locations.iter().map(|&location| names::location(accesses, location)).collect();
            for (&instr, role) in &lock.users {
                let (thread, instruction) = self.thread_and_name(instr);
                rows.push(LockRow {
                    memory_model: result.model.name.clone(),
                    lock: number,
                    thread,
                    instruction,
                    role: role.name(),
                    locations: locations.join(" "),
                    source: self.source_of(instr),
                });
            }
        }
        rows
    }

    /// The rows of `delays.csv` for one memory model.
    #[must_use]
    pub fn delay_rows(&self, result: &ModelOutcome) -> Vec<DelayRow> {
        let row = |(delay, confirmation): (&Delay, Confirmation)| {
            let (thread, from_instruction) = self.instruction_of(delay.from);
            DelayRow {
                memory_model: result.model.name.clone(),
                thread,
                from_instruction,
                from_access: names::access(&self.accesses, delay.from),
                to_instruction: self.instruction_of(delay.to).1,
                to_access: names::access(&self.accesses, delay.to),
                cumulative: names::yes_no(delay.cumulative),
                confirmed: names::confirmed(confirmation),
            }
        };
        result.all_delays().zip(result.confirmations.iter().copied()).map(row).collect()
    }

    /// The rows of `cycles.csv` for one memory model.
    #[must_use]
    pub fn cycle_rows(&self, result: &ModelOutcome) -> Vec<CycleRow> {
        let listed: &[JudgedCycle] = result.findings.cycles.as_ref().map_or(&[], |list| &list.cycles);
        let edges = Edges::new(self, result);
        listed
            .iter()
            .enumerate()
            .flat_map(|(number, judged)| {
                let steps = edges.steps(&judged.cycle, &judged.verdicts);
                self.rows_of(result, number, &steps, &judged.cycle, &judged.verdicts)
            })
            .collect()
    }

    /// The witness of a delay with these steps.
    #[must_use]
    pub fn witness_rows(&self, result: &ModelOutcome, number: usize, found: &Delay, steps: &[Step]) -> Vec<CycleRow> {
        // Of the other segments nothing is claimed: each is a delay of its own if it is one.
        let first = SegmentVerdict { is_unsafe: found.is_unsafe, cumulative: found.cumulative, torn: false };
        let verdicts: Vec<SegmentVerdict> = [first]
            .into_iter()
            .chain(std::iter::repeat(SegmentVerdict::default()))
            .take(found.witness.segments.len())
            .collect();
        self.rows_of(result, number, steps, &found.witness, &verdicts)
    }

    fn rows_of(
        &self,
        result: &ModelOutcome,
        number: usize,
        steps: &[Step],
        cycle: &Cycle,
        verdicts: &[SegmentVerdict],
    ) -> Vec<CycleRow> {
        let accesses = &self.accesses;
        let unsafe_move = |entry: VertexId| {
            let segment = cycle.segments.iter().position(|segment| segment.entry == entry);
            segment.is_some_and(|position| verdicts[position].is_unsafe || verdicts[position].torn)
        };
        let kind = |vertex: VertexId| accesses.vertex(vertex).kind;
        steps
            .iter()
            .enumerate()
            .map(|(position, step)| {
                let next = steps[(position + 1) % steps.len()].vertex;
                let is_unsafe = match step.edge {
                    Edge::Conflict => {
                        !result.model.store_atomic && (kind(step.vertex), kind(next)) == (Kind::Write, Kind::Read)
                    }
                    Edge::Store => false,
                    Edge::Program | Edge::Sideways => unsafe_move(step.vertex),
                };
                let (thread, instruction) = self.instruction_of(step.vertex);
                CycleRow {
                    memory_model: result.model.name.clone(),
                    cycle: number,
                    step: position,
                    thread,
                    instruction,
                    access: names::access(accesses, step.vertex),
                    edge: step.name.clone(),
                    is_unsafe: names::yes_no(is_unsafe),
                }
            })
            .collect()
    }

    /// The row of `summary.csv` for one memory model.
    #[must_use]
    pub fn summary_row(&self, result: &ModelOutcome) -> SummaryRow {
        let analysis = self.analysis.as_ref();
        SummaryRow {
            model: self.model.clone(),
            memory_model: result.model.name.clone(),
            profile: names::profile(self.profile()),
            conflicts: names::conflicts(self.conflict_rule()),
            atomicity: names::atomicity(self.options.atomicity),
            states: Some(self.explored.states).filter(|&states| states > 0),
            transitions: Some(self.explored.transitions).filter(|_| self.explored.states > 0),
            labels: analysis.map(|analysis| analysis.labels.len()),
            vertices: self.accesses.vertices.len(),
            program_edges: analysis.map(|analysis| analysis.graph.num_of_program_edges()),
            conflict_edges: analysis.map(|_| match self.conflict_rule() {
                ConflictRule::Concurrent => result.findings.num_of_concurrent_conflicts,
                ConflictRule::Auto | ConflictRule::Reachable => result.findings.num_of_reachable_conflicts,
            }),
            unsafe_pairs: analysis.map(|_| result.findings.num_of_unsafe_pairs),
            delays: result.num_of_delays(),
            cumulative_delays: result.num_of_cumulative_delays(),
            cycles: result.findings.cycles.as_ref().map(|list| list.cycles.len()),
            torn: result.findings.torn.len(),
            locks: result.locks.len(),
            fences: result.fences.len(),
            plain_fences: result.num_of_fences(FenceStrength::Plain),
            cumulative_fences: result.num_of_fences(FenceStrength::Cumulative),
            store_fences: result.num_of_fences(FenceStrength::Stores),
            light_fences: num_of(result, is_light),
            marks: num_of(result, is_mark),
            placement: names::placement(self.options.method),
            minimal: self.minimal(result).to_string(),
            complete: names::yes_no(result.complete),
            engine: self.engine.name.clone(),
            abstraction: self.engine.abstraction.map(|abstraction| abstraction.to_string()),
            property: self.property.kind().name(),
            inserted: result.inserted.name(),
        }
    }

    /// Whether nothing is missing in the rows for one memory model.
    #[must_use]
    pub fn complete_row(&self, result: &ModelOutcome) -> CompleteRow {
        CompleteRow { complete: names::yes_no(result.complete) }
    }

    /// How long the result under one memory model took: what all of them share, and its own part.
    #[must_use]
    pub fn times_row(&self, result: &ModelOutcome) -> TimesRow {
        let seconds = |time: Duration| time.as_micros() as f64 / 1e6;
        TimesRow {
            seconds: seconds(self.explored_in + result.elapsed),
            explore_seconds: seconds(self.explored_in),
            analyse_seconds: seconds(result.elapsed),
        }
    }

    /// Whose definitions were used, where they are not the usual ones, and what was taken for granted.
    fn definitions(&self) -> String {
        let profile = match self.profile() {
            Profile::Sound => String::new(),
            other => format!(" profile={}", names::profile(other)),
        };
        let conflicts = match self.options.conflicts {
            ConflictRule::Auto => String::new(),
            other => format!(" conflicts={}", names::conflicts(other)),
        };
        let is_shown = self.caveats.iter().any(|caveat| caveat.topic == Topic::RefusalsShown);
        profile + &conflicts + if is_shown { " refusals=shown" } else { "" }
    }

    /// The one line for people and for `grep`.
    #[must_use]
    pub fn summary_line(&self, result: &ModelOutcome) -> String {
        let engine = if self.engine.is_default() { String::new() } else { format!(" engine={}", self.engine.name) };
        let property = match self.property.kind() {
            kind @ (PropertyKind::Never | PropertyKind::Final | PropertyKind::NoDeadlock) => {
                format!(" property={}", kind.name())
            }
            PropertyKind::Robust | PropertyKind::Persistent | PropertyKind::SameStates => String::new(),
        };
        let abstraction =
            self.engine.abstraction.map_or(String::new(), |abstraction| format!(" abstraction={abstraction}"));
        let definitions = self.definitions();
        let warnings = match self.caveats.iter().filter(|caveat| caveat.topic.level() == Level::Warning).count() {
            0 => String::new(),
            count => format!(" warnings={count}"),
        };
        let number_of = |is: fn(FenceStrength) -> bool, name: &str| match num_of(result, is) {
            0 => String::new(),
            count => format!(" {name}={count}"),
        };
        let stores = number_of(|strength| strength == FenceStrength::Stores, "store_fences")
            + &number_of(is_light, "light_fences")
            + &number_of(is_mark, "marks");
        let inserted = match &result.inserted {
            Inserted::Enough => String::new(),
            other => format!(" inserted={}", other.name()),
        };
        let TimesRow { seconds, explore_seconds, analyse_seconds } = self.times_row(result);
        format!(
            "model={} memory_model={} states={} vertices={} delays={} torn={} locks={} fences={} plain_fences={} cumulative_fences={} minimal={} complete={} seconds={seconds:.2} explore_seconds={explore_seconds:.2} analyse_seconds={analyse_seconds:.2}{stores}{engine}{property}{inserted}{abstraction}{definitions}{warnings}",
            word(&self.model),
            word(&result.model.name),
            self.explored.states,
            self.accesses.vertices.len(),
            result.num_of_delays(),
            result.findings.torn.len(),
            result.locks.len(),
            result.fences.len(),
            result.num_of_fences(FenceStrength::Plain),
            result.num_of_fences(FenceStrength::Cumulative),
            self.minimal(result),
            names::yes_no(result.complete),
        )
    }
}

/// How many fences of a result are of some kind.
fn num_of(result: &ModelOutcome, is: fn(FenceStrength) -> bool) -> usize {
    result.fences.iter().filter(|fence| is(fence.strength)).count()
}

/// Whether it is a partial fence that is not one of stores.
fn is_light(strength: FenceStrength) -> bool {
    strength.partial().is_some() && strength != FenceStrength::Stores
}

/// Whether it is no fence, but marks on accesses.
fn is_mark(strength: FenceStrength) -> bool {
    matches!(strength, FenceStrength::Marks(_))
}

/// A name as one word of a line: what would end the word, or garble the line, is `_`.
#[must_use]
pub fn word(name: &str) -> String {
    let is_kept = |c: char| !c.is_whitespace() && printable(&c.to_string()) == c.to_string();
    name.chars().map(|c| if is_kept(c) { c } else { '_' }).collect()
}
