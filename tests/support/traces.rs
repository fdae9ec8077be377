//! Persistence by brute force: small programs of loads and stores, and all their traces on store buffers and without.
//!
//! A trace is, for each thread, the sequence of its accesses with their values, and one sequence of all writes as
//! they reach memory. Written from the definition, for loop-free programs, and sharing nothing with the engine but
//! the translation to a program that it can read.

use rand::Rng;
use rand::rngs::StdRng;
use rustc_hash::FxHashSet;
use seqcon::ids::ControlAt;
use seqcon::program::{
    Assignment, BinaryOperator, Expression, Instruction, InstructionKind, Program, Reference, Scope, Span, Thread,
    Type, Variable,
};
use std::collections::BTreeSet;

pub const VARIABLES: [&str; 3] = ["x", "y", "z"];
const REGISTERS: [&str; 2] = ["r", "s"];

/// An expression over registers.
#[derive(Clone, Copy, Debug)]
pub enum Exp {
    Constant(i64),
    Register(usize),
    /// 1 if the register has this value, else 0.
    Equals(usize, i64),
}

#[derive(Clone, Copy, Debug)]
pub enum Op {
    Write(usize, Exp),
    Read(usize, usize),
    Assign(usize, Exp),
    Assume(Exp),
    /// Waits until the variable has this value; each look at it is a read.
    Await(usize, i64),
    /// Atomic: waits until the variable has the first value, gives it the second.
    Arw(usize, Exp, Exp),
    Fence,
    Skip,
}

/// A transition from one control state to a later one.
#[derive(Clone, Copy, Debug)]
pub struct Transition {
    pub from: usize,
    pub to: usize,
    pub op: Op,
}

/// The transitions of each thread.
pub type Mini = Vec<Vec<Transition>>;

pub const X: usize = 0;
pub const Y: usize = 1;
pub const ZERO: Exp = Exp::Constant(0);
pub const ONE: Exp = Exp::Constant(1);

/// Threads of operations one after the other.
pub fn sequences(threads: &[&[Op]]) -> Mini {
    let thread = |ops: &&[Op]| {
        ops.iter().enumerate().map(|(from, &op)| Transition { from, to: from + 1, op }).collect::<Vec<Transition>>()
    };
    threads.iter().map(thread).collect()
}

pub struct Shape {
    pub most_threads: usize,
    pub most_instructions: usize,
    pub variables: usize,
}

pub fn random_mini(rng: &mut StdRng, shape: &Shape) -> Mini {
    (0..rng.random_range(2..=shape.most_threads)).map(|_| random_thread(rng, shape)).collect()
}

/// Two threads, the first with a state that two transitions lead to, mostly writes, and that two leave, mostly reads;
/// there may be something before and behind it.
pub fn random_junction(rng: &mut StdRng, shape: &Shape) -> Mini {
    let pick = |rng: &mut StdRng, reads: bool| {
        // Mostly others than those that are read are written.
        let [one, other] = [(); 2].map(|()| rng.random_range(0..shape.variables));
        match (rng.random_range(0..8), reads) {
            (0, _) => random_op(rng, shape),
            (_, true) => Op::Read(rng.random_range(0..REGISTERS.len()), one.min(other)),
            (_, false) => Op::Write(one.max(other), Exp::Constant(rng.random_range(1..3))),
        }
    };
    let before = rng.random_range(0..2);
    let mut first: Vec<Transition> =
        (0..before).map(|from| Transition { from, to: from + 1, op: random_op(rng, shape) }).collect();
    for reads in [false, true] {
        let from = before + usize::from(reads);
        first.extend([(); 2].map(|()| Transition { from, to: from + 1, op: pick(rng, reads) }));
    }
    if rng.random_bool(0.3) {
        first.push(Transition { from: before + 2, to: before + 3, op: random_op(rng, shape) });
    }
    vec![first, random_thread(rng, shape)]
}

fn random_thread(rng: &mut StdRng, shape: &Shape) -> Vec<Transition> {
    let count = rng.random_range(2..=shape.most_instructions);
    let mut transitions: Vec<Transition> =
        (0..count).map(|from| Transition { from, to: from + 1, op: random_op(rng, shape) }).collect();
    if rng.random_bool(0.2) {
        // A choice, or a way around.
        let from = rng.random_range(0..count);
        transitions.push(Transition { from, to: rng.random_range(from + 1..=count), op: random_op(rng, shape) });
    }
    transitions
}

fn random_op(rng: &mut StdRng, shape: &Shape) -> Op {
    let variable = rng.random_range(0..shape.variables);
    let register = rng.random_range(0..REGISTERS.len());
    match rng.random_range(0..20) {
        0..7 => Op::Write(variable, random_exp(rng)),
        7..14 => Op::Read(register, variable),
        14 => Op::Assign(register, random_exp(rng)),
        15 => Op::Assume(Exp::Equals(register, rng.random_range(0..2))),
        16 => Op::Await(variable, rng.random_range(0..2)),
        17 => Op::Arw(variable, random_exp(rng), random_exp(rng)),
        18 => Op::Fence,
        _ => Op::Skip,
    }
}

