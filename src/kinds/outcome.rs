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
use crate::aeg::Profile;
use crate::analysis::{Analysis, Confirmation, Confirming, Fence, ModelOutcome, Offered, Options, Recheck};
use crate::cycles::{ConflictRule, Delay, Findings};
use crate::ids::VertexId;
use crate::insertion::Fences;
use crate::memory::cat::{self, Axioms};
use crate::memory::{FenceStrength, Known, MemoryModel};
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
        && analysis.graph.budget.exhausted().is_none();
    let known = model.known().ok().filter(|known| MODELS.contains(known))?;
    cat::builtin(known).filter(|_| is_sound && !result.findings.delays.is_empty())
}

/// The result with what axioms know better; as it is where they are not asked. Definitions that are known to miss
/// something are answered as they are, and so is a part of a state space.
#[must_use]
pub fn by_axioms(analysis: &Analysis, model: &MemoryModel, options: &Options, result: ModelOutcome) -> ModelOutcome {
    let started = Instant::now();
    let Some(axioms) = asked(analysis, model, options, &result) else { return result };
    let kinds = Kinds::new(analysis, model, options, &result.findings.in_place);
    let mut judge = Judge::new(axioms);
    match better(&kinds, &mut judge, (analysis, model, options), &result) {
        Ok(better) => {
            let elapsed = result.elapsed + started.elapsed();
            let (composites, locks) = (result.composites, result.locks);
            ModelOutcome { elapsed, composites, locks, confirming: Confirming::ByAxioms, ..better }
        }
        Err(NoMixture::Unfixable) => ModelOutcome { confirming: Confirming::NoMixture, ..result },
        Err(NoMixture::TooMany) => ModelOutcome { confirming: Confirming::TooManyCycles(MOST_STEPS), ..result },
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
        Offered::Full => analysis.place(model, options, findings),
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
