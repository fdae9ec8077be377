//! Which accesses of an instruction in the middle can be made now.
//!
//! An operation waits for what it needs ([`split`](super::split)), and, where two of them touch one location and one writes, the text decides: a write waits for earlier reads, a read takes the value of the last
//! write before it, performed or not, and of two writes only the later one is performed. Nothing else orders the accesses of an instruction (method §3).
//!
//! *Presumptions.* Whether two accesses to one array touch the same element is not known until both indices are, and an index can need a shared read. In `s := v[i]; v[1] := 1` the write does not
//! depend on the read of `i`, so it can come first, if `i` turns out not to be 1. Such an access is made with a [`Presumption`], and a run in which that turns out wrong is none: it stops in the middle of the
//! instruction, and never comes to a state between instructions. In the same way `v[i] := 1; x := v[0]` can write 1 to `x` before it reads `i`, if that turns out to be 0. Without a presumption
//! an instruction can always go on, in the order of the text.
//!
//! A run up to some point says something about the program only if all that was presumed can still come true: [`Config::is_certain`] tells where nothing is open.

use super::split::{Cell, Operation, SplitStep};
use super::threads::Config;
use crate::program::compiled::{Fault, Trace};

/// What is presumed of an access whose index is not known yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Presumption {
    operation: u32,
    location: u32,
    whereabouts: Whereabouts,
}

/// Where an access is, as seen from a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Whereabouts {
    There,
    Elsewhere,
    Unknown,
}

/// What a read or write touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Touch {
    /// A location, by an access.
    Location(u32),
    /// Nothing: the index is out of range, a later write overwrites this one, or the value is there already, in this slot.
    Nothing(Option<usize>),
}

/// A way to perform a read or write now.
pub(super) struct Way {
    pub touch: Touch,
    /// What it presumes.
    pub presumed: Vec<Presumption>,
}

/// How an instruction stands after its private operations.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    InTheMiddle,
    Done,
    Refused,
    Faulty,
}

impl Config {
    /// Whether nothing is presumed that is not known to be so.
    #[must_use]
    pub fn is_certain(&self) -> bool {
        self.presumed.is_empty()
    }

    /// Which operations of the instruction at hand are done, as bits.
    pub(super) fn done(&self) -> u64 {
        self.running.map_or(0, |(_, done)| done)
    }

    /// Does an operation, with what it presumes.
    pub(super) fn perform(&mut self, operation: usize, presumed: &[Presumption]) {
        if let Some((_, done)) = &mut self.running {
            *done |= 1 << operation;
        }
        self.presumed.extend(presumed);
        self.presumed.sort_unstable();
        self.presumed.dedup();
    }
}

/// All ways to perform an operation now; none for those that are no accesses.
pub(super) fn ways(split: &SplitStep, config: &Config, operation: usize) -> Vec<Way> {
    let Some((cell, is_write)) = access(split, operation) else { return Vec::new() };
    let done = config.done();
    if done & 1 << operation != 0 || split.needs[operation] & !done != 0 {
        return Vec::new();
    }
    // Indices that go wrong are found when the operation is settled.
    let Ok(Some(location)) = locate(cell, &config.frame) else {
        return vec![Way { touch: Touch::Nothing(None), presumed: Vec::new() }];
    };
    let around = Around { split, config, operation, base: cell.base, location };
    if is_write { around.write().into_iter().collect() } else { around.read() }
}

/// An access, and what the instruction does with its location besides.
struct Around<'a> {
    split: &'a SplitStep,
    config: &'a Config,
    operation: usize,
    base: usize,
    location: u32,
}

