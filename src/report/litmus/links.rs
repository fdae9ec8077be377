//! How a thread keeps two of its accesses in order, as far as the memory model asks: what a litmus test must have
//! between them.
//!
//! For accesses a and b, in this order:
//!
//! 1. if every path from a to b meets a fence of the program, an atomic or a locked instruction (or one of the two is
//!    in one): a fence;
//! 2. if the model keeps such a pair anyway, or some path is unsafe (method §5): nothing;
//! 3. else dependencies keep the order on every path: the kind of dependency that the model accepts and that some
//!    path without a fence has. Where no single dependency does it, but a chain of them over other accesses, a
//!    dependency that the model accepts stands for the chain: the model keeps the order just so.
//!
//! The search for a dependency walks the thread's labels with the set of locals that carry the value of a, and
//! whether a condition has used one: in the worst case exponential in the number of locals, in practice as many
//! states as labels.

use crate::aeg::{AbstractEventGraph, Evaluation, Sources};
use crate::ids::{LabelId, LocalId, VertexId};
use crate::memory::{Dependencies, Guarantee, MemoryModel};
use crate::safety::chain::Meeting;
use crate::safety::open::explore_open;
use crate::safety::{Synchronisation, UnsafePairs};
use std::collections::{BTreeSet, VecDeque};
use std::ops::ControlFlow;

/// What stands between two accesses of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Link {
    /// Nothing.
    Plain,
    /// A full fence.
    Fence,
    /// The second one's address is computed from what the first one read.
    Address,
    /// The second one writes what is computed from what the first one read.
    Data,
    /// The second one comes behind a branch on what the first one read.
    Control,
}

const DEPENDENCIES: [(Link, Dependencies); 3] =
    [(Link::Address, Dependencies::ADDR), (Link::Data, Dependencies::DATA), (Link::Control, Dependencies::CTRL)];

/// How the threads of a program keep their accesses in order under a memory model.
pub struct Links<'a> {
    graph: &'a AbstractEventGraph,
    model: &'a MemoryModel,
    in_place: &'a Synchronisation,
    unsafe_pairs: UnsafePairs,
}

impl<'a> Links<'a> {
    /// With these locks in place.
    #[must_use]
    pub fn new(graph: &'a AbstractEventGraph, model: &'a MemoryModel, in_place: &'a Synchronisation) -> Links<'a> {
        Links { graph, model, in_place, unsafe_pairs: UnsafePairs::new(graph, model, in_place) }
    }

    /// What stands between two accesses; none if it can be no fence and no dependency that keeps their order.
    #[must_use]
    pub fn between(&self, a: VertexId, b: VertexId) -> Option<Link> {
        if !self.is_open(a, b) {
            return Some(Link::Fence);
        }
        let pair = self.graph.vertex(a).pair_with(self.graph.vertex(b));
        let guarantee = self.model.preserved.guarantee(pair);
        if guarantee == Guarantee::Always || self.unsafe_pairs.contains(a, b) {
            return Some(Link::Plain);
        }
        let accepted: Vec<Link> =
            DEPENDENCIES.into_iter().filter(|(_, kind)| guarantee.holds(*kind)).map(|(link, _)| link).collect();
        let found = self.dependency(a, b, &accepted);
        // A write can depend by its data where it could by its address, and tests with data dependencies are more
        // usual.
        let usual = || accepted.iter().find(|link| **link == Link::Data).or(accepted.first()).copied();
        found.or_else(usual)
    }

    /// Whether the memory model may exchange the two accesses, with what the program has between them.
    #[must_use]
    pub fn can_be_exchanged(&self, a: VertexId, b: VertexId) -> bool {
        self.unsafe_pairs.contains(a, b)
    }

    /// Whether some path leads from a to b and meets nothing that keeps every order.
    fn is_open(&self, a: VertexId, b: VertexId) -> bool {
        let mut open = false;
        let in_place = Synchronisation { locked: self.in_place.locked.clone(), ..Synchronisation::none() };
        explore_open(self.graph, &in_place, a, &mut |met, _| {
            if matches!(met, Meeting::Access { vertex, .. } if vertex == b) {
                open = true;
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        });
        open
    }

    /// The first accepted dependency of b on a on a shortest path.
    fn dependency(&self, a: VertexId, b: VertexId, accepted: &[Link]) -> Option<Link> {
        let mut queue = VecDeque::new();
        let mut seen = BTreeSet::new();
        for &(label, position) in self.graph.occurrences(a) {
            let evaluation = self.graph.evaluation(label);
            if self.in_place.is_barrier(evaluation) {
                continue;
            }
            let start = Carried { source: Some(position), ..Carried::default() };
            if let Some(link) = start.link_to(self.graph, label, b, accepted) {
                return Some(link);
            }
            queue.push_back((label, start.behind(evaluation)));
        }
        while let Some((label, carried)) = queue.pop_front() {
            for &next in &self.graph.evaluation(label).successors {
                let evaluation = self.graph.evaluation(next);
                if self.in_place.is_barrier(evaluation) || !seen.insert((next, carried.clone())) {
                    continue;
                }
                if let Some(link) = carried.link_to(self.graph, next, b, accepted) {
                    return Some(link);
                }
                queue.push_back((next, carried.behind(evaluation)));
            }
        }
        None
    }
}

/// What carries the value of the first access.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Carried {
    /// The access itself, while its own evaluation is looked at.
    source: Option<usize>,
    locals: BTreeSet<LocalId>,
    /// A condition has used it.
    control: bool,
}

impl Carried {
    fn is_in(&self, sources: &Sources) -> bool {
        self.source.is_some_and(|source| sources.events.contains(&source))
            || sources.locals.iter().any(|local| self.locals.contains(local))
    }

    /// How an access of the evaluation depends on it.
    fn link_to(&self, graph: &AbstractEventGraph, label: LabelId, b: VertexId, accepted: &[Link]) -> Option<Link> {
        let mut events = graph.evaluation(label).events.iter().filter(|event| event.vertex == b);
        events.find_map(|event| {
            let has = |link: &Link| match link {
                Link::Address => self.is_in(&event.address),
                Link::Data => self.is_in(&event.data),
                Link::Control => self.control || self.is_in(&event.control),
                Link::Plain | Link::Fence => false,
            };
            accepted.iter().copied().find(has)
        })
    }

    /// What carries it behind the evaluation.
    fn behind(&self, evaluation: &Evaluation) -> Carried {
        let mut locals = self.locals.clone();
        for update in &evaluation.locals {
            if self.is_in(&update.value) {
                locals.insert(update.local);
            } else {
                locals.remove(&update.local);
            }
        }
        Carried { source: None, locals, control: self.control || self.is_in(&evaluation.condition) }
    }
}
