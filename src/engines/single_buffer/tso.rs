//! Configurations of one buffer that all threads share, and the rules backwards (TSO).
//!
//! A [`Minor`] stands for itself and for all larger configurations: those with more messages, none of which is seen by
//! a thread or is the last write of a thread to a location. It consists of
//!
//! - a state of each thread;
//! - a word of messages: a snapshot of the memory, of which a value may be [`ANY`], and a [tag](Tags): who wrote what;
//! - for each thread a pointer to the message that is the memory as the thread sees it. What stands behind it and is
//!   tagged with the thread waits in its store buffer.
//!
//! The message that a read of x by a thread takes its value from is the last one that is its own write to x, if that
//! stands behind the pointer, else the one under the pointer ([`Tso::last_write`]).
//!
//! A step that is one and writes several locations is one message. Nobody's last write can be such a message, for the
//! pointer of its thread is on it or behind it, so its tag names only the thread.
//!
//! [`Tso::predecessors`] gives the minors of all configurations from which one step leads into what a minor stands
//! for. Pointers move only in one block before an instruction of their thread that depends on them, a read, a fence
//! or a step that is one, and at the end: nobody else can tell ([`Tso::moves`]).
//!
//! What no reachable configuration looks like is refused, and values that are the same in all reachable ones are
//! filled in ([`Tso::refine`]):
//!
//! 1. the initial message has the initial values;
//! 2. a value was there at the start, or was written by a thread on a way to its state; that of a message tagged with a
//!    write by the one thread;
//! 3. what there is of a thread was written on a way to its state, in this order, and with no fence behind what waits;
//!    what a location holds that only the thread writes is what it wrote there last ([`History`]);
//! 4. behind the last place where a write to a location can stand, all messages agree on it.

mod rules;

use super::history::{History, Own};
use super::search::{Rules, Semantics, Target, Undone};
use crate::engines::automata::{ANY, Automata, Automaton, Location, Operation, StateAt, Value};
use crate::weak::visited::LimitReached;
use std::cell::Cell;

/// What a message is tagged with.
pub type Tag = u8;

/// The tag of the message that is there at the start.
pub const INITIAL: Tag = u8::MAX;

/// A configuration that stands for all larger ones.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Minor {
    /// The state of each thread.
    pub states: Box<[StateAt]>,
    /// The pointer of each thread.
    pub pointers: Box<[u8]>,
    /// The tags of the messages.
    pub tags: Vec<Tag>,
    /// The snapshots of the messages, one behind the other.
    pub values: Vec<Value>,
}

/// Only minors of one bucket can be compared: the states, and of each message that is anchored, by a pointer or as a
/// last write, its tag and the threads that point to it. In bytes, since there are many of these.
pub type Bucket = Box<[u8]>;

/// How tags are numbered.
#[derive(Clone, Copy, Debug)]
pub struct Tags {
    locations: usize,
}

impl Tags {
    /// A write of a thread to a location.
    pub fn write(self, thread: usize, location: Location) -> Tag {
        (thread * (self.locations + 1) + location as usize) as Tag
    }

    /// A step of a thread that is one.
    pub fn whole(self, thread: usize) -> Tag {
        (thread * (self.locations + 1) + self.locations) as Tag
    }

    /// The thread of a tag, and the location, if it is that of a write.
    pub fn of(self, tag: Tag) -> Option<(usize, Option<Location>)> {
        if tag == INITIAL {
            return None;
        }
        let (thread, location) = (tag as usize / (self.locations + 1), tag as usize % (self.locations + 1));
        Some((thread, (location < self.locations).then_some(location as Location)))
    }
}

/// The rules.
pub struct Tso<'a> {
    pub automata: &'a Automata<'a>,
    pub tags: Tags,
    /// All tags that a message can have, but for the initial one.
    pub all: Vec<Tag>,
    history: History<'a>,
    rules: Rules,
    /// A configuration was left out, for it has too many messages.
    is_cut_off: Cell<bool>,
}

/// The most messages: pointers are bytes, and the second look may put in one for each location.
const MOST_MESSAGES: usize = 120;

