//! What a label text means: an internal step, or a label of the dialect.

use super::{Escapes, Options};
use crate::lts::aut;
use crate::lts::dialect::{Dialect, LabelError};
use crate::lts::label::Label;
use std::borrow::Cow;
use std::ops::Range;

/// The rules by which label texts are read.
pub(super) struct Reading {
    dialect: Dialect,
    chosen: Chosen,
    tau: Vec<String>,
    internal: Option<regex::Regex>,
    escapes: Escapes,
}

/// Who chose the dialect.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Chosen {
    ByUser,
    ByFirstLabel,
    ForLackOfOthers,
}

/// What a text means.
pub(super) enum Meaning {
    Internal,
    Visible(Label),
}

impl Reading {
    /// The rules of `options`; the dialect, if it is not given, is the one that reads the first label that is not
    /// internal.
    pub(super) fn new(options: &Options, bytes: &[u8], body: Range<usize>) -> Reading {
        let mut reading = Reading {
            dialect: Dialect::Native,
            chosen: Chosen::ForLackOfOthers,
            tau: options.tau.clone(),
            internal: options.internal.clone(),
            escapes: options.escapes,
        };
        if let Some(dialect) = &options.dialect {
            (reading.dialect, reading.chosen) = (dialect.clone(), Chosen::ByUser);
            return reading;
        }
        // A fault ends the search; the first pass will report it.
        for transition in aut::transitions(bytes, body).map_while(Result::ok) {
            let Ok(text) = reading.decode(transition.label) else { break };
            if reading.is_internal(&text) {
                continue;
            }
            match Dialect::detect(&text) {
                Some(dialect) => (reading.dialect, reading.chosen) = (dialect, Chosen::ByFirstLabel),
                // So that the message tells how far the dialect came that was most likely meant.
                None if text.trim_start().starts_with("rw(") => reading.dialect = Dialect::Rw,
                None => {}
            }
            break;
        }
        reading
    }

    pub(super) fn dialect(&self) -> &Dialect {
        &self.dialect
    }

    /// What a label text means.
    pub(super) fn meaning(&self, label: &[u8]) -> Result<Meaning, LabelError> {
        let text = self.decode(label)?;
        if self.is_internal(&text) { Ok(Meaning::Internal) } else { self.dialect.parse(&text).map(Meaning::Visible) }
    }

    /// Whether a text looks as if it had escapes that are not being read.
    pub(super) fn leaves_escapes(&self, label: &[u8]) -> bool {
        self.escapes == Escapes::None && memchr::memmem::find(label, b"\\\"").is_some()
    }

    /// What to do about a label that could not be read.
    pub(super) fn remedy(&self, label: &[u8]) -> String {
        if label == b"i" {
            return "if `i` is the internal step, as in CADP's files, say --tau i".to_owned();
        }
        let dialect = match self.chosen {
            Chosen::ByUser => "the dialect was given with --dialect",
            Chosen::ByFirstLabel => "the dialect was chosen by the first label; --dialect forces another",
            Chosen::ForLackOfOthers => "no built-in dialect reads it; describe it in a file for --dialect FILE",
        };
        format!("{dialect}; --internal PATTERN or --tau NAMES takes labels as internal steps")
    }

    fn is_internal(&self, text: &str) -> bool {
        self.tau.iter().any(|tau| tau == text) || self.internal.as_ref().is_some_and(|pattern| pattern.is_match(text))
    }

    /// The text of a label, escapes resolved. Bytes that are not UTF-8 are replaced; no dialect has the replacement
    /// in a name.
    fn decode<'a>(&self, label: &'a [u8]) -> Result<Cow<'a, str>, LabelError> {
        match (self.escapes, label) {
            (Escapes::None, _) => Ok(String::from_utf8_lossy(label)),
            (Escapes::Ltsmin, [b'#', hex @ .., b'#']) => from_hex(hex).map(Cow::Owned),
            (Escapes::Ltsmin, _) => unescape(label).map(Cow::Owned),
        }
    }
}

fn unescape(label: &[u8]) -> Result<String, LabelError> {
    let mut bytes = Vec::with_capacity(label.len());
    let mut rest = label.iter().enumerate();
    while let Some((offset, &byte)) = rest.next() {
        let byte = match byte {
            b'\\' => match rest.next() {
                Some((_, &escaped @ (b'"' | b'\\'))) => escaped,
                _ => return Err(LabelError { offset, expected: "an escape `\\\"` or `\\\\`".to_owned() }),
            },
            other => other,
        };
        bytes.push(byte);
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn from_hex(digits: &[u8]) -> Result<String, LabelError> {
    let digit = |position: usize| {
        let value = digits.get(position).and_then(|&digit| char::from(digit).to_digit(16));
        value.ok_or_else(|| LabelError { offset: 1 + position, expected: "a pair of hexadecimal digits".to_owned() })
    };
    let byte = |start: usize| {
        let value = 16 * digit(start)? + digit(start + 1)?;
        Ok(u8::try_from(value).expect("two hexadecimal digits are at most 255"))
    };
    let bytes: Vec<u8> = (0..digits.len()).step_by(2).map(byte).collect::<Result<_, _>>()?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
