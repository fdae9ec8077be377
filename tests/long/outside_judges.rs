//! What seqcon writes for other people's tools, judged by these tools.
//!
//! - herd7 reads every litmus test that is exported from the bundled programs, and says of each what our axioms say.
//! - mcrl22lps and lps2lts make the state space of every bundled specification from its export: it has our states,
//!   our transitions and our answers. (All have at most some thousand states, of which lps2lts makes 3,000 in a
//!   second. Of the corpus only two models of that size are taken.)

use crate::support::corpus::corpus_dir;
use crate::support::facts_of;
use crate::support::litmus::verdict;
use crate::support::outcomes::{
    automata, facts_of_program, of_automata, of_specification, of_state_space, of_text, specifications, state_spaces,
};
use crate::support::tools::tools;
use seqcon::aeg::Profile;
use seqcon::analysis::{Analysis, Options, Outcome};
use seqcon::cycles::Atomicity;
use seqcon::export::{Origin, mcrl2};
use seqcon::facts::Facts;
use seqcon::facts::extract::Options as Reading;
use seqcon::lang;
use seqcon::lang::litmus::read;
use seqcon::memory::MemoryModel;
use seqcon::report::litmus::{Test, export};
use seqcon::weak::axiomatic::Model;
use seqcon::weak::axiomatic::litmus::Answer;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const MODELS: [&str; 7] = ["tso", "pso", "rmo", "alpha", "armv8", "armv7", "power"];

/// All tests that are exported from what comes with seqcon, each text once.
fn all_tests() -> Vec<Test> {
    let options = Options::default();
    let programs = specifications().into_iter().map(|name| of_specification(&name, &MODELS, &options));
    let others = automata().into_iter().map(|name| of_automata(&name, &MODELS, &options));
    let spaces = state_spaces().into_iter().map(|name| of_state_space(&name, &MODELS, &options));
    // Both threads have a condition between their accesses: the labels of two branches.
    let two = "model two { classes C { variables Integer x y state machines
        a { variables Integer r initial A states B C D transitions A -> B { r := x } B -> C { r = r } C -> D { y := 1 } }
        b { variables Integer s initial A states B C D transitions A -> B { s := y } B -> C { s = s } C -> D { x := 1 } }
        c { initial A states B transitions A -> B { x := 2 } } } objects o : C() }";
    let two = of_text("two.slco", two, &["power", "armv7"], &options);
    let outcomes: Vec<Outcome> = programs.chain(others).chain(spaces).chain([two]).collect();
    let tests = outcomes.iter().flat_map(|outcome| export(outcome).tests);
    let key = |test: &Test| (test.memory_model.clone(), test.text.split("\n{").nth(1).unwrap().to_owned());
    tests.map(|test| (key(&test), test)).collect::<BTreeMap<_, _>>().into_values().collect()
}

