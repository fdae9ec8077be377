//! Why a pass stopped before the end of the inputs, and what the user is told about it.

use super::chunks::Body;
use super::reading::Reading;
use crate::budget::Exhausted;
use crate::lts::error::{self, Error};
use crate::lts::parquet::Damage;
use crate::lts::space::End;

/// Where and why a pass stopped.
#[derive(Debug)]
pub(super) struct Stop {
    /// Which of the inputs.
    pub(super) input: usize,
    /// Of a [syntax](Reason::Syntax) fault and the end of the text, exactly; else of the transition.
    pub(super) position: usize,
    pub(super) reason: Reason,
}

/// See [`Stop`].
#[derive(Debug)]
pub(super) enum Reason {
    /// Not the grammar of the file.
    Syntax(&'static str),
    /// A table is damaged.
    Damage(Damage),
    /// A state number that the header excludes.
    State(Excluded),
    /// No dialect reads the label: what was expected, and where in the label.
    Label { expected: String, offset: usize },
    /// The state space ends here.
    EndOfText,
    /// So many threads that their enabled sets take far more memory than the text.
    TooManyThreads(usize),
    /// The second pass did not find what the first one read.
    Changed,
    /// A limit was reached.
    Exhausted(Exhausted),
}

/// A state number that the header excludes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Excluded {
    pub(super) state: u64,
    /// The number of states.
    pub(super) limit: u64,
    pub(super) of: End,
}

impl Stop {
    /// Stops with smaller places come first.
    pub(super) fn place(&self) -> (usize, usize) {
        (self.input, self.position)
    }

    /// The message for the user.
    pub(super) fn into_error(self, bodies: &[Body<'_>], reading: &Reading) -> Error {
        let space = &bodies[self.input].space;
        let (name, text) = (space.source().name(), space.source().bytes());
        let position = self.position;
        match self.reason {
            Reason::Syntax(expected) => {
                let remedy = match memchr::memchr(b'\n', &text[position..]) {
                    Some(_) => "is this a state space in .aut format?",
                    None => "the file may be cut off; --recover reads the transitions before",
                };
                Error::unexpected(name, text, position, expected, remedy)
            }
            Reason::Damage(damage) => damage.into_error(space.source()),
            Reason::State(Excluded { state, limit, of }) => {
                let remedy = "the header and the transitions disagree; --lenient accepts the state";
                let expected = format!("a state below {limit}, the number of states in the header");
                space.unexpected_state(position, of, state, &expected, remedy)
            }
            Reason::Label { expected, offset } => {
                let label = space.label_at(position);
                let offset = offset.min(label.text.len());
                let quoted = error::quoted(&label.text);
                let found = match &label.text[offset..] {
                    [] => format!("the end of the label {quoted}"),
                    _ if offset == 0 => format!("the label {quoted}"),
                    rest => format!("{} in the label {quoted}", error::quoted(rest)),
                };
                let expected = format!("{expected} ({} dialect)", reading.dialect().name());
                space.unexpected_label(&label, offset, &expected, found, reading.remedy(&label.text))
            }
            Reason::TooManyThreads(threads) => {
                let remedy =
                    "a label's thread must be what its transitions have in common; check the dialect's `thread`";
                let expected = "a number of threads in proportion to the file";
                let found = format!("{threads} threads up to here");
                space.unexpected_label(&space.label_at(position), 0, expected, found, remedy.to_owned())
            }
            Reason::Exhausted(limit) => Error::at_limit(name, limit),
            Reason::Changed => {
                let label = space.label_at(position);
                let found = format!("the label {}", error::quoted(&label.text));
                space.unexpected_label(&label, 0, "the text of the first pass", found, CHANGED.to_owned())
            }
            Reason::EndOfText => Error::unexpected(name, text, position, "the text of the first pass", CHANGED),
        }
    }
}

const CHANGED: &str = "the file changed while it was being read; try again when it is complete";
