//! Operators on checked 64-bit integers.
//!
//! Quotients are rounded down and remainders have the sign of the divisor, as mathematicians do and mCRL2 does. What
//! has no result is a fault.

use super::compiled::FaultKind;
use super::{BinaryOperator, UnaryOperator};

/// The result of an operator with one operand.
#[inline]
pub(crate) fn apply_unary(operator: UnaryOperator, value: i64) -> Result<i64, FaultKind> {
    match operator {
        UnaryOperator::Not => Ok(i64::from(value == 0)),
        UnaryOperator::Indicator => Ok(i64::from(value != 0)),
        UnaryOperator::Minus => value.checked_neg().ok_or(FaultKind::Overflow),
    }
}

/// The result of an operator with two operands.
#[inline]
pub(crate) fn apply(operator: BinaryOperator, left: i64, right: i64) -> Result<i64, FaultKind> {
    let truth = |holds: bool| Ok(i64::from(holds));
    let checked = |result: Option<i64>| result.ok_or(FaultKind::Overflow);
    match operator {
        BinaryOperator::Or => truth(left != 0 || right != 0),
        BinaryOperator::Xor => truth((left != 0) != (right != 0)),
        BinaryOperator::And => truth(left != 0 && right != 0),
        BinaryOperator::Equal => truth(left == right),
        BinaryOperator::NotEqual => truth(left != right),
        BinaryOperator::Less => truth(left < right),
        BinaryOperator::LessEqual => truth(left <= right),
        BinaryOperator::Greater => truth(left > right),
        BinaryOperator::GreaterEqual => truth(left >= right),
        BinaryOperator::BitwiseXor => Ok(left ^ right),
        BinaryOperator::BitwiseAnd => Ok(left & right),
        BinaryOperator::Bounded if (0..right).contains(&left) => Ok(left),
        BinaryOperator::Bounded => Err(FaultKind::OutsideOfMemory),
        BinaryOperator::Add => checked(left.checked_add(right)),
        BinaryOperator::Subtract => checked(left.checked_sub(right)),
        BinaryOperator::Multiply => checked(left.checked_mul(right)),
        BinaryOperator::Divide if right == 0 => Err(FaultKind::DivisionByZero),
        BinaryOperator::Modulo if right == 0 => Err(FaultKind::DivisionByZero),
        BinaryOperator::Divide => {
            let quotient = checked(left.checked_div(right))?;
            Ok(quotient - i64::from(left % right != 0 && (left < 0) != (right < 0)))
        }
        BinaryOperator::Modulo => {
            let remainder = checked(left.checked_rem(right))?;
            Ok(if remainder != 0 && (remainder < 0) != (right < 0) { remainder + right } else { remainder })
        }
        BinaryOperator::Power => {
            let exponent = u32::try_from(right);
            match exponent {
                Ok(exponent) => checked(left.checked_pow(exponent)),
                Err(_) if right < 0 => Err(FaultKind::NegativeExponent),
                Err(_) => match left {
                    0 | 1 => Ok(left),
                    -1 => Ok(if right % 2 == 0 { 1 } else { -1 }),
                    _ => Err(FaultKind::Overflow),
                },
            }
        }
    }
}
