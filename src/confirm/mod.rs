//! Confirming delays: which pairs of the event graph does some run really need, and which fences (method §11)?
//!
//! The event graph over-approximates. Where the program itself is known, the exact search of
//! [`weak::attack`](crate::weak::attack) tries each delay: found, it is confirmed; not found, it is proved infeasible
//! on TSO. On PSO a search that fails proves nothing by itself (the thread may have to go on after others have
//! answered it), so the delay stays unknown, and gets its fence, unless [all runs](crate::weak::runs) of the program
//! with fences for the others are sequentially consistent. Under a model without a [machine](Machine::of), and for a
//! program that its machine [does not perform](Machine::refuses), every delay stays unknown, and gets its fence.
//!
//! *What is placed.* Fences for every delay that is not proved infeasible: what is enough for these is enough for the
//! program. [`fewest`] decides whether less is:
//!
//! - *At least.* Every confirmed delay comes with a run, and every set of fences that is enough has a fence on the
//!   way of that run's thread from the delayed write to what overtakes it. The cheapest fences that meet all these
//!   ways (a minimum hitting set) cost no more than any set that is enough.
//! - *At most.* The fences placed.
//!
//! If both cost the same, no cheaper set of fences at any sites is enough for the program
//! ([`Minimality::Program`]), with the locks in place, and, since every fence costs something, without any one of its
//! fences one of the runs is possible again: each is needed by a run. If they do not, fences are placed for the runs
//! alone and the program is searched again, until no pair is feasible (then these are the fewest) or the allowance is
//! spent (then those for all delays stay, [`Minimality::EventGraph`]).
//!
//! *Cost.* The default has an allowance of states for all searches together, counted and not timed, so that the
//! answer does not depend on the machine that computes it, unless the command has a limit on time or memory.

pub mod alike;
mod between;
mod few;
mod fewest;

pub use between::place_between;

use crate::aeg::Profile;
use crate::analysis::{Analysis, Confirmation, Confirming, ModelOutcome, Options};
use crate::budget::Budget;
use crate::cycles::{Atomicity, ConflictRule, Findings};
use crate::ids::{LocationAt, ThreadAt, VertexId};
use crate::memory::{Kind, MemoryModel};
use crate::placement::{Method, Minimality};
use crate::program::{At, Program};
use crate::repair::Repair;
use crate::weak::attack::{Attack, Pair, Vertex, Witness};
use crate::weak::split::{SplitProgram, TooLong};
use crate::weak::threads::AccessKind;
use crate::weak::visited::{Allowance, LimitReached};
use crate::weak::{Granularity, Machine};
use fewest::{FencedSearch, Fewest, GivenUp};
use std::time::Instant;

/// How many states the default spends on a memory model at most: with [`FEW`], some seconds, and no more than a few
/// times what the program's own states took.
pub const AUTO_STATES: usize = 1_000_000;
/// How many it spends on a program with hardly any states; twice those that the program has come on top.
const FEW: usize = 250_000;

/// How many states are looked at by default for delays that are in dispute between an abstraction and runs of few
/// threads.
pub const MOST_IN_DISPUTE: usize = 250_000;

/// A limit on time or memory leaves the default this part of what is left, so that the analysis itself comes to an end.
const SHARES: u32 = 8;

/// How far a search may go.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The most states.
    pub states: usize,
    /// The most writes in a store buffer.
    pub buffer: usize,
}

/// How much is spent on confirming.
#[derive(Clone, Debug)]
struct Effort {
    allowance: Allowance,
    /// Time and memory, of which the rest of the command needs some.
    budget: Budget,
    buffer: usize,
    /// How many states that is, for who asks.
    states: usize,
}

/// What counts as one event when instructions are read like this.
#[must_use]
pub fn granularity(atomicity: Atomicity) -> Granularity {
    match atomicity {
        Atomicity::Full | Atomicity::Presumed => Granularity::Instructions,
        Atomicity::Updates | Atomicity::Split => Granularity::Accesses,
    }
}

/// What is to be confirmed.
#[derive(Clone, Copy)]
pub struct Subject<'a> {
    /// The program.
    pub program: &'a Program,
    /// Its analysis.
    pub analysis: &'a Analysis,
    /// The memory model.
    pub model: &'a MemoryModel,
    /// What is asked of the analysis.
    pub options: &'a Options,
}

