//! `seqcon analyse --engine persistence` and `seqcon engines`.

use crate::support::command::{seqcon, text};
use std::process::Output;

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
    assert_refused(&with(&["lts/sb.aut", "--mm", "tso"]), "specifications as inputs");
    assert_refused(&with(&["specs/sb.slco", "specs/mp.slco", "--mm", "tso", "--merge"]), "without --merge");
    for option in ["--atomicity", "--confirm", "--only-confirmed"] {
        assert_refused(&with(&["specs/sb.slco", "--mm", "tso", option]), "use --engine cycles");
    }
    assert_refused(&["analyse", "specs/sb.slco", "--engine", "persist"], "expected one of cycles, persistence");
    assert_refused(
        &["analyse", "specs/sb.slco", "--abstraction", "2"],
        "--abstraction with a number of steps is for --engine persistence",
    );
    assert_refused(&with(&["specs/sb.slco", "--abstraction", "pairs"]), "--abstraction pairs is for --engine cycles");
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
    assert!(summary.lines().next().unwrap().contains(",engine,abstraction,"), "{summary}");
    assert!(summary.lines().nth(1).unwrap().contains(",persistence,,"), "{summary}");
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
        assert_refused(&analyse(wrong), "expected a number of steps, environment, pairs, auto, or none");
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

/// Analyses a program of automata with the engine, in a directory of its own.
fn analysed(text: &str, more: &[&str]) -> Output {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("p.txt");
    std::fs::write(&path, text).unwrap();
    seqcon(&[&["analyse", path.to_str().unwrap(), "--engine", "persistence"], more].concat())
}

#[track_caller]
fn assert_told(output: &Output, expected: &[&str]) {
    let shown = text(&output.stdout);
    for expected in expected {
        assert!(shown.contains(expected), "{expected}: {shown}{}", text(&output.stderr));
    }
}

#[test]
fn a_pivot_that_counts_without_end_is_no_endless_search() {
    let counts = "thread a\ninitial q0\ntransition q0 q1 write 1 0\ntransition q1 q1 local r + r 1\n\
        transition q1 q2 read s 1\nend\nthread b\ninitial q0\ntransition q0 q1 write 1 1\nend\n";
    for approach in ["none", "environment", "0", "auto"] {
        let output = analysed(counts, &["--abstraction", approach, "--max-states", "1000"]);
        assert_told(&output, &[" fences=1 "]);
    }
}

#[test]
fn runs_are_shown_where_the_program_is_explored_after_all() {
    // T0 and T1 need a fence each. T2's read is of what only T3 writes, which waits for what T2 writes after it: the
    // environment does not know. Two threads that only count make more states than are explored at first.
    let counting = |thread: &str, location: usize| {
        let writes: String =
            (0..39).map(|n| format!("transition q{n} q{} write {} {location}\n", n + 1, n + 1)).collect();
        format!("thread {thread}\ninitial q0\n{writes}end\n")
    };
    let program = format!(
        "thread t0\ninitial q0\ntransition q0 q1 write 1 0\ntransition q1 q2 read r 1\nend\n\
        thread t1\ninitial q0\ntransition q0 q1 write 1 1\ntransition q1 q2 read r 0\nend\n\
        thread t2\ninitial q0\ntransition q0 q1 write 1 2\ntransition q1 q2 read r 3\ntransition q2 q3 write 1 4\nend\n\
        thread t3\ninitial q0\ntransition q0 q1 read r 4\ntransition q1 q2 check == r 1\ntransition q2 q3 write 1 3\nend\n{}{}",
        counting("t4", 5),
        counting("t5", 6)
    );
    let output = analysed(&program, &["--verbose"]);
    assert_told(&output, &[" fences=2 ", "minimal=program complete=yes"]);
    assert_eq!(text(&output.stderr).matches("a run of tso whose program and store orders").count(), 2);
}

#[test]
fn flattening_after_very_many_steps_is_the_program_itself() {
    for bound in ["65535", "65536", "18446744073709551615"] {
        let output = seqcon(&["analyse", "specs/sb.slco", "--engine", "persistence", "--abstraction", bound]);
        assert_told(&output, &[" fences=2 ", "minimal=program complete=yes"]);
    }
}

