//! Text to tokens. White space and comments are dropped; what is no token is reported and skipped.

use crate::lang::Diagnostic;
use crate::program::Span;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A name or a word of the language.
    Word,
    /// A number without a sign.
    Number,
    /// An operator or a delimiter.
    Symbol,
}

/// A token.
#[derive(Clone, Copy, Debug)]
pub struct Token<'t> {
    /// What it is.
    pub kind: Kind,
    /// Its text.
    pub text: &'t str,
    /// Where it stands.
    pub span: Span,
}

/// The symbols, longest first.
const SYMBOLS: [&str; 25] = [
    "::", "->", "==", "!=", "<=", ">=", "&&", "||", "=", "<", ">", "+", "-", "*", "/", "!", "(", ")", "[", "]", "{",
    "}", ",", ";", ":",
];

/// The tokens of a text. There are none if a comment has no end: nobody knows what it was to hide.
pub fn tokens<'t>(text: &'t str, errors: &mut Vec<Diagnostic>) -> Vec<Token<'t>> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let length_of =
            |belongs: &dyn Fn(char) -> bool| rest.find(|c: char| !belongs(c)).map_or(rest.len(), |length| length);
        let (kind, length) = if first.is_whitespace() || first == '\u{feff}' {
            (None, first.len_utf8())
        } else if rest.starts_with("//") {
            (None, rest.find('\n').unwrap_or(rest.len()))
        } else if let Some(comment) = rest.strip_prefix("/*") {
            let Some(length) = comment.find("*/") else {
                let error = Diagnostic::error(Span { start: at, end: at + 2 }, "this comment has no end");
                errors.push(error.with_help("a comment that begins with `/*` ends with `*/`; comments do not nest"));
                return Vec::new();
            };
            (None, length + 4)
        } else if first.is_ascii_digit() {
            (Some(Kind::Number), length_of(&|c| c.is_ascii_digit()))
        } else if is_name(first) {
            (Some(Kind::Word), length_of(&is_name))
        } else if let Some(symbol) = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) {
            (Some(Kind::Symbol), symbol.len())
        } else {
            let length = first.len_utf8();
            let span = Span { start: at, end: at + length };
            let error = Diagnostic::error(span, format!("`{}` means nothing here", first.escape_debug()));
            errors.push(match first {
                '&' => error.with_help("conjunction is `&&`"),
                '|' => error.with_help("disjunction is `||`"),
                '%' => error.with_help("operators on integers are `+`, `-`, `*` and `/`"),
                _ => error,
            });
            (None, length)
        };
        if let Some(kind) = kind {
            let span = Span { start: at, end: at + length };
            tokens.push(Token { kind, text: &rest[..length], span });
        }
        at += length;
    }
    tokens
}
