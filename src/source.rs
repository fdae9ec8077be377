//! The text that a result is about.
//!
//! A state space from a file has only labels; a specification has a text, and reports show it. [`Source`] connects the
//! instructions of an [outline](crate::outline) with the text.

use crate::ids::InstrId;
use crate::outline::Outline;
use crate::program::{At, InstructionKind, Program, Span};
use crate::text::LineColumn;

/// A specification, as far as reports need it.
#[derive(Clone, Debug)]
pub struct Source {
    /// The name of the file.
    pub path: String,
    /// What is in it.
    pub text: String,
    /// The program that it describes.
    pub program: Program,
    /// Its outline.
    pub outline: Outline,
}

impl Source {
    /// The source of a program.
    #[must_use]
    pub fn new(path: String, text: String, program: Program) -> Source {
        let outline = Outline::of_program(&program);
        Source { path, text, program, outline }
    }

    /// The instruction of the program.
    #[must_use]
    pub fn at(&self, instr: InstrId) -> Option<At> {
        self.outline.at(instr)
    }

    /// Where the instruction stands.
    #[must_use]
    pub fn span(&self, instr: InstrId) -> Option<Span> {
        Some(self.program.instruction(self.at(instr)?).span)
    }

    /// What kind of instruction it is.
    #[must_use]
    pub fn kind(&self, instr: InstrId) -> Option<InstructionKind> {
        Some(self.program.instruction(self.at(instr)?).kind)
    }

    /// Line and column at which the instruction begins.
    #[must_use]
    pub fn place(&self, instr: InstrId) -> Option<LineColumn> {
        Some(LineColumn::of(&self.text, self.span(instr)?.start))
    }

    /// The place as editors take it: `specs/mp.slco:15:24`.
    #[must_use]
    pub fn reference(&self, instr: InstrId) -> Option<String> {
        Some(self.reference_to(self.span(instr)?))
    }

    /// Where a part of the text begins, as editors take it.
    #[must_use]
    pub fn reference_to(&self, span: Span) -> String {
        let LineColumn { line, column } = LineColumn::of(&self.text, span.start);
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
