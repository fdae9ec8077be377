//! Steps of automata as a run on store buffers: what a method has found on its own configurations, the machine of
//! [`weak::buffers`](crate::weak::buffers) does, step by step, or there is no such run.

use super::{Automata, Automaton, Location, Operation};
use crate::ids::{LocationAt, ThreadAt};
use crate::program::At;
use crate::property::ConditionFault;
use crate::weak::Machine;
use crate::weak::buffers::{BufferState, BufferStep, Buffers};
use crate::weak::forbidden::{Forbidden, Judge, without_fences};
use crate::weak::split::SplitProgram;
use crate::weak::system::Event;
use crate::weak::threads::{Access, AccessKind};
use crate::weak::verify::Violation;
use std::collections::BTreeMap;

/// A step of the machine that is to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheduled {
    /// A transition of a thread.
    Step(usize, u32),
    /// A thread's oldest write becomes visible, of a location or of all.
    Commit(usize, Option<Location>),
}

/// Makes these steps on the machine, if they are steps of it that lead to a forbidden state.
///
/// # Errors
/// If the condition cannot be evaluated where they lead.
pub fn run(
    program: &SplitProgram,
    machine: Machine,
    automata: Automata<'_>,
    schedule: &[Scheduled],
    forbidden: Forbidden<'_>,
) -> Result<Option<Violation>, ConditionFault> {
    let Automata { threads, configurations, domains, .. } = automata;
    // The configurations of the machine are those of which the automata were made.
    let mut buffers = Buffers::with(program, configurations, machine, usize::MAX);
    let Some(run) = made(&mut buffers, &threads, &domains, schedule) else { return Ok(None) };
    let here = run.last().map_or_else(|| buffers.initial(), |(_, state)| state.clone());
    let violated = Judge::new(forbidden).violated(&mut buffers, &here)?;
    Ok(violated.map(|what| Violation::Forbidden(without_fences(&buffers, run), what)))
}

/// Makes these steps on the machine, if they are steps of it that end with an instruction that goes wrong: which.
pub fn goes_wrong(
    program: &SplitProgram,
    machine: Machine,
    automata: Automata<'_>,
    schedule: &[Scheduled],
) -> Option<At> {
    let Automata { threads, configurations, domains, .. } = automata;
    let mut buffers = Buffers::with(program, configurations, machine, usize::MAX);
    let run = made(&mut buffers, &threads, &domains, schedule)?;
    run.into_iter().find_map(|(step, state)| match step {
        BufferStep::Issued(Event { at, .. }) => {
            let config = buffers.system.thread(at.thread).config(state.shared.config(at.thread));
            config.is_faulty.then_some(at)
        }
        BufferStep::Committed { .. } => None,
    })
}

/// The steps of the machine that these are, if they are.
fn made(
    buffers: &mut Buffers<'_>,
    threads: &[Automaton],
    domains: &[Vec<i64>],
    schedule: &[Scheduled],
) -> Option<Vec<(BufferStep, BufferState)>> {
    let mut here = buffers.initial();
    let mut run: Vec<(BufferStep, BufferState)> = Vec::new();
    for scheduled in schedule {
        let is_it = |(step, next): &(BufferStep, BufferState)| match (scheduled, step) {
            (Scheduled::Step(thread, number), BufferStep::Issued(event)) => {
                let known = &threads[*thread].transitions[*number as usize];
                let to = threads[*thread].states.get(next.shared.threads[*thread] as usize).copied().flatten();
                event.at.thread == ThreadAt::new(*thread)
                    && to == Some(known.to)
                    && does(&known.operation, &event.accesses, domains)
            }
            (Scheduled::Commit(thread, of), BufferStep::Committed { thread: by, location, .. }) => {
                let is_of = |of: Location| LocationAt::new(of as usize) == *location;
                *by == ThreadAt::new(*thread) && of.is_none_or(is_of)
            }
            _ => false,
        };
        let (step, next) = buffers.steps(&here).into_iter().find(is_it)?;
        here = next.clone();
        run.push((step, next));
    }
    Some(run)
}

/// Whether these accesses are what an operation does.
fn does(operation: &Operation, accesses: &[Access], domains: &[Vec<i64>]) -> bool {
    let is = |kind: AccessKind, location: u8, value: u8| {
        let value = domains[location as usize][value as usize];
        accesses == [Access { kind, location: LocationAt::new(location as usize), value }]
    };
    match operation {
        Operation::Silent => accesses.is_empty(),
        Operation::Read(location, value) => is(AccessKind::Read, *location, *value),
        Operation::Write(location, value) => is(AccessKind::Write, *location, *value),
        Operation::Whole(reads, writes) => {
            let (mut read, mut written) = (BTreeMap::new(), BTreeMap::new());
            for access in accesses {
                match access.kind {
                    AccessKind::Write => {
                        written.insert(access.location, access.value);
                    }
                    AccessKind::Read if written.contains_key(&access.location) => {}
                    AccessKind::Read => {
                        read.entry(access.location).or_insert(access.value);
                    }
                }
            }
            let large = |list: &[(u8, u8)]| -> BTreeMap<LocationAt, i64> {
                let one = |&(location, value): &(u8, u8)| {
                    (LocationAt::new(location as usize), domains[location as usize][value as usize])
                };
                list.iter().map(one).collect()
            };
            read == large(reads) && written == large(writes)
        }
    }
}
