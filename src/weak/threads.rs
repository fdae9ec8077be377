//! What one thread can do next: its configurations, and the moves from each of them.
//!
//! A move makes exactly one shared access, or is a whole step without any; what happens privately in between is done
//! at once. So the moves of a configuration do not depend on the memory, and are computed once. Only where a read
//! leads depends on the value that it gets.

use super::liveness::Liveness;
use super::readiness::{Behind, Presumption, Standing, Way, is_refuted, passes_inside, ready, settle};
use super::split::{Operation, SplitStep, SplitThread};
use crate::ids::{ControlAt, InstrAt, LocationAt};
use crate::program::InstructionKind;
use crate::program::compiled::Trace;
use crate::program::labels::Decision;
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// The number of a configuration of a thread.
pub type ConfigId = u32;

/// Where a thread is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Config {
    /// Its control state; that from which the instruction at hand is taken, if there is one.
    pub control: ControlAt,
    /// The step from that control state that is being performed, and which of its operations are done, as bits.
    pub running: Option<(u32, u64)>,
    /// Its locals; in the middle of an instruction the whole frame.
    pub frame: Box<[i64]>,
    /// What the accesses made so far presume of others of the instruction, sorted.
    pub presumed: Vec<Presumption>,
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
    pub location: LocationAt,
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
    /// It is complete and has changed nothing: its condition was refused, or it is a condition that leads back to
    /// where it was (a blocked evaluation, method §2). Nothing in the thread depends on it, so it is before nothing
    /// in program order.
    WithoutEffect,
}

/// Where a step stands among the accesses of its instruction, which are ordered only by their dependencies (method §3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    /// The operations that it performs, as bits.
    pub own: u64,
    /// Those that come before them.
    pub before: u64,
}

impl Order {
    /// All of the instruction at once.
    pub const WHOLE: Order = Order { own: u64::MAX, before: u64::MAX };
}

/// What a thread can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    /// The step from the control state.
    pub step: u32,
    /// The instruction, by its position in the thread.
    pub instruction: InstrAt,
    /// The thread's store buffer must be empty.
    pub drained: bool,
    /// A fence of stores stands before it: what the thread writes from now on becomes visible, where writes can
    /// overtake others, after all that it has written until now.
    pub ordered: bool,
    /// Which of the instruction's accesses it makes.
    pub order: Order,
    /// What.
    pub action: Action,
}

/// The kinds of moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Reads a location; [`Configurations::after_read`] tells where that leads.
    Read {
        /// The operation.
        operation: u32,
        /// The location.
        location: LocationAt,
    },
    /// Writes a location.
    Write {
        /// The location.
        location: LocationAt,
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
    /// An atomic instruction: performed as a whole on the memory, see [`Configurations::perform`].
    Whole,
}

/// An instruction was evaluated, from its first access to its last.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Evaluated {
    /// Where the thread was.
    pub from: ConfigId,
    /// The instruction, by its position in the thread.
    pub instruction: InstrAt,
    /// Whether it was taken.
    pub verdict: Decision,
    /// The digits of its computed indices, as in a [label](crate::program::labels::label).
    pub key: u64,
    /// Where the thread is now.
    pub to: ConfigId,
}

/// The configurations of a thread.
pub struct Configurations<'p> {
    thread: &'p SplitThread,
    /// All evaluations seen so far, if somebody wants to know.
    evaluated: Option<FxHashSet<Evaluated>>,
    /// What can still be read, if the rest is forgotten.
    liveness: Option<Liveness>,
    configs: Vec<Rc<Config>>,
    numbers: FxHashMap<Rc<Config>, ConfigId>,
    moves: Vec<Option<Rc<[Move]>>>,
}

