//! `scripts/table`: the table of a paper, made of what `--summary-csv` writes.

use crate::support::command::seqcon;
use std::fs;
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// Runs the script on tables in a directory; gives exit status, standard output, standard error.
fn table(directory: &TempDir, arguments: &[&str]) -> (i32, String, String) {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/table");
    let mut command = Command::new("sh");
    let output = command.arg(script).args(arguments).current_dir(directory).stdin(Stdio::null()).output().expect("sh");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code().expect("an exit status"), text(output.stdout), text(output.stderr))
}

const HEADER: &str = "model,memory_model,states,locks,fences,minimal,complete\n";

fn with(rows: &str) -> TempDir {
    let directory = TempDir::new().expect("a directory");
    fs::write(directory.path().join("t.csv"), format!("{HEADER}{rows}")).expect("written");
    directory
}

#[test]
fn what_is_not_certain_is_marked_and_explained() {
    let rows = "a,tso,7,0,2,program,yes\na,power,7,2,3,event-graph,yes\nb,tso,9,0,1,no,yes\nb,power,9,0,0,program,no\n";
    let (status, shown, errors) = table(&with(rows), &["t.csv"]);
    assert_eq!((status, errors.as_str()), (0, ""));
    let expected = "\
| model | states | tso | power |
| --- | ---: | ---: | ---: |
| a | 7 | 2 | 3+2L\\* |
| b | 9 | ≤1 | 0? |

- L: locks, beside fences.
- \\*: the fewest for what was looked at (an event graph or an abstraction), not proved to be so for the program.
- ≤: enough, not proved to be the fewest.
- ?: a limit was reached, and more may be needed.
";
    assert_eq!(shown, expected);
}

#[test]
fn names_are_quoted_for_the_format_and_a_place_without_a_row_is_empty() {
    let rows = "\"a_b, \"\"c\"\"|d\",tso,7,0,2,program,yes\nx,pso,9,0,1,program,yes\n";
    let (_, shown, _) = table(&with(rows), &["--columns", "", "t.csv"]);
    assert!(shown.contains("| a\\_b, \"c\"\\|d | 2 |  |\n| x |  | 1 |\n"), "{shown}");
    let (_, shown, _) = table(&with(rows), &["--latex", "--value", "states", "--columns", "", "t.csv"]);
    assert!(shown.contains("a\\_b, \"c\"|d & 7 &  \\\\\nx &  & 9 \\\\\n"), "{shown}");
    assert!(shown.starts_with("\\begin{tabular}{lrr}\n\\toprule\n") && shown.ends_with("\\end{tabular}\n"), "{shown}");
}

#[test]
fn latex_explains_its_marks_where_they_are_read() {
    let rows = "a,tso,7,0,2,event-graph,yes\nb,tso,9,0,1,no,yes\nc,tso,9,0,0,program,no\n";
    let (_, shown, _) = table(&with(rows), &["--latex", "t.csv"]);
    let (_, notes) = shown.split_once("\\end{tabular}\n").expect("the table ends");
    let note =
        |mark: &str| notes.lines().any(|line| line.starts_with(&format!("\\par\\smallskip{{\\footnotesize {mark}: ")));
    assert!(["$^*$", "$\\leq$", "?"].into_iter().all(note) && !notes.contains('%'), "{notes}");
}

#[test]
fn help_is_printed_for_both_options() {
    let help = |option: &str| table(&with(""), &[option]);
    assert!(help("--help").1.starts_with("Makes the table of a paper"), "{:?}", help("--help"));
    assert_eq!(help("-h"), help("--help"));
}

#[test]
fn what_is_no_summary_is_refused() {
    let twice = "a,tso,7,0,2,program,yes\na,tso,7,0,2,program,yes\n";
    for (rows, arguments, problem) in [
        ("a,tso\n", &["t.csv"][..], "t.csv:2: expected 7 cells"),
        (twice, &["t.csv"], "t.csv:3: a under tso is there twice"),
        ("", &["t.csv"], "there is no row"),
        ("a,tso,7,0,2,program,yes\n", &["--value", "nothing", "t.csv"], "there is no column nothing"),
        ("", &["missing.csv"], "missing.csv: not readable"),
        ("", &["--tex", "t.csv"], "unknown option --tex"),
        ("", &[], "which table?"),
    ] {
        let (status, shown, errors) = table(&with(rows), arguments);
        assert_eq!((status, shown.as_str(), errors.lines().count()), (2, "", 1), "{arguments:?}: {errors}");
        assert!(errors.starts_with("table: ") && errors.contains(problem), "{arguments:?}: {errors}");
    }
}

#[test]
fn every_summary_is_a_table() {
    let directory = TempDir::new().expect("a directory");
    let path = directory.path().join("t.csv");
    let inputs = ["specs/peterson.slco", "lts/snapshot.aut", "specs/mp.slco"];
    let arguments = ["-q", "analyse", "--mm", "tso,armv8", "--summary-csv", path.to_str().expect("UTF-8")];
    assert!(seqcon(&[&arguments[..], &inputs].concat()).status.success());
    let (status, shown, _) = table(&directory, &["t.csv"]);
    assert_eq!(status, 0);
    assert!(shown.contains("| peterson | 20 | 2 | 4\\* |\n") && shown.contains("| mp | 9 | 0 | 2\\* |\n"), "{shown}");
}

#[test]
fn without_enough_fences_there_is_no_number() {
    let directory = TempDir::new().expect("a directory");
    let header = "model,memory_model,states,locks,fences,minimal,complete,inserted\n";
    let rows = "a,tso,,0,0,no,no,unfixable\na,pso,,0,0,no,no,undecided\nb,tso,5,0,2,program,yes,enough\n";
    fs::write(directory.path().join("t.csv"), format!("{header}{rows}")).expect("written");
    let (status, shown, errors) = table(&directory, &["t.csv"]);
    assert_eq!((status, errors.as_str()), (0, ""));
    assert!(shown.contains("| a |  | none | unknown |\n| b | 5 | 2 |  |\n"), "{shown}");
    assert!(shown.contains("none: no fences are enough.") && !shown.contains("a limit was reached"), "{shown}");
}
