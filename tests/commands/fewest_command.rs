//! What the command says of how few its fences are: the same, and true, in the text, the summary line and every report.

use crate::support::command::run;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// Exit status, standard output with sentences in one line each, standard error.
fn in_whole_sentences(arguments: &[&str]) -> (i32, String, String) {
    let (status, output, errors) = run(arguments);
    (status, output.replace("\n    ", " "), errors)
}

#[track_caller]
fn expect(arguments: &[&str], expected: &[&str]) -> String {
    let (_, output, error) = in_whole_sentences(arguments);
    for &expected in expected {
        assert!(output.contains(expected), "{arguments:?}: no {expected:?} in {output}{error}");
    }
    output
}

fn scratch(name: &str, text: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, text).unwrap();
    path
}

fn json(arguments: &[&str]) -> Value {
    let (_, output, error) = in_whole_sentences(&[arguments, &["--json", "-"]].concat());
    serde_json::from_str(&output).unwrap_or_else(|_| panic!("{output}{error}"))
}

#[test]
fn where_each_fence_has_a_run_the_answer_says_so() {
    let needed = "fewest: each is needed by a run (2 of 2 confirmed)";
    expect(&["analyse", "specs/peterson.slco", "--mm", "tso"], &[needed, "minimal=program"]);
    let report = json(&["analyse", "specs/peterson.slco", "--mm", "tso"]);
    let result = &report["results"][0];
    assert_eq!((&result["summary"]["minimal"], &result["minimal_in_words"]), (&"program".into(), &needed.into()));
    assert_eq!((&result["confirming"]["verdict"], &report["schema_version"]), (&"done".into(), &2.into()));
}

#[test]
fn fences_that_no_run_needs_are_not_placed_unless_asked_for() {
    let mcs = ["-q", "analyse", "specs/mcs.slco", "--mm", "tso"];
    expect(&mcs, &[" fences=0 ", "minimal=program"]);
    expect(&[&mcs[..], &["--confirm=full"]].concat(), &[" fences=0 ", "minimal=program"]);
    expect(&[&mcs[..], &["--only-confirmed"]].concat(), &[" fences=0 ", "minimal=program"]);
    expect(&[&mcs[..], &["--confirm=off"]].concat(), &[" fences=2 ", "minimal=event-graph"]);
    let marked = ["analyse", "specs/mcs.slco", "--mm", "tso", "--confirm"];
    expect(&marked, &[" fences=2 ", "minimal=event-graph", "proved infeasible", "(0 of "]);
}

#[test]
fn what_is_infeasible_only_with_the_fences_in_place_is_told_apart() {
    // All runs were examined; where no fence was put in, these are the runs of the program itself.
    let csv = |spec: &str| in_whole_sentences(&["analyse", spec, "--mm", "pso", "--delays-csv", "-"]).1;
    let (clh, lamport) = (csv("specs/clh.slco"), csv("specs/lamport-fast.slco"));
    assert!(clh.contains(",no,") || clh.contains(",no\n"), "{clh}");
    assert!(!clh.contains("no longer") && lamport.contains("no longer"), "{clh}{lamport}");
}

#[test]
fn verify_and_fix_put_in_what_analyse_suggests() {
    let (status, output, _) = in_whole_sentences(&["verify", "specs/mcs.slco", "--mm", "tso"]);
    assert_eq!(status, 0, "{output}");
    assert!(output.contains("verified") && output.contains("(0 fences"), "{output}");
    let (status, fixed, error) = in_whole_sentences(&["fix", "specs/mcs.slco", "--mm", "tso"]);
    assert!(status == 0 && !fixed.contains("; fence"), "{error}{fixed}");
    let (_, fixed, _) = in_whole_sentences(&["fix", "specs/mcs.slco", "--mm", "tso", "--confirm=off"]);
    assert!(fixed.contains("; fence"), "{fixed}");
    // On PSO some of the fences are left out because all runs were examined: the repaired text is fine as it is.
    let (_, fixed, _) = in_whole_sentences(&["fix", "specs/lamport-fast.slco", "--mm", "pso"]);
    assert_eq!(fixed.matches("; fence").count(), 8, "{fixed}");
    let path = scratch("lamport-fixed.slco", &fixed);
    let (status, output, _) = in_whole_sentences(&["verify", path.to_str().unwrap(), "--mm", "pso", "--as-is"]);
    assert_eq!(status, 0, "{output}");
}

#[test]
fn a_spent_budget_is_told_and_all_fences_stay() {
    let lamport = ["analyse", "specs/lamport-fast.slco", "--mm", "tso", "--max-weak-states", "1000"];
    let output = expect(
        &lamport,
        &["fewest for the event graph (", "the rest not within 1000 states", " fences=8 ", "minimal=event-graph"],
    );
    assert!(!output.contains("each is needed"), "{output}");
    let report = json(&lamport);
    let confirming = &report["results"][0]["confirming"];
    assert_eq!((&confirming["verdict"], &confirming["states"]), (&"out of states".into(), &1000.into()));
}

