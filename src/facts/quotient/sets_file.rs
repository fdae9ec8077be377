//! What the first phase writes for a shard: what its transitions say is enabled in each state.
//!
//! Lines of text, then numbers, then the hash of both:
//!
//! ```text
//! seqcon-sets 1
//! name parts/3.aut
//! hash 8a1fd2c3b4e59607
//! header 0 5667 1459
//! transitions 354
//! largest 1458
//! labels 2
//! T0.0: b0 :=
//! tau
//! sets 2
//! 0
//! 0 1
//! sources 118
//! discovered 87
//! ```
//!
//! `header` is `none` if the shard has none. Behind the last line stand, as numbers of seven bits a byte with the
//! lowest first: for each of the `sources`, in the order of their numbers, the distance to the one before and the
//! position of its set; for each of the runs of `discovered` states (which have a step to them from the initial state,
//! or from one with a smaller number), the distance to the end of the one before and its length. The last eight bytes
//! are the FNV-1a hash of all before them.

#![forbid(unsafe_code)]

use super::{INTERNAL, Meaning, space};
use crate::facts::file::Checksum;
use crate::lts::aut::Counts;
use crate::lts::dialect::native;
use crate::lts::error::{Error, found_at};
use std::io::{self, Write};
use std::ops::Range;

const FIRST_LINE: &str = "seqcon-sets 1";
const REMEDY: &str = "write it again with `seqcon facts --phase sets`";

/// What a file has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sets {
    /// The shard's file.
    pub name: String,
    /// Of its transitions, in whatever order; the same for shards with the same transitions.
    pub hash: u64,
    /// Its header, if it has one: that of the whole.
    pub header: Option<Counts>,
    /// How many transitions it has.
    pub transitions: u64,
    /// The largest number of a state.
    pub largest: u64,
    /// Its labels.
    pub labels: Vec<Meaning>,
    /// Sets of positions of labels.
    pub sets: Vec<Box<[u32]>>,
    /// The states that transitions leave, in the order of their numbers, each with the position of its set.
    pub sources: Vec<(u64, u32)>,
    /// See the [module](self): sorted, disjoint.
    pub discovered: Vec<Range<u64>>,
}

/// Writes a file.
///
/// # Errors
/// If `out` cannot be written.
pub fn write(sets: &Sets, mut out: impl Write) -> io::Result<()> {
    let mut text = Vec::new();
    writeln!(text, "{FIRST_LINE}\nname {}\nhash {:016x}", sets.name.replace('\n', " "), sets.hash)?;
    match sets.header {
        None => writeln!(text, "header none")?,
        Some(Counts { initial, transitions, states }) => writeln!(text, "header {initial} {transitions} {states}")?,
    }
    writeln!(text, "transitions {}\nlargest {}\nlabels {}", sets.transitions, sets.largest, sets.labels.len())?;
    for label in &sets.labels {
        writeln!(text, "{}", space::text(label))?;
    }
    writeln!(text, "sets {}", sets.sets.len())?;
    for set in &sets.sets {
        let members: Vec<String> = set.iter().map(ToString::to_string).collect();
        writeln!(text, "{}", members.join(" "))?;
    }
    writeln!(text, "sources {}\ndiscovered {}", sets.sources.len(), sets.discovered.len())?;
    let mut before = 0;
    for &(state, set) in &sets.sources {
        push(&mut text, state - before);
        push(&mut text, u64::from(set));
        before = state;
    }
    before = 0;
    for run in &sets.discovered {
        push(&mut text, run.start - before);
        push(&mut text, run.end - run.start);
        before = run.end;
    }
    let mut checksum = Checksum::default();
    checksum.add(&text);
    out.write_all(&text)?;
    out.write_all(&checksum.0.to_be_bytes())
}

