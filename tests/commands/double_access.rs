//! An instruction that accesses a location twice makes two accesses: the analysis locks it, the machines and the
//! axioms show the run, and labels say so.

use crate::support::command::run;
use crate::support::random::random_cases;
use crate::support::random_slco::{Shape, random_specification};
use crate::support::trust::{analysis, program};
use seqcon::aeg::{Event, Profile};
use seqcon::lts::dialect::native;
use seqcon::lts::label::LabelKind;
use seqcon::memory::Kind;
use seqcon::weak::split::{Operation, SplitProgram, SplitStep};
use std::cell::Cell;
use std::path::Path;

/// Two threads of one instruction each.
fn two_threads(first: &str, second: &str) -> String {
    format!(
        "model double {{ classes G {{ variables Integer x Integer z state machines
            T0 {{ variables Integer r initial A states B transitions A -> B {{ {first} }} }}
            T1 {{ variables Integer r initial A states B transitions A -> B {{ {second} }} }} }} objects g : G() }}"
    )
}

/// A file of a test's own.
fn file(name: &str, text: &str) -> String {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

/// The program that is shown to be torn, and the reads and writes of T0's instruction in the run.
const TORN: [(&str, &str, &str, &str); 5] = [
    ("condition", "[x = 0; z := x]", "x := 1", "R x = 1"),
    ("written_twice", "[x := 1; x := 2]", "r := x", "W x = 2"),
    ("overwritten", "[x := 1; x := 2]", "x := 3", "W x = 2"),
    ("written_and_read", "[x := 1; z := x]", "x := 2", "R x = 2"),
    ("sum", "x := x + x", "x := 1", "R x = 1"),
];

#[test]
fn an_instruction_that_accesses_a_location_twice_is_locked() {
    for (name, first, second, _) in TORN {
        let path = file(&format!("locked_{name}.slco"), &two_threads(first, second));
        for model in ["tso", "armv7"] {
            let (status, out, _) = run(&["analyse", &path, "--mm", model, "--atomicity=full"]);
            assert!(status == 0 && out.contains("T0.0") && out.contains("is torn"), "{first} {model}: {out}");
            assert!(out.contains("fences=0"), "{first} {model}: {out}");
        }
        let (status, out, _) = run(&["verify", &path, "--mm", "tso"]);
        assert_eq!(status, 0, "with the lock {first} is right: {out}");
    }
}

#[test]
fn the_run_in_which_another_comes_between_two_accesses_is_shown() {
    for (name, first, second, last) in TORN {
        let path = file(&format!("run_{name}.slco"), &two_threads(first, second));
        for model in ["tso", "armv7"] {
            let (status, out, _) = run(&["verify", &path, "--mm", model, "--as-is"]);
            assert_eq!(status, 1, "{first} {model}: {out}");
            assert!(out.contains("violated") && out.contains(last), "{first} {model}: {out}");
        }
    }
}

#[test]
fn an_instruction_that_accesses_each_location_once_is_not_locked() {
    for (name, first, second) in [("one_read", "r := x", "x := 1"), ("not_read_back", "z := x", "x := 1")] {
        let path = file(&format!("once_{name}.slco"), &two_threads(first, second));
        for model in ["tso", "armv7"] {
            let (status, out, _) = run(&["analyse", &path, "--mm", model, "--atomicity=full", "--check"]);
            assert_eq!(status, 0, "{first} {model}: {out}");
        }
    }
}

#[test]
fn labels_list_every_mention() {
    let text = two_threads("[x = 0; x := x + x; z := x]", "x := 1");
    let path = file("labels.slco", &text);
    let (status, out, _) = run(&["explore", &path, "-o", "-"]);
    assert_eq!(status, 0, "{out}");
    let expected = "T0.0: ? x; x := x, x; z := x";
    assert!(out.contains(expected), "{out}");
    assert_eq!(native::parse(expected).unwrap().to_string(), expected, "the native dialect reads it back");
}

#[test]
fn the_published_profile_keeps_one_access_for_all_mentions() {
    let path = file("published.slco", &two_threads("[x = 0; r := x]", "x := 1"));
    let locked = |profile: &str| {
        let (_, out, _) = run(&["analyse", &path, "--mm", "tso", "--atomicity=full", "--profile", profile]);
        out.contains("is torn")
    };
    assert!(locked("sound") && !locked("published"));
}

#[test]
fn a_fence_inside_stands_where_the_analysis_has_it_if_indices_are_out_of_range() {
    // Two accesses of T0 that are not made: what comes behind them is two levels lower than it would be.
    let text = "model out { classes G { variables Integer x := 5 Integer y := 1 Integer z Integer[2] v Integer[2] w state machines
        T0 { variables Integer r initial A states B transitions A -> B { [z := v[x]; y := v[z + 5]; r := w[y]] } }
        T1 { variables Integer s initial A states B C transitions A -> B { w[0] := 1; fence } B -> C { s := y } } } objects g : G() }";
    let path = file("out_of_range.slco", text);
    let (status, out, _) = run(&["verify", &path, "--mm", "tso", "--atomicity=off"]);
    assert!(status == 0 && out.contains("1 fence"), "{out}");
    let (status, out, _) = run(&["verify", &path, "--mm", "tso", "--atomicity=off", "--as-is"]);
    assert_eq!(status, 1, "{out}");
}

