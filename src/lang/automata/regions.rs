//! From `lock` to `unlock`: one atomic instruction for each way through.
//!
//! *Meaning of the text.* Trencher has one lock. `lock` waits until nobody has it, `unlock` gives it back; while a
//! thread has it no other thread takes any step, and at both the thread's buffer is empty. `lock` by the thread that
//! has it already, and `unlock` by one that has not, wait for ever.
//!
//! *Translation.* As the others stand still, what happens between `lock` and `unlock` is one step from the state
//! before to the state behind it. A way through the region is a sequence of transitions from the target of the `lock`
//! to an `unlock`, each given by its instructions; it becomes one [atomic](InstructionKind::Atomic) instruction from
//! where the `lock` stands to where the `unlock` leads:
//!
//! - its assignments are those of the way (reads, writes and local assignments), in order;
//! - its condition is the conjunction of all checks on the way, each in terms of the state before the region:
//!   registers are replaced by what was assigned to them, memory that was written by what was written. (If two
//!   computed addresses may or may not be the same, the value is a sum of both possibilities, each times 1 or 0.)
//!
//! So a test-and-set that fails on one way and succeeds on another is two instructions, of which one can be taken. A
//! state may be reached both inside and outside of regions; it has then both meanings.
//!
//! *What is not kept.* A thread that cannot go on inside a region has the lock for ever: no other thread will ever do
//! anything. The instruction waits before it instead, and the others go on. All that they do then they can do before
//! the region as well, so the states in which no thread is inside of a region are exactly the same, and those are
//! what is compared; only that deadlock is not seen. (A region that is entered and never left, because it ends, or
//! locks again, is such a case for certain: there is a warning, and no instruction.) With the same argument a fence
//! inside a region is nothing.
//!
//! *Loops* inside a region are followed as long as something changes: a state that is reached a second time with the
//! same values in terms of the state before adds nothing new. Checks of constants, and of what was checked before,
//! are decided on the way, so a loop that waits for memory to change, which it cannot while all others stand still,
//! is just the way that does not wait. A loop that goes on changing values without end is an error, as are more than
//! [`MAX_WAYS`] ways, or ways longer than [`MAX_STEPS`].

use super::expressions::{bare, folded, negation};
use super::syntax::{self, Action, Location, Name, Transition};
use super::translate::{Builder, Parts};
use crate::lang::Diagnostic;
use crate::program::arithmetic::apply;
use crate::program::{Assignment, BinaryOperator, Expression, InstructionKind, Reference, Scope, Span, UnaryOperator};
use std::collections::{BTreeMap, HashSet};

/// How many ways through a region there may be.
pub const MAX_WAYS: usize = 200;
/// How long a way through a region may be.
pub const MAX_STEPS: usize = 100;
/// How many steps all ways together may have, those that lead nowhere included.
const MAX_ALL_STEPS: usize = 10_000;
/// How large a condition may become.
const MAX_SIZE: usize = 2000;
/// How large the expressions of one step may be before constants are put together.
const MAX_STEP_SIZE: usize = 10 * MAX_SIZE;

/// A way through a region.
pub(super) struct Region<'a> {
    /// Where it leads.
    pub to: &'a Name,
    /// What it does.
    pub parts: Parts,
    /// From `lock` to `unlock`, if they stand in this order.
    pub span: Span,
}

/// All ways through the region that a `lock` begins. The states inside are added to `inside`.
pub(super) fn ways<'a>(
    builder: &Builder<'a>,
    lock: &'a Transition,
    inside: &mut HashSet<&'a str>,
    findings: &mut Vec<Diagnostic>,
) -> Vec<Region<'a>> {
    let mut search = RegionSearch { builder, lock, inside, findings, found: Vec::new(), steps: 0, failed: false };
    search.from(&lock.to.text, &Way::default(), &mut Vec::new());
    if search.found.is_empty() && !search.failed {
        let message = "this region is never left: all that follows is left out";
        search.findings.push(Diagnostic::warning(lock.span, message));
    }
    search.found
}

/// What happened since the `lock`; expressions are in terms of the state before it, without spans.
#[derive(Clone, Default)]
struct Way {
    registers: BTreeMap<usize, Expression>,
    /// The last one is the latest.
    stores: Vec<(Reference, Expression)>,
    checks: Vec<Expression>,
    assignments: Vec<Assignment>,
}

/// A state inside with the values there.
type Visit<'a> = (&'a str, BTreeMap<usize, Expression>, Vec<(Reference, Expression)>);

struct RegionSearch<'s, 'a> {
    builder: &'s Builder<'a>,
    lock: &'a Transition,
    inside: &'s mut HashSet<&'a str>,
    findings: &'s mut Vec<Diagnostic>,
    found: Vec<Region<'a>>,
    steps: usize,
    failed: bool,
}