fn random_exp(rng: &mut StdRng) -> Exp {
    match rng.random_range(0..6) {
        0 => Exp::Register(rng.random_range(0..REGISTERS.len())),
        1 => Exp::Equals(rng.random_range(0..REGISTERS.len()), rng.random_range(0..2)),
        _ => Exp::Constant(rng.random_range(0..3)),
    }
}

impl Exp {
    fn value(self, registers: &[i64]) -> i64 {
        match self {
            Exp::Constant(value) => value,
            Exp::Register(register) => registers[register],
            Exp::Equals(register, value) => i64::from(registers[register] == value),
        }
    }
}

/// An access: which transition, read or written, variable, value.
type Access = (usize, bool, usize, i64);

/// Accesses of each thread, and all writes as they reach memory: thread, variable, value.
pub type Trace = (Vec<Vec<Access>>, Vec<(usize, usize, i64)>);

#[derive(Clone, PartialEq, Eq, Hash)]
struct State {
    control: Vec<usize>,
    registers: Vec<[i64; 2]>,
    memory: Vec<i64>,
    buffers: Vec<Vec<(usize, i64)>>,
    /// Whether a thread has looked in vain at what it waits for: once is enough.
    looked: Vec<bool>,
    trace: Trace,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Memory {
    Sc,
    Tso,
}

/// All traces of complete runs: those that end with empty buffers.
pub fn traces(program: &Mini, memory: Memory) -> BTreeSet<Trace> {
    let mut found = BTreeSet::new();
    all_traces(program, memory, |trace| {
        found.insert(trace.clone());
        true
    });
    found
}

/// Whether `holds` for every trace of a complete run; the first for which it does not ends the search.
fn all_traces(program: &Mini, memory: Memory, mut holds: impl FnMut(&Trace) -> bool) -> bool {
    let threads = program.len();
    let initial = State {
        control: vec![0; threads],
        registers: vec![[0; 2]; threads],
        memory: vec![0; VARIABLES.len()],
        buffers: vec![Vec::new(); threads],
        looked: vec![false; threads],
        trace: (vec![Vec::new(); threads], Vec::new()),
    };
    let mut seen = FxHashSet::from_iter([initial.clone()]);
    let mut stack = vec![initial];
    while let Some(state) = stack.pop() {
        if state.buffers.iter().all(Vec::is_empty) && !holds(&state.trace) {
            return false;
        }
        for next in successors(program, &state, memory) {
            if seen.insert(next.clone()) {
                stack.push(next);
            }
        }
    }
    true
}

/// Whether TSO shows nothing that SC does not show.
pub fn is_persistent(program: &Mini) -> bool {
    let consistent = traces(program, Memory::Sc);
    all_traces(program, Memory::Tso, |trace| consistent.contains(trace))
}

fn successors(program: &Mini, state: &State, memory: Memory) -> Vec<State> {
    let mut next = Vec::new();
    for thread in 0..program.len() {
        if let Some(&(variable, value)) = state.buffers[thread].first() {
            let mut after = state.clone();
            after.buffers[thread].remove(0);
            after.memory[variable] = value;
            after.trace.1.push((thread, variable, value));
            next.push(after);
            // Without buffers a write reaches memory before anything else happens.
            if memory == Memory::Sc {
                return next;
            }
        }
    }
    for (thread, transitions) in program.iter().enumerate() {
        for (number, transition) in transitions.iter().enumerate() {
            if transition.from == state.control[thread] {
                next.extend(step(state, thread, number, transition));
            }
        }
    }
    next
}

fn step(state: &State, thread: usize, number: usize, transition: &Transition) -> Option<State> {
    let registers = &state.registers[thread];
    let buffer = &state.buffers[thread];
    let seen = |variable: usize| {
        let own = buffer.iter().rev().find(|(written, _)| *written == variable);
        own.map_or(state.memory[variable], |(_, value)| *value)
    };
    let mut after = state.clone();
    after.control[thread] = transition.to;
    after.looked[thread] = false;
    match transition.op {
        Op::Skip => {}
        Op::Assign(register, exp) => after.registers[thread][register] = exp.value(registers),
        Op::Assume(exp) if exp.value(registers) == 0 => return None,
        Op::Assume(_) => {}
        Op::Fence if !buffer.is_empty() => return None,
        Op::Fence => {}
        Op::Write(variable, exp) => {
            let value = exp.value(registers);
            after.buffers[thread].push((variable, value));
            after.trace.0[thread].push((number, true, variable, value));
        }
        Op::Read(register, variable) => {
            after.registers[thread][register] = seen(variable);
            after.trace.0[thread].push((number, false, variable, seen(variable)));
        }
        Op::Await(variable, wanted) => {
            after.trace.0[thread].push((number, false, variable, seen(variable)));
            if seen(variable) != wanted {
                if state.looked[thread] {
                    return None;
                }
                after.control[thread] = transition.from;
                after.looked[thread] = true;
            }
        }
        Op::Arw(variable, expected, new) => {
            if !buffer.is_empty() || state.memory[variable] != expected.value(registers) {
                return None;
            }
            let value = new.value(registers);
            after.memory[variable] = value;
            after.trace.0[thread].push((number, true, variable, value));
            after.trace.1.push((thread, variable, value));
        }
    }
    Some(after)
}

/// The program with a fence after these transitions, each given by thread and number.
pub fn fenced(program: &Mini, fences: &BTreeSet<(usize, usize)>) -> Mini {
    let mut fenced = program.clone();
    for &(thread, number) in fences {
        let between = fresh_state(&fenced[thread]);
        let to = std::mem::replace(&mut fenced[thread][number].to, between);
        fenced[thread].push(Transition { from: between, to, op: Op::Fence });
    }
    fenced
}

/// A control state that the thread does not have.
fn fresh_state(thread: &[Transition]) -> usize {
    thread.iter().map(|transition| transition.to.max(transition.from) + 1).max().unwrap_or(0)
}

/// The program with fences before these transitions: whoever takes one passes the fence first.
pub fn fenced_before(program: &Mini, fences: &BTreeSet<(usize, usize)>) -> Mini {
    let mut fenced = program.clone();
    for &(thread, number) in fences {
        let between = fresh_state(&fenced[thread]);
        let from = std::mem::replace(&mut fenced[thread][number].from, between);
        fenced[thread].push(Transition { from, to: between, op: Op::Fence });
    }
    fenced
}

/// The program with fences at these control states, each given by thread and number: whoever comes there, by whatever
/// transition, passes the fence.
pub fn fenced_at(program: &Mini, fences: &BTreeSet<(usize, usize)>) -> Mini {
    let mut fenced = program.clone();
    for &(thread, state) in fences {
        let between = fresh_state(&fenced[thread]);
        for transition in fenced[thread].iter_mut().filter(|transition| transition.to == state) {
            transition.to = between;
        }
        fenced[thread].push(Transition { from: between, to: state, op: Op::Fence });
    }
    fenced
}

/// The same as a program that seqcon can check.
pub fn program(mini: &Mini) -> Program {
    let variable = |name: &&str| Variable {
        name: (*name).to_owned(),
        ty: Type::Integer,
        modulus: None,
        is_array: false,
        initial: vec![0],
        span: Span::default(),
    };
    let thread = |(position, transitions): (usize, &Vec<Transition>)| {
        let last = transitions.iter().map(|transition| transition.to.max(transition.from)).max().unwrap_or(0);
        Thread {
            name: format!("T{position}"),
            locals: REGISTERS.iter().map(variable).collect(),
            states: (0..=last).map(|state| format!("s{state}")).collect(),
            initial: ControlAt(0),
            instructions: transitions.iter().enumerate().map(instruction).collect(),
        }
    };
    Program {
        name: "mini".to_owned(),
        shared: VARIABLES.iter().map(variable).collect(),
        threads: mini.iter().enumerate().map(thread).collect(),
    }
}

fn instruction((number, transition): (usize, &Transition)) -> Instruction {
    let mut instruction = Instruction {
        name: number.to_string(),
        from: ControlAt::new(transition.from),
        to: ControlAt::new(transition.to),
        priority: 0,
        condition: None,
        assignments: Vec::new(),
        kind: InstructionKind::Plain,
        span: Span::default(),
    };
    match transition.op {
        Op::Skip => {}
        Op::Fence => instruction.kind = InstructionKind::Fence,
        Op::Assume(exp) => instruction.condition = Some(expression(exp)),
        Op::Await(variable, wanted) => {
            instruction.condition = Some(equal(read(Scope::Shared, variable), Expression::Constant(wanted)));
        }
        Op::Write(variable, exp) => instruction.assignments.push(assignment(Scope::Shared, variable, expression(exp))),
        Op::Read(register, variable) => {
            instruction.assignments.push(assignment(Scope::Local, register, read(Scope::Shared, variable)));
        }
        Op::Assign(register, exp) => {
            instruction.assignments.push(assignment(Scope::Local, register, expression(exp)));
        }
        Op::Arw(variable, expected, new) => {
            instruction.kind = InstructionKind::Atomic;
            instruction.condition = Some(equal(read(Scope::Shared, variable), expression(expected)));
            instruction.assignments.push(assignment(Scope::Shared, variable, expression(new)));
        }
    }
    instruction
}

fn expression(exp: Exp) -> Expression {
    match exp {
        Exp::Constant(value) => Expression::Constant(value),
        Exp::Register(register) => read(Scope::Local, register),
        Exp::Equals(register, value) => equal(read(Scope::Local, register), Expression::Constant(value)),
    }
}

fn equal(left: Expression, right: Expression) -> Expression {
    Expression::Binary(BinaryOperator::Equal, Box::new(left), Box::new(right), Span::default())
}

fn read(scope: Scope, variable: usize) -> Expression {
    Expression::Read(reference(scope, variable))
}

fn reference(scope: Scope, variable: usize) -> Reference {
    Reference { scope, variable, index: None, span: Span::default() }
}

fn assignment(scope: Scope, variable: usize, value: Expression) -> Assignment {
    Assignment { target: reference(scope, variable), value }
}
