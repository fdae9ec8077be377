//! The first pass: which labels are enabled in each state, `out(s)` of method §2.
//!
//! The transitions of a state usually stand together, so the labels of consecutive lines with the same source are
//! gathered, thread by thread, and stored once. Where they do not (unsorted input, the border of two chunks) the
//! state gets the union of what was there and what is new: union is commutative and associative, so the order of
//! arrival does not matter.

use super::chunks::{Meter, Reason, Stop, Worker, pass};
use super::labels::{self, INTERNAL, Labels};
use super::layout::Layout;
use super::local_sets::{self, EMPTY, LocalSets};
use super::state_table::{Builder, Overflow, StateTable, TooManyThreads};
use crate::ids::ThreadId;
use crate::lts::aut::{Transition, Transitions};
use std::sync::{Mutex, PoisonError};

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
pub(super) fn collect<'a>(
    bytes: &'a [u8],
    layout: &Layout,
    labels: &Labels<'a>,
    meter: &Meter<'_>,
) -> Result<Enabled, Stop> {
    let (numbering, states) = layout.numbering(bytes, meter)?;
    let (table, locals) = (Builder::new(numbering, bytes.len()), Mutex::new(LocalSets::default()));
    let workers = pass(bytes, layout.body(), meter, || Gatherer {
        table: &table,
        shared_locals: &locals,
        state_limit: layout.state_limit(),
        labels: labels::Cache::new(labels),
        locals: local_sets::Cache::new(&locals),
        gathered: Vec::new(),
        threads: Vec::new(),
        transitions: 0,
    })?;
    let transitions = workers.iter().map(|worker| worker.transitions).sum();
    drop(workers);
    let locals = locals.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(Enabled { table: table.finish(), locals, states, transitions })
}

struct Gatherer<'a, 't> {
    table: &'t Builder,
    shared_locals: &'t Mutex<LocalSets>,
    state_limit: u64,
    labels: labels::Cache<'a, 't>,
    locals: local_sets::Cache<'t>,
    /// By thread: its local set in the state whose transitions are being read.
    gathered: Vec<u32>,
    /// The threads whose local set is not empty.
    threads: Vec<ThreadId>,
    transitions: u64,
}

impl<'a> Worker<'a> for Gatherer<'a, '_> {
    fn chunk(&mut self, transitions: &mut Transitions<'a>) -> Result<(), Stop> {
        let shared = self.table;
        let mut table = shared.table();
        let mut next = transitions.next().transpose()?;
        while let Some(transition) = next {
            self.check_states(&transition)?;
            let label = self.labels.get(&transition)?;
            self.transitions += 1;
            // An internal self-loop changes nothing, whoever takes it.
            if label.number != INTERNAL || transition.from != transition.to {
                self.gather(label);
            }
            let from = transition.from;
            next = transitions.next().transpose()?;
            if next.is_some_and(|next| next.from == from) {
                continue;
            }
            // Filled to the last transition of the state.
            while let Err(Overflow) = table.unite(from, &self.threads, &self.gathered, &mut self.locals) {
                drop(table);
                shared.make_room(self.shared_locals).map_err(|TooManyThreads(threads)| Stop {
                    offset: transition.places[1],
                    reason: Reason::TooManyThreads(threads),
                })?;
                table = shared.table();
            }
            for thread in self.threads.drain(..) {
                self.gathered[thread.index()] = EMPTY;
            }
        }
        Ok(())
    }
}

impl<'a> Gatherer<'a, '_> {
    #[inline]
    fn check_states(&self, transition: &Transition<'a>) -> Result<(), Stop> {
        let [from_place, _, to_place] = transition.places;
        for (state, offset) in [(transition.from, from_place), (transition.to, to_place)] {
            if state >= self.state_limit {
                return Err(Stop { offset, reason: Reason::State(self.state_limit) });
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
