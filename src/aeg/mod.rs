//! The abstract event graph: vertices, program relation, dependencies, conflicts.
//!
//! There is exactly one [`Vertex`] for each (thread, static instruction, kind, location), after the paper's §4; an
//! instruction that makes an access twice has two [events](Event) with one vertex. Program order is kept where it is
//! known exactly, between *labels* (one evaluation of an instruction each, compiled to an [`Evaluation`]): an
//! instruction whose dynamic index resolves differently in different states has several evaluations that share
//! vertices or not. [`ProgramOrder`] is what cycles see of it: the pairs of vertices that some path joins.
//!
//! [`Conflicts`] are the pairs of vertices of different threads, on one location, of which one writes (method §6).
//! [`EventGraph`] is all of it as a petgraph graph.

mod accesses;
mod arrays;
mod build;
mod conflicts;
mod event_graph;
mod program_order;

pub use accesses::Accesses;
pub use conflicts::Conflicts;
pub use event_graph::{EventGraph, Relation};
pub use program_order::ProgramOrder;

use crate::budget::Budget;
use crate::ids::{InstrId, LabelId, LocalId, LocationId, ThreadId, VertexId};
use crate::lts::label::LabelKind;
use crate::memory::{Kind, Pair};
use std::ops::Deref;

/// Which definitions apply where the method corrects the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// The corrected definitions (the default).
    Sound,
    /// The same, but a label follows a step only if it is enabled at once: program order is lost across waits.
    Literal,
    /// The paper's: only newly enabled labels follow a step, only concurrent accesses conflict, and an instruction
    /// makes each access once.
    Published,
}

/// A vertex: an access of a static instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Vertex {
    /// The instruction.
    pub instr: InstrId,
    /// Its thread.
    pub thread: ThreadId,
    /// Read or write.
    pub kind: Kind,
    /// What is accessed.
    pub location: LocationId,
    /// The location is vague: an array of which nobody can tell which elements are accessed.
    pub is_vague: bool,
}

impl Vertex {
    /// The row of a memory model's table for `self` before `later`.
    #[must_use]
    pub fn pair_with(&self, later: &Vertex) -> Pair {
        Pair { first: self.kind, second: later.kind, same_location: self.is_at_location_of(later) }
    }

    /// Whether both access the same memory for certain.
    #[must_use]
    pub fn is_at_location_of(&self, other: &Vertex) -> bool {
        self.location == other.location && !self.is_vague
    }

    /// Whether two accesses may conflict: different threads, one location, one of them a write.
    #[must_use]
    pub fn conflicts_with(&self, other: &Vertex) -> bool {
        self.thread != other.thread
            && self.location == other.location
            && (self.kind == Kind::Write || other.kind == Kind::Write)
    }
}

/// What is known of a static instruction besides its [outline](crate::outline::Instruction).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Instruction {
    /// Whether some evaluation of it writes: an update, not only a condition.
    pub update: bool,
    /// It makes several accesses, and nothing makes it atomic.
    pub composite: bool,
    /// Its evaluations; none if it was never tried.
    pub labels: Vec<LabelId>,
}

/// Where a value comes from: accesses of the same evaluation, by position, and locals as they were before it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sources {
    /// Positions in [`Evaluation::events`].
    pub events: Vec<usize>,
    /// Locals, read before the evaluation wrote them.
    pub locals: Vec<LocalId>,
}

/// An access within an evaluation, with what it depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its vertex.
    pub vertex: VertexId,
    /// What its address was computed from.
    pub address: Sources,
    /// What the written value was computed from; empty for reads.
    pub data: Sources,
    /// What the instruction's condition read; empty for accesses of the condition itself.
    pub control: Sources,
    /// The events before it in the instruction's own order (`pr`, transitively closed), sorted.
    pub before: Vec<usize>,
    /// The length of the longest chain of events that come before it, or would if their indices were equal: a fence
    /// inside the instruction stands between two levels.
    pub level: u32,
}

