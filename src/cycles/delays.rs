//! What must be enforced: delays, cumulative delays, torn instructions (method §6, §7, §8).
//!
//! A cycle is impossible only when *none* of its parts is unsafe, so every unsafe part of every critical cycle must
//! be enforced:
//!
//! - a **delay** is an unsafe pair (a, b) that is the entry→exit part of some critical cycle;
//! - under a model that is not store-atomic, a pair (r, b) whose entry r is a read is a **cumulative delay** if it is
//!   part of some critical cycle: the conflict edge into r is unsafe, and only an A-cumulative fence between r and b
//!   makes up for it, even if (r, b) itself is preserved;
//! - with atomicity checking, an instruction is **torn** if a critical cycle moves between two of its accesses
//!   against its own order.
//!
//! Torn instructions are found first and locked; delays are computed with the locks in place.
//!
//! *Which conflicts count* is decided pair by pair ([`ConflictRule::Auto`], method §6): what matters is the access
//! that is executed early. While a thread has only read early, the others still run on a memory that SC reaches too,
//! and every conflict of the cycle can be seen in an SC state; once it has written early, they do not.

use super::atomicity::Atomicity;
use super::graph::{CycleGraph, Sideways, TornScope, sideways_moves};
use super::listing::{CycleList, Listing, Phase, findings_by_enumeration, list};
use super::outside::Outside;
use super::search::shortest_cycles;
use super::witness::Cycle;
use crate::aeg::{AbstractEventGraph, Conflicts, ProgramOrder};
use crate::ids::{InstrId, ThreadId, VertexId};
use crate::memory::{Kind, MemoryModel};
use crate::safety::chain::Meeting;
use crate::safety::open::explore_open;
use crate::safety::{Synchronisation, UnsafePairs};
use fixedbitset::FixedBitSet;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

/// Which conflict relation cycles are searched over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConflictRule {
    /// Chosen for each pair: see the module's page.
    Auto,
    /// Only conflicts between accesses that can be enabled together (the paper's).
    Concurrent,
    /// All conflicts between accesses that occur.
    Reachable,
}

/// A pair that must be enforced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delay {
    /// The access that comes first in program order.
    pub from: VertexId,
    /// The access that must not overtake it.
    pub to: VertexId,
    /// Some path from `from` to `to` is unsafe.
    pub is_unsafe: bool,
    /// A cumulative fence is needed between them.
    pub cumulative: bool,
    /// A shortest critical cycle that the pair is part of; the pair is its first segment.
    pub witness: Cycle,
}

/// An instruction that can be torn, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Torn {
    /// The instruction.
    pub instr: InstrId,
    /// A shortest critical cycle that moves sideways in it, in its first segment.
    pub witness: Cycle,
}

/// Everything the search for cycles found under one memory model.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// Torn instructions, in the order of the program.
    pub torn: Vec<Torn>,
    /// Delays with the torn instructions locked, in the order of the program.
    pub delays: Vec<Delay>,
    /// What the delays were computed with: the torn instructions are locked, and those presumed to be atomic are as
    /// good as that.
    pub in_place: Synchronisation,
    /// The critical cycles, if they were asked for.
    pub cycles: Option<CycleList>,
    /// Number of unsafe pairs, with nothing in place.
    pub num_of_unsafe_pairs: usize,
    /// Number of concurrent conflicts, with nothing in place.
    pub num_of_concurrent_conflicts: usize,
    /// Number of reachable conflicts.
    pub num_of_reachable_conflicts: usize,
}

/// What a search needs to know besides the memory model.
pub struct Setting<'a> {
    /// The graph.
    pub graph: &'a AbstractEventGraph,
    /// Its program order.
    pub order: &'a ProgramOrder,
    /// Its reachable conflicts.
    pub reachable: &'a Conflicts,
    /// Which conflicts count.
    pub rule: ConflictRule,
    /// How instructions with several accesses are read.
    pub atomicity: Atomicity,
    /// How many cycles to list.
    pub listing: Listing,
}

