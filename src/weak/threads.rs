//! What one thread can do next: its configurations, and the moves from each of them.
//!
//! A move makes exactly one shared access, or is a whole step without any; what happens privately in between is done at once. So the moves of a configuration do not depend on the memory, and
//! are computed once. Only where a read leads depends on the value that it gets.

use super::split::{Cell, Operation, SplitStep, SplitThread};
use crate::program::InstructionKind;
use crate::program::compiled::{Fault, Trace};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// The number of a configuration of a thread.
pub type ConfigId = u32;

/// Where a thread is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Config {
    /// Its control state; that from which the instruction at hand is taken, if there is one.
    pub control: u32,
    /// The step from that control state that is being performed, and which of its operations are done, as bits.
    pub running: Option<(u32, u64)>,
    /// Its locals; in the middle of an instruction the whole frame.
    pub frame: Box<[i64]>,
    /// An evaluation went wrong: it can do nothing more.
    pub is_faulty: bool,
}

/// Read or write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AccessKind {
    /// A read.
    Read,
    /// A write.
    Write,
}

/// An access that was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Access {
    /// Read or write.
    pub kind: AccessKind,
    /// The location.
    pub location: u32,
    /// The value read or written.
    pub value: i64,
}

/// How an instruction stands after a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// More of its accesses follow.
    InTheMiddle,
    /// It is complete.
    Done,
    /// It is complete and has changed nothing: its condition was refused, or it is a condition that leads back to where it was (a blocked evaluation, method §2). Nothing in the thread
    /// depends on it, so it is before nothing in program order.
    WithoutEffect,
}

/// What a thread can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    /// The step from the control state.
    pub step: u32,
    /// The instruction, by its position in the thread.
    pub instruction: u32,
    /// The thread's store buffer must be empty.
    pub drained: bool,
    /// What.
    pub action: Action,
}

/// The kinds of moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Reads a location; [`Threads::after_read`] tells where that leads.
    Read {
        /// The operation.
        operation: u32,
        /// The location.
        location: u32,
    },
    /// Writes a location.
    Write {
        /// The location.
        location: u32,
        /// The value.
        value: i64,
        /// Where it leads.
        next: ConfigId,
    },
    /// A step without an access; a fence is such a step, drained.
    Silent {
        /// Where it leads.
        next: ConfigId,
    },
    /// An atomic instruction: performed as a whole on the memory, see [`Threads::perform`].
    Whole,
}

/// The configurations of a thread.
pub struct Threads<'p> {
    thread: &'p SplitThread,
    configs: Vec<Rc<Config>>,
    numbers: FxHashMap<Rc<Config>, ConfigId>,
    moves: Vec<Option<Rc<[Move]>>>,
}

/// How an instruction stands after its private operations.
#[derive(Clone, Copy)]
enum Standing {
    InTheMiddle,
    Done,
    Refused,
    Faulty,
}

impl<'p> Threads<'p> {
    /// A thread that has not started: configuration 0.
    #[must_use]
    pub fn new(thread: &'p SplitThread) -> Threads<'p> {
        let mut threads = Threads { thread, configs: Vec::new(), numbers: FxHashMap::default(), moves: Vec::new() };
        let frame = thread.locals.clone().into_boxed_slice();
        threads.number(Config { control: thread.initial as u32, running: None, frame, is_faulty: false });
        threads
    }

    /// A configuration.
    #[must_use]
    pub fn config(&self, id: ConfigId) -> &Config {
        &self.configs[id as usize]
    }

    /// Whether the thread is between two instructions.
    #[must_use]
    pub fn is_at_boundary(&self, id: ConfigId) -> bool {
        self.config(id).running.is_none()
    }

    /// A step of the thread.
    #[must_use]
    pub fn step(&self, id: ConfigId, step: u32) -> &'p SplitStep {
        &self.thread.steps[self.config(id).control as usize][step as usize]
    }

