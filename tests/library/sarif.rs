//! `report.sarif` against what the schema of SARIF 2.1.0 requires, by a checker written from the standard, and
//! against the outcome.

use crate::support::command::seqcon;
use crate::support::outcomes::{hostile, of_specification, of_state_space, specifications, state_spaces};
use crate::toys::{outcome, toy};
use seqcon::analysis::{Options, Outcome};
use seqcon::caveat::{Caveat, Topic};
use seqcon::cycles::Atomicity;
use seqcon::engines;
use seqcon::lang::slco::edit::edited;
use seqcon::program::Span;
use seqcon::repair::Repair;
use seqcon::report::Report;
use seqcon::report::sarif::Sarif;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A kind of object: its properties with their types, the required ones marked.
type Properties = &'static [(&'static str, Kind, bool)];

#[derive(Clone, Copy)]
enum Kind {
    Text,
    OneOf(&'static [&'static str]),
    Truth,
    /// An integer of at least this.
    Number(i64),
    Uri,
    Object(Properties),
    List(Properties),
    /// At least one.
    SomeOf(Properties),
    Texts(&'static [&'static str]),
    /// Names with texts of the writer's own choice.
    Bag,
}
use Kind::{Bag, List, Number, Object, OneOf, SomeOf, Text, Texts, Truth, Uri};

const LEVELS: Kind = OneOf(&["none", "note", "warning", "error"]);
const MESSAGE: Properties = &[("text", Text, true)];
const ARTIFACT_LOCATION: Properties = &[("uri", Uri, true), ("index", Number(0), false)];
const REGION: Properties = &[
    ("startLine", Number(1), true),
    ("startColumn", Number(1), true),
    ("endLine", Number(1), true),
    ("endColumn", Number(1), true),
];
const PHYSICAL: Properties = &[("artifactLocation", Object(ARTIFACT_LOCATION), true), ("region", Object(REGION), true)];
const LOGICAL: Properties = &[("name", Text, true), ("fullyQualifiedName", Text, true), ("kind", Text, true)];
const LOCATION: Properties = &[
    ("id", Number(0), false),
    ("physicalLocation", Object(PHYSICAL), false),
    ("logicalLocations", SomeOf(LOGICAL), true),
    ("message", Object(MESSAGE), false),
];
const THREAD_FLOW: Properties = &[
    ("id", Text, false),
    ("locations", SomeOf(&[("location", Object(LOCATION), true), ("executionOrder", Number(0), true)]), true),
];
const CODE_FLOW: Properties = &[("message", Object(MESSAGE), false), ("threadFlows", SomeOf(THREAD_FLOW), true)];
const REPLACEMENT: Properties = &[("deletedRegion", Object(REGION), true), ("insertedContent", Object(MESSAGE), false)];
const CHANGE: Properties =
    &[("artifactLocation", Object(ARTIFACT_LOCATION), true), ("replacements", SomeOf(REPLACEMENT), true)];
