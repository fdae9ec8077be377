//! A cycle over given paths, with all accesses on them.
//!
//! A [link](super::link) forgets the accesses between. Where the paths of a cycle are few and without loops, the test
//! can have them all: every access on the paths, fences where they stand, dependencies as they flow through locals, and
//! what coherence says of accesses of one thread to one location. That tells apart what links cannot, such as an order
//! that goes through a write and a read of the thread's own.
//!
//! *Reads between.* Where a read comes from is not known, but there are only two cases: behind a write of its own
//! thread to that location it reads that write, or a later one of another thread; behind a read it reads the same
//! write, or a later one of another thread. (Another write of the thread itself would be on the path.) The later write
//! is an event of a thread of its own, related to these two alone. The model allows the cycle if it allows one of the
//! combinations.
//!
//! *Atomic instructions* have all their accesses in the test. A read-modify-write that overwrites the write of another
//! thread has read from it, or from a later one; and what overwrites the write that it reads overwrites its own, too.
//!
//! *Limits.* No more than [`MOST_PATHS`] paths for a pair of accesses, [`MOST_COMBINATIONS`] combinations, and no vague
//! locations; beyond that the links decide.

use super::elements::InPlace;
use super::link::Dependency;
use super::paths::Path;
use super::sketch::Sketch;
use crate::aeg::{AbstractEventGraph, Evaluation, Sources};
use crate::ids::{LabelId, LocalId, LocationId, VertexId};
use crate::lts::label::LabelKind;
use crate::memory::Kind;
use crate::memory::cat::Axioms;
use crate::memory::cat::execution::Atomicity;
use crate::ordering::PartialFence;
use crate::outline::Site;
use std::collections::{BTreeMap, BTreeSet};

/// How many paths of a pair of accesses are looked at.
pub const MOST_PATHS: usize = 8;
/// How many combinations of sources of reads are looked at.
pub const MOST_COMBINATIONS: usize = 256;

/// A thread's part of a cycle.
#[derive(Clone, Debug)]
pub enum Route {
    /// Along a path.
    Path(VertexId, VertexId, Path),
    /// From one access of an atomic instruction to another.
    Atomic(VertexId, VertexId),
    /// One write.
    Write(VertexId),
}

impl Route {
    /// Its path, if it goes along one.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        match self {
            Route::Path(_, _, path) => Some(path),
            Route::Atomic(..) | Route::Write(_) => None,
        }
    }

    /// Where the cycle comes in and goes out.
    #[must_use]
    pub fn ends(&self) -> (VertexId, VertexId) {
        match *self {
            Route::Path(from, to, _) | Route::Atomic(from, to) => (from, to),
            Route::Write(vertex) => (vertex, vertex),
        }
    }
}

/// All paths from one access to another, if there are few and none goes round a loop.
#[must_use]
pub fn all_paths(graph: &AbstractEventGraph, from: VertexId, to: VertexId) -> Option<Vec<Path>> {
    let ends: BTreeMap<LabelId, usize> = graph.occurrences(to).iter().copied().collect();
    let mut paths = Vec::new();
    for &(label, position) in graph.occurrences(from) {
        if let Some(&end) = ends.get(&label)
            && graph.evaluation(label).events[end].before.contains(&position)
        {
            paths.push(Path { labels: vec![label], from: position, to: end });
        }
        let mut labels = vec![label];
        go_on(graph, &ends, position, &mut labels, &mut paths)?;
    }
    Some(paths)
}

fn go_on(
    graph: &AbstractEventGraph,
    ends: &BTreeMap<LabelId, usize>,
    from: usize,
    labels: &mut Vec<LabelId>,
    paths: &mut Vec<Path>,
) -> Option<()> {
    let last = *labels.last()?;
    for &next in &graph.evaluation(last).successors {
        let leads_there = |label: LabelId| {
            ends.contains_key(&label) || ends.keys().any(|end| graph.labels_after(label).contains(end.index()))
        };
        if !leads_there(next) {
            continue;
        }
        if labels.contains(&next) || paths.len() >= MOST_PATHS {
            return None;
        }
        labels.push(next);
        if let Some(&to) = ends.get(&next) {
            paths.push(Path { labels: labels.clone(), from, to });
        }
        go_on(graph, ends, from, labels, paths)?;
        labels.pop();
    }
    Some(())
}

