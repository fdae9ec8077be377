//! The first pass: which labels are enabled in each state, `out(s)` of method §2.
//!
//! The transitions of a state usually stand together, so the labels of consecutive lines with the same source are
//! gathered, thread by thread, and stored once. Where they do not (unsorted input, the border of two chunks) the
//! state gets the union of what was there and what is new: union is commutative and associative, so the order of
//! arrival does not matter.

use super::chunks::{At, Meter, Worker, pass};
use super::labels::{self, INTERNAL, Labels};
use super::layout::{self, Layout};
use super::local_sets::{self, EMPTY, LocalSets};
use super::state_table::{Builder, Overflow, StateTable, TooManyThreads};
use super::stop::{Excluded, Reason, Stop};
use crate::ids::ThreadId;
use crate::lts::space::{End, Transition, UNREAD};
use std::sync::{Mutex, PoisonError, RwLockReadGuard};

/// What the pass found.
pub(super) struct Enabled {
    /// The enabled set of every state.
    pub(super) table: StateTable,
    /// The distinct sets of single threads.
    pub(super) locals: LocalSets,
    /// States, as the header counts them if it is believed.
    pub(super) states: u64,
    /// Transitions read.
    pub(super) transitions: u64,
}

/// Runs the pass.
pub(super) fn collect(layout: &Layout<'_>, labels: &Labels<'_>, meter: &Meter<'_>) -> Result<Enabled, Stop> {
    let (bodies, (numbering, states)) = (layout.bodies(), layout.numbering(meter)?);
    let room = meter.check_room(numbering.bytes());
    room.map_err(|limit| Stop { input: 0, position: 0, reason: Reason::Exhausted(limit) })?;
    let (table, locals) = (Builder::new(numbering, layout::most_transitions(bodies)), Mutex::new(LocalSets::default()));
    let workers = pass(bodies, meter, || Gatherer {
        table: &table,
        shared_locals: &locals,
        state_limit: layout.state_limit(),
        labels: labels::Cache::new(labels),
        locals: local_sets::Cache::new(&locals),
        state: None,
        gathered: Vec::new(),
        threads: Vec::new(),
        transitions: 0,
    })?;
    let transitions = workers.iter().map(|worker| worker.transitions).sum();
    drop(workers);
    let locals = locals.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(Enabled { table: table.finish(), locals, states, transitions })
}

struct Gatherer<'t> {
    table: &'t Builder,
    shared_locals: &'t Mutex<LocalSets>,
    state_limit: u64,
    labels: labels::Cache<'t>,
    locals: local_sets::Cache<'t>,
    /// The state whose transitions are being read, and where the last one of them stands.
    state: Option<(u64, u32)>,
    /// By thread: its local set in that state.
    gathered: Vec<u32>,
    /// The threads whose local set is not empty.
    threads: Vec<ThreadId>,
    transitions: u64,
}

impl Worker for Gatherer<'_> {
    #[inline]
    fn label(&mut self, text: &[u8]) -> Option<u32> {
        self.labels.get(text)
    }

    fn batch(&mut self, transitions: &[Transition]) -> Result<(), At<Reason>> {
        let shared = self.table;
        let mut table = shared.table();
        for transition in transitions {
            let &Transition { from, to, at, .. } = transition;
            if let Some((state, last)) = self.state.replace((from, at))
                && state != from
            {
                table = self.store(table, state, last)?;
            }
            self.check_states(transition)?;
            if transition.label == UNREAD {
                return Err(At { at, what: self.labels.refusal() });
            }
            let label = self.labels.seen(transition.label);
            self.transitions += 1;
            // An internal self-loop changes nothing, whoever takes it.
            if label.number != INTERNAL || from != to {
                self.gather(label);
            }
        }
        Ok(())
    }

    fn end_of_chunk(&mut self) -> Result<(), At<Reason>> {
        let Some((state, last)) = self.state.take() else { return Ok(()) };
        self.store(self.table.table(), state, last).map(drop)
    }
}

impl<'t> Gatherer<'t> {
    /// Stores what was gathered for a state.
    #[inline]
    fn store(
        &mut self,
        mut table: RwLockReadGuard<'t, StateTable>,
        state: u64,
        last: u32,
    ) -> Result<RwLockReadGuard<'t, StateTable>, At<Reason>> {
        while let Err(Overflow) = table.unite(state, &self.threads, &self.gathered, &mut self.locals) {
            drop(table);
            self.table
                .make_room(self.shared_locals)
                .map_err(|TooManyThreads(threads)| At { at: last, what: Reason::TooManyThreads(threads) })?;
            table = self.table.table();
        }
        for thread in self.threads.drain(..) {
            self.gathered[thread.index()] = EMPTY;
        }
        Ok(table)
    }

    #[inline]
    fn check_states(&self, transition: &Transition) -> Result<(), At<Reason>> {
        for (state, of) in [(transition.from, End::Source), (transition.to, End::Target)] {
            if state >= self.state_limit {
                let what = Reason::State(Excluded { state, limit: self.state_limit, of });
                return Err(At { at: transition.at, what });
            }
        }
        Ok(())
    }

    #[inline]
    fn gather(&mut self, label: labels::Seen) {
        let thread = label.thread.index();
        if thread >= self.gathered.len() {
            self.gathered.resize(thread + 1, EMPTY);
        }
        let gathered = &mut self.gathered[thread];
        if *gathered == EMPTY {
            self.threads.push(label.thread);
        }
        *gathered = self.locals.add(label.thread, *gathered, label.number);
    }
}
