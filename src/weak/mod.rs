//! Programs under weak memory: what confirms a delay, and what verifies a repair (method §10, §11).
//!
//! Nothing here looks at the abstract event graph: these are independent, dumber pieces of code that hold its results
//! to account.
//!
//! | part | holds |
//! |---|---|
//! | [`split`] | instructions as accesses with the order that their dependencies ask for |
//! | `splitter` | how instructions become that |
//! | [`readiness`] | which of these accesses can be made now, and what that presumes |
//! | [`threads`] | what one thread can do next, whatever the memory is |
//! | [`system`] | all threads on one sequentially consistent memory, access by access or instruction by instruction |
//! | [`buffers`] | all threads on store buffers (TSO, PSO), and the states that they reach |
//! | [`happens_before`] | the happens-before relation of a run, as much of it as can still become cyclic |
//! | [`runs`] | all runs on store buffers with their happens-before relation |
//! | [`axiomatic`] | all executions of a program that the axioms of a model allow |
//! | [`by_rounds`] | are all executions that the axioms allow sequentially consistent, loops included? |
//! | [`semantics`] | which machine or which axioms run a memory model |
//! | [`attack`] | the exact search for a delayed pair without store buffers |
//! | [`facts`] | the facts of a program whose instructions are performed access by access |
//! | [`forbidden`] | is a state reached that is never to be? |
//! | [`torn`] | the exact search for a torn instruction |
//! | [`latest`] | the fence that a run calls for, as Linden's thesis puts them in |
//! | [`verify`] | is a program right under TSO or PSO? |
//! | [`visited`] | the states of a breadth-first search |
//! | [`ways`] | where a fence would stop a run |
//!
//! # What is a run?
//!
//! Every instruction is performed access by access, in any order that respects its dependencies (method §3, §8),
//! unless it is atomic. Each mention of a location is an access of its own, and those to one location, of which one
//! writes, keep the order of the text. An access does not wait for the index of another one to the same array, but if
//! it turns out that the text orders the two, there is no such run ([`readiness`]). A condition that does not hold
//! makes its reads and leaves the thread where it was.
//!
//! [`Granularity`] says what is compared with what. With [`Granularity::Accesses`] every access is an event, and the
//! program order of a run is the order in which a thread performs them. With [`Granularity::Instructions`] an
//! instruction is one event with all its accesses: torn instructions show up as cycles, too.

pub mod attack;
pub mod axiomatic;
pub mod buffers;
pub mod by_rounds;
pub mod facts;
pub mod forbidden;
pub mod happens_before;
pub mod latest;
mod liveness;
pub mod readiness;
pub mod runs;
pub mod semantics;
pub mod split;
mod splitter;
pub mod system;
pub mod threads;
pub mod torn;
pub mod unperformed;
pub mod verify;
pub mod visited;
pub mod ways;

/// What counts as one event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Granularity {
    /// Every access.
    Accesses,
    /// Every instruction, with all its accesses.
    Instructions,
}

/// Which machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Machine {
    /// Total store order: one first-in first-out store buffer for each thread.
    Tso,
    /// Partial store order: one for each thread and location.
    Pso,
}
