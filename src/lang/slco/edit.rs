//! Puts our additions into the text of a model: `fence` and its kinds, `atomic [ … ]` around a statement, and marks
//! before one. Everything else stays byte for byte as it is.
//!
//! A fence after an instruction is a statement after it. A fence before one is a statement before it, if that is on
//! every way into it and on no other way; a fence before the first statement of a transition would commit to the
//! transition before its condition is known, so there it goes to the end of everything that leads to the state
//! instead. So does one at a control state: it is a fence on each way in.
//!
//! What becomes atomic is a full fence, and so is `atomic [STATEMENT]` around a statement that has marks. Marks stand
//! before a statement, or behind the `atomic` of one that has marks; one that is a full fence needs none.

use crate::ids::ControlAt;
use crate::lang::edit::{CannotWrite, Change};
use crate::program::{At, Instruction, InstructionKind, Marks, PartialFence, Program, Span};
use std::collections::{BTreeMap, BTreeSet};

/// What the changes insert, and where, in bytes; nothing is taken away.
///
/// # Errors
/// The first instruction at which something must stand and that has no statement: a transition without any.
pub fn insertions(text: &str, program: &Program, changes: &[Change]) -> Result<BTreeMap<usize, String>, CannotWrite> {
    let Statements { before, after, atomic, marks } = Statements::of(program, changes)?;
    // At one place, what comes first in the text comes first: the ends of statements, then fences, then beginnings.
    let mut insertions: BTreeMap<usize, [String; 4]> = BTreeMap::new();
    let mut insert = |at: usize, rank: usize, what: &str| insertions.entry(at).or_default()[rank].push_str(what);
    for (span, marks) in marks.into_iter().filter(|(span, _)| !atomic.contains(span)) {
        let statement = &text[span.start..span.end];
        let rest = statement.strip_prefix("atomic").unwrap_or(statement);
        let behind = if rest.len() < statement.len() { rest.len() - rest.trim_start().len() } else { 0 };
        let words: String = words(marks).into_iter().map(|word| format!("{word} ")).collect();
        // A sign would be taken for an operator behind the word.
        let opens = !rest.trim_start().starts_with(|c: char| c.is_alphanumeric() || "_'([".contains(c));
        insert(span.start + statement.len() - rest.len() + behind, 3, &(words + if opens { "(" } else { "" }));
        insert(span.end, 0, if opens { ")" } else { "" });
        // Behind a word, brackets around a condition alone would be an index.
        let is_index = statement.starts_with('[') && !statement.contains([';', ':']);
        insert(span.end - 1, 0, if is_index { ";" } else { "" });
    }
    for span in atomic {
        let statement = &text[span.start..span.end];
        let is_whole = statement.starts_with('[') || is_assertion(statement);
        insert(span.start, 3, if is_whole { "atomic " } else { "atomic [" });
        insert(span.end, 0, if is_whole { "" } else { "]" });
    }
    for (span, fences) in after {
        fences.words().for_each(|fence| insert(span.end, 1, &format!("; {fence}")));
    }
    for (span, fences) in before {
        fences.words().for_each(|fence| insert(span.start, 2, &format!("{fence}; ")));
    }
    let insertions = insertions.into_iter().map(|(at, parts)| (at, parts.concat()));
    Ok(insertions.filter(|(_, what)| !what.is_empty()).collect())
}

