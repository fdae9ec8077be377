//! A cycle as a litmus test, and whether a memory model allows it (axioms.md §2; after Alglave, Maranget and
//! Tautschnig, "Herding cats", 2014, §9, who judge cycles one by one).
//!
//! A test has the accesses of a critical cycle, what stands between the two of each thread, and the communication that
//! closes the cycle: from a write to a read it is reads-from, from a write to a write coherence, from a read to a write
//! from-reads. An execution of the program that has this cycle has at least these relations between its accesses, and
//! axioms only forbid more when relations grow. So if the model forbids the test, no execution has the cycle.
//!
//! *Every execution that is not sequentially consistent has the cycle of a test.* Take a cycle of program order and
//! `com⁺` with as few parts as possible, and of these one with as few accesses. `com⁺` from one access to another is
//! `co`, `fr`, `rf`, `co;rf` or `fr;rf`: at most one access lies between, a write that the last one reads from. Two
//! parts of one location are one, so every location has one part; a thread that is visited twice is a shorter cycle
//! over its program order; and if the write between is of a thread that is visited elsewhere, or of one of the two
//! threads that it lies between, there is a cycle over program order to or from it with fewer parts, or with no access
//! between. So each thread has an entry and an exit, or one write between, and each location has two or three
//! consecutive accesses.
//!
//! Of these cycles take one whose entries are as early as possible: then an atomic instruction that is entered by its
//! write has not read from an earlier write of its own thread, which would be an entry, too
//! ([`detail`](super::detail)). All this needs program order between the accesses of a thread; who reads instructions
//! as several steps in no order must not ask for axioms where that matters ([`outcome`](super::outcome)).
//!
//! *Between entry and exit* stands what is on every path, or less ([`Link`]). A step of a link is a read of a location
//! of its own. Fences are after the entry and before the exit, and in no order with each other or with steps.
//!
//! *Cost.* A test has a few events for each thread; answers are kept by the shape of the test, of which there are few.

use super::link::{Dependency, Link, On};
use super::sketch::Sketch;
use crate::memory::Kind;
use crate::memory::cat::Axioms;
use crate::memory::cat::execution::Atomicity;
use crate::ordering::{Marks, PartialFence};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// An access of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Access {
    /// Read or write.
    pub kind: Kind,
    /// Its marks.
    pub marks: Marks,
}

/// A thread's part of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// In at the entry, out at the exit, at another location.
    Pass {
        /// Where the cycle comes in.
        entry: Access,
        /// Where it goes out.
        exit: Access,
        /// What stands between.
        between: Between,
    },
    /// One write between two accesses of other threads.
    Write(Marks),
}

/// What joins the entry and the exit of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Between {
    /// Program order, with at least this.
    Order(Link),
    /// Nothing but that both are of one indivisible instruction, which is a full fence or not.
    Atomic(Atomicity),
}

impl Part {
    fn entry(self) -> Kind {
        match self {
            Part::Pass { entry, .. } => entry.kind,
            Part::Write(_) => Kind::Write,
        }
    }

    fn exit(self) -> Kind {
        match self {
            Part::Pass { exit, .. } => exit.kind,
            Part::Write(_) => Kind::Write,
        }
    }
}

/// How many tests are remembered besides their shapes: some ten megabytes.
const MOST_ASKED: usize = 100_000;

/// Asks a memory model about tests, and remembers its answers.
pub struct Judge {
    model: Arc<Axioms>,
    /// Answers by shape.
    known: FxHashMap<Vec<Part>, bool>,
    /// Answers by the tests that were asked about: to find the shape takes longer than to look here.
    asked: FxHashMap<Vec<Part>, bool>,
}

impl Judge {
    /// For a memory model.
    #[must_use]
    pub fn new(model: Arc<Axioms>) -> Judge {
        Judge { model, known: FxHashMap::default(), asked: FxHashMap::default() }
    }

    /// The memory model.
    #[must_use]
    pub fn model(&self) -> &Axioms {
        &self.model
    }

    /// Whether the model allows the test: its threads' parts in the order of the cycle, the first one a passage.
    pub fn allows(&mut self, test: &[Part]) -> bool {
        if let Some(&known) = self.asked.get(test) {
            return known;
        }
        let allowed = self.allows_shape(shape(test));
        if self.asked.len() < MOST_ASKED {
            self.asked.insert(test.to_vec(), allowed);
        }
        allowed
    }

