//! State spaces of other model checkers: SPIN by way of `scripts/spin2aut`, Maude and TLA+ as graphs. The tools run for
//! real where they are; elsewhere that is said, and what they wrote once is read.

use crate::support::adapters::{spin2aut, tla_checker, umaudemc};
use crate::support::command::{run, stderr};
use crate::support::random::random_cases;
use rand::Rng;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use seqcon::facts::extract::{NoProgress, Options, Refusals};
use seqcon::facts::{self, Facts};
use serde_json::Value;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/howto/examples")
}

fn scratch() -> tempfile::TempDir {
    tempfile::TempDir::new().expect("a temporary directory")
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path in UTF-8")
}

fn succeeded(output: &Output) {
    assert!(output.status.success(), "{}", stderr(output));
}

/// The fences of an input, for each memory model: thread, instruction, position and kind.
fn fences(arguments: &[&str]) -> Vec<(String, Vec<[String; 4]>)> {
    let all = [&["analyse", "-q", "--mm", "tso,pso,armv7", "--json", "-"], arguments].concat();
    let (status, report, messages) = run(&all);
    assert_eq!(status, 0, "{arguments:?}: {messages}");
    let report: Value = serde_json::from_str(&report).expect("the report is JSON");
    let of_model = |result: &Value| {
        let field = |fence: &Value, key: &str| fence[key].as_str().unwrap_or_default().to_owned();
        let fences = result["fences"].as_array().expect("fences").iter();
        let mut fences: Vec<[String; 4]> =
            fences.map(|fence| ["point", "kind", "position", "mnemonic"].map(|key| field(fence, key))).collect();
        fences.sort();
        (result["summary"]["memory_model"].as_str().expect("a name").to_owned(), fences)
    };
    report["results"].as_array().expect("results").iter().map(of_model).collect()
}

/// The same fences as for `specs/peterson.slco`, which has some under each of the three memory models.
fn check_is_peterson(arguments: &[&str]) {
    let expected = fences(&["specs/peterson.slco"]);
    let counts: Vec<usize> = expected.iter().map(|(_, fences)| fences.len()).collect();
    assert_eq!(counts, [2, 4, 4]);
    assert_eq!(fences(arguments), expected, "{arguments:?}");
}

fn facts_of(path: &Path, refusals: Refusals) -> Facts {
    let options = Options { refusals, ..Options::default() };
    facts::load(path, &options, &NoProgress).unwrap_or_else(|error| panic!("{error}")).facts
}

/// The facts without the numbers of states and transitions.
fn tables(path: &Path, refusals: Refusals) -> Facts {
    Facts { states: 0, transitions: 0, ..facts_of(path, refusals) }
}

#[test]
fn what_spin_and_maude_wrote_gives_the_fences_of_the_specification() {
    check_is_peterson(&["docs/howto/examples/spin-peterson.aut"]);
    check_is_peterson(&["docs/howto/examples/maude-peterson.dot", "--dialect", "docs/howto/examples/peterson.toml"]);
}

#[test]
fn peterson_through_spin_is_peterson() {
    let directory = scratch();
    let (model, aut) = (examples().join("peterson.pml"), directory.path().join("p.aut"));
    let Some(output) = spin2aut(directory.path(), &[text(&model), "-o", text(&aut)]) else { return };
    succeeded(&output);
    assert_eq!(stderr(&output), "states=20 transitions=50\n");
    check_is_peterson(&[text(&aut)]);
    let written = fs::read(&aut).expect("it was written");
    assert_eq!(written, fs::read(examples().join("spin-peterson.aut")).unwrap(), "docs/howto/examples has another one");
    // Not only the answer: the facts are those of the specification's state space, byte for byte.
    let explored = directory.path().join("explored.aut");
    assert_eq!(run(&["explore", "specs/peterson.slco", "-o", text(&explored)]).0, 0);
    assert_eq!(run(&["facts", text(&aut)]).1, run(&["facts", text(&explored)]).1);
}

/// A program in two languages.
struct Twins {
    slco: String,
    promela: String,
}

