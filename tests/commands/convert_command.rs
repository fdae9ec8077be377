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
