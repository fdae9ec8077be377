//! Steps that can be made in either order (thesis, chapter 5, with what the tests of the review notes ask for).
//!
//! Two steps are independent in a state if neither makes the other one possible or impossible there, nor changes what
//! it does, and both orders lead to the same state. What is not listed is dependent.
//!
//! | steps | independent if |
//! |---|---|
//! | two moves of one thread | never |
//! | write, move without an access, fence / move of another thread | always |
//! | read / read of another thread | always |
//! | move without an access / commit | always, if it is no fence |
//! | write / commit from the same buffer | the empty word is not in the language, or the letters differ |
//! | write, fence / commit of another thread | always |
//! | read / commit from a buffer of the thread | both exclude nothing; on PSO, from the buffer of another location |
//! | read / commit of another thread | of another location, or of the value that memory has, or the read never gets to the memory |
//! | two commits from different buffers | of different locations, or of the same value |
//! | two commits from one buffer | of different locations, and both orders leave the same |
//!
//! Fences of stores, atomic instructions and the marks that leave buffers count as dependent on all that touches
//! memory, or buffers of their thread.
//!
//! *Variant.* The thesis lets a write and a commit of the same letter be independent where the buffer may be empty
//! (corollary 5.26); then the write's own commit would be asleep. Here they are dependent.

use super::space::{Memory, Space, Step, Symbolic};
use crate::regular::Letter;
use crate::weak::threads::{Action, Move};

/// Whether two steps that are possible in a state can be made in either order.
pub fn independent(space: &mut Space<'_>, state: &Symbolic, one: Step, other: Step) -> bool {
    match (one, other) {
        (Step::Issue { thread: of, .. }, Step::Issue { thread: by, .. }) => {
            of != by && {
                let (one, other) = (known(space, state, one), known(space, state, other));
                one.zip(other).is_some_and(|(one, other)| moves(space.memory, &one, &other))
            }
        }
        (Step::Commit { letter, .. }, Step::Issue { .. }) => {
            known(space, state, other).is_some_and(|step| with_commit(space, state, (other, &step), (one, letter)))
        }
        (Step::Issue { .. }, Step::Commit { letter, .. }) => {
            known(space, state, one).is_some_and(|step| with_commit(space, state, (one, &step), (other, letter)))
        }
        (Step::Commit { letter: a, .. }, Step::Commit { letter: b, .. }) => commits(space, state, (one, a), (other, b)),
        (Step::Pass { .. }, Step::Issue { .. }) => known(space, state, other).is_some_and(|step| is_quiet(&step)),
        (Step::Issue { .. }, Step::Pass { .. }) => known(space, state, one).is_some_and(|step| is_quiet(&step)),
        (Step::Pass { thread: of }, other) | (other, Step::Pass { thread: of }) => of != other.thread(),
    }
}

/// The move of a step that is one.
fn known(space: &mut Space<'_>, state: &Symbolic, step: Step) -> Option<Move> {
    let Step::Issue { thread, number, .. } = step else { return None };
    Some(space.known_move(&state.shared, thread, number))
}

/// A move that touches neither memory nor buffers.
fn is_quiet(known: &Move) -> bool {
    matches!(known.action, Action::Silent { .. }) && !known.drained && !known.ordered
}

/// Moves of two threads.
fn moves(memory: Memory, one: &Move, other: &Move) -> bool {
    // What waits in a buffer nobody else sees.
    let is_own = |known: &Move| match known.action {
        Action::Silent { .. } => true,
        Action::Write { .. } => memory != Memory::Sc,
        Action::Read { .. } | Action::Whole => false,
    };
    let is_read = |known: &Move| matches!(known.action, Action::Read { .. });
    is_own(one) || is_own(other) || (is_read(one) && is_read(other))
}

/// A move and a commit.
fn with_commit(
    space: &mut Space<'_>,
    state: &Symbolic,
    (of, step): (Step, &Move),
    (by, letter): (Step, Letter),
) -> bool {
    let (thread, is_same) = (of.thread(), of.thread() == by.thread());
    let (location, value) = space.write(letter);
    match step.action {
        _ if is_quiet(step) => true,
        Action::Whole => false,
        _ if is_same && (step.drained || step.ordered) => false,
        Action::Silent { .. } => true,
        Action::Write { .. } if !is_same => true,
        Action::Write { location: written, value, .. } => {
            let buffer = space.buffer(thread, location);
            buffer != space.buffer(thread, written)
                || !space.languages.accepts_empty(state.buffers[buffer])
                || space.letter(written, value) != letter
        }
        Action::Read { location: read, .. } if is_same => {
            let buffer = space.buffer(thread, location);
            let language = state.buffers[buffer];
            let is_the_only = |space: &Space<'_>| {
                space.languages.first(language) == [letter] && !space.languages.accepts_empty(language)
            };
            (space.memory == Memory::Pso && read != location)
                || (is_the_only(space) && space.newest(state, thread, read).len() == 1 && {
                    // What it reads must not be the write that leaves, nor be hidden by it.
                    let rest = space.languages.quotient(language, letter);
                    let mut after = state.clone();
                    after.buffers[buffer] = rest;
                    space.newest(&after, thread, read) == space.newest(state, thread, read)
                })
        }
        Action::Read { location: read, .. } => {
            read != location
                || state.shared.memory[location.index()] == value
                || !space.newest(state, thread, read).contains(&None)
        }
    }
}

/// Two commits.
fn commits(space: &mut Space<'_>, state: &Symbolic, (one, a): (Step, Letter), (other, b): (Step, Letter)) -> bool {
    let ((at, value), (at_other, value_other)) = (space.write(a), space.write(b));
    let (buffer, buffer_other) = (space.buffer(one.thread(), at), space.buffer(other.thread(), at_other));
    if buffer != buffer_other {
        return at != at_other || value == value_other;
    }
    let after = |space: &mut Space<'_>, first: Letter, second: Letter| {
        let rest = space.languages.quotient(state.buffers[buffer], first);
        space.languages.quotient(rest, second)
    };
    at != at_other && {
        let (left, right) = (after(space, a, b), after(space, b, a));
        left == right && left != crate::regular::Language::EMPTY
    }
}
