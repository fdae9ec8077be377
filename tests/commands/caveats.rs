//! Nothing to analyse is not clean: what never happens, what cannot conflict, and definitions that miss violations
//! are said in the answer and in every report.

use crate::support::command::{seqcon, stderr, stdout};
use serde_json::Value;
use std::fs;
use tempfile::TempDir;

/// A specification or state space in a directory of its own, analysed under TSO with every report.
struct Analysed {
    _scratch: TempDir,
    path: String,
    text: String,
    status: Option<i32>,
    report: Value,
    sarif: Value,
    page: String,
}

fn analysed(name: &str, contents: &str, options: &[&str]) -> Analysed {
    let scratch = TempDir::new().unwrap();
    let path = scratch.path().join(name).to_str().unwrap().to_owned();
    fs::write(&path, contents).unwrap();
    let out = scratch.path().join("out");
    let arguments = ["analyse", &path, "--mm", "tso", "--out", out.to_str().unwrap()];
    let output = seqcon(&[&arguments, options].concat());
    let read =
        |file: &str| fs::read_to_string(out.join(file)).unwrap_or_else(|error| panic!("{error}: {}", stderr(&output)));
    let json = |file: &str| serde_json::from_str(&read(file)).unwrap();
    Analysed {
        text: stdout(&output),
        status: output.status.code(),
        report: json("report.json"),
        sarif: json("report.sarif"),
        page: read("report.html"),
        path,
        _scratch: scratch,
    }
}

impl Analysed {
    /// The caveats as (topic, sentence).
    fn caveats(&self) -> Vec<(&str, &str)> {
        let caveats = self.report["caveats"].as_array().unwrap();
        caveats.iter().map(|caveat| (caveat["topic"].as_str().unwrap(), caveat["sentence"].as_str().unwrap())).collect()
    }

    /// The text on one line, however it was broken.
    fn flowing(&self) -> String {
        self.text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Every report says these caveats and no others, each once, and the summary line counts them.
    fn says(&self, expected: &[(&str, &str)]) {
        assert_eq!(self.caveats(), expected, "{}", self.text);
        let notifications = &self.sarif["runs"][0]["invocations"][0]["toolExecutionNotifications"];
        for (number, (topic, sentence)) in expected.iter().enumerate() {
            assert_eq!(self.flowing().matches(&format!("warning: {sentence}")).count(), 1, "{sentence}: {}", self.text);
            let mut capitalised = sentence[..1].to_uppercase() + &sentence[1..];
            capitalised.push('.');
            assert_eq!(notifications[number]["descriptor"]["id"], *topic);
            assert_eq!(notifications[number]["message"]["text"], capitalised.as_str());
            let in_page = serde_json::to_string(&format!("warning: {sentence}")).unwrap();
            let in_page = in_page.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026");
            assert!(self.page.contains(&in_page), "{in_page}");
        }
        let line = self.text.lines().last().unwrap();
        let counted = if expected.is_empty() {
            !line.contains("warnings=")
        } else {
            line.ends_with(&format!(" warnings={}", expected.len()))
        };
        assert!(counted, "{line}");
    }
}

/// A queue in which T1 was to read `head` into `h`.
fn queue(slip: &str) -> String {
    format!(
        "model Q {{
  classes
    C {{
      variables Integer head := 1 Integer tail Integer data
      state machines
        T0 {{
          initial A states B
          transitions
            A -> B {{ data := 1; tail := 1 }}
        }}
        T1 {{
          variables Integer h Integer d
          initial A states B D E
          transitions
            A -> B {{ {slip} }}
            B -> D {{ tail = 1 }}
            D -> E {{ d := data }}
        }}
    }}
  objects o : C()
}}
"
    )
}

