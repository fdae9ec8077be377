//! Expressions over registers, and conditions.

use super::{MAX_DEPTH, Parsed, Parser, Reported};
use crate::lang::rmm::lexer::Kind;
use crate::lang::rmm::syntax::{Condition, Expression};
use crate::program::{BinaryOperator, Span};

/// The comparisons.
const COMPARISONS: [(&str, BinaryOperator); 6] = [
    ("=", BinaryOperator::Equal),
    ("!=", BinaryOperator::NotEqual),
    ("<=", BinaryOperator::LessEqual),
    (">=", BinaryOperator::GreaterEqual),
    ("<", BinaryOperator::Less),
    (">", BinaryOperator::Greater),
];

const EXPRESSION: &str = "an expression is a number, a register, `me`, `other 0`, `@0`, a sum or a difference; variables are read into registers first: `read: $r := x`";
const CONDITION: &str =
    "a condition compares expressions with `=`, `!=`, `<`, `>`, `<=` or `>=`; `[ … ]` are its parentheses";

impl Parser<'_> {
    /// Goes one level deeper, unless it is too deep.
    pub(super) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_DEPTH {
            return Err(self.error(
                self.here(),
                format!("this is more than {MAX_DEPTH} levels deep"),
                "write it flatter",
            ));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// Operands with operators between them, read from left to right.
    fn chain<T>(
        &mut self,
        operators: &[(&str, BinaryOperator)],
        operand: impl Fn(&mut Self) -> Parsed<T>,
        joined: impl Fn(BinaryOperator, T, T, Span) -> T,
    ) -> Parsed<T> {
        let mut left = operand(self)?;
        let mut length = self.depth;
        while let Some((operator, token)) =
            operators.iter().find_map(|(sign, operator)| Some((*operator, self.take(sign)?)))
        {
            length += 1;
            if length > MAX_DEPTH {
                let message = format!("this is more than {MAX_DEPTH} operators deep");
                return Err(self.error(token.span, message, "compute it in several steps"));
            }
            left = joined(operator, left, operand(self)?, token.span);
        }
        Ok(left)
    }

    pub(super) fn expression(&mut self) -> Parsed<Expression> {
        self.chain(
            &[("+", BinaryOperator::Add), ("-", BinaryOperator::Subtract)],
            Self::unit,
            |operator, left, right, span| Expression::Binary(operator, Box::new(left), Box::new(right), span),
        )
    }

    fn unit(&mut self) -> Parsed<Expression> {
        let Some(token) = self.peek() else { return Err(self.expected("an expression", EXPRESSION)) };
        let first = self.position;
        match (token.kind, token.text) {
            (Kind::Register, _) => Ok(Expression::Register(self.register(EXPRESSION)?)),
            (Kind::Number, _) => Ok(Expression::Number(self.number("a number", EXPRESSION)?)),
            (_, "me") => {
                self.position += 1;
                Ok(Expression::Me)
            }
            (_, "other" | "@") => {
                self.position += 1;
                let number = self.index("the number of a process", EXPRESSION)?;
                let span = self.span_from(first);
                let is_other = token.text == "other";
                Ok(if is_other { Expression::Other(number, span) } else { Expression::Process(number, span) })
            }
            (_, "-") => {
                self.position += 1;
                Ok(Expression::Minus(Box::new(self.nested(Self::unit)?)))
            }
            (_, "(") => {
                self.position += 1;
                let inner = self.nested(Self::expression)?;
                self.symbol(")", "every `(` has a `)`")?;
                Ok(inner)
            }
            _ => Err(self.expected("an expression", EXPRESSION)),
        }
    }

    pub(super) fn condition(&mut self) -> Parsed<Condition> {
        let joined = |operator, left, right, span| Condition::Binary(operator, Box::new(left), Box::new(right), span);
        let conjunction = |parser: &mut Self| parser.chain(&[("&&", BinaryOperator::And)], Self::negation, joined);
        self.chain(&[("||", BinaryOperator::Or)], conjunction, joined)
    }

    fn negation(&mut self) -> Parsed<Condition> {
        match self.take("not") {
            Some(_) => Ok(Condition::Not(Box::new(self.atom()?))),
            None => self.atom(),
        }
    }

    fn atom(&mut self) -> Parsed<Condition> {
        if let Some(token) = self.take("true").or_else(|| self.take("false")) {
            return Ok(Condition::Constant(token.text == "true"));
        }
        if self.take("[").is_some() {
            let inner = self.nested(Self::condition)?;
            self.symbol("]", "every `[` has a `]`")?;
            return Ok(inner);
        }
        let left = self.expression()?;
        for (sign, operator) in COMPARISONS {
            if let Some(token) = self.take(sign) {
                return Ok(Condition::Compare(operator, left, self.expression()?, token.span));
            }
        }
        let reported: Reported = self.expected("a comparison", CONDITION);
        Err(reported)
    }
}
