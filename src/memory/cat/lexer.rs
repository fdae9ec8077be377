//! The words of a cat text.
//!
//! Names have letters, digits, `_`, `.`, `-` and `'` (`dmb.st`, `po-loc`, `no-thin-air`); comments are `(* … *)`,
//! nested, and `// …` to the end of the line. One pass, linear.

use super::error::{CatError, Place, Source};
use crate::text::Span;
use std::sync::Arc;

/// A word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Word {
    /// A name or a keyword.
    Name(String),
    /// A text between quotes.
    Text(String),
    /// An operator or a bracket.
    Sign(&'static str),
    /// The end of the text.
    End,
}

/// A word with its place.
#[derive(Clone, Debug)]
pub struct Token {
    /// The word.
    pub word: Word,
    /// Where it stands.
    pub span: Span,
}

/// Longer ones first.
const SIGNS: [&str; 19] =
    ["^-1", "^+", "^*", "^?", "|", "&", ";", "\\", "*", "+", "?", "~", "(", ")", "[", "]", "{", "}", ","];
const OTHER_SIGNS: [&str; 2] = ["=", "0"];

/// The words of a text, and its end.
///
/// # Errors
/// If a character belongs to no word, or a comment or a text does not end.
pub fn words(source: &Arc<Source>) -> Result<Vec<Token>, CatError> {
    let text = source.text.as_str();
    let error = |start: usize, end: usize, message: &str| {
        CatError::new(&Place { source: Arc::clone(source), span: Span { start, end } }, message)
    };
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        }
        if rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
            continue;
        }
        if rest.starts_with("(*") {
            let length = comment(rest).ok_or_else(|| {
                error(at, at + 2, "this comment does not end").with_help("write `*)` where it ends; comments nest")
            })?;
            at += length;
            continue;
        }
        let (word, length) = if first == '"' {
            let end = rest[1..].find('"').filter(|end| !rest[1..=*end].contains('\n'));
            let end = end.ok_or_else(|| {
                error(at, at + 1, "this text does not end on its line").with_help("write `\"` where it ends")
            })?;
            (Word::Text(rest[1..=end].to_owned()), end + 2)
        } else if first.is_ascii_alphabetic() || first == '_' {
            let length = name_length(rest);
            (Word::Name(rest[..length].to_owned()), length)
        } else if let Some(sign) = SIGNS.iter().chain(&OTHER_SIGNS).find(|sign| rest.starts_with(**sign)) {
            (Word::Sign(sign), sign.len())
        } else {
            let message = format!("`{}` begins no word of cat", first.escape_debug());
            return Err(error(at, at + first.len_utf8(), &message)
                .with_help("operators are `|`, `&`, `;`, `\\`, `*`, `+`, `?`, `^-1`, `~`, `[S]`"));
        };
        tokens.push(Token { word, span: Span { start: at, end: at + length } });
        at += length;
    }
    tokens.push(Token { word: Word::End, span: Span { start: text.len(), end: text.len() } });
    Ok(tokens)
}

/// The length of the comment at the start, if it ends.
fn comment(text: &str) -> Option<usize> {
    let (bytes, mut depth, mut at) = (text.as_bytes(), 0_usize, 0);
    while at + 1 < bytes.len() {
        match &bytes[at..at + 2] {
            b"(*" => {
                depth += 1;
                at += 2;
            }
            b"*)" => {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => at += 1,
        }
    }
    None
}

/// The length of the name at the start: a dot or dash belongs to it only if it goes on behind it.
fn name_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let is_letter = |at: usize| bytes.get(at).is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let mut at = 1;
    while is_letter(at) || (matches!(bytes.get(at), Some(b'.' | b'-')) && is_letter(at + 1)) {
        at += 1;
    }
    while bytes.get(at) == Some(&b'\'') {
        at += 1;
    }
    at
}
