//! The outline of a program: its threads, its instructions, and the control states between them, all by number.
//!
//! Whatever speaks of an instruction or of a [`Site`] for a fence speaks of one of these numbers; names are joined to
//! them here, once. A specification supplies all of it ([`Outline::of_program`]). A bare state space shows instructions
//! by the labels of their evaluations and no control states ([`Outline::of_labels`]): there no fence stands at one.
//!
//! Numbers are given in the natural order of the names, which is the order of every report. Those of a program do not
//! depend on what of it was explored.

mod site;

pub use site::{Place, Site};

use crate::ids::{ControlAt, ControlId, InstrId, ThreadId};
use crate::lts::label::Label;
use crate::natural::natural_order;
use crate::program::{At, Program};
use std::collections::BTreeMap;

/// A static instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// Its thread.
    pub thread: ThreadId,
    /// Its name within the thread.
    pub name: String,
    /// Where it stands in the program, if that is known.
    pub way: Option<Way>,
}

/// An instruction as a way from one control state to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    /// The instruction by positions.
    pub at: At,
    /// Where it begins.
    pub from: ControlId,
    /// Where it leads.
    pub to: ControlId,
}

/// A control state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Control {
    /// Its name.
    pub name: String,
    /// The instructions that lead there, in their order.
    pub ways_in: Vec<InstrId>,
    /// The instructions that begin there, in their order.
    pub ways_out: Vec<InstrId>,
}

/// Threads, instructions and control states.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outline {
    /// The names of the threads.
    pub threads: Vec<String>,
    /// The instructions, thread by thread.
    pub instructions: Vec<Instruction>,
    /// The control states; none if only labels are known.
    pub controls: Vec<Control>,
    /// The instructions of a program by position.
    positions: BTreeMap<At, InstrId>,
}

impl Outline {
    /// The outline of a program.
    #[must_use]
    pub fn of_program(program: &Program) -> Outline {
        let names = program.threads.iter().flat_map(|thread| {
            thread.instructions.iter().map(|instruction| (thread.name.as_str(), instruction.name.as_str()))
        });
        let threads = program.threads.iter().map(|thread| thread.name.as_str());
        let mut outline = Outline::of_names(threads.collect(), names.collect());
        for (thread_at, thread) in program.threads_at() {
            let first = outline.controls.len();
            let control = |name: &String| Control { name: name.clone(), ways_in: Vec::new(), ways_out: Vec::new() };
            outline.controls.extend(thread.states.iter().map(control));
            for (number, instruction) in thread.instructions_at() {
                let instr = outline.find(&thread.name, &instruction.name).expect("all instructions were numbered");
                let state = |position: ControlAt| ControlId::new(first + position.index());
                let at = At { thread: thread_at, instruction: number };
                let way = Way { at, from: state(instruction.from), to: state(instruction.to) };
                outline.instructions[instr.index()].way = Some(way);
                outline.positions.insert(way.at, instr);
                outline.controls[way.from.index()].ways_out.push(instr);
                outline.controls[way.to.index()].ways_in.push(instr);
            }
        }
        for control in &mut outline.controls {
            control.ways_in.sort_unstable();
            control.ways_out.sort_unstable();
        }
        outline
    }

    /// What labels show of a program.
    #[must_use]
    pub fn of_labels(labels: &[Label]) -> Outline {
        let threads = labels.iter().map(|label| label.thread.as_str());
        let names = labels.iter().map(|label| (label.thread.as_str(), label.instr.as_str()));
        Outline::of_names(threads.collect(), names.collect())
    }

    fn of_names(mut threads: Vec<&str>, mut names: Vec<(&str, &str)>) -> Outline {
        threads.sort_by(|a, b| natural_order(a, b));
        threads.dedup();
        names.sort_by(|a, b| natural_order(a.0, b.0).then_with(|| natural_order(a.1, b.1)));
        names.dedup();
        let threads: Vec<String> = threads.into_iter().map(str::to_owned).collect();
        let mut outline = Outline { threads, ..Outline::default() };
        for (thread, name) in names {
            let thread = outline.thread(thread).expect("all threads were numbered");
            outline.instructions.push(Instruction { thread, name: name.to_owned(), way: None });
        }
        outline
    }

    /// The thread of this name.
    #[must_use]
    pub fn thread(&self, name: &str) -> Option<ThreadId> {
        self.threads.binary_search_by(|known| natural_order(known, name)).ok().map(ThreadId::new)
    }

    /// The instruction of this name in the thread of that name.
    #[must_use]
    pub fn find(&self, thread: &str, instruction: &str) -> Option<InstrId> {
        let thread = self.thread(thread)?;
        let order =
            |known: &Instruction| known.thread.cmp(&thread).then_with(|| natural_order(&known.name, instruction));
        self.instructions.binary_search_by(order).ok().map(InstrId::new)
    }

    /// The same by the names that reports show: they leave out the name of the object if all names begin with it.
    #[must_use]
    pub fn find_shown(&self, thread: &str, instruction: &str) -> Option<InstrId> {
        let is_it = |known: &&String| known.strip_suffix(thread).is_some_and(|object| object.ends_with('\''));
        self.find(thread, instruction).or_else(|| self.find(self.threads.iter().find(is_it)?, instruction))
    }

    /// The instruction with this number.
    #[must_use]
    pub fn instruction(&self, instr: InstrId) -> &Instruction {
        &self.instructions[instr.index()]
    }

    /// All instructions.
    pub fn instrs(&self) -> impl Iterator<Item = InstrId> + use<> {
        (0..self.instructions.len()).map(InstrId::new)
    }

    /// Where the instruction stands in the program, if that is known.
    #[must_use]
    pub fn at(&self, instr: InstrId) -> Option<At> {
        self.instruction(instr).way.map(|way| way.at)
    }

    /// The instruction at this position of the program.
    ///
    /// # Panics
    /// If the program has no such instruction, or is another one.
    #[must_use]
    pub fn instr(&self, at: At) -> InstrId {
        self.positions[&at]
    }

    /// The control state that the instruction leads to.
    #[must_use]
    pub fn target(&self, instr: InstrId) -> Option<&Control> {
        self.instruction(instr).way.map(|way| &self.controls[way.to.index()])
    }

    /// The site at the control state that the instruction leads to. It is called after the first instruction that does.
    #[must_use]
    pub fn site_behind(&self, instr: InstrId) -> Option<Site> {
        self.target(instr)?.ways_in.first().map(|&first| Site { instr: first, place: Place::State })
    }

    /// The same, where several instructions lead there and several begin there: else a fence after the only way in,
    /// or before the only way out, does as much.
    #[must_use]
    pub fn junction_behind(&self, instr: InstrId) -> Option<Site> {
        let target = self.target(instr)?;
        let is_junction = target.ways_in.len() > 1 && target.ways_out.len() > 1;
        self.site_behind(instr).filter(|_| is_junction)
    }
}