#[test]
fn a_condition_in_place_of_an_assignment_is_seen_at_a_glance() {
    let slip = analysed("queue.slco", &queue("h = head"), &[]);
    slip.says(&[
        ("never-moves", "thread T1 never moves"),
        ("never-taken", "never taken: T1.0 (h = head), line 15"),
        ("no-conflicts", "no location is accessed by two threads: nothing can conflict"),
    ]);
    assert_eq!(slip.status, Some(0), "warnings do not change the status");
    assert!(slip.text.contains("no fence and no lock is needed (but see the warnings above)"), "{}", slip.text);
    assert_eq!(slip.report["caveats"][1]["source"], format!("{}:15:22", slip.path).as_str());
    let place =
        &slip.sarif["runs"][0]["invocations"][0]["toolExecutionNotifications"][1]["locations"][0]["physicalLocation"];
    assert_eq!((&place["region"]["startLine"], &place["region"]["startColumn"]), (&15.into(), &22.into()));
    let meant = analysed("queue.slco", &queue("h := head"), &[]);
    meant.says(&[]);
    assert!(!meant.text.contains("warnings"), "{}", meant.text);
}

#[test]
fn what_is_behind_an_instruction_that_is_never_taken_is_summed_up() {
    let later = queue("h := head").replace("tail = 1", "tail = 2");
    let later = analysed("queue.slco", &later, &[]);
    later.says(&[
        ("never-taken", "never taken: T1.1 (tail = 2), line 16"),
        ("never-reached", "never reached: control states D, E of thread T1"),
    ]);
}

#[test]
fn nothing_is_said_to_be_never_taken_if_the_exploration_was_cut_off() {
    let cut = analysed("queue.slco", &queue("h = head"), &["--max-states", "1"]);
    assert_eq!(cut.status, Some(3));
    assert!(cut.caveats().is_empty(), "{:?}", cut.caveats());
    assert!(!cut.text.contains("never"), "{}", cut.text);
}

#[test]
fn a_model_that_deadlocks_at_once_is_not_clean() {
    let text = queue("h = head").replace("data := 1; tail := 1", "data = 1");
    let stuck = analysed("queue.slco", &text, &[]);
    let topics: Vec<&str> = stuck.caveats().iter().map(|(topic, _)| *topic).collect();
    assert_eq!(topics, ["deadlocks-at-once", "never-taken", "never-taken", "no-conflicts"], "{}", stuck.text);
    assert!(stuck.flowing().contains("warning: the model deadlocks at once"), "{}", stuck.text);
    let empty = analysed("empty.aut", "des (0,0,1)\n", &[]);
    assert_eq!(empty.caveats()[0].0, "deadlocks-at-once");
    assert_eq!(empty.status, Some(0));
}

#[test]
fn loops_that_wait_and_both_ways_of_a_branch_are_no_slips() {
    let waiting = queue("h := head")
        .replace("B -> D { tail = 1 }", "B -> B { not (tail = 1) }\n            1: B -> D { tail = 1 }");
    analysed("queue.slco", &waiting, &[]).says(&[]);
    // The branch only makes a dependency: one of its ways is never gone.
    let branch = "PPC MP+ctrl
{0:r2=x; 0:r4=y; 1:r2=y; 1:r4=x;}
 P0           | P1           ;
 li r1,1      | lwz r1,0(r2) ;
 stw r1,0(r2) | cmpw r1,r1   ;
 li r3,1      | beq LC00     ;
 stw r3,0(r4) | LC00:        ;
              | lwz r3,0(r4) ;
exists (1:r1=1 /\\ 1:r3=0)
";
    analysed("branch.litmus", branch, &[]).says(&[]);
}

#[test]
fn state_spaces_tell_what_is_always_refused_and_who_never_moves() {
    let text = "des (0,3,2)\n(0,\"T0.0: x :=\",1)\n(0,\"T1.3: ?! head\",0)\n(1,\"T1.3: ?! head\",1)\n";
    let refused = analysed("refused.aut", text, &[]);
    let caveats = refused.caveats();
    assert_eq!(caveats[0], ("never-moves", "thread T1 never moves"));
    assert_eq!(caveats[1], ("never-taken", "never taken: T1.3 (?! head)"));
    // Without `!` the loop may be one that waits: it is not known whether it was ever taken.
    let unknown = analysed("unknown.aut", &text.replace("?!", "?"), &[]);
    assert!(unknown.caveats().iter().all(|(topic, _)| *topic != "never-taken"), "{}", unknown.text);
}

