//! A memory model is what its rules are, whatever it is called: machines, axioms, engines and exports go by the
//! table, and a table that nothing runs gets no verdict.

use crate::support::command::run;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// A copy of a built-in table with some text replaced, as a user makes one.
struct Table {
    _directory: TempDir,
    path: String,
}

fn table(builtin: &str, changes: &[(&str, &str)]) -> Table {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("src/memory/builtin/{builtin}.toml"));
    let mut text = fs::read_to_string(path).unwrap();
    for (from, to) in changes {
        assert!(text.contains(from), "{builtin}: {from}");
        text = text.replace(from, to);
    }
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("mine.toml");
    fs::write(&path, text).unwrap();
    Table { path: path.to_str().unwrap().to_owned(), _directory: directory }
}

const WRITES_MAY_OVERTAKE: (&str, &str) = ("\"W x -> W y\" = \"yes\"", "\"W x -> W y\" = \"no\"");
const READS_MAY_OVERTAKE: (&str, &str) = ("\"R x -> R y\" = \"yes\"", "\"R x -> R y\" = \"no\"");

/// The figure of that name in the summary line.
fn figure<'a>(out: &'a str, name: &str) -> &'a str {
    let line = out.lines().last().unwrap();
    line.split(' ').find_map(|word| word.strip_prefix(name)?.strip_prefix('=')).unwrap_or_else(|| panic!("{out}"))
}

/// Message passing needs a fence where writes may overtake writes, and has no need of one on TSO: with the rules of
/// PSO, a table called `tso` is run as PSO.
#[test]
fn a_table_with_the_name_of_tso_and_the_rules_of_pso_is_run_as_pso() {
    let pso = table("tso", &[WRITES_MAY_OVERTAKE]);
    let mp = "specs/mp.slco";
    for confirm in ["--only-confirmed", "--confirm"] {
        let (status, out, errors) = run(&["-q", "analyse", mp, "--mm", &pso.path, confirm]);
        assert_eq!(
            (status, figure(&out, "memory_model"), figure(&out, "fences")),
            (0, "tso", "1"),
            "{confirm}: {out}{errors}"
        );
    }
    let (status, out, errors) = run(&["analyse", mp, "--mm", &pso.path, "--verify"]);
    assert!(
        status == 0
            && out.split_whitespace().collect::<Vec<_>>().join(" ").contains("verified: yes")
            && figure(&out, "fences") == "1",
        "{out}{errors}"
    );
    let (status, out, _) = run(&["verify", mp, "--mm", &pso.path, "--as-is"]);
    assert!(status == 1 && out.starts_with("tso: violated"), "{out}");
    let (status, out, _) = run(&["verify", mp, "--mm", &pso.path]);
    assert!(status == 0 && out.contains("1 fence "), "{out}");
    let (status, out, errors) = run(&["fix", mp, "--mm", &pso.path, "--only-confirmed", "--diff"]);
    assert!(status == 0 && puts_a_fence(&out) && !errors.contains("nothing to do"), "{out}{errors}");
    let (status, _, errors) = run(&["analyse", mp, "--mm", &pso.path, "--engine", "persistence"]);
    assert!(status == 2 && errors.contains("is for tso, not for tso (its rules are those of pso)"), "{errors}");
    let (status, out, _) = run(&["litmus", &message_passing().path, "--mm", &pso.path]);
    assert!(status == 0 && out.contains("tso: exists: holds"), "{out}");
}

/// Whether a difference adds a fence.
fn puts_a_fence(diff: &str) -> bool {
    diff.lines().any(|line| line.starts_with('+') && line.contains("fence"))
}

fn message_passing() -> Table {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("mp.litmus");
    let text = "X86 mp\n{ }\n P0 | P1 ;\n MOV [x],$1 | MOV EAX,[y] ;\n MOV [y],$1 | MOV EBX,[x] ;\nexists (1:EAX=1 /\\ 1:EBX=0)\n";
    fs::write(&path, text).unwrap();
    Table { path: path.to_str().unwrap().to_owned(), _directory: directory }
}

