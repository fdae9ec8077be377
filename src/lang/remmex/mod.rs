//! The language of the tool Remmex, and what we have added to it: labels and error states.
//!
//! Files `.rmx` and `.remmex`.
//!
//! ```text
//! PROGRAM     = DECLARATION … (PROCESS | NEVER) …
//! DECLARATION = (int | bool) DECLARATOR , … ;
//! DECLARATOR  = NAME ["[" SIZE "]" …] [= INITIAL]
//! INITIAL     = VALUE | { INITIAL , … }
//! PROCESS     = proctype NAME { DECLARATION … STATEMENT … [LABEL :] }
//! STATEMENT   = [LABEL :] ACTION
//! ACTION      = VAR = EXPRESSION ; | VAR = loadval ( VAR ) ; | store ( VAR , EXPRESSION ) ;
//!             | do BRANCH … od ; | if BRANCH … fi ; | skip ; | break ;
//!             | MFENCE [;] | SFENCE [;] | LOCK [;] | UNLOCK [;]
//! BRANCH      = :: EXPRESSION -> STATEMENT …
//! EXPRESSION  = VAR | VALUE | load ( VAR , EXPRESSION ) | ( EXPRESSION ) | ! EXPRESSION
//!             | EXPRESSION (|| && == != < <= > >= + - * /) EXPRESSION
//! VAR         = NAME ["[" EXPRESSION "]" …]
//! VALUE       = NUMBER | true | false
//! NEVER       = never NUMBER (NUMBER | LABEL) … ;                     (seqcon's, as labels are)
//! ```
//!
//! Comments are `// …` and `/* … */`. `loadval` may be written `load_val` or `loadVal`. Operators have the precedence
//! of C; those of one level are read from left to right. Names may have underscores, which Remmex does not know.
//!
//! # Rules
//!
//! - Shared variables are declared before the first process, those of a process before its first statement; no name is
//!   both. A value that is not given is 0 or false. An array has its values in braces, nested as it is or all in one
//!   list.
//! - Shared variables are only accessed by `store`, `loadval` and, in the condition of a branch, `load`: `load(x, e)`
//!   holds if the value of `x` is `e`. A condition reads one shared variable, or one element of an array, at most; it
//!   may test it several times. `!` stands before a `load` directly, or before what has none in it.
//! - `break` leaves the innermost `do` and is the last statement of its branch.
//! - Integers are mathematical (checked 64-bit), quotients are rounded down. A constant index out of range is an error
//!   in the text, a computed one is a fault when it is evaluated, wherever it stands: conditions are evaluated in full.
//!
//! # Meaning
//!
//! A process is a thread with its name. Each statement that is no control structure, and each condition, is one
//! instruction with one access at most, called `FROM-TO` (a second one with these ends `FROM-TO-2`). A condition that
//! fails waits; the other branches stay possible. A condition that tests a variable several times reads it once; it
//! may become several instructions, of which one can be taken (`translate/guards.rs` says how).
//!
//! **Control locations** are numbered as Remmex does, and have their numbers as names: `P1@6` is a place in
//! conditions. The first location is 0. A simple statement leads to a new one; `do` and `if` take a number for the
//! location behind them, then each branch takes one for the location behind its condition, and what its statements
//! need. The last step of a branch leads to where the branch ends; the number that it took is used up. (How Remmex
//! joins them is not known; only the number of states depends on it.) `MFENCE` and `SFENCE` take no number, so that
//! numbers stay what they are when fences are put in; the location before a fence is `fence_N` if the one behind it
//! is N. `LABEL:` before a statement, or at the end of a process, names the location there; it can still be called by
//! its number.
//!
//! **Error states.** `never 2 6 6;` is the property that no state is reached in which at least two processes are at
//! their location of the list, which has one for each process, in the order of the text. A number that no location has
//! (100, say) is a location where nobody is. Several are several properties. On the command line `--never '2 6 6'` or
//! `--never '-e 2 6 6'` are the same.
//!
//! **Fences and locks.** `MFENCE` is a full fence, `SFENCE` one of stores, which only PSO machines have a use for. From
//! `LOCK` to `UNLOCK` is one atomic instruction for each way through. `translate/regions.rs` says why that is the same,
//! and what cannot stand in between.

pub mod edit;
mod lexer;
mod parser;
mod syntax;
mod translate;
mod vectors;

use super::{Diagnostic, Language, Parsed, ParsedCondition, Severity, slco};
use crate::program::Program;
use crate::property::StateCondition;
use translate::Translated;
use vectors::Where;

/// The language.
pub const LANGUAGE: Language = Language {
    name: "Remmex",
    extensions: &["rmx", "remmex"],
    reference: "docs/formats.md#remmex",
    parse,
    edit: Some(edit::edited),
    insertions: Some(edit::insertions),
    instances: None,
    writes_store_fences: true,
    writes_kinds: false,
    condition: Some(condition),
};

/// Reads a program; `name` is what it is called.
fn parse(name: &str, text: &str) -> Result<Parsed, Vec<Diagnostic>> {
    let model = parser::parse(text)?;
    Ok(translate::translated(name, &model)?.parsed)
}

/// Reads a condition on the states of the program that a text says: an error state, or an expression.
fn condition(source: &str, program: &Program, text: &str) -> Result<ParsedCondition, Vec<Diagnostic>> {
    let model = parser::parse(source)?;
    let Translated { tables, .. } = translate::translated(&program.name, &model)?;
    if !is_vector(text) {
        let mut aliases = Vec::new();
        for (thread, table) in program.threads.iter().zip(&tables) {
            for (number, place) in &table.numbers {
                let Where::State(state) = place else { continue };
                let name = &thread.states[state.index()];
                if *name != number.to_string() {
                    aliases.push((format!("{}@{number}", thread.name), format!("{}@{name}", thread.name)));
                }
            }
        }
        return slco::parse_condition_with(text, program, &aliases);
    }
    let vectors = parser::parse_vectors(text).map_err(|mut errors| {
        for error in &mut errors {
            error.message = error.message.replace("the end of the file", "its end");
        }
        errors
    })?;
    let mut findings = Vec::new();
    let found: Vec<Option<StateCondition>> =
        vectors.iter().map(|vector| vectors::condition(vector, program, &tables, &mut findings)).collect();
    let (errors, warnings): (Vec<_>, Vec<_>) =
        findings.into_iter().partition(|finding| finding.severity == Severity::Error);
    match StateCondition::any_of(found.into_iter().flatten().collect()) {
        Some(condition) if errors.is_empty() => Ok(ParsedCondition { condition, warnings }),
        _ => Err(errors),
    }
}

/// Whether a condition is an error state, and no expression: words and numbers, a number first; or `-e` stands before.
fn is_vector(text: &str) -> bool {
    let text = text.trim();
    let is_word = |word: &str| word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let begins = text.starts_with(|c: char| c.is_ascii_digit()) && text.split_whitespace().nth(1).is_some();
    text.split_whitespace().next() == Some("-e") || begins && text.split_whitespace().all(is_word)
}
