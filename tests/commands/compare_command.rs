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
  fence no longer needed  after T1.0 (y :=)
  fence moved             after T0.0 (x :=) -> before T0.1 (~r1 := y) (T0, serves the same 1 delay)
  delay gone              T1.0 W y -> T1.1 R x
  figure                  delays: 2 -> 1
the results differ
";
    assert_eq!((status, &*shown), (1, expected));
    let (status, shown, _) = run(&["compare", &after, &before]);
    assert_eq!(status, 1);
    for line in [
        "fence newly needed      after T1.0 (y :=)",
        "fence moved             before T0.1 (~r1 := y) -> after T0.0 (x :=)",
        "delay new               T1.0 W y -> T1.1 R x",
        "delays: 1 -> 2",
    ] {
        assert!(shown.contains(line), "{line}: {shown}");
    }
    // A fence of another thread, or for other delays, has not moved.
    let elsewhere =
        reports.changed(&before, "c.json", |value| value["results"][0]["fences"][0]["thread"] = "T1".into());
    let (_, shown, _) = run(&["compare", &before, &elsewhere]);
    assert!(shown.contains("fence no longer needed  after T0.0 (x :=)") && !shown.contains("moved"), "{shown}");
    let (status, shown, _) = run(&["compare", &before, &after, "--json", "-"]);
    let value: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!((status, &value["identical"]), (1, &Value::Bool(false)));
    assert_eq!(value["results"][0]["fences"]["lost"][0], "after T1.0 (y :=)");
    assert_eq!(value["results"][0]["moved_fences"][0]["after"], "before T0.1 (~r1 := y)");
}

#[test]
fn two_memory_models_are_compared() {
    let reports = Reports::new();
    let report = reports.analyse("a.json", &["specs/peterson.slco", "--mm", "tso,power"]);
    let (status, shown, _) = run(&["compare", &report, &report, "--mm", "tso,power"]);
    assert_eq!(status, 1);
    assert!(shown.starts_with("tso -> power:\n"), "{shown}");
    assert!(shown.contains("fence newly needed      after P0.0 (wants[0] := true)"), "{shown}");
    assert!(shown.contains("fence changed           after P0.1 (turn := 1): mfence, plain -> sync, plain"), "{shown}");
    assert_eq!(run(&["compare", &report, &report, "--mm", "tso"]).0, 0);
    let only_tso = reports.analyse("b.json", &["specs/peterson.slco", "--mm", "tso"]);
    let (status, shown, _) = run(&["compare", &report, &only_tso]);
    assert_eq!(status, 1);
    assert!(shown.contains("power: only in the first report\n"), "{shown}");
}

/// What `compare` says of a specification and what `fix` makes of it; the reports are called after the file.
fn compared_with_fixed(reports: &Reports, specification: &str, model: &str) -> (i32, String) {
    let name = std::path::Path::new(specification).file_name().unwrap().to_str().unwrap();
    let fixed = reports.path(name);
    let (status, _, errors) = run(&["-q", "fix", specification, "--mm", model, "-o", &fixed]);
    assert_eq!(status, 0, "{specification}: {errors}");
    let before = reports.analyse(&format!("before-{name}.json"), &[specification, "--mm", model]);
    let after = reports.analyse(&format!("after-{name}.json"), &[&fixed, "--mm", model]);
    let (status, shown, errors) = run(&["compare", &before, &after]);
    assert_eq!(errors, "", "{specification}");
    (status, shown)
}

#[test]
fn what_was_put_in_is_done() {
    let reports = Reports::new();
    for (specification, model, in_short, fences) in [
        ("specs/peterson.slco", "pso", "done, 4 fences put in", &["after P0.0 (wants[0] := true)", "after P1.1"][..]),
        ("specs/dekker-memorax.rmm", "tso", "done, 6 fences put in", &["after P0.NCS_7-NCS_8 (write: wants[my] := 1)"]),
        ("specs/remmex/dekker.rmx", "tso", "done, 4 fences put in", &["at the state behind P1.2-3 (store(want1, 1))"]),
        ("specs/test-and-set.txt", "pso", "done, 2 fences put in", &["before worker_1.free-idle"]),
    ] {
        let (status, shown) = compared_with_fixed(&reports, specification, model);
        assert_eq!(status, 1, "{shown}");
        assert!(shown.contains(&format!("{model}: {in_short} and nothing more is needed\n")), "{shown}");
        assert!(shown.ends_with("the results differ: what was asked for is done\n"), "{shown}");
        for fence in fences {
            assert!(shown.contains(&format!("fence put in            {fence}")), "{fence}: {shown}");
        }
        let is_bad = |line: &str| ["needed  ", "new ", "second report"].iter().any(|word| line.contains(word));
        assert!(!shown.lines().any(is_bad), "{shown}");
    }
}

