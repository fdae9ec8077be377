//! The decision: forwards with few waiting writes, and backwards without a bound.

use super::pso::Pso;
use super::search::{Found, Rules, Target, search};
use super::tso::Tso;
use super::{recheck, replay};
use crate::engines::automata::observed::Observed;
use crate::engines::automata::replay::run;
use crate::engines::automata::{ANY, Automata, StateAt, Stop, Value};
use crate::engines::judged::Decided;
use crate::property::StateCondition;
use crate::trial::{Trial, Trouble, within_bound};
use crate::weak::forbidden::Forbidden;
use crate::weak::split::SplitProgram;
use crate::weak::verify::{Ground, Limit, Question, Verdict, robust};
use crate::weak::visited::LimitReached;
use crate::weak::{Granularity, Machine};
use std::collections::BTreeMap;

/// The most states forwards at first, and once nothing else was cheap.
const FORWARD_STATES: [usize; 2] = [60_000, 300_000];
/// The most minors on PSO at first, and where TSO is asked for.
const PSO_MINORS: usize = 50_000;
/// The most targets.
const MOST_TARGETS: usize = 2_000_000;

/// The repaired program of a trial, access by access, and the verdict on it: the cheapest way first.
pub fn decide(trial: &Trial<'_>) -> Decided {
    verdict(trial).map(|(split, verdict)| (split, verdict.into()))
}

fn verdict(trial: &Trial<'_>) -> Result<(SplitProgram, Verdict), Trouble> {
    let machine = Machine::of(trial.model).map_err(Trouble::CannotRun)?;
    let Some(forbidden @ Forbidden::State(condition)) = Forbidden::by(trial.property) else {
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
        condition,
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
    condition: &StateCondition,
    limit: usize,
) -> Result<Verdict, Stop> {
    let on_pso = backwards(split, Machine::Pso, condition, limit.min(PSO_MINORS), Rules::ALL);
    match on_pso {
        Ok(verdict @ Verdict::Verified(_)) => Ok(verdict),
        Ok(verdict @ Verdict::Violated(_)) if machine == Machine::Pso => Ok(verdict),
        Ok(_) | Err(Stop::Limit(LimitReached::States)) => backwards(split, machine, condition, limit, Rules::ALL),
        Err(stop) => Err(stop),
    }
}

/// The verdict by the search backwards alone.
///
/// # Errors
/// If there is none.
pub fn backwards(
    split: &SplitProgram,
    machine: Machine,
    condition: &StateCondition,
    limit: usize,
    rules: Rules,
) -> Result<Verdict, Stop> {
    let forbidden = Forbidden::State(condition);
    let automata = Automata::of(split, forbidden)?;
    let targets = targets(&automata, &Observed::of(split, forbidden), condition)?;
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

/// All states of the threads, with the values that matter, in which the condition holds.
fn targets(automata: &Automata<'_>, observed: &Observed, condition: &StateCondition) -> Result<Vec<Target>, Stop> {
    // States that the condition cannot tell apart are judged once.
    let mut groups: Vec<Vec<Vec<StateAt>>> = Vec::new();
    for (thread, automaton) in automata.threads.iter().enumerate() {
        let mut of_thread: BTreeMap<Vec<i64>, Vec<StateAt>> = BTreeMap::new();
        for (state, &example) in automaton.examples.iter().enumerate() {
            if let Some(key) = observed.key(thread, &automata.configurations[thread], example) {
                of_thread.entry(key).or_default().push(state as StateAt);
            }
        }
        groups.push(of_thread.into_values().collect());
    }
    let locations = observed.locations();
    let sizes = groups.iter().map(Vec::len).chain(locations.iter().map(|&location| automata.domains[location].len()));
    let sizes: Vec<usize> = sizes.collect();
    let too_many =
        || Stop::TooLarge("there are too many states that satisfy the condition; make it more specific".to_owned());
    let mut targets = Vec::new();
    for choice in Choices::new(sizes).ok_or_else(too_many)? {
        let (of_threads, of_memory) = choice.split_at(groups.len());
        let mut memory: Vec<Value> = vec![ANY; automata.memory.len()];
        let mut observed = vec![0; automata.memory.len()];
        for (&location, &value) in locations.iter().zip(of_memory) {
            memory[location] = value as Value;
            observed[location] = automata.domains[location][value];
        }
        let example = |thread: usize| {
            let state = groups[thread][of_threads[thread]][0];
            automata.configurations[thread].config(automata.threads[thread].examples[state as usize])
        };
        (0..groups.len()).for_each(|thread| observed.extend(&example(thread).frame[..]));
        (0..groups.len()).for_each(|thread| observed.push(i64::from(example(thread).control.0)));
        // What goes wrong in a state that may not be reached says nothing.
        if condition.which_holds(&observed).is_ok_and(|holds| holds.is_none()) {
            continue;
        }
        let states: Vec<&Vec<StateAt>> = of_threads.iter().zip(&groups).map(|(&group, of)| &of[group]).collect();
        for choice in Choices::new(states.iter().map(|group| group.len()).collect()).ok_or_else(too_many)? {
            let states = choice.iter().zip(&states).map(|(&chosen, group)| group[chosen]).collect();
            targets.push(Target { states, memory: memory.clone() });
            if targets.len() > MOST_TARGETS {
                return Err(too_many());
            }
        }
    }
    Ok(targets)
}

/// All choices of one from each of several, by position.
struct Choices {
    sizes: Vec<usize>,
    next: Option<Vec<usize>>,
}

impl Choices {
    /// None if there are too many to be looked at.
    fn new(sizes: Vec<usize>) -> Option<Choices> {
        let all = sizes.iter().try_fold(1_usize, |all, &size| all.checked_mul(size))?;
        let next = (all > 0).then(|| vec![0; sizes.len()]);
        (all <= 10 * MOST_TARGETS).then_some(Choices { sizes, next })
    }
}

impl Iterator for Choices {
    type Item = Vec<usize>;

    fn next(&mut self) -> Option<Vec<usize>> {
        let current = self.next.take()?;
        let mut following = current.clone();
        for (chosen, &size) in following.iter_mut().zip(&self.sizes) {
            *chosen += 1;
            if *chosen < size {
                self.next = Some(following);
                break;
            }
            *chosen = 0;
        }
        Some(current)
    }
}
