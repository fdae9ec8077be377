//! Label texts to numbers: every distinct text is understood once.
//!
//! A label is a value (method §1): texts that mean the same label get the same number. Workers keep their own map from texts,
//! slices of the input, to numbers, and go to the shared table only for a text that is new to them. The numbers depend on who comes
//! first; nothing that leaves the extraction does.

use super::chunks::{Reason, Stop, lock};
use super::reading::{Meaning, Reading};
use crate::ids::ThreadId;
use crate::lts::aut::Transition;
use crate::lts::label::Label;
use rustc_hash::FxHashMap;
use std::sync::{Mutex, PoisonError};

/// The number of all internal labels.
pub(super) const INTERNAL: u32 = u32::MAX;

/// The table that workers share while labels are being found.
pub(super) struct Labels<'a> {
    reading: &'a Reading,
    known: Mutex<Known<'a>>,
}

/// The labels of a state space.
#[derive(Default)]
pub(super) struct Known<'a> {
    numbers: FxHashMap<&'a [u8], u32>,
    by_label: FxHashMap<Label, u32>,
    /// By number.
    pub(super) labels: Vec<Label>,
    /// By number.
    pub(super) thread_of: Vec<ThreadId>,
    /// By number: whether a self-loop is a blocked evaluation.
    pub(super) only_a_condition: Vec<bool>,
    threads: FxHashMap<String, ThreadId>,
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

    fn number(&self, transition: &Transition<'a>) -> Result<u32, Stop> {
        let mut known = lock(&self.known);
        if let Some(&number) = known.numbers.get(transition.label) {
            return Ok(number);
        }
        // A text that cannot be read is not remembered, so that every worker reports the place where it met it.
        let number = match self.reading.meaning(transition.label) {
            Ok(Meaning::Internal) => INTERNAL,
            Ok(Meaning::Visible(label)) => known.add(label),
            Err(error) => {
                let start = transition.places[1];
                let label = start..start + transition.label.len();
                let offset = start + error.offset.min(transition.label.len());
                return Err(Stop { offset, reason: Reason::Label { expected: error.expected, label } });
            }
        };
        if self.reading.leaves_escapes(transition.label) {
            known.unread_escape = known.unread_escape.max(Some(transition.label));
        }
        known.numbers.insert(transition.label, number);
        Ok(number)
    }
}

impl<'a> Known<'a> {
    /// The number of a label text that was seen.
    #[inline]
    pub(super) fn number(&self, text: &[u8]) -> Option<u32> {
        self.numbers.get(text).copied()
    }

    /// How many threads the labels have.
    pub(super) fn num_of_threads(&self) -> usize {
        self.threads.len()
    }

    pub(super) fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if let Some(label) = self.unread_escape {
            let quoted = crate::lts::error::quoted(label);
            warnings
                .push(format!("labels contain \\\", as in {quoted}; if the file is LTSmin's, say --escapes ltsmin"));
        }
        let is_visible = |text: &[u8]| self.numbers.get(text).is_some_and(|&number| number != INTERNAL);
        if is_visible(b"i") && !self.numbers.contains_key(b"tau".as_slice()) {
            warnings.push("label `i` is an ordinary label here; if the file is CADP's, say --tau i".to_owned());
        }
        warnings
    }

    fn add(&mut self, label: Label) -> u32 {
        if let Some(&number) = self.by_label.get(&label) {
            return number;
        }
        let number = u32::try_from(self.labels.len()).expect("memory ends before 2^32 distinct labels");
        assert!(number != INTERNAL, "memory ends before 2^32 distinct labels");
        let threads = self.threads.len();
        self.thread_of.push(*self.threads.entry(label.thread.clone()).or_insert_with(|| ThreadId::new(threads)));
        self.only_a_condition.push(label.is_only_a_condition());
        self.labels.push(label.clone());
        self.by_label.insert(label, number);
        number
    }
}

/// A worker's view of the labels.
pub(super) struct Cache<'a, 't> {
    labels: &'t Labels<'a>,
    numbers: FxHashMap<&'a [u8], u32>,
}

impl<'a, 't> Cache<'a, 't> {
    pub(super) fn new(labels: &'t Labels<'a>) -> Self {
        Cache { labels, numbers: FxHashMap::default() }
    }

    /// The number of a transition's label.
    #[inline]
    pub(super) fn number(&mut self, transition: &Transition<'a>) -> Result<u32, Stop> {
        if let Some(&number) = self.numbers.get(transition.label) {
            return Ok(number);
        }
        let number = self.labels.number(transition)?;
        self.numbers.insert(transition.label, number);
        Ok(number)
    }
}
