//! `seqcon explore` as a user runs it: invariants and their counterexamples, limits, Ctrl-C, models that are wrong.

use crate::support::command::{command, seqcon, stderr, stdout};
use std::fs;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::Duration;
use tempfile::TempDir;

/// Exit status 2, one message, nothing on standard output; gives the message.
fn refusal(arguments: &[&str]) -> String {
    let output = seqcon(arguments);
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {message}");
    assert_eq!(stdout(&output), "", "{arguments:?}");
    assert!(message.starts_with("seqcon: ") && !message.contains("panicked"), "{message}");
    message
}

fn file(directory: &TempDir, name: &str, contents: &str) -> String {
    let path = directory.path().join(name);
    fs::write(&path, contents).expect("the file can be written");
    path.to_str().expect("the path is UTF-8").to_owned()
}

fn scratch() -> TempDir {
    TempDir::new().expect("a temporary directory")
}

/// A model with one thread, whose one transition does this.
fn model(variables: &str, statement: &str) -> String {
    format!(
        "model m {{ classes C {{ variables {variables}\nstate machines T {{ initial A transitions\n\
         A -> A {{ {statement} }}\n}} }} objects o : C() }}\n"
    )
}

#[test]
fn an_invariant_that_holds_changes_nothing() {
    let output = seqcon(&["explore", "specs/peterson.slco", "--invariant", "not (P0@CS and P1@CS)"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).starts_with("states=20 transitions=50 deadlocks=0 "), "{}", stdout(&output));
}

#[test]
fn a_violated_invariant_gives_a_shortest_run_in_the_words_of_the_model() {
    let directory = scratch();
    let path = file(
        &directory,
        "lock.slco",
        "model m { classes C { variables Boolean locked := false Integer[2] log := [0, 0]\n\
         state machines P { variables Integer mine := 7 initial A states B CS transitions\n\
         A -> B { not locked } B -> CS { [ // not atomic with the test\n locked := true;\n log[mine - 7] := mine] } }\n\
         Q { initial A states B CS transitions A -> B { not locked } B -> CS { locked := true } CS -> A { locked := false } } } objects o : C() }",
    );
    let invariants = ["--invariant", "log[1] = 0", "--invariant", "not (P@CS and Q@CS) or P.mine != 7"];
    let output = seqcon(&[&["explore", &path][..], &invariants].concat());
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let expected = "invariant violated: not (P@CS and Q@CS) or P.mine != 7\n\
                    after 4 steps, and no fewer:\n\
                    \x20 1. P: A -> B { not locked }\n\
                    \x20 2. Q: A -> B { not locked }\n\
                    \x20 3. P: B -> CS { [ locked := true; log[mine - 7] := mine] }  // locked = true, log[0] = 7\n\
                    \x20 4. Q: B -> CS { locked := true }\n\
                    in this state:\n\
                    \x20 locked = true\n\
                    \x20 log = [7, 0]\n\
                    \x20 P@CS, P.mine = 7\n\
                    \x20 Q@CS\n\
                    states=";
    assert!(stdout(&output).starts_with(expected), "{}", stdout(&output));
    let quiet = seqcon(&[&["-q", "explore", &path][..], &invariants].concat());
    assert_eq!(stdout(&quiet).lines().count(), 2, "{}", stdout(&quiet));
    let at_once = seqcon(&["explore", &path, "--invariant", "locked"]);
    assert!(stdout(&at_once).contains("\nin the initial state:\n  locked = false\n"), "{}", stdout(&at_once));
}

