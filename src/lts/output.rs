//! A state space on its way into a file: `.aut`, compressed or not, or Parquet, as the file's name says.
//!
//! A header comes first and is known last, and a file that is read by its end is written at once; so the transitions
//! wait in a temporary file, and nothing is in the output before all are there.

#![forbid(unsafe_code)]

use super::aut::Counts;
use super::parquet::write::Writer;
use super::writer::{self, Sink};
use flate2::Compression;
use flate2::write::GzEncoder;
use ruzstd::encoding::{CompressionLevel, compress};
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};
use std::path::Path;

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Text: `.aut`, and whatever has no extension.
    Aut,
    /// `.aut.gz`.
    Gzip,
    /// `.aut.zst`.
    Zstandard,
    /// `.parquet`.
    Parquet,
}

impl Format {
    /// The format of a file of that name; none, if it is the name of something else. A name that says nothing is that
    /// of a text.
    #[must_use]
    pub fn of(path: &Path) -> Option<Format> {
        let Some(extension) = path.extension() else { return Some(Format::Aut) };
        match extension.to_ascii_lowercase().to_str() {
            Some("aut") => Some(Format::Aut),
            Some("gz") => Some(Format::Gzip),
            Some("zst") => Some(Format::Zstandard),
            Some("parquet") => Some(Format::Parquet),
            _ => None,
        }
    }
}

/// See the [module](self).
pub struct Output {
    format: Format,
    waiting: Waiting,
    /// A second handle of the temporary file.
    file: File,
}

enum Waiting {
    Lines(BufWriter<File>),
    Rows(Box<Writer<BufWriter<File>>>),
}

impl Sink for Output {
    fn transition(&mut self, from: u64, label: &[u8], to: u64) -> io::Result<()> {
        match &mut self.waiting {
            Waiting::Lines(lines) => lines.transition(from, label, to),
            Waiting::Rows(rows) => rows.transition(from, label, to),
        }
    }
}

impl Output {
    /// Nothing yet.
    ///
    /// # Errors
    /// If there is no place for a temporary file.
    pub fn new(format: Format) -> io::Result<Output> {
        let file = tempfile::tempfile()?;
        let out = BufWriter::with_capacity(1 << 18, file.try_clone()?);
        let waiting = match format {
            Format::Parquet => Waiting::Rows(Box::new(Writer::new(out)?)),
            Format::Aut | Format::Gzip | Format::Zstandard => Waiting::Lines(out),
        };
        Ok(Output { format, waiting, file })
    }

    /// All transitions are there; without numbers they are a part of a state space, and marked as such.
    ///
    /// # Errors
    /// If the temporary file cannot be written.
    pub fn finish(self, counts: Option<Counts>) -> io::Result<Finished> {
        let Output { format, waiting, mut file } = self;
        let mut head = Vec::new();
        match waiting {
            Waiting::Rows(rows) => rows.finish(counts)?,
            Waiting::Lines(mut lines) => {
                lines.flush()?;
                match counts {
                    Some(counts) => writer::header(&mut head, counts)?,
                    None => writer::unfinished_header(&mut head)?,
                }
            }
        }
        file.rewind()?;
        Ok(Finished { format, head, file })
    }
}

/// A state space that is whole, or known to be a part.
pub struct Finished {
    format: Format,
    head: Vec<u8>,
    file: File,
}

impl Finished {
    /// Puts it into the file.
    ///
    /// # Errors
    /// If `out` cannot be written.
    pub fn write(&mut self, out: &mut dyn Write) -> io::Result<()> {
        self.file.rewind()?;
        let mut contents = self.head.as_slice().chain(BufReader::with_capacity(1 << 20, &self.file));
        match self.format {
            Format::Aut | Format::Parquet => io::copy(&mut contents, out).map(drop),
            Format::Gzip => {
                let mut gzip = GzEncoder::new(out, Compression::default());
                io::copy(&mut contents, &mut gzip)?;
                gzip.finish().map(drop)
            }
            Format::Zstandard => {
                let mut trouble = None;
                let mut problem = None;
                compress(
                    Tolerant { inner: &mut contents, error: &mut problem },
                    Tolerant { inner: out, error: &mut trouble },
                    CompressionLevel::Fastest,
                );
                problem.or(trouble).map_or(Ok(()), Err)
            }
        }
    }
}

/// Never fails, since the compressor cannot bear it: keeps the first error, and takes or gives nothing after it.
struct Tolerant<'t, T: ?Sized> {
    inner: &'t mut T,
    error: &'t mut Option<io::Error>,
}

impl<T: Read + ?Sized> Read for Tolerant<'_, T> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.error.is_some() {
            return Ok(0);
        }
        loop {
            match self.inner.read(buffer) {
                Ok(length) => return Ok(length),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    *self.error = Some(error);
                    return Ok(0);
                }
            }
        }
    }
}

impl<T: Write + ?Sized> Write for Tolerant<'_, T> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        if self.error.is_none()
            && let Err(error) = self.inner.write_all(buffer)
        {
            *self.error = Some(error);
        }
        Ok(buffer.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
