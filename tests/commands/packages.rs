//! What comes with the program: examples of the library, the workflow of a document, the action, what is packaged.

use crate::support::command::text;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// What an example of the library prints; none if it was not built, as with `cargo test --test commands`.
fn example(name: &str, arguments: &[&str]) -> Option<String> {
    let path = Path::new(env!("CARGO_BIN_EXE_seqcon")).with_file_name("examples").join(name);
    if !path.is_file() {
        eprintln!("SKIPPED: the example {name} is not built: `cargo test` builds it");
        return None;
    }
    let output = Command::new(path).args(arguments).current_dir(root()).output().unwrap();
    assert!(output.status.success(), "{name}: {}", text(&output.stderr));
    Some(text(&output.stdout))
}

#[test]
fn the_examples_of_the_library_do_what_they_say() {
    if let Some(printed) = example("state_space", &["lts/dekker.aut", "tso"]) {
        assert!(printed.starts_with("lts/dekker.aut, tso: 44 delays, 6 fences\n"), "{printed}");
    }
    if let Some(printed) = example("fix", &["specs/peterson.slco", "tso"]) {
        assert_eq!(printed.matches("; fence }").count(), 2, "{printed}");
    }
    if let Some(printed) = example("explore", &["specs/peterson.slco", "not (P0@CS and P1@CS)"]) {
        assert_eq!(printed, "specs/peterson.slco: 20 states; not (P0@CS and P1@CS) holds in every state\n");
    }
    if let Some(printed) = example("explore", &["specs/peterson.slco", "not P0@CS"]) {
        assert!(printed.contains("does not hold after 3 steps"), "{printed}");
    }
}

/// The scripts of a workflow, or of an action: what is indented below `run: |`.
fn scripts(yaml: &str) -> Vec<String> {
    let mut scripts = Vec::new();
    let mut lines = yaml.lines().peekable();
    while let Some(line) = lines.next() {
        if line.trim_start() != "run: |" {
            continue;
        }
        let indent = line.len() - line.trim_start().len();
        let mut script = String::new();
        while let Some(next) = lines.next_if(|next| next.is_empty() || next.len() - next.trim_start().len() > indent) {
            script.push_str(next.trim());
            script.push('\n');
        }
        scripts.push(script);
    }
    scripts
}

/// A place with models of ours, in which a script runs as on a build machine; gives its exit status.
fn run_script(script: &str, directory: &Path, variables: &[(&str, &str)]) -> i32 {
    let binary = Path::new(env!("CARGO_BIN_EXE_seqcon")).parent().unwrap();
    let path = format!("{}:{}", binary.display(), std::env::var("PATH").unwrap());
    let mut shell = Command::new("bash");
    shell.args(["-e", "-o", "pipefail", "-c", script]).current_dir(directory).env("PATH", path);
    let output = shell.envs(variables.iter().copied()).output().unwrap();
    output.status.code().unwrap()
}

fn place_with(models: &[&str]) -> TempDir {
    let directory = TempDir::new().unwrap();
    fs::create_dir(directory.path().join("models")).unwrap();
    for model in models {
        fs::copy(root().join("specs").join(model), directory.path().join("models").join(model)).unwrap();
    }
    directory
}

fn results_of(sarif: &Path) -> usize {
    let log: serde_json::Value = serde_json::from_str(&fs::read_to_string(sarif).unwrap()).unwrap();
    let runs = log["runs"].as_array().unwrap();
    runs.iter().map(|run| run["results"].as_array().unwrap().len()).sum()
}

#[test]
fn the_workflow_of_the_document_fails_where_a_fence_is_missing_and_leaves_its_report() {
    let workflow = fs::read_to_string(root().join("docs/howto/examples/seqcon.yml")).unwrap();
    let scripts = scripts(&workflow);
    assert_eq!(scripts.len(), 2, "{scripts:?}");
    let directory = place_with(&["peterson.slco", "mp.slco"]);
    let statuses: Vec<i32> = scripts.iter().map(|script| run_script(script, directory.path(), &[])).collect();
    assert_eq!(statuses, [0, 1]);
    // Two and four for Peterson's algorithm, none and two for message passing.
    assert_eq!(results_of(&directory.path().join("seqcon.sarif")), 8);
    assert!(workflow.contains("sarif_file: seqcon.sarif") && workflow.contains("if: always()"));
}

#[test]
fn the_action_runs_with_its_own_inputs() {
    let action = fs::read_to_string(root().join("action.yml")).unwrap();
    let scripts = scripts(&action);
    assert_eq!(scripts.len(), 1, "{scripts:?}");
    let variables = |options| {
        [("FILES", "models/mp.slco models/sb.slco"), ("MM", "tso"), ("OPTIONS", options), ("SARIF", "out.sarif")]
    };
    let directory = place_with(&["mp.slco", "sb.slco"]);
    assert_eq!(run_script(&scripts[0], directory.path(), &variables("--check")), 1);
    assert_eq!(results_of(&directory.path().join("out.sarif")), 2);
    assert_eq!(run_script(&scripts[0], directory.path(), &variables("")), 0);
    for name in ["FILES", "MM", "OPTIONS", "SARIF"] {
        let given = format!("{name}: ${{{{ inputs.{} }}}}", name.to_lowercase());
        assert!(action.contains(&given), "{given}");
    }
}

#[test]
fn all_files_that_name_a_version_name_the_same() {
    let version = env!("CARGO_PKG_VERSION");
    for (file, line) in [
        ("CITATION.cff", format!("version: {version}")),
        ("python/pyproject.toml", format!("version = \"{version}\"")),
        ("editors/vscode/package.json", format!("  \"version\": \"{version}\",")),
    ] {
        let text = fs::read_to_string(root().join(file)).unwrap();
        assert!(text.lines().any(|known| known == line), "{file} does not say {line}");
    }
}