/// Finds torn instructions, locks them, and finds the delays that are left.
#[must_use]
pub fn find(setting: &Setting<'_>, model: &MemoryModel) -> Findings {
    let presumed = match setting.atomicity {
        Atomicity::Presumed => setting.graph.composites().into_iter().collect(),
        Atomicity::Full | Atomicity::Updates | Atomicity::Split => BTreeSet::new(),
    };
    let given = Synchronisation { locked: presumed, ..Synchronisation::none() };
    let unsafe_pairs = UnsafePairs::new(setting.graph, model, &given);
    // The conflicts are those of the program as it stands: the paper computes them once, and locks only take some away.
    let concurrent = Conflicts::concurrent(setting.graph, |a| unsafe_pairs.of(a).clone());
    let num_of_unsafe_pairs = unsafe_pairs.num_of_pairs();
    let as_is = Relations { setting, model, concurrent: &concurrent, unsafe_pairs };
    let mut cycles = CycleList { cycles: Vec::new(), complete: true };
    let scope = match setting.atomicity {
        Atomicity::Full => Some(TornScope::All),
        Atomicity::Updates => Some(TornScope::Updates),
        Atomicity::Presumed | Atomicity::Split => None,
    };
    let torn = scope.map_or_else(Vec::new, |scope| {
        list(&as_is, &Phase::Torn(scope), setting.listing, &mut cycles);
        as_is.torn(scope)
    });
    let locked = torn.iter().map(|torn| torn.instr).chain(given.locked.iter().copied()).collect();
    let in_place = Synchronisation { locked, ..given };
    let repaired = if torn.is_empty() {
        as_is
    } else {
        Relations { unsafe_pairs: UnsafePairs::new(setting.graph, model, &in_place), ..as_is }
    };
    list(&repaired, &Phase::Repaired(&in_place), setting.listing, &mut cycles);
    let delays = repaired.delays(&in_place);
    Findings {
        torn,
        delays,
        in_place,
        cycles: (setting.listing != Listing::None).then_some(cycles),
        num_of_unsafe_pairs,
        num_of_concurrent_conflicts: concurrent.num_of_pairs(),
        num_of_reachable_conflicts: setting.reachable.num_of_pairs(),
    }
}

/// The relations that depend on the memory model and on what is in place.
pub(super) struct Relations<'a> {
    pub(super) setting: &'a Setting<'a>,
    model: &'a MemoryModel,
    concurrent: &'a Conflicts,
    pub(super) unsafe_pairs: UnsafePairs,
}

fn set_of(graph: &AbstractEventGraph, vertices: impl Iterator<Item = VertexId>) -> FixedBitSet {
    let mut set = FixedBitSet::with_capacity(graph.vertices.len());
    set.extend(vertices.map(VertexId::index));
    set
}

/// Up to how many cycles the debug build enumerates to check the search.
const CHECKED_CYCLES: usize = 20_000;

impl<'a> Relations<'a> {
    /// The relation over which the cycle of a pair is searched, by the kind of the access that is executed early.
    pub(super) fn conflicts_for(&self, early: Kind) -> &Conflicts {
        let concurrent = match self.setting.rule {
            ConflictRule::Concurrent => true,
            ConflictRule::Reachable => false,
            ConflictRule::Auto => early == Kind::Read && self.model.keeps_reads(),
        };
        if concurrent { self.concurrent } else { self.setting.reachable }
    }

