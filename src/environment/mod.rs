//! The environment abstraction: each thread, or two of them together, among what the others may write.
//!
//! The state space is only a means; four small tables are what the analysis takes from it ([`facts`](crate::facts)).
//! Here these are computed without it, thread by thread. All threads but one become an *environment*, of which only
//! the [interference](Interference) is known: which values it ever writes to which locations. A location that it
//! writes has one of those values, or the initial one, or one of the thread's own, whenever the thread looks; what
//! nobody else writes keeps its value. Every state of a run is one of these states, once all that is not the thread's
//! own is forgotten; so the tables include those of the program, and whatever is enough for them is enough for the
//! program. (Thread-modular reasoning, after Flanagan and Qadeer, *Thread-modular model checking*, SPIN 2003.)
//!
//! *Interference* is the least one that explains itself: at first nobody writes anything; all threads run, and what
//! they are seen to write is added, until nothing new is written.
//!
//! | table | what is taken |
//! |---|---|
//! | `labels`, `follows` | as in a state space, for every way in which the environment can answer |
//! | `waits(A, B)` | A and B may be enabled in one state, and B has looked at what the environment may change |
//! | `concurrent(A, B)` | any two labels of different threads ([`View::Each`]); those of two threads that are enabled together in a state of both ([`View::Pairs`]) |
//!
//! With [`View::Pairs`] any two threads run together among the rest; what a thread does is what it does beside each of
//! the others. For a program of two threads that is its state space, unless values had to be given up.
//!
//! *Values* that the program neither names nor has among its first few, or that are too many, are not told apart: then
//! conditions may hold or not ([`evaluate`]). So every search is finite. Locals that are dead are forgotten.
//!
//! *Cost.* For each thread its control states times the values of its live locals; for pairs the products of two. The
//! number of threads adds, or multiplies with itself, and is no exponent.
//!
//! *Limits.* A fault (a division by zero) is not found: it has any value. If a search has too many states, it is done
//! again with fewer values told apart; if that does not help, there are no facts. A pair that is too large is taken as
//! two threads for themselves.

mod alone;
mod evaluate;
mod interference;
mod scene;
mod search;
mod tables;

pub use alone::{Overtaking, overtakings};
#[cfg(feature = "internals")]
pub use evaluate::Value;
pub use interference::Interference;

use crate::explore::watch::Watch;
use crate::explore::{Limits, Stop};
use crate::facts::Facts;
use crate::ids::ThreadAt;
use crate::program::Program;
use crate::program::compiled::Compiled;
use rayon::prelude::*;
use scene::{Place, Scene, Stage};
use search::{Shown, search};
use tables::Tables;

/// How many threads are looked at together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// Each for itself.
    Each,
    /// Any two.
    Pairs,
}

/// How many values of a location are told apart: if a search has too many states, the next number is tried.
const DETAILS: [usize; 3] = [64, 8, 1];

/// The most states of a search of one thread.
const MOST_ALONE: usize = 50_000;

/// The most states of a search of two threads, and of all these searches together.
const MOST_IN_PAIRS: usize = 50_000;
const MOST_IN_ALL_PAIRS: u64 = 2_000_000;

/// Why a search did not come to an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// There are too many states, or too many ways in which a step can go.
    TooDetailed,
    /// A limit of the command was reached.
    Limit(Stop),
}

/// Facts that include those of the program.
///
/// # Errors
/// If there are too many states even with hardly any values, or if a limit was reached.
pub fn facts(program: &Program, compiled: &Compiled, view: View, limits: &Limits<'_>) -> Result<Facts, Stopped> {
    let watch = Watch::new(limits);
    let stage = Stage::new(compiled, program.num_of_locations());
    let mut result = Err(Stopped::TooDetailed);
    for detail in DETAILS {
        result = settled(&stage, detail, &watch);
        if !matches!(result, Err(Stopped::TooDetailed)) {
            break;
        }
    }
    let Settled { interference, alone, detail } = result?;
    Ok(tables(&stage, &interference, alone, (view, detail), &watch)?.facts(program))
}

