//! A state space from one file into another, transition by transition in the order of the file.
//!
//! The numbers are checked, so that what is wrong with the one does not go on into the other.

#![forbid(unsafe_code)]

use super::aut::Counts;
use super::error::Error;
use super::output::{Finished, Format, Output};
use super::source::Bytes;
use super::space::{End, Halt, Opening, Reader, Space, Transition, UNREAD};
use super::writer::Sink;
use crate::budget::{Budget, Exhausted};
use rustc_hash::FxHashMap;
use std::io;
use std::ops::Range;

/// About so many bytes are read between two looks at the budget.
const CHUNK_BYTES: usize = 1 << 20;

/// Why there is no copy.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// The input is not what it should be, or a limit was reached.
    #[error(transparent)]
    Input(#[from] Error),
    /// The temporary file cannot be written.
    #[error("a temporary file: {0}")]
    Output(#[from] io::Error),
}

/// Reads the state space in `source`, to be written in a format.
///
/// # Errors
/// If it is none, if its header is wrong, if a limit is reached, or if there is no place for a temporary file.
pub fn copy(source: &Bytes, format: Format, budget: &Budget) -> Result<Finished, Refusal> {
    let (space, opening, start) = Space::open(source)?;
    let counts = match opening {
        Opening::Finished { counts, .. } => counts,
        Opening::Unfinished { .. } => {
            let found = "an unfinished state space (the generator was interrupted)".to_owned();
            let expected = "the numbers of the header";
            return Err(Error::of_file(source.name(), expected, found, "generate it again").into());
        }
    };
    let wrong = |expected: String, found: u64, remedy: &str| {
        Error::of_file(source.name(), &expected, found.to_string(), remedy)
    };
    if counts.initial >= counts.states {
        let expected = format!("an initial state below {}, the number of states", counts.states);
        return Err(wrong(expected, counts.initial, "the header is wrong").into());
    }
    let mut copier =
        Copier { counts, output: Output::new(format)?, numbers: FxHashMap::default(), texts: Vec::new(), found: 0 };
    let (mut position, end) = (start, space.end());
    while position < end {
        budget.check_now().map_err(|limit: Exhausted| Error::at_limit(source.name(), limit))?;
        let chunk = position..space.border_after(position, CHUNK_BYTES, end);
        position = chunk.end;
        match space.read(chunk.clone(), &mut copier) {
            Ok(()) => {}
            Err(Halt::EndOfText(_)) => break,
            Err(halt) => return Err(refusal(&space, &chunk, halt, counts.states)),
        }
    }
    if copier.found != counts.transitions {
        let expected = format!("{} transitions, as many as follow", copier.found);
        return Err(wrong(expected, counts.transitions, "the file may be cut off, or put together wrongly").into());
    }
    source.check_unchanged()?;
    Ok(copier.output.finish(Some(counts))?)
}

fn refusal(space: &Space<'_>, chunk: &Range<usize>, halt: Halt<Stop>, states: u64) -> Refusal {
    let source = space.source();
    match halt {
        Halt::Fault(fault) => {
            let remedy = "is this a state space in .aut format, and complete?";
            Error::unexpected(source.name(), source.bytes(), fault.offset, fault.expected, remedy).into()
        }
        Halt::Damage(damage) => damage.into_error(source).into(),
        Halt::Stopped(Stop::State { at, of, state }) => {
            let expected = format!("a state below {states}, the number of states in the header");
            let remedy = "the header and the transitions disagree";
            space.unexpected_state(chunk.start + at as usize, of, state, &expected, remedy).into()
        }
        Halt::Stopped(Stop::Output(error)) => error.into(),
        // Copies end there.
        Halt::EndOfText(_) => io::Error::other("the state space has ended").into(),
    }
}

/// Why the copier stops.
enum Stop {
    State { at: u32, of: End, state: u64 },
    Output(io::Error),
}

struct Copier {
    counts: Counts,
    output: Output,
    numbers: FxHashMap<Box<[u8]>, u32>,
    texts: Vec<Box<[u8]>>,
    found: u64,
}

impl Reader for Copier {
    type Stop = Stop;

    fn label(&mut self, text: &[u8]) -> Option<u32> {
        if let Some(&number) = self.numbers.get(text) {
            return Some(number);
        }
        let number = u32::try_from(self.texts.len()).ok().filter(|&number| number != UNREAD)?;
        self.texts.push(text.into());
        self.numbers.insert(text.into(), number);
        Some(number)
    }

    fn batch(&mut self, _: usize, transitions: &[Transition]) -> Result<(), Stop> {
        for &Transition { from, to, label, at } in transitions {
            for (state, of) in [(from, End::Source), (to, End::Target)] {
                if state >= self.counts.states {
                    return Err(Stop::State { at, of, state });
                }
            }
            let text = self.texts.get(label as usize).ok_or_else(|| io::Error::other("more than 2^32 labels"));
            text.and_then(|text| self.output.transition(from, text, to)).map_err(Stop::Output)?;
            self.found += 1;
        }
        Ok(())
    }
}
