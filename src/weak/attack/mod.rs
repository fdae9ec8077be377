//! The exact search for a delayed pair, without store buffers (method §11).
//!
//! After Bouajjani, Derevenetc and Meyer, "Checking and enforcing robustness against TSO" (ESOP 2013): if any run on
//! TSO has a cyclic happens-before relation, there is one in which only one thread delays writes. So the pair (w, r)
//! of a thread is feasible exactly if this succeeds:
//!
//! 1. From a sequentially consistent state the thread performs w privately, into an overlay, and goes on alone to r
//!    ([`private`]).
//! 2. It stops there, and the other threads go on, sequentially consistent, with marks for what happens after r,
//!    until a marked step touches w's location ([`marks`]).
//!
//! For PSO the second access of a pair can also be a write that becomes visible before w. What is found is a run
//! there, too, but not every violation is found: a thread may have to go on after others have answered its early
//! write (`tests/long/weak_machines.rs`); what is not found is unknown until [all runs](super::runs) are known. With
//! [`Granularity::Instructions`](super::Granularity) the instruction of r is marked with all its accesses, and the
//! steps of the others are whole instructions; that presumes that no instruction is torn, which [`torn`](super::torn)
//! decides.
//!
//! Where an instruction can make an access before it knows the index of another one
//! ([`readiness`](super::readiness)), the cycle counts only if what is presumed can still come true, once all that
//! was kept back is visible.
//!
//! *Cost.* Sequentially consistent states times private runs, then states times marks for each thread and location of
//! w: the states from which nothing was found are remembered, so all pairs with that location share them.

pub(super) mod marks;
mod private;

use super::system::{Event, State, System};
use super::threads::{Access, AccessKind, ConfigId};
use super::visited::{Allowance, LimitReached, Visited};
use super::{Granularity, Machine};
use crate::ids::{InstrAt, LocationAt, ThreadAt};
use crate::program::At;
use crate::weak::split::{SplitProgram, SplitStep};
use marks::{MarkSearch, Marked};
use private::{Position, PrivateRun, Rules};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::collections::hash_map::Entry;
use std::hash::Hash;
use std::rc::Rc;

/// An access of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Vertex {
    /// The instruction, by its position in the thread.
    pub instruction: InstrAt,
    /// Read or write.
    pub kind: AccessKind,
    /// The location.
    pub location: LocationAt,
}

/// A pair of accesses of a thread, the first of which can become visible after the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pair {
    /// The thread.
    pub thread: ThreadAt,
    /// The delayed write.
    pub from: Vertex,
    /// What overtakes it.
    pub to: Vertex,
}

impl Pair {
    /// The instruction of one of its accesses.
    #[must_use]
    pub fn at(&self, access: Vertex) -> At {
        At { thread: self.thread, instruction: access.instruction }
    }
}

/// A run in which a pair is reordered and the happens-before relation becomes cyclic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    /// The pair.
    pub pair: Pair,
    /// Everybody, sequentially consistent.
    pub before: Vec<Event>,
    /// The thread alone, its writes from the pair's first access on kept back, unless they are said to be visible.
    pub private: Vec<(Event, Visibility)>,
    /// The others; the last step touches the location of the delayed write.
    pub others: Vec<Event>,
}

/// Whether the others see a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visibility {
    /// Yes.
    Visible,
    /// No: the write waits.
    Delayed,
}

/// How far a thread goes alone where a part is enough: a few times round its loops.
const ALONE: usize = 500;
/// How many times as many states may have marks there, for all pairs together.
const MARKED: usize = 5;

/// The search, with what all pairs share.
pub struct Attack<'p> {
    system: System<'p>,
    machine: Machine,
    allowance: Allowance,
    /// How far a thread goes alone, if all that it can do is not asked for.
    alone: Option<usize>,
    reached: Visited<State>,
    /// For each thread and each pair that it can reorder alone, from where the others go on.
    pairs: BTreeMap<Pair, Vec<MarkedStart>>,
    /// For each thread and location of a delayed write, the search of the others.
    searches: FxHashMap<(ThreadAt, LocationAt), MarkSearch>,
}

/// A sequentially consistent state, and the twin of a thread that acts for it.
type Begun = (u32, ThreadAt);

/// Where the others go on, and how it came to that.
#[derive(Clone)]
struct MarkedStart {
    marked: Rc<Marked>,
    state: u32,
}

