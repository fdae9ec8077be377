//! The happens-before relation of a run on store buffers, as much of it as can still become cyclic.
//!
//! Happens-before is the union of program order, reads-from, coherence and from-reads (Shasha and Snir); a run is
//! sequentially consistent exactly if it is acyclic. An event can get a new successor only as the last event of its
//! thread, as the last write of its location or a read since; it can get a new predecessor only as a write that is
//! not yet visible, or as part of an instruction that is not yet complete. Only these events are kept, with the paths
//! between them; so the relation stays finite along any run of a finite program, and states with equal relations can
//! be merged.
//!
//! *Cost.* A step renumbers the events that are left: quadratic in threads times locations.

use super::Granularity;
use super::system::Event;
use super::threads::{AccessKind, Progress};
use crate::ids::{LocationAt, ThreadAt};

/// The relation at one point of a run.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct HappensBefore {
    /// The events of each thread's last complete instruction: they are before everything later in the thread.
    last: Vec<Vec<usize>>,
    /// Those of the instruction at hand, ordered only by their dependencies.
    current: Vec<Vec<Part>>,
    /// The last visible write of each location.
    writer: Vec<Option<usize>>,
    /// For each location and thread, its last read since that write.
    readers: Vec<Option<usize>>,
    /// For each thread its writes that are not yet visible, and the last own event that read each of them.
    pending: Vec<Vec<(usize, Option<usize>)>>,
    /// For each event, those that it happens before.
    after: Rows,
}

/// A set of events for each event. A search copies the relation for every step, so the sets are rows of bits in one
/// piece of memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Rows {
    events: usize,
    /// Row by row, each with the words that as many bits as there are events need.
    words: Vec<u64>,
}

impl Rows {
    /// Nothing is in any of the sets.
    fn new(events: usize) -> Rows {
        Rows { events, words: vec![0; events * events.div_ceil(64)] }
    }

    fn row(&self, event: usize) -> std::ops::Range<usize> {
        let width = self.events.div_ceil(64);
        event * width..(event + 1) * width
    }

    fn contains(&self, event: usize, later: usize) -> bool {
        self.words[self.row(event)][later / 64] & (1 << (later % 64)) != 0
    }

    fn insert(&mut self, event: usize, later: usize) {
        let row = self.row(event);
        self.words[row][later / 64] |= 1 << (later % 64);
    }

    /// Puts what is in the set of one event into that of another one.
    fn unite(&mut self, event: usize, other: usize) {
        for (to, from) in self.row(event).zip(self.row(other)) {
            self.words[to] |= self.words[from];
        }
    }

    /// The events in the set of one.
    fn later(&self, event: usize) -> impl Iterator<Item = usize> {
        self.words[self.row(event)].iter().enumerate().flat_map(|(position, &word)| {
            let mut left = word;
            std::iter::from_fn(move || {
                let bit = (left != 0).then(|| left.trailing_zeros() as usize)?;
                left &= left - 1;
                Some(64 * position + bit)
            })
        })
    }

    /// One event more.
    fn push(&mut self) {
        let mut grown = Rows::new(self.events + 1);
        if grown.events.div_ceil(64) == self.events.div_ceil(64) {
            grown.words[..self.words.len()].copy_from_slice(&self.words);
        } else {
            for event in 0..self.events {
                self.later(event).for_each(|later| grown.insert(event, later));
            }
        }
        *self = grown;
    }
}

/// An access of an instruction in the middle.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Part {
    event: usize,
    operations: u64,
    access: (AccessKind, LocationAt),
}

/// Two events happen before each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cycle;

/// Where a read gets its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadFrom {
    /// From the memory.
    Memory,
    /// From the thread's own buffer, at this position.
    Buffer(usize),
}

impl HappensBefore {
    /// Nothing has happened.
    #[must_use]
    pub fn new(threads: usize, locations: usize) -> HappensBefore {
        HappensBefore {
            last: vec![Vec::new(); threads],
            current: vec![Vec::new(); threads],
            writer: vec![None; locations],
            readers: vec![None; locations * threads],
            pending: vec![Vec::new(); threads],
            after: Rows::default(),
        }
    }

    /// The event of a thread's next access: a new one, or that of its instruction if only whole instructions count
    /// and it is in the middle of one.
    fn event(&mut self, step: &Event, granularity: Granularity) -> Result<usize, Cycle> {
        if let (Granularity::Instructions, Some(part)) = (granularity, self.current[step.at.thread.index()].first()) {
            return Ok(part.event);
        }
        let event = self.after.events;
        self.after.push();
        for before in self.last[step.at.thread.index()].clone() {
            self.edge(before, event)?;
        }
        for access in &step.accesses {
            let is_before = |part: &&Part| {
                let (kind, location) = part.access;
                let is_conflict = kind == AccessKind::Write || access.kind == AccessKind::Write;
                step.order.before & part.operations != 0 || (location == access.location && is_conflict)
            };
            let before: Vec<usize> =
                self.current[step.at.thread.index()].iter().filter(is_before).map(|part| part.event).collect();
            for part in before {
                self.edge(part, event)?;
            }
            let access = (access.kind, access.location);
            self.current[step.at.thread.index()].push(Part { event, operations: step.order.own, access });
        }
        Ok(event)
    }