#[test]
fn herd_reads_every_exported_test_and_agrees_with_our_axioms() {
    let Some([herd]) = tools(["herd7"]) else { return };
    let tests = all_tests();
    let branches = |test: &&Test| test.text.contains("LC00:") && test.text.contains("LC01:");
    assert!(tests.iter().filter(branches).count() > 0, "no test has two branches");
    let folder = tempfile::TempDir::new().unwrap();
    let paths: Vec<PathBuf> = (0..tests.len()).map(|number| folder.path().join(format!("{number}.litmus"))).collect();
    for (path, test) in paths.iter().zip(&tests) {
        // Names say nothing here, and herd refuses two tests of one name.
        let number = path.file_stem().unwrap().to_str().unwrap();
        let (head, rest) = test.text.split_once('\n').unwrap();
        let architecture = head.split(' ').next().unwrap();
        fs::write(path, format!("{architecture} T{number}\n{rest}")).unwrap();
    }
    let output = Command::new(herd).args(&paths).output().unwrap();
    let (said, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let observed: BTreeMap<&str, &str> = said
        .lines()
        .filter_map(|line| line.strip_prefix("Observation "))
        .map(|line| line.split_once(' ').unwrap())
        .collect();
    let mut compared = BTreeMap::<&str, usize>::new();
    for (number, test) in tests.iter().enumerate() {
        let Some(seen) = observed.get(format!("T{number}").as_str()) else {
            panic!("herd7 does not read {}:\n{}\n{errors}", test.file_name, test.text);
        };
        let own = matches!(&*test.memory_model, "tso" | "power" | "armv7");
        if let Some(model) = Model::named(&test.memory_model).filter(|_| own) {
            let parsed = read(&test.file_name, &test.text).unwrap_or_else(|errors| panic!("{errors}"));
            let holds = verdict(&parsed.program, parsed.condition.as_ref(), &model, 1).unwrap().condition;
            let expected = if seen.starts_with("Never") { Answer::Fails } else { Answer::Holds };
            assert_eq!(holds, Some(expected), "{}: herd7 says {seen}\n{}", test.file_name, test.text);
            *compared.entry(&test.memory_model).or_default() += 1;
        }
    }
    println!("{} tests, compared: {compared:?}", tests.len());
    assert!(compared.len() == 3 && compared.values().all(|&count| count > 3), "{compared:?}");
}

/// States, transitions, and the number of delays, fences and locks under each memory model with each kind of check.
fn answers(analysis: &Analysis) -> Vec<(String, [usize; 4])> {
    let mut answers =
        vec![("states".to_owned(), [analysis.num_of_states as usize, analysis.num_of_transitions as usize, 0, 0])];
    for name in ["tso", "pso", "armv7", "power"] {
        for atomicity in [Atomicity::Full, Atomicity::Presumed, Atomicity::Split] {
            let options = Options { atomicity, ..Options::default() };
            let result = analysis.run(&MemoryModel::named(name).unwrap(), &options);
            let numbers =
                [result.findings.delays.len(), result.fences.len(), result.locks.len(), result.findings.torn.len()];
            answers.push((format!("{name} {atomicity:?}"), numbers));
        }
    }
    answers
}

#[test]
fn mcrl2_makes_the_state_space_and_the_answers_of_every_bundled_specification() {
    let Some([linearise, generate]) = tools(["mcrl22lps", "lps2lts"]) else { return };
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths: Vec<PathBuf> = specifications().iter().map(|name| root.join(format!("specs/{name}.slco"))).collect();
    paths.extend(automata().iter().map(|name| root.join(format!("specs/{name}.txt"))));
    // Its answers were others when it was not said what is refused.
    paths.extend(
        corpus_dir()
            .into_iter()
            .flat_map(|corpus| ["bakery.1", "lamport.1"].map(|name| corpus.join(format!("slco/{name}.slco")))),
    );
    let folder = tempfile::TempDir::new().unwrap();
    let file = |name: &str| folder.path().join(name);
    let run = |tool: &Path, arguments: &[PathBuf]| {
        let output = Command::new(tool).args(arguments).output().unwrap();
        assert!(output.status.success(), "{}: {}", tool.display(), String::from_utf8_lossy(&output.stderr));
    };
    for path in paths {
        let text = fs::read_to_string(&path).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap();
        let program = lang::parse(name, &text).unwrap_or_else(|errors| panic!("{errors}")).program;
        let exported = match mcrl2::specification(&program, Origin { name, text: &text }) {
            Ok(exported) => exported,
            Err(error) => panic!("{name}: {error}"),
        };
        fs::write(file("it.mcrl2"), exported).unwrap();
        run(&linearise, &["-n".into(), "-q".into(), file("it.mcrl2"), file("it.lps")]);
        run(&generate, &["-q".into(), file("it.lps"), file("it.aut")]);
        let theirs = facts_of(fs::read(file("it.aut")).unwrap(), &Reading::default())
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        // A file has no control states.
        let ours = Facts { outline: None, ..facts_of_program(&program) };
        let answers = |facts: Facts| answers(&Analysis::new(facts, Profile::Sound));
        assert_eq!(answers(theirs.facts), answers(ours), "{name}");
    }
}