/// Kind, variable and level of every access, sorted.
type Levels = Vec<(Kind, String, u32)>;

fn variable(location: &str) -> String {
    location.split('[').next().unwrap().to_owned()
}

fn levels_of_step(split: &SplitProgram, step: &SplitStep) -> Levels {
    let accesses = step.operations.iter().zip(step.levels(|_| true)).filter_map(|(operation, level)| {
        let (kind, cell) = match operation {
            Operation::Read(cell, _) => (Kind::Read, cell),
            Operation::Write(cell, _) => (Kind::Write, cell),
            _ => return None,
        };
        Some((kind, variable(&split.locations[cell.base.index()]), level))
    });
    let mut levels: Levels = accesses.collect();
    levels.sort();
    levels
}

#[test]
fn a_fence_inside_an_instruction_stands_at_one_place_for_the_analysis_and_the_machines() {
    let shape =
        Shape { most_threads: 3, most_instructions: 3, loops: true, composites: true, waits: true, fences: true };
    let (compared, high) = (Cell::new(0), Cell::new(0));
    random_cases(1000, |rng| {
        let text = random_specification(rng, &shape);
        let program = program(&text);
        let analysis = analysis(&program, Profile::Sound);
        let graph = &analysis.graph;
        let split = SplitProgram::new(&program).unwrap();
        for (label, evaluation) in analysis.labels.iter().zip(&graph.evaluations) {
            let thread = program.threads.iter().position(|thread| thread.name == label.thread).unwrap();
            let own = &program.threads[thread].instructions;
            let number = own.iter().position(|instruction| instruction.name == label.instr).unwrap();
            let mut steps = split.threads[thread].steps.iter().flatten();
            let step = steps.find(|step| step.instruction.index() == number).unwrap();
            let expected = levels_of_step(&split, step);
            // Of a refused evaluation there is only the condition, and an element out of range is missing.
            if label.kind != LabelKind::Plain || evaluation.events.len() != expected.len() {
                continue;
            }
            let of_event = |event: &Event| {
                let vertex = graph.vertex(event.vertex);
                (vertex.kind, variable(&graph.locations[vertex.location.index()]), event.level)
            };
            let mut found: Levels = evaluation.events.iter().map(of_event).collect();
            found.sort();
            assert_eq!(found, expected, "{label} in\n{text}");
            compared.set(compared.get() + 1);
            high.set(high.get() + u32::from(evaluation.last_level() > 1));
        }
    });
    println!("{} labels compared, {} with more than two levels", compared.get(), high.get());
    assert!(high.get() > 0, "no instruction had a place for two fences: this test shows nothing");
}
