//! The parallel breadth-first search.
//!
//! States are expanded block by block, in the order of their numbers. Within a block, workers expand equal parts and collect the successors as
//! *candidates*, in order; each shard of the table then looks up the candidates of its part of the hash range; the new ones are numbered in the order of the candidates. So the numbering is
//! that of a sequential search: it depends neither on the number of workers nor on the number of shards.
//!
//! *Cost.* A transition costs an evaluation, a lookup, and a few bytes of sequential memory traffic; a state costs its packed words and 10 to 15 bytes of the table.

use super::layout::Layout;
use super::progress::Progress;
use super::run::Discoveries;
use super::store::{Found, MOST_STATES, Shard, States, hash, shard_of};
use super::successors::{Evaluated, Expander, Trouble, Visitor, Whose};
use crate::program::compiled::{Compiled, Fault};
use crate::program::property::Invariant;
use rayon::prelude::*;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// States of a block: enough work to share, little enough to stay in the cache.
const BLOCK: usize = 1 << 14;

/// Who watches an exploration.
pub trait Observer {
    /// What a worker tells its steps to.
    type Watcher: Visitor + Send + Sync;

    /// A watcher for one more worker.
    fn watcher(&self) -> Self::Watcher;

    /// After a block: `first` is the number of its first state; `numbers` are those of the successors, watcher by watcher, in the order in which they were told.
    ///
    /// # Errors
    /// If what is written cannot be written.
    fn block(&mut self, _watchers: &mut [&mut Self::Watcher], _first: usize, _numbers: &[u32]) -> io::Result<()> {
        Ok(())
    }
}

/// When to stop.
#[derive(Clone, Copy, Default)]
pub struct Limits<'a> {
    /// The number of states.
    pub states: Option<usize>,
    /// The number of bytes.
    pub bytes: Option<usize>,
    /// The time.
    pub time: Option<Duration>,
    /// Set from outside, for example by Ctrl-C.
    pub interrupted: Option<&'a AtomicBool>,
    /// What must hold in every state: the search ends at the first one in which something does not.
    pub invariants: &'a [Invariant],
}

/// Why the search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// All states were expanded.
    Complete,
    /// The limit on states was reached.
    States,
    /// The limit on memory was reached.
    Memory,
    /// The limit on time was reached.
    Time,
    /// Somebody asked.
    Interrupted,
    /// An invariant does not hold.
    Violated,
}

/// A state in which an invariant does not hold; no other such state is nearer to the initial one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Which of the invariants.
    pub invariant: usize,
    /// A shortest run that leads there.
    pub run: Vec<Evaluated>,
    /// The control state of each thread.
    pub control: Vec<usize>,
    /// The values of all slots.
    pub values: Vec<i64>,
}

/// What was found.
pub struct Exploration {
    /// The packed states, in the order of discovery.
    pub states: States,
    /// How they are packed.
    pub layout: Layout,
    /// How many of them were expanded; all, if the search is complete.
    pub expanded: usize,
    /// The transitions of the expanded states, blocked evaluations included.
    pub transitions: u64,
    /// Expanded states in which no instruction can be taken.
    pub deadlocks: u64,
    /// Evaluations of an index out of range.
    pub out_of_range: u64,
    /// Why the search ended.
    pub stop: Stop,
    /// The violation, if that is why.
    pub violation: Option<Violation>,
    /// Bytes of states and table.
    pub bytes: usize,
    /// The time it took.
    pub elapsed: Duration,
}

/// Why there is no exploration.
#[derive(Debug)]
pub enum Failure {
    /// The program goes wrong: what, in which thread and instruction, and the run that leads there.
    Fault {
        /// What went wrong.
        fault: Fault,
        /// In which thread.
        thread: usize,
        /// In which of its instructions.
        instruction: usize,
        /// The instructions taken before.
        run: Vec<Evaluated>,
    },
    /// An invariant cannot be evaluated.
    Invariant {
        /// What went wrong.
        fault: Fault,
        /// In which of the invariants.
        invariant: usize,
        /// The instructions taken before.
        run: Vec<Evaluated>,
    },
    /// An observer could not write.
    Io(io::Error),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::Io(error)
    }
}

