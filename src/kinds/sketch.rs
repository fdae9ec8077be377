//! Candidate executions that are drawn by hand: a few events, and the relations that someone knows of them.
//!
//! What is not drawn is not there: no order, no communication. Where axioms only forbid more when relations grow, an
//! execution that has at least what is drawn is forbidden if the sketch is.

use crate::memory::Kind;
use crate::memory::cat::Axioms;
use crate::memory::cat::execution::{Atomicity, Communication, Edges, Event, Structure};
use crate::memory::cat::relation::Relation;
use crate::ordering::{Marks, PartialFence};
use std::collections::BTreeMap;

/// A candidate execution in the making. Events are numbered in the order in which they are drawn, which must extend
/// program order.
#[derive(Clone, Debug, Default)]
pub struct Sketch {
    events: Vec<Event>,
    po: Vec<(usize, usize)>,
    edges: Edges,
    rf: Vec<(usize, usize)>,
    co: Vec<(usize, usize)>,
    fr: Vec<(usize, usize)>,
}

impl Sketch {
    /// Draws an access.
    pub fn access(&mut self, thread: usize, kind: Kind, location: usize, marks: Marks) -> usize {
        let event = match kind {
            Kind::Read => Event::read(thread, location),
            Kind::Write => Event::write(thread, location),
        };
        self.event(event.marked(marks))
    }

    /// Draws a fence; none stands for a full one.
    pub fn fence(&mut self, thread: usize, kind: Option<PartialFence>) -> usize {
        self.event(Event::fence(thread, kind))
    }

    fn event(&mut self, event: Event) -> usize {
        self.events.push(event);
        self.events.len() - 1
    }

    /// The access is part of an indivisible instruction of this number in its thread.
    pub fn indivisible(&mut self, event: usize, instruction: usize, atomicity: Atomicity) {
        self.events[event] = self.events[event].atomic(instruction, atomicity);
    }

    /// The first comes before the second in program order. Draw all that follows from it, too.
    pub fn po(&mut self, from: usize, to: usize) {
        self.po.push((from, to));
    }

    /// The second's address depends on the first.
    pub fn addr(&mut self, from: usize, to: usize) {
        self.edges.addr.push((from, to));
    }

    /// What the second writes depends on the first.
    pub fn data(&mut self, from: usize, to: usize) {
        self.edges.data.push((from, to));
    }

    /// A condition before the second depends on the first.
    pub fn ctrl(&mut self, from: usize, to: usize) {
        self.edges.ctrl.push((from, to));
    }

    /// The second reads from the first.
    pub fn rf(&mut self, from: usize, to: usize) {
        self.rf.push((from, to));
    }

    /// The second overwrites the first.
    pub fn co(&mut self, from: usize, to: usize) {
        self.co.push((from, to));
    }

    /// The second overwrites what the first reads.
    pub fn fr(&mut self, from: usize, to: usize) {
        self.fr.push((from, to));
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

    /// Whether a model allows it. What a model says nothing of is not forbidden.
    #[must_use]
    pub fn is_allowed_by(&self, model: &Axioms) -> bool {
        let relation = |pairs: &[(usize, usize)]| {
            let mut relation = Relation::empty(self.events.len());
            pairs.iter().for_each(|&(from, to)| relation.insert(from, to));
            relation
        };
        let structure = Structure::with_order(self.events.clone(), relation(&self.po), &self.edges);
        let communication = Communication { rf: relation(&self.rf), co: relation(&self.co), fr: relation(&self.fr) };
        model.allows(&structure, &communication) != Ok(false)
    }
}
