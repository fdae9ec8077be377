//! Where the published grammar would give another value.
//!
//! It reads operators of one level from right to left: `a - b - c` as `a - (b - c)`. The same value comes out either
//! way for operators that are associative, also with each other: `or`, `xor`, `and`, `*`, equality of Booleans, and
//! sums in which only the last operator is `-`. (Overflow aside, which is an error in both readings.)

use super::Findings;
use crate::lang::Diagnostic;
use crate::program::{BinaryOperator, Span, Type};

/// Warns about a chain of operators of one level, between operands of these types, if its value depends on the side
/// from which it is read.
pub fn warn_if_published_reading_differs(
    operators: &[BinaryOperator],
    types: &[Type],
    span: Span,
    findings: &mut Findings,
) {
    use BinaryOperator as B;
    let Some((_, all_but_last)) = operators.split_last() else { return };
    let Some(first) = all_but_last.first() else { return };
    let same = match first {
        B::Or | B::Xor | B::And | B::BitwiseXor | B::BitwiseAnd | B::Bounded => true,
        B::Add | B::Subtract => all_but_last.iter().all(|operator| *operator == B::Add),
        B::Multiply | B::Divide | B::Modulo => operators.iter().all(|operator| *operator == B::Multiply),
        B::Power => false,
        B::Equal | B::NotEqual | B::Less | B::LessEqual | B::Greater | B::GreaterEqual => {
            operators.iter().all(|operator| matches!(operator, B::Equal | B::NotEqual))
                && types.iter().all(|ty| *ty == Type::Boolean)
        }
    };
    if !same {
        let warning = Diagnostic::warning(
            span,
            "this is read from left to right; the published tools read it from right to left",
        );
        findings.push(warning.with_help("parentheses make it the same for both: `(a - b) - c`"));
    }
}
