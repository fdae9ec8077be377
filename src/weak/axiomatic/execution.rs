//! From traces to candidate executions: the events of all threads, with program order and dependencies.
//!
//! Accesses come first, thread by thread, then fences, then initial writes if the model speaks of them. What an
//! execution is, and how to make one without traces, is said in [`memory::cat`](crate::memory::cat::execution).

pub use crate::memory::cat::execution::{Action, Atomicity, Communication, Edges, Event, Structure};

use super::access::{Access, AccessKind, Fence};
use crate::ids::{LocationAt, ThreadAt};
use crate::memory::cat::relation::Relation;
use std::collections::BTreeSet;

/// What a thread does: a trace, or the beginning of one.
#[derive(Clone, Copy, Debug)]
pub struct Strand<'t> {
    /// Its accesses.
    pub accesses: &'t [Access],
    /// Its fences.
    pub fences: &'t [Fence],
}

/// An access of one of the strands.
#[derive(Clone, Copy)]
pub struct ThreadAccess<'t> {
    /// The thread.
    pub thread: ThreadAt,
    /// Its position in the thread's trace.
    pub position: usize,
    /// The access.
    pub access: &'t Access,
}

/// The accesses of some strands, one for each thread; each is the event of its position.
#[must_use]
pub fn accesses<'t>(strands: &[Strand<'t>]) -> Vec<ThreadAccess<'t>> {
    let of_thread = |(thread, strand): (ThreadAt, &Strand<'t>)| {
        let accesses = strand.accesses.iter().enumerate();
        accesses.map(move |(position, access)| ThreadAccess { thread, position, access }).collect::<Vec<_>>()
    };
    ThreadAt::all(strands.len()).zip(strands).flat_map(of_thread).collect()
}

/// Whether the first access comes before the second in program order.
#[must_use]
pub fn is_before(first: &ThreadAccess<'_>, second: &ThreadAccess<'_>) -> bool {
    let (a, b) = (first.access, second.access);
    first.thread == second.thread && (a.step < b.step || a.step == b.step && b.before.contains(&first.position))
}

/// What some strands do, with these accesses; with initial writes as events if they are asked for.
#[must_use]
pub fn structure(strands: &[Strand<'_>], accesses: &[ThreadAccess<'_>], with_initial: bool) -> Structure {
    let event = |of: &ThreadAccess<'_>| Event {
        thread: of.thread.index(),
        action: if of.access.kind == AccessKind::Read { Action::Read } else { Action::Write },
        location: Some(of.access.location.index()),
        marks: of.access.marks,
        instruction: of.access.step,
        atomicity: of.access.atomicity,
    };
    let mut events: Vec<Event> = accesses.iter().map(event).collect();
    let starts: Vec<usize> = strands
        .iter()
        .scan(0, |next, strand| {
            *next += strand.accesses.len();
            Some(*next - strand.accesses.len())
        })
        .collect();
    let first_fence = events.len();
    // For each fence, its place among the accesses of its thread.
    let mut places = Vec::new();
    let mut edges = Edges::default();
    for ((thread, strand), start) in strands.iter().enumerate().zip(&starts) {
        for fence in strand.fences {
            let number = events.len();
            events.push(Event::fence(thread, fence.partial));
            edges.ctrl.extend(fence.ctrl.iter().map(|read| (start + read, number)));
            places.push(start + fence.place);
        }
    }
    let after_fences = events.len();
    if with_initial {
        let locations: BTreeSet<LocationAt> = accesses.iter().map(|of| of.access.location).collect();
        events.extend(locations.into_iter().map(|location| Event::initial(location.index())));
    }
    for (number, ThreadAccess { thread, access, .. }) in accesses.iter().enumerate() {
        let start = starts[thread.index()];
        edges.addr.extend(access.addr.iter().map(|read| (start + read, number)));
        edges.data.extend(access.data.iter().map(|read| (start + read, number)));
        edges.ctrl.extend(access.ctrl.iter().map(|read| (start + read, number)));
    }
    let po = Relation::new(events.len(), |a, b| {
        if a >= after_fences || b >= after_fences || events[a].thread != events[b].thread {
            return false;
        }
        match (a < first_fence, b < first_fence) {
            (true, true) => is_before(&accesses[a], &accesses[b]),
            (true, false) => a < places[b - first_fence],
            (false, true) => places[a - first_fence] <= b,
            (false, false) => a < b,
        }
    });
    Structure::with_order(events, po, &edges)
}
