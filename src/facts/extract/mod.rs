//! Facts from a state space, exactly as method §2 defines them, in time linear in the file.
//!
//! # Two passes
//!
//! 1. `enabled`: for every state the labels that are enabled in it. They are kept thread by thread: what one thread
//!    has enabled in some state is a *local set*. A thread has few distinct ones (`local_sets`), so the numbers of
//!    all threads' local sets fit into one or two words a state (`state_table`).
//! 2. `steps`: for every transition `s --A--> s'` of thread t that is not a blocked evaluation, the triple (A, t's
//!    local set in s', t's local set in s). There are very few distinct triples, and `tables` reads `follows` off
//!    them.
//!
//! Local sets of different threads that occur together in a state give the `concurrent` pairs.
//!
//! Both passes run over chunks of whole lines in parallel (`chunks`). Every distinct label text is understood once
//! (`labels`). Nothing depends on the order of lines or on who reads which chunk: sets are unions, tables are sorted
//! at the end, and of several errors the first one in the file is reported.
//!
//! # Internal steps
//!
//! A step with an internal label belongs to the threads whose enabled set it changes; `follows` looks through such
//! steps of the same thread. They are collected as edges between *local sets*, not between states: states in which a
//! thread has the same labels enabled, and which have an internal step to another state or have none, are taken as
//! one. So `follows` can only gain pairs by this (a sound over-approximation), and it needs no search over states.
//! Internal labels are not members of enabled sets; whether a state has one is kept like the local set of one more
//! thread.
//!
//! # Cost
//!
//! Time: two scans of the text, one hash of each label text a scan, constant work a transition besides; in the order
//! of states times pairs of threads for `concurrent`. No step is quadratic in states or transitions. Memory beyond
//! the text: four bytes a state for every 32 bits that the threads' local sets need (six threads with 31 local sets
//! each: four bytes), one bit a state for `discovery`, the distinct labels, local sets and triples; nothing a
//! transition. Three things need further scans: a header that is not believed (`lenient`, `recover`); state numbers
//! larger than twice the number of transitions, which also take eight bytes for each state that occurs; and states
//! that are not numbered in an order of discovery, which take eight bytes for each transition.
//!
//! Limits: labels up to a megabyte; a table of at most four times the file's size (or 16 MB), which only a wrong
//! notion of a thread exceeds. Both are errors, not silent.

#![forbid(unsafe_code)]

mod chunks;
mod concurrent;
mod discovery;
mod enabled;
mod fingerprint;
mod labels;
mod layout;
mod local_sets;
mod reading;
mod refusals;
mod refused_labels;
pub mod shard;
mod state_table;
mod steps;
mod stop;
mod tables;
pub mod texts;

use super::Facts;
use crate::budget::Budget;
use crate::lts::dialect::Dialect;
use crate::lts::error::Error;
use crate::lts::source::Bytes;
use chunks::{Body, Counted, Meter};
use discovery::Discovery;
use enabled::Enabled;
use fingerprint::Contents;
use labels::{Known, Labels};
use layout::Layout;
use reading::Reading;
use refusals::Unseen;
use stop::Stop;

/// How backslashes in labels are meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Escapes {
    /// As themselves (mCRL2, CADP, MERC).
    #[default]
    None,
    /// As LTSmin writes them: `\"` and `\\` in quoted labels, `#0A1B#` for bytes.
    Ltsmin,
}

/// Whether conditions that are refused are self-loops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Refusals {
    /// Nobody knows: what may be missing is presumed (method §2).
    #[default]
    Unknown,
    /// All of them are: nothing is presumed.
    Shown,
}

/// How to read a state space.
#[derive(Clone, Debug)]
pub struct Options {
    /// The label dialect; detected from the labels if `None`.
    pub dialect: Option<Dialect>,
    /// Labels of internal steps.
    pub tau: Vec<String>,
    /// Labels that match are internal steps, too.
    pub internal: Option<regex::Regex>,
    /// Wrong counts in the header are warnings, not errors.
    pub lenient: bool,
    /// Reads what an interrupted generator left: no numbers in the header, a last line that is cut off. Implies
    /// `lenient`.
    pub recover: bool,
    /// How backslashes in labels are meant.
    pub escapes: Escapes,
    /// What reading may use; if that is not enough, it is an error.
    pub budget: Budget,
    /// Whether conditions that are refused are self-loops.
    pub refusals: Refusals,
    /// Of a quotient that does not tell: the initial state leads to every state. Of a table without numbers: all
    /// transitions are there.
    pub whole: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            dialect: None,
            tau: vec!["tau".to_owned()],
            internal: None,
            lenient: false,
            recover: false,
            escapes: Escapes::None,
            budget: Budget::default(),
            refusals: Refusals::Unknown,
            whole: false,
        }
    }
}

/// Facts and how they were obtained.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extraction {
    /// The tables.
    pub facts: Facts,
    /// The name of the dialect in which the labels were read.
    pub dialect: String,
    /// What the user should know: sentences, without the file's name.
    pub warnings: Vec<String>,
    /// Why this is a part of a state space, though its header is that of a whole one; see `discovery`. The facts are
    /// marked as cut off.
    pub part: Option<String>,
}

