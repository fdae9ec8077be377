//! The witness of a delay is the first of the shortest cycles, in the order that the search promises: held against a
//! search that drops nothing.

use crate::support::analyse::models;
use crate::support::random::random_cases;
use crate::support::random_facts::{Shape, random_facts};
use rand::seq::IndexedRandom;
use seqcon::aeg::{AbstractEventGraph, Conflicts, Profile, ProgramOrder};
use seqcon::cycles::{self, Atomicity, ConflictRule, Listing, Segment, Setting};
use seqcon::ids::VertexId;
use seqcon::safety::{Synchronisation, UnsafePairs};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

/// Paths layer by layer: no pruning, no dominance, every path is kept.
struct Plain<'a> {
    graph: &'a AbstractEventGraph,
    conflicts: &'a Conflicts,
    moves: BTreeSet<(VertexId, VertexId)>,
}

/// From `b` to the exit of the last segment; the first segment is (b, b).
type Path = Vec<Segment>;

impl<'a> Plain<'a> {
    fn new(graph: &'a AbstractEventGraph, order: &ProgramOrder, conflicts: &'a Conflicts) -> Plain<'a> {
        let mut moves: BTreeSet<_> = graph.vertex_ids().flat_map(|a| order.after(a).map(move |b| (a, b))).collect();
        for evaluation in graph.evaluations.iter().filter(|evaluation| evaluation.barrier) {
            for (i, from) in evaluation.events.iter().enumerate() {
                let others = evaluation.events.iter().enumerate().filter(|(j, _)| i != *j);
                moves.extend(others.map(|(_, to)| (from.vertex, to.vertex)));
            }
        }
        moves.retain(|&(a, b)| !graph.vertex(a).is_at_location_of(graph.vertex(b)));
        Plain { graph, conflicts, moves }
    }

    fn is_thread_free(&self, path: &Path, vertex: VertexId) -> bool {
        path.iter().all(|segment| self.graph.vertex(segment.exit).thread != self.graph.vertex(vertex).thread)
    }

    /// All ways on from a path into one more thread that is passed from `entry`.
    fn pass(&self, path: &Path, entry: VertexId) -> Vec<Path> {
        let is_used = |exit: VertexId| {
            path.iter().any(|segment| self.graph.vertex(segment.exit).is_at_location_of(self.graph.vertex(exit)))
        };
        let exits = self.moves.iter().filter(|&&(from, exit)| from == entry && !is_used(exit));
        exits.map(|&(_, exit)| [&path[..], &[Segment { entry, exit }]].concat()).collect()
    }

    /// The single accesses after a path.
    fn singles(&self, path: &Path) -> Vec<Path> {
        let exit = path[path.len() - 1].exit;
        let singles = self.conflicts.of(exit).iter().filter(|&&single| self.is_thread_free(path, single));
        singles.map(|&single| [&path[..], &[Segment { entry: single, exit: single }]].concat()).collect()
    }

    /// For each entry wanted, the first cycle.
    fn first_cycles(&self, b: VertexId, wanted: &BTreeSet<VertexId>) -> BTreeMap<VertexId, Vec<Segment>> {
        let mut found = BTreeMap::new();
        let mut close = |path: &Path, last: VertexId, entry: VertexId| {
            if wanted.contains(&entry) && self.conflicts.contains(last, entry) {
                let mut segments = path.clone();
                segments[0] = Segment { entry, exit: b };
                found.entry(entry).or_insert(segments);
            }
        };
        let mut layers: Vec<Vec<Path>> = Vec::new();
        for length in 0_usize.. {
            let layer = |back: usize| length.checked_sub(back).map_or(&[][..], |at| &layers[at] as &[Path]);
            let mut here: Vec<Path> = if length == 0 { vec![vec![Segment { entry: b, exit: b }]] } else { Vec::new() };
            for path in layer(3) {
                let exit = path[path.len() - 1].exit;
                for over in self.singles(path) {
                    let entries = self.conflicts.of(over[over.len() - 1].exit).iter();
                    let entries = entries
                        .filter(|&&entry| self.is_thread_free(&over, entry) && !self.conflicts.contains(exit, entry));
                    here.extend(entries.flat_map(|&entry| self.pass(&over, entry)));
                }
            }
            for path in layer(2) {
                let entries = self.conflicts.of(path[path.len() - 1].exit).iter();
                let entries = entries.filter(|&&entry| self.is_thread_free(path, entry));
                here.extend(entries.flat_map(|&entry| self.pass(path, entry)));
            }
            for path in &here {
                let exit = path[path.len() - 1].exit;
                self.conflicts.of(exit).iter().for_each(|&entry| close(path, exit, entry));
            }
            for path in layer(1) {
                let exit = path[path.len() - 1].exit;
                for over in self.singles(path) {
                    let single = over[over.len() - 1].exit;
                    let entries =
                        self.conflicts.of(single).iter().filter(|&&entry| !self.conflicts.contains(exit, entry));
                    entries.for_each(|&entry| close(&over, single, entry));
                }
            }
            if here.is_empty() && layer(1).is_empty() && layer(2).is_empty() {
                break;
            }
            layers.push(here);
        }
        found
    }
}

