//! What was looked at up to a bound is not verified, what is not decided says why, and what was found within the
//! bound stands.

use crate::support::command::run;
use serde_json::Value;
use std::fs;
use tempfile::TempDir;

/// A file of its own.
fn file(name: &str, text: &str) -> (TempDir, String) {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join(name);
    fs::write(&path, text).unwrap();
    let path = path.to_str().unwrap().to_owned();
    (directory, path)
}

/// Store buffering with a fence in one thread and four more writes on the way in the other: on TSO all five must wait.
const FIVE_WAIT: &str = "model five { classes C { variables Integer a b c d e y state machines
    T0 { variables Integer r initial s0 states s1 s2 s3 s4 s5 s6 transitions
         s0 -> s1 { a := 1 } s1 -> s2 { b := 1 } s2 -> s3 { c := 1 } s3 -> s4 { d := 1 } s4 -> s5 { e := 1 } s5 -> s6 { r := y } }
    T1 { variables Integer s initial s0 states s1 s2 s3 transitions s0 -> s1 { y := 1 } s1 -> s2 { fence } s2 -> s3 { s := a } }
  } objects o : C() }";

/// Writes without end that nobody can tell the order of: no bound is large enough to see all runs on PSO.
const WITHOUT_END: &str = "model endless { classes C { variables Integer x y state machines
    T0 { initial A states B transitions A -> B { x := 1 } B -> A { y := 1 } }
    T1 { variables Integer r initial A states B transitions A -> B { r := x } }
  } objects o : C() }";

#[test]
fn a_bound_that_was_reached_is_no_verdict_on_states() {
    let (_directory, path) = file("five.slco", FIVE_WAIT);
    let verify = ["verify", &path, "--as-is", "--property", "states"];
    let (status, out, _) = run(&verify);
    assert_eq!(status, 3, "{out}");
    assert!(out.starts_with("tso: no violation with at most 4 waiting writes (0 fences"), "{out}");
    assert!(out.contains("--buffer-bound") && !out.contains("verified"), "{out}");
    let (status, out, _) = run(&[&verify[..], &["--buffer-bound", "5"]].concat());
    assert!(status == 1 && out.starts_with("tso: violated"), "{out}");
    // Where nothing waits at the bound it is all: the fence empties the buffer.
    let (status, out, _) = run(&["verify", &path, "--property", "states", "--buffer-bound", "6"]);
    assert!(status == 0 && out.starts_with("tso: verified") && out.contains("no bound was reached"), "{out}");
    // With a smaller bound the exact answer on runs decides: all runs are sequentially consistent, so all states are.
    let (status, out, _) = run(&["verify", &path, "--property", "states", "--buffer-bound", "1"]);
    assert!(status == 0 && out.contains("an exact search (no bound)"), "{out}");
}

#[test]
fn a_bound_that_was_reached_is_no_verdict_on_runs_either() {
    let (_directory, path) = file("endless.slco", WITHOUT_END);
    for bound in ["1", "4"] {
        for property in ["traces", "states"] {
            let (status, out, _) =
                run(&["verify", &path, "--mm", "pso", "--property", property, "--buffer-bound", bound]);
            let writes = if bound == "1" { "write" } else { "writes" };
            let says = format!("pso: no violation with at most {bound} waiting {writes} (");
            assert!(status == 3 && out.starts_with(&says), "{property}: {out}");
        }
    }
    // On TSO the search has no bound.
    assert_eq!(run(&["verify", &path, "--mm", "tso"]).0, 0);
}

