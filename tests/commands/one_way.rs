//! What all commands have in common: documents for scripts, standard input, lists of memory models, quiet, exit
//! statuses, and numbers that agree with their nouns.

use crate::support::command::{command, run, seqcon, stderr, stdout, text};
use serde_json::Value;
use std::fs;
use std::io::Write;
use std::process::Stdio;
use tempfile::TempDir;

/// A specification that a command gets on standard input.
fn on_stdin(arguments: &[&str], file: &str) -> (i32, String, String) {
    let mut command = command(arguments);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("seqcon runs");
    let input = fs::read(format!("{}/{file}", env!("CARGO_MANIFEST_DIR"))).expect("readable");
    // A command that refuses it may be gone before it is written.
    let _ = child.stdin.take().expect("piped").write_all(&input);
    let output = child.wait_with_output().expect("it ends");
    (output.status.code().expect("an exit status"), stdout(&output), stderr(&output))
}

/// What is shown, without times.
fn timeless(shown: &str) -> String {
    let is_time = |word: &&str| ["seconds=", "states_per_second="].iter().any(|time| word.contains(time));
    let words = |line: &str| line.split(' ').filter(|word| !is_time(word)).collect::<Vec<_>>().join(" ");
    shown.lines().map(|line| words(line) + "\n").collect()
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Commands that have a result, with the exit status of each.
const DOCUMENTED: [(&[&str], i32); 9] = [
    (&["verify", "specs/sb.slco", "--mm", "tso,pso", "--as-is"], 1),
    (&["verify", "specs/sb.slco", "--mm", "tso"], 0),
    (&["explore", "specs/peterson.slco", "--invariant", "not P0@CS"], 1),
    (&["explore", "specs/peterson.slco", "--max-states", "5"], 3),
    (&["litmus", "litmus", "--mm", "sc,tso"], 0),
    (&["models"], 0),
    (&["models", "show", "armv8"], 0),
    (&["matrix", "specs/sb.slco", "lts/mp.aut", "--mm", "tso,power"], 0),
    (&["info", "specs/sb.slco", "lts/mp.aut"], 0),
];

#[test]
fn every_document_has_its_version_and_is_the_same_in_a_file_and_on_standard_output() {
    let scratch = TempDir::new().expect("a directory");
    for (arguments, status) in DOCUMENTED {
        let output = seqcon(&[arguments, &["--json", "-"]].concat());
        assert_eq!(output.status.code(), Some(status), "{arguments:?}: {}", stderr(&output));
        let document = json(&text(&output.stdout));
        assert_eq!(document["schema_version"], 1, "{arguments:?}");
        assert_eq!(document["seqcon"], env!("CARGO_PKG_VERSION"), "{arguments:?}");
        let path = scratch.path().join("document.json");
        let alone = seqcon(arguments);
        let beside = seqcon(&[arguments, &["--json", path.to_str().expect("UTF-8")]].concat());
        assert_eq!(beside.status.code(), Some(status), "{arguments:?}");
        assert_eq!(fs::read(&path).expect("written"), output.stdout, "{arguments:?}");
        assert_eq!(timeless(&stdout(&beside)), timeless(&stdout(&alone)), "{arguments:?}: a file changes nothing else");
    }
}

#[test]
fn documents_say_what_the_text_says() {
    let document = |arguments: &[&str]| json(&text(&seqcon(&[arguments, &["--json", "-"]].concat()).stdout));
    let verified = document(DOCUMENTED[0].0);
    assert_eq!(verified["property"], "robust");
    let result = &verified["results"][0];
    assert_eq!((&result["memory_model"], &result["verdict"]), (&Value::from("tso"), &Value::from("violated")));
    assert!(result["run"]["run"]["steps"].as_array().is_some_and(|steps| !steps.is_empty()), "{result}");
    let verified = document(DOCUMENTED[1].0);
    assert_eq!(verified["results"][0]["verdict"], "verified");
    assert_eq!(verified["results"][0]["fences"], 2);
    assert!(verified["results"][0]["rests_on"].is_string(), "{verified}");
    let explored = document(DOCUMENTED[2].0);
    let violated = &explored["violated"];
    assert_eq!((&violated["what"], &violated["condition"]), (&Value::from("invariant"), &Value::from("not P0@CS")));
    let steps = violated["steps"].as_array().expect("a list");
    assert_eq!(steps.last().expect("a step")["to"], "CS", "{violated}");
    assert!(steps.iter().any(|step| step["changes"]["turn"].is_string()), "{violated}");
    assert_eq!(violated["state"]["threads"][0]["at"], "CS", "{violated}");
    let part = document(DOCUMENTED[3].0);
    assert_eq!(
        (&part["complete"], &part["limit"]),
        (&Value::from(false), &Value::from("the limit on states (--max-states)"))
    );
    let tests = document(DOCUMENTED[4].0);
    let holds: Vec<&Value> =
        tests["tests"].as_array().expect("a list").iter().map(|test| &test["condition_holds"]).collect();
    assert_eq!(holds, ["no", "no", "no", "yes"]);
    let models = document(DOCUMENTED[5].0);
    assert_eq!(models["models"].as_array().map(Vec::len), Some(seqcon::memory::MemoryModel::builtin().len()));
    let model = document(DOCUMENTED[6].0);
    assert_eq!((&model["name"], &model["rules"]["W x -> R y"]), (&Value::from("armv8"), &Value::from("no")));
    assert!(
        model["litmus"].as_array().is_some_and(|programs| programs.iter().any(|program| program["allowed"] == true))
    );
    let matrix = document(DOCUMENTED[7].0);
    assert_eq!(matrix["models"][0]["memory_models"][0]["fences"], 2);
    assert_eq!(matrix["models"][0]["rows"][0]["needs"]["tso"], "plain");
    assert_eq!(matrix["models"][1]["model"], "mp");
}

#[test]
fn a_document_is_not_written_onto_an_input() {
    for arguments in
        [&["info", "--json", "specs/sb.slco", "specs/mp.slco"][..], &["matrix", "lts/sb.aut", "--json", "x.aut"]]
    {
        let (status, out, errors) = run(arguments);
        assert_eq!((status, out.as_str()), (2, ""), "{arguments:?}");
        assert!(errors.contains("this is the name of an input"), "{errors}");
    }
}

#[test]
fn a_specification_can_come_from_standard_input() {
    let file = "specs/sb.slco";
    for arguments in [
        &["-q", "analyse", "-", "--mm", "tso"][..],
        &["explore", "-", "--no-properties", "-q"],
        &["verify", "-", "--mm", "tso"],
        &["fix", "-", "--mm", "tso"],
        &["export", "-", "--to", "mcrl2"],
        &["facts", "-"],
        &["matrix", "-", "--mm", "tso,pso"],
    ] {
        let (status, shown, errors) = on_stdin(&[arguments, &["--language", "slco"]].concat(), file);
        assert_eq!(status, 0, "{arguments:?}: {errors}");
        let of_file: Vec<&str> = arguments.iter().map(|&word| if word == "-" { file } else { word }).collect();
        let plain =
            |text: &str| timeless(text).replace("specs/sb.slco", "stdin.slco").replace("model=sb ", "model=stdin ");
        assert_eq!(plain(&shown), plain(&run(&of_file).1), "{arguments:?}");
    }
    let (status, shown, errors) = on_stdin(&["litmus", "-"], "litmus/sb.litmus");
    assert_eq!(
        (status, shown.lines().next()),
        (0, Some("stdin tso: exists: holds (4 executions, 4 outcomes)")),
        "{errors}"
    );
    let (status, _, errors) = on_stdin(&["explore", "-"], file);
    assert_eq!((status, errors.contains("give --language")), (2, true), "{errors}");
    let (status, _, errors) = run(&["explore", file, "--language", "slco"]);
    assert_eq!((status, errors.contains("--language is about standard input")), (2, true), "{errors}");
    let (status, _, errors) = run(&["explore", "-", "--language", "c"]);
    assert_eq!((status, errors.contains("slco, litmus")), (2, true), "{errors}");
    let (status, _, errors) = on_stdin(&["explore", "-", "--language", "slco"], "lts/sb.aut");
    assert_eq!((status, errors.starts_with("seqcon: stdin.slco:1:1: error")), (2, true), "{errors}");
}

#[test]
fn quiet_leaves_summary_lines() {
    let scratch = TempDir::new().expect("a directory");
    let report = scratch.path().join("r.json");
    let report = report.to_str().expect("UTF-8");
    assert_eq!(run(&["-q", "analyse", "lts/sb.aut", "--mm", "tso", "--json", report]).0, 0);
    let is_line = regex::Regex::new(r"^[a-z_]+=\S+( [a-z_]+=\S+)*$").expect("an expression");
    for (arguments, status, lines) in [
        (&["analyse", "specs/sb.slco", "--mm", "tso,pso"][..], 0, 2),
        (&["verify", "specs/sb.slco", "--mm", "tso,pso"], 0, 2),
        (&["explore", "specs/peterson.slco"], 0, 1),
        (&["litmus", "litmus"], 0, 1),
        (&["matrix", "specs/sb.slco", "--mm", "tso,pso,power"], 0, 3),
        (&["info", "specs/sb.slco", "lts/mp.aut"], 0, 2),
        (&["compare", report, report], 0, 1),
    ] {
        let (real, shown, errors) = run(&[&["-q"], arguments].concat());
        assert_eq!((real, errors.as_str(), shown.lines().count()), (status, "", lines), "{arguments:?}: {shown}");
        assert!(shown.lines().all(|line| is_line.is_match(line)), "{arguments:?}: {shown}");
    }
    for (arguments, first) in [(["-q", "models"], "sc\ntso\n"), (["-q", "engines"], "cycles\n")] {
        assert!(run(&arguments).1.starts_with(first), "{arguments:?}");
    }
    // Nothing to do is a remark.
    assert_eq!(run(&["-q", "fix", "specs/mp.slco", "--mm", "tso"]).2, "");
}

#[test]
fn one_text_is_for_all_memory_models_of_a_list() {
    let scratch = TempDir::new().expect("a directory");
    let path = scratch.path().join("fixed.slco");
    let fixed = path.to_str().expect("UTF-8");
    let (status, _, errors) = run(&["fix", "specs/mp.slco", "--mm", "tso,pso,power", "-o", fixed]);
    assert_eq!(status, 0, "{errors}");
    let (_, shown, _) = run(&["-q", "analyse", fixed, "--mm", "tso,pso,power"]);
    assert!(shown.lines().count() == 3 && shown.lines().all(|line| line.contains(" fences=0 ")), "{shown}");
    assert!(!run(&["-q", "analyse", "specs/mp.slco", "--mm", "power"]).1.contains(" fences=0 "));
    let report = scratch.path().join("r.json");
    let report = report.to_str().expect("UTF-8");
    assert_eq!(run(&["-q", "analyse", "specs/sb.slco", "--mm", "tso,pso", "--json", report]).0, 0);
    let (status, _, errors) = run(&["fix", "specs/sb.slco", "--mm", "tso,pso", "--with", report]);
    assert_eq!((status, errors.contains("of one memory model")), (2, true), "{errors}");
    let (status, shown, _) = run(&["matrix", "specs/sb.slco", "--mm", "pso,sc", "--csv", "-"]);
    assert_eq!((status, shown.lines().next()), (0, Some("model,thread,instruction,position,text,pso,sc,complete")));
    assert_eq!(run(&["matrix", "specs/sb.slco", "--mm", "tso,x86"]).0, 2);
}

#[test]
fn a_built_in_table_is_a_file_to_begin_with() {
    let scratch = TempDir::new().expect("a directory");
    let (status, table, _) = run(&["models", "show", "pso", "--toml"]);
    assert_eq!(status, 0);
    let path = scratch.path().join("mine.toml");
    fs::write(&path, table.replace("name = \"pso\"", "name = \"mine\"")).expect("written");
    let path = path.to_str().expect("UTF-8");
    let (status, shown, errors) = run(&["-q", "analyse", "specs/mp.slco", "--mm", path]);
    assert_eq!(
        (status, shown.contains("memory_model=mine ") && shown.contains(" fences=1 ")),
        (0, true),
        "{shown}{errors}"
    );
    assert_eq!(run(&["models", "show", path, "--toml"]).1, table.replace("\"pso\"\n", "\"mine\"\n"));
}

/// The exit statuses that the help of a command names.
fn statuses(command: &str) -> Vec<u8> {
    let (status, help, _) = run(&[command, "-h"]);
    assert_eq!(status, 0, "{command}");
    let (_, list) = help.split_once("Exit status:\n").unwrap_or_else(|| panic!("{command} says none"));
    list.lines().filter_map(|line| line.trim_start().split_once("  ")?.0.parse().ok()).collect()
}

#[test]
fn the_help_of_each_command_has_the_statuses_of_that_command() {
    for (command, expected) in [
        ("analyse", &[0, 1, 2, 3][..]),
        ("compare", &[0, 1, 2]),
        ("explore", &[0, 1, 2, 3]),
        ("export", &[0, 2]),
        ("facts", &[0, 2, 3]),
        ("info", &[0, 2, 3]),
        ("litmus", &[0, 2, 3]),
        ("matrix", &[0, 2, 3]),
        ("verify", &[0, 1, 2, 3]),
        ("fix", &[0, 1, 2, 3]),
        ("models", &[0, 2]),
        ("engines", &[0, 2]),
    ] {
        assert_eq!(statuses(command), expected, "{command}");
    }
}

#[test]
fn one_is_one_thing() {
    let scratch = TempDir::new().expect("a directory");
    let one = scratch.path().join("one.slco");
    // One thread, one instruction, one fence in the other program.
    fs::write(
        &one,
        "model m { classes C { variables Integer x state machines t { initial a states b transitions a -> b { x := 1 } } } objects o : C() }",
    )
    .expect("written");
    let one = one.to_str().expect("UTF-8");
    let slips = regex::Regex::new(
        r"(^|[^=\w])1 (fences|locks|states|steps|threads|instructions|executions|outcomes|delays|rounds|times|pairs|tests|evaluations|instances|writes|runs|cycles|inputs|atomic instructions|control states)\b",
    )
    .expect("an expression");
    assert!(slips.is_match("with 1 fences put in"));
    for arguments in [
        &["analyse", one][..],
        &["analyse", one, "--explain", "--verify", "--mm", "tso,power"],
        &["analyse", "specs/mp.slco", "--mm", "pso", "--verify"],
        &["analyse", "specs/sb.slco", "--mm", "tso", "--max-states", "1"],
        &["verify", one, "--mm", "tso,pso,power"],
        &["verify", one, "--mm", "tso", "--as-is", "--never", "t@b and x = 0"],
        &["verify", "specs/mp.slco", "--mm", "pso,power", "--unroll", "1"],
        &["verify", "specs/mp.slco", "--mm", "pso", "--max-weak-states", "1"],
        &["explore", one, "--never", "t@b"],
        &["explore", "specs/sb.slco", "--max-states", "1"],
        &["info", one],
        &["matrix", one],
        &["litmus", "litmus", "--unroll", "1"],
        &["analyse", "specs/test-and-set.txt", "--instances", "1..1", "--mm", "tso"],
    ] {
        let output = seqcon(arguments);
        let said = stdout(&output) + &stderr(&output);
        assert!(!said.is_empty() && !slips.is_match(&said), "{arguments:?}: {said}");
    }
}

#[test]
fn standard_input_has_one_name() {
    for (arguments, file, name) in [
        (&["check", "-", "--language", "slco"][..], "specs/sb.slco", "stdin.slco"),
        (&["info", "-", "--language", "slco"], "specs/sb.slco", "stdin.slco"),
        (&["check", "-"], "lts/sb.aut", "stdin"),
        (&["info", "-"], "lts/sb.aut", "stdin"),
        (&["-q", "analyse", "-", "--mm", "tso"], "lts/sb.aut", "stdin"),
        (&["litmus", "-"], "litmus/sb.litmus", "stdin"),
        (&["litmus", "-", "--language", "litmus"], "litmus/sb.litmus", "stdin"),
    ] {
        let (status, shown, errors) = on_stdin(arguments, file);
        assert_eq!(status, 0, "{arguments:?}: {errors}");
        let first = shown.split([' ', ':']).next().map(|word| word.rsplit('=').next().unwrap_or(word));
        assert_eq!(first, Some(name), "{arguments:?}: {shown}");
    }
    let (status, _, errors) = run(&["litmus", "litmus/sb.litmus", "--language", "litmus"]);
    assert!(status == 2 && errors.contains("--language is about standard input"), "{errors}");
}

#[test]
fn a_memory_model_is_no_file_to_be_written() {
    for name in ["tso", "x86", "TSO"] {
        let (status, shown, errors) = run(&["models", "--json", name]);
        assert_eq!((status, shown.as_str()), (2, ""), "{errors}");
        assert!(errors.contains(&format!("seqcon models show {name} --json shows it")), "{errors}");
        assert!(!std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(name).exists());
    }
}

#[test]
fn errors_say_what_they_are_about() {
    let (status, _, errors) = run(&["fix", "lts/sb.aut"]);
    assert!(
        status == 2 && errors.contains("a state space, which has no text that fences could be put into"),
        "{errors}"
    );
    // The property names a thread that there is only if there is one instance.
    let directory = TempDir::new().expect("a directory");
    let path = directory.path().join("m.slco");
    let text = "model m { classes C { variables Integer x state machines T { initial a states b transitions a -> b { x := 1 } } }
        objects o : C()\n never n: T@b and x = 2 }";
    fs::write(&path, text).expect("written");
    let (status, _, errors) = run(&["analyse", path.to_str().expect("UTF-8"), "--instances", "1..2", "--mm", "tso"]);
    assert!(status == 2 && errors.contains("there is no thread `T`"), "{errors}");
    assert!(errors.contains("with 2 of them (--instances), threads have other names"), "{errors}");
}
