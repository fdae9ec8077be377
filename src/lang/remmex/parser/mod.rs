//! Tokens to the syntax tree: declarations and error states here, [`statements`] and [`expressions`] beside it.
//!
//! After an error in a statement reading goes on behind the next `;`, after one in a declaration likewise, after one
//! between processes at the next `proctype`.

mod expressions;
mod statements;

use super::lexer::{self, Kind, Token};
use super::syntax::{Declaration, Initial, Literal, Location, Model, Name, Process, Vector};
use crate::lang::Diagnostic;
use crate::lang::similar::nearest;
use crate::program::{Span, Type};

/// The words of the language.
const WORDS: [&str; 20] = [
    "int", "bool", "proctype", "do", "od", "if", "fi", "skip", "break", "true", "false", "MFENCE", "SFENCE", "LOCK",
    "UNLOCK", "store", "load", "loadval", "load_val", "loadVal",
];
/// How deep statements and expressions may nest.
const MAX_DEPTH: usize = 100;

/// What a program looks like.
const OUTLINE: &str = "a program is shared variables, `int x = 0;`, and processes, `proctype P { … }`";
/// What a declaration looks like.
const DECLARATION: &str = "a declaration is `int x = 0;`, `bool b;` or `int a[2] = {0, 0};`";
/// What an error state looks like.
pub(super) const VECTOR: &str =
    "`2 6 6` is that at least 2 processes are where this says: a number or a label for each process";

/// Reads a text.
pub fn parse(text: &str) -> Result<Model, Vec<Diagnostic>> {
    let mut errors = Vec::new();
    let tokens = lexer::tokens(text, &mut errors);
    if tokens.is_empty() && !errors.is_empty() {
        return Err(errors);
    }
    let mut parser = Parser::new(text, tokens, errors);
    let model = parser.model();
    if parser.errors.is_empty() { Ok(model) } else { Err(parser.errors) }
}

