//! One pass over the transitions of all inputs by several workers, chunk by chunk.
//!
//! A chunk of a text is up to a megabyte of whole lines, of a table a group of rows. Workers take chunks in the order
//! of the inputs and keep what they collect until the end of the pass; merging that is the caller's matter and must not
//! depend on the order.
//!
//! If a worker must stop, no later chunk is begun, and all earlier ones are finished: so the first stop in the inputs
//! is always found, whatever the number of workers.

use super::Progress;
use super::stop::{Reason, Stop};
use crate::budget::{Budget, Exhausted};
use crate::lts::space::{Halt, Reader, Space, Transition};
use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Large enough that taking a chunk costs nothing, small enough that it stays in a cache and all workers end together.
const MAX_CHUNK: usize = 1 << 20;
const MIN_CHUNK: usize = 1 << 8;
const CHUNKS_PER_WORKER: usize = 16;

/// The part of an input that has transitions.
#[derive(Clone, Debug)]
pub(super) struct Body<'s> {
    pub(super) space: Space<'s>,
    pub(super) range: Range<usize>,
}

/// Counts the bytes of a pass that are done.
pub(super) struct Meter<'p> {
    progress: &'p dyn Progress,
    budget: &'p Budget,
    done: AtomicU64,
    total: u64,
}

/// Which of the two passes is being counted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Counted {
    First,
    Second,
}

impl<'p> Meter<'p> {
    /// What stands before the transitions counts as done.
    pub(super) fn new(progress: &'p dyn Progress, budget: &'p Budget, bodies: &[Body<'_>], pass: Counted) -> Self {
        let length: usize = bodies.iter().map(|body| body.space.bytes(body.space.end())).sum();
        let before: usize = bodies.iter().map(|body| body.space.bytes(body.range.start)).sum();
        let done = before + if pass == Counted::First { 0 } else { length };
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

    /// Whether so many bytes may be taken.
    pub(super) fn check_room(&self, bytes: u64) -> Result<(), Exhausted> {
        self.budget.check_room(bytes)
    }

    fn add(&self, bytes: usize) {
        let done = bytes as u64 + self.done.fetch_add(bytes as u64, Ordering::Relaxed);
        self.progress.bytes(done.min(self.total), self.total);
    }
}

/// What is done with the transitions of a pass. A worker's chunks may stand anywhere, but each behind the one before.
pub(super) trait Worker: Send {
    /// What follows, up to the end of a chunk, is in this input.
    fn begin_chunk(&mut self, _input: usize) {}

    /// The number by which batches name a label; see [`Reader::label`].
    #[inline]
    fn label(&mut self, _: &[u8]) -> Option<u32> {
        Some(0)
    }

    /// Takes transitions that follow each other.
    fn batch(&mut self, transitions: &[Transition]) -> Result<(), At<Reason>>;

    /// The next transitions stand elsewhere.
    fn end_of_chunk(&mut self) -> Result<(), At<Reason>> {
        Ok(())
    }
}

/// Something about the transition at this position of the chunk.
pub(super) struct At<T> {
    pub(super) at: u32,
    pub(super) what: T,
}

/// Passes over the bodies with as many workers as there are threads.
pub(super) fn pass<W: Worker>(
    bodies: &[Body<'_>],
    meter: &Meter<'_>,
    worker: impl Fn() -> W + Sync,
) -> Result<Vec<W>, Stop> {
    let num_of_workers = rayon::current_num_threads();
    let length: usize = bodies.iter().map(|body| body.space.bytes(body.range.len())).sum();
    let chunk_length = (length / (CHUNKS_PER_WORKER * num_of_workers)).clamp(MIN_CHUNK, MAX_CHUNK);
    let cursor = Mutex::new((0, bodies.first().map_or(0, |body| body.range.start)));
    let first_stop: Mutex<Option<Stop>> = Mutex::new(None);
    let take_chunk = || {
        let mut cursor = lock(&cursor);
        let (mut input, mut start) = *cursor;
        while start == bodies.get(input)?.range.end {
            input += 1;
            start = bodies.get(input)?.range.start;
        }
        let body = &bodies[input];
        let end = body.space.border_after(start, chunk_length, body.range.end);
        *cursor = (input, end);
        Some((input, start..end))
    };
    let run = |_| {
        let mut worker = worker();
        while let Some((input, chunk)) = take_chunk() {
            meter.add(bodies[input].space.bytes(chunk.len()));
            let limit = meter.budget.check_now();
            let limit = limit.map_err(|limit| Stop { input, position: chunk.start, reason: Reason::Exhausted(limit) });
            if let Err(stop) = limit.and_then(|()| pass_chunk(&bodies[input].space, input, chunk, &mut worker)) {
                *lock(&cursor) = (bodies.len(), 0);
                let mut first = lock(&first_stop);
                if first.as_ref().is_none_or(|first| stop.place() < first.place()) {
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

fn pass_chunk<W: Worker>(space: &Space<'_>, input: usize, chunk: Range<usize>, worker: &mut W) -> Result<(), Stop> {
    let start = chunk.start;
    worker.begin_chunk(input);
    space.read(chunk, &mut Reading(worker)).map_err(|halt| match halt {
        Halt::Fault(fault) => Stop { input, position: fault.offset, reason: Reason::Syntax(fault.expected) },
        Halt::Damage(damage) => Stop { input, position: damage.row, reason: Reason::Damage(damage) },
        Halt::EndOfText(position) => Stop { input, position, reason: Reason::EndOfText },
        Halt::Stopped(At { at, what }) => Stop { input, position: start + at as usize, reason: what },
    })
}

/// A worker as the reader of a chunk.
struct Reading<'w, W>(&'w mut W);

impl<W: Worker> Reader for Reading<'_, W> {
    type Stop = At<Reason>;

    #[inline]
    fn label(&mut self, text: &[u8]) -> Option<u32> {
        self.0.label(text)
    }

    #[inline]
    fn batch(&mut self, _: usize, transitions: &[Transition]) -> Result<(), At<Reason>> {
        self.0.batch(transitions)
    }

    fn end_of_chunk(&mut self) -> Result<(), At<Reason>> {
        self.0.end_of_chunk()
    }
}

/// Locks; a panic of another worker is passed on by rayon, so what it left behind is never used.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
