//! What is wrong with a model's text, and how it is shown: the place, the line, and what to do about it.

use crate::text::excerpt::Excerpt;
use crate::text::{LineColumn, Span};
use std::fmt;
use std::sync::Arc;

/// How many columns of a line are shown.
const SHOWN_COLUMNS: usize = 100;

/// A text and the name of its file.
#[derive(Debug, PartialEq, Eq)]
pub struct Source {
    /// The name that errors show.
    pub name: String,
    /// The text.
    pub text: String,
}

/// A place in one of the texts that a model is made of.
#[derive(Clone, Debug)]
pub struct Place {
    /// The text.
    pub source: Arc<Source>,
    /// Where in it.
    pub span: Span,
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CatError {
    source: Arc<Source>,
    /// Where it is.
    pub span: Span,
    /// What it is.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

impl CatError {
    /// An error at a place.
    pub fn new(place: &Place, message: impl Into<String>) -> CatError {
        CatError { source: Arc::clone(&place.source), span: place.span, message: message.into(), help: None }
    }

    /// The same with advice.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> CatError {
        self.help = Some(help.into());
        self
    }

    /// Its line and column.
    #[must_use]
    pub fn place(&self) -> LineColumn {
        LineColumn::of(&self.source.text, self.span.start)
    }
}

impl fmt::Display for CatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = self.place();
        if self.source.text.is_empty() {
            write!(f, "{}: {}", self.source.name, self.message)?;
        } else {
            write!(f, "{}:{}:{}: error: {}", self.source.name, place.line, place.column, self.message)?;
            let excerpt = Excerpt::of(&self.source.text, self.span, SHOWN_COLUMNS);
            let margin = " ".repeat(place.line.to_string().len());
            write!(f, "\n    {} | {}\n    {margin} | {}", place.line, excerpt.line, excerpt.underline)?;
        }
        self.help.iter().try_for_each(|help| write!(f, "\n      help: {help}"))
    }
}

impl std::error::Error for CatError {}
