//! Puts our additions into the text of a model: `fence`, `fence stores`, and `atomic [ … ]` around a statement.
//! Everything else stays byte for byte as it is.
//!
//! A fence after an instruction is a statement after it. A fence before one is a statement before it, if that is on
//! every way into it and on no other way; a fence before the first statement of a transition would commit to the
//! transition before its condition is known, so there it goes to the end of everything that leads to the state
//! instead. So does one at a control state: it is a fence on each way in.

use crate::ids::ControlAt;
use crate::lang::edit::{CannotWrite, Change};
use crate::program::{At, Instruction, InstructionKind, Program, Span};
use std::collections::{BTreeMap, BTreeSet};

/// What the changes insert, and where, in bytes; nothing is taken away.
///
/// # Errors
/// The first instruction at which something must stand and that has no statement: a transition without any.
pub fn insertions(text: &str, program: &Program, changes: &[Change]) -> Result<BTreeMap<usize, String>, CannotWrite> {
    let Statements { before, after, atomic } = Statements::of(program, changes)?;
    // At one place, what comes first in the text comes first: the ends of statements, then fences, then beginnings.
    let mut insertions: BTreeMap<usize, [String; 4]> = BTreeMap::new();
    let mut insert = |at: usize, rank: usize, what: &str| insertions.entry(at).or_default()[rank].push_str(what);
    for span in atomic {
        let statement = &text[span.start..span.end];
        let is_whole = statement.starts_with('[') || is_assertion(statement);
        insert(span.start, 3, if is_whole { "atomic " } else { "atomic [" });
        insert(span.end, 0, if is_whole { "" } else { "]" });
    }
    let word = |kind: Kind| match kind {
        Kind::Stores => "fence stores",
        Kind::Full => "fence",
    };
    after.into_iter().for_each(|(span, kind)| insert(span.end, 1, &format!("; {}", word(kind))));
    before.into_iter().for_each(|(span, kind)| insert(span.start, 2, &format!("{}; ", word(kind))));
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

/// What a fence keeps in order; of two at one place the stronger one stands there.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Stores,
    Full,
}

/// The statements at which something changes; those of several objects of a class are one, and change once.
#[derive(Default)]
struct Statements {
    /// A fence stands before these.
    before: BTreeMap<Span, Kind>,
    /// A fence stands after these.
    after: BTreeMap<Span, Kind>,
    /// These become atomic.
    atomic: BTreeSet<Span>,
}

impl Statements {
    fn of(program: &Program, changes: &[Change]) -> Result<Statements, CannotWrite> {
        let mut statements = Statements::default();
        for &change in changes {
            match change {
                Change::Atomic(at) => {
                    statements.atomic.insert(statement(program, at)?);
                }
                Change::FenceAfter(at) => stronger(&mut statements.after, statement(program, at)?, Kind::Full),
                Change::StoreFenceAfter(at) => stronger(&mut statements.after, statement(program, at)?, Kind::Stores),
                Change::FenceBefore(at) => statements.fence_before(program, at, Kind::Full)?,
                Change::StoreFenceBefore(at) => statements.fence_before(program, at, Kind::Stores)?,
                Change::FenceAtTarget(at) => {
                    statements.fence_ways_into(program, at, program.instruction(at).to, Kind::Full)?;
                }
                Change::StoreFenceAtTarget(at) => {
                    statements.fence_ways_into(program, at, program.instruction(at).to, Kind::Stores)?;
                }
            }
        }
        Ok(statements)
    }

    /// A fence before an instruction, or on all ways to it.
    fn fence_before(&mut self, program: &Program, at: At, kind: Kind) -> Result<(), CannotWrite> {
        if is_alone(program, at) {
            stronger(&mut self.before, statement(program, at)?, kind);
            return Ok(());
        }
        self.fence_ways_into(program, at, program.instruction(at).from, kind)
    }

    /// A fence after everything that leads to a control state in the thread of an instruction.
    fn fence_ways_into(&mut self, program: &Program, at: At, state: ControlAt, kind: Kind) -> Result<(), CannotWrite> {
        for instruction in program.thread(at.thread).ways_into(state) {
            stronger(&mut self.after, statement(program, At { instruction, ..at })?, kind);
        }
        Ok(())
    }
}

fn stronger(fences: &mut BTreeMap<Span, Kind>, span: Span, kind: Kind) {
    let present = fences.entry(span).or_insert(kind);
    *present = kind.max(*present);
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
    use crate::program::{At, InstructionKind, PartialFence};

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
            Change::StoreFenceBefore(at(0)),
            Change::StoreFenceAfter(at(0)),
            Change::StoreFenceAtTarget(at(0)),
            Change::StoreFenceAfter(at(1)),
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
