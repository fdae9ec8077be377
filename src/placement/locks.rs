//! Locks for torn instructions: which instructions take which lock (method §8).
//!
//! A lock only excludes those who also take it. So besides the torn instructions their *partners* take it: the
//! instructions of other threads that conflict with them. Locations of one torn instruction are under one lock, and
//! so are the locations of torn instructions that share one: a lock is a connected group of locations. A partner of
//! several groups takes their locks in the order of their numbers, which is the same for all: no deadlock.

use crate::aeg::AbstractEventGraph;
use crate::ids::{InstrId, LocationId, VertexId};
use std::collections::{BTreeMap, BTreeSet};

/// Why an instruction takes a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// It can be torn, and it writes.
    TornUpdate,
    /// It can be torn, and it is only a condition.
    TornCondition,
    /// It conflicts with a torn instruction of another thread.
    Partner,
}

impl Role {
    /// As `locks.csv` writes it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Role::TornUpdate => "torn-update",
            Role::TornCondition => "torn-condition",
            Role::Partner => "partner",
        }
    }
}

/// A lock: the locations under it, and who takes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lock {
    /// The locations that it protects.
    pub locations: BTreeSet<LocationId>,
    /// The instructions that take it, and why.
    pub users: BTreeMap<InstrId, Role>,
}

/// The locks for these torn instructions, in the order in which they are to be acquired.
#[must_use]
pub fn lock_groups(graph: &AbstractEventGraph, torn: &BTreeSet<InstrId>) -> Vec<Lock> {
    let accesses = accesses_of(graph);
    let locations_of = |instr: InstrId| -> BTreeSet<LocationId> {
        accesses[instr.index()].iter().map(|&vertex| graph.vertex(vertex).location).collect()
    };
    let mut locks: Vec<Lock> = Vec::new();
    for &instr in torn {
        let mut lock = Lock { locations: locations_of(instr), users: BTreeMap::new() };
        let role = if graph.instruction(instr).update { Role::TornUpdate } else { Role::TornCondition };
        lock.users.insert(instr, role);
        let (touching, apart): (Vec<Lock>, Vec<Lock>) =
            locks.into_iter().partition(|other| !other.locations.is_disjoint(&lock.locations));
        for other in touching {
            lock.locations.extend(other.locations);
            lock.users.extend(other.users);
        }
        locks = apart;
        locks.push(lock);
    }
    for lock in &mut locks {
        let torn_accesses: Vec<VertexId> =
            lock.users.keys().flat_map(|instr| accesses[instr.index()].iter().copied()).collect();
        for other in graph.vertex_ids() {
            let partner = torn_accesses.iter().any(|&access| graph.vertex(access).conflicts_with(graph.vertex(other)));
            if partner {
                lock.users.entry(graph.vertex(other).instr).or_insert(Role::Partner);
            }
        }
    }
    locks.sort_by(|a, b| a.locations.cmp(&b.locations));
    locks
}

fn accesses_of(graph: &AbstractEventGraph) -> Vec<Vec<VertexId>> {
    let mut accesses = vec![Vec::new(); graph.instructions.len()];
    for vertex in graph.vertex_ids() {
        accesses[graph.vertex(vertex).instr.index()].push(vertex);
    }
    accesses
}