/// Reads error states as the command line has them: `2 6 6`, or `-e 2 6 6 -e …`.
pub fn parse_vectors(text: &str) -> Result<Vec<Vector>, Vec<Diagnostic>> {
    let mut errors = Vec::new();
    let tokens = lexer::tokens(text, &mut errors);
    let mut parser = Parser::new(text, tokens, errors);
    let mut vectors = Vec::new();
    parser.take_flag();
    while let Ok(vector) = parser.vector() {
        vectors.push(vector);
        if parser.peek().is_none() {
            break;
        }
        if !parser.take_flag() {
            parser.expected("a location or `-e`", VECTOR);
            break;
        }
    }
    if parser.errors.is_empty() { Ok(vectors) } else { Err(parser.errors) }
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
    fn new(text: &str, tokens: Vec<Token<'t>>, errors: Vec<Diagnostic>) -> Parser<'t> {
        let end = Span { start: text.len(), end: text.len() };
        Parser { tokens, position: 0, end, errors, depth: 0 }
    }

    fn peek(&self) -> Option<Token<'t>> {
        self.tokens.get(self.position).copied()
    }

    fn is_next(&self, text: &str) -> bool {
        self.peek().is_some_and(|token| token.text == text)
    }

    fn take(&mut self, text: &str) -> Option<Token<'t>> {
        let token = self.peek().filter(|token| token.text == text);
        self.position += usize::from(token.is_some());
        token
    }

    /// Takes `-e`.
    fn take_flag(&mut self) -> bool {
        let is_one = self.is_next("-") && self.tokens.get(self.position + 1).is_some_and(|token| token.text == "e");
        self.position += if is_one { 2 } else { 0 };
        is_one
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

    fn number(&mut self, what: &str, help: &str) -> Parsed<(i64, Span)> {
        let Some(token) = self.peek().filter(|token| token.kind == Kind::Number) else {
            return Err(self.expected(what, help));
        };
        self.position += 1;
        let too_large = "the largest number is 9223372036854775807";
        let number = token.text.parse();
        let number = number.map_err(|_| self.error(token.span, "this integer does not fit into 64 bits", too_large))?;
        Ok((number, token.span))
    }

    /// From a token to the last one that was taken.
    fn span_from(&self, first: usize) -> Span {
        let last = self.position.checked_sub(1).and_then(|last| self.tokens.get(last));
        match (self.tokens.get(first), last) {
            (Some(first), Some(last)) if first.span.start < last.span.end => {
                Span { start: first.span.start, end: last.span.end }
            }
            (Some(first), _) => first.span,
            _ => self.end,
        }
    }

    /// If the word that was not expected looks like one of these, the last error says so.
    fn help_with_spelling(&mut self, words: &[&'static str]) {
        let meant = self.peek().and_then(|token| nearest(token.text, words.iter().copied()));
        if let (Some(meant), Some(error)) = (meant, self.errors.last_mut()) {
            error.help = Some(format!("did you mean `{meant}`?"));
        }
    }

    /// Goes on behind the end of something that is wrong, or before what begins something new.
    fn skip_behind(&mut self, end: &str, begins: &[&str]) {
        while let Some(token) = self.peek() {
            if begins.contains(&token.text) {
                return;
            }
            self.position += 1;
            if token.text == end {
                return;
            }
        }
    }

    fn is_type(&self) -> bool {
        self.is_next("int") || self.is_next("bool")
    }

    fn model(&mut self) -> Model {
        let mut model = Model::default();
        while let Some(token) = self.peek() {
            if token.text == "proctype" {
                match self.process() {
                    Ok(process) => model.processes.push(process),
                    Err(Reported) => self.skip_behind("proctype", &["proctype", "never"]),
                }
            } else if token.text == "never" {
                self.position += 1;
                match self.never() {
                    Ok(vector) => model.nevers.push(vector),
                    Err(Reported) => self.skip_behind(";", &["proctype", "never"]),
                }
            } else if self.is_type() {
                if !model.processes.is_empty() {
                    let help = "shared variables are declared before the first `proctype`";
                    self.error(token.span, "this variable is declared too late", help);
                }
                model.shared.extend(self.declarations(&["proctype", "never"]));
            } else {
                self.expected("a declaration, `proctype` or `never`", OUTLINE);
                self.help_with_spelling(&["int", "bool", "proctype", "never"]);
                self.position += 1;
                self.skip_behind("proctype", &["proctype", "never", "int", "bool"]);
            }
        }
        if model.processes.is_empty() && self.errors.is_empty() {
            self.error(self.end, "there is no process", OUTLINE);
        }
        model
    }

    /// `int x = 0, y;`.
    fn declarations(&mut self, begins: &[&str]) -> Vec<Declaration> {
        let ty = if self.is_next("int") { Type::Integer } else { Type::Boolean };
        self.position += 1;
        let mut declarations = Vec::new();
        loop {
            match self.declarator(ty) {
                Ok(declaration) => declarations.push(declaration),
                Err(Reported) => {
                    self.skip_behind(";", begins);
                    return declarations;
                }
            }
            if self.take(",").is_some() {
                continue;
            }
            if self.symbol(";", DECLARATION).is_err() {
                self.skip_behind(";", begins);
            }
            return declarations;
        }
    }

    fn declarator(&mut self, ty: Type) -> Parsed<Declaration> {
        let name = self.name("the name of a variable", DECLARATION)?;
        let mut sizes = Vec::new();
        while self.take("[").is_some() {
            sizes.push(self.number("the size of an array", DECLARATION)?);
            self.symbol("]", DECLARATION)?;
        }
        let initial = if self.take("=").is_some() { Some(self.initial()?) } else { None };
        Ok(Declaration { ty, name, sizes, initial })
    }

    fn initial(&mut self) -> Parsed<Initial> {
        let first = self.position;
        if self.take("{").is_none() {
            let (value, span) = self.value("a value or `{`")?;
            return Ok(Initial::Value(value, span));
        }
        let mut values = vec![self.nested(Self::initial)?];
        while self.take(",").is_some() {
            values.push(self.nested(Self::initial)?);
        }
        self.symbol("}", DECLARATION)?;
        Ok(Initial::List(values, self.span_from(first)))
    }

    fn value(&mut self, what: &str) -> Parsed<(Literal, Span)> {
        if let Some(token) = self.take("true").or_else(|| self.take("false")) {
            return Ok((Literal::Boolean(token.text == "true"), token.span));
        }
        let help = if self.is_next("-") { "there are no negative numbers in the language" } else { DECLARATION };
        let (number, span) = self.number(what, help)?;
        Ok((Literal::Integer(number), span))
    }

    fn never(&mut self) -> Parsed<Vector> {
        let vector = self.vector()?;
        self.symbol(";", VECTOR)?;
        Ok(vector)
    }

    fn vector(&mut self) -> Parsed<Vector> {
        let first = self.position;
        let least = self.number("a number of processes", VECTOR)?;
        let mut locations = Vec::new();
        while let Some(token) = self.peek() {
            let location = match token.kind {
                Kind::Number => Location::Number(self.number("a location", VECTOR)?.0),
                Kind::Word if self.is_name() => {
                    self.position += 1;
                    Location::Label(token.text.to_owned())
                }
                _ => break,
            };
            locations.push((location, token.span));
        }
        if locations.is_empty() {
            return Err(self.expected("a location for each process", VECTOR));
        }
        Ok(Vector { least, locations, span: self.span_from(first) })
    }

    fn process(&mut self) -> Parsed<Process> {
        const PROCESS: &str = "a process is `proctype P { … }`: its variables, then its statements";
        self.symbol("proctype", OUTLINE)?;
        let name = self.name("the name of a process", PROCESS)?;
        self.symbol("{", PROCESS)?;
        let mut locals = Vec::new();
        while self.is_type() {
            locals.extend(self.declarations(&["}", "proctype", "never"]));
        }
        let (body, end) = self.statements(true);
        if self.take("}").is_none() {
            let reported = self.expected("a statement or `}`", PROCESS);
            return Err(reported);
        }
        Ok(Process { name, locals, body, end })
    }
}
