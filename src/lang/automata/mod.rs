//! Programs as automata: the language of Trencher's and Persist's benchmark programs, and the textual language of the
//! paper on persistence.
//!
//! Files `.txt` and `.trench`. The first word tells which of the two it is: `program` begins the paper's, anything
//! else is the tools'.
//!
//! # The tools' language
//!
//! ```text
//! memory_size 3                        at most once, before or between threads
//! # from `#` to the end of the line: a comment
//! thread NAME [COUNT]                  COUNT copies, called NAME_1, NAME_2, …
//!   initial STATE
//!   transition FROM TO INSTRUCTION     any number; several from one state: choice
//! end
//! ```
//!
//! | instruction | meaning |
//! |---|---|
//! | `write VALUE ADDRESS` | the value is written |
//! | `read REGISTER ADDRESS` | what is there goes into the register |
//! | `local REGISTER VALUE` | assignment to a register |
//! | `check VALUE` | taken only if the value is not 0 |
//! | `mfence` | a full fence |
//! | `lock`, `unlock` | between them no other thread does anything; see below |
//! | `noop` | nothing |
//!
//! Values and addresses are expressions in prefix notation over registers and integers: `+ - * & == != < <= > >= &&
//! ||` with two operands, `!` with one, as in C, but on checked 64-bit integers. Words are separated by white space
//! and nothing else: `r+1` is a register, `+ r 1` a sum. A word that begins with a digit or with a sign and a digit
//! is an integer. A word that begins with `#` begins a comment, inside of threads as well. Registers are not
//! declared; each thread has its own, all 0 at the start, as is the memory. A state from which no transition leads is
//! an end.
//!
//! **Memory** is the array `m`, so that the location of address 3 is `m[3]`. Its size is that of `memory_size`.
//! Without it, if every address is a constant, it is just large enough; otherwise 10, as the tools have it, or more
//! if a constant needs it. A constant address outside of the memory is an error in the text; a computed one is a
//! fault when it is evaluated, with the run that leads to it, and not an access that is left out silently.
//!
//! **Locks.** From `lock` to `unlock` a thread has the memory for itself: the others do nothing, buffers are empty at
//! both ends. So a region is one atomic instruction for each way through it ([`regions`]).
//!
//! # The paper's language
//!
//! ```text
//! program NAME vars x y procs
//! process p regs r s init q0 begin
//!   q0 : x = 1 ; goto q1
//!   q1 : r = y ; goto q2
//!   q2 : assume r == 0 ; goto q3
//!   q2 : arw ( x , 1 , r + 1 ) ; goto q0
//! end
//! ```
//!
//! A statement is a write `VAR = expression`, a read `REG = VAR`, an assignment `REG = expression`, `arw ( VAR ,
//! expression , expression )`, `fence`, `skip` or `assume expression`. `arw` is atomic: it waits until the variable
//! has the first value, and gives it the second. Expressions, which the paper leaves open, are those of C over
//! registers and integers with the same operators as above, infix, and parentheses. Names are separated by blanks or
//! commas; `#`, `//` and `/* */` are comments; `:=` may stand for `=` in a statement. A label without instructions is
//! an end.
//!
//! # What becomes of it
//!
//! A thread of the text is a [`Thread`](crate::program::Thread), a register a local, a transition an instruction with
//! at most one access to memory, called `FROM-TO` (a second one with these ends `FROM-TO-2`). Names keep their
//! letters, digits and underscores; in labels and reports `+` is `_plus_`, `-` is `_minus_` and anything else `_`.
//! Transitions from states that cannot be reached are left out, with a warning.

pub mod edit;
mod expressions;
mod instances;
mod paper;
pub mod regions;
mod syntax;
mod tools;
mod translate;

use super::{Diagnostic, Language, Parsed};
use crate::lts::is_facts;
use crate::program::Span;

/// The language.
pub const LANGUAGE: Language = Language {
    name: "automata",
    extensions: &["txt", "trench"],
    reference: "docs/formats.md#automata",
    parse,
    edit: Some(edit::edited),
    insertions: None,
    instances: Some(instances::instances),
    writes_store_fences: false,
    writes_kinds: false,
    condition: None,
};

/// Reads a program in either language; `name` is what a program is called that does not name itself.
///
/// # Errors
///
/// All that is wrong with the text.
pub fn parse(name: &str, text: &str) -> Result<Parsed, Vec<Diagnostic>> {
    refuse_other_formats(text)?;
    let source = match paper::is_one(text) {
        true => paper::parse(text)?,
        false => tools::parse(name, text)?,
    };
    translate::program(&source)
}

/// Other files have the extension `.txt` as well: what can be recognised is called by its name.
fn refuse_other_formats(text: &str) -> Result<(), Vec<Diagnostic>> {
    let start = text.trim_start_matches('\u{feff}').trim_start();
    let refuse = |what: &str, help: &str| {
        let length = start.find('\n').unwrap_or(start.len());
        let at = text.len() - start.len();
        Err(vec![Diagnostic::error(Span { start: at, end: at + length }, what).with_help(help)])
    };
    if is_facts(start.as_bytes()) {
        return refuse(
            "this is a facts file, not a program",
            "give it a name that ends in `.facts`; `.txt` is for programs",
        );
    }
    if start.strip_prefix("des").is_some_and(|rest| rest.trim_start().starts_with('(')) {
        return refuse(
            "this is a state space in the Aldebaran format, not a program",
            "give it a name that ends in `.aut`; `.txt` is for programs",
        );
    }
    if start.is_empty() {
        return Err(vec![Diagnostic::error(Span::default(), "there is no thread").with_help(tools::OUTLINE)]);
    }
    Ok(())
}
