//! A second look at a proof: the states that were found are closed under the steps, have the start among them, and none
//! of them is bad.
//!
//! It shares no rule with the [search](super::space): a state is taken apart into lists and sets, the rules are those
//! of the definition, one after the other, and conditions are evaluated as they are written. Shared are the threads'
//! automata, where the bits of a state are, and which steps are thought to be made [at once](super::space), of which
//! each is looked at here ([`at_once`]). Whether threads are [stuck] is told by what each of their
//! configurations does.
//!
//! *Cost.* Linear in the number of steps, in parallel; a few times that of the search.

mod at_once;
mod stuck;

pub use stuck::Exits;

use super::coherence::Coherence;
use super::layout::{Entry, Layout};
use super::search::Reached;
use super::space::bits;
use crate::budget::{Budget, Exhausted};
use crate::engines::automata::{Automata, Location, Operation, Outside, Transition, Value};
use crate::property::Quantifier;
use crate::weak::Machine;
use crate::weak::forbidden::Forbidden;
use rayon::prelude::*;
use std::collections::BTreeSet;

/// States that are looked at between two looks at the clock.
const PART: usize = 1 << 12;

/// States that are said to be all.
pub trait Listed: Sync {
    /// How many there are.
    fn count(&self) -> usize;

    /// Whether a state is one of them, or is part of one.
    fn has(&self, state: &[u64]) -> bool;

    /// One of them.
    fn load(&self, number: usize, state: &mut [u64]);
}

impl Listed for Reached<'_> {
    fn count(&self) -> usize {
        self.len()
    }

    fn has(&self, state: &[u64]) -> bool {
        Reached::has(self, state)
    }

    fn load(&self, number: usize, state: &mut [u64]) {
        Reached::load(self, number, state);
    }
}

/// What is known of a state of a thread, as conditions see it.
struct Seen {
    frame: Vec<i64>,
    control: i64,
    /// Between two instructions of the program.
    is_judged: bool,
    has_ended: bool,
    is_wrong: bool,
}

/// What the proof is of.
pub struct Claim<'c> {
    machine: Machine,
    coherence: Coherence,
    layout: &'c Layout,
    transitions: Vec<&'c [Transition]>,
    outside: Vec<&'c [Outside]>,
    /// For each thread and state the transitions from there.
    from: Vec<Vec<Vec<usize>>>,
    seen: Vec<Vec<Seen>>,
    domains: &'c [Vec<i64>],
    initial: Plain,
    forbidden: Forbidden<'c>,
    /// For each thread and state the transition that is made at once.
    private: Vec<&'c [Option<u32>]>,
    /// When threads are stuck; without it every state may be a deadlock.
    exits: Option<Exits>,
}

/// A buffer, taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct PlainBuffer {
    head: Vec<usize>,
    set: u64,
    /// For each location that it holds, the newest of the set.
    newest: Vec<Option<usize>>,
    newest_of_all: Option<usize>,
}

/// A state, taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Plain {
    threads: Vec<usize>,
    memory: Vec<u64>,
    buffers: Vec<PlainBuffer>,
}