impl<'a> RegionSearch<'_, 'a> {
    fn from(&mut self, state: &'a str, way: &Way, path: &mut Vec<Visit<'a>>) {
        if self.failed {
            return;
        }
        self.inside.insert(state);
        let visit = (state, way.registers.clone(), way.stores.clone());
        if path.contains(&visit) {
            return;
        }
        if path.len() >= MAX_STEPS {
            let problem = format!("a way through this region has more than {MAX_STEPS} steps");
            return self.fail(&problem, "a loop inside a region must come to an end, whatever the memory holds");
        }
        self.steps += 1;
        if self.steps > MAX_ALL_STEPS {
            let problem = format!("the ways through this region have more than {MAX_ALL_STEPS} steps");
            return self.fail(&problem, "make the region shorter");
        }
        let outgoing = self.builder.outgoing(state);
        if outgoing.is_empty() {
            let message = format!("the thread ends in `{state}` and has the lock for ever: nobody sees what it did");
            self.findings.push(Diagnostic::warning(self.lock.span, message).with_help("`unlock` gives the lock back"));
        }
        path.push(visit);
        for transition in outgoing {
            self.step(transition, way, path);
        }
        path.pop();
    }

    fn step(&mut self, transition: &'a Transition, way: &Way, path: &mut Vec<Visit<'a>>) {
        if self.size_of(&transition.action, way) > MAX_STEP_SIZE {
            return self.fail("the conditions inside this region become too large", "make the region shorter");
        }
        let mut way = way.clone();
        match &transition.action {
            Action::Lock => {
                let message = "this waits for ever if the thread has the lock already, and it can";
                self.findings.push(Diagnostic::warning(transition.span, message).with_help("locks do not nest"));
                return;
            }
            Action::Unlock => return self.leave(transition, way),
            Action::Check(expression) => {
                let check = way.substituted(&self.builder.boolean(expression));
                if !way.assume(check) {
                    return;
                }
            }
            Action::Exchange(location, expected, _) => {
                let value = way.load(&self.target(location, &way));
                let expected = way.substituted(&self.builder.integer(expected));
                if !way.assume(folded(BinaryOperator::Equal, value, expected, Span::default())) {
                    return;
                }
            }
            _ => {}
        }
        self.perform(&transition.action, &mut way);
        if way.size() > MAX_SIZE {
            return self.fail("the conditions inside this region become too large", "make the region shorter");
        }
        self.from(&transition.to.text, &way, path);
    }

    /// How large the expressions of an action are in terms of the state before, without writing them down: every
    /// mention of a register is as large as what was assigned to it.
    fn size_of(&self, action: &Action, way: &Way) -> usize {
        let size = |expression: &syntax::Expression| way.substituted_size(&self.builder.integer(expression));
        let at = |location: &Location| match location {
            Location::Address(address) => size(address),
            Location::Variable(..) => 0,
        };
        match action {
            Action::Write(value, location) => size(value) + at(location),
            Action::Read(_, location) => at(location),
            Action::Local(_, value) | Action::Check(value) => size(value),
            Action::Exchange(location, old, new) => at(location) + size(old) + size(new),
            Action::Fence | Action::Lock | Action::Unlock | Action::Skip => 0,
        }
    }

    /// The place in memory in terms of the state before.
    fn target(&self, location: &Location, way: &Way) -> Reference {
        let mut target = self.builder.unchecked_location(location);
        target.span = Span::default();
        target.index = target.index.map(|index| Box::new(way.substituted(&index)));
        target
    }

    fn perform(&self, action: &Action, way: &mut Way) {
        match action {
            Action::Write(value, location) | Action::Exchange(location, _, value) => {
                let target = self.target(location, way);
                let value = way.substituted(&self.builder.integer(value));
                // What was written there before is gone.
                way.stores.retain(|(earlier, _)| *earlier != target);
                way.stores.push((target, value));
            }
            Action::Read(register, location) => {
                let value = way.load(&self.target(location, way));
                way.assign(self.builder.register(register), value);
            }
            Action::Local(register, value) => {
                let value = way.substituted(&self.builder.integer(value));
                way.assign(self.builder.register(register), value);
            }
            Action::Check(_) | Action::Fence | Action::Lock | Action::Unlock | Action::Skip => {}
        }
        way.assignments.extend(self.builder.assignment(action));
    }

    fn leave(&mut self, unlock: &'a Transition, way: Way) {
        if self.found.len() >= MAX_WAYS {
            let problem = format!("there are more than {MAX_WAYS} ways through this region");
            return self.fail(&problem, "make the region shorter");
        }
        let mut checks = way.checks.into_iter();
        let conjunction = checks.next().map(|first| {
            let and =
                |left, right| Expression::Binary(BinaryOperator::And, Box::new(left), Box::new(right), Span::default());
            checks.fold(first, and)
        });
        // A region that does nothing still empties the buffer.
        let is_fence = conjunction.is_none() && way.assignments.is_empty();
        let in_order = unlock.span.start >= self.lock.span.end;
        self.found.push(Region {
            to: &unlock.to,
            parts: Parts {
                condition: conjunction,
                assignments: way.assignments,
                kind: if is_fence { InstructionKind::Fence } else { InstructionKind::Atomic },
            },
            span: Span { end: if in_order { unlock.span.end } else { self.lock.span.end }, ..self.lock.span },
        });
    }

    fn fail(&mut self, problem: &str, help: &str) {
        self.failed = true;
        let help = format!("a region becomes one atomic instruction for each way through it; {help}");
        self.findings.push(Diagnostic::error(self.lock.span, problem).with_help(help));
    }
}

