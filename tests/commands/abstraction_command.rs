//! `--abstraction` of the main analysis, and `--instances`: what is said, and what is refused.

use crate::support::command::{run, seqcon, stderr, stdout};
use std::fs;
use tempfile::TempDir;

fn scratch() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn file(directory: &TempDir, name: &str, text: &str) -> String {
    let path = directory.path().join(name);
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

fn assert_refused(arguments: &[&str], message: &str) {
    let (status, _, errors) = run(arguments);
    assert!(status == 2 && errors.contains(message) && !errors.is_empty(), "{arguments:?}: {status} {errors}");
}

fn summary(arguments: &[&str]) -> String {
    let output = seqcon(&[&["-q", "analyse"], arguments].concat());
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", stderr(&output));
    stdout(&output)
}

#[test]
fn an_abstraction_is_told_and_its_fences_are_those_of_the_program() {
    for (spec, fences) in [("specs/peterson.slco", 2), ("specs/sb.slco", 2), ("specs/mp.slco", 0)] {
        for abstraction in ["environment", "pairs"] {
            let line = summary(&[spec, "--mm", "tso", "--abstraction", abstraction]);
            let expected = format!(" fences={fences} ");
            assert!(line.contains(&expected) && line.contains(" minimal=program complete=yes "), "{spec}: {line}");
            assert!(line.contains(&format!(" abstraction={abstraction}")), "{spec}: {line}");
        }
        assert!(!summary(&[spec, "--mm", "tso"]).contains("abstraction="), "{spec} is small, and explored");
    }
    let shown = stdout(&seqcon(&["analyse", "specs/peterson.slco", "--mm", "tso", "--abstraction", "environment"]));
    assert!(shown.contains("each thread alone among what others may write"), "{shown}");
    assert!(shown.contains("the program was not explored in full"), "{shown}");
}

#[test]
fn a_large_program_gets_its_minimum_without_its_state_space() {
    // Twelve threads: more than 10^7 states.
    let directory = scratch();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/specs/peterson.slco");
    let text = fs::read_to_string(path).unwrap();
    let objects: Vec<String> = (1..=6).map(|object| format!("m{object} : Mutex()")).collect();
    let large = text.replace("mutex : Mutex()", &objects.join(", "));
    assert_ne!(large, text);
    let path = file(&directory, "large.slco", &large);
    let line = summary(&[&path, "--mm", "tso"]);
    assert!(line.contains(" fences=12 ") && line.contains(" minimal=program complete=yes "), "{line}");
    assert!(line.contains(" abstraction=environment"), "{line}");
}

#[test]
fn what_an_abstraction_is_not_for_is_refused() {
    assert_refused(
        &["analyse", "specs/sb.slco", "--abstraction", "environment", "--profile", "published"],
        "--abstraction is for the corrected definitions",
    );
    assert_refused(&["analyse", "lts/sb.aut", "--abstraction", "environment"], "--abstraction");
}

#[test]
fn instances_are_a_table_with_where_the_places_stop_changing() {
    let directory = scratch();
    let [csv, html] = ["t.csv", "t.html"].map(|name| directory.path().join(name));
    let arguments = ["analyse", "specs/test-and-set.txt", "--instances", "1..4", "--mm", "pso"];
    let files = ["--csv", csv.to_str().unwrap(), "--html", html.to_str().unwrap()];
    let output = seqcon(&[&arguments[..], &files].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).contains("the same places from 2 instances on; looked at up to 4"), "{}", stdout(&output));
    let mut reader = csv::Reader::from_path(&csv).unwrap();
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let mut column = |name: &str| reader.headers().unwrap().iter().position(|header| header == name).unwrap();
    let (fences, settled) = (column("fences"), column("settled_from"));
    let found: Vec<(&str, &str)> = rows.iter().map(|row| (&row[fences], &row[settled])).collect();
    assert_eq!(found, [("0", "2"), ("2", "2"), ("3", "2"), ("4", "2")]);
    let page = fs::read_to_string(html).unwrap();
    assert!(page.contains("<svg") && page.contains("<polyline") && page.contains("stroke-dasharray"), "{page}");
}

#[test]
fn instances_that_make_no_sense_are_refused() {
    let with = |range: &'static str| ["analyse", "specs/test-and-set.txt", "--instances", range];
    for wrong in ["", "3", "3..2", "0..2", "2..1000", "a..b", "2...3", "..", "-1..2"] {
        assert_refused(&with(wrong), "");
    }
    assert_refused(&["analyse", "specs/dekker-automata.txt", "--instances", "2..3"], "no thread has a number");
    assert_refused(&["analyse", "lts/sb.aut", "--instances", "2..3"], "");
    assert_refused(&["analyse", "specs/sb.slco", "specs/mp.slco", "--instances", "2..3"], "for one specification");
    assert_refused(
        &["analyse", "specs/test-and-set.txt", "--instances", "2..3", "--json", "-"],
        "--json is about one program",
    );
    let directory = scratch();
    let text = "model m { classes C { variables Integer x state machines t { initial a states b transitions a -> b { x := 1 } } }
        D { state machines u { initial a states b transitions a -> b { } } } objects c : C(), d : D() }";
    let path = file(&directory, "two.slco", text);
    let output = seqcon(&["analyse", &path, "--instances", "1..2"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("not written as the first one is"), "{}", stderr(&output));
}