impl<'p> Configurations<'p> {
    /// A thread that has not started: configuration 0.
    #[must_use]
    pub fn new(thread: &'p SplitThread) -> Configurations<'p> {
        Configurations::starting(thread, &thread.locals, None)
    }

    fn starting(thread: &'p SplitThread, locals: &[i64], liveness: Option<Liveness>) -> Configurations<'p> {
        let mut threads = Configurations {
            thread,
            evaluated: None,
            liveness,
            configs: Vec::new(),
            numbers: FxHashMap::default(),
            moves: Vec::new(),
        };
        threads.number(boundary(thread.initial, locals));
        threads
    }

    /// The same, with locals that are dead forgotten: states that differ only in these are one, for who asks for
    /// accesses and not for locals.
    #[must_use]
    pub fn forgetting(thread: &'p SplitThread) -> Configurations<'p> {
        let liveness = Liveness::of(thread);
        let mut locals = thread.locals.clone();
        liveness.forget(thread.initial, &mut locals);
        Configurations::starting(thread, &locals, Some(liveness))
    }

    /// From now on the evaluations are noted.
    pub fn note_evaluations(&mut self) {
        self.evaluated = Some(FxHashSet::default());
    }

    /// The evaluations that were noted, in order.
    #[must_use]
    pub fn evaluations(&self) -> Vec<&Evaluated> {
        let mut evaluations: Vec<&Evaluated> = self.evaluated.iter().flatten().collect();
        evaluations.sort_unstable();
        evaluations
    }

    /// The configuration from which the instruction at hand was begun; itself between two instructions.
    pub fn begun_at(&mut self, id: ConfigId) -> ConfigId {
        let config = Rc::clone(&self.configs[id as usize]);
        if config.running.is_none() {
            return id;
        }
        let locals = self.thread.locals.len();
        self.number(boundary(config.control, &config.frame[..locals]))
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

    /// Whether the thread is between two instructions of the program, and not at a fence that was put in.
    #[must_use]
    pub fn is_judged(&self, id: ConfigId) -> bool {
        self.is_at_boundary(id) && self.thread.is_own(self.config(id).control)
    }

    /// A step of the thread.
    #[must_use]
    pub fn step(&self, id: ConfigId, step: u32) -> &'p SplitStep {
        &self.steps(id)[step as usize]
    }

    /// The steps from the control state of a configuration.
    #[must_use]
    pub fn steps(&self, id: ConfigId) -> &'p [SplitStep] {
        &self.thread.steps[self.config(id).control.index()]
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
            Some((step, _)) => self.moves_within(step, Behind::default(), &config, &mut moves),
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
        let instruction = split.instruction;
        if split.is_whole() {
            let whole = Action::Whole;
            moves.push(Move { step, instruction, drained: true, ordered: false, order: Order::WHOLE, action: whole });
            return;
        }
        let mut started = self.begun(id, step);
        match settle(split, &mut started) {
            Standing::InTheMiddle => {
                let behind = Behind { drained: split.drained, ordered: split.orders_stores() };
                self.moves_within(step, behind, &started, moves);
            }
            Standing::Refused => {}
            standing => {
                let next = self.arrive(started, split, standing);
                let drained = split.drained || split.kind == InstructionKind::Fence;
                let ordered = split.orders_stores();
                let action = Action::Silent { next };
                moves.push(Move { step, instruction, drained, ordered, order: Order::WHOLE, action });
            }
        }
    }

    /// A configuration with a step begun and nothing of it done.
    fn begun(&self, id: ConfigId, step: u32) -> Config {
        let mut frame = self.config(id).frame.to_vec();
        frame.resize(self.step(id, step).frame, 0);
        let config = self.config(id).clone();
        Config { running: Some((step, 0)), frame: frame.into(), presumed: Vec::new(), ..config }
    }

    /// The accesses of a step that can be made now, behind fences or not.
    fn moves_within(&mut self, step: u32, fences: Behind, config: &Config, moves: &mut Vec<Move>) {
        let split = &self.thread.steps[config.control.index()][step as usize];
        if is_refuted(split, config) {
            return;
        }
        for operation in 0..split.operations.len() {
            let Some(Way { location, presumed }) = ready(split, config, operation) else { continue };
            let Some(behind) = passes_inside(split, config, operation) else { continue };
            let (drained, ordered) = (fences.drained || behind.drained, fences.ordered || behind.ordered);
            let action = match &split.operations[operation] {
                Operation::Write(_, slot) => {
                    let mut next = config.clone();
                    next.perform(operation, &presumed);
                    let standing = settle(split, &mut next);
                    let value = config.frame[slot.index()];
                    Action::Write { location, value, next: self.arrive(next, split, standing) }
                }
                _ => Action::Read { operation: operation as u32, location },
            };
            let order = Order { own: 1 << operation, before: split.before[operation] };
            moves.push(Move { step, instruction: split.instruction, drained, ordered, order, action });
        }
    }

    /// Where a read leads that got this value.
    ///
    /// # Panics
    /// If the move is not a read of this configuration.
    pub fn after_read(&mut self, id: ConfigId, step: u32, operation: u32, value: i64) -> ConfigId {
        let (split, operation) = (self.step(id, step), operation as usize);
        let mut config = match self.config(id).running {
            Some(_) => self.config(id).clone(),
            None => {
                let mut begun = self.begun(id, step);
                // It has moves, so its private beginning went well.
                let _ = settle(split, &mut begun);
                begun
            }
        };
        let Operation::Read(_, slot) = &split.operations[operation] else { unreachable!("a read") };
        let presumed = ready(split, &config, operation).map(|way| way.presumed);
        config.frame[slot.index()] = value;
        config.perform(operation, &presumed.unwrap_or_default());
        let standing = settle(split, &mut config);
        self.arrive(config, split, standing)
    }

    /// Performs a step as a whole on the memory, in the order of the text; where it leads, and the accesses it made.
    /// Nothing if it does not start or is refused without an access.
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
            // In the order of the text nothing has to be presumed.
            let certain = |operation: usize| {
                let way = ready(split, &config, operation).filter(|way| way.presumed.is_empty())?;
                Some((operation, way.location))
            };
            let next = (0..split.operations.len()).find_map(certain);
            let (operation, location) = next.expect("some access of an instruction in the middle is ready");
            let cell = &mut memory[location.index()];
            let kind = match &split.operations[operation] {
                Operation::Write(_, slot) => {
                    *cell = config.frame[slot.index()];
                    AccessKind::Write
                }
                Operation::Read(_, slot) => {
                    config.frame[slot.index()] = *cell;
                    AccessKind::Read
                }
                _ => unreachable!("only reads and writes touch a location"),
            };
            accesses.push(Access { kind, location, value: *cell });
            config.perform(operation, &[]);
        }
    }