/// Is told how far the reading is.
pub trait Progress: Sync {
    /// `done` of `total` bytes; both passes count, so `total` is twice the size of the text. Called from several
    /// threads.
    fn bytes(&self, done: u64, total: u64);
}

/// Tells nobody.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoProgress;

impl Progress for NoProgress {
    fn bytes(&self, _: u64, _: u64) {}
}

/// Extracts the facts of a state space.
///
/// # Errors
/// If the text is not `.aut`, its header is wrong (unless `lenient` or `recover`), or no dialect reads one of its
/// labels.
pub fn extract(source: &Bytes, options: &Options, progress: &dyn Progress) -> Result<Extraction, Error> {
    extract_all(std::slice::from_ref(source), options, progress)
}

/// Extracts the facts of a state space that is in several files: see `layout` on what their headers say.
///
/// # Errors
/// As for [`extract`], and if the headers disagree.
pub fn extract_all(sources: &[Bytes], options: &Options, progress: &dyn Progress) -> Result<Extraction, Error> {
    let First { mut layout, reading, labels, enabled } =
        First::read(Layout::of_headers(sources, options)?, options, progress)?;
    layout.check_counts(enabled.transitions, enabled.states)?;
    let bodies = layout.bodies();
    let meter = Meter::new(progress, &options.budget, bodies, Counted::Second);
    let question = Question::new(&layout, &enabled, &labels, options);
    let part = steps::collect(bodies, &labels, &enabled, &question, &meter)
        .and_then(|steps| Ok((steps, question.answer(bodies, &enabled, &meter)?)));
    let (steps, part) = part.map_err(|stop| stop.into_error(bodies, &reading))?;
    layout.refuse_repeated(question.contents.as_ref().and_then(Contents::repeated))?;
    meter.finish();
    // Warnings are about counts that differ and lines that were left out.
    let cut_off = !layout.warnings.is_empty() || part.is_some();
    let mut warnings = layout.warnings;
    warnings.extend(labels.warnings());
    warnings.extend(steps.warnings());
    let unseen = match options.refusals {
        Refusals::Shown => Unseen::default(),
        Refusals::Unknown => refusals::unseen(&labels, &enabled, &steps),
    };
    let facts = tables::build(&labels, &enabled, &steps, unseen);
    let facts = Facts { cut_off, ..facts };
    Ok(Extraction { facts, dialect: reading.dialect().name().to_owned(), warnings, part })
}

/// What the first pass found.
struct First<'s> {
    layout: Layout<'s>,
    reading: Reading,
    labels: Known,
    enabled: Enabled,
}

impl<'s> First<'s> {
    fn read(mut layout: Layout<'s>, options: &Options, progress: &dyn Progress) -> Result<First<'s>, Error> {
        let reading = Reading::new(options, layout.bodies());
        let (labels, enabled) = loop {
            let meter = Meter::new(progress, &options.budget, layout.bodies(), Counted::First);
            let labels = Labels::new(&reading);
            match enabled::collect(&layout, &labels, &meter) {
                Ok(enabled) => break (labels.known(), enabled),
                // What stands behind the end is none of the state space, so everything read so far may be wrong.
                Err(stop) if layout.ends_at(&stop, options) => {}
                Err(stop) => return Err(stop.into_error(layout.bodies(), &reading)),
            }
        };
        Ok(First { layout, reading, labels, enabled })
    }
}

/// Why a table that another tool wrote may be a part.
const UNCOUNTED: &str = "nothing in the table says how many transitions the state space has, so it may be one of several (--whole says that it has all)";

/// Whether this is a whole state space: to be asked before the second pass and answered after it.
struct Question {
    initial: Option<u64>,
    /// Whether the initial state leads to every state.
    discovery: Option<Discovery>,
    /// Whether an input is there twice, and makes up for one that is missing in the sum of their transitions.
    contents: Option<Contents>,
    /// Nothing but the user says that all transitions are there.
    is_uncounted: bool,
}

impl Question {
    /// Whether the initial state leads to all of what is known to be a part is not asked.
    fn new(layout: &Layout<'_>, enabled: &Enabled, labels: &Known, options: &Options) -> Question {
        let initial = layout.initial().filter(|_| layout.warnings.is_empty());
        Question {
            initial,
            discovery: initial.and_then(|initial| Discovery::new(&enabled.table, initial)),
            contents: Contents::of_several(layout.bodies(), labels),
            is_uncounted: layout.is_uncounted() && !options.whole,
        }
    }

    /// Why this is a part of a state space, if it is one.
    fn answer(&self, bodies: &[Body<'_>], enabled: &Enabled, meter: &Meter<'_>) -> Result<Option<String>, Stop> {
        let Some((initial, discovery)) = self.initial.zip(self.discovery.as_ref()) else { return Ok(None) };
        let occurring = enabled.table.num_of_states() as u64;
        if occurring < enabled.states {
            return Ok(Some(format!("the header counts {} states, and only {occurring} occur", enabled.states)));
        }
        let unreached = discovery.first_unreached(bodies, &enabled.table, meter)?;
        let unreached =
            unreached.map(|state| format!("nothing leads from the initial state {initial} to state {state}"));
        let uncounted = || self.is_uncounted.then(|| UNCOUNTED.to_owned());
        Ok(unreached.or_else(uncounted))
    }
}