impl Minor {
    /// How many messages it has.
    pub fn len(&self) -> usize {
        self.tags.len()
    }

    /// The snapshot of a message.
    pub fn snapshot(&self, message: usize) -> &[Value] {
        let locations = self.values.len() / self.tags.len();
        &self.values[message * locations..(message + 1) * locations]
    }

    fn value_mut(&mut self, message: usize, location: Location) -> &mut Value {
        let locations = self.values.len() / self.tags.len();
        &mut self.values[message * locations + location as usize]
    }

    fn pop(&mut self) -> Vec<Value> {
        let locations = self.values.len() / self.tags.len();
        self.tags.pop();
        self.values.split_off(self.tags.len() * locations)
    }

    /// Puts a message in; pointers to those behind it follow.
    fn insert(&mut self, message: usize, tag: Tag, snapshot: &[Value]) {
        self.tags.insert(message, tag);
        let place = message * snapshot.len();
        self.values.splice(place..place, snapshot.iter().copied());
        self.pointers.iter_mut().filter(|pointer| **pointer as usize >= message).for_each(|pointer| *pointer += 1);
    }

    /// Takes a message out that no thread points to.
    #[cfg(test)]
    pub fn remove(&mut self, message: usize) {
        let locations = self.values.len() / self.tags.len();
        self.tags.remove(message);
        self.values.drain(message * locations..(message + 1) * locations);
        self.pointers.iter_mut().filter(|pointer| **pointer as usize > message).for_each(|pointer| *pointer -= 1);
    }

    /// Leaves out what no thread sees any more.
    pub fn drop_unseen(&mut self) {
        let first = self.pointers.iter().copied().min().unwrap_or(0);
        if first > 0 {
            let locations = self.values.len() / self.tags.len();
            self.tags.drain(..first as usize);
            self.values.drain(..first as usize * locations);
            self.pointers.iter_mut().for_each(|pointer| *pointer -= first);
        }
    }
}

/// Whether two values can be one, and which.
pub fn unify(one: Value, other: Value) -> Option<Value> {
    match (one, other) {
        (ANY, value) | (value, ANY) => Some(value),
        (one, other) => (one == other).then_some(one),
    }
}

fn unify_all(values: &mut [Value], others: &[Value]) -> bool {
    values.iter_mut().zip(others).all(|(value, other)| match unify(*value, *other) {
        Some(both) => {
            *value = both;
            true
        }
        None => false,
    })
}

/// Whether the values that a smaller configuration asks for are those of a larger one.
pub fn asks_no_more(small: &[Value], large: &[Value]) -> bool {
    small.iter().zip(large).all(|(asked, value)| *asked == ANY || asked == value)
}

