//! The cheapest mixture of kinds: an implicit hitting set over tests (axioms.md §3).
//!
//! With some elements in place, every cycle must be a test that the model forbids. "Forbidden" only grows with what is
//! put in, but it is no "one of these": store buffering needs something in both threads. So a cycle that is still
//! allowed is asked for more: all elements that could touch it, those at the sites of its paths and on its accesses,
//! are put in one after the other as long as the model still allows it; one of those that are left over must be put in,
//! whatever else is. These demands are necessary, the cheapest elements that meet them are proposed, and when no cycle
//! is left that the model allows, nothing cheaper is enough: the implicit hitting set of
//! [`insertion`](crate::insertion), with more than one kind of element.
//!
//! *Necessary for the event graph.* A program may have no execution with the cycle, for its values; then less is
//! enough.

use super::Kinds;
use super::cycles::{Passages, Piece, TooMany};
use super::detail::{self, Route};
use super::elements::{Element, InPlace};
use super::paths::link;
use super::test::{Access, Between, Judge, Part};
use crate::aeg::AbstractEventGraph;
use crate::ids::{InstrId, VertexId};
use crate::insertion::maxsat::{Minimiser, Variable};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

/// How many cycles of one proposal are asked for more at once.
const AT_ONCE: usize = 64;

/// How many ways of one cycle are looked at.
const MOST_WAYS: usize = 32;

/// Why there is no mixture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoMixture {
    /// There are too many cycles.
    TooMany,
    /// Whatever is put in, a cycle is left.
    Unfixable,
    /// A limit of the command was reached.
    Exhausted,
}

impl From<TooMany> for NoMixture {
    fn from(_: TooMany) -> NoMixture {
        NoMixture::TooMany
    }
}

/// A cycle that a model allows.
pub struct Found {
    /// The parts of its threads, in order; the first is no single write.
    pub routes: Vec<Route>,
    /// Whether all accesses on its paths count, or only what is said of the weakest paths.
    in_detail: bool,
}

impl Found {
    /// Whether the model allows it with what is in place.
    fn is_allowed(&self, graph: &AbstractEventGraph, in_place: &InPlace, judge: &mut Judge) -> bool {
        let access =
            |vertex: VertexId| Access { kind: graph.vertex(vertex).kind, marks: in_place.marks(graph, vertex) };
        let part = |route: &Route| {
            let (entry, exit) = route.ends();
            let between = match route {
                Route::Write(vertex) => return Part::Write(in_place.marks(graph, *vertex)),
                Route::Atomic(from, _) => Between::Atomic(in_place.atomicity(graph, *from)),
                Route::Path(_, _, path) => Between::Order(link(graph, in_place, path)),
            };
            Part::Pass { entry: access(entry), exit: access(exit), between }
        };
        let parts: Vec<Part> = self.routes.iter().map(part).collect();
        judge.allows(&parts)
            && !(self.in_detail && detail::allows(graph, in_place, judge.model(), &self.routes) == Some(false))
    }
}

/// The cycle by the first pairs of its passages, and by each of the other pairs of one of them.
fn examples(pieces: &[Piece<'_>]) -> Vec<Found> {
    let pairs = |piece: &Piece<'_>| match piece {
        Piece::Passage(passage) => passage.pairs.len(),
        Piece::Write(_) => 1,
    };
    let route = |piece: &Piece<'_>, number: usize| match piece {
        Piece::Write(write) => Route::Write(write.vertex),
        Piece::Passage(passage) => {
            let pair = &passage.pairs[number];
            match &pair.path {
                Some(path) => Route::Path(pair.from, pair.to, path.clone()),
                None => Route::Atomic(pair.from, pair.to),
            }
        }
    };
    let with = |(position, number): (usize, usize)| {
        let of = |other: usize| if other == position { number } else { 0 };
        let routes = pieces.iter().enumerate().map(|(other, piece)| route(piece, of(other))).collect();
        Found { routes, in_detail: false }
    };
    let others = (0..pieces.len()).flat_map(|position| (1..pairs(&pieces[position])).map(move |n| (position, n)));
    std::iter::once((0, 0)).chain(others).map(with).collect()
}

