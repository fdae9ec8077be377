//! The chain search (method §5).
//!
//! Take a path of instructions of one thread from access `a` to access `b`. Rewriting the path by the model's swaps
//! is a partial commutation, so b can be moved before a iff there is **no chain** `a = y0, y1, …, ym = b` of accesses
//! along the path, in order, with `preserved(y_i, y_{i+1})` for each step. The search walks the paths from `a` and
//! keeps, instead of the path, what decides about its future: which accesses the chains have reached, which locals
//! carry a value read by them, and which reads of them a condition has used.
//!
//! *State.* A reached access only matters by its kind and location, a tainted local by the locations whose value it
//! carries, a condition by the locations it used. So a [`Reached`] is a set of bits, and a smaller set can only find
//! more unsafe accesses: of two states at one label, the one that includes the other is dropped (an antichain per
//! label). The search is exact: the abstraction forgets nothing that `preserved` asks.
//!
//! *Within an evaluation* the chain follows the instruction's own order only; events that are not ordered do not
//! reach each other. A barrier (fence, atomic or locked instruction) reaches everything after it, so the search stops
//! there.
//!
//! *Cost.* The number of states is the number of labels times the width of the antichains: 1 under TSO, where the
//! location of a reached write makes no difference, small in practice under the others; exponential in the number of
//! locations in the worst case.

use super::synchronisation::Synchronisation;
use crate::aeg::{AbstractEventGraph, Evaluation, Event, Sources};
use crate::ids::{LabelId, LocalId, LocationId, VertexId};
use crate::memory::{Dependencies, FenceStrength, Guarantee, Kind, MemoryModel, Pair};
use crate::outline::Site;
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;
use std::ops::ControlFlow;

/// A search over the paths of a thread, under a memory model and with what is in place.
pub struct ChainSearch<'a> {
    graph: &'a AbstractEventGraph,
    model: &'a MemoryModel,
    in_place: &'a Synchronisation,
    /// Whether any row of the table asks for dependencies; if not, taint and control are not tracked.
    tracks_dependencies: bool,
}

/// What a search meets on a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meeting {
    /// An access that can be moved before the first one (or, where only open paths are asked for, any access after it).
    Access {
        /// Its vertex.
        vertex: VertexId,
        /// Its event, by position in the last label of the path.
        event: usize,
    },
    /// A fence in place, which ends the path.
    Fence(Site),
}

/// How the search came to a place: the labels of the path, in order.
pub struct Trail<'t> {
    pub(super) steps: &'t [TrailStep],
    pub(super) last: usize,
}

pub(super) struct TrailStep {
    pub(super) label: LabelId,
    pub(super) from: From,
}

/// Where a step of a trail comes from.
#[derive(Clone, Copy)]
pub(super) enum From {
    /// The path begins with this event of its label.
    Event(usize),
    /// Another step.
    Step(usize),
}

impl Trail<'_> {
    /// The label of the last access.
    #[must_use]
    pub fn last_label(&self) -> LabelId {
        self.steps[self.last].label
    }

    /// The event that the path begins with, by position in the first label, and the labels.
    #[must_use]
    pub fn start_and_labels(&self) -> (usize, Vec<LabelId>) {
        let mut labels = Vec::new();
        let mut at = self.last;
        let start = loop {
            labels.push(self.steps[at].label);
            match self.steps[at].from {
                From::Step(before) => at = before,
                From::Event(event) => break event,
            }
        };
        labels.reverse();
        (start, labels)
    }
}

impl<'a> ChainSearch<'a> {
    /// Prepares a search.
    #[must_use]
    pub fn new(graph: &'a AbstractEventGraph, model: &'a MemoryModel, in_place: &'a Synchronisation) -> Self {
        let tracks_dependencies =
            Pair::all().any(|pair| matches!(model.preserved.guarantee(pair), Guarantee::OnlyIf(_)));
        ChainSearch { graph, model, in_place, tracks_dependencies }
    }