/// What came of the search for each delay.
struct Confirmed {
    verdicts: Vec<Confirmation>,
    /// A run for each confirmed delay.
    witnesses: Vec<Option<Witness>>,
    confirming: Confirming,
}

impl Confirmed {
    /// Nothing is known.
    fn nothing(delays: usize, confirming: Confirming) -> Confirmed {
        Confirmed { verdicts: vec![Confirmation::Unknown; delays], witnesses: vec![None; delays], confirming }
    }
}

/// Places the fewest fences that the program needs, as far as that can be found out with some 250,000 states and
/// twice as many as the program has, but no more than [`AUTO_STATES`], or the limit if that is less.
///
/// Definitions that are known to miss something are answered as they are, and so is a part of a state space: what is
/// infeasible there says nothing about what was not found.
///
/// # Errors
/// If an instruction is too long to be split.
pub fn place_by_default(subject: Subject<'_>, limits: Limits) -> Result<ModelOutcome, TooLong> {
    let Subject { analysis, model, options, .. } = subject;
    if analysis.cut_off || analysis.graph.budget.exhausted().is_some() || subject.misses() {
        return Ok(analysis.run(model, options));
    }
    let twice = usize::try_from(analysis.num_of_states).unwrap_or(usize::MAX).saturating_mul(2);
    let states = twice.saturating_add(FEW).min(AUTO_STATES).min(limits.states);
    let (allowance, budget) = (Allowance::together(states), analysis.graph.budget.share(SHARES));
    subject.place(&Effort { allowance, budget, buffer: limits.buffer, states })
}

/// Places the fewest fences that the program needs, with the whole limit for each search.
///
/// # Errors
/// If an instruction is too long to be split.
pub fn place_confirmed(subject: Subject<'_>, limits: Limits) -> Result<ModelOutcome, TooLong> {
    subject.place(&Effort::full(subject.analysis, limits))
}

/// Places fences for all delays, and tells which were confirmed; the runs beside it.
///
/// # Errors
/// If an instruction is too long to be split.
pub fn mark(subject: Subject<'_>, limits: Limits) -> Result<(ModelOutcome, Vec<Witness>), TooLong> {
    let started = Instant::now();
    let findings = subject.analysis.find(subject.model, subject.options);
    let effort = Effort::full(subject.analysis, limits);
    let split = subject.split_with_locks(&findings, &effort)?;
    let Confirmed { verdicts, witnesses, confirming } = subject.confirm(&split, &findings, &effort);
    let witnesses: Vec<Witness> = witnesses.into_iter().flatten().collect();
    let mut outcome = subject.analysis.place(subject.model, subject.options, findings);
    outcome.confirmations = verdicts;
    outcome.confirming = confirming;
    if outcome.placement.minimality == Minimality::EventGraph
        && !subject.misses()
        && Fewest::new(&subject).cost_of(&witnesses) == outcome.placement.cost
    {
        outcome.placement.minimality = Minimality::Program;
    }
    outcome.elapsed = started.elapsed();
    Ok((outcome, witnesses))
}

impl Effort {
    fn full(analysis: &Analysis, limits: Limits) -> Effort {
        let budget = analysis.graph.budget.clone();
        Effort { allowance: limits.states.into(), budget, buffer: limits.buffer, states: limits.states }
    }

    /// What to say of a search that reached a limit.
    fn given_up(&self, limit: LimitReached) -> Confirming {
        match limit {
            LimitReached::States => Confirming::OutOfStates(self.states),
            LimitReached::Budget(limit) => Confirming::Stopped(limit),
        }
    }
}

