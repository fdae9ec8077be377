//! A reason that is a run, in every format: drawn, as a list, in JSON, in SARIF, on the page.

use crate::support::chromium::Browser;
use crate::support::command::{command, run};
use crate::support::pages::analyse;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// Store buffering, for the same states: two fences, and a run for each.
const SB: [&str; 6] = ["analyse", "specs/sb.slco", "--mm", "tso", "--property", "same-states"];

/// What a format writes.
fn written(format: &str, more: &[&str]) -> String {
    let (status, out, _) = run(&[more, &SB, &[format, "-"]].concat());
    assert_eq!(status, 0);
    out
}

/// A specification in a directory of its own.
fn specification(text: &str) -> (tempfile::TempDir, String) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("program.slco");
    fs::write(&path, text).unwrap();
    let path = path.to_str().unwrap().to_owned();
    (directory, path)
}

/// Two increments that are not one step: no fence helps, and the run has no buffers.
const TORN: &str = "model inc { classes C { variables Integer x state machines
    T0 { initial a states b transitions a -> b { x := x + 1 } }
    T1 { initial a states b transitions a -> b { x := x + 1 } }
  } objects o : C() }";

/// Store buffering round a ring of so many threads.
fn ring(threads: usize) -> String {
    let names: Vec<String> = (0..threads).map(|thread| format!("x{thread}")).collect();
    let mut text = format!("model ring {{ classes C {{ variables Integer {} state machines\n", names.join(" "));
    for thread in 0..threads {
        let next = (thread + 1) % threads;
        writeln!(text, "T{thread} {{ variables Integer r initial a states b c").unwrap();
        writeln!(text, "transitions a -> b {{ x{thread} := 1 }} b -> c {{ r := x{next} }} }}").unwrap();
    }
    text + "} objects o : C() }\n"
}

#[test]
fn explain_draws_every_run() {
    let (_, out, _) = run(&[&SB[..], &["--explain"]].concat());
    let drawn = "
  without F0, this run is possible:
       T0                       T1                       | buffer T0  buffer T1
    1  T0.0  x := 1  W x = 1                             | x = 1
    2  T0.1  r := y  R y = 0                             | x = 1
    3                           T1.0  y := 1  W y = 1    | x = 1      y = 1
    4                             y = 1 becomes visible  | x = 1
    5                           T1.1  r := x  R x = 0    | x = 1
    6    x = 1 becomes visible                           |
  All buffers are empty, and no run under sequential consistency reaches this state.

  without F1, this run is possible:
       T0                       T1                       | buffer T0  buffer T1
    1  T0.0  x := 1  W x = 1                             | x = 1
    2                           T1.0  y := 1  W y = 1    | x = 1      y = 1
    3                           T1.1  r := x  R x = 0    | x = 1      y = 1
    4    x = 1 becomes visible                           |            y = 1
    5  T0.1  r := y  R y = 0                             |            y = 1
    6                             y = 1 becomes visible  |
  All buffers are empty, and no run under sequential consistency reaches this state.

  enough by all runs on store buffers (no bound was reached)";
    assert!(out.contains(drawn), "{out}");
    let (_, out, _) = run(&SB);
    assert!(out.contains("\n      3  T1.0  y := 1  W y = 1  | buffer of T0: x = 1; buffer of T1: y = 1\n"), "{out}");
    assert_eq!(out.matches("this run is possible").count(), 1, "one is enough, and it is a list");
}

#[test]
fn a_run_without_buffers_is_drawn_without_them() {
    let (_directory, path) = specification(TORN);
    let (status, out, _) = run(&["verify", &path, "--as-is"]);
    assert_eq!(status, 1);
    let drawn = "tso: violated (0 fences and 0 atomic instructions put in):
       T0                         T1
    1  T0.0  x := x + 1  R x = 0
    2                             T1.0  x := x + 1  R x = 0, W x = 1
    3  T0.0  x := x + 1  W x = 1
  T0.0 is torn: it happens before and after what others did in between; as one step it could not
";
    assert!(out.starts_with(drawn), "{out}");
}