    /// Walks all paths from `a`, the shortest first, and reports every access that no chain reaches, and every fence
    /// that ends a path, with the path; both can be reported several times.
    pub fn explore(&self, a: VertexId, report: &mut dyn FnMut(Meeting, &Trail<'_>) -> ControlFlow<()>) {
        let mut steps: Vec<TrailStep> = Vec::new();
        let mut queue: Vec<(usize, Reached)> = Vec::new();
        let mut seen: FxHashMap<LabelId, Vec<Reached>> = FxHashMap::default();
        for &(label, position) in self.graph.occurrences(a) {
            let evaluation = self.graph.evaluation(label);
            if self.in_place.is_barrier(evaluation) {
                continue;
            }
            steps.push(TrailStep { label, from: From::Event(position) });
            let trail = Trail { steps: &steps, last: steps.len() - 1 };
            match self.pass(evaluation, &self.nothing(), Start::At(position), &mut |met| report(met, &trail)) {
                ControlFlow::Break(()) => return,
                ControlFlow::Continue(Some(reached)) => queue.push((steps.len() - 1, reached)),
                ControlFlow::Continue(None) => {}
            }
        }
        let mut next = 0;
        while next < queue.len() && !self.graph.budget.is_over() {
            let step = queue[next].0;
            for &label in &self.graph.evaluation(steps[step].label).successors {
                let evaluation = self.graph.evaluation(label);
                if self.in_place.is_barrier(evaluation) {
                    continue;
                }
                let reached = &queue[next].1;
                let seen = seen.entry(label).or_default();
                if seen.iter().any(|smaller| smaller.is_subset(reached)) {
                    continue;
                }
                seen.retain(|larger| !reached.is_subset(larger));
                seen.push(reached.clone());
                steps.push(TrailStep { label, from: From::Step(step) });
                let trail = Trail { steps: &steps, last: steps.len() - 1 };
                match self.pass(evaluation, reached, Start::Entry, &mut |met| report(met, &trail)) {
                    ControlFlow::Break(()) => return,
                    ControlFlow::Continue(Some(reached)) => queue.push((steps.len() - 1, reached)),
                    ControlFlow::Continue(None) => {}
                }
            }
            next += 1;
        }
    }

    fn nothing(&self) -> Reached {
        let locations = self.graph.locations.len();
        let carriers = if self.tracks_dependencies { 1 + self.graph.num_of_locals() } else { 0 };
        Reached { bits: FixedBitSet::with_capacity(locations * (2 + carriers)), locations }
    }

    /// Extends the chains over one evaluation; reports its events that they do not reach. Gives what is reached
    /// behind it, or nothing if every later access is reached anyway.
    fn pass(
        &self,
        evaluation: &Evaluation,
        reached: &Reached,
        start: Start,
        report: &mut dyn FnMut(Meeting) -> ControlFlow<()>,
    ) -> ControlFlow<(), Option<Reached>> {
        let before = Site::before(evaluation.instr);
        if matches!(start, Start::Entry) && self.in_place.has_fence(before, FenceStrength::Plain) {
            report(Meeting::Fence(before))?;
            return ControlFlow::Continue(None);
        }
        let (start_level, in_chain_at_start) = match start {
            Start::Entry => (0, None),
            Start::At(position) => (evaluation.events[position].level, Some(position)),
        };
        let fence = self.in_place.first_fence_inside(evaluation, start_level, FenceStrength::Plain);
        let mut in_chain = vec![false; evaluation.events.len()];
        for (position, event) in evaluation.events.iter().enumerate() {
            let on_path = match in_chain_at_start {
                None => true,
                Some(first) if first == position => {
                    in_chain[position] = true;
                    continue;
                }
                Some(first) => event.before.contains(&first),
            };
            if !on_path || fence.is_some_and(|level| event.level >= level) {
                continue;
            }
            in_chain[position] = self.reaches(reached, evaluation, &in_chain, event);
            // Nothing comes between the accesses of an atomic instruction, whatever it orders.
            let is_inside = in_chain_at_start.is_some() && evaluation.is_whole();
            if !in_chain[position] && !is_inside {
                report(Meeting::Access { vertex: event.vertex, event: position })?;
            }
        }
        let inside = fence.map(|level| Site::inside(evaluation.instr, level));
        let behind = || self.in_place.fence_behind(self.graph, evaluation.instr, FenceStrength::Plain);
        if let Some(fence) = inside.or_else(behind) {
            report(Meeting::Fence(fence))?;
            return ControlFlow::Continue(None);
        }
        ControlFlow::Continue(self.behind(evaluation, reached, &in_chain))
    }

    /// Is there a preserved step from a reached access to this event?
    fn reaches(&self, reached: &Reached, evaluation: &Evaluation, in_chain: &[bool], event: &Event) -> bool {
        let later = self.graph.vertex(event.vertex);
        let from_earlier_instruction = [Kind::Read, Kind::Write].into_iter().any(|kind| {
            reached.accesses(kind).any(|location| {
                let pair = Pair {
                    first: kind,
                    second: later.kind,
                    same_location: location == later.location && !later.is_vague,
                };
                match self.model.preserved.guarantee(pair) {
                    Guarantee::Always => true,
                    Guarantee::Never => false,
                    Guarantee::OnlyIf(_) if kind == Kind::Write => false,
                    guarantee => guarantee.holds(carried(reached, event, location)),
                }
            })
        });
        from_earlier_instruction
            || event.before.iter().filter(|&&earlier| in_chain[earlier]).any(|&earlier| {
                let pair = self.graph.vertex(evaluation.events[earlier].vertex).pair_with(later);
                self.model.preserved(pair, direct(event, earlier))
            })
    }

    /// What is reached behind the evaluation; nothing if a reached access keeps its order with everything later.
    fn behind(&self, evaluation: &Evaluation, reached: &Reached, in_chain: &[bool]) -> Option<Reached> {
        let mut behind = reached.clone();
        for (event, _) in evaluation.events.iter().zip(in_chain).filter(|(_, in_chain)| **in_chain) {
            let vertex = self.graph.vertex(event.vertex);
            if self.model.is_absorbing(vertex.kind) {
                return None;
            }
            // Where the location makes no difference, one stands for all: fewer sets to keep apart.
            let blind = self.model.is_location_blind(vertex.kind);
            behind.insert(vertex.kind, if blind { LocationId(0) } else { vertex.location });
        }
        if self.tracks_dependencies {
            let locations_of = |sources: &Sources| {
                let mut carried = reached.carried_by_any(&sources.locals);
                for &position in sources.events.iter().filter(|&&position| in_chain[position]) {
                    carried.insert(self.graph.vertex(evaluation.events[position].vertex).location.index());
                }
                carried
            };
            behind.add_control(&locations_of(&evaluation.condition));
            for update in &evaluation.locals {
                behind.set_taint(update.local, &locations_of(&update.value));
            }
        }
        Some(behind)
    }
}

/// Where on an evaluation a path begins.
#[derive(Clone, Copy)]
enum Start {
    /// It enters the evaluation.
    Entry,
    /// It starts with this event of it.
    At(usize),
}

/// How the event depends on a read of `location` that the chains reached in an earlier instruction.
fn carried(reached: &Reached, event: &Event, location: LocationId) -> Dependencies {
    let tainted = |locals: &[LocalId]| locals.iter().any(|&local| reached.is_tainted(local, location));
    let mut dependencies = Dependencies::NONE;
    if tainted(&event.address.locals) {
        dependencies = dependencies.union(Dependencies::ADDR);
    }
    if tainted(&event.data.locals) {
        dependencies = dependencies.union(Dependencies::DATA);
    }
    if reached.is_control(location) || tainted(&event.control.locals) {
        dependencies = dependencies.union(Dependencies::CTRL);
    }
    dependencies
}

/// How the event depends on an earlier event of the same evaluation.
fn direct(event: &Event, earlier: usize) -> Dependencies {
    let mut dependencies = Dependencies::NONE;
    for (sources, kind) in
        [(&event.address, Dependencies::ADDR), (&event.data, Dependencies::DATA), (&event.control, Dependencies::CTRL)]
    {
        if sources.events.contains(&earlier) {
            dependencies = dependencies.union(kind);
        }
    }
    dependencies
}

/// What the chains have reached: rows of bits over locations. Row 0 the reads, row 1 the writes, row 2 what conditions
/// used, the others what each local carries.
#[derive(Clone)]
struct Reached {
    bits: FixedBitSet,
    locations: usize,
}

impl Reached {
    const CONTROL: usize = 2;

