//! Expressions that instructions are translated to, simplified where an operand is a constant.
//!
//! Operators that a [`Program`](crate::program::Program) has not are made of those that it has: `a | b` is
//! `a + b - (a & b)`, a choice between two values is a sum in which one of them is multiplied by zero. Every operand
//! is still mentioned, so that the result depends on it.

use crate::program::{BinaryOperator, Expression, Span, UnaryOperator};

/// An operator at a place.
pub fn binary(operator: BinaryOperator, left: Expression, right: Expression, span: Span) -> Expression {
    use BinaryOperator::{Add, BitwiseXor, Subtract};
    match (operator, &left, &right) {
        (Add | BitwiseXor, Expression::Constant(0), _) => right,
        (Add | BitwiseXor | Subtract, _, Expression::Constant(0)) => left,
        _ => Expression::Binary(operator, Box::new(left), Box::new(right), span),
    }
}

/// Disjunction, bit by bit.
pub fn bitwise_or(left: Expression, right: Expression, span: Span) -> Expression {
    match (&left, &right) {
        (Expression::Constant(left), Expression::Constant(right)) => Expression::Constant(left | right),
        (Expression::Constant(0), _) => right,
        (_, Expression::Constant(0)) => left,
        _ => {
            let both = binary(BinaryOperator::BitwiseAnd, left.clone(), right.clone(), span);
            binary(BinaryOperator::Subtract, binary(BinaryOperator::Add, left, right, span), both, span)
        }
    }
}

/// Negation, bit by bit.
pub fn bitwise_not(operand: Expression, span: Span) -> Expression {
    binary(BinaryOperator::Subtract, Expression::Constant(-1), operand, span)
}

/// 1 if the condition holds, else 0.
pub fn indicator(condition: Expression) -> Expression {
    Expression::Unary(UnaryOperator::Indicator, Box::new(condition))
}

/// One value if the condition holds, else the other.
pub fn choice(condition: Expression, then: Expression, otherwise: Expression, span: Span) -> Expression {
    use BinaryOperator::{Add, Multiply, Subtract};
    let holds = indicator(condition);
    let fails = binary(Subtract, Expression::Constant(1), holds.clone(), span);
    binary(Add, binary(Multiply, holds, then, span), binary(Multiply, fails, otherwise, span), span)
}

/// The operator of a read-modify-write: what is there, what comes; what will be there.
pub type Modify = fn(Expression, Expression, Span) -> Expression;

/// The read-modify-write operators that architectures share, by name.
pub fn modify(name: &str) -> Option<Modify> {
    Some(match name {
        "swap" => |_, new, _| new,
        "add" => |old, new, span| binary(BinaryOperator::Add, old, new, span),
        "sub" => |old, new, span| binary(BinaryOperator::Subtract, old, new, span),
        "and" => |old, new, span| binary(BinaryOperator::BitwiseAnd, old, new, span),
        "or" => bitwise_or,
        "xor" => |old, new, span| binary(BinaryOperator::BitwiseXor, old, new, span),
        "clear" => |old, new, span| binary(BinaryOperator::BitwiseAnd, old, bitwise_not(new, span), span),
        "max" => {
            |old, new, span| choice(binary(BinaryOperator::Greater, old.clone(), new.clone(), span), old, new, span)
        }
        "min" => |old, new, span| choice(binary(BinaryOperator::Less, old.clone(), new.clone(), span), old, new, span),
        _ => return None,
    })
}
