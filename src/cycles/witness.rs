//! A critical cycle as it is shown: its segments, its edges, and its name in diy's vocabulary.

use crate::aeg::Accesses;
use crate::ids::VertexId;
use crate::memory::Kind;

/// A thread's part of a cycle: where the cycle comes in and where it goes out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Segment {
    /// Where the cycle comes in.
    pub entry: VertexId,
    /// Where it goes out; equal to the entry if the thread takes part with one access, or with two of one vertex
    /// ([`Cycle::is_move`]).
    pub exit: VertexId,
}

/// A cycle: segments of distinct threads, the last one's exit conflicts with the first one's entry.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cycle {
    /// The segments in order. In the witness of a delay the first one is the delay.
    pub segments: Vec<Segment>,
}

/// An edge of a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edge {
    /// Program order within a thread.
    Program,
    /// From one access of an instruction to another that is not after it.
    Sideways,
    /// A conflict edge to another thread.
    Conflict,
    /// From a write to one of another location that becomes visible later (persistence).
    Store,
}

impl Cycle {
    /// The accesses of the cycle in order, each with the edge that leaves it; `is_sideways` tells of a segment, by its
    /// position, whether it moves within an instruction other than in its own order.
    #[must_use]
    pub fn steps(&self, accesses: &Accesses, is_sideways: impl Fn(usize) -> bool) -> Vec<Step> {
        let mut steps = Vec::new();
        for (position, segment) in self.segments.iter().enumerate() {
            let next = self.segments[(position + 1) % self.segments.len()].entry;
            if self.is_move(position) {
                let edge = if is_sideways(position) { Edge::Sideways } else { Edge::Program };
                steps.push(Step::new(accesses, segment.entry, edge, segment.exit));
            }
            let is_conflict = accesses.vertex(segment.exit).location == accesses.vertex(next).location;
            let edge = if is_conflict { Edge::Conflict } else { Edge::Store };
            steps.push(Step::new(accesses, segment.exit, edge, next));
        }
        steps
    }

    /// The conflict edges: from a segment's exit to the next one's entry.
    pub fn conflict_edges(&self) -> impl Iterator<Item = (VertexId, VertexId)> + '_ {
        let nexts = self.segments.iter().cycle().skip(1);
        self.segments.iter().zip(nexts).map(|(segment, next)| (segment.exit, next.entry))
    }

    /// Whether the thread of this segment takes part with two accesses. Entry and exit then differ, except where an
    /// instruction that accesses one location twice is torn between the two: such a cycle has one more segment, a
    /// single access of another thread, and begins with the torn one. (All others visit two locations, and so change
    /// the location.)
    #[must_use]
    pub fn is_move(&self, position: usize) -> bool {
        let is_at_one_vertex = |segment: &Segment| segment.entry == segment.exit;
        !is_at_one_vertex(&self.segments[position]) || (position == 0 && self.segments.iter().all(is_at_one_vertex))
    }

    /// The number of accesses.
    #[must_use]
    pub fn num_of_accesses(&self) -> usize {
        (0..self.segments.len()).map(|position| if self.is_move(position) { 2 } else { 1 }).sum()
    }
}

/// An access of a cycle and the edge that leaves it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The access.
    pub vertex: VertexId,
    /// The edge to the next access.
    pub edge: Edge,
    /// The edge's name: `PodWR`, `Fre`, `Rfe`, `Coe`, `Torn..` for a sideways move, or `Sto` for the order of writes
    /// to different locations.
    pub name: String,
}

impl Step {
    /// Whether a dependency keeps the order, as far as the name says.
    #[must_use]
    pub fn is_dependency(&self) -> bool {
        self.name.starts_with("Dp")
    }

    fn new(accesses: &Accesses, from: VertexId, edge: Edge, to: VertexId) -> Step {
        let (a, b) = (accesses.vertex(from), accesses.vertex(to));
        let where_to = if a.location == b.location { 's' } else { 'd' };
        let name = match (edge, a.kind, b.kind) {
            (Edge::Program, ..) => format!("Po{where_to}{}{}", a.kind, b.kind),
            (Edge::Sideways, ..) => format!("Torn{where_to}{}{}", a.kind, b.kind),
            (Edge::Conflict, Kind::Write, Kind::Read) => "Rfe".to_owned(),
            (Edge::Conflict, Kind::Read, _) => "Fre".to_owned(),
            (Edge::Conflict, Kind::Write, Kind::Write) => "Coe".to_owned(),
            (Edge::Store, ..) => "Sto".to_owned(),
        };
        Step { vertex: from, edge, name }
    }
}
