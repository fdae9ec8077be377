//! Symbolic states and their steps (thesis, chapters 4 and 6).
//!
//! A buffer's language is over letters that stand for a location and a value; the first letter of a word is the oldest
//! write. On TSO each thread has one buffer, on PSO one for each location; under sequential consistency there are none.
//! A fence of stores puts a mark behind all writes of the thread: on PSO into all its buffers, and it leaves them when
//! it is the first of all; on TSO writes are in order anyway.
//!
//! | step | possible if | leads to |
//! |---|---|---|
//! | write | always | the letter appended |
//! | read | always | for each place that the value leads to: the words whose newest write to the location, or else the memory, has such a value |
//! | fence, atomic instruction | the empty word is in all languages of the thread | these have only the empty word |
//! | commit | some word begins with the letter | the rest of these words; the memory is written |
//!
//! Each step changes the buffers of one thread only, so on TSO the combinations that a symbolic state stands for are
//! exactly those that are reached by its path. On PSO acceleration counts the rounds of each buffer apart. Marks then
//! may differ in number between the buffers of a thread; such combinations never become empty, and so are never judged,
//! nor pass a fence: they cost, and prove nothing wrong.

use crate::engines::automata::observed::Observed;
use crate::ids::{LocationAt, ThreadAt};
use crate::property::ConditionFault;
use crate::regular::{Language, Languages, Letter};
use crate::weak::Machine;
use crate::weak::buffers::{BufferState, Buffers};
use crate::weak::forbidden::{Forbidden, Judge};
use crate::weak::split::SplitProgram;
use crate::weak::system::State;
use crate::weak::threads::{Action, ConfigId, Move};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::ops::Range;

/// How writes become visible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// At once.
    Sc,
    /// In the order of the thread.
    Tso,
    /// In that order for each location.
    Pso,
}

impl Memory {
    /// The machine on which its runs are made; on that of TSO those of SC are runs in which every write is committed
    /// at once.
    #[must_use]
    pub fn machine(self) -> Machine {
        match self {
            Memory::Sc | Memory::Tso => Machine::Tso,
            Memory::Pso => Machine::Pso,
        }
    }
}

impl From<Machine> for Memory {
    fn from(machine: Machine) -> Memory {
        match machine {
            Machine::Tso => Memory::Tso,
            Machine::Pso => Memory::Pso,
        }
    }
}

/// A symbolic state.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Symbolic {
    /// Memory and threads.
    pub shared: State,
    /// The languages of the buffers: of each thread on TSO, of each thread and location on PSO.
    pub buffers: Box<[Language]>,
}

/// A step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Step {
    /// A thread makes a move.
    Issue {
        /// The thread.
        thread: ThreadAt,
        /// The position of the move among those of its configuration.
        number: u32,
        /// The configuration that it leads to; of a read, by whatever value.
        to: ConfigId,
    },
    /// A write that waits becomes visible.
    Commit {
        /// The thread.
        thread: ThreadAt,
        /// The write.
        letter: Letter,
    },
    /// The mark of a fence of stores leaves the buffers.
    Pass {
        /// The thread.
        thread: ThreadAt,
    },
}

impl Step {
    /// The thread whose step it is, or whose buffer.
    #[must_use]
    pub fn thread(self) -> ThreadAt {
        let (Step::Issue { thread, .. } | Step::Commit { thread, .. } | Step::Pass { thread }) = self;
        thread
    }
}

/// The mark of a fence of stores.
pub const MARK: Letter = 0;

/// All that is known of a program's symbolic states.
pub struct Space<'p> {
    /// The machine with its threads.
    pub machine: Buffers<'p>,
    /// How writes become visible.
    pub memory: Memory,
    /// The languages.
    pub languages: Languages,
    /// The writes that letters stand for; the first one is the mark's place.
    letters: Vec<(LocationAt, i64)>,
    /// The locations that what is forbidden asks for: for ends and deadlocks all.
    observed: Vec<bool>,
    numbers: FxHashMap<(LocationAt, i64), Letter>,
}

