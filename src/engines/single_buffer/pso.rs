//! Configurations with a buffer for each thread and location, and the rules backwards (PSO).
//!
//! A [`Minor`] has a state of each thread, a memory, and for each thread and location the word of values that wait,
//! oldest first; values may be [`ANY`]. It stands for itself and for all with more values in words that are not empty,
//! anywhere but at their end: the last one is what the thread itself reads. On PSO this order is monotone as it is, so
//! no snapshots are needed.
//!
//! What no reachable configuration looks like is refused: a value that nobody can have written on a way to its state,
//! a word that the thread cannot have written since its last fence ([`History`], for each location by itself).

use super::history::{History, Own};
use super::search::{Rule, Rules, Semantics, Target, Undone};
use super::tso::{asks_no_more, unify};
use crate::engines::automata::{ANY, Automata, Location, Operation, StateAt, Transition, Value};
use crate::weak::visited::LimitReached;

/// A configuration that stands for all larger ones.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Minor {
    /// The state of each thread.
    pub states: Box<[StateAt]>,
    /// The memory.
    pub memory: Box<[Value]>,
    /// What waits, by thread and location.
    pub buffers: Box<[Vec<Value>]>,
}

/// Only minors of one bucket can be compared: the states, and which words are empty.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Bucket {
    states: Box<[StateAt]>,
    has_waiting: Box<[bool]>,
}

/// The rules.
pub struct Pso<'a> {
    pub automata: &'a Automata<'a>,
    history: History<'a>,
    rules: Rules,
}

impl<'a> Pso<'a> {
    /// The rules for a program.
    pub fn new(automata: &'a Automata<'a>, rules: Rules) -> Pso<'a> {
        Pso { automata, history: History::new(automata), rules }
    }

    /// The position of the word of a thread and a location.
    pub fn buffer(&self, thread: usize, location: Location) -> usize {
        thread * self.automata.domains.len() + location as usize
    }

    /// The words of a thread.
    pub fn buffers(&self, thread: usize) -> std::ops::Range<usize> {
        self.buffer(thread, 0)..self.buffer(thread + 1, 0)
    }

    fn keep(&self, mut minor: Minor, undone: Undone, found: &mut Vec<(Minor, Undone)>) {
        if self.refine(&mut minor) {
            found.push((minor, undone));
        }
    }

    /// Fills in what is known of every reachable configuration like this; false if there is none.
    pub fn refine(&self, minor: &mut Minor) -> bool {
        for location in 0..self.automata.domains.len() as Location {
            let numbers = self.automata.numbers(location);
            let first = numbers.start;
            let initial = self.automata.number(location, self.automata.memory[location as usize]);
            let is_possible = |number: usize| {
                let written = self.automata.threads.iter().zip(&minor.states).any(|(thread, &state)| {
                    thread.written[state as usize].contains(number)
                        || thread.written_whole[state as usize].contains(number)
                });
                written || number == initial
            };
            let value = &mut minor.memory[location as usize];
            if *value == ANY {
                let mut candidates = numbers.filter(|&number| is_possible(number));
                if let (Some(only), None) = (candidates.next(), candidates.next()) {
                    *value = (only - first) as Value;
                }
            } else if !is_possible(first + *value as usize) {
                return false;
            }
            let threads = 0..minor.states.len();
            if !threads.into_iter().all(|thread| self.can_have_been_written(minor, thread, location)) {
                return false;
            }
        }
        true
    }

    /// Whether a thread can have written what waits of it for a location, behind what is in memory.
    fn can_have_been_written(&self, minor: &Minor, thread: usize, location: Location) -> bool {
        let word = &minor.buffers[self.buffer(thread, location)];
        let owned = &self.history.owned[thread];
        let is_told = minor.memory[location as usize] != ANY && owned.contains(&location);
        if word.is_empty() && !is_told {
            return true;
        }
        let values = |value: Value| owned.iter().map(move |&known| if known == location { value } else { ANY });
        let mut shown = self.history.shown(thread, minor.states[thread]);
        shown.only = Some(location);
        shown.push(Own::No, values(minor.memory[location as usize]));
        word.iter().for_each(|&value| shown.push(Own::Write(location, value), values(value)));
        self.history.is_possible(shown)
    }

    fn undo(&self, minor: &Minor, thread: usize, number: u32, step: &Transition, found: &mut Vec<(Minor, Undone)>) {
        let undone = Undone::Step(thread, number);
        let is_drained = |minor: &Minor| self.buffers(thread).all(|buffer| minor.buffers[buffer].is_empty());
        let mut before = minor.clone();
        before.states[thread] = step.from;
        let drained_enough = |minor: &Minor| !step.drained || is_drained(minor);
        match &step.operation {
            Operation::Silent => {}
            Operation::Read(location, value) => {
                let word = &mut before.buffers[self.buffer(thread, *location)];
                let seen = word.last_mut().unwrap_or(&mut before.memory[*location as usize]);
                match unify(*seen, *value) {
                    Some(value) => *seen = value,
                    None => return,
                }
            }
            Operation::Write(location, value) => {
                let word = &mut before.buffers[self.buffer(thread, *location)];
                match word.last() {
                    Some(&last) if unify(last, *value).is_some() => {}
                    _ => return,
                }
                word.pop();
                if self.rules.has(Rule::Replace) && !step.drained {
                    let mut replaced = before.clone();
                    replaced.buffers[self.buffer(thread, *location)].push(ANY);
                    self.keep(replaced, undone, found);
                }
                if !self.rules.has(Rule::Write) {
                    return;
                }
            }
            Operation::Whole(reads, writes) => {
                if !is_drained(minor) {
                    return;
                }
                for &(location, value) in writes {
                    let seen = &mut before.memory[location as usize];
                    if unify(*seen, value).is_none() {
                        return;
                    }
                    *seen = ANY;
                }
                for &(location, value) in reads {
                    let seen = &mut before.memory[location as usize];
                    match unify(*seen, value) {
                        Some(value) => *seen = value,
                        None => return,
                    }
                }
            }
        }
        if drained_enough(&before) {
            self.keep(before, undone, found);
        }
    }
}

