//! The weakest links between an access and all that program order has after it.
//!
//! A walk over the paths of a thread from an access, as in the [chain search](crate::safety::chain), but for no memory
//! model: it keeps the fences passed, what conditions have used, and which locals carry the value of the first access,
//! or of a read whose address depends on it. Of two states at one label, one that has at least the facts of the other
//! is dropped: whatever comes later, its links are no weaker.
//!
//! *What is left out.* Accesses between that are not on the cycle order nothing here, but for reads that an address
//! dependency joins to the first access. To leave something out is safe: a weaker link is one of more executions.
//!
//! *Cost.* Labels times the width of the antichains, for each access; the width is bounded by the number of sets of
//! fences on the way, and is small in practice.

use super::elements::InPlace;
use super::link::{Dependency, Link, On, keep_weakest};
use crate::aeg::{AbstractEventGraph, Evaluation, Event, Sources};
use crate::ids::{LabelId, VertexId};
use crate::lts::label::LabelKind;
use crate::memory::Kind;
use crate::ordering::PartialFence;
use crate::outline::Site;
use crate::safety::sites_between;
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// A path from an access to a later one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// The labels in order.
    pub labels: Vec<LabelId>,
    /// The first access, by position in the first label.
    pub from: usize,
    /// The last access, by position in the last label.
    pub to: usize,
}

impl Path {
    /// The sites that it crosses between the two accesses.
    #[must_use]
    pub fn sites(&self, graph: &AbstractEventGraph) -> BTreeSet<Site> {
        let evaluations: Vec<&Evaluation> = self.labels.iter().map(|&label| graph.evaluation(label)).collect();
        let level = |evaluation: Option<&&Evaluation>, event: usize| evaluation.map_or(0, |e| e.events[event].level);
        let (from, to) = (level(evaluations.first(), self.from), level(evaluations.last(), self.to));
        sites_between(graph, &evaluations, from, to)
    }
}

/// For each later access, the weakest links to it, each with a path.
pub type Links = BTreeMap<VertexId, Vec<(Link, Path)>>;

/// A state of the walk: facts of which more make links stronger.
#[derive(Clone)]
struct State {
    /// The fences passed, and what conditions have used.
    passed: Link,
    /// For each local whether it carries the value of the first access, then whether it carries that of a step.
    carried: FixedBitSet,
}

impl State {
    fn has(&self, other: &State) -> bool {
        self.passed.has(other.passed) && other.carried.is_subset(&self.carried)
    }
}

/// Where a step of a walk comes from.
struct Step {
    label: LabelId,
    before: Option<usize>,
}

/// The walk from one access.
struct Walk<'a> {
    graph: &'a AbstractEventGraph,
    in_place: &'a InPlace,
    steps: Vec<Step>,
    /// The first access, by position in the first label; of the path at hand.
    from: usize,
    links: Links,
}

/// The weakest links from an access with what is in place; those found until then if the budget is exhausted.
#[must_use]
pub fn links(graph: &AbstractEventGraph, in_place: &InPlace, a: VertexId) -> Links {
    let mut all = Links::new();
    for &(label, position) in graph.occurrences(a) {
        let walk = Walk { graph, in_place, steps: Vec::new(), from: position, links: Links::new() };
        for (to, found) in walk.walk_from(label) {
            let known = all.entry(to).or_default();
            for (link, path) in found {
                keep_weakest(known, link, || path);
            }
        }
    }
    all
}

/// The link of one path with what is in place.
#[must_use]
pub fn link(graph: &AbstractEventGraph, in_place: &InPlace, path: &Path) -> Link {
    let mut state = State::at_first(graph);
    let mut found = Vec::new();
    for (position, &label) in path.labels.iter().enumerate() {
        (state, found) = pass((graph, in_place), label, state, (position == 0).then_some(path.from));
    }
    found.iter().find(|(position, _)| *position == path.to).map_or(Link::NONE, |(_, link)| *link)
}

impl Walk<'_> {
    fn walk_from(mut self, first: LabelId) -> Links {
        self.steps.push(Step { label: first, before: None });
        let behind = self.pass(0, State::at_first(self.graph), Some(self.from));
        let mut queue = vec![(0, behind)];
        let mut seen: FxHashMap<LabelId, Vec<State>> = FxHashMap::default();
        let mut next = 0;
        while next < queue.len() && !self.graph.budget.is_over() {
            let (step, state) = queue[next].clone();
            for &label in &self.graph.evaluation(self.steps[step].label).successors {
                let seen = seen.entry(label).or_default();
                if seen.iter().any(|weaker| state.has(weaker)) {
                    continue;
                }
                seen.retain(|stronger| !stronger.has(&state));
                seen.push(state.clone());
                self.steps.push(Step { label, before: Some(step) });
                let at = self.steps.len() - 1;
                let behind = self.pass(at, state.clone(), None);
                queue.push((at, behind));
            }
            next += 1;
        }
        self.links
    }

    /// Goes over the evaluation of a step; notes the links to its events, and gives the state behind it.
    fn pass(&mut self, step: usize, state: State, start: Option<usize>) -> State {
        let label = self.steps[step].label;
        let (behind, found) = pass((self.graph, self.in_place), label, state, start);
        for (position, link) in found {
            let vertex = self.graph.evaluation(label).events[position].vertex;
            let mut known = self.links.remove(&vertex).unwrap_or_default();
            keep_weakest(&mut known, link, || self.path(step, position));
            self.links.insert(vertex, known);
        }
        behind
    }

    fn path(&self, step: usize, to: usize) -> Path {
        let mut labels = vec![self.steps[step].label];
        let mut at = step;
        while let Some(before) = self.steps[at].before {
            labels.push(self.steps[before].label);
            at = before;
        }
        labels.reverse();
        Path { labels, from: self.from, to }
    }
}

