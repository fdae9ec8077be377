//! `--litmus`: every exported test is read back by our own reader, gives the same cycle when it is analysed, and its
//! condition tells the memory model from SC by axioms.

use crate::support::command::run;
use crate::support::herd::under;
use crate::support::litmus::{axioms, verdict};
use crate::support::outcomes::{hostile, of_specification, of_state_space, of_text, specifications, state_spaces};
use seqcon::analysis::{Options, Outcome};
use seqcon::cycles::Atomicity;
use seqcon::lang::litmus::{Architecture, read};
use seqcon::report::edges::Edges;
use seqcon::report::litmus::{Test, export};
use seqcon::weak::axiomatic::Model;
use seqcon::weak::axiomatic::litmus::Answer;
use std::collections::{BTreeMap, BTreeSet};

/// All rotations of a cycle's name.
fn rotations(name: &str) -> BTreeSet<String> {
    let edges: Vec<&str> = name.split(' ').collect();
    (0..edges.len()).map(|start| [&edges[start..], &edges[..start]].concat().join(" ")).collect()
}

/// The cycle that the test says it has.
fn own_name(test: &Test) -> &str {
    test.text.lines().find_map(|line| line.strip_prefix("Cycle=")).unwrap()
}

/// The test is read, and under its memory model the analysis finds its cycle in it, under the same name.
fn check_cycle_comes_back(test: &Test) {
    let path = &test.file_name;
    let back = of_text(path, &test.text, &[&test.memory_model], &Options::default());
    let edges = Edges::new(&back, &back.results[0]);
    let found: Vec<String> = back.results[0].all_delays().map(|delay| edges.diy_name(&delay.witness, &[])).collect();
    let wanted = rotations(own_name(test));
    assert!(found.iter().any(|name| wanted.contains(name)), "{path}: {found:?}\n{}", test.text);
}

/// Whether the condition holds, by axioms.
fn holds(test: &Test, model: &Model) -> bool {
    let parsed = read(&test.file_name, &test.text).unwrap_or_else(|errors| panic!("{errors}"));
    let verdict = verdict(&parsed.program, parsed.condition.as_ref(), model, 1).unwrap();
    assert!(verdict.outcomes.complete, "tests have no loops");
    verdict.condition.expect("there is a condition") == Answer::Holds
}

/// Checks all exported tests; gives the names of those whose cycle the memory model's axioms forbid.
fn check(outcome: &Outcome) -> Vec<(String, String)> {
    let exported = export(outcome);
    let names: BTreeSet<&String> = exported.tests.iter().map(|test| &test.file_name).collect();
    assert_eq!(names.len(), exported.tests.len(), "every test has a file of its own");
    let likely = exported.tests.iter().filter(|test| test.text.contains("each thread keeps its own accesses")).count();
    let line = format!("{likely} of {} tests may be forbidden", exported.tests.len());
    assert_eq!(exported.remarks.iter().any(|told| told.starts_with(&line)), likely > 0, "{:?}", exported.remarks);
    let mut forbidden = Vec::new();
    for test in &exported.tests {
        check_cycle_comes_back(test);
        assert!(!holds(test, &axioms("sc")), "{}\n{}", test.file_name, test.text);
        if let Some(model) = Model::named(&test.memory_model)
            && !holds(test, &model)
        {
            assert!(test.text.contains("each thread keeps its own accesses in order"), "{}", test.text);
            forbidden.push((test.memory_model.clone(), test.text.lines().nth(1).unwrap().to_owned()));
        }
    }
    // Every delay is in a test or in a line.
    let told: BTreeSet<String> = exported.tests.iter().flat_map(|test| rotations(&test.cycle)).collect();
    for result in &outcome.results {
        let edges = Edges::new(outcome, result);
        for delay in result.all_delays() {
            let name = edges.diy_name(&delay.witness, &[]);
            let line = format!("left out: {}: {name}: ", result.model.name);
            let is_left_out = exported.remarks.iter().any(|known| known.starts_with(&line));
            assert!(told.contains(&name) || is_left_out, "{name} is in no test");
        }
    }
    forbidden
}