#[test]
fn a_condition_that_no_state_may_satisfy_is_the_contrary_of_an_invariant() {
    let holds = seqcon(&["explore", "specs/peterson.slco", "--never", "P0@CS and P1@CS", "--never", "turn = 7"]);
    assert_eq!(holds.status.code(), Some(0), "{}", stderr(&holds));
    let fails = seqcon(&["explore", "specs/peterson.slco", "--never", "turn = 7", "--never", "P1@CS and P0@polite"]);
    assert_eq!(fails.status.code(), Some(1), "{}", stderr(&fails));
    let shown = stdout(&fails);
    assert!(
        shown.starts_with("property violated: never P1@CS and P0@polite\nafter 4 steps, and no fewer:\n"),
        "{shown}"
    );
    let invariant = seqcon(&["explore", "specs/peterson.slco", "--invariant", "not (P1@CS and P0@polite)"]);
    let run = |shown: &str| shown.split_once('\n').map(|(_, run)| run.split("states=").next().unwrap_or("").to_owned());
    assert_eq!(run(&shown), run(&stdout(&invariant)));
    let message = refusal(&["explore", "specs/peterson.slco", "--never", "P2@CS"]);
    assert!(message.contains("--never:1:1: error: there is no thread `P2`"), "{message}");
    let message = refusal(&["explore", "specs/peterson.slco", "--never", "P0@CS and 1 / turn = 1"]);
    assert!(message.contains("--never:1:11: error: "), "{message}");
}

