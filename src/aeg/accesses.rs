//! The accesses of a program with their names: all that a report needs to speak of them.
//!
//! An event graph has them, with the order between them; an engine that looks at no event graph supplies them alone
//! ([`Accesses::of`]). Threads and locations are named as they are shown: without the object that all names begin
//! with.

use super::Vertex;
use crate::ids::{InstrId, LocationId, ThreadId, VertexId};
use crate::memory::Kind;
use crate::natural::natural_order;
use crate::outline::{Outline, Site};
use std::collections::BTreeSet;

/// The accesses of a program.
#[derive(Clone, Debug, Default)]
pub struct Accesses {
    /// The threads and instructions of the program.
    pub outline: Outline,
    /// Thread names as they are shown.
    pub threads: Vec<String>,
    /// Shared locations, as they are shown.
    pub locations: Vec<String>,
    /// Vertices.
    pub vertices: Vec<Vertex>,
    /// For each instruction what is known of it; nothing if it was never tried, and then no fence stands there.
    pub(super) tried: Vec<Option<Tried>>,
    /// The object name that all names begin with; not shown.
    pub(super) prefix: String,
}

/// An instruction that was tried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tried {
    /// The highest level of its accesses.
    pub last_level: u32,
    /// It accesses nothing that is shared.
    pub is_quiet: bool,
}

impl Accesses {
    /// These accesses of a program, each by the full name of its location. All instructions count as tried; each has as
    /// many levels of accesses as is said, so that fences can stand inside of it.
    #[must_use]
    pub fn of(
        outline: Outline,
        accesses: &BTreeSet<(InstrId, Kind, String)>,
        last_level: impl Fn(InstrId) -> u32,
    ) -> Accesses {
        let names: BTreeSet<&String> = accesses.iter().map(|(.., name)| name).collect();
        let mut names: Vec<String> = names.into_iter().cloned().collect();
        names.sort_by(|a, b| natural_order(a, b));
        let location = |name: &str| names.binary_search_by(|known| natural_order(known, name)).map(LocationId::new);
        let vertex = |(instr, kind, name): &(InstrId, Kind, String)| Vertex {
            instr: *instr,
            thread: outline.instruction(*instr).thread,
            kind: *kind,
            location: location(name).expect("all locations were collected"),
            is_vague: false,
        };
        let vertices: BTreeSet<Vertex> = accesses.iter().map(vertex).collect();
        let accessing: BTreeSet<InstrId> = vertices.iter().map(|vertex| vertex.instr).collect();
        let tried = |instr| Tried { last_level: last_level(instr), is_quiet: !accessing.contains(&instr) };
        let tried = outline.instrs().map(|instr| Some(tried(instr))).collect();
        Accesses::named(outline, &names, vertices.into_iter().collect(), tried)
    }

    /// With the full names of the locations.
    pub(super) fn named(
        outline: Outline,
        locations: &[String],
        vertices: Vec<Vertex>,
        tried: Vec<Option<Tried>>,
    ) -> Accesses {
        let prefix = common_prefix(outline.threads.iter().chain(locations));
        let shown = |names: &[String]| names.iter().map(|name| name[prefix.len()..].to_owned()).collect();
        Accesses { threads: shown(&outline.threads), locations: shown(locations), outline, vertices, tried, prefix }
    }

    /// The vertex with this index.
    #[must_use]
    pub fn vertex(&self, id: VertexId) -> &Vertex {
        &self.vertices[id.index()]
    }

    /// All vertices.
    pub fn vertex_ids(&self) -> impl Iterator<Item = VertexId> + use<> {
        (0..self.vertices.len()).map(VertexId::new)
    }

    /// The vertex of this access, its location by its full name.
    #[must_use]
    pub fn find(&self, instr: InstrId, kind: Kind, location: &str) -> Option<VertexId> {
        let location = location.strip_prefix(&self.prefix)?;
        let location = self.locations.binary_search_by(|known| natural_order(known, location)).ok()?;
        let key = (instr, kind, LocationId::new(location));
        let of = |vertex: &Vertex| (vertex.instr, vertex.kind, vertex.location);
        self.vertices.iter().position(|vertex| of(vertex) == key).map(VertexId::new)
    }

    /// The thread of an instruction.
    #[must_use]
    pub fn thread_of(&self, instr: InstrId) -> ThreadId {
        self.outline.instruction(instr).thread
    }

    /// Thread and name of an instruction, as they are shown.
    #[must_use]
    pub fn names_of(&self, instr: InstrId) -> (&str, &str) {
        let instruction = self.outline.instruction(instr);
        (&self.threads[instruction.thread.index()], &instruction.name)
    }

    /// A label's text without the object name that all names begin with.
    #[must_use]
    pub fn shown(&self, text: &str) -> String {
        if self.prefix.is_empty() { text.to_owned() } else { text.replace(&self.prefix, "") }
    }

    /// The highest level of an instruction's accesses; a fence inside can stand before each level from 1 to this.
    #[must_use]
    pub fn last_level(&self, instr: InstrId) -> u32 {
        self.tried[instr.index()].map_or(0, |tried| tried.last_level)
    }

    /// Whether the instruction never accesses anything that is shared.
    #[must_use]
    pub fn is_quiet(&self, instr: InstrId) -> bool {
        self.tried[instr.index()].is_none_or(|tried| tried.is_quiet)
    }

    /// All sites of the program at which a fence can make a difference.
    #[must_use]
    pub fn sites(&self) -> BTreeSet<Site> {
        let mut sites = BTreeSet::new();
        for instr in self.outline.instrs().filter(|instr| self.tried[instr.index()].is_some()) {
            sites.extend([Site::before(instr), Site::after(instr)]);
            sites.extend((1..=self.last_level(instr)).map(|level| Site::inside(instr, level)));
            sites.extend(self.outline.junction_behind(instr));
        }
        sites
    }
}

/// The object name that all names begin with (`globalObject'`), which says nothing and is not shown; empty if there
/// is none.
pub(super) fn common_prefix<'n>(mut names: impl Iterator<Item = &'n String>) -> String {
    let object = names.next().and_then(|first| first.split_inclusive('\'').next()).unwrap_or("");
    let common = object.ends_with('\'') && names.all(|name| name.len() > object.len() && name.starts_with(object));
    if common { object.to_owned() } else { String::new() }
}