const MODELS: [&str; 8] = ["tso", "pso", "rmo", "alpha", "armv8", "riscv", "armv7", "power"];

/// The axioms know more than the analysis of a read that another thread's write reaches early: these cycles are in
/// order on each thread, and the analysis asks for a cumulative fence all the same.
fn expect_only_cumulative(forbidden: &[(String, String)]) {
    for (model, name) in forbidden {
        assert!(model == "armv7" || model == "power", "{model}: {name}");
        assert!(!name.contains("Pod") && name.contains("Rfe"), "{model}: {name}");
    }
}

#[test]
fn tests_of_bundled_specifications_come_back() {
    let mut count = BTreeMap::<String, usize>::new();
    let mut all_forbidden = BTreeSet::new();
    for name in specifications() {
        let outcome = of_specification(&name, &MODELS, &Options::default());
        let forbidden = check(&outcome);
        expect_only_cumulative(&forbidden);
        for test in export(&outcome).tests {
            *count.entry(test.memory_model).or_default() += 1;
        }
        all_forbidden.extend(forbidden);
    }
    println!("{count:?}\nforbidden: {all_forbidden:#?}");
    assert!(count.values().all(|&tests| tests >= 15), "{count:?}");
}

#[test]
fn tests_of_bundled_state_spaces_come_back() {
    for name in state_spaces() {
        expect_only_cumulative(&check(&of_state_space(&name, &MODELS, &Options::default())));
    }
}

fn only_test(outcome: &Outcome) -> Test {
    let exported = export(outcome);
    assert_eq!(exported.tests.len(), 1, "{exported:#?}");
    exported.tests[0].clone()
}

#[test]
fn the_classic_programs_give_the_classic_tests() {
    for (name, model, cycle, condition) in [
        ("sb", "tso", "PodWR Fre PodWR Fre", "exists (0:EBX=0 /\\ 1:EBX=0)"),
        ("mp", "pso", "SyncdRR Fre PodWW Rfe", "exists (0:r1=1 /\\ 0:r3=0)"),
        ("lb", "armv7", "PodRW Rfe PodRW Rfe", "exists (0:R1=1 /\\ 1:R1=1)"),
        ("lb", "armv8", "PodRW Rfe PodRW Rfe", "exists (0:X1=1 /\\ 1:X1=1)"),
        ("sb", "riscv", "PodWR Fre PodWR Fre", "exists (0:x8=0 /\\ 1:x8=0)"),
        ("iriw", "power", "PodRR Fre Rfe PodRR Fre Rfe", "exists (0:r1=1 /\\ 0:r3=0 /\\ 2:r1=1 /\\ 2:r3=0)"),
        ("2+2w", "pso", "PodWW Coe PodWW Coe", "exists (x=2 /\\ y=2)"),
        ("s", "pso", "SyncdRW Coe PodWW Rfe", "exists (0:r1=1 /\\ y=2)"),
        ("r", "tso", "PodWW Coe PodWR Fre", "exists (1:EBX=0 /\\ y=2)"),
    ] {
        let test = only_test(&of_state_space(name, &[model], &Options::default()));
        assert!(test.text.contains(&format!("\"{cycle}\"\n")), "{name}: {}", test.text);
        assert_eq!(test.text.lines().last(), Some(condition), "{name}: {}", test.text);
        assert_eq!(test.file_name, format!("{model}-{}.litmus", cycle.replace(' ', "+")));
        assert_eq!(rotations(&test.cycle), rotations(&cycle.replace("Syncd", "Pod")));
        let architecture = read("t.litmus", &test.text).unwrap().architecture;
        let expected = match model {
            "tso" => Architecture::X86,
            "armv7" => Architecture::Arm,
            "armv8" => Architecture::AArch64,
            "riscv" => Architecture::RiscV,
            _ => Architecture::Ppc,
        };
        assert_eq!(architecture, expected);
    }
}

