//! Critical cycles, delays and torn instructions (method §7, §8).
//!
//! A critical cycle alternates, for k ≥ 2 distinct threads, an entry access and an exit access of each thread (equal,
//! or joined by a program-order path from entry to exit) with conflict edges from one thread's exit to the next one's
//! entry. Each thread occurs once, each location is visited by at most three accesses, which are consecutive, and at
//! least two locations are involved (unless an instruction is torn).
//!
//! What must be enforced is a set of pairs, not of cycles. [`search`] decides for a pair whether it is the entry→exit
//! part of some critical cycle, without listing cycles; [`enumerate`] and [`listing`] list them, one after the other.
//! [`delays`] asks the questions: which unsafe pairs are delays, which pairs need a cumulative fence, which
//! instructions are torn.

mod atomicity;
pub mod delays;
pub mod enumerate;
mod graph;
pub mod listing;
mod outside;
pub mod search;
mod witness;

pub use atomicity::Atomicity;
pub use delays::{ConflictRule, Delay, Findings, Setting, Torn, find};
#[cfg(feature = "internals")]
pub use graph::TornScope;
pub use graph::{CycleGraph, Sideways};
pub use listing::{CycleList, JudgedCycle, Listing, SegmentVerdict};
#[cfg(feature = "internals")]
pub use outside::Outside;
pub use witness::{Cycle, Edge, Segment, Step};