/// A lock region that looks at location 2 and writes location 1.
fn region(thread: &str, condition: &str) -> String {
    format!(
        "thread {thread}\ninitial q0\ntransition q0 z0 lock\ntransition z0 z1 read r 2\ntransition z1 z2 check {condition}\n\
        transition z2 z3 write 1 1\ntransition z3 q1 unlock\nend\n"
    )
}

const PIVOT: &str = "thread a\ninitial q0\ntransition q0 q1 write 1 0\ntransition q1 q2 read r 1\nend\n";

#[test]
fn what_is_only_presumed_is_told_with_a_reason_and_hides_nothing() {
    // The region is never taken: the environment knows, the pattern does not.
    let never = format!("{PIVOT}{}", region("b", "== r 1"));
    assert_told(&analysed(&never, &["--abstraction", "none"]), &[" fences=1 ", " delays=1 ", "at least 0 needed"]);
    assert_told(&analysed(&never, &[]), &[" fences=0 ", "minimal=program"]);
    // One that is taken changes what it changes, and who else does so for certain counts wherever it stands.
    assert_told(&analysed(&format!("{}{PIVOT}", region("c", "== r 0")), &[]), &[" fences=1 ", "minimal=program"]);
    let writer = "thread b\ninitial q0\ntransition q0 q1 write 1 1\nend\n";
    let never = region("c", "== r 1");
    for program in [format!("{never}{PIVOT}{writer}"), format!("{PIVOT}{writer}{never}")] {
        assert_told(
            &analysed(&program, &["--abstraction", "none"]),
            &[" fences=1 ", "minimal=program", "1 was confirmed"],
        );
    }
}

#[test]
fn how_many_fences_are_needed_does_not_depend_on_their_costs() {
    let directory = tempfile::tempdir().unwrap();
    let costs = directory.path().join("costs.toml");
    std::fs::write(&costs, "[points]\n\"a.q0-q1 after\" = 100\n\"a.q1-q2 before\" = 100\n").unwrap();
    let never = format!("{PIVOT}{}", region("b", "== r 1"));
    let output = analysed(&never, &["--abstraction", "none", "--cost", costs.to_str().unwrap()]);
    assert_told(&output, &["at least 0 needed"]);
}

#[test]
fn an_abstraction_that_was_cut_off_does_not_say_that_its_fences_are_enough() {
    let output = seqcon(&[
        "analyse",
        "specs/sb.slco",
        "--engine",
        "persistence",
        "--abstraction",
        "environment",
        "--max-states",
        "1",
    ]);
    assert_eq!(output.status.code(), Some(3));
    assert_told(&output, &["fences may be missing", "minimal=no complete=no"]);
    assert!(!text(&output.stdout).contains("are enough"));
}

#[test]
fn indices_out_of_range_are_told_and_strict_refuses_them() {
    let text_of = "model m { classes C { variables Integer[2] a Integer x
        state machines
        T0 { variables Integer r initial s states t u transitions s -> t { a[2] := 1 } t -> u { r := x } }
        T1 { initial s states t transitions s -> t { x := 1 } }
      } objects o : C() }";
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("m.slco");
    std::fs::write(&path, text_of).unwrap();
    let analyse = ["analyse", path.to_str().unwrap(), "--engine", "persistence", "--abstraction", "none"];
    let arguments = [&analyse[..], &["--strict"]].concat();
    assert_refused(&arguments, "an index was out of range");
}

#[test]
fn a_run_is_shown_for_every_delay() {
    let output = seqcon(&["analyse", "specs/sb.slco", "--engine", "persistence", "--mm", "tso", "--verbose"]);
    let runs = text(&output.stderr);
    assert_eq!(runs.matches("a run of tso whose program and store orders").count(), 2, "{runs}");
    assert!(runs.contains("buffer of T0: x = 1") && runs.contains("x = 1 becomes visible"), "{runs}");
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
