//! Candidate executions: events of all threads with their program order, dependencies and marks, and how they
//! communicate.
//!
//! The names are those of the literature on axiomatic models (Alglave, Maranget and Tautschnig, "Herding cats",
//! 2014). Fences are events, in program order like accesses. Initial writes are events for the texts of
//! users, and for ours only if they name them (`IW`): nothing is ordered before them, so no cycle of ours goes through
//! them; without them a read of an initial value has no `rf`, and is in `fr` with all writes to its location.
//!
//! A [`Structure`] is made of a list of events, without any program:
//!
//! ```
//! use seqcon::memory::cat::execution::{Communication, Edges, Event, Structure};
//! use seqcon::weak::axiomatic::Model;
//!
//! // Message passing: x := 1; y := 1 || r := y; s := x, where r = 1 and s = 0.
//! let events = [Event::write(0, 0), Event::write(0, 1), Event::read(1, 1), Event::read(1, 0)];
//! let structure = Structure::build(&events, &Edges::default());
//! let communication = Communication::build(&structure, &[(1, 2)], &[]);
//! assert!(!Model::named("tso").unwrap().allows(&structure, &communication));
//! assert!(Model::named("armv8").unwrap().allows(&structure, &communication));
//! ```

use super::relation::Relation;
use crate::ordering::{Marks, PartialFence};

/// What an event does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Reads a location.
    Read,
    /// Writes a location.
    Write,
    /// Writes a location before all threads start.
    Initial,
    /// A fence that orders all.
    Fence,
    /// A fence that orders less.
    PartialFence(PartialFence),
}

/// Whether the instruction of an access is indivisible.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Atomicity {
    /// It is not.
    #[default]
    Divisible,
    /// It is; what it orders is said by its marks.
    Indivisible,
    /// It is, and it has full fences on both sides and between its accesses, which are events of their own.
    Fenced,
}

/// An event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its thread; of an initial write it means nothing.
    pub thread: usize,
    /// What it does.
    pub action: Action,
    /// The location that it accesses; none for a fence.
    pub location: Option<usize>,
    /// The marks of its instruction; those that are for reads mean nothing on a write, and the other way round.
    pub marks: Marks,
    /// Which instruction of its thread makes it; this matters only for indivisible ones.
    pub instruction: usize,
    /// Whether that instruction is indivisible.
    pub atomicity: Atomicity,
}

impl Event {
    fn access(thread: usize, action: Action, location: usize) -> Event {
        let location = Some(location);
        Event { thread, action, location, marks: Marks::NONE, instruction: 0, atomicity: Atomicity::Divisible }
    }

    /// A plain read.
    #[must_use]
    pub fn read(thread: usize, location: usize) -> Event {
        Event::access(thread, Action::Read, location)
    }

    /// A plain write.
    #[must_use]
    pub fn write(thread: usize, location: usize) -> Event {
        Event::access(thread, Action::Write, location)
    }

    /// An initial write.
    #[must_use]
    pub fn initial(location: usize) -> Event {
        Event::access(usize::MAX, Action::Initial, location)
    }

    /// A fence; a full one if nothing is said.
    #[must_use]
    pub fn fence(thread: usize, partial: Option<PartialFence>) -> Event {
        let action = partial.map_or(Action::Fence, Action::PartialFence);
        Event { location: None, ..Event::access(thread, action, 0) }
    }

    /// The same with marks.
    #[must_use]
    pub fn marked(self, marks: Marks) -> Event {
        Event { marks, ..self }
    }

    /// The same as part of an indivisible instruction, which is numbered within its thread.
    #[must_use]
    pub fn atomic(self, instruction: usize, atomicity: Atomicity) -> Event {
        Event { instruction, atomicity, ..self }
    }

    /// Whether it reads.
    #[must_use]
    pub fn is_read(&self) -> bool {
        self.action == Action::Read
    }

    /// Whether it writes; initial writes do.
    #[must_use]
    pub fn is_write(&self) -> bool {
        matches!(self.action, Action::Write | Action::Initial)
    }

    /// Whether it is a fence.
    #[must_use]
    pub fn is_fence(&self) -> bool {
        matches!(self.action, Action::Fence | Action::PartialFence(_))
    }

    /// Whether it is part of an indivisible instruction.
    #[must_use]
    pub fn is_atomic(&self) -> bool {
        self.atomicity != Atomicity::Divisible && !self.is_fence()
    }

    fn is_with(&self, other: &Event) -> bool {
        self.action != Action::Initial && other.action != Action::Initial && self.thread == other.thread
    }
}

/// What the events of a list have between them besides program order, as pairs of their positions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edges {
    /// Address dependencies, from reads.
    pub addr: Vec<(usize, usize)>,
    /// Data dependencies, from reads to writes.
    pub data: Vec<(usize, usize)>,
    /// Control dependencies, from reads to all that comes behind the branch, fences too.
    pub ctrl: Vec<(usize, usize)>,
}

