//! The shared-memory part of SLCO 2.0, and what we have added to it: fences, atomic statements, marks, and properties.
//!
//! ```text
//! model NAME { classes CLASS* objects OBJECT, … NEVER* }
//! CLASS      = NAME { [variables VAR*] [state machines MACHINE*] }
//! VAR        = [TYPE] NAME [:= VALUE | := [VALUE, …]]
//! TYPE       = (Integer | Boolean | Byte) [ "[" SIZE "]" ]
//! MACHINE    = NAME { [variables VAR*] initial STATE [states STATE*] [transitions TRANSITION*] }
//! TRANSITION = [PRIORITY :] (from STATE to STATE | STATE -> STATE) [ { STATEMENT ; … } ]
//! STATEMENT  = EXPRESSION | REF := EXPRESSION | COMPOSITE
//!            | fence [KIND] | MARK* STATEMENT | atomic MARK* COMPOSITE       (these are seqcon's, not SLCO's)
//!            | [atomic] assert EXPRESSION
//! KIND       = stores | loads | lightweight | control | acquire | release | acq_rel | (r | w | rw) , (r | w | rw)
//! MARK       = relaxed | acquire | acquire_pc | release | acq_rel | seq_cst
//! COMPOSITE  = "[" [EXPRESSION ;] REF := EXPRESSION ; … "]"
//! OBJECT     = NAME : CLASS ( [VAR := VALUE, …] )
//! NEVER      = never NAME : EXPRESSION                                (seqcon's, not SLCO's)
//! ```
//!
//! - A variable without a type has that of the variable before it. `Byte` is an integer, too, but what is assigned to
//!   it is taken modulo 256.
//! - Without an initial value an integer is 0 and a Boolean is true.
//! - Each statement is one instruction; those of one transition follow each other through control states of their own.
//!   A transition without statements is one instruction that does nothing.
//! - `fence` is a full fence, and `fence stores` one that keeps the order of stores only (`sfence`, `membar
//!   #StoreStore`), as other kinds keep other orders; `atomic [ … ]` is a composite that is one step on every memory
//!   model and a full fence, with marks it is no fence (`atomic relaxed [ … ]`). Marks before a statement are those of
//!   its accesses. With them a repaired model can be written down and analysed again. What they mean is in
//!   [`ordering`](crate::ordering); the words for marks are no keywords.
//! - `never NAME: E` is a property: no state satisfies E, which is a condition over shared variables,
//!   `machine.variable` and `machine@STATE`, with `object.` before them if there are several objects.
//! - `assert E` is a property, too: its thread never evaluates E to false. E is evaluated as every condition is, with
//!   the thread's own reads. There are two instructions, from one control state and with one text: if E holds the
//!   first one goes on, and else the second one leads to a control state that nothing leaves. It is called `failed_1`
//!   for the first assertion of the machine, `failed_2` for the next, and no declared state may be called so. So the
//!   property is that the thread is never there.
//! - Each object runs every machine of its class as a thread. Threads and shared variables have the names of the
//!   machines and the variables, with `object'` before them if there are several objects.
//! - Operators, weakest first: `or` `||`; `xor`; `and` `&&`; `=` `!=` `<>` `<` `<=` `>` `>=`; `+` `-`; `*` `/` `%`;
//!   `**`; unary `not` `-` `+`. Those of one level are read from left to right. The published grammar reads them from
//!   right to left; where that would give another value, there is a warning.
//!
//! Messages, channels, ports, delays and actions are refused as not supported.
//!
//! The way of a text: [`lexer`] (tokens), [`parser`] ([`syntax`] tree, recovering from errors), [`resolve`] (names and
//! types, and the [`Program`]). Names are looked up only if the syntax is right, as half a
//! tree would give errors that are none.

pub mod edit;
mod instances;
mod lexer;
mod parser;
mod resolve;
mod syntax;

pub use parser::{KEYWORDS, mark_words};

use super::{Diagnostic, Language, Parsed, ParsedCondition};
use crate::program::Program;
use crate::property::Observables;

/// The language.
pub const LANGUAGE: Language = Language {
    name: "SLCO",
    extensions: &["slco"],
    reference: "docs/slco.md, and in short in `seqcon help slco`",
    parse: |_, text| parse(text),
    edit: Some(edit::edited),
    insertions: Some(edit::insertions),
    instances: Some(instances::instances),
    writes_store_fences: true,
    writes_kinds: true,
    condition: None,
};

/// Reads a model; the errors are in no particular order.
fn parse(text: &str) -> Result<Parsed, Vec<Diagnostic>> {
    let mut errors = Vec::new();
    let tokens = lexer::tokens(text, &mut errors);
    let model = tokens.and_then(|tokens| parser::model(text, &tokens, &mut errors));
    match model {
        Some(model) if errors.is_empty() => resolve::program(&model),
        _ => Err(errors),
    }
}

/// Reads a condition on a program's states; the errors are in no particular order.
pub(super) fn parse_condition(text: &str, program: &Program) -> Result<ParsedCondition, Vec<Diagnostic>> {
    parse_condition_with(text, program, &[])
}

/// The same, where what can be observed has second names: each with its first one.
pub(super) fn parse_condition_with(
    text: &str,
    program: &Program,
    aliases: &[(String, String)],
) -> Result<ParsedCondition, Vec<Diagnostic>> {
    let mut errors = Vec::new();
    let tokens = lexer::condition_tokens(text, &mut errors);
    let expression = tokens.and_then(|tokens| parser::expression(text, &tokens, &mut errors));
    match expression {
        Some(expression) if errors.is_empty() => {
            resolve::condition(text, &Observables::of(program), aliases, &expression)
        }
        _ => {
            for error in &mut errors {
                error.message = error.message.replace("the end of the file", "its end");
            }
            Err(errors)
        }
    }
}
