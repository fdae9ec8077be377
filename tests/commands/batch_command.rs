//! Several inputs at once: a bad one is reported and the others are done, in whatever number at a time.

use crate::support::command::{run, seqcon, stderr, stdout};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// A directory with a state space whose header lies.
fn with_a_broken_file() -> (TempDir, String) {
    let scratch = TempDir::new().expect("a directory");
    let broken = scratch.path().join("broken.aut");
    fs::write(&broken, "des (0,2,2)\n(0,\"T0.0: x :=\",1)\n").expect("written");
    let name = broken.to_str().expect("UTF-8").to_owned();
    (scratch, name)
}

/// The rows of a table, by the names of its columns.
fn rows(path: &Path) -> Vec<std::collections::BTreeMap<String, String>> {
    let mut reader = csv::Reader::from_path(path).expect("a table");
    reader.deserialize().map(|row| row.expect("a row")).collect()
}

#[test]
fn a_bad_file_is_reported_and_the_others_are_done() {
    let (scratch, broken) = with_a_broken_file();
    let missing = scratch.path().join("missing.slco");
    let out = scratch.path().join("out");
    let arguments = ["analyse", "lts/sb.aut", &broken, missing.to_str().unwrap(), "specs/mp.slco", "--mm", "tso,pso"];
    let output = seqcon(&[&arguments[..], &["--out", out.to_str().unwrap()]].concat());
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    let errors = stderr(&output);
    assert!(errors.contains("broken.aut:1:8") && errors.contains("missing.slco: No such file"), "{errors}");
    assert!(
        errors.ends_with("seqcon: 2 of 4 inputs could not be done; what is written is of the others\n"),
        "{errors}"
    );
    // A row a model and memory model.
    let summary = rows(&out.join("summary.csv"));
    let named: Vec<[&str; 3]> =
        summary.iter().map(|row| ["model", "memory_model", "complete"].map(|name| row[name].as_str())).collect();
    let expected = [["sb", "tso", "yes"], ["sb", "pso", "yes"], ["mp", "tso", "yes"], ["mp", "pso", "yes"]];
    assert_eq!(named, expected);
    // What is shown beside a model, and where its page goes, is of that model.
    let text = stdout(&output);
    assert!(text.contains("model sb (lts/sb.aut)\n") && text.contains("model mp (specs/mp.slco)\n"), "{text}");
    let page = fs::read_to_string(out.join("mp/report.html")).expect("a page");
    assert!(page.contains("\"model\":\"mp\""));
    assert!(!out.join("broken").exists() && !out.join("missing").exists());
}

#[test]
fn reports_of_several_have_the_form_for_several_also_if_one_is_left() {
    let (scratch, broken) = with_a_broken_file();
    let out = scratch.path().join("out");
    let (status, ..) = run(&["-q", "analyse", &broken, "lts/sb.aut", "--mm", "tso", "--out", out.to_str().unwrap()]);
    assert_eq!(status, 2);
    let read = |name: &str| -> serde_json::Value {
        serde_json::from_slice(&fs::read(out.join(name)).expect("written")).expect("JSON")
    };
    assert_eq!(read("report.json")["models"][0]["model"], "sb");
    assert_eq!(read("report.sarif")["runs"][0]["automationDetails"]["id"], "seqcon/sb");
    assert!(out.join("sb/report.html").exists());
}

#[test]
fn nothing_is_written_if_all_are_bad() {
    let (scratch, broken) = with_a_broken_file();
    let table = scratch.path().join("t.csv");
    let missing = scratch.path().join("missing.aut");
    let arguments = ["analyse", &broken, missing.to_str().unwrap(), "--summary-csv", table.to_str().unwrap()];
    let (status, out, errors) = run(&arguments);
    assert_eq!((status, out.as_str(), table.exists()), (2, "", false));
    assert!(errors.ends_with("seqcon: 2 of 2 inputs could not be done; nothing is written\n"), "{errors}");
    let (status, out, errors) = run(&["matrix", &broken, missing.to_str().unwrap()]);
    assert_eq!((status, out.as_str()), (2, ""), "{errors}");
}