/// Names from a text are text on the page.
#[test]
fn names_on_the_page_are_no_markup() {
    let directory = scratch();
    let text = "thread <b>&\"x 2\n  initial a\n  transition a b write 1 0\n  transition b c read r 1\nend\nthread <i> 1\n  initial a\n  transition a b write 1 1\n  transition b c read r 0\nend\n";
    let path = file(&directory, "<u>.txt", text);
    let html = directory.path().join("page.html");
    let output = seqcon(&["analyse", &path, "--instances", "1..2", "--mm", "tso", "--html", html.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let page = fs::read_to_string(html).unwrap();
    assert!(!page.contains("<b>") && !page.contains("<i>") && !page.contains("<u>"), "{page}");
}

/// A condition that leads back and assigns a local that nobody reads has an effect exactly if the local changes.
#[test]
fn a_dead_local_still_tells_whether_a_step_has_had_an_effect() {
    let directory = scratch();
    for (before, after, fences) in [(5, 0, 1), (5, 1, 1), (1, 1, 0), (0, 0, 0)] {
        let text = format!(
            "model dead {{ classes C {{ variables Integer x y z state machines
             T0 {{ variables Integer r initial s0 states s1 s2 transitions s0 -> s1 {{ x := 1 }} s1 -> s2 {{ r := y }} }}
             T1 {{ variables Integer l := {before} Integer s initial a states c d transitions
                  a -> c {{ l := {before} }} c -> c {{ [z = 1; l := {after}] }} c -> d {{ s := x }} }}
             T2 {{ initial s0 states s1 s2 s3 transitions s0 -> s1 {{ y := 1 }} s1 -> s2 {{ fence }} s2 -> s3 {{ z := 1 }} }}
             }} objects o : C() }}"
        );
        let path = file(&directory, "dead.slco", &text);
        for abstraction in ["none", "environment", "pairs"] {
            let line = summary(&[&path, "--mm", "tso", "--abstraction", abstraction]);
            let expected = format!(" fences={fences} ");
            assert!(line.contains(&expected) && line.contains(" minimal=program "), "{before} {after}: {line}");
        }
    }
}

#[test]
fn what_is_refuted_does_not_count_for_the_event_graph() {
    let directory = scratch();
    let counting: String = (0..3)
        .map(|thread| {
            let address = 4 + thread;
            format!("thread c{thread}\n initial a\n transition a b read r {address}\n transition b a write + r 1 {address}\nend\n")
        })
        .collect();
    // The delay of t0 is one of the event graph that no thread can make alone; that of t3 is one of the abstraction.
    let text = format!(
        "memory_size 10\nthread t0\n initial a\n transition a b write 1 0\n transition b c read r 2\n transition c d check == r 1\n transition d e read r 2\n transition e f check == r 0\n transition f g read r 1\nend\n\
         thread t1\n initial a\n transition a b write 1 1\n transition b c mfence\n transition c d read r 0\nend\n\
         thread t2\n initial a\n transition a b write 1 2\n transition b c write 1 3\n transition c d write 0 3\nend\n\
         thread t3\n initial a\n transition a b read r 3\n transition b c check == r 1\n transition c d read r 3\n transition d e check == r 0\n transition e f read r 3\n transition f g check == r 1\n transition g h write 1 7\n transition h i read r 8\nend\n\
         thread t4\n initial a\n transition a b write 1 8\n transition b c mfence\n transition c d read r 7\nend\n{counting}"
    );
    let path = file(&directory, "refuted.txt", &text);
    let line = summary(&[&path, "--mm", "tso", "--abstraction", "environment"]);
    assert!(!line.contains(" fences=1 ") || !line.contains(" minimal=event-graph "), "{line}");
}

#[test]
fn options_that_an_abstraction_cannot_follow_are_refused() {
    let environment = ["analyse", "specs/sb.slco", "--mm", "tso", "--abstraction", "environment"];
    assert_refused(&[&environment[..], &["--confirm"]].concat(), "use --abstraction none");
    assert_refused(&[&environment[..], &["--strict"]].concat(), "--strict is about every index");
    let (status, shown, _) = run(&[&environment[..], &["-q", "--max-states", "1"]].concat());
    assert!(status == 3 && shown.contains("complete=no"), "{status} {shown}");
}
