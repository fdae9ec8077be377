//! What orders memory: kinds of fences, marks on statements, atomic statements.
//!
//! The words for marks are no keywords, as models may have variables of these names. They are marks where no variable
//! could stand: before a name, a number, a parenthesis, and before a bracket in which something is assigned or with
//! several parts. So `acquire := 1`, `acquire and b`, and `acquire[0] = 1` are about a variable.

use super::super::lexer::TokenKind;
use super::super::syntax::Statement;
use super::{Parse, Parser};
use crate::program::{Accesses, InstructionKind, Marks, PartialFence};

/// The words for marks, and what they say. All that is marked is [`Marks::RELAXED`], too.
pub const WORDS: [(&str, Marks); 6] = [
    ("relaxed", Marks::RELAXED),
    ("acquire", Marks::RELAXED.and(Marks::ACQUIRE)),
    ("acquire_pc", Marks::RELAXED.and(Marks::ACQUIRE_PC)),
    ("release", Marks::RELAXED.and(Marks::RELEASE)),
    ("acq_rel", Marks::RELAXED.and(Marks::ACQUIRE).and(Marks::RELEASE)),
    ("seq_cst", Marks::RELAXED.and(Marks::SC)),
];

/// What can stand behind `fence`.
const KINDS: &str = "`lightweight`, `stores`, `loads`, `control`, `acquire`, `release`, `acq_rel`, or what is ordered before and behind it: `r`, `w` or `rw` twice, with a comma between";

impl Parser<'_> {
    /// What stands behind `fence`: nothing, or its kind.
    pub(super) fn fence_kind(&mut self) -> Parse<InstructionKind> {
        if self.kind(0) != TokenKind::Word {
            return Ok(InstructionKind::Fence);
        }
        if let Some(before) = accesses(self.peek(0)) {
            self.advance();
            self.expect(",")?;
            let Some(after) = accesses(self.peek(0)) else { return Err(self.expected("`r`, `w` or `rw`")) };
            self.advance();
            let partial = PartialFence::between(before, after);
            return Ok(partial.map_or(InstructionKind::Fence, InstructionKind::PartialFence));
        }
        let Some(kind) = PartialFence::named(self.peek(0)) else {
            return Err(self.expected(&format!("`;`, `}}` or a kind of fence ({KINDS})")));
        };
        self.advance();
        Ok(InstructionKind::PartialFence(kind))
    }

    /// Passes the marks that stand here, if there are any.
    pub(super) fn marks(&mut self) -> Option<Marks> {
        let mut marks = None;
        while let Some(another) = self.mark_at(0) {
            self.advance();
            marks = Some(marks.map_or(another, |known: Marks| known.and(another)));
        }
        marks
    }

    /// The mark that the token so many behind the next is, if it is one.
    fn mark_at(&self, ahead: usize) -> Option<Marks> {
        let (_, marks) = WORDS.into_iter().find(|(word, _)| self.is_name(ahead) && *word == self.peek(ahead))?;
        let is_mark = match self.kind(ahead + 1) {
            TokenKind::Word | TokenKind::Number => !self.is_operator(ahead + 1),
            TokenKind::Symbol => match self.peek(ahead + 1) {
                "(" => true,
                "[" => self.is_composite(ahead + 1),
                _ => false,
            },
            TokenKind::End => false,
        };
        is_mark.then_some(marks)
    }

    /// Whether the bracket so many behind the next token is that of a composite, and not that of an index.
    fn is_composite(&self, ahead: usize) -> bool {
        let mut open = 0_usize;
        for ahead in ahead.. {
            match (self.kind(ahead), self.peek(ahead)) {
                (TokenKind::End, _) | (_, "{" | "}") => return false,
                (_, ":=" | ";") => return true,
                (_, "[") => open += 1,
                (_, "]") if open <= 1 => return false,
                (_, "]") => open -= 1,
                _ => {}
            }
        }
        false
    }

    /// What stands behind `atomic`. Without marks it is a full fence, whatever marks its statement has.
    pub(super) fn atomic(&mut self, statement: &mut Statement) -> Parse<()> {
        let mut marks: Option<Marks> = None;
        while let Some((_, another)) = WORDS.into_iter().find(|(word, _)| self.at(word)) {
            self.advance();
            marks = Some(marks.map_or(another, |known| known.and(another)));
        }
        statement.kind = marks.map_or(InstructionKind::Atomic, InstructionKind::Rmw);
        if self.at("assert") {
            return self.assertion(statement);
        }
        if marks.is_none() && self.at("[") && (self.peek(1) == "atomic" || self.mark_at(1).is_some()) {
            return self.nested(|parser| {
                parser.advance();
                *statement = Statement { kind: InstructionKind::Atomic, ..parser.statement()? };
                parser.expect("]")
            });
        }
        if self.at("[") {
            return self.composite(statement);
        }
        Err(self.expected("`[` behind `atomic`"))
    }
}

fn accesses(word: &str) -> Option<Accesses> {
    [Accesses::Reads, Accesses::Writes, Accesses::All].into_iter().find(|accesses| accesses.to_string() == word)
}