/// Whether the model allows the cycle over these routes with what is in place; nothing if that is too much to look at.
#[must_use]
pub fn allows(graph: &AbstractEventGraph, in_place: &InPlace, model: &Axioms, routes: &[Route]) -> Option<bool> {
    let mut drawing = Drawing { graph, in_place, sketch: Sketch::default(), accesses: Vec::new() };
    let ends: Vec<(usize, usize)> =
        routes.iter().enumerate().map(|(thread, route)| drawing.route(thread, route)).collect();
    if drawing.accesses.iter().any(|access| graph.vertex(access.vertex).is_vague) {
        return None;
    }
    let mut sources: BTreeMap<usize, usize> = BTreeMap::new();
    for (position, route) in routes.iter().enumerate() {
        let next = (position + 1) % routes.len();
        let (from, to) = (ends[position].1, ends[next].0);
        match (graph.vertex(route.ends().1).kind, graph.vertex(routes[next].ends().0).kind) {
            (Kind::Write, Kind::Read) => {
                sources.insert(to, from);
                drawing.sketch.rf(from, to);
            }
            (Kind::Write, Kind::Write) => drawing.sketch.co(from, to),
            (Kind::Read, _) => drawing.sketch.fr(from, to),
        }
    }
    let open = drawing.open(&sources);
    let all = Combination { sketch: drawing.sketch, known: sources, unused: routes.len() };
    let mut left = MOST_COMBINATIONS;
    all.is_some_allowed(&open, model, &mut left)
}

/// An access that was drawn.
struct Access {
    event: usize,
    thread: usize,
    vertex: VertexId,
    /// The accesses before it in program order, by position among all that were drawn.
    before: BTreeSet<usize>,
}

/// A read that comes from a known event, or from a later write.
struct Open {
    read: usize,
    nearest: usize,
    is_write: bool,
}

struct Drawing<'a> {
    graph: &'a AbstractEventGraph,
    in_place: &'a InPlace,
    sketch: Sketch,
    accesses: Vec<Access>,
}

/// What a path has passed.
#[derive(Default)]
struct Passed {
    /// How many evaluations.
    evaluations: usize,
    /// All events.
    events: Vec<usize>,
    /// For each local, the reads that its value derives from.
    locals: BTreeMap<LocalId, BTreeSet<usize>>,
    /// The reads that conditions derive from.
    ctrl: BTreeSet<usize>,
}

