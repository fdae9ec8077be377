//! Expressions: those of the program, and the least and the greatest value that each can have.

use super::memory::{Memory, Range};
use crate::lang::Diagnostic;
use crate::lang::rmm::syntax::{self, Declaration, Location, Name};
use crate::lang::similar::nearest;
use crate::program::{BinaryOperator, Expression, Reference, Scope, Span, UnaryOperator};

/// Beyond everything that is computed from integers of 64 bits in as many steps as an expression may have.
const INFINITE: i128 = 1 << 100;

/// From the least to the greatest value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    /// The least value.
    pub low: i128,
    /// The greatest value.
    pub high: i128,
}

impl Interval {
    /// One value.
    pub fn of(value: i64) -> Interval {
        Interval { low: value.into(), high: value.into() }
    }

    /// The values of a range.
    pub fn within(range: Range) -> Interval {
        range.map_or(Interval { low: -INFINITE, high: INFINITE }, |(low, high)| Interval {
            low: low.into(),
            high: high.into(),
        })
    }

    /// Whether all values are among those of another interval.
    pub fn is_in(self, other: Interval) -> bool {
        other.low <= self.low && self.high <= other.high
    }

    /// Whether no value is.
    pub fn is_apart_from(self, other: Interval) -> bool {
        self.high < other.low || other.high < self.low
    }
}

/// What a process knows: itself, its registers, the memory.
pub struct Context<'a> {
    /// The number of the process.
    pub pid: usize,
    /// Its registers.
    pub registers: &'a [Declaration],
    /// The shared variables.
    pub memory: &'a Memory,
}

/// An error was reported.
pub struct Reported;

/// A place that a statement may mean.
pub struct Target {
    /// When it is meant; always if there is no condition.
    pub select: Option<Expression>,
    /// The variable.
    pub variable: usize,
    /// Where the statement says so.
    pub span: Span,
}

impl Target {
    /// As a part of an expression or an assignment.
    pub fn reference(&self) -> Reference {
        Reference { scope: Scope::Shared, variable: self.variable, index: None, span: self.span }
    }
}

impl<'a> Context<'a> {
    /// The position of a register.
    pub fn register(&self, name: &Name, findings: &mut Vec<Diagnostic>) -> Result<usize, Reported> {
        let known = self.registers.iter().position(|register| register.name.text == name.text);
        known.ok_or_else(|| {
            let error = Diagnostic::error(name.span, format!("there is no register `{}`", name.text));
            // The `$` of both is no likeness.
            let bare = |name: &'a str| name.trim_start_matches('$');
            let names = self.registers.iter().map(|register| bare(&register.name.text));
            findings.push(match nearest(name.text.trim_start_matches('$'), names) {
                Some(meant) => error.with_help(format!("did you mean `${meant}`?")),
                None => error.with_help("registers are declared behind `registers`"),
            });
            Reported
        })
    }

    /// The number of the n-th other process.
    fn other(&self, number: usize, span: Span, findings: &mut Vec<Diagnostic>) -> Result<usize, Reported> {
        let process = number.saturating_add(usize::from(number >= self.pid));
        if process < self.memory.num_of_processes {
            return Ok(process);
        }
        let message = format!("process {} has no other process {number}", self.pid);
        findings.push(Diagnostic::error(span, message).with_help(match self.memory.num_of_processes {
            0 | 1 => "there is only one process".to_owned(),
            2 => "there is one other process, with number 0".to_owned(),
            all => format!("there are {} others, with numbers from 0 to {}", all - 1, all - 2),
        }));
        Err(Reported)
    }

    /// An expression, and its values.
    pub fn integer(
        &self,
        expression: &syntax::Expression,
        findings: &mut Vec<Diagnostic>,
    ) -> Result<(Expression, Interval), Reported> {
        let number = |number: usize| {
            let number = i64::try_from(number).unwrap_or(i64::MAX);
            Ok((Expression::Constant(number), Interval::of(number)))
        };
        match expression {
            syntax::Expression::Number(value) => Ok((Expression::Constant(*value), Interval::of(*value))),
            syntax::Expression::Register(name) => {
                let position = self.register(name, findings)?;
                let read = Expression::Read(local(position, name.span));
                Ok((read, Interval::within(self.registers[position].range)))
            }
            syntax::Expression::Me => number(self.pid),
            syntax::Expression::Other(other, span) => number(self.other(*other, *span, findings)?),
            syntax::Expression::Process(process, span) => {
                if *process >= self.memory.num_of_processes {
                    let error = Diagnostic::error(*span, format!("there is no process {process}"));
                    findings.push(error.with_help("processes are numbered in the order of the text, from 0"));
                    return Err(Reported);
                }
                number(*process)
            }
            syntax::Expression::Minus(operand) => {
                let (operand, Interval { low, high }) = self.integer(operand, findings)?;
                let interval = Interval { low: -high, high: -low };
                Ok(match operand {
                    Expression::Constant(value) => (Expression::Constant(-value), interval),
                    operand => (Expression::Unary(UnaryOperator::Minus, Box::new(operand)), interval),
                })
            }
            syntax::Expression::Binary(operator, left, right, span) => {
                let (left, right) = (self.integer(left, findings), self.integer(right, findings));
                let ((left, a), (right, b)) = (left?, right?);
                let interval = match operator {
                    BinaryOperator::Subtract => Interval { low: a.low - b.high, high: a.high - b.low },
                    _ => Interval { low: a.low + b.low, high: a.high + b.high },
                };
                Ok((Expression::Binary(*operator, Box::new(left), Box::new(right), *span), interval))
            }
        }
    }

