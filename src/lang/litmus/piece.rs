//! Pieces of the text that know where they stand.

use crate::lang::Diagnostic;
use crate::program::Span;

/// A part of the text; `start` is where it begins, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece<'t> {
    /// The text of the part.
    pub text: &'t str,
    /// Where it begins.
    pub start: usize,
}

impl<'t> Piece<'t> {
    /// Where it stands.
    pub fn span(self) -> Span {
        Span { start: self.start, end: self.start + self.text.len() }
    }

    /// From one byte of it to another.
    pub fn part(self, from: usize, to: usize) -> Piece<'t> {
        Piece { text: &self.text[from..to], start: self.start + from }
    }

    /// From a byte of it on.
    pub fn behind(self, from: usize) -> Piece<'t> {
        self.part(from, self.text.len())
    }

    /// Without white space around it.
    pub fn trimmed(self) -> Piece<'t> {
        let begin = self.text.len() - self.text.trim_start().len();
        self.part(begin, begin + self.text.trim().len())
    }

    /// What stands between the separators, trimmed.
    pub fn split(self, separator: char) -> Vec<Piece<'t>> {
        let mut parts = Vec::new();
        let mut begin = 0;
        for (at, _) in self.text.match_indices(separator) {
            parts.push(self.part(begin, at).trimmed());
            begin = at + separator.len_utf8();
        }
        parts.push(self.behind(begin).trimmed());
        parts
    }

    /// The name at its beginning, which may be empty, and the rest, trimmed.
    pub fn word(self) -> (Piece<'t>, Piece<'t>) {
        let end = self.text.find(|c: char| !is_word(c)).unwrap_or(self.text.len());
        (self.part(0, end), self.behind(end).trimmed())
    }

    /// The rest behind a prefix, trimmed.
    pub fn strip(self, prefix: &str) -> Option<Piece<'t>> {
        self.text.starts_with(prefix).then(|| self.behind(prefix.len()).trimmed())
    }

    /// What stands between the opening and the closing text, trimmed.
    pub fn between(self, open: &str, close: &str) -> Option<Piece<'t>> {
        let inner = self.text.strip_prefix(open)?.strip_suffix(close)?;
        Some(Piece { text: inner, start: self.start + open.len() }.trimmed())
    }

    /// An error about it.
    pub fn error(self, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error(self.span(), message)
    }

    /// The integer that it is: decimal or hexadecimal, with or without a sign.
    pub fn integer(self) -> Option<i64> {
        let (negative, digits) = match self.text.strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, self.text),
        };
        if !digits.starts_with(|c: char| c.is_ascii_digit()) {
            return None;
        }
        let value = match digits.strip_prefix("0x") {
            Some(digits) => i64::from_str_radix(digits, 16).ok()?,
            None => digits.parse().ok()?,
        };
        Some(if negative { -value } else { value })
    }

    /// Whether it is one name.
    pub fn is_name(self) -> bool {
        self.text.chars().all(is_word) && self.text.starts_with(|c: char| !c.is_ascii_digit())
    }
}

fn is_word(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_' || character == '.'
}

/// The text with its comments, `(* … *)`, turned into blanks, so that everything keeps its place.
pub fn without_comments(text: &str) -> Result<String, Diagnostic> {
    let mut bytes = text.as_bytes().to_vec();
    let mut open: Vec<usize> = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let step = match &bytes[at..] {
            [b'(', b'*', ..] => {
                open.push(at);
                2
            }
            [b'*', b')', ..] if !open.is_empty() => {
                // An inner comment is blanked with the outer one, once: comments may be nested deeply.
                let begin = open.pop().filter(|_| open.is_empty());
                let blanked = begin.map_or(0..0, |begin| begin..at + 2);
                bytes[blanked].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
                2
            }
            _ => 1,
        };
        at += step;
    }
    if let Some(&begin) = open.first() {
        let opening = Diagnostic::error(Span { start: begin, end: begin + 2 }, "this comment has no end");
        return Err(opening.with_help("a comment that begins with `(*` ends with `*)`"));
    }
    // Comments begin and end with ASCII characters: what is left is still whole.
    String::from_utf8(bytes).map_err(|_| Diagnostic::error(Span::default(), "the text is not UTF-8"))
}
