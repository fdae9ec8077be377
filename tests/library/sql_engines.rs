//! The queries of `seqcon facts --sql`, run by the engines that they are for: equal facts.
//!
//! Where an engine is not, its test says so and is skipped.

use crate::shards::{facts_of, state_spaces};
use crate::support::python::python_with;
use crate::support::shards::{Split, file_of, files, split};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use seqcon::facts::extract::{NoProgress, Options};
use seqcon::facts::{labels, sql};
use seqcon::lts::aut;
use seqcon::lts::source::Bytes;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs the queries over these state spaces, each split into a few files in so many ways, and compares the facts.
fn check(python: &Path, engine: (&str, sql::Engine), spaces: &[PathBuf], ways: usize) {
    let mut rng = StdRng::seed_from_u64(3);
    let (name, engine) = engine;
    let directory = tempfile::tempdir().expect("a temporary directory");
    let mut expected: Vec<(PathBuf, String)> = Vec::new();
    let split_spaces: Vec<&PathBuf> = spaces.iter().flat_map(|path| vec![path; ways]).collect();
    for (number, path) in split_spaces.iter().enumerate() {
        let place = directory.path().join(number.to_string());
        fs::create_dir_all(place.join("parts")).expect("a directory");
        let text = fs::read_to_string(path).expect("a state space");
        let how = [Split::Modulo, Split::Blocks, Split::Random][number % 3];
        for (part, shard) in split(&text, how, rng.random_range(2..17), &mut rng).iter().enumerate() {
            write_transitions(shard, &place.join(format!("parts/{part}.csv")));
        }
        let whole = files(&[text]);
        let labels = labels::of_state_spaces(&whole, &Options::default(), &NoProgress).expect("well formed");
        labels::write(&labels, &mut fs::File::create(place.join("labels.csv")).expect("a file")).expect("written");
        fs::write(place.join("queries.sql"), sql::queries(engine)).expect("written");
        expected.push((place, file_of(&facts_of(&whole))));
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/run_queries.py");
    let mut command = Command::new(python);
    command.arg(script).arg(name).args(expected.iter().map(|(place, _)| place));
    let output = command.output().expect("Python runs");
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    for ((place, expected), path) in expected.iter().zip(&split_spaces) {
        let table = fs::read(place.join("steps.csv")).expect("the result");
        let table = Bytes::from_bytes("steps.csv", table).expect("not empty");
        assert_eq!(file_of(&facts_of(&[table])), *expected, "{name}: {}", path.display());
    }
    println!("{name}: {} splits of {} state spaces", split_spaces.len(), spaces.len());
}

/// A shard as a table: src, label, dst.
fn write_transitions(shard: &str, path: &Path) {
    let mut rows = csv::Writer::from_path(path).expect("a file");
    rows.write_record(["src", "label", "dst"]).expect("written");
    let start = if shard.starts_with("des") { shard.find('\n').expect("a line") + 1 } else { 0 };
    for transition in aut::transitions(shard.as_bytes(), start..shard.len()) {
        let transition = transition.expect("well formed");
        let (from, to) = (transition.from.to_string(), transition.to.to_string());
        rows.write_record([from.as_bytes(), transition.label, to.as_bytes()]).expect("written");
    }
    rows.flush().expect("written");
}

#[test]
fn duckdb_finds_the_facts_of_all_state_spaces() {
    let Some(python) = python_with("duckdb") else { return };
    check(&python, ("duckdb", sql::Engine::DuckDb), &state_spaces(), 6);
}

#[test]
fn datafusion_finds_the_facts_of_all_state_spaces() {
    let Some(python) = python_with("datafusion") else { return };
    check(&python, ("datafusion", sql::Engine::DataFusion), &state_spaces(), 1);
}

#[test]
fn spark_finds_the_facts_of_some_state_spaces() {
    let Some(python) = python_with("pyspark") else { return };
    let mut spaces = state_spaces();
    let wanted =
        ["handshake", "peterson.2", "dekker", "bakery.1", "example1-equal", "one-instruction-loop", "szymanski.1"];
    spaces.retain(|path| wanted.iter().any(|name| path.file_stem().is_some_and(|stem| stem == *name)));
    assert!(spaces.len() >= 4);
    check(&python, ("spark", sql::Engine::Spark), &spaces, 1);
}
