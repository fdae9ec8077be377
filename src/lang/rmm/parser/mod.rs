//! Tokens to the syntax tree: declarations here, [`statements`] and [`expressions`] beside it.
//!
//! After an error in a statement reading goes on behind the next `;`, after one in a declaration at the next section.

mod expressions;
mod statements;

use super::lexer::{self, Kind, Token};
use super::macros;
use super::syntax::{Declaration, Model, Name, Process, Vector};
use crate::lang::Diagnostic;
use crate::lang::similar::nearest;
use crate::program::Span;
use std::collections::HashSet;

/// The words of the language.
const WORDS: [&str; 30] = [
    "if",
    "then",
    "else",
    "while",
    "do",
    "read",
    "write",
    "locked",
    "cas",
    "goto",
    "true",
    "false",
    "my",
    "me",
    "other",
    "process",
    "not",
    "nop",
    "syncwr",
    "fence",
    "text",
    "data",
    "registers",
    "either",
    "or",
    "forbidden",
    "predicates",
    "assume",
    "macro",
    "endmacro",
];
/// How deep statements and expressions may nest.
const MAX_DEPTH: usize = 100;
/// How many processes one `process(N)` may stand for.
pub const MAX_COUNT: usize = 1000;

/// What a program looks like.
const OUTLINE: &str = "a program is `forbidden`, labels of all processes, `data`, global variables, and for each process `process`, its `data`, `registers` and `text`";
/// What a declaration looks like.
const DECLARATION: &str = "a declaration is `x = 0 : [0:1]`: a name, the value at the start (`*` is any) and the range";

/// Reads a text.
pub fn parse(text: &str) -> Result<Model, Vec<Diagnostic>> {
    let mut errors = Vec::new();
    let end = Span { start: text.len(), end: text.len() };
    let tokens = lexer::tokens(text, &mut errors);
    if tokens.is_empty() && !errors.is_empty() {
        return Err(errors);
    }
    let known = errors.len();
    let tokens = macros::expanded(&tokens, end, &mut errors);
    if errors.len() > known {
        return Err(errors);
    }
    let mut parser = Parser { tokens, position: 0, end, errors, depth: 0 };
    let model = parser.model();
    if parser.errors.is_empty() { Ok(model) } else { Err(parser.errors) }
}

/// Something was wrong and was reported.
struct Reported;

type Parsed<T> = Result<T, Reported>;

struct Parser<'t> {
    tokens: Vec<Token<'t>>,
    position: usize,
    end: Span,
    errors: Vec<Diagnostic>,
    depth: usize,
}