/// The test for POWER with a `sync` also between the accesses of threads that have none there.
fn fenced(test: &Test) -> Test {
    let lines: Vec<&str> = test.text.lines().collect();
    let is_row = |line: &&str| line.starts_with(' ') && line.ends_with(';');
    let rows: Vec<Vec<&str>> =
        lines.iter().filter(|line| is_row(line)).map(|line| line.trim_end_matches(';').split('|').collect()).collect();
    let columns: Vec<Vec<&str>> = (0..rows[0].len())
        .map(|thread| {
            let mut column: Vec<&str> =
                rows.iter().map(|row| row[thread].trim()).filter(|cell| !cell.is_empty()).collect();
            if column.iter().any(|cell| cell.contains("(r4)")) && !column.contains(&"sync") {
                column.insert(1 + column.iter().position(|cell| cell.contains("(r2)")).unwrap(), "sync");
            }
            column
        })
        .collect();
    let (begin, end) = (lines.iter().position(is_row).unwrap(), lines.len() - 1);
    let mut text = lines[..begin].join("\n") + "\n";
    for row in 0..columns.iter().map(Vec::len).max().unwrap() {
        let cells: Vec<&str> = columns.iter().map(|column| *column.get(row).unwrap_or(&"")).collect();
        text += &format!(" {} ;\n", cells.join(" | "));
    }
    Test { text: text + lines[end] + "\n", ..test.clone() }
}

/// On POWER the cycle comes about by what the model may exchange, and by nothing else.
#[test]
fn tests_for_another_architecture_succeed_only_by_what_the_model_may_exchange() {
    let power = axioms("power");
    let models = ["pso", "rmo", "alpha"];
    let outcomes = (state_spaces().into_iter())
        .map(|name| of_state_space(&name, &models, &Options::default()))
        .chain(specifications().into_iter().map(|name| of_specification(&name, &models, &Options::default())));
    let mut checked = 0;
    for test in outcomes.flat_map(|outcome| export(&outcome).tests) {
        let table = seqcon::memory::MemoryModel::named(&test.memory_model).unwrap().preserved;
        let name = test.text.lines().nth(1).unwrap().trim_matches('"').to_owned();
        for kinds in name.split(' ').filter_map(|edge| edge.strip_prefix("Pod")) {
            let row = format!("{} x -> {} y", &kinds[..1], &kinds[1..]);
            let pair = seqcon::memory::Pair::all().find(|pair| pair.to_string() == row).unwrap();
            assert_ne!(table.guarantee(pair).to_string(), "yes", "{} keeps {row}: {name}", test.memory_model);
        }
        assert!(holds(&test, &power), "{}", test.text);
        let fenced = fenced(&test);
        assert!(!holds(&fenced, &power), "{}\n{}", test.text, fenced.text);
        checked += 1;
    }
    assert!(checked > 50, "{checked}");
}

#[test]
fn the_rules_choose_the_architecture_and_not_the_name() {
    let architecture = |outcome: &Outcome| read("t.litmus", &only_test(outcome).text).unwrap().architecture;
    let mut outcome = of_state_space("sb", &["tso"], &Options::default());
    outcome.results[0].model.title = "with another title, and fences of its own".to_owned();
    outcome.results[0].model.fences.clear();
    assert_eq!(architecture(&outcome), Architecture::X86);
    outcome.results[0].model.store_atomic = false;
    assert_eq!(architecture(&outcome), Architecture::Ppc);
    // Message passing under a table that is called tso and has the rows of POWER.
    let mut outcome = of_state_space("mp", &["power"], &Options::default());
    outcome.results[0].model.name = "tso".to_owned();
    assert_eq!(architecture(&outcome), Architecture::Ppc);
    let test = only_test(&outcome);
    assert!(test.text.contains("the rules of tso are those of armv7, power: for POWER"), "{}", test.text);
    assert!(holds(&test, &axioms("power")), "{}", test.text);
}