impl Around<'_> {
    fn write(&self) -> Option<Way> {
        let later = || self.writes().filter(|&other| other > self.operation);
        if later().any(|other| self.whereabouts(other) == Whereabouts::There) {
            // Only the last write to a location is performed.
            return Some(Way { touch: Touch::Nothing(None), presumed: Vec::new() });
        }
        let mut presumed = Vec::new();
        for other in self.reads().filter(|&other| other < self.operation && !self.is_done(other)) {
            match self.whereabouts(other) {
                Whereabouts::There => return None,
                Whereabouts::Elsewhere => {}
                Whereabouts::Unknown => presumed.push(self.presume(other, Whereabouts::Elsewhere)),
            }
        }
        for other in later().filter(|&other| self.whereabouts(other) == Whereabouts::Unknown) {
            // It may be the last one; where waiting for that could be in vain, both are performed.
            if self.split.inside.is_empty() && !uses_own_writes(self.split, self.split.addresses[other]) {
                presumed.push(self.presume(other, Whereabouts::Elsewhere));
            }
        }
        Some(Way { touch: Touch::Location(self.location), presumed })
    }

    fn read(&self) -> Vec<Way> {
        let mut ways = Vec::new();
        // The last write before it in the text counts.
        let mut presumed = Vec::new();
        let earlier: Vec<usize> = self.writes().filter(|&other| other < self.operation).collect();
        for &other in earlier.iter().rev() {
            let whereabouts = self.whereabouts(other);
            if whereabouts == Whereabouts::Elsewhere {
                continue;
            }
            // The instruction knows what it is about to write, whether or not that is performed.
            let is_computed = self.split.needs[other] & !self.split.addresses[other] & !self.config.done() == 0;
            let mut there = presumed.clone();
            if whereabouts == Whereabouts::Unknown {
                there.push(self.presume(other, Whereabouts::There));
                presumed.push(self.presume(other, Whereabouts::Elsewhere));
            }
            if is_computed {
                ways.push(Way { touch: Touch::Nothing(slot(self.split, other)), presumed: there });
            }
            if whereabouts == Whereabouts::There {
                return ways;
            }
        }
        // A location is read once, unless the instruction writes it in between.
        let known = self.reads().find(|&other| {
            let is_between = |write: &usize| (self.operation..other).contains(write);
            self.is_done(other)
                && self.whereabouts(other) == Whereabouts::There
                && !self.writes().filter(is_between).any(|write| self.whereabouts(write) == Whereabouts::There)
        });
        let touch = match known {
            Some(other) => Touch::Nothing(slot(self.split, other)),
            None => Touch::Location(self.location),
        };
        ways.push(Way { touch, presumed });
        ways
    }

    /// The other accesses to the variable.
    fn others(&self) -> impl Iterator<Item = (usize, bool)> {
        let accesses = (0..self.split.operations.len()).filter(|&other| other != self.operation);
        accesses.filter_map(|other| {
            let (cell, is_write) = access(self.split, other)?;
            (cell.base == self.base).then_some((other, is_write))
        })
    }

    fn reads(&self) -> impl Iterator<Item = usize> {
        self.others().filter(|(_, is_write)| !is_write).map(|(other, _)| other)
    }

    fn writes(&self) -> impl Iterator<Item = usize> {
        self.others().filter(|(_, is_write)| *is_write).map(|(other, _)| other)
    }

    fn is_done(&self, other: usize) -> bool {
        self.config.done() & 1 << other != 0
    }

    fn whereabouts(&self, other: usize) -> Whereabouts {
        if let Some(known) = whereabouts(self.split, self.config, other, self.location) {
            return known;
        }
        for presumption in self.config.presumed.iter().filter(|known| known.operation as usize == other) {
            match (presumption.whereabouts, presumption.location == self.location) {
                (whereabouts, true) => return whereabouts,
                (Whereabouts::There, false) => return Whereabouts::Elsewhere,
                _ => {}
            }
        }
        Whereabouts::Unknown
    }

    fn presume(&self, other: usize, whereabouts: Whereabouts) -> Presumption {
        Presumption { operation: other as u32, location: self.location, whereabouts }
    }
}

/// Where an access is, if its index is known.
fn whereabouts(split: &SplitStep, config: &Config, operation: usize, location: u32) -> Option<Whereabouts> {
    let (cell, _) = access(split, operation)?;
    let is_known = split.addresses[operation] & !config.done() == 0;
    is_known.then(|| match locate(cell, &config.frame) {
        Ok(Some(there)) if there == location => Whereabouts::There,
        _ => Whereabouts::Elsewhere,
    })
}

/// Whether something was presumed that has turned out wrong.
pub(super) fn is_refuted(split: &SplitStep, config: &Config) -> bool {
    config.presumed.iter().any(|presumption| {
        let known = whereabouts(split, config, presumption.operation as usize, presumption.location);
        known.is_some_and(|known| known != presumption.whereabouts)
    })
}

/// Forgets the presumptions that have come true.
fn confirm(split: &SplitStep, config: &mut Config) {
    let mut presumed = std::mem::take(&mut config.presumed);
    presumed.retain(|presumption| {
        let known = whereabouts(split, config, presumption.operation as usize, presumption.location);
        known != Some(presumption.whereabouts)
    });
    config.presumed = presumed;
}

/// Whether one of these operations, or what they need, reads a variable that the instruction writes: it may wait for that write.
fn uses_own_writes(split: &SplitStep, operations: u64) -> bool {
    let has = |set: u64, operation: usize| set & 1 << operation != 0;
    let mut needed = operations;
    // What is needed comes earlier in the text.
    for operation in (0..split.operations.len()).rev() {
        if has(needed, operation) && !matches!(split.operations[operation], Operation::Decide(..)) {
            needed |= split.needs[operation];
        }
    }
    let is_written = |base: usize| {
        split.operations.iter().any(|operation| matches!(operation, Operation::Write(cell, _) if cell.base == base))
    };
    (0..split.operations.len())
        .filter(|&operation| has(needed, operation))
        .any(|operation| matches!(&split.operations[operation], Operation::Read(cell, _) if is_written(cell.base)))
}