impl Way {
    fn assign(&mut self, register: usize, value: Expression) {
        self.registers.insert(register, value);
    }

    /// Adds a check; false if it cannot hold together with the others.
    fn assume(&mut self, check: Expression) -> bool {
        match check {
            Expression::Constant(value) => value != 0,
            Expression::Binary(BinaryOperator::And, left, right, _) => self.assume(*left) && self.assume(*right),
            check if self.checks.contains(&check) => true,
            check if self.checks.contains(&negation(check.clone())) => false,
            check => {
                self.checks.push(check);
                true
            }
        }
    }

    fn size(&self) -> usize {
        let expressions = self.registers.values().chain(&self.checks).chain(self.stores.iter().map(|(_, value)| value));
        expressions.map(size).sum()
    }

    /// The size of what [`substituted`](Way::substituted) gives, or a little more.
    fn substituted_size(&self, expression: &Expression) -> usize {
        match expression {
            Expression::Constant(_) => 1,
            Expression::Read(reference) => self.registers.get(&reference.variable).map_or(1, size),
            Expression::Unary(_, operand) => 1 + self.substituted_size(operand),
            Expression::Binary(_, left, right, _) => 1 + self.substituted_size(left) + self.substituted_size(right),
        }
    }

    /// What memory holds now, in terms of the state before.
    fn load(&self, target: &Reference) -> Expression {
        load(&self.stores, target)
    }

    /// An expression over registers in terms of the state before.
    fn substituted(&self, expression: &Expression) -> Expression {
        match expression {
            Expression::Constant(value) => Expression::Constant(*value),
            Expression::Read(reference) if reference.scope == Scope::Local => {
                self.registers.get(&reference.variable).cloned().unwrap_or_else(|| bare(expression))
            }
            Expression::Read(_) => unreachable!("only registers are in expressions"),
            Expression::Unary(UnaryOperator::Not, operand) => negation(self.substituted(operand)),
            Expression::Unary(operator, operand) => match self.substituted(operand) {
                Expression::Constant(value) if *operator == UnaryOperator::Indicator => Expression::Constant(value),
                operand => Expression::Unary(*operator, Box::new(operand)),
            },
            Expression::Binary(operator, left, right, _) => {
                let (left, right) = (self.substituted(left), self.substituted(right));
                if let (Expression::Constant(left), Expression::Constant(right)) = (&left, &right)
                    && let Ok(value) = apply(*operator, *left, *right)
                {
                    return Expression::Constant(value);
                }
                Expression::Binary(*operator, Box::new(left), Box::new(right), Span::default())
            }
        }
    }
}

/// What memory holds after these stores.
fn load(stores: &[(Reference, Expression)], target: &Reference) -> Expression {
    let Some(((stored, value), earlier)) = stores.split_last() else { return Expression::Read(target.clone()) };
    if stored == target {
        return value.clone();
    }
    let before = load(earlier, target);
    match (&stored.index, &target.index) {
        (Some(left), Some(right)) if stored.variable == target.variable => {
            let same = folded(BinaryOperator::Equal, (**left).clone(), (**right).clone(), Span::default());
            match same {
                Expression::Constant(0) => before,
                Expression::Constant(_) => value.clone(),
                same => binary(
                    BinaryOperator::Add,
                    binary(BinaryOperator::Multiply, indicator(same.clone()), value.clone()),
                    binary(BinaryOperator::Multiply, indicator(negation(same)), before),
                ),
            }
        }
        _ => before,
    }
}

fn indicator(truth: Expression) -> Expression {
    Expression::Unary(UnaryOperator::Indicator, Box::new(truth))
}

fn binary(operator: BinaryOperator, left: Expression, right: Expression) -> Expression {
    Expression::Binary(operator, Box::new(left), Box::new(right), Span::default())
}

fn size(expression: &Expression) -> usize {
    match expression {
        Expression::Constant(_) => 1,
        Expression::Read(reference) => 1 + reference.index.as_ref().map_or(0, |index| size(index)),
        Expression::Unary(_, operand) => 1 + size(operand),
        Expression::Binary(_, left, right, _) => 1 + size(left) + size(right),
    }
}
