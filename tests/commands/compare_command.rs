//! `seqcon compare` as a user runs it.

use crate::support::command::run;
use serde_json::Value;
use std::fs;
use tempfile::TempDir;

struct Reports {
    directory: TempDir,
}

impl Reports {
    fn new() -> Reports {
        Reports { directory: TempDir::new().unwrap() }
    }

    fn path(&self, name: &str) -> String {
        self.directory.path().join(name).to_str().unwrap().to_owned()
    }

    fn analyse(&self, name: &str, arguments: &[&str]) -> String {
        let path = self.path(name);
        let (status, _, errors) = run(&[&["-q", "analyse"], arguments, &["--json", &path]].concat());
        assert_eq!(status, 0, "{errors}");
        path
    }

    fn changed(&self, report: &str, name: &str, change: impl FnOnce(&mut Value)) -> String {
        let mut value: Value = serde_json::from_str(&fs::read_to_string(report).unwrap()).unwrap();
        change(&mut value);
        let path = self.path(name);
        fs::write(&path, value.to_string()).unwrap();
        path
    }
}

#[test]
fn the_same_results_are_identical() {
    let reports = Reports::new();
    let first = reports.analyse("a.json", &["specs/peterson.slco", "--mm", "tso,pso"]);
    let second = reports.analyse("b.json", &["specs/peterson.slco", "--mm", "tso,pso"]);
    let (status, shown, errors) = run(&["compare", &first, &second]);
    assert_eq!((status, &*shown, &*errors), (0, "tso: no change\npso: no change\nthe results are identical\n", ""));
    // Where a report comes from is told, but is no difference.
    let other = reports.changed(&first, "c.json", |value| value["seqcon"] = "9.9.9".into());
    let (status, shown, _) = run(&["compare", &first, &other]);
    assert_eq!(status, 0);
    assert!(shown.starts_with("seqcon: 0.1.0 -> 9.9.9\n"), "{shown}");
}

#[test]
fn a_report_of_the_first_schema_is_counted_as_now() {
    let reports = Reports::new();
    let now =
        reports.analyse("now.json", &["lts/peterson.aut", "--mm", "tso,armv7", "--atomicity=full", "--kinds=full"]);
    // It had the plain fences as `fences` and the torn instructions as `locks`.
    let old = reports.changed(&now, "old.json", |value| {
        value["schema_version"] = 1.into();
        for result in value["results"].as_array_mut().unwrap() {
            let summary = result["summary"].as_object_mut().unwrap();
            let (plain, torn) = (summary.remove("plain_fences").unwrap(), summary.remove("torn").unwrap());
            summary.insert("fences".to_owned(), plain);
            summary.insert("locks".to_owned(), torn);
        }
    });
    let (status, shown, _) = run(&["compare", &old, &now]);
    assert_eq!((status, &*shown), (0, "tso: no change\narmv7: no change\nthe results are identical\n"));
}

#[test]
fn fences_gained_lost_and_moved_delays_and_figures() {
    let reports = Reports::new();
    let before = reports.analyse("a.json", &["lts/sb.aut", "--mm", "tso"]);
    // One fence moves in front of the next instruction, the other is lost with its delay.
    let after = reports.changed(&before, "b.json", |value| {
        let result = &mut value["results"][0];
        result["fences"][0]["position"] = "before".into();
        result["fences"][0]["instruction"] = "1".into();
        result["fences"].as_array_mut().unwrap().truncate(1);
        result["delays"].as_array_mut().unwrap().truncate(1);
        result["summary"]["delays"] = 1.into();
    });
    let (status, shown, _) = run(&["compare", &before, &after]);
    let expected = "\
tso:
  fence lost     after T1.0
  fence moved    after T0.0 -> before T0.1 (T0, serves the same 1 delay)
  delay lost     T1.0 W y -> T1.1 R x
  figure         delays: 2 -> 1
the results differ
";
    assert_eq!((status, &*shown), (1, expected));
    let (status, shown, _) = run(&["compare", &after, &before]);
    assert_eq!(status, 1);
    for line in [
        "fence gained   after T1.0",
        "fence moved    before T0.1 -> after T0.0",
        "delay gained   T1.0 W y -> T1.1 R x",
        "delays: 1 -> 2",
    ] {
        assert!(shown.contains(line), "{line}: {shown}");
    }
    // A fence of another thread, or for other delays, has not moved.
    let elsewhere =
        reports.changed(&before, "c.json", |value| value["results"][0]["fences"][0]["thread"] = "T1".into());
    let (_, shown, _) = run(&["compare", &before, &elsewhere]);
    assert!(shown.contains("fence lost     after T0.0") && !shown.contains("moved"), "{shown}");
    let (status, shown, _) = run(&["compare", &before, &after, "--json"]);
    let value: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!((status, &value["identical"]), (1, &Value::Bool(false)));
    assert_eq!(value["results"][0]["fences"]["lost"][0], "after T1.0");
    assert_eq!(value["results"][0]["moved_fences"][0]["after"], "before T0.1");
}