    /// A condition.
    pub fn condition(
        &self,
        condition: &syntax::Condition,
        findings: &mut Vec<Diagnostic>,
    ) -> Result<Expression, Reported> {
        Ok(match condition {
            syntax::Condition::Constant(truth) => Expression::Constant(i64::from(*truth)),
            syntax::Condition::Compare(operator, left, right, span) => {
                let (left, right) = (self.integer(left, findings), self.integer(right, findings));
                Expression::Binary(*operator, Box::new(left?.0), Box::new(right?.0), *span)
            }
            syntax::Condition::Not(inner) => not(self.condition(inner, findings)?),
            syntax::Condition::Binary(operator, left, right, span) => {
                let (left, right) = (self.condition(left, findings), self.condition(right, findings));
                Expression::Binary(*operator, Box::new(left?), Box::new(right?), *span)
            }
        })
    }

    /// The places that are meant.
    pub fn targets(&self, location: &Location, findings: &mut Vec<Diagnostic>) -> Result<Vec<Target>, Reported> {
        match location {
            Location::Global(name) => self.target(name, None, findings),
            Location::Own(name) => self.target(name, Some(self.pid), findings),
            Location::Other(name, number) => {
                let pid = self.other(*number, name.span, findings)?;
                self.target(name, Some(pid), findings)
            }
            Location::Computed(index, span) => self.computed(index, *span, findings),
        }
    }

    /// A variable of a process, or a global one.
    fn target(&self, name: &Name, pid: Option<usize>, findings: &mut Vec<Diagnostic>) -> Result<Vec<Target>, Reported> {
        let known = match pid {
            Some(pid) => self.memory.of_process(pid, &name.text),
            None => self.memory.global(&name.text),
        };
        if let Some(variable) = known {
            return Ok(vec![Target { select: None, variable, span: name.span }]);
        }
        let message = match pid {
            Some(pid) => format!("process {pid} has no variable `{}`", name.text),
            None => format!("there is no global variable `{}`", name.text),
        };
        findings.push(Diagnostic::error(name.span, message).with_help(self.memory.help(&name.text, pid)));
        Err(Reported)
    }

    /// The global variables whose number an expression may give.
    fn computed(
        &self,
        index: &syntax::Expression,
        span: Span,
        findings: &mut Vec<Diagnostic>,
    ) -> Result<Vec<Target>, Reported> {
        let (index, values) = self.integer(index, findings)?;
        let meant =
            |number: &usize| i128::try_from(*number).is_ok_and(|number| values.low <= number && number <= values.high);
        let targets: Vec<Target> = (0..self.memory.num_of_globals)
            .filter(meant)
            .map(|number| {
                let value = Box::new(Expression::Constant(i64::try_from(number).unwrap_or(i64::MAX)));
                let equal = Expression::Binary(BinaryOperator::Equal, Box::new(index.clone()), value, span);
                Target { select: (values.low < values.high).then_some(equal), variable: number, span }
            })
            .collect();
        if targets.is_empty() {
            let error = Diagnostic::error(span, "no global variable has this number");
            findings.push(error.with_help(match self.memory.num_of_globals {
                0 => "there are no global variables".to_owned(),
                all => format!("they are numbered in the order of their declarations, from 0 to {}", all - 1),
            }));
            return Err(Reported);
        }
        Ok(targets)
    }
}

/// A register as a part of an expression or an assignment.
pub fn local(register: usize, span: Span) -> Reference {
    Reference { scope: Scope::Local, variable: register, index: None, span }
}

/// The contrary.
pub fn not(condition: Expression) -> Expression {
    Expression::Unary(UnaryOperator::Not, Box::new(condition))
}

/// Both; none is what always holds.
pub fn both(left: Option<Expression>, right: Option<Expression>) -> Option<Expression> {
    match (left, right) {
        (Some(left), Some(right)) => {
            Some(Expression::Binary(BinaryOperator::And, Box::new(left), Box::new(right), Span::default()))
        }
        (left, right) => left.or(right),
    }
}

/// What must hold so that a value with this interval is within a range; nothing if it is anyway.
pub fn bounds(value: &Expression, values: Interval, range: Range, span: Span) -> Option<Expression> {
    let (low, high) = range?;
    let limits = Interval::within(range);
    let comparison = |operator, limit| {
        Expression::Binary(operator, Box::new(value.clone()), Box::new(Expression::Constant(limit)), span)
    };
    let least = (values.low < limits.low).then(|| comparison(BinaryOperator::GreaterEqual, low));
    let greatest = (values.high > limits.high).then(|| comparison(BinaryOperator::LessEqual, high));
    both(least, greatest)
}

/// How often an expression reads shared variables.
pub fn num_of_reads(expression: &Expression) -> usize {
    match expression {
        Expression::Constant(_) => 0,
        Expression::Read(reference) => usize::from(reference.scope == Scope::Shared),
        Expression::Unary(_, operand) => num_of_reads(operand),
        Expression::Binary(_, left, right, _) => num_of_reads(left) + num_of_reads(right),
    }
}

/// Whether an expression reads a register.
pub fn reads_register(expression: &Expression, register: usize) -> bool {
    match expression {
        Expression::Constant(_) => false,
        Expression::Read(reference) => reference.scope == Scope::Local && reference.variable == register,
        Expression::Unary(_, operand) => reads_register(operand, register),
        Expression::Binary(_, left, right, _) => reads_register(left, register) || reads_register(right, register),
    }
}
