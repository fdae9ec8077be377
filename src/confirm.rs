//! Confirming delays: which pairs of the event graph does some run really need (method §11)?
//!
//! The event graph over-approximates. Where the program itself is known, the exact search of [`weak::attack`](crate::weak::attack) tries each delay: found, it is confirmed; not found, it is proved infeasible on TSO.
//! On PSO a search that fails proves nothing by itself (the thread may have to go on after others have answered it), so the delay stays unknown, unless [all runs](crate::weak::runs) of the program with
//! fences for the confirmed delays alone are sequentially consistent: then the others are infeasible in it, and it needs no more fences.
//! Under a model without a [machine](Machine::of) every delay stays unknown, and gets its fence.

use crate::analysis::{Analysis, Confirmation, ModelOutcome, Options, Recheck};
use crate::cycles::{Atomicity, Findings};
use crate::ids::VertexId;
use crate::memory::{FenceStrength, Kind, MemoryModel};
use crate::placement::exact::unreadability;
use crate::placement::maxsat::Minimiser;
use crate::placement::{Minimality, Placement};
use crate::program::Program;
use crate::repair::Repair;
use crate::safety::{Place, Point};
use crate::source::{At, instruction};
use crate::weak::attack::{Attack, Pair, Vertex, Visibility, Witness};
use crate::weak::runs::{self, Verdict};
use crate::weak::split::{SplitProgram, TooLong};
use crate::weak::system::Event;
use crate::weak::threads::{AccessKind, Progress};
use crate::weak::{Granularity, Machine};
use std::collections::{BTreeMap, BTreeSet};

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

/// What counts as one event when instructions are read like this.
#[must_use]
pub fn granularity(atomicity: Atomicity) -> Granularity {
    match atomicity {
        Atomicity::Full | Atomicity::Presumed => Granularity::Instructions,
        Atomicity::Updates | Atomicity::Split => Granularity::Accesses,
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
    let Ok(machine) = Machine::of(model) else { return Ok(confirmed) };
    let split = split_with_locks(program, analysis, findings)?;
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

/// The program, access by access, with the instructions locked that are torn or presumed to be atomic.
fn split_with_locks(program: &Program, analysis: &Analysis, findings: &Findings) -> Result<SplitProgram, TooLong> {
    let mut split = SplitProgram { budget: analysis.graph.budget.clone(), ..SplitProgram::new(program)? };
    let locked = findings.in_place.locked.iter().filter_map(|&instr| instruction(program, analysis, instr));
    Repair { locked: locked.collect(), ..Repair::default() }.apply(&mut split);
    Ok(split)
}

/// Places the fewest fences that the program needs.
///
/// Where the searches come to an end, that is the fewest fences that leave no feasible pair, whatever path it takes, and the delays that are left unserved are infeasible. Where they do not,
/// it is the fewest for all delays that are not proved infeasible.
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
    let is_confirmed = |verdict| verdict == Confirmation::Yes;
    if let Ok(machine) = Machine::of(model) {
        let split = split_with_locks(program, analysis, &findings)?;
        let granularity = granularity(options.atomicity);
        let delays = findings.delays.iter().filter_map(|d| pair(program, analysis, &split, d.from, d.to)).collect();
        let search = Search { delays, program, analysis, options, split: &split, machine, granularity, limits };
        if let Some(placement) = search.place() {
            verdicts.iter_mut().filter(|v| **v == Confirmation::Unknown).for_each(|v| *v = Confirmation::No);
            let recheck = Recheck { done: true, enough: true, each_needed: true };
            let place = |kept| analysis.with_placement(model, options, kept, placement, recheck);
            return Ok(place_where(&findings, &verdicts, is_confirmed, place));
        }
    }
    let is_left = |verdict| verdict != Confirmation::No;
    Ok(place_where(&findings, &verdicts, is_left, |kept| analysis.place(model, options, kept)))
}

/// The search for the fewest fences that no attack gets past.
struct Search<'a> {
    /// The pairs that the event graph reports; only these are tried.
    delays: BTreeSet<Pair>,
    program: &'a Program,
    analysis: &'a Analysis,
    options: &'a Options,
    split: &'a SplitProgram,
    machine: Machine,
    granularity: Granularity,
    limits: Limits,
}

