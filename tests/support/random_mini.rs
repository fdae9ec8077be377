//! Random programs of the test language: small, finite, with a state space behind every fact.

use super::mini::{Expr, Instr, Program, Thread, Var, apply, element, is, local, set, shared, wait};
use rand::Rng;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;

/// How large and how wild.
#[derive(Clone, Copy)]
pub struct Shape {
    pub most_threads: usize,
    pub most_instrs: usize,
    /// Whether control flow goes back and branches.
    pub loops: bool,
    /// Whether instructions make several shared accesses.
    pub composite: bool,
    /// Whether conditions wait and indices are computed.
    pub waits: bool,
}

const SHARED: [&str; 3] = ["x", "y", "z"];

pub fn random_program(rng: &mut StdRng, shape: &Shape) -> Program {
    let shared = &SHARED[..rng.random_range(2..=SHARED.len())];
    let threads = rng.random_range(2..=shape.most_threads);
    // More threads, shorter threads: state spaces grow with both.
    let most_instrs = (shape.most_instrs + 2 - threads).max(2);
    Program::new((0..threads).map(|_| random_thread(rng, &Shape { most_instrs, ..*shape }, shared)).collect())
}

fn random_thread(rng: &mut StdRng, shape: &Shape, names: &[&str]) -> Thread {
    let mut thread = Thread::default();
    let least = if rng.random_ratio(1, 4) { 1 } else { 2 };
    let instrs = rng.random_range(least..=shape.most_instrs);
    for position in 0..instrs {
        if shape.loops && rng.random_ratio(1, 5) {
            // A branch: on, or to anywhere.
            let name = pick(rng, names);
            let elsewhere = rng.random_range(0..=instrs);
            thread = thread.jump(position, position + 1, wait(is(shared(name), 1)));
            thread = thread.jump(position, elsewhere, wait(is(shared(name), 0)));
        } else {
            thread = thread.jump(position, position + 1, random_instr(rng, shape, names, position));
        }
    }
    if shape.loops && rng.random_bool(0.5) {
        // Ends where it began.
        for instr in thread.instrs.iter_mut().filter(|instr| instr.to == instrs) {
            instr.to = 0;
        }
    }
    thread
}

fn random_instr(rng: &mut StdRng, shape: &Shape, names: &[&str], position: usize) -> Instr {
    // Each instruction reads into a register of its own, so that what was read is still there at the end.
    let register = local(&format!("r{position}"));
    let any_register = |rng: &mut StdRng| local(&format!("r{}", rng.random_range(0..=position)));
    let constant = rng.random_range(1..=2);
    // Where composite instructions are wanted, half of them are.
    let kind = if shape.composite && rng.random_bool(0.4) { rng.random_range(17..21) } else { rng.random_range(0..20) };
    match kind {
        0..=6 => set(shared(pick(rng, names)), constant),
        7..=12 => set(register, shared(pick(rng, names))),
        13 => set(shared(pick(rng, names)), any_register(rng)),
        14 | 15 if shape.waits => wait(is(shared(pick(rng, names)), 1)),
        16 if shape.waits => {
            let index: Var = element("v", apply(|a, _| a.min(1), any_register(rng), 0));
            if rng.random_bool(0.5) { set(index, constant) } else { set(register, index) }
        }
        17 if shape.composite => match rng.random_range(0..3) {
            0 => set(shared(pick(rng, names)), shared(pick(rng, names))),
            1 => {
                let counter = shared(pick(rng, names));
                set(counter.clone(), apply(|a, b| (a + b) % 4, counter, 1))
            }
            _ => {
                let (first, second) = two(rng, names);
                set(register, shared(first)).and_set(local("s"), shared(second))
            }
        },
        18 if shape.composite => {
            let (first, second) = two(rng, names);
            set(shared(first), 1).and_set(shared(second), constant)
        }
        20 => {
            let both = shared(pick(rng, names));
            match rng.random_range(0..4) {
                0 => set(register, apply(|a, b| (a + 2 * b) % 4, both.clone(), both)),
                1 => set(register, both.clone()).and_set(local("s"), both),
                2 => set(both.clone(), 1).and_set(both, 2),
                _ => set(both.clone(), constant).and_set(register, both),
            }
        }
        19 if shape.composite && shape.waits => {
            let target = shared(pick(rng, names));
            Instr { assignments: vec![(target, 0.into())], ..wait(is(shared(pick(rng, names)), 1)) }
        }
        _ => set(shared(pick(rng, names)), constant),
    }
}

/// Whether some instruction mentions a shared variable twice.
pub fn accesses_twice(program: &Program) -> bool {
    fn mentions(expr: &Expr, names: &mut Vec<String>) {
        match expr {
            Expr::Const(_) => {}
            Expr::Op(_, left, right) => {
                mentions(left, names);
                mentions(right, names);
            }
            Expr::Var(var) => names.extend((!var.local).then(|| var.name.clone())),
        }
    }
    program.threads.iter().flat_map(|thread| &thread.instrs).any(|instr| {
        let mut names = Vec::new();
        instr.condition.iter().for_each(|condition| mentions(condition, &mut names));
        for (target, value) in &instr.assignments {
            mentions(value, &mut names);
            names.extend((!target.local).then(|| target.name.clone()));
        }
        let count = names.len();
        names.sort();
        names.dedup();
        names.len() < count
    })
}

fn two<'n>(rng: &mut StdRng, names: &[&'n str]) -> (&'n str, &'n str) {
    let mut chosen = names.choose_multiple(rng, 2);
    let (first, second) = (chosen.next(), chosen.next());
    (first.expect("there are two names"), second.expect("there are two names"))
}

fn pick<'n>(rng: &mut StdRng, names: &[&'n str]) -> &'n str {
    names.choose(rng).expect("there are names")
}
