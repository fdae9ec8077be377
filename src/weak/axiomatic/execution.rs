//! Candidate executions: events of all threads with their program order, dependencies and fences, and how they
//! communicate.
//!
//! The names are those of the literature on axiomatic models (Alglave, Maranget and Tautschnig, "Herding cats",
//! 2014). Initial writes are no events: nothing is ordered before them, so no cycle goes through them; a read of an
//! initial value has no `rf`, and is in `fr` with all writes to its location.

use super::access::{Access, AccessKind};
use super::relation::{EventSet, Relation};
use super::trace::Trace;
use crate::ids::ThreadAt;

/// An event: an access of one of the traces.
#[derive(Clone, Copy)]
pub struct Event<'t> {
    /// The thread.
    pub thread: ThreadAt,
    /// The access.
    pub access: &'t Access,
}

/// All but the communication: what the threads do on their own.
#[derive(Clone, Debug)]
pub struct Structure {
    /// The reads.
    pub reads: EventSet,
    /// The writes.
    pub writes: EventSet,
    /// Pairs of different threads.
    pub external: Relation,
    /// Program order.
    pub po: Relation,
    /// Program order between accesses to one location.
    pub po_loc: Relation,
    /// Address dependencies.
    pub addr: Relation,
    /// Data dependencies.
    pub data: Relation,
    /// Control dependencies.
    pub ctrl: Relation,
    /// Control dependencies with a control fence between.
    pub ctrl_cfence: Relation,
    /// Pairs with a full fence between.
    pub full_fence: Relation,
    /// Pairs with a lightweight fence between.
    pub lightweight_fence: Relation,
    /// Pairs with a fence for writes between.
    pub store_fence: Relation,
    /// Pairs of different accesses of one atomic instruction, in both directions.
    pub atomic: Relation,
}

/// How events communicate; grows location by location.
#[derive(Clone, Debug)]
pub struct Communication {
    /// Reads-from: a write, and a read of its value.
    pub rf: Relation,
    /// Coherence: the order of the writes to each location.
    pub co: Relation,
    /// From-reads: a read, and a write after the one that it reads from.
    pub fr: Relation,
}

/// The events of a combination of traces, one for each thread.
#[must_use]
pub fn events<'t>(traces: &[&'t Trace]) -> Vec<Event<'t>> {
    let of_thread = |(thread, trace): (ThreadAt, &&'t Trace)| {
        trace.accesses.iter().map(move |access| Event { thread, access }).collect::<Vec<_>>()
    };
    ThreadAt::all(traces.len()).zip(traces).flat_map(of_thread).collect()
}

/// Whether the first event comes before the second in program order.
#[must_use]
pub fn is_before(traces: &[&Trace], events: &[Event<'_>], first: usize, second: usize) -> bool {
    let (a, b) = (&events[first], &events[second]);
    if a.thread != b.thread {
        return false;
    }
    let start: usize = traces[..a.thread.index()].iter().map(|trace| trace.accesses.len()).sum();
    a.access.step < b.access.step || a.access.step == b.access.step && b.access.before.contains(&(first - start))
}

impl Structure {
    /// Of a combination of traces and its events.
    #[must_use]
    pub fn new(traces: &[&Trace], events: &[Event<'_>]) -> Structure {
        let size = events.len();
        let is_kind = |kind| move |event: usize| events[event].access.kind == kind;
        let starts: Vec<usize> = traces
            .iter()
            .scan(0, |next, trace| {
                *next += trace.accesses.len();
                Some(*next - trace.accesses.len())
            })
            .collect();
        let po = Relation::new(size, |a, b| is_before(traces, events, a, b));
        let fenced = |passed: fn(&Access) -> usize| {
            Relation::new(size, |a, b| {
                events[a].thread == events[b].thread && passed(events[a].access) < passed(events[b].access)
            })
        };
        let mut structure = Structure {
            reads: EventSet::new(size, is_kind(AccessKind::Read)),
            writes: EventSet::new(size, is_kind(AccessKind::Write)),
            external: Relation::new(size, |a, b| events[a].thread != events[b].thread),
            po_loc: Relation::new(size, |a, b| {
                events[a].access.location == events[b].access.location && po.contains(a, b)
            }),
            po,
            addr: Relation::empty(size),
            data: Relation::empty(size),
            ctrl: Relation::empty(size),
            ctrl_cfence: Relation::empty(size),
            full_fence: fenced(|access| access.fences.full),
            lightweight_fence: fenced(|access| access.fences.lightweight),
            store_fence: fenced(|access| access.fences.stores),
            atomic: Relation::new(size, |a, b| {
                let (first, second) = (&events[a], &events[b]);
                a != b
                    && first.access.is_atomic
                    && first.thread == second.thread
                    && first.access.step == second.access.step
            }),
        };
        for (event, Event { thread, access }) in events.iter().enumerate() {
            let start = starts[thread.index()];
            access.addr.iter().for_each(|read| structure.addr.insert(start + read, event));
            access.data.iter().for_each(|read| structure.data.insert(start + read, event));
            access.ctrl.iter().for_each(|read| structure.ctrl.insert(start + read, event));
            access.ctrl_cfence.iter().for_each(|read| structure.ctrl_cfence.insert(start + read, event));
        }
        structure
    }
}

impl Communication {
    /// No communication yet.
    #[must_use]
    pub fn none(size: usize) -> Communication {
        Communication { rf: Relation::empty(size), co: Relation::empty(size), fr: Relation::empty(size) }
    }

    /// All of it: `rf`, `co` and `fr`.
    #[must_use]
    pub fn com(&self) -> Relation {
        &self.rf | &self.co | &self.fr
    }
}
