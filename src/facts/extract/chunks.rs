//! One pass over the transitions by several workers, chunk by chunk.
//!
//! A chunk is up to a megabyte of whole lines. Workers take chunks in the order of the file and keep what they
//! collect until the end of the pass; merging that is the caller's matter and must not depend on the order.
//!
//! If a worker must stop, no later chunk is begun, and all earlier ones are finished: so the first stop in the file
//! is always found, whatever the number of workers.

use super::Progress;
use super::reading::Reading;
use crate::budget::{Budget, Exhausted};
use crate::lts::aut::{self, Fault, Transitions};
use crate::lts::error::{self, Error};
use crate::lts::source::Bytes;
use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Large enough that taking a chunk costs nothing, small enough that it stays in a cache and all workers end together.
const MAX_CHUNK_BYTES: usize = 1 << 20;
const MIN_CHUNK_BYTES: usize = 1 << 8;
const CHUNKS_PER_WORKER: usize = 16;

/// Counts the bytes of a pass that are done.
pub(super) struct Meter<'p> {
    progress: &'p dyn Progress,
    budget: &'p Budget,
    done: AtomicU64,
    total: u64,
}

impl<'p> Meter<'p> {
    /// A pass over a text of `length` bytes; `done` bytes were passed before it.
    pub(super) fn new(progress: &'p dyn Progress, budget: &'p Budget, length: usize, done: usize) -> Self {
        Meter { progress, budget, done: AtomicU64::new(done as u64), total: 2 * length as u64 }
    }

    /// For passes that are not counted.
    pub(super) fn silent(&self) -> Meter<'p> {
        Meter { progress: &super::NoProgress, budget: self.budget, done: AtomicU64::new(0), total: self.total }
    }

    /// All is done, also what did not need to be read.
    pub(super) fn finish(&self) {
        self.progress.bytes(self.total, self.total);
    }

    fn add(&self, bytes: usize) {
        let done = bytes as u64 + self.done.fetch_add(bytes as u64, Ordering::Relaxed);
        self.progress.bytes(done.min(self.total), self.total);
    }
}

/// Why a pass stopped before the end of the text.
#[derive(Debug)]
pub(super) struct Stop {
    pub(super) offset: usize,
    pub(super) reason: Reason,
}

/// See [`Stop`].
#[derive(Debug)]
pub(super) enum Reason {
    /// Not the grammar of `.aut`.
    Syntax(&'static str),
    /// A state number that the header excludes; the number of states.
    State(u64),
    /// No dialect reads the label; what was expected, and the label.
    Label { expected: String, label: Range<usize> },
    /// The state space ends here.
    EndOfText,
    /// So many threads that their enabled sets take far more memory than the text.
    TooManyThreads(usize),
    /// The second pass did not find what the first one read.
    Changed,
    /// A limit was reached.
    Exhausted(Exhausted),
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Stop {
        Stop { offset: fault.offset, reason: Reason::Syntax(fault.expected) }
    }
}

impl Stop {
    /// The message for the user.
    pub(super) fn into_error(self, source: &Bytes, reading: &Reading) -> Error {
        let (name, text) = (source.name(), source.bytes());
        match self.reason {
            Reason::Syntax(expected) => {
                let remedy = match memchr::memchr(b'\n', &text[self.offset..]) {
                    Some(_) => "is this a state space in .aut format?",
                    None => "the file may be cut off; --recover reads the transitions before",
                };
                Error::unexpected(name, text, self.offset, expected, remedy)
            }
            Reason::State(states) => {
                let remedy = "the header and the transitions disagree; --lenient accepts the state";
                let expected = format!("a state below {states}, the number of states in the header");
                Error::unexpected(name, text, self.offset, expected, remedy)
            }
            Reason::Label { expected, label } => {
                let place = error::BytePosition::of(text, self.offset);
                let quoted = error::quoted(&text[label.clone()]);
                let found = match &text[self.offset.min(label.end)..label.end] {
                    [] => format!("the end of the label {quoted}"),
                    _ if self.offset == label.start => format!("the label {quoted}"),
                    rest => format!("{} in the label {quoted}", error::quoted(rest)),
                };
                let expected = format!("{expected} ({} dialect)", reading.dialect().name());
                Error::contents(name, place, expected, found, reading.remedy(&text[label]))
            }
            Reason::TooManyThreads(threads) => {
                let remedy =
                    "a label's thread must be what its transitions have in common; check the dialect's `thread`";
                let place = error::BytePosition::of(text, self.offset);
                let found = format!("{threads} threads up to here");
                Error::contents(name, place, "a number of threads in proportion to the file", found, remedy)
            }
            Reason::Exhausted(limit) => Error::at_limit(name, limit),
            Reason::EndOfText | Reason::Changed => {
                let remedy = "the file changed while it was being read; try again when it is complete";
                Error::unexpected(name, text, self.offset, "the text of the first pass", remedy)
            }
        }
    }
}

/// What is done with the transitions of a pass.
pub(super) trait Worker<'a>: Send {
    /// Takes the transitions of one chunk; the next chunk may stand anywhere later in the file.
    fn chunk(&mut self, transitions: &mut Transitions<'a>) -> Result<(), Stop>;
}

/// Passes over `bytes[body]` with as many workers as there are threads.
pub(super) fn pass<'a, W: Worker<'a>>(
    bytes: &'a [u8],
    body: Range<usize>,
    meter: &Meter<'_>,
    worker: impl Fn() -> W + Sync,
) -> Result<Vec<W>, Stop> {
    let num_of_workers = rayon::current_num_threads();
    let chunk_bytes = (body.len() / (CHUNKS_PER_WORKER * num_of_workers)).clamp(MIN_CHUNK_BYTES, MAX_CHUNK_BYTES);
    let cursor = Mutex::new(body.start);
    let first_stop: Mutex<Option<Stop>> = Mutex::new(None);
    let take_chunk = || {
        let mut cursor = lock(&cursor);
        let start = *cursor;
        let end = if body.end - start <= chunk_bytes {
            body.end
        } else {
            aut::after_line(&bytes[..body.end], start + chunk_bytes - 1)
        };
        *cursor = end;
        (start < end).then_some(start..end)
    };
    let run = |_| {
        let mut worker = worker();
        while let Some(chunk) = take_chunk() {
            meter.add(chunk.len());
            let limit = meter.budget.check_now();
            let limit = limit.map_err(|limit| Stop { offset: chunk.start, reason: Reason::Exhausted(limit) });
            if let Err(stop) = limit.and_then(|()| pass_chunk(bytes, chunk, &mut worker)) {
                *lock(&cursor) = body.end;
                let mut first = lock(&first_stop);
                if first.as_ref().is_none_or(|first| stop.offset < first.offset) {
                    *first = Some(stop);
                }
                break;
            }
        }
        worker
    };
    let workers = (0..num_of_workers).into_par_iter().with_max_len(1).map(run).collect();
    match first_stop.into_inner().unwrap_or_else(PoisonError::into_inner) {
        None => Ok(workers),
        Some(stop) => Err(stop),
    }
}

fn pass_chunk<'a>(bytes: &'a [u8], chunk: Range<usize>, worker: &mut impl Worker<'a>) -> Result<(), Stop> {
    let mut transitions = aut::transitions(bytes, chunk);
    worker.chunk(&mut transitions)?;
    match transitions.end_of_text() {
        None => Ok(()),
        Some(offset) => Err(Stop { offset, reason: Reason::EndOfText }),
    }
}

/// Locks; a panic of another worker is passed on by rayon, so what it left behind is never used.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
