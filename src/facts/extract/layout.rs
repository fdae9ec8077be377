//! What the header says, how far it is believed, and where the transitions stand.
//!
//! The header's numbers are checked, never trusted: no memory is taken for more states than the text can mention. A
//! text with T transitions mentions at most 2T + 1 states.

use super::Options;
use super::chunks::{Meter, Reason, Stop, Worker, pass};
use crate::lts::aut::{self, Counts, Header, Transitions};
use crate::lts::error::{BytePosition, Error};
use crate::lts::source::Bytes;
use fixedbitset::FixedBitSet;
use std::ops::Range;

/// The shortest transition is `(0,a,0)`.
const SHORTEST_TRANSITION: usize = 7;

/// See the [module](self).
pub(super) struct Layout {
    body: Range<usize>,
    /// The header's numbers, and where the number of transitions stands.
    promised: Option<(Counts, usize)>,
    belief: Belief,
    pub(super) warnings: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Belief {
    Strict,
    Lenient,
}

/// How states are numbered.
pub(super) enum Numbering {
    /// By their own numbers, from 0 to below this.
    Dense(usize),
    /// By their position in this sorted list.
    Sparse(Vec<u64>),
}

impl Layout {
    /// Reads and checks the header.
    pub(super) fn of_header(source: &Bytes, options: &Options) -> Result<Layout, Error> {
        let (name, bytes) = (source.name(), source.bytes());
        let (header, start) = aut::header(bytes).map_err(|fault| {
            Error::unexpected(name, bytes, fault.offset, fault.expected, "is this a state space in .aut format?")
        })?;
        let belief = if options.lenient || options.recover { Belief::Lenient } else { Belief::Strict };
        let mut layout = Layout { body: start..bytes.len(), promised: None, belief, warnings: Vec::new() };
        match header {
            Header::Unfinished { place } if !options.recover => Err(Error::contents(
                name,
                BytePosition::of(bytes, place),
                "the numbers of the header",
                "an unfinished state space (the generator was interrupted)",
                "generate it again, or read what is there with --recover",
            )),
            Header::Unfinished { .. } => {
                layout.warnings.push("the state space is unfinished: facts may be missing".to_owned());
                Ok(layout)
            }
            Header::Finished { counts, places: [initial, transitions, states] } => {
                layout.promised = Some((counts, transitions));
                if counts.states == 0 {
                    let expected = "at least one state";
                    layout.complain(source, states, expected, "0", "the header counts no states")?;
                } else if counts.initial >= counts.states {
                    let expected = format!("an initial state below {}, the number of states", counts.states);
                    let warning = format!("the initial state is not below {}", counts.states);
                    layout.complain(source, initial, &expected, &counts.initial.to_string(), &warning)?;
                }
                Ok(layout)
            }
        }
    }

    /// The part of the text that has the transitions.
    pub(super) fn body(&self) -> Range<usize> {
        self.body.clone()
    }

    /// The initial state, if the header says what it is.
    pub(super) fn initial(&self) -> Option<u64> {
        self.promised.map(|(counts, _)| counts.initial)
    }

    /// The number that every state must be below.
    pub(super) fn state_limit(&self) -> u64 {
        match (self.belief, self.promised) {
            (Belief::Strict, Some((counts, _))) => counts.states,
            _ => u64::MAX,
        }
    }

    /// Whether a pass stopped where the transitions end before the text does; if so, cuts the body there.
    pub(super) fn ends_at(&mut self, bytes: &[u8], stop: &Stop, options: &Options) -> bool {
        match stop.reason {
            Reason::EndOfText => {
                self.body.end = stop.offset;
                true
            }
            Reason::Syntax(_) if options.recover && aut::after_line(bytes, stop.offset) == self.body.end => {
                if bytes.get(self.body.end - 1) == Some(&b'\n') {
                    return false;
                }
                let line = memchr::memrchr(b'\n', &bytes[..self.body.end]).map_or(0, |newline| newline + 1);
                self.body.end = line.max(self.body.start);
                self.warnings.push("the last line is cut off and was left out".to_owned());
                true
            }
            _ => false,
        }
    }

