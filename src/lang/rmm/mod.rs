//! x

pub mod edit;
mod instances;
mod lexer;
mod macros;
mod parser;
mod syntax;
mod translate;

use super::{Diagnostic, Language, Parsed};

/// The language.
pub const LANGUAGE: Language = Language {
    name: "Memorax",
    extensions: &["rmm"],
    parse,
    edit: Some(edit::edited),
    insertions: Some(edit::insertions),
    instances: Some(instances::instances),
};

/// Reads a program; `name` is what it is called.
fn parse(name: &str, text: &str) -> Result<Parsed, Vec<Diagnostic>> {
    let model = parser::parse(text)?;
    Ok(translate::translated(name, &model)?.parsed)
}
