//! Expressions: infix, with the operators and the precedence of C, over registers and integers.

use super::lexer::Kind;
use super::{Parser, Reported};
use crate::lang::Diagnostic;
use crate::lang::automata::syntax::{Expression, Name};
use crate::program::{BinaryOperator, Span};

/// How deep expressions may be.
const MAX_DEPTH: usize = 100;

/// The operators with two operands, those that bind least first.
const LEVELS: [&[(&str, BinaryOperator)]; 7] = [
    &[("||", BinaryOperator::Or)],
    &[("&&", BinaryOperator::And)],
    &[("&", BinaryOperator::BitwiseAnd)],
    &[("==", BinaryOperator::Equal), ("!=", BinaryOperator::NotEqual)],
    &[
        ("<=", BinaryOperator::LessEqual),
        (">=", BinaryOperator::GreaterEqual),
        ("<", BinaryOperator::Less),
        (">", BinaryOperator::Greater),
    ],
    &[("+", BinaryOperator::Add), ("-", BinaryOperator::Subtract)],
    &[("*", BinaryOperator::Multiply)],
];

const HELP: &str =
    "an expression is over registers and integers, with `+ - * & == != < <= > >= && || !` and parentheses";

impl Parser<'_> {
    pub(super) fn expression(&mut self) -> Result<Expression, Reported> {
        self.level(0, 0)
    }

    fn level(&mut self, level: usize, depth: usize) -> Result<Expression, Reported> {
        let Some(operators) = LEVELS.get(level) else { return self.operand(depth) };
        let mut left = self.level(level + 1, depth)?;
        let mut length = depth;
        while let Some((_, operator)) = operators.iter().find(|(sign, _)| self.is_next(sign)) {
            self.position += 1;
            length += 1;
            let right = self.level(level + 1, depth)?;
            let span = Span { start: left.span().start, end: right.span().end };
            if length > MAX_DEPTH {
                return Err(self.too_deep(span));
            }
            left = Expression::Binary(*operator, Box::new(left), Box::new(right), span);
        }
        Ok(left)
    }

    fn operand(&mut self, depth: usize) -> Result<Expression, Reported> {
        let Some(token) = self.peek() else { return Err(self.expected("an expression", HELP)) };
        if depth > MAX_DEPTH {
            return Err(self.too_deep(token.span));
        }
        match (token.kind, token.text) {
            (Kind::Number, _) => self.number("", token.span.start),
            (Kind::Symbol, "-") => {
                self.position += 1;
                if self.peek().is_some_and(|token| token.kind == Kind::Number) {
                    return self.number("-", token.span.start);
                }
                let operand = self.operand(depth + 1)?;
                let span = Span { start: token.span.start, end: operand.span().end };
                let zero = Box::new(Expression::Constant(0, token.span));
                Ok(Expression::Binary(BinaryOperator::Subtract, zero, Box::new(operand), span))
            }
            (Kind::Symbol, "!") => {
                self.position += 1;
                let operand = self.operand(depth + 1)?;
                let span = Span { start: token.span.start, end: operand.span().end };
                Ok(Expression::Not(Box::new(operand), span))
            }
            (Kind::Symbol, "(") => {
                self.position += 1;
                let inner = self.level(0, depth + 1)?;
                self.symbol(")", "every `(` has a `)`")?;
                Ok(inner)
            }
            (Kind::Word, _) => {
                let name = self.name("an expression", HELP)?;
                self.register(name)
            }
            _ => Err(self.expected("an expression", HELP)),
        }
    }

    fn number(&mut self, sign: &str, start: usize) -> Result<Expression, Reported> {
        let Some(token) = self.peek() else { return Err(self.expected("a number", HELP)) };
        self.position += 1;
        let span = Span { start, end: token.span.end };
        match format!("{sign}{}", token.text).parse() {
            Ok(value) => Ok(Expression::Constant(value, span)),
            Err(_) => {
                self.errors.push(Diagnostic::error(span, "this integer does not fit into 64 bits"));
                Err(Reported)
            }
        }
    }

    fn register(&mut self, name: Name) -> Result<Expression, Reported> {
        if self.registers.iter().any(|register| register.text == name.text) {
            return Ok(Expression::Register(name));
        }
        if self.variables.iter().any(|variable| variable.text == name.text) {
            let message = format!("`{}` is a shared variable, and expressions are over registers", name.text);
            let help = format!("read it first, in an instruction of its own: `REG = {}`", name.text);
            return Err(self.error(name.span, message, &help));
        }
        Err(self.unknown("register", &name))
    }

    fn too_deep(&mut self, span: Span) -> Reported {
        self.errors.push(Diagnostic::error(span, format!("this expression is more than {MAX_DEPTH} operators deep")));
        Reported
    }
}