    /// Chooses how states are numbered, and counts them. If the header is not believed, or promises more states than
    /// its transitions can mention, this takes a pass of its own over the text.
    pub(super) fn numbering(&self, bytes: &[u8], meter: &Meter<'_>) -> Result<(Numbering, u64), Stop> {
        if let (Belief::Strict, Some((counts, _))) = (self.belief, self.promised) {
            let fits = counts.transitions <= (self.body.len() / SHORTEST_TRANSITION + 1) as u64;
            if fits && counts.states <= 2 * counts.transitions + 1 {
                return Ok((Numbering::Dense(to_usize(counts.states)), counts.states));
            }
        }
        let silent = meter.silent();
        let surveys = pass(bytes, self.body(), &silent, Survey::default)?;
        let transitions: u64 = surveys.iter().map(|survey| survey.transitions).sum();
        let initial = self.promised.map_or(0, |(counts, _)| counts.initial);
        let largest = surveys.iter().map(|survey| survey.largest).max().unwrap_or(0).max(initial);
        let dense = largest <= 2 * transitions;
        let numbering = if dense {
            Numbering::Dense(to_usize(largest + 1))
        } else {
            let mut states: Vec<u64> = Vec::new();
            for census in pass(bytes, self.body(), &silent, Census::<Vec<u64>>::default)? {
                states.extend(census.seen);
            }
            states.push(initial);
            states.sort_unstable();
            states.dedup();
            Numbering::Sparse(states)
        };
        let states = match (self.promised, &numbering) {
            (Some((counts, _)), _) => counts.states.max(largest.saturating_add(1)),
            (None, Numbering::Sparse(states)) => states.len() as u64,
            (None, Numbering::Dense(size)) => {
                let mut seen = FixedBitSet::with_capacity(*size);
                seen.insert(to_usize(initial));
                let census = || Census { seen: FixedBitSet::with_capacity(*size) };
                for census in pass(bytes, self.body(), &silent, census)? {
                    seen.union_with(&census.seen);
                }
                seen.count_ones(..) as u64
            }
        };
        Ok((numbering, states))
    }

    /// Compares what was read with the header's numbers.
    pub(super) fn check_counts(&mut self, source: &Bytes, found: u64, states: u64) -> Result<(), Error> {
        let Some((counts, place)) = self.promised else { return Ok(()) };
        if counts.states != states && counts.states != 0 {
            self.warnings.push(format!("the header counts {} states, but {states} occur", counts.states));
        }
        if counts.transitions == found {
            return Ok(());
        }
        let expected = format!("{found} transitions, as many as follow");
        let warning = format!("the header counts {} transitions, but {found} follow", counts.transitions);
        self.complain(source, place, &expected, &counts.transitions.to_string(), &warning)
    }

    /// An error, or a warning if the header need not be right.
    fn complain(
        &mut self,
        source: &Bytes,
        offset: usize,
        expected: &str,
        found: &str,
        warning: &str,
    ) -> Result<(), Error> {
        if self.belief == Belief::Lenient {
            self.warnings.push(warning.to_owned());
            return Ok(());
        }
        let remedy = "the file may be cut off, put together wrongly, or a shard of a larger state space (shards are refused, \
                      --shards is not built yet: concatenate them into one state space); --lenient takes it as a part";
        Err(Error::contents(source.name(), BytePosition::of(source.bytes(), offset), expected, found, remedy))
    }
}

/// The size of an array that the text is long enough to fill.
fn to_usize(states: u64) -> usize {
    usize::try_from(states).expect("at most twice as many as there are lines in memory")
}

#[derive(Default)]
struct Survey {
    transitions: u64,
    largest: u64,
}

impl<'a> Worker<'a> for Survey {
    fn chunk(&mut self, transitions: &mut Transitions<'a>) -> Result<(), Stop> {
        for transition in transitions {
            let transition = transition?;
            self.transitions += 1;
            self.largest = self.largest.max(transition.from).max(transition.to);
        }
        Ok(())
    }
}

#[derive(Default)]
struct Census<S> {
    seen: S,
}

impl<'a> Worker<'a> for Census<Vec<u64>> {
    fn chunk(&mut self, transitions: &mut Transitions<'a>) -> Result<(), Stop> {
        for transition in transitions {
            let transition = transition?;
            self.seen.extend([transition.from, transition.to]);
        }
        Ok(())
    }
}

impl<'a> Worker<'a> for Census<FixedBitSet> {
    fn chunk(&mut self, transitions: &mut Transitions<'a>) -> Result<(), Stop> {
        for transition in transitions {
            let transition = transition?;
            self.seen.insert(to_usize(transition.from));
            self.seen.insert(to_usize(transition.to));
        }
        Ok(())
    }
}
