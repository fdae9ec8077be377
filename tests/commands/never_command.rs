//! Properties of states on weak memory: `--never`, `--deadlock`, `--property never|final|no-deadlock`, in `verify`,
//! `analyse` and `fix`.

use crate::support::command::run;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
#[cfg(target_os = "linux")]
use std::process::Command;

const PETERSON: &str = "specs/properties/peterson.slco";
const ALTERNATING_BIT: &str = "specs/properties/alternating-bit.slco";
/// Wrong under sequential consistency already.
const PRODUCER_CONSUMER: &str = "specs/properties/producer-consumer-1-n2.slco";
/// What sequential consistency forbids of `specs/sb.slco`.
const SB: &str = "T0@s2 and T1@s2 and T0.r = 0 and T1.r = 0";

/// A file of this content, in the directory of a test.
struct Scratch(tempfile::TempDir);

impl Scratch {
    fn new() -> Scratch {
        Scratch(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }

    fn file(&self, name: &str, text: &str) -> String {
        fs::write(self.path(name), text).unwrap();
        self.path(name)
    }
}

fn json(path: impl AsRef<Path>) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// Runs that command, which is to end with this status; gives both streams.
fn ends(status: i32, arguments: &[&str]) -> (String, String) {
    let (found, out, errors) = run(arguments);
    assert_eq!(found, status, "{arguments:?}:\n{out}{errors}");
    (out, errors)
}

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_status_tells_the_verdict() {
    let (out, errors) = ends(1, &["verify", PETERSON, "--mm", "tso", "--property", "never"]);
    assert!(out.starts_with("tso: violated (0 fences and 0 atomic instructions put in):\n"), "{out}");
    assert!(out.ends_with("the state violates never mutex: P0@CS and P1@CS.\n") && errors.is_empty(), "{out}{errors}");
    assert!(out.contains("buffer P0") && out.contains("P1.0 W flag[1] = 1"), "{out}");
    let (out, _) = ends(0, &["verify", "specs/sb.slco", "--mm", "tso,pso", "--never", "x = 2"]);
    assert_eq!(out.matches(": verified: no state satisfies the condition (0 fences").count(), 2, "{out}");
    assert_eq!(out.matches("  rests on: ").count(), 2, "{out}");
    let (out, _) = ends(3, &["verify", PETERSON, "--property", "never", "--max-weak-states", "5"]);
    assert!(out.starts_with("tso: not decided") && out.contains("(--max-weak-states)"), "{out}");
    let (out, _) = ends(1, &["verify", "specs/sb.slco", "--mm", "tso,pso", "--never", SB]);
    assert!(out.contains("tso: violated") && out.contains("pso: violated"), "{out}");
    // TSO keeps two writes in order, PSO does not.
    let never = "T1@s2 and T1.r = 1 and T1.s = 0";
    let (out, _) = ends(1, &["verify", "specs/mp.slco", "--mm", "tso,pso", "--never", never]);
    assert!(out.contains("tso: verified") && out.contains("pso: violated"), "{out}");
}

/// The shortest run that breaks store buffering: two writes, two reads, and both writes become visible.
#[test]
fn the_run_is_a_shortest_one() {
    for engine in ["single-buffer", "store-buffers"] {
        let (out, _) = ends(1, &["verify", "specs/sb.slco", "--mm", "tso", "--never", SB, "--engine", engine]);
        let steps = out.lines().filter(|line| line.trim_start().starts_with(|c: char| c.is_ascii_digit())).count();
        assert_eq!(steps, 6, "{engine}: {out}");
    }
}

#[test]
fn names_that_do_not_exist_list_those_that_do() {
    let cases = [
        ("P0@nowhere", "1:1: error: there is no control state `P0@nowhere`", "`L`, `polite`, `look`, `ask`, `CS`"),
        ("P0@CS and Q@CS", "1:11: error: there is no thread `Q`", "the threads are `P0`, `P1`"),
        (
            "not flg[0]",
            "1:5: error: there is no variable `flg`",
            "did you mean `flag`? The shared variables are `flag`",
        ),
        ("P0.r = 1", "1:1: error: there is no variable `P0.r`", "there are no variables of `P0`"),
        ("turn", "1:1: error: expected a Boolean, found an Integer", "this is a condition"),
        ("turn = 1 and", "1:13: error: expected an operand", "turn = 1 and"),
    ];
    for (condition, problem, help) in cases {
        for command in ["verify", "analyse", "fix"] {
            let (out, errors) = ends(2, &[command, PETERSON, "--mm", "tso", "--never", condition]);
            assert!(out.is_empty(), "{out}");
            assert!(errors.contains(&format!("--never:{problem}")) && errors.contains(help), "{errors}");
        }
    }
    let (_, errors) = ends(2, &["verify", "specs/sb.slco", "--never", "T0.q = 1"]);
    assert!(errors.contains("`T0.q`") && errors.contains("`r`"), "{errors}");
}

#[test]
fn a_program_without_the_property_says_what_to_do() {
    for command in ["verify", "analyse", "fix"] {
        let (_, errors) = ends(2, &[command, "specs/sb.slco", "--mm", "tso", "--property", "never"]);
        assert!(errors.contains("specs/sb.slco states nothing that is never to be"), "{errors}");
        assert!(errors.contains("give a condition with --never, for example --never 'P0@CS and P1@CS'"), "{errors}");
        let (_, errors) = ends(2, &[command, "specs/sb.slco", "--mm", "tso", "--property", "final"]);
        assert!(errors.contains("states no condition on final states; litmus tests do"), "{errors}");
    }
}

/// Both count, and it is said which of them is violated.
#[test]
fn conditions_of_the_file_and_of_the_command_count_together() {
    let (out, _) = ends(1, &["verify", PETERSON, "--never", "P0@CS and turn = 1"]);
    assert!(out.contains("violates never P0@CS and turn = 1."), "{out}");
    let (out, _) = ends(1, &["verify", PETERSON, "--property", "never", "--never", "turn > 1"]);
    assert!(out.contains("violates never mutex: P0@CS and P1@CS."), "{out}");
    // Two on the command line: the nearer one is found.
    let (out, _) = ends(1, &["verify", PETERSON, "--never", "turn > 1", "--never", "flag[0] and flag[1]"]);
    assert!(out.contains("violates never flag[0] and flag[1]."), "{out}");
    let (out, _) = ends(0, &["-q", "analyse", PETERSON, "--mm", "tso", "--never", "turn > 1"]);
    assert!(out.contains(" fences=2 "), "{out}");
}

#[test]
fn a_condition_that_holds_at_once_is_violated_at_once() {
    for engine in ["single-buffer", "store-buffers"] {
        let (out, _) = ends(1, &["verify", "specs/sb.slco", "--never", "T0@s0", "--engine", engine]);
        assert!(out.contains("tso: violated") && out.contains("The initial state violates never T0@s0."), "{out}");
        assert!(!out.contains("T0.0") && !out.contains("becomes visible"), "{engine}: nothing has happened: {out}");
        let arguments = ["analyse", "specs/sb.slco", "--mm", "tso", "--never", "T0@s0", "--engine", engine];
        let (out, _) = ends(1, &arguments);
        assert!(out.contains("no fences are enough"), "{out}");
    }
}

#[test]
fn who_has_no_program_or_no_machine_is_refused() {
    let (_, errors) = ends(2, &["analyse", "lts/sb.aut", "--never", "x = 1"]);
    assert!(errors.contains("needs the values that a program reads and writes") && errors.contains("specifications"));
    let (_, errors) = ends(2, &["verify", "lts/sb.aut", "--never", "x = 1"]);
    assert!(errors.contains("a specification's name ends in `.slco`"), "{errors}");
    for (arguments, problem) in [
        (
            &["verify", "specs/sb.slco", "--mm", "armv7", "--never", SB][..],
            "no engine judges the property never under armv7, but under tso and pso; under it robustness can be asked",
        ),
        (
            &["verify", "specs/sb.slco", "--mm", "armv7", "--deadlock"],
            "no engine judges the property no-deadlock under armv7",
        ),
        (
            &["verify", "litmus/sb.litmus", "--mm", "armv7", "--property", "final"],
            "no engine judges the property final",
        ),
        (
            &["analyse", "specs/sb.slco", "--mm", "armv7", "--never", SB],
            "the property never is answered under tso and pso only (by the engine auto), not under armv7; give --mm tso,pso, or ask for robustness under armv7",
        ),
        (
            &["fix", "specs/sb.slco", "--mm", "power", "--never", SB],
            "answered under tso and pso only (by the engine auto), not under power",
        ),
        (&["verify", "specs/sb.slco", "--mm", "rmo", "--never", SB], "rmo"),
        (
            &["analyse", "specs/sb.slco", "--engine", "cycles", "--never", SB],
            "the engine cycles decides robust, not never",
        ),
        (
            &["verify", "litmus/sb.litmus", "--engine", "single-buffer", "--property", "final"],
            "decides never, no-deadlock, not final",
        ),
        (
            &["analyse", "specs/sb.slco", "--engine", "cycles", "--deadlock"],
            "the engine cycles decides robust, not no-deadlock",
        ),
        (
            &["verify", "specs/sb.slco", "--property", "robust", "--never", SB],
            "--never is --property never with a condition",
        ),
        (&["verify", "specs/sb.slco", "--deadlock", "--never", SB], "cannot be used with"),
        (&["verify", "specs/sb.slco", "--deadlock", "--property", "never"], "cannot be used with"),
        (
            &["verify", "specs/sb.slco", "--property", "always"],
            "possible values: robust, persistent, same-states, never",
        ),
        (&["verify", "specs/sb.slco", "--never", SB, "--atomicity", "full"], "judged access by access"),
    ] {
        let (out, errors) = ends(2, arguments);
        assert!(out.is_empty() && errors.contains(problem), "{arguments:?}: {out}{errors}");
    }
}

/// What repeats a write without a fence fills any buffer: store buffers tell nothing beyond their bound, one buffer
/// for all threads does.
#[test]
fn a_full_buffer_is_no_proof_and_the_other_engine_has_one() {
    let few = ["--engine", "store-buffers", "--buffer-bound", "1"];
    let verify = ["verify", ALTERNATING_BIT, "--mm", "tso", "--property", "never"];
    let (out, _) = ends(3, &[&verify[..], &few].concat());
    assert!(out.starts_with("tso: no violation with at most 1 waiting write ("), "{out}");
    assert!(!out.contains("verified"), "{out}");
    let (out, _) = ends(3, &[&["analyse"], &verify[1..], &few].concat());
    assert!(words(&out).contains("no violation with at most 1 waiting write") && !out.contains("fences=1"), "{out}");
    for model in ["tso", "pso"] {
        for (engine, ground) in [("single-buffer", "an exact search backwards (no bound)"), ("auto", "symbolic states")]
        {
            let (out, _) =
                ends(0, &["verify", ALTERNATING_BIT, "--mm", model, "--property", "never", "--engine", engine]);
            assert!(out.starts_with(&format!("{model}: verified")), "{out}");
            assert!(out.contains(ground) && out.contains("re-checked"), "{out}");
        }
    }
    // The condition of the file is not idle: the receiver can be one ahead.
    let (out, _) = ends(1, &["verify", ALTERNATING_BIT, "--never", "Receiver.got <> Sender.sent"]);
    assert!(out.contains("violates never Receiver.got <> Sender.sent."), "{out}");
}

/// Each thread tells what it has read; whoever waits for a one waits for ever if both have read zero, which only store
/// buffers allow.
const WAITS: &str = "model waits { classes C { variables Integer x y seen state machines
    T0 { variables Integer r initial a states b c d transitions
        a -> b { x := 1 } b -> c { r := y } c -> d { [r = 1; seen := 1] } c -> d { r = 0 } }
    T1 { variables Integer r initial a states b c d transitions
        a -> b { y := 1 } b -> c { r := x } c -> d { [r = 1; seen := 1] } c -> d { r = 0 } }
    U { initial a states b transitions a -> b { seen = 1 } } } objects o : C() }";

