//! Where the bytes come from: a mapped file, a compressed file (gzip, Zstandard), standard input.
//!
//! A plain file is mapped into memory, so that a state space larger than memory can be read and the pages are shared
//! with the system's cache. What cannot be mapped (standard input, a pipe, some network file systems) is read; what
//! starts with the magic bytes of gzip or Zstandard is decompressed, whatever its name. Both then occupy memory of
//! their full size, because the extraction passes twice over the text.
//!
//! A file that changes while it is read gives an error, not a result: [`Bytes::check_unchanged`] compares its size
//! and time with those at the beginning. If a mapped file becomes shorter, the system ends whoever looks at the bytes
//! that are gone with SIGBUS; a command that called [`explain_lost_bytes`] ends with a message and exit status 2
//! instead. A change that leaves size and time as they were is not seen.
//!
//! This is the only file of the crate with `unsafe` code.

#![expect(unsafe_code, reason = "a file is mapped, and a signal handled: there is no safe way to either")]

use super::error::Error;
use crate::budget::Budget;
use crate::provenance::sha256;
#[cfg(unix)]
use crate::text::excerpt::printable;
use memmap2::{Advice, Mmap};
use ruzstd::decoding::{FrameDecoder, StreamingDecoder};
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::Path;
#[cfg(unix)]
use std::ptr;
#[cfg(unix)]
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::time::SystemTime;

/// The first bytes of every gzip stream.
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
/// The first bytes of every frame of Zstandard.
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// The bytes of an input and the name that messages use for it.
#[derive(Debug)]
pub struct Bytes {
    name: String,
    /// As they were read.
    contents: Contents,
    /// Decompressed, if they were compressed.
    text: Option<Vec<u8>>,
    /// What they were read from, if that is a regular file, and how it looked at the beginning.
    file: Option<(File, Stamp)>,
}

/// What changes when a file is written.
#[derive(Debug, PartialEq, Eq)]
struct Stamp {
    length: u64,
    modified: Option<SystemTime>,
}

impl Stamp {
    fn of(metadata: &Metadata) -> Stamp {
        Stamp { length: metadata.len(), modified: metadata.modified().ok() }
    }
}

#[derive(Debug)]
enum Contents {
    Mapped(Mmap),
    Owned(Vec<u8>),
}

impl Bytes {
    /// Opens a file; `-` is standard input.
    ///
    /// # Errors
    /// If it is a directory, cannot be read, is empty, or is a damaged compressed file.
    pub fn open(path: &Path) -> Result<Bytes, Error> {
        Bytes::open_within(path, &Budget::default())
    }

    /// The same; what must be held in memory is read as far as the budget goes.
    ///
    /// # Errors
    /// As for [`open`](Bytes::open), and if the budget is exhausted.
    pub fn open_within(path: &Path, budget: &Budget) -> Result<Bytes, Error> {
        let name = path.display().to_string();
        if path == Path::new("-") {
            let bytes = read("standard input", "check where the input comes from", io::stdin().lock(), budget)?;
            return Bytes::decompressed("standard input".to_owned(), Contents::Owned(bytes), None, budget);
        }
        let (contents, file) = open_file(path, &name, budget)?;
        Bytes::decompressed(name, contents, file, budget)
    }

    /// Reads everything from `reader`.
    ///
    /// # Errors
    /// If reading fails, if there is nothing to read, or if it is damaged and compressed.
    pub fn from_reader(name: &str, reader: impl Read) -> Result<Bytes, Error> {
        Bytes::from_bytes(name, read(name, "check where the input comes from", reader, &Budget::default())?)
    }

    /// Takes bytes that are already in memory, compressed or not.
    ///
    /// # Errors
    /// If there are none, or if they are compressed and damaged.
    pub fn from_bytes(name: &str, bytes: Vec<u8>) -> Result<Bytes, Error> {
        Bytes::decompressed(name.to_owned(), Contents::Owned(bytes), None, &Budget::default())
    }