impl<'c> Claim<'c> {
    /// That a program never comes to something forbidden.
    pub fn new(
        automata: &'c Automata<'_>,
        layout: &'c Layout,
        (machine, coherence): (Machine, Coherence),
        forbidden: Forbidden<'c>,
        private: Vec<&'c [Option<u32>]>,
    ) -> Claim<'c> {
        let of_thread = |thread: usize| {
            let configurations = &automata.configurations[thread];
            let seen = |&id: &u32| {
                let config = configurations.config(id);
                Seen {
                    frame: config.frame.to_vec(),
                    control: i64::from(config.control.0),
                    is_judged: configurations.is_judged(id),
                    has_ended: configurations.steps(id).is_empty(),
                    is_wrong: config.is_faulty,
                }
            };
            automata.threads[thread].examples.iter().map(seen).collect()
        };
        let from = automata.threads.iter().map(|thread| {
            let from = |state: usize| {
                (0..thread.transitions.len()).filter(|&at| thread.transitions[at].from as usize == state).collect()
            };
            (0..thread.examples.len()).map(from).collect()
        });
        Claim {
            machine,
            coherence,
            layout,
            transitions: automata.threads.iter().map(|thread| &thread.transitions[..]).collect(),
            outside: automata.threads.iter().map(|thread| &thread.outside[..]).collect(),
            from: from.collect(),
            seen: (0..automata.threads.len()).map(of_thread).collect(),
            domains: &automata.domains,
            initial: Plain {
                threads: automata.threads.iter().map(|thread| thread.initial as usize).collect(),
                memory: automata.memory.iter().map(|&value| u64::from(value)).collect(),
                buffers: layout
                    .queues
                    .iter()
                    .map(|queue| PlainBuffer { newest: vec![None; queue.held.len()], ..PlainBuffer::default() })
                    .collect(),
            },
            forbidden,
            private,
            exits: None,
        }
    }

    /// The same, with what is known of when threads are stuck.
    pub fn with(self, exits: Option<Exits>) -> Claim<'c> {
        Claim { exits, ..self }
    }

    /// Whether these states prove it.
    ///
    /// # Errors
    /// If the budget is exhausted.
    pub fn is_proved_by(&self, reached: &impl Listed, budget: &Budget) -> Result<bool, Exhausted> {
        if !self.are_private() {
            return Ok(false);
        }
        let mut words = vec![0; self.layout.len()];
        let mut initial = self.initial.clone();
        (0..initial.threads.len()).for_each(|thread| self.go_on(&mut initial, thread));
        self.pack(&initial, &mut words);
        if !reached.has(&words) {
            return Ok(false);
        }
        let parts: Vec<usize> = (0..reached.count()).step_by(PART).collect();
        let are_right = |&first: &usize| {
            budget.check()?;
            let mut look =
                Look { claim: self, reached, words: words.clone(), here: initial.clone(), next: initial.clone() };
            Ok((first..reached.count().min(first + PART)).all(|number| look.is_right(number)))
        };
        parts.par_iter().map(are_right).try_reduce(|| true, |one, other| Ok(one && other))
    }

    /// The buffers of a thread.
    fn buffers_of(&self, thread: usize) -> std::ops::Range<usize> {
        self.layout.of_thread[thread].clone()
    }

    fn is_drained(&self, state: &Plain, thread: usize) -> bool {
        state.buffers[self.buffers_of(thread)].iter().all(|buffer| buffer.head.is_empty() && buffer.set == 0)
    }

    /// What a thread may read from a location.
    fn readable(&self, state: &Plain, thread: usize, location: Location) -> BTreeSet<Value> {
        for number in self.buffers_of(thread) {
            let (buffer, queue) = (&state.buffers[number], &self.layout.queues[number]);
            let is_of = |entry: &usize| queue.entries[*entry].location == location;
            let in_set: Vec<usize> = bits(buffer.set).filter(is_of).collect();
            if !in_set.is_empty() {
                if self.coherence == Coherence::Set {
                    return in_set.iter().map(|&entry| queue.entries[entry].value).collect();
                }
                let newest = buffer.newest.iter().flatten().find(|entry| is_of(entry));
                return newest.map(|&entry| queue.entries[entry].value).into_iter().collect();
            }
            if let Some(&entry) = buffer.head.iter().rev().find(|entry| is_of(entry)) {
                return [queue.entries[entry].value].into();
            }
        }
        [state.memory[location as usize] as Value].into()
    }

    fn can_make(&self, state: &Plain, thread: usize, known: &Transition) -> bool {
        let is_drained = self.is_drained(state, thread);
        match &known.operation {
            _ if known.drained && !is_drained => false,
            Operation::Silent | Operation::Write(..) => true,
            Operation::Read(location, value) => self.readable(state, thread, *location).contains(value),
            Operation::Whole(reads, _) => {
                let has = |&(location, value): &(Location, Value)| state.memory[location as usize] == u64::from(value);
                is_drained && reads.iter().all(has)
            }
        }
    }

    fn make(&self, state: &mut Plain, thread: usize, known: &Transition) {
        state.threads[thread] = known.to as usize;
        match &known.operation {
            Operation::Silent | Operation::Read(..) => {}
            Operation::Whole(_, writes) => {
                writes.iter().for_each(|&(location, value)| state.memory[location as usize] = u64::from(value));
            }
            &Operation::Write(location, value) => {
                let written = Entry { location, value, label: known.label };
                for number in self.buffers_of(thread) {
                    let queue = &self.layout.queues[number];
                    let Some(entry) = queue.entries.iter().position(|entry| *entry == written) else { continue };
                    let buffer = &mut state.buffers[number];
                    if buffer.set == 0 && buffer.head.len() < self.coherence.head() {
                        buffer.head.push(entry);
                    } else {
                        buffer.set |= 1 << entry;
                        buffer.newest[queue.place[entry]] = Some(entry);
                        buffer.newest_of_all = Some(entry);
                    }
                }
            }
        }
    }

    fn go_on(&self, state: &mut Plain, thread: usize) {
        while let Some(at) = self.private[thread][state.threads[thread]] {
            let known = &self.transitions[thread][at as usize];
            if !self.can_make(state, thread, known) {
                return;
            }
            self.make(state, thread, known);
        }
    }

    /// Whether something can be written that is in no domain.
    fn leads_out(&self, state: &Plain) -> bool {
        self.outside.iter().enumerate().any(|(thread, outside)| {
            let has = |&(location, value): &(Location, Value)| state.memory[location as usize] == u64::from(value);
            outside.iter().any(|known| {
                known.from as usize == state.threads[thread]
                    && (!known.drained || self.is_drained(state, thread))
                    && known.reads.iter().all(has)
            })
        })
    }

    /// Whether a state is one that must not be.
    fn is_bad(&self, state: &Plain) -> bool {
        let seen = || state.threads.iter().zip(&self.seen).map(|(&at, seen)| &seen[at]);
        if seen().any(|seen| seen.is_wrong) {
            return true;
        }
        let is_empty = |thread: usize| self.is_drained(state, thread);
        if !seen().all(|seen| seen.is_judged) || !(0..state.threads.len()).all(is_empty) {
            return false;
        }
        let memory = state.memory.iter().zip(self.domains).map(|(&value, domain)| domain[value as usize]);
        let memory: Vec<i64> = memory.collect();
        match self.forbidden {
            Forbidden::State(condition) => {
                let mut observed = memory;
                seen().for_each(|seen| observed.extend(&seen.frame));
                observed.extend(seen().map(|seen| seen.control));
                !matches!(condition.which_holds(&observed), Ok(None))
            }
            Forbidden::End(condition) => {
                let locals: Vec<Vec<i64>> = seen().map(|seen| seen.frame.clone()).collect();
                let is_so = condition.proposition.holds((&memory, &locals));
                seen().all(|seen| seen.has_ended) && is_so == (condition.quantifier != Quantifier::Forall)
            }
            Forbidden::Deadlock => {
                self.exits.as_ref().is_none_or(|exits| exits.may_be_deadlock(&state.threads, &memory))
            }
        }
    }

    fn pack(&self, state: &Plain, words: &mut [u64]) {
        let number = |entry: Option<usize>| entry.map_or(0, |entry| entry as u64 + 1);
        words.fill(0);
        self.layout.threads.iter().zip(&state.threads).for_each(|(field, &at)| field.set(words, at as u64));
        self.layout.memory.iter().zip(&state.memory).for_each(|(field, &value)| field.set(words, value));
        for (queue, buffer) in self.layout.queues.iter().zip(&state.buffers) {
            for (position, field) in queue.head.iter().enumerate() {
                field.set(words, number(buffer.head.get(position).copied()));
            }
            queue.set.set(words, buffer.set);
            if self.coherence != Coherence::Set {
                queue
                    .held
                    .iter()
                    .zip(&buffer.newest)
                    .for_each(|(held, &newest)| held.newest.set(words, number(newest)));
                queue.newest.iter().for_each(|field| field.set(words, number(buffer.newest_of_all)));
            }
        }
    }

    fn unpack(&self, words: &[u64], state: &mut Plain) {
        let entry = |number: u64| (number as usize).checked_sub(1);
        self.layout.threads.iter().zip(&mut state.threads).for_each(|(field, at)| *at = field.get(words) as usize);
        self.layout.memory.iter().zip(&mut state.memory).for_each(|(field, value)| *value = field.get(words));
        for (queue, buffer) in self.layout.queues.iter().zip(&mut state.buffers) {
            buffer.head.clear();
            buffer.head.extend(queue.head.iter().map_while(|field| entry(field.get(words))));
            buffer.set = queue.set.get(words);
            for (held, newest) in queue.held.iter().zip(&mut buffer.newest) {
                *newest = entry(held.newest.get(words));
            }
            // Of one location it is the newest of that.
            buffer.newest_of_all = match queue.newest {
                Some(field) => entry(field.get(words)),
                None => buffer.newest[0],
            };
        }
    }
}

