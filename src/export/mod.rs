//! Programs in the languages of other tools, one folder a language.
//!
//! An export is the way back from [`program`](crate::program): it knows the program and the text that it came from
//! (for comments), and nothing of exploration, facts or results. What another tool makes of the exported text must be
//! the program's own state space; the page of each language says how that is done, and what the language cannot say.

#![forbid(unsafe_code)]

pub mod mcrl2;

use crate::program::Span;

/// The text that a program came from, for comments.
#[derive(Clone, Copy, Debug, Default)]
pub struct Origin<'a> {
    /// The name of the file.
    pub name: &'a str,
    /// Its text; empty if the program was made otherwise.
    pub text: &'a str,
}

impl Origin<'_> {
    /// The line of a place, from 1, and what stands there, on one line; nothing if there is no such place.
    #[must_use]
    pub fn quote(&self, span: Span) -> Option<(usize, String)> {
        let quoted = self.text.get(span.start..span.end).filter(|quoted| !quoted.is_empty())?;
        let line = 1 + self.text[..span.start].matches('\n').count();
        Some((line, quoted.split_whitespace().collect::<Vec<_>>().join(" ")))
    }
}
