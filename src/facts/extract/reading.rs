//! What a label text means: an internal step, or a label of the dialect.

use super::chunks::Body;
use super::{Escapes, Options};
use crate::lts::dialect::{Dialect, LabelError};
use crate::lts::label::Label;
use crate::lts::space::{Reader, Transition, UNREAD};
use std::borrow::Cow;

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
    pub(super) fn new(options: &Options, bodies: &[Body<'_>]) -> Reading {
        let mut reading = Reading::of_nothing(options);
        if reading.chosen == Chosen::ByUser {
            return reading;
        }
        let mut search = FirstVisible { reading: &reading, found: None };
        // A fault ends the search; the first pass will report it.
        let is_read = |body: &Body<'_>| body.space.read(body.range.clone(), &mut search).is_ok();
        let _ = bodies.iter().all(is_read);
        if let Some(text) = search.found {
            reading.choose(&text);
        }
        reading
    }

    /// The rules of `options` as long as no label was seen.
    pub(super) fn of_nothing(options: &Options) -> Reading {
        let (dialect, chosen) = match &options.dialect {
            Some(dialect) => (dialect.clone(), Chosen::ByUser),
            None => (Dialect::Native, Chosen::ForLackOfOthers),
        };
        let (tau, internal) = (options.tau.clone(), options.internal.clone());
        Reading { dialect, chosen, tau, internal, escapes: options.escapes }
    }

    /// The rules of `options` when this is the first label; none, if it is internal.
    pub(super) fn of_first(options: &Options, label: &[u8]) -> Option<Reading> {
        let mut reading = Reading::of_nothing(options);
        let text = reading.decode(label).ok()?.into_owned();
        if reading.is_internal(&text) {
            return None;
        }
        if reading.chosen != Chosen::ByUser {
            reading.choose(&text);
        }
        Some(reading)
    }

    fn choose(&mut self, text: &str) {
        match Dialect::detect(text) {
            Some(dialect) => (self.dialect, self.chosen) = (dialect, Chosen::ByFirstLabel),
            // So that the message tells how far the dialect came that was most likely meant.
            None if text.trim_start().starts_with("rw(") => self.dialect = Dialect::Rw,
            None => {}
        }
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

/// Looks for the first label that is not internal.
struct FirstVisible<'r> {
    reading: &'r Reading,
    found: Option<String>,
}

impl Reader for FirstVisible<'_> {
    type Stop = ();

    fn label(&mut self, text: &[u8]) -> Option<u32> {
        let text = self.reading.decode(text).ok()?;
        if self.reading.is_internal(&text) {
            return Some(0);
        }
        self.found = Some(text.into_owned());
        None
    }

    fn batch(&mut self, _: usize, transitions: &[Transition]) -> Result<(), ()> {
        if transitions.iter().any(|transition| transition.label == UNREAD) { Err(()) } else { Ok(()) }
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
