//! The text that a result is about.
//!
//! A state space from a file has only labels; a specification has a text, and reports show it. [`Source`] connects the instructions of an analysis with those of the
//! program by their full names (thread and instruction), once, so that nothing after it searches by name.

use crate::analysis::Analysis;
use crate::ids::InstrId;
use crate::lang::diagnostic::Place;
use crate::program::{InstructionKind, Program, Span};

/// An instruction of a program: positions of its thread and, in the thread, of the instruction.
pub type At = (usize, usize);

/// A specification, as far as reports need it.
#[derive(Clone, Debug)]
pub struct Source {
    /// The name of the file.
    pub path: String,
    /// What is in it.
    pub text: String,
    /// The program that it describes.
    pub program: Program,
    positions: Vec<Option<At>>,
}

impl Source {
    /// The source of an analysed program.
    #[must_use]
    pub fn new(path: String, text: String, program: Program, analysis: &Analysis) -> Source {
        let instructions = (0..analysis.graph.instructions.len()).map(InstrId::new);
        let positions = instructions.map(|instr| instruction(&program, analysis, instr)).collect();
        Source { path, text, program, positions }
    }

    /// The instruction of the program.
    #[must_use]
    pub fn at(&self, instr: InstrId) -> Option<At> {
        self.positions[instr.index()]
    }

    /// Where the instruction stands.
    #[must_use]
    pub fn span(&self, instr: InstrId) -> Option<Span> {
        let (thread, number) = self.at(instr)?;
        Some(self.program.threads[thread].instructions[number].span)
    }

    /// The name of the control state that the instruction leads to.
    #[must_use]
    pub fn target(&self, instr: InstrId) -> Option<&str> {
        let (thread, number) = self.at(instr)?;
        let thread = &self.program.threads[thread];
        Some(&thread.states[thread.instructions[number].to])
    }

    /// The instructions of an analysis that lead to the same control state as this one, itself included.
    #[must_use]
    pub fn leading_along(&self, instr: InstrId) -> Vec<InstrId> {
        let target = |at: At| (at.0, self.program.threads[at.0].instructions[at.1].to);
        let Some(state) = self.at(instr).map(target) else { return vec![instr] };
        let all = (0..self.positions.len()).map(InstrId::new);
        all.filter(|&other| self.at(other).map(target) == Some(state)).collect()
    }

    /// The names of instructions that are partial fences, with their threads.
    #[must_use]
    pub fn partial_fences(&self) -> Vec<String> {
        let threads = self.program.threads.iter();
        let partial = threads.flat_map(|thread| thread.instructions.iter().map(move |known| (thread, known)));
        let partial = partial.filter(|(_, known)| matches!(known.kind, InstructionKind::PartialFence(_)));
        partial.map(|(thread, known)| format!("{}.{}", thread.name, known.name)).collect()
    }

    /// Line and column at which the instruction begins.
    #[must_use]
    pub fn place(&self, instr: InstrId) -> Option<Place> {
        Some(Place::of(&self.text, self.span(instr)?.start))
    }

    /// The place as editors take it: `specs/mp.slco:15:24`.
    #[must_use]
    pub fn reference(&self, instr: InstrId) -> Option<String> {
        Some(self.reference_to(self.span(instr)?))
    }

    /// Where a part of the text begins, as editors take it.
    #[must_use]
    pub fn reference_to(&self, span: Span) -> String {
        let Place { line, column } = Place::of(&self.text, span.start);
        format!("{}:{line}:{column}", self.path)
    }

    /// The instruction as it is written, on one line.
    #[must_use]
    pub fn text_of(&self, instr: InstrId) -> Option<String> {
        let span = self.span(instr)?;
        let text = self.text.get(span.start..span.end)?;
        Some(text.split_whitespace().collect::<Vec<_>>().join(" "))
    }
}

/// An instruction of an analysis in the program, by its full names.
#[must_use]
pub fn instruction(program: &Program, analysis: &Analysis, instr: InstrId) -> Option<At> {
    let label = analysis.graph.instruction(instr).labels.first()?;
    let label = &analysis.labels[label.index()];
    position(program, &label.thread, &label.instr)
}

/// The instruction of that name in the thread of that name.
#[must_use]
pub fn position(program: &Program, thread: &str, instruction: &str) -> Option<At> {
    // Reports leave out the name of the object if all names begin with it.
    let is_it =
        |known: &str| known == thread || known.strip_suffix(thread).is_some_and(|object| object.ends_with('\''));
    let thread = program.threads.iter().position(|known| is_it(&known.name))?;
    let instruction = program.threads[thread].instructions.iter().position(|known| known.name == instruction)?;
    Some((thread, instruction))
}