impl Drawing<'_> {
    /// Draws a route; gives the events of its entry and its exit.
    fn route(&mut self, thread: usize, route: &Route) -> (usize, usize) {
        match route {
            Route::Path(_, _, path) => self.path(thread, path),
            Route::Write(vertex) => match self.whole(*vertex) {
                Some((label, position)) => {
                    let drawn =
                        self.evaluation(thread, &mut Passed::default(), (label, Some(position), Some(position)));
                    (drawn[&position], drawn[&position])
                }
                None => {
                    let event = self.access(thread, *vertex, &[]);
                    (event, event)
                }
            },
            Route::Atomic(from, to) => match (self.whole(*from), self.whole(*to)) {
                (Some((label, first)), Some((same, second))) if label == same => {
                    let drawn = self.evaluation(thread, &mut Passed::default(), (label, Some(first), Some(second)));
                    (drawn[&first], drawn[&second])
                }
                _ => {
                    let ends = [*from, *to].map(|vertex| self.access(thread, vertex, &[]));
                    let atomicity = self.in_place.atomicity(self.graph, *from);
                    ends.into_iter().for_each(|event| self.sketch.indivisible(event, 0, atomicity));
                    (ends[0], ends[1])
                }
            },
        }
    }

    /// The only evaluation that makes an access, if that is in one piece, and where in it.
    fn whole(&self, vertex: VertexId) -> Option<(LabelId, usize)> {
        match self.graph.occurrences(vertex) {
            [(label, position)] if self.is_whole(self.graph.evaluation(*label)) => Some((*label, *position)),
            _ => None,
        }
    }

    fn is_whole(&self, evaluation: &Evaluation) -> bool {
        evaluation.is_whole() || self.in_place.is_barrier(evaluation)
    }

    fn access(&mut self, thread: usize, vertex: VertexId, before: &[usize]) -> usize {
        let known = self.graph.vertex(vertex);
        let marks = self.in_place.marks(self.graph, vertex);
        let event = self.sketch.access(thread, known.kind, known.location.index(), marks);
        before.iter().for_each(|&earlier| self.sketch.po(earlier, event));
        let before = (0..self.accesses.len()).filter(|&other| before.contains(&self.accesses[other].event)).collect();
        self.accesses.push(Access { event, thread, vertex, before });
        event
    }

    fn fences(&mut self, thread: usize, passed: &mut Passed, site: Site) {
        let link = self.in_place.fence(site);
        link.fences().for_each(|kind| self.fence(thread, passed, kind));
    }

    fn fence(&mut self, thread: usize, passed: &mut Passed, kind: Option<PartialFence>) {
        let event = self.sketch.fence(thread, kind);
        passed.events.iter().for_each(|&earlier| self.sketch.po(earlier, event));
        passed.ctrl.iter().for_each(|&from| self.sketch.ctrl(from, event));
        passed.events.push(event);
    }

    fn path(&mut self, thread: usize, path: &Path) -> (usize, usize) {
        let mut passed = Passed::default();
        let (mut first, mut last) = (0, 0);
        for (position, &label) in path.labels.iter().enumerate() {
            let start = (position == 0).then_some(path.from);
            let end = (position + 1 == path.labels.len()).then_some(path.to);
            let drawn = self.evaluation(thread, &mut passed, (label, start, end));
            if let Some(start) = start {
                first = drawn[&start];
            }
            if let Some(end) = end {
                last = drawn[&end];
            }
        }
        (first, last)
    }

    /// Draws the events of an evaluation that are on the path: all, or those from one of them on, or up to one of them.
    fn evaluation(
        &mut self,
        thread: usize,
        passed: &mut Passed,
        (label, start, end): (LabelId, Option<usize>, Option<usize>),
    ) -> BTreeMap<usize, usize> {
        let evaluation = self.graph.evaluation(label);
        let is_barrier = self.in_place.is_barrier(evaluation);
        let is_whole = self.is_whole(evaluation);
        if start.is_none() {
            self.fences(thread, passed, Site::before(evaluation.instr));
            if is_barrier {
                self.fence(thread, passed, None);
            }
        }
        match evaluation.kind {
            LabelKind::PartialFence(kind) => self.fence(thread, passed, Some(kind)),
            LabelKind::Plain | LabelKind::Marked(_) | LabelKind::Fence | LabelKind::Atomic | LabelKind::Rmw(_) => {}
        }
        let on_path = |position: usize| {
            let event = &evaluation.events[position];
            is_whole
                || start.is_none_or(|first| first == position || event.before.contains(&first))
                    && end.is_none_or(|last| last == position || evaluation.events[last].before.contains(&position))
        };
        let positions: Vec<usize> = (0..evaluation.events.len()).filter(|&position| on_path(position)).collect();
        let mut drawn: BTreeMap<usize, usize> = BTreeMap::new();
        let before_all = passed.events.clone();
        // Fences inside, each with its level.
        let mut inside: Vec<(u32, usize)> = Vec::new();
        let start_level = start.map_or(0, |first| evaluation.events[first].level);
        for level in start_level + 1..=evaluation.last_level() {
            for kind in self.in_place.fence(Site::inside(evaluation.instr, level)).fences() {
                let fence = self.sketch.fence(thread, kind);
                before_all.iter().for_each(|&earlier| self.sketch.po(earlier, fence));
                inside.iter().for_each(|&(_, earlier)| self.sketch.po(earlier, fence));
                inside.push((level, fence));
            }
        }
        for &position in &positions {
            let event = &evaluation.events[position];
            if is_barrier && !drawn.is_empty() {
                self.fence(thread, passed, None);
            }
            let mut before = if is_barrier { passed.events.clone() } else { before_all.clone() };
            before.extend(event.before.iter().filter_map(|earlier| drawn.get(earlier)));
            before.extend(inside.iter().filter(|(level, _)| event.level >= *level).map(|(_, fence)| *fence));
            let number = self.access(thread, event.vertex, &before);
            for &(_, fence) in inside.iter().filter(|(level, _)| event.level < *level) {
                self.sketch.po(number, fence);
            }
            for (sources, kind) in [(&event.address, Dependency::Address), (&event.data, Dependency::Data)] {
                for from in passed.sources(sources, &drawn) {
                    match kind {
                        Dependency::Address => self.sketch.addr(from, number),
                        _ => self.sketch.data(from, number),
                    }
                }
            }
            let control: BTreeSet<usize> = &passed.sources(&event.control, &drawn) | &passed.ctrl;
            control.into_iter().for_each(|from| self.sketch.ctrl(from, number));
            if is_whole {
                let atomicity = if is_barrier { Atomicity::Fenced } else { Atomicity::Indivisible };
                self.sketch.indivisible(number, passed.evaluations, atomicity);
            }
            drawn.insert(position, number);
            passed.events.push(number);
        }
        passed.events.extend(inside.iter().map(|(_, fence)| *fence));
        let condition = passed.sources(&evaluation.condition, &drawn);
        let values: Vec<(LocalId, BTreeSet<usize>)> =
            evaluation.locals.iter().map(|update| (update.local, passed.sources(&update.value, &drawn))).collect();
        passed.evaluations += 1;
        passed.ctrl.extend(condition);
        passed.locals.extend(values);
        if end.is_none() {
            if is_barrier {
                self.fence(thread, passed, None);
            }
            self.fences(thread, passed, Site::after(evaluation.instr));
            if let Some(site) = self.graph.outline.site_behind(evaluation.instr) {
                self.fences(thread, passed, site);
            }
        }
        drawn
    }

    /// The accesses of each thread to each location, in program order.
    fn by_location(&self) -> BTreeMap<(usize, LocationId), Vec<usize>> {
        let mut by_location: BTreeMap<(usize, LocationId), Vec<usize>> = BTreeMap::new();
        for (number, access) in self.accesses.iter().enumerate() {
            by_location.entry((access.thread, self.graph.vertex(access.vertex).location)).or_default().push(number);
        }
        by_location
    }

    fn kind(&self, access: usize) -> Kind {
        self.graph.vertex(self.accesses[access].vertex).kind
    }

    /// The reads that come behind an access of their thread to their location.
    fn open(&self, sources: &BTreeMap<usize, usize>) -> Vec<Open> {
        let mut open = Vec::new();
        for accesses in self.by_location().into_values() {
            for (position, &access) in accesses.iter().enumerate() {
                let earlier = &accesses[..position];
                let is_before = |other: &&usize| self.accesses[access].before.contains(other);
                let event = self.accesses[access].event;
                if self.kind(access) == Kind::Read
                    && !sources.contains_key(&event)
                    && let Some(&nearest) = earlier.iter().rev().find(is_before)
                    && earlier.iter().filter(is_before).count() == earlier.len()
                {
                    let is_write = self.kind(nearest) == Kind::Write;
                    open.push(Open { read: event, nearest: self.accesses[nearest].event, is_write });
                }
            }
        }
        open
    }
}

