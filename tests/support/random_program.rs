//! Random small programs of the library's representation: composites, conditions, priorities, arrays with computed
//! indices, fences, atomic instructions.

use rand::Rng;
use rand::rngs::StdRng;
use seqcon::ids::ControlAt;
use seqcon::program::{
    Assignment, BinaryOperator, Expression, Instruction, InstructionKind, PartialFence, Program, Reference, Scope,
    Span, Thread, Type, UnaryOperator, Variable,
};

/// The shared variables `x`, `y`, `z`; `v` is an array of two.
const SCALARS: usize = 3;
const ARRAY: usize = 3;
/// The locals `r`, `s` and, for loops, `n`.
const LOCALS: usize = 3;
const COUNTER: usize = 2;

/// How large.
#[derive(Clone, Copy)]
pub struct Size {
    pub most_threads: usize,
    pub most_instructions: usize,
}

pub fn random_program(rng: &mut StdRng, size: Size) -> Program {
    let threads = rng.random_range(2..=size.most_threads);
    let most = (size.most_instructions + 2 - threads).max(2);
    let variable = |name: &str, initial: Vec<i64>| Variable {
        name: name.to_owned(),
        ty: Type::Integer,
        modulus: None,
        is_array: initial.len() > 1,
        initial,
        span: Span::default(),
    };
    // With fewer variables there are more conflicts.
    let scalars = rng.random_range(2..=SCALARS);
    let mut shared: Vec<Variable> = ["x", "y", "z"].iter().map(|name| variable(name, vec![0])).collect();
    shared.push(variable("v", vec![0, 0]));
    let thread = |rng: &mut StdRng, number: usize| {
        let locals = ["r", "s", "n"].iter().map(|name| variable(name, vec![0])).collect();
        random_thread(rng, number, most, scalars, locals)
    };
    let threads = (0..threads).map(|number| thread(rng, number)).collect();
    Program { name: "random".to_owned(), shared, threads }
}

/// The program with fences of stores behind some of its instructions, and some of its fences weakened to such.
pub fn with_store_fences(rng: &mut StdRng, program: &Program) -> Program {
    let mut fenced = program.clone();
    for thread in &mut fenced.threads {
        for number in 0..thread.instructions.len() {
            let partial = if rng.random() { PartialFence::Stores } else { PartialFence::Lightweight };
            let kind = InstructionKind::PartialFence(partial);
            if thread.instructions[number].kind == InstructionKind::Fence {
                if rng.random() {
                    thread.instructions[number].kind = kind;
                }
                continue;
            }
            if rng.random_ratio(1, 3) {
                let name = format!("fence{number}");
                let between = ControlAt::new(thread.states.len());
                let to = std::mem::replace(&mut thread.instructions[number].to, between);
                let fence =
                    Instruction { name: name.clone(), kind, ..instruction(between.index(), to.index(), None, vec![]) };
                thread.instructions.push(fence);
                thread.states.push(name);
            }
        }
    }
    fenced
}

fn random_thread(rng: &mut StdRng, number: usize, most: usize, scalars: usize, locals: Vec<Variable>) -> Thread {
    let length = rng.random_range(2..=most);
    let mut instructions: Vec<Instruction> = Vec::new();
    for from in 0..length {
        let to = from + 1;
        match rng.random_range(0..24) {
            0 => {
                // A branch on something, forward.
                let further = rng.random_range(from + 1..=length);
                let condition = equals(value(rng, scalars), 1);
                instructions.push(instruction(from, to, Some(condition.clone()), vec![]));
                instructions.push(instruction(from, further, Some(not(condition)), vec![]));
            }
            1 => {
                // One that goes before the other.
                let condition = equals(value(rng, scalars), 1);
                instructions.push(instruction(from, to, Some(condition), assignments(rng, scalars)));
                instructions
                    .push(Instruction { priority: 1, ..instruction(from, to, None, assignments(rng, scalars)) });
            }
            2 => instructions.push(Instruction { kind: InstructionKind::Fence, ..instruction(from, to, None, vec![]) }),
            3 if length < most => {
                // Once more from the start.
                let again = less(local(COUNTER), 1);
                let count = set(Scope::Local, COUNTER, add(local(COUNTER), 1));
                instructions.push(instruction(from, 0, Some(again.clone()), vec![count]));
                instructions.push(instruction(from, to, Some(not(again)), vec![]));
            }
            4 | 5 => {
                let condition = equals(value(rng, scalars), rng.random_range(0..=1));
                let assignments = if rng.random() { assignments(rng, scalars) } else { vec![] };
                instructions.push(instruction(from, to, Some(condition), assignments));
            }
            _ => instructions.push(instruction(from, to, None, assignments(rng, scalars))),
        }
    }
    for instruction in &mut instructions {
        if !instruction.assignments.is_empty() && rng.random_ratio(1, 8) {
            instruction.kind = InstructionKind::Atomic;
        }
    }
    for (position, instruction) in instructions.iter_mut().enumerate() {
        instruction.name = position.to_string();
    }
    let states = (0..=length).map(|state| format!("s{state}")).collect();
    Thread { name: format!("t{number}"), locals, states, initial: ControlAt(0), instructions }
}