/// Two locks, taken in opposite orders, and given back.
const LOCKS: &str = "model locks { classes C { variables Integer l k state machines
    T0 { initial a states b c d transitions a -> b { atomic [l = 0; l := 1] } b -> c { atomic [k = 0; k := 1] }
        c -> d { l := 0 } d -> a { k := 0 } }
    T1 { initial a states b c d transitions a -> b { atomic [k = 0; k := 1] } b -> c { atomic [l = 0; l := 1] }
        c -> d { k := 0 } d -> a { l := 0 } } } objects o : C() }";

/// A thread waits for a value of its own that nobody else can change.
const ALONE: &str = "model alone { classes C { variables Integer x state machines
    T { variables Integer r initial a states b c transitions a -> b { r := x } b -> c { r = 1 } }
    U { initial a states b transitions a -> b { x := 2 } } } objects o : C() }";

#[test]
fn deadlocks_are_found_with_store_buffers_and_without() {
    let scratch = Scratch::new();
    let waits = scratch.file("waits.slco", WAITS);
    for asked in [&["--deadlock"][..], &["--property", "no-deadlock"]] {
        let (out, _) = ends(1, &[&["verify", &waits, "--mm", "tso"], asked].concat());
        assert!(out.contains("becomes visible") && out.ends_with("is not at its end.\n"), "{out}");
        assert!(out.contains("R y = 0") && out.contains("R x = 0"), "{out}");
    }
    // Under sequential consistency there is none: with both fences, which are the fewest, the verdict is that.
    let (out, _) = ends(0, &["-q", "analyse", &waits, "--mm", "tso", "--deadlock"]);
    assert!(out.contains(" fences=2 ") && out.contains("minimal=program"), "{out}");
    let fixed = scratch.path("fixed.slco");
    ends(0, &["fix", &waits, "--mm", "tso", "--deadlock", "-o", &fixed]);
    let (out, _) = ends(0, &["verify", &fixed, "--mm", "tso", "--deadlock"]);
    assert!(out.starts_with("tso: verified: no state is a deadlock"), "{out}");
    // This one is there without store buffers: each thread has one lock.
    let locks = scratch.file("locks.slco", LOCKS);
    let (out, _) = ends(1, &["verify", &locks, "--mm", "tso", "--deadlock"]);
    assert!(out.contains("T0.0") && out.contains("T1.0") && !out.contains("T0.1") && !out.contains("T1.1"), "{out}");
    let (out, _) = ends(1, &["analyse", &locks, "--mm", "tso", "--deadlock"]);
    assert!(out.contains("no fences are enough") && out.contains("no fence stops this run"), "{out}");
    let alone = scratch.file("alone.slco", ALONE);
    ends(1, &["verify", &alone, "--mm", "tso", "--deadlock"]);
    // Nobody waits, everybody ends; and who goes round for ever does not end, but is not stuck either.
    for program in ["specs/sb.slco", PETERSON] {
        let (out, _) = ends(0, &["verify", program, "--mm", "tso,pso", "--deadlock"]);
        assert_eq!(out.matches(": verified: no state is a deadlock").count(), 2, "{out}");
    }
}

