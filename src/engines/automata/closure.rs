//! All that threads can do if each read can get any value that some thread writes: the least domains that are closed.
//!
//! Threads run until none writes a value that is new. A thread goes on where it stopped: of what it has read before
//! only values that are new are tried.
//!
//! *Limits.* So many values of a location, [`MOST_CONFIGURATIONS`] of a thread; more is taken for no bound.

use super::{Domains, Labels, Stop};
use crate::budget::Budget;
use crate::ids::LocationAt;
use crate::weak::split::SplitProgram;
use crate::weak::threads::{AccessKind, Action, ConfigId, Configurations, Move};
use rustc_hash::FxHashSet;

/// The most configurations of a thread.
const MOST_CONFIGURATIONS: usize = 200_000;

/// A transition with plain values.
pub type Raw = (ConfigId, ConfigId, bool, u32, RawOperation);

#[derive(Clone, PartialEq, Eq, Hash)]
pub enum RawOperation {
    Silent,
    Read(LocationAt, i64),
    Write(LocationAt, i64),
    Whole(Vec<(LocationAt, i64)>, Vec<(LocationAt, i64)>),
    Outside(Vec<(LocationAt, i64)>, Vec<(LocationAt, i64)>),
}

/// What each thread can do, and the values of each location, sorted.
pub type Closed = (Vec<FxHashSet<Raw>>, Vec<Vec<i64>>);

