//! The result of an analysis, with what the axioms of its memory model know better.
//!
//! The event graph has placed full fences for all delays. Delays on no cycle that the model allows are infeasible: no
//! execution has them. For the others the fences stay, or, by default, the cheapest mixture of what the architecture
//! has takes their place. Where there are too many cycles to judge them one by one, nothing is changed, and that is
//! said.

use super::elements::{Element, Offer};
use super::place::NoMixture;
use super::test::Judge;
use super::{Kinds, MOST_STEPS};
use crate::aeg::{Evaluation, Profile};
use crate::analysis::{Analysis, Confirmation, Confirming, Fence, ModelOutcome, Offered, Options, Recheck};
use crate::cycles::{Atomicity, ConflictRule, Delay, Findings};
use crate::ids::VertexId;
use crate::insertion::Fences;
use crate::lts::label::LabelKind;
use crate::memory::cat::{self, Axioms};
use crate::memory::{FenceStrength, Kind, Known, MemoryModel};
use crate::outline::Site;
use crate::placement::{Method, Minimality, Placement};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

/// The memory models whose axioms are asked: those that no machine runs.
pub const MODELS: [Known; 5] = [Known::Armv8, Known::Riscv, Known::Armv7, Known::Power, Known::Rc11];

/// Whether the axioms of a memory model are asked about cycles: for who says beforehand what cannot be found out.
#[cfg(feature = "cli")]
#[must_use]
pub fn are_asked(model: &MemoryModel) -> bool {
    model.known().is_ok_and(|known| MODELS.contains(&known))
}

/// The result with what axioms say of its delays, and the same fences.
#[must_use]
pub fn marked(analysis: &Analysis, model: &MemoryModel, options: &Options, result: ModelOutcome) -> ModelOutcome {
    let Some(axioms) = asked(analysis, model, options, &result) else { return result };
    analysis.graph.budget.enter("judging critical cycles by axioms");
    let kinds = Kinds::new(analysis, model, options, &result.findings.in_place);
    let Ok(feasible) = kinds.feasible(&mut Judge::new(axioms)) else { return result };
    let is_feasible = |delay: &Delay| feasible.contains(&(delay.from, delay.to));
    let verdict = |delay| if is_feasible(delay) { Confirmation::Unknown } else { Confirmation::No };
    let confirmations = result.findings.delays.iter().map(verdict).collect();
    ModelOutcome { confirmations, confirming: Confirming::ByAxioms, ..result }
}

/// The axioms that are asked about the cycles of a result, if they are.
fn asked(analysis: &Analysis, model: &MemoryModel, options: &Options, result: &ModelOutcome) -> Option<Arc<Axioms>> {
    let is_sound = analysis.profile == Profile::Sound
        && analysis.conflict_rule(options.conflicts) != ConflictRule::Concurrent
        && !analysis.cut_off
        && options.method == Method::Exact
        && !(options.atomicity == Atomicity::Split && !model.store_atomic && has_write_apart(analysis))
        && analysis.graph.budget.exhausted().is_none();
    let may_have_cycles = || !result.findings.delays.is_empty() || is_passed_through(analysis, model, result);
    let known = model.known().ok().filter(|known| MODELS.contains(known))?;
    cat::builtin(known).filter(|_| is_sound && may_have_cycles())
}

/// Whether an instruction that is not one step has a write that is not ordered with another access of it. It can be
/// the write between two accesses of a cycle that visits its thread elsewhere, and such cycles are not listed. (Where
/// stores are atomic, what goes over a write between is no weaker than what goes directly.)
fn has_write_apart(analysis: &Analysis) -> bool {
    let graph = &analysis.graph;
    let divisible = graph.evaluations.iter().filter(|evaluation| !evaluation.is_whole());
    graph.threads.len() > 2
        && divisible.map(|evaluation| &evaluation.events).any(|events| {
            let is_apart =
                |a: usize, b: usize| a != b && !events[a].before.contains(&b) && !events[b].before.contains(&a);
            let is_write = |event: usize| graph.vertex(events[event].vertex).kind == Kind::Write;
            (0..events.len()).any(|a| is_write(a) && (0..events.len()).any(|b| is_apart(a, b)))
        })
}