/// Explores the program.
///
/// # Errors
/// If the program or an invariant goes wrong in a reachable state, or an observer cannot write.
pub fn explore<O: Observer>(
    compiled: &Compiled,
    limits: &Limits<'_>,
    observer: &mut O,
) -> Result<(Exploration, Vec<O::Watcher>), Failure> {
    let started = Instant::now();
    let mut layout = Layout::new(compiled);
    let mut progress = Progress::start(compiled, &layout, observer);
    loop {
        match Search::new(compiled, &layout, limits, observer, started, progress).run()? {
            Ended::Done(explored) => return Ok(*explored),
            Ended::TooNarrow(narrow, so_far) => {
                let wider = layout.widened(narrow);
                progress = so_far.repacked(compiled, &layout, &wider);
                layout = wider;
            }
        }
    }
}

/// How a search ended.
enum Ended<O: Observer> {
    Done(Box<Explored<O>>),
    /// A field is too narrow; what was found so far stays.
    TooNarrow(Narrow, Progress<O::Watcher>),
}

type Narrow = super::layout::DoesNotFit;

/// What was found, and what the workers' watchers have seen.
type Explored<O> = (Exploration, Vec<<O as Observer>::Watcher>);

/// What a worker collects from its part of a block.
struct Worker<'p, W> {
    expander: Expander<'p>,
    collector: Collector<W>,
}

struct Collector<W> {
    watcher: W,
    words: usize,
    packed: Vec<u64>,
    hashes: Vec<u64>,
    transitions: u64,
    deadlocks: u64,
    is_stuck: bool,
}

impl<W: Visitor> Visitor for Collector<W> {
    #[inline]
    fn step(&mut self, evaluated: Evaluated, successor: Option<&[u64]>) {
        self.transitions += 1;
        if let Some(state) = successor {
            self.is_stuck = false;
            self.packed.extend_from_slice(state);
            self.hashes.push(hash(state));
        }
        self.watcher.step(evaluated, successor);
    }

    fn wants_outlooks(&self) -> bool {
        self.watcher.wants_outlooks()
    }

    fn outlook(&mut self, thread: u32, whose: Whose) {
        self.watcher.outlook(thread, whose);
    }

    fn next(&mut self, evaluated: Evaluated) {
        self.watcher.next(evaluated);
    }

    fn end_of_state(&mut self) {
        self.deadlocks += u64::from(self.is_stuck);
        self.is_stuck = true;
        self.watcher.end_of_state();
    }
}

struct Search<'p, O: Observer> {
    compiled: &'p Compiled,
    layout: &'p Layout,
    limits: &'p Limits<'p>,
    observer: &'p mut O,
    started: Instant,
    states: States,
    shards: Vec<Shard>,
    discoveries: Discoveries,
    workers: Vec<Worker<'p, O::Watcher>>,
    expanded: usize,
    transitions: u64,
    deadlocks: u64,
    out_of_range: u64,
}

impl<'p, O: Observer> Search<'p, O> {
    fn new(
        compiled: &'p Compiled,
        layout: &'p Layout,
        limits: &'p Limits<'p>,
        observer: &'p mut O,
        started: Instant,
        progress: Progress<O::Watcher>,
    ) -> Self {
        let worker = |watcher| Worker {
            expander: Expander::new(compiled, layout).checking(limits.invariants),
            collector: Collector {
                watcher,
                words: layout.words(),
                packed: Vec::new(),
                hashes: Vec::new(),
                transitions: 0,
                deadlocks: 0,
                is_stuck: true,
            },
        };
        Search {
            compiled,
            layout,
            limits,
            observer,
            started,
            states: progress.states,
            shards: progress.shards,
            discoveries: progress.discoveries,
            workers: progress.watchers.into_iter().map(worker).collect(),
            expanded: progress.expanded,
            transitions: progress.transitions,
            deadlocks: progress.deadlocks,
            out_of_range: progress.out_of_range,
        }
    }

