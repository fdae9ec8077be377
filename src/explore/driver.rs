//! The parallel breadth-first search.
//!
//! States are expanded [block by block](super::blocks), in the order of their numbers, which are those of a sequential
//! search.
//!
//! *Cost.* A transition costs an evaluation, a lookup, and a few bytes of sequential memory traffic; a state costs
//! its packed bytes and 6 to 8 bytes of the table.

use super::blocks::{BLOCK, Blocks};
use super::collect::{Counts, Watched};
use super::forgetting::DeadLocals;
use super::layout::Layout;
use super::progress::Progress;
use super::run::Discoveries;
use super::store::{MOST_STATES, States};
use super::successors::{Evaluated, Expander, LocalStates, Trouble, Visitor};
use crate::budget::Budget;
use crate::ids::ControlAt;
use crate::program::At;
use crate::program::compiled::{Compiled, Fault};
use crate::property::StateCondition;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Who watches an exploration.
pub trait Observer {
    /// What a worker tells its steps to.
    type Watcher: Visitor + Send + Sync;

    /// A watcher for one more worker.
    fn watcher(&self) -> Self::Watcher;

    /// The local states whose steps need not be interleaved for this observer, if there are such.
    fn leaves_out(&self) -> Option<Arc<LocalStates>> {
        None
    }

    /// Whether states that differ only in locals that are never read again may be one for this observer.
    fn forgets(&self) -> bool {
        false
    }

    /// After a block: `first` is the number of its first state; `numbers` are those of the successors, watcher by
    /// watcher, in the order in which they were told.
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
    pub invariants: &'a [StateCondition],
    /// For what is done besides exploring, and has no states to count.
    pub budget: Option<&'a Budget>,
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

impl Stop {
    /// The limit that was reached, with the option that raises it; none if all states were expanded or an invariant
    /// ended it.
    #[must_use]
    pub fn limit(self) -> Option<&'static str> {
        match self {
            Stop::Complete | Stop::Violated => None,
            Stop::States => Some("the limit on states (--max-states)"),
            Stop::Memory => Some("the limit on memory (--memory-limit)"),
            Stop::Time => Some("the limit on time (--timeout)"),
            Stop::Interrupted => Some("your request (Ctrl-C)"),
        }
    }
}

/// A state in which an invariant does not hold; no other such state is nearer to the initial one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Which of the invariants.
    pub invariant: usize,
    /// A shortest run that leads there.
    pub run: Vec<Evaluated>,
    /// The control state of each thread.
    pub control: Vec<ControlAt>,
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
    discoveries: Discoveries,
}

impl Exploration {
    /// The control states of all threads and the values of all slots in the state with this number.
    #[must_use]
    pub fn unpacked(&self, compiled: &Compiled, state: usize) -> (Vec<ControlAt>, Vec<i64>) {
        let mut control = vec![ControlAt(0); compiled.threads.len()];
        let mut values = compiled.initial.clone();
        let mut packed = vec![0; self.layout.words()];
        self.states.load(state, &mut packed);
        self.layout.unpack(&packed, &mut control, &mut values);
        (control, values)
    }

    /// A shortest run to the state with this number.
    #[must_use]
    pub fn run_to(&self, compiled: &Compiled, state: usize) -> Vec<Evaluated> {
        self.discoveries.run_to(state, &self.states, compiled, &self.layout)
    }
}