    pub(super) fn cycle_graph(&self, early: Kind, sideways: Sideways<'_>) -> CycleGraph<'_> {
        CycleGraph::new(self.setting.graph, self.setting.order, self.conflicts_for(early), sideways)
    }

    /// For each read, the accesses after it without a barrier in between: the pairs that need a cumulative fence if
    /// they are on a critical cycle. None if stores are atomic.
    pub(super) fn open_pairs(&self, in_place: &Synchronisation) -> Vec<FixedBitSet> {
        let graph = self.setting.graph;
        let open_after = |a: VertexId| {
            let mut after = FixedBitSet::with_capacity(graph.vertices.len());
            if !self.model.store_atomic && graph.vertex(a).kind == Kind::Read {
                explore_open(graph, in_place, a, &mut |met, _| {
                    if let Meeting::Access { vertex, .. } = met {
                        after.insert(vertex.index());
                    }
                    ControlFlow::Continue(())
                });
            }
            after
        };
        graph.vertex_ids().map(open_after).collect()
    }

    /// For each exit of this kind, in the order of the program, the shortest cycles of the entries wanted with it.
    fn shortest_cycles(
        &self,
        cycles: &CycleGraph<'_>,
        early: Kind,
        wanted: &(dyn Fn(VertexId) -> FixedBitSet + Sync),
    ) -> Vec<(VertexId, BTreeMap<VertexId, Cycle>)> {
        let graph = self.setting.graph;
        let of_thread = |own: ThreadId| -> Vec<_> {
            let exits = cycles.of_thread[own.index()].ones().map(VertexId::new);
            let exits = exits.filter(|&b| graph.vertex(b).kind == early).map(|b| (b, wanted(b)));
            let exits: Vec<_> = exits.filter(|(_, wanted)| !wanted.is_clear()).collect();
            if exits.is_empty() || graph.budget.is_over() {
                return Vec::new();
            }
            let outside = Outside::new(cycles, own);
            let open = exits.into_par_iter().filter(|_| !graph.budget.is_over());
            open.map(|(b, wanted)| (b, shortest_cycles(&outside, b, &wanted))).collect()
        };
        let threads: Vec<ThreadId> = (0..graph.threads.len()).map(ThreadId::new).collect();
        threads.into_par_iter().flat_map(of_thread).collect()
    }

    fn delays(&self, in_place: &Synchronisation) -> Vec<Delay> {
        let graph = self.setting.graph;
        let open = self.open_pairs(in_place);
        let demands =
            |a: VertexId, b: VertexId| (self.unsafe_pairs.contains(a, b), open[a.index()].contains(b.index()));
        let mut delays: Vec<Delay> = Vec::new();
        for early in [Kind::Read, Kind::Write] {
            let cycles = self.cycle_graph(early, Sideways::Through(in_place));
            let wanted = |b: VertexId| {
                let entries = cycles.entries[b.index()].iter().filter(|&&a| demands(a, b) != (false, false));
                set_of(graph, entries.copied())
            };
            for (b, found) in self.shortest_cycles(&cycles, early, &wanted) {
                delays.extend(found.into_iter().map(|(a, witness)| {
                    let (is_unsafe, cumulative) = demands(a, b);
                    Delay { from: a, to: b, is_unsafe, cumulative, witness }
                }));
            }
        }
        delays.sort_by_key(|delay| (delay.from, delay.to));
        debug_assert!(self.agrees_on_delays(&delays, in_place), "search and enumeration give the same delays");
        delays
    }

    fn torn(&self, scope: TornScope) -> Vec<Torn> {
        let graph = self.setting.graph;
        let sideways = Sideways::Torn(scope);
        let mut entries: BTreeMap<VertexId, Vec<VertexId>> = BTreeMap::new();
        for (entry, exit) in sideways_moves(graph, sideways) {
            entries.entry(exit).or_default().push(entry);
        }
        let wanted = |b: VertexId| set_of(graph, entries.get(&b).into_iter().flatten().copied());
        let mut torn: BTreeMap<InstrId, Cycle> = BTreeMap::new();
        for early in [Kind::Read, Kind::Write] {
            let cycles = self.cycle_graph(early, sideways);
            for (b, found) in self.shortest_cycles(&cycles, early, &wanted) {
                for witness in found.into_values() {
                    let best = torn.entry(graph.vertex(b).instr).or_insert_with(|| witness.clone());
                    if witness.num_of_accesses() < best.num_of_accesses() {
                        *best = witness;
                    }
                }
            }
        }
        debug_assert!(
            graph.budget.exhausted().is_some()
                || findings_by_enumeration(self, &Phase::Torn(scope), CHECKED_CYCLES).is_none_or(|listed| listed
                    .torn
                    .iter()
                    .eq(torn.keys())
                    || graph.budget.exhausted().is_some()),
            "search and enumeration give the same torn instructions"
        );
        torn.into_iter().map(|(instr, witness)| Torn { instr, witness }).collect()
    }

    /// Whether the enumeration of all cycles, if there are not too many, gives the same delays.
    fn agrees_on_delays(&self, delays: &[Delay], in_place: &Synchronisation) -> bool {
        let listed = findings_by_enumeration(self, &Phase::Repaired(in_place), CHECKED_CYCLES);
        // Of two searches that were cut off either may have found more.
        let Some(listed) = listed.filter(|_| self.setting.graph.budget.exhausted().is_none()) else { return true };
        let pairs = |asks: fn(&Delay) -> bool| -> BTreeSet<(VertexId, VertexId)> {
            delays.iter().filter(|delay| asks(delay)).map(|delay| (delay.from, delay.to)).collect()
        };
        listed.delays == pairs(|delay| delay.is_unsafe) && listed.cumulative_delays == pairs(|delay| delay.cumulative)
    }
}