    fn run(mut self) -> Result<Ended<O>, Failure> {
        let stop = loop {
            if self.expanded == self.states.len() {
                break Stop::Complete;
            }
            if let Some(stop) = self.limit_reached() {
                break stop;
            }
            let end = self.states.len().min(self.expanded + BLOCK);
            match self.expand(self.expanded..end) {
                Ok(()) => {}
                Err((_, Trouble::TooNarrow(narrow))) => return Ok(Ended::TooNarrow(narrow, self.without_block())),
                Err((state, Trouble::Fault(fault, thread, instruction))) => {
                    let run = self.run_to(state);
                    let (thread, instruction) = (thread as usize, instruction as usize);
                    return Err(Failure::Fault { fault, thread, instruction, run });
                }
                Err((state, Trouble::Invariant(fault, invariant))) => {
                    return Err(Failure::Invariant { fault, invariant, run: self.run_to(state) });
                }
                Err((state, Trouble::Violated(invariant))) => {
                    let violation = self.violation(state, invariant);
                    return Ok(Ended::Done(Box::new(self.finish(Stop::Violated, Some(violation)))));
                }
            }
            let numbers = self.insert();
            self.finish_block(&numbers)?;
            self.expanded = end;
            self.discoveries.end_block(end, self.states.len());
        };
        Ok(Ended::Done(Box::new(self.finish(stop, None))))
    }

    fn run_to(&self, state: usize) -> Vec<Evaluated> {
        self.discoveries.run_to(state, &self.states, self.compiled, self.layout)
    }

    fn violation(&self, state: usize, invariant: usize) -> Violation {
        let mut control = vec![0; self.compiled.threads.len()];
        let mut values = self.compiled.initial.clone();
        self.layout.unpack(self.states.get(state), &mut control, &mut values);
        Violation { invariant, run: self.run_to(state), control, values }
    }

    /// What the workers have counted and their watchers have seen in a block counts from now on.
    fn finish_block(&mut self, numbers: &[u32]) -> io::Result<()> {
        for worker in &mut self.workers {
            let collector = &mut worker.collector;
            collector.packed.clear();
            collector.hashes.clear();
            self.transitions += std::mem::take(&mut collector.transitions);
            self.deadlocks += std::mem::take(&mut collector.deadlocks);
            self.out_of_range += std::mem::take(&mut worker.expander.out_of_range);
        }
        let mut watchers: Vec<&mut O::Watcher> =
            self.workers.iter_mut().map(|worker| &mut worker.collector.watcher).collect();
        self.observer.block(&mut watchers, self.expanded, numbers)
    }

    /// What was found before the block at hand.
    fn without_block(self) -> Progress<O::Watcher> {
        let watchers = self.workers.into_iter().map(|worker| {
            let mut watcher = worker.collector.watcher;
            watcher.discard_block();
            watcher
        });
        Progress {
            watchers: watchers.collect(),
            states: self.states,
            shards: self.shards,
            discoveries: self.discoveries,
            expanded: self.expanded,
            transitions: self.transitions,
            deadlocks: self.deadlocks,
            out_of_range: self.out_of_range,
        }
    }

    /// Expands a block, each worker its part; the first trouble in the order of the states, with the state's number.
    fn expand(&mut self, block: std::ops::Range<usize>) -> Result<(), (usize, Trouble)> {
        let part = block.len().div_ceil(self.workers.len());
        let states = &self.states;
        let troubles: Vec<Option<(usize, Trouble)>> = self
            .workers
            .par_iter_mut()
            .enumerate()
            .map(|(position, worker)| {
                let first = (block.start + position * part).min(block.end);
                let end = (first + part).min(block.end);
                (first..end).find_map(|state| {
                    let result = worker.expander.expand(states.get(state), &mut worker.collector);
                    result.err().map(|trouble| (state, trouble))
                })
            })
            .collect();
        troubles.into_iter().flatten().next().map_or(Ok(()), Err)
    }

