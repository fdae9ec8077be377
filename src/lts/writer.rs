//! Writes `.aut` in mCRL2's exact shape, so that files can be compared byte by byte with mCRL2's own.

#![forbid(unsafe_code)]

use super::aut::Counts;
use std::io::{self, Write};

/// Writes the header line.
///
/// # Errors
/// If `out` cannot be written.
pub fn header(out: &mut impl Write, counts: Counts) -> io::Result<()> {
    writeln!(out, "des ({},{},{})", counts.initial, counts.transitions, counts.states)
}

/// Writes the header line of a state space of which only a part is known: without numbers, so that nobody takes it
/// for the whole.
///
/// # Errors
/// If `out` cannot be written.
pub fn unfinished_header(out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "des (?,?,?)")
}

/// Whoever takes the transitions of a state space.
pub trait Sink {
    /// Takes the next one.
    ///
    /// # Errors
    /// If it cannot be written.
    fn transition(&mut self, from: u64, label: &[u8], to: u64) -> io::Result<()>;
}

/// As lines of `.aut`.
impl<W: Write> Sink for W {
    fn transition(&mut self, from: u64, label: &[u8], to: u64) -> io::Result<()> {
        transition(self, from, label, to)
    }
}

/// Writes one transition.
///
/// # Errors
/// If `out` cannot be written.
pub fn transition(out: &mut impl Write, from: u64, label: &[u8], to: u64) -> io::Result<()> {
    write!(out, "({from},\"")?;
    out.write_all(label)?;
    writeln!(out, "\",{to})")
}
