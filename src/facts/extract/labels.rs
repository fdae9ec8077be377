//! Label texts to numbers: every distinct text is understood once.
//!
//! A label is a value (method §1): texts that mean the same label get the same number. Workers keep their own map
//! from texts to what they need to know of them, and go to the shared table only for a text that is new to them. The
//! numbers depend on who comes first; nothing that leaves the extraction does.

use super::chunks::lock;
use super::reading::{Meaning, Reading};
use super::stop::Reason;
use crate::ids::ThreadId;
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
    known: Mutex<Known>,
}

/// The labels of a state space.
#[derive(Default)]
pub(super) struct Known {
    seen: FxHashMap<Box<[u8]>, Seen>,
    by_label: FxHashMap<Label, Seen>,
    /// By number.
    pub(super) labels: Vec<Label>,
    /// By number.
    pub(super) thread_of: Vec<ThreadId>,
    threads: FxHashMap<String, ThreadId>,
    /// What stands for a thread, if there are internal labels: its local sets show which states have an internal
    /// step that leads elsewhere.
    pub(super) internal: Option<ThreadId>,
    unread_escape: Option<Box<[u8]>>,
}

impl<'a> Labels<'a> {
    pub(super) fn new(reading: &'a Reading) -> Self {
        Labels { reading, known: Mutex::default() }
    }

    /// All labels, when the pass is over.
    pub(super) fn known(self) -> Known {
        self.known.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn get(&self, text: &[u8]) -> Result<Seen, Reason> {
        let mut known = lock(&self.known);
        if let Some(&seen) = known.seen.get(text) {
            return Ok(seen);
        }
        if text.len() > MAX_LABEL_BYTES {
            return Err(Reason::Label { expected: "a label of at most a megabyte".to_owned(), offset: 0 });
        }
        // A text that cannot be read is not remembered, so that every worker reports the place where it met it.
        let seen = match self.reading.meaning(text) {
            Ok(Meaning::Internal) => known.add_internal(),
            Ok(Meaning::Visible(label)) => known.add(label),
            Err(error) => return Err(Reason::Label { expected: error.expected, offset: error.offset }),
        };
        if self.reading.leaves_escapes(text) && known.unread_escape.as_deref() < Some(text) {
            known.unread_escape = Some(text.into());
        }
        known.seen.insert(text.into(), seen);
        Ok(seen)
    }
}

impl Known {
    /// A label text that was seen.
    #[inline]
    pub(super) fn get(&self, text: &[u8]) -> Option<Seen> {
        self.seen.get(text).copied()
    }

    /// The texts that were seen, with the labels that they mean; none is an internal one.
    pub(super) fn texts(&self) -> impl Iterator<Item = (&[u8], Option<Label>)> {
        self.seen.iter().map(|(text, seen)| (&**text, self.labels.get(seen.number as usize).cloned()))
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
        if let Some(label) = &self.unread_escape {
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

/// A worker's own numbers for the texts that it has met.
#[derive(Default)]
struct Texts {
    numbers: FxHashMap<Box<[u8]>, u32>,
    /// By number.
    seen: Vec<Seen>,
}

impl Texts {
    /// The number of a text; a new one is looked up elsewhere.
    #[inline]
    fn number<E>(&mut self, text: &[u8], look_up: impl FnOnce() -> Result<Seen, E>) -> Result<u32, E> {
        if let Some(&number) = self.numbers.get(text) {
            return Ok(number);
        }
        let seen = look_up()?;
        let number = u32::try_from(self.seen.len()).expect("memory ends before 2^32 distinct labels");
        self.seen.push(seen);
        self.numbers.insert(text.into(), number);
        Ok(number)
    }
}

/// A worker's view of the labels while they are being found.
pub(super) struct Cache<'t> {
    labels: &'t Labels<'t>,
    texts: Texts,
    /// What is wrong with the last text.
    refusal: Option<Reason>,
}

impl<'t> Cache<'t> {
    pub(super) fn new(labels: &'t Labels<'t>) -> Self {
        Cache { labels, texts: Texts::default(), refusal: None }
    }

    /// The worker's number of a text; none, if it cannot be read.
    #[inline]
    pub(super) fn get(&mut self, text: &[u8]) -> Option<u32> {
        let Cache { labels, texts, refusal } = self;
        texts.number(text, || labels.get(text)).map_err(|reason| *refusal = Some(reason)).ok()
    }

    /// What the worker's number stands for.
    #[inline]
    pub(super) fn seen(&self, number: u32) -> Seen {
        self.texts.seen[number as usize]
    }

    /// Why the last text has no number.
    pub(super) fn refusal(&mut self) -> Reason {
        self.refusal.take().unwrap_or(Reason::Changed)
    }
}

/// A worker's view of the labels when all are known.
pub(super) struct Lookup<'t> {
    known: &'t Known,
    texts: Texts,
}

impl<'t> Lookup<'t> {
    pub(super) fn new(known: &'t Known) -> Self {
        Lookup { known, texts: Texts::default() }
    }

    /// The worker's number of a text; none, if it was not there before.
    #[inline]
    pub(super) fn get(&mut self, text: &[u8]) -> Option<u32> {
        let known = self.known;
        self.texts.number(text, || known.get(text).ok_or(())).ok()
    }

    /// What the worker's number stands for.
    #[inline]
    pub(super) fn seen(&self, number: u32) -> Seen {
        self.texts.seen[number as usize]
    }
}
