//! What can be put in: a fence of some kind at a site, or marks on an instruction's accesses.
//!
//! An [`Element`] is one of them; [`InPlace`] is what has been put in, as walks and tests see it. More elements never
//! order less.

use super::link::Link;
use super::outcome::in_place;
use crate::aeg::{AbstractEventGraph, Evaluation};
use crate::ids::{InstrId, LabelId, VertexId};
use crate::lts::label::LabelKind;
use crate::memory::cat::execution::Atomicity;
use crate::memory::{FenceInstruction, FenceStrength, Kind, MarkInstruction, MemoryModel};
use crate::ordering::{Accesses, Marks, PartialFence};
use crate::outline::Site;
use std::collections::{BTreeMap, BTreeSet};

/// Something that orders more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Element {
    /// A fence; none stands for a full one.
    Fence(Site, Option<PartialFence>),
    /// Marks on the accesses of an instruction.
    Marks(InstrId, Marks),
}

/// What is in place besides the program's own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InPlace {
    fences: BTreeMap<Site, Link>,
    marks: BTreeMap<InstrId, Marks>,
    locked: BTreeSet<InstrId>,
}

impl InPlace {
    /// These instructions are locked, and nothing else is in place.
    #[must_use]
    pub fn locked(locked: BTreeSet<InstrId>) -> InPlace {
        InPlace { locked, ..InPlace::default() }
    }

    /// With these elements.
    #[must_use]
    pub fn with(&self, elements: impl IntoIterator<Item = Element>) -> InPlace {
        let mut all = self.clone();
        for element in elements {
            match element {
                Element::Fence(site, kind) => {
                    *all.fences.entry(site).or_default() |= kind.map_or(Link::FULL, Link::fence);
                }
                Element::Marks(instr, marks) => {
                    let known = all.marks.entry(instr).or_default();
                    *known = known.and(marks);
                }
            }
        }
        all
    }

    /// The fences at a site.
    #[must_use]
    pub fn fence(&self, site: Site) -> Link {
        self.fences.get(&site).copied().unwrap_or_default()
    }

    /// Whether the evaluation keeps every order on both sides: a full fence, an atomic or a locked instruction.
    #[must_use]
    pub fn is_barrier(&self, evaluation: &Evaluation) -> bool {
        evaluation.barrier || self.locked.contains(&evaluation.instr)
    }

    /// How whole the instruction of an access is, which is known to be indivisible.
    #[must_use]
    pub fn atomicity(&self, graph: &AbstractEventGraph, vertex: VertexId) -> Atomicity {
        let is_barrier = |&(label, _): &(LabelId, usize)| self.is_barrier(graph.evaluation(label));
        if graph.occurrences(vertex).iter().all(is_barrier) { Atomicity::Fenced } else { Atomicity::Indivisible }
    }

    /// The marks of an access: those of the program, and those put in.
    #[must_use]
    pub fn marks(&self, graph: &AbstractEventGraph, vertex: VertexId) -> Marks {
        let instr = graph.vertex(vertex).instr;
        let own =
            graph.occurrences(vertex).first().map_or(Marks::NONE, |&(label, _)| match graph.evaluation(label).kind {
                LabelKind::Marked(marks) | LabelKind::Rmw(marks) => marks,
                LabelKind::Plain | LabelKind::Fence | LabelKind::PartialFence(_) | LabelKind::Atomic => Marks::NONE,
            });
        own.and(self.marks.get(&instr).copied().unwrap_or_default())
    }
}

/// What an architecture has, as elements to choose from.
pub struct Offer<'m> {
    model: &'m MemoryModel,
}