/// Why there is no exploration.
#[derive(Debug)]
pub enum Failure {
    /// The program goes wrong: what, in which instruction, and the run that leads there.
    Fault {
        /// What went wrong.
        fault: Fault,
        /// In which instruction.
        at: At,
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
    // Invariants may look at locals that no step reads.
    if observer.forgets() && limits.invariants.is_empty() {
        layout = layout.forgetting(Arc::new(DeadLocals::of(compiled)), compiled.initial.as_slice().into());
    }
    let mut progress = Progress::start(compiled, &layout, observer);
    loop {
        match BreadthFirst::new(compiled, &layout, limits, observer, started, progress).run()? {
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

struct BreadthFirst<'p, O: Observer> {
    compiled: &'p Compiled,
    layout: &'p Layout,
    limits: &'p Limits<'p>,
    observer: &'p mut O,
    started: Instant,
    blocks: Blocks<Watched<'p, O::Watcher>>,
    discoveries: Discoveries,
    expanded: usize,
    transitions: u64,
    deadlocks: u64,
    out_of_range: u64,
}

impl<'p, O: Observer> BreadthFirst<'p, O> {
    fn new(
        compiled: &'p Compiled,
        layout: &'p Layout,
        limits: &'p Limits<'p>,
        observer: &'p mut O,
        started: Instant,
        progress: Progress<O::Watcher>,
    ) -> Self {
        let leaves_out = observer.leaves_out();
        let watched = |watcher| Watched {
            expander: Expander::new(compiled, layout).checking(limits.invariants).leaving_out(leaves_out.clone()),
            watcher,
            counts: Counts::default(),
        };
        let watched = progress.watchers.into_iter().map(watched);
        BreadthFirst {
            compiled,
            layout,
            limits,
            observer,
            started,
            blocks: Blocks::new(progress.states, progress.table, Vec::new(), watched),
            discoveries: progress.discoveries,
            expanded: progress.expanded,
            transitions: progress.transitions,
            deadlocks: progress.deadlocks,
            out_of_range: progress.out_of_range,
        }
    }

    fn run(mut self) -> Result<Ended<O>, Failure> {
        let stop = loop {
            if self.expanded == self.blocks.states.len() {
                break Stop::Complete;
            }
            if let Some(stop) = self.limit_reached() {
                break stop;
            }
            let end = self.blocks.states.len().min(self.expanded + BLOCK);
            let block: Vec<u32> = (self.expanded as u32..end as u32).collect();
            match self.blocks.expand(&block) {
                Ok(()) => {}
                Err((_, Trouble::TooNarrow(narrow))) => return Ok(Ended::TooNarrow(narrow, self.without_block())),
                Err((state, Trouble::Fault(fault, at))) => {
                    return Err(Failure::Fault { fault, at, run: self.run_to(state) });
                }
                Err((state, Trouble::Invariant(fault, invariant))) => {
                    return Err(Failure::Invariant { fault, invariant, run: self.run_to(state) });
                }
                Err((state, Trouble::Violated(invariant))) => {
                    let violation = self.violation(state, invariant);
                    return Ok(Ended::Done(Box::new(self.finish(Stop::Violated, Some(violation)))));
                }
            }
            self.finish_block()?;
            self.expanded = end;
            self.discoveries.end_block(end, self.blocks.states.len());
            self.tell_progress();
        };
        Ok(Ended::Done(Box::new(self.finish(stop, None))))
    }

    /// Says how far it is.
    fn tell_progress(&self) {
        if let Some(budget) = self.limits.budget {
            budget.explored(self.blocks.states.len(), || self.discoveries.depth_of(self.expanded.saturating_sub(1)));
        }
    }

    fn run_to(&self, state: usize) -> Vec<Evaluated> {
        self.discoveries.run_to(state, &self.blocks.states, self.compiled, self.layout)
    }

    fn violation(&self, state: usize, invariant: usize) -> Violation {
        let mut control = vec![ControlAt(0); self.compiled.threads.len()];
        let mut values = self.compiled.initial.clone();
        let mut packed = vec![0; self.layout.words()];
        self.blocks.states.load(state, &mut packed);
        self.layout.unpack(&packed, &mut control, &mut values);
        Violation { invariant, run: self.run_to(state), control, values }
    }

    /// The new states of the block are numbered, and what the workers have counted and their watchers have seen
    /// counts from now on.
    fn finish_block(&mut self) -> io::Result<()> {
        let (watched, numbers) = self.blocks.insert();
        let mut watchers = Vec::with_capacity(watched.len());
        for watched in watched {
            let counts = std::mem::take(&mut watched.counts);
            self.transitions += counts.transitions;
            self.deadlocks += counts.deadlocks;
            self.out_of_range += std::mem::take(&mut watched.expander.out_of_range);
            watchers.push(&mut watched.watcher);
        }
        self.observer.block(&mut watchers, self.expanded, numbers)
    }

    /// What was found before the block at hand.
    fn without_block(self) -> Progress<O::Watcher> {
        let (states, table, watched) = self.blocks.into_parts();
        let watchers = watched.into_iter().map(|watched| {
            let mut watcher = watched.watcher;
            watcher.discard_block();
            watcher
        });
        Progress {
            watchers: watchers.collect(),
            states,
            table,
            discoveries: self.discoveries,
            expanded: self.expanded,
            transitions: self.transitions,
            deadlocks: self.deadlocks,
            out_of_range: self.out_of_range,
        }
    }

    fn limit_reached(&self) -> Option<Stop> {
        let limits = self.limits;
        let most = limits.states.unwrap_or(MOST_STATES).min(MOST_STATES);
        // One block can add at most as many states as it has transitions; the limit is checked between blocks.
        if self.blocks.states.len() >= most {
            return Some(Stop::States);
        }
        if limits.bytes.is_some_and(|most| self.blocks.bytes() >= most) {
            return Some(Stop::Memory);
        }
        if limits.time.is_some_and(|most| self.started.elapsed() >= most) {
            return Some(Stop::Time);
        }
        limits.interrupted.is_some_and(|flag| flag.load(Ordering::Relaxed)).then_some(Stop::Interrupted)
    }

    fn finish(self, stop: Stop, violation: Option<Violation>) -> Explored<O> {
        let bytes = self.blocks.bytes();
        let (states, _, watched) = self.blocks.into_parts();
        let exploration = Exploration {
            expanded: self.expanded,
            transitions: self.transitions,
            deadlocks: self.deadlocks,
            out_of_range: self.out_of_range,
            stop,
            violation,
            bytes,
            elapsed: self.started.elapsed(),
            layout: self.layout.clone(),
            states,
            discoveries: self.discoveries,
        };
        (exploration, watched.into_iter().map(|watched| watched.watcher).collect())
    }
}
