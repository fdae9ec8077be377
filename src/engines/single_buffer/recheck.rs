//! A second look at a search that found nothing: its minors are closed under predecessors, stand for all forbidden
//! states, and not for the start.
//!
//! This is the proof of the verdict, whatever the search did. It is written from the definitions and shares no rule
//! with the search: messages are a plain list, pointers move by single steps as long as that gives something new, and
//! the order is decided by the definition, message by message. What the search and this have in common are the
//! automata, what is known of all reachable configurations ([`Tso::refine`], [`Pso::refine`]), and the buckets, by
//! which a minor is looked up: one that is not found makes this fail.

use super::pso::{self, Pso};
use super::search::{Semantics, Target};
use super::tso::{self, INITIAL, Tag, Tags, Tso};
use crate::budget::{Budget, Exhausted};
use crate::engines::automata::{ANY, Location, Operation, Transition, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;

/// The plain rules of a machine.
trait Plain: Semantics {
    /// A minor with what the order asks of it.
    type Look;

    /// What the order asks of a minor.
    fn look(&self, minor: &Self::Minor) -> Self::Look;
    /// Whether what the first stands for has all that the second stands for, by the definition of the order.
    fn stands_for(&self, small: &Self::Look, large: &Self::Look) -> bool;
    /// All that the search has to have seen from a minor; each is refined.
    fn before(&self, minor: &Self::Minor) -> Vec<Self::Minor>;
    /// The forbidden configurations that the search has to have started from; each is refined.
    fn forbidden(&self, target: &Target) -> Vec<Self::Minor>;
    /// The start of all runs.
    fn start(&self) -> Self::Minor;
}

/// Minors, to be looked up.
struct Known<S: Plain> {
    themselves: FxHashSet<S::Minor>,
    buckets: FxHashMap<S::Bucket, Vec<S::Look>>,
}

impl<S: Plain> Known<S> {
    fn new() -> Known<S> {
        Known { themselves: FxHashSet::default(), buckets: FxHashMap::default() }
    }

    fn add(&mut self, rules: &S, minor: &S::Minor) {
        self.buckets.entry(rules.bucket(minor)).or_default().push(rules.look(minor));
        self.themselves.insert(minor.clone());
    }

    /// Whether one of them stands for this one; if so, that is remembered.
    fn stand_for(&mut self, rules: &S, minor: &S::Minor) -> bool {
        if self.themselves.contains(minor) {
            return true;
        }
        let Some(known) = self.buckets.get(&rules.bucket(minor)) else { return false };
        let look = rules.look(minor);
        let is_covered = known.iter().any(|small| rules.stands_for(small, &look));
        if is_covered {
            self.themselves.insert(minor.clone());
        }
        is_covered
    }
}

/// Whether minors prove that no target is reached.
///
/// # Errors
/// If the budget is exhausted.
fn proves<S: Plain>(rules: &S, minors: &[S::Minor], targets: &[Target], budget: &Budget) -> Result<bool, Exhausted> {
    let mut known: Known<S> = Known::new();
    minors.iter().for_each(|minor| known.add(rules, minor));
    if known.stand_for(rules, &rules.start()) {
        return Ok(false);
    }
    for target in targets {
        budget.check()?;
        if !rules.forbidden(target).iter().all(|minor| known.stand_for(rules, minor)) {
            return Ok(false);
        }
    }
    for minor in minors {
        budget.check()?;
        if !rules.before(minor).iter().all(|before| known.stand_for(rules, before)) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The same for TSO.
///
/// # Errors
/// If the budget is exhausted.
pub fn proves_tso(
    rules: &Tso<'_>,
    minors: &[tso::Minor],
    targets: &[Target],
    budget: &Budget,
) -> Result<bool, Exhausted> {
    proves(rules, minors, targets, budget)
}

/// The same for PSO.
///
/// # Errors
/// If the budget is exhausted.
pub fn proves_pso(
    rules: &Pso<'_>,
    minors: &[pso::Minor],
    targets: &[Target],
    budget: &Budget,
) -> Result<bool, Exhausted> {
    proves(rules, minors, targets, budget)
}

/// Whether a value is what is asked for.
fn meets(asked: Value, value: Value) -> bool {
    asked == ANY || asked == value
}

/// Demands a value of a place that may have any.
fn demand(place: &mut Value, value: Value) -> bool {
    if *place == ANY {
        *place = value;
    }
    value == ANY || *place == value
}

/// A configuration of the single buffer, as a list of messages.
#[derive(Clone)]
struct Buffer {
    states: Vec<u32>,
    messages: Vec<Message>,
}

#[derive(Clone)]
struct Message {
    tag: Tag,
    snapshot: Vec<Value>,
    /// The threads whose pointer is here.
    seen_by: Vec<usize>,
}

impl Buffer {
    fn of(minor: &tso::Minor) -> Buffer {
        let message = |(position, &tag): (usize, &Tag)| {
            let threads = 0..minor.states.len();
            let seen_by = threads.filter(|&thread| minor.pointers[thread] as usize == position).collect();
            Message { tag, snapshot: minor.snapshot(position).to_vec(), seen_by }
        };
        Buffer { states: minor.states.to_vec(), messages: minor.tags.iter().enumerate().map(message).collect() }
    }

    fn pointer(&self, thread: usize) -> usize {
        let is_here = |message: &Message| message.seen_by.contains(&thread);
        self.messages.iter().position(is_here).expect("every thread has a pointer")
    }

    fn point(&mut self, thread: usize, message: usize) {
        self.messages.iter_mut().for_each(|known| known.seen_by.retain(|&other| other != thread));
        self.messages[message].seen_by.push(thread);
    }

    fn last_write(&self, tags: Tags, thread: usize, location: Location) -> usize {
        let pointer = self.pointer(thread);
        let own = tags.write(thread, location);
        (pointer..self.messages.len())
            .filter(|&message| message == pointer || self.messages[message].tag == own)
            .max()
            .unwrap_or(pointer)
    }

    /// As a minor, without what nobody sees; none if there is no reachable configuration like it.
    fn refined(mut self, tso: &Tso<'_>) -> Option<tso::Minor> {
        let first = self.messages.iter().position(|message| !message.seen_by.is_empty())?;
        self.messages.drain(..first);
        let mut pointers = vec![0; self.states.len()];
        for (position, message) in self.messages.iter().enumerate() {
            message.seen_by.iter().for_each(|&thread| pointers[thread] = position as u8);
        }
        let mut minor = tso::Minor {
            states: self.states.into(),
            pointers: pointers.into(),
            tags: self.messages.iter().map(|message| message.tag).collect(),
            values: self.messages.into_iter().flat_map(|message| message.snapshot).collect(),
        };
        tso.refine(&mut minor).then_some(minor)
    }
}

/// A transition taken back, and whether it depends on the thread's pointer.
fn undone(tso: &Tso<'_>, buffer: &Buffer, thread: usize, step: &Transition) -> (Vec<Buffer>, bool) {
    let tags = tso.tags;
    let last = buffer.messages.len() - 1;
    let mut before = buffer.clone();
    before.states[thread] = step.from;
    let sees_last = |buffer: &Buffer| buffer.pointer(thread) == buffer.messages.len() - 1;
    let any = vec![ANY; tso.automata.domains.len()];
    match &step.operation {
        Operation::Silent => (vec![before], step.drained),
        Operation::Read(location, value) => {
            let message = buffer.last_write(tags, thread, *location);
            let is_so = demand(&mut before.messages[message].snapshot[*location as usize], *value);
            (if is_so { vec![before] } else { Vec::new() }, true)
        }
        Operation::Write(location, value) => {
            let written = before.messages.pop().expect("there is a message");
            let is_it = written.tag == tags.write(thread, *location)
                && (meets(written.snapshot[*location as usize], *value))
                && written.seen_by.is_empty();
            if !is_it {
                return (Vec::new(), step.drained);
            }
            let mut found = Vec::new();
            let mut needed = written.snapshot;
            needed[*location as usize] = ANY;
            let mut revealed = before.clone();
            revealed.messages.push(Message { tag: written.tag, snapshot: needed.clone(), seen_by: Vec::new() });
            found.push(revealed);
            let snapshot = &mut before.messages[last - 1].snapshot;
            if snapshot.iter_mut().zip(&needed).all(|(place, value)| demand(place, *value)) {
                for gap in before.last_write(tags, thread, *location) + 1..last {
                    let mut revealed = before.clone();
                    let message = Message { tag: written.tag, snapshot: any.clone(), seen_by: Vec::new() };
                    revealed.messages.insert(gap, message);
                    found.push(revealed);
                }
                found.push(before);
            }
            (found, step.drained)
        }
        Operation::Whole(reads, writes) if writes.is_empty() => {
            let snapshot = &mut before.messages[last].snapshot;
            let is_so = sees_last(buffer)
                && reads.iter().all(|&(location, value)| demand(&mut snapshot[location as usize], value));
            (if is_so { vec![before] } else { Vec::new() }, true)
        }
        Operation::Whole(reads, writes) => {
            let written = before.messages.pop().expect("there is a message");
            let is_it = written.tag == tags.whole(thread)
                && written.seen_by == [thread]
                && writes.iter().all(|&(location, value)| meets(written.snapshot[location as usize], value));
            if !is_it {
                return (Vec::new(), true);
            }
            let mut needed = written.snapshot;
            writes.iter().for_each(|&(location, _)| needed[location as usize] = ANY);
            if !reads.iter().all(|&(location, value)| demand(&mut needed[location as usize], value)) {
                return (Vec::new(), true);
            }
            let own = tso.all.iter().copied().filter(|&tag| tags.of(tag).is_some_and(|(of, _)| of == thread));
            let initial = (last == 0).then_some(INITIAL);
            let mut found = Vec::new();
            for tag in own.chain(initial) {
                let mut revealed = before.clone();
                revealed.messages.push(Message { tag, snapshot: needed.clone(), seen_by: vec![thread] });
                found.push(revealed);
            }
            if last > 0 {
                let message = &mut before.messages[last - 1];
                if message.snapshot.iter_mut().zip(&needed).all(|(place, value)| demand(place, *value)) {
                    message.seen_by.push(thread);
                    found.push(before);
                }
            }
            (found, true)
        }
    }
}

/// All that single moves of a thread's pointer can have come from, as far as one does not stand for the other.
fn moved<'a>(tso: &Tso<'a>, starts: Vec<tso::Minor>, thread: usize) -> Vec<tso::Minor> {
    let mut all: Vec<tso::Minor> = Vec::new();
    let mut known: Known<Tso<'a>> = Known::new();
    let mut open = VecDeque::from(starts);
    // The nearest first: they stand for most of the others.
    while let Some(minor) = open.pop_front() {
        if known.stand_for(tso, &minor) {
            continue;
        }
        let buffer = Buffer::of(&minor);
        known.add(tso, &minor);
        all.push(minor);
        let pointer = buffer.pointer(thread);
        // A thread is never in front of a step of its own that is one, and nothing is in front of the initial message.
        let here = buffer.messages[pointer].tag;
        if here == tso.tags.whole(thread) || here == INITIAL {
            continue;
        }
        if pointer > 0 {
            let mut before = buffer.clone();
            before.point(thread, pointer - 1);
            open.extend(before.refined(tso));
        }
        for tag in tso.all.iter().copied().chain((pointer == 0).then_some(INITIAL)) {
            let is_allowed = match tso.tags.of(tag) {
                None => true,
                Some((writer, Some(location))) => buffer.last_write(tso.tags, writer, location) >= pointer,
                Some((writer, None)) => buffer.pointer(writer) >= pointer,
            };
            if is_allowed {
                let mut before = buffer.clone();
                let snapshot = vec![ANY; tso.automata.domains.len()];
                before.messages.insert(pointer, Message { tag, snapshot, seen_by: Vec::new() });
                before.point(thread, pointer);
                open.extend(before.refined(tso));
            }
        }
    }
    all
}

/// A message, with all that the order asks of it.
struct Anchored {
    tag: Tag,
    snapshot: Vec<Value>,
    /// The threads whose pointer is here.
    seen_by: Vec<usize>,
    /// The threads and locations of which it is the last write.
    last_of: Vec<(usize, Location)>,
}

impl Plain for Tso<'_> {
    type Look = Vec<Anchored>;

    fn look(&self, minor: &tso::Minor) -> Vec<Anchored> {
        let buffer = Buffer::of(minor);
        let threads = 0..minor.states.len();
        let pairs = threads
            .flat_map(|thread| (0..self.automata.domains.len() as Location).map(move |location| (thread, location)));
        let mut looked: Vec<Anchored> = Vec::with_capacity(buffer.messages.len());
        for Message { tag, snapshot, seen_by } in &buffer.messages {
            let mut seen_by = seen_by.clone();
            seen_by.sort_unstable();
            looked.push(Anchored { tag: *tag, snapshot: snapshot.clone(), seen_by, last_of: Vec::new() });
        }
        for (thread, location) in pairs {
            looked[buffer.last_write(self.tags, thread, location)].last_of.push((thread, location));
        }
        looked
    }

    fn stands_for(&self, small: &Vec<Anchored>, large: &Vec<Anchored>) -> bool {
        // From behind: a message that is left out has no pointer and is no last write, so one which has is matched at
        // once, and of the others the last one that fits will do.
        let mut at = small.len();
        for message in large.iter().rev() {
            let fits = at.checked_sub(1).is_some_and(|candidate| {
                let known = &small[candidate];
                known.tag == message.tag
                    && known.snapshot.iter().zip(&message.snapshot).all(|(asked, value)| meets(*asked, *value))
                    && known.seen_by == message.seen_by
                    && known.last_of == message.last_of
            });
            if fits {
                at -= 1;
            } else if !message.seen_by.is_empty() || !message.last_of.is_empty() {
                return false;
            }
        }
        at == 0
    }

    fn before(&self, minor: &tso::Minor) -> Vec<tso::Minor> {
        let buffer = Buffer::of(minor);
        let mut all = Vec::new();
        for (thread, automaton) in self.automata.threads.iter().enumerate() {
            for step in automaton.transitions.iter().filter(|step| step.to == minor.states[thread]) {
                let (found, depends) = undone(self, &buffer, thread, step);
                let sees_last = |buffer: &Buffer| buffer.pointer(thread) == buffer.messages.len() - 1;
                let found = found.into_iter().filter(|buffer| !step.drained || sees_last(buffer));
                let found: Vec<tso::Minor> = found.filter_map(|buffer| buffer.refined(self)).collect();
                all.extend(if depends { moved(self, found, thread) } else { found });
            }
        }
        all
    }

    fn forbidden(&self, target: &Target) -> Vec<tso::Minor> {
        let threads: Vec<usize> = (0..target.states.len()).collect();
        let mut all = Vec::new();
        for tag in self.all.iter().copied().chain([INITIAL]) {
            let message = Message { tag, snapshot: target.memory.clone(), seen_by: threads.clone() };
            let start = Buffer { states: target.states.to_vec(), messages: vec![message] };
            let mut found: Vec<tso::Minor> = start.refined(self).into_iter().collect();
            for &thread in &threads {
                found = moved(self, found, thread);
            }
            all.append(&mut found);
        }
        all
    }

    fn start(&self) -> tso::Minor {
        let states: Box<[u32]> = self.automata.threads.iter().map(|thread| thread.initial).collect();
        let pointers = vec![0; states.len()].into();
        tso::Minor { states, pointers, tags: vec![INITIAL], values: self.automata.memory.clone() }
    }
}

impl Plain for Pso<'_> {
    type Look = pso::Minor;

    fn look(&self, minor: &pso::Minor) -> pso::Minor {
        minor.clone()
    }

    fn stands_for(&self, small: &pso::Minor, large: &pso::Minor) -> bool {
        let is_word_in = |small: &[Value], large: &[Value]| {
            let mut at = small.len();
            for (position, value) in large.iter().enumerate().rev() {
                if at > 0 && meets(small[at - 1], *value) {
                    at -= 1;
                } else if position + 1 == large.len() {
                    return false;
                }
            }
            at == 0
        };
        small.states == large.states
            && small.memory.iter().zip(&large.memory).all(|(asked, value)| meets(*asked, *value))
            && small.buffers.iter().zip(&large.buffers).all(|(small, large)| is_word_in(small, large))
    }

    fn before(&self, minor: &pso::Minor) -> Vec<pso::Minor> {
        let mut all = Vec::new();
        let mut keep = |mut before: pso::Minor| {
            if self.refine(&mut before) {
                all.push(before);
            }
        };
        for (thread, automaton) in self.automata.threads.iter().enumerate() {
            let waits = |minor: &pso::Minor| self.buffers(thread).any(|buffer| !minor.buffers[buffer].is_empty());
            for step in automaton.transitions.iter().filter(|step| step.to == minor.states[thread]) {
                let mut before = minor.clone();
                before.states[thread] = step.from;
                let is_so = match &step.operation {
                    Operation::Silent => true,
                    Operation::Read(location, value) => {
                        let word = &mut before.buffers[self.buffer(thread, *location)];
                        let place = word.last_mut().unwrap_or(&mut before.memory[*location as usize]);
                        demand(place, *value)
                    }
                    Operation::Write(location, value) => {
                        let buffer = self.buffer(thread, *location);
                        let last = before.buffers[buffer].pop();
                        let is_it = last.is_some_and(|last| meets(last, *value));
                        let mut replaced = before.clone();
                        replaced.buffers[buffer].push(ANY);
                        if is_it && !step.drained {
                            keep(replaced);
                        }
                        is_it
                    }
                    Operation::Whole(reads, writes) => {
                        let is_so = writes.iter().all(|&(location, value)| {
                            let place = &mut before.memory[location as usize];
                            let is_so = meets(*place, value);
                            *place = ANY;
                            is_so
                        });
                        is_so
                            && !waits(minor)
                            && reads
                                .iter()
                                .all(|&(location, value)| demand(&mut before.memory[location as usize], value))
                    }
                };
                if is_so && !(step.drained && waits(&before)) {
                    keep(before);
                }
            }
            for location in 0..minor.memory.len() as Location {
                let mut before = minor.clone();
                let value = std::mem::replace(&mut before.memory[location as usize], ANY);
                before.buffers[self.buffer(thread, location)].insert(0, value);
                keep(before);
            }
        }
        all
    }

    fn forbidden(&self, target: &Target) -> Vec<pso::Minor> {
        let buffers = vec![Vec::new(); target.states.len() * target.memory.len()].into();
        let mut start = pso::Minor { states: target.states.clone(), memory: target.memory.clone().into(), buffers };
        if self.refine(&mut start) { vec![start] } else { Vec::new() }
    }

    fn start(&self) -> pso::Minor {
        let states: Box<[u32]> = self.automata.threads.iter().map(|thread| thread.initial).collect();
        let buffers = vec![Vec::new(); states.len() * self.automata.memory.len()].into();
        pso::Minor { states, memory: self.automata.memory.clone().into(), buffers }
    }
}