#[test]
fn a_state_space_without_visible_steps_is_an_error() {
    let scratch = TempDir::new().unwrap();
    let path = scratch.path().join("hidden.aut");
    fs::write(&path, "des (0,2,2)\n(0,\"tau\",1)\n(1,\"tau\",0)\n").unwrap();
    for command in ["analyse", "facts", "matrix"] {
        let output = seqcon(&[command, path.to_str().unwrap()]);
        assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(2), ""), "{command}");
        let message = stderr(&output);
        assert!(
            ["hidden.aut", "internal", "--tau", "--dialect"].iter().all(|word| message.contains(word)),
            "{message}"
        );
    }
}

#[test]
fn where_nothing_can_conflict_the_dialect_is_suspected() {
    let alone = "des (0,2,3)\n(0,\"T0.0: x :=\",1)\n(1,\"T0.1: ~r := y\",2)\n";
    analysed("alone.aut", alone, &[]).says(&[(
        "no-conflicts",
        "only one thread was found, T0: nothing can conflict (usually a sign that the labels are read in a wrong way: see --dialect)",
    )]);
    let square = |first: &str, second: &str| {
        format!("des (0,4,4)\n(0,\"{first}\",1)\n(0,\"{second}\",2)\n(1,\"{second}\",3)\n(2,\"{first}\",3)\n")
    };
    for (first, second, why) in [
        ("T0.0: x :=", "T1.0: y :=", "no location is accessed by two threads"),
        ("T0.0: ~r := x", "T1.0: ~r := x", "no location that two threads access is written"),
        ("T0.0: ~r :=", "T1.0: ~r :=", "no shared location is accessed"),
    ] {
        let analysed = analysed("square.aut", &square(first, second), &[]);
        let caveats = analysed.caveats();
        assert_eq!(caveats.len(), 1, "{caveats:?}");
        assert!(caveats[0].0 == "no-conflicts" && caveats[0].1.starts_with(why), "{caveats:?}");
    }
    analysed("square.aut", &square("T0.0: x :=", "T1.0: ~r := x"), &[]).says(&[]);
}

#[test]
fn an_assignment_that_others_disable_is_the_sign_of_a_missing_part() {
    // T1 could write x, and after T0's step it cannot: interleavings are missing.
    let text = "des (0,2,3)\n(0,\"T0.0: x :=\",1)\n(0,\"T1.0: x :=\",2)\n";
    let reduced = analysed("reduced.aut", text, &[]);
    let disabled: Vec<&str> =
        reduced.caveats().into_iter().filter(|(topic, _)| *topic == "disabled").map(|(_, s)| s).collect();
    assert_eq!(disabled.len(), 1, "{:?}", reduced.caveats());
    assert!(
        disabled[0].starts_with("T0.0 (x :=) has no condition, and still a step of another thread disables it"),
        "{disabled:?}"
    );
}

#[test]
fn definitions_that_miss_violations_are_said_in_the_answer_the_line_and_the_reports() {
    let handshake = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/lts/handshake.aut")).unwrap();
    for (options, said, in_line) in [
        (["--profile", "literal"], "--profile literal has no program order across waits", " profile=literal"),
        (["--profile", "published"], "--profile published has the definitions of the paper", " profile=published"),
        (
            ["--conflicts", "concurrent"],
            "--conflicts concurrent takes only accesses that are enabled together",
            " conflicts=concurrent",
        ),
    ] {
        let analysed = analysed("handshake.aut", &handshake, &options);
        let caveats = analysed.caveats();
        let sentence = caveats.iter().find(|(topic, _)| *topic == "definitions").unwrap().1;
        assert!(sentence.starts_with(said) && sentence.contains("known to miss violations"), "{sentence}");
        analysed.says(&[("definitions", sentence)]);
        assert!(analysed.text.lines().last().unwrap().contains(in_line), "{}", analysed.text);
    }
    let sound = analysed("handshake.aut", &handshake, &["--conflicts", "reachable"]);
    sound.says(&[]);
    assert!(sound.text.lines().last().unwrap().contains(" conflicts=reachable"), "{}", sound.text);
}

