//! All runs on store buffers with their happens-before relation: is one of them not sequentially consistent?
//!
//! States are pairs of a machine state and a relation, so the answer is exact while no buffer reaches its bound. It
//! presumes nothing about which threads delay what: it is what [`attack`](super::attack) is held against.

use super::buffers::{BufferState, BufferStep, Buffers};
use super::happens_before::{Cycle, HappensBefore, ReadFrom};
use super::threads::AccessKind;
use super::visited::{Allowance, LimitReached, Visited};
use super::{Granularity, Machine};
use crate::weak::split::SplitProgram;

/// What came of all runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunsVerdict {
    /// Every run is sequentially consistent.
    Robust {
        /// No buffer reached its bound.
        is_complete: bool,
        /// The number of states.
        states: usize,
    },
    /// This run is not: its steps, and the state after each.
    Cyclic(Vec<(BufferStep, BufferState)>),
}

/// Examines all runs.
///
/// # Errors
/// If there are more states than the limit.
pub fn examine(
    program: &SplitProgram,
    machine: Machine,
    granularity: Granularity,
    bound: usize,
    allowance: impl Into<Allowance>,
) -> Result<RunsVerdict, LimitReached> {
    let mut buffers = Buffers::new(program, machine, bound);
    let allowance = allowance.into();
    let mut visited = Visited::within(allowance.clone(), &program.budget);
    let initial = buffers.initial();
    let nothing = HappensBefore::new(program.threads.len(), program.memory.len());
    visited.start((initial, nothing))?;
    let mut at = 0;
    while (at as usize) < visited.len() {
        let current = visited.get(at);
        let (state, relation) = &*current;
        for (step, next) in buffers.steps(state) {
            let mut relation = relation.clone();
            if extend(&mut relation, &buffers, state, &step, granularity).is_err() {
                if !buffers.can_be_certain(&next, allowance.clone())? {
                    continue; // No run comes to it.
                }
                let path: Vec<_> = visited.path_to(at).iter().map(|&number| visited.get(number)).collect();
                let mut run = Vec::new();
                for pair in path.windows(2) {
                    let (state, relation) = &*pair[0];
                    // Steps can lead to one state and still differ in what they were: the relation tells.
                    let found = buffers.steps(state).into_iter().find(|(step, next)| {
                        let mut longer = relation.clone();
                        let extended = extend(&mut longer, &buffers, state, step, granularity);
                        extended.is_ok() && (next, &longer) == (&pair[1].0, &pair[1].1)
                    });
                    run.extend(found);
                }
                run.push((step, next));
                return Ok(RunsVerdict::Cyclic(run));
            }
            visited.insert((next, relation), at)?;
        }
        at += 1;
    }
    Ok(RunsVerdict::Robust { is_complete: !buffers.is_cut_off, states: visited.len() })
}

fn extend(
    relation: &mut HappensBefore,
    buffers: &Buffers<'_>,
    state: &BufferState,
    step: &BufferStep,
    granularity: Granularity,
) -> Result<(), Cycle> {
    match step {
        BufferStep::Committed { thread, position, location, .. } => relation.commit(*thread, *position, *location),
        BufferStep::Issued(event) => {
            let config = state.shared.config(event.at.thread);
            let pool = buffers.system.thread(event.at.thread);
            let is_first = pool.is_at_boundary(config);
            let is_whole = is_first
                && pool.steps(config).iter().any(|step| step.instruction == event.at.instruction && step.is_whole());
            match &event.accesses[..] {
                [] => return Ok(()),
                _ if is_whole => relation.whole(event),
                [access] => match access.kind {
                    AccessKind::Write => relation.issue(event, granularity),
                    AccessKind::Read => {
                        let own =
                            state.buffers[event.at.thread.index()].iter().rposition(|&(l, _)| l == access.location);
                        let from = own.map_or(ReadFrom::Memory, ReadFrom::Buffer);
                        relation.read(event, access.location, from, granularity)
                    }
                },
                several => unreachable!("a step that is not atomic makes one access, not {}", several.len()),
            }?;
            relation.settle(event.at.thread, event.progress);
            Ok(())
        }
    }
}