/// All engines that decide it, by name: what is violated is shown, what is proved says by what.
#[test]
fn each_engine_that_decides_deadlocks_can_be_asked() {
    let (on_both, on_pso) = ("specs/properties/deadlock-example.slco", "specs/properties/pso-deadlock-example.slco");
    for (engine, proof) in [
        ("auto", "partial coherence, --buffers full:2"),
        ("partial-coherence", "partial coherence, --buffers full:2"),
        ("single-buffer", "an exact search"),
    ] {
        let by = |command: &[&'static str], program: &'static str| {
            let kept: &[&str] = if engine == "partial-coherence" { &["--buffers", "full:2"] } else { &[] };
            [command, &[program, "--engine", engine], kept].concat()
        };
        let (out, _) = ends(1, &by(&["verify", "--deadlock", "--mm", "tso,pso"], on_both));
        let violated = "violates no-deadlock: every thread is stuck, and one of them is not at its end.";
        assert_eq!(out.matches(violated).count(), 2, "{engine}: {out}");
        let (out, _) = ends(0, &by(&["verify", "--property", "no-deadlock", "--mm", "tso"], on_pso));
        assert!(out.contains("tso: verified: no state is a deadlock") && out.contains(proof), "{engine}: {out}");
        let (out, _) = ends(1, &by(&["verify", "--deadlock", "--mm", "pso"], on_pso));
        assert!(out.contains("pso: violated") && out.contains(violated), "{engine}: {out}");
        let (out, _) = ends(0, &by(&["-q", "analyse", "--deadlock", "--mm", "tso,pso"], on_both));
        assert_eq!(out.matches(" fences=2 ").count(), 2, "{engine}: {out}");
        let (out, _) = ends(0, &by(&["-q", "analyse", "--property", "no-deadlock", "--mm", "tso,pso"], on_pso));
        assert!(out.contains(" fences=0 ") && out.contains(" fences=2 "), "{engine}: {out}");
    }
}

#[test]
fn conditions_of_litmus_tests_are_judged_by_runs() {
    let (out, _) = ends(1, &["verify", "litmus/sb.litmus", "--mm", "tso", "--property", "final"]);
    assert!(out.contains("tso: violated") && out.contains("violates the condition of the test."), "{out}");
    let (out, _) = ends(0, &["-q", "analyse", "litmus/sb.litmus", "--mm", "tso", "--property", "final"]);
    assert!(out.contains(" fences=2 ") && out.contains("engine=auto"), "{out}");
    let scratch = Scratch::new();
    // Of all final states: one of the threads sees the other, which only store buffers can keep from being so.
    let text = fs::read_to_string("litmus/sb.litmus").unwrap();
    let test = |name: &str, condition: &str, fence: &str| {
        let text = text.replace("exists (0:EAX=0 /\\ 1:EAX=0)", condition);
        let text = text.replace(" MOV EAX,[y] |", &format!("{fence} MOV EAX,[y] |"));
        assert!(text.contains(condition) && text.contains(fence), "{text}");
        scratch.file(name, &text)
    };
    let one_sees = "forall (0:EAX=1 \\/ 1:EAX=1)";
    let plain = test("forall.litmus", one_sees, "");
    ends(1, &["verify", &plain, "--property", "final"]);
    let fenced = test("fenced.litmus", one_sees, " MFENCE | MFENCE ;\n");
    let (out, _) = ends(0, &["verify", &fenced, "--property", "final"]);
    assert!(out.starts_with("tso: verified"), "{out}");
    let none = test("none.litmus", "~exists (0:EAX=2)", "");
    ends(0, &["verify", &none, "--property", "final"]);
    // Texts of litmus tests are not changed.
    let (_, errors) = ends(2, &["fix", "litmus/sb.litmus", "--property", "final"]);
    assert!(errors.contains("fences can be put into the text of .slco"), "{errors}");
}

#[test]
fn fences_stand_where_they_may() {
    let scratch = Scratch::new();
    let analyse = |sites: &str| {
        let (status, out, errors) =
            run(&["analyse", PETERSON, "--mm", "tso", "--property", "never", "--fence-sites", sites]);
        (status, out, errors)
    };
    for (sites, place) in
        [("all", "after P0.1 (turn := 1)"), ("after-writes", "after P0.1 (turn := 1)"), ("before-reads", "before P0.2")]
    {
        let (status, out, errors) = analyse(sites);
        assert_eq!(status, 0, "{out}{errors}");
        assert!(out.contains("2 fences") && out.contains(place), "{sites}: {out}");
    }
    let good =
        scratch.file("good", "# right before the other one is looked at\nP0.2 before\n\nP1.1 after # or after\n");
    let (status, out, errors) = analyse(&good);
    assert_eq!(status, 0, "{out}{errors}");
    assert!(out.contains("before P0.2") && out.contains("after P1.1"), "{out}");
    let unknown = scratch.file("unknown", "# no such thread\n\nP7.1 after\n");
    let (status, _, errors) = analyse(&unknown);
    assert_eq!(status, 2, "{errors}");
    assert!(
        errors.contains(&format!("{unknown}:3: there is no site \"P7.1 after\"; there are P0.0 after")),
        "{errors}"
    );
    // What is written last must be waited for, so a fence after the first write is none for the property.
    for text in ["P0.0 after\nP1.0 after\n", "P0.1 after\n", ""] {
        let few = scratch.file("few", text);
        let (status, out, errors) = analyse(&few);
        assert_eq!(status, 1, "{text}: {out}{errors}");
        assert!(out.contains("no fences at the sites allowed are enough") && out.contains("this run"), "{out}");
    }
    let (status, _, errors) = analyse(&scratch.path("absent"));
    assert_eq!(status, 2, "{errors}");
    assert!(errors.contains("expected all, after-writes, before-reads, or a file with sites"), "{errors}");
    let (_, errors) = ends(2, &["analyse", PETERSON, "--mm", "tso", "--fence-sites", "all"]);
    assert!(errors.contains("--fence-sites is for --engine auto"), "{errors}");
}

#[test]
fn minimal_sets_are_listed_in_json() {
    let scratch = Scratch::new();
    let path = scratch.path("sets.json");
    let sets = |program: &str, most: &str, status: i32| {
        let arguments = ["analyse", program, "--mm", "tso", "--property", "never", "--fence-sites", "after-writes"];
        let (out, _) = ends(status, &[&arguments[..], &["--minimal-sets", most, "--json", &path]].concat());
        (json(&path)["results"][0]["minimal_sets"].clone(), out)
    };
    let bakery = "specs/properties/bakery.slco";
    let (listed, out) = sets(bakery, "all", 0);
    let all = serde_json::json!([[
        ["P0.0", "P0.5", "P1.0", "P1.5"],
        ["P0.0", "P0.5", "P1.0", "P1.6"],
        ["P0.0", "P0.6", "P1.0", "P1.5"],
        ["P0.0", "P0.6", "P1.0", "P1.6"]
    ]]);
    assert_eq!(listed, all);
    assert!(out.contains("after P0.0, P0.6, P1.0, P1.5") && out.contains("complete=yes"), "{out}");
    // One of the four, and it is said that there are more.
    let (listed, out) = sets(bakery, "1", 3);
    assert_eq!(listed, serde_json::json!([[all[0][0]]]));
    assert!(out.contains("the limit of --minimal-sets was reached") && out.contains("complete=no"), "{out}");
    // Where there is only one, or none is needed, one is all.
    let (listed, out) = sets(PETERSON, "1", 0);
    assert_eq!(listed, serde_json::json!([[["P0.1", "P1.1"]]]));
    assert!(out.contains("complete=yes"), "{out}");
    let (listed, _) = sets("specs/properties/clh.slco", "all", 0);
    assert_eq!(listed, serde_json::json!([[[]]]));
    // Anywhere, a fence between the last write and the first read is as good as the other.
    let arguments = ["analyse", PETERSON, "--mm", "tso", "--property", "never", "--minimal-sets", "all"];
    ends(0, &[&arguments[..], &["--json", &path]].concat());
    let listed = &json(&path)["results"][0]["minimal_sets"][0];
    assert_eq!(listed.as_array().unwrap().len(), 9, "{listed}");
}

/// What is enough is told beside what is not decided, and that an abstraction has no fences is no word on the program.
#[test]
fn bounds_and_abstractions_are_told_in_json() {
    let scratch = Scratch::new();
    let path = scratch.path("open.json");
    let result = |arguments: &[&str]| {
        let (out, _) =
            ends(3, &[&["analyse", "--mm", "pso", "--property", "never", "--json", &path], arguments].concat());
        (json(&path)["results"][0].clone(), words(&out))
    };
    let (open, out) = result(&["specs/properties/bakery-3.slco", "--max-weak-states", "5000"]);
    assert_eq!(open["inserted"]["verdict"], "undecided");
    assert_eq!(open["inserted"]["at_least"], 6);
    let sites = open["enough"]["sites"].as_array().unwrap();
    assert!(sites.len() >= 6 && sites[0] == "P0.0 after", "{sites:?}");
    assert!(open["enough"]["rests_on"].as_str().unwrap().contains("sequentially consistent"), "{open}");
    assert!(out.contains("enough, if perhaps not the fewest: P0.0 after, "), "{out}");
    assert!(out.contains(&format!("not known (at least 6 needed, {} enough)", sites.len())), "{out}");
    let few = ["--engine", "partial-coherence", "--buffers", "full:0"];
    let (open, out) = result(&[&["specs/partial-coherence/fast-1a.slco"], &few[..]].concat());
    assert_eq!(open["inserted"]["verdict"], "not-abstractly");
    assert!(open["inserted"]["why"].as_str().unwrap().contains("try --buffers full:1, or --engine auto"), "{open}");
    assert!(open.get("enough").is_none(), "{open}");
    assert!(out.contains("not decided (no fences are enough for the abstraction)"), "{out}");
}

/// Where a limit on states keeps an answer back, that is said, and not that the program has no bound; and no advice is
/// given that cannot be followed.
#[test]
fn limits_are_not_blamed_on_the_program() {
    const BARRIER: &str = "specs/partial-coherence/sense-0.slco";
    let arguments = ["analyse", BARRIER, "--mm", "tso", "--property", "never", "--max-weak-states", "30"];
    let (out, _) = ends(3, &arguments);
    assert!(words(&out).contains("too many states (--max-weak-states)"), "{out}");
    let scratch = Scratch::new();
    // Buffers without a bound: more may wait than any head has.
    let text = "model long { classes C { variables Integer x state machines
        t { initial a states b c transitions a -> a { x := 1 } a -> b { x := 2 } b -> c { x := 3 } }
        u { variables Integer r initial a states b c transitions a -> b { x = 2 } b -> c { x = 1 } } }
        objects o : C() never back: u@c and t@c and x = 3 }";
    fs::write(scratch.path("long.slco"), text).unwrap();
    let long = scratch.path("long.slco");
    let verify = ["verify", &long, "--mm", "tso", "--property", "never", "--engine", "partial-coherence", "--buffers"];
    let (out, _) = ends(3, &[&verify[..], &["full:2"]].concat());
    assert!(words(&out).contains("try --buffers full:3, or --engine auto"), "{out}");
    let (out, _) = ends(3, &[&verify[..], &["full:16"]].concat());
    assert!(words(&out).contains("use --engine auto") && !out.contains("full:17"), "{out}");
}