/// A statement over the bytes x and y, the array a of two, and the local r: in SLCO, and in Promela.
fn random_statement(rng: &mut StdRng) -> (String, String) {
    let variable = |rng: &mut StdRng| *["x", "y", "a[0]", "a[r % 2]", "a[y % 2]", "r"].choose(rng).expect("not empty");
    let (left, right, value) = (variable(rng), variable(rng), rng.random_range(0..3));
    match rng.random_range(0..5) {
        0 => (format!("{left} := {value}"), format!("{left} = {value}")),
        1 => (format!("{left} := {right}"), format!("{left} = {right}")),
        2 => (format!("{left} := ({right} + 1) % 3"), format!("{left} = ({right} + 1) % 3")),
        3 => (format!("{right} != {value}"), format!("{right} != {value}")),
        _ => (
            format!("[{right} != {value}; {left} := {value}]"),
            format!("atomic {{ {right} != {value} -> {left} = {value} }}"),
        ),
    }
}

fn random_twins(rng: &mut StdRng) -> Twins {
    let mut slco = "model twins { classes C {\n variables Byte x Byte y := 1 Byte[2] a\n state machines\n".to_owned();
    let mut promela = "byte x; byte y = 1; byte a[2];\n".to_owned();
    for thread in 0..2 {
        let length = rng.random_range(2..5);
        let statements: Vec<_> = (0..length).map(|_| random_statement(rng)).collect();
        let states: Vec<String> = (1..length).map(|state| format!("s{state}")).collect();
        writeln!(slco, " P{thread} {{ variables Byte r initial s0 states {} transitions", states.join(" ")).unwrap();
        for (at, (statement, _)) in statements.iter().enumerate() {
            writeln!(slco, "  s{at} -> s{} {{ {statement} }}", (at + 1) % length).unwrap();
        }
        slco.push_str(" }\n");
        let statements: Vec<&str> = statements.iter().map(|(_, statement)| statement.as_str()).collect();
        writeln!(promela, "active proctype P{thread}() {{ byte r; do :: {} od }}", statements.join("; ")).unwrap();
    }
    slco.push_str("} objects o : C() }\n");
    Twins { slco, promela }
}

/// SPIN knows nothing of what seqcon does, so this judges both the script and the exploration.
#[test]
fn random_programs_have_the_same_facts_in_promela_and_in_slco() {
    let directory = scratch();
    let path = |name: &str| directory.path().join(name);
    if spin2aut(directory.path(), &["--help"]).is_none() {
        return;
    }
    random_cases(4, |rng| {
        let twins = random_twins(rng);
        fs::write(path("t.slco"), &twins.slco).unwrap();
        fs::write(path("t.pml"), &twins.promela).unwrap();
        let output = spin2aut(directory.path(), &["t.pml", "-o", "spin.aut"]).expect("it was there");
        assert!(output.status.success(), "{}\n{}", stderr(&output), twins.promela);
        let (status, _, messages) = run(&["explore", text(&path("t.slco")), "-o", text(&path("seqcon.aut"))]);
        assert_eq!(status, 0, "{messages}\n{}", twins.slco);
        for refusals in [Refusals::Shown, Refusals::Unknown] {
            let found = tables(&path("spin.aut"), refusals);
            assert_eq!(found, tables(&path("seqcon.aut"), refusals), "{}\n{}", twins.slco, twins.promela);
            assert!(!found.labels.is_empty(), "{}", twins.slco);
        }
    });
}

