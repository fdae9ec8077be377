//! Small programs that wait, and a machine of their own: is a deadlock reached with store buffers?
//!
//! It shares nothing with the library. What a thread can do in a memory that does not change is told by a table, one
//! row for each kind of instruction, and not by steps; so it says of a state whether it is a deadlock by the
//! definition: nothing waits in a buffer, every thread is between two instructions, what a thread could evaluate
//! writes nothing and leaves it where it is, and some thread is not at its end.

use rand::Rng;
use rand::rngs::StdRng;
use seqcon::ids::{ControlAt, ThreadAt};
use seqcon::outline::Site;
use seqcon::program::{
    Assignment, At, BinaryOperator, Expression, Instruction, InstructionKind, Program, Reference, Scope, Span, Thread,
    Type, Variable,
};
use seqcon::specification::Specification;
use std::collections::{HashSet, VecDeque};

/// A shared variable: x, y or z.
pub type Var = usize;

const NAMES: [&str; 3] = ["x", "y", "z"];

/// What an instruction does. A thread has one register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Writes.
    Set(Var, i64),
    /// Reads into the register.
    Load(Var),
    /// Waits for a value.
    Wait(Var, i64),
    /// Waits for two values, which are read one after the other, in any order.
    WaitBoth((Var, i64), (Var, i64)),
    /// Waits for a value, and then writes: others may come between.
    WaitSet((Var, i64), (Var, i64)),
    /// Waits for 0 and writes 1, as one step.
    Take(Var),
    /// Waits for a value of the register.
    Is(i64),
    /// Sets the register.
    Become(i64),
    /// The register becomes 1 if it is 0, and 0 if it is 1.
    Flip,
    /// Nothing.
    Skip,
    /// A fence.
    Fence,
}

/// An instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instr {
    pub from: usize,
    pub to: usize,
    pub op: Op,
    /// A fence is put in behind it.
    pub fenced: bool,
}

/// Threads by their instructions; each starts at 0.
pub type Waiting = Vec<Vec<Instr>>;

/// A thread, instruction by instruction: from, to, what.
pub fn thread(instructions: &[(usize, usize, Op)]) -> Vec<Instr> {
    instructions.iter().map(|&(from, to, op)| Instr { from, to, op, fenced: false }).collect()
}

/// Who sees the other one's write tells it; who sees that nobody has written waits to be told. Only store buffers let
/// both of them wait.
pub fn asks(own: Var, other: Var) -> Vec<Instr> {
    thread(&[
        (0, 1, Op::Set(own, 1)),
        (1, 2, Op::Load(other)),
        (2, 3, Op::Is(1)),
        (3, 5, Op::Set(2, 1)),
        (2, 4, Op::Is(0)),
        (4, 5, Op::Wait(2, 1)),
    ])
}

/// Says that it is there, and goes on if it reads twice the same of the other one. Only store buffers let both wait.
pub fn reads_twice(own: Var, other: Var) -> Vec<Instr> {
    thread(&[
        (0, 1, Op::Set(own, 1)),
        (1, 2, Op::Wait(other, 0)),
        (2, 4, Op::Wait(other, 0)),
        (1, 3, Op::Wait(other, 1)),
        (3, 4, Op::Wait(other, 1)),
        (4, 0, Op::Set(own, 0)),
    ])
}

/// Who sees the second write before the first waits for what nobody writes.
pub fn sees_in_order(first: Var, second: Var) -> Vec<Instr> {
    thread(&[
        (0, 1, Op::Wait(second, 1)),
        (1, 2, Op::Load(first)),
        (2, 3, Op::Is(1)),
        (2, 4, Op::Is(0)),
        (4, 5, Op::Wait(2, 1)),
    ])
}

/// A program that deadlocks with store buffers only, changed here and there, sometimes with another thread: often it
/// deadlocks so still.
pub fn random_weak(rng: &mut StdRng, with_fences: bool) -> Waiting {
    let mut waiting = match rng.random_range(0..4) {
        0 | 1 => vec![asks(0, 1), asks(1, 0)],
        2 => vec![reads_twice(0, 1), reads_twice(1, 0)],
        _ => vec![thread(&[(0, 1, Op::Set(0, 1)), (1, 2, Op::Set(1, 1))]), sees_in_order(0, 1)],
    };
    for instr in waiting.iter_mut().flatten() {
        if rng.random_ratio(1, 16) {
            instr.op = random_op(rng, 3);
        }
        if rng.random_ratio(1, 25) {
            instr.to = rng.random_range(0..=instr.from + 1);
        }
        instr.fenced = with_fences && rng.random_ratio(1, 6);
    }
    if rng.random_ratio(1, 4) {
        // So that writes go ahead of others.
        let moved = |instr: &Instr| Instr { from: instr.from + 1, to: instr.to + 1, ..*instr };
        let which = rng.random_range(0..2);
        let first = Instr { from: 0, to: 1, op: random_op(rng, 3), fenced: false };
        waiting[which] = std::iter::once(first).chain(waiting[which].iter().map(moved)).collect();
    }
    if rng.random_ratio(1, 4) {
        waiting.push(thread(&[(0, 1, random_op(rng, 3))]));
    }
    waiting
}

