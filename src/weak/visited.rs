//! The states that a breadth-first search has seen, in the order of discovery, each with the one that it was found
//! from.

use crate::budget::{Budget, Exhausted};
use rustc_hash::FxHashMap;
use std::cell::Cell;
use std::hash::Hash;
use std::rc::Rc;

/// Why a search was given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitReached {
    /// It has more states than it may.
    States,
    /// The budget is exhausted.
    Budget(Exhausted),
}

/// How many states searches may have: each of them, and perhaps all that share the allowance together. Counted, not
/// timed, so that the same question has the same answer on every machine.
#[derive(Clone, Debug)]
pub struct Allowance {
    each: usize,
    left: Option<Rc<Cell<usize>>>,
}

impl Allowance {
    /// So many states for all searches together that get a clone of it.
    #[must_use]
    pub fn together(states: usize) -> Allowance {
        Allowance { each: states, left: Some(Rc::new(Cell::new(states))) }
    }

    /// How many states are left for the next search.
    #[must_use]
    pub fn left(&self) -> usize {
        self.left.as_ref().map_or(self.each, |left| left.get())
    }

    /// Pays for one more state of a search that has so many.
    ///
    /// # Errors
    /// If that is one too many.
    pub fn pay(&self, seen: usize) -> Result<(), LimitReached> {
        if seen >= self.each {
            return Err(LimitReached::States);
        }
        let Some(left) = &self.left else { return Ok(()) };
        left.set(left.get().checked_sub(1).ok_or(LimitReached::States)?);
        Ok(())
    }
}

impl From<usize> for Allowance {
    /// So many states for each search.
    fn from(each: usize) -> Allowance {
        Allowance { each, left: None }
    }
}

/// The states seen so far.
pub struct Visited<S> {
    numbers: FxHashMap<Rc<S>, u32>,
    states: Vec<Rc<S>>,
    parents: Vec<u32>,
    allowance: Allowance,
    budget: Budget,
}

/// The parent of a state that the search started from.
const NOBODY: u32 = u32::MAX;

impl<S: Eq + Hash> Visited<S> {
    /// Nothing seen; at most so many states.
    #[cfg(feature = "internals")]
    #[must_use]
    pub fn new(allowance: impl Into<Allowance>) -> Visited<S> {
        Visited::within(allowance, &Budget::default())
    }

    /// Nothing seen; at most so many states, and as long as the budget lasts.
    #[must_use]
    pub fn within(allowance: impl Into<Allowance>, budget: &Budget) -> Visited<S> {
        let (allowance, budget) = (allowance.into(), budget.clone());
        Visited { numbers: FxHashMap::default(), states: Vec::new(), parents: Vec::new(), allowance, budget }
    }

    /// Nothing seen; with the limits of this one.
    #[must_use]
    pub fn emptied(&self) -> Visited<S> {
        Visited::within(self.allowance.clone(), &self.budget)
    }

    /// A state that the search starts from.
    ///
    /// # Errors
    /// If there are too many.
    pub fn start(&mut self, state: S) -> Result<u32, LimitReached> {
        self.insert(state, NOBODY)
    }

    /// A state found from another one; its number, also if it is known.
    ///
    /// # Errors
    /// If there are too many.
    pub fn insert(&mut self, state: S, parent: u32) -> Result<u32, LimitReached> {
        self.budget.check().map_err(LimitReached::Budget)?;
        if let Some(&known) = self.numbers.get(&state) {
            return Ok(known);
        }
        self.allowance.pay(self.states.len())?;
        let number = self.states.len() as u32;
        let state = Rc::new(state);
        self.states.push(Rc::clone(&state));
        self.parents.push(parent);
        self.numbers.insert(state, number);
        self.budget.found_states(self.states.len());
        Ok(number)
    }

    /// A state by its number.
    #[must_use]
    pub fn get(&self, number: u32) -> Rc<S> {
        Rc::clone(&self.states[number as usize])
    }

    /// The number of a state, if it was seen.
    #[must_use]
    pub fn find(&self, state: &S) -> Option<u32> {
        self.numbers.get(state).copied()
    }

    /// The most states that it may have.
    #[must_use]
    pub fn allowance(&self) -> Allowance {
        self.allowance.clone()
    }

    /// How many were seen.
    #[must_use]
    pub fn len(&self) -> usize {
        self.states.len()
    }

    /// Whether none was seen.
    #[cfg(feature = "internals")]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.states.is_empty()
    }

    /// The states from a start to this one, by number.
    #[must_use]
    pub fn path_to(&self, number: u32) -> Vec<u32> {
        let mut path = vec![number];
        let mut at = number;
        while self.parents[at as usize] != NOBODY {
            at = self.parents[at as usize];
            path.push(at);
        }
        path.reverse();
        path
    }
}

/// Whether a goal can be reached from a state, within the limits of `visited`, where nothing was seen yet; `steps`
/// gives the next states, or nothing for a goal.
///
/// # Errors
/// If there are more states than the limit.
pub fn reaches<S: Clone + Eq + Hash>(
    start: &S,
    mut visited: Visited<S>,
    mut steps: impl FnMut(&S) -> Option<Vec<S>>,
) -> Result<bool, LimitReached> {
    visited.start(start.clone())?;
    let mut at = 0;
    while (at as usize) < visited.len() {
        let Some(steps) = steps(&visited.get(at)) else { return Ok(true) };
        for next in steps {
            visited.insert(next, at)?;
        }
        at += 1;
    }
    Ok(false)
}
