//! The names that every text knows without defining them: sets of events by what they do, and base relations.
//!
//! Fences and marks have a name in every architecture ([`ordering`](crate::ordering) has the table): a full fence is
//! in `SYNC`, in `MFENCE`, in `DMB.SY`, in `Fence.rw.rw` and in `SC`. So one program can be asked about under every
//! model. The names are those of herd, and the lower-case ones of Dartagnan.
//!
//! | set | events |
//! |---|---|
//! | `_`, `M`, `R`, `W`, `F` | all, accesses, reads, writes, fences |
//! | `IW` | initial writes |
//! | `A`, `Q`, `L` | reads with acquire, with acquire-pc, writes with release; in `A` and `L` also accesses of instructions that are indivisible and full fences |
//! | `A` in a text of C11 (one that names `RLX`, `ACQ`, `REL`, `ACQ_REL` or `CON`) | atomic accesses: all with a mark |
//! | `X`, `AMO`, `RMW` | accesses that are exclusive, of an indivisible instruction, either |
//! | `Acq`, `Rel`, `AcqRel`, `Sc` | as RISC-V marks them |
//! | `RLX`, `ACQ`, `REL`, `ACQ_REL`, `SC`, `CON`, `NA` | as C11 orders them; `CON` is empty: consume is read as acquire |
//!
//! The base relations are `po`, `addr`, `data`, `ctrl`, `loc`, `int`, `ext`, `id`, `amo`, `lxsx`, `rf`, `co`, `fr`,
//! and `atomic`, which is ours: pairs of different accesses of one indivisible instruction, in both directions. What
//! else texts take for granted (`po-loc`, `rfe`, `rmw`, `fencerel`…) is defined in `models/prelude.cat`.

use super::execution::{Action, Atomicity, Event, Structure};
use super::relation::Relation;
use crate::ordering::{Accesses, Marks, PartialFence};

/// A base set.
pub struct BaseSet {
    /// Its names.
    pub names: &'static [&'static str],
    /// What is in it.
    pub has: fn(&Event) -> bool,
}

/// A base relation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Base {
    /// Program order.
    Po,
    /// Address dependencies.
    Addr,
    /// Data dependencies.
    Data,
    /// Control dependencies.
    Ctrl,
    /// Accesses to one location.
    Loc,
    /// Events of one thread.
    Int,
    /// Events of different threads.
    Ext,
    /// Each event with itself.
    Id,
    /// The read and the write of an indivisible instruction.
    Amo,
    /// A load exclusive and its store exclusive.
    Lxsx,
    /// Accesses of one indivisible instruction.
    Atomic,
    /// Reads-from.
    Rf,
    /// Coherence.
    Co,
    /// From-reads.
    Fr,
}

impl Base {
    /// All of them, with their names.
    pub const ALL: [(&'static str, Base); 14] = [
        ("po", Base::Po),
        ("addr", Base::Addr),
        ("data", Base::Data),
        ("ctrl", Base::Ctrl),
        ("loc", Base::Loc),
        ("int", Base::Int),
        ("ext", Base::Ext),
        ("id", Base::Id),
        ("amo", Base::Amo),
        ("lxsx", Base::Lxsx),
        ("atomic", Base::Atomic),
        ("rf", Base::Rf),
        ("co", Base::Co),
        ("fr", Base::Fr),
    ];

    /// Whether it is communication.
    #[must_use]
    pub fn is_communication(self) -> bool {
        matches!(self, Base::Rf | Base::Co | Base::Fr)
    }

    /// Its pairs, if it is not communication.
    #[must_use]
    pub fn of(self, structure: &Structure) -> Option<Relation> {
        let events = &structure.events;
        let of_thread = |a: usize, b: usize| {
            a == b
                || events[a].action != Action::Initial
                    && events[b].action != Action::Initial
                    && events[a].thread == events[b].thread
        };
        let new = |has: &dyn Fn(usize, usize) -> bool| Some(Relation::new(events.len(), has));
        match self {
            Base::Po => Some(structure.po.clone()),
            Base::Addr => Some(structure.addr.clone()),
            Base::Data => Some(structure.data.clone()),
            Base::Ctrl => Some(structure.ctrl.clone()),
            Base::Amo => Some(structure.amo.clone()),
            Base::Lxsx => Some(structure.lxsx.clone()),
            Base::Atomic => Some(structure.atomic.clone()),
            Base::Loc => new(&|a, b| events[a].location.is_some() && events[a].location == events[b].location),
            Base::Int => new(&of_thread),
            Base::Ext => new(&|a, b| !of_thread(a, b)),
            Base::Id => new(&|a, b| a == b),
            Base::Rf | Base::Co | Base::Fr => None,
        }
    }
}

/// The names of orders by which a text is known to be of C11.
pub const OF_C11: [&str; 5] = ["RLX", "ACQ", "REL", "ACQ_REL", "CON"];

/// The name under which `A` is looked up in a text of C11.
pub const ATOMIC_OF_C11: &str = "A of C11";

fn is_partial(event: &Event, kind: PartialFence) -> bool {
    event.action == Action::PartialFence(kind)
}

fn is_between(event: &Event, before: Accesses, after: Accesses) -> bool {
    PartialFence::between(before, after).map_or(event.action == Action::Fence, |kind| is_partial(event, kind))
}

/// Whether it is of an instruction that is indivisible and a full fence.
fn is_fenced(event: &Event) -> bool {
    event.atomicity == Atomicity::Fenced && !event.is_fence()
}

fn is_access(event: &Event) -> bool {
    !event.is_fence()
}

/// Whether it is an atomic access of C11.
fn is_of_c11(event: &Event) -> bool {
    is_access(event) && event.action != Action::Initial && (event.is_atomic() || !event.marks.is_empty())
}

fn is_seq_cst(event: &Event) -> bool {
    is_access(event) && (event.marks.has(Marks::SC) || is_fenced(event))
}

fn is_acquire(event: &Event) -> bool {
    event.is_read() && event.marks.has(Marks::ACQUIRE)
}

fn is_release(event: &Event) -> bool {
    event.is_write() && event.marks.has(Marks::RELEASE)
}

/// Whether it is of an indivisible instruction, or of one of an exclusive pair, that RISC-V marks with both. (Of
/// another instruction with both marks one is for its read, the other for its write.)
fn is_acquire_release(event: &Event) -> bool {
    let is_one = event.is_atomic() || is_access(event) && event.marks.has(Marks::EXCLUSIVE);
    is_one && event.marks.has(Marks::ACQUIRE.and(Marks::RELEASE))
}

const fn set(names: &'static [&'static str], has: fn(&Event) -> bool) -> BaseSet {
    BaseSet { names, has }
}

