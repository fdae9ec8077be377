//! What fences must do, path by path: every unsafe path of every delay asks for a fence at one of the points that it
//! crosses (method §9).
//!
//! For loop-free programs this is a finite list, made from [`rewriting`](super::rewriting) alone; whether fences are
//! enough is then a matter of looking it up.

use super::rewriting::{Named, Performed, paths, perform};
use seqcon::analysis::{Analysis, ModelOutcome};
use seqcon::facts::Facts;
use seqcon::ids::{InstrId, ThreadId, VertexId};
use seqcon::lts::label::{Label, LabelKind};
use seqcon::memory::FenceStrength;
use seqcon::outline::{Outline, Place, Site};
use std::collections::{BTreeMap, BTreeSet};

/// Fences by point.
pub type Fences = BTreeMap<Site, FenceStrength>;

/// A fence at one of the points, at least of this strength.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Demand {
    pub points: BTreeSet<Site>,
    pub strength: FenceStrength,
}

impl Demand {
    pub fn is_met(&self, fences: &Fences) -> bool {
        self.points.iter().any(|point| fences.get(point).is_some_and(|&present| present >= self.strength))
    }
}

/// The demands of each thread's delays, in a program without loops.
pub fn demands(facts: &Facts, analysis: &Analysis, outcome: &ModelOutcome) -> BTreeMap<ThreadId, BTreeSet<Demand>> {
    let graph = &analysis.graph;
    let mut successors = vec![Vec::new(); facts.labels.len()];
    for (label, evaluation) in graph.evaluations.iter().enumerate() {
        successors[label].extend(evaluation.successors.iter().map(|next| next.index()));
    }
    let instr_of = |label: usize| graph.evaluations[label].instr;
    // A locked instruction is whole and keeps every order, as an atomic one.
    let labels: Vec<Label> = (0..facts.labels.len())
        .map(|label| {
            let mut locked = facts.labels[label].clone();
            if outcome.findings.in_place.locked.contains(&instr_of(label)) {
                locked.kind = LabelKind::Atomic;
            }
            locked
        })
        .collect();
    let mut demands: BTreeMap<ThreadId, BTreeSet<Demand>> = BTreeMap::new();
    for path in paths(&successors, 0..labels.len(), labels.len()) {
        let performed = perform(&path.iter().map(|&label| &labels[label]).collect::<Vec<_>>());
        let instrs: Vec<InstrId> = path.iter().map(|&label| instr_of(label)).collect();
        let overtaking = performed.overtaking_by_chains(&outcome.model);
        let no_barrier = performed.items.iter().all(|item| !item.barrier);
        for (a, b) in ends(&performed, path.len() - 1) {
            let vertex = |item: usize| named_vertex(analysis, instrs[0], &performed.items[item].accesses[0]);
            let pair = (vertex(a), vertex(b));
            for delay in outcome.findings.delays.iter().filter(|delay| (delay.from, delay.to) == pair) {
                let mut add = |strength| {
                    let demand = Demand { points: crossed(&graph.outline, &performed, &instrs, (a, b)), strength };
                    demands.entry(graph.vertex(pair.0).thread).or_default().insert(demand);
                };
                if delay.is_unsafe && overtaking.contains(&(a, b)) {
                    add(FenceStrength::Plain);
                }
                if delay.cumulative && no_barrier {
                    add(FenceStrength::Cumulative);
                }
            }
        }
    }
    demands
}

/// The pairs in program order from an access of the first label to one of the last.
fn ends(performed: &Performed, last: usize) -> Vec<(usize, usize)> {
    let at = |label: usize| {
        (0..performed.items.len())
            .filter(move |&item| performed.items[item].label == label && !performed.items[item].barrier)
    };
    at(0).flat_map(|a| at(last).map(move |b| (a, b))).filter(|&(a, b)| performed.is_before(a, b)).collect()
}

fn named_vertex(analysis: &Analysis, on_thread_of: InstrId, (instr, kind, location): &Named) -> VertexId {
    let graph = &analysis.graph;
    let thread = graph.thread_of(on_thread_of);
    let found = graph.vertex_ids().find(|&id| {
        let vertex = graph.vertex(id);
        vertex.thread == thread
            && vertex.kind == *kind
            && graph.names_of(vertex.instr).1 == *instr
            && graph.locations[vertex.location.index()] == *location
    });
    found.expect("every access is a vertex")
}

/// The control state that the instruction leads to, if several instructions do and several begin there.
fn state_behind(outline: &Outline, instr: InstrId) -> Option<Site> {
    let state = outline.instructions[instr.index()].way?.to;
    let leading = outline.instrs().filter(|&other| outline.instructions[other.index()].way.unwrap().to == state);
    let beginning = outline.instructions.iter().filter(|other| other.way.unwrap().from == state);
    let (leading, beginning): (Vec<InstrId>, usize) = (leading.collect(), beginning.count());
    (leading.len() > 1 && beginning > 1).then(|| Site { instr: leading[0], place: Place::State })
}

/// The points between two items of a path.
fn crossed(outline: &Outline, performed: &Performed, instrs: &[InstrId], (a, b): (usize, usize)) -> BTreeSet<Site> {
    let mut points = BTreeSet::new();
    let last = instrs.len() - 1;
    for (position, &instr) in instrs.iter().enumerate() {
        let from = if position == 0 { performed.level(a) } else { 0 };
        let to = if position == last { performed.level(b) } else { performed.last_level(position) };
        points.extend((from + 1..=to).map(|level| Site { instr, place: Place::Inside(level) }));
        if position > 0 {
            points.insert(Site { instr, place: Place::Before });
        }
        if position < last {
            points.insert(Site { instr, place: Place::After });
            points.extend(state_behind(outline, instr));
        }
    }
    points
}
