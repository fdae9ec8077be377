//! `seqcon export`: a specification in another tool's language.

use super::arguments::{ExportArguments, ExportLanguage};
use super::failure::Failure;
use super::places::refuse_clashes;
use crate::export::mcrl2;
use crate::report::output::Staged;
use std::path::Path;
use std::process::ExitCode;

pub fn run(arguments: &ExportArguments) -> Result<ExitCode, Failure> {
    refuse_clashes(arguments.output.as_deref(), [arguments.specification.path.as_path()])?;
    let specification = arguments.specification.read()?;
    let text = match arguments.to {
        ExportLanguage::Mcrl2 => mcrl2::specification(&specification.program, specification.origin())
            .map_err(|error| specification.failure_at(error.span, error))?,
    };
    let path = arguments.output.as_deref().unwrap_or(Path::new("-"));
    let mut staged = Staged::new();
    staged.write(path, &mut |out| out.write_all(text.as_bytes()))?;
    staged.put_in_place()?;
    Ok(ExitCode::SUCCESS)
}