    /// The steps from the control state of a configuration.
    #[must_use]
    pub fn steps(&self, id: ConfigId) -> &'p [SplitStep] {
        &self.thread.steps[self.config(id).control as usize]
    }

    fn number(&mut self, config: Config) -> ConfigId {
        if let Some(&id) = self.numbers.get(&config) {
            return id;
        }
        let id = self.configs.len() as ConfigId;
        let config = Rc::new(config);
        self.configs.push(Rc::clone(&config));
        self.numbers.insert(config, id);
        self.moves.push(None);
        id
    }

    /// How a move from one configuration to another leaves its instruction; `is_write` if the move was a write.
    #[must_use]
    pub fn progress(&self, before: ConfigId, step: u32, after: ConfigId, is_write: bool) -> Progress {
        let (from, to) = (self.config(before), self.config(after));
        if to.running.is_some() {
            return Progress::InTheMiddle;
        }
        let operations = &self.step(before, step).operations;
        let has_condition = operations.iter().any(|operation| matches!(operation, Operation::Decide(..)));
        let done = from.running.map_or(0, |(_, done)| done);
        let mut writes = (0..operations.len()).filter(|&position| matches!(operations[position], Operation::Write(..)));
        let has_written = is_write || writes.any(|position| done & 1 << position != 0);
        let locals = self.thread.locals.len();
        let is_same = from.control == to.control && from.frame[..locals] == to.frame[..] && !to.is_faulty;
        if is_same && has_condition && !has_written { Progress::WithoutEffect } else { Progress::Done }
    }

    /// What the thread can do next.
    pub fn moves(&mut self, id: ConfigId) -> Rc<[Move]> {
        if let Some(moves) = &self.moves[id as usize] {
            return Rc::clone(moves);
        }
        let config = Rc::clone(&self.configs[id as usize]);
        let mut moves = Vec::new();
        match config.running {
            _ if config.is_faulty => {}
            Some((step, _)) => self.moves_within(step, false, &config, &mut moves),
            None => {
                for step in 0..self.steps(id).len() as u32 {
                    self.moves_of(id, step, &mut moves);
                }
            }
        }
        let moves: Rc<[Move]> = moves.into();
        self.moves[id as usize] = Some(Rc::clone(&moves));
        moves
    }

    /// The moves that begin a step.
    fn moves_of(&mut self, id: ConfigId, step: u32, moves: &mut Vec<Move>) {
        let split = self.step(id, step);
        let instruction = split.instruction as u32;
        if split.is_whole() {
            moves.push(Move { step, instruction, drained: true, action: Action::Whole });
            return;
        }
        let mut started = self.begun(id, step);
        match settle(split, &mut started) {
            Standing::InTheMiddle => self.moves_within(step, split.drained, &started, moves),
            Standing::Refused => {}
            standing => {
                let next = self.arrive(started, split, standing);
                let drained = split.drained || split.kind == InstructionKind::Fence;
                moves.push(Move { step, instruction, drained, action: Action::Silent { next } });
            }
        }
    }

    /// A configuration with a step begun and nothing of it done.
    fn begun(&self, id: ConfigId, step: u32) -> Config {
        let mut frame = self.config(id).frame.to_vec();
        frame.resize(self.step(id, step).frame, 0);
        Config { running: Some((step, 0)), frame: frame.into(), ..self.config(id).clone() }
    }

    /// The accesses of a step that can be made now, behind a fence or not.
    fn moves_within(&mut self, step: u32, fenced: bool, config: &Config, moves: &mut Vec<Move>) {
        let split = &self.thread.steps[config.control as usize][step as usize];
        let Some((_, done)) = config.running else { return };
        for operation in 0..split.operations.len() {
            let Some(Touch::Location(location)) = ready(split, &config.frame, done, operation) else { continue };
            let Some(is_first_behind) = passes_inside(split, done, operation) else { continue };
            let drained = fenced || is_first_behind;
            let action = match &split.operations[operation] {
                Operation::Write(_, slot) => {
                    let value = config.frame[*slot];
                    let mut next = config.clone();
                    next.running = Some((step, done | 1 << operation));
                    let standing = settle(split, &mut next);
                    Action::Write { location, value, next: self.arrive(next, split, standing) }
                }
                _ => Action::Read { operation: operation as u32, location },
            };
            moves.push(Move { step, instruction: split.instruction as u32, drained, action });
        }
    }

    /// Where a read leads that got this value.
    ///
    /// # Panics
    /// If the move is not a read of this configuration.
    pub fn after_read(&mut self, id: ConfigId, step: u32, operation: u32, value: i64) -> ConfigId {
        let split = self.step(id, step);
        let mut config = match self.config(id).running {
            Some(_) => self.config(id).clone(),
            None => {
                let mut begun = self.begun(id, step);
                // It has moves, so its private beginning went well.
                let _ = settle(split, &mut begun);
                begun
            }
        };
        let Operation::Read(_, slot) = &split.operations[operation as usize] else { unreachable!("a read") };
        config.frame[*slot] = value;
        if let Some((_, done)) = &mut config.running {
            *done |= 1 << operation;
        }
        let standing = settle(split, &mut config);
        self.arrive(config, split, standing)
    }

    /// Performs a step as a whole on the memory, in the order of the text; where it leads, and the accesses it made. Nothing if it does not start or is refused without an access.
    pub fn perform(&mut self, id: ConfigId, step: u32, memory: &mut [i64]) -> Option<(ConfigId, Vec<Access>)> {
        let split = self.step(id, step);
        let mut config = self.begun(id, step);
        let mut accesses = Vec::new();
        loop {
            match settle(split, &mut config) {
                Standing::InTheMiddle => {}
                Standing::Refused if accesses.is_empty() => return None,
                standing => return Some((self.arrive(config, split, standing), accesses)),
            }
            let done = config.running.map_or(0, |(_, done)| done);
            let next =
                (0..split.operations.len()).find_map(|operation| match ready(split, &config.frame, done, operation) {
                    Some(Touch::Location(location)) => Some((operation, location)),
                    _ => None,
                });
            let (operation, location) = next.expect("some access of an instruction in the middle is ready");
            let cell = &mut memory[location as usize];
            let kind = match &split.operations[operation] {
                Operation::Write(_, slot) => {
                    *cell = config.frame[*slot];
                    AccessKind::Write
                }
                Operation::Read(_, slot) => {
                    config.frame[*slot] = *cell;
                    AccessKind::Read
                }
                _ => unreachable!("only reads and writes touch a location"),
            };
            accesses.push(Access { kind, location, value: *cell });
            config.running = Some((step, done | 1 << operation));
        }
    }

    /// The configuration after an operation: in the middle, or at a boundary with the locals as they are now.
    fn arrive(&mut self, config: Config, split: &SplitStep, standing: Standing) -> ConfigId {
        let locals = self.thread.locals.len();
        let boundary = |control: usize, frame: &[i64]| Config {
            control: control as u32,
            running: None,
            frame: frame[..locals].into(),
            is_faulty: false,
        };
        let config = match standing {
            Standing::InTheMiddle => config,
            Standing::Refused => boundary(config.control as usize, &config.frame),
            Standing::Done => {
                let mut frame = config.frame.clone();
                for &(local, slot) in &split.results {
                    frame[local] = config.frame[slot];
                }
                boundary(split.to, &frame)
            }
            Standing::Faulty => Config { is_faulty: true, ..boundary(config.control as usize, &config.frame) },
        };
        self.number(config)
    }
}

