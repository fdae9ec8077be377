//! The `.aut` (Aldebaran) grammar over bytes: no I/O, no allocation, nothing copied.
//!
//! ```text
//! file        = blanks header eol { blanks [ transition ] blanks eol } [ EOT ... ]
//! header      = "des" "(" number "," number "," number ")"        initial state, transitions, states
//! transition  = "(" number "," label "," number ")"
//! label       = '"' { any byte except LF } '"'  |  bytes, outer blanks trimmed
//! ```
//!
//! Blanks may stand around every token. A transition is scanned from both ends of its line: the label is what stands
//! between the first and the last comma. That is the one rule that reads all writers (mCRL2, CADP, LTSmin, MERC),
//! whose labels contain commas, parentheses, quotes and escapes. Lines end with LF or CR LF, the last one may lack
//! it; blank lines are skipped; a line that starts with the byte EOT ends the state space. Numbers are 64 bits, and
//! more is an error.
//!
//! A generator that was interrupted leaves a header without numbers: that is [`Header::Unfinished`], not a syntax
//! error.
//!
//! One step over the bytes a line; what the numbers mean (counts that are right, states in range) is the caller's
//! matter.

#![forbid(unsafe_code)]

use std::ops::Range;

/// Ends a state space inside a stream.
const EOT: u8 = 0x04;
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Something that is not in the grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Where, in the bytes given to the parser.
    pub offset: usize,
    /// What the grammar wants there.
    pub expected: &'static str,
}

/// The numbers of a header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// The initial state.
    pub initial: u64,
    /// How many transitions follow.
    pub transitions: u64,
    /// How many states there are.
    pub states: u64,
}

/// The first line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Header {
    /// With its numbers, and where each of them stands.
    Finished {
        /// The numbers.
        counts: Counts,
        /// Offsets of the initial state, the transitions and the states.
        places: [usize; 3],
    },
    /// Without numbers: the generator writes them last and was interrupted.
    Unfinished {
        /// Where the numbers should stand.
        place: usize,
    },
}

/// Reads the header; also tells where the transitions start.
///
/// # Errors
/// If the first line that is not blank is not a header.
pub fn header(bytes: &[u8]) -> Result<(Header, usize), Fault> {
    let mut scan = Scan { bytes, at: 0 };
    if bytes.starts_with(BYTE_ORDER_MARK) {
        scan.at = BYTE_ORDER_MARK.len();
    }
    while scan.peek().is_some_and(|byte| is_blank(byte) || byte == b'\n') {
        scan.at += 1;
    }
    if !bytes[scan.at..].starts_with(b"des") {
        return Err(Fault { offset: scan.at, expected: "the header `des (initial,transitions,states)`" });
    }
    scan.at += b"des".len();
    scan.blanks();
    if matches!(scan.peek(), None | Some(b'\n')) {
        return Ok((Header::Unfinished { place: scan.at }, after_line(bytes, scan.at)));
    }
    scan.token(b'(', "`(` after `des`")?;
    scan.blanks();
    if scan.peek() == Some(b'?') {
        return Ok((Header::Unfinished { place: scan.at }, after_line(bytes, scan.at)));
    }
    let (initial, initial_at) = scan.number("the number of the initial state")?;
    scan.token(b',', "`,` after the initial state")?;
    let (transitions, transitions_at) = scan.number("the number of transitions")?;
    scan.token(b',', "`,` after the number of transitions")?;
    let (states, states_at) = scan.number("the number of states")?;
    scan.token(b')', "`)` after the number of states")?;
    scan.blanks();
    if !matches!(scan.peek(), None | Some(b'\n')) {
        return Err(Fault { offset: scan.at, expected: "the end of the line after the header" });
    }
    let counts = Counts { initial, transitions, states };
    Ok((Header::Finished { counts, places: [initial_at, transitions_at, states_at] }, after_line(bytes, scan.at)))
}

/// One transition, its label still as bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transition<'a> {
    /// The source state.
    pub from: u64,
    /// The label, without the quotes.
    pub label: &'a [u8],
    /// The target state.
    pub to: u64,
    /// Where the source's number, the label's first byte and the target's number stand.
    pub places: [usize; 3],
}

/// The transitions of a text that starts and ends at line borders; see [`transitions`].
#[derive(Clone, Debug)]
pub struct Transitions<'a> {
    bytes: &'a [u8],
    at: usize,
    end_of_text: Option<usize>,
}

/// Reads the transitions in `bytes[range]`, which must start at the beginning of a line and end after one.
/// All offsets are offsets in `bytes`.
#[must_use]
pub fn transitions(bytes: &[u8], range: Range<usize>) -> Transitions<'_> {
    Transitions { bytes: &bytes[..range.end], at: range.start, end_of_text: None }
}

impl Transitions<'_> {
    /// Where the EOT byte stood that ended the state space, if one did.
    #[must_use]
    pub fn end_of_text(&self) -> Option<usize> {
        self.end_of_text
    }

    /// Where the next line stands.
    #[must_use]
    pub fn position(&self) -> usize {
        self.at
    }
}

impl<'a> Iterator for Transitions<'a> {
    type Item = Result<Transition<'a>, Fault>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let start = self.at;
            let rest = self.bytes.get(start..).filter(|rest| !rest.is_empty())?;
            let length = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
            self.at = start + length + 1;
            if let Some(transition) = tight_transition(&rest[..length], start) {
                return Some(Ok(transition));
            }
            let mut scan = Scan { bytes: &self.bytes[..start + length], at: start };
            scan.blanks();
            match scan.peek() {
                None => {}
                Some(EOT) => {
                    self.end_of_text = Some(scan.at);
                    self.at = self.bytes.len();
                    return None;
                }
                Some(_) => return Some(transition(scan)),
            }
        }
    }
}