const FIX: Properties = &[("description", Object(MESSAGE), false), ("artifactChanges", SomeOf(CHANGE), true)];
const RESULT: Properties = &[
    ("ruleId", Text, true),
    ("ruleIndex", Number(0), true),
    ("level", LEVELS, true),
    ("message", Object(MESSAGE), true),
    ("locations", SomeOf(LOCATION), true),
    ("relatedLocations", List(LOCATION), false),
    ("codeFlows", List(CODE_FLOW), false),
    ("fixes", List(FIX), false),
    ("partialFingerprints", Bag, true),
    ("properties", Bag, false),
];
const RULE: Properties = &[
    ("id", Text, true),
    ("name", Text, false),
    ("shortDescription", Object(MESSAGE), true),
    ("fullDescription", Object(MESSAGE), true),
    ("help", Object(MESSAGE), true),
    ("defaultConfiguration", Object(&[("level", LEVELS, true)]), false),
];
const DRIVER: Properties = &[
    ("name", Text, true),
    ("version", Text, true),
    ("semanticVersion", Text, false),
    ("informationUri", Uri, false),
    ("rules", SomeOf(RULE), true),
];
const INVOCATION: Properties = &[
    ("commandLine", Text, false),
    ("executionSuccessful", Truth, true),
    ("toolExecutionNotifications", List(NOTIFICATION), false),
];
const NOTIFICATION: Properties = &[
    ("descriptor", Object(&[("id", Text, true)]), false),
    ("level", LEVELS, false),
    ("message", Object(MESSAGE), true),
    ("locations", List(&[("physicalLocation", Object(PHYSICAL), true)]), false),
];
const ARTIFACT: Properties = &[
    ("location", Object(ARTIFACT_LOCATION), false),
    ("description", Object(MESSAGE), false),
    ("roles", Texts(&["analysisTarget", "resultFile"]), false),
    ("hashes", Bag, false),
];
const RUN: Properties = &[
    ("tool", Object(&[("driver", Object(DRIVER), true)]), true),
    ("automationDetails", Object(&[("id", Text, false)]), false),
    ("invocations", List(INVOCATION), false),
    ("artifacts", List(ARTIFACT), false),
    ("columnKind", OneOf(&["utf16CodeUnits", "unicodeCodePoints"]), false),
    ("results", List(RESULT), true),
];
const LOG: Properties = &[("$schema", Uri, false), ("version", OneOf(&["2.1.0"]), true), ("runs", SomeOf(RUN), true)];

fn validate(value: &Value, properties: Properties, at: &str) {
    let object = value.as_object().unwrap_or_else(|| panic!("{at} is no object"));
    for key in object.keys() {
        assert!(properties.iter().any(|(name, ..)| name == key), "{at}.{key} is unknown");
    }
    for &(name, kind, required) in properties {
        match object.get(name) {
            Some(value) => validate_kind(value, kind, &format!("{at}.{name}")),
            None => assert!(!required, "{at}.{name} is missing"),
        }
    }
}

fn validate_kind(value: &Value, kind: Kind, at: &str) {
    let list = |properties: Properties| {
        let list = value.as_array().unwrap_or_else(|| panic!("{at} is no array"));
        list.iter().enumerate().for_each(|(i, item)| validate(item, properties, &format!("{at}[{i}]")));
        list.len()
    };
    match kind {
        Text => assert!(value.as_str().is_some_and(|text| !text.is_empty()), "{at} is no text: {value}"),
        OneOf(known) => assert!(value.as_str().is_some_and(|text| known.contains(&text)), "{at} is {value}"),
        Truth => assert!(value.is_boolean(), "{at} is {value}"),
        Number(least) => assert!(value.as_i64().is_some_and(|number| number >= least), "{at} is {value}"),
        Uri => {
            let uri = value.as_str().unwrap_or_else(|| panic!("{at} is no text"));
            let legal = |c: char| c.is_ascii_alphanumeric() || "-._~:/?#[]@!$&'()*+,;=%".contains(c);
            assert!(!uri.is_empty() && uri.chars().all(legal), "{at} is no URI: {uri:?}");
        }
        Object(properties) => validate(value, properties, at),
        List(properties) => drop(list(properties)),
        SomeOf(properties) => assert!(list(properties) > 0, "{at} is empty"),
        Texts(known) => {
            let texts = value.as_array().unwrap_or_else(|| panic!("{at} is no array"));
            texts.iter().for_each(|text| validate_kind(text, OneOf(known), at));
        }
        Bag => assert!(value.as_object().unwrap().values().all(Value::is_string), "{at}"),
    }
}

fn written(outcome: &Outcome) -> Value {
    let mut text = Vec::new();
    Sarif.write(outcome, &mut text).unwrap();
    let mut again = Vec::new();
    Sarif.write(outcome, &mut again).unwrap();
    assert_eq!(text, again, "the same every time");
    serde_json::from_slice(&text).unwrap()
}

