//! Tokens to the syntax tree, by recursive descent.
//!
//! *Recovery.* A function that fails has already reported why and returns [`Reported`]; its callers pass that on up
//! to a list, which skips to where the next element can begin: behind a `;` for statements, at the next `from`, `A
//! ->` or `1:` for transitions, at the closing brace for the rest. At one token only one error is reported, so that a
//! skip that ends where it began stays silent.
//!
//! *Depth.* Parentheses, indices and prefix operators nest at most [`MAX_NESTING`] levels, which bounds the recursion
//! here and in all that walks the tree.

mod declarations;
mod expressions;
mod habits;
mod ordering;
mod properties;
mod statements;

pub use habits::meant_by;

use super::lexer::{Token, TokenKind};
use super::syntax::{Expression, Model, Name};
use crate::lang::Diagnostic;
use crate::program::Span;

/// How deep expressions may nest.
pub const MAX_NESTING: usize = 256;

/// Words that cannot be names.
pub const KEYWORDS: [&str; 26] = [
    "model",
    "classes",
    "objects",
    "channels",
    "ports",
    "variables",
    "state",
    "machines",
    "initial",
    "states",
    "transitions",
    "from",
    "to",
    "Integer",
    "Boolean",
    "Byte",
    "true",
    "false",
    "or",
    "xor",
    "and",
    "not",
    "fence",
    "atomic",
    "assert",
    "never",
];

/// The words for marks, which can be names.
pub fn mark_words() -> impl Iterator<Item = &'static str> {
    ordering::WORDS.into_iter().map(|(word, _)| word)
}

/// The error is already in the list.
struct Reported;

type Parse<T> = Result<T, Reported>;

/// Reads a model. Without a model there is at least one error.
pub fn model(text: &str, tokens: &[Token], errors: &mut Vec<Diagnostic>) -> Option<Model> {
    let mut parser = Parser { text, tokens, position: 0, nesting: 0, errors, last_error: None };
    parser.model().ok()
}

/// Reads an expression that is all of the text. Without an expression there is at least one error.
pub fn expression(text: &str, tokens: &[Token], errors: &mut Vec<Diagnostic>) -> Option<Expression> {
    let mut parser = Parser { text, tokens, position: 0, nesting: 0, errors, last_error: None };
    let expression = parser.expression("an expression").ok()?;
    if !parser.at_end() {
        parser.expected("an operator or the end of the expression");
        return None;
    }
    Some(expression)
}

struct Parser<'a> {
    text: &'a str,
    tokens: &'a [Token],
    /// The next token; the end token is never passed.
    position: usize,
    /// How many levels of nesting are open.
    nesting: usize,
    errors: &'a mut Vec<Diagnostic>,
    /// The token at which the last error was reported.
    last_error: Option<usize>,
}

impl<'a> Parser<'a> {
    fn token_at(&self, position: usize) -> Token {
        self.tokens[position.min(self.tokens.len() - 1)]
    }

    fn text_at(&self, position: usize) -> &'a str {
        let Span { start, end } = self.token_at(position).span;
        &self.text[start..end]
    }

    /// The kind of the token so many behind the next.
    fn kind(&self, ahead: usize) -> TokenKind {
        self.token_at(self.position + ahead).kind
    }

    /// The text of the token so many behind the next.
    fn peek(&self, ahead: usize) -> &'a str {
        self.text_at(self.position + ahead)
    }

    fn span(&self) -> Span {
        self.token_at(self.position).span
    }

    /// From the token at `start` to the last one that was passed.
    fn span_since(&self, start: usize) -> Span {
        let begin = self.token_at(start).span;
        let end = if self.position > start { self.token_at(self.position - 1).span.end } else { begin.end };
        Span { start: begin.start, end }
    }

    fn at(&self, text: &str) -> bool {
        self.kind(0) != TokenKind::End && self.peek(0) == text
    }

    fn at_end(&self) -> bool {
        self.kind(0) == TokenKind::End
    }

    fn is_name(&self, ahead: usize) -> bool {
        self.kind(ahead) == TokenKind::Word && !KEYWORDS.contains(&self.peek(ahead))
    }

    fn advance(&mut self) {
        self.position = (self.position + 1).min(self.tokens.len() - 1);
    }

    /// Passes the token if it is this one.
    fn eat(&mut self, text: &str) -> bool {
        let found = self.at(text);
        if found {
            self.advance();
        }
        found
    }

    fn expect(&mut self, text: &str) -> Parse<()> {
        if self.eat(text) { Ok(()) } else { Err(self.expected(&format!("`{text}`"))) }
    }

    /// Passes a name; `what` is named if there is none.
    fn name(&mut self, what: &str) -> Parse<Name> {
        if !self.is_name(0) {
            return Err(self.expected(what));
        }
        // Reports name objects with an apostrophe.
        let name = Name { text: self.peek(0).replace('\'', "."), span: self.span() };
        self.advance();
        Ok(name)
    }

    /// The next token is not `what`.
    fn expected(&mut self, what: &str) -> Reported {
        let found = match self.kind(0) {
            TokenKind::End => "the end of the file".to_owned(),
            TokenKind::Word if KEYWORDS.contains(&self.peek(0)) => format!("the keyword `{}`", self.peek(0)),
            _ => format!("`{}`", shortened(self.peek(0))),
        };
        let error = Diagnostic::error(self.span(), format!("expected {what}, found {found}"));
        let advice = match self.peek(0) {
            "==" => Some("equality is written `=`"),
            "!" => Some("negation is written `not`, inequality `!=` or `<>`"),
            "&" => Some("conjunction is written `and` or `&&`"),
            "|" => Some("disjunction is written `or` or `||`"),
            "fence" | "atomic" | "assert" if what.contains("name") => {
                Some("this word is a statement of seqcon's, not a name")
            }
            "never" if what.contains("name") => Some("this word begins a property of seqcon's, and is no name"),
            _ => None,
        };
        self.report(match advice.map(str::to_owned).or_else(|| self.advice()) {
            Some(advice) => error.with_help(advice),
            None => error,
        })
    }

    /// A part of SLCO that is left out on purpose; the next token begins it.
    fn unsupported(&mut self, what: &str) -> Reported {
        let error = Diagnostic::error(self.span(), format!("{what} are not supported"));
        self.report(error.with_help("seqcon reads the shared-memory part of SLCO: threads that share variables"))
    }

    /// Reports an error of the next token, unless one was reported there.
    fn report(&mut self, error: Diagnostic) -> Reported {
        if self.last_error != Some(self.position) {
            self.last_error = Some(self.position);
            self.errors.push(error);
        }
        Reported
    }

    /// Skips to a token that `stop` accepts or to a closing brace, both outside of braces that are skipped.
    fn skip_until(&mut self, stop: impl Fn(&Self) -> bool) {
        let mut open = 0_usize;
        while !self.at_end() {
            if open == 0 && (self.at("}") || stop(self)) {
                return;
            }
            if self.at("{") {
                open += 1;
            } else if self.at("}") {
                open -= 1;
            }
            self.advance();
        }
    }
}

/// A text that is short enough for a message.
fn shortened(text: &str) -> String {
    const LONGEST: usize = 40;
    if text.len() <= LONGEST { text.to_owned() } else { text.chars().take(LONGEST).chain(['…']).collect() }
}