#[test]
fn analyse_with_verify_says_so_in_every_report() {
    let (directory, path) = file("endless.slco", WITHOUT_END);
    let (json, html) = (directory.path().join("r.json"), directory.path().join("r.html"));
    let (json_name, html_name) = (json.to_str().unwrap(), html.to_str().unwrap());
    let (status, out, errors) =
        run(&["analyse", &path, "--mm", "tso,pso", "--verify", "--json", json_name, "--html", html_name]);
    assert_eq!(status, 3, "{out}{errors}");
    assert!(out.contains("verified: up to a bound") && out.contains("verified: yes"), "{out}");
    let flat = out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("no violation with at most 4 waiting writes"), "{out}");
    let report: Value = serde_json::from_str(&fs::read_to_string(json).unwrap()).unwrap();
    let verified = |position: usize| &report["results"][position]["verified"];
    assert_eq!(verified(0)["verdict"], "yes");
    assert_eq!(verified(1)["verdict"], "up to a bound");
    assert!(verified(1)["limit"].as_str().unwrap().contains("--buffer-bound"), "{}", verified(1));
    assert_eq!(verified(1).get("rests_on"), None);
    assert!(fs::read_to_string(html).unwrap().contains("up to a bound"));
}

/// `verify` names the limit that it hit, and no other.
#[test]
fn the_limit_that_was_reached_is_named() {
    let cases: [(&[&str], &str, &str); 4] = [
        (
            &["verify", "specs/peterson-3.slco", "--max-weak-states", "10"],
            "reached 10 states (--max-weak-states)",
            "--unroll",
        ),
        (&["verify", "specs/ring-buffer.slco", "--mm", "power"], "more than 2 times (--unroll)", "--max-weak-states"),
        (
            &["verify", "specs/ring-buffer.slco", "--mm", "power", "--max-weak-states", "50", "--atomicity", "split"],
            "more than once; with one round more: a search reached 50 states (--max-weak-states)",
            "--unroll",
        ),
        (
            &["verify", "specs/ticket.slco", "--mm", "power", "--max-weak-states", "3", "--as-is"],
            "reached 3 states (--max-weak-states)",
            "--unroll",
        ),
    ];
    for (arguments, says, not) in cases {
        let (status, out, errors) = run(arguments);
        assert_eq!(status, 3, "{arguments:?}: {out}{errors}");
        assert!(out.contains(says) && !out.contains(not), "{arguments:?}: {out}");
    }
    let (status, out, _) =
        run(&["analyse", "specs/peterson-3.slco", "--mm", "tso", "--verify", "--max-weak-states", "10"]);
    let flat = out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        status == 3 && flat.contains("reached 10 states (--max-weak-states)") && !flat.contains("--unroll"),
        "{out}"
    );
    // What is put in may be too little because the exploration was cut short.
    let (status, out, _) = run(&["verify", "specs/peterson.slco", "--max-states", "3"]);
    assert!(status == 1 && out.contains("only a part of the state space was explored"), "{out}");
}

/// Store buffering, and a loop of three rounds after which T0 forgets what it has read: then both can end with 0
/// under sequential consistency, too. Within two rounds only the weak model has that end.
#[test]
fn an_end_that_more_rounds_reach_is_no_violation_of_states() {
    let text = "model rounds { classes C { variables Integer x y state machines
        T0 { variables Integer r n initial A states B C D transitions
             A -> B { x := 1 } B -> C { r := y } C -> C { [n < 3; n := n + 1] } C -> D { [n = 3; n := 0; r := 0] } C -> D { n = 0 } }
        T1 { variables Integer s initial A states B C transitions A -> B { y := 1 } B -> C { s := x } }
      } objects o : C() }";
    let (_directory, path) = file("rounds.slco", text);
    let verify = ["verify", &path, "--mm", "armv7", "--as-is", "--property"];
    let (status, out, _) = run(&[&verify[..], &["states"]].concat());
    assert!(status == 3 && out.contains("more than 2 times (--unroll)") && !out.contains("verified up to"), "{out}");
    let (status, out, _) = run(&[&verify[..], &["states", "--unroll", "3"]].concat());
    assert!(status == 0 && out.contains("verified: every final state is reached"), "{out}");
    // A run that is not sequentially consistent stays one, however far loops go.
    let (status, out, _) = run(&[&verify[..], &["traces"]].concat());
    assert!(status == 1 && out.starts_with("armv7: violated"), "{out}");
}