/// Looks at one state after the other.
struct Look<'l, 'c, R> {
    claim: &'l Claim<'c>,
    reached: &'l R,
    words: Vec<u64>,
    here: Plain,
    next: Plain,
}

impl<R: Listed> Look<'_, '_, R> {
    /// Whether a state is not bad, and all that can follow it is among the others.
    fn is_right(&mut self, number: usize) -> bool {
        let claim = self.claim;
        self.reached.load(number, &mut self.words);
        claim.unpack(&self.words, &mut self.here);
        !claim.is_bad(&self.here)
            && !claim.leads_out(&self.here)
            && (0..self.here.threads.len()).all(|thread| {
                let mut transitions = claim.from[thread][self.here.threads[thread]].iter();
                transitions.all(|&at| {
                    let known = &claim.transitions[thread][at];
                    !claim.can_make(&self.here, thread, known)
                        || self.is_found(thread, |next| claim.make(next, thread, known))
                }) && claim.buffers_of(thread).all(|buffer| self.is_closed_under_visibility(thread, buffer))
            })
    }

    /// Whether the state with a change, and what its thread does at once, is among the others.
    fn is_found(&mut self, thread: usize, change: impl FnOnce(&mut Plain)) -> bool {
        self.next.clone_from(&self.here);
        change(&mut self.next);
        self.claim.go_on(&mut self.next, thread);
        self.claim.pack(&self.next, &mut self.words);
        self.reached.has(&self.words)
    }

