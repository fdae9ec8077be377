//! Which accesses of an instruction in the middle can be made now.
//!
//! An operation waits for what it needs ([`split`](super::split)), and, where two of them touch one location and one
//! writes, for the one that stands first in the text. Nothing else orders the accesses of an instruction (method §3):
//! two reads of a location are made in any order, each by itself.
//!
//! *Presumptions.* Whether two accesses to one array touch the same element is not known until both indices are, and
//! an index can need a shared read. In `s := v[i]; v[1] := 1` the write does not depend on the read of `i`, so it can
//! come first, if `i` turns out not to be 1. Such an access is made with a [`Presumption`], and a run in which that
//! turns out wrong is none: it stops in the middle of the instruction, and never comes to a state between
//! instructions. Without a presumption an instruction can always go on, in the order of the text.
//!
//! Values are never presumed. In `v[i] := 1; x := v[0]` the element can be read before `i`, but what is written to
//! `x` depends on `i`, as that tells whether the element was to be written first. So what needs the read waits for
//! `i`; else values could come out of thin air (`x` has a value because `i` is not 0, and another thread makes `i`
//! that because `x` has it).
//!
//! A run up to some point says something about the program only if all that was presumed can still come true:
//! [`Config::is_certain`] tells where nothing is open.

use super::split::{Cell, Fenced, Operation, SplitStep};
use super::threads::Config;
use crate::ids::LocationAt;
use crate::program::compiled::{Fault, Trace};

/// An access was made although another one, whose index is not known yet, may have to come first: it is presumed to
/// be elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Presumption {
    /// The operation whose access was made.
    by: u32,
    /// Where.
    location: LocationAt,
    /// The operation that is elsewhere.
    other: u32,
}

/// Where an access is, as seen from a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Whereabouts {
    There,
    Elsewhere,
    Unknown,
}

/// How a read or write can be made now.
pub(super) struct Way {
    /// Where.
    pub location: LocationAt,
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

    /// Those of them whose values can be used: nothing that they presume is open.
    pub(super) fn available(&self) -> u64 {
        self.presumed.iter().fold(self.done(), |done, presumption| done & !(1 << presumption.by))
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

/// How an access can be made now; nothing if it cannot, or if the operation makes none.
pub(super) fn ready(split: &SplitStep, config: &Config, operation: usize) -> Option<Way> {
    let (cell, is_write) = access(split, operation)?;
    if config.done() & 1 << operation != 0 || split.needs[operation] & !config.available() != 0 {
        return None;
    }
    // Indices that are out of range or go wrong are found when the operation is settled.
    let location = locate(cell, &config.frame).ok().flatten()?;
    let around = Around { split, config, operation, base: cell.base, location };
    let presumed = if is_write { around.write() } else { around.read() }?;
    Some(Way { location, presumed })
}

/// An access, and what the instruction does with its location besides.
struct Around<'a> {
    split: &'a SplitStep,
    config: &'a Config,
    operation: usize,
    base: LocationAt,
    location: LocationAt,
}

impl Around<'_> {
    /// What a write presumes: all accesses to the location that stand before it are done. Nothing if one is not.
    fn write(&self) -> Option<Vec<Presumption>> {
        let mut presumed = Vec::new();
        for (other, _) in self.earlier().filter(|&(other, _)| !self.is_done(other)) {
            match self.whereabouts(other) {
                Whereabouts::There => return None,
                Whereabouts::Elsewhere => {}
                Whereabouts::Unknown => presumed.push(self.presume(other)),
            }
        }
        Some(presumed)
    }

    /// What a read presumes: the last write to the location before it is done. (Those before that one are, or it
    /// presumes that they are elsewhere.) Nothing if it is not.
    fn read(&self) -> Option<Vec<Presumption>> {
        let mut presumed = Vec::new();
        let mut writes: Vec<usize> = self.earlier().filter(|(_, is_write)| *is_write).map(|(other, _)| other).collect();
        while let Some(other) = writes.pop() {
            match self.whereabouts(other) {
                Whereabouts::There => return self.is_done(other).then_some(presumed),
                Whereabouts::Elsewhere => {}
                Whereabouts::Unknown => presumed.push(self.presume(other)),
            }
        }
        Some(presumed)
    }

    /// The accesses to the variable that stand before this one, and whether they write.
    fn earlier(&self) -> impl Iterator<Item = (usize, bool)> {
        (0..self.operation).filter_map(|other| {
            let (cell, is_write) = access(self.split, other)?;
            (cell.base == self.base).then_some((other, is_write))
        })
    }

    fn is_done(&self, other: usize) -> bool {
        self.config.done() & 1 << other != 0
    }

    fn whereabouts(&self, other: usize) -> Whereabouts {
        whereabouts(self.split, self.config, other, self.location)
    }

    fn presume(&self, other: usize) -> Presumption {
        Presumption { by: self.operation as u32, location: self.location, other: other as u32 }
    }
}

