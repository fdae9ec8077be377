//! What a trace consists of: accesses, with all that orders them.

use crate::ids::{InstrAt, LocationAt};
use crate::memory::cat::execution::Atomicity;
use crate::program::{Marks, PartialFence};
use std::collections::BTreeSet;

/// Positions of reads in a trace.
pub type Sources = BTreeSet<usize>;

/// Read or write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AccessKind {
    /// A read.
    Read,
    /// A write.
    Write,
}

/// A fence that a thread passes.
#[derive(Clone, Debug)]
pub struct Fence {
    /// What it orders, if that is not all.
    pub partial: Option<PartialFence>,
    /// How many accesses of the trace come before it.
    pub place: usize,
    /// The reads that conditions before it derive from.
    pub ctrl: Sources,
}

/// One access of a thread.
#[derive(Clone, Debug)]
pub struct Access {
    /// Read or write.
    pub kind: AccessKind,
    /// What is accessed.
    pub location: LocationAt,
    /// The value that is read or written.
    pub value: i64,
    /// Which instruction of the trace makes it, counted along the trace.
    pub step: usize,
    /// That instruction.
    pub instruction: InstrAt,
    /// Whether that instruction is indivisible.
    pub atomicity: Atomicity,
    /// The marks of that instruction.
    pub marks: Marks,
    /// The accesses of the same instruction that come before it.
    pub before: Sources,
    /// The reads that its address derives from.
    pub addr: Sources,
    /// The reads that the written value derives from.
    pub data: Sources,
    /// The reads that conditions before it derive from.
    pub ctrl: Sources,
}

/// The accesses that come before an access, directly or not.
pub(super) fn closure(accesses: &[Access], access: usize) -> Sources {
    let mut found = Sources::new();
    let mut open = vec![access];
    while let Some(next) = open.pop() {
        open.extend(accesses[next].before.iter().filter(|&&earlier| found.insert(earlier)));
    }
    found
}
