//! A symbolic path as a run on store buffers.
//!
//! The steps of the path are made on the machine, one after the other, with buffers that hold one content each. Where a
//! round ended and was accelerated, the run may go round again, as often as it takes: until the last state has what
//! the path promised. Runs that go round less often come first.
//!
//! *Limits.* So many states of the machine; on PSO, where the rounds of different buffers are counted apart, there may
//! be no such run along the path. Then nothing is said.

use super::space::{Memory, Space, Step};
use super::tree::{NodeId, Tree};
use crate::budget::Exhausted;
use crate::weak::buffers::{BufferState, BufferStep};
use crate::weak::threads::{AccessKind, Action, Move};
use rustc_hash::FxHashSet;
use std::collections::VecDeque;

/// The most states of the machine.
const MOST_STATES: usize = 200_000;

/// A run with the states that it comes to.
pub type Run = Vec<(BufferStep, BufferState)>;

/// A state on the way: which node of the path, what was done to get there, from which other one.
struct Stop {
    position: usize,
    state: BufferState,
    by: Vec<(BufferStep, BufferState)>,
    from: Option<usize>,
}

/// A run along the path to a node that ends as is asked for, if one is found.
///
/// # Errors
/// If the budget is exhausted.
pub fn run_to(
    space: &mut Space<'_>,
    tree: &Tree,
    node: NodeId,
    mut is_goal: impl FnMut(&mut Space<'_>, &BufferState) -> bool,
) -> Result<Option<Run>, Exhausted> {
    let path = tree.path_to(node);
    let start = Stop { position: 0, state: space.machine.initial(), by: Vec::new(), from: None };
    let mut seen: FxHashSet<(usize, BufferState)> = FxHashSet::default();
    let mut stops = vec![start];
    let mut open: VecDeque<usize> = VecDeque::from([0]);
    while let Some(number) = open.pop_front() {
        space.machine.system.program.budget.check()?;
        let (position, state) = (stops[number].position, stops[number].state.clone());
        if !seen.insert((position, state.clone())) {
            continue;
        }
        if seen.len() > MOST_STATES {
            return Ok(None);
        }
        if position + 1 == path.len() {
            if is_goal(space, &state) {
                return Ok(Some(collected(stops, number)));
            }
        } else if let Some((_, step)) = tree.node(path[position + 1]).parent {
            for by in made(space, tree, path[position], step, &state) {
                let next = by.last().map_or_else(|| state.clone(), |(_, next)| next.clone());
                open.push_front(stops.len());
                stops.push(Stop { position: position + 1, state: next, by, from: Some(number) });
            }
        }
        // Once more, after all that can be done without.
        if let Some(round) = &tree.node(path[position]).round
            && let Some(again) = path.iter().position(|&known| known == round.from)
        {
            open.push_back(stops.len());
            stops.push(Stop { position: again, state, by: Vec::new(), from: Some(number) });
        }
    }
    Ok(None)
}

/// The run to a stop.
fn collected(mut stops: Vec<Stop>, last: usize) -> Run {
    let mut parts = Vec::new();
    let mut at = Some(last);
    while let Some(number) = at {
        parts.push(std::mem::take(&mut stops[number].by));
        at = stops[number].from;
    }
    parts.into_iter().rev().flatten().collect()
}

/// What a step is on the machine: each way to make it, as the steps of the machine that it takes.
fn made(space: &mut Space<'_>, tree: &Tree, before: NodeId, step: Step, state: &BufferState) -> Vec<Run> {
    let thread = step.thread();
    match step {
        // A mark leaves the machine's buffers by itself.
        Step::Pass { .. } => vec![Vec::new()],
        Step::Commit { letter, .. } => {
            let write = space.write(letter);
            let is_it = |made: &(BufferStep, BufferState)| match &made.0 {
                BufferStep::Committed { thread: of, location, value, .. } => {
                    *of == thread && (*location, *value) == write
                }
                BufferStep::Issued(_) => false,
            };
            space.machine.steps(state).into_iter().filter(is_it).map(|made| vec![made]).collect()
        }
        Step::Issue { number, to, .. } => {
            let known = space.known_move(tree.shared(before), thread, number);
            let is_it = |made: &(BufferStep, BufferState)| match &made.0 {
                BufferStep::Issued(event) => {
                    event.at.thread == thread
                        && event.at.instruction == known.instruction
                        && made.1.shared.config(thread) == to
                        && does(&known, event.accesses.first().map(|access| (access.kind, access.location)))
                }
                BufferStep::Committed { .. } => false,
            };
            let mut runs: Vec<Run> =
                space.machine.steps(state).into_iter().filter(is_it).map(|made| vec![made]).collect();
            if space.memory == Memory::Sc && matches!(known.action, Action::Write { .. }) {
                for run in &mut runs {
                    let commit = run.last().map(|(_, state)| space.machine.steps(state)).into_iter().flatten();
                    let is_commit = |made: &(BufferStep, BufferState)| matches!(made.0, BufferStep::Committed { .. });
                    run.extend(commit.into_iter().find(is_commit));
                }
            }
            runs
        }
    }
}

/// Whether a move begins with this access.
fn does(known: &Move, access: Option<(AccessKind, crate::ids::LocationAt)>) -> bool {
    match known.action {
        Action::Silent { .. } => access.is_none(),
        Action::Read { location, .. } => access == Some((AccessKind::Read, location)),
        Action::Write { location, .. } => access == Some((AccessKind::Write, location)),
        Action::Whole => true,
    }
}