    fn is_subset(&self, other: &Reached) -> bool {
        self.bits.is_subset(&other.bits)
    }

    fn row(&self, row: usize) -> impl Iterator<Item = usize> + '_ {
        let begin = row * self.locations;
        (begin..begin + self.locations).filter(|&bit| self.bits.contains(bit)).map(move |bit| bit - begin)
    }

    fn kind_row(kind: Kind) -> usize {
        usize::from(kind == Kind::Write)
    }

    fn taint_row(local: LocalId) -> usize {
        Self::CONTROL + 1 + local.index()
    }

    fn accesses(&self, kind: Kind) -> impl Iterator<Item = LocationId> + '_ {
        self.row(Self::kind_row(kind)).map(LocationId::new)
    }

    fn insert(&mut self, kind: Kind, location: LocationId) {
        self.bits.insert(Self::kind_row(kind) * self.locations + location.index());
    }

    fn is_control(&self, location: LocationId) -> bool {
        self.bits.contains(Self::CONTROL * self.locations + location.index())
    }

    fn is_tainted(&self, local: LocalId, location: LocationId) -> bool {
        self.bits.contains(Self::taint_row(local) * self.locations + location.index())
    }

    fn carried_by_any(&self, locals: &[LocalId]) -> FixedBitSet {
        let mut carried = FixedBitSet::with_capacity(self.locations);
        for &local in locals {
            carried.extend(self.row(Self::taint_row(local)));
        }
        carried
    }

    fn add_control(&mut self, locations: &FixedBitSet) {
        let begin = Self::CONTROL * self.locations;
        self.bits.extend(locations.ones().map(|location| begin + location));
    }

    fn set_taint(&mut self, local: LocalId, locations: &FixedBitSet) {
        let begin = Self::taint_row(local) * self.locations;
        self.bits.set_range(begin..begin + self.locations, false);
        self.bits.extend(locations.ones().map(|location| begin + location));
    }
}