#[test]
fn two_memory_models_are_compared() {
    let reports = Reports::new();
    let report = reports.analyse("a.json", &["specs/peterson.slco", "--mm", "tso,power"]);
    let (status, shown, _) = run(&["compare", &report, &report, "--mm", "tso,power"]);
    assert_eq!(status, 1);
    assert!(shown.starts_with("tso -> power:\n"), "{shown}");
    assert!(shown.contains("fence gained   after P0.0"), "{shown}");
    assert!(shown.contains("fence changed  after P0.1: mfence, plain -> sync, plain"), "{shown}");
    assert_eq!(run(&["compare", &report, &report, "--mm", "tso"]).0, 0);
    let only_tso = reports.analyse("b.json", &["specs/peterson.slco", "--mm", "tso"]);
    let (status, shown, _) = run(&["compare", &report, &only_tso]);
    assert_eq!(status, 1);
    assert!(shown.contains("power: only in the first report\n"), "{shown}");
}

#[test]
fn locks_are_compared() {
    let reports = Reports::new();
    let without = reports.analyse("a.json", &["lts/counter.aut", "--mm", "tso", "--atomicity=presumed"]);
    let with = reports.analyse("b.json", &["lts/counter.aut", "--mm", "tso", "--atomicity"]);
    let (status, shown, _) = run(&["compare", &without, &with]);
    assert_eq!(status, 1);
    for line in ["lock gained    T0.0", "lock gained    T1.0", "atomicity: presumed -> full", "locks: 0 -> 1"] {
        assert!(shown.contains(line), "{line}: {shown}");
    }
}

#[test]
fn what_is_no_report_is_refused() {
    let reports = Reports::new();
    let report = reports.analyse("a.json", &["lts/sb.aut", "--mm", "tso"]);
    let refusal = |arguments: &[&str]| {
        let (status, shown, message) = run(&[&["compare"], arguments].concat());
        assert_eq!((status, &*shown), (2, ""), "{message}");
        assert!(message.starts_with("seqcon: ") && message.lines().count() == 1, "{message}");
        message
    };
    let file = |name: &str, text: &str| {
        fs::write(reports.path(name), text).unwrap();
        reports.path(name)
    };
    for (text, problem) in [
        ("no JSON", "this is no report of seqcon: expected"),
        ("{}", "it has no schema_version"),
        ("[1]", "it has no schema_version"),
        ("{\"schema_version\": 1, \"files\": []}", "it has no results"),
        ("{\"schema_version\": 1, \"results\": [3]}", "this is no report of seqcon: invalid type"),
        (
            "{\"schema_version\": 1, \"results\": [{\"summary\":{},\"fences\":[],\"locks\":[],\"delays\":[]}]}",
            "a result has no memory_model",
        ),
        ("{\"schema_version\": 3, \"results\": 7}", "schema version 3, and this version of seqcon reads up to 2"),
    ] {
        let wrong = file("wrong.json", text);
        let message = refusal(&[&report, &wrong]);
        assert!(message.contains("wrong.json: ") && message.contains(problem), "{message}");
        assert!(refusal(&[&wrong, &report]).contains(problem));
    }
    assert!(refusal(&[&report, "/nowhere/x.json"]).contains("/nowhere/x.json"));
    assert!(refusal(&[&report, &report, "--mm", "pso"]).contains("no result for \"pso\"; it has tso"));
    assert!(refusal(&[&report, &report, "--mm", "tso,tso,tso"]).contains("--mm takes one"));
    let other = reports.analyse("b.json", &["lts/sb.aut", "--mm", "pso"]);
    assert!(refusal(&[&report, &other]).contains("no memory model in common"));
}
