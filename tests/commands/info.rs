//! `seqcon info`: the same program described from its specification, its state space and its facts.

use crate::support::command::seqcon;
use serde_json::Value;

/// What a command prints; it must end with this status, without a message.
fn printed_with(status: i32, arguments: &[&str]) -> String {
    let output = seqcon(arguments);
    assert_eq!(
        (output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()),
        (Some(status), ""),
        "{arguments:?}"
    );
    String::from_utf8(output.stdout).expect("output is UTF-8")
}

fn printed(arguments: &[&str]) -> String {
    printed_with(0, arguments)
}

fn described(file: &str, more: &[&str]) -> Value {
    first_file(&document(0, &[&["info", file], more].concat()))
}

/// The document on standard output; the summary lines are on standard error then.
fn document(status: i32, arguments: &[&str]) -> String {
    let output = seqcon(&[arguments, &["--json", "-"]].concat());
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "{arguments:?}: {errors}");
    assert!(errors.lines().all(|line| line.starts_with("file=")), "{arguments:?}: {errors}");
    String::from_utf8(output.stdout).expect("output is UTF-8")
}

fn first_file(text: &str) -> Value {
    let document: Value = serde_json::from_str(text).expect("it is JSON");
    assert_eq!(document["schema_version"], 1);
    document["files"][0].clone()
}

/// Names and numbers of instructions of the threads, names and elements of the shared variables.
type Outline = (Vec<(String, u64)>, Vec<(String, Value)>);

fn outline(info: &Value) -> Outline {
    let name = |item: &Value| item["name"].as_str().unwrap().to_owned();
    let threads = info["threads"].as_array().unwrap().iter();
    let shared = info["shared"].as_array().unwrap().iter();
    let mut shared: Vec<(String, Value)> =
        shared.map(|variable| (name(variable), variable["elements"].clone())).collect();
    shared.sort_by(|a, b| a.0.cmp(&b.0));
    (threads.map(|thread| (name(thread), thread["instructions"].as_u64().unwrap())).collect(), shared)
}

#[test]
fn a_specification_its_state_space_and_its_facts_are_described_alike() {
    let directory = tempfile::TempDir::new().expect("a temporary directory");
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    for specification in ["specs/peterson.slco", "specs/mcs.slco", "specs/bakery.slco"] {
        let (aut, facts) = (path("m.aut"), path("m.facts"));
        printed(&["explore", specification, "-o", &aut]);
        printed(&["facts", &aut, "-o", &facts]);
        let infos = [specification, &aut, &facts].map(|file| described(file, &[]));
        assert_eq!(
            ["specification", "state-space", "facts"],
            infos.each_ref().map(|info| info["kind"].as_str().unwrap())
        );
        for info in &infos {
            for key in ["states", "transitions", "complete"] {
                assert_eq!(info[key], infos[0][key], "{specification}");
            }
            assert_eq!(outline(info), outline(&infos[0]), "{specification}");
        }
        assert_eq!(
            (infos[1]["dialect"].as_str(), infos[2]["labels"].as_u64()),
            (Some("native"), infos[1]["labels"].as_u64())
        );
    }
}

#[test]
fn the_text_is_compact_and_aligned() {
    let expected = "\
specs/sb.slco: a specification, model sb
  states       13
  transitions  14
  deadlocks    3
  threads      2
    T0  2 instructions  3 control states  locals Integer r := 0
    T1  2 instructions  3 control states  locals Integer r := 0
  variables    2
    Integer  x  := 0
    Integer  y  := 0

lts/example1-equal.aut: a state space, labels in the native dialect
  states       43
  transitions  86
  labels       14
  threads      2
    T0  5 instructions  locals x
    T1  5 instructions  locals x
  variables    3
    b0
    b1
    v[1]
";
    assert_eq!(printed(&["info", "specs/sb.slco", "lts/example1-equal.aut"]), expected);
}

#[test]
fn a_large_specification_is_not_explored_to_its_end() {
    let limited = ["info", "specs/peterson-3.slco", "--max-states", "100"];
    let info = first_file(&document(3, &limited));
    assert_eq!(info["complete"], false);
    assert!((100..2012).contains(&info["states"].as_u64().unwrap()), "{info}");
    let texts = ["1", "2"].map(|threads| printed_with(3, &[&limited[..], &["--threads", threads]].concat()));
    assert!(texts[0].contains("states       at least "), "{}", texts[0]);
    assert!(!texts[0].contains("deadlocks"), "not all states were looked at: {}", texts[0]);
    assert_eq!(texts[0], texts[1], "it depends on the number of threads");
}

#[test]
fn what_cannot_be_read_is_refused() {
    for file in ["Cargo.toml", "no-such-file.slco", "no-such-file.aut", "specs"] {
        let output = seqcon(&["info", file]);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{file}: {message}");
        assert!(message.starts_with(&format!("seqcon: {file}")), "{message}");
    }
}