/// The search did not come to an end: a limit was reached, or no fence helps.
struct GivenUp;

impl Search<'_> {
    /// Every witness asks for a fence on the way of its thread from the delayed write to what overtakes it; the cheapest fences that meet all witnesses so far are tried until no
    /// attack is left. What the witnesses ask for is needed, so the result is a minimum.
    fn place(&self) -> Option<Placement> {
        let graph = &self.analysis.graph;
        let points: Vec<(Point, At, Place)> = Point::all(graph)
            .into_iter()
            .filter_map(|point| Some((point, instruction(self.program, self.analysis, point.instr)?, point.place)))
            .collect();
        let mut minimiser = Minimiser::new(points.len());
        let mut given_up = false;
        let mut fences = BTreeMap::new();
        let weights: [&dyn Fn(Point) -> u64; 2] =
            [&|point| self.options.costs.of(point, FenceStrength::Plain), &|point| unreadability(graph, point)];
        for weight in weights {
            let chosen = minimiser.minimise(
                |variable| weight(points[variable].0),
                |chosen| {
                    let chosen = chosen.iter().map(|&variable| (points[variable].1, points[variable].2)).collect();
                    self.demands(chosen, &points).unwrap_or_else(|GivenUp| {
                        given_up = true;
                        Vec::new()
                    })
                },
            );
            if given_up {
                return None;
            }
            fences = chosen.iter().map(|&variable| (points[variable].0, FenceStrength::Plain)).collect();
        }
        let cost = self.options.costs.total(&fences);
        Some(Placement { fences, cost, minimality: Minimality::Proved })
    }

    /// The points of which each attack that gets past these fences asks for one.
    fn demands(
        &self,
        fences: BTreeSet<(At, Place)>,
        points: &[(Point, At, Place)],
    ) -> Result<Vec<Vec<usize>>, GivenUp> {
        let mut split = self.split.clone();
        Repair { fences, ..Repair::default() }.apply(&mut split);
        let states = self.limits.states;
        let mut attack = Attack::new(&split, self.machine, self.granularity, states).map_err(|_| GivenUp)?;
        let mut demands = Vec::new();
        for pair in attack.pairs().into_iter().filter(|pair| self.delays.contains(pair)) {
            let Some(witness) = attack.confirm(pair).map_err(|_| GivenUp)? else { continue };
            let on_the_way = points_of(&witness);
            let demand: Vec<usize> =
                (0..points.len()).filter(|&p| on_the_way.contains(&(points[p].1, points[p].2))).collect();
            if demand.is_empty() {
                return Err(GivenUp);
            }
            demands.push(demand);
        }
        if demands.is_empty() && self.machine == Machine::Pso && !attack.pairs().is_empty() {
            // On PSO attacks by one thread that stops are not all.
            let all_runs = runs::examine(&split, self.machine, self.granularity, self.limits.buffer, states);
            if !matches!(all_runs, Ok(Verdict::Robust { is_complete: true, .. })) {
                return Err(GivenUp);
            }
        }
        Ok(demands)
    }
}

/// The points that the thread of a witness passes between the two accesses of the pair.
fn points_of(witness: &Witness) -> BTreeSet<(At, Place)> {
    let delayed = witness.private.iter().position(|(_, visibility)| *visibility == Visibility::Delayed);
    let way: Vec<&Event> = witness.private.iter().skip(delayed.unwrap_or(0)).map(|(event, _)| event).collect();
    let mut points = BTreeSet::new();
    // Between two steps there is a point if the first ends its instruction: behind it, if it was taken, and before the next one.
    for (before, after) in way.iter().zip(way.iter().skip(1)) {
        if before.progress == Progress::Done {
            points.insert(((before.thread, before.instruction), Place::After));
        }
        if before.progress != Progress::InTheMiddle {
            points.insert(((after.thread, after.instruction), Place::Before));
        }
    }
    points
}

/// Places fences for some of the delays; the others are kept as infeasible.
fn place_where(
    findings: &Findings,
    verdicts: &[Confirmation],
    is_placed: impl Fn(Confirmation) -> bool,
    place: impl FnOnce(Findings) -> ModelOutcome,
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
    ModelOutcome { confirmations, infeasible, ..place(kept) }
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
