//! Limits on time and memory hold for everything that a command does: each of these would run on for minutes, or take
//! gigabytes. What was reached is named, the status is 3, and nothing is said to be proved, clean, verified or
//! decided.

use crate::support::command::command_in;
use crate::support::facts_of;
use crate::support::litmus::axioms;
use flate2::Compression;
use flate2::write::GzEncoder;
use seqcon::aeg::Profile;
use seqcon::analysis::{Analysis, Options};
use seqcon::budget::{Budget, Exhausted};
use seqcon::cycles::{Atomicity, Listing};
use seqcon::memory::MemoryModel;
use seqcon::placement::Minimality;
use seqcon::weak::axiomatic::{outcomes, outcomes_within};
use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A limit of one second, on a machine that is busy with other things.
const LONGEST: Duration = Duration::from_secs(60);

/// Runs `seqcon`; it is ended, and the test fails, if it takes too long. Gives the status, standard output and
/// messages.
fn run_in(directory: &Path, arguments: &[&str]) -> (i32, String, String) {
    let mut child = command_in(directory, arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let begun = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if begun.elapsed() > LONGEST {
            child.kill().unwrap();
            panic!("{arguments:?} runs on after {LONGEST:?}");
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    let (mut out, mut errors) = (String::new(), String::new());
    child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
    (status.code().unwrap(), out, errors)
}

fn directory_with(name: &str, contents: impl AsRef<[u8]>) -> tempfile::TempDir {
    let directory = tempfile::TempDir::new().unwrap();
    fs::write(directory.path().join(name), contents).unwrap();
    directory
}

/// Four threads write one location three times and read it: 369,600 orders of the writes alone.
const MANY_ORDERS: &str = "PPC BIG
{ 0:r2=x; 1:r2=x; 2:r2=x; 3:r2=x; }
 P0 | P1 | P2 | P3 ;
 li r1,1 | li r1,2 | li r1,3 | li r1,4 ;
 stw r1,0(r2) | stw r1,0(r2) | stw r1,0(r2) | stw r1,0(r2) ;
 stw r1,0(r2) | stw r1,0(r2) | stw r1,0(r2) | stw r1,0(r2) ;
 stw r1,0(r2) | stw r1,0(r2) | stw r1,0(r2) | stw r1,0(r2) ;
 lwz r3,0(r2) | lwz r3,0(r2) | lwz r3,0(r2) | lwz r3,0(r2) ;
 lwz r4,0(r2) | lwz r4,0(r2) | lwz r4,0(r2) | lwz r4,0(r2) ;
exists (x=7)
";

#[test]
fn the_enumeration_of_executions_ends() {
    let directory = directory_with("big.litmus", MANY_ORDERS);
    for (option, named) in [
        (["--timeout", "1"], "the limit on time (--timeout)"),
        (["--memory-limit", "40"], "the limit on memory (--memory-limit)"),
    ] {
        let (status, out, errors) = run_in(directory.path(), &["litmus", "big.litmus", option[0], option[1]]);
        assert_eq!(status, 3, "{out}{errors}");
        assert!(out.contains(&format!("stopped at {named}")), "{out}{errors}");
        assert!(out.contains("exists: unknown") && !out.contains("does not hold"), "{out}");
    }
    for command in [&["verify", "--as-is"][..], &["analyse", "--verify"]] {
        let arguments = [command, &["big.litmus", "--mm", "power", "--timeout", "1"]].concat();
        let (status, out, errors) = run_in(directory.path(), &arguments);
        assert_eq!(status, 3, "{out}{errors}");
        assert!(out.contains("not decided") && !out.contains("verified by"), "{out}{errors}");
        assert!(out.contains("the limit on time (--timeout)"), "{out}{errors}");
    }
}

/// What was found is there; what was not found is not said to be absent.
#[test]
fn outcomes_within_a_budget_are_some_of_all() {
    let text = "model m { classes C { variables Integer x y state machines
        a { variables Integer r initial A states B C transitions A -> B { x := 1 } B -> C { r := y } }
        b { variables Integer r initial A states B C transitions A -> B { y := 1 } B -> C { r := x } } } objects o : C() }";
    let program = seqcon::lang::parse("m.slco", text).unwrap().program;
    let all = outcomes(&program, &axioms("tso"), 1).unwrap();
    assert!(all.complete && all.stopped.is_none());
    let none = outcomes_within(&program, &axioms("tso"), 1, &Budget::new(Some(Duration::ZERO), None)).unwrap();
    assert!(!none.complete && none.stopped == Some(Exhausted::Time));
    assert!(none.ends.is_subset(&all.ends));
}

