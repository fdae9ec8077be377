//! Where files go: no two outputs to one place, and none onto an input. Places are compared as files, not as they are
//! spelled.

use super::failure::Failure;
use crate::report::output::followed;
use std::fs;
use std::path::{Path, PathBuf};

/// Refuses outputs of which one would hide another, or destroy what is read.
pub fn refuse_clashes<'a>(
    outputs: impl IntoIterator<Item = &'a Path>,
    inputs: impl IntoIterator<Item = &'a Path>,
) -> Result<(), Failure> {
    let inputs: Vec<PathBuf> = inputs.into_iter().filter_map(place).collect();
    let mut taken: Vec<PathBuf> = Vec::new();
    for path in outputs {
        if path == Path::new("-") {
            // Several tables on one standard output would be mixed up.
            if taken.iter().any(|other| other == path) {
                return Err(Failure::in_file(path, "two reports cannot go to one place; name another"));
            }
            taken.push(path.to_owned());
            continue;
        }
        let Some(place) = place(path) else { continue };
        if inputs.contains(&place) {
            return Err(Failure::in_file(
                path,
                "this is an input, which would be lost; name another place for the output",
            ));
        }
        if taken.contains(&place) {
            return Err(Failure::in_file(path, "two reports cannot go to one place; name another"));
        }
        taken.push(place);
    }
    Ok(())
}

/// The file that a path leads to, also if it is not there yet; none for what is no file, as a pipe.
fn place(path: &Path) -> Option<PathBuf> {
    let path = &followed(path);
    if let Ok(metadata) = fs::metadata(path) {
        return fs::canonicalize(path).ok().filter(|_| metadata.is_file());
    }
    let absolute = std::path::absolute(path).ok()?;
    let directory = absolute.parent().and_then(|parent| fs::canonicalize(parent).ok());
    Some(match (directory, absolute.file_name()) {
        (Some(directory), Some(name)) => directory.join(name),
        _ => absolute,
    })
}
