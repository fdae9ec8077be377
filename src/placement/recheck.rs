//! A second, dumber look at a placement (method §10).
//!
//! It shares nothing with the search that chose the fences: no antichains, no shortest paths, no solver. It rewrites:
//! the accesses of a path are kept as they are, with the set of those that an access must stay behind; states are
//! compared for equality only. [`is_enough`]: with the fences in place no delay has an unsafe path (a cumulative one:
//! no path at all without a cumulative fence). [`is_needed`]: without this one fence, some delay has one again.

use crate::aeg::{AbstractEventGraph, Evaluation, Event, Sources};
use crate::cycles::Delay;
use crate::ids::{LabelId, LocalId, VertexId};
use crate::memory::{Dependencies, FenceStrength, Kind, MemoryModel};
use crate::outline::Site;
use crate::safety::Synchronisation;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// Whether the fences and locks in place leave none of the delays open.
#[must_use]
pub fn is_enough(
    graph: &AbstractEventGraph,
    model: &MemoryModel,
    in_place: &Synchronisation,
    delays: &[Delay],
) -> bool {
    leaves_none(&Walker { graph, model, in_place }, &delays.iter().collect::<Vec<_>>())
}

fn leaves_none(walker: &Walker<'_>, delays: &[&Delay]) -> bool {
    let none_left = |question: Question, asks: fn(&Delay) -> bool| {
        let mut pairs: BTreeMap<VertexId, BTreeSet<VertexId>> = BTreeMap::new();
        for delay in delays.iter().filter(|delay| asks(delay)) {
            pairs.entry(delay.from).or_default().insert(delay.to);
        }
        pairs.iter().all(|(&from, to)| walker.walk(question, from).is_disjoint(to))
    };
    none_left(Question::CanOvertake, |delay| delay.is_unsafe) && none_left(Question::IsOpen, |delay| delay.cumulative)
}

/// Whether this fence is needed as it is: removing it, or making a cumulative one plain, opens a delay again.
#[must_use]
pub fn is_needed(
    graph: &AbstractEventGraph,
    model: &MemoryModel,
    in_place: &Synchronisation,
    delays: &[Delay],
    fence: Site,
) -> bool {
    let mut less = in_place.clone();
    match less.fences.remove(&fence) {
        Some(FenceStrength::Cumulative) => {
            less.fences.insert(fence, FenceStrength::Plain);
        }
        Some(_) => {}
        None => return false,
    }
    // Fences of one thread do nothing for another.
    let thread = graph.thread_of(fence.instr);
    let own: Vec<&Delay> = delays.iter().filter(|delay| graph.vertex(delay.from).thread == thread).collect();
    !leaves_none(&Walker { graph, model, in_place: &less }, &own)
}

/// What a walk looks for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Question {
    /// Accesses that can be moved before the first one.
    CanOvertake,
    /// Accesses after the first one with no cumulative fence in between.
    IsOpen,
}

struct Walker<'a> {
    graph: &'a AbstractEventGraph,
    model: &'a MemoryModel,
    in_place: &'a Synchronisation,
}

/// What stays behind the first access, and where the values it read have gone.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
struct Behind {
    accesses: BTreeSet<VertexId>,
    locals: BTreeMap<LocalId, BTreeSet<VertexId>>,
    conditions: BTreeSet<VertexId>,
}