/// All but the communication: what the threads do on their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Structure {
    /// The events.
    pub events: Vec<Event>,
    /// Program order; transitive.
    pub po: Relation,
    /// Address dependencies.
    pub addr: Relation,
    /// Data dependencies.
    pub data: Relation,
    /// Control dependencies.
    pub ctrl: Relation,
    /// Pairs of different accesses of one indivisible instruction, in both directions.
    pub atomic: Relation,
    /// The read and the write of an indivisible instruction, at one location.
    pub amo: Relation,
    /// A load exclusive and its store exclusive.
    pub lxsx: Relation,
}

impl Structure {
    /// Of a list of events; program order is that of the list, among the events of each thread. A load exclusive and
    /// the next store exclusive of its thread are a pair if they access one location.
    #[must_use]
    pub fn build(events: &[Event], edges: &Edges) -> Structure {
        let po = Relation::new(events.len(), |a, b| a < b && events[a].is_with(&events[b]));
        Structure::with_order(events.to_vec(), po, edges)
    }

    /// The same with another program order, which may leave accesses of one instruction unordered. The list must have
    /// the events of each thread in an order that extends it.
    #[must_use]
    pub fn with_order(events: Vec<Event>, po: Relation, edges: &Edges) -> Structure {
        let size = events.len();
        let relation = |pairs: &[(usize, usize)]| {
            let mut relation = Relation::empty(size);
            pairs.iter().for_each(|&(from, to)| relation.insert(from, to));
            relation
        };
        let (mut atomic, mut amo) = (Relation::empty(size), Relation::empty(size));
        let indivisible: Vec<usize> = (0..size).filter(|&event| events[event].is_atomic()).collect();
        for &a in &indivisible {
            for &b in indivisible.iter().filter(|&&b| b != a) {
                let (first, second) = (&events[a], &events[b]);
                if first.is_with(second) && first.instruction == second.instruction {
                    atomic.insert(a, b);
                    if first.is_read() && second.is_write() && first.location == second.location && po.contains(a, b) {
                        amo.insert(a, b);
                    }
                }
            }
        }
        let lxsx = exclusive_pairs(&events);
        let (addr, data, ctrl) = (relation(&edges.addr), relation(&edges.data), relation(&edges.ctrl));
        Structure { events, po, addr, data, ctrl, atomic, amo, lxsx }
    }

    /// How many events there are.
    #[must_use]
    pub fn size(&self) -> usize {
        self.events.len()
    }

    /// Whether some indivisible instruction accesses several locations.
    #[must_use]
    pub fn is_wide(&self) -> bool {
        self.atomic.pairs().any(|(a, b)| self.events[a].location != self.events[b].location)
    }
}

/// The pairs of load and store exclusive.
fn exclusive_pairs(events: &[Event]) -> Relation {
    let mut pairs = Relation::empty(events.len());
    let is_exclusive = |event: &Event| event.marks.has(Marks::EXCLUSIVE) && !event.is_atomic() && !event.is_fence();
    for (load, event) in events.iter().enumerate().filter(|(_, event)| is_exclusive(event) && event.is_read()) {
        let later = events.iter().enumerate().skip(load + 1);
        let next = later.into_iter().find(|(_, other)| other.is_with(event) && is_exclusive(other));
        if let Some((store, _)) = next.filter(|(_, next)| next.is_write() && next.location == event.location) {
            pairs.insert(load, store);
        }
    }
    pairs
}

/// How events communicate; grows location by location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Communication {
    /// Reads-from: a write, and a read of its value.
    pub rf: Relation,
    /// Coherence: the order of the writes to each location.
    pub co: Relation,
    /// From-reads: a read, and a write after the one that it reads from.
    pub fr: Relation,
}

impl Communication {
    /// No communication yet.
    #[must_use]
    pub fn none(size: usize) -> Communication {
        Communication { rf: Relation::empty(size), co: Relation::empty(size), fr: Relation::empty(size) }
    }

    /// Of what reads read, as pairs of a write and a read, and of pairs of writes in coherence order, which is closed.
    /// A read that reads from no event reads the initial value. `fr` follows.
    #[must_use]
    pub fn build(structure: &Structure, rf: &[(usize, usize)], co: &[(usize, usize)]) -> Communication {
        let mut communication = Communication::none(structure.size());
        rf.iter().for_each(|&(write, read)| communication.rf.insert(write, read));
        co.iter().for_each(|&(first, second)| communication.co.insert(first, second));
        communication.co = communication.co.plus();
        for (read, event) in structure.events.iter().enumerate().filter(|(_, event)| event.is_read()) {
            let source = rf.iter().find(|(_, reader)| *reader == read).map(|(write, _)| *write);
            for (write, other) in structure.events.iter().enumerate() {
                let is_later = source.is_none_or(|source| communication.co.contains(source, write));
                if other.is_write() && other.location == event.location && is_later {
                    communication.fr.insert(read, write);
                }
            }
        }
        communication
    }

    /// All of it: `rf`, `co` and `fr`.
    #[must_use]
    pub fn com(&self) -> Relation {
        &self.rf | &self.co | &self.fr
    }
}