#[test]
fn more_threads_than_fit_are_a_list() {
    for (threads, is_drawn) in [(3, true), (8, false)] {
        let (_directory, path) = specification(&ring(threads));
        let (status, out, _) = run(&["verify", &path, "--as-is"]);
        assert_eq!(status, 1, "{out}");
        assert_eq!(out.contains("  | buffer of T0: x0 = 1\n"), !is_drawn, "{out}");
        assert_eq!(out.contains("  | buffer T0\n"), is_drawn, "{out}");
        let too_wide = out.lines().find(|line| line.starts_with("    ") && line.chars().count() > 80);
        assert_eq!(too_wide, None);
    }
}

#[test]
fn a_comment_in_a_run_cannot_garble_the_terminal() {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("specs/sb.slco")).unwrap();
    let (_directory, path) = specification(&text.replace("{ x := 1 }", "{ x /* \x1b[31mred\u{202e} */ := 1 }"));
    for arguments in
        [&["verify", &path, "--as-is"][..], &["analyse", &path, "--property", "same-states", "--mm", "tso"]]
    {
        let out = command(arguments).env("CLICOLOR_FORCE", "1").env_remove("NO_COLOR").output().unwrap().stdout;
        let out = String::from_utf8(out).unwrap();
        assert!(out.contains("[31mred") && out.contains("\x1b[1m"), "it is quoted, and there are colours: {out:?}");
        assert!(!out.contains("\x1b[31mred") && !out.contains('\u{202e}'), "{out:?}");
    }
}

#[test]
fn json_has_the_steps() {
    let (x, y) = (json!({ "location": "x", "value": 1 }), json!({ "location": "y", "value": 1 }));
    let executes = |name: &str, text: &str, (kind, location, value): (&str, &str, i64), line: u32, buffers: Value| {
        json!({
            "thread": name[..2], "instruction": name, "text": text,
            "accesses": [{ "kind": kind, "location": location, "value": value }],
            "source": format!("specs/sb.slco:{line}:24"), "buffers": buffers,
        })
    };
    let steps = json!([
        executes("T0.0", "x := 1", ("W", "x", 1), 16, json!([[x], []])),
        executes("T0.1", "r := y", ("R", "y", 0), 17, json!([[x], []])),
        executes("T1.0", "y := 1", ("W", "y", 1), 24, json!([[x], [y]])),
        { "thread": "T1", "becomes_visible": y, "source": "specs/sb.slco:24:24", "buffers": [[x], []] },
        executes("T1.1", "r := x", ("R", "x", 0), 25, json!([[x], []])),
        { "thread": "T0", "becomes_visible": x, "source": "specs/sb.slco:16:24", "buffers": [[], []] },
    ]);
    let report: Value = serde_json::from_str(&written("--json", &[])).unwrap();
    let found = &report["results"][0]["runs"][0];
    assert_eq!(found["run"], json!({ "threads": ["T0", "T1"], "steps": steps }));
    // As before, a line for each.
    assert_eq!(found["steps"][5], "6  T0            x = 1 becomes visible");
    assert_eq!(found["because"], "All buffers are empty, and no run under sequential consistency reaches this state.");
    let (_directory, path) = specification(TORN);
    let (_, out, _) = run(&["analyse", &path, "--mm", "tso", "--engine", "store-buffers", "--json", "-"]);
    let report: Value = serde_json::from_str(&out).unwrap();
    let first = &report["results"][0]["runs"][0]["run"]["steps"][0];
    assert!(
        first["accesses"].is_array() && first.get("buffers").is_none(),
        "no buffers are not empty buffers: {first}"
    );
}

#[test]
fn sarif_has_a_thread_flow_for_each_thread() {
    let log: Value = serde_json::from_str(&written("--sarif", &[])).unwrap();
    let result = &log["runs"][0]["results"][0];
    let message = result["message"]["text"].as_str().unwrap();
    assert!(message.ends_with("(x := 1): without it, the run of the code flow is possible."), "{message}");
    let step = |step: &Value| {
        let line = &step["location"]["physicalLocation"]["region"]["startLine"];
        json!([step["executionOrder"], line, step["location"]["message"]["text"]])
    };
    let flow =
        |flow: &Value| json!([flow["id"], flow["locations"].as_array().unwrap().iter().map(step).collect::<Value>()]);
    let flows: Value = result["codeFlows"][0]["threadFlows"].as_array().unwrap().iter().map(flow).collect();
    let expected = json!([
        [
            "T0",
            [
                [1, 16, "W x = 1 (buffer of T0: x = 1)"],
                [2, 17, "R y = 0 (buffer of T0: x = 1)"],
                [6, 16, "x = 1 becomes visible"],
            ]
        ],
        [
            "T1",
            [
                [3, 24, "W y = 1 (buffer of T0: x = 1; buffer of T1: y = 1)"],
                [4, 24, "y = 1 becomes visible (buffer of T0: x = 1)"],
                [5, 25, "R x = 0 (buffer of T0: x = 1)"],
            ]
        ],
    ]);
    assert_eq!(flows, expected);
}

