//! Where the bytes come from: a mapped file, a gzip-compressed file, standard input.
//!
//! A plain file is mapped into memory, so that a state space larger than memory can be read and the pages are shared
//! with the system's cache. What cannot be mapped (standard input, a pipe, some network file systems) is read; what
//! starts with gzip's magic bytes is decompressed, whatever its name. Both then occupy memory of their full size, because
//! the extraction passes twice over the text.
//!
//! This is the only file of the crate with `unsafe` code.

use super::error::Error;
use crate::budget::Budget;
use memmap2::{Advice, Mmap};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The first bytes of every gzip stream.
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// The bytes of an input and the name that messages use for it.
#[derive(Debug)]
pub struct Source {
    name: String,
    contents: Contents,
}

#[derive(Debug)]
enum Contents {
    Mapped(Mmap),
    Owned(Vec<u8>),
}

impl Source {
    /// Opens a file; `-` is standard input.
    ///
    /// # Errors
    /// If it is a directory, cannot be read, is empty, or is a damaged gzip file.
    pub fn open(path: &Path) -> Result<Source, Error> {
        Source::open_within(path, &Budget::default())
    }

    /// The same; what must be held in memory is read as far as the budget goes.
    ///
    /// # Errors
    /// As for [`open`](Source::open), and if the budget is exhausted.
    pub fn open_within(path: &Path, budget: &Budget) -> Result<Source, Error> {
        let name = path.display().to_string();
        if path == Path::new("-") {
            let bytes = read("standard input", "check where the input comes from", io::stdin().lock(), budget)?;
            return Source::decompressed("standard input".to_owned(), Contents::Owned(bytes), budget);
        }
        let contents = open_file(path, &name, budget)?;
        Source::decompressed(name, contents, budget)
    }

    /// Reads everything from `reader`.
    ///
    /// # Errors
    /// If reading fails, if there is nothing to read, or if it is a damaged gzip stream.
    pub fn from_reader(name: &str, reader: impl Read) -> Result<Source, Error> {
        Source::from_bytes(name, read(name, "check where the input comes from", reader, &Budget::default())?)
    }

    /// Takes bytes that are already in memory, compressed or not.
    ///
    /// # Errors
    /// If there are none, or if they are a damaged gzip stream.
    pub fn from_bytes(name: &str, bytes: Vec<u8>) -> Result<Source, Error> {
        Source::decompressed(name.to_owned(), Contents::Owned(bytes), &Budget::default())
    }

    fn decompressed(name: String, contents: Contents, budget: &Budget) -> Result<Source, Error> {
        let mut source = Source { name, contents };
        if source.bytes().starts_with(&GZIP_MAGIC) {
            let damaged = |cause| Error::access(&source.name, "cannot decompress", cause, "the gzip file is damaged");
            let text = pieces(&source.name, flate2::read::MultiGzDecoder::new(source.bytes()), budget, damaged)?;
            source.contents = Contents::Owned(text);
        }
        if source.bytes().is_empty() {
            let remedy = "the tool that writes it may have failed";
            return Err(Error::unexpected(&source.name, b"", 0, "a state space or a facts file", remedy));
        }
        Ok(source)
    }

    /// The name for messages: the path as given, or `standard input`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The (decompressed) bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        match &self.contents {
            Contents::Mapped(map) => map,
            Contents::Owned(bytes) => bytes,
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
        let length = reader.by_ref().take(PIECE).read_to_end(&mut bytes).map_err(&refused)?;
        if length == 0 {
            return Ok(bytes);
        }
    }
}

fn read(name: &str, remedy: &'static str, reader: impl Read, budget: &Budget) -> Result<Vec<u8>, Error> {
    pieces(name, reader, budget, |cause| Error::access(name, "cannot read", cause, remedy))
}

fn open_file(path: &Path, name: &str, budget: &Budget) -> Result<Contents, Error> {
    let refused = |cause| Error::access(name, "cannot open", cause, "check the path and its permissions");
    let file = File::open(path).map_err(refused)?;
    let metadata = file.metadata().map_err(refused)?;
    if metadata.is_dir() {
        let cause = io::Error::from(io::ErrorKind::IsADirectory);
        return Err(Error::access(name, "cannot read", cause, "name a file in it"));
    }
    // A pipe or a device has no length to map.
    if metadata.is_file() && metadata.len() > 0 {
        // SAFETY: nothing in this crate writes to an input. If another process changes the file, the bytes may change
        // under the parser, which gives a wrong or refused result but touches no memory outside the mapping; if it
        // shortens the file, the system ends this process with SIGBUS. Every tool that maps its input has this limit,
        // and `-` (standard input) is there for files that are still being written.
        let mapped = unsafe { Mmap::map(&file) };
        if let Ok(map) = mapped {
            // Advice only: a system that does not know it still reads correctly.
            let _ = map.advise(Advice::Sequential);
            return Ok(Contents::Mapped(map));
        }
    }
    Ok(Contents::Owned(read(name, "check the path and its permissions", file, budget)?))
}
