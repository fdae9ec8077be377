//! From the statements of a thread to its instructions.
//!
//! Expressions over the thread's own variables stay expressions; each access to a location becomes an instruction
//! that puts what it reads into a variable. A branch is two instructions, one for each way.

use super::syntax::{Expr, Statement};
use crate::ids::{ControlAt, LocationAt, ThreadAt};
use crate::lang::Diagnostic;
use crate::lang::litmus::assembler::{Assembled, shared};
use crate::lang::litmus::expressions::{binary, bitwise_not, bitwise_or, indicator};
use crate::lang::litmus::locations::{Locations, integer};
use crate::lang::litmus::piece::Piece;
use crate::lang::names::Numbers;
use crate::program::{
    Assignment, BinaryOperator, Expression, Instruction, InstructionKind, Reference, Scope, Span, Thread,
    UnaryOperator, Variable,
};
use std::collections::BTreeMap;

/// Translates a thread.
pub fn thread(
    number: ThreadAt,
    parameters: &[Piece<'_>],
    initial: BTreeMap<String, i64>,
    body: &[Statement<'_>],
    locations: &mut Locations,
) -> Result<Assembled, Diagnostic> {
    let parameters = parameters.iter().map(|name| (name.text.to_owned(), locations.position(*name))).collect();
    let mut translator = Translator {
        locations,
        parameters,
        initial,
        locals: Vec::new(),
        instructions: Vec::new(),
        numbers: Numbers::default(),
        at: ControlAt(0),
        last: ControlAt(0),
        kept: 0,
    };
    for statement in body {
        translator.statement(statement)?;
    }
    let thread = Thread {
        name: format!("P{}", number.0),
        locals: translator.locals,
        states: (0..=translator.last.0).map(|state| format!("s{state}")).collect(),
        initial: ControlAt(0),
        instructions: translator.instructions,
    };
    Ok(Assembled { thread, initial: translator.initial })
}

/// A thread in the making.
pub struct Translator<'a> {
    locations: &'a mut Locations,
    parameters: BTreeMap<String, LocationAt>,
    initial: BTreeMap<String, i64>,
    locals: Vec<Variable>,
    instructions: Vec<Instruction>,
    numbers: Numbers,
    at: ControlAt,
    /// The last control state that is in use.
    last: ControlAt,
    /// How many variables of its own the translation has.
    kept: usize,
}

/// What can be assigned to.
pub enum Place {
    /// A variable of the thread.
    Local(Reference),
    /// A location.
    Shared(Reference),
}

impl Translator<'_> {
    fn statement(&mut self, statement: &Statement<'_>) -> Result<(), Diagnostic> {
        match statement {
            Statement::Block(inner) => inner.iter().try_for_each(|statement| self.statement(statement)),
            Statement::Declaration(name, value) => {
                if self.parameters.contains_key(name.text) {
                    return Err(name.error(format!("`{}` is a parameter of this thread", name.text)));
                }
                // The initial state may have one for it.
                let initial = self.initial.get(name.text).copied().unwrap_or(0);
                if !self.locals.iter().any(|known| known.name == name.text) {
                    self.locals.push(integer(name.text, initial, name.span()));
                }
                let Some(value) = value else { return Ok(()) };
                let target = self.local(*name)?;
                self.put(target, value)
            }
            Statement::Assignment(target, operator, value) => self.assign(target, *operator, value),
            Statement::Expression(Expr::Call(name, arguments)) => self.call(*name, arguments, None).map(drop),
            Statement::Expression(value) => self.value(value).map(drop),
            Statement::If(condition, then, otherwise) => {
                let (yes, no) = self.fork(condition)?;
                self.at = yes;
                self.statement(then)?;
                let Some(otherwise) = otherwise else {
                    self.go(condition.span(), no);
                    return Ok(());
                };
                let end = self.fresh();
                self.go(condition.span(), end);
                self.at = no;
                self.statement(otherwise)?;
                self.go(condition.span(), end);
                Ok(())
            }
            Statement::While { condition, body, body_first } => {
                let begin = self.at;
                if *body_first {
                    self.statement(body)?;
                }
                let (yes, no) = self.fork(condition)?;
                self.at = yes;
                if !body_first {
                    self.statement(body)?;
                }
                self.go(condition.span(), begin);
                self.at = no;
                Ok(())
            }
        }
    }

    fn assign(&mut self, target: &Expr<'_>, operator: Option<&str>, value: &Expr<'_>) -> Result<(), Diagnostic> {
        let place = self.place(target)?;
        let (Place::Local(reference) | Place::Shared(reference)) = &place;
        let reference = reference.clone();
        if let (None, Place::Local(_)) = (operator, &place) {
            return self.put(reference, value);
        }
        let span = target.span();
        let value = match operator {
            None => self.value(value)?,
            Some(operator) => {
                let old = match place {
                    Place::Local(_) => Expression::Read(reference.clone()),
                    Place::Shared(_) => self.keep(InstructionKind::Plain, Expression::Read(reference.clone()), span),
                };
                let new = self.value(value)?;
                arithmetic(operator, old, new, span).ok_or_else(|| Diagnostic::error(span, "no such operator"))?
            }
        };
        self.emit(InstructionKind::Plain, vec![Assignment { target: reference, value }], span);
        Ok(())
    }

    /// Evaluates a condition: the control states where it holds and where it does not.
    fn fork(&mut self, condition: &Expr<'_>) -> Result<(ControlAt, ControlAt), Diagnostic> {
        let span = condition.span();
        let condition = self.condition(condition)?;
        let (yes, no) = (self.fresh(), self.fresh());
        let contrary = Expression::Unary(UnaryOperator::Not, Box::new(condition.clone()));
        self.push(InstructionKind::Plain, Some(condition), Vec::new(), yes, span);
        self.push(InstructionKind::Plain, Some(contrary), Vec::new(), no, span);
        Ok((yes, no))
    }

    /// Goes on elsewhere.
    fn go(&mut self, span: Span, to: ControlAt) {
        self.push(InstructionKind::Plain, None, Vec::new(), to, span);
        self.at = to;
    }

    /// A variable of the thread gets a value.
    fn put(&mut self, target: Reference, value: &Expr<'_>) -> Result<(), Diagnostic> {
        let span = target.span;
        let value = match value {
            Expr::Call(name, arguments) => {
                let value = self.call(*name, arguments, Some(target.clone()))?;
                // What has put it there itself is done.
                if value.as_ref().is_some_and(|value| matches!(value, Expression::Read(read) if *read == target)) {
                    return Ok(());
                }
                value.ok_or_else(|| name.error(format!("`{}` gives no value", name.text)))?
            }
            Expr::Unary(star, _) if star.text == "*" => Expression::Read(self.shared(value)?),
            Expr::Element(..) => Expression::Read(self.shared(value)?),
            _ => self.value(value)?,
        };
        self.emit(InstructionKind::Plain, vec![Assignment { target, value }], span);
        Ok(())
    }

    /// The value of an expression; what it reads of locations is read now.
    pub fn value(&mut self, expression: &Expr<'_>) -> Result<Expression, Diagnostic> {
        let span = expression.span();
        match expression {
            Expr::Number(number, _) => Ok(Expression::Constant(*number)),
            Expr::Name(name) => Ok(Expression::Read(self.local(*name)?)),
            Expr::Element(..) => {
                let location = self.shared(expression)?;
                Ok(self.keep(InstructionKind::Plain, Expression::Read(location), span))
            }
            Expr::Unary(operator, operand) => match operator.text {
                "*" => {
                    let location = self.shared(expression)?;
                    Ok(self.keep(InstructionKind::Plain, Expression::Read(location), span))
                }
                "&" => Err(operator
                    .error("an address cannot be used as a value")
                    .with_help("addresses are arguments of the functions of stdatomic.h: `atomic_load(x)`")),
                "-" => Ok(Expression::Unary(UnaryOperator::Minus, Box::new(self.value(operand)?))),
                "~" => Ok(bitwise_not(self.value(operand)?, span)),
                "!" => Ok(indicator(self.condition(expression)?)),
                _ => self.value(operand),
            },
            Expr::Binary(operator, left, right) => {
                let is_truth = matches!(operator.text, "&&" | "||" | "==" | "!=" | "<" | "<=" | ">" | ">=");
                if is_truth {
                    return Ok(indicator(self.condition(expression)?));
                }
                let (left, right) = (self.value(left)?, self.value(right)?);
                arithmetic(operator.text, left, right, span)
                    .ok_or_else(|| operator.error(format!("the operator `{}` is not supported", operator.text)))
            }
            Expr::Call(name, arguments) => {
                self.call(*name, arguments, None)?.ok_or_else(|| name.error(format!("`{}` gives no value", name.text)))
            }
        }
    }

    /// Whether an expression is other than 0.
    fn condition(&mut self, expression: &Expr<'_>) -> Result<Expression, Diagnostic> {
        use BinaryOperator::{And, Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual, Or};
        let span = expression.span();
        let operation = |operator, left, right| Expression::Binary(operator, Box::new(left), Box::new(right), span);
        match expression {
            Expr::Unary(operator, operand) if operator.text == "!" => {
                Ok(Expression::Unary(UnaryOperator::Not, Box::new(self.condition(operand)?)))
            }
            Expr::Binary(operator, left, right) => {
                let compared = match operator.text {
                    "&&" | "||" if accesses(right) => return self.short_circuit(operator.text, left, right, span),
                    "&&" => return Ok(operation(And, self.condition(left)?, self.condition(right)?)),
                    "||" => return Ok(operation(Or, self.condition(left)?, self.condition(right)?)),
                    "==" => Equal,
                    "!=" => NotEqual,
                    "<" => Less,
                    "<=" => LessEqual,
                    ">" => Greater,
                    ">=" => GreaterEqual,
                    _ => return Ok(operation(NotEqual, self.value(expression)?, Expression::Constant(0))),
                };
                Ok(operation(compared, self.value(left)?, self.value(right)?))
            }
            _ => Ok(operation(NotEqual, self.value(expression)?, Expression::Constant(0))),
        }
    }

    /// `left && right` or `left || right` where the right side is evaluated only if it matters.
    fn short_circuit(
        &mut self,
        operator: &str,
        left: &Expr<'_>,
        right: &Expr<'_>,
        span: Span,
    ) -> Result<Expression, Diagnostic> {
        let left = self.condition(left)?;
        let kept = self.own(span);
        let truth = |value: Expression| vec![Assignment { target: kept.clone(), value: indicator(value) }];
        self.emit(InstructionKind::Plain, truth(left), span);
        let is_set = Expression::Binary(
            BinaryOperator::NotEqual,
            Box::new(Expression::Read(kept.clone())),
            Box::new(Expression::Constant(0)),
            span,
        );
        let is_not = Expression::Unary(UnaryOperator::Not, Box::new(is_set.clone()));
        let (more, end) = (self.fresh(), self.fresh());
        let (goes_on, stops) = if operator == "&&" { (is_set.clone(), is_not) } else { (is_not, is_set.clone()) };
        self.push(InstructionKind::Plain, Some(goes_on), Vec::new(), more, span);
        self.push(InstructionKind::Plain, Some(stops), Vec::new(), end, span);
        self.at = more;
        let right = self.condition(right)?;
        self.push(InstructionKind::Plain, None, truth(right), end, span);
        self.at = end;
        Ok(is_set)
    }

    /// A variable of the thread.
    fn local(&mut self, name: Piece<'_>) -> Result<Reference, Diagnostic> {
        if self.parameters.contains_key(name.text) {
            return Err(name
                .error(format!("`{}` is an address, which cannot be used as a value", name.text))
                .with_help(format!("`*{}` is what is there", name.text)));
        }
        if let (None, Some(&initial)) =
            (self.locals.iter().find(|known| known.name == name.text), self.initial.get(name.text))
        {
            self.locals.push(integer(name.text, initial, name.span()));
        }
        let variable = self.locals.iter().position(|known| known.name == name.text);
        let variable = variable.ok_or_else(|| {
            name.error(format!("there is no variable `{}` in this thread", name.text))
                .with_help("locations are parameters, `P0 (int* x)`; others are declared, `int r0;`")
        })?;
        Ok(Reference { scope: Scope::Local, variable, index: None, span: name.span() })
    }

    /// What can be assigned to.
    pub fn place(&mut self, expression: &Expr<'_>) -> Result<Place, Diagnostic> {
        match expression {
            Expr::Name(name) => Ok(Place::Local(self.local(*name)?)),
            Expr::Element(..) => Ok(Place::Shared(self.shared(expression)?)),
            Expr::Unary(star, _) if star.text == "*" => Ok(Place::Shared(self.shared(expression)?)),
            _ => Err(Diagnostic::error(expression.span(), "expected a variable or a location, such as `r0` or `*x`")),
        }
    }

    /// `*x`, `*(x + 1)` or `x[1]`.
    fn shared(&mut self, expression: &Expr<'_>) -> Result<Reference, Diagnostic> {
        match expression {
            Expr::Unary(star, operand) if star.text == "*" => self.pointed(operand),
            Expr::Element(base, index, span) => {
                let base = self.pointed(base)?;
                let index = self.value(index)?;
                self.moved(&base, index, *span)
            }
            _ => Err(Diagnostic::error(expression.span(), "expected a location, such as `*x`")),
        }
    }

    /// What an address points to: `x`, `x + 1`, `&x[1]`.
    pub fn pointed(&mut self, address: &Expr<'_>) -> Result<Reference, Diagnostic> {
        match address {
            Expr::Name(name) => match self.parameters.get(name.text) {
                Some(&location) => Ok(shared(location, None, name.span())),
                None => Err(name
                    .error(format!("`{}` is no location of this thread", name.text))
                    .with_help(format!("its locations are its parameters: `int* {}`", name.text))),
            },
            Expr::Binary(plus, left, right) if plus.text == "+" => {
                let is_pointer = |side: &Expr<'_>| self.is_pointer(side);
                let (base, index) = if is_pointer(right) { (right, left) } else { (left, right) };
                let base = self.pointed(base)?;
                let index = self.value(index)?;
                self.moved(&base, index, plus.span())
            }
            Expr::Unary(and, operand) if and.text == "&" => self.shared(operand),
            _ => Err(Diagnostic::error(address.span(), "expected an address, such as `x` or `x + 1`")),
        }
    }

    fn is_pointer(&self, expression: &Expr<'_>) -> bool {
        match expression {
            Expr::Name(name) => self.parameters.contains_key(name.text),
            Expr::Unary(and, _) => and.text == "&",
            Expr::Binary(plus, left, right) => plus.text == "+" && (self.is_pointer(left) || self.is_pointer(right)),
            _ => false,
        }
    }

    fn moved(&mut self, base: &Reference, by: Expression, span: Span) -> Result<Reference, Diagnostic> {
        let location = LocationAt::new(base.variable);
        let (length, _) = self.locations.shape(location);
        if let Expression::Constant(index) = by {
            let is_inside = usize::try_from(index).is_ok_and(|index| index < length);
            if base.index.is_none() && !is_inside {
                let message = format!("there is no element {index}: the elements are 0 to {}", length - 1);
                return Err(Diagnostic::error(span, message)
                    .with_help("the initial state says how many there are: `int x[2];`"));
            }
        }
        self.locations.index(location);
        let index = match base.index.as_deref() {
            Some(index) => binary(BinaryOperator::Add, index.clone(), by, span),
            None => by,
        };
        Ok(Reference { index: Some(Box::new(index)), ..base.clone() })
    }

    /// The location is an array from now on.
    pub fn index(&mut self, location: &Reference) {
        self.locations.index(LocationAt::new(location.variable));
    }

    /// A variable of the translation's own.
    pub fn own(&mut self, span: Span) -> Reference {
        self.kept += 1;
        self.locals.push(integer(&format!("_kept{}", self.kept), 0, span));
        Reference { scope: Scope::Local, variable: self.locals.len() - 1, index: None, span }
    }

    /// Puts a value into a variable of the translation's own.
    pub fn keep(&mut self, kind: InstructionKind, value: Expression, span: Span) -> Expression {
        let target = self.own(span);
        self.emit(kind, vec![Assignment { target: target.clone(), value }], span);
        Expression::Read(target)
    }

    fn fresh(&mut self) -> ControlAt {
        self.last = ControlAt(self.last.0 + 1);
        self.last
    }

    /// An instruction, and on.
    pub fn emit(&mut self, kind: InstructionKind, assignments: Vec<Assignment>, span: Span) {
        self.either(vec![(kind, assignments)], span);
    }

    /// One of several instructions, and on.
    pub fn either(&mut self, ways: Vec<(InstructionKind, Vec<Assignment>)>, span: Span) {
        let to = self.fresh();
        for (kind, assignments) in ways {
            self.push(kind, None, assignments, to, span);
        }
        self.at = to;
    }

    fn push(
        &mut self,
        kind: InstructionKind,
        condition: Option<Expression>,
        assignments: Vec<Assignment>,
        to: ControlAt,
        span: Span,
    ) {
        self.instructions.push(Instruction {
            name: self.numbers.of(kind),
            from: self.at,
            to,
            priority: 0,
            condition,
            assignments,
            kind,
            span,
        });
    }
}

