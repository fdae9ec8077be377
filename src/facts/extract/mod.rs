//! Facts from a state space, exactly as method §2 defines them, in time linear in the file.
//!
//! # Two passes
//!
//! 1. [`enabled`]: for every state the set of labels that are enabled in it, as the number of an interned set: four bytes a
//!    state. There are far fewer distinct sets than states, and a state's transitions usually stand together, so a set is looked up
//!    once a state.
//! 2. [`steps`]: for every transition `s --A--> s'` of thread t that is not a blocked evaluation, the triple (A, what t has
//!    enabled in s', what t has enabled in s). There are very few distinct triples, and [`tables`] reads `follows` off them.
//!
//! In between, [`locals`] splits each distinct set into its parts by thread; two parts of one set give the `concurrent` pairs.
//!
//! Both passes run over chunks of whole lines in parallel ([`chunks`]). Every distinct label text is understood once
//! ([`labels`]). Nothing depends on the order of lines or on who reads which chunk: sets are unions, tables are sorted at the
//! end, and of several errors the first one in the file is reported.
//!
//! # Internal steps
//!
//! A step with an internal label belongs to the threads whose enabled set it changes; `follows` looks through such steps of the same
//! thread. They are collected as edges between *sets of one thread's enabled labels*, not between states: states in which a thread has
//! the same labels enabled are taken as one. So `follows` can only gain pairs by this (a sound over-approximation), and it needs no
//! search over states. Internal labels are not members of enabled sets.
//!
//! # Cost
//!
//! Time: two scans of the text, one hash of each label text a scan, constant work a transition besides. Memory beyond the
//! text: four bytes a state, plus the distinct labels, sets and triples. With state numbers that are sparse (larger than twice the
//! number of transitions) eight bytes more for each state that occurs. Input whose transitions are not grouped by source
//! state also leaves the sets of partly read states behind.

#![forbid(unsafe_code)]

mod chunks;
mod enabled;
mod labels;
mod layout;
mod locals;
mod reading;
mod sets;
mod steps;
mod tables;

use super::Facts;
use crate::lts::dialect::Dialect;
use crate::lts::error::Error;
use crate::lts::source::Source;
use chunks::Meter;
use labels::Labels;
use layout::Layout;
use reading::Reading;

/// How backslashes in labels are meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Escapes {
    /// As themselves (mCRL2, CADP, MERC).
    #[default]
    None,
    /// As LTSmin writes them: `\"` and `\\` in quoted labels, `#0A1B#` for bytes.
    Ltsmin,
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
    /// Reads what an interrupted generator left: no numbers in the header, a last line that is cut off. Implies `lenient`.
    pub recover: bool,
    /// How backslashes in labels are meant.
    pub escapes: Escapes,
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
}

/// Is told how far the reading is.
pub trait Progress: Sync {
    /// `done` of `total` bytes; both passes count, so `total` is twice the size of the text. Called from several threads.
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
/// If the text is not `.aut`, its header is wrong (unless `lenient` or `recover`), or no dialect reads one of its labels.
pub fn extract(source: &Source, options: &Options, progress: &dyn Progress) -> Result<Extraction, Error> {
    let bytes = source.bytes();
    let mut layout = Layout::of_header(source, options)?;
    let reading = Reading::new(options, bytes, layout.body());
    let (labels, enabled) = loop {
        let meter = Meter::new(progress, bytes.len(), 0);
        let labels = Labels::new(&reading);
        match enabled::collect(bytes, &layout, &labels, &meter) {
            Ok(enabled) => break (labels.known(), enabled),
            // What stands behind the end is none of the state space, so everything read so far may be wrong.
            Err(stop) if layout.ends_at(bytes, &stop, options) => {}
            Err(stop) => return Err(stop.into_error(source, &reading)),
        }
    };
    layout.check_counts(source, enabled.transitions, enabled.states)?;
    let locals = locals::Locals::of(&enabled.sets, &labels);
    let meter = Meter::new(progress, bytes.len(), bytes.len());
    let steps = steps::collect(bytes, layout.body(), &labels, &enabled, &locals, &meter)
        .map_err(|stop| stop.into_error(source, &reading))?;
    let mut warnings = layout.warnings;
    warnings.extend(labels.warnings());
    warnings.extend(steps.warnings());
    let counts = (enabled.states, enabled.transitions);
    let facts = tables::build(&labels, &locals, &steps, counts);
    Ok(Extraction { facts, dialect: reading.dialect().name().to_owned(), warnings })
}
