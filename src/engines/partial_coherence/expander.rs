//! The successors of a state, told to whoever wants them: the search, or who looks for the steps of a run.

use super::coherence::Coherence;
use super::space::{Space, bits};
use crate::engines::automata::replay::Scheduled;
use crate::explore::blocks::{Expand, Successors};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// Why the search ends at a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bad {
    /// It is forbidden.
    Forbidden,
    /// A thread has gone wrong.
    Wrong,
}

/// A step of a run of the abstract program, and whether anything of its thread waits afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traced {
    pub step: Scheduled,
    pub is_drained: bool,
}

/// Expands states.
pub struct Expander<'s> {
    space: &'s Space<'s>,
    next: Vec<u64>,
    /// What the condition says of classes and values.
    judged: FxHashMap<Box<[u32]>, bool>,
    /// The steps to the successor at hand, for who wants to know.
    traced: Vec<Traced>,
    /// What can be written that is in no domain: locations, by position, and values.
    pub outside: BTreeSet<(usize, i64)>,
}

/// Who is told the successors of a state.
pub trait Sink {
    /// Whether it wants to know the steps.
    const TRACES: bool;

    /// A state, and the steps that lead there.
    fn push(&mut self, steps: &[Traced], state: &[u64]);
}

impl Sink for Successors {
    const TRACES: bool = false;

    #[inline]
    fn push(&mut self, _: &[Traced], state: &[u64]) {
        Successors::push(self, state);
    }
}

/// A way to a state with this key.
struct Finder<'k> {
    key: &'k [u64],
    found: Option<Vec<Traced>>,
}

impl Sink for Finder<'_> {
    const TRACES: bool = true;

    fn push(&mut self, steps: &[Traced], state: &[u64]) {
        if self.found.is_none() && state[..self.key.len()] == *self.key {
            self.found = Some(steps.to_vec());
        }
    }
}

impl Expand for Expander<'_> {
    type Trouble = Bad;

    fn expand(&mut self, _: usize, state: &[u64], successors: &mut Successors) -> Result<(), Bad> {
        match self.bad(state) {
            Some(bad) if self.space.ends_at_bad => Err(bad),
            _ => {
                self.successors(state, successors);
                Ok(())
            }
        }
    }
}