impl Subject<'_> {
    /// Places fences for the delays that are not proved infeasible, or fewer if these are enough.
    fn place(&self, effort: &Effort) -> Result<ModelOutcome, TooLong> {
        let started = Instant::now();
        let Subject { analysis, model, options, .. } = *self;
        let findings = analysis.find(model, options);
        let split = self.split_with_locks(&findings, effort)?;
        let confirmed = self.confirm(&split, &findings, effort);
        let is_left = |verdict| verdict != Confirmation::No;
        let place = |kept| analysis.place(model, options, kept);
        let mut outcome = place_where(&findings, &confirmed.verdicts, is_left, place);
        outcome.confirming = confirmed.confirming;
        // A greedy placement claims nothing, and without an answer from the searches there is nothing to claim.
        if options.method == Method::Exact && is_answered(confirmed.confirming) {
            outcome = self.fewest(&split, &findings, confirmed, outcome, effort);
        }
        if self.misses() && outcome.placement.minimality == Minimality::Program {
            outcome.placement.minimality = Minimality::EventGraph;
        }
        outcome.elapsed = started.elapsed();
        Ok(outcome)
    }

    /// Whether the definitions are known to miss something: what is enough for them may not be for the program.
    fn misses(&self) -> bool {
        self.analysis.profile != Profile::Sound
            || self.analysis.conflict_rule(self.options.conflicts) == ConflictRule::Concurrent
    }

    /// The outcome, if nothing less is enough for the program; else the outcome with what is enough, as far as that
    /// can be found out.
    fn fewest(
        &self,
        split: &SplitProgram,
        findings: &Findings,
        confirmed: Confirmed,
        mut outcome: ModelOutcome,
        effort: &Effort,
    ) -> ModelOutcome {
        let Confirmed { mut verdicts, witnesses, confirming } = confirmed;
        let witnesses: Vec<Witness> = witnesses.into_iter().flatten().collect();
        let fewest = Fewest::new(self);
        if fewest.cost_of(&witnesses) == outcome.placement.cost {
            outcome.placement.minimality = Minimality::Program;
            return outcome;
        }
        let Ok(machine) = self.machine() else { return outcome };
        effort.budget.enter("looking for fewer fences");
        let pairs: Vec<Vec<Pair>> =
            findings.delays.iter().map(|delay| self.pairs(split, delay.from, delay.to)).collect();
        let feasible = |verdict: &Confirmation| *verdict != Confirmation::No;
        let tried = pairs.iter().zip(&verdicts).filter(|(_, verdict)| feasible(verdict)).flat_map(|(pairs, _)| pairs);
        let search = FencedSearch {
            pairs: tried.copied().collect(),
            split,
            machine,
            granularity: granularity(self.options.atomicity),
            allowance: effort.allowance.clone(),
            buffer: effort.buffer,
        };
        let found = match fewest.place(&search, &witnesses) {
            Ok(found) => found,
            Err(GivenUp::Undecided) => return outcome,
            Err(GivenUp::OutOfStates) => {
                return ModelOutcome { confirming: Confirming::OutOfStates(effort.states), ..outcome };
            }
            Err(GivenUp::Stopped(limit)) => return ModelOutcome { confirming: Confirming::Stopped(limit), ..outcome },
        };
        if found.placement.cost == outcome.placement.cost {
            // The same number at places that the event graph agrees with.
            outcome.placement.minimality = Minimality::Program;
            return outcome;
        }
        // With no fence in place, that is the program itself.
        let is_unfenced = found.placement.fences.is_empty();
        let refuted = if is_unfenced { Confirmation::No } else { Confirmation::NoLonger };
        for (verdict, pairs) in
            verdicts.iter_mut().zip(&pairs).filter(|(verdict, _)| **verdict == Confirmation::Unknown)
        {
            let is_confirmed = pairs.iter().any(|pair| found.confirmed.contains(pair));
            *verdict = if is_confirmed { Confirmation::Yes } else { refuted };
        }
        let is_confirmed = |verdict| verdict == Confirmation::Yes;
        let place =
            |kept| self.analysis.with_placement(self.model, self.options, kept, found.placement, fewest::RECHECKED);
        ModelOutcome { confirming, ..place_where(findings, &verdicts, is_confirmed, place) }
    }

    /// Why nothing can be confirmed, if so; else who runs the program. The event graph takes partial fences for
    /// nothing, the machine does not: what it confirms are runs of the program.
    fn machine(&self) -> Result<Machine, Confirming> {
        let machine = Machine::of(self.model).map_err(|_| Confirming::NoMachine)?;
        if machine.refuses(self.program).is_some() { Err(Confirming::Unperformed) } else { Ok(machine) }
    }

    /// Tries every delay, with the locks in place.
    fn confirm(&self, split: &SplitProgram, findings: &Findings, effort: &Effort) -> Confirmed {
        effort.budget.enter("confirming delays by runs");
        let count = findings.delays.len();
        let machine = match self.machine() {
            Ok(machine) => machine,
            Err(why) => return Confirmed::nothing(count, why),
        };
        if count == 0 {
            return Confirmed::nothing(count, Confirming::Done);
        }
        // The state space is known already; access by access there are no fewer states.
        if self.analysis.num_of_states > effort.allowance.left() as u64 {
            return Confirmed::nothing(count, effort.given_up(LimitReached::States));
        }
        let granularity = granularity(self.options.atomicity);
        let mut attack = match Attack::new(split, machine, granularity, effort.allowance.clone()) {
            Ok(attack) => attack,
            Err(limit) => return Confirmed::nothing(count, effort.given_up(limit)),
        };
        let mut confirmed = Confirmed::nothing(count, Confirming::Done);
        for (position, delay) in findings.delays.iter().enumerate() {
            let pairs = self.pairs(split, delay.from, delay.to);
            let mut verdict = match (machine, pairs.is_empty()) {
                (Machine::Tso, false) => Confirmation::No,
                _ => Confirmation::Unknown,
            };
            for pair in pairs {
                match attack.confirm(pair) {
                    Ok(None) => {}
                    Ok(Some(witness)) => {
                        verdict = Confirmation::Yes;
                        confirmed.witnesses[position] = Some(witness);
                        break;
                    }
                    Err(limit) => {
                        verdict = Confirmation::Unknown;
                        confirmed.confirming = effort.given_up(limit);
                        break;
                    }
                }
            }
            confirmed.verdicts[position] = verdict;
        }
        confirmed
    }

    /// The program, access by access, with the instructions locked that are torn or presumed to be atomic.
    fn split_with_locks(&self, findings: &Findings, effort: &Effort) -> Result<SplitProgram, TooLong> {
        let mut split = SplitProgram { budget: effort.budget.clone(), ..SplitProgram::new(self.program)? };
        let locked = findings.in_place.locked.clone();
        Repair { locked, ..Repair::default() }.apply(&self.analysis.graph.outline, &mut split);
        if self.options.atomicity == Atomicity::Presumed {
            // As `verify` reads it, also where the event graph has one access for two that the text has.
            for at in split.composites() {
                split.lock(at);
            }
        }
        Ok(split)
    }

    /// The pair in the terms of the program, once for each location that goes by its name; none if its first access
    /// is no write: then no store buffer reorders it.
    fn pairs(&self, split: &SplitProgram, from: VertexId, to: VertexId) -> Vec<Pair> {
        let graph = &self.analysis.graph;
        let vertices = |id: VertexId| -> Vec<(ThreadAt, Vertex)> {
            let vertex = graph.vertex(id);
            let Some(At { thread, instruction }) = graph.outline.at(vertex.instr) else {
                return Vec::new();
            };
            let name = &graph.locations[vertex.location.index()];
            let kind = match vertex.kind {
                Kind::Read => AccessKind::Read,
                Kind::Write => AccessKind::Write,
            };
            let is_it = |location: &LocationAt| graph.shown(&split.locations[location.index()]) == *name;
            let locations = LocationAt::all(split.locations.len()).filter(is_it);
            let vertex = |location| Vertex { instruction, kind, location };
            locations.map(|location| (thread, vertex(location))).collect()
        };
        let writes = vertices(from).into_iter().filter(|(_, from)| from.kind == AccessKind::Write);
        let pair = |thread, from| move |(_, to)| Pair { thread, from, to };
        writes.flat_map(|(thread, from)| vertices(to).into_iter().map(pair(thread, from))).collect()
    }
}

/// Whether the searches can have told something.
fn is_answered(confirming: Confirming) -> bool {
    matches!(confirming, Confirming::Done | Confirming::OfFew | Confirming::OutOfStates(_) | Confirming::Stopped(_))
}

/// Places fences for some of the delays; the others are kept beside them.
fn place_where(
    findings: &Findings,
    verdicts: &[Confirmation],
    is_placed: impl Fn(Confirmation) -> bool,
    place: impl FnOnce(Findings) -> ModelOutcome,
) -> ModelOutcome {
    let mut kept = findings.clone();
    kept.delays.clear();
    let (mut confirmations, mut infeasible, mut refuted) = (Vec::new(), Vec::new(), Vec::new());
    for (delay, &verdict) in findings.delays.iter().zip(verdicts) {
        if is_placed(verdict) {
            kept.delays.push(delay.clone());
            confirmations.push(verdict);
        } else {
            infeasible.push(delay.clone());
            refuted.push(verdict);
        }
    }
    confirmations.extend(refuted);
    ModelOutcome { confirmations, infeasible, ..place(kept) }
}