#[test]
fn models_with_names_that_are_alike_have_files_of_their_own() {
    let mut outcome = of_state_space("sb", &["tso", "tso", "tso"], &Options::default());
    for (result, name) in outcome.results.iter_mut().zip(["my model", "my_model", "My Model"]) {
        result.model.name = name.to_owned();
    }
    let names: Vec<String> = export(&outcome).tests.into_iter().map(|test| test.file_name).collect();
    let cycle = "PodWR+Fre+PodWR+Fre";
    assert_eq!(
        names,
        [
            format!("my_model-{cycle}.litmus"),
            format!("my_model-{cycle}-2.litmus"),
            format!("My_Model-{cycle}-3.litmus")
        ]
    );
}

fn slco(t0: &str, t1: &str) -> String {
    format!(
        "model m {{ classes C {{ variables Integer x Integer[2] y Integer z state machines \
         T0 {{ variables Integer r Integer s initial a states b c d transitions {t0} }} \
         T1 {{ variables Integer r Integer s initial a states b c d transitions {t1} }} }} objects o : C() }}"
    )
}

#[test]
fn dependencies_and_fences_of_the_program_are_in_the_test() {
    let writer = "a -> b { x := 1 } b -> c { z := 1 }";
    let fenced_writer = "a -> b { x := 1 } b -> c { fence } c -> d { z := 1 }";
    for (t0, t1, cycle) in [
        (writer, "a -> b { r := z } b -> c { s := x }", "PodWW Rfe PodRR Fre"),
        (fenced_writer, "a -> b { r := z } b -> c { s := x }", "SyncdWW Rfe PodRR Fre"),
        (writer, "a -> b { r := z } b -> c { fence } c -> d { s := x }", "SyncdRR Fre PodWW Rfe"),
        (
            "a -> b { y[0] := 1 } b -> c { z := 1 }",
            "a -> b { r := z } b -> c { s := y[1 - r] }",
            "PodWW Rfe DpAddrdR Fre",
        ),
        ("a -> b { r := x } b -> c { z := 1 }", "a -> b { r := z } b -> c { x := r }", "PodRW Rfe DpDatadW Rfe"),
        (
            "a -> b { r := x } b -> c { z := 1 }",
            "a -> b { r := z } b -> c { r = 1 } c -> d { x := 1 }",
            "PodRW Rfe DpCtrldW Rfe",
        ),
    ] {
        let outcome = of_text("specs/sb.slco", &slco(t0, t1), &["power"], &Options::default());
        check(&outcome);
        let names: Vec<String> = export(&outcome)
            .tests
            .iter()
            .map(|test| test.text.lines().nth(1).unwrap().trim_matches('"').to_owned())
            .collect();
        assert!(names.iter().any(|name| name == cycle), "{cycle}: {names:?}");
    }
}

#[test]
fn what_is_no_test_is_told() {
    let torn = Options { atomicity: Atomicity::Full, ..Options::default() };
    let exported = export(&of_state_space("counter", &["tso"], &torn));
    assert_eq!(exported.tests, []);
    let line =
        "left out: tso: TornsWR Fre Coe: it moves within an instruction, which a litmus test cannot have as one step";
    assert_eq!(exported.remarks, [line]);
    let partial = "PPC t\n{ 0:r2=x; 0:r4=y; 1:r2=y; 1:r4=x; }\n P0 | P1 ;\n li r1,1 | li r1,1 ;\n stw r1,0(r2) | stw r1,0(r2) ;\n lwsync | sync ;\n lwz r3,0(r4) | lwz r3,0(r4) ;\n";
    let exported = export(&of_text("litmus/sb.litmus", partial, &["power"], &Options::default()));
    assert_eq!(exported.tests, []);
    assert!(exported.remarks[0].contains("P0 has a partial fence"), "{exported:?}");
}