#[test]
fn without_a_machine_it_is_the_event_graph_and_who_asks_is_told() {
    let rcu = "model rcu { classes G { variables Integer[2] slot := [5, 0] Integer ptr state machines
        W { initial A states B C transitions A -> B { slot[1] := 7; fence } B -> C { ptr := 1 } }
        R { variables Integer p Integer r initial A states B C transitions A -> B { p := ptr } B -> C { r := slot[p] } } }
        objects g : G() }";
    let path = scratch("rcu.slco", rcu);
    let path = path.to_str().unwrap();
    // The dependency orders the reads already: the fence is one too many, and must not be called needed.
    let (status, output, _) = in_whole_sentences(&["verify", path, "--mm", "armv7", "--as-is"]);
    assert_eq!(status, 0, "{output}");
    let says = "delays: 1, of which 1 is on no cycle that the axioms allow and get no fence";
    expect(&["analyse", path, "--mm", "armv7"], &[says, "no fence and no lock is needed", " fences=0 "]);
    expect(&["analyse", path, "--mm", "armv7", "--confirm"], &["every critical cycle was judged", " fences=1 "]);
    let off = ["analyse", path, "--mm", "armv7", "--confirm=off"];
    let output = expect(&off, &["fewest for the event graph", "minimal=event-graph"]);
    assert!(!output.contains("proved") && !output.contains("needed"), "{output}");
    // Of RMO only the table is known, and that is said.
    for option in ["--confirm", "--confirm=full", "--only-confirmed"] {
        let (status, _, error) = in_whole_sentences(&["-q", "analyse", path, "--mm", "rmo", option]);
        assert!(status == 0 && error.contains("no delay is confirmed"), "{option}: {error}");
        let (status, _, error) = in_whole_sentences(&["-q", "analyse", path, "--mm", "armv7", option]);
        assert_eq!((status, &*error), (0, ""), "{option}");
    }
    let (_, _, error) = in_whole_sentences(&["-q", "analyse", path, "--mm", "armv7"]);
    assert_eq!(error, "");
    let (_, sarif, _) = in_whole_sentences(&["analyse", path, "--mm", "armv7", "--confirm=off", "--sarif", "-"]);
    assert!(sarif.contains("\"minimal\": \"event-graph\"") && !sarif.contains("is needed"), "{sarif}");
}

const LWSYNCS: &str = "PPC MP+lwsyncs
{ 0:r2=x; 0:r4=y; 1:r2=y; 1:r4=x; }
 P0           | P1           ;
 li r1,1      | lwz r1,0(r2) ;
 stw r1,0(r2) | lwsync       ;
 lwsync       | lwz r3,0(r4) ;
 li r3,1      |              ;
 stw r3,0(r4) |              ;
exists (1:r1=1 /\\ 1:r3=0)
";

#[test]
fn partial_fences_are_named_beside_the_claim() {
    let path = scratch("MP+lwsyncs.litmus", LWSYNCS);
    let path = path.to_str().unwrap();
    // Where axioms judge cycles they count.
    expect(&["analyse", path, "--mm", "power"], &[" fences=0 ", "no fence and no lock is needed"]);
    let off = ["analyse", path, "--mm", "power", "--confirm=off"];
    let output = expect(&off, &["partial fences are not counted)", "minimal=event-graph"]);
    assert!(!output.contains("proved") && !output.contains("each is needed"), "{output}");
    // The event graph does not know them, the machine of PSO does: no run needs a fence.
    expect(&["analyse", path, "--mm", "pso"], &[" fences=0 ", "minimal=program"]);
}

#[test]
fn state_spaces_are_known_by_their_event_graph_alone() {
    expect(
        &["analyse", "lts/sb.aut", "--mm", "tso"],
        &["  fewest for the event graph; re-checked", "minimal=event-graph"],
    );
    expect(&["analyse", "lts/mp.aut", "--mm", "tso"], &["  fewest: no fence; re-checked", "minimal=program"]);
    expect(&["-q", "analyse", "lts/mp.aut", "--mm", "pso", "--profile", "published"], &["minimal=event-graph"]);
}

#[test]
fn greedy_and_weighted_placements_say_what_they_are() {
    let greedy = ["analyse", "specs/peterson.slco", "--mm", "tso", "--placement", "greedy"];
    expect(&greedy, &["fewest: not proved (greedy placement)", "minimal=no"]);
    let costs = scratch("costs.toml", "plain = 2\ncumulative = 2\n[points]\n\"P0.1 after\" = 7\n");
    let costs = costs.to_str().unwrap();
    let weighted = ["analyse", "specs/peterson.slco", "--mm", "tso", "--cost", costs];
    expect(&weighted, &["cheapest: each is needed by a run (2 of 2 confirmed)", "minimal=program"]);
    expect(&[&weighted[..], &["--confirm=off"]].concat(), &["cheapest for the event graph;", "minimal=event-graph"]);
}

#[test]
fn definitions_that_miss_something_claim_nothing_about_the_program() {
    for option in [&["--profile", "published"][..], &["--conflicts", "concurrent"]] {
        for confirm in ["--confirm", "--confirm=auto", "--confirm=full"] {
            let arguments = [&["-q", "analyse", "specs/sb.slco", "--mm", "tso", confirm][..], option].concat();
            expect(&arguments, &["minimal=event-graph"]);
        }
    }
}

#[test]
fn the_engine_persistence_claims_what_its_patterns_show() {
    let says = "fewest: each is needed for persistence";
    expect(&["analyse", "specs/sb.slco", "--mm", "tso", "--engine", "persistence"], &[says, "minimal=program"]);
}

#[test]
fn contradicting_options_are_refused() {
    let (status, _, error) = in_whole_sentences(&["analyse", "specs/sb.slco", "--only-confirmed", "--confirm=off"]);
    assert!(status == 2 && error.contains("--only-confirmed is --confirm=full"), "{error}");
    let (status, _, error) = in_whole_sentences(&["analyse", "lts/sb.aut", "--confirm=full"]);
    assert!(status == 2 && error.contains("--confirm runs the program"), "{error}");
}
