//! Reads the statements of a cat text, by recursive descent.
//!
//! Precedence is herd's, from what binds least: `|`, `;`, `\`, `&`, `S*T`, `~`, and what stands behind its operand
//! (`*`, `+`, `?`, `^-1`), then application. A `*` is the product of two sets if an operand follows, else the closure.
//! What was nested more than [`MOST_NESTED`] deep is refused, so that no text can exhaust the stack.

use super::error::{CatError, Place, Source};
use super::lexer::{Token, Word, words};
use super::syntax::{Binding, Check, Demand, Expression, ExpressionKind, Postfix, Statement};
use crate::text::Span;
use std::sync::Arc;

/// How deep expressions may be nested.
pub const MOST_NESTED: usize = 64;

/// Words that are no names.
const KEYWORDS: [&str; 14] = [
    "let",
    "rec",
    "and",
    "acyclic",
    "irreflexive",
    "empty",
    "flag",
    "as",
    "include",
    "show",
    "unshow",
    "in",
    "domain",
    "range",
];

/// What herd reads and this parser does not.
const NOT_READ: [&str; 17] = [
    "procedure",
    "call",
    "forall",
    "match",
    "with",
    "try",
    "if",
    "then",
    "else",
    "fun",
    "enum",
    "instructions",
    "from",
    "assert",
    "end",
    "do",
    "undefined_unless",
];

/// A text's statements.
#[derive(Debug)]
pub struct Parsed {
    /// The title, if there is one.
    pub title: Option<String>,
    /// The statements.
    pub statements: Vec<Statement>,
}

/// Reads a text.
///
/// # Errors
/// The first thing that is wrong with it.
pub fn parse(source: &Arc<Source>) -> Result<Parsed, CatError> {
    let mut parser = Parser { source, tokens: words(source)?, next: 0, open: 0 };
    let title = parser.title();
    let mut statements = Vec::new();
    while *parser.word() != Word::End {
        statements.extend(parser.statement()?);
    }
    Ok(Parsed { title, statements })
}

struct Parser<'s> {
    source: &'s Arc<Source>,
    tokens: Vec<Token>,
    next: usize,
    /// How many expressions are being read, one in the other.
    open: usize,
}