/// What an instruction does: mostly one access, sometimes several, and an array at most once.
fn assignments(rng: &mut StdRng, scalars: usize) -> Vec<Assignment> {
    let scalar = |rng: &mut StdRng| rng.random_range(0..scalars);
    let own = |rng: &mut StdRng| rng.random_range(0..COUNTER);
    match rng.random_range(0..26) {
        0..=5 | 20..=21 => vec![set(Scope::Shared, scalar(rng), constant(rng))],
        6..=10 | 22..=23 => vec![set(Scope::Local, own(rng), shared(scalar(rng)))],
        11 => vec![set(Scope::Shared, scalar(rng), add(local(own(rng)), rng.random_range(0..=1)))],
        12 => vec![set(Scope::Shared, scalar(rng), shared(scalar(rng)))],
        13 => {
            let counter = scalar(rng);
            vec![set(Scope::Shared, counter, add(shared(counter), 1))]
        }
        14 => vec![set(Scope::Shared, scalar(rng), constant(rng)), set(Scope::Shared, scalar(rng), constant(rng))],
        15 => vec![set(Scope::Local, 0, shared(scalar(rng))), set(Scope::Local, 1, shared(scalar(rng)))],
        16 => vec![
            set(Scope::Shared, scalar(rng), local(0)),
            set(Scope::Local, 0, shared(scalar(rng))),
            set(Scope::Shared, scalar(rng), local(0)),
        ],
        17 => {
            let both = scalar(rng);
            vec![set(Scope::Shared, both, constant(rng)), set(Scope::Local, own(rng), shared(both))]
        }
        18 => vec![Assignment { target: element(index(rng, scalars)), value: constant(rng) }],
        24 => {
            // Read twice, in one expression.
            let both = scalar(rng);
            vec![set(Scope::Local, own(rng), sum(shared(both), shared(both)))]
        }
        25 => {
            let both = scalar(rng);
            vec![set(Scope::Shared, both, constant(rng)), set(Scope::Shared, both, constant(rng))]
        }
        _ => vec![set(Scope::Local, own(rng), Expression::Read(element(index(rng, scalars))))],
    }
}

/// Sometimes out of range.
fn index(rng: &mut StdRng, scalars: usize) -> Expression {
    match rng.random_range(0..4) {
        0 => shared(rng.random_range(0..scalars)),
        1 => Expression::Constant(rng.random_range(0..=1)),
        _ => local(rng.random_range(0..COUNTER)),
    }
}

fn value(rng: &mut StdRng, scalars: usize) -> Expression {
    if rng.random() { shared(rng.random_range(0..scalars)) } else { local(rng.random_range(0..LOCALS)) }
}

fn constant(rng: &mut StdRng) -> Expression {
    Expression::Constant(rng.random_range(1..=2))
}

fn instruction(from: usize, to: usize, condition: Option<Expression>, assignments: Vec<Assignment>) -> Instruction {
    let (name, kind, span) = (String::new(), InstructionKind::Plain, Span::default());
    let (from, to) = (ControlAt::new(from), ControlAt::new(to));
    Instruction { name, from, to, priority: 0, condition, assignments, kind, span }
}

fn set(scope: Scope, variable: usize, value: Expression) -> Assignment {
    Assignment { target: Reference { scope, variable, index: None, span: Span::default() }, value }
}

fn element(index: Expression) -> Reference {
    Reference { scope: Scope::Shared, variable: ARRAY, index: Some(Box::new(index)), span: Span::default() }
}

fn shared(variable: usize) -> Expression {
    Expression::Read(Reference { scope: Scope::Shared, variable, index: None, span: Span::default() })
}

fn local(variable: usize) -> Expression {
    Expression::Read(Reference { scope: Scope::Local, variable, index: None, span: Span::default() })
}

fn binary(operator: BinaryOperator, left: Expression, right: i64) -> Expression {
    Expression::Binary(operator, Box::new(left), Box::new(Expression::Constant(right)), Span::default())
}

fn equals(left: Expression, right: i64) -> Expression {
    binary(BinaryOperator::Equal, left, right)
}

fn less(left: Expression, right: i64) -> Expression {
    binary(BinaryOperator::Less, left, right)
}

fn add(left: Expression, right: i64) -> Expression {
    binary(BinaryOperator::Add, left, right)
}

fn sum(left: Expression, right: Expression) -> Expression {
    Expression::Binary(BinaryOperator::Add, Box::new(left), Box::new(right), Span::default())
}

fn not(operand: Expression) -> Expression {
    Expression::Unary(UnaryOperator::Not, Box::new(operand))
}

/// The program as text, a line for each instruction.
pub fn show(program: &Program) -> String {
    let mut text = String::new();
    for thread in &program.threads {
        for Instruction { from, to, priority, condition, assignments, kind, .. } in &thread.instructions {
            let condition =
                condition.as_ref().map_or(String::new(), |condition| format!("[{}] ", expression(condition)));
            let assignments: Vec<String> =
                assignments.iter().map(|a| format!("{} := {}", reference(&a.target), expression(&a.value))).collect();
            text += &format!(
                "{}: {} -> {} priority {priority} {kind:?}: {condition}{}\n",
                thread.name,
                from.0,
                to.0,
                assignments.join("; ")
            );
        }
    }
    text
}

fn reference(reference: &Reference) -> String {
    let name = match reference.scope {
        Scope::Shared => ["x", "y", "z", "v"][reference.variable],
        Scope::Local => ["r", "s", "n"][reference.variable],
    };
    reference.index.as_ref().map_or(name.to_owned(), |index| format!("{name}[{}]", expression(index)))
}

fn expression(of: &Expression) -> String {
    match of {
        Expression::Constant(value) => value.to_string(),
        Expression::Read(read) => reference(read),
        Expression::Unary(operator, operand) => format!("{operator:?}({})", expression(operand)),
        Expression::Binary(operator, left, right, _) => {
            format!("{operator:?}({}, {})", expression(left), expression(right))
        }
    }
}
