//! Specifications: a text in one of the input languages, with the program that it describes, ready to be explored.
//!
//! ```
//! let text = "model m { classes C { variables Integer x
//!     state machines t { initial a states b transitions a -> b { x := 1 } } } objects o : C() }";
//! let (specification, warnings) =
//!     seqcon::specification::Specification::parse("m.slco".to_owned(), text.to_owned()).expect("it is well-formed");
//! assert!(warnings.is_empty());
//! assert_eq!(specification.outline.threads, ["t"]);
//! ```

use crate::lang::{self, Diagnostic, Language, Parsed, ParsedCondition};
use crate::outline::Outline;
use crate::program::compiled::{Compiled, TooManyIndices};
use crate::program::{Program, Span};
use crate::property::{Property, StateCondition};
use crate::source::Source;
use crate::text::LineColumn;
use std::path::Path;

/// A specification.
#[derive(Clone, Debug)]
pub struct Specification {
    /// The name of its file, which tells its language.
    pub name: String,
    /// Its text.
    pub text: String,
    /// The program.
    pub program: Program,
    /// The program's outline.
    pub outline: Outline,
    /// The program, compiled.
    pub compiled: Compiled,
    /// What the text says of the program.
    pub properties: Vec<Property>,
    /// What must hold in every state that is explored.
    pub invariants: Vec<StateCondition>,
    /// Of each invariant, what it is.
    pub asked: Vec<Asked>,
}

/// What an invariant is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    /// Itself what somebody wants to know.
    Invariant,
    /// The negation of a condition that somebody says no state satisfies.
    Never(Property),
    /// The same, said by the text of the specification.
    Own(Property),
}

/// All that is wrong with a text, with its places.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Wrong(String);

impl Specification {
    /// Whether the name of a file says that it is a specification.
    #[must_use]
    pub fn is_one(path: &Path) -> bool {
        path.to_str().is_some_and(|name| Language::of(name).is_some())
    }

    /// Reads a text; the name tells its language. What its author should know comes beside it.
    ///
    /// # Errors
    /// All that is wrong with the text.
    pub fn parse(name: String, text: String) -> Result<(Specification, Vec<Diagnostic>), Wrong> {
        let parsed = lang::parse(&name, &text).map_err(|errors| Wrong(errors.to_string()))?;
        Specification::new(name, text, parsed)
    }

    /// A text that was read, in whatever language.
    ///
    /// # Errors
    /// If an instruction computes too many indices.
    pub fn new(name: String, text: String, parsed: Parsed) -> Result<(Specification, Vec<Diagnostic>), Wrong> {
        let Parsed { program, properties, warnings } = parsed;
        let compiled = Compiled::new(&program).map_err(|error| {
            Wrong(placed(&name, &text, error.span, "this instruction computes too many indices; split it"))
        })?;
        let outline = Outline::of_program(&program);
        let (invariants, asked) = (Vec::new(), Vec::new());
        Ok((Specification { name, text, program, outline, compiled, properties, invariants, asked }, warnings))
    }

    /// A program that has no text.
    ///
    /// # Errors
    /// If an instruction computes too many indices.
    pub fn of_program(program: Program) -> Result<Specification, TooManyIndices> {
        let compiled = Compiled::new(&program)?;
        let outline = Outline::of_program(&program);
        let (name, text) = (program.name.clone(), String::new());
        let properties = Vec::new();
        let (invariants, asked) = (Vec::new(), Vec::new());
        Ok(Specification { name, text, program, outline, compiled, properties, invariants, asked })
    }

    /// The property that no state satisfies a condition, which is written as for [`lang::parse_condition_of`]; `origin`
    /// is named in errors. What its author should know comes beside it.
    ///
    /// # Errors
    /// All that is wrong with the condition.
    pub fn never(&self, origin: &str, text: &str) -> Result<(Property, Vec<Diagnostic>), Wrong> {
        let parsed = self.condition(origin, text)?;
        Ok((Property::Never(parsed.condition), parsed.warnings))
    }

    /// A condition on its states, written as for [`lang::parse_condition_of`]; `origin` is named in errors.
    ///
    /// # Errors
    /// All that is wrong with the condition.
    pub fn condition(&self, origin: &str, text: &str) -> Result<ParsedCondition, Wrong> {
        lang::parse_condition_of(&self.name, &self.text, origin, text, &self.program)
            .map_err(|errors| Wrong(errors.to_string()))
    }

    /// A problem at a place in the text, as editors take it.
    #[must_use]
    pub fn placed(&self, span: Span, problem: impl std::fmt::Display) -> String {
        placed(&self.name, &self.text, span, problem)
    }

    /// As reports take it.
    #[must_use]
    pub fn source(&self) -> Source {
        Source::new(self.name.clone(), self.text.clone(), self.program.clone())
    }
}

/// A problem at a place in a text, as editors take it.
pub(crate) fn placed(name: &str, text: &str, span: Span, problem: impl std::fmt::Display) -> String {
    let LineColumn { line, column } = LineColumn::of(text, span.start);
    format!("{name}:{line}:{column}: {problem}")
}