impl Kinds<'_> {
    /// The elements of least cost with which the model forbids all cycles.
    ///
    /// # Errors
    /// If there are none, or that cannot be found out.
    pub fn cheapest(&self, judge: &mut Judge) -> Result<BTreeSet<Element>, NoMixture> {
        let graph = self.graph();
        let candidates = self.candidates();
        let variables: BTreeMap<Element, Variable> =
            candidates.iter().enumerate().map(|(variable, &element)| (element, variable)).collect();
        let mut minimiser = Minimiser::new(candidates.len(), &graph.budget);
        let mut best = None;
        let cost = |element| self.cost(element);
        let unfamiliarity = |element| self.costs.unfamiliarity(super::outcome::in_place(element).0);
        let unreadability = |element| self.unreadability(element);
        let mut weights: Vec<&dyn Fn(Element) -> u64> = vec![&cost, &unreadability];
        if self.costs.has_familiar() {
            weights.insert(1, &unfamiliarity);
        }
        for weight in weights {
            let mut failed = None;
            let chosen = minimiser.minimise(
                |variable| weight(candidates[variable]),
                |chosen| match self.demands(judge, chosen.iter().map(|&variable| candidates[variable])) {
                    Ok(demands) => demands.iter().map(|demand| demand.iter().map(|e| variables[e]).collect()).collect(),
                    Err(why) => {
                        failed = Some(why);
                        Vec::new()
                    }
                },
            );
            if let Some(why) = failed {
                return Err(why);
            }
            let Some(chosen) = chosen else { return best.ok_or(NoMixture::Exhausted) };
            best = Some(chosen.into_iter().map(|variable| candidates[variable]).collect());
        }
        Ok(Self::without_superfluous(&best.unwrap_or_default()))
    }

    /// What cycles demand that the model still allows with these elements.
    fn demands(
        &self,
        judge: &mut Judge,
        elements: impl Iterator<Item = Element>,
    ) -> Result<BTreeSet<BTreeSet<Element>>, NoMixture> {
        let in_place = self.in_place().with(elements);
        let mut demands = BTreeSet::new();
        let mut is_unfixable = false;
        self.allowed(judge, &in_place, &mut |judge, found| {
            let demand = self.demand(judge, &in_place, found);
            self.is_rough.set(self.is_rough.get() || !found.in_detail);
            is_unfixable |= demand.is_empty();
            demands.insert(demand);
            if is_unfixable || demands.len() >= AT_ONCE { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        if is_unfixable { Err(NoMixture::Unfixable) } else { Ok(demands) }
    }

    /// The elements of which one must be put in: what is left when as much as possible is put in, the strongest first,
    /// and the model still allows the cycle.
    fn demand(&self, judge: &mut Judge, in_place: &InPlace, found: &Found) -> BTreeSet<Element> {
        let mut as_much = in_place.clone();
        let mut left = BTreeSet::new();
        for element in self.touching(found) {
            let more = as_much.with([element]);
            if more == as_much {
                continue;
            }
            if found.is_allowed(self.graph(), &more, judge) {
                as_much = more;
            } else {
                left.insert(element);
            }
        }
        left
    }

    /// The elements that touch a cycle, the strongest first: what is left over are weak ones, then.
    fn touching(&self, found: &Found) -> Vec<Element> {
        let graph = self.graph();
        let mut elements: BTreeSet<Element> = BTreeSet::new();
        for route in &found.routes {
            let sites = route.path().map_or_else(BTreeSet::new, |path| path.sites(graph));
            elements.extend(sites.into_iter().flat_map(|site| self.offer.fences(site)));
            let (entry, exit) = route.ends();
            let mut instrs: BTreeSet<InstrId> = [entry, exit].map(|vertex| graph.vertex(vertex).instr).into();
            if found.in_detail {
                let labels = route.path().into_iter().flat_map(|path| &path.labels);
                instrs.extend(labels.map(|&label| graph.evaluation(label).instr));
            }
            elements.extend(instrs.into_iter().flat_map(|instr| self.marks_of(instr)));
        }
        let mut elements: Vec<Element> = elements.into_iter().collect();
        elements.sort_by_key(|&element| std::cmp::Reverse(self.cost(element)));
        elements
    }

    /// Shows every cycle that the model allows with what is in place.
    ///
    /// # Errors
    /// If there are too many cycles.
    pub(super) fn allowed(
        &self,
        judge: &mut Judge,
        in_place: &InPlace,
        visit: &mut dyn FnMut(&mut Judge, &Found) -> ControlFlow<()>,
    ) -> Result<(), NoMixture> {
        let passages = Passages::new(&self.cycles, in_place);
        let listed = passages.for_each(&self.left, &mut |pieces| {
            let parts: Vec<Part> = pieces.iter().map(Piece::part).collect();
            if !judge.allows(&parts) {
                return ControlFlow::Continue(());
            }
            match self.ways(pieces) {
                None => examples(pieces),
                Some(ways) => ways.into_iter().map(|routes| Found { routes, in_detail: true }).collect(),
            }
            .into_iter()
            .try_for_each(|found| {
                let is_allowed = found.is_allowed(self.graph(), in_place, judge);
                if is_allowed { visit(judge, &found) } else { ControlFlow::Continue(()) }
            })
        });
        match self.graph().budget.exhausted() {
            Some(_) => Err(NoMixture::Exhausted),
            None => Ok(listed?),
        }
    }

    /// All ways along which a cycle can go, if there are few.
    fn ways(&self, pieces: &[Piece<'_>]) -> Option<Vec<Vec<Route>>> {
        let mut ways: Vec<Vec<Route>> = vec![Vec::new()];
        for piece in pieces {
            let routes: Vec<Route> = match piece {
                Piece::Write(write) => vec![Route::Write(write.vertex)],
                Piece::Passage(passage) => {
                    let mut routes = Vec::new();
                    for pair in &passage.pairs {
                        match pair.path {
                            None => routes.push(Route::Atomic(pair.from, pair.to)),
                            Some(_) => routes.extend(
                                self.paths(pair.from, pair.to)?.into_iter().map(|p| Route::Path(pair.from, pair.to, p)),
                            ),
                        }
                    }
                    routes
                }
            };
            if ways.len() * routes.len() > MOST_WAYS {
                return None;
            }
            let longer = |way: &Vec<Route>| -> Vec<Vec<Route>> {
                routes.iter().map(|route| way.iter().chain([route]).cloned().collect()).collect()
            };
            ways = ways.iter().flat_map(longer).collect();
        }
        Some(ways)
    }

    /// Of two fences at one site the weaker one is not needed, nor are marks that others include.
    fn without_superfluous(elements: &BTreeSet<Element>) -> BTreeSet<Element> {
        let is_included = |element: &Element| match *element {
            Element::Fence(site, Some(_)) => elements.contains(&Element::Fence(site, None)),
            Element::Fence(_, None) | Element::Marks(..) => false,
        };
        elements.iter().copied().filter(|element| !is_included(element)).collect()
    }
}