    fn allows_shape(&mut self, shape: Vec<Part>) -> bool {
        if let Some(&known) = self.known.get(&shape) {
            return known;
        }
        let allowed = sketch(&shape).is_allowed_by(&self.model);
        self.known.insert(shape, allowed);
        allowed
    }
}

/// The test as it is seen from the least of its passages: the same for all rotations.
fn shape(test: &[Part]) -> Vec<Part> {
    let rotated = |start: usize| -> Vec<Part> { test[start..].iter().chain(&test[..start]).copied().collect() };
    let starts = (0..test.len()).filter(|&start| matches!(test[start], Part::Pass { .. }));
    starts.map(rotated).min().unwrap_or_default()
}

/// The test as a candidate execution.
fn sketch(test: &[Part]) -> Sketch {
    let mut sketch = Sketch::default();
    let mut last_location = 0;
    let last_pass = test.iter().rposition(|part| matches!(part, Part::Pass { .. }));
    // For each part its entry and its exit.
    let mut events: Vec<(usize, usize)> = Vec::new();
    let mut location = 0;
    for (thread, part) in test.iter().enumerate() {
        match *part {
            Part::Write(marks) => {
                let event = sketch.access(thread, Kind::Write, location, marks);
                events.push((event, event));
            }
            Part::Pass { entry, exit, between } => {
                let first = sketch.access(thread, entry.kind, location, entry.marks);
                last_location += 1;
                // The last passage leads back to where the first one begins.
                location = if last_pass == Some(thread) { 0 } else { last_location };
                let second = sketch.access(thread, exit.kind, location, exit.marks);
                match between {
                    Between::Atomic(atomicity) => {
                        [first, second].into_iter().for_each(|event| sketch.indivisible(event, 0, atomicity));
                    }
                    Between::Order(link) => join(&mut sketch, thread, (first, second), link, &mut last_location),
                }
                events.push((first, second));
            }
        }
    }
    for (position, part) in test.iter().enumerate() {
        let next = (position + 1) % test.len();
        let (from, to) = (events[position].1, events[next].0);
        match (part.exit(), test[next].entry()) {
            (Kind::Write, Kind::Read) => sketch.rf(from, to),
            (Kind::Write, Kind::Write) => sketch.co(from, to),
            (Kind::Read, _) => sketch.fr(from, to),
        }
    }
    sketch
}

/// Puts what a link says between two accesses.
fn join(sketch: &mut Sketch, thread: usize, (first, second): (usize, usize), link: Link, last_location: &mut usize) {
    sketch.po(first, second);
    for kind in link.fences() {
        let fence = sketch.fence(thread, kind);
        sketch.po(first, fence);
        sketch.po(fence, second);
    }
    for kind in link.dependencies(On::First) {
        depend(sketch, thread, first, second, kind);
    }
    let mut has_step = false;
    for kind in link.dependencies(On::Step) {
        let step = step(sketch, thread, (first, second), last_location);
        depend(sketch, thread, step, second, kind);
        has_step = true;
    }
    if link.has(Link::PRECEDED) && !has_step {
        step(sketch, thread, (first, second), last_location);
    }
}

/// A read between, whose address depends on the first access.
fn step(sketch: &mut Sketch, thread: usize, (first, second): (usize, usize), last_location: &mut usize) -> usize {
    *last_location += 1;
    let step = sketch.access(thread, Kind::Read, *last_location, Marks::NONE);
    sketch.po(first, step);
    sketch.po(step, second);
    sketch.addr(first, step);
    step
}

fn depend(sketch: &mut Sketch, thread: usize, from: usize, to: usize, kind: Dependency) {
    match kind {
        Dependency::Address => sketch.addr(from, to),
        Dependency::Data => sketch.data(from, to),
        Dependency::Control => sketch.ctrl(from, to),
        Dependency::ControlFence => {
            let fence = sketch.fence(thread, Some(PartialFence::Control));
            sketch.po(from, fence);
            sketch.po(fence, to);
            sketch.ctrl(from, fence);
        }
    }
}