/// The facts with what threads write as it is given: they include those of the program if all that is written is
/// there. For who wants to know what depends on it.
///
/// # Errors
/// As for [`facts`].
#[cfg(feature = "internals")]
pub fn facts_among(
    program: &Program,
    compiled: &Compiled,
    interference: &Interference,
    view: View,
) -> Result<Facts, Stopped> {
    let limits = Limits::default();
    let watch = Watch::new(&limits);
    let stage = Stage::new(compiled, program.num_of_locations());
    let alone = stage.threads().map(|thread| look(&stage, &[thread], interference, (DETAILS[0], MOST_ALONE), &watch));
    let alone = alone.collect::<Result<Vec<Shown>, Stopped>>()?;
    Ok(tables(&stage, interference, alone, (view, DETAILS[0]), &watch)?.facts(program))
}

/// What the threads of a program write.
///
/// # Errors
/// As for [`facts`].
#[cfg(feature = "internals")]
pub fn interference(program: &Program, compiled: &Compiled, limits: &Limits<'_>) -> Result<Interference, Stopped> {
    let stage = Stage::new(compiled, program.num_of_locations());
    Ok(settled(&stage, DETAILS[0], &Watch::new(limits))?.interference)
}

/// All threads, each among what the others write.
struct Settled {
    interference: Interference,
    alone: Vec<Shown>,
    detail: usize,
}

/// Lets all threads run until none writes anything new.
fn settled(stage: &Stage<'_>, detail: usize, watch: &Watch<'_>) -> Result<Settled, Stopped> {
    let threads: Vec<ThreadAt> = stage.threads().collect();
    let mut interference = Interference::none(threads.len());
    let mut alone: Vec<Option<(Vec<Place>, Shown)>> = threads.iter().map(|_| None).collect();
    loop {
        let run = |(thread, known): (&ThreadAt, Option<(Vec<Place>, Shown)>)| {
            let scene = Scene::new(stage, &[*thread], &interference, detail);
            match known {
                // Nothing has changed for it.
                Some((places, shown)) if places == scene.places => Ok((places, shown)),
                _ => search(&scene, MOST_ALONE, watch).map(|shown| (scene.places, shown)),
            }
        };
        let ran: Vec<_> = threads.par_iter().zip(alone).map(run).collect::<Result<_, Stopped>>()?;
        let mut more = interference.clone();
        for (written, (_, shown)) in more.written.iter_mut().zip(&ran) {
            written.extend(&shown.members[0].written);
        }
        if more == interference {
            return Ok(Settled { interference, alone: ran.into_iter().map(|(_, shown)| shown).collect(), detail });
        }
        interference = more;
        alone = ran.into_iter().map(Some).collect();
    }
}

fn look(
    stage: &Stage<'_>,
    group: &[ThreadAt],
    interference: &Interference,
    (detail, most): (usize, usize),
    watch: &Watch<'_>,
) -> Result<Shown, Stopped> {
    search(&Scene::new(stage, group, interference, detail), most, watch)
}

fn tables(
    stage: &Stage<'_>,
    interference: &Interference,
    alone: Vec<Shown>,
    (view, detail): (View, usize),
    watch: &Watch<'_>,
) -> Result<Tables, Stopped> {
    let mut tables = Tables::of_each(alone);
    if view == View::Each {
        return Ok(tables);
    }
    let behind = |first: ThreadAt| stage.threads().skip(first.index() + 1).map(move |second| [first, second]);
    let pairs: Vec<[ThreadAt; 2]> = stage.threads().flat_map(behind).collect();
    // In parts, so that what is left of the states does not depend on the number of cores.
    for part in pairs.chunks(8) {
        if tables.states > MOST_IN_ALL_PAIRS {
            break;
        }
        let run = |pair: &[ThreadAt; 2]| look(stage, pair, interference, (detail, MOST_IN_PAIRS), watch);
        for (&pair, shown) in part.iter().zip(part.par_iter().map(run).collect::<Vec<_>>()) {
            match shown {
                Ok(shown) => tables.refine(pair, shown),
                Err(Stopped::TooDetailed) => {}
                Err(stopped) => return Err(stopped),
            }
        }
    }
    Ok(tables)
}
