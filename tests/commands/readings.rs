//! How instructions with several accesses are read (method §8): what each reading answers, and what it rests on.

use crate::support::command::run;
use crate::support::random::random_cases;
use crate::support::random_slco::{Shape, random_specification};
use crate::support::trust::{analysis, analysis_for, outcome, program, whole_facts};
use seqcon::aeg::Profile;
use seqcon::analysis::Analysis;
use seqcon::confirm::Limits;
use seqcon::cycles::Atomicity;
use seqcon::facts::Facts;
use seqcon::ids::LabelId;
use seqcon::lts::label::{Label, Step};
use seqcon::program::{Expression, InstructionKind, Program, Reference, Scope};
use seqcon::weak::facts::facts;
use seqcon::weak::split::SplitProgram;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const LIMITS: Limits = Limits { states: 20_000, buffer: 4 };

const SHAPE: Shape =
    Shape { most_threads: 3, most_instructions: 3, loops: true, composites: true, waits: true, fences: true };

/// Store buffering of a plain thread and one whose instruction does both.
const HALF: &str = "model half { classes G { variables Integer x Integer y state machines
    T0 { variables Integer r initial A states B C transitions A -> B { x := 1 } B -> C { r := y } }
    T1 { variables Integer s initial A states B transitions A -> B { [y := 1; s := x] } } } objects g : G() }";

/// Exit status, and standard output in one line: long sentences are broken anywhere.
fn in_one_line(arguments: &[&str]) -> (i32, String) {
    let (status, output, _) = run(arguments);
    (status, output.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn written(name: &str, text: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, text).unwrap();
    path
}

#[test]
fn whatever_makes_an_instruction_atomic_the_other_thread_needs_a_fence() {
    let path = written("half.slco", HALF);
    let path = path.to_str().unwrap();
    let (status, out) = in_one_line(&["analyse", path, "--mm", "tso", "--check"]);
    assert!(status == 1 && out.contains("1 fence, 1 lock"), "{out}");
    assert!(out.contains("(--atomicity full)") && out.contains("split: 0 fences; presumed: 1 fence"), "{out}");
    let (status, out) = in_one_line(&["analyse", path, "--mm", "tso", "--check", "--atomicity", "presumed"]);
    assert!(status == 1 && out.contains("tso (Total Store Order: x86, SPARC TSO): 1 fence F0"), "{out}");
    // Independent accesses of T1 have no order, so T1 may read x first.
    let (status, out) = in_one_line(&["analyse", path, "--mm", "tso", "--check", "--atomicity", "split"]);
    assert!(status == 0 && out.contains("no fence and no lock is needed"), "{out}");
    // What a program is judged by is the same reading.
    for (reading, as_is) in [("full", 1), ("presumed", 1), ("split", 0)] {
        let (status, out) = in_one_line(&["verify", path, "--as-is", "--atomicity", reading]);
        assert_eq!(status, as_is, "{reading}: {out}");
        let (status, out) = in_one_line(&["verify", path, "--atomicity", reading]);
        assert!(status == 0 && out.contains(&format!("(--atomicity {reading})")), "{reading}: {out}");
    }
}

#[test]
fn what_an_interrupted_instruction_leads_to_counts() {
    // Only if T0's condition is read before T1's write and its index after it, a[1] is written, and T0 is store
    // buffering with T2.
    let text = "model torn { classes G { variables Integer x Integer[2] a Integer y state machines
        T0 { variables Integer r initial A states B C transitions A -> B { [x = 0; a[x] := 1] } B -> C { r := y } }
        T1 { initial A states B transitions A -> B { x := 1 } }
        T2 { variables Integer s initial A states B C transitions A -> B { y := 1 } B -> C { s := a[1] } } }
        objects g : G() }";
    let program = program(text);
    let whole = analysis(&program, Profile::Sound);
    assert!(outcome(&whole, "tso", Atomicity::Split).fences.is_empty(), "whole instructions do not show it");
    let split = analysis_for(&program, Atomicity::Split, LIMITS);
    assert_eq!(outcome(&split, "tso", Atomicity::Split).fences.len(), 2);
    // A state space of whole instructions cannot tell: the answer is one for a part.
    let space = Path::new(env!("CARGO_TARGET_TMPDIR")).join("torn.aut");
    let (spec, space) = (written("torn.slco", text), space.to_str().unwrap());
    assert_eq!(in_one_line(&["explore", spec.to_str().unwrap(), "-o", space]).0, 0);
    let (status, out) = in_one_line(&["analyse", space, "--mm", "tso", "--atomicity", "split"]);
    assert!(status == 3 && out.contains("complete=no") && out.contains("can be interrupted"), "{out}");
    let (status, out) = in_one_line(&["analyse", spec.to_str().unwrap(), "--mm", "tso", "--atomicity", "split"]);
    assert!(status == 0 && out.contains(" fences=2 ") && out.contains("complete=yes"), "{out}");
}