/// Whether a cycle can come in at one access of an indivisible instruction and go out at another one. The table takes
/// the two for ordered. The axioms do not always: those of C11 speak of what is sequentially consistent, and not of
/// what other threads do in between; elsewhere that is so at most where the instruction is no fence.
fn is_passed_through(analysis: &Analysis, model: &MemoryModel, result: &ModelOutcome) -> bool {
    let graph = &analysis.graph;
    let is_passed = |evaluation: &&Evaluation| match evaluation.kind {
        LabelKind::Rmw(_) => true,
        _ => model.known() == Ok(Known::Rc11) && result.findings.in_place.is_barrier(evaluation),
    };
    graph.evaluations.iter().filter(is_passed).any(|evaluation| {
        let locations: BTreeSet<_> =
            evaluation.events.iter().map(|event| graph.vertex(event.vertex).location).collect();
        locations.len() > 1
    })
}

/// The result of the table alone. It is not the whole answer where the table takes something for ordered that the
/// axioms do not.
fn by_table(analysis: &Analysis, model: &MemoryModel, result: ModelOutcome) -> ModelOutcome {
    let is_too_strong = model.known() == Ok(Known::Rc11) && is_passed_through(analysis, model, &result);
    if is_too_strong { not_enough(result) } else { result }
}

/// The result, of which it is not known that its fences are enough.
fn not_enough(result: ModelOutcome) -> ModelOutcome {
    let placement = Placement { minimality: Minimality::AtLeast(0), ..result.placement };
    ModelOutcome { placement, complete: false, ..result }
}

/// The result with what axioms know better; as it is where they are not asked. Definitions that are known to miss
/// something are answered as they are, and so is a part of a state space.
#[must_use]
pub fn by_axioms(analysis: &Analysis, model: &MemoryModel, options: &Options, result: ModelOutcome) -> ModelOutcome {
    let started = Instant::now();
    let Some(axioms) = asked(analysis, model, options, &result) else { return by_table(analysis, model, result) };
    let kinds = Kinds::new(analysis, model, options, &result.findings.in_place);
    let mut judge = Judge::new(axioms);
    match better(&kinds, &mut judge, (analysis, model, options), &result) {
        Ok(better) => {
            let elapsed = result.elapsed + started.elapsed();
            let (composites, locks) = (result.composites, result.locks);
            let confirming = if kinds.is_rough() && !model.marks.is_empty() {
                Confirming::ByAxiomsRoughly
            } else {
                Confirming::ByAxioms
            };
            ModelOutcome { elapsed, composites, locks, confirming, ..better }
        }
        Err(NoMixture::Unfixable) => ModelOutcome { confirming: Confirming::NoMixture, ..not_enough(result) },
        Err(NoMixture::TooMany) => {
            let result = by_table(analysis, model, result);
            ModelOutcome { confirming: Confirming::TooManyCycles(MOST_STEPS), ..result }
        }
        Err(NoMixture::Exhausted) => {
            let stopped = analysis.graph.budget.exhausted();
            let confirming = stopped.map_or(result.confirming, Confirming::Stopped);
            ModelOutcome { stopped, complete: false, confirming, ..result }
        }
    }
}

