//! Which critical cycles a memory model allows, and the cheapest mixture of fences and marks that forbids them all
//! (axioms.md §2 and §3, method §13).
//!
//! The table of a model says of two accesses of a thread whether their order is kept. That is enough to be safe, and
//! more than enough on models that are not store-atomic, or whose fences and marks order some pairs and not others. The
//! axioms of the model say of a whole cycle whether an execution can have it. [`mod@test`] makes a candidate execution
//! of a cycle, [`link`] and [`paths`] say what stands between its accesses, [`cycles`] enumerates, and [`place`] puts
//! in what forbids all that is allowed, at the least cost.
//!
//! *What is presumed.* That axioms only forbid more when relations grow, which is computed of the model's text, and
//! that a chain of address dependencies orders what one does, which the built-in models have in common.

pub mod cycles;
pub mod detail;
pub mod elements;
pub mod link;
pub mod outcome;
pub mod paths;
pub mod place;
pub mod sketch;
pub mod test;

use crate::aeg::AbstractEventGraph;
use crate::analysis::{Analysis, Options};
use crate::cycles::{CycleGraph, Sideways};
use crate::ids::{InstrId, VertexId};
use crate::memory::{Kind, MemoryModel};
use crate::placement::cost::Costs;
use crate::placement::exact::unreadability;
use crate::safety::Synchronisation;
use elements::{Element, InPlace, Offer};
use paths::Path;
use place::NoMixture;
use rustc_hash::FxHashMap;
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use test::Judge;

/// How many steps all enumerations of cycles make together before that is given up.
pub const MOST_STEPS: u64 = 2_000_000;

/// All paths from one access to another, if these are few.
type Few = Option<Vec<Path>>;

/// A program and a memory model with its axioms, ready to be asked.
pub struct Kinds<'a> {
    cycles: CycleGraph<'a>,
    offer: Offer<'a>,
    costs: &'a Costs,
    in_place: InPlace,
    /// How many steps are left.
    left: Cell<u64>,
    /// For pairs of accesses, all paths between them, if these are few.
    paths: RefCell<FxHashMap<(VertexId, VertexId), Few>>,
    /// Whether something was asked for because of cycles of which only the weakest ways were looked at.
    is_rough: Cell<bool>,
}

impl<'a> Kinds<'a> {
    /// With these instructions locked.
    #[must_use]
    pub fn new(
        analysis: &'a Analysis,
        model: &'a MemoryModel,
        options: &'a Options,
        locked: &Synchronisation,
    ) -> Kinds<'a> {
        let conflicts = analysis.reachable();
        Kinds {
            cycles: CycleGraph::new(&analysis.graph, &analysis.order, conflicts, Sideways::Through(locked)),
            offer: Offer::of(model),
            costs: &options.costs,
            in_place: InPlace::locked(locked.locked.clone()),
            left: Cell::new(MOST_STEPS),
            paths: RefCell::default(),
            is_rough: Cell::new(false),
        }
    }

    /// Whether something was asked for because of cycles of which only the weakest ways were looked at: marks on
    /// accesses between might do the same for less.
    fn is_rough(&self) -> bool {
        self.is_rough.get()
    }

    fn graph(&self) -> &'a AbstractEventGraph {
        self.cycles.graph()
    }

    fn in_place(&self) -> &InPlace {
        &self.in_place
    }

    fn paths(&self, from: VertexId, to: VertexId) -> Few {
        let find = || detail::all_paths(self.graph(), from, to);
        self.paths.borrow_mut().entry((from, to)).or_insert_with(find).clone()
    }

    /// All that can be put in.
    fn candidates(&self) -> Vec<Element> {
        let graph = self.graph();
        let fences = graph.sites().into_iter().flat_map(|site| self.offer.fences(site).collect::<Vec<_>>());
        let instrs: BTreeSet<InstrId> = graph.vertices.iter().map(|vertex| vertex.instr).collect();
        let marks = instrs.into_iter().flat_map(|instr| self.marks_of(instr));
        fences.chain(marks).collect()
    }

    /// The marks that an instruction can get; none if it is a full fence anyway.
    fn marks_of(&self, instr: InstrId) -> Vec<Element> {
        let graph = self.graph();
        let vertices = graph.vertices.iter().filter(|vertex| vertex.instr == instr);
        let kinds: Vec<Kind> = vertices.map(|vertex| vertex.kind).collect();
        let labels = &graph.instruction(instr).labels;
        let mut evaluations = labels.iter().map(|&label| graph.evaluation(label));
        if evaluations.clone().any(|evaluation| self.in_place.is_barrier(evaluation)) {
            return Vec::new();
        }
        let is_rmw = evaluations.any(|evaluation| evaluation.is_whole());
        self.offer.marks(instr, &kinds, is_rmw).collect()
    }

    fn cost(&self, element: Element) -> u64 {
        let (site, strength) = outcome::in_place(element);
        self.costs.of_instruction(site, strength, self.offer.cost_of(strength))
    }

    fn unreadability(&self, element: Element) -> u64 {
        match element {
            Element::Fence(site, _) => unreadability(&self.graph().accesses, site),
            Element::Marks(..) => 0,
        }
    }

    /// The passages of threads, as pairs of accesses, that are on some cycle which the model allows.
    ///
    /// # Errors
    /// If there are too many cycles.
    pub fn feasible(&self, judge: &mut Judge) -> Result<BTreeSet<(VertexId, VertexId)>, NoMixture> {
        self.feasible_with(judge, &BTreeSet::new())
    }

    /// The same with these elements in place.
    ///
    /// # Errors
    /// If there are too many cycles.
    pub fn feasible_with(
        &self,
        judge: &mut Judge,
        elements: &BTreeSet<Element>,
    ) -> Result<BTreeSet<(VertexId, VertexId)>, NoMixture> {
        let mut pairs = BTreeSet::new();
        self.allowed(judge, &self.in_place.with(elements.iter().copied()), &mut |_, found| {
            pairs.extend(found.routes.iter().map(detail::Route::ends));
            ControlFlow::Continue(())
        })?;
        Ok(pairs)
    }

    /// Whether no cycle is left that the model allows, with these elements.
    ///
    /// # Errors
    /// If there are too many cycles.
    pub fn is_enough(&self, judge: &mut Judge, elements: &BTreeSet<Element>) -> Result<bool, NoMixture> {
        let mut found = false;
        self.allowed(judge, &self.in_place.with(elements.iter().copied()), &mut |_, _| {
            found = true;
            ControlFlow::Break(())
        })?;
        Ok(!found)
    }
}
