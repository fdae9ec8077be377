//! Runs of the abstract program: which fences stop them.
//!
//! A run that was found is first made on the machine with store buffers, step by step; often that can be done, and then
//! it is a run of the program ([`replay`](crate::engines::automata::replay)). Here is what it demands if it is none.
//!
//! Where a thread passes from one access to its next while, all the time, some write of it waits: one of the sites
//! between them. A fence anywhere else finds nothing waiting, if what the thread computes in between is put off until
//! then, so the abstract program with the fence has the run still. So every set of fences after which the abstract
//! program never comes to a bad state has one of these sites; if there are none, no fences are enough for this
//! abstraction.
//!
//! *Not so* where sets are united: what a run takes from a set may have come there on another way, on which a fence
//! keeps it out; nor where values are given up, which with a fence may have bounds. There it is only asked for.

use super::expander::Traced;
use crate::engines::automata::replay::Scheduled;
use crate::engines::automata::{Automata, Operation, Transition};
use crate::ids::ThreadAt;
use crate::memory::FenceStrength;
use crate::outline::Outline;
use crate::program::At;
use crate::weak::system::Event;
use crate::weak::threads::{Action, ConfigId, Move, Order};
use crate::weak::ways::Way;

/// Where fences would stop a run of the abstract program.
pub fn way(automata: &mut Automata<'_>, outline: &Outline, traced: &[Traced]) -> Way {
    let mut way = Way::default();
    for thread in 0..automata.threads.len() {
        // The steps since the last access, and whether something has waited ever since.
        let mut steps: Vec<Event> = Vec::new();
        let mut waits = false;
        let mut config: ConfigId = 0;
        for &Traced { step, is_drained } in traced {
            match step {
                Scheduled::Step(by, number) if by == thread => {
                    let known = automata.threads[thread].transitions[number as usize].clone();
                    let (event, next) = event(automata, thread, config, &known);
                    let configurations = &automata.configurations[thread];
                    let is_own = !configurations.is_at_boundary(config) || configurations.is_judged(config);
                    config = next;
                    // A fence that was put in is no step of the program.
                    if is_own {
                        steps.push(event);
                    }
                    if known.operation != Operation::Silent {
                        if waits {
                            // Fences of stores are nothing to the abstraction.
                            way.extend(&steps.iter().collect::<Vec<_>>(), FenceStrength::Plain, outline);
                        }
                        steps.drain(..steps.len() - 1);
                        waits = !is_drained;
                    }
                    waits &= !is_drained;
                }
                Scheduled::Commit(by, _) if by == thread => waits &= !is_drained,
                Scheduled::Step(..) | Scheduled::Commit(..) => {}
            }
        }
    }
    way
}

/// A transition, made by the thread in a configuration; where that leads.
fn event(automata: &mut Automata<'_>, thread: usize, config: ConfigId, known: &Transition) -> (Event, ConfigId) {
    let Automata { threads, configurations, domains, .. } = automata;
    let configurations = &mut configurations[thread];
    let moves = configurations.moves(config);
    let value = |location: u8, value: u8| domains[location as usize][value as usize];
    let mut after = |step: &Move| match (&known.operation, step.action) {
        (Operation::Silent, Action::Silent { next }) => Some(next),
        (Operation::Write(to, what), Action::Write { location, value: written, next }) => {
            (location.index() == *to as usize && written == value(*to, *what)).then_some(next)
        }
        (Operation::Read(from, what), Action::Read { operation, location }) => (location.index() == *from as usize)
            .then(|| configurations.after_read(config, step.step, operation, value(*from, *what))),
        (Operation::Whole(reads, writes), Action::Whole) => {
            let mut memory = vec![0; domains.len()];
            reads.iter().for_each(|&(location, read)| memory[location as usize] = value(location, read));
            let (next, _) = configurations.perform(config, step.step, &mut memory)?;
            let is_written = |&(location, written): &(u8, u8)| memory[location as usize] == value(location, written);
            writes.iter().all(is_written).then_some(next)
        }
        _ => None,
    };
    let is_there = |next: &ConfigId| threads[thread].states.get(*next as usize).copied().flatten() == Some(known.to);
    let found = moves.iter().find_map(|step| Some((*step, after(step).filter(is_there)?)));
    let (step, next) = found.expect("states that are one can do the same");
    let is_write = matches!(known.operation, Operation::Write(..));
    let progress = configurations.progress(config, step.step, next, is_write);
    let at = At { thread: ThreadAt::new(thread), instruction: step.instruction };
    (Event { at, accesses: Vec::new(), order: Order::WHOLE, progress }, next)
}