impl<'s> Expander<'s> {
    /// Of these states.
    pub fn new(space: &'s Space<'s>) -> Expander<'s> {
        Expander {
            space,
            next: vec![0; space.layout.len()],
            judged: FxHashMap::default(),
            traced: Vec::new(),
            outside: BTreeSet::new(),
        }
    }

    /// Where the search starts, and the steps that come first.
    pub fn initial(&mut self) -> (Vec<u64>, Vec<Traced>) {
        let space = self.space;
        let mut state = vec![0; space.layout.len()];
        for (field, &value) in space.layout.memory.iter().zip(space.memory) {
            field.set(&mut state, u64::from(value));
        }
        let mut traced = Vec::new();
        for (thread, table) in space.threads.iter().enumerate() {
            space.layout.threads[thread].set(&mut state, u64::from(table.initial));
            space.go_on(&mut state, thread, |state, transition| {
                let is_drained = space.layout.is_drained(state, thread);
                traced.push(Traced { step: Scheduled::Step(thread, transition), is_drained });
            });
        }
        (state, traced)
    }

    /// What is bad about a state, if anything is. Where the condition cannot be evaluated, that is.
    pub fn bad(&mut self, state: &[u64]) -> Option<Bad> {
        let Space { layout, threads, mentioned, .. } = self.space;
        if self.space.wrong(state).is_some() {
            return Some(Bad::Wrong);
        }
        if !layout.is_all_drained(state) {
            return None;
        }
        let mut key = Vec::with_capacity(threads.len() + mentioned.len());
        for (thread, table) in threads.iter().enumerate() {
            key.push(table.classes[self.space.thread_state(state, thread)]?);
        }
        key.extend(mentioned.iter().map(|&location| layout.memory[location].get(state) as u32));
        if let Some(&is_bad) = self.judged.get(&key[..]) {
            return is_bad.then_some(Bad::Forbidden);
        }
        let is_bad = self.space.is_forbidden(&key).unwrap_or(true);
        self.judged.insert(key.into(), is_bad);
        is_bad.then_some(Bad::Forbidden)
    }

    /// The steps from one state to another, told by its key, if there are such.
    pub fn way(&mut self, state: &[u64], key: &[u64]) -> Option<Vec<Traced>> {
        let mut finder = Finder { key, found: None };
        self.successors(state, &mut finder);
        finder.found
    }

    /// Tells all successors of a state, thread by thread.
    fn successors<S: Sink>(&mut self, state: &[u64], sink: &mut S) {
        let space = self.space;
        for (thread, table) in space.threads.iter().enumerate() {
            for queue in space.layout.of_thread[thread].clone() {
                self.become_visible(state, thread, queue, sink);
            }
            let at = space.thread_state(state, thread);
            for known in table.outside.iter().filter(|known| known.from as usize == at) {
                if (!known.drained || space.layout.is_drained(state, thread)) && space.has(state, &known.reads) {
                    self.outside.extend(&known.writes);
                }
            }
            for &transition in &table.out[at] {
                let known = &table.transitions[transition as usize];
                if space.is_enabled(state, thread, known) {
                    self.next.copy_from_slice(state);
                    space.make(&mut self.next, thread, known);
                    self.tell(state, thread, Scheduled::Step(thread, transition), sink);
                }
            }
        }
    }

    /// The state at hand is a successor; its thread goes on as long as nobody notices.
    fn tell<S: Sink>(&mut self, state: &[u64], thread: usize, step: Scheduled, sink: &mut S) {
        let Expander { space, next, traced, .. } = self;
        if next == state {
            return;
        }
        let layout = &space.layout;
        traced.clear();
        if S::TRACES {
            traced.push(Traced { step, is_drained: layout.is_drained(next, thread) });
        }
        space.go_on(next, thread, |next, transition| {
            if S::TRACES {
                let is_drained = layout.is_drained(next, thread);
                traced.push(Traced { step: Scheduled::Step(thread, transition), is_drained });
            }
        });
        sink.push(traced, next);
    }

    /// What can become visible of a queue.
    fn become_visible<S: Sink>(&mut self, state: &[u64], thread: usize, number: usize, sink: &mut S) {
        let space = self.space;
        let queue = &space.layout.queues[number];
        if let Some(first) = queue.head.first()
            && let Some(entry) = (first.get(state) as usize).checked_sub(1)
        {
            self.next.copy_from_slice(state);
            let location = space.show(&mut self.next, queue, entry);
            for (field, behind) in queue.head.iter().zip(&queue.head[1..]) {
                field.set(&mut self.next, behind.get(state));
            }
            queue.head[queue.head.len() - 1].set(&mut self.next, 0);
            self.tell(state, thread, Scheduled::Commit(thread, Some(location)), sink);
            return;
        }
        let set = queue.set.get(state);
        if set == 0 {
            return;
        }
        for entry in bits(set) {
            // There are more like it, or others.
            self.next.copy_from_slice(state);
            let location = space.show(&mut self.next, queue, entry);
            self.tell(state, thread, Scheduled::Commit(thread, Some(location)), sink);
            if !matches!(space.coherence, Coherence::Partial(_)) && space.can_leave(state, queue, set, entry) {
                self.next.copy_from_slice(state);
                space.show(&mut self.next, queue, entry);
                space.leave(&mut self.next, queue, 1 << entry);
                self.tell(state, thread, Scheduled::Commit(thread, Some(location)), sink);
            }
        }
        if matches!(space.coherence, Coherence::Partial(_)) {
            for held in &queue.held {
                let own = set & held.entries;
                let is_last = queue.newest.is_none_or(|newest| {
                    let newest = 1_u64 << newest.get(state).wrapping_sub(1);
                    newest & held.entries == 0 || set == own
                });
                if own != 0 && is_last {
                    self.next.copy_from_slice(state);
                    let location = space.show(&mut self.next, queue, held.newest.get(state) as usize - 1);
                    space.leave(&mut self.next, queue, held.entries);
                    self.tell(state, thread, Scheduled::Commit(thread, Some(location)), sink);
                }
            }
        }
    }
}