/// The files of a report.
fn report(scratch: &Scratch, status: i32, program: &str) -> PathBuf {
    let out = scratch.0.path().join("report");
    ends(status, &["-q", "analyse", program, "--mm", "tso", "--property", "never", "--out", out.to_str().unwrap()]);
    for file in ["report.json", "report.html", "report.sarif", "fences.csv", "summary.csv"] {
        assert!(!fs::read_to_string(out.join(file)).unwrap().is_empty(), "{file}");
    }
    out
}

#[test]
fn reports_have_the_runs_that_fences_stop() {
    let scratch = Scratch::new();
    let out = report(&scratch, 0, PETERSON);
    let json = json(out.join("report.json"));
    assert_eq!(json["engine"]["name"], "auto");
    let result = &json["results"][0];
    let fences = result["fences"].as_array().unwrap();
    let runs = result["runs"].as_array().unwrap();
    assert_eq!(fences.len(), 2, "{fences:?}");
    assert!(fences.iter().any(|fence| !fence["stops"].as_array().unwrap().is_empty()), "{fences:?}");
    assert!(runs.iter().any(|run| run.to_string().contains("flag[0] = 1 becomes visible")), "{runs:?}");
    assert!(runs.iter().all(|run| run.to_string().contains("violates never mutex")), "{runs:?}");
    let html = fs::read_to_string(out.join("report.html")).unwrap();
    assert!(html.contains("never mutex: P0@CS and P1@CS") && html.contains("becomes visible"));
    let sarif = fs::read_to_string(out.join("report.sarif")).unwrap();
    assert!(sarif.contains("codeFlows") && sarif.contains("becomes visible"));
    // The report says what is needed: with that in place the property holds, and without it does not.
    let report = out.join("report.json");
    let with = ["verify", PETERSON, "--mm", "tso", "--property", "never", "--with", report.to_str().unwrap()];
    let (out, _) = ends(0, &with);
    assert!(out.starts_with("tso: verified: no state satisfies the condition (2 fences"), "{out}");
    // These fences do not help against what sequential consistency allows.
    let (out, _) = ends(1, &[&with[..], &["--never", "P0@CS and turn = 1"]].concat());
    assert!(out.contains("tso: violated (2 fences") && out.contains("never P0@CS and turn = 1"), "{out}");
}

