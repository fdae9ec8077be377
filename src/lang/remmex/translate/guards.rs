//! Conditions that test a shared variable, as conditions that read it once.
//!
//! `load(y, 1) || load(y, 2)` is one read in Remmex, but [`Expression`]s read at every mention. So the condition is
//! taken apart by the value `v` that is read: where the values that it is compared with are constants `c1 < c2 < …`,
//! only the points `c1`, `c2`, … and the intervals between them differ. For each of these the rest of the condition
//! depends on the process alone; values with the same rest are put together. What is left for them is a comparison
//! with one mention of the variable:
//!
//! | values | comparison |
//! |---|---|
//! | one | `v = c` |
//! | all but one | `v != c` |
//! | from `a` to `b` | `(v - a) / (b - a + 1) = 0`, as quotients are rounded down |
//! | all but those from `a` to `b` | the same with `!=` |
//! | beyond one end | `v <= c`, `v >= c` |
//!
//! If the values are in several such pieces there is an instruction for each, from the same control state to the same
//! control state; at most one of them can be taken, and the guard waits if none can.
//!
//! If a value is computed, there is an instruction for each value, in which the other comparisons are with that value
//! instead of with the variable. That is all if the condition cannot hold where no comparison does; else there is no
//! way to write it.
//!
//! With `n` values there are at most `n + 1` instructions, each as large as the condition.

use super::expressions::{Guard, Tests, bare, folded, not};
use crate::program::{BinaryOperator, Expression, Reference, Span, Type};

/// How many values one condition may compare a variable with.
pub const MAX_VALUES: usize = 64;

/// The condition asks for what one read cannot tell.
#[derive(Debug)]
pub struct NotWithOneRead;

/// The ways in which a condition can hold, each with one read at most; none if it never does.
pub fn ways(guard: &Guard, tests: &Tests) -> Result<Vec<Expression>, NotWithOneRead> {
    let Some((reference, ty, _)) = &tests.tested else {
        return Ok(possible(guard.with(&|_| Expression::Constant(0))));
    };
    let read = Read { reference, span: reference.span };
    let none = guard.with(&|_| Expression::Constant(0));
    if let [value] = tests.values.as_slice() {
        let (held, failed) = (guard.with(&|_| Expression::Constant(1)), none);
        if bare(&held) == bare(&failed) {
            return Ok(possible(held));
        }
        let mut found = possible(and(held, read.compared(BinaryOperator::Equal, value.clone())));
        found.extend(possible(and(failed, read.compared(BinaryOperator::NotEqual, value.clone()))));
        return Ok(found);
    }
    let constants: Option<Vec<i64>> = tests.values.iter().map(constant).collect();
    if let Some(constants) = constants {
        return by_pieces(guard, &constants, *ty, &read);
    }
    if none != Expression::Constant(0) {
        return Err(NotWithOneRead);
    }
    let mut found = Vec::new();
    for value in &tests.values {
        let rest = guard.with(&|other| equal(value, &tests.values[other]));
        found.extend(possible(and(rest, read.compared(BinaryOperator::Equal, value.clone()))));
    }
    Ok(found)
}

/// The condition as it is written, with a read at every mention: for instructions that are atomic.
pub fn literally(guard: &Guard, tests: &Tests) -> Expression {
    let Some((reference, ..)) = &tests.tested else { return guard.with(&|_| Expression::Constant(0)) };
    let read = Read { reference, span: reference.span };
    guard.with(&|number| read.compared(BinaryOperator::Equal, tests.values[number].clone()))
}

fn constant(expression: &Expression) -> Option<i64> {
    match expression {
        Expression::Constant(value) => Some(*value),
        _ => None,
    }
}

fn possible(condition: Expression) -> Vec<Expression> {
    if condition == Expression::Constant(0) { Vec::new() } else { vec![condition] }
}

fn and(rest: Expression, comparison: Expression) -> Expression {
    folded(BinaryOperator::And, rest, comparison, Span::default())
}

fn equal(one: &Expression, other: &Expression) -> Expression {
    if bare(one) == bare(other) {
        return Expression::Constant(1);
    }
    folded(BinaryOperator::Equal, one.clone(), other.clone(), Span::default())
}

/// The one read of a condition.
struct Read<'a> {
    reference: &'a Reference,
    span: Span,
}

