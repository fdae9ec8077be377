//! Litmus tests in C.
//!
//! ```text
//! C NAME
//! { [x] = 0; int y = 1; atomic_int z[2] = {0, 1}; }
//! P0 (atomic_int* x, int* y) {
//!   *y = 1;
//!   int r0 = atomic_load_explicit(x, memory_order_acquire);
//!   if (r0 == 1) { atomic_fetch_add_explicit(x, 1, memory_order_relaxed); } else { … }
//! }
//! exists (0:r0=1)
//! ```
//!
//! Each function is a thread. Its parameters are pointers, called after the locations that they point to; what it
//! declares is its own, wherever in it that is declared. Statements are declarations, assignments, calls, `if`,
//! `while` and `do`; expressions have the operators of C on integers, which are mathematical (a quotient is rounded
//! down). Each access to a location is an instruction of its own, from left to right.
//!
//! *Orders* ([`atomics`]): an access by a function of `stdatomic.h` is marked with its order, and one through a pointer
//! (`*x`, `x[1]`) is not marked, whatever the type of the parameter: so herd reads tests, too, although C would take
//! `*x` of an atomic type as sequentially consistent. `volatile` says nothing. The order `consume` is read as
//! `acquire`, as all compilers do.
//!
//! *Limits.* No pointers in variables, no structures, no `for`, `switch`, `goto` and `return`, no calls but those to
//! `stdatomic.h`.

mod atomics;
mod syntax;
mod text;
mod tokens;
mod translate;

use super::architecture::Architecture;
use super::initial::{Entries, RegisterEntry, RegisterValue};
use super::locations::{Locations, address_of};
use super::{Names, Test};
use crate::ids::ThreadAt;
use crate::lang::Diagnostic;
use text::{Function, Sections};

/// Reads a test.
pub fn parse(text: &str) -> Result<Test, Vec<Diagnostic>> {
    let text = text::without_comments(text).map_err(|error| vec![error])?;
    let Sections { name, initial, functions, condition } = text::sections(&text).map_err(|error| vec![error])?;
    let mut locations = Locations::default();
    let mut errors = Vec::new();
    let mut entries: Vec<RegisterEntry> = Vec::new();
    let count = functions.len();
    let mut reader = Entries { architecture: Architecture::C, threads: count, locations: &mut locations };
    for entry in initial {
        match reader.read(entry) {
            Ok(found) => entries.extend(found),
            Err(error) => errors.push(error),
        }
    }
    let mut threads = Vec::new();
    for (number, Function { parameters, body }) in ThreadAt::all(count).zip(functions) {
        let own = entries.iter().filter(|entry| entry.thread == Some(number));
        let initial = own.map(|entry| (entry.register.clone(), number_of(entry.value))).collect();
        let thread = syntax::statements(body)
            .and_then(|body| translate::thread(number, &parameters, initial, &body, &mut locations));
        match thread {
            Ok(thread) => threads.push(thread),
            Err(error) => errors.push(error),
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    Names { architecture: Architecture::C, locations, threads }.test(name, condition)
}

fn number_of(value: RegisterValue) -> i64 {
    match value {
        RegisterValue::Integer(value) => value,
        RegisterValue::Address(location) => address_of(location),
    }
}