    /// Whether all that can become visible of a buffer leads to others.
    fn is_closed_under_visibility(&mut self, thread: usize, number: usize) -> bool {
        let claim = self.claim;
        let queue = &claim.layout.queues[number];
        let show = |next: &mut Plain, entry: usize| {
            let Entry { location, value, .. } = queue.entries[entry];
            next.memory[location as usize] = u64::from(value);
        };
        if let Some(&oldest) = self.here.buffers[number].head.first() {
            return self.is_found(thread, |next| {
                show(next, oldest);
                next.buffers[number].head.remove(0);
            });
        }
        let PlainBuffer { set, newest, newest_of_all, .. } = self.here.buffers[number].clone();
        let others = |entry: usize| bits(set).filter(move |&other| other != entry);
        let same_location = |a: usize, b: usize| queue.entries[a].location == queue.entries[b].location;
        let forget = |buffer: &mut PlainBuffer, gone: &dyn Fn(usize) -> bool| {
            buffer.set = bits(buffer.set).filter(|&entry| !gone(entry)).fold(0, |set, entry| set | 1 << entry);
            for (place, newest) in buffer.newest.iter_mut().enumerate() {
                if !bits(buffer.set).any(|entry| queue.place[entry] == place) {
                    *newest = None;
                }
            }
            if buffer.set == 0 {
                buffer.newest_of_all = None;
            }
        };
        bits(set).all(|entry| {
            let is_newest_of_location = newest[queue.place[entry]] == Some(entry);
            let is_newest_of_all = newest_of_all == Some(entry) && claim.machine == Machine::Tso;
            let stays = self.is_found(thread, |next| show(next, entry));
            let leaves = match claim.coherence {
                Coherence::Set => self.is_found(thread, |next| {
                    show(next, entry);
                    forget(&mut next.buffers[number], &|other| other == entry);
                }),
                Coherence::Full(_) => {
                    let must_wait = (is_newest_of_location && others(entry).any(|other| same_location(entry, other)))
                        || (is_newest_of_all && others(entry).next().is_some());
                    must_wait
                        || self.is_found(thread, |next| {
                            show(next, entry);
                            forget(&mut next.buffers[number], &|other| other == entry);
                        })
                }
                // It was the last one of its location, and so the newest.
                Coherence::Partial(_) => {
                    let must_wait = !is_newest_of_location
                        || (is_newest_of_all && others(entry).any(|other| !same_location(entry, other)));
                    must_wait
                        || self.is_found(thread, |next| {
                            show(next, entry);
                            forget(&mut next.buffers[number], &|other| same_location(entry, other));
                        })
                }
            };
            stays && leaves
        })
    }
}