/// Without fences that were put in, or with random ones.
pub fn random(rng: &mut StdRng, with_fences: bool) -> Waiting {
    let threads = rng.random_range(2..=3);
    let variables = rng.random_range(2..=3);
    let most = if threads == 2 { 5 } else { 3 };
    let one = |rng: &mut StdRng| {
        let length = rng.random_range(1..=most);
        let mut instructions = Vec::new();
        for from in 0..length {
            let elsewhere = |rng: &mut StdRng| rng.random_range(0..=length);
            let to = if rng.random_ratio(1, 5) { elsewhere(rng) } else { from + 1 };
            instructions.push((from, to, random_op(rng, variables)));
            if rng.random_ratio(1, 5) {
                instructions.push((from, elsewhere(rng), random_op(rng, variables)));
            }
        }
        let mut instructions = thread(&instructions);
        instructions.iter_mut().for_each(|instr| instr.fenced = with_fences && rng.random_ratio(1, 6));
        instructions
    };
    (0..threads).map(|_| one(rng)).collect()
}

fn random_op(rng: &mut StdRng, variables: usize) -> Op {
    let value = |rng: &mut StdRng| (rng.random_range(0..variables), rng.random_range(0..=1));
    let (var, is) = value(rng);
    match rng.random_range(0..23) {
        0..=6 => Op::Set(var, [0, 1, 1][rng.random_range(0..3)]),
        7..=9 => Op::Load(var),
        10..=13 => Op::Wait(var, is),
        14 => Op::WaitBoth((var, is), value(rng)),
        15 => Op::WaitSet((var, is), value(rng)),
        16 => Op::Take(var),
        17..=18 => Op::Is(is),
        19 => Op::Become(is),
        20 => Op::Skip,
        21 => Op::Flip,
        _ => Op::Fence,
    }
}

/// As a program of the library, without the fences that are put in, and where these are.
pub fn program(waiting: &Waiting) -> (Specification, Vec<Site>) {
    let variable = |name: &str| Variable {
        name: name.to_owned(),
        ty: Type::Integer,
        modulus: None,
        is_array: false,
        initial: vec![0],
        span: Span::default(),
    };
    let one = |(number, instructions): (usize, &Vec<Instr>)| {
        let states = instructions.iter().map(|instr| instr.from.max(instr.to)).max().unwrap_or(0);
        Thread {
            name: format!("t{number}"),
            locals: vec![variable("r")],
            states: (0..=states).map(|state| format!("s{state}")).collect(),
            initial: ControlAt(0),
            instructions: instructions.iter().enumerate().map(instruction).collect(),
        }
    };
    let threads = waiting.iter().enumerate().map(one).collect();
    let shared = NAMES.iter().map(|name| variable(name)).collect();
    let program = Program { name: "waiting".to_owned(), shared, threads };
    let specification = Specification::of_program(program).unwrap();
    let mut fences = Vec::new();
    for (number, instructions) in waiting.iter().enumerate() {
        for at in (0..instructions.len()).filter(|&at| instructions[at].fenced) {
            let at = At { thread: ThreadAt::new(number), instruction: seqcon::ids::InstrAt::new(at) };
            fences.push(Site::after(specification.outline.instr(at)));
        }
    }
    (specification, fences)
}