#[test]
fn the_warnings_go_to_standard_error_where_there_is_no_text() {
    let scratch = TempDir::new().unwrap();
    let path = scratch.path().join("queue.slco");
    fs::write(&path, queue("h = head")).unwrap();
    let path = path.to_str().unwrap();
    for arguments in [&["analyse", path, "--mm", "tso", "--quiet"][..], &["analyse", path, "--mm", "tso", "--csv", "-"]]
    {
        let output = seqcon(arguments);
        assert!(
            stderr(&output).contains("warning: queue: never taken: T1.0 (h = head), line 15"),
            "{}",
            stderr(&output)
        );
        assert!(!stdout(&output).contains("never taken"), "{}", stdout(&output));
    }
    let output = seqcon(&["analyse", path, "--mm", "tso"]);
    assert!(!stderr(&output).contains("never taken"), "said once: {}", stderr(&output));
    let output = seqcon(&["matrix", path]);
    assert!(stdout(&output).contains("warning: never taken: T1.0 (h = head), line 15"), "{}", stdout(&output));
    let output = seqcon(&["analyse", path, "--mm", "tso", "--engine", "persistence"]);
    assert!(stdout(&output).contains("warning: never taken: T1.0 (h = head), line 15"), "{}", stdout(&output));
    let output = seqcon(&["fix", path, "--mm", "tso"]);
    assert!(stderr(&output).contains("never taken: T1.0 (h = head), line 15"), "{}", stderr(&output));
}

#[test]
fn that_all_refusals_are_shown_is_the_word_of_the_user_and_said() {
    let shown = "des (0,5,4)\n(0,\"T0.0: x :=\",1)\n(0,\"T1.0: ?! x\",0)\n(1,\"T1.0: ? x\",2)\n(2,\"T1.1: ~r := y\",3)\n(1,\"T0.1: y :=\",1)\n";
    let told = analysed("shown.aut", shown, &["--refusals-shown"]);
    let sentence = "every refused condition is taken to be a self-loop of the state space, as --refusals-shown says";
    let caveats = told.report["caveats"].as_array().unwrap();
    let found: Vec<&Value> = caveats.iter().filter(|caveat| caveat["topic"] == "refusals-shown").collect();
    assert_eq!(found.len(), 1, "{caveats:?}");
    assert_eq!((&found[0]["level"], &found[0]["sentence"]), (&"note".into(), &sentence.into()));
    let notifications = told.sarif["runs"][0]["invocations"][0]["toolExecutionNotifications"].as_array().unwrap();
    let notified: Vec<&Value> =
        notifications.iter().filter(|message| message["descriptor"]["id"] == "refusals-shown").collect();
    assert!(notified.len() == 1 && notified[0]["level"] == "note", "{notifications:?}");
    assert!(told.page.contains(&format!("note: {sentence}")));
    assert_eq!(told.flowing().matches(&format!("note: {sentence}")).count(), 1, "{}", told.text);
    assert!(told.text.lines().last().unwrap().contains(" refusals=shown"), "{}", told.text);
    // A note is no warning; in few words the line says it, and nobody else.
    assert!(!told.text.contains("warnings=1 "), "{}", told.text);
    let quiet = seqcon(&["-q", "analyse", &told.path, "--mm", "tso", "--refusals-shown"]);
    assert!(stdout(&quiet).contains(" refusals=shown"), "{}", stdout(&quiet));
    assert!(!stderr(&quiet).contains("refus"), "{}", stderr(&quiet));
    // Who does not say it is not said to have said it.
    let untold = analysed("shown.aut", shown, &[]);
    assert!(untold.caveats().iter().all(|(topic, _)| *topic != "refusals-shown"), "{}", untold.text);
    assert!(!untold.text.contains("refusals=shown"), "{}", untold.text);
}
