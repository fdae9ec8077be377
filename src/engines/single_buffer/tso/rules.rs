//! The rules of the single buffer backwards: what an instruction, and the moves of a pointer before it, can have come
//! from. Each gives minors that together stand for all predecessors of what a minor stands for.

use super::{INITIAL, Minor, Tag, Tso, unify, unify_all};
use crate::engines::automata::{ANY, Location, Operation, Transition, Value};
use crate::engines::single_buffer::search::Rule;
use crate::weak::visited::LimitReached;

impl Tso<'_> {
    /// All that moving a thread's pointer forward can have come from, itself included.
    ///
    /// # Errors
    /// If there are more than `most`.
    pub(super) fn moves(
        &self,
        minor: Minor,
        thread: usize,
        most: usize,
        found: &mut Vec<Minor>,
    ) -> Result<(), LimitReached> {
        let pointer = minor.pointers[thread] as usize;
        let mut next: Vec<Minor> = Vec::new();
        let is_passed = |tag: Tag| tag != self.tags.whole(thread);
        if pointer > 0 && self.rules.has(Rule::MoveToMessage) && is_passed(minor.tags[pointer]) {
            let mut moved = minor.clone();
            moved.pointers[thread] -= 1;
            self.keep(moved, &mut next);
        }
        let mut stops: Vec<Minor> = Vec::new();
        if minor.tags[pointer] != INITIAL && is_passed(minor.tags[pointer]) && self.rules.has(Rule::MoveToNew) {
            let any = vec![ANY; self.automata.domains.len()];
            let initial = (pointer == 0).then_some(INITIAL);
            for tag in self.all.iter().copied().chain(initial) {
                let of = self.tags.of(tag);
                // It must not be the last write of its thread, nor a step that is one in front of its thread.
                let is_allowed = match of {
                    None => true,
                    Some((writer, Some(location))) => self.last_write(&minor, writer, location) >= pointer,
                    Some((writer, None)) => minor.pointers[writer] as usize >= pointer,
                };
                if !is_allowed {
                    continue;
                }
                let mut moved = minor.clone();
                moved.insert(pointer, tag, &any);
                moved.pointers[thread] = pointer as u8;
                // Passed, a write of its own waits in its buffer, if none to the location does; another one is none
                // that a smaller configuration has to have.
                let waits = matches!(of, Some((writer, Some(location)))
                    if writer == thread && self.last_write(&minor, thread, location) == pointer);
                self.keep(moved, if waits { &mut next } else { &mut stops });
            }
        }
        found.push(minor);
        found.append(&mut stops);
        if found.len() > most {
            return Err(LimitReached::States);
        }
        for minor in next {
            self.moves(minor, thread, most, found)?;
        }
        Ok(())
    }

    /// What a transition of a thread can have come from, before the pointer is looked at; and whether it depends on
    /// it.
    pub(super) fn undo(&self, minor: &Minor, thread: usize, step: &Transition) -> (Vec<Minor>, bool) {
        let mut found = Vec::new();
        let mut before = minor.clone();
        before.states[thread] = step.from;
        let last = minor.len() - 1;
        let is_last = |minor: &Minor| minor.pointers[thread] as usize == minor.len() - 1;
        match &step.operation {
            Operation::Silent => {
                if !step.drained || is_last(minor) {
                    self.keep(before, &mut found);
                }
                (found, step.drained)
            }
            Operation::Read(location, value) => {
                if step.drained && !is_last(minor) {
                    return (found, true);
                }
                let message = self.last_write(minor, thread, *location);
                let seen = before.value_mut(message, *location);
                if let Some(value) = unify(*seen, *value) {
                    *seen = value;
                    self.keep(before, &mut found);
                }
                (found, true)
            }
            Operation::Write(location, value) => {
                let is_it = minor.tags[last] == self.tags.write(thread, *location)
                    && unify(minor.snapshot(last)[*location as usize], *value).is_some()
                    && minor.pointers.iter().all(|&pointer| (pointer as usize) < last);
                if is_it {
                    self.undo_write(before, thread, *location, &mut found);
                    found.retain(|minor| !step.drained || is_last(minor));
                }
                (found, step.drained)
            }
            Operation::Whole(reads, writes) if writes.is_empty() => {
                if is_last(minor) {
                    let is_read = |&(location, value): &(Location, Value)| {
                        let seen = before.value_mut(last, location);
                        unify(*seen, value).is_some_and(|value| {
                            *seen = value;
                            true
                        })
                    };
                    if reads.iter().all(is_read) {
                        self.keep(before, &mut found);
                    }
                }
                (found, true)
            }
            Operation::Whole(reads, writes) => {
                let snapshot = minor.snapshot(last);
                let is_it = minor.tags[last] == self.tags.whole(thread)
                    && writes.iter().all(|&(location, value)| unify(snapshot[location as usize], value).is_some())
                    && is_last(minor)
                    && minor.pointers.iter().filter(|&&pointer| pointer as usize == last).count() == 1;
                if is_it {
                    self.undo_whole(before, thread, reads, writes, &mut found);
                }
                (found, true)
            }
        }
    }

    /// The last message is the write of a thread.
    fn undo_write(&self, mut before: Minor, thread: usize, location: Location, found: &mut Vec<Minor>) {
        let tag = before.tags[before.len() - 1];
        let mut needed = before.pop();
        needed[location as usize] = ANY;
        let last = before.len() - 1;
        // Taken away, it may reveal a write of the thread to the location that larger configurations have in front of
        // it, where it was not the last one.
        if self.rules.has(Rule::WriteBehind) {
            let mut revealed = before.clone();
            revealed.insert(last + 1, tag, &needed);
            self.keep(revealed, found);
        }
        let place = last * needed.len();
        if !unify_all(&mut before.values[place..], &needed) {
            return;
        }
        if self.rules.has(Rule::WriteBetween) {
            let any = vec![ANY; needed.len()];
            for gap in self.last_write(&before, thread, location) + 1..=last {
                let mut revealed = before.clone();
                revealed.insert(gap, tag, &any);
                self.keep(revealed, found);
            }
        }
        if self.rules.has(Rule::Write) {
            self.keep(before, found);
        }
    }

    /// The last message is a step of a thread that is one; nobody else sees it.
    fn undo_whole(
        &self,
        mut before: Minor,
        thread: usize,
        reads: &[(Location, Value)],
        writes: &[(Location, Value)],
        found: &mut Vec<Minor>,
    ) {
        let mut needed = before.pop();
        writes.iter().for_each(|&(location, _)| needed[location as usize] = ANY);
        for &(location, value) in reads {
            match unify(needed[location as usize], value) {
                Some(value) => needed[location as usize] = value,
                None => return,
            }
        }
        let messages = before.len();
        if self.rules.has(Rule::WholeBehind) {
            let own = self.all.iter().copied().filter(|&tag| self.tags.of(tag).is_some_and(|(of, _)| of == thread));
            for tag in own.chain((messages == 0).then_some(INITIAL)) {
                let mut revealed = before.clone();
                revealed.tags.push(tag);
                revealed.values.extend(&needed);
                revealed.pointers[thread] = messages as u8;
                self.keep(revealed, found);
            }
        }
        if messages > 0 && self.rules.has(Rule::Whole) {
            let place = (messages - 1) * needed.len();
            if unify_all(&mut before.values[place..], &needed) {
                before.pointers[thread] = messages as u8 - 1;
                self.keep(before, found);
            }
        }
    }
}