#[test]
fn marks_and_atomic_instructions_are_put_in() {
    let reports = Reports::new();
    let (_, shown) = compared_with_fixed(&reports, "specs/mp.slco", "armv8");
    assert!(shown.contains("armv8: done, 2 fences put in and nothing more is needed\n"), "{shown}");
    assert!(shown.contains("fence put in            on T0.1 (f := 1)"), "{shown}");
    // A lock for an instruction that is atomic in the second program.
    let counter = fs::read_to_string("specs/ticket.slco").unwrap();
    let plain = counter.replace("atomic ", "");
    assert_ne!(plain, counter);
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("plain.slco").to_str().unwrap().to_owned();
    fs::write(&path, plain).unwrap();
    let (_, shown) = compared_with_fixed(&reports, &path, "tso");
    assert!(shown.contains("lock put in") && shown.contains("tso: done, "), "{shown}");
}

#[test]
fn a_part_of_what_was_asked_for() {
    let reports = Reports::new();
    let text = fs::read_to_string("specs/peterson.slco").unwrap();
    let before = reports.analyse("a.json", &["specs/peterson.slco", "--mm", "tso"]);
    // A fence in one process, and in the other a statement in front that nobody asked for.
    let changed = text.replace("{ turn := 1 }", "{ turn := 1; fence }");
    let changed =
        changed.replace("NCS -> polite { wants[1] := true }", "NCS -> polite { turn := 0; wants[1] := true }");
    let path = reports.path("peterson.slco");
    fs::write(&path, changed).unwrap();
    let after = reports.analyse("b.json", &[&path, "--mm", "tso"]);
    let (status, shown, _) = run(&["compare", &before, &after]);
    assert_eq!(status, 1);
    assert!(
        shown.contains("tso: 1 fence put in, 1 still needed\n  fence put in            after P0.1 (turn := 1)\n"),
        "{shown}"
    );
    assert!(shown.contains("P1.1 is P1.2 in the second report (turn := 0)\n"), "{shown}");
    // The other fence is neither lost nor gained: what moved is a number.
    assert!(!shown.contains("needed  ") && shown.ends_with("the results differ\n"), "{shown}");
}

#[test]
fn another_program_is_nothing_done() {
    let reports = Reports::new();
    let before = reports.analyse("a.json", &["lts/sb.aut", "--mm", "tso"]);
    let after = reports.analyse("b.json", &["lts/mp.aut", "--mm", "tso"]);
    let (status, shown, _) = run(&["compare", &before, &after]);
    assert_eq!(status, 1);
    assert!(!shown.contains("done"), "{shown}");
    // The same program under a memory model that needs nothing is nothing done, either.
    let both = reports.analyse("c.json", &["lts/sb.aut", "--mm", "tso,sc"]);
    let (_, shown, _) = run(&["compare", &both, &both, "--mm", "tso,sc"]);
    assert!(shown.contains("fence no longer needed  after T0.0 (x :=)") && !shown.contains("done"), "{shown}");
}

#[test]
fn fences_of_state_spaces_are_needed_no_longer() {
    let reports = Reports::new();
    let text = fs::read_to_string("specs/sb.slco").unwrap();
    let with = reports.path("with.slco");
    fs::write(&with, text.replace(":= 1 }", ":= 1; fence }")).unwrap();
    let space = |specification: &str, name: &str| {
        let path = reports.path(name);
        assert_eq!(run(&["-q", "explore", specification, "-o", &path]).0, 0);
        reports.analyse(&format!("{name}.json"), &[&path, "--mm", "tso"])
    };
    let (before, after) = (space("specs/sb.slco", "sb.aut"), space(&with, "with.aut"));
    let (_, shown, _) = run(&["compare", &before, &after]);
    assert!(shown.contains("tso: done, nothing is needed any more\n"), "{shown}");
    assert!(shown.contains("fence no longer needed  after T0.0 (x :=)\n"), "{shown}");
}

#[test]
fn locks_are_compared() {
    let reports = Reports::new();
    let without = reports.analyse("a.json", &["lts/counter.aut", "--mm", "tso", "--atomicity=presumed"]);
    let with = reports.analyse("b.json", &["lts/counter.aut", "--mm", "tso", "--atomicity"]);
    let (status, shown, _) = run(&["compare", &without, &with]);
    assert_eq!(status, 1);
    for line in
        ["lock newly needed       T0.0", "lock newly needed       T1.0", "atomicity: presumed -> full", "locks: 0 -> 1"]
    {
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

#[test]
fn what_is_the_same_of_many_delays_is_said_once() {
    let reports = Reports::new();
    let first = reports.analyse("a.json", &["specs/peterson.slco", "--mm", "pso"]);
    let second = reports.changed(&first, "b.json", |value| {
        for delay in value["results"][0]["delays"].as_array_mut().unwrap() {
            delay["confirmed"] = "unknown".into();
        }
    });
    let (_, shown, _) = run(&["compare", &first, &second]);
    let lines: Vec<&str> = shown.lines().filter(|line| line.contains("changed")).collect();
    assert!(
        lines.iter().any(|line| line.contains("delays changed") && line.contains("-> plain, confirmed: unknown")),
        "{shown}"
    );
    assert!(lines.len() < 10, "{shown}");
}
