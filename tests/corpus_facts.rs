//! Every row of the corpus' `expected-facts.csv`, all columns, through the library.

mod support;

use seqcon::aeg::Profile;
use seqcon::analysis::{Analysis, Options};
use seqcon::cycles::Atomicity;
use seqcon::facts::extract::{self, NoProgress};
use seqcon::facts::{self, Facts};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use support::analyse::model;
use support::corpus::corpus_dir;

/// What the analysis says, in the columns of the expectation.
fn row(name: &str, columns: &[&str], facts: &Facts) -> String {
    let (memory_model, profile_name, atomicity_name) = (columns[1], columns[2], columns[3]);
    let profile = match profile_name {
        "sound" => Profile::Sound,
        "published" => Profile::Published,
        other => panic!("unknown profile {other}"),
    };
    let atomicity = match atomicity_name {
        "off" => Atomicity::Off,
        "full" => Atomicity::Full,
        other => panic!("unknown atomicity {other}"),
    };
    let analysis = Analysis::new(facts.clone(), profile);
    let outcome = analysis.run(&model(memory_model), &Options { atomicity, ..Options::default() });
    assert!(outcome.recheck.enough && outcome.recheck.each_needed && outcome.placement.proved_minimal);
    let follows: usize = analysis.graph.evaluations.iter().map(|evaluation| evaluation.successors.len()).sum();
    let figures = [
        analysis.num_of_states.to_string(),
        analysis.num_of_transitions.to_string(),
        analysis.labels.len().to_string(),
        follows.to_string(),
        facts.concurrent.len().to_string(),
        analysis.graph.vertices.len().to_string(),
        outcome.findings.num_of_concurrent_conflicts.to_string(),
        outcome.findings.num_of_reachable_conflicts.to_string(),
        outcome.num_of_delays().to_string(),
        outcome.num_of_cumulative_delays().to_string(),
        outcome.findings.torn.len().to_string(),
        outcome.fences.len().to_string(),
    ];
    format!("{name},{memory_model},{profile_name},{atomicity_name},{}", figures.join(","))
}

fn load(corpus: &Path, name: &str) -> Facts {
    let path = corpus.join(format!("aut/{name}.aut"));
    let loaded = facts::load(&path, &extract::Options::default(), &NoProgress);
    loaded.unwrap_or_else(|error| panic!("{name}: {error}")).facts
}

#[test]
fn every_row_of_the_expected_facts_comes_out() {
    let Some(corpus) = corpus_dir() else { return };
    let expected = fs::read_to_string(corpus.join("expected-facts.csv")).expect("the corpus has its expectations");
    let mut lines = expected.lines();
    let header = lines.next().expect("the file has a header");
    assert_eq!(header.split(',').count(), 16, "columns were added: {header}");
    let mut known: BTreeMap<String, Facts> = BTreeMap::new();
    let mut differences = Vec::new();
    let mut rows = 0;
    for line in lines {
        let columns: Vec<&str> = line.split(',').collect();
        let name = columns[0];
        let facts = known.entry(name.to_owned()).or_insert_with(|| load(&corpus, name));
        let found = row(name, &columns, facts);
        rows += 1;
        if found != line {
            differences.push(format!("expected {line}\nfound    {found}"));
        }
    }
    assert!(differences.is_empty(), "of {rows} rows {} differ:\n{}", differences.len(), differences.join("\n"));
    println!("{rows} rows agree");
}
