//! `seqcon check`: what it finds, in lines and in JSON, and the exit status.

use crate::support::command::run;
use serde_json::{Value, json};
use std::fs;
use tempfile::TempDir;

/// A directory with a file of that name, and the path of the file.
fn file(name: &str, text: &str) -> (TempDir, String) {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join(name);
    fs::write(&path, text).unwrap();
    let path = path.to_str().unwrap().to_owned();
    (directory, path)
}

fn model(variables: &str, transitions: &str) -> String {
    format!(
        "model m {{ classes C {{ variables {variables}\nstate machines\n\
         A {{ initial a states b c d transitions\n{transitions}\n}}\n\
         B {{ initial a states b transitions a -> b {{ x := 1 }} }} }} objects o : C() }}\n"
    )
}

fn findings(arguments: &[&str]) -> (i32, Value) {
    let (status, out, errors) = run(&[&["check", "--json", "-"], arguments].concat());
    assert_eq!(errors, "");
    (status, serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}")))
}

#[test]
fn bundled_inputs_of_all_languages_have_no_errors() {
    let inputs = [
        "specs/peterson.slco",
        "specs/test-and-set.txt",
        "specs/dekker-memorax.rmm",
        "specs/remmex/dekker.rmx",
        "litmus/sb.litmus",
        "lts/sb.aut",
        "litmus-languages/mp-release-acquire.c.litmus",
    ];
    let (status, found) = findings(&inputs);
    assert_eq!((status, &found["schema_version"]), (0, &json!(1)));
    let files = found["files"].as_array().unwrap();
    assert_eq!(files.len(), inputs.len());
    for (file, input) in files.iter().zip(inputs) {
        assert_eq!((&file["file"], &file["complete"]), (&json!(input), &json!(true)));
        assert_eq!((&file["errors"], &file["warnings"]), (&json!(0), &json!(0)), "{file}");
    }
    let languages: Vec<&Value> = files.iter().map(|file| &file["language"]).collect();
    assert_eq!(languages[0], &json!("SLCO"));
    assert_eq!(languages[5], &Value::Null);
}

#[test]
fn all_errors_of_a_text_are_told_with_their_places() {
    let (_directory, path) = file("m.slco", &model("Integer x", "a -> b { y := 1 } b -> e"));
    let (status, found) = findings(&[&path]);
    let file = &found["files"][0];
    assert_eq!((status, &file["errors"], &file["complete"]), (2, &json!(2), &json!(false)));
    let first = &file["findings"][0];
    assert_eq!(first["message"], "there is no variable `y`");
    assert_eq!(first["begin"], json!({"line": 4, "column": 10}));
    assert_eq!(first["end"], json!({"line": 4, "column": 11}));
    assert_eq!((&first["severity"], &first["topic"]), (&json!("error"), &json!("text")));
    assert_eq!(file["findings"][1]["message"], "there is no state `e`");

    let (status, out, _) = run(&["check", &path]);
    assert_eq!(status, 2);
    assert!(out.starts_with(&format!("{path}:4:10: error: there is no variable `y`\n")), "{out}");
    assert!(out.contains("the language is described in docs/slco.md"), "{out}");
    assert!(out.ends_with(&format!("file={path} errors=2 warnings=0 complete=no\n")), "{out}");
    let (_, quiet, _) = run(&["-q", "check", &path]);
    assert_eq!(quiet.lines().count(), 3, "{quiet}");
}

#[test]
fn what_never_happens_is_told_by_exploring_and_in_part_by_the_text() {
    let (_directory, path) =
        file("m.slco", &model("Integer x", "a -> b { x = 7 }\nb -> c { x := 2 }\nd -> a { x := 3 }"));
    let (status, found) = findings(&[&path]);
    let topics = |found: &Value| -> Vec<(String, u64)> {
        let all = found["files"][0]["findings"].as_array().unwrap().iter();
        all.map(|one| (one["topic"].as_str().unwrap().to_owned(), one["begin"]["line"].as_u64().unwrap_or(0))).collect()
    };
    let told = topics(&found);
    assert_eq!((status, &found["files"][0]["complete"]), (0, &json!(true)));
    assert!(told.contains(&("never-moves".to_owned(), 0)) && told.contains(&("never-taken".to_owned(), 4)), "{told:?}");

    let (status, found) = findings(&["--text-only", &path]);
    assert_eq!((status, &found["files"][0]["complete"]), (0, &json!(false)));
    assert_eq!(topics(&found), [("never-reached".to_owned(), 6)]);

    // Where something moves, the places behind it have a line, too.
    let (_directory, path) = file("m.slco", &model("Integer x", "a -> b { x = 1 }\nc -> d { x := 3 }"));
    let (_, found) = findings(&[&path]);
    assert_eq!(topics(&found), [("never-reached".to_owned(), 5)]);
}

#[test]
fn a_limit_is_said_and_is_exit_status_3() {
    // The other machine counts without an end.
    let (_directory, path) =
        file("m.slco", &model("Integer x", "a -> a { x := x + 1 } a -> b b -> c\nd -> a { x := 3 }"));
    let (status, found) = findings(&["--max-states", "50", &path]);
    let file = &found["files"][0];
    assert_eq!((status, &file["complete"]), (3, &json!(false)));
    assert_eq!(file["limit"], "the limit on states (--max-states)");
    let topics: Vec<&str> =
        file["findings"].as_array().unwrap().iter().map(|one| one["topic"].as_str().unwrap()).collect();
    assert_eq!(topics, ["not-explored", "never-reached"]);
    let (_, out, _) = run(&["check", "--max-states", "50", &path]);
    assert!(out.contains(":1:1: note: stopped at the limit on states (--max-states) after"), "{out}");
}