/// Goes over an evaluation, from its beginning or from one of its events: the state behind it, and the links to its
/// events, by position.
fn pass(
    (graph, in_place): (&AbstractEventGraph, &InPlace),
    label: LabelId,
    mut state: State,
    start: Option<usize>,
) -> (State, Vec<(usize, Link)>) {
    let evaluation = graph.evaluation(label);
    let instr = evaluation.instr;
    if start.is_none() {
        state.passed |= in_place.fence(Site::before(instr));
    }
    if in_place.is_barrier(evaluation) {
        state.passed |= Link::FULL;
    }
    if let LabelKind::PartialFence(kind) = evaluation.kind {
        state.pass_partial_fence(kind);
    }
    let here = Here { evaluation, start, state: &state };
    let start_level = start.map_or(0, |first| evaluation.events[first].level);
    // The steps among the events: reads whose addresses depend on the first access.
    let mut is_step = vec![false; evaluation.events.len()];
    let mut precedes = vec![false; evaluation.events.len()];
    let mut found: Vec<(usize, Link)> = Vec::new();
    for (position, event) in evaluation.events.iter().enumerate() {
        if start.is_some_and(|first| !event.before.contains(&first)) {
            continue;
        }
        let mut link = state.passed;
        for level in start_level + 1..=event.level {
            link |= in_place.fence(Site::inside(instr, level));
        }
        link |= here.dependencies(event, &is_step);
        if event.before.iter().any(|&earlier| precedes[earlier]) {
            link |= Link::PRECEDED;
        }
        let by_address = [On::First, On::Step].map(|on| Link::dependency(on, Dependency::Address));
        precedes[position] = by_address.into_iter().any(|dependency| link.has(dependency));
        is_step[position] = precedes[position] && graph.vertex(event.vertex).kind == Kind::Read;
        found.push((position, link));
    }
    let mut behind = here.behind(&is_step, precedes.contains(&true));
    for level in start_level + 1..=evaluation.last_level() {
        behind.passed |= in_place.fence(Site::inside(instr, level));
    }
    behind.passed |= in_place.fence(Site::after(instr));
    if let Some(site) = graph.outline.site_behind(instr) {
        behind.passed |= in_place.fence(site);
    }
    (behind, found)
}

impl State {
    fn at_first(graph: &AbstractEventGraph) -> State {
        State { passed: Link::NONE, carried: FixedBitSet::with_capacity(2 * graph.num_of_locals()) }
    }

    /// A control fence makes what conditions have used count for reads, too; others are just passed.
    fn pass_partial_fence(&mut self, kind: PartialFence) {
        self.passed |= Link::fence(kind);
        if kind == PartialFence::Control {
            for on in [On::First, On::Step] {
                if self.passed.has(Link::dependency(on, Dependency::Control)) {
                    self.passed |= Link::dependency(on, Dependency::ControlFence);
                }
            }
        }
    }

    /// Whether one of the locals carries what is asked for.
    fn carries(&self, sources: &Sources, on: On) -> bool {
        sources.locals.iter().any(|local| self.carried.contains(2 * local.index() + on as usize))
    }
}

/// An evaluation that is passed, from its beginning or from an event of it.
struct Here<'h> {
    evaluation: &'h Evaluation,
    start: Option<usize>,
    state: &'h State,
}

impl Here<'_> {
    /// Whether a value comes from the first access, or from a step.
    fn derives(&self, sources: &Sources, is_step: &[bool], on: On) -> bool {
        let is_source = |&event: &usize| match on {
            On::First => self.start == Some(event),
            On::Step => is_step[event],
        };
        self.state.carries(sources, on) || sources.events.iter().any(is_source)
    }

    fn dependencies(&self, event: &Event, is_step: &[bool]) -> Link {
        let kinds = [
            (&event.address, Dependency::Address),
            (&event.data, Dependency::Data),
            (&event.control, Dependency::Control),
        ];
        let mut link = Link::NONE;
        for on in [On::First, On::Step] {
            for (sources, kind) in kinds {
                if self.derives(sources, is_step, on) {
                    link |= Link::dependency(on, kind);
                }
            }
        }
        link
    }

    /// The state behind the evaluation, but for fences.
    fn behind(&self, is_step: &[bool], precedes: bool) -> State {
        let mut behind = self.state.clone();
        if precedes {
            behind.passed |= Link::PRECEDED;
        }
        for on in [On::First, On::Step] {
            if self.derives(&self.evaluation.condition, is_step, on) {
                behind.passed |= Link::dependency(on, Dependency::Control);
            }
            for update in &self.evaluation.locals {
                let carries = self.derives(&update.value, is_step, on);
                behind.carried.set(2 * update.local.index() + on as usize, carries);
            }
        }
        behind
    }
}
