//! Marks, partial fences and atomic instructions that are no fences, as a user meets them.

use crate::support::command::run;
use std::fs;
use tempfile::TempDir;

fn model(first: &str, second: &str) -> String {
    let thread = |name: &str, steps: &str| {
        format!("{name} {{ variables Integer r initial A states B transitions A -> B {{ {steps} }} }}")
    };
    format!(
        "model m {{ classes C {{ variables Integer x y z state machines {} {} }} objects o : C() }}\n",
        thread("t", first),
        thread("u", second)
    )
}

fn file(directory: &TempDir, name: &str, text: &str) -> String {
    let path = directory.path().join(name);
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

/// The sentences on fences of an analysis: not where they stand in a text.
fn answer(path: &str, memory_model: &str) -> serde_json::Value {
    let (_, out, err) = run(&["analyse", path, "--mm", memory_model, "--confirm=off", "--json", "-"]);
    let report: serde_json::Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{out}{err}"));
    let fences = report["results"][0]["fences"].as_array().unwrap().iter();
    let named = ["thread", "instruction", "position", "kind"];
    let fences: Vec<Vec<serde_json::Value>> = fences.map(|fence| named.map(|key| fence[key].clone()).into()).collect();
    serde_json::json!([fences, report["partial_fences"], report["results"][0]["summary"]["delays"]])
}

#[test]
fn a_state_space_says_what_its_program_says() {
    let directory = TempDir::new().unwrap();
    let programs = [
        ("release x := 1; fence lightweight; acquire r := y", "y := 1; atomic relaxed [z := z + 1]; r := x"),
        ("x := 1; atomic [z := z + 1]; r := y", "relaxed y := 1; atomic acq_rel [x = 1; z := 2]; r := x"),
        (
            "x := 1; fence rw,w; y := 1; fence control",
            "acquire y = 1; fence loads; atomic acquire [x := x + 1]; r := z",
        ),
    ];
    for (number, (first, second)) in programs.into_iter().enumerate() {
        let path = file(&directory, &format!("m{number}.slco"), &model(first, second));
        let space = path.replace(".slco", ".aut");
        let (status, _, err) = run(&["explore", &path, "-o", &space]);
        assert_eq!(status, 0, "{err}");
        let facts = path.replace(".slco", ".facts");
        let (status, _, err) = run(&["facts", &space, "-o", &facts]);
        assert_eq!(status, 0, "{err}");
        for memory_model in ["tso", "pso", "armv8", "armv7", "power"] {
            let own = answer(&path, memory_model);
            assert_eq!(answer(&space, memory_model), own, "{memory_model}: {first} | {second}");
            assert_eq!(answer(&facts, memory_model), own, "{memory_model}: {first} | {second}");
        }
    }
}

#[test]
fn what_is_not_taken_into_account_is_said() {
    let directory = TempDir::new().unwrap();
    let marked = file(&directory, "marked.slco", &model("release x := 1; r := y", "y := 1; acquire r := x"));
    let space = marked.replace(".slco", ".aut");
    assert_eq!(run(&["explore", &marked, "-o", &space]).0, 0);
    for path in [&marked, &space] {
        let (_, out, err) = run(&["analyse", path, "--mm", "armv7", "--confirm=off"]);
        let out = out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(out.contains("t.0 and 1 more have marks on their accesses, not taken into account"), "{out}{err}");
        let exported = directory.path().join("tests");
        let (_, _, err) =
            run(&["analyse", path, "--mm", "armv7", "--confirm=off", "--litmus", exported.to_str().unwrap()]);
        assert!(err.contains("has marks on accesses, which the analysis does not take into account"), "{err}");
    }
}

#[test]
fn an_atomic_instruction_that_is_no_fence_is_refused_by_the_machine_of_pso() {
    let directory = TempDir::new().unwrap();
    let text = model("x := 1; atomic relaxed [z := z + 1]; r := y", "y := 1; atomic relaxed [z := z + 1]; r := x");
    let path = file(&directory, "sb.slco", &text);
    let (status, out, err) = run(&["verify", &path, "--mm", "tso", "--as-is"]);
    assert_eq!(status, 0, "every locked instruction of x86 is a full fence: {out}{err}");
    let (status, _, err) = run(&["verify", &path, "--mm", "pso", "--as-is"]);
    assert_eq!(status, 2, "{err}");
    assert!(err.contains("t.1 is atomic and no full fence") && err.contains("write `atomic [ … ]`"), "{err}");
    let (_, out, _) = run(&["analyse", &path, "--mm", "pso"]);
    let out = out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(out.contains("the machine of pso does not perform atomic instructions that are no full fences"), "{out}");
}

#[test]
fn the_mcrl2_export_says_all_kinds() {
    let directory = TempDir::new().unwrap();
    let text = model("release x := 1; fence rw,w; atomic acquire [z := z + 1]", "fence stores; r := x");
    let path = file(&directory, "m.slco", &text);
    let (status, out, err) = run(&["export", &path, "--to", "mcrl2"]);
    assert_eq!(status, 0, "{err}");
    for part in [
        "| refused' | acquire' | fence_rw_w' | fence_stores' | relaxed' | release' | rmw';",
        "[relaxed', release', A'(",
        "[rmw', relaxed', acquire', A'(",
        "[fence_rw_w']",
    ] {
        assert!(out.contains(part), "{part}\n{out}");
    }
    assert!(!out.contains("[atomic'"), "{out}");
}