/// How often an expression mentions a shared variable.
fn mentions(expression: &Expression) -> usize {
    match expression {
        Expression::Constant(_) => 0,
        Expression::Read(reference) => usize::from(reference.scope == Scope::Shared) + index_mentions(reference),
        Expression::Unary(_, operand) => mentions(operand),
        Expression::Binary(_, left, right, _) => mentions(left) + mentions(right),
    }
}

fn index_mentions(reference: &Reference) -> usize {
    reference.index.as_deref().map_or(0, mentions)
}

/// The program with `atomic` before every instruction that mentions shared variables more than once.
fn with_atomic_instructions(program: &Program) -> Program {
    let mut atomic = program.clone();
    for (thread, changed) in program.threads.iter().zip(&mut atomic.threads) {
        for (own, changed) in thread.instructions.iter().zip(&mut changed.instructions) {
            // What an instruction outranks is part of its condition.
            let ranked = thread.instructions.iter().filter(|o| o.from == own.from && o.priority < own.priority);
            let conditions = ranked.chain([own]).filter_map(|one| one.condition.as_ref()).map(mentions);
            let assignments = own.assignments.iter().map(|assignment| {
                let target = &assignment.target;
                mentions(&assignment.value) + usize::from(target.scope == Scope::Shared) + index_mentions(target)
            });
            if own.kind == InstructionKind::Plain && conditions.chain(assignments).sum::<usize>() > 1 {
                changed.kind = InstructionKind::Atomic;
            }
        }
    }
    atomic
}

#[test]
fn presumed_is_the_answer_for_the_program_with_atomic_instructions() {
    let with_fences = Cell::new(0);
    random_cases(500, |rng| {
        let text = random_specification(rng, &SHAPE);
        let program = program(&text);
        let presumed = analysis_for(&program, Atomicity::Presumed, LIMITS);
        let atomic = analysis(&with_atomic_instructions(&program), Profile::Sound);
        for model in ["tso", "pso", "armv7"] {
            let presumed = outcome(&presumed, model, Atomicity::Presumed);
            let atomic = outcome(&atomic, model, Atomicity::Full);
            let pairs = |delays: &[seqcon::cycles::Delay]| -> Vec<_> {
                delays.iter().map(|delay| (delay.from, delay.to, delay.is_unsafe, delay.cumulative)).collect()
            };
            assert_eq!(pairs(&presumed.findings.delays), pairs(&atomic.findings.delays), "{model}\n{text}");
            assert!(presumed.locks.is_empty() && atomic.locks.is_empty(), "{model}\n{text}");
            assert_eq!(presumed.fences.len(), atomic.fences.len(), "{model}\n{text}");
            with_fences.set(with_fences.get() + u32::from(!presumed.fences.is_empty()));
        }
    });
    assert!(with_fences.get() > 0, "no program needed a fence: this test shows nothing");
}

/// The labels and their pairs in words, without refused evaluations that make no access: they are not performed
/// access by access, and nothing depends on them.
fn in_words(facts: &Facts) -> (BTreeSet<String>, BTreeSet<String>, BTreeSet<String>) {
    let has_access = |label: &Label| {
        label.steps.iter().any(|step| {
            let (writes, reads) = match step {
                Step::Condition { reads } => (&[][..], reads),
                Step::Assignment { writes, reads } => (&writes[..], reads),
            };
            writes.iter().chain(reads).any(|access| !access.local || !access.address.is_empty())
        })
    };
    let label = |id: LabelId| {
        let label = &facts.labels[id.index()];
        (!label.refused || has_access(label)).then(|| label.to_string())
    };
    let labels = (0..facts.labels.len()).filter_map(|id| label(LabelId::new(id)));
    let follows = facts.follows.iter();
    let follows = follows.filter_map(|pair| Some(format!("{} then {}", label(pair.from)?, label(pair.to)?)));
    let concurrent = facts.concurrent.iter().filter_map(|&(a, b)| Some(format!("{} with {}", label(a)?, label(b)?)));
    (labels.collect(), follows.collect(), concurrent.collect())
}