/// Whether an expression accesses a location.
fn accesses(expression: &Expr<'_>) -> bool {
    match expression {
        Expr::Number(..) | Expr::Name(_) => false,
        Expr::Unary(operator, operand) => operator.text == "*" || accesses(operand),
        Expr::Binary(_, left, right) => accesses(left) || accesses(right),
        Expr::Element(..) | Expr::Call(..) => true,
    }
}

fn arithmetic(operator: &str, left: Expression, right: Expression, span: Span) -> Option<Expression> {
    let power = |exponent| binary(BinaryOperator::Power, Expression::Constant(2), exponent, span);
    let (operator, right) = match operator {
        "+" => (BinaryOperator::Add, right),
        "-" => (BinaryOperator::Subtract, right),
        "*" => (BinaryOperator::Multiply, right),
        "/" => (BinaryOperator::Divide, right),
        "%" => (BinaryOperator::Modulo, right),
        "&" => (BinaryOperator::BitwiseAnd, right),
        "^" => (BinaryOperator::BitwiseXor, right),
        "|" => return Some(bitwise_or(left, right, span)),
        "<<" => (BinaryOperator::Multiply, power(right)),
        ">>" => (BinaryOperator::Divide, power(right)),
        _ => return None,
    };
    Some(binary(operator, left, right, span))
}
