//! A state space as a source of transitions, whatever file it is in: cut into chunks, and read in batches.
//!
//! Whoever passes over a state space asks it for borders ([`Space::border_after`]) and gives each chunk between two
//! of them to [`Space::read`], from as many threads as there are. A *position* is what a file counts in: bytes of a
//! text, rows of a table. Positions grow along the file, so of several faults the first is that with the smallest
//! position.
//!
//! Transitions come in batches, with their labels as numbers that the reader of the batch gives out
//! ([`Reader::label`]). So a text is looked at once, where it stands, and what is done with a batch runs over numbers
//! alone, whatever they were read from.

#![forbid(unsafe_code)]

use super::aut::{self, Counts, Fault, Header};
use super::dot;
use super::error::{BytePosition, Error};
use super::parquet::{Damage, Promise, Table, is_parquet};
use super::source::Bytes;
use std::ops::Range;

/// What a [`Reader`] has given no number.
pub const UNREAD: u32 = u32::MAX;

/// A batch stays in the cache that is closest to the processor.
pub(super) const BATCH: usize = 512;

/// The shortest transition of a text is `(0,a,0)`.
const SHORTEST_TRANSITION: usize = 7;

/// A transition as readers see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transition {
    /// The source state.
    pub from: u64,
    /// The target state.
    pub to: u64,
    /// The number of its label, or [`UNREAD`].
    pub label: u32,
    /// Its position, counted from the start of its chunk.
    pub at: u32,
}

/// Takes the transitions of a chunk.
pub trait Reader {
    /// Why it stops.
    type Stop;

    /// The number of a label. If there is none, the transition is the last one of a batch that follows at once, and
    /// is marked as [`UNREAD`] there: it is for [`batch`](Reader::batch) to stop, after what comes before.
    fn label(&mut self, text: &[u8]) -> Option<u32>;

    /// Takes transitions that follow each other; the chunk starts at position `start`.
    ///
    /// # Errors
    /// To stop.
    fn batch(&mut self, start: usize, transitions: &[Transition]) -> Result<(), Self::Stop>;

    /// All of the chunk was read.
    ///
    /// # Errors
    /// To stop.
    fn end_of_chunk(&mut self) -> Result<(), Self::Stop> {
        Ok(())
    }
}

/// Why a chunk was not read to its end.
#[derive(Debug)]
pub enum Halt<S> {
    /// The file is damaged there.
    Fault(Fault),
    /// A table is damaged.
    Damage(Damage),
    /// The state space ends at this position, before the file does.
    EndOfText(usize),
    /// The reader stopped.
    Stopped(S),
}

/// What a file says of its state space as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opening {
    /// Its numbers.
    Finished {
        /// The numbers.
        counts: Counts,
        /// Of a text: where the initial state, the transitions and the states stand.
        places: Option<[usize; 3]>,
    },
    /// Whoever wrote it was interrupted; of a text: where the numbers should stand.
    Unfinished {
        /// See above.
        place: Option<usize>,
    },
}

/// A file with a state space. See the [module](self).
#[derive(Clone, Debug)]
pub struct Space<'s> {
    source: &'s Bytes,
    /// If it is one.
    table: Option<Table<'s>>,
}

impl<'s> Space<'s> {
    /// The state space in `source`: what the file says of it, and the position of the first transition.
    ///
    /// # Errors
    /// If it is none.
    pub fn open(source: &'s Bytes) -> Result<(Space<'s>, Opening, usize), Error> {
        let (name, bytes) = (source.name(), source.bytes());
        if is_parquet(bytes) {
            let table = Table::open(source)?;
            let opening = match table.promise()? {
                Promise::Finished(counts) => Opening::Finished { counts, places: None },
                Promise::Unfinished => Opening::Unfinished { place: None },
            };
            return Ok((Space { source, table: Some(table) }, opening, 0));
        }
        let (header, start) = aut::header(bytes).map_err(|fault| {
            if dot::is_graph(bytes) {
                let remedy = "analyse, facts and info read graphs in DOT; what goes in parts, or is converted, reduced or listed, does not";
                return Error::of_file(name, "a state space in .aut or Parquet", "a graph in DOT".to_owned(), remedy);
            }
            Error::unexpected(name, bytes, fault.offset, fault.expected, "is this a state space in .aut format?")
        })?;
        let opening = match header {
            Header::Finished { counts, places } => Opening::Finished { counts, places: Some(places) },
            Header::Unfinished { place } => Opening::Unfinished { place: Some(place) },
        };
        Ok((Space { source, table: None }, opening, start))
    }

    /// Lines of transitions without a header, as a part of a state space may have.
    #[must_use]
    pub fn of_lines(source: &'s Bytes) -> Space<'s> {
        Space { source, table: None }
    }

    /// Whether nothing in the file says how large the state space is: a table that another tool wrote.
    #[must_use]
    pub fn is_uncounted(&self) -> bool {
        self.table.as_ref().is_some_and(|table| !table.is_counted())
    }

    /// The file.
    #[must_use]
    pub fn source(&self) -> &'s Bytes {
        self.source
    }

