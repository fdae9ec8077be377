//! `seqcon convert` as a user runs it, and the formats of state spaces in the other commands.

use crate::support::command::{run, seqcon, stdout};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

fn path(directory: &TempDir, name: &str) -> String {
    directory.path().join(name).to_str().expect("the path is UTF-8").to_owned()
}

/// Exit status 2 and one message, which it gives.
fn refusal(arguments: &[&str]) -> String {
    let (status, out, message) = run(arguments);
    assert_eq!((status, out.as_str()), (2, ""), "{arguments:?}: {message}");
    assert!(message.starts_with("seqcon: ") && message.lines().count() == 1, "{message}");
    message
}

#[test]
fn a_state_space_goes_through_all_formats_and_is_analysed_in_each() {
    let directory = TempDir::new().expect("a temporary directory");
    let expected = seqcon(&["facts", "lts/sb-ring-4.aut"]);
    let mut from = "lts/sb-ring-4.aut".to_owned();
    for name in ["a.parquet", "b.aut.zst", "c.aut.gz", "d.parquet", "e.aut"] {
        let to = path(&directory, name);
        assert_eq!(run(&["convert", &from, &to]).0, 0, "{name}");
        assert_eq!(stdout(&seqcon(&["facts", &to])), stdout(&expected), "{name}");
        from = to;
    }
    let (own, back) = (fs::read("lts/sb-ring-4.aut").expect("it is there"), fs::read(&from).expect("it was written"));
    assert_eq!(own, back);
    let analysed = |file: &str| {
        let text = stdout(&seqcon(&["analyse", file, "--mm", "tso"]));
        assert!(text.contains("fences=4"), "{text}");
    };
    analysed(&path(&directory, "a.parquet"));
    analysed(&path(&directory, "b.aut.zst"));
    assert_eq!(run(&["convert", &from, "-"]).1.as_bytes(), own);
}

#[test]
fn explorations_are_written_as_tables_and_parts_are_marked() {
    let directory = TempDir::new().expect("a temporary directory");
    let (table, text) = (path(&directory, "p.parquet"), path(&directory, "p.aut"));
    for file in [&table, &text] {
        assert_eq!(run(&["explore", "specs/peterson.slco", "-o", file]).0, 0);
    }
    assert_eq!(stdout(&seqcon(&["facts", &table])), stdout(&seqcon(&["facts", &text])));
    assert_eq!(run(&["explore", "specs/peterson.slco", "--max-states", "5", "-o", &table]).0, 3);
    let message = refusal(&["analyse", &table]);
    assert!(message.contains("an unfinished state space"), "{message}");
    assert_eq!(run(&["analyse", &table, "--recover"]).0, 3);
    assert!(refusal(&["convert", &table, &text]).contains("an unfinished state space"));
}

#[test]
fn what_cannot_be_converted_is_one_error_and_leaves_nothing_behind() {
    let directory = TempDir::new().expect("a temporary directory");
    let (table, facts) = (path(&directory, "a.parquet"), path(&directory, "a.facts"));
    assert_eq!(run(&["convert", "lts/sb.aut", &table]).0, 0);
    assert_eq!(run(&["facts", "lts/sb.aut", "-o", &facts]).0, 0);
    let output = path(&directory, "out.aut");
    let cut = path(&directory, "cut.parquet");
    let bytes = fs::read(&table).expect("it was written");
    fs::write(&cut, &bytes[..bytes.len() - 20]).expect("it can be written");
    let wrong = path(&directory, "wrong.aut");
    fs::write(&wrong, "des (0,2,2)\n(0,\"T.0: a := \",1)\n").expect("it can be written");
    let outside = path(&directory, "outside.aut");
    fs::write(&outside, "des (0,1,2)\n(0,\"T.0: a := \",2)\n").expect("it can be written");
    assert!(refusal(&["convert", &facts, &output]).contains("only state spaces can be converted"));
    assert!(
        refusal(&["convert", &cut, &output]).contains("expected a Parquet file with the columns src, label and dst")
    );
    assert!(refusal(&["analyse", &cut]).contains("expected a Parquet file with the columns src, label and dst"));
    assert!(refusal(&["convert", &wrong, &output]).contains("expected 1 transitions, as many as follow, found 2"));
    assert!(refusal(&["convert", &outside, &output]).contains("outside.aut:2:17: expected a state below 2"));
    assert!(refusal(&["convert", &table, &table]).contains("this is an input"));
    assert!(refusal(&["convert", &table, &path(&directory, "no/such.aut")]).contains("cannot be written"));
    assert!(!Path::new(&output).exists());
}

#[test]
fn headers_are_checked_and_names_say_what_is_written() {
    let directory = TempDir::new().expect("a temporary directory");
    let (wrong, output) = (path(&directory, "w.aut"), path(&directory, "out.parquet"));
    fs::write(&wrong, "des (7,2,3)\n(0,\"T.0: a := \",1)\n(1,\"T.1: a\",2)\n").expect("written");
    let message = refusal(&["convert", &wrong, &output]);
    assert!(message.contains("expected an initial state below 3, the number of states, found 7"), "{message}");
    for name in ["x.dot", "x.bcg", "x.steps"] {
        let message = refusal(&["convert", "lts/sb.aut", &path(&directory, name)]);
        assert!(message.contains("written as .aut, .aut.gz, .aut.zst or .parquet"), "{message}");
        assert!(refusal(&["explore", "specs/sb.slco", "-o", &path(&directory, name)]).contains("written as .aut"));
    }
    assert_eq!(run(&["convert", "lts/sb.aut", &path(&directory, "x.PARQUET")]).0, 0);
    assert!(fs::read(path(&directory, "x.PARQUET")).expect("written").starts_with(b"PAR1"));
}

#[test]
fn what_other_formats_are_is_said() {
    let directory = TempDir::new().expect("a temporary directory");
    let (dot, other) = (path(&directory, "g.dot"), path(&directory, "m.pml"));
    fs::write(&dot, "digraph { 0 -> 1 [label=\"T.0: a := \"]; }\n").expect("written");
    fs::write(&other, "byte x; active proctype P() { x = 1 }\n").expect("written");
    let output = path(&directory, "out.aut");
    for arguments in [
        &["convert", &dot, &output][..],
        &["reduce", &dot],
        &["labels", &dot],
        &["facts", "--phase", "sets", &dot, "-o", &output],
    ] {
        let message = refusal(arguments);
        assert!(message.contains("found a graph in DOT"), "{message}");
    }
    for arguments in [
        &["convert", &other, &output][..],
        &["facts", "--phase", "sets", &other, "-o", &output],
        &["facts", "--shards", &other, "-o", &output],
    ] {
        let message = refusal(arguments);
        assert!(message.contains("a format that is read") && message.contains("spin2aut"), "{message}");
    }
}

/// A state space of internal steps alone has nothing to analyse, reduced or not.
#[test]
fn internal_steps_alone_are_not_reduced_to_something() {
    let directory = TempDir::new().expect("a temporary directory");
    let quiet = path(&directory, "quiet.aut");
    fs::write(&quiet, "des (0,1,1)\n(0,\"tau\",0)\n").expect("written");
    for command in ["facts", "reduce"] {
        let message = refusal(&[command, &quiet]);
        assert!(message.contains("the only transition is internal, so there is nothing to analyse"), "{message}");
    }
}
