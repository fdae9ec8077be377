//! Output files, whole or not at all: written beside their place under another name, then renamed.
//!
//! Several files of one run are all written before the first is renamed, so a full disk leaves none of them. What is not a regular file (a pipe, a
//! device) cannot be replaced, and is written to directly.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Files that wait for being put in place.
#[derive(Default)]
pub struct Staged {
    files: Vec<(NamedTempFile, PathBuf)>,
}

/// An output that could not be written.
#[derive(Debug, thiserror::Error)]
#[error("{path}: cannot be written: {cause}; choose another place or make room, nothing was left behind")]
pub struct OutputError {
    path: String,
    #[source]
    cause: io::Error,
}

impl OutputError {
    /// Whether the reader of the output has gone away: it has seen enough.
    #[must_use]
    pub fn is_unread(&self) -> bool {
        self.cause.kind() == io::ErrorKind::BrokenPipe
    }

    fn at(path: &Path) -> impl FnOnce(io::Error) -> OutputError + '_ {
        |cause| OutputError { path: path.display().to_string(), cause }
    }
}

impl Staged {
    /// Nothing staged.
    #[must_use]
    pub fn new() -> Staged {
        Staged::default()
    }

    /// Writes a file that appears with [`put_in_place`](Staged::put_in_place); `-` is standard output, and written at once.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(
        &mut self,
        path: &Path,
        contents: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), OutputError> {
        if path == Path::new("-") {
            let mut out = io::stdout().lock();
            return contents(&mut out).and_then(|()| out.flush()).map_err(OutputError::at(path));
        }
        let is_special = fs::metadata(path).is_ok_and(|metadata| !metadata.is_file());
        if is_special {
            let mut write = || write_to(File::options().write(true).open(path)?, contents).map(drop);
            return write().map_err(OutputError::at(path));
        }
        // A link stays a link: what it leads to is replaced.
        let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let directory = target.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if !directory.is_dir() {
            let missing = io::Error::new(io::ErrorKind::NotFound, "its directory does not exist");
            return Err(OutputError::at(path)(missing));
        }
        let mut file = temporary(directory, &target).map_err(OutputError::at(path))?;
        write_to(file.as_file_mut(), contents).map_err(OutputError::at(path))?;
        self.files.push((file, target));
        Ok(())
    }

    /// Gives every staged file its name.
    ///
    /// # Errors
    /// If a file cannot be renamed.
    pub fn put_in_place(self) -> Result<(), OutputError> {
        for (file, path) in self.files {
            file.persist(&path).map_err(|error| OutputError::at(&path)(error.error))?;
        }
        Ok(())
    }
}

fn write_to<W: Write>(out: W, contents: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>) -> io::Result<W> {
    let mut out = BufWriter::new(out);
    contents(&mut out)?;
    out.into_inner().map_err(io::IntoInnerError::into_error)
}

/// A file beside the target, with the target's permissions or, if there is none yet, those that a new file gets.
#[cfg(unix)]
fn temporary(directory: &Path, target: &Path) -> io::Result<NamedTempFile> {
    use std::os::unix::fs::PermissionsExt;
    let mut builder = tempfile::Builder::new();
    builder.prefix(".seqcon-");
    match fs::metadata(target) {
        // The mode of a new file is what is asked for here without the bits of the umask.
        Err(_) => builder.permissions(fs::Permissions::from_mode(0o666)).tempfile_in(directory),
        Ok(metadata) => {
            let file = builder.tempfile_in(directory)?;
            file.as_file().set_permissions(metadata.permissions())?;
            Ok(file)
        }
    }
}

#[cfg(not(unix))]
fn temporary(directory: &Path, _: &Path) -> io::Result<NamedTempFile> {
    NamedTempFile::with_prefix_in(".seqcon-", directory)
}