impl<'p> Space<'p> {
    /// Of a program, as far as what is forbidden tells its states apart.
    #[must_use]
    pub fn new(program: &'p SplitProgram, memory: Memory, forbidden: Forbidden<'_>) -> Space<'p> {
        let mut observed = vec![!matches!(forbidden, Forbidden::State(_)); program.memory.len()];
        Observed::of(program, forbidden).locations().into_iter().for_each(|location| observed[location] = true);
        Space {
            observed,
            machine: Buffers::with(program, forbidden.configurations(program), memory.machine(), usize::MAX),
            memory,
            languages: Languages::new(),
            letters: vec![(LocationAt(u32::MAX), 0)],
            numbers: FxHashMap::default(),
        }
    }

    /// Where it starts: all buffers are empty.
    #[must_use]
    pub fn initial(&self) -> Symbolic {
        let threads = self.machine.system.threads.len();
        let buffers = match self.memory {
            Memory::Sc => 0,
            Memory::Tso => threads,
            Memory::Pso => threads * self.num_of_locations(),
        };
        Symbolic { shared: self.machine.system.initial(), buffers: vec![Language::UNIT; buffers].into() }
    }

    fn num_of_locations(&self) -> usize {
        self.machine.system.program.memory.len()
    }

    /// The positions of a thread's buffers.
    #[must_use]
    pub fn own(&self, thread: ThreadAt) -> Range<usize> {
        let each = match self.memory {
            Memory::Sc => 0,
            Memory::Tso => 1,
            Memory::Pso => self.num_of_locations(),
        };
        thread.index() * each..(thread.index() + 1) * each
    }

    /// The position of the buffer that a thread's writes to a location wait in.
    #[must_use]
    pub fn buffer(&self, thread: ThreadAt, location: LocationAt) -> usize {
        match self.memory {
            Memory::Sc | Memory::Tso => thread.index(),
            Memory::Pso => thread.index() * self.num_of_locations() + location.index(),
        }
    }

    /// The write that a letter stands for.
    #[must_use]
    pub fn write(&self, letter: Letter) -> (LocationAt, i64) {
        self.letters[letter as usize]
    }

    /// The writes that all letters stand for.
    #[must_use]
    pub fn writes(&self) -> &[(LocationAt, i64)] {
        &self.letters
    }

    /// The letter of a write.
    pub fn letter(&mut self, location: LocationAt, value: i64) -> Letter {
        let next = self.letters.len() as Letter;
        *self.numbers.entry((location, value)).or_insert_with(|| {
            self.letters.push((location, value));
            next
        })
    }

    /// A move of a thread where it is.
    pub fn known_move(&mut self, state: &State, thread: ThreadAt, number: u32) -> Move {
        self.machine.system.thread_mut(thread).moves(state.config(thread))[number as usize]
    }

    /// Which writes to a location, by letter, a thread can read from its buffer; nothing stands for the memory.
    pub fn newest(
        &mut self,
        state: &Symbolic,
        thread: ThreadAt,
        location: LocationAt,
    ) -> std::rc::Rc<[Option<Letter>]> {
        let buffer = state.buffers[self.buffer(thread, location)];
        let letters = &self.letters;
        self.languages.newest(buffer, location.0, |letter| (letters[letter as usize].0 == location).then_some(letter))
    }

    /// All steps of a state, thread by thread.
    pub fn steps(&mut self, state: &Symbolic) -> Vec<(Step, Symbolic)> {
        let mut steps = Vec::new();
        for thread in self.machine.system.program.threads_at() {
            self.issues(state, thread, &mut steps);
            self.commits(state, thread, &mut steps);
        }
        steps
    }

    /// Empties the buffers of a thread; whether they can be empty.
    fn drain(&self, thread: ThreadAt, buffers: &mut [Language]) -> bool {
        let own = &mut buffers[self.own(thread)];
        let can = own.iter().all(|&language| self.languages.accepts_empty(language));
        own.fill(Language::UNIT);
        can
    }

    /// Puts a mark behind all writes of a thread, unless none waits.
    fn mark(&mut self, thread: ThreadAt, buffers: &mut [Language]) {
        let own = &mut buffers[self.own(thread)];
        if own.iter().any(|&language| language != Language::UNIT) {
            own.iter_mut().for_each(|language| *language = self.languages.append(*language, MARK));
        }
    }

    /// The moves of a thread. What would lead back to the state, or to a part of it, is left out.
    pub fn issues(&mut self, state: &Symbolic, thread: ThreadAt, steps: &mut Vec<(Step, Symbolic)>) {
        let config = state.shared.config(thread);
        let moves = self.machine.system.thread_mut(thread).moves(config);
        for (number, step) in moves.iter().enumerate() {
            let mut buffers = state.buffers.clone();
            if step.drained && !self.drain(thread, &mut buffers) {
                continue;
            }
            let is_marked = step.ordered && self.memory == Memory::Pso;
            if is_marked {
                self.mark(thread, &mut buffers);
            }
            let mut push = |to: ConfigId, memory: Option<(LocationAt, i64)>, buffers: Box<[Language]>| {
                if to == config && memory.is_none() && !is_marked && !matches!(step.action, Action::Write { .. }) {
                    return;
                }
                let mut shared = state.shared.clone();
                shared.threads[thread.index()] = to;
                if let Some((location, value)) = memory {
                    shared.memory[location.index()] = value;
                }
                let step = Step::Issue { thread, number: number as u32, to };
                steps.push((step, Symbolic { shared, buffers }));
            };
            match step.action {
                Action::Silent { next } => push(next, None, buffers),
                Action::Write { location, value, next } if self.memory == Memory::Sc => {
                    push(next, Some((location, value)), buffers);
                }
                Action::Write { location, value, next } => {
                    let (buffer, letter) = (self.buffer(thread, location), self.letter(location, value));
                    buffers[buffer] = self.languages.append(buffers[buffer], letter);
                    push(next, None, buffers);
                }
                Action::Read { operation, location } => {
                    let marked = Symbolic { shared: state.shared.clone(), buffers };
                    for (to, language) in self.reads(&marked, thread, (step.step, operation), location) {
                        let mut buffers = marked.buffers.clone();
                        if let Some(language) = language {
                            buffers[self.buffer(thread, location)] = language;
                        }
                        push(to, None, buffers);
                    }
                }
                Action::Whole => {
                    let Some((_, shared)) = self.machine.system.perform(&state.shared, thread, step.step) else {
                        continue;
                    };
                    if shared != state.shared {
                        let step = Step::Issue { thread, number: number as u32, to: shared.config(thread) };
                        steps.push((step, Symbolic { shared, buffers }));
                    }
                }
            }
        }
    }

    /// Where a read leads, and the language of the buffer with which it leads there, if there are buffers.
    fn reads(
        &mut self,
        state: &Symbolic,
        thread: ThreadAt,
        (step, operation): (u32, u32),
        location: LocationAt,
    ) -> BTreeMap<ConfigId, Option<Language>> {
        let config = state.shared.config(thread);
        let in_memory = state.shared.memory[location.index()];
        let mut leads: BTreeMap<ConfigId, Option<Language>> = BTreeMap::new();
        if self.memory == Memory::Sc {
            leads.insert(self.machine.system.thread_mut(thread).after_read(config, step, operation, in_memory), None);
            return leads;
        }
        let buffer = state.buffers[self.buffer(thread, location)];
        for &class in self.newest(state, thread, location).iter() {
            let value = class.map_or(in_memory, |letter| self.write(letter).1);
            let to = self.machine.system.thread_mut(thread).after_read(config, step, operation, value);
            let letters = &self.letters;
            let part = self.languages.restrict(buffer, location.0, class, |letter| {
                (letters[letter as usize].0 == location).then_some(letter)
            });
            let language = leads.entry(to).or_insert(None);
            *language = Some(match *language {
                None => part,
                Some(other) => self.languages.union(other, part),
            });
        }
        leads
    }

    /// Writes of a thread that become visible.
    pub fn commits(&mut self, state: &Symbolic, thread: ThreadAt, steps: &mut Vec<(Step, Symbolic)>) {
        let own = self.own(thread);
        for buffer in own.clone() {
            for letter in self.languages.first(state.buffers[buffer]) {
                if letter == MARK {
                    continue;
                }
                let mut next = state.clone();
                let (location, value) = self.write(letter);
                next.shared.memory[location.index()] = value;
                next.buffers[buffer] = self.languages.quotient(state.buffers[buffer], letter);
                steps.push((Step::Commit { thread, letter }, next));
            }
        }
        let mut next = state.clone();
        let mut passed = own.clone().map(|buffer| {
            next.buffers[buffer] = self.languages.quotient(state.buffers[buffer], MARK);
            next.buffers[buffer] != Language::EMPTY
        });
        if !own.is_empty() && passed.all(|can| can) {
            steps.push((Step::Pass { thread }, next));
        }
    }

    /// Whether what is forbidden asks for a location.
    #[must_use]
    pub fn is_observed(&self, location: LocationAt) -> bool {
        self.observed[location.index()]
    }

    /// The least that a buffer can hold in a state that is judged: nothing but marks, and writes to locations that
    /// nobody asks for. They can become visible, and the state is forbidden still, or is not.
    #[must_use]
    pub fn least(&self, language: Language) -> Option<Vec<Letter>> {
        let can_wait = |letter: Letter| letter == MARK || !self.is_observed(self.write(letter).0);
        self.languages.shortest_of(language, can_wait)
    }

    /// Whether a state is judged: all buffers can hold nothing that matters.
    #[must_use]
    pub fn is_judged(&self, buffers: &[Language]) -> bool {
        buffers.iter().all(|&language| self.languages.accepts_empty(language) || self.least(language).is_some())
    }

    /// What the state violates, in words, if it is judged, and is forbidden with empty buffers.
    ///
    /// # Errors
    /// If the condition cannot be evaluated there.
    pub fn violated(&mut self, state: &Symbolic, judge: &mut Judge<'_>) -> Result<Option<String>, ConditionFault> {
        if !self.is_judged(&state.buffers) {
            return Ok(None);
        }
        let drained = BufferState { shared: state.shared.clone(), ..self.machine.initial() };
        judge.violated(&mut self.machine, &drained)
    }
}
