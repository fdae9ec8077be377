//! The decision: forwards with few waiting writes, and backwards without a bound.

use super::pso::Pso;
use super::search::{Found, Rules, search};
use super::targets::targets;
use super::tso::Tso;
use super::{recheck, replay};
use crate::engines::automata::observed::Observed;
use crate::engines::automata::replay::{goes_wrong, run};
use crate::engines::automata::{Automata, Stop};
use crate::engines::judged::Decided;
use crate::trial::{Trial, Trouble, within_bound};
use crate::weak::forbidden::Forbidden;
use crate::weak::split::SplitProgram;
use crate::weak::verify::{Ground, Limit, Question, Verdict, robust};
use crate::weak::visited::LimitReached;
use crate::weak::{Granularity, Machine};

/// The most states forwards at first, and once nothing else was cheap.
const FORWARD_STATES: [usize; 2] = [60_000, 300_000];
/// The most minors on PSO at first, and where TSO is asked for.
const PSO_MINORS: usize = 50_000;

/// The repaired program of a trial, access by access, and the verdict on it: the cheapest way first.
pub fn decide(trial: &Trial<'_>) -> Decided {
    verdict(trial).map(|(split, verdict)| (split, verdict.into()))
}

fn verdict(trial: &Trial<'_>) -> Result<(SplitProgram, Verdict), Trouble> {
    let machine = trial.machine()?;
    let Some(forbidden @ (Forbidden::State(_) | Forbidden::Deadlock)) = Forbidden::by(trial.property) else {
        return Err(Trouble::Undecidable(trial.property.kind()));
    };
    let (split, _) = trial.repaired()?;
    let question = trial.question(machine);
    let is_settled = |verdict: &Verdict| matches!(verdict, Verdict::Verified(_) | Verdict::Violated(_));
    let forwards = |bound: usize, limit: usize| {
        within_bound(&split, &Question { bound, limit: question.limit.min(limit), ..question }, forbidden)
    };
    let backwards = |machine: Machine, limit: usize| match backwards(
        &split,
        machine,
        forbidden,
        question.limit.min(limit),
        Rules::ALL,
    ) {
        Ok(verdict) => Ok(verdict),
        Err(stop) => stop.limit(trial.program).map(|limit| Verdict::Undecided(limit.into())),
    };
    let most = question.bound;
    let first = forwards(most.div_ceil(2), FORWARD_STATES[1])?;
    let mut verdict = if matches!(first, Verdict::Bounded { .. }) { forwards(most, FORWARD_STATES[0])? } else { first };
    if matches!(verdict, Verdict::Bounded { .. }) {
        // All runs that are sequentially consistent are known by now: there may be no others.
        let by_accesses = Question { granularity: Granularity::Accesses, limit: FORWARD_STATES[0], ..question };
        verdict = robust(&split, &by_accesses);
        if matches!(verdict, Verdict::Verified(_)) {
            return Ok((split, verdict));
        }
    } else if is_settled(&verdict) {
        return Ok((split, verdict));
    }
    // Every run on TSO is one on PSO, where the search is much cheaper.
    let on_pso = backwards(Machine::Pso, PSO_MINORS);
    if let Ok(verdict) = &on_pso
        && (matches!(verdict, Verdict::Verified(_)) || (machine == Machine::Pso && is_settled(verdict)))
    {
        return Ok((split, on_pso?));
    }
    verdict = forwards(2 * most, FORWARD_STATES[1])?;
    if !is_settled(&verdict) {
        // What is too large there is too large here.
        on_pso?;
        verdict = backwards(machine, usize::MAX)?;
    }
    Ok((split, verdict))
}

/// The verdict by the search backwards alone, where TSO is asked for first on PSO: every run on TSO is one on PSO,
/// where the search is much cheaper.
///
/// # Errors
/// If there is none.
pub fn decided_backwards(
    split: &SplitProgram,
    machine: Machine,
    forbidden: Forbidden<'_>,
    limit: usize,
) -> Result<Verdict, Stop> {
    let on_pso = backwards(split, Machine::Pso, forbidden, limit.min(PSO_MINORS), Rules::ALL);
    match on_pso {
        Ok(verdict @ Verdict::Verified(_)) => Ok(verdict),
        Ok(verdict @ Verdict::Violated(_)) if machine == Machine::Pso => Ok(verdict),
        Ok(_) | Err(Stop::Limit(LimitReached::States)) => backwards(split, machine, forbidden, limit, Rules::ALL),
        Err(stop) => Err(stop),
    }
}

/// The verdict by the search backwards alone, on states that satisfy a condition, or on deadlocks.
///
/// # Errors
/// If there is none.
pub fn backwards(
    split: &SplitProgram,
    machine: Machine,
    forbidden: Forbidden<'_>,
    limit: usize,
    rules: Rules,
) -> Result<Verdict, Stop> {
    let automata = Automata::of(split, forbidden)?;
    let targets = targets(&automata, &Observed::of(split, forbidden), forbidden)?;
    let schedule = match machine {
        Machine::Tso => {
            if automata.threads.len() * (automata.domains.len() + 1) > 250 {
                return Err(Stop::TooLarge("it has more than 250 pairs of a thread and a location".to_owned()));
            }
            if automata.threads.len() > 32 {
                return Err(Stop::TooLarge("it has more than 32 threads".to_owned()));
            }
            let tso = Tso::new(&automata, rules);
            match search(&tso, &targets, split, limit)? {
                Found::Closed(minors) => {
                    let is_proved = recheck::proves_tso(&tso, &minors, &targets, &split.budget)?;
                    return Ok(proved(is_proved, minors.len()));
                }
                Found::Reached(chain) => replay::schedule_tso(&tso, &chain),
            }
        }
        Machine::Pso => {
            let pso = Pso::new(&automata, rules);
            match search(&pso, &targets, split, limit)? {
                Found::Closed(minors) => {
                    let is_proved = recheck::proves_pso(&pso, &minors, &targets, &split.budget)?;
                    return Ok(proved(is_proved, minors.len()));
                }
                Found::Reached(chain) => replay::schedule_pso(&pso, &chain),
            }
        }
    };
    // The order is monotone, so what was undone can be done, and the machine reaches what the single buffer reaches,
    // unless it has fences of stores, which the automata take for nothing.
    let Some(schedule) = schedule else { return Ok(Verdict::Undecided(Limit::SecondLook)) };
    if let Forbidden::Deadlock = forbidden
        && let Some(at) = goes_wrong(split, machine, Automata::of(split, forbidden)?, &schedule)
    {
        return Err(Stop::GoesWrong(at));
    }
    let violation = run(split, machine, automata, &schedule, forbidden).map_err(Stop::Fault)?;
    let is_ordered = machine == Machine::Pso && split.orders_stores();
    let limit = if is_ordered { Limit::StoreFences } else { Limit::SecondLook };
    Ok(violation.map_or(Verdict::Undecided(limit), |violation| Verdict::Violated(Box::new(violation))))
}

/// The verdict of a search that found nothing.
fn proved(is_proved: bool, minors: usize) -> Verdict {
    match is_proved {
        true => Verdict::Verified(Ground::SingleBuffer { minors }),
        false => Verdict::Undecided(Limit::SecondLook),
    }
}