/// Rules that no model with a machine or axioms has: nothing but the analysis of the event graph, which needs the
/// table alone, gives an answer.
#[test]
fn a_table_that_nothing_runs_gets_no_verdict() {
    let mine = ("name = \"tso\"", "name = \"mine\"");
    let tables = [
        (table("tso", &[READS_MAY_OVERTAKE]), "it is called tso, but differs from the built-in tso in: R x -> R y"),
        (table("tso", &[READS_MAY_OVERTAKE, mine]), "no built-in model has these rules"),
        (
            table("tso", &[("store_atomic = true", "store_atomic = false")]),
            "it is called tso, but differs from the built-in tso in: store_atomic",
        ),
        (table("power", &[("name = \"power\"", "name = \"mine\"")]), "its rules are those of armv7, power"),
        (table("alpha", &[("name = \"alpha\"", "name = \"tso\"")]), "its rules are those of alpha"),
    ];
    let litmus = message_passing();
    for (table, why) in &tables {
        // Store buffering goes wrong under each of them.
        let sb = "specs/sb.slco";
        let refused: [&[&str]; 6] = [
            &["verify", sb, "--mm", &table.path],
            &["verify", sb, "--mm", &table.path, "--as-is"],
            &["verify", sb, "--mm", &table.path, "--as-is", "--property", "states"],
            &["analyse", sb, "--mm", &table.path, "--verify"],
            &["analyse", sb, "--mm", &table.path, "--engine", "persistence"],
            &["litmus", &litmus.path, "--mm", &table.path],
        ];
        for arguments in refused {
            let (status, out, errors) = run(arguments);
            assert_eq!((status, out.as_str()), (2, ""), "{why}: {arguments:?}: {errors}");
            assert!(errors.contains(why), "{why}: {arguments:?}: {errors}");
            assert!(
                errors.contains("cannot be run") || errors.contains("the engine persistence is for tso"),
                "{errors}"
            );
        }
        // What the event graph says stands: no delay is confirmed, none is left out.
        let (_, plain, _) = run(&["-q", "analyse", sb, "--mm", &table.path]);
        assert_ne!(figure(&plain, "delays"), "0", "{why}");
        let delays = table.path.replace("mine.toml", "delays.csv");
        for confirm in ["--only-confirmed", "--confirm"] {
            let (status, out, errors) =
                run(&["-q", "analyse", sb, "--mm", &table.path, confirm, "--delays-csv", &delays]);
            assert_eq!(status, 0, "{errors}");
            for name in ["fences", "cumulative_fences", "delays"] {
                assert_eq!(figure(&out, name), figure(&plain, name), "{why}: {confirm}: {name}");
            }
            assert!(errors.contains("cannot be run") && errors.contains(why), "{why}: {confirm}: {errors}");
            let rows = csv::Reader::from_path(&delays)
                .unwrap()
                .into_deserialize::<std::collections::BTreeMap<String, String>>();
            let confirmed: Vec<String> = rows.map(|row| row.unwrap()["confirmed"].clone()).collect();
            assert!(!confirmed.is_empty() && confirmed.iter().all(|word| word == "unknown"), "{confirmed:?}");
        }
        let (status, out, errors) = run(&["fix", sb, "--mm", &table.path, "--only-confirmed", "--diff"]);
        assert!(status == 0 && puts_a_fence(&out) && !errors.contains("nothing to do"), "{why}: {out}{errors}");
        assert_eq!(errors.matches("cannot be run").count(), 1, "{errors}");
    }
}

/// TSO under another name is TSO for all of them.
#[test]
fn an_equal_table_of_another_name_is_the_model() {
    let mine = table("tso", &[("name = \"tso\"", "name = \"mine\""), ("mnemonic = \"mfence\"", "mnemonic = \"wait\"")]);
    let sb = "specs/sb.slco";
    let same = |name: &str, arguments: &[&str]| {
        let run = |model: &str| {
            let (status, out, errors) = run(&[arguments, &["--mm", model]].concat());
            (status, without_seconds(&out), without_seconds(&errors))
        };
        let (builtin, user) = (run("tso"), run(&mine.path));
        let renamed = |text: &str| text.replace("tso", "mine").replace("mfence", "wait");
        assert_eq!((user.0, user.1, user.2), (builtin.0, renamed(&builtin.1), renamed(&builtin.2)), "{name}");
        builtin.0
    };
    for model in ["specs/sb.slco", "specs/mp.slco"] {
        for option in ["--only-confirmed", "--confirm", "--verify", "--engine=persistence"] {
            assert_eq!(same(option, &["-q", "analyse", model, option]), 0);
        }
    }
    assert_eq!(same("verify", &["verify", sb]), 0);
    assert_eq!(same("as is", &["verify", sb, "--as-is"]), 1);
    assert_eq!(same("fix", &["fix", sb, "--only-confirmed"]), 0);
    assert_eq!(same("litmus", &["litmus", "litmus/sb.litmus", &message_passing().path]), 0);
}

