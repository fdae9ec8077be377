//! Runs under weak memory in the program's words: what engines have found, for people.

use crate::analysis::{Deed, Evidence, Run, RunAccess, RunStep, Waiting};
use crate::ids::{InstrId, LocationAt};
use crate::memory::Kind;
use crate::program::{At, Variable};
use crate::specification::Specification;
use crate::weak::attack::{Visibility, Witness};
use crate::weak::axiomatic::beginnings::{Beginning, Shown};
use crate::weak::axiomatic::{self, End};
use crate::weak::buffers::{BufferState, BufferStep};
use crate::weak::system::Event;
use crate::weak::threads::{Access, AccessKind};
use std::fmt::Write;

/// Names and text of a program.
pub struct Words<'a> {
    /// The program.
    pub specification: &'a Specification,
    /// The names of its locations.
    pub locations: &'a [String],
}

impl Words<'_> {
    /// An instruction: thread and name.
    #[must_use]
    pub fn instruction(&self, at: At) -> String {
        let program = &self.specification.program;
        format!("{}.{}", program.thread(at.thread).name, program.instruction(at).name)
    }

    /// A run on store buffers.
    #[must_use]
    pub fn run(&self, run: &[(BufferStep, BufferState)]) -> Evidence {
        // For each write that waits, the instruction that made it.
        let mut writers: Vec<Vec<InstrId>> = vec![Vec::new(); self.specification.program.threads.len()];
        let steps = run.iter().map(|(step, state)| {
            let (thread, deed) = match step {
                BufferStep::Issued(event) => {
                    let thread = event.at.thread;
                    let waiting = state.buffers[thread.index()].len();
                    writers[thread.index()].resize(waiting, self.instr(event.at));
                    (thread, self.executes(event))
                }
                BufferStep::Committed { thread, position, location, value } => {
                    let of = &mut writers[thread.index()];
                    let of = (*position < of.len()).then(|| of.remove(*position));
                    (*thread, Deed::BecomesVisible { write: self.waiting(*location, *value), of })
                }
            };
            RunStep { thread, deed, buffers: state.buffers.iter().map(|buffer| self.buffer(buffer)).collect() }
        });
        self.told(steps.collect(), true)
    }

    /// A run in which one thread delays a write.
    #[must_use]
    pub fn witness(&self, witness: &Witness) -> Evidence {
        let pair = witness.pair;
        let mut buffers = vec![Vec::new(); self.specification.program.threads.len()];
        let mut steps = Vec::new();
        let mut add = |event: &Event, buffers: &[Vec<Waiting>]| {
            steps.push(RunStep { thread: event.at.thread, deed: self.executes(event), buffers: buffers.to_vec() });
        };
        witness.before.iter().for_each(|event| add(event, &buffers));
        for (event, visibility) in &witness.private {
            if *visibility == Visibility::Delayed {
                let accesses = event.accesses.iter().map(|access| self.waiting(access.location, access.value));
                buffers[event.at.thread.index()].extend(accesses);
            }
            add(event, &buffers);
        }
        witness.others.iter().for_each(|event| add(event, &buffers));
        let from = &self.locations[pair.from.location.index()];
        let waiting = &mut buffers[pair.thread.index()];
        if let Some(position) = waiting.iter().position(|write| write.location == *from) {
            let deed =
                Deed::BecomesVisible { write: waiting.remove(position), of: Some(self.instr(pair.at(pair.from))) };
            steps.push(RunStep { thread: pair.thread, deed, buffers });
        }
        self.told(steps, true)
    }

    /// Whole instructions and single accesses on a sequentially consistent memory.
    #[must_use]
    pub fn events(&self, events: &[Event]) -> Evidence {
        let step = |event: &Event| RunStep { thread: event.at.thread, deed: self.executes(event), buffers: Vec::new() };
        self.told(events.iter().map(step).collect(), false)
    }

    /// How an execution begins that axioms allow.
    #[must_use]
    pub fn beginning(&self, beginning: &Beginning) -> Evidence {
        let step = |shown: &Shown| RunStep {
            thread: shown.at.thread,
            deed: Deed::Executes {
                instr: self.instr(shown.at),
                name: self.instruction(shown.at),
                text: self.source(shown.at),
                accesses: vec![self.shown(shown)],
            },
            buffers: Vec::new(),
        };
        self.told(beginning.accesses.iter().map(step).collect(), false)
    }

    /// Why no order of its accesses gives these values.
    #[must_use]
    pub fn cycle(&self, beginning: &Beginning) -> String {
        let name = |position: &usize| {
            let shown = &beginning.accesses[*position];
            format!("{} {}", self.instruction(shown.at), self.shown(shown))
        };
        let names: Vec<String> = beginning.cycle.iter().map(name).collect();
        format!(
            "  An execution that begins like this is not sequentially consistent: of {}, each comes before the next, by program order or by what is seen, and the last before the first.\n",
            names.join(", ")
        )
    }

    fn shown(&self, shown: &Shown) -> RunAccess {
        let kind = match shown.kind {
            axiomatic::access::AccessKind::Read => Kind::Read,
            axiomatic::access::AccessKind::Write => Kind::Write,
        };
        RunAccess { kind, location: self.locations[shown.location.index()].clone(), value: shown.value }
    }

    /// The values at the end of an execution: axioms allow it, and have no steps.
    #[must_use]
    pub fn end(&self, end: &End) -> Evidence {
        let value = |(name, value): (&String, &i64)| format!("{name} = {value}");
        let shared: Vec<String> = self.locations.iter().zip(&end.shared).map(value).collect();
        let mut text = format!("    {}\n", shared.join(", "));
        for (thread, locals) in self.specification.program.threads.iter().zip(&end.locals) {
            let element = |variable: &Variable| -> Vec<String> {
                match variable.is_array {
                    true => (0..variable.initial.len()).map(|i| format!("{}[{i}]", variable.name)).collect(),
                    false => vec![variable.name.clone()],
                }
            };
            let names: Vec<String> = thread.locals.iter().flat_map(element).collect();
            let values: Vec<String> = names.iter().zip(locals).map(value).collect();
            if !values.is_empty() {
                // A text takes all that is written to it.
                let _written = writeln!(text, "    {}: {}", thread.name, values.join(", "));
            }
        }
        Evidence::Text(text)
    }

    fn told(&self, steps: Vec<RunStep>, has_buffers: bool) -> Evidence {
        let threads = self.specification.program.threads.iter().map(|thread| thread.name.clone());
        Evidence::Run(Run { threads: threads.collect(), has_buffers, steps })
    }

    fn instr(&self, at: At) -> InstrId {
        self.specification.outline.instr(at)
    }

    fn executes(&self, event: &Event) -> Deed {
        Deed::Executes {
            instr: self.instr(event.at),
            name: self.instruction(event.at),
            text: self.source(event.at),
            accesses: event.accesses.iter().map(|access| self.access(access)).collect(),
        }
    }

    /// The text of an instruction on one line.
    fn source(&self, at: At) -> String {
        let span = self.specification.program.instruction(at).span;
        let text = self.specification.text.get(span.start..span.end).unwrap_or("");
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn access(&self, access: &Access) -> RunAccess {
        let kind = match access.kind {
            AccessKind::Read => Kind::Read,
            AccessKind::Write => Kind::Write,
        };
        RunAccess { kind, location: self.locations[access.location.index()].clone(), value: access.value }
    }

    fn waiting(&self, location: LocationAt, value: i64) -> Waiting {
        Waiting { location: self.locations[location.index()].clone(), value }
    }

    fn buffer(&self, buffer: &[(LocationAt, i64)]) -> Vec<Waiting> {
        buffer.iter().map(|&(location, value)| self.waiting(location, value)).collect()
    }
}