/// All base sets but `_`.
pub static SETS: [BaseSet; 44] = [
    set(&["M"], is_access),
    set(&["R"], Event::is_read),
    set(&["W"], Event::is_write),
    set(&["F"], Event::is_fence),
    set(&["IW"], |event| event.action == Action::Initial),
    set(&["A"], |event| is_acquire(event) || event.is_read() && event.marks.has(Marks::SC) || is_fenced(event)),
    set(&["Q"], |event| event.is_read() && event.marks.has(Marks::ACQUIRE_PC)),
    set(&["L"], |event| is_release(event) || event.is_write() && event.marks.has(Marks::SC) || is_fenced(event)),
    set(&["X"], |event| is_access(event) && event.marks.has(Marks::EXCLUSIVE)),
    set(&["AMO"], Event::is_atomic),
    set(&["RMW"], |event| event.is_atomic() || is_access(event) && event.marks.has(Marks::EXCLUSIVE)),
    set(&["Acq"], |event| is_acquire(event) || event.is_read() && event.marks.has(Marks::ACQUIRE_PC)),
    set(&["Rel"], is_release),
    set(&["AcqRel"], is_acquire_release),
    set(&["Sc"], is_seq_cst),
    set(&[ATOMIC_OF_C11], is_of_c11),
    set(&["NA"], |event| is_access(event) && !is_of_c11(event)),
    set(&["NAL", "UB", "CON"], |_| false),
    set(&["SC"], |event| is_seq_cst(event) || event.action == Action::Fence),
    set(&["ACQ"], |event| {
        is_acquire(event) && !is_seq_cst(event)
            || is_partial(event, PartialFence::Acquire)
            || event.is_read() && event.marks.has(Marks::ACQUIRE_PC)
    }),
    set(&["REL"], |event| is_release(event) && !is_seq_cst(event) || is_partial(event, PartialFence::Release)),
    set(&["ACQ_REL"], |event| is_partial(event, PartialFence::AcquireRelease)),
    set(&["RLX"], |event| {
        let is_acquire_pc = event.is_read() && event.marks.has(Marks::ACQUIRE_PC);
        is_of_c11(event) && ![is_seq_cst(event), is_acquire(event), is_release(event), is_acquire_pc].contains(&true)
    }),
    set(&["SYNC", "sync", "MFENCE", "mfence"], |event| event.action == Action::Fence),
    set(&["DMB", "DMB.SY", "DMB.ISH", "DMB.OSH"], |event| event.action == Action::Fence),
    set(&["DSB", "DSB.SY", "DSB.ISH", "DSB.OSH"], |_| false),
    set(&["DSB.LD", "DSB.ISHLD", "DSB.OSHLD", "DSB.ST", "DSB.ISHST", "DSB.OSHST"], |_| false),
    set(&["LWSYNC", "lwsync", "Fence.tso"], |event| is_partial(event, PartialFence::Lightweight)),
    set(&["EIEIO", "eieio", "SFENCE", "sfence"], |event| is_partial(event, PartialFence::Stores)),
    set(&["DMB.ST", "DMB.ISHST", "DMB.OSHST"], |event| is_partial(event, PartialFence::Stores)),
    set(&["DMB.LD", "DMB.ISHLD", "DMB.OSHLD"], |event| is_partial(event, PartialFence::Loads)),
    set(&["LFENCE", "lfence"], |event| is_partial(event, PartialFence::Loads)),
    set(&["ISYNC", "isync", "ISB", "isb", "Fence.i"], |event| is_partial(event, PartialFence::Control)),
    set(&["Fence.r.r"], |event| is_between(event, Accesses::Reads, Accesses::Reads)),
    set(&["Fence.r.w"], |event| is_between(event, Accesses::Reads, Accesses::Writes)),
    set(&["Fence.r.rw"], |event| is_between(event, Accesses::Reads, Accesses::All)),
    set(&["Fence.w.r"], |event| is_between(event, Accesses::Writes, Accesses::Reads)),
    set(&["Fence.w.w"], |event| is_between(event, Accesses::Writes, Accesses::Writes)),
    set(&["Fence.w.rw"], |event| is_between(event, Accesses::Writes, Accesses::All)),
    set(&["Fence.rw.r"], |event| is_between(event, Accesses::All, Accesses::Reads)),
    set(&["Fence.rw.w"], |event| is_between(event, Accesses::All, Accesses::Writes)),
    set(&["Fence.rw.rw"], |event| is_between(event, Accesses::All, Accesses::All)),
    set(&["T"], |_| true),
    set(&["emptyset"], |_| false),
];

/// The base set of a name.
#[must_use]
pub fn base_set(name: &str) -> Option<usize> {
    SETS.iter().position(|set| set.names.contains(&name))
}
