//! Counts the programs in which an instruction accesses a location twice: which random programs must have, or they
//! show nothing about that.

use seqcon::program::{Expression, Instruction, Program, Reference, Scope};
use std::cell::Cell;
use std::fmt;

/// How many programs have a plain instruction that reads a location twice, writes one twice, or writes one and reads
/// it afterwards.
#[derive(Default)]
pub struct Doubles {
    read_twice: Cell<u32>,
    written_twice: Cell<u32>,
    written_and_read: Cell<u32>,
}

impl Doubles {
    pub fn count(&self, program: &Program) {
        let plain = || program.threads.iter().flat_map(|thread| &thread.instructions).filter(|i| !i.is_atomic());
        let has =
            |first: bool, second: bool| plain().any(|instruction| has_pair(&mentions(instruction), first, second));
        self.read_twice.set(self.read_twice.get() + u32::from(has(false, false)));
        self.written_twice.set(self.written_twice.get() + u32::from(has(true, true)));
        self.written_and_read.set(self.written_and_read.get() + u32::from(has(true, false)));
    }

    #[track_caller]
    pub fn assert_all(&self) {
        for count in [&self.read_twice, &self.written_twice, &self.written_and_read] {
            assert!(count.get() > 0, "{self}: one of these never occurred");
        }
    }
}

impl fmt::Display for Doubles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Doubles { read_twice, written_twice, written_and_read } = self;
        let (read, written, both) = (read_twice.get(), written_twice.get(), written_and_read.get());
        write!(
            f,
            "an instruction reads a location twice in {read}, writes one twice in {written}, reads what it wrote in {both}"
        )
    }
}

/// A location by the text of its index, and whether it is written.
type Mention = (usize, String, bool);

fn has_pair(mentions: &[Mention], first: bool, second: bool) -> bool {
    mentions.iter().enumerate().any(|(position, earlier)| {
        let is_one = |later: &Mention| (&earlier.0, &earlier.1) == (&later.0, &later.1);
        earlier.2 == first && mentions[position + 1..].iter().any(|later| later.2 == second && is_one(later))
    })
}

fn mentions(instruction: &Instruction) -> Vec<Mention> {
    let mut found = Vec::new();
    instruction.condition.iter().for_each(|condition| reads(condition, &mut found));
    for assignment in &instruction.assignments {
        reads(&assignment.value, &mut found);
        if let Some(index) = &assignment.target.index {
            reads(index, &mut found);
        }
        found.extend(mention(&assignment.target, true));
    }
    found
}

fn mention(reference: &Reference, is_write: bool) -> Option<Mention> {
    let is_shared = reference.scope == Scope::Shared;
    is_shared.then(|| (reference.variable, reference.index.as_deref().map_or_else(String::new, text), is_write))
}

fn reads(expression: &Expression, found: &mut Vec<Mention>) {
    match expression {
        Expression::Constant(_) => {}
        Expression::Read(reference) => {
            if let Some(index) = &reference.index {
                reads(index, found);
            }
            found.extend(mention(reference, false));
        }
        Expression::Unary(_, operand) => reads(operand, found),
        Expression::Binary(_, left, right, _) => {
            reads(left, found);
            reads(right, found);
        }
    }
}

/// An index without its place in the source.
fn text(expression: &Expression) -> String {
    match expression {
        Expression::Constant(value) => value.to_string(),
        Expression::Read(Reference { scope, variable, index, .. }) => {
            format!("{scope:?} {variable} [{}]", index.as_deref().map_or_else(String::new, text))
        }
        Expression::Unary(operator, operand) => format!("{operator:?} ({})", text(operand)),
        Expression::Binary(operator, left, right, _) => format!("({}) {operator:?} ({})", text(left), text(right)),
    }
}
