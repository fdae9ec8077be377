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
mod labels;
mod layout;
mod local_sets;
mod reading;
mod refusals;
mod refused_labels;
mod state_table;
mod steps;
mod tables;

use super::Facts;
use crate::budget::Budget;
use crate::lts::dialect::Dialect;
use crate::lts::error::Error;
use crate::lts::source::Bytes;
use chunks::Meter;
use discovery::Discovery;
use labels::Labels;
use layout::Layout;
use reading::Reading;
use refusals::Unseen;

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
    let bytes = source.bytes();
    let mut layout = Layout::of_header(source, options)?;
    let reading = Reading::new(options, bytes, layout.body());
    let (labels, enabled) = loop {
        let meter = Meter::new(progress, &options.budget, bytes.len(), layout.body().start);
        let labels = Labels::new(&reading);
        match enabled::collect(bytes, &layout, &labels, &meter) {
            Ok(enabled) => break (labels.known(), enabled),
            // What stands behind the end is none of the state space, so everything read so far may be wrong.
            Err(stop) if layout.ends_at(bytes, &stop, options) => {}
            Err(stop) => return Err(stop.into_error(source, &reading)),
        }
    };
    layout.check_counts(source, enabled.transitions, enabled.states)?;
    let meter = Meter::new(progress, &options.budget, bytes.len(), bytes.len() + layout.body().start);
    // These are about counts that differ and lines that were left out.
    let is_part = !layout.warnings.is_empty();
    let initial = layout.initial().filter(|_| !is_part);
    let discovery = initial.and_then(|initial| Discovery::new(&enabled.table, initial));
    let part = steps::collect(bytes, layout.body(), &labels, &enabled, discovery.as_ref(), &meter).and_then(|steps| {
        let Some((initial, discovery)) = initial.zip(discovery.as_ref()) else { return Ok((steps, None)) };
        let occurring = enabled.table.num_of_states() as u64;
        if occurring < enabled.states {
            let reason = format!("the header counts {} states, and only {occurring} occur", enabled.states);
            return Ok((steps, Some(reason)));
        }
        let unreached = discovery.first_unreached(bytes, layout.body(), &enabled.table, &meter)?;
        Ok((steps, unreached.map(|state| format!("nothing leads from the initial state {initial} to state {state}"))))
    });
    let (steps, part) = part.map_err(|stop| stop.into_error(source, &reading))?;
    meter.finish();
    let cut_off = is_part || part.is_some();
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