    /// Whether it is a table, with rows instead of lines.
    #[must_use]
    pub fn is_table(&self) -> bool {
        self.table.is_some()
    }

    /// The position behind the last transition.
    #[must_use]
    pub fn end(&self) -> usize {
        self.table.as_ref().map_or(self.source.bytes().len(), Table::rows)
    }

    /// About how many bytes so many positions take.
    #[must_use]
    pub fn bytes(&self, positions: usize) -> usize {
        self.table.as_ref().map_or(positions, |table| positions.saturating_mul(table.bytes_per_row()))
    }

    /// How many transitions there can be between these positions at most.
    #[must_use]
    pub fn most_transitions(&self, body: &Range<usize>) -> u64 {
        if self.is_table() { body.len() as u64 } else { (body.len() / SHORTEST_TRANSITION + 1) as u64 }
    }

    /// The first border between transitions behind a chunk that starts at a border and has about `length` bytes.
    #[must_use]
    pub fn border_after(&self, start: usize, length: usize, end: usize) -> usize {
        match &self.table {
            Some(table) => table.border_after(start, end),
            None if end - start <= length => end,
            None => aut::after_line(&self.source.bytes()[..end], start + length - 1),
        }
    }

    /// Reads the chunk between two borders.
    ///
    /// # Errors
    /// If the file is damaged, if the state space ends early, or if the reader stops.
    pub fn read<R: Reader>(&self, chunk: Range<usize>, reader: &mut R) -> Result<(), Halt<R::Stop>> {
        if let Some(table) = &self.table {
            return table.read(chunk, reader);
        }
        let start = chunk.start;
        let mut transitions = aut::transitions(self.source.bytes(), chunk);
        let mut batch: Vec<Transition> = Vec::with_capacity(BATCH);
        let mut at = start;
        loop {
            let (mut halt, mut is_unread) = (None, false);
            while batch.len() < BATCH && !is_unread {
                match transitions.next() {
                    Some(Ok(aut::Transition { from, to, label, .. })) => {
                        let label = reader.label(label).unwrap_or(UNREAD);
                        is_unread = label == UNREAD;
                        // A chunk is short, and only its last line can be long.
                        let position = u32::try_from(at - start).unwrap_or(u32::MAX);
                        batch.push(Transition { from, to, label, at: position });
                        at = transitions.position();
                    }
                    Some(Err(fault)) => {
                        halt = Some(Halt::Fault(fault));
                        break;
                    }
                    None => {
                        halt = transitions.end_of_text().map(Halt::EndOfText);
                        break;
                    }
                }
            }
            let is_last = batch.len() < BATCH && !is_unread;
            reader.batch(start, &batch).map_err(Halt::Stopped)?;
            batch.clear();
            match halt {
                Some(halt) => return Err(halt),
                None if is_last => return reader.end_of_chunk().map_err(Halt::Stopped),
                None => {}
            }
        }
    }

    /// Where the parts of the transition at a position of a text stand.
    fn places(&self, position: usize) -> Option<[Range<usize>; 3]> {
        let bytes = self.source.bytes();
        let transition = aut::transitions(bytes, position..bytes.len()).next()?.ok()?;
        let [from, label, to] = transition.places;
        Some([from..from, label..label + transition.label.len(), to..to])
    }

    /// Something about a state of the transition at a position is not what was expected.
    pub(crate) fn unexpected_state(&self, position: usize, of: End, state: u64, expected: &str, remedy: &str) -> Error {
        let (name, text) = (self.source.name(), self.source.bytes());
        if self.is_table() {
            return Error::at_row(name, position as u64 + 1, expected, state.to_string(), remedy);
        }
        let place = self.places(position).map_or(position, |[from, _, to]| match of {
            End::Source => from.start,
            End::Target => to.start,
        });
        Error::unexpected(name, text, place, expected, remedy)
    }

    /// The label of the transition at a position.
    pub(crate) fn label_at(&self, position: usize) -> LabelAt {
        if let Some(table) = &self.table {
            return LabelAt {
                text: table.label_at(position).unwrap_or_default(),
                start: None,
                row: position as u64 + 1,
            };
        }
        let [_, label, _] =
            self.places(position).unwrap_or([position..position, position..position, position..position]);
        LabelAt { text: self.source.bytes()[label.clone()].to_vec(), start: Some(label.start), row: 0 }
    }

    /// Something about a label, at some byte of it, is not what was expected.
    pub(crate) fn unexpected_label(
        &self,
        label: &LabelAt,
        offset: usize,
        expected: &str,
        found: String,
        remedy: String,
    ) -> Error {
        match label.start {
            None => Error::at_row(self.source.name(), label.row, expected, found, remedy),
            Some(start) => {
                let place = BytePosition::of(self.source.bytes(), start + offset);
                Error::contents(self.source.name(), place, expected, found, remedy)
            }
        }
    }
}

/// A label in its file.
pub(crate) struct LabelAt {
    /// Its text.
    pub(crate) text: Vec<u8>,
    start: Option<usize>,
    row: u64,
}

/// Which state of a transition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Where it begins.
    Source,
    /// Where it leads.
    Target,
}
