//! The way that was found backwards, as a run on store buffers.
//!
//! *TSO.* The steps that were undone are done on a concrete configuration of the single buffer; before each the
//! pointer of its thread moves as far as is needed to come to what the next minor stands for, which there always is,
//! as the order is monotone. Then the buffer is the sequence of all memories, and the run on store buffers goes
//! through these: while the memory is a message, every thread does what it did while its pointer was there; then the
//! write, or the step that is one, of the next message becomes visible.
//!
//! *PSO.* The steps are done as they are; a write becomes visible as often as is needed.
//!
//! The machine of [`weak::buffers`](crate::weak::buffers) then [makes](crate::engines::automata::replay) these steps:
//! what is told is a run of it.

use super::pso::{self, Pso};
use super::search::{Semantics, Undone};
use super::tso::{INITIAL, Minor, Tso};
use crate::engines::automata::replay::Scheduled;
use crate::engines::automata::{Operation, Transition};
use std::collections::VecDeque;

/// What the machine of TSO is to do.
pub fn schedule_tso(tso: &Tso<'_>, chain: &[(Minor, Undone)]) -> Option<Vec<Scheduled>> {
    let threads = tso.automata.threads.len();
    let mut here = Minor {
        states: tso.automata.threads.iter().map(|thread| thread.initial).collect(),
        pointers: vec![0; threads].into(),
        tags: vec![INITIAL],
        values: tso.automata.memory.clone(),
    };
    // For each thread its steps, with the pointer at that time.
    let mut steps: Vec<VecDeque<(u32, usize)>> = vec![VecDeque::new(); threads];
    for pair in chain.windows(2) {
        let (Undone::Step(thread, number), next) = (pair[0].1, &pair[1].0) else { return None };
        let step = &tso.automata.threads[thread].transitions[number as usize];
        let after = loop {
            let after = fire(tso, &here, thread, step).filter(|after| stands_for(tso, next, after));
            if after.is_some() || here.pointers[thread] as usize + 1 >= here.len() {
                break after?;
            }
            here.pointers[thread] += 1;
        };
        steps[thread].push_back((number, here.pointers[thread] as usize));
        here = after;
    }
    let mut schedule = Vec::new();
    for message in 0..here.len() {
        for (thread, steps) in steps.iter_mut().enumerate() {
            let appends = |number: u32| is_one_that_writes(&tso.automata.threads[thread].transitions[number as usize]);
            let due = steps.iter().take_while(|(number, at)| *at == message && !appends(*number)).count();
            schedule.extend(steps.drain(..due).map(|(number, _)| Scheduled::Step(thread, number)));
        }
        if let Some((thread, location)) = here.tags.get(message + 1).and_then(|&tag| tso.tags.of(tag)) {
            schedule.push(match location {
                Some(_) => Scheduled::Commit(thread, None),
                None => Scheduled::Step(thread, steps[thread].pop_front()?.0),
            });
        }
    }
    steps.iter().all(VecDeque::is_empty).then_some(schedule)
}

fn is_one_that_writes(step: &Transition) -> bool {
    matches!(&step.operation, Operation::Whole(_, writes) if !writes.is_empty())
}

/// Whether a minor stands for a configuration.
fn stands_for(tso: &Tso<'_>, minor: &Minor, concrete: &Minor) -> bool {
    let mut seen = concrete.clone();
    seen.drop_unseen();
    tso.bucket(minor) == tso.bucket(&seen) && tso.covers(minor, &seen)
}

/// A transition on a configuration of the single buffer, if it can be made.
pub(super) fn fire(tso: &Tso<'_>, here: &Minor, thread: usize, step: &Transition) -> Option<Minor> {
    let last = here.len() - 1;
    let is_drained = here.pointers[thread] as usize == last;
    if here.states[thread] != step.from || (step.drained && !is_drained) {
        return None;
    }
    let mut after = here.clone();
    after.states[thread] = step.to;
    match &step.operation {
        Operation::Silent => {}
        Operation::Read(location, value) => {
            let message = tso.last_write(here, thread, *location);
            if here.snapshot(message)[*location as usize] != *value {
                return None;
            }
        }
        Operation::Write(location, value) => {
            let mut snapshot = here.snapshot(last).to_vec();
            snapshot[*location as usize] = *value;
            after.tags.push(tso.tags.write(thread, *location));
            after.values.extend(snapshot);
        }
        Operation::Whole(reads, writes) => {
            let mut snapshot = here.snapshot(last).to_vec();
            if !is_drained || reads.iter().any(|&(location, value)| snapshot[location as usize] != value) {
                return None;
            }
            if !writes.is_empty() {
                writes.iter().for_each(|&(location, value)| snapshot[location as usize] = value);
                after.tags.push(tso.tags.whole(thread));
                after.values.extend(snapshot);
                after.pointers[thread] += 1;
            }
        }
    }
    Some(after)
}

/// What the machine of PSO is to do.
pub fn schedule_pso(pso: &Pso<'_>, chain: &[(pso::Minor, Undone)]) -> Option<Vec<Scheduled>> {
    let threads = pso.automata.threads.len();
    let mut here = pso::Minor {
        states: pso.automata.threads.iter().map(|thread| thread.initial).collect(),
        memory: pso.automata.memory.clone().into(),
        buffers: vec![Vec::new(); threads * pso.automata.domains.len()].into(),
    };
    let mut schedule = Vec::new();
    for pair in chain.windows(2) {
        let next = &pair[1].0;
        match pair[0].1 {
            Undone::Nothing => return None,
            Undone::Step(thread, number) => {
                here = fire_pso(pso, &here, thread, &pso.automata.threads[thread].transitions[number as usize])?;
                schedule.push(Scheduled::Step(thread, number));
            }
            Undone::Update(thread, location) => loop {
                let word = &mut here.buffers[pso.buffer(thread, location)];
                if word.is_empty() {
                    return None;
                }
                here.memory[location as usize] = word.remove(0);
                schedule.push(Scheduled::Commit(thread, Some(location)));
                if pso.bucket(next) == pso.bucket(&here) && pso.covers(next, &here) {
                    break;
                }
            },
        }
    }
    Some(schedule)
}

pub(super) fn fire_pso(pso: &Pso<'_>, here: &pso::Minor, thread: usize, step: &Transition) -> Option<pso::Minor> {
    let is_drained = pso.buffers(thread).all(|buffer| here.buffers[buffer].is_empty());
    if here.states[thread] != step.from || (step.drained && !is_drained) {
        return None;
    }
    let mut after = here.clone();
    after.states[thread] = step.to;
    match &step.operation {
        Operation::Silent => {}
        Operation::Read(location, value) => {
            let own = here.buffers[pso.buffer(thread, *location)].last();
            if own.unwrap_or(&here.memory[*location as usize]) != value {
                return None;
            }
        }
        Operation::Write(location, value) => after.buffers[pso.buffer(thread, *location)].push(*value),
        Operation::Whole(reads, writes) => {
            if !is_drained || reads.iter().any(|&(location, value)| here.memory[location as usize] != value) {
                return None;
            }
            writes.iter().for_each(|&(location, value)| after.memory[location as usize] = value);
        }
    }
    Some(after)
}