fn instruction((number, instr): (usize, &Instr)) -> Instruction {
    let reference = |scope: Scope, variable: usize| Reference { scope, variable, index: None, span: Span::default() };
    let read = |scope: Scope, variable: usize| Expression::Read(reference(scope, variable));
    let constant = Expression::Constant;
    let binary = |operator: BinaryOperator, left: Expression, right: Expression| {
        Expression::Binary(operator, Box::new(left), Box::new(right), Span::default())
    };
    let is = |(var, value): (Var, i64)| binary(BinaryOperator::Equal, read(Scope::Shared, var), constant(value));
    let set = |(var, value): (Var, i64)| Assignment { target: reference(Scope::Shared, var), value: constant(value) };
    let register = |value: Expression| Assignment { target: reference(Scope::Local, 0), value };
    let mut kind = InstructionKind::Plain;
    let (condition, assignments) = match instr.op {
        Op::Set(var, value) => (None, vec![set((var, value))]),
        Op::Load(var) => (None, vec![register(read(Scope::Shared, var))]),
        Op::Wait(var, value) => (Some(is((var, value))), vec![]),
        Op::WaitBoth(one, other) => (Some(binary(BinaryOperator::And, is(one), is(other))), vec![]),
        Op::WaitSet(one, other) => (Some(is(one)), vec![set(other)]),
        Op::Take(var) => {
            kind = InstructionKind::Atomic;
            (Some(is((var, 0))), vec![set((var, 1))])
        }
        Op::Is(value) => (Some(binary(BinaryOperator::Equal, read(Scope::Local, 0), constant(value))), vec![]),
        Op::Become(value) => (None, vec![register(constant(value))]),
        Op::Flip => (None, vec![register(binary(BinaryOperator::Subtract, constant(1), read(Scope::Local, 0)))]),
        Op::Skip => (Some(binary(BinaryOperator::Equal, constant(0), constant(0))), vec![]),
        Op::Fence => {
            kind = InstructionKind::Fence;
            (None, vec![])
        }
    };
    Instruction {
        name: number.to_string(),
        from: ControlAt::new(instr.from),
        to: ControlAt::new(instr.to),
        priority: 0,
        condition,
        assignments,
        kind,
        span: Span::default(),
    }
}

/// The order in which writes become visible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    Sc,
    Tso,
    Pso,
}

/// What is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// A deadlock is reached.
    Deadlock,
    /// None is: all states were looked at.
    None,
    /// None was seen, and there is more.
    Open,
}

/// Where a thread is inside an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Middle {
    No,
    /// One of two values is read, and the other one is not: this one.
    Other(usize, (Var, i64)),
    /// It is about to write.
    Writing(usize, (Var, i64)),
    /// It stands at the fence behind the instruction.
    AtFence(usize),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    at: Vec<usize>,
    middle: Vec<Middle>,
    register: Vec<i64>,
    memory: [i64; 3],
    buffers: Vec<Vec<(Var, i64)>>,
}

/// Looks for a deadlock, with at most so many writes in a buffer and so many states.
pub fn deadlock(waiting: &Waiting, order: Order, bound: usize, most: usize) -> Told {
    let threads = waiting.len();
    let start = State {
        at: vec![0; threads],
        middle: vec![Middle::No; threads],
        register: vec![0; threads],
        memory: [0; 3],
        buffers: vec![Vec::new(); threads],
    };
    let mut machine = Machine { waiting, order, bound, is_whole: true };
    let mut seen = HashSet::from([start.clone()]);
    let mut open = VecDeque::from([start]);
    while let Some(state) = open.pop_front() {
        if machine.is_deadlock(&state) {
            return Told::Deadlock;
        }
        for next in machine.steps(&state) {
            if seen.len() >= most {
                machine.is_whole = false;
            } else if seen.insert(next.clone()) {
                open.push_back(next);
            }
        }
    }
    if machine.is_whole { Told::None } else { Told::Open }
}

struct Machine<'w> {
    waiting: &'w Waiting,
    order: Order,
    bound: usize,
    is_whole: bool,
}

