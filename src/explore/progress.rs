//! What a search has found so far, and how it goes on in a wider layout.
//!
//! When a value does not fit into its field, the block at hand is given up, all states are packed anew with the same
//! numbers, the tables are built again, and the search goes on with that block. Linear in the number of states;
//! fields are widened generously, so it happens rarely.

use super::driver::Observer;
use super::layout::Layout;
use super::run::Discoveries;
use super::store::States;
use super::table::Table;
use crate::ids::ControlAt;
use crate::program::compiled::Compiled;

/// What a search has found so far; it goes on with a wider layout where one with a narrower one stopped.
pub(super) struct Progress<W> {
    pub(super) states: States,
    pub(super) table: Table,
    pub(super) discoveries: Discoveries,
    pub(super) watchers: Vec<W>,
    pub(super) expanded: usize,
    pub(super) transitions: u64,
    pub(super) deadlocks: u64,
    pub(super) out_of_range: u64,
}

impl<W> Progress<W> {
    /// Only the initial state.
    pub(super) fn start<O: Observer<Watcher = W>>(compiled: &Compiled, layout: &Layout, observer: &O) -> Progress<W> {
        let num_of_workers = rayon::current_num_threads();
        let control: Vec<ControlAt> = compiled.threads.iter().map(|thread| thread.initial).collect();
        let mut initial = vec![0; layout.words()];
        layout.pack(&control, &compiled.initial, &mut initial).expect("a new layout holds the initial state");
        let mut states = States::new(layout.bytes());
        states.push(&initial);
        Progress {
            table: Table::new(num_of_workers, &states),
            states,
            discoveries: Discoveries::default(),
            watchers: (0..num_of_workers).map(|_| observer.watcher()).collect(),
            expanded: 0,
            transitions: 0,
            deadlocks: 0,
            out_of_range: 0,
        }
    }

    /// The same states in another layout, with the same numbers.
    pub(super) fn repacked(self, compiled: &Compiled, from: &Layout, to: &Layout) -> Progress<W> {
        let mut states = States::new(to.bytes());
        let mut control = vec![ControlAt(0); compiled.threads.len()];
        let mut values = compiled.initial.clone();
        let mut old = vec![0; from.words()];
        let mut packed = vec![0; to.words()];
        for number in 0..self.states.len() {
            self.states.load(number, &mut old);
            from.unpack(&old, &mut control, &mut values);
            to.pack(&control, &values, &mut packed).expect("a wider layout holds what a narrower one held");
            states.push(&packed);
        }
        Progress { table: Table::new(self.table.num_of_shards(), &states), states, ..self }
    }
}
