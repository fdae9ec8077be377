//! Transitions and their statements.

use super::super::lexer::TokenKind;
use super::super::syntax::{Assignment, Expression, ExpressionKind, Reference, Statement, Transition};
use super::{Parse, Parser, Reported};
use crate::lang::Diagnostic;
use crate::program::InstructionKind;

/// What begins the statements of SLCO that seqcon leaves out, and what these are.
const UNSUPPORTED: [(&str, &str); 5] = [
    ("send", "messages (`send`)"),
    ("receive", "messages (`receive`)"),
    ("after", "delays (`after`)"),
    ("delay", "delays (`delay`)"),
    ("do", "actions (`do`)"),
];

/// Either part of what stands between semicolons.
enum Part {
    Condition(Expression),
    Assignment(Assignment),
}

impl Parser<'_> {
    /// Transitions, up to a brace or a keyword.
    pub(super) fn transitions(&mut self, transitions: &mut Vec<Transition>) {
        while (self.kind(0) == TokenKind::Number || self.at("from") || self.is_name(0)) && !self.at_block() {
            match self.transition() {
                Ok(transition) => transitions.push(transition),
                Err(_) => self.skip_until(Self::at_transition),
            }
        }
    }

    /// Whether a transition begins here; no expression does so.
    fn at_transition(&self) -> bool {
        let before = |symbol| self.kind(1) == TokenKind::Symbol && self.peek(1) == symbol;
        self.at("from") || self.kind(0) == TokenKind::Number && before(":") || self.is_name(0) && before("->")
    }

    fn transition(&mut self) -> Parse<Transition> {
        let start = self.position;
        let priority = if self.kind(0) == TokenKind::Number { self.priority()? } else { 0 };
        let (from, to) = if self.eat("from") {
            let from = self.name("the name of a state")?;
            self.expect("to")?;
            (from, self.name("the name of a state")?)
        } else {
            let from = self.name("`from` or the name of a state")?;
            self.expect("->")?;
            (from, self.name("the name of a state")?)
        };
        let mut statements = Vec::new();
        if self.eat("{") {
            self.statements(&mut statements);
        }
        Ok(Transition { priority, from, to, statements, span: self.span_since(start) })
    }

    fn priority(&mut self) -> Parse<u32> {
        let (digits, span) = (self.peek(0), self.span());
        self.advance();
        self.expect(":")?;
        Ok(digits.parse().unwrap_or_else(|_| {
            self.errors.push(Diagnostic::error(span, format!("a priority is at most {}", u32::MAX)));
            0
        }))
    }

    /// Statements and the brace behind them.
    fn statements(&mut self, statements: &mut Vec<Statement>) {
        loop {
            if self.eat("}") {
                return;
            }
            let start = self.position;
            let statement = self.statement().and_then(|statement| {
                match self.text_at(start) {
                    _ if self.at(";") || self.at("}") => Ok(statement),
                    // These have a definite end; others could go on.
                    "atomic" if self.text_at(start + 1) == "assert" => Err(self.behind_expression("`;` or `}`")),
                    "fence" | "atomic" | "[" => Err(self.expected("`;` or `}`")),
                    _ => Err(self.behind_expression("`;` or `}`")),
                }
            });
            match statement {
                Ok(statement) => statements.push(statement),
                Err(_) => self.skip_statement(start),
            }
            if !self.eat(";") && !self.at("}") {
                // The brace is missing and the next transition begins, or the text ends.
                return;
            }
        }
    }

    /// Skips to the end of the statement that begins at `start`: a semicolon outside of its brackets, a brace that
    /// is not one of its own (other languages have such), a transition.
    fn skip_statement(&mut self, start: usize) {
        let stopped_at = self.position;
        self.position = start;
        let has_blocks = self.has_blocks(start);
        let (mut open, mut blocks) = (0_i32, 0_i32);
        while !self.at_end() {
            let is_end = blocks <= 0 && (self.at("}") || self.at(";") && open <= 0);
            if self.position >= stopped_at && (is_end || self.at_transition()) {
                return;
            }
            match self.peek(0) {
                "[" => open += 1,
                "]" => open -= 1,
                "{" if has_blocks => blocks += 1,
                "}" => blocks -= 1,
                _ => {}
            }
            self.advance();
        }
    }

    pub(super) fn statement(&mut self) -> Parse<Statement> {
        let start = self.position;
        if let Some((_, what)) = UNSUPPORTED.iter().find(|(word, _)| self.at(word)) {
            // Followed by an operator it is a variable of that name.
            if matches!(self.kind(1), TokenKind::Word | TokenKind::Number) && !self.is_operator(1) {
                return Err(self.unsupported(what));
            }
        }
        if let Some(reported) = self.foreign_statement() {
            return Err(reported);
        }
        let mut statement = Statement {
            kind: InstructionKind::Plain,
            condition: None,
            assignments: Vec::new(),
            assertion: None,
            span: self.span(),
        };
        if self.eat("fence") {
            statement.kind = self.fence_kind()?;
        } else if self.eat("atomic") {
            self.atomic(&mut statement)?;
        } else {
            if let Some(marks) = self.marks() {
                statement.kind = InstructionKind::Marked(marks);
            }
            self.plain(&mut statement)?;
        }
        statement.span = self.span_since(start);
        Ok(statement)
    }

    /// What is neither a fence nor atomic, behind its marks.
    fn plain(&mut self, statement: &mut Statement) -> Parse<()> {
        if self.at("assert") {
            return self.assertion(statement);
        }
        if self.at("[") {
            return self.composite(statement);
        }
        match self.part("a statement")? {
            Part::Condition(condition) => statement.condition = Some(condition),
            Part::Assignment(assignment) => statement.assignments.push(assignment),
        }
        Ok(())
    }

    /// `assert condition`
    pub(super) fn assertion(&mut self, statement: &mut Statement) -> Parse<()> {
        self.expect("assert")?;
        let start = self.position;
        statement.condition = Some(self.expression("the condition that must hold")?);
        statement.assertion = Some(self.said_since(start));
        Ok(())
    }

    /// `[condition; assignment; …]`
    pub(super) fn composite(&mut self, statement: &mut Statement) -> Parse<()> {
        self.expect("[")?;
        match self.part("a condition or an assignment")? {
            Part::Condition(condition) => statement.condition = Some(condition),
            Part::Assignment(assignment) => statement.assignments.push(assignment),
        }
        loop {
            if self.eat("]") {
                return Ok(());
            }
            if !self.at(";") {
                return Err(self.behind_expression("`;` or `]`"));
            }
            self.advance();
            if self.eat("]") {
                return Ok(());
            }
            match self.part("an assignment")? {
                Part::Assignment(assignment) => statement.assignments.push(assignment),
                Part::Condition(condition) => {
                    let message = "a condition can only stand first between `[` and `]`";
                    let help = "an assignment is written `:=`; conditions are joined by `and`";
                    self.errors.push(Diagnostic::error(condition.span, message).with_help(help));
                }
            }
        }
    }

    /// A condition or an assignment; what it is shows only behind its first expression.
    fn part(&mut self, what: &str) -> Parse<Part> {
        let start = self.position;
        let expression = self.expression(what)?;
        if !self.at(":=") {
            return Ok(Part::Condition(expression));
        }
        let target = match expression.kind {
            // In parentheses it is a value.
            ExpressionKind::Read(target) if target.span == expression.span => target,
            _ => {
                let span = self.span_since(start);
                let message = "only a variable or an element of an array can be assigned to";
                self.errors.push(Diagnostic::error(span, message));
                return Err(Reported);
            }
        };
        self.advance();
        let value = self.expression("a value")?;
        Ok(Part::Assignment(Assignment { target, value }))
    }

    /// What follows an expression neither continues nor ends it.
    fn behind_expression(&mut self, ends: &str) -> Reported {
        if self.at(":=") { self.expected(ends) } else { self.expected(&format!("an operator, {ends}")) }
    }

    /// Passes `NAME` or `NAME[index]`.
    pub(super) fn reference(&mut self) -> Parse<Reference> {
        let start = self.position;
        let name = self.name("a variable")?;
        let mut index = None;
        if self.at("[") {
            self.nested(|parser| {
                parser.advance();
                index = Some(Box::new(parser.expression("an index")?));
                if parser.at("]") { Ok(()) } else { Err(parser.behind_expression("`]`")) }
            })?;
            self.advance();
        }
        Ok(Reference { name, index, span: self.span_since(start) })
    }
}