/// What is within the rounds is judged, and the verdict says that it is no more than that.
#[test]
fn loops_are_verified_up_to_so_many_rounds() {
    let text = "model spin { classes C { variables Integer x y state machines
        T0 { initial A states B C transitions A -> B { x := 1; fence } B -> C { y := 1 } }
        T1 { variables Integer r s initial A states B C D transitions
             A -> B { acquire r := y } B -> A { r = 0 } B -> C { r = 1 } C -> D { s := x } }
      } objects o : C() }";
    let (_directory, path) = file("spin.slco", text);
    for property in ["traces", "states"] {
        let (status, out, _) = run(&["verify", &path, "--mm", "armv8", "--as-is", "--property", property]);
        assert!(status == 3 && out.contains("armv8: verified up to 2 rounds of loops"), "{out}");
        assert!(out.contains("not decided beyond: none of the 15 beginnings of executions"), "{out}");
    }
    // A fence that stands at a control state is passed as often as one comes there.
    let (status, out, _) = run(&["verify", "specs/peterson.slco", "--mm", "armv8", "--unroll", "1"]);
    assert!(status == 3 && out.contains("verified up to 1 round of loops"), "{out}");
}

/// The suggestions for four programs with loops, on machines that are run by axioms; as they are, three of them have a
/// run that is no more sequentially consistent, and a round or two are enough to see it.
#[test]
fn suggestions_for_programs_with_loops_are_verified() {
    for name in ["peterson", "dekker", "ring-buffer", "treiber"] {
        let path = format!("specs/{name}.slco");
        for model in ["armv8", "power"] {
            let (status, out, _) = run(&["verify", &path, "--mm", model]);
            assert!(status == 3 && out.contains("verified up to 2 rounds of loops"), "{name} {model}: {out}");
            let (status, out, _) = run(&["verify", &path, "--mm", model, "--as-is"]);
            // Treiber's compare-and-swaps are full fences, and dependencies do the rest.
            if name == "treiber" {
                assert!(status == 3 && out.contains("verified up to 2 rounds of loops"), "{name} {model}: {out}");
                continue;
            }
            assert!(status == 1 && out.starts_with(&format!("{model}: violated")), "{name} {model}: {out}");
            assert!(out.contains("An execution that begins like this is not sequentially consistent"), "{out}");
        }
    }
}

const SPIN: &str = " P0 | P1 ;\n L: MOV EAX,[x] | MOV [x],$1 ;\n CMP EAX,$1 | ;\n JNE L | ;\n";

#[test]
fn a_condition_that_more_rounds_may_turn_is_unknown() {
    // (condition, verdict, in the table, status): with the loop cut off the one final state has EAX = 1 and x = 1.
    let cases = [
        ("exists 0:EAX=1", "holds", "1", 0),
        ("exists 0:EAX=2", "unknown", "unknown", 3),
        ("~exists 0:EAX=1", "does not hold", "0", 0),
        ("~exists 0:EAX=2", "unknown", "unknown", 3),
        ("forall 0:EAX=1", "unknown", "unknown", 3),
        ("forall 0:EAX=2", "does not hold", "0", 0),
    ];
    for (condition, verdict, cell, expected) in cases {
        let (directory, path) = file("spin.litmus", &format!("X86 spin\n{{ }}\n{SPIN}{condition}\n"));
        let csv = directory.path().join("verdicts.csv");
        let (status, out, _) = run(&["litmus", &path, "--csv", csv.to_str().unwrap()]);
        assert_eq!(status, expected, "{condition}: {out}");
        assert!(out.contains(&format!(": {verdict} (")) && out.contains("loops cut off after 2 rounds"), "{out}");
        assert!(out.contains(&format!(" unknown={} ", u8::from(expected == 3))), "{out}");
        let row = fs::read_to_string(csv).unwrap().lines().nth(1).unwrap().to_owned();
        assert!(row.ends_with(&format!(",tso,{cell},no")), "{condition}: {row}");
    }
    // All outcomes are asked for where there is no condition: these are not all.
    let (_directory, path) = file("spin.litmus", &format!("X86 spin\n{{ }}\n{SPIN}"));
    let (status, out, errors) = run(&["litmus", &path]);
    assert!(status == 3 && out.contains("loops cut off"), "{out}{errors}");
}