/// Forty threads that access five of forty locations each, in one run: a search for cycles that does not end.
fn many_cycles() -> String {
    let mut seed = 1_u64;
    let mut next = |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    let mut lines = Vec::new();
    for thread in 0..40 {
        for number in 0..5 {
            let location = next(40);
            let steps = if next(2) == 0 { format!("x{location} :=") } else { format!("~r{number} := x{location}") };
            lines.push(format!("({},\"T{thread}.{number}: {steps}\",{})", lines.len(), lines.len() + 1));
        }
    }
    format!("des (0,{},{})\n{}\n", lines.len(), lines.len() + 1, lines.join("\n"))
}

#[test]
fn the_search_for_delays_ends_and_proves_nothing() {
    let directory = directory_with("many.aut", many_cycles());
    let options = ["many.aut", "--timeout", "1"];
    let analyse = [&["analyse", "--mm", "pso", "--conflicts", "reachable"], &options[..]].concat();
    let (status, out, errors) = run_in(directory.path(), &analyse);
    assert_eq!(status, 3, "{out}{errors}");
    assert!(out.contains("stopped at the limit on time (--timeout)"), "{out}{errors}");
    assert!(out.contains("fewest: not proved") && out.contains("re-checked: no"), "{out}");
    assert!(out.contains("complete=no") && out.contains("minimal=no "), "{out}");
    assert!(!out.contains("this is a bug") && !out.contains("no fence and no lock is needed"), "{out}");
    let (status, out, errors) = run_in(directory.path(), &[&["matrix"], &options[..]].concat());
    assert_eq!(status, 3, "{out}{errors}");
    assert!(
        errors.contains("under pso stopped at the limit on time (--timeout); the result is not complete"),
        "{errors}"
    );
}

/// An analysis with nothing to spend says so, with every option, and is never clean, proved or complete.
#[test]
fn an_analysis_without_a_budget_has_no_definite_answer() {
    let facts = facts_of(include_str!("../../lts/sb.aut"), &Default::default()).unwrap().facts;
    let whole = Analysis::new(facts.clone(), Profile::Sound);
    let model = MemoryModel::named("tso").unwrap();
    let outcome = whole.run(&model, &Options::default());
    assert!(outcome.complete && outcome.stopped.is_none() && outcome.recheck.done && outcome.fences.len() == 2);
    let spent = Analysis::within(facts, Profile::Sound, &Budget::new(Some(Duration::ZERO), None));
    for atomicity in [Atomicity::Full, Atomicity::Presumed, Atomicity::Split] {
        let options = Options { atomicity, listing: Listing::All, ..Options::default() };
        let outcome = spent.run(&model, &options);
        assert_eq!((outcome.complete, outcome.stopped), (false, Some(Exhausted::Time)));
        assert!(matches!(outcome.placement.minimality, Minimality::AtLeast(_)) && !outcome.recheck.done);
    }
}

/// All that a report says of a limit: that the result is not complete, and which limit it was, in JSON, on the page,
/// in SARIF, on the drawing and on the terminal.
fn says_the_limit(directory: &Path, arguments: &[&str], limit: &str) {
    let (status, out, errors) = run_in(directory, &[arguments, &["--mm", "tso", "--out", "out"]].concat());
    assert_eq!(status, 3, "{out}{errors}");
    let flowing = out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flowing.contains(limit) && out.contains("complete=no"), "{out}{errors}");
    let read = |name: &str| fs::read_to_string(directory.join("out").join(name)).unwrap();
    let report: serde_json::Value = serde_json::from_str(&read("report.json")).unwrap();
    let result = &report["results"][0];
    assert_eq!(result["summary"]["complete"], "no");
    assert!(result["limit"].as_str().is_some_and(|said| said.contains(limit)), "{}", result["limit"]);
    let sarif: serde_json::Value = serde_json::from_str(&read("report.sarif")).unwrap();
    let told = sarif["runs"][0]["invocations"][0]["toolExecutionNotifications"].as_array().unwrap();
    let is_told =
        |message: &serde_json::Value| message["message"]["text"].as_str().is_some_and(|said| said.contains(limit));
    assert!(told.iter().any(is_told), "{told:?}");
    assert!(read("report.html").contains(&format!("not complete: {}", result["limit"].as_str().unwrap())));
    assert!(read("aeg.dot").contains(limit), "{limit}");
}