#[test]
fn the_witness_is_the_first_of_the_shortest_cycles() {
    let shapes = [
        Shape { most_threads: 4, most_instrs: 3, most_locations: 3, most_accesses: 5, loops: true, dependencies: true },
        Shape {
            most_threads: 6,
            most_instrs: 2,
            most_locations: 6,
            most_accesses: 3,
            loops: true,
            dependencies: false,
        },
        Shape {
            most_threads: 4,
            most_instrs: 6,
            most_locations: 3,
            most_accesses: 7,
            loops: true,
            dependencies: false,
        },
    ];
    let (compared, longest) = (Cell::new(0), Cell::new(0));
    random_cases(2000, |rng| {
        let shape = shapes.choose(rng).expect("not empty");
        let facts = random_facts(rng, shape);
        let model = models().iter().filter(|model| model.store_atomic).collect::<Vec<_>>();
        let model = *model.choose(rng).expect("not empty");
        let graph = AbstractEventGraph::build(&facts, Profile::Sound);
        let (order, reachable) = (ProgramOrder::new(&graph), Conflicts::reachable(&graph));
        let setting = Setting {
            graph: &graph,
            order: &order,
            reachable: &reachable,
            rule: ConflictRule::Reachable,
            atomicity: Atomicity::Split,
            listing: Listing::None,
        };
        let delays = cycles::find(&setting, model).delays;
        let unsafe_pairs = UnsafePairs::new(&graph, model, &Synchronisation::none());
        let plain = Plain::new(&graph, &order, &reachable);
        let mut expected = BTreeMap::new();
        for b in graph.vertex_ids() {
            let entries = graph.vertex_ids().filter(|&a| plain.moves.contains(&(a, b)) && unsafe_pairs.contains(a, b));
            let found = plain.first_cycles(b, &entries.collect());
            expected.extend(found.into_iter().map(|(a, segments)| ((a, b), segments)));
        }
        let labels: Vec<String> = facts.labels.iter().map(ToString::to_string).collect();
        let found: BTreeMap<_, _> =
            delays.into_iter().map(|delay| ((delay.from, delay.to), delay.witness.segments)).collect();
        assert_eq!(found, expected, "{} {labels:#?} {:?}", model.name, facts.follows);
        compared.set(compared.get() + found.len());
        longest.set(found.values().map(Vec::len).chain([longest.get()]).max().unwrap_or(0));
    });
    println!("{} witnesses compared, up to {} threads", compared.get(), longest.get());
    assert!(compared.get() > 100 && longest.get() > 2, "hardly anything was compared: this test shows nothing");
}