#[test]
fn reports_of_what_no_fences_repair_have_the_run() {
    let scratch = Scratch::new();
    let out = report(&scratch, 1, PRODUCER_CONSUMER);
    let json = json(out.join("report.json"));
    let result = &json["results"][0];
    assert_eq!(result["inserted"]["verdict"], "unfixable");
    assert_eq!(result["fences"], serde_json::json!([]));
    let run = result["runs"][0].to_string();
    assert!(run.contains("Consumer.5") && run.contains("violates assert a in Consumer"), "{run}");
    let html = fs::read_to_string(out.join("report.html")).unwrap();
    assert!(html.contains("no fences are enough") && html.contains("violates assert a in Consumer"));
    let sarif = fs::read_to_string(out.join("report.sarif")).unwrap();
    assert!(sarif.contains("no-fences-are-enough") && sarif.contains("Consumer.5"));
    let (out, _) = ends(1, &["analyse", PRODUCER_CONSUMER, "--mm", "tso", "--property", "never"]);
    assert!(out.contains("no fences are enough") && out.contains("no fence stops this run"), "{out}");
    assert!(out.contains("violates assert a in Consumer, check -> clear."), "{out}");
    let (out, errors) = ends(1, &["fix", PRODUCER_CONSUMER, "--mm", "tso", "--property", "never"]);
    assert!(out.is_empty() && errors.contains("no fences are enough for tso"), "{out}{errors}");
    // Nothing was put in, so nothing is the better for it.
    ends(1, &["verify", PRODUCER_CONSUMER, "--mm", "tso", "--property", "never"]);
}

