//! Text to tokens. White space and comments are dropped; what is no token is reported and skipped.

use crate::lang::Diagnostic;
use crate::program::Span;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A name or a word of the language.
    Word,
    /// A register, with its `$`.
    Register,
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
    /// Where it stands; what an argument puts into a macro stands where the parameter does.
    pub span: Span,
    /// In which expansion of a macro it stands; 0 is the text itself.
    pub frame: u32,
    /// Whether nothing else stands at this place before it: else it is not the first token of an argument.
    pub opens: bool,
    /// Whether nothing else stands at this place behind it.
    pub closes: bool,
}

/// The symbols, longest first.
const SYMBOLS: [&str; 22] = [
    ":=", "||", "&&", "!=", "<=", ">=", "=", "(", ")", ",", "-", "*", ";", ":", "{", "}", "<", ">", "+", "[", "]", "@",
];

/// The tokens of a text. There are none if a comment has no end: nobody knows what it was to hide.
pub fn tokens<'t>(text: &'t str, errors: &mut Vec<Diagnostic>) -> Vec<Token<'t>> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let length_of = |from: usize, belongs: &dyn Fn(char) -> bool| {
            rest[from..].find(|c: char| !belongs(c)).map_or(rest.len(), |length| from + length)
        };
        let (kind, length) = if first.is_whitespace() || first == '\u{feff}' {
            (None, first.len_utf8())
        } else if let Some(comment) = rest.strip_prefix("/*") {
            let Some(length) = comment.find("*/") else {
                let error = Diagnostic::error(Span { start: at, end: at + 2 }, "this comment has no end");
                errors.push(error.with_help("a comment that begins with `/*` ends with `*/`; comments do not nest"));
                return Vec::new();
            };
            (None, length + 4)
        } else if first.is_ascii_digit() {
            (Some(Kind::Number), length_of(0, &|c| c.is_ascii_digit()))
        } else if is_name(first) {
            (Some(Kind::Word), length_of(0, &is_name))
        } else if first == '$' && rest[1..].starts_with(is_name) {
            (Some(Kind::Register), length_of(1, &is_name))
        } else if let Some(symbol) = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) {
            (Some(Kind::Symbol), symbol.len())
        } else {
            let length = first.len_utf8();
            let span = Span { start: at, end: at + length };
            let error = Diagnostic::error(span, format!("`{}` means nothing here", first.escape_debug()));
            errors.push(match first {
                '/' => error.with_help("comments are written `/* … */`"),
                '$' => error.with_help("a register is `$` and a name without a blank between: `$r0`"),
                _ => error,
            });
            (None, length)
        };
        if let Some(kind) = kind {
            let span = Span { start: at, end: at + length };
            tokens.push(Token { kind, text: &rest[..length], span, frame: 0, opens: true, closes: true });
        }
        at += length;
    }
    tokens
}
