//! What the headers say, how far they are believed, and where the transitions stand.
//!
//! A header's numbers are checked, never trusted: no memory is taken for more states than the inputs can mention. T
//! transitions mention at most 2T + 1 states.
//!
//! Several inputs are shards: parts of one state space with common numbers for its states. A shard has the header of
//! the whole, or none; one of them at least has it. With headers of their own, which count what follows, nobody would
//! see that a shard is missing. For the same reason no two shards with transitions are copies: copies of a text are
//! found at once, others when all was read ([`fingerprint`](super::fingerprint)).

use super::Options;
use super::chunks::{At, Body, Meter, Worker, pass};
use super::stop::{Reason, Stop};
use crate::lts::aut::{self, Counts};
use crate::lts::error::{BytePosition, Error};
use crate::lts::source::Bytes;
use crate::lts::space::{Opening, Space, Transition};
use fixedbitset::FixedBitSet;

/// See the [module](self).
pub(super) struct Layout<'s> {
    /// By input.
    bodies: Vec<Body<'s>>,
    promised: Option<Promised<'s>>,
    belief: Belief,
    pub(super) warnings: Vec<String>,
}

/// What the header says.
#[derive(Clone, Copy)]
struct Promised<'s> {
    counts: Counts,
    /// The first input that has it, and where its number of transitions stands, if it is a text.
    source: &'s Bytes,
    place: Option<usize>,
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

impl Numbering {
    /// What a table with one word a state takes.
    pub(super) fn bytes(&self) -> u64 {
        let states = match self {
            Numbering::Dense(size) => *size,
            Numbering::Sparse(states) => states.len(),
        };
        (states as u64).saturating_mul(size_of::<u32>() as u64)
    }
}

