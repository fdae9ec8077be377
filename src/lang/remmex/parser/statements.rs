//! Statements.

use super::{Parsed, Parser, Reported};
use crate::lang::remmex::lexer::Kind;
use crate::lang::remmex::syntax::{Action, Branch, Name, Place, Statement};

/// What a statement looks like.
const STATEMENT: &str = "a statement is `store(x, 1);`, `r = loadval(x);`, `r = 1;`, `do … od;`, `if … fi;`, `MFENCE`, `SFENCE`, `LOCK`, `UNLOCK`, `skip;` or `break;`";
/// The words that statements begin with.
const STATEMENTS: [&str; 9] = ["store", "do", "if", "MFENCE", "SFENCE", "LOCK", "UNLOCK", "skip", "break"];
/// What ends a list of statements.
const ENDS: [&str; 6] = ["}", "::", "od", "fi", "proctype", "never"];
/// What a branch looks like.
const BRANCH: &str = "`do` and `if` have branches `:: condition -> statements`, and end with `od` and `fi`";
/// How variables are accessed.
const ACCESS: &str = "`store(x, 1)` writes a shared variable, `r = loadval(x)` reads it";

impl Parser<'_> {
    /// Statements up to what ends them; those that are wrong are left out. At the end of a process a label may stand
    /// alone.
    pub(super) fn statements(&mut self, is_process: bool) -> (Vec<Statement>, Option<Name>) {
        let mut statements = Vec::new();
        loop {
            if self.peek().is_none_or(|token| ENDS.contains(&token.text)) {
                return (statements, None);
            }
            let label = match self.label() {
                Ok(label) => label,
                Err(Reported) => {
                    self.skip_statement();
                    continue;
                }
            };
            if let Some(label) = &label
                && self.peek().is_none_or(|token| ENDS.contains(&token.text))
            {
                if is_process && self.is_next("}") {
                    return (statements, Some(label.clone()));
                }
                let help = "a label stands before a statement, or at the end of the process; here nothing is done";
                self.error(label.span, format!("nothing stands behind the label `{}`", label.text), help);
                return (statements, None);
            }
            match self.nested(|parser| parser.statement(label)) {
                Ok(statement) => statements.push(statement),
                Err(Reported) => self.skip_statement(),
            }
        }
    }

    /// Goes on behind the statement that is wrong.
    fn skip_statement(&mut self) {
        let mut open = 0_usize;
        while let Some(token) = self.peek() {
            match token.text {
                "proctype" => return,
                "}" | "::" | "od" | "fi" if open == 0 => return,
                "do" | "if" => open += 1,
                "od" | "fi" => open -= 1,
                "}" => return,
                _ => {}
            }
            self.position += 1;
            if token.text == ";" && open == 0 {
                return;
            }
        }
    }

    fn label(&mut self) -> Parsed<Option<Name>> {
        let is_label = |parser: &Self| {
            parser.is_name() && parser.tokens.get(parser.position + 1).is_some_and(|token| token.text == ":")
        };
        if !is_label(self) {
            return Ok(None);
        }
        let label = self.name("a label", STATEMENT)?;
        self.symbol(":", STATEMENT)?;
        if is_label(self) {
            let help = "a control location has one name";
            return Err(self.error(self.here(), "there are two labels before one statement", help));
        }
        Ok(Some(label))
    }

    fn statement(&mut self, label: Option<Name>) -> Parsed<Statement> {
        let first = self.position;
        let Some(token) = self.peek() else { return Err(self.expected("a statement", STATEMENT)) };
        if self.is_type() {
            let help = "the variables of a process are declared before its first statement";
            return Err(self.error(token.span, "this variable is declared too late", help));
        }
        if self.is_name() {
            return self.assignment(label);
        }
        self.position += 1;
        let mut is_semicolon_optional = false;
        let action = match token.text {
            "skip" => Action::Skip,
            "break" => Action::Break,
            "MFENCE" | "SFENCE" | "LOCK" | "UNLOCK" => {
                is_semicolon_optional = true;
                match token.text {
                    "MFENCE" => Action::Fence,
                    "SFENCE" => Action::StoreFence,
                    "LOCK" => Action::Lock,
                    _ => Action::Unlock,
                }
            }
            "store" => {
                const STORE: &str = "a write is `store(x, 1)`";
                self.symbol("(", STORE)?;
                let place = self.place(STORE)?;
                self.symbol(",", STORE)?;
                let value = self.expression()?;
                self.symbol(")", STORE)?;
                Action::Store(place, value)
            }
            "do" => Action::Do(self.branches("od")?),
            "if" => Action::If(self.branches("fi")?),
            _ => {
                self.position -= 1;
                let reported = self.expected("a statement", STATEMENT);
                if token.kind == Kind::Word && matches!(token.text, "load" | "loadval" | "load_val" | "loadVal") {
                    let help = "`if :: load(x, 1) -> skip; fi;` waits for a value, `r = loadval(x);` reads one";
                    self.errors.last_mut().into_iter().for_each(|error| error.help = Some(help.to_owned()));
                }
                return Err(reported);
            }
        };
        let span = self.span_from(first);
        if is_semicolon_optional {
            self.take(";");
        } else {
            self.symbol(";", "statements end with `;`, `od` and `fi` included")?;
        }
        Ok(Statement { label, action, span, end: self.span_from(first).end })
    }

    fn assignment(&mut self, label: Option<Name>) -> Parsed<Statement> {
        let first = self.position;
        let place = self.place(STATEMENT)?;
        if self.take("=").is_none() {
            let behind = std::mem::replace(&mut self.position, first);
            if place.indices.is_empty() {
                let reported = self.expected("a statement", STATEMENT);
                self.help_with_spelling(&STATEMENTS);
                self.position = behind;
                return Err(reported);
            }
            self.position = behind;
            return Err(self.expected("`=`", ACCESS));
        }
        let is_load = self.peek().is_some_and(|token| matches!(token.text, "loadval" | "load_val" | "loadVal"));
        let start = self.position;
        let action = if is_load {
            self.position += 1;
            self.symbol("(", ACCESS)?;
            let from = self.place(ACCESS)?;
            self.symbol(")", ACCESS)?;
            if self.is_next(";") {
                Action::Load(place, from)
            } else {
                // It is part of a larger expression, of which all that is wrong is told.
                self.position = start;
                Action::Assign(place, self.expression()?)
            }
        } else {
            Action::Assign(place, self.expression()?)
        };
        let span = self.span_from(first);
        self.symbol(";", "statements end with `;`")?;
        Ok(Statement { label, action, span, end: self.span_from(first).end })
    }

    fn branches(&mut self, end: &str) -> Parsed<Vec<Branch>> {
        let mut branches = Vec::new();
        if !self.is_next("::") {
            return Err(self.expected("`::`", BRANCH));
        }
        while self.take("::").is_some() {
            let read = |parser: &mut Self| {
                let guard = parser.expression()?;
                Ok((guard, parser.symbol("->", BRANCH)?.span.end))
            };
            match read(self) {
                Ok((guard, arrow_end)) => {
                    let (body, _) = self.statements(false);
                    branches.push(Branch { guard, body, arrow_end });
                }
                Err(Reported) => {
                    self.skip_guard();
                    self.statements(false);
                }
            }
        }
        if self.take(end).is_none() {
            return Err(self.expected(&format!("a statement, `::` or `{end}`"), BRANCH));
        }
        Ok(branches)
    }

    /// Goes on behind the arrow of a guard that is wrong, or where its branch ends.
    fn skip_guard(&mut self) {
        while let Some(token) = self.peek() {
            if ENDS.contains(&token.text) || matches!(token.text, "do" | "if") {
                return;
            }
            self.position += 1;
            if matches!(token.text, "->" | ";") {
                return;
            }
        }
    }

    /// A variable or an element of an array.
    pub(super) fn place(&mut self, help: &str) -> Parsed<Place> {
        let first = self.position;
        let name = self.name("a variable", help)?;
        let mut indices = Vec::new();
        while self.take("[").is_some() {
            indices.push(self.nested(Self::expression)?);
            self.symbol("]", "an element of an array is `a[0]`")?;
        }
        Ok(Place { name, indices, span: self.span_from(first) })
    }
}
