//! Where the search backwards starts: all states of the threads, with the values that matter, that are forbidden.
//!
//! *Deadlocks.* States of a thread that are stuck in the same memories, and at an end or not, are one group
//! ([`leaving`](crate::engines::automata::leaving)). Of a choice of groups only the values of those locations are tried
//! that decide whether one of them is stuck; a group that is never stuck is in no target. A thread that has gone wrong
//! is stuck for good: if the search finds a way there, it is told that it goes wrong, and no verdict.

use super::search::Target;
use crate::engines::automata::leaving::Leaving;
use crate::engines::automata::observed::Observed;
use crate::engines::automata::{ANY, Automata, Location, StateAt, Stop, Value};
use crate::property::StateCondition;
use crate::weak::forbidden::Forbidden;
use std::collections::{BTreeMap, BTreeSet};

/// The most targets.
const MOST_TARGETS: usize = 2_000_000;

/// All states of the threads, with the values that matter, that are forbidden. Of what is asked at the end there are
/// none: nobody asks for that here.
///
/// # Errors
/// If there are too many.
pub fn targets(automata: &Automata<'_>, observed: &Observed, forbidden: Forbidden<'_>) -> Result<Vec<Target>, Stop> {
    let groups = groups(automata, observed);
    let (targets, too_many) = match forbidden {
        Forbidden::State(condition) => (
            states(automata, observed, &groups, condition),
            "there are too many states that satisfy the condition; make it more specific",
        ),
        Forbidden::Deadlock => (deadlocks(automata, &groups), "there are too many states in which it may be stuck"),
        Forbidden::End(_) => (Some(Vec::new()), ""),
    };
    targets.ok_or_else(|| Stop::TooLarge(too_many.to_owned()))
}

/// For each thread the states that cannot be told apart where states are judged.
type Groups = Vec<Vec<Vec<StateAt>>>;

fn groups(automata: &Automata<'_>, observed: &Observed) -> Groups {
    let of_thread = |thread: usize| {
        let automaton = &automata.threads[thread];
        let mut of_thread: BTreeMap<Vec<i64>, Vec<StateAt>> = BTreeMap::new();
        for (state, (&example, leaving)) in automaton.examples.iter().zip(&automaton.leaving).enumerate() {
            if let Some(mut key) = observed.key(thread, &automata.configurations[thread], example) {
                leaving.iter().for_each(|leaving| key.extend(leaving.code()));
                of_thread.entry(key).or_default().push(state as StateAt);
            }
        }
        of_thread.into_values().collect()
    };
    (0..automata.threads.len()).map(of_thread).collect()
}

/// Where the condition holds; nothing if there are too many.
fn states(
    automata: &Automata<'_>,
    observed: &Observed,
    groups: &Groups,
    condition: &StateCondition,
) -> Option<Vec<Target>> {
    let locations = observed.locations();
    let sizes = groups.iter().map(Vec::len).chain(locations.iter().map(|&location| automata.domains[location].len()));
    let mut targets = Vec::new();
    for choice in Choices::new(sizes.collect())? {
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
        if !condition.which_holds(&observed).is_ok_and(|holds| holds.is_none()) {
            add(&mut targets, groups, of_threads, &memory)?;
        }
    }
    Some(targets)
}

/// All deadlocks; nothing if there are too many.
fn deadlocks(automata: &Automata<'_>, groups: &Groups) -> Option<Vec<Target>> {
    // A group that is never stuck is in none of them.
    let leaving = |thread: usize, group: usize| -> Option<&Leaving> {
        let state = groups[thread][group][0];
        automata.threads[thread].leaving[state as usize].as_ref().filter(|leaving| !leaving.is_certain())
    };
    let has_ended = |thread: usize, group: usize| {
        let example = automata.threads[thread].examples[groups[thread][group][0] as usize];
        automata.configurations[thread].steps(example).is_empty()
    };
    let may_be_stuck = |thread: usize| -> Vec<usize> {
        (0..groups[thread].len()).filter(|&group| leaving(thread, group).is_some()).collect()
    };
    let stuck: Vec<Vec<usize>> = (0..groups.len()).map(may_be_stuck).collect();
    let mut targets = Vec::new();
    for choice in Choices::new(stuck.iter().map(Vec::len).collect())? {
        let chosen: Vec<usize> = choice.iter().zip(&stuck).map(|(&at, stuck)| stuck[at]).collect();
        if chosen.iter().enumerate().all(|(thread, &group)| has_ended(thread, group)) {
            continue;
        }
        let ways = || chosen.iter().enumerate().filter_map(|(thread, &group)| leaving(thread, group));
        let locations: BTreeSet<Location> = ways().flat_map(Leaving::locations).collect();
        let sizes = locations.iter().map(|&location| automata.domains[location as usize].len());
        for values in Choices::new(sizes.collect())? {
            let mut memory: Vec<Value> = vec![ANY; automata.memory.len()];
            locations.iter().zip(values).for_each(|(&location, value)| memory[location as usize] = value as Value);
            if ways().all(|ways| ways.is_stuck(|location, value| memory[location as usize] == value)) {
                add(&mut targets, groups, &chosen, &memory)?;
            }
        }
    }
    Some(targets)
}

/// Adds all states of these groups; nothing if these are too many.
fn add(targets: &mut Vec<Target>, groups: &Groups, chosen: &[usize], memory: &[Value]) -> Option<()> {
    let states: Vec<&Vec<StateAt>> = chosen.iter().zip(groups).map(|(&group, of)| &of[group]).collect();
    for choice in Choices::new(states.iter().map(|group| group.len()).collect())? {
        let states = choice.iter().zip(&states).map(|(&chosen, group)| group[chosen]).collect();
        targets.push(Target { states, memory: memory.to_vec() });
        if targets.len() > MOST_TARGETS {
            return None;
        }
    }
    Some(())
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