#[test]
fn every_report_names_the_limit() {
    let directory = directory_with("many.aut", many_cycles());
    let many = ["analyse", "many.aut", "--conflicts", "reachable", "--timeout", "1"];
    says_the_limit(directory.path(), &many, "stopped at the limit on time (--timeout)");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let specification = root.join("specs/peterson.slco");
    let specification = specification.to_str().unwrap();
    let states = ["analyse", specification, "--max-states", "5"];
    says_the_limit(directory.path(), &states, "the limit on states (--max-states)");
    let engine = ["analyse", specification, "--max-states", "5", "--engine", "persistence", "--abstraction", "none"];
    says_the_limit(directory.path(), &engine, "the limit on states (--max-states)");
    let cycles = ["analyse", specification, "--cycles", "1"];
    says_the_limit(directory.path(), &cycles, "the limit of --cycles was reached");
    // A result that is complete names none.
    let (status, out, errors) = run_in(directory.path(), &["analyse", specification, "--mm", "tso", "--json", "-"]);
    assert!(status == 0 && !out.contains("\"limit\""), "{out}{errors}");
}

#[test]
fn what_is_decompressed_counts() {
    let directory = tempfile::TempDir::new().unwrap();
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    let line = b"(0,\"T0.0: x :=\",1)\n".repeat(1 << 15);
    encoder.write_all(b"des (0,6717440,2)\n").unwrap();
    for _ in 0..205 {
        encoder.write_all(&line).unwrap();
    }
    fs::write(directory.path().join("bomb.aut.gz"), encoder.finish().unwrap()).unwrap();
    for command in ["analyse", "info", "facts", "matrix"] {
        let (status, out, errors) = run_in(directory.path(), &[command, "bomb.aut.gz", "--memory-limit", "30"]);
        assert_eq!((status, out.as_str()), (3, ""), "{command}: {errors}");
        assert!(errors.contains("bomb.aut.gz: stopped at the limit on memory (--memory-limit)"), "{command}: {errors}");
    }
}

/// Runs on store buffers: verification and confirmation.
#[test]
fn searches_on_store_buffers_end() {
    let threads: String = (0..4)
        .map(|thread| {
            let transitions: String = (0..6)
                .map(|number| {
                    let (own, other) = (format!("x{thread}"), format!("x{}", (thread + number) % 4));
                    format!("s{number} -> t{number} {{ {own} := {number} }} t{number} -> s{} {{ r{number} := {other} }} ", (number + 1) % 6)
                })
                .collect();
            let states: String = (0..6).map(|number| format!("t{number} ")).chain((1..6).map(|number| format!("s{number} "))).collect();
            format!("m{thread} {{ variables Integer r0 r1 r2 r3 r4 r5 initial s0 states {states} transitions {transitions} }}\n")
        })
        .collect();
    let text = format!(
        "model m {{ classes C {{ variables Integer x0 x1 x2 x3 state machines\n{threads} }} objects o : C() }}"
    );
    let directory = directory_with("m.slco", text);
    let limits = ["--timeout", "1", "--max-weak-states", "1000000000", "--max-states", "2000"];
    let verify = [&["verify", "m.slco", "--as-is", "--mm", "pso", "--property", "states"], &limits[..]].concat();
    let (status, out, errors) = run_in(directory.path(), &verify);
    // What is wrong may be found before.
    assert!(status == 3 && out.contains("the limit on time (--timeout)") || status == 1, "{status} {out}{errors}");
    let analyse = [&["analyse", "m.slco", "--only-confirmed", "--mm", "tso"], &limits[..]].concat();
    let (status, out, errors) = run_in(directory.path(), &analyse);
    assert!(status == 3 && out.contains("complete=no") && !out.contains("minimal=proved"), "{status} {out}{errors}");
}

/// A state space with one run in which each of the threads makes so many accesses.
fn one_run(threads: usize, accesses: usize, locations: u64) -> String {
    let mut seed = 7_u64;
    let mut next = |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    let mut lines = Vec::new();
    for thread in 0..threads {
        for number in 0..accesses {
            let location = next(locations);
            let steps = if next(2) == 0 { format!("x{location} :=") } else { format!("~r := x{location}") };
            lines.push(format!("({},\"T{thread}.{number}: {steps}\",{})", lines.len(), lines.len() + 1));
        }
    }
    format!("des (0,{},{})\n{}\n", lines.len(), lines.len() + 1, lines.join("\n"))
}

