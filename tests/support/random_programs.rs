//! Random programs that use all of the program representation: every operator, arrays of both types, shared and
//! local, indices in indices, priorities, moduli, fences and atomic instructions. No evaluation of theirs goes wrong,
//! and their values stay small, so that their state spaces are finite.

use rand::Rng;
use rand::rngs::StdRng;
use seqcon::ids::ControlAt;
use seqcon::program::{
    Assignment, BinaryOperator, Expression, Instruction, InstructionKind, Program, Reference, Scope, Span, Thread,
    Type, UnaryOperator, Variable,
};

const SHARED: [(&str, Type, usize); 5] = [
    ("x", Type::Integer, 1),
    ("byte", Type::Integer, 1),
    ("b", Type::Boolean, 1),
    ("v", Type::Integer, 3),
    ("w", Type::Boolean, 2),
];
const LOCALS: [(&str, Type, usize); 2] = [("r", Type::Integer, 1), ("u", Type::Integer, 2)];
/// What `byte` is taken modulo: small, to keep the state space small.
const MODULUS: i64 = 4;

pub fn random_program(rng: &mut StdRng) -> Program {
    let threads = (0..rng.random_range(1..4)).map(|number| random_thread(rng, number)).collect();
    Program { name: "random".to_owned(), shared: SHARED.iter().map(|row| random_variable(rng, row)).collect(), threads }
}

fn random_variable(rng: &mut StdRng, &(name, ty, length): &(&str, Type, usize)) -> Variable {
    let value = |rng: &mut StdRng| match (ty, name) {
        (Type::Boolean, _) => rng.random_range(0..2),
        (Type::Integer, "byte") => rng.random_range(0..MODULUS),
        (Type::Integer, _) => rng.random_range(-2..3),
    };
    Variable {
        name: name.to_owned(),
        ty,
        modulus: (name == "byte").then_some(MODULUS),
        is_array: length > 1,
        initial: (0..length).map(|_| value(rng)).collect(),
        span: Span::default(),
    }
}

fn random_thread(rng: &mut StdRng, number: usize) -> Thread {
    let states = rng.random_range(1..4);
    Thread {
        name: format!("T{number}"),
        locals: LOCALS.iter().map(|row| random_variable(rng, row)).collect(),
        states: (0..states).map(|state| format!("s{state}")).collect(),
        initial: ControlAt::new(rng.random_range(0..states)),
        instructions: (0..rng.random_range(1..5)).map(|name| random_instruction(rng, name, states)).collect(),
    }
}

fn random_instruction(rng: &mut StdRng, name: usize, states: usize) -> Instruction {
    let mut instruction = Instruction {
        name: name.to_string(),
        from: ControlAt::new(rng.random_range(0..states)),
        to: ControlAt::new(rng.random_range(0..states)),
        priority: rng.random_range(0..3),
        condition: rng.random_bool(0.5).then(|| random_boolean(rng, 2)),
        assignments: (0..rng.random_range(0..4)).map(|_| random_assignment(rng)).collect(),
        kind: InstructionKind::Plain,
        span: Span::default(),
    };
    if rng.random_bool(0.1) {
        // A fence has nothing else, and nothing comes before it.
        let Instruction { name, from, to, span, .. } = instruction;
        instruction = Instruction {
            name,
            from,
            to,
            span,
            priority: 0,
            condition: None,
            assignments: Vec::new(),
            kind: InstructionKind::Fence,
        };
    } else if rng.random_bool(0.1) {
        instruction.kind = InstructionKind::Atomic;
    }
    instruction
}

fn random_assignment(rng: &mut StdRng) -> Assignment {
    let target = random_reference(rng, None, 2);
    let (name, ty) = row(&target);
    let value = match ty {
        Type::Boolean => random_boolean(rng, 2),
        Type::Integer if name == "byte" => random_integer(rng, 2),
        // The remainder keeps values small.
        Type::Integer => binary(
            BinaryOperator::Modulo,
            random_integer(rng, 2),
            Expression::Constant(if rng.random() { 2 } else { -3 }),
        ),
    };
    Assignment { target, value }
}

