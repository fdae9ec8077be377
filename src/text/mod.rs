//! Texts: where something stands in one, and how it is shown.

pub mod excerpt;

use excerpt::floor_char_boundary;
use std::fmt::Display;

/// Where something stands in a text, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// Behind the last byte.
    pub end: usize,
}

/// A line and a column of a text, from 1; columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LineColumn {
    /// The line.
    pub line: usize,
    /// The character within the line.
    pub column: usize,
}

/// A number with its noun: `1 fence`, `2 fences`, `0 processes`.
#[must_use]
pub fn counted(number: impl Copy + Display + PartialEq + From<u8>, what: &str) -> String {
    let ending = match number == 1.into() {
        true => "",
        false if what.ends_with('s') => "es",
        false => "s",
    };
    format!("{number} {what}{ending}")
}

impl LineColumn {
    /// Where byte `offset` of `text` stands.
    #[must_use]
    pub fn of(text: &str, offset: usize) -> LineColumn {
        let offset = floor_char_boundary(text, offset);
        let before = &text[..offset];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = 1 + memchr::memchr_iter(b'\n', before.as_bytes()).count();
        LineColumn { line, column: 1 + before[line_start..].chars().count() }
    }
}