impl<'a> Tso<'a> {
    /// The rules for a program.
    pub fn new(automata: &'a Automata<'a>, rules: Rules) -> Tso<'a> {
        let tags = Tags { locations: automata.domains.len() };
        let mut all = Vec::new();
        for (thread, known) in automata.threads.iter().enumerate() {
            let does = |is: &dyn Fn(&Operation) -> bool| known.transitions.iter().any(|step| is(&step.operation));
            for location in 0..automata.domains.len() as Location {
                if does(&|operation| matches!(operation, Operation::Write(to, _) if *to == location)) {
                    all.push(tags.write(thread, location));
                }
            }
            if does(&|operation| matches!(operation, Operation::Whole(_, writes) if !writes.is_empty())) {
                all.push(tags.whole(thread));
            }
        }
        Tso { automata, tags, all, history: History::new(automata), rules, is_cut_off: Cell::new(false) }
    }

    fn thread(&self, thread: usize) -> &'a Automaton {
        &self.automata.threads[thread]
    }

    /// The message that a read of a thread takes its value from.
    pub fn last_write(&self, minor: &Minor, thread: usize, location: Location) -> usize {
        let (pointer, own) = (minor.pointers[thread] as usize, self.tags.write(thread, location));
        (pointer..minor.len()).rev().find(|&message| minor.tags[message] == own).unwrap_or(pointer)
    }

    /// Refines a minor and keeps it, if it can be reached at all.
    fn keep(&self, mut minor: Minor, found: &mut Vec<Minor>) {
        minor.drop_unseen();
        if minor.len() > MOST_MESSAGES {
            self.is_cut_off.set(true);
        } else if self.refine(&mut minor) {
            found.push(minor);
        }
    }

    /// Fills in what is known of every reachable configuration like this; false if there is none.
    pub fn refine(&self, minor: &mut Minor) -> bool {
        if minor.tags[0] == INITIAL {
            let locations = self.automata.domains.len();
            if !unify_all(&mut minor.values[..locations], &self.automata.memory) {
                return false;
            }
        }
        self.refine_values(minor) && self.agree(minor) && self.can_have_been_written(minor)
    }

    fn refine_values(&self, minor: &mut Minor) -> bool {
        for location in 0..self.automata.domains.len() as Location {
            let numbers = self.automata.numbers(location);
            let first = numbers.start;
            let initial = self.automata.number(location, self.automata.memory[location as usize]);
            let mut possible: Vec<usize> = Vec::new();
            for number in numbers {
                let written = self.automata.threads.iter().zip(&minor.states).any(|(thread, &state)| {
                    thread.written[state as usize].contains(number)
                        || thread.written_whole[state as usize].contains(number)
                });
                if written || number == initial {
                    possible.push(number);
                }
            }
            for message in 0..minor.len() {
                let tag = minor.tags[message];
                let own = self.tags.of(tag).filter(|(_, written)| *written == Some(location));
                let own = own.map(|(thread, _)| &self.thread(thread).written[minor.states[thread] as usize]);
                let is_possible = |number: usize| own.is_none_or(|written| written.contains(number));
                let value = minor.value_mut(message, location);
                let mut candidates = possible.iter().filter(|&&number| is_possible(number));
                if *value == ANY {
                    match (candidates.next(), candidates.next()) {
                        (None, _) => return false,
                        (Some(only), None) => *value = (only - first) as Value,
                        _ => {}
                    }
                } else if !candidates.any(|&number| number == first + *value as usize) {
                    return false;
                }
            }
        }
        true
    }

    /// Behind the last place where a write to a location can stand all messages agree on it.
    fn agree(&self, minor: &mut Minor) -> bool {
        for location in 0..self.automata.domains.len() as Location {
            let numbers = self.automata.numbers(location);
            let mut last = 0;
            for (thread, known) in self.automata.threads.iter().enumerate() {
                let state = minor.states[thread] as usize;
                if known.written[state].contains_any_in_range(numbers.clone()) {
                    last = last.max(self.last_write(minor, thread, location));
                }
                if known.written_whole[state].contains_any_in_range(numbers.clone()) {
                    last = last.max(minor.pointers[thread] as usize);
                }
            }
            let mut agreed = ANY;
            for message in last..minor.len() {
                match unify(agreed, *minor.value_mut(message, location)) {
                    Some(value) => agreed = value,
                    None => return false,
                }
            }
            for message in last..minor.len() {
                *minor.value_mut(message, location) = agreed;
            }
        }
        true
    }

    /// Whether each thread can have written what there is of it.
    fn can_have_been_written(&self, minor: &Minor) -> bool {
        (0..minor.states.len()).all(|thread| {
            let pointer = minor.pointers[thread] as usize;
            let owned = &self.history.owned[thread];
            let mut shown = self.history.shown(thread, minor.states[thread]);
            shown.is_all = minor.tags[0] == INITIAL;
            for message in 0..minor.len() {
                let snapshot = minor.snapshot(message);
                let own = match self.tags.of(minor.tags[message]) {
                    Some((writer, Some(location))) if writer == thread => {
                        Own::Write(location, snapshot[location as usize])
                    }
                    // The pointer of a thread is behind its steps that are one.
                    Some((writer, None)) if writer == thread && message > pointer => return false,
                    Some((writer, None)) if writer == thread => Own::Whole,
                    _ => Own::No,
                };
                if message == pointer {
                    shown.pointer = shown.len();
                }
                shown.push(own, owned.iter().map(|&location| snapshot[location as usize]));
                if message != pointer {
                    shown.pop_if_repeated();
                }
            }
            self.history.is_possible(shown)
        })
    }

    /// The messages that are anchored.
    pub fn anchors(&self, minor: &Minor) -> Vec<(usize, u32)> {
        let mut anchors = Vec::new();
        for (message, &tag) in minor.tags.iter().enumerate() {
            let mut seen_by = 0;
            for (thread, &pointer) in minor.pointers.iter().enumerate() {
                seen_by |= u32::from(pointer as usize == message) << thread;
            }
            let is_last_write = match self.tags.of(tag) {
                Some((thread, Some(location))) => {
                    minor.pointers[thread] as usize <= message && self.last_write(minor, thread, location) == message
                }
                _ => false,
            };
            if seen_by != 0 || is_last_write {
                anchors.push((message, seen_by));
            }
        }
        anchors
    }
}

