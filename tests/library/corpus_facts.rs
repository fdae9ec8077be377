//! Every row of the corpus' `expected-facts.csv`, all columns, through the library.
//!
//! The expectations take `follows` to the letter: only what is enabled at once follows a step. That is `--profile
//! literal`, and all rows agree. It loses program order where a thread waits and is never woken at once
//! (`regressions.rs` has the smallest example), so the default profile looks further; `corpus_corrections.csv` has
//! the rows that differ. They only have more pairs; two of them, for peterson.1 with locks, more fences.

use crate::support::analyse::model;
use crate::support::corpus::corpus_dir;
use seqcon::aeg::Profile;
use seqcon::analysis::{Analysis, Options};
use seqcon::cycles::Atomicity;
use seqcon::facts::extract::{self, NoProgress};
use seqcon::facts::{self, Facts};
use seqcon::placement::Minimality;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// What the analysis says, in the columns of the expectation.
fn row(name: &str, columns: &[&str], facts: &Facts, sound: Profile) -> String {
    let (memory_model, profile_name, atomicity_name) = (columns[1], columns[2], columns[3]);
    let profile = match profile_name {
        "sound" => sound,
        "published" => Profile::Published,
        other => panic!("unknown profile {other}"),
    };
    let atomicity = match atomicity_name {
        "off" => Atomicity::Split,
        "full" => Atomicity::Full,
        other => panic!("unknown atomicity {other}"),
    };
    let analysis = Analysis::new(facts.clone(), profile);
    let outcome = analysis.run(model(memory_model), &Options { atomicity, ..Options::default() });
    assert!(
        outcome.recheck.enough
            && outcome.recheck.each_needed
            && (outcome.placement.minimality == Minimality::EventGraph)
    );
    // The default profile's facts have more pairs than the published one takes.
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
    // The translation writes a self-loop for every refused condition, so one that is never refused has none.
    let options = extract::Options { refusals: extract::Refusals::Shown, ..extract::Options::default() };
    let loaded = facts::load(&path, &options, &NoProgress);
    loaded.unwrap_or_else(|error| panic!("{name}: {error}")).facts
}

/// The corrected rows by their first four columns.
fn corrections(expected: &str) -> BTreeMap<Vec<&'static str>, &'static str> {
    let header: Vec<&str> = expected.lines().next().expect("the file has a header").split(',').collect();
    let mut corrections = BTreeMap::new();
    for line in include_str!("../corpus_corrections.csv").lines().skip(1) {
        let columns: Vec<&str> = line.split(',').collect();
        let given = expected.lines().map(|row| row.split(',').collect::<Vec<_>>());
        let given = given.into_iter().find(|row| row[..4] == columns[..4]).expect("a correction is of a row");
        for (name, (before, after)) in header.iter().zip(given.iter().zip(&columns)) {
            let number = |text: &str| -> u64 { text.parse().expect("figures are numbers") };
            let adds_pairs =
                ["follows", "concurrent_conflicts", "delays", "cumulative_delays", "minimum_fences"].contains(name);
            assert!(before == after || (adds_pairs && number(before) < number(after)), "{name} of {line}");
        }
        corrections.insert(columns[..4].to_vec(), line);
    }
    corrections
}

#[test]
fn every_row_of_the_expected_facts_comes_out_to_the_letter() {
    every_row_comes_out(Profile::Literal, |_| BTreeMap::new());
}

#[test]
fn the_default_profile_only_adds_program_order_across_waits_and_conflicts_of_instructions_that_go_on() {
    every_row_comes_out(Profile::Sound, corrections);
}

fn every_row_comes_out(sound: Profile, corrections: fn(&str) -> BTreeMap<Vec<&'static str>, &'static str>) {
    let Some(corpus) = corpus_dir() else { return };
    let expected = fs::read_to_string(corpus.join("expected-facts.csv")).expect("the corpus has its expectations");
    let mut lines = expected.lines();
    let header = lines.next().expect("the file has a header");
    assert_eq!(header.split(',').count(), 16, "columns were added: {header}");
    let corrections = corrections(&expected);
    let mut known: BTreeMap<String, Facts> = BTreeMap::new();
    let mut differences = Vec::new();
    let mut rows = 0;
    for line in lines {
        let columns: Vec<&str> = line.split(',').collect();
        let name = columns[0];
        let facts = known.entry(name.to_owned()).or_insert_with(|| load(&corpus, name));
        let found = row(name, &columns, facts, sound);
        rows += 1;
        let expected = corrections.get(&columns[..4]).copied().unwrap_or(line);
        if found != expected {
            differences.push(format!("expected {expected}\nfound    {found}"));
        }
    }
    assert!(differences.is_empty(), "of {rows} rows {} differ:\n{}", differences.len(), differences.join("\n"));
    println!("{rows} rows agree");
}
