//! Candidate executions that are drawn by hand: a few events, and the relations that someone knows of them.
//!
//! What is not drawn is not there: no order, no communication. Where axioms only forbid more when relations grow, an
//! execution that has at least what is drawn is forbidden if the sketch is.

use crate::ids::ThreadAt;
use crate::ordering::{Marks, PartialFence};
use std::collections::BTreeMap;

/// Read or write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// A read.
    Read,
    /// A write.
    Write,
}

/// What an event is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drawn {
    /// An access.
    Access(EventKind, usize, Marks),
    /// A fence; none stands for a full one.
    Fence(Option<PartialFence>),
}

/// A candidate execution in the making. Events are numbered in the order in which they are drawn.
#[derive(Clone, Debug, Default)]
pub struct Sketch {
    pub(super) events: Vec<(ThreadAt, Drawn)>,
    pub(super) po: Vec<(usize, usize)>,
    pub(super) addr: Vec<(usize, usize)>,
    pub(super) data: Vec<(usize, usize)>,
    pub(super) ctrl: Vec<(usize, usize)>,
    pub(super) ctrl_fence: Vec<(usize, usize)>,
    pub(super) atomic: Vec<(usize, usize)>,
    pub(super) rf: Vec<(usize, usize)>,
    pub(super) co: Vec<(usize, usize)>,
    pub(super) fr: Vec<(usize, usize)>,
}

impl Sketch {
    /// Draws an access.
    pub fn access(&mut self, thread: ThreadAt, kind: EventKind, location: usize, marks: Marks) -> usize {
        self.event(thread, Drawn::Access(kind, location, marks))
    }

    /// Draws a fence; none stands for a full one.
    pub fn fence(&mut self, thread: ThreadAt, kind: Option<PartialFence>) -> usize {
        self.event(thread, Drawn::Fence(kind))
    }

    fn event(&mut self, thread: ThreadAt, drawn: Drawn) -> usize {
        self.events.push((thread, drawn));
        self.events.len() - 1
    }

    /// The first comes before the second in program order. Draw all that follows from it, too.
    pub fn po(&mut self, from: usize, to: usize) {
        self.po.push((from, to));
    }

    /// The second's address depends on the first.
    pub fn addr(&mut self, from: usize, to: usize) {
        self.addr.push((from, to));
    }

    /// What the second writes depends on the first.
    pub fn data(&mut self, from: usize, to: usize) {
        self.data.push((from, to));
    }

    /// A condition before the second depends on the first.
    pub fn ctrl(&mut self, from: usize, to: usize) {
        self.ctrl.push((from, to));
    }

    /// A condition before the second depends on the first, and a control fence stands behind the condition.
    pub fn ctrl_fence(&mut self, from: usize, to: usize) {
        self.ctrl.push((from, to));
        self.ctrl_fence.push((from, to));
    }

    /// Both are of one atomic instruction.
    pub fn atomic(&mut self, one: usize, other: usize) {
        self.atomic.extend([(one, other), (other, one)]);
    }

    /// The second reads from the first.
    pub fn rf(&mut self, from: usize, to: usize) {
        self.rf.push((from, to));
    }

    /// The second overwrites the first.
    pub fn co(&mut self, from: usize, to: usize) {
        self.co.push((from, to));
    }

    /// Draws what follows from the sources of reads: what overwrites what a read reads from comes after the read, and
    /// after its source.
    pub fn complete(&mut self, sources: &BTreeMap<usize, usize>) {
        for (&read, &source) in sources {
            let later: Vec<usize> = self.co.iter().filter(|(from, _)| *from == source).map(|(_, to)| *to).collect();
            self.fr.extend(later.into_iter().map(|to| (read, to)));
            let after: Vec<usize> = self.fr.iter().filter(|(from, _)| *from == read).map(|(_, to)| *to).collect();
            self.co.extend(after.into_iter().filter(|&to| to != source).map(|to| (source, to)));
        }
    }

    /// The second overwrites what the first reads.
    pub fn fr(&mut self, from: usize, to: usize) {
        self.fr.push((from, to));
    }
}

/// TEMPORARY: on the old structures.
impl super::Model {
    /// Whether the model allows a sketch.
    #[must_use]
    pub fn allows_sketch(&self, sketch: &Sketch) -> bool {
        use super::execution::{Communication, Structure};
        use super::relation::{EventSet, Relation};
        let n = sketch.events.len();
        let rel = |pairs: &[(usize, usize)]| Relation::new(n, |a, b| pairs.contains(&(a, b)));
        let is = |kind: EventKind| EventSet::new(n, |e| matches!(sketch.events[e].1, Drawn::Access(k, ..) if k == kind));
        let po = rel(&sketch.po);
        let fence = |which: Option<PartialFence>| {
            Relation::new(n, |a, b| {
                (0..n).any(|f| sketch.events[f].1 == Drawn::Fence(which) && po.contains(a, f) && po.contains(f, b))
            })
        };
        let loc = |e: usize| match sketch.events[e].1 {
            Drawn::Access(_, l, _) => Some(l),
            Drawn::Fence(_) => None,
        };
        let structure = Structure {
            reads: is(EventKind::Read),
            writes: is(EventKind::Write),
            external: Relation::new(n, |a, b| sketch.events[a].0 != sketch.events[b].0),
            po_loc: Relation::new(n, |a, b| po.contains(a, b) && loc(a).is_some() && loc(a) == loc(b)),
            addr: rel(&sketch.addr),
            data: rel(&sketch.data),
            ctrl: rel(&sketch.ctrl),
            ctrl_cfence: rel(&sketch.ctrl_fence),
            full_fence: fence(None),
            lightweight_fence: fence(Some(PartialFence::Lightweight)),
            store_fence: fence(Some(PartialFence::Stores)),
            atomic: rel(&sketch.atomic),
            po,
        };
        let communication = Communication { rf: rel(&sketch.rf), co: rel(&sketch.co), fr: rel(&sketch.fr) };
        (&structure.po_loc | &communication.com()).is_acyclic() && self.allows(&structure, &communication)
    }
}