fn without_seconds(text: &str) -> String {
    let word = |word: &str| if word.contains("seconds=") { String::new() } else { word.to_owned() };
    // The comments of a specification name memory models, too.
    text.lines()
        .filter(|line| !line.starts_with("//"))
        .map(|line| line.split(' ').map(word).collect::<Vec<_>>().join(" ") + "\n")
        .collect()
}

/// Tests are written for the architecture whose rules the table has.
#[test]
fn exported_litmus_tests_are_for_the_architecture_of_the_rules() {
    let tables = [
        (table("tso", &[("name = \"tso\"", "name = \"mine\"")]), "specs/sb.slco", "X86 "),
        (table("tso", &[WRITES_MAY_OVERTAKE]), "specs/mp.slco", "PPC "),
        (table("power", &[("name = \"power\"", "name = \"tso\"")]), "specs/mp.slco", "PPC "),
    ];
    for (table, model, architecture) in &tables {
        let directory = TempDir::new().unwrap();
        let (status, _, errors) =
            run(&["-q", "analyse", model, "--mm", &table.path, "--litmus", directory.path().to_str().unwrap()]);
        assert_eq!(status, 0, "{errors}");
        let files: Vec<_> = fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert!(!files.is_empty());
        for file in files {
            let text = fs::read_to_string(file).unwrap();
            assert!(text.starts_with(architecture), "{text}");
        }
    }
}

/// Two tables of one name would be two rows of one name.
#[test]
fn two_models_of_one_name_are_refused() {
    let pso = table("tso", &[WRITES_MAY_OVERTAKE]);
    let both = format!("tso,{}", pso.path);
    for command in [["analyse", "specs/mp.slco"], ["verify", "specs/mp.slco"], ["litmus", "litmus/sb.litmus"]] {
        let (status, out, errors) = run(&[&command[..], &["--mm", &both]].concat());
        assert!(status == 2 && out.is_empty() && errors.contains("tso twice"), "{out}{errors}");
    }
}

/// A report says what the rules were: suggestions for one model are not put in for another one of the same name.
#[test]
fn a_report_is_of_a_table_and_not_of_a_name() {
    let (pso, equal) = (table("tso", &[WRITES_MAY_OVERTAKE]), table("tso", &[("mfence", "wait")]));
    let report = pso.path.replace("mine.toml", "report.json");
    let mp = "specs/mp.slco";
    assert_eq!(run(&["-q", "analyse", mp, "--mm", "tso", "--json", &report]).0, 0);
    for command in [["verify", mp], ["fix", mp]] {
        let with = |model: &str| run(&[&command[..], &["--mm", model, "--with", &report]].concat());
        let (status, out, errors) = with(&pso.path);
        assert!(status == 2 && out.is_empty() && errors.contains("other rules: W x -> W y"), "{out}{errors}");
        for model in ["tso", &equal.path] {
            assert_eq!(with(model).0, 0, "{command:?} {model}");
        }
    }
}

/// Labels are enough for axioms.
#[test]
fn delays_of_state_spaces_are_confirmed_where_axioms_judge_them() {
    for option in ["--only-confirmed", "--confirm"] {
        let (status, shown, errors) = run(&["analyse", "lts/mp.aut", "--mm", "armv8,power,sc", option]);
        assert_eq!(status, 0, "{errors}");
        let words: Vec<&str> = shown.split_whitespace().collect();
        assert!(words.join(" ").contains("every critical cycle was judged by the axioms of armv8"), "{shown}");
        let (status, _, errors) = run(&["analyse", "lts/mp.aut", "--mm", "armv8,tso", option]);
        assert_eq!(status, 2);
        assert!(errors.contains("runs the program under tso, and needs specifications as inputs"), "{errors}");
    }
}
