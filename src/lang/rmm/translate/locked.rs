//! `locked{ … }`, `locked write` and `cas`: each way through it is one atomic instruction.
//!
//! An instruction has its condition first. So what a block asks for behind an assignment is asked for before it, of
//! the value that was assigned.

use super::access::Way;
use super::expressions::{Context, Reported, Target, both, bounds, local, num_of_reads};
use super::memory::Range;
use crate::lang::Diagnostic;
use crate::lang::rmm::syntax::{self, Action, Labelled, Location, Statement};
use crate::program::{Assignment, BinaryOperator, Expression, InstructionKind, Reference, Scope, Span};
use std::collections::HashMap;

/// How many ways there may be through a block.
const MAX_WAYS: usize = 1000;
/// How large an expression may become.
const MAX_SIZE: usize = 1000;

/// How far a way has come.
#[derive(Clone, Default)]
struct Path {
    select: Option<Expression>,
    condition: Option<Expression>,
    assignments: Vec<Assignment>,
    /// The values of registers and variables that were assigned, in terms of those before the block.
    now: HashMap<(Scope, usize), Expression>,
}

impl Path {
    /// An expression in terms of the values before the block.
    fn before(&self, expression: &Expression) -> Expression {
        match expression {
            Expression::Constant(_) => expression.clone(),
            Expression::Read(reference) => {
                self.now.get(&(reference.scope, reference.variable)).unwrap_or(expression).clone()
            }
            Expression::Unary(operator, operand) => Expression::Unary(*operator, Box::new(self.before(operand))),
            Expression::Binary(operator, left, right, span) => {
                Expression::Binary(*operator, Box::new(self.before(left)), Box::new(self.before(right)), *span)
            }
        }
    }

    /// Something must hold here.
    fn require(&mut self, condition: Option<Expression>) {
        let condition = condition.map(|condition| self.before(&condition));
        self.condition = both(self.condition.take(), condition);
    }

    fn assign(&mut self, target: Reference, value: Expression) {
        let known = self.before(&value);
        self.now.insert((target.scope, target.variable), known);
        self.assignments.push(Assignment { target, value });
    }

    /// This variable is meant.
    fn select(&mut self, target: &Target) {
        let Some(select) = target.select.as_ref().map(|select| self.before(select)) else { return };
        // What depends on a value that the block itself reads cannot be known before it.
        let part = if num_of_reads(&select) == 0 { &mut self.select } else { &mut self.condition };
        *part = both(part.take(), Some(select));
    }

    fn size(&self) -> usize {
        self.select.iter().chain(&self.condition).chain(self.now.values()).map(size).sum()
    }
}

fn size(expression: &Expression) -> usize {
    match expression {
        Expression::Constant(_) | Expression::Read(_) => 1,
        Expression::Unary(_, operand) => 1 + size(operand),
        Expression::Binary(_, left, right, _) => 1 + size(left) + size(right),
    }
}

/// The ways through a statement that is atomic.
pub fn ways(
    context: &Context<'_>,
    statement: &Statement,
    findings: &mut Vec<Diagnostic>,
) -> Result<Vec<Way>, Reported> {
    let span = statement.extent.span;
    let paths = Block { context, span, findings }.statement(statement, &[Path::default()])?;
    let mut is_doubtful = false;
    let way = |Path { select, condition, assignments, .. }: Path| {
        let writes = assignments.iter().any(|assignment| assignment.target.scope == Scope::Shared);
        let values = assignments.iter().map(|assignment| &assignment.value);
        let reads: usize = condition.iter().chain(values).map(num_of_reads).sum();
        is_doubtful |= !writes && reads > 1;
        // One read is one step anyway, and waits for no buffer.
        let kind = if writes || reads > 1 { InstructionKind::Atomic } else { InstructionKind::Plain };
        Way { select, condition, assignments, kind }
    };
    let ways = paths.into_iter().map(way).collect();
    if is_doubtful {
        let warning = Diagnostic::warning(span, "this block reads more than once and writes nothing");
        findings.push(warning.with_help("it is taken for atomic, and so for a fence, which it is not in Memorax"));
    }
    Ok(ways)
}

struct Block<'a, 'c, 'f> {
    context: &'a Context<'c>,
    span: Span,
    findings: &'f mut Vec<Diagnostic>,
}

