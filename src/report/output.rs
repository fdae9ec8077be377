//! Output files, whole or not at all: written beside their place under another name, then renamed.
//!
//! Several files of one run are all written before the first is renamed, so a full disk leaves none of them. What is
//! not a regular file (a pipe, a device) cannot be replaced, and is written to directly. A link stays a link: the
//! file that it leads to is replaced, or made if it is not there yet.
//!
//! Who ends the process from outside the normal course, as at a signal, calls [`end_staging`] first: it takes the
//! files away that have no name of their own yet, or waits until all have theirs.

use super::streams::{self, Patient};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tempfile::NamedTempFile;

/// How many links may follow one another.
const MOST_LINKS: usize = 40;

/// The files of the process that wait for being put in place. Who holds it may rename them.
static WAITING: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn waiting() -> MutexGuard<'static, Vec<PathBuf>> {
    WAITING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes all files away that wait for being put in place, and lets none be put in place after that.
///
/// The caller must end the process while it holds what this gives.
#[must_use]
pub fn end_staging() -> impl Sized {
    let waiting = waiting();
    for path in waiting.iter() {
        // If it cannot be taken away there is nobody left to tell.
        let _ = fs::remove_file(path);
    }
    waiting
}

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

    /// Writes a file that appears with [`put_in_place`](Staged::put_in_place); `-` is standard output, and written at
    /// once.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(
        &mut self,
        path: &Path,
        contents: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), OutputError> {
        if path == Path::new("-") {
            let mut out = streams::data();
            return contents(&mut out).and_then(|()| out.flush()).map_err(OutputError::at(path));
        }
        let is_special = fs::metadata(path).is_ok_and(|metadata| !metadata.is_file());
        if is_special {
            let mut write = || write_to(Patient::new(File::options().write(true).open(path)?), contents).map(drop);
            return write().map_err(OutputError::at(path));
        }
        let target = followed(path);
        let directory = target.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if !directory.is_dir() {
            let missing = io::Error::new(io::ErrorKind::NotFound, "its directory does not exist");
            return Err(OutputError::at(path)(missing));
        }
        let mut file = {
            // Held until the file is among those that wait: else a signal in between would leave it.
            let mut waiting = waiting();
            let file = temporary(directory, &target).map_err(OutputError::at(path))?;
            waiting.push(file.path().to_owned());
            file
        };
        write_to(file.as_file_mut(), contents).map_err(OutputError::at(path))?;
        self.files.push((file, target));
        Ok(())
    }

    /// Gives every staged file its name.
    ///
    /// # Errors
    /// If a file cannot be renamed.
    pub fn put_in_place(self) -> Result<(), OutputError> {
        // Held until all have their names: a signal finds either none of them in place or all.
        let mut waiting = waiting();
        for (file, path) in self.files {
            waiting.retain(|known| known != file.path());
            file.persist(&path).map_err(|error| OutputError::at(&path)(error.error))?;
        }
        Ok(())
    }
}

/// The file that a path leads to through links, also if it is not there yet.
#[must_use]
pub fn followed(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        if let Ok(found) = fs::canonicalize(&path) {
            return found;
        }
        let Ok(next) = fs::read_link(&path) else { break };
        // A relative link begins where it stands.
        path = path.parent().map_or_else(|| next.clone(), |directory| directory.join(&next));
    }
    path
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