/// How many transitions the bodies can have at most.
pub(super) fn most_transitions(bodies: &[Body<'_>]) -> u64 {
    bodies.iter().map(|body| body.space.most_transitions(&body.range)).sum()
}

/// The numbers of a header, and where they stand in a text.
type Counted = (Counts, Option<[usize; 3]>);

impl<'s> Layout<'s> {
    /// Reads and checks the headers.
    pub(super) fn of_headers(sources: &'s [Bytes], options: &Options) -> Result<Layout<'s>, Error> {
        let belief = if options.lenient || options.recover { Belief::Lenient } else { Belief::Strict };
        let mut layout = Layout { bodies: Vec::new(), promised: None, belief, warnings: Vec::new() };
        if let [source] = sources {
            layout.add(source, options)?;
            return Ok(layout);
        }
        for source in sources {
            layout.add_shard(source, options)?;
        }
        layout.refuse_repetitions()?;
        match (layout.promised, sources.first()) {
            (None, Some(source)) if belief == Belief::Strict => {
                let remedy = "one shard at least has the header of the whole; it can be a file with that header alone";
                Err(Error::unexpected(
                    source.name(),
                    source.bytes(),
                    0,
                    "the header `des (initial,transitions,states)`",
                    remedy,
                ))
            }
            _ => Ok(layout),
        }
    }

    /// Of one shard, without the others: its numbers are not compared with what it has.
    pub(super) fn of_shard(source: &'s Bytes, options: &Options) -> Result<Layout<'s>, Error> {
        let mut layout = Layout { bodies: Vec::new(), promised: None, belief: Belief::Lenient, warnings: Vec::new() };
        layout.add_shard(source, options)?;
        Ok(layout)
    }

    fn add_shard(&mut self, source: &'s Bytes, options: &Options) -> Result<(), Error> {
        let first = source.bytes().iter().find(|byte| !byte.is_ascii_whitespace());
        if first == Some(&b'(') {
            let space = Space::of_lines(source);
            self.bodies.push(Body { space, range: 0..source.bytes().len() });
            return Ok(());
        }
        match self.open(source, options)? {
            // What a table says of itself is about its own rows.
            Some((counts, Some(places))) => self.promise(source, counts, Some(places)),
            _ => Ok(()),
        }
    }

    /// A copy under another name makes up for a shard that is missing, in the sum of their transitions.
    fn refuse_repetitions(&self) -> Result<(), Error> {
        let text = |body: &Body<'s>| match body.space.is_table() {
            true => body.space.source().bytes(),
            false => &body.space.source().bytes()[body.range.clone()],
        };
        let has_transitions = |body: &Body<'s>| match body.space.is_table() {
            true => !body.range.is_empty(),
            false => text(body).contains(&b'('),
        };
        for (position, body) in self.bodies.iter().enumerate() {
            let is_same = |other: &&Body<'s>| text(other) == text(body) && has_transitions(body);
            if let Some(other) = self.bodies[..position].iter().position(|other| is_same(&other)) {
                return self.refuse_repeated(Some((other, position)));
            }
        }
        Ok(())
    }

    /// An error, if an input, the second, has the transitions of another one.
    pub(super) fn refuse_repeated(&self, repeated: Option<(usize, usize)>) -> Result<(), Error> {
        let Some((first, second)) = repeated else { return Ok(()) };
        let (body, first) = (&self.bodies[second], self.bodies[first].space.source());
        let expected = format!("other transitions than in {}", first.name());
        let place = (!body.space.is_table()).then_some(body.range.start);
        Err(at(body.space.source(), place, &expected, "the same", "one shard was given twice; name every shard once"))
    }

    fn add(&mut self, source: &'s Bytes, options: &Options) -> Result<(), Error> {
        match self.open(source, options)? {
            Some((counts, places)) => self.promise(source, counts, places),
            None => Ok(()),
        }
    }

    /// What the file says of the state space, unless that is unfinished.
    fn open(&mut self, source: &'s Bytes, options: &Options) -> Result<Option<Counted>, Error> {
        let (space, opening, start) = Space::open(source)?;
        let end = space.end();
        self.bodies.push(Body { space, range: start..end });
        match opening {
            Opening::Unfinished { place } if !options.recover => Err(at(
                source,
                place,
                "the numbers of the header",
                "an unfinished state space (the generator was interrupted)",
                "generate it again, or read what is there with --recover",
            )),
            Opening::Unfinished { .. } => {
                self.warnings.push("the state space is unfinished: facts may be missing".to_owned());
                Ok(None)
            }
            Opening::Finished { counts, places } => Ok(Some((counts, places))),
        }
    }

    fn promise(&mut self, source: &'s Bytes, counts: Counts, places: Option<[usize; 3]>) -> Result<(), Error> {
        let [initial, transitions, states] = [0, 1, 2].map(|number| places.map(|places| places[number]));
        let Some(promised) = &self.promised else {
            self.promised = Some(Promised { counts, source, place: transitions });
            if counts.states == 0 {
                let expected = "at least one state";
                self.complain(source, states, expected, "0", "the header counts no states")?;
            } else if counts.initial >= counts.states {
                let expected = format!("an initial state below {}, the number of states", counts.states);
                let warning = format!("the initial state is not below {}", counts.states);
                self.complain(source, initial, &expected, &counts.initial.to_string(), &warning)?;
            }
            return Ok(());
        };
        let (first, own) = (promised.counts, source.name());
        let of_first = promised.source.name();
        if counts.initial != first.initial {
            let expected = format!("the initial state {}, as in {of_first}", first.initial);
            let warning =
                format!("the initial state of {own} is {}, that of {of_first} {}", counts.initial, first.initial);
            self.complain(source, initial, &expected, &counts.initial.to_string(), &warning)?;
        }
        if counts.states != first.states {
            let expected = format!("{} states, as in {of_first}", first.states);
            let warning = format!("{own} counts {} states, {of_first} {}", counts.states, first.states);
            self.complain(source, states, &expected, &counts.states.to_string(), &warning)?;
        }
        if counts.transitions != first.transitions {
            let expected = format!("{} transitions, those of all shards together, as in {of_first}", first.transitions);
            let warning = format!("{own} counts {} transitions, {of_first} {}", counts.transitions, first.transitions);
            self.complain(source, transitions, &expected, &counts.transitions.to_string(), &warning)?;
        }
        Ok(())
    }

    /// The header of the whole, if there is one.
    pub(super) fn header(&self) -> Option<Counts> {
        self.promised.map(|promised| promised.counts)
    }

    /// Whether the numbers are only what was found: there is one input, a table that another tool wrote.
    pub(super) fn is_uncounted(&self) -> bool {
        matches!(&self.bodies[..], [body] if body.space.is_uncounted())
    }

    /// The parts of the inputs that have the transitions.
    pub(super) fn bodies(&self) -> &[Body<'s>] {
        &self.bodies
    }

    /// The initial state, if the header says what it is.
    pub(super) fn initial(&self) -> Option<u64> {
        self.promised.as_ref().map(|promised| promised.counts.initial)
    }

    /// The number that every state must be below.
    pub(super) fn state_limit(&self) -> u64 {
        match (self.belief, &self.promised) {
            (Belief::Strict, Some(promised)) => promised.counts.states,
            _ => u64::MAX,
        }
    }

    /// Whether a pass stopped where the transitions of an input end before the text does; if so, cuts its body there.
    pub(super) fn ends_at(&mut self, stop: &Stop, options: &Options) -> bool {
        let Body { space, range } = &mut self.bodies[stop.input];
        let bytes = space.source().bytes();
        match stop.reason {
            Reason::EndOfText => {
                range.end = stop.position;
                true
            }
            Reason::Syntax(_) if options.recover && aut::after_line(bytes, stop.position) == range.end => {
                if bytes.get(range.end - 1) == Some(&b'\n') {
                    return false;
                }
                let line = memchr::memrchr(b'\n', &bytes[..range.end]).map_or(0, |newline| newline + 1);
                range.end = line.max(range.start);
                self.warnings.push("the last line is cut off and was left out".to_owned());
                true
            }
            _ => false,
        }
    }

    /// Chooses how states are numbered, and counts them. If the header is not believed, or promises more states than
    /// its transitions can mention, this takes a pass of its own over the text.
    pub(super) fn numbering(&self, meter: &Meter<'_>) -> Result<(Numbering, u64), Stop> {
        let bodies = self.bodies();
        let believed = self.promised.filter(|_| self.belief == Belief::Strict);
        let all_states = |transitions: u64| {
            let states = believed.map(|promised| promised.counts.states);
            states.filter(|&states| states <= transitions.saturating_mul(2).saturating_add(1))
        };
        let promised = believed.map(|promised| promised.counts.transitions);
        let possible = promised.filter(|&least| least <= most_transitions(bodies));
        if let Some(states) = possible.and_then(all_states) {
            return Ok((Numbering::Dense(to_usize(states)), states));
        }
        let silent = meter.silent();
        let surveys = pass(bodies, &silent, Survey::default)?;
        let transitions: u64 = surveys.iter().map(|survey| survey.transitions).sum();
        if let Some(states) = all_states(transitions) {
            return Ok((Numbering::Dense(to_usize(states)), states));
        }
        let initial = self.initial().unwrap_or(0);
        let largest = surveys.iter().map(|survey| survey.largest).max().unwrap_or(0).max(initial);
        let dense = largest <= 2 * transitions;
        let numbering = if dense {
            Numbering::Dense(to_usize(largest + 1))
        } else {
            let mut states: Vec<u64> = Vec::new();
            for census in pass(bodies, &silent, Census::<Vec<u64>>::default)? {
                states.extend(census.seen);
            }
            states.push(initial);
            states.sort_unstable();
            states.dedup();
            Numbering::Sparse(states)
        };
        let states = match (&self.promised, &numbering) {
            (Some(promised), _) => promised.counts.states.max(largest.saturating_add(1)),
            (None, Numbering::Sparse(states)) => states.len() as u64,
            (None, Numbering::Dense(size)) => {
                let mut seen = FixedBitSet::with_capacity(*size);
                seen.insert(to_usize(initial));
                let census = || Census { seen: FixedBitSet::with_capacity(*size) };
                for census in pass(bodies, &silent, census)? {
                    seen.union_with(&census.seen);
                }
                seen.count_ones(..) as u64
            }
        };
        Ok((numbering, states))
    }

    /// Compares what was read with the headers' numbers.
    pub(super) fn check_counts(&mut self, found: u64, states: u64) -> Result<(), Error> {
        let Some(Promised { counts, source, place }) = self.promised else { return Ok(()) };
        if counts.states != states && counts.states != 0 {
            self.warnings.push(format!("the header counts {} states, but {states} occur", counts.states));
        }
        if counts.transitions == found {
            return Ok(());
        }
        let expected = match &self.bodies[..] {
            [_] => format!("{found} transitions, as many as follow"),
            bodies => format!("{found} transitions, as many as the {} shards have together", bodies.len()),
        };
        let warning = format!("the header counts {} transitions, but {found} follow", counts.transitions);
        self.complain(source, place, &expected, &counts.transitions.to_string(), &warning)
    }

    /// An error, or a warning if the header need not be right.
    fn complain(
        &mut self,
        source: &Bytes,
        place: Option<usize>,
        expected: &str,
        found: &str,
        warning: &str,
    ) -> Result<(), Error> {
        if self.belief == Belief::Lenient {
            self.warnings.push(warning.to_owned());
            return Ok(());
        }
        let remedy = match &self.bodies[..] {
            [_] => {
                "the file may be cut off, put together wrongly, or a shard of a larger state space (--shards takes all \
                    of them together); --lenient takes it as a part"
            }
            _ => {
                "a shard may be missing, cut off, of another state space, or have a header of its own (a shard has the \
                  header of the whole, or none); --lenient takes what is there as a part"
            }
        };
        Err(at(source, place, expected, found, remedy))
    }
}

/// The error at a byte of a text, or of a table as a whole.
fn at(source: &Bytes, place: Option<usize>, expected: &str, found: &str, remedy: &str) -> Error {
    match place {
        None => Error::of_file(source.name(), expected, found.to_owned(), remedy),
        Some(offset) => {
            Error::contents(source.name(), BytePosition::of(source.bytes(), offset), expected, found, remedy)
        }
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

impl Worker for Survey {
    fn batch(&mut self, transitions: &[Transition]) -> Result<(), At<Reason>> {
        for transition in transitions {
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

impl Worker for Census<Vec<u64>> {
    fn batch(&mut self, transitions: &[Transition]) -> Result<(), At<Reason>> {
        for transition in transitions {
            self.seen.extend([transition.from, transition.to]);
        }
        Ok(())
    }
}

impl Worker for Census<FixedBitSet> {
    fn batch(&mut self, transitions: &[Transition]) -> Result<(), At<Reason>> {
        for transition in transitions {
            self.seen.insert(to_usize(transition.from));
            self.seen.insert(to_usize(transition.to));
        }
        Ok(())
    }
}
