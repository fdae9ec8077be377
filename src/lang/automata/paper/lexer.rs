//! Text to tokens.

use crate::lang::Diagnostic;
use crate::program::Span;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A name or a keyword.
    Word,
    /// An integer without a sign.
    Number,
    /// An operator or a delimiter.
    Symbol,
}

/// A token.
#[derive(Clone, Copy, Debug)]
pub struct Token<'a> {
    /// What it is.
    pub kind: Kind,
    /// Its text.
    pub text: &'a str,
    /// Where it stands.
    pub span: Span,
}

/// The symbols, longest first.
const SYMBOLS: [&str; 20] =
    [":=", "==", "!=", "<=", ">=", "&&", "||", ":", ";", ",", "(", ")", "=", "<", ">", "+", "-", "*", "&", "!"];

/// All tokens; what is none is reported and skipped.
pub fn tokens<'a>(text: &'a str, errors: &mut Vec<Diagnostic>) -> Vec<Token<'a>> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let while_true = |holds: fn(char) -> bool| rest.find(|c: char| !holds(c)).unwrap_or(rest.len());
        let (kind, length) = if first.is_whitespace() || first == '\u{feff}' {
            (None, first.len_utf8())
        } else if rest.starts_with('#') || rest.starts_with("//") {
            (None, rest.find('\n').unwrap_or(rest.len()))
        } else if rest.starts_with("/*") {
            let length = rest.find("*/").map(|end| end + 2);
            if length.is_none() {
                let error = Diagnostic::error(Span { start: at, end: at + 2 }, "this comment has no end");
                errors.push(error.with_help("a comment that begins with `/*` ends with `*/`"));
            }
            (None, length.unwrap_or(rest.len()))
        } else if first.is_ascii_digit() {
            (Some(Kind::Number), while_true(|c| c.is_ascii_digit()))
        } else if first.is_alphabetic() || first == '_' {
            (Some(Kind::Word), while_true(|c| c.is_alphanumeric() || matches!(c, '_' | '\'' | '.')))
        } else if let Some(symbol) = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) {
            (Some(Kind::Symbol), symbol.len())
        } else {
            let length = first.len_utf8();
            let span = Span { start: at, end: at + length };
            errors.push(Diagnostic::error(span, format!("`{}` means nothing here", first.escape_debug())));
            (None, length)
        };
        if let Some(kind) = kind {
            tokens.push(Token { kind, text: &rest[..length], span: Span { start: at, end: at + length } });
        }
        at += length;
    }
    tokens
}