#[test]
fn the_facts_of_single_accesses_include_those_of_whole_instructions() {
    let equal = Cell::new(0);
    random_cases(500, |rng| {
        let composites = rand::Rng::random_bool(rng, 0.5);
        let text = random_specification(rng, &Shape { composites, ..SHAPE });
        let program = program(&text);
        let split = facts(&program, &SplitProgram::new(&program).unwrap(), LIMITS.states);
        if split.cut_off {
            return;
        }
        let ((labels, follows, concurrent), whole) = (in_words(&split), in_words(&whole_facts(&program)));
        for (found, expected) in [(&labels, &whole.0), (&follows, &whole.1), (&concurrent, &whole.2)] {
            let missing: Vec<&String> = expected.difference(found).collect();
            assert!(missing.is_empty(), "{missing:?}\n{text}");
        }
        if SplitProgram::new(&program).unwrap().composites().is_empty() {
            let more: Vec<&String> = labels.difference(&whole.0).collect();
            assert!(more.is_empty(), "{more:?} are made up\n{text}");
            equal.set(equal.get() + 1);
        }
    });
    assert!(equal.get() > 0, "all programs had composite instructions");
}

#[test]
fn an_atomic_instruction_that_stands_in_for_a_fence_is_named() {
    let path = written(
        "stands-in.slco",
        "model s { classes G { variables Integer x Integer y Integer z state machines
        T0 { variables Integer r initial A states B C D transitions A -> B { x := 1 } B -> C { atomic [z := z + 1] } C -> D { r := y } }
        T1 { variables Integer r initial A states B C transitions A -> B { y := 1; fence } B -> C { r := x } } } objects g : G() }",
    );
    let (_, out) = in_one_line(&["analyse", path.to_str().unwrap(), "--mm", "tso"]);
    assert!(out.contains("T0.1 is atomic, and taken for a full fence as on every memory model"), "{out}");
    let (_, out) = in_one_line(&["analyse", path.to_str().unwrap(), "--mm", "sc"]);
    assert!(!out.contains("is atomic, and taken for"), "{out}");
}

/// A model of two threads over integers, analysed under TSO.
fn said_of(name: &str, variables: &str, first: &str, second: &str) -> String {
    let thread = |name: &str, steps: &str| {
        let states: Vec<String> = (1..=steps.matches("->").count()).map(|state| format!("S{state}")).collect();
        let states = states.join(" ");
        format!("{name} {{ variables Integer r initial S0 states {states} transitions {steps} }}")
    };
    let (first, second) = (thread("T0", first), thread("T1", second));
    let text =
        format!("model m {{ classes G {{ variables {variables} state machines {first} {second} }} objects g : G() }}");
    in_one_line(&["analyse", written(name, &text).to_str().unwrap(), "--mm", "tso"]).1
}

#[test]
fn atomic_instructions_elsewhere_are_not_named() {
    // Only the one between the write and the read does the work of a fence.
    let out = said_of(
        "elsewhere.slco",
        "Integer x Integer y Integer z Integer w",
        "S0 -> S1 { atomic [z := z + 1] } S1 -> S2 { x := 1 } S2 -> S3 { atomic [w := w + 1] } S3 -> S4 { r := y }",
        "S0 -> S1 { y := 1; fence } S1 -> S2 { r := x }",
    );
    assert!(out.contains("T0.2 is atomic, and taken for a full fence"), "{out}");
    // Here the lock does, and the atomic instruction stands behind all of it.
    let out = said_of(
        "locked.slco",
        "Integer x Integer y Integer z Integer u",
        "S0 -> S1 { x := 1 } S1 -> S2 { u := u + 1 } S2 -> S3 { r := y } S3 -> S4 { atomic [z := z + 1] }",
        "S0 -> S1 { y := 1; fence } S1 -> S2 { r := x } S2 -> S3 { u := 5 }",
    );
    assert!(out.contains("T0.1 (u := u + 1), line 1 is torn") && !out.contains("taken for a full fence"), "{out}");
}

#[test]
fn what_goes_wrong_only_when_it_is_interrupted_leaves_the_answer_incomplete() {
    let text = "model wrong { classes G { variables Integer x := 1 Integer y state machines
        T0 { initial A states B transitions A -> B { [x = 1; y := 10 / x] } }
        T1 { initial A states B transitions A -> B { x := 0 } } } objects g : G() }";
    let path = written("wrong.slco", text);
    let (status, out) = in_one_line(&["analyse", path.to_str().unwrap(), "--mm", "tso", "--atomicity", "split"]);
    assert!(status == 3 && out.contains("complete=no"), "{out}");
    let (status, out) = in_one_line(&["analyse", path.to_str().unwrap(), "--mm", "tso"]);
    assert!(status == 0 && out.contains("1 lock") && out.contains("complete=yes"), "{out}");
}

#[test]
fn the_published_profile_keeps_the_papers_reading() {
    let (_, out) = in_one_line(&["analyse", "lts/counter.aut", "--mm", "tso", "--profile", "published"]);
    assert!(out.contains("no fence and no lock is needed") && out.contains("as in the paper"), "{out}");
    let whole: Analysis = analysis(&program(HALF), Profile::Published);
    let split = seqcon::readings::analysis(whole.clone(), Atomicity::Split, None).unwrap();
    assert!(!split.cut_off && split.interrupted.is_empty());
}
