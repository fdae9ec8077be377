//! Instructions that read and write in one piece, and the halves of those that do so in two.
//!
//! *One instruction* (`XCHG`, `SWP`, `amoadd`): what is there goes to a local, the new value to the location, what was
//! there to a register. One that compares first writes only if the comparison holds: the location is an array of one
//! element, and the index of the write is out of range otherwise, which makes no access. So there is one read, perhaps
//! one write, and no branch that later instructions would depend on.
//!
//! *Load and store exclusive* (`lwarx` and `stwcx.`, `LDXR` and `STXR`, `lr` and `sc`): the store is two instructions
//! from one control state: one writes and says 0, the other says only 1, as failure is always possible. Whether it may
//! succeed is not decided here: the axioms of memory models pair it with the last load exclusive before it, which must
//! be one of the same location, and forbid writes of others in between. As herd does, a store without such a load
//! always fails.

use super::assembler::{Address, Assembler, FLAGS, NOWHERE};
use super::expressions::{binary, indicator};
use super::pointers::Held;
use crate::lang::Diagnostic;
use crate::program::{Assignment, BinaryOperator, Expression, Instruction, InstructionKind, Marks, Reference, Span};

impl Assembler<'_> {
    /// Writes a value to an address and 0 to the register, or only 1 to the register: whether the store succeeds is
    /// free here, and decided by those who know what other threads do.
    pub fn store_exclusive(
        &mut self,
        (status, span): (&str, Span),
        address: Address,
        value: Expression,
        marks: Marks,
    ) -> Result<(), Diagnostic> {
        let location = self.single(address)?;
        let status = self.target(status, span, Held::Computed);
        let says = |number| Assignment { target: status.clone(), value: Expression::Constant(number) };
        let success = vec![Assignment { target: location, value }, says(0)];
        // Without a load in this thread that it can belong to, it fails.
        let is_exclusive = |known: &Instruction| known.kind.marks().has(Marks::EXCLUSIVE);
        if self.instructions.iter().any(is_exclusive) {
            self.push(InstructionKind::Marked(marks.and(Marks::EXCLUSIVE)), None, success, self.next());
        }
        self.emit(InstructionKind::Plain, vec![says(1)]);
        Ok(())
    }

    /// The same, where the status is kept as a comparison.
    pub fn store_exclusive_flags(
        &mut self,
        address: Address,
        value: Expression,
        marks: Marks,
    ) -> Result<(), Diagnostic> {
        self.store_exclusive((FLAGS, self.code.span()), address, value, marks)
    }

    /// Expressions over what is at an address take its place, in one piece if the kind says so; what was there goes
    /// to the register, if one is named.
    pub fn modify(
        &mut self,
        kind: InstructionKind,
        address: Address,
        register: Option<(&str, Span)>,
        value: impl FnOnce(Expression) -> Expression,
    ) -> Result<(), Diagnostic> {
        let location = self.single(address)?;
        let Some((register, span)) = register else {
            let value = value(Expression::Read(location.clone()));
            self.emit(kind, vec![Assignment { target: location, value }]);
            return Ok(());
        };
        let kept = self.reference("exchanged", span);
        let old = || Expression::Read(kept.clone());
        let mut assignments = vec![
            Assignment { target: kept.clone(), value: Expression::Read(location.clone()) },
            Assignment { target: location, value: value(old()) },
        ];
        if register != NOWHERE {
            let target = self.target(register, span, Held::Loaded);
            assignments.push(Assignment { target, value: old() });
        }
        self.emit(kind, assignments);
        Ok(())
    }

    /// If what is at an address is what is expected, the new value takes its place; what was there goes to the
    /// register. The write has an index that is out of range if it is not to be made: then there is none.
    pub fn compare_exchange(
        &mut self,
        kind: InstructionKind,
        address: Address,
        (register, span): (&str, Span),
        (expected, new): (Expression, Expression),
        keeps_flags: bool,
    ) -> Result<(), Diagnostic> {
        if let Address::Known { location, .. } = address {
            self.locations.index(location);
        }
        let location = self.single(address)?;
        let kept = self.reference("exchanged", span);
        let old = || Expression::Read(kept.clone());
        let mut assignments = vec![
            Assignment { target: kept.clone(), value: Expression::Read(location.clone()) },
            Assignment { target: only_if(&location, is_equal(old(), expected.clone(), span), span), value: new },
        ];
        if keeps_flags {
            let target = self.reference(FLAGS, span);
            assignments.push(Assignment { target, value: self.binary(BinaryOperator::Subtract, old(), expected) });
        }
        if register != NOWHERE {
            let target = self.target(register, span, Held::Loaded);
            assignments.push(Assignment { target, value: old() });
        }
        self.emit(kind, assignments);
        Ok(())
    }
}

/// Whether two values are equal.
pub fn is_equal(left: Expression, right: Expression, span: Span) -> Expression {
    Expression::Binary(BinaryOperator::Equal, Box::new(left), Box::new(right), span)
}

/// The same location if the condition holds; if not, an element that does not exist, so that nothing is accessed.
pub fn only_if(location: &Reference, condition: Expression, span: Span) -> Reference {
    let holds = indicator(condition);
    let one = Expression::Constant(1);
    let scaled = match location.index.as_deref() {
        None | Some(Expression::Constant(0)) => holds,
        Some(index) => {
            let next = binary(BinaryOperator::Add, index.clone(), one.clone(), span);
            binary(BinaryOperator::Multiply, next, holds, span)
        }
    };
    Reference { index: Some(Box::new(binary(BinaryOperator::Subtract, scaled, one, span))), ..location.clone() }
}