/// What fix writes keeps the property, and putting in more is not needed.
#[test]
fn a_fixed_text_keeps_its_property() {
    let scratch = Scratch::new();
    let mut programs = vec![
        (PETERSON.to_owned(), "slco", 2, "; fence"),
        ("specs/properties/szymanski-2.slco".to_owned(), "slco", 3, "fence"),
        // Both processes have one text, of a macro.
        ("specs/dekker-memorax.rmm".to_owned(), "rmm", 2, "fence"),
        ("specs/remmex/peterson.rmx".to_owned(), "rmx", 2, "; MFENCE"),
        ("specs/remmex/dekker.rmx".to_owned(), "rmx", 4, "; MFENCE"),
    ];
    let corpus = Path::new("../shared/corpus/rmm/peterson.rmm");
    match corpus.is_file() {
        true => programs.push((corpus.to_str().unwrap().to_owned(), "rmm", 2, "fence")),
        false => eprintln!("SKIPPED: no {}", corpus.display()),
    }
    for (program, ending, fences, fence) in programs {
        let original = fs::read_to_string(&program).unwrap();
        let fixed = scratch.path(&format!("fixed.{ending}"));
        ends(0, &["fix", &program, "--mm", "tso", "--property", "never", "-o", &fixed]);
        let text = fs::read_to_string(&fixed).unwrap();
        let put_in = text.matches(fence).count() - original.matches(fence).count();
        assert_eq!(put_in, fences, "{program}: {text}");
        ends(1, &["verify", &program, "--mm", "tso", "--property", "never"]);
        let (out, _) = ends(0, &["verify", &fixed, "--mm", "tso", "--property", "never"]);
        assert!(out.starts_with("tso: verified"), "{out}");
        let (again, _) = ends(0, &["fix", &fixed, "--mm", "tso", "--property", "never"]);
        assert_eq!(again, text, "{program}: there is nothing more to do");
    }
    // With a condition of the command line, too.
    let fixed = scratch.path("sb.slco");
    ends(0, &["fix", "specs/sb.slco", "--mm", "pso", "--never", SB, "-o", &fixed]);
    ends(0, &["verify", &fixed, "--mm", "pso", "--never", SB]);
    let report = scratch.path("sb.json");
    ends(0, &["-q", "analyse", "specs/sb.slco", "--mm", "tso", "--never", SB, "--json", &report]);
    ends(0, &["fix", "specs/sb.slco", "--mm", "tso", "--with", &report, "-o", &fixed]);
    ends(0, &["verify", &fixed, "--mm", "tso", "--never", SB]);
}