impl<'m> Offer<'m> {
    /// What a memory model has.
    #[must_use]
    pub fn of(model: &'m MemoryModel) -> Offer<'m> {
        Offer { model }
    }

    /// The fences that can stand at a site.
    pub fn fences(&self, site: Site) -> impl Iterator<Item = Element> {
        self.model.fences.iter().filter_map(move |fence| kind_of(fence).map(|kind| Element::Fence(site, kind)))
    }

    /// The marks that an instruction can carry whose accesses are of these kinds.
    pub fn marks(&self, instr: InstrId, accesses: &[Kind], is_rmw: bool) -> impl Iterator<Item = Element> {
        let fits = move |mark: &&MarkInstruction| {
            mark.of_accesses.iter().any(|kind| accesses.contains(kind)) && (is_rmw || !mark.only_rmw)
        };
        let marks: Vec<Element> =
            self.model.marks.iter().filter(fits).map(|mark| Element::Marks(instr, mark.marks)).collect();
        marks.into_iter()
    }

    /// What it costs by itself.
    #[must_use]
    pub fn cost_of(&self, strength: FenceStrength) -> u64 {
        match strength {
            FenceStrength::Marks(marks) => self.marks_in(marks).map(|mark| mark.cost).sum(),
            _ => self.fence(strength).map_or(1, |fence| fence.cost),
        }
    }

    /// What the architecture calls it.
    #[must_use]
    pub fn mnemonic(&self, strength: FenceStrength) -> String {
        let names: Vec<&str> = match strength {
            FenceStrength::Marks(marks) => self.marks_in(marks).map(|mark| mark.mnemonic.as_str()).collect(),
            _ => self.fence(strength).map(|fence| fence.mnemonic.as_str()).into_iter().collect(),
        };
        if names.is_empty() { strength.to_string() } else { names.join(" + ") }
    }

    /// The cheapest that the architecture has of those that do all of this.
    #[must_use]
    pub fn at_least(&self, strength: FenceStrength) -> FenceStrength {
        if matches!(strength, FenceStrength::Marks(_)) {
            return strength;
        }
        let kinds = self.model.fences.iter().filter_map(|fence| Some((fence.cost, strength_of(kind_of(fence)?))));
        let enough = kinds.filter(|(_, kind)| kind.does_all_of(strength));
        enough.min_by_key(|(cost, _)| *cost).map_or(FenceStrength::Plain, |(_, kind)| kind)
    }

    fn fence(&self, strength: FenceStrength) -> Option<&'m FenceInstruction> {
        self.model.fences.iter().find(|fence| kind_of(fence).is_some_and(|kind| strength_of(kind) == strength))
    }

    /// The instructions that carry one of these marks; of one that is said twice, the stronger.
    fn marks_in(&self, marks: Marks) -> impl Iterator<Item = &'m MarkInstruction> {
        let all = &self.model.marks;
        let is_in = move |mark: &&MarkInstruction| marks.has(mark.marks);
        let is_covered = move |mark: &MarkInstruction| {
            mark.marks == Marks::ACQUIRE_PC && marks.has(Marks::ACQUIRE)
                || mark.marks != Marks::SC && marks.has(Marks::SC)
        };
        all.iter().filter(is_in).filter(move |mark| !is_covered(mark))
    }
}

fn strength_of(kind: Option<PartialFence>) -> FenceStrength {
    in_place(Element::Fence(Site::after(InstrId(0)), kind)).1
}

/// The kind of a fence by what it orders; nothing for one that is not told apart from stronger ones.
fn kind_of(fence: &FenceInstruction) -> Option<Option<PartialFence>> {
    use Accesses::{All, Reads, Writes};
    use Kind::{Read, Write};
    let has = |pair| fence.orders.contains(&pair);
    match [(Write, Read), (Write, Write), (Read, Read), (Read, Write)].map(has) {
        [true, true, true, true] => Some(None),
        [false, true, true, true] => Some(Some(PartialFence::Lightweight)),
        [false, true, false, false] => Some(Some(PartialFence::Stores)),
        [false, false, true, true] => Some(Some(PartialFence::Loads)),
        [true, false, false, false] => Some(Some(PartialFence::Between(Writes, Reads))),
        [true, true, false, false] => Some(Some(PartialFence::Between(Writes, All))),
        [true, false, true, false] => Some(Some(PartialFence::Between(All, Reads))),
        [false, true, false, true] => Some(Some(PartialFence::Between(All, Writes))),
        [false, false, true, false] => Some(Some(PartialFence::Between(Reads, Reads))),
        [false, false, false, true] => Some(Some(PartialFence::Between(Reads, Writes))),
        _ => None,
    }
}