/// The byte at a line and a column, which count characters from 1.
fn byte_at(text: &str, line: &Value, column: &Value) -> usize {
    let (line, column) = (line.as_u64().unwrap() as usize, column.as_u64().unwrap() as usize);
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    assert!(line <= lines.len(), "line {line} of {}", lines.len());
    let start: usize = lines[..line - 1].iter().map(|line| line.len()).sum();
    let content = lines[line - 1].trim_end_matches('\n');
    assert!(column <= content.chars().count() + 1, "column {column} of {content:?}");
    start + content.chars().take(column - 1).map(char::len_utf8).sum::<usize>()
}

fn span(text: &str, region: &Value) -> (usize, usize) {
    let at = |line: &str, column: &str| byte_at(text, &region[line], &region[column]);
    let (start, end) = (at("startLine", "startColumn"), at("endLine", "endColumn"));
    assert!(start <= end);
    (start, end)
}

/// Calls `visit` for every object of that key, at any depth.
fn for_each<'v>(value: &'v Value, key: &str, visit: &mut dyn FnMut(&'v Value)) {
    match value {
        Value::Object(object) => {
            for (name, inner) in object {
                if name == key {
                    visit(inner);
                }
                for_each(inner, key, visit);
            }
        }
        Value::Array(list) => list.iter().for_each(|inner| for_each(inner, key, visit)),
        _ => {}
    }
}

fn check(outcome: &Outcome) {
    let log = written(outcome);
    validate(&log, LOG, "log");
    let run = &log["runs"][0];
    let results = run["results"].as_array().unwrap();
    let wanted: usize = outcome.results.iter().map(|result| result.fences.len() + result.locks.len()).sum();
    assert_eq!(results.len(), wanted);
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    let artifacts = run["artifacts"].as_array().unwrap();
    assert_eq!(artifacts.len(), outcome.provenance.inputs.len());
    let mut fingerprints = BTreeSet::new();
    for result in results {
        let index = result["ruleIndex"].as_u64().unwrap() as usize;
        assert_eq!(rules[index]["id"], result["ruleId"]);
        fingerprints.insert(result["partialFingerprints"]["seqconResult/v2"].as_str().unwrap());
        let message = result["message"]["text"].as_str().unwrap();
        assert!(message.starts_with("Under ") && message.ends_with('.'), "{message}");
        assert_eq!(result["codeFlows"].as_array().unwrap().len(), 1);
        check_flow(&result["codeFlows"][0]);
    }
    assert_eq!(fingerprints.len(), results.len(), "fingerprints tell results apart");
    for_each(&log, "artifactLocation", &mut |location| {
        let index = location["index"].as_u64().expect("inputs are artifacts") as usize;
        assert_eq!(artifacts[index]["location"]["uri"], location["uri"]);
    });
    match &outcome.source {
        None => {
            for_each(&log, "physicalLocation", &mut |location| panic!("{location}: there is no source"));
            for_each(&log, "fixes", &mut |fix| panic!("{fix}: there is no source"));
        }
        Some(source) => {
            for_each(&log, "region", &mut |region| {
                span(&source.text, region);
            });
            for result in results {
                let location = &result["locations"][0];
                let (start, end) = span(&source.text, &location["physicalLocation"]["region"]);
                let full = location["logicalLocations"][0]["fullyQualifiedName"].as_str().unwrap();
                let known = source.program.threads.iter().flat_map(|thread| &thread.instructions);
                assert!(known.clone().any(|known| (known.span.start, known.span.end) == (start, end)), "{full}");
            }
            check_fixes(outcome, results);
        }
    }
}

