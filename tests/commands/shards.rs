//! `--shards`, the phases, `reduce` and `labels`, as a user runs them.

use crate::support::command::{run, stdout, text};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

/// Peterson's algorithm in three parts, and with them a directory.
fn parts() -> TempDir {
    let directory = TempDir::new().unwrap();
    let text = include_str!("../../lts/peterson.aut");
    let (header, transitions) = text.split_once('\n').unwrap();
    for part in 0..3 {
        let lines = transitions.lines().enumerate().filter(|(number, _)| number % 3 == part);
        let text = lines.fold(format!("{header}\n"), |text, (_, line)| text + line + "\n");
        fs::write(directory.path().join(format!("{part}.aut")), text).unwrap();
    }
    fs::write(directory.path().join("whole.aut"), text).unwrap();
    directory
}

fn seqcon(directory: &Path, command: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_seqcon")).args(command.split(' ')).current_dir(directory).output().unwrap()
}

fn succeeds(directory: &Path, command: &str) -> String {
    let output = seqcon(directory, command);
    assert!(output.status.success(), "{command}: {}", text(&output.stderr));
    stdout(&output)
}

/// The one line that a wrong command gets.
fn refusal(directory: &Path, command: &str) -> String {
    let output = seqcon(directory, command);
    let message = text(&output.stderr);
    assert_eq!((output.status.code(), message.lines().count()), (Some(2), 1), "{command}: {message}");
    message
}

/// The lines without times and names.
fn fences(answer: &str) -> String {
    let is_kept = |word: &&str| !word.contains("seconds=") && !word.starts_with("model=");
    answer.split_whitespace().filter(is_kept).collect::<Vec<_>>().join(" ")
}

#[test]
fn shards_together_give_the_answer_of_the_whole() {
    let parts = parts();
    let whole = succeeds(parts.path(), "-q analyse whole.aut --mm tso,armv7");
    let shards = succeeds(parts.path(), "-q analyse --shards 2.aut 0.aut 1.aut --mm tso,armv7");
    assert!(shards.starts_with("model=2 "), "{shards}");
    assert_eq!(fences(&shards), fences(&whole));
    assert_eq!(succeeds(parts.path(), "facts --shards 0.aut 1.aut 2.aut"), succeeds(parts.path(), "facts whole.aut"));
    let info = succeeds(parts.path(), "info --shards 0.aut 1.aut 2.aut");
    assert!(info.contains("states       26\n") && info.contains("transitions  52\n"), "{info}");
    let matrix = |command: &str| succeeds(parts.path(), command);
    assert_eq!(matrix("matrix --shards 0.aut 1.aut 2.aut"), matrix("matrix whole.aut"));
    let message = refusal(parts.path(), "analyse --shards --merge 0.aut 1.aut 2.aut");
    assert!(message.contains("leave out one of them"), "{message}");
    assert!(refusal(parts.path(), "facts --shards 0.aut 1.aut").contains("0.aut:1:8: expected 35 transitions"));
    assert!(refusal(parts.path(), "analyse 0.aut").contains("--shards takes all of them together"));
}

#[test]
fn phases_write_whole_files_or_nothing_and_say_what_is_missing() {
    let parts = parts();
    let whole = succeeds(parts.path(), "facts whole.aut");
    for part in 0..3 {
        assert_eq!(succeeds(parts.path(), &format!("facts --phase sets {part}.aut -o {part}.sets")), "");
    }
    let message = refusal(parts.path(), "facts --phase steps 0.aut --sets 0.sets 1.sets -o 0.steps");
    assert!(message.contains("0.sets:1:1: expected 52 transitions in all shards together"), "{message}");
    assert!(!parts.path().join("0.steps").exists());
    for part in 0..3 {
        succeeds(parts.path(), &format!("facts --phase steps {part}.aut --sets 0.sets 1.sets 2.sets -o {part}.steps"));
    }
    assert_eq!(succeeds(parts.path(), "facts merge 0.steps 1.steps 2.steps"), whole);
    assert_eq!(succeeds(parts.path(), "facts --shards 0.steps 1.steps 2.steps"), whole);
    let message = refusal(parts.path(), "facts merge 0.steps 1.steps");
    assert!(message.contains("found none for 1 of 3: 2.aut; give them all"), "{message}");
    // One table is not the whole, wherever it is given.
    assert!(refusal(parts.path(), "analyse 0.steps").contains("none for 2 of 3: 1.aut, 2.aut"));
    // Every run writes the same bytes.
    succeeds(parts.path(), "facts --phase steps 1.aut --sets 2.sets 0.sets 1.sets -o again.steps --threads 1");
    let read = |name: &str| fs::read(parts.path().join(name)).unwrap();
    assert_eq!(read("again.steps"), read("1.steps"));
    for (command, expected) in [
        ("facts --phase steps 0.aut -o 0.steps", "--sets FILES"),
        ("facts --phase sets 0.aut 1.aut -o 0.sets", "for one shard"),
        ("facts --phase sets 0.aut --sets 1.sets -o 0.sets", "--phase sets makes them"),
        ("facts --phase steps 0.aut --sets 0.sets 1.sets 2.aut -o 0.steps", "2.aut:1:1: expected `seqcon-sets 1`"),
    ] {
        let message = refusal(parts.path(), command);
        assert!(message.contains(expected), "{command}: {message}");
    }
}

