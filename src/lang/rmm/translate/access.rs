//! What one statement does: the ways in which it can be taken, each with at most one shared access unless it is
//! atomic.

use super::expressions::{Context, Interval, Reported, Target, both, bounds, local, num_of_reads};
use super::locked;
use super::memory::Range;
use crate::lang::Diagnostic;
use crate::lang::rmm::syntax::{self, Action, Location, Name, Statement};
use crate::program::{Assignment, BinaryOperator, Expression, InstructionKind, Span};

/// Into how many ways a read into a register with a smaller range is divided.
const MAX_VALUES: i128 = 1000;

/// One way in which a statement can be taken.
#[derive(Clone, Debug)]
pub struct Way {
    /// What must hold of registers for this way to be the right one: which variable is meant.
    pub select: Option<Expression>,
    /// What must hold.
    pub condition: Option<Expression>,
    /// What it does.
    pub assignments: Vec<Assignment>,
    /// How it takes part in the ordering.
    pub kind: InstructionKind,
}

impl Way {
    /// A way that does nothing.
    pub fn plain() -> Way {
        Way { select: None, condition: None, assignments: Vec::new(), kind: InstructionKind::Plain }
    }

    /// The condition of this way as a whole, if it reads no memory in vain where another variable is meant: all of
    /// a condition is evaluated.
    pub fn joined(&mut self) {
        if self.condition.as_ref().is_none_or(|condition| num_of_reads(condition) == 0) {
            self.condition = both(self.select.take(), self.condition.take());
        }
    }
}

/// A value, the values it may have, and where it stands.
pub struct Value {
    /// The value.
    pub expression: Expression,
    /// Its least and its greatest value.
    pub values: Interval,
    /// Where it is used.
    pub span: Span,
}

impl Value {
    /// What must hold so that it fits into what is called so; if it never does there is a warning.
    pub fn fitting(&self, range: Range, name: &str, findings: &mut Vec<Diagnostic>) -> Option<Expression> {
        if let Some((low, high)) = range
            && self.values.is_apart_from(Interval::within(range))
        {
            let message = format!("this is never taken: the value is not in the range of `{name}`");
            let help = format!("`{name}` has values from {low} to {high}, and others are not assigned");
            findings.push(Diagnostic::warning(self.span, message).with_help(help));
        }
        bounds(&self.expression, self.values, range, self.span)
    }
}

impl Context<'_> {
    /// The value of an expression that is used in a statement.
    pub fn value(
        &self,
        expression: &syntax::Expression,
        span: Span,
        findings: &mut Vec<Diagnostic>,
    ) -> Result<Value, Reported> {
        let (expression, values) = self.integer(expression, findings)?;
        Ok(Value { expression, values, span })
    }

    /// The ways in which a statement that is no control structure can be taken.
    pub fn ways(&self, statement: &Statement, findings: &mut Vec<Diagnostic>) -> Result<Vec<Way>, Reported> {
        let span = statement.extent.span;
        let mut ways = match &statement.action {
            Action::Fence => vec![Way { kind: InstructionKind::Fence, ..Way::plain() }],
            Action::Assume(condition) => {
                vec![Way { condition: Some(self.condition(condition, findings)?), ..Way::plain() }]
            }
            Action::Assign(register, value) => {
                let (register_at, value) = (self.register(register, findings), self.value(value, span, findings));
                let (register_at, value) = (register_at?, value?);
                let condition = value.fitting(self.registers[register_at].range, &register.text, findings);
                let assignment = Assignment { target: local(register_at, register.span), value: value.expression };
                vec![Way { condition, assignments: vec![assignment], ..Way::plain() }]
            }
            Action::Expect(location, value) => {
                let (targets, value) = (self.targets(location, findings), self.value(value, span, findings));
                let (targets, value) = (targets?, value?);
                let expect = |target: Target| {
                    let (read, value) = (Expression::Read(target.reference()), value.expression.clone());
                    let equal = Expression::Binary(BinaryOperator::Equal, Box::new(read), Box::new(value), span);
                    Way { select: target.select, condition: Some(equal), ..Way::plain() }
                };
                targets.into_iter().map(expect).collect()
            }
            Action::Load(register, location) => self.load(register, location, span, findings)?,
            Action::Write(location, value) => {
                let (targets, value) = (self.targets(location, findings), self.value(value, span, findings));
                let (targets, value) = (targets?, value?);
                let mut ways = Vec::new();
                for target in targets {
                    let name = &self.memory.variables[target.variable].name;
                    let condition = value.fitting(self.memory.ranges[target.variable], name, findings);
                    let assignment = Assignment { target: target.reference(), value: value.expression.clone() };
                    ways.push(Way { select: target.select, condition, assignments: vec![assignment], ..Way::plain() });
                }
                ways
            }
            Action::LockedWrite(..) | Action::Exchange(..) | Action::Locked(_) => {
                locked::ways(self, statement, findings)?
            }
            // Control structures are for others.
            _ => vec![Way::plain()],
        };
        ways.iter_mut().for_each(Way::joined);
        Ok(ways)
    }

    /// A read into a register. If not all values fit into it there is a way for each one that does, as a condition
    /// on the value would read it twice.
    fn load(
        &self,
        register: &Name,
        location: &Location,
        span: Span,
        findings: &mut Vec<Diagnostic>,
    ) -> Result<Vec<Way>, Reported> {
        let (register_at, targets) = (self.register(register, findings), self.targets(location, findings));
        let (register_at, targets) = (register_at?, targets?);
        let into = local(register_at, register.span);
        let allowed = Interval::within(self.registers[register_at].range);
        let mut ways = Vec::new();
        for target in targets {
            let name = &self.memory.variables[target.variable].name;
            let values = Interval::within(self.memory.ranges[target.variable]);
            let read = Expression::Read(target.reference());
            if values.is_in(allowed) {
                let assignments = vec![Assignment { target: into.clone(), value: read }];
                ways.push(Way { select: target.select, assignments, ..Way::plain() });
                continue;
            }
            let (low, high) = (values.low.max(allowed.low), values.high.min(allowed.high));
            if high - low >= MAX_VALUES {
                let message = format!("the range of `{}` is smaller than that of `{name}`, but large", register.text);
                let help = format!("give both the same range, or `{}` at most {MAX_VALUES} values", register.text);
                findings.push(Diagnostic::error(span, message).with_help(help));
                return Err(Reported);
            }
            if low > high {
                let message =
                    format!("this is never taken: no value of `{name}` is in the range of `{}`", register.text);
                findings.push(Diagnostic::warning(span, message));
                ways.push(Way { condition: Some(Expression::Constant(0)), ..Way::plain() });
            }
            for value in (low..=high).filter_map(|value| i64::try_from(value).ok()) {
                let constant = || Box::new(Expression::Constant(value));
                let equal = Expression::Binary(BinaryOperator::Equal, Box::new(read.clone()), constant(), span);
                let assignments = vec![Assignment { target: into.clone(), value: *constant() }];
                ways.push(Way { select: target.select.clone(), condition: Some(equal), assignments, ..Way::plain() });
            }
        }
        Ok(ways)
    }
}
