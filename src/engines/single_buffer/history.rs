//! What can have been written by a thread that is in a state: a necessary condition, by the thread alone.
//!
//! A configuration shows writes of a thread, in the order in which it made them, and where its pointer is; what
//! stands behind the pointer waits, so the thread has passed no fence since the first of those. Larger configurations
//! have more writes of it: in front of the pointer any, behind it only to locations that are written again further
//! behind, for of each location the last write that waits is shown.
//!
//! Locations that no other thread writes tell more. What such a location holds anywhere is what the thread wrote last
//! before, or the initial value, and when the thread itself reads it, it gets that. So a value which a snapshot
//! shows, or a read has got, is an *obligation*: going back on the thread's way, the next write to the location has
//! that value.
//!
//! The ways of the thread are searched backwards from its state along what is shown, with all obligations on the way,
//! to its start. Answers are kept.

use super::tso::unify;
use crate::engines::automata::{ANY, Automata, Automaton, Location, Operation, StateAt, Transition, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;

/// Whether a message is the thread's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Own {
    /// It is not.
    No,
    /// It is a write.
    Write(Location, Value),
    /// It is a step that is one.
    Whole,
}

/// What a configuration shows of a thread.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Shown {
    /// The thread.
    pub thread: usize,
    /// Its state.
    pub state: StateAt,
    /// The messages, oldest first; each is its own write, three bytes, and what the locations hold that only the
    /// thread writes, in their order. Flat, since there are many of these.
    items: Vec<u8>,
    /// How many bytes a message has.
    width: usize,
    /// The position of its pointer among them.
    pub pointer: usize,
    /// Nothing was before the first message.
    pub is_all: bool,
    /// Only writes to this location are shown; else all are.
    pub only: Option<Location>,
}

impl Shown {
    /// How many messages there are.
    pub fn len(&self) -> usize {
        self.items.len() / self.width
    }

    /// Adds a message: the thread's own write, if it is one, and what the locations hold that only the thread writes.
    pub fn push(&mut self, own: Own, values: impl Iterator<Item = Value>) {
        self.items.extend(match own {
            Own::No => [0, 0, 0],
            Own::Write(location, value) => [1, location, value],
            Own::Whole => [2, 0, 0],
        });
        self.items.extend(values);
    }

    /// Takes the last message away if it shows nothing more than the one before.
    pub fn pop_if_repeated(&mut self) {
        if self.len() < 2 {
            return;
        }
        let last = self.len() - 1;
        let ((own, values), (_, before)) = (self.item(last), self.item(last - 1));
        if own == Own::No && values == before {
            self.items.truncate(last * self.width);
        }
    }

    fn item(&self, position: usize) -> (Own, &[Value]) {
        let item = &self.items[position * self.width..(position + 1) * self.width];
        let own = match item[0] {
            0 => Own::No,
            1 => Own::Write(item[1], item[2]),
            _ => Own::Whole,
        };
        (own, &item[3..])
    }
}

/// Answers so far.
pub struct History<'a> {
    automata: &'a Automata<'a>,
    /// The locations that only this thread writes.
    pub owned: Vec<Vec<Location>>,
    known: RefCell<FxHashMap<Shown, bool>>,
}

impl<'a> History<'a> {
    /// No answers yet.
    pub fn new(automata: &'a Automata<'a>) -> History<'a> {
        let writes = |thread: &Automaton, location: Location| {
            thread.transitions.iter().any(|step| match &step.operation {
                Operation::Write(to, _) => *to == location,
                Operation::Whole(_, writes) => writes.iter().any(|&(to, _)| to == location),
                Operation::Silent | Operation::Read(..) => false,
            })
        };
        let owned = |thread: usize| {
            let is_owned = |location: &Location| {
                let mut others = automata.threads.iter().enumerate().filter(|(other, _)| *other != thread);
                !others.any(|(_, other)| writes(other, *location)) && writes(&automata.threads[thread], *location)
            };
            (0..automata.domains.len() as Location).filter(is_owned).collect()
        };
        let owned = (0..automata.threads.len()).map(owned).collect();
        History { automata, owned, known: RefCell::default() }
    }

    /// Nothing shown yet of a thread in a state.
    pub fn shown(&self, thread: usize, state: StateAt) -> Shown {
        let width = 3 + self.owned[thread].len();
        Shown { thread, state, items: Vec::new(), width, pointer: 0, is_all: false, only: None }
    }

    /// Whether the thread can have written this.
    pub fn is_possible(&self, shown: Shown) -> bool {
        if let Some(&answer) = self.known.borrow().get(&shown) {
            return answer;
        }
        let answer = self.search(&shown);
        self.known.borrow_mut().insert(shown, answer);
        answer
    }

    fn search(&self, shown: &Shown) -> bool {
        let owned = &self.owned[shown.thread];
        let way = Way { thread: &self.automata.threads[shown.thread], owned, only: shown.only };
        let nothing = vec![ANY; owned.len()];
        let mut cursors = Cursors::from_iter([Cursor { state: shown.state, is_sealed: false, obligations: nothing }]);
        let mut again: Vec<Location> = Vec::new();
        for position in (0..shown.len()).rev() {
            let (own, values) = shown.item(position);
            way.close(
                &mut cursors,
                if position >= shown.pointer { Between::Waiting(&again) } else { Between::Visible },
            );
            let mut before = Cursors::default();
            for mut cursor in cursors {
                if !oblige_all(&mut cursor.obligations, values) {
                    continue;
                }
                match own {
                    Own::No => {
                        before.insert(cursor);
                    }
                    // Before a fence nothing waits.
                    _ if position > shown.pointer && cursor.is_sealed => {}
                    own => way.consume(&cursor, own, &mut before),
                }
            }
            if position == shown.pointer {
                // From here on nothing waits.
                before = before.into_iter().map(|cursor| Cursor { is_sealed: false, ..cursor }).collect();
            }
            if let (Own::Write(location, _), true) = (own, position > shown.pointer) {
                again.push(location);
            }
            cursors = before;
        }
        way.close(&mut cursors, if shown.is_all { Between::Nothing } else { Between::Visible });
        let memory: Vec<Value> = owned.iter().map(|&location| self.automata.memory[location as usize]).collect();
        cursors
            .into_iter()
            .any(|mut cursor| cursor.state == way.thread.initial && oblige_all(&mut cursor.obligations, &memory))
    }
}