/// What is known of a cycle when some of its reads have a source.
#[derive(Clone)]
struct Combination {
    sketch: Sketch,
    /// For each read its source, as far as it is known.
    known: BTreeMap<usize, usize>,
    /// A thread that no event is of.
    unused: usize,
}

impl Combination {
    /// Whether the model allows one of those that these reads make of it; nothing if there are too many.
    fn is_some_allowed(&self, open: &[Open], model: &Axioms, left: &mut usize) -> Option<bool> {
        if let Some((first, others)) = open.split_first() {
            for next in [self.near(first), self.later(first)] {
                if next.is_some_allowed(others, model, left)? {
                    return Some(true);
                }
            }
            return Some(false);
        }
        if let Some((read, nearest)) = self.sketch.overwriting() {
            return self.is_some_allowed(&[Open { read, nearest, is_write: true }], model, left);
        }
        *left = left.checked_sub(1)?;
        Some(self.sketch.is_coherently_allowed_by(model))
    }

    /// The read comes from the nearest event, or from where that comes from.
    fn near(&self, &Open { read, nearest, is_write }: &Open) -> Combination {
        let mut near = self.clone();
        let source = if is_write { Some(nearest) } else { self.known.get(&nearest).copied() };
        if let Some(source) = source {
            near.known.insert(read, source);
            near.sketch.rf(source, read);
        }
        near
    }

    /// The read comes from a later write.
    fn later(&self, &Open { read, nearest, is_write }: &Open) -> Combination {
        let mut later = self.clone();
        let source = later.sketch.write_where(read, self.unused);
        later.unused += 1;
        if is_write {
            later.sketch.co(nearest, source);
        } else {
            later.sketch.fr(nearest, source);
        }
        later.sketch.rf(source, read);
        later.known.insert(read, source);
        later
    }
}

impl Passed {
    /// The reads that a value derives from.
    fn sources(&self, sources: &Sources, drawn: &BTreeMap<usize, usize>) -> BTreeSet<usize> {
        let here = sources.events.iter().filter_map(|event| drawn.get(event)).copied();
        let carried = sources.locals.iter().filter_map(|local| self.locals.get(local)).flatten().copied();
        here.chain(carried).collect()
    }
}
