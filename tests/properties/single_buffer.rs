//! The engine single-buffer: its search backwards against all states on store buffers.

use crate::support::random::{cases, random_cases};
use crate::support::random_program::{Size, random_program};
use rand::Rng;
use rand::rngs::StdRng;
use seqcon::engines::single_buffer::{Rules, Stop, backwards};
use seqcon::ids::ControlAt;
use seqcon::lang::parse_condition;
use seqcon::program::Program;
use seqcon::property::StateCondition;
use seqcon::weak::forbidden::{Forbidden, search};
use seqcon::weak::split::SplitProgram;
use seqcon::weak::verify::{Question, Verdict};
use seqcon::weak::{Granularity, Machine};
use std::cell::Cell;

/// A random program in which instructions may lead back, so that buffers have no bound; values are small.
pub fn random_loops(rng: &mut StdRng, size: Size) -> Program {
    let mut program = random_program(rng, size);
    program.shared.iter_mut().for_each(|variable| variable.modulus = Some(2));
    for thread in &mut program.threads {
        thread.locals.iter_mut().for_each(|variable| variable.modulus = Some(2));
        let states = thread.states.len() as u32;
        for instruction in &mut thread.instructions {
            if rng.random_ratio(1, 5) {
                instruction.to = ControlAt(rng.random_range(0..states));
            }
        }
    }
    program
}

/// A random condition: where two threads are, sometimes with values.
pub fn random_condition(rng: &mut StdRng, program: &Program) -> StateCondition {
    let mut parts = Vec::new();
    for thread in &program.threads {
        let state = rng.random_range(0..thread.states.len());
        match rng.random_range(0..4) {
            0 => parts.push(format!("{}.r = {}", thread.name, rng.random_range(0..2))),
            _ => parts.push(format!("{}@{}", thread.name, thread.states[state])),
        }
    }
    if rng.random_ratio(1, 3) {
        parts.push(format!("{} = {}", ["x", "y"][rng.random_range(0..2)], rng.random_range(0..2)));
    }
    let text = parts.join(" and ");
    parse_condition("test", &text, program).unwrap_or_else(|wrong| panic!("{wrong}")).condition
}

fn question(machine: Machine) -> Question {
    Question { machine, granularity: Granularity::Accesses, bound: 4, limit: 20_000 }
}

fn agree(usual: u64, size: Size) {
    let counts = [(); 5].map(|()| Cell::new(0));
    let count = |kind: usize| counts[kind].set(counts[kind].get() + 1);
    random_cases(cases(usual), |rng| {
        let program = random_loops(rng, size);
        let condition = random_condition(rng, &program);
        let split = SplitProgram::new(&program).unwrap();
        for machine in [Machine::Tso, Machine::Pso] {
            let forwards = search(&split, &question(machine), Forbidden::State(&condition)).ok();
            let backwards = match backwards(&split, machine, &condition, 100_000, Rules::ALL) {
                Ok(verdict) => verdict,
                Err(Stop::Limit(_)) => {
                    count(4);
                    continue;
                }
                Err(stop) => panic!("{stop:?}\n{program:?}"),
            };
            let agrees = match (&forwards, &backwards) {
                (Some(Verdict::Violated(_)), Verdict::Violated(_)) => {
                    count(0);
                    true
                }
                (Some(Verdict::Verified(_)), Verdict::Verified(_)) => {
                    count(1);
                    true
                }
                (None | Some(Verdict::Bounded { .. }), Verdict::Verified(_)) => {
                    count(2);
                    true
                }
                // Its run was made on the machine.
                (None | Some(Verdict::Bounded { .. }), Verdict::Violated(_)) => {
                    count(3);
                    true
                }
                _ => false,
            };
            assert!(agrees, "{machine:?}: never {}\n{forwards:?}\n{backwards:?}\n{program:#?}", condition.text);
        }
    });
    println!("violated, verified, verified beyond the bound, violated beyond the bound, given up: {counts:?}");
}

#[test]
fn backwards_and_forwards_agree() {
    agree(300, Size { most_threads: 3, most_instructions: 5 });
}