/// Reads a transition without blanks and with a quoted label, as nearly all are: a short cut for [`transition`],
/// which reads all others and knows what is wrong with the rest. `start` is where the line stands.
#[inline]
fn tight_transition(line: &[u8], start: usize) -> Option<Transition<'_>> {
    let inner = line.strip_prefix(b"(")?.strip_suffix(b")")?;
    let (mut from, mut from_digits) = (0_u64, 0);
    for byte in inner {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            break;
        }
        from = from.wrapping_mul(10).wrapping_add(u64::from(digit));
        from_digits += 1;
    }
    let (mut to, mut to_digits, mut power) = (0_u64, 0, 1_u64);
    for byte in inner.iter().rev() {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            break;
        }
        to = to.wrapping_add(u64::from(digit).wrapping_mul(power));
        power = power.wrapping_mul(10);
        to_digits += 1;
    }
    // With more digits the numbers may have wrapped; `transition` checks that.
    if !(1..=SAFE_DIGITS).contains(&from_digits) || !(1..=SAFE_DIGITS).contains(&to_digits) {
        return None;
    }
    let middle = inner.get(from_digits..inner.len() - to_digits)?;
    let label = middle.strip_prefix(b",\"")?.strip_suffix(b"\",")?;
    let places = [start + 1, start + 1 + from_digits + 2, start + 1 + inner.len() - to_digits];
    Some(Transition { from, label, to, places })
}

/// Reads one transition; `scan` stands at its first byte and ends with its line.
fn transition(mut scan: Scan<'_>) -> Result<Transition<'_>, Fault> {
    let bytes = scan.bytes;
    if scan.peek() != Some(b'(') {
        return Err(Fault { offset: scan.at, expected: "a transition `(from,\"label\",to)`" });
    }
    scan.at += 1;
    let (from, from_at) = scan.number("the number of the source state")?;
    scan.token(b',', "`,` after the source state")?;
    scan.blanks();
    let mut back = Back { bytes, start: scan.at, end: bytes.len() };
    back.blanks();
    back.token(b')', "`)` at the end of the transition")?;
    back.blanks();
    let (to, to_at) = back.number("the number of the target state")?;
    back.blanks();
    back.token(b',', "`,` between the label and the target state")?;
    back.blanks();
    let (mut start, mut end) = (back.start, back.end);
    match bytes[start..end] {
        [] => return Err(Fault { offset: start, expected: "a label" }),
        [b'"', .., b'"'] => {
            start += 1;
            end -= 1;
        }
        [b'"', ..] => return Err(Fault { offset: end, expected: "`\"` at the end of the label" }),
        _ => {}
    }
    Ok(Transition { from, label: &bytes[start..end], to, places: [from_at, start, to_at] })
}

/// The byte after the line in which `at` stands.
#[must_use]
pub fn after_line(bytes: &[u8], at: usize) -> usize {
    memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |length| at + length + 1)
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\x0b' | b'\x0c')
}

/// The value of a run of digits, unless it needs more than 64 bits.
fn value(digits: &[u8]) -> Option<u64> {
    if digits.len() <= SAFE_DIGITS {
        return Some(digits.iter().fold(0, |value, digit| value * 10 + u64::from(digit - b'0')));
    }
    digits.iter().try_fold(0_u64, |value, digit| value.checked_mul(10)?.checked_add(u64::from(digit - b'0')))
}

/// Numbers with this many digits fit into 64 bits, whatever the digits are.
const SAFE_DIGITS: usize = 19;
const TOO_LARGE: &str = "a number below 2^64";

/// A position that moves forward.
struct Scan<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Scan<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn blanks(&mut self) {
        while self.peek().is_some_and(is_blank) {
            self.at += 1;
        }
    }

    fn token(&mut self, byte: u8, expected: &'static str) -> Result<(), Fault> {
        self.blanks();
        if self.peek() != Some(byte) {
            return Err(Fault { offset: self.at, expected });
        }
        self.at += 1;
        Ok(())
    }

    fn number(&mut self, expected: &'static str) -> Result<(u64, usize), Fault> {
        self.blanks();
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        if start == self.at {
            return Err(Fault { offset: start, expected });
        }
        let value = value(&self.bytes[start..self.at]).ok_or(Fault { offset: start, expected: TOO_LARGE })?;
        Ok((value, start))
    }
}

/// A position that moves backward from `end`, not beyond `start`.
struct Back<'a> {
    bytes: &'a [u8],
    start: usize,
    end: usize,
}

impl Back<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes[self.start..self.end].last().copied()
    }

    fn blanks(&mut self) {
        while self.peek().is_some_and(is_blank) {
            self.end -= 1;
        }
    }

    fn token(&mut self, byte: u8, expected: &'static str) -> Result<(), Fault> {
        if self.peek() != Some(byte) {
            return Err(Fault { offset: self.end, expected });
        }
        self.end -= 1;
        Ok(())
    }

    fn number(&mut self, expected: &'static str) -> Result<(u64, usize), Fault> {
        let end = self.end;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.end -= 1;
        }
        if end == self.end {
            // Point at the start of whatever stands in the number's place.
            while self.peek().is_some_and(|byte| byte != b',' && !is_blank(byte)) {
                self.end -= 1;
            }
            return Err(Fault { offset: self.end, expected });
        }
        let value = value(&self.bytes[self.end..end]).ok_or(Fault { offset: self.end, expected: TOO_LARGE })?;
        Ok((value, self.end))
    }
}
