//! What can be wrong with an input, in one type.
//!
//! Every message has the same shape, so that people and editors can jump to it:
//! `path:line:column: expected X, found Y; what to do`. Lines and columns count from 1, columns in bytes. The position
//! is computed only when an error is made: the readers carry plain byte offsets.

#![forbid(unsafe_code)]

use crate::budget::Exhausted;
use std::fmt;

/// How much of an offending text a message quotes.
const QUOTED_CHARS: usize = 120;

/// An input that could not be read. See the [module](self) for the shape of its message.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct Error(Box<Problem>);

/// The parts of a message.
#[derive(Debug, thiserror::Error)]
enum Problem {
    /// The operating system, or a decompressor, refused.
    #[error("{path}: {action}: {cause}; {remedy}")]
    Access {
        path: String,
        action: &'static str,
        #[source]
        cause: std::io::Error,
        remedy: &'static str,
    },
    /// The contents are not what they should be.
    #[error("{path}{place}: expected {expected}, found {found}; {remedy}")]
    Contents { path: String, place: Place, expected: String, found: String, remedy: String },
    /// A limit was reached first.
    #[error("{path}: stopped at {limit} while reading; of a part nothing can be said, so allow more")]
    Exhausted { path: String, limit: Exhausted },
}

/// Where in an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// In a text.
    Text(BytePosition),
    /// In a table; rows count from 1.
    Row(u64),
    /// Nowhere in particular.
    File,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Text(place) => write!(f, ":{place}"),
            Place::Row(row) => write!(f, ": row {row}"),
            Place::File => Ok(()),
        }
    }
}

/// A position in a text, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BytePosition {
    /// The line.
    pub line: u64,
    /// The byte within the line.
    pub column: u64,
}

impl BytePosition {
    /// The place of byte `offset` of `text`.
    #[must_use]
    pub fn of(text: &[u8], offset: usize) -> BytePosition {
        let before = &text[..offset.min(text.len())];
        let line_start = memchr::memrchr(b'\n', before).map_or(0, |newline| newline + 1);
        let line = 1 + memchr::memchr_iter(b'\n', before).count() as u64;
        BytePosition { line, column: 1 + (before.len() - line_start) as u64 }
    }
}

impl fmt::Display for BytePosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

impl Error {
    /// The input could not be opened or read.
    pub(crate) fn access(path: &str, action: &'static str, cause: std::io::Error, remedy: &'static str) -> Error {
        Error(Box::new(Problem::Access { path: path.to_owned(), action, cause, remedy }))
    }

    /// The byte at `offset` of `text` is not what was expected; what was found is quoted from the text.
    pub(crate) fn unexpected(
        path: &str,
        text: &[u8],
        offset: usize,
        expected: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Error {
        Error::contents(path, BytePosition::of(text, offset), expected, found_at(text, offset), remedy)
    }

    /// Something at `place` is not what was expected.
    pub(crate) fn contents(
        path: &str,
        place: BytePosition,
        expected: impl Into<String>,
        found: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Error {
        Error::at(Place::Text(place), path, expected.into(), found.into(), remedy.into())
    }

    /// Something in a row of a table is not what was expected.
    pub(crate) fn at_row(
        path: &str,
        row: u64,
        expected: impl Into<String>,
        found: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Error {
        Error::at(Place::Row(row), path, expected.into(), found.into(), remedy.into())
    }

    /// The file as a whole is not what was expected.
    pub(crate) fn of_file(path: &str, expected: &str, found: String, remedy: &str) -> Error {
        Error::at(Place::File, path, expected.to_owned(), found, remedy.to_owned())
    }

    fn at(place: Place, path: &str, expected: String, found: String, remedy: String) -> Error {
        Error(Box::new(Problem::Contents { path: path.to_owned(), place, expected, found, remedy }))
    }

    /// Where in the text it is, if its contents are at fault.
    #[must_use]
    pub fn place(&self) -> Option<BytePosition> {
        match *self.0 {
            Problem::Contents { place: Place::Text(place), .. } => Some(place),
            Problem::Access { .. } | Problem::Contents { .. } | Problem::Exhausted { .. } => None,
        }
    }

    /// The same problem at another place, if `place` knows one.
    pub(crate) fn at_place(mut self, moved: impl Fn(BytePosition) -> Option<BytePosition>) -> Error {
        if let Problem::Contents { place: Place::Text(place), .. } = &mut *self.0 {
            *place = moved(*place).unwrap_or(*place);
        }
        self
    }

    /// A limit was reached while the input was being read.
    pub(crate) fn at_limit(path: &str, limit: Exhausted) -> Error {
        Error(Box::new(Problem::Exhausted { path: path.to_owned(), limit }))
    }

    /// The limit that was reached, if that is why.
    #[must_use]
    pub fn exhausted(&self) -> Option<Exhausted> {
        match *self.0 {
            Problem::Exhausted { limit, .. } => Some(limit),
            Problem::Access { .. } | Problem::Contents { .. } => None,
        }
    }
}

/// Quotes a text for a message: lossily decoded, cut after 120 characters, control characters escaped.
#[must_use]
pub fn quoted(text: &[u8]) -> String {
    // A character has at most four bytes, so a longer prefix is never needed, however long the text is.
    let prefix = String::from_utf8_lossy(&text[..text.len().min(4 * QUOTED_CHARS + 4)]);
    let mut shown = String::from("`");
    for character in prefix.chars().take(QUOTED_CHARS) {
        if character.is_control() {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    shown.push('`');
    if prefix.chars().count() > QUOTED_CHARS || text.len() > 4 * QUOTED_CHARS + 4 {
        shown.push('…');
    }
    shown
}

/// What stands at `offset`: the rest of its line, or the end of the line or of the file.
#[must_use]
pub fn found_at(text: &[u8], offset: usize) -> String {
    let rest = &text[offset.min(text.len())..];
    let line_end = memchr::memchr(b'\n', rest);
    let line = &rest[..line_end.unwrap_or(rest.len())];
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    match (line.is_empty(), line_end) {
        (false, _) => quoted(line),
        (true, Some(_)) => "the end of the line".to_owned(),
        (true, None) => "the end of the file".to_owned(),
    }
}