/// A local that the evaluation writes, and what its new value was computed from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalUpdate {
    /// The local.
    pub local: LocalId,
    /// Where its value comes from.
    pub value: Sources,
}

/// One evaluation of an instruction: a label, compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evaluation {
    /// The instruction's thread.
    pub thread: ThreadId,
    /// The instruction.
    pub instr: InstrId,
    /// A fence or an atomic instruction: whole, and preserved against everything on both sides.
    pub barrier: bool,
    /// What else it orders: a partial fence, or the marks of its accesses.
    pub kind: LabelKind,
    /// The shared accesses, each after those it depends on.
    pub events: Vec<Event>,
    /// What the condition used.
    pub condition: Sources,
    /// The locals written, each once.
    pub locals: Vec<LocalUpdate>,
    /// The labels that follow it.
    pub successors: Vec<LabelId>,
}

impl Evaluation {
    /// Whether it is in one piece, whatever else it orders: an atomic instruction.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.barrier || matches!(self.kind, LabelKind::Rmw(_))
    }

    /// The highest level before which a fence inside can stand; in an atomic instruction that is no barrier none can.
    #[must_use]
    pub fn last_level_inside(&self) -> u32 {
        if matches!(self.kind, LabelKind::Rmw(_)) { 0 } else { self.last_level() }
    }

    /// The highest level of its events.
    #[must_use]
    pub fn last_level(&self) -> u32 {
        self.events.iter().map(|event| event.level).max().unwrap_or(0)
    }
}

/// The abstract event graph without its conflicts, which depend on the memory model.
#[derive(Clone, Debug)]
pub struct AbstractEventGraph {
    /// Its vertices, with the names of all that reports speak of.
    pub accesses: Accesses,
    /// Names that may mean the same memory and were taken together: the array, and its names.
    pub taken_together: Vec<(String, Vec<String>)>,
    /// Static instructions, with the numbers of the outline.
    pub instructions: Vec<Instruction>,
    /// One for each label of the facts, same numbering.
    pub evaluations: Vec<Evaluation>,
    /// Labels enabled together in some state.
    pub concurrent: Vec<(LabelId, LabelId)>,
    /// Whose definitions it was built after.
    pub profile: Profile,
    /// What searches in it may use; once that is exhausted they find less than there is.
    pub budget: Budget,
    /// For each vertex, the labels that have it and its position there.
    occurrences: Vec<Vec<(LabelId, usize)>>,
    /// Number of locals of the whole program.
    num_of_locals: usize,
}

/// A graph is its vertices, and what is between them.
impl Deref for AbstractEventGraph {
    type Target = Accesses;

    fn deref(&self) -> &Accesses {
        &self.accesses
    }
}

impl AbstractEventGraph {
    /// The evaluation with this index.
    #[must_use]
    pub fn evaluation(&self, id: LabelId) -> &Evaluation {
        &self.evaluations[id.index()]
    }

    /// The instruction with this index.
    #[must_use]
    pub fn instruction(&self, id: InstrId) -> &Instruction {
        &self.instructions[id.index()]
    }

    /// Instructions with several accesses, unless something makes them atomic already.
    #[must_use]
    pub fn composites(&self) -> Vec<InstrId> {
        let all = (0..self.instructions.len()).map(InstrId::new);
        all.filter(|&instr| self.instruction(instr).composite).collect()
    }

    /// The evaluations that contain the vertex, and where in them.
    #[must_use]
    pub fn occurrences(&self, vertex: VertexId) -> &[(LabelId, usize)] {
        &self.occurrences[vertex.index()]
    }

    /// Number of locals of all threads together.
    #[must_use]
    pub fn num_of_locals(&self) -> usize {
        self.num_of_locals
    }

    /// Number of program-relation edges: within an evaluation, and from one label to the labels that follow it.
    #[must_use]
    pub fn num_of_program_edges(&self) -> usize {
        self.evaluations
            .iter()
            .map(|evaluation| {
                evaluation.successors.len() + evaluation.events.iter().map(|event| event.before.len()).sum::<usize>()
            })
            .sum()
    }
}