#[test]
fn the_output_does_not_depend_on_the_number_of_jobs() {
    let (scratch, broken) = with_a_broken_file();
    // One that warns, so that there is something on standard error in the middle.
    let warned = "lts/snapshot.aut";
    let files = ["specs/peterson-3.slco", &broken, "lts/sb.aut", warned, "specs/mp.slco", "specs/dekker.slco"];
    let of = |jobs: &str| {
        let out = scratch.path().join(format!("out{jobs}"));
        let options = ["-q", "analyse", "--mm", "tso,power", "--jobs", jobs, "--out", out.to_str().unwrap()];
        let (status, lines, errors) = run(&[&options[..], &files].concat());
        assert_eq!(status, 2, "{errors}");
        let timeless = regex::Regex::new(r"seconds=\d+\.\d+").unwrap().replace_all(&lines, "seconds=_").into_owned();
        let fences = fs::read_to_string(out.join("fences.csv")).expect("written");
        (timeless, errors, fences)
    };
    let alone = of("1");
    assert_eq!(alone.0.lines().count(), 10);
    for jobs in ["2", "8"] {
        assert_eq!(alone, of(jobs), "{jobs} jobs");
    }
}

#[test]
fn matrix_and_info_go_on_after_a_bad_file_too() {
    let (scratch, broken) = with_a_broken_file();
    let table = scratch.path().join("t.csv");
    let arguments = ["matrix", "lts/sb.aut", &broken, "specs/mp.slco", "--csv", table.to_str().unwrap()];
    let (status, out, errors) = run(&arguments);
    assert_eq!(status, 2, "{errors}");
    assert!(out.contains("model sb (lts/sb.aut)") && out.contains("model mp (specs/mp.slco)"), "{out}");
    let mut models: Vec<String> = rows(&table).into_iter().map(|row| row["model"].clone()).collect();
    models.dedup();
    assert_eq!(models, ["sb", "mp"]);
    let (status, out, errors) = run(&["info", &broken, "specs/mp.slco"]);
    assert_eq!(status, 2, "{errors}");
    assert!(out.starts_with("specs/mp.slco: a specification") && errors.contains("broken.aut:1:8"), "{out}{errors}");
}

#[test]
fn what_is_wrong_with_the_command_is_said_once_and_before_anything_is_read() {
    let (_scratch, broken) = with_a_broken_file();
    let (status, out, errors) = run(&["analyse", &broken, "lts/sb.aut", "--tau", "t", "--internal", "("]);
    assert_eq!((status, out.as_str(), errors.matches("--internal").count()), (2, "", 1), "{errors}");
    assert_eq!(run(&["analyse", "lts/sb.aut", "--jobs", "0"]).0, 2);
}

#[test]
fn a_bad_file_is_in_the_report_for_machines() {
    let (scratch, broken) = with_a_broken_file();
    let sarif = scratch.path().join("s.sarif");
    let (status, ..) =
        run(&["-q", "analyse", &broken, "lts/sb.aut", "--mm", "tso", "--sarif", sarif.to_str().unwrap()]);
    assert_eq!(status, 2);
    let log: serde_json::Value = serde_json::from_slice(&fs::read(&sarif).expect("written")).expect("JSON");
    let invocation = &log["runs"][0]["invocations"][0];
    assert_eq!(invocation["executionSuccessful"], false);
    let told = invocation["toolExecutionNotifications"][0]["message"]["text"].as_str().unwrap();
    assert!(told.contains("broken.aut:1:8"), "{told}");
}

#[test]
fn what_came_of_the_search_for_fences_is_in_the_table() {
    let scratch = TempDir::new().expect("a directory");
    let table = scratch.path().join("t.csv");
    let arguments = ["analyse", "specs/properties/producer-consumer-1-n2.slco", "--mm", "tso", "--property", "never"];
    let (status, shown, _) = run(&[&["-q"], &arguments[..], &["--summary-csv", table.to_str().unwrap()]].concat());
    assert_eq!(status, 1);
    assert!(shown.contains(" property=never inserted=unfixable"), "{shown}");
    let rows = rows(&table);
    assert_eq!(["property", "inserted", "complete"].map(|name| rows[0][name].as_str()), ["never", "unfixable", "no"]);
}