/// Error states of Remmex are conditions of the command line; its numbers stay what they are when fences are put in.
#[test]
fn error_states_of_remmex_are_conditions() {
    let program = "specs/remmex/peterson.rmx";
    let scratch = Scratch::new();
    let fixed = scratch.path("fixed.rmx");
    let text = fs::read_to_string(program).unwrap().replace("never 2 cs cs;", "").replace("cs: ", "");
    let unnamed = scratch.file("unnamed.rmx", &text);
    for vector in ["2 5 5", "-e 2 5 5", "P1@5 and P2@5"] {
        ends(1, &["verify", &unnamed, "--mm", "tso", "--never", vector]);
        ends(0, &["fix", &unnamed, "--mm", "tso", "--never", vector, "-o", &fixed]);
        let (out, _) = ends(0, &["verify", &fixed, "--mm", "tso", "--never", vector]);
        assert!(out.starts_with("tso: verified"), "{vector}: {out}");
        ends(0, &["explore", &unnamed, "--never", vector]);
    }
    let (_, errors) = ends(2, &["verify", program, "--mm", "tso", "--never", "2 5"]);
    assert!(errors.contains("--never:1:1: error: 1 location for 2 processes"), "{errors}");
}

/// Two increments, of which one is lost: whoever reads and writes in one instruction does so in two steps, also under
/// sequential consistency, and no fence makes them one.
#[test]
fn no_fence_makes_an_instruction_atomic() {
    let text = "model counter { classes C { variables Integer x state machines
        T { initial a states b transitions a -> b { x := x + 1 } }
        U { initial a states b transitions a -> b { x := x + 1 } } } objects o : C()
        never lost: T@b and U@b and x < 2 }";
    let scratch = Scratch::new();
    let torn = scratch.file("torn.slco", text);
    let (out, _) = ends(1, &["verify", &torn, "--mm", "tso", "--property", "never"]);
    assert!(out.contains("violates never lost: T@b and U@b and x < 2."), "{out}");
    assert!(out.contains("each access is a step of its own: T.0 and 1 more"), "{out}");
    for engine in ["single-buffer", "store-buffers"] {
        for model in ["tso", "pso"] {
            let arguments = ["analyse", &torn, "--mm", model, "--property", "never", "--engine", engine];
            let (out, _) = ends(1, &arguments);
            assert!(out.contains("no fences are enough") && out.contains("R x = 0"), "{engine}: {out}");
        }
    }
    let (_, errors) = ends(1, &["fix", &torn, "--mm", "tso", "--property", "never"]);
    assert!(errors.contains("no fences are enough for tso"), "{errors}");
    // Atomic, or presumed to be, nothing is lost.
    let atomic = scratch.file("atomic.slco", &text.replace("{ x := x + 1 }", "{ atomic [ x := x + 1 ] }"));
    ends(0, &["verify", &atomic, "--mm", "tso,pso", "--property", "never"]);
    ends(0, &["verify", &torn, "--mm", "tso,pso", "--property", "never", "--atomicity", "presumed"]);
}

/// An assertion is a property: it fails in a thread, where the thread reads.
#[test]
fn assertions_are_told_by_their_thread() {
    let text = |fence: &str| {
        format!(
            "model sb {{ classes C {{ variables Integer x y a b state machines
            T0 {{ variables Integer r initial s0 states s1 s2 transitions
                s0 -> s1 {{ x := 1{fence} }} s1 -> s2 {{ r := y }} s2 -> s2 {{ [r = 0; a := 1] }} }}
            T1 {{ variables Integer r initial s0 states s1 s2 s3 s4 transitions
                s0 -> s1 {{ y := 1{fence} }} s1 -> s2 {{ r := x }} s2 -> s3 {{ r = 0 }}
                s3 -> s4 {{ assert a = 0 }} }} }}
            objects o : C() }}"
        )
    };
    let scratch = Scratch::new();
    let (plain, fenced) = (scratch.file("plain.slco", &text("")), scratch.file("fenced.slco", &text("; fence")));
    let (out, _) = ends(1, &["verify", &plain, "--mm", "tso", "--property", "never"]);
    assert!(out.contains("violates assert a = 0 in T1, s3 -> s4."), "{out}");
    ends(0, &["verify", &fenced, "--mm", "tso", "--property", "never"]);
    let (out, _) = ends(0, &["-q", "analyse", &plain, "--mm", "tso", "--property", "never"]);
    assert!(out.contains(" fences=2 "), "{out}");
}

