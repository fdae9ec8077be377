//! What commands have in common that read one specification, or write a document for scripts.

use crate::cli::failure::Failure;
use crate::lang::Language;
use crate::specification::Specification;
use clap::Args;
use clap::builder::{PathBufValueParser, TypedValueParser};
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The specification.
#[derive(Args)]
pub struct SpecificationArguments {
    /// The specification (.slco, .litmus, .txt, .trench, .rmm, .rmx; - for standard input, with --language)
    #[arg(value_name = "SPEC")]
    pub path: PathBuf,
    #[command(flatten)]
    pub language: LanguageArgument,
}

/// What standard input is.
#[derive(Args)]
pub struct LanguageArgument {
    /// Standard input (-) is a specification in this language, by the extension of its files: slco, litmus, txt,
    /// trench, rmm, rmx or remmex
    #[arg(long, value_name = "NAME", value_parser = named, help_heading = "Input")]
    pub language: Option<&'static str>,
}

/// The extension of files of a language.
fn named(name: &str) -> Result<&'static str, String> {
    let known = || Language::extensions();
    let found = known().find(|extension| extension.eq_ignore_ascii_case(name));
    found.ok_or_else(|| format!("expected one of {}", known().collect::<Vec<_>>().join(", ")))
}

impl LanguageArgument {
    /// Whether this input is a specification.
    pub fn is_specification(&self, path: &Path) -> bool {
        Specification::is_one(path) || self.language.is_some() && path.as_os_str() == "-"
    }

    /// The name by which the language of a specification is told: its own, or one for standard input.
    pub fn name_of(&self, path: &Path) -> String {
        match self.language {
            Some(extension) if path.as_os_str() == "-" => format!("stdin.{extension}"),
            _ => path.display().to_string(),
        }
    }

    /// What is in the file, or comes from standard input.
    pub fn bytes_of(&self, path: &Path) -> io::Result<Vec<u8>> {
        if path.as_os_str() != "-" {
            return fs::read(path);
        }
        let mut bytes = Vec::new();
        io::stdin().lock().read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Reads a specification; warnings go to standard error.
    pub fn read(&self, path: &Path) -> Result<Specification, Failure> {
        if path.as_os_str() != "-" {
            return Specification::read(path);
        }
        if self.language.is_none() {
            return Err(Failure::in_file(path, "standard input has no name that tells its language; give --language"));
        }
        let bytes = self.bytes_of(path).map_err(|error| Failure::in_file(path, error))?;
        Specification::of_bytes(path, self.name_of(path), bytes)
    }

    /// The option is about standard input, and says nothing where that is not read.
    pub fn refuse_for(&self, inputs: &[PathBuf]) -> Result<(), Failure> {
        self.language.map_or(Ok(()), |_| refuse_language_without_stdin(inputs))
    }
}

/// `--language` was given: standard input must be read.
pub fn refuse_language_without_stdin(inputs: &[PathBuf]) -> Result<(), Failure> {
    if inputs.iter().any(|path| path.as_os_str() == "-") {
        return Ok(());
    }
    Err(Failure::Usage(
        "--language is about standard input: give - as the input; the language of a file is told by its name"
            .to_owned(),
    ))
}

impl SpecificationArguments {
    /// Reads it; warnings go to standard error.
    pub fn read(&self) -> Result<Specification, Failure> {
        self.language.refuse_for(std::slice::from_ref(&self.path))?;
        self.language.read(&self.path)
    }
}

/// A document for scripts.
#[derive(Args)]
pub struct JsonArgument {
    /// Write the result here as JSON, for scripts (- for standard output, also if no file is given)
    #[arg(long, value_name = "FILE", help_heading = "Output", num_args = 0..=1, default_missing_value = "-", value_parser = PathBufValueParser::new().try_map(no_input))]
    pub json: Option<PathBuf>,
}

/// A path that is not the name of an input: who takes the option for a switch would lose that file.
fn no_input(path: PathBuf) -> Result<PathBuf, &'static str> {
    let is_state_space = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("aut"));
    if is_state_space || Specification::is_one(&path) {
        return Err("this is the name of an input; give the file that is to be written, or - for standard output");
    }
    Ok(path)
}
