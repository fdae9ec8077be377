//! Candidate executions that are drawn by hand: a few events, and the relations that someone knows of them.
//!
//! What is not drawn is not there: no order, no communication. Where axioms only forbid more when relations grow, an
//! execution that has at least what is drawn is forbidden if the sketch is.

use crate::memory::Kind;
use crate::memory::cat::Axioms;
use crate::memory::cat::execution::{Atomicity, Communication, Edges, Event, Structure};
use crate::memory::cat::relation::Relation;
use crate::ordering::{Marks, PartialFence};

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

    /// Draws a write of another thread to the location of an access.
    pub fn write_where(&mut self, access: usize, thread: usize) -> usize {
        let write = Event { thread, ..Event::write(thread, 0) };
        self.event(Event { location: self.events[access].location, ..write })
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

    /// Whether a model allows it. What a model says nothing of is not forbidden.
    #[must_use]
    pub fn is_allowed_by(&self, model: &Axioms) -> bool {
        let structure = self.structure();
        let [rf, co, fr] = [&self.rf, &self.co, &self.fr].map(|pairs| self.relation(pairs));
        model.allows(&structure, &Communication { rf, co, fr }) != Ok(false)
    }

    /// The same with all that follows in an execution that is coherent: coherence is a total order of the writes to
    /// each location, which program order at the location agrees with; a read comes before all that overwrites what it
    /// reads; and nobody writes between the read and the write of a read-modify-write.
    #[must_use]
    pub fn is_coherently_allowed_by(&self, model: &Axioms) -> bool {
        let structure = self.structure();
        model.allows(&structure, &self.coherent(&structure)) != Ok(false)
    }

    /// The read of a read-modify-write that nobody says the source of, and a write of another thread that the write
    /// overwrites: the source is that one, or a later one.
    #[must_use]
    pub fn overwriting(&self) -> Option<(usize, usize)> {
        let structure = self.structure();
        let Communication { co, .. } = self.coherent(&structure);
        let is_alone = |read: usize, write: usize| structure.amo.pairs().all(|(r, w)| w != write || r == read);
        let is_open = |read: usize| self.rf.iter().all(|&(_, reader)| reader != read);
        structure.amo.pairs().filter(|&(read, write)| is_open(read) && is_alone(read, write)).find_map(
            |(read, write)| {
                let is_earlier = |&other: &usize| co.contains(other, write) && self.is_of_other(other, write);
                (0..self.events.len()).find(is_earlier).map(|other| (read, other))
            },
        )
    }

    fn is_of_other(&self, a: usize, b: usize) -> bool {
        self.events[a].thread != self.events[b].thread
    }

    fn coherent(&self, structure: &Structure) -> Communication {
        let [rf, mut co, mut fr] = [&self.rf, &self.co, &self.fr].map(|pairs| self.relation(pairs));
        let (read, write) = (|event: usize| self.events[event].is_read(), |event: usize| self.events[event].is_write());
        let at = |event: usize| self.events[event].location;
        let in_order = structure.po.pairs().filter(|&(a, b)| at(a).is_some() && at(a) == at(b));
        let in_order: Vec<(usize, usize)> = in_order.collect();
        for &(a, b) in &in_order {
            match (write(a), write(b)) {
                (true, true) => co.insert(a, b),
                (false, true) => fr.insert(a, b),
                (_, false) => {}
            }
        }
        // Reads from an earlier write of the thread, or from a later one than that.
        for &(source, to) in &self.rf {
            for &(a, b) in &in_order {
                if a == to && write(b) {
                    co.insert(source, b);
                }
                if b == to && write(a) && a != source {
                    co.insert(a, source);
                }
            }
        }
        loop {
            let (known_co, known_fr) = (co.clone(), fr.clone());
            co = co.plus();
            for &(source, reader) in &self.rf {
                for event in 0..self.events.len() {
                    if co.contains(source, event) {
                        fr.insert(reader, event);
                    }
                    if fr.contains(reader, event) {
                        co.insert(source, event);
                    }
                }
            }
            for &(a, b) in in_order.iter().filter(|&&(_, b)| read(b)) {
                for event in (0..self.events.len()).filter(|&event| known_fr.contains(b, event)) {
                    if read(a) {
                        fr.insert(a, event);
                    } else {
                        co.insert(a, event);
                    }
                }
            }
            for (from, to) in structure.amo.pairs() {
                let overwritten = |&event: &usize| known_fr.contains(from, event) && self.is_of_other(event, to);
                (0..self.events.len()).filter(overwritten).for_each(|event| co.insert(to, event));
            }
            if co == known_co && fr == known_fr {
                return Communication { rf, co, fr };
            }
        }
    }

    fn structure(&self) -> Structure {
        Structure::with_order(self.events.clone(), self.relation(&self.po), &self.edges)
    }

    fn relation(&self, pairs: &[(usize, usize)]) -> Relation {
        let mut relation = Relation::empty(self.events.len());
        pairs.iter().for_each(|&(from, to)| relation.insert(from, to));
        relation
    }
}