impl<'t> Parser<'t> {
    fn peek(&self) -> Option<Token<'t>> {
        self.tokens.get(self.position).copied()
    }

    /// Whether the next token has this text; registers begin with `$`, so that none is taken for a word.
    fn is_next(&self, text: &str) -> bool {
        self.peek().is_some_and(|token| token.text == text)
    }

    fn take(&mut self, text: &str) -> Option<Token<'t>> {
        let token = self.peek().filter(|token| token.text == text);
        self.position += usize::from(token.is_some());
        token
    }

    fn error(&mut self, span: Span, message: impl Into<String>, help: &str) -> Reported {
        self.errors.push(Diagnostic::error(span, message).with_help(help));
        Reported
    }

    /// Where the next token stands.
    fn here(&self) -> Span {
        self.peek().map_or(self.end, |token| token.span)
    }

    fn expected(&mut self, what: &str, help: &str) -> Reported {
        let found = self.peek().map_or("the end of the file".to_owned(), |token| format!("`{}`", token.text));
        self.error(self.here(), format!("expected {what}, found {found}"), help)
    }

    fn symbol(&mut self, symbol: &str, help: &str) -> Parsed<Token<'t>> {
        match self.take(symbol) {
            Some(token) => Ok(token),
            None => Err(self.expected(&format!("`{symbol}`"), help)),
        }
    }

    fn is_name(&self) -> bool {
        self.peek().is_some_and(|token| token.kind == Kind::Word && !WORDS.contains(&token.text))
    }

    fn name(&mut self, what: &str, help: &str) -> Parsed<Name> {
        match self.peek() {
            Some(token) if self.is_name() => {
                self.position += 1;
                Ok(Name { text: token.text.to_owned(), span: token.span })
            }
            Some(token) if token.kind == Kind::Word => {
                Err(self.expected(what, &format!("`{}` is a word of the language and no name", token.text)))
            }
            _ => Err(self.expected(what, help)),
        }
    }

    fn register(&mut self, help: &str) -> Parsed<Name> {
        match self.peek() {
            Some(token) if token.kind == Kind::Register => {
                self.position += 1;
                Ok(Name { text: token.text.to_owned(), span: token.span })
            }
            _ => Err(self.expected("a register", help)),
        }
    }

    fn number(&mut self, what: &str, help: &str) -> Parsed<i64> {
        let Some(token) = self.peek().filter(|token| token.kind == Kind::Number) else {
            return Err(self.expected(what, help));
        };
        self.position += 1;
        let too_large = "the largest number is 9223372036854775807";
        token.text.parse().map_err(|_| self.error(token.span, "this integer does not fit into 64 bits", too_large))
    }

    /// A number that counts processes.
    fn index(&mut self, what: &str, help: &str) -> Parsed<usize> {
        // Larger ones are no process either, and are told so where processes are known.
        Ok(usize::try_from(self.number(what, help)?).unwrap_or(usize::MAX))
    }

    fn integer(&mut self) -> Parsed<i64> {
        let is_negative = self.take("-").is_some();
        let number = self.number("an integer", DECLARATION)?;
        Ok(if is_negative { -number } else { number })
    }

    /// From a token to the last one that was taken.
    fn span_from(&self, first: usize) -> Span {
        let (first, last) =
            (self.tokens.get(first), self.position.checked_sub(1).and_then(|last| self.tokens.get(last)));
        match (first, last) {
            (Some(first), Some(last)) if first.frame == last.frame && first.span.start < last.span.end => {
                Span { start: first.span.start, end: last.span.end }
            }
            (Some(first), _) => first.span,
            _ => self.end,
        }
    }

    fn model(&mut self) -> Model {
        let mut model = Model::default();
        let first = self.position;
        if self.take("forbidden").is_some() {
            model.forbidden = self.forbidden();
            model.forbidden_span = Some(self.span_from(first));
        }
        let first = self.position;
        if self.take("predicates").is_some() {
            if self.predicates().is_err() {
                self.skip_to(&["data", "process"]);
            }
            model.predicates = Some(self.span_from(first));
        }
        if self.take("data").is_some() {
            model.globals = self.declarations(false);
        }
        while self.peek().is_some() {
            if !self.is_next("process") {
                let what = if model.processes.is_empty() { "`process`" } else { "`;` or `process`" };
                self.expected(what, OUTLINE);
                self.help_with_spelling(&["forbidden", "predicates", "data", "process"]);
                self.position += 1;
                self.skip_to(&["process"]);
            } else if let Ok(process) = self.process() {
                model.processes.push(process);
            } else {
                self.skip_to(&["process"]);
            }
        }
        if model.processes.is_empty() && self.errors.is_empty() {
            self.error(self.end, "there is no process", OUTLINE);
        }
        model
    }

    /// If the word that was not expected looks like one of these, the last error says so.
    fn help_with_spelling(&mut self, words: &[&'static str]) {
        let meant = self.peek().and_then(|token| nearest(token.text, words.iter().copied()));
        if let (Some(meant), Some(error)) = (meant, self.errors.last_mut()) {
            error.help = Some(format!("did you mean `{meant}`?"));
        }
    }

    fn skip_to(&mut self, words: &[&str]) {
        while self.peek().is_some_and(|token| token.kind != Kind::Word || !words.contains(&token.text)) {
            self.position += 1;
        }
    }

    fn forbidden(&mut self) -> Vec<Vector> {
        let mut vectors = Vec::new();
        loop {
            let first = self.position;
            let mut labels = Vec::new();
            loop {
                if self.take("*").is_some() {
                    labels.push(None);
                } else if self.is_name() {
                    labels.extend(self.name("", "").map(Some));
                } else {
                    break;
                }
            }
            if labels.is_empty() {
                self.expected("a label or `*`", "a forbidden vector has a label for each process, or `*` for any");
                self.skip_to(&["predicates", "data", "process"]);
                return vectors;
            }
            vectors.push(Vector { labels, span: self.span_from(first) });
            if self.take(";").is_none() {
                return vectors;
            }
        }
    }

    fn predicates(&mut self) -> Parsed<()> {
        loop {
            self.condition()?;
            if self.take(";").is_none() {
                return Ok(());
            }
        }
    }

    /// Declarations up to the next section.
    fn declarations(&mut self, are_registers: bool) -> Vec<Declaration> {
        let mut declarations = Vec::new();
        loop {
            match self.declaration(are_registers) {
                Ok(declaration) => declarations.push(declaration),
                Err(Reported) => {
                    self.skip_to(&["data", "registers", "text", "process"]);
                    break;
                }
            }
            let is_one_more = self.take(",").is_some()
                || if are_registers {
                    self.peek().is_some_and(|token| token.kind == Kind::Register)
                } else {
                    self.is_name()
                };
            if !is_one_more {
                break;
            }
        }
        let mut known = HashSet::new();
        for Declaration { name, .. } in &declarations {
            if !known.insert(name.text.clone()) {
                let what = if are_registers { "registers" } else { "variables" };
                self.errors.push(Diagnostic::error(name.span, format!("there are two {what} `{}`", name.text)));
            }
        }
        declarations
    }

    fn declaration(&mut self, is_register: bool) -> Parsed<Declaration> {
        let first = self.position;
        let name = if is_register {
            self.register("a declaration is `$r = 0 : [0:1]`: a register, the value at the start and the range")?
        } else {
            self.name("the name of a variable", DECLARATION)?
        };
        self.symbol("=", DECLARATION)?;
        let initial = if self.take("*").is_some() { None } else { Some(self.integer()?) };
        let mut range = None;
        if self.take(":").is_some() && self.take("Z").is_none() {
            let opening = self.symbol("[", "a range is `[0:1]`, or `Z` for all integers")?;
            let low = self.integer()?;
            self.symbol(":", "a range is `[0:1]`, or `Z` for all integers")?;
            let high = self.integer()?;
            let closing = self.symbol("]", "a range is `[0:1]`, or `Z` for all integers")?;
            if low > high {
                let span = Span { start: opening.span.start, end: closing.span.end.max(opening.span.end) };
                self.error(span, format!("no value is from {low} to {high}"), "the smaller end comes first: `[0:1]`");
            } else if let Some(initial) = initial.filter(|initial| !(low..=high).contains(initial)) {
                let message = format!("the value at the start, {initial}, is not in the range");
                self.error(self.span_from(first), message, DECLARATION);
            }
            range = Some((low, high));
        }
        Ok(Declaration { name, initial, range, span: self.span_from(first) })
    }

    fn process(&mut self) -> Parsed<Process> {
        let first = self.position;
        self.symbol("process", OUTLINE)?;
        let span = self.span_from(first);
        let mut count = None;
        if self.take("(").is_some() {
            let first = self.position;
            let number = self.index("the number of processes", "`process(2)` are two processes with one text")?;
            let span = self.span_from(first);
            if !(1..=MAX_COUNT).contains(&number) {
                let message = format!("expected a number of processes from 1 to {MAX_COUNT}");
                self.error(span, message, "`process(2)` are two processes with one text");
            }
            self.symbol(")", "`process(2)` are two processes with one text")?;
            count = Some((number.clamp(1, MAX_COUNT), span));
        }
        let (mut data, mut registers) = (None, None);
        while let Some(section) = self.take("data").or_else(|| self.take("registers")) {
            let are_registers = section.text == "registers";
            let known = if are_registers { &mut registers } else { &mut data };
            if known.is_some() {
                let message = format!("there are two `{}`", section.text);
                self.error(section.span, message, "put all of them into one");
            }
            let declarations = self.declarations(are_registers);
            *(if are_registers { &mut registers } else { &mut data }) = Some(declarations);
        }
        if self.take("text").is_none() {
            let reported = self.expected("`data`, `registers` or `text`", OUTLINE);
            self.help_with_spelling(&["data", "registers", "text"]);
            return Err(reported);
        }
        let body = self.statements();
        Ok(Process { span, count, data: data.unwrap_or_default(), registers: registers.unwrap_or_default(), body })
    }
}
