//! The exact search for a torn instruction (method §8): can the accesses of others come between those of an
//! instruction, so that the instruction happens before and after them?
//!
//! Of all runs of single accesses on a sequentially consistent memory in which instructions do not form an acyclic
//! happens-before relation, take a shortest one. Without its last step the relation is acyclic, so the run can be
//! rearranged: everything before the torn instruction, its first accesses, whole instructions of the others, and the
//! access that closes the cycle (instructions of others that are not complete can be completed there, since nothing
//! comes after). So it is enough to let one instruction stop in the middle while the others perform whole
//! instructions.

use super::Granularity;
use super::attack::marks::Marks;
use super::split::SplitProgram;
use super::system::{Event, State, System};
use super::visited::{LimitReached, Visited};
use crate::ids::{InstrAt, ThreadAt};
use crate::program::At;
use std::collections::BTreeMap;
use std::rc::Rc;

/// An instruction that is torn, and the run that shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Torn {
    /// The instruction.
    pub at: At,
    /// The run: whole instructions, then the accesses of this one with whole instructions of the others in between.
    pub run: Vec<Event>,
}

/// A thread in the middle of an instruction.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Middle {
    instruction: InstrAt,
    state: State,
    /// The accesses made so far.
    own: Marks,
    /// What happens after them.
    others: Marks,
}

/// All torn instructions, each with a run.
///
/// # Errors
/// If there are more states than the limit.
pub fn torn(program: &SplitProgram, limit: usize) -> Result<Vec<Torn>, LimitReached> {
    let mut system = System::new(program, Granularity::Instructions);
    let reached = system.reach(limit)?;
    let mut found = BTreeMap::new();
    for thread in program.threads_at() {
        search(&mut system, &reached, thread, limit, &mut found)?;
    }
    Ok(found.into_values().collect())
}

fn search(
    system: &mut System<'_>,
    reached: &Visited<State>,
    thread: ThreadAt,
    limit: usize,
    found: &mut BTreeMap<At, Torn>,
) -> Result<(), LimitReached> {
    let size = (system.threads.len(), system.program.memory.len());
    let mut visited: Visited<Middle> = Visited::within(limit, &system.program.budget);
    let mut starts = Vec::new();
    for number in 0..reached.len() as u32 {
        let state = reached.get(number);
        for (event, next) in own_steps(system, &state, thread) {
            if system.thread(thread).is_at_boundary(next.config(thread)) {
                continue;
            }
            let nothing = Marks::start(size.0, size.1, &[]);
            let own = Marks::start(size.0, size.1, &event.accesses);
            let middle = Middle { instruction: event.at.instruction, state: next, own, others: nothing };
            if visited.find(&middle).is_none() {
                visited.start(middle)?;
                starts.push((number, event));
            }
        }
    }
    let mut at = 0;
    while (at as usize) < visited.len() {
        let current = visited.get(at);
        for (event, next) in steps(system, &current, thread) {
            match next {
                Ok(next) => {
                    visited.insert(next, at)?;
                }
                Err(Closed(end)) => {
                    if !system.can_be_certain(&end, limit)? {
                        continue; // No run comes to it.
                    }
                    let at_hand = At { thread, instruction: current.instruction };
                    found.entry(at_hand).or_insert_with(|| {
                        let path = visited.path_to(at);
                        let (number, first) = &starts[path[0] as usize];
                        let whole: Vec<Rc<State>> = reached.path_to(*number).iter().map(|&n| reached.get(n)).collect();
                        let mut run = system.events_along(&whole);
                        run.push(first.clone());
                        for pair in path.windows(2) {
                            let (before, after) = (visited.get(pair[0]), visited.get(pair[1]));
                            let step = steps(system, &before, thread);
                            let step = step.into_iter().find(|(_, next)| next.as_ref().ok() == Some(&*after));
                            run.extend(step.map(|(event, _)| event));
                        }
                        run.push(event);
                        Torn { at: at_hand, run }
                    });
                }
            }
        }
        at += 1;
    }
    Ok(())
}

/// Single accesses of a thread.
fn own_steps(system: &mut System<'_>, state: &State, thread: ThreadAt) -> Vec<(Event, State)> {
    let moves = system.thread_mut(thread).moves(state.config(thread));
    moves.iter().filter_map(|step| system.step(state, thread, step)).collect()
}

/// The state after a step that closes a cycle.
struct Closed(State);

/// The steps from the middle.
fn steps(system: &mut System<'_>, current: &Middle, thread: ThreadAt) -> Vec<(Event, Result<Middle, Closed>)> {
    let mut steps = Vec::new();
    for (event, state) in own_steps(system, &current.state, thread) {
        if event.accesses.iter().any(|access| current.others.conflict(access)) {
            steps.push((event, Err(Closed(state))));
        } else if !system.thread(thread).is_at_boundary(state.config(thread)) {
            let mut next = Middle { state, ..current.clone() };
            event.accesses.iter().for_each(|access| next.own.add(access));
            steps.push((event, Ok(next)));
        }
    }
    for other in system.program.threads_at().filter(|&other| other != thread) {
        for (event, state) in system.steps_of(&current.state, other) {
            let mut next = Middle { state, ..current.clone() };
            let touches_own = event.accesses.iter().any(|access| current.own.conflict(access));
            if touches_own {
                next.others.mark(&event);
            } else {
                next.others.spread(&event);
            }
            steps.push((event, Ok(next)));
        }
    }
    steps
}