impl Parser<'_> {
    fn word(&self) -> &Word {
        &self.tokens[self.next].word
    }

    fn place(&self) -> Place {
        Place { source: Arc::clone(self.source), span: self.tokens[self.next].span }
    }

    /// From a word to the one before the next.
    fn since(&self, start: usize) -> Place {
        let end = self.tokens[self.next.saturating_sub(1)].span.end;
        let start = self.tokens[start].span.start;
        Place { source: Arc::clone(self.source), span: Span { start, end: end.max(start) } }
    }

    fn advance(&mut self) {
        // The end stays.
        self.next = (self.next + 1).min(self.tokens.len() - 1);
    }

    fn is_keyword(&self, keyword: &str) -> bool {
        matches!(self.word(), Word::Name(name) if name == keyword)
    }

    fn takes_keyword(&mut self, keyword: &str) -> bool {
        let taken = self.is_keyword(keyword);
        if taken {
            self.advance();
        }
        taken
    }

    fn takes(&mut self, sign: &str) -> bool {
        let taken = matches!(self.word(), Word::Sign(found) if *found == sign);
        if taken {
            self.advance();
        }
        taken
    }

    fn expected(&self, what: &str) -> CatError {
        let found = match self.word() {
            Word::Name(name) => format!("`{name}`"),
            Word::Text(text) => format!("\"{text}\""),
            Word::Sign(sign) => format!("`{sign}`"),
            Word::End => "the end of the text".to_owned(),
        };
        let error = CatError::new(&self.place(), format!("expected {what}, found {found}"));
        match self.word() {
            Word::Name(name) if NOT_READ.contains(&name.as_str()) => error.with_help(format!(
                "`{name}` is no part of the cat that is read here: let, let rec, functions, include, acyclic, \
                 irreflexive, empty, flag"
            )),
            _ => error,
        }
    }

    fn require(&mut self, sign: &str) -> Result<(), CatError> {
        if self.takes(sign) { Ok(()) } else { Err(self.expected(&format!("`{sign}`"))) }
    }

    fn name(&mut self, what: &str) -> Result<String, CatError> {
        match self.word() {
            Word::Name(name) if is_name(name) => {
                let name = name.clone();
                self.advance();
                Ok(name)
            }
            _ => Err(self.expected(what)),
        }
    }

    /// A name, a text, or both, before the first statement.
    fn title(&mut self) -> Option<String> {
        let mut title = None;
        if let Word::Name(name) = self.word()
            && is_name(name)
        {
            title = Some(name.clone());
            self.advance();
        }
        if let Word::Text(text) = self.word() {
            title = Some(text.clone());
            self.advance();
        }
        title
    }

    /// A statement; none if it only asks for something to be drawn.
    fn statement(&mut self) -> Result<Option<Statement>, CatError> {
        if self.takes_keyword("let") {
            return self.definitions().map(Some);
        }
        if self.takes_keyword("include") {
            let place = self.place();
            let Word::Text(file) = self.word() else { return Err(self.expected("the name of a file in quotes")) };
            let file = file.clone();
            self.advance();
            return Ok(Some(Statement::Include { place, file }));
        }
        if self.takes_keyword("show") || self.takes_keyword("unshow") {
            loop {
                self.expression()?;
                if self.takes_keyword("as") {
                    self.name("a name")?;
                }
                if !self.takes(",") {
                    return Ok(None);
                }
            }
        }
        let is_flag = self.takes_keyword("flag");
        let is_negated = self.takes("~");
        let demands = [("acyclic", Demand::Acyclic), ("irreflexive", Demand::Irreflexive), ("empty", Demand::Empty)];
        let Some((_, demand)) = demands.into_iter().find(|(keyword, _)| self.takes_keyword(keyword)) else {
            let statement = "`let`, `include`, `acyclic`, `irreflexive`, `empty` or `flag`";
            return Err(self.expected(if is_flag || is_negated {
                "`acyclic`, `irreflexive` or `empty`"
            } else {
                statement
            }));
        };
        let operand = self.expression()?;
        let name = if self.takes_keyword("as") { Some(self.name("the name of the axiom")?) } else { None };
        Ok(Some(Statement::Check(Check { is_flag, is_negated, demand, operand, name })))
    }

    fn definitions(&mut self) -> Result<Statement, CatError> {
        let recursive = self.takes_keyword("rec");
        let mut bindings = Vec::new();
        loop {
            let place = self.place();
            let name = self.name("the name to define")?;
            let parameters = if self.takes("(") {
                let mut parameters = vec![self.name("the name of a parameter")?];
                while self.takes(",") {
                    parameters.push(self.name("the name of a parameter")?);
                }
                self.require(")")?;
                Some(parameters)
            } else if matches!(self.word(), Word::Name(name) if is_name(name)) {
                Some(vec![self.name("the name of a parameter")?])
            } else {
                None
            };
            self.require("=")?;
            let body = self.expression()?;
            if self.is_keyword("in") {
                return Err(self
                    .expected("the next statement")
                    .with_help("`let … in …` is not read; write two `let`s"));
            }
            bindings.push(Binding { name, place, parameters, body });
            if !self.takes_keyword("and") {
                return Ok(Statement::Let { recursive, bindings });
            }
        }
    }

    /// An expression of some form, from the word where it starts.
    fn node(&self, start: usize, kind: ExpressionKind) -> Result<Expression, CatError> {
        use ExpressionKind::{
            Application, Complement, Difference, Empty, Identity, Intersection, Name, Postfix, Product, Sequence,
            Union, Universe,
        };
        let inner = match &kind {
            Name(_) | Empty | Universe => 0,
            Union(parts) | Sequence(parts) | Intersection(parts) | Application(_, parts) => {
                parts.iter().map(|part| part.depth).max().unwrap_or(0)
            }
            Difference(a, b) | Product(a, b) => a.depth.max(b.depth),
            Complement(a) | Identity(a) | Postfix(_, a) => a.depth,
        };
        let place = self.since(start);
        if inner >= MOST_NESTED {
            return Err(too_deep(&place));
        }
        Ok(Expression { place, kind, depth: inner + 1 })
    }

    fn expression(&mut self) -> Result<Expression, CatError> {
        if self.open == MOST_NESTED {
            return Err(too_deep(&self.place()));
        }
        self.open += 1;
        let result = self.chain("|", ExpressionKind::Union, |parser| {
            parser.chain(";", ExpressionKind::Sequence, Parser::difference)
        });
        self.open -= 1;
        result
    }

    fn chain(
        &mut self,
        sign: &str,
        make: impl Fn(Vec<Expression>) -> ExpressionKind,
        part: impl Fn(&mut Self) -> Result<Expression, CatError>,
    ) -> Result<Expression, CatError> {
        let start = self.next;
        let first = part(self)?;
        let mut parts = vec![first];
        while self.takes(sign) {
            parts.push(part(self)?);
        }
        match parts.pop() {
            Some(only) if parts.is_empty() => Ok(only),
            last => {
                parts.extend(last);
                self.node(start, make(parts))
            }
        }
    }

    fn difference(&mut self) -> Result<Expression, CatError> {
        let start = self.next;
        let intersection = |parser: &mut Self| parser.chain("&", ExpressionKind::Intersection, Parser::product);
        let mut left = intersection(self)?;
        while self.takes("\\") {
            let right = intersection(self)?;
            left = self.node(start, ExpressionKind::Difference(Box::new(left), Box::new(right)))?;
        }
        Ok(left)
    }

    fn product(&mut self) -> Result<Expression, CatError> {
        let start = self.next;
        let left = self.prefixed()?;
        if matches!(self.word(), Word::Sign("*")) && self.is_operand(self.next + 1) {
            self.advance();
            let right = self.prefixed()?;
            return self.node(start, ExpressionKind::Product(Box::new(left), Box::new(right)));
        }
        Ok(left)
    }

    /// Whether an operand starts at that word.
    fn is_operand(&self, at: usize) -> bool {
        match self.tokens.get(at).map(|token| &token.word) {
            Some(Word::Name(name)) => name == "_" || name == "domain" || name == "range" || is_name(name),
            Some(Word::Sign(sign)) => matches!(*sign, "(" | "[" | "{" | "~" | "0"),
            _ => false,
        }
    }

    fn prefixed(&mut self) -> Result<Expression, CatError> {
        let start = self.next;
        let mut signs = 0;
        while self.takes("~") {
            signs += 1;
        }
        let mut operand = self.postfixed()?;
        for sign in (0..signs).rev() {
            operand = self.node(start + sign, ExpressionKind::Complement(Box::new(operand)))?;
        }
        Ok(operand)
    }

    fn postfixed(&mut self) -> Result<Expression, CatError> {
        let start = self.next;
        let mut operand = self.simple()?;
        loop {
            let operator = match self.word() {
                Word::Sign("*") if self.is_operand(self.next + 1) => return Ok(operand),
                Word::Sign("*" | "^*") => Postfix::Star,
                Word::Sign("+" | "^+") => Postfix::Plus,
                Word::Sign("?" | "^?") => Postfix::Optional,
                Word::Sign("^-1") => Postfix::Inverse,
                _ => return Ok(operand),
            };
            self.advance();
            operand = self.node(start, ExpressionKind::Postfix(operator, Box::new(operand)))?;
        }
    }

    fn simple(&mut self) -> Result<Expression, CatError> {
        let start = self.next;
        match self.word().clone() {
            Word::Name(name) if name == "_" => {
                self.advance();
                self.node(start, ExpressionKind::Universe)
            }
            Word::Name(name) if is_name(&name) || name == "domain" || name == "range" => {
                self.advance();
                if self.takes("(") {
                    let mut arguments = vec![self.expression()?];
                    while self.takes(",") {
                        arguments.push(self.expression()?);
                    }
                    self.require(")")?;
                    return self.node(start, ExpressionKind::Application(name, arguments));
                }
                if self.is_operand(self.next) && !matches!(self.word(), Word::Sign("~" | "(")) {
                    let argument = self.nested(Parser::simple)?;
                    return self.node(start, ExpressionKind::Application(name, vec![argument]));
                }
                self.node(start, ExpressionKind::Name(name))
            }
            Word::Sign("(") => {
                self.advance();
                let inner = self.expression()?;
                if matches!(self.word(), Word::Sign(",")) {
                    return Err(self.expected("`)`").with_help("there are no tuples but as arguments of functions"));
                }
                self.require(")")?;
                Ok(inner)
            }
            Word::Sign("[") => {
                self.advance();
                let inner = self.expression()?;
                self.require("]")?;
                self.node(start, ExpressionKind::Identity(Box::new(inner)))
            }
            Word::Sign("{") => {
                self.advance();
                self.require("}")?;
                self.node(start, ExpressionKind::Empty)
            }
            Word::Sign("0") => {
                self.advance();
                self.node(start, ExpressionKind::Empty)
            }
            _ => Err(self.expected("a set or a relation")),
        }
    }

    /// Reads something inside what is being read.
    fn nested(&mut self, read: impl Fn(&mut Self) -> Result<Expression, CatError>) -> Result<Expression, CatError> {
        if self.open == MOST_NESTED {
            return Err(too_deep(&self.place()));
        }
        self.open += 1;
        let result = read(self);
        self.open -= 1;
        result
    }
}

fn too_deep(place: &Place) -> CatError {
    CatError::new(place, format!("this is nested more than {MOST_NESTED} deep"))
        .with_help("give parts of it names with `let`")
}

fn is_name(word: &str) -> bool {
    word != "_" && !KEYWORDS.contains(&word) && !NOT_READ.contains(&word)
}
