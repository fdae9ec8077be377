//! Critical cycles for people: listed one after the other, and counted (`--cycles`); and the same delays by another
//! way.
//!
//! A listed cycle says of each of its segments what makes it a finding: it is a delay, a cumulative delay, or tears
//! an instruction. Under [`ConflictRule::Auto`](super::ConflictRule::Auto) a cycle can make one of its pairs a
//! finding and not another, because their conflicts are of different kinds.
//!
//! [`findings_by_enumeration`] collects what the cycles say; it must be what the search of [`delays`](super::delays)
//! says, and a debug assertion there holds the two against each other.

use super::delays::Relations;
use super::enumerate::for_each_cycle;
use super::graph::{Sideways, TornScope, sideways_moves};
use super::witness::Cycle;
use crate::ids::{InstrId, VertexId};
use crate::memory::Kind;
use crate::safety::Synchronisation;
use std::collections::BTreeSet;
use std::ops::ControlFlow;

/// What a segment of a cycle is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct SegmentVerdict {
    /// The pair is unsafe: a delay.
    pub is_unsafe: bool,
    /// The pair needs a cumulative fence.
    pub cumulative: bool,
    /// The segment tears its instruction.
    pub torn: bool,
}

impl SegmentVerdict {
    fn is_finding(self) -> bool {
        self.is_unsafe || self.cumulative || self.torn
    }
}

/// A cycle with a verdict for each segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JudgedCycle {
    /// The cycle.
    pub cycle: Cycle,
    /// One for each segment.
    pub verdicts: Vec<SegmentVerdict>,
}

impl JudgedCycle {
    /// Whether one of its segments is a finding.
    #[must_use]
    pub fn is_critical(&self) -> bool {
        self.verdicts.iter().any(|verdict| verdict.is_finding())
    }
}

/// How many critical cycles to list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listing {
    /// None: they are not even counted.
    None,
    /// At most this many.
    First(usize),
    /// All.
    All,
}

/// The critical cycles asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CycleList {
    /// The cycles, torn instructions first.
    pub cycles: Vec<JudgedCycle>,
    /// Whether these are all.
    pub complete: bool,
}

/// Lists the critical cycles of one phase after those already in the list.
pub(super) fn list(relations: &Relations<'_>, phase: &Phase<'_>, listing: Listing, into: &mut CycleList) {
    let limit = match listing {
        Listing::None => return,
        Listing::First(limit) => limit,
        Listing::All => usize::MAX,
    };
    let end = for_each_judged_cycle(relations, phase, &mut |judged| {
        if judged.is_critical() {
            if into.cycles.len() >= limit {
                return ControlFlow::Break(());
            }
            into.cycles.push(judged);
        }
        ControlFlow::Continue(())
    });
    into.complete &= end.is_continue();
}

/// Which moves are looked at.
pub(super) enum Phase<'a> {
    /// Instructions can be torn.
    Torn(TornScope),
    /// Torn instructions are locked.
    Repaired(&'a Synchronisation),
}

/// Calls `visit` for every cycle, critical or not.
fn for_each_judged_cycle(
    relations: &Relations<'_>,
    phase: &Phase<'_>,
    visit: &mut dyn FnMut(JudgedCycle) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let graph = relations.setting.graph;
    let (sideways, torn_moves, open) = match phase {
        Phase::Torn(scope) => (Sideways::Torn(*scope), sideways_moves(graph, Sideways::Torn(*scope)), None),
        Phase::Repaired(in_place) => {
            (Sideways::Through(in_place), BTreeSet::new(), Some(relations.open_pairs(in_place)))
        }
    };
    // The larger relation has the cycles of the smaller one; each cycle is then held against the relation of each pair.
    let cycles = relations.cycle_graph(Kind::Write, sideways);
    for_each_cycle(&cycles, &mut |cycle| {
        let verdicts: Vec<SegmentVerdict> = cycle
            .segments
            .iter()
            .enumerate()
            .map(|(position, segment)| {
                let (a, b) = (segment.entry, segment.exit);
                let conflicts = relations.conflicts_for(graph.vertex(b).kind);
                if !cycle.is_move(position) || !cycle.conflict_edges().all(|(from, to)| conflicts.contains(from, to)) {
                    return SegmentVerdict::default();
                }
                match &open {
                    None => SegmentVerdict { torn: torn_moves.contains(&(a, b)), ..SegmentVerdict::default() },
                    Some(open) => SegmentVerdict {
                        is_unsafe: relations.unsafe_pairs.contains(a, b),
                        cumulative: open[a.index()].contains(b.index()),
                        torn: false,
                    },
                }
            })
            .collect();
        visit(JudgedCycle { cycle: cycle.clone(), verdicts })
    })
}

/// The pairs that are (unsafe, cumulative) delays, and the torn instructions, according to the list of cycles.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ByEnumeration {
    /// Unsafe pairs on a critical cycle.
    pub delays: BTreeSet<(VertexId, VertexId)>,
    /// Pairs that need a cumulative fence.
    pub cumulative_delays: BTreeSet<(VertexId, VertexId)>,
    /// Torn instructions.
    pub torn: BTreeSet<InstrId>,
}

/// Collects what the cycles say; nothing if there are more than `limit` of them, critical or not.
pub(super) fn findings_by_enumeration(
    relations: &Relations<'_>,
    phase: &Phase<'_>,
    limit: usize,
) -> Option<ByEnumeration> {
    let graph = relations.setting.graph;
    let mut found = ByEnumeration::default();
    let mut count = 0;
    let end = for_each_judged_cycle(relations, phase, &mut |judged| {
        for (segment, verdict) in judged.cycle.segments.iter().zip(&judged.verdicts) {
            let pair = (segment.entry, segment.exit);
            found.delays.extend(verdict.is_unsafe.then_some(pair));
            found.cumulative_delays.extend(verdict.cumulative.then_some(pair));
            found.torn.extend(verdict.torn.then_some(graph.vertex(pair.0).instr));
        }
        count += 1;
        if count < limit { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    end.is_continue().then_some(found)
}
