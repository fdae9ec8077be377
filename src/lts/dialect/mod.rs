//! Label dialects: text → [`Label`], one file a dialect.
//!
//! | dialect | written by | example |
//! |---|---|---|
//! | [`native`] | `seqcon` | `T0.3: v[0]@(~x) := v[0]@(~x)` |
//! | [`rw`] | the published mCRL2 translation of SLCO | `rw(o, thr1, ST'7, [A'([], [lc'(var_o'f1)])])` |
//! | [`generic`] | any tool, described in a file by a regular expression or by [`rules`] | `p1_write(x)` |
//!
//! The dialect is detected from the labels themselves ([`Dialect::detect`]): the first dialect that reads the first
//! label that is not internal.

#![forbid(unsafe_code)]

pub mod generic;
pub mod native;
pub mod rules;
pub mod rw;
mod syntax;

use super::label::Label;

/// Why a label could not be read: where in the label, and what would have been read there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelError {
    /// Byte offset within the label's text.
    pub offset: usize,
    /// What was expected there, as a noun phrase: "a thread name".
    pub expected: String,
}

/// A way of writing labels.
#[derive(Clone, Debug)]
pub enum Dialect {
    /// See [`native`].
    Native,
    /// See [`rw`].
    Rw,
    /// See [`generic`].
    Generic(generic::Description),
}

impl Dialect {
    /// Reads one label.
    ///
    /// # Errors
    /// If the text is not a label of this dialect.
    pub fn parse(&self, text: &str) -> Result<Label, LabelError> {
        match self {
            Dialect::Native => native::parse(text),
            Dialect::Rw => rw::parse(text),
            Dialect::Generic(description) => description.parse(text),
        }
    }

    /// The built-in dialect that reads `text`, if there is one.
    #[must_use]
    pub fn detect(text: &str) -> Option<Dialect> {
        [Dialect::Rw, Dialect::Native].into_iter().find(|dialect| dialect.parse(text).is_ok())
    }

    /// The dialect's name, as `--dialect` takes it.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Dialect::Native => "native",
            Dialect::Rw => "rw",
            Dialect::Generic(_) => "generic",
        }
    }
}