/// Whether a statement is an assertion, which can be atomic as it is.
fn is_assertion(statement: &str) -> bool {
    let behind = statement.strip_prefix("assert");
    behind.is_some_and(|behind| !behind.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_'))
}

/// The text with all changes made.
///
/// # Errors
/// The first instruction at which something must stand and that has no statement.
pub fn edited(text: &str, program: &Program, changes: &[Change]) -> Result<String, CannotWrite> {
    let mut result = String::with_capacity(text.len() + 16 * changes.len());
    let mut from = 0;
    for (at, what) in insertions(text, program, changes)? {
        result.push_str(&text[from..at]);
        result.push_str(&what);
        from = at;
    }
    result.push_str(&text[from..]);
    Ok(result)
}

/// Whether an instruction has a statement of its own: a transition without statements is an instruction without one.
#[must_use]
pub fn has_statement(instruction: &Instruction) -> bool {
    instruction.condition.is_some() || !instruction.assignments.is_empty() || instruction.kind != InstructionKind::Plain
}

/// The fences at one place.
#[derive(Default)]
struct Fences {
    full: bool,
    partial: BTreeSet<PartialFence>,
}

impl Fences {
    /// None stands for a full fence.
    fn put(&mut self, kind: Option<PartialFence>) {
        match kind {
            None => self.full = true,
            Some(kind) => drop(self.partial.insert(kind)),
        }
    }

    /// The statements that do what all of them do.
    fn words(&self) -> impl Iterator<Item = String> {
        let is_light = self.partial.contains(&PartialFence::Lightweight);
        let is_done = move |kind: PartialFence| is_light && matches!(kind, PartialFence::Stores | PartialFence::Loads);
        let partial = self.partial.iter().filter(move |kind| !self.full && !is_done(**kind));
        self.full.then(|| "fence".to_owned()).into_iter().chain(partial.map(|kind| format!("fence {kind}")))
    }
}

/// The words for marks: `acquire`, not `relaxed acquire`, as everything that is marked is at least relaxed.
fn words(marks: Marks) -> Vec<&'static str> {
    let named = |&&(_, mark): &&(&str, Marks)| mark != Marks::RELAXED && marks.has(mark);
    let names: Vec<&str> = Marks::NAMES.iter().filter(named).map(|&(name, _)| name).collect();
    match &names[..] {
        [] => vec!["relaxed"],
        ["acquire", "release"] => vec!["acq_rel"],
        _ => names,
    }
}

/// The statements at which something changes; those of several objects of a class are one, and change once.
#[derive(Default)]
struct Statements {
    /// Fences stand before these.
    before: BTreeMap<Span, Fences>,
    /// Fences stand after these.
    after: BTreeMap<Span, Fences>,
    /// These become atomic.
    atomic: BTreeSet<Span>,
    /// These get marks.
    marks: BTreeMap<Span, Marks>,
}

impl Statements {
    fn of(program: &Program, changes: &[Change]) -> Result<Statements, CannotWrite> {
        let mut statements = Statements::default();
        for &change in changes {
            match change {
                Change::Atomic(at) => {
                    statements.atomic.insert(statement(program, at)?);
                }
                Change::FenceAfter(at) => statements.fence_after(program, at, None)?,
                Change::PartialFenceAfter(at, kind) => statements.fence_after(program, at, Some(kind))?,
                Change::FenceBefore(at) => statements.fence_before(program, at, None)?,
                Change::PartialFenceBefore(at, kind) => statements.fence_before(program, at, Some(kind))?,
                Change::FenceAtTarget(at) => {
                    statements.fence_ways_into(program, at, program.instruction(at).to, None)?;
                }
                Change::PartialFenceAtTarget(at, kind) => {
                    statements.fence_ways_into(program, at, program.instruction(at).to, Some(kind))?;
                }
                Change::Mark(at, marks) => statements.mark(program, at, marks)?,
            }
        }
        Ok(statements)
    }

    /// Marks besides those that the instruction has; nothing if it has no use for them.
    fn mark(&mut self, program: &Program, at: At, marks: Marks) -> Result<(), CannotWrite> {
        let kind = program.instruction(at).kind;
        if kind.marked(marks) == kind {
            return Ok(());
        }
        if marks.has(Marks::EXCLUSIVE) {
            return Err(CannotWrite::Marks(at, marks));
        }
        let known = self.marks.entry(statement(program, at)?).or_default();
        *known = known.and(marks);
        Ok(())
    }

    /// A fence after an instruction.
    fn fence_after(&mut self, program: &Program, at: At, kind: Option<PartialFence>) -> Result<(), CannotWrite> {
        self.after.entry(statement(program, at)?).or_default().put(kind);
        Ok(())
    }

    /// A fence before an instruction, or on all ways to it.
    fn fence_before(&mut self, program: &Program, at: At, kind: Option<PartialFence>) -> Result<(), CannotWrite> {
        if is_alone(program, at) {
            self.before.entry(statement(program, at)?).or_default().put(kind);
            return Ok(());
        }
        self.fence_ways_into(program, at, program.instruction(at).from, kind)
    }

    /// A fence after everything that leads to a control state in the thread of an instruction.
    fn fence_ways_into(
        &mut self,
        program: &Program,
        at: At,
        state: ControlAt,
        kind: Option<PartialFence>,
    ) -> Result<(), CannotWrite> {
        for instruction in program.thread(at.thread).ways_into(state) {
            self.fence_after(program, At { instruction, ..at }, kind)?;
        }
        Ok(())
    }
}

/// Whether nothing is decided where the instruction starts: it has no condition, and nothing else starts there.
fn is_alone(program: &Program, at: At) -> bool {
    let (own, instructions) = (program.instruction(at), &program.thread(at.thread).instructions);
    own.condition.is_none() && instructions.iter().filter(|other| other.from == own.from).count() == 1
}