impl Semantics for Pso<'_> {
    type Minor = Minor;
    type Bucket = Bucket;

    fn starts(&self, target: &Target, _: usize) -> Result<Vec<Minor>, LimitReached> {
        let buffers = vec![Vec::new(); target.states.len() * target.memory.len()].into();
        let mut start = Minor { states: target.states.clone(), memory: target.memory.clone().into(), buffers };
        Ok(if self.refine(&mut start) { vec![start] } else { Vec::new() })
    }

    fn predecessors(&self, minor: &Minor, _: usize, found: &mut Vec<(Minor, Undone)>) -> Result<(), LimitReached> {
        for (thread, &state) in minor.states.iter().enumerate() {
            let automaton = &self.automata.threads[thread];
            for &number in &automaton.into[state as usize] {
                self.undo(minor, thread, number, &automaton.transitions[number as usize], found);
            }
            for location in (0..minor.memory.len() as Location).filter(|_| self.rules.has(Rule::Update)) {
                let numbers = self.automata.numbers(location);
                if automaton.written[state as usize].contains_any_in_range(numbers) {
                    let mut before = minor.clone();
                    let value = std::mem::replace(&mut before.memory[location as usize], ANY);
                    before.buffers[self.buffer(thread, location)].insert(0, value);
                    self.keep(before, Undone::Update(thread, location), found);
                }
            }
        }
        Ok(())
    }

    fn is_start_of_run(&self, minor: &Minor) -> bool {
        minor.states.iter().zip(&self.automata.threads).all(|(&state, known)| state == known.initial)
            && minor.buffers.iter().all(Vec::is_empty)
            && asks_no_more(&minor.memory, &self.automata.memory)
    }

    fn bucket(&self, minor: &Minor) -> Bucket {
        let has_waiting = minor.buffers.iter().map(|word| !word.is_empty()).collect();
        Bucket { states: minor.states.clone(), has_waiting }
    }

    fn covers(&self, small: &Minor, large: &Minor) -> bool {
        let is_in = |(small, large): (&Vec<Value>, &Vec<Value>)| match (small.split_last(), large.split_last()) {
            (None, None) => true,
            (Some((last, rest)), Some((other, others))) => {
                let mut others = others.iter();
                asks_no_more(&[*last], &[*other])
                    && rest.iter().all(|asked| others.any(|value| asks_no_more(&[*asked], &[*value])))
            }
            _ => false,
        };
        asks_no_more(&small.memory, &large.memory) && small.buffers.iter().zip(&large.buffers).all(is_in)
    }

    fn size(&self, minor: &Minor) -> usize {
        minor.buffers.iter().map(Vec::len).sum()
    }
}