#[test]
fn every_format_is_the_same_every_time() {
    for format in ["--json", "--sarif", "--html"] {
        // The command is in it.
        let [one, two] = ["1", "2"].map(|threads| written(format, &["--threads", threads]));
        assert_eq!(one.replace("--threads 1", ""), two.replace("--threads 2", ""), "{format}");
    }
    let [one, two] = ["1", "2"].map(|threads| run(&["--threads", threads, "verify", "specs/sb.slco", "--as-is"]));
    assert_eq!(one, two);
}

#[test]
fn the_page_has_the_run_and_a_browser_shows_it() {
    let written = analyse(tempfile::tempdir().unwrap(), &SB[1..]);
    let run = &written.data()["results"][0]["runs"][0];
    assert_eq!(run["threads"], json!(["T0", "T1"]));
    let first = json!({ "thread": 0, "instruction": 0, "accesses": [["W", "x = 1"]], "buffers": [["x = 1"], []] });
    let last = json!({ "thread": 0, "instruction": 0, "becomes_visible": "x = 1", "buffers": [[], []] });
    assert_eq!((&run["steps"][0], &run["steps"][5]), (&first, &last));
    let Some(mut browser) = Browser::start() else { return };
    for scheme in ["light", "dark"] {
        browser.prefer(scheme);
        browser.open(&written.path(), "#mm=tso&fence=0");
        let cells = "(tr) => [...tr.children].map((cell) => cell.textContent).join('|')";
        let rows = browser.evaluate(&format!("[...document.querySelectorAll('table.run tr')].map({cells})"));
        let expected = json!([
            "step|T0|T1|buffer of T0|buffer of T1",
            "1|T0.0 x := 1W x = 1||x = 1|",
            "2|T0.1 r := yR y = 0||x = 1|",
            "3||T1.0 y := 1W y = 1|x = 1|y = 1",
            "4||y = 1 becomes visible|x = 1|",
            "5||T1.1 r := xR x = 0|x = 1|",
            "6|x = 1 becomes visible|||",
        ]);
        assert_eq!(rows, expected);
        browser.click("table.run tr[data-step='2'] .step");
        let pointed =
            browser.evaluate("[...document.querySelectorAll('.instr.pointed')].map((span) => span.textContent)");
        assert_eq!(pointed, json!(["y := 1"]), "the step that was clicked");
        assert_eq!(browser.evaluate("document.querySelectorAll('.instr.lit').length"), 4);
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/report-screenshots");
        browser.screenshot(&folder.join(format!("run-{scheme}.png")));
    }
    // Also in a narrow window all of the run is in view.
    browser.resize(500, 800);
    browser.evaluate(crate::support::chromium::FRAMES);
    let fits = "['html', '#details .scroll'].every((selector) => { const box = document.querySelector(selector); return box.scrollWidth <= box.clientWidth; })";
    assert_eq!(browser.evaluate(fits), true);
    assert_eq!(browser.problems(), Vec::<String>::new());
    let (directory, path) = specification(TORN);
    let page = directory.path().join("report.html");
    let torn = ["analyse", &path, "--mm", "tso", "--engine", "store-buffers", "--html", page.to_str().unwrap()];
    command(&torn).output().unwrap();
    browser.open(&page, "");
    let details = browser.evaluate("document.getElementById('details').textContent");
    let details = details.as_str().unwrap();
    assert!(details.contains("No fence stops this run:") && details.contains("T0.0 is torn"), "{details}");
    assert_eq!(browser.evaluate("document.querySelectorAll('table.run tbody tr').length"), 3);
    assert_eq!(browser.problems(), Vec::<String>::new());
}