fn statement(program: &Program, at: At) -> Result<Span, CannotWrite> {
    let instruction = program.instruction(at);
    if has_statement(instruction) { Ok(instruction.span) } else { Err(CannotWrite::At(at)) }
}

#[cfg(test)]
mod tests {
    use super::{Change, edited};
    use crate::ids::{InstrAt, ThreadAt};
    use crate::lang;
    use crate::program::{Accesses, At, InstructionKind, Marks, PartialFence};

    #[test]
    fn edits_at_one_statement_nest() {
        let model = |transition: &str| {
            format!(
                "model m {{ classes C {{ variables Integer x y state machines t {{ initial A states B transitions {transition} }} }} objects o : C() }}"
            )
        };
        let text = model("A -> B { x := 1; [y = 0; y := 1] }");
        let program = lang::parse("m.slco", &text).expect("a right text").program;
        let [first, second] = [0, 1].map(|instruction| At { thread: ThreadAt(0), instruction: InstrAt(instruction) });
        let changes = [
            Change::FenceBefore(first),
            Change::Atomic(first),
            Change::FenceAfter(first),
            Change::Atomic(second),
            Change::FenceAfter(second),
        ];
        let expected = "A -> B { fence; atomic [x := 1]; fence; atomic [y = 0; y := 1]; fence }";
        assert_eq!(edited(&text, &program, &changes), Ok(model(expected)));
    }

    #[test]
    fn fences_of_stores_have_a_word_of_their_own_and_are_read_again() {
        let model = |transition: &str| {
            format!(
                "model m {{ classes C {{ variables Integer x stores state machines t {{ initial A states B transitions {transition} }} }} objects o : C() }}"
            )
        };
        let text = model("A -> B { x := 1; stores := 1; x := 2 }");
        let program = lang::parse("m.slco", &text).expect("a right text").program;
        let at = |instruction| At { thread: ThreadAt(0), instruction: InstrAt(instruction) };
        let changes = [
            Change::PartialFenceBefore(at(0), PartialFence::Stores),
            Change::PartialFenceAfter(at(0), PartialFence::Stores),
            Change::PartialFenceAtTarget(at(0), PartialFence::Stores),
            Change::PartialFenceAfter(at(1), PartialFence::Stores),
            Change::FenceAfter(at(1)),
        ];
        let fixed = model("A -> B { fence stores; x := 1; fence stores; stores := 1; fence; x := 2 }");
        assert_eq!(edited(&text, &program, &changes).as_ref(), Ok(&fixed));
        let program = lang::parse("m.slco", &fixed).expect("a right text").program;
        let kinds: Vec<InstructionKind> = program.threads[0].instructions.iter().map(|known| known.kind).collect();
        let stores = InstructionKind::PartialFence(PartialFence::Stores);
        let plain = InstructionKind::Plain;
        assert_eq!(kinds, [stores, plain, stores, plain, InstructionKind::Fence, plain]);
    }

    fn model(transition: &str) -> String {
        format!(
            "model m {{ classes C {{ variables Integer x y acquire Integer[2] release state machines t {{ variables Integer r initial A states B transitions {transition} }} }} objects o : C() }}"
        )
    }

    fn kinds(text: &str) -> Vec<InstructionKind> {
        let program = lang::parse("m.slco", text).expect("a right text").program;
        program.threads[0].instructions.iter().map(|known| known.kind).collect()
    }

    #[test]
    fn every_kind_of_fence_is_written_and_read_again() {
        use PartialFence::{Lightweight, Loads, Stores};
        let text = model("A -> B { x := 1; y := 1; x := 2 }");
        let program = lang::parse("m.slco", &text).expect("a right text").program;
        let at = |instruction| At { thread: ThreadAt(0), instruction: InstrAt(instruction) };
        let between = PartialFence::Between(Accesses::All, Accesses::Writes);
        let changes = [
            Change::PartialFenceAfter(at(0), Loads),
            Change::PartialFenceAfter(at(0), Stores),
            Change::PartialFenceAfter(at(1), Loads),
            Change::PartialFenceAfter(at(1), Lightweight),
            Change::PartialFenceAfter(at(2), between),
            Change::PartialFenceAfter(at(2), PartialFence::Control),
        ];
        let fixed = model(
            "A -> B { x := 1; fence stores; fence loads; y := 1; fence lightweight; x := 2; fence rw,w; fence control }",
        );
        assert_eq!(edited(&text, &program, &changes).as_ref(), Ok(&fixed));
        let fences: Vec<InstructionKind> =
            kinds(&fixed).into_iter().filter(|kind| *kind != InstructionKind::Plain).collect();
        let written = [Stores, Loads, Lightweight, between, PartialFence::Control];
        assert_eq!(fences, written.map(InstructionKind::PartialFence));
    }