fn row(reference: &Reference) -> (&'static str, Type) {
    let rows: &[(&'static str, Type, usize)] = match reference.scope {
        Scope::Shared => &SHARED,
        Scope::Local => &LOCALS,
    };
    (rows[reference.variable].0, rows[reference.variable].1)
}

/// A variable or element, of the type if one is given.
fn random_reference(rng: &mut StdRng, ty: Option<Type>, depth: usize) -> Reference {
    loop {
        let scope = if rng.random_bool(0.7) { Scope::Shared } else { Scope::Local };
        let rows: &[(&str, Type, usize)] = if scope == Scope::Shared { &SHARED } else { &LOCALS };
        let variable = rng.random_range(0..rows.len());
        if ty.is_some_and(|ty| ty != rows[variable].1) {
            continue;
        }
        let index = (rows[variable].2 > 1).then(|| {
            let is_constant = depth == 0 || rng.random_bool(0.3);
            let index = if is_constant {
                Expression::Constant(rng.random_range(-1..4))
            } else {
                random_integer(rng, depth - 1)
            };
            Box::new(index)
        });
        return Reference { scope, variable, index, span: Span::default() };
    }
}

fn random_integer(rng: &mut StdRng, depth: usize) -> Expression {
    if depth == 0 || rng.random_bool(0.3) {
        return match rng.random_range(0..3) {
            0 => Expression::Constant(rng.random_range(-2..5)),
            _ => Expression::Read(random_reference(rng, Some(Type::Integer), depth)),
        };
    }
    let operand = |rng: &mut StdRng| random_integer(rng, depth - 1);
    // From 1 to 3, or the same below zero.
    let divisor = |rng: &mut StdRng| {
        let remainder = binary(BinaryOperator::Modulo, random_integer(rng, depth - 1), Expression::Constant(3));
        let positive = binary(BinaryOperator::Add, remainder, Expression::Constant(1));
        match rng.random_range(0..4) {
            0 => Expression::Constant(2),
            1 => Expression::Constant(-2),
            2 => positive,
            _ => Expression::Unary(UnaryOperator::Minus, Box::new(positive)),
        }
    };
    match rng.random_range(0..7) {
        0 => Expression::Unary(UnaryOperator::Minus, Box::new(operand(rng))),
        1 => binary(BinaryOperator::Divide, operand(rng), divisor(rng)),
        2 => binary(BinaryOperator::Modulo, operand(rng), divisor(rng)),
        3 => {
            let exponent = binary(BinaryOperator::Modulo, operand(rng), Expression::Constant(3));
            binary(BinaryOperator::Power, operand(rng), exponent)
        }
        other => {
            let operators = [BinaryOperator::Add, BinaryOperator::Subtract, BinaryOperator::Multiply];
            binary(operators[other - 4], operand(rng), operand(rng))
        }
    }
}

fn random_boolean(rng: &mut StdRng, depth: usize) -> Expression {
    if depth == 0 || rng.random_bool(0.2) {
        return match rng.random_range(0..4) {
            0 => Expression::Constant(rng.random_range(0..2)),
            _ => Expression::Read(random_reference(rng, Some(Type::Boolean), depth)),
        };
    }
    let operators = [
        BinaryOperator::Equal,
        BinaryOperator::NotEqual,
        BinaryOperator::Less,
        BinaryOperator::LessEqual,
        BinaryOperator::Greater,
        BinaryOperator::GreaterEqual,
        BinaryOperator::And,
        BinaryOperator::Or,
        BinaryOperator::Xor,
        BinaryOperator::Equal,
        BinaryOperator::NotEqual,
    ];
    match rng.random_range(0..12) {
        0 => Expression::Unary(UnaryOperator::Not, Box::new(random_boolean(rng, depth - 1))),
        number @ 1..=6 => binary(operators[number - 1], random_integer(rng, depth - 1), random_integer(rng, depth - 1)),
        number => binary(operators[number - 1], random_boolean(rng, depth - 1), random_boolean(rng, depth - 1)),
    }
}

fn binary(operator: BinaryOperator, left: Expression, right: Expression) -> Expression {
    Expression::Binary(operator, Box::new(left), Box::new(right), Span::default())
}
