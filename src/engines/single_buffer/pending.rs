//! What can wait in a thread's store buffer when it is in a state: a necessary condition, by the thread alone.
//!
//! The writes that wait were written on a way to the state, in their order, and the thread has passed no fence since the
//! first of them. Between them it may have written more, which larger configurations have, but only to locations that
//! it writes again behind: of each location the last write is among those that are looked at. So the ways are searched
//! backwards from the state, write by write. Where each location has a buffer of its own, only writes to it are looked
//! at, and writes to others are passed anywhere. Answers are kept.

use super::automata::{ANY, Automata, Automaton, Location, Operation, StateAt, Transition, Value};
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;
use std::cell::RefCell;

/// A thread, its state, and what waits.
type Question = (usize, StateAt, Box<[(Location, Value)]>);

/// Answers so far.
pub struct Pending<'a> {
    automata: &'a Automata<'a>,
    /// What waits is looked at location by location.
    by_location: bool,
    known: RefCell<FxHashMap<Question, bool>>,
}

impl<'a> Pending<'a> {
    /// No answers yet; one buffer for all locations.
    pub fn new(automata: &'a Automata<'a>) -> Pending<'a> {
        Pending { automata, by_location: false, known: RefCell::default() }
    }

    /// No answers yet; a buffer for each location.
    pub fn of_locations(automata: &'a Automata<'a>) -> Pending<'a> {
        Pending { automata, by_location: true, known: RefCell::default() }
    }

    /// Whether these writes, oldest first, and none behind them, can wait.
    pub fn is_possible(&self, thread: usize, state: StateAt, waiting: &[(Location, Value)]) -> bool {
        let question = (thread, state, waiting.into());
        if let Some(&answer) = self.known.borrow().get(&question) {
            return answer;
        }
        let answer = search(&self.automata.threads[thread], state, waiting, self.by_location);
        self.known.borrow_mut().insert(question, answer);
        answer
    }
}

fn search(thread: &Automaton, state: StateAt, waiting: &[(Location, Value)], by_location: bool) -> bool {
    let mut here = FixedBitSet::with_capacity(thread.into.len());
    here.insert(state as usize);
    for (position, &(location, value)) in waiting.iter().enumerate().rev() {
        let again = |to: Location| {
            waiting[position + 1..].iter().any(|&(later, _)| later == to) || (by_location && to != location)
        };
        close(thread, &mut here, &|step: &Transition| match &step.operation {
            Operation::Silent | Operation::Read(..) => !step.drained,
            Operation::Write(to, _) => !step.drained && again(*to),
            Operation::Whole(..) => false,
        });
        let mut before = FixedBitSet::with_capacity(thread.into.len());
        for step in here.ones().flat_map(|state| &thread.into[state]).map(|&step| &thread.transitions[step as usize]) {
            let is_it = matches!(step.operation, Operation::Write(to, written)
                if to == location && (value == ANY || value == written));
            // With a fence before it, it is the first that waits.
            if is_it && (position == 0 || !step.drained) {
                before.insert(step.from as usize);
            }
        }
        here = before;
    }
    !here.is_clear()
}

/// Adds all states from which such steps lead to one of these.
fn close(thread: &Automaton, states: &mut FixedBitSet, passes: &dyn Fn(&Transition) -> bool) {
    let mut open: Vec<usize> = states.ones().collect();
    while let Some(state) = open.pop() {
        for step in thread.into[state].iter().map(|&step| &thread.transitions[step as usize]) {
            if passes(step) && !states.put(step.from as usize) {
                open.push(step.from as usize);
            }
        }
    }
}
