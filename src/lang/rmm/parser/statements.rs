//! Statements.

use super::{Parsed, Parser, Reported};
use crate::lang::rmm::lexer::Kind;
use crate::lang::rmm::syntax::{Action, Extent, Labelled, Location, Name, Statement};
use crate::program::Span;

/// The words with which statements begin.
const STATEMENTS: [&str; 13] =
    ["nop", "read", "write", "locked", "syncwr", "cas", "fence", "assume", "if", "while", "goto", "either", "process"];

const STATEMENT: &str = "a statement is `nop`, `read: x = 0`, `read: $r := x`, `write: x := 1`, `locked write: x := 1`, `syncwr: x := 1`, `cas(x,0,1)`, `fence`, `$r := 1`, `assume: $r = 1`, `if`, `while`, `goto`, `either{ … or … }`, `locked{ … }` or `{ … }`";
const LOCATION: &str =
    "a variable is `x`, `x[my]`, that of another process `x[0]`, and `[e]` the global one with that number";

impl Parser<'_> {
    /// Statements with `;` between them, at least one; those that are wrong are left out.
    pub(super) fn statements(&mut self) -> Vec<Labelled> {
        let mut statements = Vec::new();
        loop {
            match self.nested(Self::labelled) {
                Ok(statement) => statements.push(statement),
                Err(Reported) => self.skip_statement(),
            }
            if self.take(";").is_none() {
                return statements;
            }
        }
    }

    /// Goes on at the end of a statement that is wrong.
    fn skip_statement(&mut self) {
        let mut open = 0_usize;
        while let Some(token) = self.peek() {
            match token.text {
                "process" => return,
                ";" | "or" | "}" if open == 0 => return,
                "{" => open += 1,
                "}" => open -= 1,
                _ => {}
            }
            self.position += 1;
        }
    }

    /// All that was taken since `first`.
    fn extent(&self, first: usize) -> Extent {
        let span = self.span_from(first);
        let last = self.position.checked_sub(1).and_then(|last| self.tokens.get(last));
        let is_whole = self.tokens.get(first).zip(last).is_some_and(|(first, last)| {
            first.frame == last.frame && first.opens && last.closes && span.end == last.span.end
        });
        Extent { span, is_whole }
    }

    fn labelled(&mut self) -> Parsed<Labelled> {
        let first = self.position;
        let mut label = None;
        if self.is_name() {
            let name = self.name("a label", STATEMENT)?;
            if self.take(":").is_none() {
                self.position -= 1;
                let reported = self.expected("a statement", STATEMENT);
                self.help_with_spelling(&STATEMENTS);
                self.position += 1;
                if self.is_next("=") || self.is_next(":=") {
                    let help = "variables are written by `write: x := 1`, registers begin with `$`";
                    self.errors.last_mut().into_iter().for_each(|error| error.help = Some(help.to_owned()));
                }
                return Err(reported);
            }
            label = Some(name);
        }
        let start = self.position;
        let (action, head) = self.action()?;
        let statement = Statement { action, extent: self.extent(start), head: head.unwrap_or(self.span_from(start)) };
        Ok(Labelled { label, statement, extent: self.extent(first) })
    }

    /// A statement, and its head if that is not all of it.
    fn action(&mut self) -> Parsed<(Action, Option<Span>)> {
        let first = self.position;
        let Some(token) = self.peek() else { return Err(self.expected("a statement", STATEMENT)) };
        if token.kind == Kind::Register {
            let register = self.register(STATEMENT)?;
            self.symbol(":=", "an assignment is `$r := 1`")?;
            return Ok((Action::Assign(register, self.expression()?), None));
        }
        self.position += 1;
        let action = match token.text {
            "nop" => Action::Nop,
            "fence" => Action::Fence,
            "read" => self.read()?,
            "write" => {
                let (location, value) = self.write()?;
                Action::Write(location, value)
            }
            "syncwr" => {
                let (location, value) = self.write()?;
                Action::LockedWrite(location, value)
            }
            "locked" if self.take("write").is_some() => {
                let (location, value) = self.write()?;
                Action::LockedWrite(location, value)
            }
            "locked" => Action::Locked(self.alternatives("`write` or `{`")?),
            "either" => Action::Either(self.alternatives("`{`")?),
            "cas" => {
                const CAS: &str = "`cas(x, 0, 1)` waits until `x` is 0 and makes it 1";
                self.symbol("(", CAS)?;
                let location = self.location()?;
                self.symbol(",", CAS)?;
                let old = self.expression()?;
                self.symbol(",", CAS)?;
                let new = self.expression()?;
                self.symbol(")", CAS)?;
                Action::Exchange(location, old, new)
            }
            "assume" => {
                self.symbol(":", "an assumption is `assume: $r = 0`")?;
                Action::Assume(self.condition()?)
            }
            "goto" => Action::Goto(self.name("a label", "`goto LABEL`")?),
            "if" => {
                let condition = self.condition()?;
                let head = self.span_from(first);
                self.symbol("then", "`if $r = 0 then … else …`")?;
                let then = Box::new(self.nested(Self::labelled)?);
                let otherwise = match self.take("else") {
                    Some(_) => Some(Box::new(self.nested(Self::labelled)?)),
                    None => None,
                };
                return Ok((Action::If(condition, then, otherwise), Some(head)));
            }
            "while" => {
                let condition = self.condition()?;
                let head = self.span_from(first);
                self.symbol("do", "`while $r = 0 do …`")?;
                let body = Box::new(self.nested(Self::labelled)?);
                return Ok((Action::While(condition, body), Some(head)));
            }
            "{" => {
                let body = self.statements();
                self.symbol("}", "statements are separated by `;`, and every `{` has a `}`")?;
                Action::Block(body)
            }
            _ => {
                self.position -= 1;
                return Err(self.expected("a statement", STATEMENT));
            }
        };
        Ok((action, None))
    }

    fn alternatives(&mut self, opening: &str) -> Parsed<Vec<Vec<Labelled>>> {
        const HELP: &str = "alternatives are `{ … or … }`, statements are separated by `;`";
        if self.take("{").is_none() {
            return Err(self.expected(opening, HELP));
        }
        let mut alternatives = vec![self.statements()];
        while self.take("or").is_some() {
            alternatives.push(self.statements());
        }
        if self.take("}").is_none() {
            return Err(self.expected("`;`, `or` or `}`", HELP));
        }
        Ok(alternatives)
    }

    fn read(&mut self) -> Parsed<Action> {
        const READ: &str = "a read is `read: x = 0`, which waits for the value, or `read: $r := x`";
        self.symbol(":", READ)?;
        if self.peek().is_some_and(|token| token.kind == Kind::Register) {
            let register: Name = self.register(READ)?;
            self.symbol(":=", READ)?;
            return Ok(Action::Load(register, self.location()?));
        }
        let location = self.location()?;
        self.symbol("=", READ)?;
        Ok(Action::Expect(location, self.expression()?))
    }

    fn write(&mut self) -> Parsed<(Location, super::super::syntax::Expression)> {
        const WRITE: &str = "a write is `write: x := 1`";
        self.symbol(":", WRITE)?;
        let location = self.location()?;
        self.symbol(":=", WRITE)?;
        Ok((location, self.expression()?))
    }

    fn location(&mut self) -> Parsed<Location> {
        let first = self.position;
        if self.take("[").is_some() {
            let index = self.expression()?;
            self.symbol("]", LOCATION)?;
            return Ok(Location::Computed(index, self.span_from(first)));
        }
        let mut name = self.name("a variable", LOCATION)?;
        if self.take("[").is_none() {
            return Ok(Location::Global(name));
        }
        let owner = if self.take("my").is_some() {
            None
        } else {
            Some(self.index("`my` or the number of another process", LOCATION)?)
        };
        self.symbol("]", LOCATION)?;
        name.span = self.span_from(first);
        Ok(owner.map_or(Location::Own(name.clone()), |owner| Location::Other(name, owner)))
    }
}
