//! Expressions of the text to expressions of programs.
//!
//! The text has integers only, as C does; a [`Program`](crate::program::Program) tells Booleans from integers. So an
//! expression is translated for what it is wanted: [`integer`] or [`boolean`]. Constants are folded where that cannot
//! hide a fault.

use super::syntax;
use crate::program::{BinaryOperator, Expression, Reference, Scope, Span, UnaryOperator};

/// The register at a position among the locals.
pub fn register(position: usize, span: Span) -> Reference {
    Reference { scope: Scope::Local, variable: position, index: None, span }
}

/// The expression as an integer; `position` tells where registers are.
pub fn integer(expression: &syntax::Expression, position: &impl Fn(&str) -> usize) -> Expression {
    match expression {
        syntax::Expression::Constant(value, _) => Expression::Constant(*value),
        syntax::Expression::Register(name) => Expression::Read(register(position(&name.text), name.span)),
        syntax::Expression::Binary(operator, left, right, span) if !yields_boolean(*operator) => {
            let (left, right) = (integer(left, position), integer(right, position));
            Expression::Binary(*operator, Box::new(left), Box::new(right), *span)
        }
        truth => match boolean(truth, position) {
            Expression::Constant(value) => Expression::Constant(value),
            truth => Expression::Unary(UnaryOperator::Indicator, Box::new(truth)),
        },
    }
}

/// Whether the expression is not 0.
pub fn boolean(expression: &syntax::Expression, position: &impl Fn(&str) -> usize) -> Expression {
    match expression {
        syntax::Expression::Constant(value, _) => Expression::Constant(i64::from(*value != 0)),
        syntax::Expression::Not(operand, _) => negation(boolean(operand, position)),
        syntax::Expression::Binary(operator, left, right, span) if yields_boolean(*operator) => {
            let side = |side: &syntax::Expression| match operator {
                BinaryOperator::And | BinaryOperator::Or => boolean(side, position),
                _ => integer(side, position),
            };
            folded(*operator, side(left), side(right), *span)
        }
        number => folded(BinaryOperator::NotEqual, integer(number, position), Expression::Constant(0), number.span()),
    }
}

fn yields_boolean(operator: BinaryOperator) -> bool {
    !matches!(
        operator,
        BinaryOperator::Add | BinaryOperator::Subtract | BinaryOperator::Multiply | BinaryOperator::BitwiseAnd
    )
}

/// The negation of a Boolean; comparisons are turned round, so that a condition and its negation are recognised.
pub fn negation(expression: Expression) -> Expression {
    match expression {
        Expression::Constant(value) => Expression::Constant(i64::from(value == 0)),
        Expression::Unary(UnaryOperator::Not, operand) => *operand,
        Expression::Binary(operator, left, right, span) => match opposite(operator) {
            Some(opposite) => Expression::Binary(opposite, left, right, span),
            None => Expression::Unary(UnaryOperator::Not, Box::new(Expression::Binary(operator, left, right, span))),
        },
        other => Expression::Unary(UnaryOperator::Not, Box::new(other)),
    }
}

fn opposite(operator: BinaryOperator) -> Option<BinaryOperator> {
    Some(match operator {
        BinaryOperator::Equal => BinaryOperator::NotEqual,
        BinaryOperator::NotEqual => BinaryOperator::Equal,
        BinaryOperator::Less => BinaryOperator::GreaterEqual,
        BinaryOperator::GreaterEqual => BinaryOperator::Less,
        BinaryOperator::Greater => BinaryOperator::LessEqual,
        BinaryOperator::LessEqual => BinaryOperator::Greater,
        _ => return None,
    })
}

/// An operator that yields a Boolean; between two constants, its value.
pub fn folded(operator: BinaryOperator, left: Expression, right: Expression, span: Span) -> Expression {
    if let (Expression::Constant(left), Expression::Constant(right)) = (&left, &right)
        && let Ok(value) = crate::program::arithmetic::apply(operator, *left, *right)
    {
        return Expression::Constant(value);
    }
    Expression::Binary(operator, Box::new(left), Box::new(right), span)
}

/// The same without its spans: equal exactly if the expressions are.
pub fn bare(expression: &Expression) -> Expression {
    match expression {
        Expression::Constant(value) => Expression::Constant(*value),
        Expression::Read(reference) => Expression::Read(Reference {
            index: reference.index.as_ref().map(|index| Box::new(bare(index))),
            span: Span::default(),
            ..reference.clone()
        }),
        Expression::Unary(operator, operand) => Expression::Unary(*operator, Box::new(bare(operand))),
        Expression::Binary(operator, left, right, _) => {
            Expression::Binary(*operator, Box::new(bare(left)), Box::new(bare(right)), Span::default())
        }
    }
}
