//! Puts fences into the text: `fence` as a statement, with braces around it and its neighbour where only one
//! statement can stand. Everything else stays byte for byte as it is.
//!
//! ```text
//! write: x := 1;                        write: x := 1; fence;
//! if $r = 1 then goto L                 if $r = 1 then { fence; goto L }
//! if $r = 1 then write: x := 1          if $r = 1 then write: x := 1 else fence
//! ```
//!
//! A fence before an instruction, or at a control state, stands on every way into the state, so that the state's
//! label is behind it: before the label, if nothing jumps there; else at the end of each way. Nothing is put before
//! the first statement, where there is nothing to keep in order.
//!
//! `process(N)` and macros have one text for several processes: what is said of one is put into all of them.
//! `write` becomes atomic as `locked write`; nothing else does.

use super::parser;
use super::syntax::Model;
use super::translate::{Place, Spot, Translated, translated};
use crate::ids::ControlAt;
use crate::lang::edit::{CannotWrite, Change};
use crate::program::{At, Program};
use std::collections::{BTreeMap, BTreeSet};

/// What is put in at one place.
#[derive(Clone, Copy, Debug)]
struct Piece {
    /// Where.
    at: usize,
    /// The ends of statements come first, inner ones before outer ones; then beginnings, outer ones first.
    order: (bool, isize),
    /// What.
    text: &'static str,
}

/// What the changes insert, and where, in bytes; nothing is taken away.
///
/// # Errors
/// The first instruction behind which nothing can stand, as a macro gives only a part of it; or one that cannot
/// become atomic.
pub fn insertions(text: &str, program: &Program, changes: &[Change]) -> Result<BTreeMap<usize, String>, CannotWrite> {
    // A text that was read once is read again.
    let model: Model = parser::parse(text).map_err(|_| CannotWrite::Anything)?;
    let translated = translated(&program.name, &model).map_err(|_| CannotWrite::Anything)?;
    // What is said twice is put in once.
    let (mut fences, mut locked) = (BTreeSet::new(), BTreeSet::new());
    for &change in changes {
        match change {
            Change::Atomic(at) => locked.extend(lock(text, &translated, at)?),
            Change::PartialFenceBefore(_, kind)
            | Change::PartialFenceAfter(_, kind)
            | Change::PartialFenceAtTarget(_, kind) => return Err(CannotWrite::PartialFence(kind)),
            Change::Mark(at, marks) => return Err(CannotWrite::Marks(at, marks)),
            Change::FenceAfter(at) => fence_after(&translated, at, &mut fences)?,
            Change::FenceBefore(at) => fence_ways(&translated, at, program.instruction(at).from, &mut fences)?,
            Change::FenceAtTarget(at) => fence_ways(&translated, at, program.instruction(at).to, &mut fences)?,
        }
    }
    // Behind everything else that is put before the statement.
    let locks = locked.into_iter().map(|place| Piece { order: (true, isize::MAX), ..start(place, "locked ") });
    let mut pieces: Vec<Piece> = fences.into_iter().flat_map(pieces).chain(locks).collect();
    pieces.sort_by_key(|piece| (piece.at, piece.order));
    let mut insertions: BTreeMap<usize, String> = BTreeMap::new();
    for Piece { at, text, .. } in pieces {
        insertions.entry(at).or_default().push_str(text);
    }
    // Words stay words where no blank is between them: `or$r := 1`.
    let is_name = |character: char| character.is_ascii_alphanumeric() || character == '_';
    for (&at, what) in &mut insertions {
        if text[..at].ends_with(is_name) && what.starts_with(is_name) {
            what.insert(0, ' ');
        }
        if what.ends_with(is_name) && text[at..].starts_with(is_name) {
            what.push(' ');
        }
    }
    Ok(insertions)
}

/// The text with all changes made.
///
/// # Errors
/// As for [`insertions`].
pub fn edited(text: &str, program: &Program, changes: &[Change]) -> Result<String, CannotWrite> {
    let mut result = String::with_capacity(text.len() + 16 * changes.len());
    let mut from = 0;
    for (at, what) in insertions(text, program, changes)? {
        result.push_str(&text[from..at]);
        result.push_str(&what);
        from = at;
    }
    result.push_str(&text[from..]);
    Ok(result)
}

fn spot(translated: &Translated, at: At) -> Option<Spot> {
    translated.spots.get(at.thread.index())?.get(at.instruction.index()).copied()
}

/// A fence on every way into a control state in the thread of an instruction.
fn fence_ways(
    translated: &Translated,
    at: At,
    state: ControlAt,
    fences: &mut BTreeSet<Spot>,
) -> Result<(), CannotWrite> {
    let entry = translated.entries.get(at.thread.index()).and_then(|entries| entries.get(state.index()));
    if let Some(&Some(place)) = entry {
        fences.insert(Spot::Before(place));
        return Ok(());
    }
    for instruction in translated.parsed.program.thread(at.thread).ways_into(state) {
        fence_after(translated, At { instruction, ..at }, fences)?;
    }
    Ok(())
}

fn fence_after(translated: &Translated, at: At, fences: &mut BTreeSet<Spot>) -> Result<(), CannotWrite> {
    let spot = spot(translated, at).ok_or(CannotWrite::At(at))?;
    let places = match spot {
        Spot::Nowhere => return Ok(()),
        Spot::After(place) | Spot::Before(place) | Spot::Inside(place) => [Some(place), None],
        Spot::Else(place, then) => [Some(place), then],
    };
    if places.iter().flatten().any(|place| !place.is_whole) {
        return Err(CannotWrite::At(at));
    }
    fences.insert(spot);
    Ok(())
}

/// A fence at a spot.
fn pieces(spot: Spot) -> Vec<Piece> {
    match spot {
        Spot::Nowhere => Vec::new(),
        Spot::After(place) if place.is_in_list => vec![end(place, "; fence")],
        Spot::After(place) => vec![start(place, "{ "), end(place, "; fence }")],
        Spot::Before(place) if place.is_in_list => vec![start(place, "fence; ")],
        Spot::Before(place) => vec![start(place, "{ fence; "), end(place, " }")],
        // Behind the brace.
        Spot::Inside(place) => vec![Piece { at: place.start + 1, ..start(place, " fence;") }],
        Spot::Else(place, None) => vec![end(place, " else fence")],
        Spot::Else(place, Some(then)) => vec![start(then, "{ "), end(then, " }"), end(place, " else fence")],
    }
}

/// At the beginning of a statement.
fn start(place: Place, text: &'static str) -> Piece {
    Piece { at: place.start, order: (true, level(place)), text }
}

/// At the end of a statement.
fn end(place: Place, text: &'static str) -> Piece {
    Piece { at: place.end, order: (false, -level(place)), text }
}

fn level(place: Place) -> isize {
    isize::try_from(place.level).unwrap_or(isize::MAX)
}

/// The write that becomes atomic, if it is not.
fn lock(text: &str, translated: &Translated, at: At) -> Result<Option<Place>, CannotWrite> {
    if translated.parsed.program.instruction(at).is_atomic() {
        return Ok(None);
    }
    match spot(translated, at) {
        Some(Spot::After(place)) if place.is_whole && text[place.start..].starts_with("write") => Ok(Some(place)),
        _ => Err(CannotWrite::Atomic),
    }
}