    /// A thread reads.
    ///
    /// # Errors
    /// If that makes the relation cyclic.
    pub fn read(
        &mut self,
        step: &Event,
        location: LocationAt,
        from: ReadFrom,
        granularity: Granularity,
    ) -> Result<(), Cycle> {
        let event = self.event(step, granularity)?;
        match from {
            ReadFrom::Memory => self.read_memory(step.at.thread, location, event)?,
            ReadFrom::Buffer(position) => self.pending[step.at.thread.index()][position].1 = Some(event),
        }
        self.compact();
        Ok(())
    }

    fn read_memory(&mut self, thread: ThreadAt, location: LocationAt, event: usize) -> Result<(), Cycle> {
        if let Some(writer) = self.writer[location.index()] {
            self.edge(writer, event)?;
        }
        *self.reader(thread, location) = Some(event);
        Ok(())
    }

    /// The last read of a location by a thread since it was written.
    fn reader(&mut self, thread: ThreadAt, location: LocationAt) -> &mut Option<usize> {
        &mut self.readers[location.index() * self.last.len() + thread.index()]
    }

    /// A write goes into the thread's buffer.
    ///
    /// # Errors
    /// If that makes the relation cyclic.
    pub fn issue(&mut self, step: &Event, granularity: Granularity) -> Result<(), Cycle> {
        let event = self.event(step, granularity)?;
        self.pending[step.at.thread.index()].push((event, None));
        self.compact();
        Ok(())
    }

    /// The thread's write at this position of its buffer becomes visible.
    ///
    /// # Errors
    /// If that makes the relation cyclic.
    pub fn commit(&mut self, thread: ThreadAt, position: usize, location: LocationAt) -> Result<(), Cycle> {
        let (event, reader) = self.pending[thread.index()].remove(position);
        self.make_visible(location, event)?;
        *self.reader(thread, location) = reader;
        self.compact();
        Ok(())
    }

    fn make_visible(&mut self, location: LocationAt, event: usize) -> Result<(), Cycle> {
        if let Some(writer) = self.writer[location.index()].replace(event) {
            self.edge(writer, event)?;
        }
        for thread in ThreadAt::all(self.last.len()) {
            if let Some(reader) = self.reader(thread, location).take() {
                self.edge(reader, event)?;
            }
        }
        Ok(())
    }

    /// How the instruction of the last access stands: one without effect is before nothing in program order.
    pub fn settle(&mut self, thread: ThreadAt, progress: Progress) {
        if progress == Progress::InTheMiddle {
            return;
        }
        let mut events: Vec<usize> = self.current[thread.index()].drain(..).map(|part| part.event).collect();
        events.dedup();
        if progress == Progress::Done && !events.is_empty() {
            self.last[thread.index()] = events;
        }
        self.compact();
    }

    /// An atomic instruction: one event, whatever counts.
    ///
    /// # Errors
    /// If that makes the relation cyclic.
    pub fn whole(&mut self, step: &Event) -> Result<(), Cycle> {
        if step.accesses.is_empty() {
            return Ok(());
        }
        let event = self.event(step, Granularity::Instructions)?;
        for access in &step.accesses {
            let location = access.location;
            match access.kind {
                AccessKind::Read => self.read_memory(step.at.thread, location, event)?,
                AccessKind::Write => self.make_visible(location, event)?,
            }
        }
        self.compact();
        Ok(())
    }

    fn edge(&mut self, from: usize, to: usize) -> Result<(), Cycle> {
        if from == to || self.after.contains(from, to) {
            return Ok(());
        }
        if self.after.contains(to, from) {
            return Err(Cycle);
        }
        for event in 0..self.after.events {
            if event == from || self.after.contains(event, from) {
                self.after.unite(event, to);
                self.after.insert(event, to);
            }
        }
        Ok(())
    }

    /// Forgets the events that nothing can happen to any more, and numbers the others in the order of their roles.
    fn compact(&mut self) {
        let mut number = vec![None; self.after.events];
        let mut kept = Vec::new();
        let mut renumber = |event: &mut usize| {
            let old = *event;
            *event = *number[old].get_or_insert_with(|| {
                kept.push(old);
                kept.len() - 1
            });
        };
        self.last.iter_mut().flatten().for_each(&mut renumber);
        self.current.iter_mut().flatten().for_each(|part| renumber(&mut part.event));
        self.writer.iter_mut().chain(&mut self.readers).flatten().for_each(&mut renumber);
        for (event, reader) in self.pending.iter_mut().flatten() {
            renumber(event);
            reader.iter_mut().for_each(&mut renumber);
        }
        let mut after = Rows::new(kept.len());
        for (new, &old) in kept.iter().enumerate() {
            self.after.later(old).filter_map(|later| number[later]).for_each(|later| after.insert(new, later));
        }
        self.after = after;
    }
}
