//! Standard output and standard error, for commands that must come to their end.
//!
//! A reader that goes away (`| head -1`) has seen enough: what is written after that is dropped, and the command goes
//! on, so that its other files are written and its exit status is that of its work. Any other failure of a stream, as
//! a full disk, is one.
//!
//! What a terminal would take for a command (control characters, marks of writing direction) is replaced before a
//! person sees it: always in text for people, and in data where standard output is a terminal. Data for a file or a
//! program stay as they are.

use crate::text::excerpt::printable;
use std::cell::RefCell;
use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::sync::OnceLock;

/// A stream whose reader may go away.
pub struct Patient<W> {
    inner: W,
    is_unread: bool,
}

impl<W: Write> Patient<W> {
    /// Nobody has gone away yet.
    pub fn new(inner: W) -> Patient<W> {
        Patient { inner, is_unread: false }
    }

    fn or_dropped<T>(&mut self, written: io::Result<T>, dropped: T) -> io::Result<T> {
        match written {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.is_unread = true;
                Ok(dropped)
            }
            other => other,
        }
    }
}

impl<W: Write> Write for Patient<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.is_unread {
            return Ok(bytes.len());
        }
        let written = self.inner.write(bytes);
        self.or_dropped(written, bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.is_unread {
            return Ok(());
        }
        let flushed = self.inner.flush();
        self.or_dropped(flushed, ())
    }
}

/// A stream that people look at.
pub struct Shown<W> {
    inner: W,
    /// The beginning of a character that is not complete yet.
    waiting: Vec<u8>,
}

impl<W: Write> Shown<W> {
    /// Nothing was written yet.
    pub fn new(inner: W) -> Shown<W> {
        Shown { inner, waiting: Vec::new() }
    }
}

impl<W: Write> Write for Shown<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.waiting.extend_from_slice(bytes);
        let complete = match str::from_utf8(&self.waiting) {
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            Ok(_) | Err(_) => self.waiting.len(),
        };
        let text: Vec<u8> = self.waiting.drain(..complete).collect();
        self.inner.write_all(harmless(&String::from_utf8_lossy(&text)).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// The text with what would garble a terminal replaced; lines stay lines.
#[must_use]
pub fn harmless(text: &str) -> String {
    text.split('\n').map(printable).collect::<Vec<_>>().join("\n")
}

/// Standard output for data: as they are, unless they go to a terminal.
#[must_use]
pub fn data() -> Box<dyn Write> {
    let out = io::stdout().lock();
    if out.is_terminal() { Box::new(Shown::new(Patient::new(out))) } else { Box::new(Patient::new(out)) }
}

/// Standard output for people.
#[must_use]
pub fn text() -> impl Write {
    Shown::new(Patient::new(io::stdout().lock()))
}

/// Standard output for text with our own colours, which stay on a terminal; whatever is not ours in it must be
/// [`printable`].
#[must_use]
pub fn coloured() -> impl Write {
    Patient::new(anstream::stdout().lock())
}

/// Standard error.
#[must_use]
pub fn errors() -> impl Write {
    Shown::new(Patient::new(io::stderr().lock()))
}

thread_local! {
    /// What this thread has to say, if that is held back.
    static HELD: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// A line on standard error. If that cannot be written there is nobody left to tell.
pub fn tell(message: fmt::Arguments<'_>) {
    let is_held = HELD.with_borrow_mut(|held| held.as_mut().map(|held| *held += &format!("{message}\n")).is_some());
    if is_held {
        return;
    }
    let mut write = || {
        let _ = writeln!(errors(), "{message}");
    };
    match CURTAIN.get() {
        None => write(),
        Some(around) => around(&mut write),
    }
}

/// Who draws on standard error, and takes it away while a line is written.
static CURTAIN: OnceLock<fn(&mut dyn FnMut())> = OnceLock::new();

/// Lines on standard error are written through this from now on.
pub fn draw_around(around: fn(&mut dyn FnMut())) {
    let _ = CURTAIN.set(around);
}

/// Holds back what this thread has to say meanwhile, and gives it: whoever works at several things at a time says
/// one after the other.
pub fn holding<T>(work: impl FnOnce() -> T) -> (T, String) {
    let outer = HELD.replace(Some(String::new()));
    let result = work();
    (result, HELD.replace(outer).unwrap_or_default())
}

/// Lines on standard error that were held back.
pub fn tell_all(lines: &str) {
    for line in lines.lines() {
        tell(format_args!("{line}"));
    }
}

/// Like `eprintln!`, but harmless on a terminal, and no panic if nobody reads it.
#[macro_export]
macro_rules! tell {
    ($($message:tt)*) => {
        $crate::report::streams::tell(format_args!($($message)*))
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Gone;

    impl Write for Gone {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
    }

    struct Full;

    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_reader_that_goes_away_is_no_failure_and_a_full_disk_is() {
        let mut out = Patient::new(Gone);
        assert!(out.write_all(b"one").and_then(|()| out.write_all(b"two")).and_then(|()| out.flush()).is_ok());
        assert_eq!(Patient::new(Full).write_all(b"one").unwrap_err().kind(), io::ErrorKind::StorageFull);
    }

    #[test]
    fn what_is_held_back_is_given_to_who_holds_it() {
        let (inner, said) = holding(|| {
            tell(format_args!("one"));
            let ((), inner) = holding(|| tell(format_args!("two\nlines")));
            tell_all(&inner);
        });
        assert_eq!((inner, said.as_str()), ((), "one\ntwo\nlines\n"));
    }

    #[test]
    fn what_people_see_is_harmless_also_if_it_comes_in_pieces() {
        let mut seen = Vec::new();
        let mut out = Shown::new(&mut seen);
        let text = "a\u{1b}[31m b\u{7}\r\n\u{202e}ä\u{9b}1m\u{7f}\nend";
        for byte in text.as_bytes() {
            out.write_all(&[*byte]).unwrap();
        }
        let seen = String::from_utf8(seen).unwrap();
        assert_eq!(seen, "a\u{fffd}[31m b\u{fffd}\u{fffd}\n\u{fffd}ä\u{fffd}1m\u{fffd}\nend");
    }
}
