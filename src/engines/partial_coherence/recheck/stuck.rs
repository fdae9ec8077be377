//! When threads are stuck, by plain rules: what each configuration of a thread does, value by value.
//!
//! This shares nothing with [`leaving`](crate::engines::automata::leaving), by which the search judges deadlocks: the
//! moves are those of the thread itself and not transitions, what a way needs is kept as it is found, and of a state
//! that several configurations were merged to each of them is asked.

use crate::engines::automata::{Automata, Automaton};
use crate::ids::LocationAt;
use crate::weak::forbidden::Forbidden;
use crate::weak::threads::{AccessKind, Action, ConfigId, Configurations};
use std::collections::BTreeMap;

/// What is read: each location once.
type Reads = BTreeMap<usize, i64>;

/// A configuration in which states are judged.
#[derive(Clone)]
struct Waiting {
    has_ended: bool,
    /// What is read on each way that writes something or leads elsewhere.
    exits: Vec<Reads>,
}

/// For each thread and state its configurations in which states are judged.
pub struct Exits(Vec<Vec<Vec<Waiting>>>);

impl Exits {
    /// Of all threads; none if no deadlocks are asked for.
    pub fn of(automata: &mut Automata<'_>, forbidden: Forbidden<'_>) -> Option<Exits> {
        if !matches!(forbidden, Forbidden::Deadlock) {
            return None;
        }
        let Automata { threads, configurations, domains, .. } = automata;
        let of_thread = |(automaton, known): (&Automaton, &mut Configurations<'_>)| {
            let mut of_states = vec![Vec::new(); automaton.examples.len()];
            for (config, state) in automaton.states.iter().enumerate() {
                if let (config, Some(state)) = (config as ConfigId, *state)
                    && known.is_judged(config)
                {
                    let has_ended = known.steps(config).is_empty();
                    of_states[state as usize].push(Waiting { has_ended, exits: exits(known, config, domains) });
                }
            }
            of_states
        };
        Some(Exits(threads.iter().zip(configurations).map(of_thread).collect()))
    }

    /// Whether threads in these states may be in a deadlock: each has a configuration that is stuck, one of them before
    /// its end.
    pub fn may_be_deadlock(&self, states: &[usize], memory: &[i64]) -> bool {
        let is_open = |reads: &Reads| reads.iter().all(|(&location, &value)| memory[location] == value);
        let is_stuck = |waiting: &&Waiting| !waiting.exits.iter().any(is_open);
        let stuck = || self.0.iter().zip(states).map(|(of_thread, &state)| of_thread[state].iter().filter(is_stuck));
        stuck().all(|mut stuck| stuck.next().is_some()) && stuck().flatten().any(|waiting| !waiting.has_ended)
    }

    /// Whether a thread moves on without a look at the memory, in each of its configurations.
    pub fn never_stuck(&self, thread: usize, state: usize) -> bool {
        self.0[thread][state].iter().all(|waiting| waiting.exits.iter().any(Reads::is_empty))
    }
}

/// What is read on each way from a configuration that writes something or leads to another one that is judged.
fn exits(thread: &mut Configurations<'_>, home: ConfigId, domains: &[Vec<i64>]) -> Vec<Reads> {
    let mut found = Vec::new();
    let mut seen = vec![(home, Reads::new())];
    let mut at = 0;
    while let Some((config, reads)) = seen.get(at).cloned() {
        at += 1;
        let mut next: Vec<(ConfigId, Reads)> = Vec::new();
        for step in thread.moves(config).iter() {
            match step.action {
                Action::Silent { next: to } => next.push((to, reads.clone())),
                Action::Write { .. } => found.push(reads.clone()),
                Action::Read { operation, location } => {
                    for (value, reads) in readings(&reads, location.index(), domains) {
                        next.push((thread.after_read(config, step.step, operation, value), reads));
                    }
                }
                Action::Whole => {
                    for (to, reads, has_written) in whole(thread, (config, step.step), &reads, domains) {
                        if has_written { found.push(reads) } else { next.push((to, reads)) }
                    }
                }
            }
        }
        for (to, reads) in next.into_iter().filter(|(to, _)| *to != home) {
            if thread.is_judged(to) {
                found.push(reads);
            } else if !seen.contains(&(to, reads.clone())) {
                seen.push((to, reads));
            }
        }
    }
    found
}

/// The values that a location can have where these were read.
fn readings(reads: &Reads, location: usize, domains: &[Vec<i64>]) -> Vec<(i64, Reads)> {
    let values = reads.get(&location).map_or(domains[location].clone(), |&known| vec![known]);
    let with = |value: i64| {
        let mut more = reads.clone();
        more.insert(location, value);
        (value, more)
    };
    values.into_iter().map(with).collect()
}

/// What a step that is one does: where it leads, what was read, and whether something was written.
fn whole(
    thread: &mut Configurations<'_>,
    (config, step): (ConfigId, u32),
    reads: &Reads,
    domains: &[Vec<i64>],
) -> Vec<(ConfigId, Reads, bool)> {
    let mut done = Vec::new();
    let mut open = vec![reads.clone()];
    while let Some(reads) = open.pop() {
        let value = |location: usize| reads.get(&location).copied().unwrap_or(domains[location][0]);
        let mut memory: Vec<i64> = (0..domains.len()).map(value).collect();
        let Some((to, accesses)) = thread.perform(config, step, &mut memory) else { continue };
        let mut written: Vec<LocationAt> = Vec::new();
        let unknown = accesses.iter().find(|access| {
            if access.kind == AccessKind::Write {
                written.push(access.location);
            }
            !written.contains(&access.location) && !reads.contains_key(&access.location.index())
        });
        match unknown {
            Some(access) => {
                let more = readings(&reads, access.location.index(), domains);
                open.extend(more.into_iter().map(|(_, more)| more));
            }
            None => done.push((to, reads, !written.is_empty())),
        }
    }
    done
}
