//! Program order as it is drawn: each access, and each fence, leads to what comes next.
//!
//! The program relation of the graph is between labels; a picture is between accesses. Within an evaluation an edge
//! goes from an access to those that come directly after it in the instruction's own order; from one evaluation to
//! the next, from the accesses that nothing in it comes after to those that nothing in the next comes before.
//! Evaluations without accesses are looked through. Fences stand between: those of the program, and those that are to
//! be put in, at their points. Every edge between two accesses is program order; and program order is in the
//! transitive closure of the edges (which can have more: an access has one vertex, but several evaluations).
//!
//! *Cost:* O(evaluations × follows) in the worst case, when most evaluations have no accesses; else linear in the
//! size of the graph.

use crate::aeg::{Accesses, Evaluation};
use crate::ids::{InstrId, LabelId, VertexId};
use crate::outline::{Place, Site};
use std::collections::BTreeSet;

/// What is drawn in a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Node {
    /// An access.
    Access(VertexId),
    /// A fence that the program has.
    InPlace(InstrId),
    /// A fence that is to be put in.
    Suggested(Site),
}

impl Node {
    /// The instruction that it is of or at.
    #[must_use]
    pub fn instr(self, accesses: &Accesses) -> InstrId {
        match self {
            Node::Access(vertex) => accesses.vertex(vertex).instr,
            Node::InPlace(instr) => instr,
            Node::Suggested(point) => point.instr,
        }
    }
}

/// All nodes and the edges between them, with these fences put in.
#[must_use]
pub fn flow(
    accesses: &Accesses,
    evaluations: &[Evaluation],
    fences: &BTreeSet<Site>,
) -> (BTreeSet<Node>, BTreeSet<(Node, Node)>) {
    let at_state = |instr: InstrId| accesses.outline.site_behind(instr).filter(|site| fences.contains(site));
    let part = |evaluation: &Evaluation| Part::of(evaluation, fences, at_state(evaluation.instr));
    let parts: Vec<Part> = evaluations.iter().map(part).collect();
    let mut nodes: BTreeSet<Node> = accesses.vertex_ids().map(Node::Access).collect();
    nodes.extend(fences.iter().copied().map(Node::Suggested));
    let mut edges = BTreeSet::new();
    for (position, part) in parts.iter().enumerate() {
        nodes.extend(part.first.iter().copied());
        edges.extend(part.inner.iter().copied());
        if part.last.is_empty() {
            continue;
        }
        for next in next_parts(evaluations, &parts, LabelId::new(position)) {
            edges
                .extend(part.last.iter().flat_map(|&from| parts[next.index()].first.iter().map(move |&to| (from, to))));
        }
    }
    (nodes, edges)
}

/// The evaluations with something to draw that come next.
fn next_parts(evaluations: &[Evaluation], parts: &[Part], label: LabelId) -> BTreeSet<LabelId> {
    let (mut next, mut seen, mut stack) = (BTreeSet::new(), BTreeSet::new(), vec![label]);
    while let Some(current) = stack.pop() {
        for &successor in &evaluations[current.index()].successors {
            if !parts[successor.index()].first.is_empty() {
                next.insert(successor);
            } else if seen.insert(successor) {
                stack.push(successor);
            }
        }
    }
    next
}

/// What is drawn of an evaluation.
struct Part {
    first: Vec<Node>,
    last: Vec<Node>,
    inner: Vec<(Node, Node)>,
}

/// Something in an evaluation that has its place in the order.
enum Item {
    Before(Node),
    Event(usize),
    Inside(u32, Node),
    InPlace(Node),
    After(Node),
    /// At the state behind.
    Behind(Node),
}

impl Part {
    fn of(evaluation: &Evaluation, fences: &BTreeSet<Site>, behind: Option<Site>) -> Part {
        let fence = |place: Place| {
            let point = Site { instr: evaluation.instr, place };
            fences.contains(&point).then_some(Node::Suggested(point))
        };
        let mut items: Vec<Item> = Vec::new();
        items.extend(fence(Place::Before).map(Item::Before));
        // Marks are drawn where the access begins.
        items.extend(fence(Place::On).map(Item::Before));
        items.extend((0..evaluation.events.len()).map(Item::Event));
        if evaluation.barrier && evaluation.events.is_empty() {
            items.push(Item::InPlace(Node::InPlace(evaluation.instr)));
        }
        let levels = 1..=evaluation.last_level();
        items.extend(levels.filter_map(|level| fence(Place::Inside(level)).map(|node| Item::Inside(level, node))));
        items.extend(fence(Place::After).map(Item::After));
        items.extend(behind.map(|point| Item::Behind(Node::Suggested(point))));
        let node = |item: &Item| match *item {
            Item::Event(position) => Node::Access(evaluation.events[position].vertex),
            Item::Before(node) | Item::Inside(_, node) | Item::InPlace(node) => node,
            Item::After(node) | Item::Behind(node) => node,
        };
        let before = |a: &Item, b: &Item| is_before(evaluation, a, b);
        let mut part = Part { first: Vec::new(), last: Vec::new(), inner: Vec::new() };
        for item in &items {
            if !items.iter().any(|other| before(other, item)) {
                part.first.push(node(item));
            }
            if !items.iter().any(|other| before(item, other)) {
                part.last.push(node(item));
            }
            for later in items.iter().filter(|later| before(item, later)) {
                if !items.iter().any(|between| before(item, between) && before(between, later)) {
                    part.inner.push((node(item), node(later)));
                }
            }
        }
        part
    }
}

fn is_before(evaluation: &Evaluation, a: &Item, b: &Item) -> bool {
    match (a, b) {
        (Item::Behind(_), _) => false,
        (_, Item::Behind(_)) => true,
        (Item::Before(_), Item::Before(_)) | (Item::After(_), _) | (_, Item::Before(_)) => false,
        (Item::Before(_), _) | (_, Item::After(_)) => true,
        (Item::Event(earlier), Item::Event(later)) => evaluation.events[*later].before.contains(earlier),
        (Item::Event(event), Item::Inside(level, _)) => evaluation.events[*event].level < *level,
        (Item::Inside(level, _), Item::Event(event)) => evaluation.events[*event].level >= *level,
        (Item::Inside(earlier, _), Item::Inside(later, _)) => earlier < later,
        (Item::InPlace(_), _) | (_, Item::InPlace(_)) => false,
    }
}
