//! `seqcon analyse --engine persistence` and `seqcon engines`.

// A panic is how a test fails.
#![allow(clippy::unwrap_used)]

use std::process::{Command, Output};

fn seqcon(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_seqcon")).current_dir(env!("CARGO_MANIFEST_DIR")).args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[track_caller]
fn assert_refused(arguments: &[&str], message: &str) {
    let output = seqcon(arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    let error = text(&output.stderr);
    assert!(error.contains(message), "{arguments:?}: {error}");
}

#[test]
fn engines_are_listed_with_what_they_guarantee() {
    let output = text(&seqcon(&["engines"]).stdout);
    for expected in ["cycles (the default)", "persistence", "guarantees", "memory models  all", "memory models  tso"] {
        assert!(output.contains(expected), "{expected} in {output}");
    }
}

#[test]
fn what_the_engine_does_not_know_is_refused() {
    let persistence = ["--engine", "persistence"];
    let with = |more: &[&'static str]| [&["analyse"][..], more, &persistence].concat();
    assert_refused(
        &with(&["specs/sb.slco", "--mm", "tso,pso"]),
        "is for tso, not for pso; give --mm tso, or use --engine cycles",
    );
    assert_refused(&with(&["lts/sb.aut", "--mm", "tso"]), "exactly one input: a specification");
    assert_refused(&with(&["specs/sb.slco", "specs/mp.slco", "--mm", "tso"]), "exactly one input");
    for option in ["--atomicity", "--confirm", "--only-confirmed"] {
        assert_refused(&with(&["specs/sb.slco", "--mm", "tso", option]), "use --engine cycles");
    }
    assert_refused(&["analyse", "specs/sb.slco", "--engine", "persist"], "expected one of cycles, persistence");
    assert_refused(&["analyse", "specs/sb.slco", "--abstraction", "2"], "--abstraction is for --engine persistence");
    assert_refused(
        &["analyse", "specs/sb.slco", "--minimal-sets", "all"],
        "--minimal-sets is for --engine persistence",
    );
}

#[test]
fn the_reports_say_which_engine_it_was() {
    let analyse = ["analyse", "specs/sb.slco", "--engine", "persistence", "--mm", "tso"];
    let output = seqcon(&[&analyse[..], &["--abstraction", "2"]].concat());
    let shown = text(&output.stdout);
    assert!(shown.contains("engine persistence") && shown.contains("flattened (--abstraction 2)"), "{shown}");
    assert!(shown.contains(" engine=persistence abstraction=2"), "{shown}");
    let summary = text(&seqcon(&[&analyse[..], &["--summary-csv", "-"]].concat()).stdout);
    assert!(summary.lines().next().unwrap().ends_with(",engine,abstraction"), "{summary}");
    assert!(summary.lines().nth(1).unwrap().ends_with(",persistence,"), "{summary}");
    let json = text(&seqcon(&[&analyse[..], &["--json", "-", "--minimal-sets", "all"]].concat()).stdout);
    let report: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(report["engine"]["name"], "persistence");
    assert_eq!(report["results"][0]["minimal_sets"], serde_json::json!([[["T0.0"]], [["T1.0"]]]));
    let delay = &report["results"][0]["delays"][0];
    assert_eq!((&delay["witness_name"], &delay["confirmed"]), (&"PodWR Fre Sto".into(), &"yes".into()));
}

#[test]
fn without_memory_models_the_engine_takes_those_that_it_is_for() {
    let models = |more: &[&str]| {
        let output = text(&seqcon(&[&["-q", "analyse", "specs/sb.slco"], more].concat()).stdout);
        let words: Vec<&str> = output.split_whitespace().collect();
        words.iter().filter_map(|word| word.strip_prefix("memory_model=")).map(str::to_owned).collect::<Vec<String>>()
    };
    assert_eq!(models(&[]), ["tso", "pso", "armv7", "power"]);
    assert_eq!(models(&["--engine", "persistence"]), ["tso"]);
}

#[test]
fn approaches_that_do_not_exist_are_refused_and_the_chosen_one_is_told() {
    let analyse = |more: &'static str| ["analyse", "specs/sb.slco", "--engine", "persistence", "--abstraction", more];
    for wrong in ["", "x", "environments"] {
        assert_refused(&analyse(wrong), "expected a number of steps, environment, auto, or none");
    }
    for (approach, expected) in [("none", None), ("auto", None), ("environment", Some("environment")), ("3", Some("3"))]
    {
        let shown = text(&seqcon(&analyse(approach)).stdout);
        let told = shown.split_whitespace().find_map(|word| word.strip_prefix("abstraction="));
        assert_eq!(told, expected, "{approach}: {shown}");
    }
    // With a limit that the program does not fit into, but each of its threads does.
    let shown = text(&seqcon(&[&analyse("auto")[..], &["--max-states", "8"]].concat()).stdout);
    assert!(shown.contains("fences=2 ") && shown.contains("complete=yes"), "{shown}");
    assert!(shown.contains(" abstraction=environment"), "{shown}");
}

#[test]
fn a_run_is_shown_for_every_delay() {
    let output = seqcon(&["analyse", "specs/sb.slco", "--engine", "persistence", "--mm", "tso", "--verbose"]);
    let runs = text(&output.stderr);
    assert_eq!(runs.matches("a run of tso whose program and store orders").count(), 2, "{runs}");
    assert!(runs.contains("T0 has waiting: x = 1") && runs.contains("x = 1 becomes visible"), "{runs}");
}

#[test]
fn the_result_does_not_depend_on_the_number_of_threads() {
    let json = |threads: &str, more: &[&str]| {
        let analyse = ["--threads", threads, "analyse", "specs/lamport-fast.slco", "--engine", "persistence"];
        let output = seqcon(&[&analyse[..], &["--mm", "tso", "--json", "-"], more].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    assert_eq!(json("1", &[]), json("4", &[]));
    assert_eq!(json("1", &["--abstraction", "1"]), json("4", &["--abstraction", "1"]));
}

#[test]
fn the_repaired_program_reaches_the_same_states() {
    for specification in ["specs/sb.slco", "specs/peterson.slco", "specs/dekker.slco", "specs/lamport-fast.slco"] {
        let output = seqcon(&["analyse", specification, "--engine", "persistence", "--mm", "tso", "--verify"]);
        let shown = text(&output.stdout);
        assert!(output.status.success() && shown.contains("verified"), "{specification}: {shown}");
        assert!(!shown.contains("violated"), "{specification}: {shown}");
    }
}
