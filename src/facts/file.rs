//! Facts files: the tables as text, small, stable, and safe against truncation.
//!
//! ```text
//! seqcon-facts 1
//! states 14
//! transitions 32
//! cut_off 0
//! labels 2
//! T0.0: b0 :=
//! T0.1: ? b1
//! follows 2
//! 0 1 new
//! 1 1
//! waits 0
//! begin 0
//! lapse 0
//! end 0
//! concurrent 0
//! presumed 0
//! checksum 8a1fd2c3b4e59607
//! ```
//!
//! Labels are in the native dialect; the pairs refer to them by position, from 0. `new` marks the pairs that a step
//! newly enabled (see [`Follows::newly`]). `presumed 1` is followed by the tables once more, from `labels` to
//! `concurrent`, with what the state space does not show ([`Presumed`]); files of earlier versions do not have this
//! line, and are read all the same. The last line is the FNV-1a hash (64 bits) of all bytes before it: a file that
//! was cut off or changed is refused, because facts that are silently missing would be fences that are silently
//! missing. Equal facts give equal bytes. Files are merged by reading them all and [`Facts::merge`].

#![forbid(unsafe_code)]

use super::{Facts, Follows, Presumed, Silences, Waits};
use crate::ids::LabelId;
use crate::lts::FACTS;
use crate::lts::dialect::native;
use crate::lts::error::{BytePosition, Error, found_at, quoted};
use crate::lts::label::Label;
use std::io::{self, Write};

const VERSION: &str = "1";
const REMEDY: &str = "write it again with `seqcon facts`";

/// Writes facts.
///
/// # Errors
/// If `out` cannot be written.
pub fn write(facts: &Facts, out: impl Write) -> io::Result<()> {
    let mut out = Checksummed { out, checksum: Checksum::default() };
    writeln!(out, "{FACTS}{VERSION}")?;
    writeln!(out, "states {}", facts.states)?;
    writeln!(out, "transitions {}", facts.transitions)?;
    writeln!(out, "cut_off {}", u8::from(facts.cut_off))?;
    write_tables(facts, &mut out)?;
    match &facts.presumed {
        Presumed::Nothing => writeln!(out, "presumed 0")?,
        Presumed::More(all) => {
            writeln!(out, "presumed 1")?;
            write_tables(all, &mut out)?;
        }
        Presumed::Unknown => {}
    }
    let checksum = out.checksum;
    writeln!(out, "checksum {checksum:016x}", checksum = checksum.0)?;
    out.flush()
}

fn write_tables(facts: &Facts, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "labels {}", facts.labels.len())?;
    for label in &facts.labels {
        writeln!(out, "{label}")?;
    }
    writeln!(out, "follows {}", facts.follows.len())?;
    for Follows { from, to, newly } in &facts.follows {
        writeln!(out, "{} {}{}", from.0, to.0, if *newly { " new" } else { "" })?;
    }
    writeln!(out, "waits {}", facts.waits.len())?;
    for (before, after) in &facts.waits {
        writeln!(out, "{} {}", before.0, after.0)?;
    }
    for (name, labels) in silences(&facts.silences) {
        writeln!(out, "{name} {}", labels.len())?;
        for label in labels {
            writeln!(out, "{}", label.0)?;
        }
    }
    writeln!(out, "concurrent {}", facts.concurrent.len())?;
    for (a, b) in &facts.concurrent {
        writeln!(out, "{} {}", a.0, b.0)?;
    }
    Ok(())
}