fn push(bytes: &mut Vec<u8>, mut number: u64) {
    while number > 0x7f {
        bytes.push(0x80 | (number & 0x7f) as u8);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Reads a file; `path` is the name for messages.
///
/// # Errors
/// If it is none, or was cut off or changed.
pub fn read(bytes: &[u8], path: &str) -> Result<Sets, Error> {
    let unexpected = |at: usize, expected: &str| Error::unexpected(path, bytes, at, expected, REMEDY);
    if bytes.strip_prefix(FIRST_LINE.as_bytes()).is_none_or(|rest| !rest.starts_with(b"\n")) {
        return Err(unexpected(0, &format!("`{FIRST_LINE}`")));
    }
    let end = bytes.len().saturating_sub(size_of::<u64>());
    let mut checksum = Checksum::default();
    checksum.add(&bytes[..end]);
    if bytes[end..] != checksum.0.to_be_bytes() {
        let expected = "the hash of what stands before (the file was cut off, changed or damaged)".to_owned();
        let found = "another one".to_owned();
        return Err(Error::contents(path, crate::lts::error::BytePosition::of(bytes, end), expected, found, REMEDY));
    }
    let mut reading = Reading { bytes: &bytes[..end], path, start: 0, at: 0 };
    reading.line()?;
    let name = reading.word("name")?.to_owned();
    let hash = reading.word("hash")?;
    let hash = u64::from_str_radix(hash, 16).map_err(|_| reading.wrong("a hash"))?;
    let header = match reading.word("header")? {
        "none" => None,
        numbers => {
            let numbers: Vec<u64> = numbers.split(' ').filter_map(|number| number.parse().ok()).collect();
            let [initial, transitions, states] = numbers[..] else { return Err(reading.wrong("three numbers")) };
            Some(Counts { initial, transitions, states })
        }
    };
    let transitions = reading.count("transitions")?;
    let largest = reading.count("largest")?;
    let mut labels = Vec::new();
    for _ in 0..reading.count("labels")? {
        let text = reading.line()?;
        let label =
            if text == INTERNAL { None } else { Some(native::parse(text).map_err(|_| reading.wrong("a label"))?) };
        labels.push(label);
    }
    let mut sets: Vec<Box<[u32]>> = Vec::new();
    for _ in 0..reading.count("sets")? {
        let members: Option<Vec<u32>> = reading.line()?.split_whitespace().map(|member| member.parse().ok()).collect();
        let members = members.filter(|members| members.iter().all(|&member| (member as usize) < labels.len()));
        sets.push(members.ok_or_else(|| reading.wrong("positions of labels"))?.into_boxed_slice());
    }
    let (num_of_sources, num_of_runs) = (reading.count("sources")?, reading.count("discovered")?);
    let mut sources = Vec::new();
    let mut state = 0_u64;
    for _ in 0..num_of_sources {
        state = reading.number()?.checked_add(state).ok_or_else(|| reading.wrong("a state"))?;
        let set = u32::try_from(reading.number()?).ok().filter(|&set| (set as usize) < sets.len());
        sources.push((state, set.ok_or_else(|| reading.wrong("the position of a set"))?));
    }
    let mut discovered = Vec::new();
    let mut behind = 0_u64;
    for _ in 0..num_of_runs {
        let start = reading.number()?.checked_add(behind).ok_or_else(|| reading.wrong("a state"))?;
        behind = reading.number()?.checked_add(start).ok_or_else(|| reading.wrong("a state"))?;
        discovered.push(start..behind);
    }
    if reading.at < end {
        return Err(unexpected(reading.at, "the end of the file"));
    }
    Ok(Sets { name, hash, header, transitions, largest, labels, sets, sources, discovered })
}

/// A file from front to back, with the place of the last line for messages.
struct Reading<'a> {
    bytes: &'a [u8],
    path: &'a str,
    start: usize,
    at: usize,
}

impl<'a> Reading<'a> {
    fn line(&mut self) -> Result<&'a str, Error> {
        self.start = self.at;
        let rest = &self.bytes[self.start..];
        let length = memchr::memchr(b'\n', rest).ok_or_else(|| self.wrong("a line"))?;
        self.at = self.start + length + 1;
        std::str::from_utf8(&rest[..length]).map_err(|_| self.wrong("text in UTF-8"))
    }

    /// What follows the word in its line.
    fn word(&mut self, word: &str) -> Result<&'a str, Error> {
        let line = self.line()?;
        let rest = line.strip_prefix(word).and_then(|rest| rest.strip_prefix(' '));
        rest.ok_or_else(|| self.wrong(&format!("`{word}`")))
    }

    fn count(&mut self, word: &str) -> Result<u64, Error> {
        self.word(word)?.parse().map_err(|_| self.wrong(&format!("`{word}` and a number")))
    }

    fn number(&mut self) -> Result<u64, Error> {
        self.start = self.at;
        let mut number = 0_u64;
        for shift in (0..u64::BITS).step_by(7) {
            let &byte = self.bytes.get(self.at).ok_or_else(|| self.wrong("a number"))?;
            self.at += 1;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(self.wrong("a number below 2^64"))
    }

    fn wrong(&self, expected: &str) -> Error {
        let place = crate::lts::error::BytePosition::of(self.bytes, self.start);
        Error::contents(self.path, place, expected, found_at(self.bytes, self.start), REMEDY)
    }
}
