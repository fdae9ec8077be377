//! The happens-before relation of a run on store buffers, as much of it as can still become cyclic.
//!
//! Happens-before is the union of program order, reads-from, coherence and from-reads (Shasha and Snir); a run is sequentially consistent exactly if it is acyclic. An event can get a new
//! successor only as the last event of its thread, as the last write of its location or a read since; it can get a new predecessor only as a write that is not yet visible, or as part of an
//! instruction that is not yet complete. Only these events are kept, with the paths between them; so the relation stays finite along any run of a finite program, and states with equal
//! relations can be merged.
//!
//! *Cost.* A step renumbers the events that are left: quadratic in threads times locations.

use super::Granularity;
use super::system::Event;
use super::threads::{AccessKind, Progress};
use fixedbitset::FixedBitSet;

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
    after: Vec<FixedBitSet>,
}

/// An access of an instruction in the middle.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Part {
    event: usize,
    operations: u64,
    access: (AccessKind, u32),
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
            after: Vec::new(),
        }
    }

    /// The event of a thread's next access: a new one, or that of its instruction if only whole instructions count and it is in the middle of one.
    fn event(&mut self, step: &Event, granularity: Granularity) -> Result<usize, Cycle> {
        if let (Granularity::Instructions, Some(part)) = (granularity, self.current[step.thread].first()) {
            return Ok(part.event);
        }
        let event = self.after.len();
        self.after.push(FixedBitSet::new());
        for row in &mut self.after {
            row.grow(event + 1);
        }
        for before in self.last[step.thread].clone() {
            self.edge(before, event)?;
        }
        for access in &step.accesses {
            let is_before = |part: &&Part| {
                let (kind, location) = part.access;
                let is_conflict = kind == AccessKind::Write || access.kind == AccessKind::Write;
                step.order.before & part.operations != 0 || (location == access.location && is_conflict)
            };
            let before: Vec<usize> =
                self.current[step.thread].iter().filter(is_before).map(|part| part.event).collect();
            for part in before {
                self.edge(part, event)?;
            }
            let access = (access.kind, access.location);
            self.current[step.thread].push(Part { event, operations: step.order.own, access });
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
        location: usize,
        from: ReadFrom,
        granularity: Granularity,
    ) -> Result<(), Cycle> {
        let event = self.event(step, granularity)?;
        match from {
            ReadFrom::Memory => self.read_memory(step.thread, location, event)?,
            ReadFrom::Buffer(position) => self.pending[step.thread][position].1 = Some(event),
        }
        self.compact();
        Ok(())
    }

    fn read_memory(&mut self, thread: usize, location: usize, event: usize) -> Result<(), Cycle> {
        if let Some(writer) = self.writer[location] {
            self.edge(writer, event)?;
        }
        let threads = self.last.len();
        self.readers[location * threads + thread] = Some(event);
        Ok(())
    }

    /// A write goes into the thread's buffer.
    ///
    /// # Errors
    /// If that makes the relation cyclic.
    pub fn issue(&mut self, step: &Event, granularity: Granularity) -> Result<(), Cycle> {
        let event = self.event(step, granularity)?;
        self.pending[step.thread].push((event, None));
        self.compact();
        Ok(())
    }

    /// The thread's write at this position of its buffer becomes visible.
    ///
    /// # Errors
    /// If that makes the relation cyclic.
    pub fn commit(&mut self, thread: usize, position: usize, location: usize) -> Result<(), Cycle> {
        let (event, reader) = self.pending[thread].remove(position);
        self.make_visible(location, event)?;
        let threads = self.last.len();
        self.readers[location * threads + thread] = reader;
        self.compact();
        Ok(())
    }

    fn make_visible(&mut self, location: usize, event: usize) -> Result<(), Cycle> {
        if let Some(writer) = self.writer[location].replace(event) {
            self.edge(writer, event)?;
        }
        for reader in 0..self.last.len() {
            if let Some(reader) = self.readers[location * self.last.len() + reader].take() {
                self.edge(reader, event)?;
            }
        }
        Ok(())
    }

    /// How the instruction of the last access stands: one without effect is before nothing in program order.
    pub fn settle(&mut self, thread: usize, progress: Progress) {
        if progress == Progress::InTheMiddle {
            return;
        }
        let mut events: Vec<usize> = self.current[thread].drain(..).map(|part| part.event).collect();
        events.dedup();
        if progress == Progress::Done && !events.is_empty() {
            self.last[thread] = events;
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
            let location = access.location as usize;
            match access.kind {
                AccessKind::Read => self.read_memory(step.thread, location, event)?,
                AccessKind::Write => self.make_visible(location, event)?,
            }
        }
        self.compact();
        Ok(())
    }

    fn edge(&mut self, from: usize, to: usize) -> Result<(), Cycle> {
        if from == to || self.after[from].contains(to) {
            return Ok(());
        }
        if self.after[to].contains(from) {
            return Err(Cycle);
        }
        let mut reached = self.after[to].clone();
        reached.insert(to);
        for event in 0..self.after.len() {
            if event == from || self.after[event].contains(from) {
                self.after[event].union_with(&reached);
            }
        }
        Ok(())
    }

    /// Forgets the events that nothing can happen to any more, and numbers the others in the order of their roles.
    fn compact(&mut self) {
        let mut number = vec![None; self.after.len()];
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
        let row = |old: &usize| {
            let mut row = FixedBitSet::with_capacity(kept.len());
            row.extend(self.after[*old].ones().filter_map(|later| number[later]));
            row
        };
        self.after = kept.iter().map(row).collect();
    }
}