    /// The configuration after an operation: in the middle, or at a boundary with the locals as they are now.
    fn arrive(&mut self, config: Config, split: &SplitStep, standing: Standing) -> ConfigId {
        let locals = self.thread.locals.len();
        let before = |config: &Config| boundary(config.control, &config.frame[..locals]);
        let (verdict, after) = match standing {
            Standing::InTheMiddle => return self.number(config),
            Standing::Faulty => {
                let faulty = Config { is_faulty: true, ..before(&config) };
                return self.number(faulty);
            }
            Standing::Refused => (Decision::Refused, before(&config)),
            Standing::Done => {
                let mut frame = config.frame.clone();
                for &(local, slot) in &split.results {
                    frame[local.index()] = config.frame[slot.index()];
                }
                if let Some(liveness) = &self.liveness {
                    liveness.forget(split.to, &mut frame[..locals]);
                }
                (Decision::Taken, boundary(split.to, &frame[..locals]))
            }
        };
        let to = self.number(after);
        if self.evaluated.is_some() {
            let from = self.number(before(&config));
            let key = key(split, verdict, &config.frame);
            let evaluated = Evaluated { from, instruction: split.instruction, verdict, key, to };
            self.evaluated.iter_mut().for_each(|noted| {
                noted.insert(evaluated.clone());
            });
        }
        to
    }
}

/// A thread between two instructions.
fn boundary(control: ControlAt, locals: &[i64]) -> Config {
    Config { control, running: None, frame: locals.into(), presumed: Vec::new(), is_faulty: false }
}

/// The digits of the indices that an evaluation has computed.
fn key(split: &SplitStep, verdict: Decision, frame: &[i64]) -> u64 {
    let indices = match verdict {
        Decision::Taken => &split.indices[..],
        Decision::Refused => &split.indices[..split.condition_indices],
    };
    let mut digits = Trace::default();
    for (index, length) in indices {
        // What the evaluation itself could compute can be computed again; the digits of inner elements are in the
        // list by themselves.
        let index = index.evaluate(frame, &mut Trace::default()).unwrap_or(-1);
        digits.index(index, *length);
    }
    digits.key
}