/// What threads can do, and the values of each location; with domains that are given, only as long as these have
/// all that is written.
///
/// # Errors
/// If something has no bound.
pub fn closed(
    program: &SplitProgram,
    configurations: &mut [Configurations<'_>],
    labels: Labels,
    which: Domains<'_>,
) -> Result<Closed, Stop> {
    // In the order in which they are found.
    let (mut domains, is_fixed, most): (Vec<Vec<i64>>, bool, usize) = match which {
        Domains::Closed(most) => (program.memory.iter().map(|&value| vec![value]).collect(), false, most),
        Domains::Given(domains) => (domains.to_vec(), true, usize::MAX),
    };
    let mut threads: Vec<Growing> =
        configurations.iter().map(|_| Growing { is_fixed, ..Growing::new(domains.len()) }).collect();
    loop {
        for (number, (configurations, thread)) in configurations.iter_mut().zip(&mut threads).enumerate() {
            thread.go_on(configurations, (number, labels), &domains, &program.budget)?;
        }
        let known: usize = domains.iter().map(Vec::len).sum();
        for (location, value) in threads.iter_mut().flat_map(|thread| thread.written.drain(..)) {
            let domain = &mut domains[location.index()];
            if !domain.contains(&value) {
                domain.push(value);
            }
        }
        if let Some(location) = domains.iter().position(|domain| domain.len() > most) {
            let problem = format!(
                "the variable {} can have more than {most} values, or has no bound; bound it more narrowly (for example with %)",
                program.locations[location]
            );
            return Err(Stop::ManyValues(location, problem));
        }
        if domains.iter().map(Vec::len).sum::<usize>() == known {
            break;
        }
    }
    domains.iter_mut().for_each(|domain| domain.sort_unstable());
    Ok((threads.into_iter().map(|thread| thread.raw).collect(), domains))
}

/// What a thread was seen to do so far.
struct Growing {
    raw: FxHashSet<Raw>,
    seen: FxHashSet<ConfigId>,
    /// The configurations that have read something, in the order in which they were seen.
    reading: Vec<ConfigId>,
    /// How many values of each location they have read.
    tried: Vec<usize>,
    /// What was written since somebody asked.
    written: Vec<(LocationAt, i64)>,
    /// Whether nothing may be written that is not in the domains.
    is_fixed: bool,
}

impl Growing {
    fn new(locations: usize) -> Growing {
        Growing {
            raw: FxHashSet::default(),
            seen: FxHashSet::default(),
            reading: Vec::new(),
            tried: vec![0; locations],
            written: Vec::new(),
            is_fixed: false,
        }
    }

    /// Does all that it can with these values.
    fn go_on(
        &mut self,
        thread: &mut Configurations<'_>,
        (number, labels): (usize, Labels),
        domains: &[Vec<i64>],
        budget: &Budget,
    ) -> Result<(), Stop> {
        let mut open: Vec<ConfigId> = Vec::new();
        let tried = std::mem::replace(&mut self.tried, domains.iter().map(Vec::len).collect());
        for at in 0..self.reading.len() {
            budget.check()?;
            self.expand(thread, labels, self.reading[at], (domains, &tried), &mut open);
        }
        if self.seen.insert(0) {
            open.push(0);
        }
        let nothing = vec![0; domains.len()];
        while let Some(from) = open.pop() {
            budget.check()?;
            let reads = |known: &Move| matches!(known.action, Action::Read { .. } | Action::Whole);
            if thread.moves(from).iter().any(reads) {
                self.reading.push(from);
            }
            self.expand(thread, labels, from, (domains, &nothing), &mut open);
            if self.seen.len() > MOST_CONFIGURATIONS {
                let problem = format!(
                    "has more than {MOST_CONFIGURATIONS} combinations of control state and locals; bound its locals (for example with %)"
                );
                let locals = with_most_values(thread, &self.seen);
                return Err(Stop::ThreadTooLarge { thread: number, locals, problem });
            }
        }
        Ok(())
    }

    /// What can be done in a configuration, with values that were not tried.
    fn expand(
        &mut self,
        thread: &mut Configurations<'_>,
        labels: Labels,
        from: ConfigId,
        (domains, tried): (&[Vec<i64>], &[usize]),
        open: &mut Vec<ConfigId>,
    ) {
        let mut found: Vec<(ConfigId, bool, u32, RawOperation)> = Vec::new();
        let is_new = tried.iter().all(|&tried| tried == 0);
        for known in thread.moves(from).iter() {
            let label = if labels == Labels::Instructions { known.instruction.0 } else { 0 };
            match known.action {
                Action::Silent { next } if is_new => {
                    found.push((next, known.drained, label, RawOperation::Silent));
                }
                Action::Write { location, value, next } if is_new => {
                    if !self.is_fixed {
                        self.written.push((location, value));
                    }
                    found.push((next, known.drained, label, RawOperation::Write(location, value)));
                }
                Action::Silent { .. } | Action::Write { .. } => {}
                Action::Read { operation, location } => {
                    for &value in &domains[location.index()][tried[location.index()]..] {
                        let next = thread.after_read(from, known.step, operation, value);
                        found.push((next, known.drained, label, RawOperation::Read(location, value)));
                    }
                }
                Action::Whole => whole(thread, from, (known, label), domains, &mut found),
            }
        }
        for (to, drained, label, operation) in found {
            let (to, operation) = match self.is_fixed {
                true => fitting(from, to, operation, domains),
                false => (to, operation),
            };
            let is_quiet = match &operation {
                RawOperation::Silent | RawOperation::Read(..) => true,
                RawOperation::Write(..) | RawOperation::Outside(..) => false,
                RawOperation::Whole(_, writes) => {
                    self.written.extend(writes);
                    writes.is_empty()
                }
            };
            if from == to && is_quiet {
                continue;
            }
            self.raw.insert((from, to, drained, label, operation));
            if self.seen.insert(to) {
                open.push(to);
            }
        }
    }
}

/// What leads out of the domains leads nowhere.
fn fitting(from: ConfigId, to: ConfigId, operation: RawOperation, domains: &[Vec<i64>]) -> (ConfigId, RawOperation) {
    let fits = |&(location, value): &(LocationAt, i64)| domains[location.index()].contains(&value);
    match operation {
        RawOperation::Write(location, value) if !fits(&(location, value)) => {
            (from, RawOperation::Outside(Vec::new(), vec![(location, value)]))
        }
        RawOperation::Whole(reads, writes) if !writes.iter().all(fits) => (from, RawOperation::Outside(reads, writes)),
        operation => (to, operation),
    }
}

/// The locals of a thread that have the most values in these configurations, between two instructions.
fn with_most_values(thread: &Configurations<'_>, seen: &FxHashSet<ConfigId>) -> Vec<usize> {
    let mut values: Vec<FxHashSet<i64>> = Vec::new();
    for &id in seen.iter().filter(|&&id| thread.is_at_boundary(id)) {
        let frame = &thread.config(id).frame;
        values.resize_with(frame.len().max(values.len()), FxHashSet::default);
        frame.iter().zip(&mut values).for_each(|(&value, values)| {
            values.insert(value);
        });
    }
    let most = values.iter().map(FxHashSet::len).max().unwrap_or(0);
    (0..values.len()).filter(|&local| most > 1 && values[local].len() == most).collect()
}

/// What a step that is one can do, for all values that it can read: those that it turns out to read are tried.
fn whole(
    thread: &mut Configurations<'_>,
    from: ConfigId,
    (known, label): (&Move, u32),
    domains: &[Vec<i64>],
    found: &mut Vec<(ConfigId, bool, u32, RawOperation)>,
) {
    let mut open: Vec<Vec<(LocationAt, i64)>> = vec![Vec::new()];
    while let Some(reads) = open.pop() {
        let mut memory = vec![0; domains.len()];
        reads.iter().for_each(|&(location, value)| memory[location.index()] = value);
        let Some((to, accesses)) = thread.perform(from, known.step, &mut memory) else { continue };
        let mut writes: Vec<(LocationAt, i64)> = Vec::new();
        let mut unknown = None;
        for access in &accesses {
            let is = |&(location, _): &(LocationAt, i64)| location == access.location;
            match access.kind {
                AccessKind::Write => {
                    writes.retain(|write| !is(write));
                    writes.push((access.location, access.value));
                }
                AccessKind::Read if !reads.iter().chain(&writes).any(is) => {
                    unknown = Some(access.location);
                    break;
                }
                AccessKind::Read => {}
            }
        }
        match unknown {
            Some(location) => {
                for &value in &domains[location.index()] {
                    let mut more = reads.clone();
                    more.push((location, value));
                    open.push(more);
                }
            }
            None => {
                writes.sort_unstable();
                found.push((to, known.drained, label, RawOperation::Whole(reads, writes)));
            }
        }
    }
}