#[test]
fn what_spin_prints_becomes_accesses() {
    let directory = scratch();
    let model = "mtype = { red, green }\nmtype colour = red;\ntypedef rec { byte a; byte b[2] };\nrec r[2];\nbyte level[2];\nbyte lock;\n\
        active [2] proctype P() {\n  byte k;\n  d_step { lock == 0 -> lock = 1 };\n  if :: level[1 - _pid] > k -> skip :: else -> k++ fi;\n  \
        r[_pid].b[k] = (lock -> 1 : level[k]);\n  colour = green;\n  printf(\"%d\", k);\n  assert(lock == 1);\n  lock = 0\n}\n";
    fs::write(directory.path().join("m.pml"), model).unwrap();
    let Some(output) = spin2aut(directory.path(), &["m.pml", "-o", "-"]) else { return };
    succeeded(&output);
    let labels = String::from_utf8(output.stdout).unwrap();
    for expected in [
        "P_0.0: ? lock; lock :=",
        "P_0.0: ?! lock",
        "P_1.1: ?! level[0], ~k",
        // `else` reads what the guard reads.
        "P_1.3: ? level[0], ~k",
        "P_1.4: ~k := ~k",
        "P_1.5: r.b[1][1]@(~k) := lock, level[1]@(~k)",
        "P_0.6: colour :=",
        "P_0.7",
        "P_0.8: ? lock",
        "P_0.9: lock :=",
    ] {
        assert!(labels.contains(&format!(",\"{expected}\",")), "{expected}:\n{labels}");
    }
    // SPIN's order of ends is none of the program's.
    assert!(!labels.contains("end"), "{labels}");
    let atomic = spin2aut(directory.path(), &["m.pml", "--atomic", "-o", "-"]).expect("it was there");
    assert!(String::from_utf8(atomic.stdout).unwrap().contains("\"P_0.0: atomic ? lock; lock :=\""));
}

#[test]
fn what_cannot_be_translated_from_promela_is_said() {
    let directory = scratch();
    let cases = [
        ("chan c = [1] of { byte }; active proctype P() { c!1 }", "`c!1` is not translated"),
        ("byte x; active proctype P() { timeout -> x = 1 }", "`timeout` is no variable"),
        ("byte x; active proctype P() provided (x == 0) { x = 1 }", "provided: not translated"),
        ("byte a[2]; byte i = 2; active proctype P() { a[i] = 1 }", "invalid array index"),
        ("byte x; active proctype P() { { byte k; k = 1 }; { byte k; x = k } }", "two local variables called k"),
        ("byte x; active proctype {", "spin -d failed"),
    ];
    for (model, expected) in cases {
        fs::write(directory.path().join("m.pml"), model).unwrap();
        let Some(output) = spin2aut(directory.path(), &["m.pml", "-o", "m.aut"]) else { return };
        let message = stderr(&output);
        assert!(output.status.code() == Some(2) && message.starts_with("m.pml: "), "{model}: {message}");
        assert!(message.contains(expected) && !message.contains("Traceback"), "{model}: {message}");
        assert!(!directory.path().join("m.aut").exists(), "{model}: half a file");
    }
    fs::write(directory.path().join("m.pml"), "byte x; active proctype P() { x = 1; x = 2; x = 3 }").unwrap();
    let output = spin2aut(directory.path(), &["m.pml", "-o", "m.aut", "--depth", "2"]).expect("it was there");
    assert!(stderr(&output).contains("deeper than 2 steps: say --depth 20"), "{}", stderr(&output));
}

#[test]
fn peterson_through_umaudemc_is_peterson() {
    let directory = scratch();
    let (model, graph) = (examples().join("peterson.maude"), directory.path().join("p.dot"));
    let arguments = ["graph", text(&model), "initial", "--format", "dot", "-o", text(&graph)];
    let Some(output) = umaudemc(directory.path(), &arguments) else { return };
    succeeded(&output);
    check_is_peterson(&[text(&graph), "--dialect", "docs/howto/examples/peterson.toml"]);
    let written = fs::read(&graph).expect("it was written");
    assert!(written == fs::read(examples().join("maude-peterson.dot")).unwrap(), "docs/howto/examples has another one");
}

/// umaudemc writes the label of the first rule for all rules between two states, so that the second is lost: never an
/// answer that looks complete.
#[test]
fn a_rule_that_umaudemc_loses_is_noticed() {
    let directory = scratch();
    let model = "mod TWO is\n sort S .\n ops a b : -> S [ctor] .\n rl [one] : a => b .\n rl [two] : a => b .\nendm\n";
    let (maude, graph) = (directory.path().join("two.maude"), directory.path().join("two.dot"));
    fs::write(&maude, model).unwrap();
    let arguments = ["graph", text(&maude), "a", "--format", "dot", "-o", text(&graph)];
    let Some(output) = umaudemc(directory.path(), &arguments) else { return };
    succeeded(&output);
    let rules = directory.path().join("r.toml");
    fs::write(&rules, "[[rule]]\nmatch = '(\\w+)'\nlabel = 'T0.$1: x :='\n").unwrap();
    let (status, _, message) = run(&["analyse", text(&graph), "--dialect", text(&rules)]);
    assert_eq!(status, 2, "{message}");
    assert!(message.contains("the same edge with the same label again; umaudemc writes"), "{message}");
    let (status, _, _) = run(&["analyse", text(&graph), "--dialect", text(&rules), "--lenient"]);
    assert_eq!(status, 3);
}