impl Read<'_> {
    fn compared(&self, operator: BinaryOperator, value: Expression) -> Expression {
        let read = Expression::Read(self.reference.clone());
        Expression::Binary(operator, Box::new(read), Box::new(value), self.span)
    }

    /// That the value is within bounds, unless these are too far from each other.
    fn within(&self, Piece { low, high }: Piece) -> Result<Expression, NotWithOneRead> {
        let binary = |operator, left: Expression, right: i128| {
            let right = i64::try_from(right).map_err(|_| NotWithOneRead)?;
            Ok(Expression::Binary(operator, Box::new(left), Box::new(Expression::Constant(right)), self.span))
        };
        let read = || Expression::Read(self.reference.clone());
        match (low, high) {
            (None, None) => Ok(Expression::Constant(1)),
            (None, Some(high)) => binary(BinaryOperator::LessEqual, read(), high),
            (Some(low), None) => binary(BinaryOperator::GreaterEqual, read(), low),
            (Some(low), Some(high)) if low == high => binary(BinaryOperator::Equal, read(), low),
            (Some(low), Some(high)) => {
                let shifted = if low == 0 { read() } else { binary(BinaryOperator::Subtract, read(), low)? };
                binary(BinaryOperator::Equal, binary(BinaryOperator::Divide, shifted, high - low + 1)?, 0)
            }
        }
    }
}

/// Values from one to another; none is no bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Piece {
    low: Option<i128>,
    high: Option<i128>,
}

/// The points and the intervals between them, in order.
fn pieces(constants: &[i64], ty: Type) -> Vec<Piece> {
    let point = |value: i128| Piece { low: Some(value), high: Some(value) };
    if ty == Type::Boolean {
        return vec![point(0), point(1)];
    }
    let mut sorted: Vec<i128> = constants.iter().map(|constant| i128::from(*constant)).collect();
    sorted.sort_unstable();
    sorted.dedup();
    let mut pieces = Vec::new();
    let mut low = None;
    for value in sorted {
        if low.is_none_or(|low| low < value) {
            pieces.push(Piece { low, high: Some(value - 1) });
        }
        pieces.push(point(value));
        low = Some(value + 1);
    }
    pieces.push(Piece { low, high: None });
    pieces
}

fn by_pieces(guard: &Guard, constants: &[i64], ty: Type, read: &Read<'_>) -> Result<Vec<Expression>, NotWithOneRead> {
    let pieces = pieces(constants, ty);
    let rest = |piece: &Piece| {
        let is_point = piece.low == piece.high;
        guard.with(&|number| {
            let is_it = is_point && piece.low == Some(i128::from(constants[number]));
            Expression::Constant(i64::from(is_it))
        })
    };
    let rests: Vec<Expression> = pieces.iter().map(rest).collect();
    let keys: Vec<Expression> = rests.iter().map(bare).collect();
    let mut found = Vec::new();
    for (first, rest) in rests.iter().enumerate() {
        let is_known = keys[..first].contains(&keys[first]);
        if is_known || *rest == Expression::Constant(0) {
            continue;
        }
        let meant = runs(&pieces, |position| keys[position] == keys[first]);
        let others = runs(&pieces, |position| keys[position] != keys[first]);
        let mut ways = vec![];
        match (meant.as_slice(), others.as_slice()) {
            // A Boolean has no other values.
            (_, []) => ways.push(Expression::Constant(1)),
            ([_, _, ..], [one]) => ways.push(outside(read.within(*one)?)),
            (several, _) => {
                for run in several {
                    ways.push(read.within(*run)?);
                }
            }
        }
        found.extend(ways.into_iter().flat_map(|way| possible(and(rest.clone(), way))));
    }
    Ok(found)
}

/// The negation of a comparison.
fn outside(comparison: Expression) -> Expression {
    match comparison {
        Expression::Binary(BinaryOperator::Equal, left, right, span) => {
            Expression::Binary(BinaryOperator::NotEqual, left, right, span)
        }
        other => not(other),
    }
}

/// The pieces that are meant, neighbours put together.
fn runs(pieces: &[Piece], is_meant: impl Fn(usize) -> bool) -> Vec<Piece> {
    let mut runs: Vec<Piece> = Vec::new();
    let mut is_open = false;
    for (position, piece) in pieces.iter().enumerate() {
        match (is_meant(position), runs.last_mut()) {
            (true, Some(run)) if is_open => run.high = piece.high,
            (true, _) => runs.push(*piece),
            (false, _) => {}
        }
        is_open = is_meant(position);
    }
    runs
}