impl Block<'_, '_, '_> {
    fn list(&mut self, statements: &[Labelled], paths: &[Path]) -> Result<Vec<Path>, Reported> {
        let mut paths = paths.to_vec();
        for labelled in statements {
            if let Some(label) = &labelled.label {
                return Err(self.refuse(label.span, "a label stands in a locked block"));
            }
            paths = self.statement(&labelled.statement, &paths)?;
        }
        Ok(paths)
    }

    fn refuse(&mut self, span: Span, message: &str) -> Reported {
        let help = "a locked block is one instruction: reads, writes, `cas`, assignments, `assume` and `nop`";
        self.findings.push(Diagnostic::error(span, message).with_help(help));
        Reported
    }

    /// The paths behind a statement.
    fn statement(&mut self, statement: &Statement, paths: &[Path]) -> Result<Vec<Path>, Reported> {
        let context = self.context;
        let span = statement.extent.span;
        let behind = match &statement.action {
            Action::Nop => paths.to_vec(),
            Action::Assume(condition) => {
                let condition = context.condition(condition, self.findings)?;
                extended(paths, |path| path.require(Some(condition.clone())))
            }
            Action::Assign(register, value) => {
                let value = context.value(value, span, self.findings)?;
                let position = context.register(register, self.findings)?;
                let fits = value.fitting(context.registers[position].range, &register.text, self.findings);
                extended(paths, |path| {
                    path.require(fits.clone());
                    path.assign(local(position, register.span), value.expression.clone());
                })
            }
            Action::Expect(location, value) => self.expect(location, value, paths)?,
            Action::Load(register, location) => {
                let position = context.register(register, self.findings)?;
                let range = context.registers[position].range;
                self.each_target(location, paths, |path, target, known| {
                    let read = Expression::Read(target.reference());
                    let values = super::expressions::Interval::within(known);
                    path.require(bounds(&read, values, range, span));
                    path.assign(local(position, register.span), read);
                })?
            }
            Action::Write(location, value) | Action::LockedWrite(location, value) => {
                self.write(location, value, span, paths)?
            }
            Action::Exchange(location, old, new) => self.exchange(location, old, new, span, paths)?,
            Action::Block(statements) => self.list(statements, paths)?,
            Action::Locked(alternatives) => {
                let mut behind = Vec::new();
                for alternative in alternatives {
                    behind.extend(self.list(alternative, paths)?);
                }
                behind
            }
            Action::Fence => return Err(self.refuse(span, "a fence stands in a locked block")),
            Action::Goto(_) => return Err(self.refuse(span, "`goto` stands in a locked block")),
            Action::If(..) => return Err(self.refuse(statement.head, "`if` stands in a locked block")),
            Action::While(..) => return Err(self.refuse(statement.head, "`while` stands in a locked block")),
            Action::Either(_) => {
                return Err(self.refuse(span, "`either` stands in a locked block; write `locked{ … or … }`"));
            }
        };
        if behind.len() > MAX_WAYS || behind.iter().any(|path| path.size() > MAX_SIZE) {
            let error = Diagnostic::error(self.span, "this block becomes too large for one instruction");
            self.findings.push(error.with_help("write several smaller ones"));
            return Err(Reported);
        }
        Ok(behind)
    }

    /// The paths with each of the variables that may be meant.
    fn each_target(
        &mut self,
        location: &Location,
        paths: &[Path],
        step: impl Fn(&mut Path, &Target, Range),
    ) -> Result<Vec<Path>, Reported> {
        let mut behind = Vec::new();
        for target in self.context.targets(location, self.findings)? {
            behind.extend(extended(paths, |path| {
                path.select(&target);
                step(path, &target, self.context.memory.ranges[target.variable]);
            }));
        }
        Ok(behind)
    }

    fn expect(
        &mut self,
        location: &Location,
        value: &syntax::Expression,
        paths: &[Path],
    ) -> Result<Vec<Path>, Reported> {
        let (value, _) = self.context.integer(value, self.findings)?;
        self.each_target(location, paths, |path, target, _| path.require(Some(is_equal(target, &value))))
    }

    fn write(
        &mut self,
        location: &Location,
        value: &syntax::Expression,
        span: Span,
        paths: &[Path],
    ) -> Result<Vec<Path>, Reported> {
        let value = self.context.value(value, span, self.findings)?;
        for target in self.context.targets(location, self.findings)? {
            let memory = self.context.memory;
            // Only for its warning: what must hold is found again below.
            value.fitting(memory.ranges[target.variable], &memory.variables[target.variable].name, self.findings);
        }
        self.each_target(location, paths, |path, target, range| {
            path.require(bounds(&value.expression, value.values, range, span));
            path.assign(target.reference(), value.expression.clone());
        })
    }

    /// A read and a write of the same variable.
    fn exchange(
        &mut self,
        location: &Location,
        old: &syntax::Expression,
        new: &syntax::Expression,
        span: Span,
        paths: &[Path],
    ) -> Result<Vec<Path>, Reported> {
        let (old, _) = self.context.integer(old, self.findings)?;
        let new = self.context.value(new, span, self.findings)?;
        self.each_target(location, paths, |path, target, range| {
            path.require(Some(is_equal(target, &old)));
            path.require(bounds(&new.expression, new.values, range, span));
            path.assign(target.reference(), new.expression.clone());
        })
    }
}

/// A variable has this value.
fn is_equal(target: &Target, value: &Expression) -> Expression {
    let read = Expression::Read(target.reference());
    Expression::Binary(BinaryOperator::Equal, Box::new(read), Box::new(value.clone()), target.span)
}

/// The paths, each with something more.
fn extended(paths: &[Path], step: impl Fn(&mut Path)) -> Vec<Path> {
    let mut behind = paths.to_vec();
    behind.iter_mut().for_each(step);
    behind
}