    #[test]
    fn marks_are_written_and_read_again() {
        let text = model(
            "A -> B { r := x; -x = 1; [x = 0; y := x]; relaxed x := 1; atomic relaxed [x := x + 1]; atomic [x := 1]; acquire[assert x = 1]; acquire := 1; release[0] := 1; [x = 0] }",
        )
        .replace("acquire[assert x = 1]", "acquire assert x = 1");
        let program = lang::parse("m.slco", &text).expect("a right text").program;
        let at = |instruction| At { thread: ThreadAt(0), instruction: InstrAt(instruction) };
        let (acquire, release) = (Marks::RELAXED.and(Marks::ACQUIRE), Marks::RELAXED.and(Marks::RELEASE));
        let both = acquire.and(release);
        let changes: Vec<Change> = [
            (0, acquire),
            (1, acquire),
            (2, both),
            (3, release),
            (4, both),
            (5, both),
            (6, acquire),
            (8, release),
            (9, Marks::RELAXED.and(Marks::SC)),
            (10, acquire),
        ]
        .into_iter()
        .map(|(instruction, marks)| Change::Mark(at(instruction), marks))
        .collect();
        let fixed = edited(&text, &program, &changes).expect("marks have words");
        let expected = model(
            "A -> B { acquire r := x; acquire (-x = 1); acq_rel [x = 0; y := x]; release relaxed x := 1; atomic acq_rel relaxed [x := x + 1]; atomic [x := 1]; acquire assert x = 1; release acquire := 1; seq_cst release[0] := 1; acquire [x = 0;] }",
        );
        assert_eq!(fixed, expected);
        let (before, after) = (kinds(&text), kinds(&fixed));
        let marks = changes.iter().map(|change| match change {
            Change::Mark(at, marks) => (at.instruction.index(), *marks),
            _ => unreachable!("only marks"),
        });
        let mut wanted = before;
        marks.for_each(|(at, marks)| wanted[at] = wanted[at].marked(marks));
        assert_eq!(after, wanted);
    }

    #[test]
    fn what_has_marks_can_become_a_full_fence() {
        let text = model("A -> B { acquire r := x; acq_rel [x = 0; y := x]; atomic relaxed [x := x + 1] }");
        let program = lang::parse("m.slco", &text).expect("a right text").program;
        let locked: Vec<Change> = program.instructions_at().map(|(at, _)| Change::Atomic(at)).collect();
        let fixed = edited(&text, &program, &locked).expect("it can be written");
        let expected = model(
            "A -> B { atomic [acquire r := x]; atomic [acq_rel [x = 0; y := x]]; atomic [atomic relaxed [x := x + 1]] }",
        );
        assert_eq!(fixed, expected);
        assert_eq!(kinds(&fixed), [InstructionKind::Atomic; 3]);
    }

    #[test]
    fn both_instructions_of_an_assertion_are_one_statement() {
        let model = |transition: &str| {
            format!(
                "model m {{ classes C {{ variables Integer x assertion state machines t {{ initial A states B transitions {transition} }} }} objects o : C() }}"
            )
        };
        let text = model("A -> B { assertion := 1; assert(x = 0) }");
        let program = lang::parse("m.slco", &text).expect("a right text").program;
        let [write, holds, fails] = [0, 1, 2].map(|at| At { thread: ThreadAt(0), instruction: InstrAt(at) });
        let cases = [
            (vec![Change::FenceBefore(holds)], "A -> B { assertion := 1; fence; assert(x = 0) }"),
            (vec![Change::FenceBefore(fails)], "A -> B { assertion := 1; fence; assert(x = 0) }"),
            (
                vec![Change::FenceAfter(holds), Change::FenceAfter(fails)],
                "A -> B { assertion := 1; assert(x = 0); fence }",
            ),
            (
                vec![Change::Atomic(write), Change::Atomic(fails)],
                "A -> B { atomic [assertion := 1]; atomic assert(x = 0) }",
            ),
        ];
        for (changes, expected) in cases {
            let result = edited(&text, &program, &changes);
            assert_eq!(result, Ok(model(expected)));
            assert!(lang::parse("m.slco", &model(expected)).is_ok());
        }
    }
}