impl<'p> Attack<'p> {
    /// Explores the sequentially consistent states, and what each thread can do alone from them.
    ///
    /// # Errors
    /// If there are more states than the limit.
    pub fn new(
        program: &'p SplitProgram,
        machine: Machine,
        granularity: Granularity,
        allowance: impl Into<Allowance>,
    ) -> Result<Attack<'p>, LimitReached> {
        let mut system = System::new(program, granularity).forgetting();
        let allowance = allowance.into();
        let reached = system.reach(allowance.clone())?;
        Attack::from(system, machine, (allowance, None), reached)
    }

    /// The same with as many of the sequentially consistent states as may be seen, and as much of what each thread can
    /// do alone: what is found is a run of the program, and what is not found may still be one.
    ///
    /// # Errors
    /// If the budget is exhausted.
    pub fn in_part(
        program: &'p SplitProgram,
        machine: Machine,
        granularity: Granularity,
        most: usize,
    ) -> Result<Attack<'p>, LimitReached> {
        let mut system = System::new(program, granularity).forgetting();
        let reached = system.reach_some(most)?;
        let attack = Attack::from(system, machine, (most.into(), Some(ALONE)), reached)?;
        Ok(Attack { allowance: Allowance::together(MARKED * most), ..attack })
    }

    fn from(
        system: System<'p>,
        machine: Machine,
        (allowance, alone): (Allowance, Option<usize>),
        reached: Visited<State>,
    ) -> Result<Attack<'p>, LimitReached> {
        let program = system.program;
        let (pairs, searches) = (BTreeMap::new(), FxHashMap::default());
        let mut attack = Attack { system, machine, allowance, alone, reached, pairs, searches };
        let moves = |thread: &ThreadAt| program.threads[thread.index()].steps.iter().any(|steps| !steps.is_empty());
        for thread in program.threads_at().filter(moves) {
            if attack.system.twin(thread) == thread {
                attack.collect(thread)?;
            }
        }
        Ok(attack)
    }

    /// The search that forgets nothing: for who wants to know that it makes no difference.
    ///
    /// # Errors
    /// If there are more states than the limit.
    #[cfg(feature = "internals")]
    pub fn remembering(
        program: &'p SplitProgram,
        machine: Machine,
        granularity: Granularity,
        allowance: impl Into<Allowance>,
    ) -> Result<Attack<'p>, LimitReached> {
        let mut system = System::new(program, granularity);
        let allowance = allowance.into();
        let reached = system.reach(allowance.clone())?;
        Attack::from(system, machine, (allowance, None), reached)
    }

    /// The search with [twins](SplitProgram::twins) not told apart: it [tells](Attack::is_feasible) whether a pair is
    /// feasible, and no run.
    ///
    /// # Errors
    /// If there are more states than the limit.
    pub fn merging_twins(
        program: &'p SplitProgram,
        machine: Machine,
        granularity: Granularity,
        allowance: impl Into<Allowance>,
    ) -> Result<Attack<'p>, LimitReached> {
        let mut system = System::new(program, granularity).forgetting().merging_twins();
        let allowance = allowance.into();
        let reached = system.reach(allowance.clone())?;
        Attack::from(system, machine, (allowance, None), reached)
    }

    /// Whether the pair is feasible.
    ///
    /// # Errors
    /// If the search has more states than the limit.
    pub fn is_feasible(&mut self, pair: Pair) -> Result<bool, LimitReached> {
        let pair = Pair { thread: self.system.twin(pair.thread), ..pair };
        let Some(sources) = self.pairs.get(&pair) else { return Ok(false) };
        let visited = self.visited();
        let search = self
            .searches
            .entry((pair.thread, pair.from.location))
            .or_insert_with(|| MarkSearch::new(pair.thread, pair.from.location, visited));
        search.exists(&mut self.system, sources.iter().map(|source| &*source.marked))
    }

    /// How many sequentially consistent states there are.
    #[must_use]
    pub fn num_of_states(&self) -> usize {
        self.reached.len()
    }

    /// All pairs that a thread can reorder, whether or not anybody can tell.
    #[must_use]
    pub fn pairs(&self) -> Vec<Pair> {
        self.pairs.keys().copied().collect()
    }

    /// The pairs of a thread: its private run depends on the memory and on where it is, not on the others.
    fn collect(&mut self, thread: ThreadAt) -> Result<(), LimitReached> {
        let mut groups: FxHashMap<(Box<[i64]>, ConfigId), Vec<Begun>> = FxHashMap::default();
        for number in 0..self.reached.len() as u32 {
            let state = self.reached.get(number);
            for twin in self.system.program.threads_at().filter(|&twin| self.system.twin(twin) == thread) {
                groups.entry((state.memory.clone(), state.config(twin))).or_default().push((number, twin));
            }
        }
        let mut groups: Vec<_> = groups.into_iter().collect();
        groups.sort_unstable_by_key(|(_, states)| states[0]);
        let mut sources: BTreeMap<Pair, FxHashMap<Rc<Marked>, u32>> = BTreeMap::new();
        let mut steps = self.system.program.threads.iter().flat_map(|thread| &thread.steps).flatten();
        let can_presume = steps.any(SplitStep::can_presume);
        for ((memory, config), states) in groups {
            let run = self.run_alone(thread, Position::start(config, memory))?;
            for overtaking in &run.found {
                let found = sources.entry(Pair { thread, ..overtaking.pair }).or_default();
                for &(number, twin) in &states {
                    let mut threads = self.reached.get(number).threads.clone();
                    // Its twin acts for it.
                    threads.swap(thread.index(), twin.index());
                    threads[thread.index()] = 0;
                    self.system.sort_twins(&mut threads, Some(thread));
                    let state = State { memory: overtaking.memory.clone(), threads };
                    let left = can_presume.then(|| overtaking.left.clone());
                    let marked = Rc::new(Marked::start(state, left, &overtaking.after));
                    if let Entry::Vacant(new) = found.entry(marked) {
                        self.allowance.pay(0)?; // They are as large as states, and can be more.
                        new.insert(number);
                    }
                }
            }
        }
        for (pair, found) in sources {
            let mut found: Vec<MarkedStart> =
                found.into_iter().map(|(marked, state)| MarkedStart { marked, state }).collect();
            found.sort_unstable_by(|a, b| {
                (a.state, &a.marked.state, &a.marked.left).cmp(&(b.state, &b.marked.state, &b.marked.left))
            });
            self.pairs.insert(pair, found);
        }
        Ok(())
    }

    /// What a thread can do alone.
    fn run_alone(&mut self, thread: ThreadAt, start: Position) -> Result<PrivateRun, LimitReached> {
        let most = self.alone.map_or_else(|| self.allowance.clone(), Allowance::from);
        let visited = Visited::within(most, &self.system.program.budget);
        let mut run = PrivateRun::new(self.rules(thread), visited);
        match run.go(self.system.thread_mut(thread), start) {
            Err(LimitReached::States) if self.alone.is_some() => Ok(run),
            result => result.map(|()| run),
        }
    }

    /// For a search within the same limits.
    fn visited<S: Eq + Hash>(&self) -> Visited<S> {
        Visited::within(self.allowance.clone(), &self.system.program.budget)
    }

    fn rules(&self, thread: ThreadAt) -> Rules {
        Rules { thread, machine: self.machine, granularity: self.system.granularity }
    }

    /// Whether the pair is feasible; the witness if so.
    ///
    /// # Errors
    /// If the search has more states than the limit.
    pub fn confirm(&mut self, pair: Pair) -> Result<Option<Witness>, LimitReached> {
        let Some(sources) = self.pairs.get(&pair) else { return Ok(None) };
        let visited = self.visited();
        let search = self
            .searches
            .entry((pair.thread, pair.from.location))
            .or_insert_with(|| MarkSearch::new(pair.thread, pair.from.location, visited));
        let starts = sources.iter().map(|source| &*source.marked);
        let Some(others) = search.find(&mut self.system, starts)? else { return Ok(None) };
        let first = Rc::clone(&others.states[0]);
        let source = sources.iter().find(|source| *source.marked == *first).expect("the search began at a source");
        let source = source.clone();
        Ok(Some(self.witness(pair, &source, others.events)?))
    }

    fn witness(&mut self, pair: Pair, source: &MarkedStart, others: Vec<Event>) -> Result<Witness, LimitReached> {
        let path: Vec<Rc<State>> = self.reached.path_to(source.state).iter().map(|&n| self.reached.get(n)).collect();
        let before = self.system.events_along(&path);
        let start = self.reached.get(source.state);
        let run = self.run_alone(pair.thread, Position::start(start.config(pair.thread), start.memory.clone()))?;
        let overtaking = run.found.iter().find(|found| {
            Pair { thread: pair.thread, ..found.pair } == pair
                && found.memory == source.marked.state.memory
                && source.marked.left.as_ref().is_none_or(|left| *left == found.left)
                && source.marked.is_started_by(&found.after)
        });
        let thread = self.system.thread_mut(pair.thread);
        let private = overtaking.map(|found| run.events_to(thread, found.position, found.last.clone()));
        Ok(Witness { pair, before, private: private.unwrap_or_default(), others })
    }
}

/// What the others can see of the second access of a pair: the accesses of its instruction.
type Seen = Vec<Access>;