#[test]
fn hostile_names_stay_in_the_comment() {
    for name in ["peterson", "mcs", "iriw"] {
        let plain = of_specification(name, &MODELS, &Options::default());
        let named = hostile(plain.clone());
        let (plain, named) = (export(&plain), export(&named));
        assert_eq!(plain.tests.len(), named.tests.len());
        for (plain, named) in plain.tests.iter().zip(&named.tests) {
            assert_eq!(plain.file_name, named.file_name);
            assert_eq!(read("a", &plain.text).unwrap(), {
                // Spans differ with the comment; what is read must not.
                let comment = |text: &str| text.find("(*").unwrap()..text.find("*)\n{").unwrap();
                let mut text = named.text.clone();
                text.replace_range(comment(&named.text), &plain.text[comment(&plain.text)]);
                read("a", &named.text).unwrap();
                read("a", &text).unwrap()
            });
            // For herd a brace begins the initial state, even in a comment.
            assert_eq!(named.text.matches('{').count(), 1);
        }
    }
}

#[test]
fn the_command_writes_a_directory_that_the_litmus_command_reads() {
    let directory = tempfile::TempDir::new().unwrap();
    let tests = directory.path().join("tests");
    let folder = tests.to_str().unwrap();
    let (status, _, errors) = run(&["-q", "analyse", "lts/sb.aut", "--mm", "tso", "--litmus", folder]);
    assert_eq!((status, &*errors), (0, ""));
    let (status, _, errors) =
        run(&["-q", "analyse", "lts/counter.aut", "--mm", "tso", "--atomicity", "--litmus", folder]);
    assert_eq!(status, 0, "{errors}");
    assert!(errors.contains("seqcon: --litmus: left out: tso: TornsWR Fre Coe"), "{errors}");
    let (status, _, errors) = run(&["-q", "analyse", "lts/sb.aut", "--mm", "tso", "--litmus", "-"]);
    assert_eq!(status, 2);
    assert!(errors.contains("--litmus <DIR>") && errors.contains("cannot go to standard output"), "{errors}");
    assert!(!std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("-").exists());
    let (status, shown, _) = run(&["litmus", folder, "--mm", "sc,tso"]);
    assert_eq!(status, 0);
    assert!(shown.contains("tso-PodWR+Fre+PodWR+Fre.litmus sc: exists: does not hold"), "{shown}");
    assert!(shown.contains("tso-PodWR+Fre+PodWR+Fre.litmus tso: exists: holds"), "{shown}");
}

/// Every test for an architecture of its own, by herd7 with its model: the cycle comes about.
#[test]
fn herd_allows_what_the_tests_ask_for() {
    let scratch = tempfile::tempdir().unwrap();
    for (model, cat) in [("armv8", "aarch64.cat"), ("riscv", "riscv.cat"), ("power", "ppc.cat"), ("armv7", "arm.cat")] {
        let outcomes = state_spaces().into_iter().map(|name| of_state_space(&name, &[model], &Options::default()));
        let specifications = specifications();
        let outcomes =
            outcomes.chain(specifications.iter().map(|name| of_specification(name, &[model], &Options::default())));
        // One test has one name, whichever program it is of.
        let tests: BTreeMap<String, Test> = outcomes
            .flat_map(|outcome| export(&outcome).tests)
            .map(|test| (own_name(&test).replace(' ', "+"), test))
            .collect();
        let mut files = Vec::new();
        for (number, test) in tests.values().enumerate() {
            let path = scratch.path().join(format!("{model}-{number}.litmus"));
            std::fs::write(&path, &test.text).unwrap();
            files.push(path);
        }
        let Some(said) = under(&files, std::path::Path::new(cat)) else { return };
        let mut allowed = 0;
        for (name, test) in &tests {
            let Some(said) = said.get(name) else { panic!("herd7 does not read\n{}", test.text) };
            assert!(said.holds || test.may_be_forbidden, "{cat}\n{}", test.text);
            allowed += usize::from(said.holds);
        }
        println!("{model}: {allowed} of {} tests are allowed by herd7", tests.len());
        assert!(allowed >= 10, "{model}: {allowed}");
    }
}