/// Where a thread was, going back.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Cursor {
    state: StateAt,
    /// It was at a fence: what it wrote before does not wait.
    is_sealed: bool,
    /// The values that owned locations must have got before.
    obligations: Vec<Value>,
}

type Cursors = FxHashSet<Cursor>;

/// What may be written between two messages that are shown.
#[derive(Clone, Copy)]
enum Between<'b> {
    /// Anything.
    Visible,
    /// Only what waits and is written again behind.
    Waiting(&'b [Location]),
    /// Nothing.
    Nothing,
}

/// The ways of a thread.
struct Way<'w> {
    thread: &'w Automaton,
    owned: &'w [Location],
    only: Option<Location>,
}

impl Way<'_> {
    fn is_shown(&self, location: Location) -> bool {
        self.only.is_none_or(|only| only == location)
    }

    /// Adds all that steps between two messages can have come from.
    fn close(&self, cursors: &mut Cursors, between: Between<'_>) {
        let mut open: Vec<Cursor> = cursors.iter().cloned().collect();
        while let Some(cursor) = open.pop() {
            for &number in &self.thread.into[cursor.state as usize] {
                let step = &self.thread.transitions[number as usize];
                let passes = match (&step.operation, between) {
                    (Operation::Silent | Operation::Read(..), _) => true,
                    (Operation::Whole(_, writes), _) if writes.iter().all(|&(to, _)| !self.is_shown(to)) => true,
                    (Operation::Write(to, _), _) if !self.is_shown(*to) => true,
                    (Operation::Write(..) | Operation::Whole(..), Between::Visible) => true,
                    (Operation::Write(to, _), Between::Waiting(again)) => !cursor.is_sealed && again.contains(to),
                    (Operation::Whole(..), Between::Waiting(_)) => false,
                    (Operation::Write(..) | Operation::Whole(..), Between::Nothing) => false,
                };
                if let Some(before) = self.undo(&cursor, step).filter(|_| passes)
                    && !cursors.contains(&before)
                {
                    cursors.insert(before.clone());
                    open.push(before);
                }
            }
        }
    }

    /// Takes back the write of a thread that is shown.
    fn consume(&self, cursor: &Cursor, own: Own, before: &mut Cursors) {
        for &number in &self.thread.into[cursor.state as usize] {
            let step = &self.thread.transitions[number as usize];
            let is_it = match (own, &step.operation) {
                (Own::Write(location, value), Operation::Write(to, written)) => {
                    *to == location && (value == ANY || value == *written)
                }
                (Own::Whole, Operation::Whole(_, writes)) => !writes.is_empty(),
                _ => false,
            };
            before.extend(self.undo(cursor, step).filter(|_| is_it));
        }
    }

    /// A step taken back, unless it contradicts an obligation.
    fn undo(&self, cursor: &Cursor, step: &Transition) -> Option<Cursor> {
        let mut before = cursor.clone();
        before.state = step.from;
        before.is_sealed |= step.drained;
        let position = |location: Location| self.owned.iter().position(|&owned| owned == location);
        let mut write = |location: Location, value: Value| match position(location) {
            None => true,
            Some(owned) => {
                let asked = std::mem::replace(&mut before.obligations[owned], ANY);
                unify(asked, value).is_some()
            }
        };
        let is_right = match &step.operation {
            Operation::Silent | Operation::Read(..) => true,
            Operation::Write(location, value) => write(*location, *value),
            Operation::Whole(_, writes) => writes.iter().all(|&(location, value)| write(location, value)),
        };
        let mut read = |location: Location, value: Value| match position(location) {
            None => true,
            Some(owned) => oblige(&mut before.obligations[owned], value),
        };
        let is_right = is_right
            && match &step.operation {
                Operation::Silent | Operation::Write(..) => true,
                Operation::Read(location, value) => read(*location, *value),
                Operation::Whole(reads, _) => reads.iter().all(|&(location, value)| read(location, value)),
            };
        is_right.then_some(before)
    }
}

fn oblige(obligation: &mut Value, value: Value) -> bool {
    match unify(*obligation, value) {
        Some(both) => {
            *obligation = both;
            true
        }
        None => false,
    }
}

fn oblige_all(obligations: &mut [Value], values: &[Value]) -> bool {
    obligations.iter_mut().zip(values).all(|(obligation, value)| oblige(obligation, *value))
}