#[test]
fn peterson_through_tla_checker_is_peterson() {
    let directory = scratch();
    // It writes beside the module, too.
    fs::copy(examples().join("Peterson.tla"), directory.path().join("Peterson.tla")).unwrap();
    let arguments = ["Peterson.tla", "--allow-deadlock", "--dot-mode", "full", "--export-dot", "p.dot"];
    let Some(output) = tla_checker(directory.path(), &arguments) else { return };
    succeeded(&output);
    let graph = directory.path().join("p.dot");
    check_is_peterson(&[text(&graph), "--dialect", "docs/howto/examples/peterson.toml"]);
}

#[test]
fn a_file_of_no_known_format_is_told_what_is_read() {
    let directory = scratch();
    let cases = [
        ("m.pml", "byte x;", "scripts/spin2aut makes an .aut of a Promela model"),
        ("m.tla", "---- MODULE M ----", "-dump dot,actionlabels"),
        ("m.maude", "mod M is", "umaudemc graph"),
        ("m.mcrl2", "act a;", "lps2lts"),
        ("m.bcg", "\u{1}BCG", "bcg_io"),
        ("m.unknown", "what is this?", "seqcon help formats"),
        ("none", "what is this?", "seqcon help formats"),
    ];
    for (name, contents, remedy) in cases {
        let path = directory.path().join(name);
        fs::write(&path, contents).unwrap();
        for command in ["analyse", "info", "facts"] {
            let (status, _, message) = run(&[command, text(&path)]);
            let start =
                format!("seqcon: {}:1:1: expected a format that is read: a specification (.slco, ", path.display());
            assert!(status == 2 && message.starts_with(&start), "{command} {name}: {message}");
            assert!(message.contains(".aut, .dot") && message.contains(remedy), "{command} {name}: {message}");
            assert!(!message.contains("des ("), "{command} {name}: {message}");
        }
    }
    // Contents count more than names, and what is called .aut is told about its header.
    fs::write(directory.path().join("named.txt2"), "des (0,1,2)\n(0,\"T0.0: x :=\",1)\n").unwrap();
    assert_eq!(run(&["info", text(&directory.path().join("named.txt2"))]).0, 0);
    fs::write(directory.path().join("m.aut"), "what is this?\n").unwrap();
    assert!(run(&["info", text(&directory.path().join("m.aut"))]).2.contains("the header `des ("));
}

/// What stands at the place of the output stays what it is: a model, a pipe.
#[test]
fn the_state_space_is_put_where_it_harms_nothing() {
    let directory = scratch();
    let model = directory.path().join("m.pml");
    fs::write(&model, "byte x; active proctype P() { x = 1 }\n").expect("written");
    let Some(output) = spin2aut(directory.path(), &["m.pml", "-o", "m.pml"]) else { return };
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("-o names the model itself"), "{}", stderr(&output));
    assert!(fs::read_to_string(&model).expect("it is there").starts_with("byte x"));
    let output = spin2aut(directory.path(), &["m.pml", "-o", "no/such/place.aut"]).expect("it was there");
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("cannot be written"), "{}", stderr(&output));
    let link = directory.path().join("link.aut");
    let target = directory.path().join("target.aut");
    fs::write(&target, "").expect("written");
    std::os::unix::fs::symlink(&target, &link).expect("a link");
    succeeded(&spin2aut(directory.path(), &["m.pml", "-o", "link.aut"]).expect("it was there"));
    assert!(fs::read_to_string(&target).expect("written").starts_with("des"));
    assert!(fs::symlink_metadata(&link).expect("it is there").is_symlink());
}