/// A state space with one state, in which every thread can do everything at any time: all accesses of a thread follow
/// one another.
fn dense(threads: usize, accesses: usize) -> String {
    let mut lines = Vec::new();
    for thread in 0..threads {
        for number in 0..accesses {
            let steps = if number % 2 == 0 { format!("x{number} :=") } else { format!("~r := x{}", number - 1) };
            lines.push(format!("(0,\"T{thread}.{number}: {steps}\",0)"));
        }
    }
    format!("des (0,{},1)\n{}\n", lines.len(), lines.join("\n"))
}

fn is_cut_short(directory: &Path, arguments: &[&str]) {
    let within = |seconds| run_in(directory, &[arguments, &["--timeout", seconds]].concat());
    // On a busy machine the time may be over before all is read, and then there is no answer at all.
    let mut tries = ["1", "5", "25"].into_iter().map(within);
    let read = tries.find(|(_, _, errors)| !errors.contains("while reading"));
    let (status, out, errors) = read.expect("reading takes no 25 seconds");
    assert_eq!(status, 3, "{arguments:?}: {out}{errors}");
    assert!(out.contains("complete=no") && out.contains("minimal=no "), "{arguments:?}: {out}{errors}");
    assert!(out.contains("stopped at the limit on time (--timeout)"), "{arguments:?}: {out}{errors}");
    assert!(!out.contains("no fence and no lock is needed"), "{arguments:?}: {out}");
}

#[test]
fn programs_with_many_threads_and_dense_ones_end() {
    let directory = directory_with("many.aut", one_run(400, 3, 60));
    fs::write(directory.path().join("dense.aut"), dense(6, 160)).unwrap();
    for name in ["many.aut", "dense.aut"] {
        for model in ["pso", "power"] {
            is_cut_short(directory.path(), &["analyse", name, "--mm", model, "--refusals-shown"]);
        }
    }
}

/// Twelve pairs that a fence at one of four places each closes: sixteen million minimal sets.
#[test]
fn the_list_of_minimal_sets_ends() {
    let part = |number: usize| {
        format!(
            "s{number} -> a{number} {{ y := 1 }} a{number} -> b{number} {{ l := 1 }} b{number} -> c{number} {{ l := 2 }}
             c{number} -> d{number} {{ l := 3 }} d{number} -> s{} {{ r := x }} ",
            number + 1
        )
    };
    let transitions: String = (0..12).map(part).collect();
    let states: String = (0..12).map(|n| format!("a{n} b{n} c{n} d{n} s{} ", n + 1)).collect();
    let text = format!(
        "model m {{ classes C {{ variables Integer x y state machines
          a {{ variables Integer l r initial s0 states {states} transitions {transitions} }}
          b {{ initial A transitions A -> A {{ x := 1 - x }} }} }} objects o : C() }}"
    );
    let directory = directory_with("m.slco", text);
    let engine = ["analyse", "m.slco", "--engine", "persistence", "--mm", "tso"];
    let (status, out, errors) = run_in(directory.path(), &engine);
    assert!(status == 0 && out.contains("fences=12 "), "{out}{errors}");
    is_cut_short(directory.path(), &[&engine[..], &["--minimal-sets", "all"]].concat());
}

/// Ctrl-C while nothing is explored any more: what is known is told.
#[cfg(unix)]
#[test]
fn a_request_ends_an_analysis_with_what_is_known() {
    let directory = directory_with("many.aut", many_cycles());
    // On a busy machine the command may not have come to its analysis, and then ends at once.
    for seconds in [2, 8, 20] {
        let arguments = ["analyse", "many.aut", "--mm", "pso", "--conflicts", "reachable", "--json", "report.json"];
        let child =
            command_in(directory.path(), &arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        std::thread::sleep(Duration::from_secs(seconds));
        let asked = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        assert!(asked.success());
        let output = child.wait_with_output().unwrap();
        if output.status.code() == Some(130) {
            continue;
        }
        let out = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(3), "{out}");
        assert!(out.contains("complete=no") && out.contains("stopped at your request (Ctrl-C)"), "{out}");
        let report = fs::read_to_string(directory.path().join("report.json")).unwrap();
        assert!(report.contains("the analysis stopped at your request (Ctrl-C)"), "{report}");
        return;
    }
    panic!("the command has not begun its analysis after 20 seconds");
}