impl Semantics for Tso<'_> {
    type Minor = Minor;
    type Bucket = Bucket;

    fn starts(&self, target: &Target, most: usize) -> Result<Vec<Minor>, LimitReached> {
        let mut found = Vec::new();
        for tag in self.all.iter().copied().chain([INITIAL]) {
            let start = Minor {
                states: target.states.clone(),
                pointers: vec![0; target.states.len()].into(),
                tags: vec![tag],
                values: target.memory.clone(),
            };
            let mut minors = Vec::new();
            self.keep(start, &mut minors);
            for thread in 0..target.states.len() {
                let mut moved = Vec::new();
                for minor in minors {
                    self.moves(minor, thread, most, &mut moved)?;
                }
                minors = moved;
            }
            found.append(&mut minors);
            if found.len() > most {
                return Err(LimitReached::States);
            }
        }
        Ok(found)
    }

    fn predecessors(&self, minor: &Minor, most: usize, found: &mut Vec<(Minor, Undone)>) -> Result<(), LimitReached> {
        for (thread, &state) in minor.states.iter().enumerate() {
            let automaton = self.thread(thread);
            for &number in &automaton.into[state as usize] {
                let (undone, depends) = self.undo(minor, thread, &automaton.transitions[number as usize]);
                let mut moved = Vec::new();
                match depends {
                    true => {
                        for minor in undone {
                            self.moves(minor, thread, most, &mut moved)?;
                        }
                    }
                    false => moved = undone,
                }
                found.extend(moved.into_iter().map(|minor| (minor, Undone::Step(thread, number))));
            }
        }
        Ok(())
    }

    fn is_start_of_run(&self, minor: &Minor) -> bool {
        let is_initial = minor.states.iter().zip(&self.automata.threads).all(|(&state, known)| state == known.initial);
        is_initial && minor.tags == [INITIAL] && asks_no_more(&minor.values, &self.automata.memory)
    }

    fn bucket(&self, minor: &Minor) -> Bucket {
        let mut bucket: Vec<u8> = minor.states.iter().flat_map(|state| state.to_le_bytes()).collect();
        for (message, seen_by) in self.anchors(minor) {
            bucket.push(minor.tags[message]);
            bucket.extend(seen_by.to_le_bytes());
        }
        bucket.into()
    }

    fn covers(&self, small: &Minor, large: &Minor) -> bool {
        let asks_no_more = |message: usize, other: usize| {
            small.tags[message] == large.tags[other] && asks_no_more(small.snapshot(message), large.snapshot(other))
        };
        let mut next = 0;
        let mut at = 0;
        for ((anchor, _), (other, _)) in self.anchors(small).into_iter().zip(self.anchors(large)) {
            // What stands between two anchors is in the larger one, in this order.
            while at < anchor {
                while next < other && !asks_no_more(at, next) {
                    next += 1;
                }
                if next == other {
                    return false;
                }
                (at, next) = (at + 1, next + 1);
            }
            if !asks_no_more(anchor, other) {
                return false;
            }
            (at, next) = (anchor + 1, other + 1);
        }
        true
    }

    fn size(&self, minor: &Minor) -> usize {
        minor.len()
    }

    fn is_cut_off(&self) -> bool {
        self.is_cut_off.get()
    }
}