    /// Looks all candidates up and numbers the new ones; gives the number of each.
    fn insert(&mut self) -> Vec<u32> {
        let states = &self.states;
        let collectors: Vec<&Collector<O::Watcher>> = self.workers.iter().map(|worker| &worker.collector).collect();
        let mut first_positions = Vec::with_capacity(collectors.len() + 1);
        let mut total = 0;
        for collector in &collectors {
            first_positions.push(total);
            total += collector.hashes.len();
        }
        let candidate = |position: u32| {
            let owner = first_positions.partition_point(|&first| first <= position as usize) - 1;
            let offset = position as usize - first_positions[owner];
            let words = collectors[owner].words;
            &collectors[owner].packed[offset * words..(offset + 1) * words]
        };
        let num_of_shards = self.shards.len();
        let found: Vec<Vec<(u32, Found)>> = self
            .shards
            .par_iter_mut()
            .enumerate()
            .map(|(number, shard)| {
                let mut found = Vec::with_capacity(total / num_of_shards + 16);
                let hashes = collectors.iter().flat_map(|collector| &collector.hashes);
                for (position, &hash) in hashes.enumerate() {
                    if shard_of(hash, num_of_shards) == number {
                        let position = position as u32;
                        found.push((position, shard.lookup(states, candidate, position, hash)));
                    }
                }
                found
            })
            .collect();
        let mut lookups: Vec<Found> = vec![Found::First; total];
        for (position, lookup) in found.into_iter().flatten() {
            lookups[position as usize] = lookup;
        }
        let mut numbers: Vec<u32> = Vec::with_capacity(total);
        let mut new_states = Vec::new();
        for (position, lookup) in lookups.into_iter().enumerate() {
            let number = match lookup {
                Found::Known(number) => number,
                Found::Again(first) => numbers[first as usize],
                Found::First => {
                    new_states.extend_from_slice(candidate(position as u32));
                    (states.len() + new_states.len() / self.layout.words() - 1) as u32
                }
            };
            numbers.push(number);
        }
        self.shards.par_iter_mut().for_each(|shard| shard.settle(|first| numbers[first as usize]));
        self.states.push(&new_states);
        numbers
    }

    fn limit_reached(&self) -> Option<Stop> {
        let limits = self.limits;
        let most = limits.states.unwrap_or(MOST_STATES).min(MOST_STATES);
        // One block can add at most as many states as it has transitions; the limit is checked between blocks.
        if self.states.len() >= most {
            return Some(Stop::States);
        }
        if limits.bytes.is_some_and(|most| self.bytes() >= most) {
            return Some(Stop::Memory);
        }
        if limits.time.is_some_and(|most| self.started.elapsed() >= most) {
            return Some(Stop::Time);
        }
        limits.interrupted.is_some_and(|flag| flag.load(Ordering::Relaxed)).then_some(Stop::Interrupted)
    }

    fn bytes(&self) -> usize {
        self.states.bytes() + self.shards.iter().map(Shard::bytes).sum::<usize>()
    }

    fn finish(self, stop: Stop, violation: Option<Violation>) -> Explored<O> {
        let exploration = Exploration {
            expanded: self.expanded,
            transitions: self.transitions,
            deadlocks: self.deadlocks,
            out_of_range: self.out_of_range,
            stop,
            violation,
            bytes: self.bytes(),
            elapsed: self.started.elapsed(),
            layout: self.layout.clone(),
            states: self.states,
        };
        (exploration, self.workers.into_iter().map(|worker| worker.collector.watcher).collect())
    }
}