fn access(split: &SplitStep, operation: usize) -> Option<(&Cell, bool)> {
    match &split.operations[operation] {
        Operation::Read(cell, _) => Some((cell, false)),
        Operation::Write(cell, _) => Some((cell, true)),
        _ => None,
    }
}

/// Where the value is that an access reads or writes.
fn slot(split: &SplitStep, operation: usize) -> Option<usize> {
    match &split.operations[operation] {
        Operation::Read(_, slot) | Operation::Write(_, slot) => Some(*slot),
        _ => None,
    }
}

fn locate(cell: &Cell, frame: &[i64]) -> Result<Option<u32>, Fault> {
    let Some(index) = &cell.index else { return Ok(Some(cell.base as u32)) };
    let index = index.evaluate(frame, &mut Trace::default())?;
    let position = usize::try_from(index).ok().filter(|&position| position < cell.length);
    Ok(position.map(|position| (cell.base + position) as u32))
}

/// Whether the fences inside the instruction let an access pass now; and if so, whether it is the first one behind a fence.
pub(super) fn passes_inside(split: &SplitStep, done: u64, operation: usize) -> Option<bool> {
    let level = split.levels[operation];
    let accesses = || (0..split.operations.len()).filter(|&other| access(split, other).is_some());
    let mut first = false;
    for &fence in split.inside.iter().filter(|&&fence| fence <= level) {
        let is_done = |other: &usize| done & 1 << other != 0;
        if accesses().any(|other| split.levels[other] < fence && !is_done(&other)) {
            return None;
        }
        first |= !accesses().any(|other| split.levels[other] >= fence && is_done(&other));
    }
    Some(first)
}

/// Performs all private operations that are ready and presume nothing.
pub(super) fn settle(split: &SplitStep, config: &mut Config) -> Standing {
    if config.running.is_none() {
        return Standing::Done;
    }
    loop {
        let before = config.done();
        confirm(split, config);
        for operation in 0..split.operations.len() {
            if config.done() & 1 << operation != 0 || split.needs[operation] & !config.done() != 0 {
                continue;
            }
            match settle_one(split, config, operation) {
                Ok(Settled::Done) => config.perform(operation, &[]),
                Ok(Settled::Waiting) => {}
                Ok(Settled::Refused) => return Standing::Refused,
                // Nothing goes wrong for a presumption: it waits until that has come true.
                Err(_) if !config.is_certain() => {}
                Err(_) => return Standing::Faulty,
            }
        }
        if config.done() == before {
            break;
        }
    }
    let is_done = config.done().count_ones() as usize == split.operations.len();
    if is_done && config.is_certain() { Standing::Done } else { Standing::InTheMiddle }
}

enum Settled {
    Done,
    Waiting,
    Refused,
}

/// Performs an operation if it is private.
fn settle_one(split: &SplitStep, config: &mut Config, operation: usize) -> Result<Settled, Fault> {
    let trace = &mut Trace::default();
    match &split.operations[operation] {
        Operation::Read(cell, _) | Operation::Write(cell, _) => {
            locate(cell, &config.frame)?;
            match &ways(split, config, operation)[..] {
                [Way { touch: Touch::Nothing(value), presumed }] if presumed.is_empty() => {
                    take(split, config, operation, *value);
                }
                _ => return Ok(Settled::Waiting),
            }
        }
        Operation::Compute(value, slot) => config.frame[*slot] = value.evaluate(&config.frame, trace)?,
        Operation::Update { old, new, length, index, value } => {
            let frame = &mut config.frame;
            let (index, value) = (index.evaluate(frame, trace)?, value.evaluate(frame, trace)?);
            for element in 0..*length {
                frame[new + element] = if index == element as i64 { value } else { frame[old + element] };
            }
        }
        Operation::Decide(outranked, own) => {
            let frame = &config.frame;
            let mut enabled = true;
            for condition in outranked {
                enabled &= condition.evaluate(frame, trace)? == 0;
            }
            if let Some(condition) = own {
                enabled &= condition.evaluate(frame, trace)? != 0;
            }
            if !enabled {
                return Ok(Settled::Refused);
            }
        }
    }
    Ok(Settled::Done)
}

/// A read that makes no access takes its value from this slot, or 0 if its index is out of range.
pub(super) fn take(split: &SplitStep, config: &mut Config, operation: usize, value: Option<usize>) {
    if let Operation::Read(_, slot) = &split.operations[operation] {
        config.frame[*slot] = value.map_or(0, |known| config.frame[known]);
    }
}
