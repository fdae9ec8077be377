//! Confirming delays: which pairs of the event graph does some run really need (method §11)?
//!
//! The event graph over-approximates. Where the program itself is known, the exact search of [`weak::attack`](crate::weak::attack) tries each delay: found, it is confirmed; not found, it is proved infeasible on TSO.
//! On PSO a search that fails proves nothing by itself (that one delaying thread is enough is a conjecture there), so the delay stays unknown, unless [all runs](crate::weak::runs) of the program with
//! fences for the confirmed delays alone are sequentially consistent: then the others are infeasible in it, and it needs no more fences.

use crate::analysis::{Analysis, Confirmation, ModelOutcome, Options};
use crate::cycles::{Atomicity, Findings};
use crate::ids::VertexId;
use crate::memory::{Kind, MemoryModel};
use crate::program::Program;
use crate::repair::{Repair, instruction};
use crate::weak::attack::{Attack, Pair, Vertex, Witness};
use crate::weak::runs::{self, Verdict};
use crate::weak::split::{SplitProgram, TooLong};
use crate::weak::threads::AccessKind;
use crate::weak::{Granularity, Machine};

/// How far a search may go.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The most states.
    pub states: usize,
    /// The most writes in a store buffer.
    pub buffer: usize,
}

/// What came of the search for each delay.
pub struct Confirmed {
    /// The verdict on each delay.
    pub verdicts: Vec<Confirmation>,
    /// A run for each confirmed delay.
    pub witnesses: Vec<Option<Witness>>,
}

/// The machine of a memory model, if there is one.
#[must_use]
pub fn machine(model: &MemoryModel) -> Option<Machine> {
    match &*model.name {
        "tso" => Some(Machine::Tso),
        "pso" => Some(Machine::Pso),
        _ => None,
    }
}

/// What counts as one event when instructions are checked like this.
#[must_use]
pub fn granularity(atomicity: Atomicity) -> Granularity {
    match atomicity {
        Atomicity::Full => Granularity::Instructions,
        Atomicity::Off | Atomicity::Updates => Granularity::Accesses,
    }
}

/// Tries every delay, with the locks in place.
///
/// # Errors
/// If an instruction is too long to be split.
pub fn confirm(
    program: &Program,
    analysis: &Analysis,
    model: &MemoryModel,
    options: &Options,
    findings: &Findings,
    limits: Limits,
) -> Result<Confirmed, TooLong> {
    let count = findings.delays.len();
    let mut confirmed = Confirmed { verdicts: vec![Confirmation::Unknown; count], witnesses: vec![None; count] };
    let Some(machine) = machine(model) else { return Ok(confirmed) };
    let mut split = SplitProgram::new(program)?;
    let locked = findings.in_place.locked.iter().filter_map(|&instr| instruction(program, analysis, instr));
    Repair { locked: locked.collect(), ..Repair::default() }.apply(&mut split);
    let Ok(mut attack) = Attack::new(&split, machine, granularity(options.atomicity), limits.states) else {
        return Ok(confirmed);
    };
    for (position, delay) in findings.delays.iter().enumerate() {
        let Some(pair) = pair(program, analysis, &split, delay.from, delay.to) else { continue };
        match (attack.confirm(pair), machine) {
            (Ok(Some(witness)), _) => {
                confirmed.verdicts[position] = Confirmation::Yes;
                confirmed.witnesses[position] = Some(witness);
            }
            (Ok(None), Machine::Tso) => confirmed.verdicts[position] = Confirmation::No,
            (Ok(None), Machine::Pso) | (Err(_), _) => {}
        }
    }
    Ok(confirmed)
}

/// Places fences for the delays that are not proved infeasible.
///
/// # Errors
/// If an instruction is too long to be split.
pub fn place_confirmed(
    program: &Program,
    analysis: &Analysis,
    model: &MemoryModel,
    options: &Options,
    limits: Limits,
) -> Result<ModelOutcome, TooLong> {
    let findings = analysis.find(model, options);
    let mut verdicts = confirm(program, analysis, model, options, &findings, limits)?.verdicts;
    if machine(model) == Some(Machine::Pso) && verdicts.contains(&Confirmation::Unknown) {
        let outcome = place_where(analysis, model, options, &findings, &verdicts, |v| v == Confirmation::Yes);
        let mut split = SplitProgram::new(program)?;
        Repair::of(program, analysis, &outcome).apply(&mut split);
        let verdict = runs::examine(&split, Machine::Pso, granularity(options.atomicity), limits.buffer, limits.states);
        if matches!(verdict, Ok(Verdict::Robust { is_complete: true, .. })) {
            verdicts.iter_mut().filter(|v| **v == Confirmation::Unknown).for_each(|v| *v = Confirmation::No);
        }
    }
    Ok(place_where(analysis, model, options, &findings, &verdicts, |v| v != Confirmation::No))
}

fn place_where(
    analysis: &Analysis,
    model: &MemoryModel,
    options: &Options,
    findings: &Findings,
    verdicts: &[Confirmation],
    is_placed: impl Fn(Confirmation) -> bool,
) -> ModelOutcome {
    let mut kept = findings.clone();
    kept.delays.clear();
    let (mut confirmations, mut infeasible) = (Vec::new(), Vec::new());
    for (delay, &verdict) in findings.delays.iter().zip(verdicts) {
        if is_placed(verdict) {
            kept.delays.push(delay.clone());
            confirmations.push(verdict);
        } else {
            infeasible.push(delay.clone());
        }
    }
    ModelOutcome { confirmations, infeasible, ..analysis.place(model, options, kept) }
}

/// The pair in the terms of the program; none if its first access is no write: then no store buffer reorders it.
fn pair(program: &Program, analysis: &Analysis, split: &SplitProgram, from: VertexId, to: VertexId) -> Option<Pair> {
    let graph = &analysis.graph;
    let vertex = |id: VertexId| {
        let vertex = graph.vertex(id);
        let (thread, instruction) = instruction(program, analysis, vertex.instr)?;
        let name = &graph.locations[vertex.location.index()];
        let location = split.locations.iter().position(|known| graph.shown(known) == *name)?;
        let kind = match vertex.kind {
            Kind::Read => AccessKind::Read,
            Kind::Write => AccessKind::Write,
        };
        Some((thread, Vertex { instruction: instruction as u32, kind, location: location as u32 }))
    };
    let ((thread, from), (_, to)) = (vertex(from)?, vertex(to)?);
    (from.kind == AccessKind::Write).then_some(Pair { thread, from, to })
}