impl Walker<'_> {
    /// The answer to the question for all accesses after `a`.
    fn walk(&self, question: Question, a: VertexId) -> BTreeSet<VertexId> {
        let mut answer = BTreeSet::new();
        let mut visited: HashSet<(LabelId, Behind)> = HashSet::new();
        let mut stack: Vec<(LabelId, Behind)> = Vec::new();
        for &(label, position) in self.graph.occurrences(a) {
            if let Some(behind) = self.step(question, label, Some(position), &Behind::default(), &mut answer) {
                stack.push((label, behind));
            }
        }
        while let Some((label, behind)) = stack.pop().filter(|_| !self.graph.budget.is_over()) {
            for &next in &self.graph.evaluation(label).successors {
                let instr = self.graph.evaluation(next).instr;
                if self.fence_at(question, Site::before(instr)) {
                    continue;
                }
                if visited.insert((next, behind.clone()))
                    && let Some(behind) = self.step(question, next, None, &behind, &mut answer)
                {
                    stack.push((next, behind));
                }
            }
        }
        answer
    }

    fn fence_at(&self, question: Question, site: Site) -> bool {
        match (question, self.in_place.fences.get(&site)) {
            (_, None) => false,
            // One of stores is nothing here.
            (Question::CanOvertake, Some(&strength)) => strength >= FenceStrength::Plain,
            (Question::IsOpen, Some(&strength)) => strength == FenceStrength::Cumulative,
        }
    }

    /// Performs one evaluation, level by level; nothing if a fence or barrier ends the path.
    fn step(
        &self,
        question: Question,
        label: LabelId,
        start: Option<usize>,
        behind: &Behind,
        answer: &mut BTreeSet<VertexId>,
    ) -> Option<Behind> {
        let evaluation = self.graph.evaluation(label);
        if evaluation.barrier || self.in_place.locked.contains(&evaluation.instr) {
            return None;
        }
        let instr = evaluation.instr;
        let mut stays = BTreeSet::new();
        stays.extend(start);
        let first_level = start.map_or(0, |position| evaluation.events[position].level);
        for level in first_level..=evaluation.last_level() {
            if level > first_level && self.fence_at(question, Site::inside(instr, level)) {
                return None;
            }
            for (position, event) in evaluation.events.iter().enumerate().filter(|(_, event)| event.level == level) {
                if start.is_some_and(|first| !event.before.contains(&first)) {
                    continue;
                }
                match question {
                    Question::CanOvertake if self.must_stay(evaluation, event, &stays, behind) => {
                        stays.insert(position);
                    }
                    // An atomic instruction is in one piece.
                    _ if start.is_some() && evaluation.is_whole() => {}
                    _ => {
                        answer.insert(event.vertex);
                    }
                }
            }
        }
        let target = self.graph.outline.site_behind(instr);
        if self.fence_at(question, Site::after(instr)) || target.is_some_and(|site| self.fence_at(question, site)) {
            return None;
        }
        Some(if question == Question::IsOpen {
            Behind::default()
        } else {
            advance((self.graph, self.model), evaluation, &stays, behind)
        })
    }

    fn must_stay(&self, evaluation: &Evaluation, event: &Event, stays: &BTreeSet<usize>, behind: &Behind) -> bool {
        let later = self.graph.vertex(event.vertex);
        let kept = |earlier: VertexId, dependencies: Dependencies| {
            self.model.preserved(self.graph.vertex(earlier).pair_with(later), dependencies)
        };
        let through = |sources: &Sources, earlier: VertexId| {
            sources.locals.iter().any(|local| behind.locals.get(local).is_some_and(|set| set.contains(&earlier)))
        };
        behind.accesses.iter().any(|&earlier| {
            let control = behind.conditions.contains(&earlier) || through(&event.control, earlier);
            kept(earlier, dependencies(through(&event.address, earlier), through(&event.data, earlier), control))
        }) || event.before.iter().filter(|position| stays.contains(position)).any(|position| {
            let uses = |sources: &Sources| sources.events.contains(position);
            let earlier = evaluation.events[*position].vertex;
            kept(earlier, dependencies(uses(&event.address), uses(&event.data), uses(&event.control)))
        })
    }
}

fn dependencies(addr: bool, data: bool, ctrl: bool) -> Dependencies {
    [(addr, Dependencies::ADDR), (data, Dependencies::DATA), (ctrl, Dependencies::CTRL)]
        .into_iter()
        .filter(|(present, _)| *present)
        .fold(Dependencies::NONE, |all, (_, kind)| all.union(kind))
}

fn advance(
    (graph, model): (&AbstractEventGraph, &MemoryModel),
    evaluation: &Evaluation,
    stays: &BTreeSet<usize>,
    behind: &Behind,
) -> Behind {
    let feeding = |sources: &Sources| -> BTreeSet<VertexId> {
        let from_locals = sources.locals.iter().filter_map(|local| behind.locals.get(local)).flatten().copied();
        let here = sources.events.iter().filter(|position| stays.contains(position));
        from_locals.chain(here.map(|&position| evaluation.events[position].vertex)).collect()
    };
    let mut next = behind.clone();
    next.accesses.extend(stays.iter().map(|&position| evaluation.events[position].vertex));
    // Of accesses between which the model makes no difference the first is enough, or branches would multiply the
    // states.
    for kind in [Kind::Read, Kind::Write].into_iter().filter(|&kind| model.is_location_blind(kind)) {
        let mut alike = next.accesses.iter().copied().filter(|&access| graph.vertex(access).kind == kind);
        let first = alike.next();
        next.accesses.retain(|&access| graph.vertex(access).kind != kind || Some(access) == first);
    }
    next.conditions.extend(feeding(&evaluation.condition));
    for update in &evaluation.locals {
        let feeds = feeding(&update.value);
        if feeds.is_empty() {
            next.locals.remove(&update.local);
        } else {
            next.locals.insert(update.local, feeds);
        }
    }
    next
}