impl Machine<'_> {
    fn is_deadlock(&self, state: &State) -> bool {
        let is_judged = state.buffers.iter().all(Vec::is_empty) && state.middle.iter().all(|at| *at == Middle::No);
        let here = |thread: usize| self.waiting[thread].iter().filter(move |instr| instr.from == state.at[thread]);
        let is_stuck = |thread: usize| here(thread).all(|instr| !moves(state, thread, instr));
        let threads = || 0..self.waiting.len();
        is_judged && threads().all(is_stuck) && threads().any(|thread| here(thread).next().is_some())
    }

    fn steps(&mut self, state: &State) -> Vec<State> {
        let mut next = Vec::new();
        for thread in 0..self.waiting.len() {
            let buffer = &state.buffers[thread];
            for (position, &(var, value)) in buffer.iter().enumerate() {
                let is_oldest = match self.order {
                    Order::Sc | Order::Tso => position == 0,
                    Order::Pso => buffer[..position].iter().all(|(earlier, _)| *earlier != var),
                };
                if is_oldest {
                    let mut after = state.clone();
                    after.buffers[thread].remove(position);
                    after.memory[var] = value;
                    next.push(after);
                }
            }
            match state.middle[thread] {
                Middle::No => {
                    for at in 0..self.waiting[thread].len() {
                        if self.waiting[thread][at].from == state.at[thread] {
                            self.begin(state, thread, at, &mut next);
                        }
                    }
                }
                Middle::Other(at, (var, value)) => {
                    if self.read(state, thread, var) == value {
                        next.push(self.done(state.clone(), thread, at));
                    } else {
                        let mut after = state.clone();
                        after.middle[thread] = Middle::No;
                        next.push(after);
                    }
                }
                Middle::Writing(at, written) => next.extend(self.write(state, thread, at, written)),
                Middle::AtFence(at) => {
                    if buffer.is_empty() {
                        let mut after = state.clone();
                        after.middle[thread] = Middle::No;
                        after.at[thread] = self.waiting[thread][at].to;
                        next.push(after);
                    }
                }
            }
        }
        next
    }

    fn begin(&mut self, state: &State, thread: usize, at: usize, next: &mut Vec<State>) {
        let is_drained = state.buffers[thread].is_empty();
        let mut after = state.clone();
        match self.waiting[thread][at].op {
            Op::Set(var, value) => next.extend(self.write(state, thread, at, (var, value))),
            Op::Load(var) => {
                after.register[thread] = self.read(state, thread, var);
                next.push(self.done(after, thread, at));
            }
            Op::Wait(var, value) if self.read(state, thread, var) == value => next.push(self.done(after, thread, at)),
            Op::WaitBoth(one, other) => {
                for ((var, value), other) in [(one, other), (other, one)] {
                    if self.read(state, thread, var) == value {
                        let mut after = state.clone();
                        after.middle[thread] = Middle::Other(at, other);
                        next.push(after);
                    }
                }
            }
            Op::WaitSet((var, value), written) if self.read(state, thread, var) == value => {
                after.middle[thread] = Middle::Writing(at, written);
                next.push(after);
            }
            Op::Take(var) if is_drained && state.memory[var] == 0 => {
                after.memory[var] = 1;
                next.push(self.done(after, thread, at));
            }
            Op::Is(value) if state.register[thread] == value => next.push(self.done(after, thread, at)),
            Op::Become(value) => {
                after.register[thread] = value;
                next.push(self.done(after, thread, at));
            }
            Op::Flip => {
                after.register[thread] = 1 - state.register[thread];
                next.push(self.done(after, thread, at));
            }
            Op::Skip => next.push(self.done(after, thread, at)),
            Op::Fence if is_drained => next.push(self.done(after, thread, at)),
            Op::Wait(..) | Op::WaitSet(..) | Op::Take(_) | Op::Is(_) | Op::Fence => {}
        }
    }

    fn read(&self, state: &State, thread: usize, var: Var) -> i64 {
        let own = state.buffers[thread].iter().rev().find(|(written, _)| *written == var);
        own.map_or(state.memory[var], |(_, value)| *value)
    }

    fn write(&mut self, state: &State, thread: usize, at: usize, (var, value): (Var, i64)) -> Option<State> {
        let mut after = state.clone();
        if self.order == Order::Sc {
            after.memory[var] = value;
        } else if state.buffers[thread].len() < self.bound {
            after.buffers[thread].push((var, value));
        } else {
            self.is_whole = false;
            return None;
        }
        Some(self.done(after, thread, at))
    }

    fn done(&self, mut state: State, thread: usize, at: usize) -> State {
        let Instr { to, fenced, .. } = self.waiting[thread][at];
        state.middle[thread] = if fenced { Middle::AtFence(at) } else { Middle::No };
        if !fenced {
            state.at[thread] = to;
        }
        state
    }
}

/// Whether an instruction that a thread could evaluate moves it, while the memory stays as it is and nothing waits.
fn moves(state: &State, thread: usize, instr: &Instr) -> bool {
    let has = |(var, value): (Var, i64)| state.memory[var] == value;
    let leads_on = instr.from != instr.to;
    match instr.op {
        Op::Set(..) | Op::Flip => true,
        Op::Load(var) => leads_on || state.memory[var] != state.register[thread],
        Op::Wait(var, value) => leads_on && has((var, value)),
        Op::WaitBoth(one, other) => leads_on && has(one) && has(other),
        Op::WaitSet(one, _) => has(one),
        Op::Take(var) => has((var, 0)),
        Op::Is(value) => leads_on && state.register[thread] == value,
        Op::Become(value) => leads_on || state.register[thread] != value,
        Op::Skip | Op::Fence => leads_on,
    }
}