#[test]
fn the_properties_of_the_text_are_checked_unless_they_are_left_out() {
    let path = "specs/properties/producer-consumer-1-n2.slco";
    let output = seqcon(&["-q", "explore", path]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let shown = stdout(&output);
    assert!(shown.starts_with("property violated: assert a in Consumer, check -> clear\nstates="), "{shown}");
    let shown = stdout(&seqcon(&["explore", path]));
    assert!(shown.contains(". Consumer: check -> failed_1 { assert a }\nin this state:\n"), "{shown}");
    let left_out = seqcon(&["explore", path, "--no-properties"]);
    assert_eq!(left_out.status.code(), Some(0), "{}", stderr(&left_out));
    assert!(stdout(&left_out).starts_with("states="), "{}", stdout(&left_out));

    let directory = scratch();
    let wrong = "model m { classes C { variables Integer x\nstate machines T { initial A states B transitions\n\
                 A -> B { x := 1 } } } objects o : C()\nnever reached: T@B\nnever zero: 1 / (x - 1) = 2 }";
    let path = file(&directory, "never.slco", wrong);
    let shown = stdout(&seqcon(&["-q", "explore", &path]));
    assert!(shown.starts_with("property violated: never reached: T@B\n"), "{shown}");
    let path = file(&directory, "fault.slco", &wrong.replace("never reached: T@B", ""));
    let message = refusal(&["explore", &path]);
    assert!(message.contains("fault.slco:5:13: error: ") && message.contains("one step leads there"), "{message}");
}

#[test]
fn objects_are_named_in_invariants_with_a_dot_or_as_reports_do() {
    let directory = scratch();
    let text = "model m { classes C { variables Integer x\nstate machines T { variables Integer y initial A states B\n\
                transitions A -> B { [x := x + 1; y := 2] } } } objects left : C(), right : C(x := 5) }";
    let path = file(&directory, "two.slco", text);
    for invariant in ["left.x + right.x < 7", "left'x + right'x < 7", "not (left.T.y = 2 and right.T@B)"] {
        let output = seqcon(&["explore", &path, "--invariant", invariant]);
        assert_eq!(output.status.code(), Some(1), "{invariant}: {}", stderr(&output));
        let shown = stdout(&output);
        assert!(
            shown.contains("  1. left.T: A -> B { [x := x + 1; y := 2] }  // left.x = 1, left.T.y = 2\n"),
            "{shown}"
        );
        assert!(shown.contains("\n  right.x = 6\n  left.T@B, left.T.y = 2\n"), "{shown}");
    }
}

#[test]
fn a_wrong_invariant_is_underlined() {
    for (invariant, expected) in [
        ("turn = ", "--invariant:1:7: error: expected an operand, found its end\n    1 | turn =\n      |       ^\n"),
        (
            "trun = 1",
            "--invariant:1:1: error: there is no variable `trun`\n    1 | trun = 1\n      | ^^^^\n      help: did you mean `turn`?",
        ),
        (
            "P0@CR",
            "--invariant:1:1: error: there is no control state `P0@CR`\n    1 | P0@CR\n      | ^^^^^\n      help: did you mean `P0@CS`?",
        ),
        ("turn + 1", "--invariant:1:1: error: expected a Boolean, found an Integer\n"),
        ("wants", "--invariant:1:1: error: `wants` is an array and needs an index"),
        ("turn = 1 turn", "--invariant:1:10: error: expected an operator or the end of the expression, found `turn`"),
        ("turn := 1", "--invariant:1:6: error: expected an operator or the end of the expression, found `:=`"),
        ("", "--invariant:1:1: error: expected an expression, found its end"),
    ] {
        let message = refusal(&["explore", "specs/peterson.slco", "--invariant", invariant]);
        assert!(message.contains(expected), "{invariant}: {message}");
    }
    // The system takes no longer argument than 128 KiB.
    let deep = format!("{}true{}", "(".repeat(50_000), ")".repeat(50_000));
    let message = refusal(&["explore", "specs/peterson.slco", "--invariant", &deep]);
    assert!(message.contains("nests deeper than 256 levels") && message.len() < 1000, "{message}");
}

#[test]
fn an_invariant_that_cannot_be_evaluated_is_an_error_with_the_run() {
    let message = refusal(&["explore", "specs/peterson.slco", "--invariant", "not P0@CS or 1 / turn < 2"]);
    let expected = "seqcon: --invariant:1:14: error: division by zero\n    1 | not P0@CS or 1 / turn < 2\n      |              ^^^^^^^^\n\
                    it was evaluated in specs/peterson.slco, in the initial state";
    assert!(message.starts_with(expected), "{message}");
}

#[test]
fn a_state_space_that_is_only_known_in_part_is_marked() {
    let directory = scratch();
    let path = directory.path().join("part.aut");
    let path = path.to_str().unwrap();
    let output = seqcon(&["explore", "specs/peterson-3.slco", "--max-states", "5", "-o", path]);
    assert_eq!(output.status.code(), Some(3));
    assert!(stderr(&output).contains("only a part of the state space"), "{}", stderr(&output));
    let text = fs::read_to_string(path).unwrap();
    assert!(text.starts_with("des (?,?,?)\n(0,\""), "{text}");
    assert!(refusal(&["analyse", path]).contains("--recover"));
    let analysed = seqcon(&["analyse", path, "--recover", "--mm", "tso"]);
    assert_eq!(analysed.status.code(), Some(3));
    assert!(stdout(&analysed).contains("complete=no"), "{}", stdout(&analysed));
    let violated = seqcon(&["explore", "specs/peterson-3.slco", "--invariant", "true = false", "-o", "-"]);
    assert_eq!((violated.status.code(), stdout(&violated).as_str()), (Some(1), "des (?,?,?)\n"));
}

/// Twelve counters: more states than anybody has memory for.
fn endless() -> String {
    let machines: String = (0..12)
        .map(|n| format!("T{n} {{ initial A transitions A -> A {{ [x[{n}] < 200; x[{n}] := x[{n}] + 1] }} }}\n"))
        .collect();
    format!("model m {{ classes C {{ variables Integer[12] x\nstate machines {machines} }} objects o : C() }}")
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_an_exploration_and_what_is_known_is_told() {
    let directory = scratch();
    let path = file(&directory, "endless.slco", &endless());
    let facts = directory.path().join("part.facts");
    for (arguments, told) in [
        (&["explore", &path][..], "states="),
        (&["-q", "analyse", &path, "--mm", "tso", "--abstraction", "none"], "complete=no"),
        (&["facts", &path, "-o", facts.to_str().unwrap()], ""),
    ] {
        // The limit on memory is for when the signal gets lost.
        let limited = [arguments, &["--memory-limit", "2000"]].concat();
        let mut child = command(&limited).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        thread::sleep(Duration::from_millis(500));
        interrupt(&child);
        assert!(child.stdin.is_none());
        let output = wait(&mut child, Duration::from_secs(60));
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(3), "{arguments:?}: {message}");
        assert!(message.contains("stopped at your request (Ctrl-C) after "), "{arguments:?}: {message}");
        assert!(stdout(&output).contains(told), "{arguments:?}: {}", stdout(&output));
    }
    assert!(fs::read_to_string(facts).unwrap().contains("\ncut_off 1\n"));
}

#[cfg(unix)]
fn interrupt(child: &std::process::Child) {
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs");
    assert!(killed.success());
}

#[cfg(unix)]
fn wait(child: &mut std::process::Child, patience: Duration) -> Output {
    use std::io::Read;
    let started = std::time::Instant::now();
    while child.try_wait().unwrap().is_none() {
        if started.elapsed() > patience {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("still running {patience:?} after Ctrl-C");
        }
        thread::sleep(Duration::from_millis(20));
    }
    let status = child.wait().unwrap();
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    child.stdout.take().unwrap().read_to_end(&mut stdout).unwrap();
    child.stderr.take().unwrap().read_to_end(&mut stderr).unwrap();
    Output { status, stdout, stderr }
}

#[test]
fn models_that_are_wrong_are_refused_with_their_place() {
    let directory = scratch();
    let deep = format!("x := {}1{}", "(".repeat(100_000), ")".repeat(100_000));
    for (name, text, expected) in [
        ("syntax.slco", model("Integer x", "x = "), "syntax.slco:3:15: error: expected an operand, found `}`"),
        ("name.slco", model("Integer x", "y := 1"), "name.slco:3:10: error: there is no variable `y`"),
        ("type.slco", model("Integer x", "x := true"), "type.slco:3:15: error: expected an Integer, found a Boolean"),
        (
            "zero.slco",
            model("Integer[0] x", "x[0] := 1"),
            "zero.slco:1:41: error: an array has at least 1 element, not 0",
        ),
        (
            "minus.slco",
            model("Integer[-1] x", "x[0] := 1"),
            "minus.slco:1:41: error: an array has at least 1 element, not -1",
        ),
        (
            "deep.slco",
            model("Integer x", &deep),
            "deep.slco:3:271: error: this expression nests deeper than 256 levels",
        ),
    ] {
        let path = file(&directory, name, &text);
        for subcommand in ["explore", "analyse", "facts"] {
            let message = refusal(&[subcommand, &path]);
            assert!(message.contains(expected), "{name}: {message}");
            assert!(message.contains("\n    ") && message.contains('^'), "the place is underlined: {message}");
            assert!(message.len() < 1000, "{name}: the message is {} bytes long", message.len());
        }
    }
}

#[test]
fn faults_that_are_reached_are_reported_with_the_run() {
    let directory = scratch();
    let text = model("Integer x := 2 y", "[y := 6 / x; x := x - 1]");
    let division = file(&directory, "division.slco", &text);
    let expected = "division.slco:3:16: division by zero in T.0; 2 steps lead there:\n\
                    \x20 1. T: A -> A { [y := 6 / x; x := x - 1] }  // x = 1, y = 3\n\
                    \x20 2. T: A -> A { [y := 6 / x; x := x - 1] }  // x = 0, y = 6\n";
    let overflow = file(&directory, "overflow.slco", &model("Integer x := 3", "x := x * x"));
    let too_large = "overflow.slco:3:15: the result does not fit into 64 bits in T.0; 5 steps lead there:\n\
                     \x20 1. T: A -> A { x := x * x }  // x = 9\n";
    for subcommand in ["explore", "analyse", "facts"] {
        let message = refusal(&[subcommand, &division]);
        assert!(message.ends_with(expected), "{message}");
        let message = refusal(&[subcommand, &overflow]);
        assert!(message.contains(too_large) && message.ends_with("// x = 1853020188851841\n"), "{message}");
    }
    let negated = file(&directory, "negated.slco", &model("Integer x := -9223372036854775808", "x := -x"));
    let message = refusal(&["explore", &negated]);
    let expected = "negated.slco:3:10: the result does not fit into 64 bits in T.0, in the initial state\n";
    assert!(message.ends_with(expected), "{message}");
}