fn better(
    kinds: &Kinds<'_>,
    judge: &mut Judge,
    (analysis, model, options): (&Analysis, &MemoryModel, &Options),
    result: &ModelOutcome,
) -> Result<ModelOutcome, NoMixture> {
    let feasible = kinds.feasible(judge)?;
    let is_feasible = |delay: &&Delay| feasible.contains(&(delay.from, delay.to));
    let (kept, infeasible): (Vec<&Delay>, Vec<&Delay>) = result.findings.delays.iter().partition(is_feasible);
    let infeasible: Vec<Delay> = infeasible.into_iter().cloned().collect();
    let findings = Findings { delays: kept.into_iter().cloned().collect(), ..result.findings.clone() };
    let mut confirmations = vec![Confirmation::Unknown; findings.delays.len()];
    confirmations.extend(infeasible.iter().map(|_| Confirmation::No));
    let outcome = match options.kinds {
        Offered::Full => {
            let outcome = analysis.place(model, options, findings);
            let elements = outcome.placement.fences.keys().map(|&site| Element::Fence(site, None)).collect();
            if !kinds.is_enough(judge, &elements)? {
                return Err(NoMixture::Unfixable);
            }
            outcome
        }
        Offered::Mixture => {
            let elements = kinds.cheapest(judge)?;
            let (placement, fences, recheck) = fences(kinds, judge, (model, options), &findings, &elements)?;
            ModelOutcome {
                fences,
                complete: findings.cycles.as_ref().is_none_or(|list| list.complete),
                findings,
                ..ModelOutcome::new(model, placement, recheck)
            }
        }
    };
    Ok(ModelOutcome { confirmations, infeasible, ..outcome })
}

/// The fences of a mixture, with the delays that each serves, and the second look at them.
fn fences(
    kinds: &Kinds<'_>,
    judge: &mut Judge,
    (model, options): (&MemoryModel, &Options),
    findings: &Findings,
    elements: &BTreeSet<Element>,
) -> Result<(Placement, Vec<Fence>, Recheck), NoMixture> {
    let offer = Offer::of(model);
    let mut chosen = Fences::new();
    for &element in elements {
        let (site, strength) = in_place(element);
        let known = chosen.entry(site).or_insert(strength);
        *known = offer.at_least(known.join(strength));
    }
    let cost_of =
        |site: Site, strength: FenceStrength| options.costs.of_instruction(site, strength, offer.cost_of(strength));
    let mut each_needed = true;
    let mut fences = Vec::new();
    for (&site, &strength) in &chosen {
        let others = elements.iter().copied().filter(|&element| in_place(element).0 != site).collect();
        let reopened: BTreeSet<(VertexId, VertexId)> = kinds.feasible_with(judge, &others)?;
        each_needed &= !reopened.is_empty();
        let is_served = |&delay: &usize| {
            let Delay { from, to, .. } = findings.delays[delay];
            let thread = kinds.graph().thread_of(site.instr);
            reopened.contains(&(from, to)) && kinds.graph().vertex(from).thread == thread
        };
        fences.push(Fence {
            site,
            strength,
            mnemonic: offer.mnemonic(strength),
            cost: cost_of(site, strength),
            delays: (0..findings.delays.len()).filter(is_served).collect(),
            runs: Vec::new(),
        });
    }
    let cost: u64 = fences.iter().map(|fence| fence.cost).sum();
    let least: u64 = elements.iter().map(|&element| kinds.cost(element)).sum();
    let minimality = if cost <= least { Minimality::EventGraph } else { Minimality::AtLeast(0) };
    let recheck = Recheck { done: true, enough: kinds.is_enough(judge, elements)?, each_needed };
    Ok((Placement { fences: chosen, cost, minimality }, fences, recheck))
}

/// Where an element stands, and what it is, as placements have it.
pub(super) fn in_place(element: Element) -> (Site, FenceStrength) {
    use crate::ordering::PartialFence;
    match element {
        Element::Marks(instr, marks) => (Site::on(instr), FenceStrength::Marks(marks)),
        Element::Fence(site, kind) => {
            let strength = match kind {
                Some(PartialFence::Stores) => FenceStrength::Stores,
                Some(PartialFence::Loads) => FenceStrength::Loads,
                Some(PartialFence::Lightweight) => FenceStrength::Lightweight,
                Some(PartialFence::Between(before, after)) => FenceStrength::Between(before, after),
                // No architecture offers the others.
                Some(PartialFence::Control | PartialFence::Acquire | PartialFence::Release) => FenceStrength::Plain,
                Some(PartialFence::AcquireRelease) | None => FenceStrength::Plain,
            };
            (site, strength)
        }
    }
}