/// A table as an engine writes it that does not search.
const TABLE: &str = "what,text,before,label,after,is_loop,count
label,T0.0: x :=,,0,,,
label,T1.0: ? x,,1,,,
step,,0 1,0,1,0,1
step,,0 1,1,0 1,1,1
step,,1,1,\"\",0,1
initial,,0 1,,,,
states,,,,,,3
transitions,,,,,,3
reached,states are not numbered in an order of discovery,,,,,
";

#[test]
fn what_a_table_does_not_tell_is_said_and_not_taken_for_granted() {
    let parts = parts();
    fs::write(parts.path().join("unknown.csv"), TABLE).unwrap();
    let message = refusal(parts.path(), "analyse unknown.csv --mm tso");
    assert!(message.contains("unknown.csv: whether the initial state leads to every state is not known"), "{message}");
    let part = seqcon(parts.path(), "facts unknown.csv --lenient -o part.facts");
    assert_eq!(part.status.code(), Some(3));
    let vouched = seqcon(parts.path(), "facts unknown.csv --whole");
    assert!(vouched.status.success());
    assert!(text(&vouched.stderr).contains("taken to be a whole state space, as --whole says"));
    fs::write(parts.path().join("known.csv"), TABLE.replace("discovery,,,,,", "discovery,,,,,3")).unwrap();
    assert_eq!(succeeds(parts.path(), "facts known.csv"), stdout(&vouched));
    fs::write(parts.path().join("short.csv"), TABLE.replace("step,,1,1,\"\",0,1\n", "")).unwrap();
    let message = refusal(parts.path(), "facts short.csv");
    assert!(message.contains("short.csv:1:1: expected steps with 3 transitions together"), "{message}");
    fs::write(parts.path().join("odd.csv"), TABLE.replace("label,T1.0: ? x,,1", "label,T1.0: ? x,,7")).unwrap();
    let message = refusal(parts.path(), "facts odd.csv");
    assert!(message.contains("odd.csv:4:1: expected the number of a label that the table has"), "{message}");
}

#[test]
fn reduce_writes_the_smallest_state_space_with_the_same_facts() {
    let parts = parts();
    succeeds(parts.path(), "reduce whole.aut -o small.aut");
    let small = fs::read_to_string(parts.path().join("small.aut")).unwrap();
    assert!(small.starts_with("des (0,44,22)\n"), "{small}");
    assert_eq!(succeeds(parts.path(), "reduce small.aut"), small);
    assert_eq!(succeeds(parts.path(), "reduce --shards 0.aut 1.aut 2.aut"), small);
    let answer = |file: &str| {
        let answer = succeeds(parts.path(), &format!("-q analyse {file} --mm tso,power"));
        fences(&answer).split(' ').filter(|word| !word.starts_with("states=")).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(answer("small.aut"), answer("whole.aut"));
    assert!(refusal(parts.path(), "reduce small.aut whole.aut").contains("--shards"));
    let part = "des (0,2,4)\n(0,\"T0.0: x :=\",1)\n(2,\"T0.1: y :=\",3)\n";
    fs::write(parts.path().join("part.aut"), part).unwrap();
    assert!(refusal(parts.path(), "reduce part.aut").contains("nothing leads from the initial state 0 to state 2"));
    let output = seqcon(parts.path(), "reduce part.aut --lenient");
    assert_eq!(output.status.code(), Some(3));
    assert!(stdout(&output).starts_with("des (?,?,?)\n"));
}

#[test]
fn labels_are_listed_with_what_queries_need_of_them() {
    let (status, out, errors) =
        run(&["labels", "docs/howto/examples/cadp-sb.aut", "--dialect", "docs/howto/examples/cadp.toml"]);
    assert_eq!((status, errors.as_str()), (0, ""));
    let expected = "text,id,thread,kind,meaning\nACCESS !T0 !0 !WRITE !x,0,T0,step,T0.0: x :=\n";
    assert!(out.starts_with(expected), "{out}");
    let parts = parts();
    fs::write(parts.path().join("list.txt"), "tau\nT0.0: ? x\n\"T0.0:?x\"\nT1.0: y := x, z\n").unwrap();
    let expected = "text,id,thread,kind,meaning\nT0.0: ? x,1,T0,condition,T0.0: ? x\nT0.0:?x,1,T0,condition,T0.0: ? x\n\
                    \"T1.0: y := x, z\",2,T1,step,\"T1.0: y := x, z\"\ntau,0,,internal,tau\n";
    assert_eq!(succeeds(parts.path(), "labels --list list.txt"), expected);
    fs::write(parts.path().join("bad.txt"), "T0.0: ? x\nT0.0: ?? x\n").unwrap();
    assert!(refusal(parts.path(), "labels --list bad.txt").starts_with("seqcon: bad.txt:2:8: expected"));
    let queries = succeeds(parts.path(), "facts --sql duckdb");
    assert!(queries.contains("TO 'steps.csv' (FORMAT csv, HEADER);"), "{queries}");
}
