//! Input languages: text to [`Program`].
//!
//! One folder per language, which has a [`Language`] of its own; [`parse`] chooses it by the extension of the path.
//! Whatever the language, a text that is wrong gives [`Diagnostics`]: every error at once, each with its place.
//!
//! ```
//! let text = "model m { classes C { variables Integer x
//!     state machines t { initial a states b transitions a -> b { x := 1 } } } objects o : C() }";
//! let parsed = seqcon::lang::parse("m.slco", text).expect("it is well-formed");
//! assert_eq!(parsed.program.threads.len(), 1);
//!
//! let errors = seqcon::lang::parse("m.slco", &text.replace("x := 1", "x := true")).expect_err("x is an Integer");
//! assert!(errors.to_string().starts_with("m.slco:2:69: error: expected an Integer, found a Boolean"));
//! ```

#![forbid(unsafe_code)]

pub mod automata;
pub mod diagnostic;
pub mod edit;
pub mod litmus;
pub(crate) mod names;
pub mod remmex;
pub mod rmm;
pub(crate) mod similar;
pub mod slco;

pub use diagnostic::{Diagnostic, Diagnostics, Severity};

use edit::{CannotWrite, Change};

use crate::program::{Program, Span};
use crate::property::{Property, StateCondition};
use std::collections::BTreeMap;

/// A text that was understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parsed {
    /// What it says.
    pub program: Program,
    /// What it says of the program.
    pub properties: Vec<Property>,
    /// What its author should know, in the order of the text.
    pub warnings: Vec<Diagnostic>,
}

/// A condition on states that was understood.
#[derive(Clone, Debug)]
pub struct ParsedCondition {
    /// What it says.
    pub condition: StateCondition,
    /// What its author should know, in the order of the text.
    pub warnings: Vec<Diagnostic>,
}

/// An input language.
#[derive(Clone, Copy, Debug)]
pub struct Language {
    /// Its name.
    pub name: &'static str,
    /// The extensions of its files.
    pub extensions: &'static [&'static str],
    /// Where the language is described, for who made an error in it.
    pub reference: &'static str,
    /// Reads a text; a language in which programs have no name takes the first argument. The errors are in no
    /// particular order.
    pub parse: fn(&str, &str) -> Result<Parsed, Vec<Diagnostic>>,
    /// Puts changes into a text that says this program, if that can be done in the language.
    pub edit: Option<Editor>,
    /// The same as what is inserted where, in bytes, if nothing else changes.
    pub insertions: Option<Inserter>,
    /// The same text with another number of instances of what it has several of, if the language can say that.
    pub instances: Option<Instancer>,
    /// Whether it can write fences of stores, too, and not only full ones.
    pub writes_store_fences: bool,
    /// Whether it can write fences of all kinds, and marks on accesses.
    pub writes_kinds: bool,
    /// Reads a condition on the states of a program, if the language has words of its own for that.
    pub condition: Option<ConditionReader>,
}

/// Puts changes into a text.
pub type Editor = fn(&str, &Program, &[Change]) -> Result<String, CannotWrite>;

/// Tells what is inserted where.
pub type Inserter = fn(&str, &Program, &[Change]) -> Result<BTreeMap<usize, String>, CannotWrite>;

/// Tells a text with so many instances, or why there is none.
pub type Instancer = fn(&str, usize) -> Result<String, Vec<Diagnostic>>;

/// Reads a condition, the last argument, on the states of the program that a text says.
pub type ConditionReader = fn(&str, &Program, &str) -> Result<ParsedCondition, Vec<Diagnostic>>;

impl Language {
    /// All languages.
    pub const ALL: [Language; 5] =
        [slco::LANGUAGE, litmus::LANGUAGE, automata::LANGUAGE, rmm::LANGUAGE, remmex::LANGUAGE];

