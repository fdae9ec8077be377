//! What `editors/` has: the words of the grammar are those of the parser, the problem matcher takes what `seqcon check`
//! prints, and, where the libraries of the editor are at hand, a text is coloured as it should be.

use crate::support::command::{run, text};
use regex::Regex;
use seqcon::lang::slco;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("editors/vscode")
}

fn json(name: &str) -> Value {
    let text = fs::read_to_string(folder().join(name)).unwrap();
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The words between the first parentheses of a rule, which are alternatives.
fn words(rule: &str) -> Vec<String> {
    let grammar = json("syntaxes/slco.tmLanguage.json");
    let pattern = grammar["repository"][rule]["match"].as_str().unwrap_or_else(|| panic!("no rule {rule}")).to_owned();
    let inside = pattern.split_once('(').unwrap().1.split_once(')').unwrap().0;
    inside.split('|').map(str::to_owned).collect()
}

#[test]
fn the_keywords_of_the_grammar_are_those_of_the_parser() {
    let rules = ["keywords", "types", "constants", "word-operators", "atomic", "fence", "property"];
    let coloured: BTreeSet<String> = rules.into_iter().flat_map(words).collect();
    let known: BTreeSet<String> = slco::KEYWORDS.into_iter().map(str::to_owned).collect();
    assert_eq!(coloured, known);
    let marks: BTreeSet<String> = words("marks").into_iter().collect();
    assert_eq!(marks, slco::mark_words().map(str::to_owned).collect());
}

#[test]
fn the_kinds_of_fences_of_the_grammar_are_read() {
    let grammar = json("syntaxes/slco.tmLanguage.json");
    let pattern = grammar["repository"]["fence"]["match"].as_str().unwrap();
    let kinds = pattern.split("\\s+(").nth(1).unwrap().split("|(?:").next().unwrap();
    let kinds: Vec<&str> = kinds.split('|').collect();
    assert!(kinds.len() >= 7, "{kinds:?}");
    for kind in kinds.into_iter().chain(["rw,w"]) {
        let model = format!(
            "model m {{ classes C {{ state machines t {{ initial a transitions a -> a {{ fence {kind} }} }} }} objects o : C() }}"
        );
        assert!(seqcon::lang::parse("m.slco", &model).is_ok(), "{kind}");
    }
}

#[test]
fn the_problem_matcher_takes_what_check_prints() {
    let manifest = json("package.json");
    let matcher = &manifest["contributes"]["problemMatchers"][0];
    assert_eq!(matcher["name"], "seqcon");
    let pattern = Regex::new(matcher["pattern"]["regexp"].as_str().unwrap()).unwrap();
    let directory = tempfile::TempDir::new().unwrap();
    let path = directory.path().join("a model: 1.slco");
    let model = "model m { classes C { variables Integer x\nstate machines t { initial a states b\n\
                 transitions a -> b { y := 1 } b -> c } } objects o : C() }";
    fs::write(&path, model).unwrap();
    for arguments in [["-q", "check"], ["check", "--text-only"]] {
        let (_, out, _) = run(&[&arguments[..], &[path.to_str().unwrap()]].concat());
        let found: Vec<_> = out.lines().filter_map(|line| pattern.captures(line)).collect();
        let part = |number: &str, of: usize| {
            let group = matcher["pattern"][number].as_u64().unwrap() as usize;
            found[of][group].to_owned()
        };
        assert_eq!(found.len(), 2, "{out}");
        assert_eq!(part("file", 0), path.to_str().unwrap());
        assert_eq!([part("line", 0), part("column", 0), part("severity", 0)], ["3", "22", "error"]);
        assert_eq!(part("message", 1), "there is no state `c`");
    }
}

#[test]
fn files_that_the_manifest_names_are_there() {
    let manifest = json("package.json");
    let contributes = &manifest["contributes"];
    for name in [&contributes["languages"][0]["configuration"], &contributes["grammars"][0]["path"]] {
        json(name.as_str().unwrap());
    }
}

#[test]
fn a_text_is_coloured_as_the_editor_would() {
    let folder = folder();
    if !folder.join("node_modules/vscode-textmate").is_dir() {
        eprintln!("SKIPPED: no vscode-textmate: `npm install --no-package-lock` in {} fetches it", folder.display());
        return;
    }
    let output = match Command::new("node").arg("test/colours.js").current_dir(&folder).output() {
        Ok(output) => output,
        Err(error) => {
            eprintln!("SKIPPED: no node: {error}");
            return;
        }
    };
    assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
}
