//! Confirming where the event graph is perhaps of more than the program, as that of an abstraction is: how many fences
//! are needed for certain, and how many are enough, from the cheapest search to the dearest.

use super::few::Few;
use super::fewest::Fewest;
use super::{Confirmed, Effort, Limits, Subject, granularity, place_where};
use crate::analysis::{Confirmation, Confirming, ModelOutcome};
use crate::cycles::{Delay, Findings};
use crate::environment::{self, Overtaking};
use crate::ids::ThreadAt;
use crate::placement::{Method, Minimality};
use crate::program::compiled::Compiled;
use crate::weak::Machine;
use crate::weak::attack::{Attack, Pair, Vertex, Witness};
use crate::weak::split::{SplitProgram, TooLong};
use crate::weak::threads::AccessKind;
use crate::weak::visited::{Allowance, LimitReached};
use std::collections::BTreeSet;
use std::time::Instant;

/// Places fences for the delays of an analysis that has perhaps more than the program, and tells how many are needed
/// for certain. Cheap things come first: what a thread [alone](environment::overtakings) cannot reorder is refuted,
/// [runs of few threads](super::few) tell what is needed; and only if that is less than what is placed, all states are
/// looked at for what is in dispute, if these are no more than the limit.
///
/// # Errors
/// If an instruction is too long to be split.
pub fn place_between(subject: Subject<'_>, limits: Limits) -> Result<ModelOutcome, TooLong> {
    let started = Instant::now();
    let Subject { analysis, model, options, .. } = subject;
    let findings = analysis.find(model, options);
    let effort = Effort::full(analysis, limits);
    let split = subject.split_with_locks(&findings, &effort)?;
    let mut confirmed = match subject.machine() {
        Ok(_) => Confirmed::nothing(findings.delays.len(), Confirming::OfFew),
        Err(why) => Confirmed::nothing(findings.delays.len(), why),
    };
    let place = |verdicts: &[Confirmation]| {
        let place = |kept| analysis.place(model, options, kept);
        place_where(&findings, verdicts, |verdict| verdict != Confirmation::No, place)
    };
    subject.refute_alone(&split, &findings, &mut confirmed, &effort);
    let mut outcome = place(&confirmed.verdicts);
    let fewest = Fewest::new(&subject);
    let runs = subject.confirm_with_few(&split, &findings, &mut confirmed, (&fewest, &outcome), &effort);
    let least = fewest.cost_of(&runs);
    if least < outcome.placement.cost && subject.refute(&split, &findings, &mut confirmed, &effort) {
        outcome = place(&confirmed.verdicts);
        if least < outcome.placement.cost && options.method == Method::Exact {
            // Perhaps fewer fences are enough than the event graph asks for.
            let known = subject.place(&Effort { allowance: Allowance::together(limits.states), ..effort })?;
            if known.placement.minimality == Minimality::Program {
                return Ok(ModelOutcome { elapsed: started.elapsed(), ..known });
            }
        }
    }
    // The delays that are placed come first.
    let is_placed = |verdict: &Confirmation| *verdict != Confirmation::No;
    let (placed, refuted): (Vec<_>, Vec<_>) = confirmed.verdicts.into_iter().partition(is_placed);
    outcome.confirmations = [placed, refuted].concat();
    outcome.confirming = confirmed.confirming;
    if outcome.placement.minimality == Minimality::EventGraph {
        let is_met = least == outcome.placement.cost && !subject.misses();
        let needed = || Minimality::AtLeast(fewest.num_of(&runs));
        outcome.placement.minimality = if is_met { Minimality::Program } else { needed() };
    }
    outcome.elapsed = started.elapsed();
    Ok(outcome)
}

impl Subject<'_> {
    /// Tries delays while few threads move; gives the runs that were found.
    fn confirm_with_few(
        &self,
        split: &SplitProgram,
        findings: &Findings,
        confirmed: &mut Confirmed,
        (fewest, outcome): (&Fewest<'_>, &ModelOutcome),
        effort: &Effort,
    ) -> Vec<Witness> {
        let Ok(machine) = self.machine() else { return Vec::new() };
        let runs = match (Few { subject: self, fewest, split, machine }).runs(outcome) {
            Ok(runs) => runs,
            Err(limit) => {
                confirmed.confirming = effort.given_up(limit);
                return Vec::new();
            }
        };
        for (delay, verdict) in findings.delays.iter().zip(&mut confirmed.verdicts) {
            let pairs = self.pairs(split, delay.from, delay.to);
            if runs.iter().any(|run| pairs.contains(&run.pair)) {
                *verdict = Confirmation::Yes;
            }
        }
        runs
    }

    /// Refutes delays that no thread can reorder alone, whatever the others write: on TSO, where attacks are by one
    /// thread alone, there is no run that needs them.
    fn refute_alone(&self, split: &SplitProgram, findings: &Findings, confirmed: &mut Confirmed, effort: &Effort) {
        if self.machine() != Ok(Machine::Tso) || !split.composites().is_empty() {
            return;
        }
        let pairs = |delay: &Delay| self.pairs(split, delay.from, delay.to);
        let threads: BTreeSet<ThreadAt> = findings.delays.iter().flat_map(pairs).map(|pair| pair.thread).collect();
        if threads.is_empty() {
            return;
        }
        let limits = crate::explore::Limits { budget: Some(&effort.budget), ..Default::default() };
        let Ok(compiled) = Compiled::new(self.program) else { return };
        let Ok(possible) = environment::overtakings(self.program, &compiled, &threads, &limits) else { return };
        let access = |vertex: Vertex| (vertex.instruction, vertex.location);
        let is_possible = |pair: &Pair| {
            let (thread, write, read) = (pair.thread, access(pair.from), access(pair.to));
            pair.to.kind == AccessKind::Write || possible.contains(&Overtaking { thread, write, read })
        };
        for (delay, verdict) in findings.delays.iter().zip(&mut confirmed.verdicts) {
            let pairs = pairs(delay);
            if !pairs.is_empty() && !pairs.iter().any(is_possible) {
                *verdict = Confirmation::No;
            }
        }
    }

    /// Refutes delays in dispute that no run needs, on TSO, if the program has no more states than that is worth;
    /// whether it has not.
    fn refute(&self, split: &SplitProgram, findings: &Findings, confirmed: &mut Confirmed, effort: &Effort) -> bool {
        if self.machine() != Ok(Machine::Tso) {
            return false;
        }
        effort.budget.enter("confirming delays by runs");
        let most = effort.states;
        let granularity = granularity(self.options.atomicity);
        let attack = Attack::merging_twins(split, Machine::Tso, granularity, most);
        let mut attack = match attack {
            Ok(attack) => attack,
            Err(limit) => {
                confirmed.confirming = effort.given_up(limit);
                return false;
            }
        };
        let open = |verdict: &Confirmation| *verdict == Confirmation::Unknown;
        for (delay, verdict) in findings.delays.iter().zip(&mut confirmed.verdicts).filter(|(_, known)| open(known)) {
            let pairs = self.pairs(split, delay.from, delay.to);
            let feasible: Result<Vec<bool>, LimitReached> =
                pairs.iter().map(|&pair| attack.is_feasible(pair)).collect();
            match feasible {
                Ok(feasible) if !pairs.is_empty() && !feasible.contains(&true) => *verdict = Confirmation::No,
                Ok(_) => {}
                Err(limit) => confirmed.confirming = effort.given_up(limit),
            }
        }
        if confirmed.confirming == Confirming::OfFew {
            confirmed.confirming = Confirming::Done;
        }
        true
    }
}
