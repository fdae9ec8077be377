//! Expressions. Operators of one level are read from left to right.

use super::{MAX_DEPTH, Parsed, Parser};
use crate::lang::remmex::lexer::Kind;
use crate::lang::remmex::syntax::{Expression, Literal};
use crate::program::{BinaryOperator, Span};

/// The operators, weakest first.
const LEVELS: [&[(&str, BinaryOperator)]; 5] = [
    &[("||", BinaryOperator::Or)],
    &[("&&", BinaryOperator::And)],
    &[
        ("==", BinaryOperator::Equal),
        ("!=", BinaryOperator::NotEqual),
        ("<=", BinaryOperator::LessEqual),
        (">=", BinaryOperator::GreaterEqual),
        ("<", BinaryOperator::Less),
        (">", BinaryOperator::Greater),
    ],
    &[("+", BinaryOperator::Add), ("-", BinaryOperator::Subtract)],
    &[("*", BinaryOperator::Multiply), ("/", BinaryOperator::Divide)],
];

const EXPRESSION: &str = "an expression is a value, a variable of the process, `load(x, 1)`, or made of these with `|| && == != < <= > >= + - * / !`";

impl Parser<'_> {
    /// Goes one level deeper, unless it is too deep.
    pub(super) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_DEPTH {
            let message = format!("this is more than {MAX_DEPTH} levels deep");
            return Err(self.error(self.here(), message, "write it flatter"));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    pub(super) fn expression(&mut self) -> Parsed<Expression> {
        self.level(0)
    }

    fn level(&mut self, level: usize) -> Parsed<Expression> {
        let Some(operators) = LEVELS.get(level) else { return self.negation() };
        let mut left = self.level(level + 1)?;
        let mut length = self.depth;
        while let Some((operator, token)) =
            operators.iter().find_map(|(sign, operator)| Some((*operator, self.take(sign)?)))
        {
            length += 1;
            if length > MAX_DEPTH {
                let message = format!("this is more than {MAX_DEPTH} operators deep");
                return Err(self.error(token.span, message, "compute it in several steps"));
            }
            let right = self.level(level + 1)?;
            left = Expression::Binary(operator, Box::new(left), Box::new(right), token.span);
        }
        if level == 2
            && let Some(token) = self.peek().filter(|token| token.text == "=")
        {
            return Err(self.error(token.span, "`=` is no operator", "values are compared with `==`"));
        }
        Ok(left)
    }

    fn negation(&mut self) -> Parsed<Expression> {
        let first = self.position;
        if self.take("!").is_none() {
            return self.factor();
        }
        let operand = self.nested(Self::negation)?;
        Ok(Expression::Not(Box::new(operand), self.span_from(first)))
    }

    fn factor(&mut self) -> Parsed<Expression> {
        let Some(token) = self.peek() else { return Err(self.expected("an expression", EXPRESSION)) };
        let first = self.position;
        match (token.kind, token.text) {
            (Kind::Number, _) | (_, "true" | "false") => {
                let (value, span): (Literal, Span) = self.value("a value")?;
                Ok(Expression::Literal(value, span))
            }
            (_, "load") => {
                const TEST: &str = "`load(x, 1)` holds if the value of `x` is 1";
                self.position += 1;
                self.symbol("(", TEST)?;
                let place = self.place(TEST)?;
                self.symbol(",", TEST)?;
                let value = self.nested(Self::expression)?;
                self.symbol(")", TEST)?;
                Ok(Expression::Test(place, Box::new(value), self.span_from(first)))
            }
            (_, "loadval" | "load_val" | "loadVal") => {
                const LOAD: &str = "`r = loadval(x);` reads a shared variable";
                self.position += 1;
                self.symbol("(", LOAD)?;
                self.place(LOAD)?;
                self.symbol(")", LOAD)?;
                Ok(Expression::Load(self.span_from(first)))
            }
            (_, "(") => {
                self.position += 1;
                let inner = self.nested(Self::expression)?;
                self.symbol(")", "every `(` has a `)`")?;
                Ok(inner)
            }
            (_, "-") => Err(self.expected("an expression", "there is no negation: write `0 - x`")),
            _ if self.is_name() => Ok(Expression::Read(self.place(EXPRESSION)?)),
            _ => Err(self.expected("an expression", EXPRESSION)),
        }
    }
}
