//! The language of the tool Memorax.
//!
//! Files `.rmm`.
//!
//! ```text
//! PROGRAM     = [forbidden VECTOR ; …] [predicates CONDITION ; …] [data DECLARATION …] PROCESS …
//! VECTOR      = (LABEL | *) …                                           one for each process
//! DECLARATION = (NAME | REG) = (INTEGER | *) [: "[" INTEGER : INTEGER "]" | : Z] [,]
//! PROCESS     = process ["(" NUMBER ")"] [data DECLARATION …] [registers DECLARATION …] text STATEMENTS
//! STATEMENTS  = [LABEL :] STATEMENT ; …
//! STATEMENT   = nop | fence | goto LABEL | assume : CONDITION | REG := EXPRESSION
//!             | read : LOCATION = EXPRESSION | read : REG := LOCATION
//!             | write : LOCATION := EXPRESSION | locked write : LOCATION := EXPRESSION
//!             | syncwr : LOCATION := EXPRESSION | cas ( LOCATION , EXPRESSION , EXPRESSION )
//!             | if CONDITION then [LABEL :] STATEMENT [else [LABEL :] STATEMENT]
//!             | while CONDITION do [LABEL :] STATEMENT
//!             | either { STATEMENTS or … } | locked { STATEMENTS or … } | { STATEMENTS }
//! LOCATION    = NAME | NAME "[" my "]" | NAME "[" NUMBER "]" | "[" EXPRESSION "]"
//! EXPRESSION  = REG | NUMBER | me | other NUMBER | @ NUMBER | - EXPRESSION | ( EXPRESSION )
//!             | EXPRESSION + EXPRESSION | EXPRESSION - EXPRESSION
//! CONDITION   = true | false | not CONDITION | "[" CONDITION "]" | CONDITION && CONDITION
//!             | CONDITION || CONDITION | EXPRESSION (= | != | < | > | <= | >=) EXPRESSION
//! REG         = $NAME
//! ```
//!
//! Comments are `/* … */`. `macro NAME(a, …) … endmacro` gives words a name, and `NAME(x, …)` stands for them, with `x`
//! in the place of `a`. Memorax wants `forbidden` in every file; here it may be missing. `predicates` guide its
//! abstraction and are ignored, with a warning.
//!
//! # Names
//!
//! A process is a thread, called `P0`, `P1`, … in the order of the text; `process(N)` is N of them. A global variable
//! keeps its name, the variable `x` of process 1 is `x_P1`, a register `$r` the local `r`. A label is the name of the
//! control state before its statement; a state without a label is called after the last label before it, `L_1`, `L_2`,
//! …, or `start`, the last one `end`. Instructions are called `FROM-TO`, a second one with these ends `FROM-TO-2`.
//! A fence takes no number, so that names stay what they are when fences are put in: the state before it is
//! `fence_L_1` if the one behind it is `L_1`, and what leads to it is called as if it led there.
//!
//! `forbidden` is the property that no state is reached in which each process is at the label that a vector has for
//! it; `*` is any state.
//!
//! # Statements
//!
//! Each is one instruction with one access at most; it can be taken as soon as what it waits for holds.
//!
//! | statement | meaning |
//! |---|---|
//! | `read: x = e` | waits until the value is `e` |
//! | `read: $r := x`, `write: x := e` | the access |
//! | `locked write: x := e` | an atomic write: the buffer is empty before and after it |
//! | `syncwr: x := e` | taken for the same; Memorax has it for machines with caches instead of buffers |
//! | `cas(x, a, b)` | waits until `x` is `a`, and makes it `b`, atomically |
//! | `assume: b` | waits until `b` holds |
//! | `either{ … or … }` | one of them; the first instruction decides, so that one that waits does not exclude the others |
//! | `locked{ … or … }` | one of them as one atomic instruction |
//! | `goto L` | no step of its own, unless it has a label or is one of several that can be taken |
//!
//! `x[my]` is the variable of the process itself, `x[n]` that of the n-th other process, from 0 and in the order of
//! the text; `other n` is the number of that process, `me` its own, `@n` is n. `[e]` is the global variable with the
//! number `e`, in the order of their declarations: an instruction for each that can be meant, with `e = n` as its
//! condition, or as a step before it where the statement waits for what it reads: else a wait would read variables
//! that are not meant. If no variable has the number the statement waits for ever.
//!
//! **Ranges.** No variable or register ever has a value outside of its range. What would assign one waits: `lo <= e
//! and e <= hi` is a condition of the instruction, left out where the ranges of registers show that it holds. A read
//! into a register with a smaller range than the variable's is an instruction for each value that fits. Without a range
//! there is no end of values; such programs are read, but exploring them may not end.
//!
//! **Locked blocks** have reads, writes, `cas`, assignments, `assume`, `nop` and locked blocks in them; anything else
//! is an error. A block that writes nothing is no fence in Memorax: one that reads once is that read; one that reads
//! more often is atomic, and so a fence, with a warning.
//!
//! **Values at the start.** A value `*` is any value of the range, of 1,000 at most. For shared variables the first
//! process has instructions before its text that set them, one for each value, and one that sets the variable
//! `started` (or `started_2`, … if that name is taken); the others wait for that. All are atomic, so that no access of
//! the text is reordered with them. For a register there are instructions before the text of its process, one for each
//! value; where its first value cannot be read, there are none and it starts with the least value. The control states
//! before the text are `init`, `init_2`, …; the first label is behind all of that.

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
    reference: "docs/formats.md#memorax",
    parse,
    edit: Some(edit::edited),
    insertions: Some(edit::insertions),
    instances: Some(instances::instances),
    writes_store_fences: false,
    writes_kinds: false,
    condition: None,
};

/// Reads a program; `name` is what it is called.
fn parse(name: &str, text: &str) -> Result<Parsed, Vec<Diagnostic>> {
    let model = parser::parse(text)?;
    Ok(translate::translated(name, &model)?.parsed)
}
