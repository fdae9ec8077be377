//! Where the bytes come from: a mapped file, a gzip-compressed file, standard input.
//!
//! A plain file is mapped into memory, so that a state space larger than memory can be read and the pages are shared
//! with the system's cache. What cannot be mapped (standard input, a pipe, some network file systems) is read; what
//! starts with gzip's magic bytes is decompressed, whatever its name. Both then occupy memory of their full size, because
//! the extraction passes twice over the text.
//!
//! This is the only file of the crate with `unsafe` code.

use super::error::Error;
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
        let name = path.display().to_string();
        let contents = if path == Path::new("-") {
            return Source::from_reader("standard input", io::stdin().lock());
        } else {
            open_file(path, &name)?
        };
        Source::decompressed(name, contents)
    }

    /// Reads everything from `reader`.
    ///
    /// # Errors
    /// If reading fails, if there is nothing to read, or if it is a damaged gzip stream.
    pub fn from_reader(name: &str, mut reader: impl Read) -> Result<Source, Error> {
        let mut bytes = Vec::new();
        reader
            .read_to_end(&mut bytes)
            .map_err(|cause| Error::access(name, "cannot read", cause, "check where the input comes from"))?;
        Source::from_bytes(name, bytes)
    }

    /// Takes bytes that are already in memory, compressed or not.
    ///
    /// # Errors
    /// If there are none, or if they are a damaged gzip stream.
    pub fn from_bytes(name: &str, bytes: Vec<u8>) -> Result<Source, Error> {
        Source::decompressed(name.to_owned(), Contents::Owned(bytes))
    }

    fn decompressed(name: String, contents: Contents) -> Result<Source, Error> {
        let mut source = Source { name, contents };
        if source.bytes().starts_with(&GZIP_MAGIC) {
            let mut text = Vec::new();
            flate2::read::MultiGzDecoder::new(source.bytes())
                .read_to_end(&mut text)
                .map_err(|cause| Error::access(&source.name, "cannot decompress", cause, "the gzip file is damaged"))?;
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

fn open_file(path: &Path, name: &str) -> Result<Contents, Error> {
    let refused = |cause| Error::access(name, "cannot open", cause, "check the path and its permissions");
    let mut file = File::open(path).map_err(refused)?;
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
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)
        .map_err(|cause| Error::access(name, "cannot read", cause, "check the path and its permissions"))?;
    Ok(Contents::Owned(bytes))
}
