//! Unsafe pairs are what rewriting paths by adjacent swaps gives (method §5), for random threads and all memory models.

use crate::support::analyse::models;
use crate::support::random::random_cases;
use crate::support::random_facts::{Shape, random_facts};
use crate::support::rewriting::{Named, Performed, paths, perform};
use rand::rngs::StdRng;
use seqcon::aeg::{AbstractEventGraph, Profile};
use seqcon::facts::Facts;
use seqcon::memory::MemoryModel;
use seqcon::safety::{Synchronisation, UnsafePairs};
use std::collections::BTreeSet;

type NamedPair = (String, Named, Named);

/// The library's unsafe pairs, by name.
fn from_library(facts: &Facts, model: &MemoryModel) -> BTreeSet<NamedPair> {
    let graph = AbstractEventGraph::build(facts, Profile::Sound);
    let pairs = UnsafePairs::new(&graph, model, &Synchronisation::none());
    let named = |id| {
        let vertex = graph.vertex(id);
        let instr = graph.names_of(vertex.instr).1.to_owned();
        (instr, vertex.kind, graph.locations[vertex.location.index()].clone())
    };
    let thread = |id| graph.threads[graph.vertex(id).thread.index()].clone();
    let all = graph.vertex_ids().flat_map(|a| graph.vertex_ids().map(move |b| (a, b)));
    all.filter(|&(a, b)| pairs.contains(a, b)).map(|(a, b)| (thread(a), named(a), named(b))).collect()
}

/// The unsafe pairs of all paths up to a length, each path judged by `overtaking`, if its items are few enough for
/// that.
fn from_paths(
    facts: &Facts,
    length: usize,
    most_items: usize,
    overtaking: impl Fn(&Performed) -> BTreeSet<(usize, usize)>,
) -> BTreeSet<NamedPair> {
    let mut successors = vec![Vec::new(); facts.labels.len()];
    for pair in &facts.follows {
        successors[pair.from.index()].push(pair.to.index());
    }
    let mut found = BTreeSet::new();
    for path in paths(&successors, 0..facts.labels.len(), length) {
        let labels: Vec<_> = path.iter().map(|&label| &facts.labels[label]).collect();
        let performed = perform(&labels);
        if performed.items.len() > most_items {
            continue;
        }
        for (a, b) in overtaking(&performed) {
            let (first, last) = (&performed.items[a], &performed.items[b]);
            // Pairs further inside belong to shorter paths.
            if first.label == 0 && last.label == path.len() - 1 {
                found.insert((labels[0].thread.clone(), first.accesses[0].clone(), last.accesses[0].clone()));
            }
        }
    }
    found
}

fn describe(facts: &Facts, model: &MemoryModel) -> String {
    let labels: Vec<String> = facts.labels.iter().map(ToString::to_string).collect();
    let follows: Vec<String> = facts.follows.iter().map(|pair| format!("{} -> {}", pair.from.0, pair.to.0)).collect();
    format!("{}: {labels:#?}\n{follows:?}", model.name)
}

const SHAPE: Shape =
    Shape { most_threads: 2, most_instrs: 4, most_locations: 4, most_accesses: 6, loops: false, dependencies: true };

fn for_each_model(rng: &mut StdRng, shape: &Shape, test: impl Fn(&Facts, &MemoryModel)) {
    let facts = random_facts(rng, shape);
    models().iter().for_each(|model| test(&facts, model));
}

#[test]
fn loop_free_threads_have_exactly_the_unsafe_pairs_of_all_rewritings() {
    random_cases(1000, |rng| {
        for_each_model(rng, &SHAPE, |facts, model| {
            let expected = from_paths(facts, facts.labels.len(), usize::MAX, |performed| performed.overtaking(model));
            assert_eq!(from_library(facts, model), expected, "{}", describe(facts, model));
        });
    });
}

#[test]
fn chains_decide_what_rewriting_decides() {
    // The longer paths below are judged by chains; this holds the two against each other, apart from the library.
    random_cases(1000, |rng| {
        for_each_model(rng, &Shape { loops: true, ..SHAPE }, |facts, model| {
            let rewriting = from_paths(facts, 3, 6, |performed| performed.overtaking(model));
            let chains = from_paths(facts, 3, 6, |performed| performed.overtaking_by_chains(model));
            assert_eq!(chains, rewriting, "{}", describe(facts, model));
        });
    });
}

#[test]
fn threads_with_loops_have_all_unsafe_pairs_of_paths_up_to_a_length() {
    let shape = Shape { loops: true, most_instrs: 3, ..SHAPE };
    random_cases(1000, |rng| {
        for_each_model(rng, &shape, |facts, model| {
            let some = from_paths(facts, 5, usize::MAX, |performed| performed.overtaking_by_chains(model));
            let all = from_library(facts, model);
            let missed: Vec<_> = some.difference(&all).collect();
            assert!(missed.is_empty(), "missed {missed:?} of\n{}", describe(facts, model));
        });
    });
}
