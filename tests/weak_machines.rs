//! The searches that decide robustness, against all runs on store buffers with their happens-before relation.

// A panic is how a test fails.
#![allow(clippy::unwrap_used)]

mod support;

use seqcon::lang;
use seqcon::weak::attack::Attack;
use seqcon::weak::runs::{Verdict, examine};
use seqcon::weak::split::SplitProgram;
use seqcon::weak::torn::torn;
use seqcon::weak::visited::LimitReached;
use seqcon::weak::{Granularity, Machine};
use std::cell::Cell;
use support::random::random_cases;
use support::random_slco::{Shape, random_specification};

/// More states than any of these programs should have; programs with more are skipped and counted.
const LIMIT: usize = 60_000;

const BOUND: usize = 6;

fn split(text: &str) -> SplitProgram {
    let parsed = lang::parse("random.slco", text).unwrap_or_else(|errors| panic!("{errors}\n{text}"));
    SplitProgram::new(&parsed.program).unwrap()
}

/// Whether one thread can delay something that the others can tell, or an instruction is torn where only whole ones count.
fn is_attacked(program: &SplitProgram, machine: Machine, granularity: Granularity) -> Result<bool, LimitReached> {
    if granularity == Granularity::Instructions && !torn(program, LIMIT)?.is_empty() {
        return Ok(true);
    }
    let mut attack = Attack::new(program, machine, granularity, LIMIT)?;
    for pair in attack.pairs() {
        if attack.confirm(pair)?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

fn hold(usual: u64, shape: &Shape, machine: Machine, granularity: Granularity) {
    let (robust, cyclic, skipped) = (Cell::new(0), Cell::new(0), Cell::new(0));
    let cases = std::env::var("SEQCON_CASES").map_or(usual, |cases| cases.parse().expect("a number"));
    random_cases(cases, |rng| {
        let text = random_specification(rng, shape);
        let program = split(&text);
        let all_runs = examine(&program, machine, granularity, BOUND, LIMIT);
        let (Ok(verdict), Ok(attacked)) = (all_runs, is_attacked(&program, machine, granularity)) else {
            skipped.set(skipped.get() + 1);
            return;
        };
        match verdict {
            Verdict::Cyclic(run) => {
                cyclic.set(cyclic.get() + 1);
                assert!(attacked, "no attack is found, but this run is cyclic: {run:#?}\n{text}");
            }
            Verdict::Robust { is_complete: true, .. } => {
                robust.set(robust.get() + 1);
                assert!(!attacked, "an attack is found, but every run is sequentially consistent\n{text}");
            }
            Verdict::Robust { .. } => skipped.set(skipped.get() + 1),
        }
    });
    let (robust, cyclic, skipped) = (robust.get(), cyclic.get(), skipped.get());
    println!("{robust} robust, {cyclic} not, {skipped} skipped as too large");
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
fn attacks_on_pso_are_exact_for_single_accesses() {
    hold(1000, &SIMPLE, Machine::Pso, Granularity::Accesses);
}

#[test]
fn attacks_on_pso_are_exact_for_split_instructions() {
    hold(1000, &COMPOSITE, Machine::Pso, Granularity::Accesses);
}

#[test]
fn attacks_and_torn_instructions_on_pso_are_exact_for_whole_instructions() {
    hold(1000, &COMPOSITE, Machine::Pso, Granularity::Instructions);
}
