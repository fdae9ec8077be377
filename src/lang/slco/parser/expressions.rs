//! Expressions, by climbing the levels of precedence.
//!
//! Operands with operators of one level between them stay one flat chain: from which side it is read is decided when
//! types are known, as the warning about the published reading depends on them.

use super::super::lexer::TokenKind;
use super::super::syntax::{Expression, ExpressionKind, Value};
use super::{MAX_NESTING, Parse, Parser};
use crate::lang::Diagnostic;
use crate::program::{BinaryOperator, Span, UnaryOperator};

/// An operator and how tightly it binds.
fn operator(text: &str) -> Option<(u8, BinaryOperator)> {
    Some(match text {
        "or" | "||" => (0, BinaryOperator::Or),
        "xor" => (1, BinaryOperator::Xor),
        "and" | "&&" => (2, BinaryOperator::And),
        "=" => (3, BinaryOperator::Equal),
        "!=" | "<>" => (3, BinaryOperator::NotEqual),
        "<" => (3, BinaryOperator::Less),
        "<=" => (3, BinaryOperator::LessEqual),
        ">" => (3, BinaryOperator::Greater),
        ">=" => (3, BinaryOperator::GreaterEqual),
        "+" => (4, BinaryOperator::Add),
        "-" => (4, BinaryOperator::Subtract),
        "*" => (5, BinaryOperator::Multiply),
        "/" => (5, BinaryOperator::Divide),
        "%" => (5, BinaryOperator::Modulo),
        "**" => (6, BinaryOperator::Power),
        _ => return None,
    })
}

impl Parser<'_> {
    /// Whether the token so many behind the next is an operator with two operands.
    pub(super) fn is_operator(&self, ahead: usize) -> bool {
        operator(self.peek(ahead)).is_some()
    }

    /// Passes an expression; `what` is named if none begins here.
    pub(super) fn expression(&mut self, what: &str) -> Parse<Expression> {
        self.operands_from(0, what)
    }

    /// An expression of operators that bind at least as tightly as `weakest`.
    fn operands_from(&mut self, weakest: u8, what: &str) -> Parse<Expression> {
        let start = self.position;
        let mut left = self.operand(what)?;
        while let Some((level, _)) = operator(self.peek(0)).filter(|(level, _)| *level >= weakest) {
            let mut rest = Vec::new();
            while let Some((_, operator)) = operator(self.peek(0)).filter(|(next, _)| *next == level) {
                self.advance();
                rest.push((operator, self.operands_from(level + 1, "an operand")?));
            }
            left = Expression { kind: ExpressionKind::Chain(Box::new(left), rest), span: self.span_since(start) };
        }
        Ok(left)
    }

    /// Runs `inner` one level deeper; the next token opens the level.
    pub(super) fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        if self.nesting == MAX_NESTING {
            let message = format!("this expression nests deeper than {MAX_NESTING} levels");
            let error = Diagnostic::error(self.span(), message);
            return Err(self.report(error.with_help("compute a part of it in an assignment of its own")));
        }
        self.nesting += 1;
        let result = inner(self);
        self.nesting -= 1;
        result
    }

    fn operand(&mut self, what: &str) -> Parse<Expression> {
        let start = self.position;
        let kind = match self.peek(0) {
            "(" => {
                let inner = self.nested(|parser| {
                    parser.advance();
                    let inner = parser.expression("an operand")?;
                    if parser.at(")") { Ok(inner) } else { Err(parser.expected("an operator or `)`")) }
                })?;
                self.advance();
                inner.kind
            }
            "-" if self.kind(1) == TokenKind::Number => ExpressionKind::Constant(self.signed_integer(what)?.0),
            prefix @ ("not" | "-" | "+") => {
                let operator = match prefix {
                    "not" => Some(UnaryOperator::Not),
                    "-" => Some(UnaryOperator::Minus),
                    _ => None,
                };
                let operand = self.nested(|parser| {
                    parser.advance();
                    parser.operand("an operand")
                })?;
                ExpressionKind::Unary(operator, Box::new(operand))
            }
            "true" | "false" => {
                let value = self.at("true");
                self.advance();
                ExpressionKind::Constant(Value::Boolean(value))
            }
            _ if self.kind(0) == TokenKind::Number => ExpressionKind::Constant(self.signed_integer(what)?.0),
            _ if self.is_name(0) => ExpressionKind::Read(self.reference()?),
            _ => return Err(self.expected(what)),
        };
        Ok(Expression { kind, span: self.span_since(start) })
    }

    /// An integer with an optional sign, checked against the range of 64 bits.
    pub(super) fn signed_integer(&mut self, what: &str) -> Parse<(Value, Span)> {
        let start = self.position;
        let sign = if self.at("-") || self.at("+") { self.peek(0) } else { "" };
        if !sign.is_empty() {
            self.advance();
        }
        if self.kind(0) != TokenKind::Number {
            return Err(self.expected(if sign.is_empty() { what } else { "an integer" }));
        }
        let digits = self.peek(0);
        self.advance();
        let span = self.span_since(start);
        let value = format!("{sign}{digits}").parse().unwrap_or_else(|_| {
            let message = format!("{sign}{} does not fit into 64 bits", super::shortened(digits));
            let help = format!("integers range from {} to {}", i64::MIN, i64::MAX);
            self.errors.push(Diagnostic::error(span, message).with_help(help));
            0
        });
        Ok((Value::Integer(value), span))
    }
}
