//! Memory models as texts in the language *cat* (Alglave, Cousot and Maranget, "Syntax and semantics of the weak
//! consistency model specification language cat", 2016), as far as the models here need it.
//!
//! | step | module |
//! |---|---|
//! | text → words → statements, with places | [`lexer`], [`parser`], [`syntax`] |
//! | statements → a graph of typed nodes, with polarity | [`compile`], [`graph`] |
//! | base sets and relations | [`names`] |
//! | events, and how they communicate | [`execution`] |
//! | axioms on an execution | [`evaluate`], [`matrix`] |
//!
//! What is read: `let`, `let rec … and …`, functions, `include`, `acyclic`, `irreflexive` and `empty` (with `~`,
//! `flag`, `as`), the operators `| & \ ; * + ? ^-1 ~ [S] S*T`, `domain`, `range`, `0`, `_`. A text is typed (sets and
//! relations) when it is read. `show` and `unshow` are passed over.
//!
//! The built-in models are in `src/memory/cat/models/`, one file each ([`builtin`]).
//!
//! ```
//! use seqcon::memory::cat::Axioms;
//!
//! assert!(Axioms::from_text("mine.cat", "acyclic po | rf | co | fr as sc").is_ok());
//! let error = Axioms::from_text("mine.cat", "acyclic po | rfx").unwrap_err().to_string();
//! assert!(error.starts_with("mine.cat:1:14: error: there is no set or relation `rfx`"), "{error}");
//! ```

pub mod axioms;
mod compile;
pub mod error;
pub mod evaluate;
pub mod execution;
pub mod graph;
pub mod lexer;
pub mod matrix;
pub mod names;
pub mod parser;
pub mod relation;
pub mod syntax;

pub use axioms::{Axioms, Refusal};
pub use error::CatError;

use super::Known;
use std::sync::{Arc, OnceLock};

/// The text of a built-in model, if it has axioms.
#[must_use]
pub fn text(known: Known) -> Option<&'static str> {
    match known {
        Known::Sc => Some(include_str!("models/sc.cat")),
        Known::Tso => Some(include_str!("models/tso.cat")),
        Known::Pso => Some(include_str!("models/pso.cat")),
        Known::Armv8 => Some(include_str!("models/armv8.cat")),
        Known::Riscv => Some(include_str!("models/riscv.cat")),
        Known::Armv7 => Some(include_str!("models/armv7.cat")),
        Known::Power => Some(include_str!("models/power.cat")),
        Known::Rc11 => Some(include_str!("models/rc11.cat")),
        Known::Rmo | Known::Alpha => None,
    }
}

/// The axioms of a built-in model, if it has some; each text is read once.
///
/// # Panics
/// Never: a unit test reads every built-in text.
#[must_use]
pub fn builtin(known: Known) -> Option<Arc<Axioms>> {
    static READ: [OnceLock<Arc<Axioms>>; Known::ALL.len()] = [const { OnceLock::new() }; Known::ALL.len()];
    let text = text(known)?;
    let read = || {
        let axioms = Axioms::from_text(&format!("{known}.cat"), text);
        Arc::new(axioms.unwrap_or_else(|error| panic!("built-in models are well-formed: {error}")))
    };
    let position = Known::ALL.iter().position(|other| *other == known)?;
    Some(Arc::clone(READ[position].get_or_init(read)))
}