    /// The extensions of all languages.
    pub fn extensions() -> impl Iterator<Item = &'static str> {
        Language::ALL.into_iter().flat_map(|language| language.extensions).copied()
    }

    /// The language in which a file of that name is written, if it is one of ours.
    #[must_use]
    pub fn of(path_name: &str) -> Option<Language> {
        let (_, extension) = path_name.rsplit_once('.')?;
        let has_it = |language: &Language| language.extensions.iter().any(|own| extension.eq_ignore_ascii_case(own));
        Language::ALL.into_iter().find(has_it)
    }

    /// Reads a program; `path_name` is named in errors.
    ///
    /// # Errors
    /// All that is wrong with the text.
    pub fn read(&self, path_name: &str, text: &str) -> Result<Parsed, Diagnostics> {
        (self.parse)(stem(path_name), text)
            .map_err(|errors| Diagnostics::new(path_name, text, errors).described_in(self.reference))
    }
}

/// Reads a program; `path_name` tells its language and is named in errors, the text is all that is read.
///
/// # Errors
///
/// All that is wrong with the text, or that no language has files of that name.
pub fn parse(path_name: &str, text: &str) -> Result<Parsed, Diagnostics> {
    let Some(language) = Language::of(path_name) else {
        let endings: Vec<String> = Language::extensions().map(|extension| format!("`.{extension}`")).collect();
        let unknown = Diagnostic::error(Span::default(), "the name of the file does not tell its language");
        let unknown = unknown.with_help(format!("a specification's name ends in {}", endings.join(" or ")));
        return Err(Diagnostics::new(path_name, text, vec![unknown]));
    };
    language.read(path_name, text)
}

/// The name of a file without its folder and extension.
fn stem(path_name: &str) -> &str {
    let name = path_name.rsplit_once(['/', '\\']).map_or(path_name, |(_, name)| name);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

/// Reads a condition on a program's states: an expression of SLCO over shared variables, `thread.variable` and
/// `thread@state`; `origin` is named in errors.
///
/// ```
/// let text = "model m { classes C { variables Integer x
///     state machines t { variables Integer y initial a states b transitions a -> b { x := 1 } } } objects o : C() }";
/// let program = seqcon::lang::parse("m.slco", text).expect("it is well-formed").program;
/// assert!(seqcon::lang::parse_condition("--invariant", "x = t.y or t@b", &program).is_ok());
/// let errors = seqcon::lang::parse_condition("--invariant", "x = 0 or t@c", &program).expect_err("there is no state c");
/// assert!(errors.to_string().starts_with("--invariant:1:10: error: there is no control state `t@c`"));
/// ```
///
/// # Errors
///
/// All that is wrong with the text.
pub fn parse_condition(origin: &str, text: &str, program: &Program) -> Result<ParsedCondition, Diagnostics> {
    slco::parse_condition(text, program).map_err(|errors| Diagnostics::new(origin, text, errors))
}

/// The same for a program that was read from the text of a file: languages may have words of their own for conditions.
///
/// ```
/// let text = "int x; proctype P { store(x, 1); } proctype Q { store(x, 2); }";
/// let program = seqcon::lang::parse("m.rmx", text).expect("it is well-formed").program;
/// assert!(seqcon::lang::parse_condition_of("m.rmx", text, "--never", "2 1 1", &program).is_ok());
/// assert!(seqcon::lang::parse_condition_of("m.rmx", text, "--never", "P@1 and Q@1", &program).is_ok());
/// ```
///
/// # Errors
///
/// All that is wrong with the condition.
pub fn parse_condition_of(
    path_name: &str,
    source: &str,
    origin: &str,
    text: &str,
    program: &Program,
) -> Result<ParsedCondition, Diagnostics> {
    match Language::of(path_name).and_then(|language| language.condition) {
        Some(read) => read(source, program, text).map_err(|errors| Diagnostics::new(origin, text, errors)),
        None => parse_condition(origin, text, program),
    }
}