fn whereabouts(split: &SplitStep, config: &Config, operation: usize, location: LocationAt) -> Whereabouts {
    let is_known = split.addresses[operation] & !config.available() == 0;
    match access(split, operation) {
        Some((cell, _)) if is_known => match locate(cell, &config.frame) {
            Ok(Some(there)) if there == location => Whereabouts::There,
            _ => Whereabouts::Elsewhere,
        },
        _ => Whereabouts::Unknown,
    }
}

/// Whether something was presumed that has turned out wrong.
pub(super) fn is_refuted(split: &SplitStep, config: &Config) -> bool {
    let is_wrong = |Presumption { other, location, .. }: &Presumption| {
        whereabouts(split, config, *other as usize, *location) == Whereabouts::There
    };
    config.presumed.iter().any(is_wrong)
}

/// Forgets the presumptions that have come true.
fn confirm(split: &SplitStep, config: &mut Config) {
    let is_open = |Presumption { other, location, .. }: &Presumption| {
        whereabouts(split, config, *other as usize, *location) != Whereabouts::Elsewhere
    };
    config.presumed = config.presumed.iter().copied().filter(is_open).collect();
}

fn access(split: &SplitStep, operation: usize) -> Option<(&Cell, bool)> {
    match &split.operations[operation] {
        Operation::Read(cell, _) => Some((cell, false)),
        Operation::Write(cell, _) => Some((cell, true)),
        _ => None,
    }
}

fn locate(cell: &Cell, frame: &[i64]) -> Result<Option<LocationAt>, Fault> {
    let Some(index) = &cell.index else { return Ok(Some(cell.base)) };
    let index = index.evaluate(frame, &mut Trace::default())?;
    let position = usize::try_from(index).ok().filter(|&position| position < cell.length);
    Ok(position.map(|position| LocationAt::new(cell.base.index() + position)))
}

/// Fences right before an access.
#[derive(Clone, Copy, Default)]
pub(super) struct Behind {
    /// One that waits until the buffer is empty.
    pub drained: bool,
    /// One of stores.
    pub ordered: bool,
}

/// Whether the fences inside the instruction let an access pass now; and if so, the fences that it is the first one
/// behind. A fence of stores has its place among the accesses, as any fence.
pub(super) fn passes_inside(split: &SplitStep, config: &Config, operation: usize) -> Option<Behind> {
    if split.inside.is_empty() {
        return Some(Behind::default());
    }
    // A fence that stands behind an access whose index is not known yet holds back all that it could be before, until
    // that is known.
    let is_there = |other: usize| {
        access(split, other).is_some_and(|(cell, _)| {
            let is_known = split.addresses[other] & !config.available() == 0;
            !is_known || matches!(locate(cell, &config.frame), Ok(Some(_)))
        })
    };
    let levels = split.levels(is_there);
    let accesses = || (0..split.operations.len()).filter(|&other| is_there(other));
    let is_done = |other: usize| config.done() & 1 << other != 0;
    let mut behind = Behind::default();
    for &(fence, fenced) in split.inside.iter().filter(|(fence, _)| *fence <= levels[operation]) {
        if accesses().any(|other| levels[other] < fence && !is_done(other)) {
            return None;
        }
        let is_first = !accesses().any(|other| levels[other] >= fence && is_done(other));
        match fenced {
            Fenced::Drained => behind.drained |= is_first,
            Fenced::Ordered => behind.ordered |= is_first,
            Fenced::Idle => {}
        }
    }
    Some(behind)
}

/// Performs all private operations that are ready.
pub(super) fn settle(split: &SplitStep, config: &mut Config) -> Standing {
    if config.running.is_none() {
        return Standing::Done;
    }
    loop {
        confirm(split, config);
        let before = config.available();
        for operation in 0..split.operations.len() {
            if config.done() & 1 << operation != 0 || split.needs[operation] & !config.available() != 0 {
                continue;
            }
            match settle_one(split, config, operation) {
                Ok(Settled::Done) => config.perform(operation, &[]),
                Ok(Settled::Waiting) => {}
                Ok(Settled::Refused) => return Standing::Refused,
                // Nothing goes wrong in a run that may be none: it waits until what is presumed has come true.
                Err(_) if !config.is_certain() => {}
                Err(_) => return Standing::Faulty,
            }
        }
        if config.available() == before {
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

/// Performs an operation if it is private: an access with an index out of range is.
fn settle_one(split: &SplitStep, config: &mut Config, operation: usize) -> Result<Settled, Fault> {
    let trace = &mut Trace::default();
    match &split.operations[operation] {
        Operation::Read(cell, slot) => {
            if locate(cell, &config.frame)?.is_some() {
                return Ok(Settled::Waiting);
            }
            config.frame[slot.index()] = 0;
        }
        Operation::Write(cell, _) => {
            if locate(cell, &config.frame)?.is_some() {
                return Ok(Settled::Waiting);
            }
        }
        Operation::Compute(value, slot) => config.frame[slot.index()] = value.evaluate(&config.frame, trace)?,
        Operation::Update { old, new, length, index, value } => {
            let frame = &mut config.frame;
            let (index, value) = (index.evaluate(frame, trace)?, value.evaluate(frame, trace)?);
            for element in 0..*length {
                let kept = frame[old.index() + element];
                frame[new.index() + element] = if index == element as i64 { value } else { kept };
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
