//! Label texts to numbers: every distinct text is understood once.
//!
//! A label is a value (method §1): texts that mean the same label get the same number. Workers keep their own map
//! from texts, slices of the input, to numbers, and go to the shared table only for a text that is new to them. The
//! numbers depend on who comes first; nothing that leaves the extraction does.

use super::chunks::{Reason, Stop, lock};
use super::reading::{Meaning, Reading};
use crate::ids::ThreadId;
use crate::lts::aut::Transition;
use crate::lts::label::Label;
use rustc_hash::FxHashMap;
use std::sync::{Mutex, PoisonError};

/// A longer label is a mistake, and taking it apart could take memory without end.
const MAX_LABEL_BYTES: usize = 1 << 20;

/// The number of all internal labels.
pub(super) const INTERNAL: u32 = u32::MAX;

/// What the passes need to know of a label.
#[derive(Clone, Copy)]
pub(super) struct Seen {
    /// The label's number, or [`INTERNAL`].
    pub(super) number: u32,
    /// Its thread; internal labels have one of their own.
    pub(super) thread: ThreadId,
    /// Whether a self-loop is a blocked evaluation.
    pub(super) only_a_condition: bool,
}

/// The table that workers share while labels are being found.
pub(super) struct Labels<'a> {
    reading: &'a Reading,
    known: Mutex<Known<'a>>,
}

/// The labels of a state space.
#[derive(Default)]
pub(super) struct Known<'a> {
    seen: FxHashMap<&'a [u8], Seen>,
    by_label: FxHashMap<Label, Seen>,
    /// By number.
    pub(super) labels: Vec<Label>,
    /// By number.
    pub(super) thread_of: Vec<ThreadId>,
    threads: FxHashMap<String, ThreadId>,
    /// What stands for a thread, if there are internal labels: its local sets show which states have an internal
    /// step that leads elsewhere.
    pub(super) internal: Option<ThreadId>,
    unread_escape: Option<&'a [u8]>,
}

impl<'a> Labels<'a> {
    pub(super) fn new(reading: &'a Reading) -> Self {
        Labels { reading, known: Mutex::default() }
    }

    /// All labels, when the pass is over.
    pub(super) fn known(self) -> Known<'a> {
        self.known.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn get(&self, transition: &Transition<'a>) -> Result<Seen, Stop> {
        let mut known = lock(&self.known);
        if let Some(&seen) = known.seen.get(transition.label) {
            return Ok(seen);
        }
        let start = transition.places[1];
        let label = start..start + transition.label.len();
        if label.len() > MAX_LABEL_BYTES {
            let expected = "a label of at most a megabyte".to_owned();
            return Err(Stop { offset: start, reason: Reason::Label { expected, label } });
        }
        // A text that cannot be read is not remembered, so that every worker reports the place where it met it.
        let seen = match self.reading.meaning(transition.label) {
            Ok(Meaning::Internal) => known.add_internal(),
            Ok(Meaning::Visible(label)) => known.add(label),
            Err(error) => {
                let offset = start + error.offset.min(transition.label.len());
                return Err(Stop { offset, reason: Reason::Label { expected: error.expected, label } });
            }
        };
        if self.reading.leaves_escapes(transition.label) {
            known.unread_escape = known.unread_escape.max(Some(transition.label));
        }
        known.seen.insert(transition.label, seen);
        Ok(seen)
    }
}

impl<'a> Known<'a> {
    /// A label text that was seen.
    #[inline]
    pub(super) fn get(&self, text: &[u8]) -> Option<Seen> {
        self.seen.get(text).copied()
    }

    /// The threads of the labels, without what stands for one.
    pub(super) fn threads(&self) -> impl Iterator<Item = ThreadId> {
        (0..self.num_of_threads()).map(ThreadId::new).filter(|&thread| Some(thread) != self.internal)
    }

    fn num_of_threads(&self) -> usize {
        self.threads.len() + usize::from(self.internal.is_some())
    }

    pub(super) fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if let Some(label) = self.unread_escape {
            let quoted = crate::lts::error::quoted(label);
            warnings
                .push(format!("labels contain \\\", as in {quoted}; if the file is LTSmin's, say --escapes ltsmin"));
        }
        let is_visible = |text: &[u8]| self.seen.get(text).is_some_and(|seen| seen.number != INTERNAL);
        if is_visible(b"i") && !self.seen.contains_key(b"tau".as_slice()) {
            warnings.push("label `i` is an ordinary label here; if the file is CADP's, say --tau i".to_owned());
        }
        warnings
    }

    fn add_internal(&mut self) -> Seen {
        let threads = self.num_of_threads();
        let thread = *self.internal.get_or_insert_with(|| ThreadId::new(threads));
        Seen { number: INTERNAL, thread, only_a_condition: false }
    }

    fn add(&mut self, label: Label) -> Seen {
        if let Some(&seen) = self.by_label.get(&label) {
            return seen;
        }
        let number = u32::try_from(self.labels.len()).expect("memory ends before 2^32 distinct labels");
        assert!(number != INTERNAL, "memory ends before 2^32 distinct labels");
        let threads = self.num_of_threads();
        let thread = *self.threads.entry(label.thread.clone()).or_insert_with(|| ThreadId::new(threads));
        let seen = Seen { number, thread, only_a_condition: label.is_only_a_condition() };
        self.thread_of.push(thread);
        self.labels.push(label.clone());
        self.by_label.insert(label, seen);
        seen
    }
}

/// A worker's view of the labels.
pub(super) struct Cache<'a, 't> {
    labels: &'t Labels<'a>,
    seen: FxHashMap<&'a [u8], Seen>,
}

impl<'a, 't> Cache<'a, 't> {
    pub(super) fn new(labels: &'t Labels<'a>) -> Self {
        Cache { labels, seen: FxHashMap::default() }
    }

    /// A transition's label.
    #[inline]
    pub(super) fn get(&mut self, transition: &Transition<'a>) -> Result<Seen, Stop> {
        if let Some(&seen) = self.seen.get(transition.label) {
            return Ok(seen);
        }
        let seen = self.labels.get(transition)?;
        self.seen.insert(transition.label, seen);
        Ok(seen)
    }
}
