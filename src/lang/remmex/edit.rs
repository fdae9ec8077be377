//! Puts fences into the text: `MFENCE`, or `SFENCE` for one of stores, behind a statement, behind the arrow of a
//! branch, or behind `od;` and `fi;`. Everything else stays byte for byte as it is.
//!
//! ```text
//! store(x, 1);                          store(x, 1); MFENCE
//! :: load(x, 0) -> skip;                :: load(x, 0) -> MFENCE skip;
//! ```
//!
//! A fence before an instruction, or at a control state, stands on every way into the state: behind the `if` or `do`
//! that ends there, unless a loop leads back to it as well; else at the end of each way, where ways that have come
//! together have one. Labels stay behind it, and
//! numbers of locations do not change, as fences take none. Nothing is put before the first statement, where there is
//! nothing to keep in order.
//!
//! No instruction becomes atomic: `LOCK` and `UNLOCK` take numbers.

use super::parser;
use super::translate::{Translated, translated};
use crate::ids::ControlAt;
use crate::lang::edit::{CannotWrite, Change};
use crate::program::{At, PartialFence, Program};
use std::collections::BTreeMap;

/// How strong a fence is: what is asked for twice at one place is the stronger one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Stores,
    Full,
}

impl Kind {
    fn of(kind: PartialFence) -> Result<Kind, CannotWrite> {
        if kind == PartialFence::Stores { Ok(Kind::Stores) } else { Err(CannotWrite::PartialFence(kind)) }
    }

    fn text(self) -> &'static str {
        match self {
            Kind::Stores => "SFENCE",
            Kind::Full => "MFENCE",
        }
    }
}

/// Where fences stand, in bytes.
type Places = BTreeMap<usize, Kind>;

/// What the changes insert, and where, in bytes; nothing is taken away.
///
/// # Errors
/// If an instruction is to become atomic or to carry marks, or a fence is neither full nor one of stores.
pub fn insertions(text: &str, program: &Program, changes: &[Change]) -> Result<BTreeMap<usize, String>, CannotWrite> {
    // A text that was read once is read again.
    let model = parser::parse(text).map_err(|_| CannotWrite::Anything)?;
    let translated = translated(&program.name, &model).map_err(|_| CannotWrite::Anything)?;
    // What is said twice is put in once.
    let mut places = Places::new();
    for &change in changes {
        let (from, to) = (|at: At| program.instruction(at).from, |at: At| program.instruction(at).to);
        match change {
            Change::Atomic(_) => return Err(CannotWrite::Atomic),
            Change::FenceAfter(at) => put(&mut places, place(&translated.ends, at)?, Kind::Full),
            Change::PartialFenceAfter(at, kind) => put(&mut places, place(&translated.ends, at)?, Kind::of(kind)?),
            Change::FenceBefore(at) => ways(&translated, at, from(at), Kind::Full, &mut places)?,
            Change::PartialFenceBefore(at, kind) => ways(&translated, at, from(at), Kind::of(kind)?, &mut places)?,
            Change::FenceAtTarget(at) => ways(&translated, at, to(at), Kind::Full, &mut places)?,
            Change::PartialFenceAtTarget(at, kind) => ways(&translated, at, to(at), Kind::of(kind)?, &mut places)?,
            Change::Mark(at, marks) => return Err(CannotWrite::Marks(at, marks)),
        }
    }
    // Words stay words where no blank is between them: `->skip`.
    let blank = |at: usize| if text[at..].starts_with(|c: char| !c.is_whitespace()) { " " } else { "" };
    Ok(places.into_iter().map(|(at, kind)| (at, format!(" {}{}", kind.text(), blank(at)))).collect())
}

/// The text with all changes made.
///
/// # Errors
/// As for [`insertions`].
pub fn edited(text: &str, program: &Program, changes: &[Change]) -> Result<String, CannotWrite> {
    let mut result = String::with_capacity(text.len() + 8 * changes.len());
    let mut from = 0;
    for (at, what) in insertions(text, program, changes)? {
        result.push_str(&text[from..at]);
        result.push_str(&what);
        from = at;
    }
    result.push_str(&text[from..]);
    Ok(result)
}

/// The place of an instruction.
fn place(places: &[Vec<usize>], at: At) -> Result<usize, CannotWrite> {
    let own = places.get(at.thread.index());
    own.and_then(|own| own.get(at.instruction.index())).copied().ok_or(CannotWrite::At(at))
}

fn put(places: &mut Places, at: usize, kind: Kind) {
    let known = places.entry(at).or_insert(kind);
    *known = kind.max(*known);
}

/// A fence on every way into a control state in the thread of an instruction.
fn ways(translated: &Translated, at: At, state: ControlAt, kind: Kind, places: &mut Places) -> Result<(), CannotWrite> {
    let entry = translated.entries.get(at.thread.index()).and_then(|entries| entries.get(state.index()));
    if let Some(&Some(entry)) = entry {
        put(places, entry, kind);
        return Ok(());
    }
    for instruction in translated.parsed.program.thread(at.thread).ways_into(state) {
        put(places, place(&translated.joins, At { instruction, ..at })?, kind);
    }
    Ok(())
}