    fn decompressed(
        name: String,
        contents: Contents,
        file: Option<(File, Stamp)>,
        budget: &Budget,
    ) -> Result<Bytes, Error> {
        let mut source = Bytes { name, contents, text: None, file };
        let damaged = |remedy| move |name: &str, cause| Error::access(name, "cannot decompress", cause, remedy);
        let text = if source.bytes().starts_with(&GZIP_MAGIC) {
            let refused = |cause| damaged("the gzip file is damaged")(&source.name, cause);
            Some(pieces(&source.name, flate2::read::MultiGzDecoder::new(source.bytes()), budget, refused)?)
        } else if source.bytes().starts_with(&ZSTD_MAGIC) {
            let refused = |cause| damaged("the zst file is damaged")(&source.name, cause);
            Some(pieces(&source.name, Frames { rest: source.bytes(), frame: None }, budget, refused)?)
        } else {
            None
        };
        if text.is_some() {
            source.text = text;
            if source.file.is_none() {
                // Nobody will ask for its hash.
                source.contents = Contents::Owned(Vec::new());
            }
        }
        if source.bytes().is_empty() {
            let remedy = "the tool that writes it may have failed";
            return Err(Error::unexpected(&source.name, b"", 0, "a state space or a facts file", remedy));
        }
        Ok(source)
    }

    /// The SHA-256 of the bytes as they were read, in hexadecimal digits; none of what is no regular file, which
    /// nobody can read again.
    #[must_use]
    pub fn sha256(&self) -> Option<String> {
        self.file.as_ref().map(|_| sha256(self.contents.bytes()))
    }

    /// To be asked when everything was read: whether that was one state of the file.
    ///
    /// # Errors
    /// If the file was written to since it was opened.
    pub fn check_unchanged(&self) -> Result<(), Error> {
        let Some((file, stamp)) = &self.file else { return Ok(()) };
        match file.metadata() {
            Ok(now) if Stamp::of(&now) == *stamp => Ok(()),
            _ => {
                let cause = io::Error::other("it changed while it was read");
                Err(Error::access(&self.name, "cannot be trusted", cause, WAIT_FOR_IT))
            }
        }
    }

    /// The name for messages: the path as given, or `standard input`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The (decompressed) bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.text.as_deref().unwrap_or_else(|| self.contents.bytes())
    }
}

impl Contents {
    fn bytes(&self) -> &[u8] {
        match self {
            Contents::Mapped(map) => map,
            Contents::Owned(bytes) => bytes,
        }
    }
}

/// The contents of a file of Zstandard, frame by frame.
struct Frames<'b> {
    rest: &'b [u8],
    frame: Option<Box<StreamingDecoder<&'b [u8], FrameDecoder>>>,
}

impl Read for Frames<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let frame = match &mut self.frame {
                Some(frame) => frame,
                None if self.rest.is_empty() => return Ok(0),
                None => {
                    let frame = StreamingDecoder::new(self.rest).map_err(io::Error::other)?;
                    self.frame.insert(Box::new(frame))
                }
            };
            let length = frame.read(buffer)?;
            if length > 0 || buffer.is_empty() {
                return Ok(length);
            }
            // The library calculates it, and leaves the comparison to others.
            let decoder = &frame.decoder;
            if decoder.get_checksum_from_data().is_some_and(|sum| Some(sum) != decoder.get_calculated_checksum()) {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "its contents are not those of its checksum"));
            }
            self.rest = frame.get_ref();
            self.frame = None;
        }
    }
}

/// How much is read between two looks at the budget.
const PIECE: u64 = 1 << 20;

/// Everything from `reader`, piece by piece.
fn pieces(
    name: &str,
    mut reader: impl Read,
    budget: &Budget,
    refused: impl Fn(io::Error) -> Error,
) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    loop {
        budget.check_now().map_err(|limit| Error::at_limit(name, limit))?;
        // What is decompressed may be far larger than the file.
        bytes
            .try_reserve(PIECE as usize)
            .map_err(|error| refused(io::Error::new(io::ErrorKind::OutOfMemory, error)))?;
        let length = reader.by_ref().take(PIECE).read_to_end(&mut bytes).map_err(&refused)?;
        if length == 0 {
            return Ok(bytes);
        }
    }
}