/// What a ready read or write touches.
enum Touch {
    /// A location, by an access.
    Location(u32),
    /// Nothing: the index is out of range, a later write overwrites this one, or the value is there already, in this slot.
    Nothing(Option<usize>),
}

/// Whether a read or write can be performed now, and what it touches. Nothing for other operations.
fn ready(split: &SplitStep, frame: &[i64], done: u64, operation: usize) -> Option<Touch> {
    let (cell, is_write) = access(split, operation)?;
    if done & 1 << operation != 0 || split.needs[operation] & !done != 0 {
        return None;
    }
    // Indices that go wrong are found when the operation is settled.
    let Ok(Some(location)) = locate(cell, frame) else { return Some(Touch::Nothing(None)) };
    let mut value: Option<usize> = None;
    for other in 0..split.operations.len() {
        let Some((other_cell, other_writes)) = access(split, other) else { continue };
        if other == operation || other_cell.base != cell.base {
            continue;
        }
        let other_done = done & 1 << other != 0;
        let known = split.addresses[other] & !done == 0;
        let same = known && matches!(locate(other_cell, frame), Ok(Some(there)) if there == location);
        // The instruction knows what it is about to write, whether or not that is performed.
        let is_computed = split.needs[other] & !done == 0;
        let forwards = !is_write && other_writes && same && is_computed;
        if other < operation && !other_done && !forwards && (is_write || other_writes) && (same || !known) {
            return None; // The order of the text decides, and it is the other one's turn, or may be.
        }
        if other > operation && is_write && other_writes {
            if same {
                return Some(Touch::Nothing(None)); // Only the last write to a location is performed.
            }
            if !known && split.inside.is_empty() && !uses_own_writes(split, split.addresses[other]) {
                return None; // It may be that one.
            }
        }
        if !is_write && same && (other_done || forwards) && (other < operation || !other_writes) {
            let slot = match &split.operations[other] {
                Operation::Read(_, slot) | Operation::Write(_, slot) => *slot,
                _ => continue,
            };
            // The last write before it in the text counts; else any read of the location.
            value = if other_writes || value.is_none() { Some(slot) } else { value };
        }
    }
    match value {
        Some(slot) => Some(Touch::Nothing(Some(slot))),
        None => Some(Touch::Location(location)),
    }
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

fn locate(cell: &Cell, frame: &[i64]) -> Result<Option<u32>, Fault> {
    let Some(index) = &cell.index else { return Ok(Some(cell.base as u32)) };
    let index = index.evaluate(frame, &mut Trace::default())?;
    let position = usize::try_from(index).ok().filter(|&position| position < cell.length);
    Ok(position.map(|position| (cell.base + position) as u32))
}

/// Whether the fences inside the instruction let an access pass now; and if so, whether it is the first one behind a fence.
fn passes_inside(split: &SplitStep, done: u64, operation: usize) -> Option<bool> {
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

/// Performs all private operations that are ready.
fn settle(split: &SplitStep, config: &mut Config) -> Standing {
    settle_unless_faulty(split, config).unwrap_or(Standing::Faulty)
}

fn settle_unless_faulty(split: &SplitStep, config: &mut Config) -> Result<Standing, Fault> {
    let Some((step, mut done)) = config.running else { return Ok(Standing::Done) };
    let trace = &mut Trace::default();
    let frame = &mut config.frame;
    loop {
        let before = done;
        for operation in 0..split.operations.len() {
            if done & 1 << operation != 0 || split.needs[operation] & !done != 0 {
                continue;
            }
            match &split.operations[operation] {
                Operation::Read(cell, slot) => {
                    locate(cell, frame)?;
                    match ready(split, frame, done, operation) {
                        Some(Touch::Nothing(Some(known))) => frame[*slot] = frame[known],
                        Some(Touch::Nothing(None)) => frame[*slot] = 0,
                        _ => continue,
                    }
                }
                Operation::Write(cell, _) => {
                    locate(cell, frame)?;
                    if !matches!(ready(split, frame, done, operation), Some(Touch::Nothing(_))) {
                        continue;
                    }
                }
                Operation::Compute(value, slot) => frame[*slot] = value.evaluate(frame, trace)?,
                Operation::Update { old, new, length, index, value } => {
                    let (index, value) = (index.evaluate(frame, trace)?, value.evaluate(frame, trace)?);
                    for element in 0..*length {
                        frame[new + element] = if index == element as i64 { value } else { frame[old + element] };
                    }
                }
                Operation::Decide(outranked, own) => {
                    let mut enabled = true;
                    for condition in outranked {
                        enabled &= condition.evaluate(frame, trace)? == 0;
                    }
                    if let Some(condition) = own {
                        enabled &= condition.evaluate(frame, trace)? != 0;
                    }
                    if !enabled {
                        return Ok(Standing::Refused);
                    }
                }
            }
            done |= 1 << operation;
        }
        if done == before {
            break;
        }
    }
    config.running = Some((step, done));
    let all = split.operations.len();
    Ok(if done.count_ones() as usize == all { Standing::Done } else { Standing::InTheMiddle })
}