/// A thread that waits with more than 250 writes: there is no bound on buffers, and none is taken for one silently.
#[test]
fn long_buffers_are_not_forgotten() {
    let text = "model m { classes C { variables Byte x Byte y state machines
        P0 { variables Byte i Byte r := 9 initial A states B C D E transitions
          A -> B { x := 1 } B -> C { x := 2 } C -> A { [i < 125; i := i + 1] } C -> D { i = 125 } D -> E { r := y } }
        P1 { variables Byte j initial S states T U V W Z transitions
          S -> T { y := 1 } T -> U { fence } U -> V { x = 1 } V -> W { x = 2 } W -> U { [j < 125; j := j + 1] }
          W -> Z { j = 125 } } } objects o : C() never n: P0@E and P0.r = 0 and P1@Z }";
    let scratch = Scratch::new();
    let path = scratch.file("long.slco", text);
    for model in ["tso", "pso"] {
        let (status, out, errors) = run(&["verify", &path, "--mm", model, "--property", "never", "--timeout", "20"]);
        assert!(matches!(status, 1 | 3), "{model}: {status} {out}{errors}");
    }
}

/// Two atomic instructions between the same states: the run goes by what they write.
#[test]
fn atomic_instructions_side_by_side_are_told_apart() {
    let text = "model m { classes C { variables Byte x Byte y state machines
        P0 { variables Byte r := 9 initial A states B C D
          transitions A -> B { x := 1 } B -> C { x := 2 } C -> D { r := y } }
        P1 { variables Byte s := 9 initial S states T U
          transitions S -> T { atomic [y := 2] } S -> T { atomic [y := 1] } T -> U { s := x } } } objects o : C() }";
    let scratch = Scratch::new();
    let path = scratch.file("side.slco", text);
    let never = "P0@D and P0.r = 0 and P1@U and P1.s = 0 and y = 1";
    for model in ["tso", "pso"] {
        let (out, _) = ends(1, &["verify", &path, "--mm", model, "--never", never, "--buffer-bound", "1"]);
        assert!(out.contains("violated"), "{model}: {out}");
    }
}

/// A thread that stops at a division by zero hides what comes behind it: that is no proof.
#[test]
fn a_program_that_goes_wrong_is_not_verified() {
    let text = "model m { classes C { variables Byte x Byte y state machines
        P0 { variables Byte r initial A states B C transitions A -> B { x := 1 } B -> C { r := 1 / y } }
        P1 { initial A states B transitions A -> B { y := 1 } } } objects o : C() }";
    let scratch = Scratch::new();
    let path = scratch.file("wrong.slco", text);
    let (_, errors) = ends(2, &["verify", &path, "--never", "P0@C and x = 5"]);
    assert!(errors.contains("wrong.slco:2:") && errors.contains("goes wrong"), "{errors}");
}

/// Where a fence has a control state of its own, a condition may see it; that is not said of the program.
#[test]
fn a_text_with_fences_that_loses_the_property_is_told_as_such() {
    let text = "model m { classes C { variables Byte x Byte y state machines
        P0 { variables Byte r initial A states B C transitions A -> B { x := 1 } B -> C { r := y } }
        P1 { variables Byte s initial A states B C transitions A -> B { y := 1 } B -> C { s := x } } } objects o : C()
        never sb: P0@C and P1@C and P0.r = 0 and P1.s = 0
        never lost: not (P0@A or P0@B or P0@C) }";
    let scratch = Scratch::new();
    let path = scratch.file("lost.slco", text);
    let (out, _) = ends(0, &["-q", "analyse", &path, "--mm", "tso", "--property", "never"]);
    assert!(out.contains(" fences=2 "), "{out}");
    let (_, errors) = ends(1, &["fix", &path, "--property", "never"]);
    assert!(errors.contains("fences are enough") && errors.contains("has no name"), "{errors}");
}

/// As `explore` does: a condition that looks outside an array is not verified without a word.
#[test]
fn an_index_out_of_range_in_a_condition_is_said() {
    let condition = "wants[turn + 2]";
    let (_, errors) = ends(0, &["explore", "specs/peterson.slco", "--never", condition]);
    assert!(errors.contains("an index was out of range"), "{errors}");
    let (_, out, errors) = run(&["verify", "specs/peterson.slco", "--mm", "tso", "--never", condition]);
    assert!(errors.contains("out of range") || out.contains("out of range"), "nothing is said: {out}{errors}");
}

/// As `explore` does.
#[test]
fn a_condition_that_goes_wrong_says_where() {
    for command in ["explore", "verify"] {
        let (_, errors) = ends(2, &[command, "specs/peterson.slco", "--never", "1 / turn = 5"]);
        assert!(errors.contains("division by zero") && errors.contains("--never:1:1"), "{command}: {errors}");
    }
}

/// What a message recommends does what was asked.
#[test]
fn no_engine_is_recommended_that_does_not_decide_the_property() {
    let (_, errors) = ends(2, &["analyse", "specs/sb.slco", "--mm", "armv7", "--never", SB]);
    assert!(errors.contains("give --mm tso,pso"), "{errors}");
    assert!(!errors.contains("--engine cycles"), "that decides only robust: {errors}");
}

/// The number of minimal configurations is bounded, and so must be the memory that they take from the first on.
#[cfg(target_os = "linux")]
#[test]
fn a_search_with_a_limit_stays_small() {
    let never = "P0@CS and P1@CS or P0@CS and P2@CS or P1@CS and P2@CS";
    let limited = "ulimit -v 1000000; exec \"$0\" \"$@\"";
    let output = Command::new("sh")
        .args(["-c", limited, env!("CARGO_BIN_EXE_seqcon")])
        .args(["verify", "specs/peterson-3.slco", "--mm", "tso", "--never", never, "--max-weak-states", "1000"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    // Violated or not decided; what there is no memory for ends by a signal.
    assert!(
        matches!(output.status.code(), Some(0 | 1 | 3)),
        "not within a gigabyte: {}",
        errors.lines().next().unwrap_or("")
    );
}