fn read(name: &str, remedy: &'static str, reader: impl Read, budget: &Budget) -> Result<Vec<u8>, Error> {
    pieces(name, reader, budget, |cause| Error::access(name, "cannot read", cause, remedy))
}

fn open_file(path: &Path, name: &str, budget: &Budget) -> Result<(Contents, Option<(File, Stamp)>), Error> {
    let refused = |cause| Error::access(name, "cannot open", cause, "check the path and its permissions");
    let file = File::open(path).map_err(refused)?;
    let metadata = file.metadata().map_err(refused)?;
    if metadata.is_dir() {
        let cause = io::Error::from(io::ErrorKind::IsADirectory);
        return Err(Error::access(name, "cannot read", cause, "name a file in it"));
    }
    // A pipe or a device has no length to map.
    if !metadata.is_file() {
        return Ok((Contents::Owned(read(name, "check the path and its permissions", file, budget)?), None));
    }
    let stamp = Stamp::of(&metadata);
    if stamp.length > 0 {
        remember_mapped(name);
        // SAFETY: nothing in this crate writes to an input. If another process changes the file, the bytes may change
        // under the parser, which gives a wrong or refused result that `check_unchanged` refuses, but touches no
        // memory outside the mapping; if it shortens the file, the system ends this process with SIGBUS, about which
        // `explain_lost_bytes` tells.
        let mapped = unsafe { Mmap::map(&file) };
        if let Ok(map) = mapped {
            // Advice only: a system that does not know it still reads correctly.
            let _ = map.advise(Advice::Sequential);
            return Ok((Contents::Mapped(map), Some((file, stamp))));
        }
    }
    let bytes = read(name, "check the path and its permissions", &file, budget)?;
    Ok((Contents::Owned(bytes), Some((file, stamp))))
}

/// What to do about a file that changes.
const WAIT_FOR_IT: &str = "wait until it is written, or pipe it to `-`";

/// What is said if the bytes of the file that was mapped last are gone: a message that is never freed, so that a
/// signal handler can read it at any time.
#[cfg(unix)]
static LOST: AtomicPtr<String> = AtomicPtr::new(ptr::null_mut());

#[cfg(unix)]
fn remember_mapped(name: &str) {
    let message = format!(
        "seqcon: {}: cannot be read any more: it became shorter while it was read, or its disk failed; {WAIT_FOR_IT}\n",
        printable(name)
    );
    LOST.store(Box::into_raw(Box::new(message)), Ordering::Release);
}

#[cfg(not(unix))]
fn remember_mapped(_: &str) {}

/// From now on, a mapped file that becomes shorter ends the process with a message and exit status 2. For commands; a
/// library has no business with signals.
#[cfg(unix)]
pub fn explain_lost_bytes() {
    extern "C" fn explain(_: libc::c_int) {
        static IS_TOLD: AtomicBool = AtomicBool::new(false);
        let message = LOST.load(Ordering::Acquire);
        // SAFETY: `LOST` is null or a string that lives for ever; all that is called may be called in a signal handler.
        unsafe {
            let Some(message) = message.as_ref() else {
                // Nothing was mapped: the signal comes again, and does what it does to others.
                libc::signal(libc::SIGBUS, libc::SIG_DFL);
                return;
            };
            // Several threads read the file: the others wait for the end that the first one makes.
            while IS_TOLD.swap(true, Ordering::AcqRel) {
                libc::pause();
            }
            libc::write(libc::STDERR_FILENO, message.as_ptr().cast(), message.len());
            libc::_exit(2);
        }
    }
    // SAFETY: the action is complete (all its fields may be zero), and the handler calls only what a handler may call.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = explain as extern "C" fn(libc::c_int) as libc::sighandler_t;
        libc::sigaction(libc::SIGBUS, &raw const action, ptr::null_mut());
    }
}

/// From now on, a mapped file that becomes shorter ends the process with a message: not on this system.
#[cfg(not(unix))]
pub fn explain_lost_bytes() {}