#[test]
fn faults_and_indices_out_of_range_are_found() {
    let (_directory, path) =
        file("m.slco", &model("Integer x", "a -> b { x = 1 }\nb -> c { x := 2 / (x - 1) } c -> d"));
    let (status, found) = findings(&[&path]);
    let fault = &found["files"][0]["findings"][0];
    assert_eq!((status, &fault["topic"], &fault["severity"]), (2, &json!("fault"), &json!("error")));
    assert_eq!(fault["begin"]["line"], 5);

    let (_directory, path) = file("m.slco", &model("Integer x Integer[2] v", "a -> b { x := v[x + 2] } b -> c c -> d"));
    let (status, found) = findings(&[&path]);
    let index = &found["files"][0]["findings"][0];
    assert_eq!((status, &index["topic"], &index["severity"]), (0, &json!("index-out-of-range"), &json!("warning")));
    assert_eq!(findings(&["--strict", &path]).0, 2);
}

#[test]
fn a_bad_input_does_not_hide_the_others() {
    let (_directory, aut) = file("m.aut", "des (0, 1, 2)\n(0, \"T0.0: x :=\", 1)\n(1, \"T0.1 nonsense\", 0)\n");
    let (status, found) = findings(&["nowhere.slco", "lts/sb.aut", &aut]);
    assert_eq!(status, 2);
    let files = found["files"].as_array().unwrap();
    let errors: Vec<&Value> = files.iter().map(|file| &file["errors"]).collect();
    assert_eq!(errors, [&json!(1), &json!(0), &json!(1)]);
    let wrong = &files[2]["findings"][0];
    assert!(wrong["begin"]["line"].as_u64().is_some() && !wrong["message"].as_str().unwrap().contains(&aut), "{wrong}");
}

#[test]
fn what_is_no_text_is_told_where_it_ends() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("m.slco");
    fs::write(&path, b"model m {\n \xff").unwrap();
    let (status, found) = findings(&[path.to_str().unwrap()]);
    assert_eq!(status, 2);
    assert_eq!(found["files"][0]["findings"][0]["begin"], json!({"line": 2, "column": 2}));
}

/// As editors do that have not saved a text yet.
#[test]
fn standard_input_is_a_specification_in_the_language_that_is_named() {
    use std::io::Write;
    let mut child = crate::support::command::command(&["check", "-", "--language", "slco"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("the program starts");
    child.stdin.take().expect("it is piped").write_all(b"model m {\n  classes D {\n").expect("it is read");
    let output = child.wait_with_output().expect("it ends");
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(2), "{shown}");
    assert!(shown.starts_with("stdin.slco:"), "{shown}");
}

#[test]
fn an_index_out_of_range_is_shown_where_it_is() {
    let text = model("Integer x Integer[2] y", "a -> b { x := 7 } b -> c { y[x] := 1 } c -> d { x := y[0] }");
    let (_directory, path) = file("m.slco", &text);
    let (status, found) = findings(&[&path]);
    let finding = &found["files"][0]["findings"][0];
    assert_eq!(
        (status, &finding["topic"], &finding["begin"]["line"]),
        (0, &json!("index-out-of-range"), &json!(4)),
        "{found}"
    );
    let message = finding["message"].as_str().unwrap();
    assert!(message.starts_with("an index was out of range in ") && message.ends_with(" of A.1"), "{message}");
}

#[test]
fn control_states_that_nothing_leads_to_are_told() {
    let text = model("Integer x", "a -> b { x := 2 } b -> c { x := 3 }")
        .replace("objects o : C()", "objects o : C() never n: A@d");
    let (_directory, path) = file("m.slco", &text);
    for limit in [&[][..], &["--max-states", "2"]] {
        let (_, found) = findings(&[&[path.as_str()], limit].concat());
        let messages = found["files"][0]["findings"].as_array().unwrap().iter();
        let messages: Vec<&str> = messages.map(|finding| finding["message"].as_str().unwrap()).collect();
        let expected = ["never reached: control state d of thread A", "no transitions lead to `d` of A"];
        assert!(messages.iter().any(|message| expected.contains(message)), "{messages:?}");
    }
    let (_, shown, _) = run(&["analyse", &path, "--mm", "tso"]);
    assert!(shown.contains("warning: never reached: control state d of thread A"), "{shown}");
}

/// The end behind an unconditional jump is no state of the text.
#[test]
fn control_states_that_the_text_does_not_have_are_not_missed() {
    let scratch = TempDir::new().expect("a directory");
    let path = scratch.path().join("t.litmus");
    let text = "AArch64 t\n{ 0:X1=x; 1:X1=x; }\n P0 | P1 ;\n MOV W0,#1 | LC00: ;\n STR W0,[X1] | LDR W2,[X1] ;\n | B LC00 ;\nexists (x=1)\n";
    fs::write(&path, text).expect("written");
    let (status, shown, errors) = run(&["-q", "check", path.to_str().expect("UTF-8")]);
    assert_eq!(status, 0, "{errors}");
    assert!(!shown.contains("never reached") && !shown.contains("no transitions lead"), "{shown}");
}