/// A thread once, and the orders of execution are 1, 2, …
fn check_flow(flow: &Value) {
    let threads = flow["threadFlows"].as_array().unwrap();
    assert!(threads.len() >= 2);
    let ids: BTreeSet<&str> = threads.iter().map(|thread| thread["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), threads.len());
    let mut orders: Vec<u64> = Vec::new();
    for thread in threads {
        for step in thread["locations"].as_array().unwrap() {
            assert_eq!(step["location"]["logicalLocations"][1]["name"], thread["id"]);
            orders.push(step["executionOrder"].as_u64().unwrap());
        }
    }
    let first = threads[0]["locations"].as_array().unwrap();
    assert_eq!(first[0]["executionOrder"].as_u64().unwrap() as usize, orders.len(), "the delayed access is last");
    orders.sort_unstable();
    assert_eq!(orders, (1..=orders.len() as u64).collect::<Vec<_>>());
}

/// All fixes of a memory model together are the repair.
fn check_fixes(outcome: &Outcome, results: &[Value]) {
    let source = outcome.source.as_ref().unwrap();
    for result in &outcome.results {
        let own = results.iter().filter(|found| found["properties"]["memoryModel"] == *result.model.name);
        let mut insertions: BTreeMap<usize, BTreeSet<String>> = BTreeMap::new();
        for found in own {
            for_each(found, "replacements", &mut |replacements| {
                for replacement in replacements.as_array().unwrap() {
                    let (start, end) = span(&source.text, &replacement["deletedRegion"]);
                    assert_eq!(start, end, "nothing is taken away");
                    let text = replacement["insertedContent"]["text"].as_str().unwrap();
                    insertions.entry(start).or_default().insert(text.to_owned());
                }
            });
        }
        let repair = Repair::of(result);
        let Ok(edited) = edited(&source.text, &source.program, &repair.changes(&source.outline)) else { continue };
        let mut text = source.text.clone();
        for (at, what) in insertions.into_iter().rev() {
            // The end of a statement that becomes atomic stands before the fence after it.
            let what: Vec<String> = what.into_iter().collect();
            let ordered: String = what.iter().rev().cloned().collect();
            text.insert_str(at, &ordered);
        }
        assert_eq!(text, edited, "{}", result.model.name);
    }
}

const MODELS: [&str; 4] = ["sc", "tso", "pso", "power"];

#[test]
fn bundled_specifications_are_valid_with_their_source() {
    for name in specifications() {
        check(&of_specification(&name, &MODELS, &Options::default()));
        let options = Options { atomicity: Atomicity::Full, ..Options::default() };
        check(&of_specification(&name, &["tso", "armv8"], &options));
    }
}

#[test]
fn bundled_state_spaces_are_valid_without_source() {
    for name in state_spaces() {
        let options = Options { atomicity: Atomicity::Full, ..Options::default() };
        check(&of_state_space(&name, &MODELS, &options));
    }
}

#[test]
fn hostile_names_are_text() {
    for name in ["mcs", "peterson"] {
        check(&hostile(of_specification(name, &MODELS, &Options::default())));
    }
    let mut outcome = of_specification("mp", &["pso"], &Options::default());
    let path = "/tmp/a b/\"ü\"#?.slco";
    outcome.source.as_mut().unwrap().path = path.to_owned();
    outcome.provenance.inputs[0].path = path.to_owned();
    check(&outcome);
    let uri = written(&outcome)["runs"][0]["artifacts"][0]["location"]["uri"].clone();
    assert_eq!(uri, "file:///tmp/a%20b/%22%C3%BC%22%23%3F.slco");
}

/// A flow a thread, and the order is that of the run.
#[test]
fn runs_are_code_flows_also_with_hostile_names() {
    let engine = engines::named("store-buffers").unwrap();
    let outcome = outcome(engine, &toy("x=1 y\ny=1 x"));
    for outcome in [hostile(outcome.clone()), outcome] {
        let log = written(&outcome);
        validate(&log, LOG, "log");
        let results = log["runs"][0]["results"].as_array().unwrap();
        assert_eq!(results.len(), 2);
        for (result, fence) in results.iter().zip(&outcome.results[0].fences) {
            let run = outcome.results[0].runs[fence.runs[0]].evidence.run().unwrap();
            let mut steps = vec![None; run.steps.len()];
            for flow in result["codeFlows"][0]["threadFlows"].as_array().unwrap() {
                for step in flow["locations"].as_array().unwrap() {
                    let order = step["executionOrder"].as_u64().unwrap() as usize;
                    assert_eq!(steps[order - 1].replace(&flow["id"]), None);
                    let message = step["location"]["message"]["text"].as_str().unwrap();
                    assert!(message.starts_with(&run.steps[order - 1].deed.in_words()), "{message}");
                }
            }
            let threads = run.steps.iter().map(|step| &*run.threads[step.thread.index()]);
            assert!(steps.iter().map(|thread| thread.unwrap().as_str().unwrap()).eq(threads));
        }
    }
}

#[test]
fn the_checker_can_say_no() {
    let outcome = of_specification("mp", &["pso"], &Options::default());
    let refuses = |change: fn(&mut Value)| {
        let mut log = written(&outcome);
        change(&mut log);
        std::panic::catch_unwind(|| validate(&log, LOG, "log")).is_err()
    };
    assert!(!refuses(|_| {}));
    assert!(refuses(|log| log["version"] = "2.0.0".into()));
    assert!(refuses(|log| drop(log["runs"][0]["tool"]["driver"].as_object_mut().unwrap().remove("name"))));
    assert!(refuses(|log| log["runs"][0]["results"][0]["level"] = "bad".into()));
    assert!(refuses(
        |log| log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"]["startLine"] = 0.into()
    ));
}

#[test]
fn the_command_writes_it_beside_other_formats() {
    let directory = tempfile::TempDir::new().unwrap();
    let csv = directory.path().join("fences.csv");
    let arguments = ["analyse", "specs/mp.slco", "--mm", "pso", "--csv", csv.to_str().unwrap(), "--sarif", "-"];
    let output = seqcon(&arguments);
    assert_eq!(output.status.code(), Some(0));
    let log: Value = serde_json::from_slice(&output.stdout).expect("nothing else is on standard output");
    validate(&log, LOG, "log");
    let run_object = &log["runs"][0];
    assert_eq!(
        run_object["invocations"][0]["commandLine"].as_str().unwrap(),
        format!("seqcon {}", arguments.join(" "))
    );
    assert_eq!(run_object["artifacts"][0]["hashes"]["sha-256"].as_str().unwrap().len(), 64);
    assert_eq!(
        run_object["results"][0]["fixes"][0]["artifactChanges"][0]["replacements"][0]["insertedContent"]["text"],
        "; fence"
    );
    assert!(std::fs::read_to_string(csv).unwrap().contains("pso,T0,0,after"));
    assert_eq!(seqcon(&["analyse", "specs/mp.slco", "--sarif", "-", "--dot", "-"]).status.code(), Some(2));
    // What a run confirmed is an error, not a warning; a part of a state space is no success without a word.
    let output = seqcon(&["analyse", "specs/sb.slco", "--mm", "tso", "--confirm", "--sarif", "-"]);
    let log: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(log["runs"][0]["results"][0]["level"], "error");
    let output = seqcon(&["analyse", "specs/sb.slco", "--mm", "tso", "--max-states", "3", "--sarif", "-"]);
    let log: Value = serde_json::from_slice(&output.stdout).unwrap();
    validate(&log, LOG, "log");
    assert_eq!(log["runs"][0]["invocations"][0]["toolExecutionNotifications"].as_array().unwrap().len(), 1);
}

#[test]
fn caveats_and_runs_of_several_models_are_within_the_standard() {
    let with_caveat = |path: &str, span: Span| {
        let mut outcome = of_specification(path, &["tso"], &Options::default());
        outcome.caveats = vec![
            Caveat::new(Topic::Definitions, "the definitions of another paper"),
            Caveat::new(Topic::NeverTaken, "never taken: T0.0").at(span),
        ];
        outcome
    };
    let models = ["sb", "mp"].map(|name| with_caveat(name, Span { start: 0, end: 2 }));
    let mut text = Vec::new();
    Sarif.write_all(&models, &mut text).unwrap();
    let log: Value = serde_json::from_slice(&text).unwrap();
    validate(&log, LOG, "log");
    for (run, model) in log["runs"].as_array().unwrap().iter().zip(&models) {
        assert_eq!(run["automationDetails"]["id"], format!("seqcon/{}", model.model).as_str());
        let notifications = &run["invocations"][0]["toolExecutionNotifications"];
        assert_eq!(notifications[0]["message"]["text"], "The definitions of another paper.");
        assert_eq!(notifications[1]["locations"][0]["physicalLocation"]["region"]["startLine"], 1);
    }
}
