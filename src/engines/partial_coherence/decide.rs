//! The decision: all states of the abstract program, or a run of it that is bad.

use super::coherence::Coherence;
use super::runs::{Meaning, meaning};
use super::search::{Found, search};
use super::space::{Reduction, Space};
use crate::engines::automata::{Automata, Stop};
use crate::outline::Outline;
use crate::program::At;
use crate::weak::Machine;
use crate::weak::forbidden::Forbidden;
use crate::weak::split::SplitProgram;
use crate::weak::verify::Violation;
use crate::weak::ways::Way;

/// What the abstraction says of a program as it stands.
pub enum Judgement {
    /// The property holds: so many states of the abstract program are all.
    Proved(usize),
    /// It does not.
    Violated(Violation),
    /// An instruction goes wrong.
    GoesWrong(At),
    /// A run of the abstract program violates it, which may be none of the program: where fences would stop it.
    Suspected(Way),
}

/// Judges a program as it stands.
///
/// # Errors
/// If there is no verdict.
pub fn judge(
    split: &SplitProgram,
    outline: &Outline,
    forbidden: Forbidden<'_>,
    (machine, coherence): (Machine, Coherence),
    most: usize,
) -> Result<Judgement, Stop> {
    let automata = Automata::of(split, forbidden)?;
    let space = Space::new(split, &automata, forbidden, (machine, coherence), Reduction::Private)?;
    let (traced, bad) = match search(&space, most, &split.budget)? {
        Found::Closed(reached) => return Ok(Judgement::Proved(reached.len())),
        Found::Bad(traced, bad, _) => (traced, bad),
    };
    drop(space);
    let found = meaning((split, machine, forbidden), automata, outline, (&traced, bad)).map_err(Stop::Fault)?;
    Ok(match found {
        Meaning::Violation(violation) => Judgement::Violated(violation),
        Meaning::GoesWrong(at) => Judgement::GoesWrong(at),
        Meaning::Suspicion(way) => Judgement::Suspected(way),
    })
}
