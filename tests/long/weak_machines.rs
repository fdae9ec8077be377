//! The searches that decide robustness, against all runs on store buffers with their happens-before relation.

use crate::support::random::{cases, is_long_run, random_cases};
use crate::support::random_slco::{Shape, random_specification};
use seqcon::lang;
use seqcon::weak::attack::Attack;
use seqcon::weak::runs::{RunsVerdict, examine};
use seqcon::weak::split::SplitProgram;
use seqcon::weak::torn::torn;
use seqcon::weak::visited::LimitReached;
use seqcon::weak::{Granularity, Machine};
use std::cell::Cell;

/// Programs with more states are skipped and counted. Most of the time goes to those: only a long run tries the larger
/// ones.
fn limit() -> usize {
    if is_long_run() { 60_000 } else { 15_000 }
}

const BOUND: usize = 6;

fn split(text: &str) -> SplitProgram {
    let parsed = lang::parse("random.slco", text).unwrap_or_else(|errors| panic!("{errors}\n{text}"));
    SplitProgram::new(&parsed.program).unwrap()
}

/// Whether one thread can delay something that the others can tell, or an instruction is torn where only whole ones
/// count.
fn is_attacked(program: &SplitProgram, machine: Machine, granularity: Granularity) -> Result<bool, LimitReached> {
    if granularity == Granularity::Instructions && !torn(program, limit())?.is_empty() {
        return Ok(true);
    }
    let mut attack = Attack::new(program, machine, granularity, limit())?;
    for pair in attack.pairs() {
        if attack.confirm(pair)?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

fn hold(usual: u64, shape: &Shape, machine: Machine, granularity: Granularity) {
    let (robust, cyclic, skipped, missed) = (Cell::new(0), Cell::new(0), Cell::new(0), Cell::new(0));
    random_cases(cases(usual), |rng| {
        let text = random_specification(rng, shape);
        let program = split(&text);
        let skip = || skipped.set(skipped.get() + 1);
        let Ok(verdict) = examine(&program, machine, granularity, BOUND, limit()) else { return skip() };
        let Ok(attacked) = is_attacked(&program, machine, granularity) else { return skip() };
        match verdict {
            RunsVerdict::Cyclic(run) => {
                cyclic.set(cyclic.get() + 1);
                // On PSO attacks are not complete: see `one_delaying_thread_that_stops_is_not_enough_on_pso`.
                let is_complete = machine == Machine::Tso;
                assert!(attacked || !is_complete, "no attack is found, but this run is cyclic: {run:#?}\n{text}");
                missed.set(missed.get() + u32::from(!attacked));
            }
            RunsVerdict::Robust { is_complete: true, .. } => {
                robust.set(robust.get() + 1);
                assert!(!attacked, "an attack is found, but every run is sequentially consistent\n{text}");
            }
            RunsVerdict::Robust { .. } => skip(),
        }
    });
    let (robust, cyclic, skipped) = (robust.get(), cyclic.get(), skipped.get());
    println!("{robust} robust, {cyclic} not ({} without an attack), {skipped} skipped as too large", missed.get());
    assert!(skipped < robust + cyclic, "too many programs were skipped");
    assert!(robust > 0 && cyclic > 0, "only one kind of program: this test shows nothing");
}

const SIMPLE: Shape =
    Shape { most_threads: 3, most_instructions: 4, loops: false, composites: false, waits: true, fences: true };

const COMPOSITE: Shape = Shape { most_instructions: 3, composites: true, ..SIMPLE };

const LOOPS: Shape = Shape { most_threads: 2, most_instructions: 3, loops: true, composites: true, ..SIMPLE };

#[test]
fn attacks_on_tso_are_exact_for_single_accesses() {
    hold(1000, &SIMPLE, Machine::Tso, Granularity::Accesses);
}

#[test]
fn attacks_on_tso_are_exact_for_split_instructions() {
    hold(1000, &COMPOSITE, Machine::Tso, Granularity::Accesses);
}

#[test]
fn attacks_and_torn_instructions_on_tso_are_exact_for_whole_instructions() {
    hold(1000, &COMPOSITE, Machine::Tso, Granularity::Instructions);
}

#[test]
fn attacks_on_tso_are_exact_for_loops() {
    hold(500, &LOOPS, Machine::Tso, Granularity::Instructions);
}

#[test]
fn attacks_on_pso_are_runs_of_single_accesses() {
    hold(1000, &SIMPLE, Machine::Pso, Granularity::Accesses);
}

#[test]
fn attacks_on_pso_are_runs_of_split_instructions() {
    hold(1000, &COMPOSITE, Machine::Pso, Granularity::Accesses);
}

#[test]
fn attacks_and_torn_instructions_on_pso_are_runs_of_whole_instructions() {
    hold(1000, &COMPOSITE, Machine::Pso, Granularity::Instructions);
}

/// U writes early, lets O answer, and goes on, while its first write still waits: no attack in which U stops shows
/// that.
#[test]
fn one_delaying_thread_that_stops_is_not_enough_on_pso() {
    let program = split(
        "model pso { classes G { variables Integer x Integer a Integer b Integer c state machines
            U { initial A states B C D E transitions A -> B { x := 1 } B -> C { a := 1 } C -> D { b = 1 } D -> E { c := 1 } }
            O { initial A states B C transitions A -> B { a = 1 } B -> C { b := 1 } }
            V { variables Integer r initial A states B C transitions A -> B { c = 1 } B -> C { r := x } } } objects g : G() }",
    );
    assert!(!is_attacked(&program, Machine::Pso, Granularity::Instructions).unwrap());
    let verdict = examine(&program, Machine::Pso, Granularity::Instructions, BOUND, limit()).unwrap();
    assert!(matches!(verdict, RunsVerdict::Cyclic(_)), "{verdict:?}");
}

#[test]
fn an_instruction_does_not_wait_for_itself() {
    // The address of the last write needs a read of what the first one writes.
    let program = split(
        "model own { classes G { variables Integer x Integer y Integer b Integer[2] a state machines
            T0 { variables Integer r initial A states B C D
                 transitions A -> B { [a[0] := 1; b := a[0]; a[b] := 1] } B -> C { x := 1 } C -> D { r := y } }
            T1 { variables Integer r initial A states B C transitions A -> B { y := 1 } B -> C { r := x } } } objects g : G() }",
    );
    for granularity in [Granularity::Accesses, Granularity::Instructions] {
        assert!(is_attacked(&program, Machine::Tso, granularity).unwrap(), "store buffering behind the instruction");
    }
}

#[test]
fn a_fence_that_is_outranked_is_a_fence() {
    let text = |middle: &str| {
        format!(
            "model outranked {{ classes G {{ variables Integer x Integer y Integer z state machines
                T0 {{ variables Integer r initial A states B C D E transitions A -> B {{ x := 1 }} {middle} C -> D {{ r := y }} }}
                T1 {{ variables Integer r initial A states B C transitions A -> B {{ y := 1; fence }} B -> C {{ r := x }} }} }}
             objects g : G() }}"
        )
    };
    let attacked = |middle| is_attacked(&split(&text(middle)), Machine::Tso, Granularity::Instructions).unwrap();
    assert!(!attacked("0: B -> E { z = 1 } 1: B -> C { fence }"));
    assert!(attacked("0: B -> E { z = 1 } 1: B -> C { true }"));
}
