//! Rounds that can be repeated (thesis, chapter 4; for PSO chapter 6).
//!
//! A path from one state to another is a *round* of a thread if it leads back to the same memory, to the same places
//! of all threads and to the same languages of all other buffers; if the thread commits nothing on it, passes no fence
//! and no atomic instruction, and excludes no content of its buffers by a read; and if in both states it can read the
//! same from its buffers. Whatever could be done at its beginning can be done at its end: all that the round has done
//! is to append what the thread wrote to the thread's buffers. So it can be repeated, and what the buffers can hold
//! after any number of rounds is L·X*, with L what they held before, and X what a round appends. Rounds that follow
//! each other, from the same place, can be mixed: L·(X ∪ Y)*.
//!
//! *Variant.* As in the thesis rounds are looked for along the path that leads to a state, for the thread that made
//! the last step, and the first that is found counts. "The same can be read" includes that nothing is found in the
//! buffer, and the memory is read. On PSO each buffer of the thread gets its own X, so that their rounds are counted
//! apart.
//!
//! *Complexity.* A walk along the path, which ends at the first step that no round can have: mostly a commit of the
//! thread. Each step on it costs a look-up.

use super::space::{MARK, Memory, Space, Step, Symbolic};
use super::tree::{NodeId, Tree, includes};
use crate::ids::{LocationAt, ThreadAt};
use crate::regular::Language;
use crate::weak::threads::Action;

/// A round that was accelerated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Round {
    /// Where it began.
    pub from: NodeId,
    /// Whose it is.
    pub thread: ThreadAt,
    /// What it appends to each buffer of the thread.
    suffix: Vec<Language>,
}

/// The languages of a thread's buffers after any number of rounds that end in a state, and the last of these rounds,
/// if a round ends there. The state was found from `parent` by `step`.
pub fn accelerated(
    space: &mut Space<'_>,
    tree: &Tree,
    state: &Symbolic,
    shared: u32,
    (parent, step): (NodeId, Step),
) -> Option<(Vec<Language>, Round)> {
    let Step::Issue { thread, .. } = step else { return None };
    if space.memory == Memory::Sc {
        return None;
    }
    let own = space.own(thread);
    let mut suffix = vec![Language::UNIT; own.len()];
    if !prepend(space, tree, parent, step, (state, thread), &mut suffix) {
        return None;
    }
    let mut at = parent;
    loop {
        if is_round(space, tree, at, state, shared, thread) {
            break;
        }
        if let Some((origin, suffixes)) = chain(space, tree, at, thread) {
            for (all, more) in suffix.iter_mut().zip(suffixes) {
                let rounds = space.languages.star(more);
                *all = space.languages.concat(rounds, *all);
            }
            at = origin;
        } else {
            let (before, step) = tree.node(at).parent?;
            let after = tree.state(at);
            if !prepend(space, tree, before, step, (&after, thread), &mut suffix) {
                return None;
            }
            at = before;
        }
    }
    let round = Round { from: at, thread, suffix };
    let (origin, others) = chain(space, tree, at, thread).unwrap_or_else(|| (at, vec![Language::EMPTY; own.len()]));
    let before = &tree.node(origin).buffers[own.clone()];
    let languages = before.iter().zip(others).zip(&round.suffix).map(|((&before, other), &suffix)| {
        let rounds = space.languages.union(other, suffix);
        let rounds = space.languages.star(rounds);
        space.languages.concat(before, rounds)
    });
    let languages: Vec<Language> = languages.collect();
    // A mark that was not put in, since nothing waited, is counted in the round.
    includes(space, &languages, &state.buffers[own]).then_some((languages, round))
}

/// Whether a path that no step excludes is a round of the thread, from a node to a state.
fn is_round(space: &mut Space<'_>, tree: &Tree, from: NodeId, state: &Symbolic, shared: u32, thread: ThreadAt) -> bool {
    let node = tree.node(from);
    if node.shared != shared {
        return false;
    }
    let own = space.own(thread);
    let mut others = (0..state.buffers.len()).filter(|buffer| !own.contains(buffer));
    if !others.all(|buffer| node.buffers[buffer] == state.buffers[buffer]) {
        return false;
    }
    let before = tree.state(from);
    (0..before.shared.memory.len()).map(LocationAt::new).all(|location| {
        let buffer = space.buffer(thread, location);
        before.buffers[buffer] == state.buffers[buffer]
            || space.newest(&before, thread, location) == space.newest(state, thread, location)
    })
}

/// Puts what a thread appends in a step before what it appends behind it; not if no round can have the step.
fn prepend(
    space: &mut Space<'_>,
    tree: &Tree,
    before: NodeId,
    step: Step,
    (after, thread): (&Symbolic, ThreadAt),
    suffix: &mut [Language],
) -> bool {
    if step.thread() != thread {
        return true;
    }
    let Step::Issue { number, .. } = step else { return false };
    let known = space.known_move(tree.shared(before), thread, number);
    if known.drained {
        return false;
    }
    let own = space.own(thread);
    let mut put = |space: &mut Space<'_>, position: usize, letter| {
        let letter = space.languages.word(&[letter]);
        suffix[position] = space.languages.concat(letter, suffix[position]);
    };
    match known.action {
        Action::Write { location, value, .. } => {
            let letter = space.letter(location, value);
            put(space, space.buffer(thread, location) - own.start, letter);
        }
        Action::Read { .. } if known.ordered && space.memory == Memory::Pso => return false,
        Action::Read { .. } => {
            // Nothing may be excluded.
            if tree.node(before).buffers[own.clone()] != after.buffers[own.clone()] {
                return false;
            }
        }
        Action::Silent { .. } => {}
        Action::Whole => return false,
    }
    if known.ordered && space.memory == Memory::Pso {
        (0..own.len()).for_each(|position| put(space, position, MARK));
    }
    true
}

/// Where rounds of a thread began that followed each other up to a node, and what each of them appends, united; nothing
/// if none ended there.
fn chain(space: &mut Space<'_>, tree: &Tree, end: NodeId, thread: ThreadAt) -> Option<(NodeId, Vec<Language>)> {
    let round_of = |at: NodeId| tree.node(at).round.as_ref().filter(|round| round.thread == thread);
    let mut at = end;
    let mut suffixes: Option<Vec<Language>> = None;
    while let Some(round) = round_of(at) {
        suffixes = Some(match suffixes {
            None => round.suffix.clone(),
            Some(known) => {
                let both = known.into_iter().zip(&round.suffix);
                both.map(|(one, &other)| space.languages.union(one, other)).collect()
            }
        });
        at = round.from;
    }
    Some((at, suffixes?))
}