/// The tables of silences with their names, in the order of the file.
fn silences(silences: &Silences) -> [(&'static str, &[LabelId]); 3] {
    [("begin", &silences.begin), ("lapse", &silences.lapse), ("end", &silences.end)]
}

/// Reads facts; `path` is the name for messages.
///
/// # Errors
/// If the text is not a facts file of this version, or was cut off or changed.
pub fn read(bytes: &[u8], path: &str) -> Result<Facts, Error> {
    let mut lines = Lines { bytes, path, start: 0, end: 0 };
    let version = lines.next("a facts file")?.strip_prefix(FACTS);
    if version != Some(VERSION) {
        let remedy = "this seqcon reads version 1; write the file again with `seqcon facts`";
        return Err(Error::unexpected(path, bytes, 0, format!("`{FACTS}{VERSION}`"), remedy));
    }
    let states = lines.count("states")?;
    let transitions = lines.count("transitions")?;
    let cut_off = lines.count("cut_off")? != 0;
    let facts = Facts { cut_off, ..read_tables(&mut lines, (states, transitions))? };
    let mut presumed = Presumed::Unknown;
    if lines.is_next("presumed ") {
        presumed = match lines.count("presumed")? {
            0 => Presumed::Nothing,
            1 => Presumed::More(Box::new(read_tables(&mut lines, (states, transitions))?)),
            _ => return Err(lines.unexpected("`presumed 0` or `presumed 1`")),
        };
    }
    let mut checksum = Checksum::default();
    checksum.add(&bytes[..lines.end]);
    if lines.next("the checksum")? != format!("checksum {:016x}", checksum.0) {
        return Err(lines.unexpected("the checksum of the lines before (the file was changed or damaged)"));
    }
    if lines.end != bytes.len() {
        return Err(Error::unexpected(path, bytes, lines.end, "the end of the file", REMEDY));
    }
    Ok(Facts { presumed, ..facts })
}

/// Reads the tables, from `labels` to `concurrent`.
fn read_tables(lines: &mut Lines<'_>, size: (u64, u64)) -> Result<Facts, Error> {
    let (bytes, path) = (lines.bytes, lines.path);
    let mut labels: Vec<Label> = Vec::new();
    for _ in 0..lines.count("labels")? {
        let text = lines.next("a label")?;
        labels.push(native::parse(text).map_err(|error| {
            let offset = lines.start + error.offset;
            let found = format!("{} in the label {}", found_at(bytes, offset), quoted(text.as_bytes()));
            Error::contents(path, BytePosition::of(bytes, offset), error.expected, found, REMEDY)
        })?);
    }
    let mut follows = Vec::new();
    for _ in 0..lines.count("follows")? {
        let text = lines.next("a pair of labels")?;
        let (pair, newly) = text.strip_suffix(" new").map_or((text, false), |pair| (pair, true));
        let (from, to) = lines.pair(pair, &labels)?;
        if labels[from.index()].thread != labels[to.index()].thread {
            return Err(lines.unexpected("two labels of the same thread"));
        }
        follows.push(Follows { from, to, newly });
    }
    let mut waits = Waits::default();
    for _ in 0..lines.count("waits")? {
        let text = lines.next("a pair of labels")?;
        let (before, after) = lines.pair(text, &labels)?;
        if labels[before.index()].thread != labels[after.index()].thread {
            return Err(lines.unexpected("two labels of the same thread"));
        }
        waits.with_labels.push((before, after));
    }
    let Silences { begin, lapse, end } = &mut waits.without;
    for (name, into) in [("begin", begin), ("lapse", lapse), ("end", end)] {
        for _ in 0..lines.count(name)? {
            let text = lines.next("a label's position")?;
            let label = text.parse().ok().map(LabelId).filter(|label| label.index() < labels.len());
            into.push(label.ok_or_else(|| lines.unexpected("a label's position"))?);
        }
    }
    let mut concurrent = Vec::new();
    for _ in 0..lines.count("concurrent")? {
        let text = lines.next("a pair of labels")?;
        let (a, b) = lines.pair(text, &labels)?;
        if labels[a.index()].thread == labels[b.index()].thread {
            return Err(lines.unexpected("two labels of different threads"));
        }
        concurrent.push((a, b));
    }
    Ok(Facts::canonical_with_waits(&labels, follows, waits, concurrent, size))
}

/// A text line by line, with the place of the last line for messages.
struct Lines<'a> {
    bytes: &'a [u8],
    path: &'a str,
    /// The last line that was read.
    start: usize,
    /// Behind its line end.
    end: usize,
}

impl<'a> Lines<'a> {
    /// The next line. All lines, the last one too, end with LF: without, the file was cut off.
    fn next(&mut self, expected: &str) -> Result<&'a str, Error> {
        self.start = self.end;
        let rest = &self.bytes[self.start..];
        let Some(length) = memchr::memchr(b'\n', rest) else {
            let remedy = "the file was cut off; write it again with `seqcon facts`";
            let expected = format!("{expected} and the end of its line");
            return Err(Error::unexpected(self.path, self.bytes, self.bytes.len(), expected, remedy));
        };
        self.end = self.start + length + 1;
        std::str::from_utf8(&rest[..length]).map_err(|_| self.unexpected("text in UTF-8"))
    }

    /// Whether the next line begins so.
    fn is_next(&self, text: &str) -> bool {
        self.bytes[self.end..].starts_with(text.as_bytes())
    }

    /// A line `word number`.
    fn count(&mut self, word: &str) -> Result<u64, Error> {
        let text = self.next(word)?;
        let number = text.strip_prefix(word).and_then(|rest| rest.strip_prefix(' ')).and_then(decimal);
        number.ok_or_else(|| self.unexpected(&format!("`{word}` and a number")))
    }

    /// Two positions in the table of labels.
    fn pair(&self, text: &str, labels: &[Label]) -> Result<(LabelId, LabelId), Error> {
        let id =
            |text: &str| decimal(text).filter(|&id| id < labels.len() as u64).and_then(|id| u32::try_from(id).ok());
        let pair = text.split_once(' ').and_then(|(a, b)| Some((LabelId(id(a)?), LabelId(id(b)?))));
        pair.ok_or_else(|| self.unexpected(&format!("two label positions below {}", labels.len())))
    }

    fn unexpected(&self, expected: &str) -> Error {
        Error::unexpected(self.path, self.bytes, self.start, expected, REMEDY)
    }
}

/// A number as it is written here: digits alone, no sign.
fn decimal(text: &str) -> Option<u64> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) { text.parse().ok() } else { None }
}

/// FNV-1a, 64 bits.
#[derive(Clone, Copy)]
pub(super) struct Checksum(pub(super) u64);

impl Default for Checksum {
    fn default() -> Self {
        Checksum(0xcbf2_9ce4_8422_2325)
    }
}

impl Checksum {
    pub(super) fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

struct Checksummed<W> {
    out: W,
    checksum: Checksum,
}

impl<W: Write> Write for Checksummed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.checksum.add(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
