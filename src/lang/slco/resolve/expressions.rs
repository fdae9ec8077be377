//! Names and types in expressions.
//!
//! A part that is wrong is reported and has no type; what contains it is still looked at, but says nothing about it, so
//! that one mistake gives one error.

use super::Findings;
use super::names::unknown;
use super::observed::unknown_observable;
use super::reading::warn_if_published_reading_differs;
use crate::lang::Diagnostic;
use crate::lang::slco::syntax::{self, ExpressionKind, Value};
use crate::program::{BinaryOperator, Expression, Reference, Scope, Span, Type, UnaryOperator, Variable};
use crate::property::Observables;
use std::collections::HashMap;

/// How high the tree of an expression may be: all that walks it may recurse. Long chains of operators count, too, as
/// they nest when they are read from left to right.
const MAX_HEIGHT: usize = 1000;

/// The variables that a thread sees.
pub struct Variables<'a> {
    /// By name; the thread's own hide shared ones.
    by_name: HashMap<&'a str, Known>,
    /// In the order of declaration, shared ones first.
    names: Vec<&'a str>,
    viewpoint: Viewpoint,
}

/// Who sees variables.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Viewpoint {
    /// A thread.
    Thread,
    /// A condition on states.
    Observer,
}

/// What is known of a variable.
#[derive(Clone, Copy)]
struct Known {
    scope: Scope,
    position: usize,
    ty: Type,
    /// The number of elements of an array.
    size: Option<usize>,
}

/// An expression or a reference that was checked.
pub struct Typed<T> {
    /// What it is.
    pub node: T,
    /// Its type.
    pub ty: Type,
    span: Span,
    height: usize,
}

/// The type with its article.
pub fn described(ty: Type) -> &'static str {
    match ty {
        Type::Boolean => "a Boolean",
        Type::Integer => "an Integer",
    }
}

/// What an operator takes, if it does not take both types, and what it gives.
fn signature(operator: BinaryOperator) -> (Option<Type>, Type) {
    use BinaryOperator as B;
    match operator {
        B::Or | B::Xor | B::And => (Some(Type::Boolean), Type::Boolean),
        B::Equal | B::NotEqual => (None, Type::Boolean),
        B::Less | B::LessEqual | B::Greater | B::GreaterEqual => (Some(Type::Integer), Type::Boolean),
        B::Add
        | B::Subtract
        | B::Multiply
        | B::Divide
        | B::Modulo
        | B::Power
        | B::BitwiseXor
        | B::BitwiseAnd
        | B::Bounded => (Some(Type::Integer), Type::Integer),
    }
}

impl<'a> Variables<'a> {
    /// The shared variables of a class and the locals of one of its machines.
    pub fn new(shared: &'a [Variable], locals: &'a [Variable]) -> Variables<'a> {
        let mut variables = Variables { by_name: HashMap::new(), names: Vec::new(), viewpoint: Viewpoint::Thread };
        for (scope, declared) in [(Scope::Shared, shared), (Scope::Local, locals)] {
            for (position, variable) in declared.iter().enumerate() {
                let size = variable.is_array.then_some(variable.initial.len());
                let known = Known { scope, position, ty: variable.ty, size };
                variables.by_name.insert(&variable.name, known);
                variables.names.push(&variable.name);
            }
        }
        variables
    }

    /// All that can be observed of a program.
    pub fn observed(observables: &'a Observables) -> Variables<'a> {
        Variables { viewpoint: Viewpoint::Observer, ..Variables::new(&observables.variables, &[]) }
    }

    /// An expression of that type, which `help` explains.
    pub fn expression_of(
        &self,
        ty: Type,
        help: &str,
        expression: &syntax::Expression,
        findings: &mut Findings,
    ) -> Option<Expression> {
        self.typed(ty, help, expression, findings).map(|typed| typed.node)
    }

    fn typed(
        &self,
        ty: Type,
        help: &str,
        expression: &syntax::Expression,
        findings: &mut Findings,
    ) -> Option<Typed<Expression>> {
        let typed = self.expression(expression, findings)?;
        expect(ty, help, &typed, findings).then_some(typed)
    }

    /// What a reference refers to.
    pub fn reference(&self, reference: &syntax::Reference, findings: &mut Findings) -> Option<Typed<Reference>> {
        let syntax::Reference { name, index, span } = reference;
        // The index is checked even if the variable is wrong, for its own errors.
        let index = index.as_ref().map(|index| self.typed(Type::Integer, "an index is an Integer", index, findings));
        let Some(&Known { scope, position, ty, size }) = self.by_name.get(name.text.as_str()) else {
            findings.push(match self.viewpoint {
                Viewpoint::Thread => unknown("variable", name, self.names.iter().copied()),
                Viewpoint::Observer => unknown_observable(name, &self.names),
            });
            return None;
        };
        let (index, height) = match (size, index) {
            (None, None) => (None, 1),
            (Some(size), Some(index)) => {
                let index = index?;
                if let Expression::Constant(value) = index.node
                    && !usize::try_from(value).is_ok_and(|value| value < size)
                {
                    let message = format!("`{}` has no element {value}: its last one is {}", name.text, size - 1);
                    let warning = Diagnostic::warning(*span, message);
                    findings.push(warning.with_help("it reads as 0 or false, and what is written to it is lost"));
                }
                (Some(Box::new(index.node)), index.height + 1)
            }
            (Some(_), None) => {
                let error = Diagnostic::error(*span, format!("`{}` is an array and needs an index", name.text));
                findings.push(error.with_help(format!("write `{}[0]`", name.text)));
                return None;
            }
            (None, Some(_)) => {
                findings.error(*span, format!("`{}` is not an array and has no elements", name.text));
                return None;
            }
        };
        let node = Reference { scope, variable: position, index, span: *span };
        limited(Typed { node, ty, span: *span, height }, findings)
    }

    /// Checks an expression.
    pub fn expression(&self, expression: &syntax::Expression, findings: &mut Findings) -> Option<Typed<Expression>> {
        let span = expression.span;
        let constant = |value, ty| Some(Typed { node: Expression::Constant(value), ty, span, height: 1 });
        match &expression.kind {
            ExpressionKind::Constant(Value::Integer(value)) => constant(*value, Type::Integer),
            ExpressionKind::Constant(Value::Boolean(value)) => constant(i64::from(*value), Type::Boolean),
            ExpressionKind::Read(reference) => {
                let Typed { node, ty, height, .. } = self.reference(reference, findings)?;
                Some(Typed { node: Expression::Read(node), ty, span, height })
            }
            ExpressionKind::Unary(operator, operand) => {
                let operand = self.unary(*operator, operand, findings)?;
                limited(Typed { span, ..operand }, findings)
            }
            ExpressionKind::Chain(first, rest) => Some(Typed { span, ..self.chain(first, rest, findings)? }),
        }
    }

    fn unary(
        &self,
        operator: Option<UnaryOperator>,
        operand: &syntax::Expression,
        findings: &mut Findings,
    ) -> Option<Typed<Expression>> {
        let (ty, help) = match operator {
            Some(UnaryOperator::Not) => {
                (Type::Boolean, "`not` binds tighter than all operators between two operands: write `not (…)`")
            }
            Some(UnaryOperator::Minus | UnaryOperator::Indicator) | None => {
                (Type::Integer, "a sign stands before an Integer")
            }
        };
        let operand = self.typed(ty, help, operand, findings)?;
        Some(match operator {
            Some(operator) => Typed {
                node: Expression::Unary(operator, Box::new(operand.node)),
                height: operand.height + 1,
                ..operand
            },
            None => operand,
        })
    }

    /// Operands with operators of one level between them, from left to right.
    fn chain(
        &self,
        first: &syntax::Expression,
        rest: &[(BinaryOperator, syntax::Expression)],
        findings: &mut Findings,
    ) -> Option<Typed<Expression>> {
        let operands = std::iter::once(first).chain(rest.iter().map(|(_, operand)| operand));
        // All operands are checked before the first that is wrong ends this.
        let operands: Vec<Option<Typed<Expression>>> =
            operands.map(|operand| self.expression(operand, findings)).collect();
        let operands: Vec<Typed<Expression>> = operands.into_iter().collect::<Option<_>>()?;
        let operators: Vec<BinaryOperator> = rest.iter().map(|(operator, _)| *operator).collect();
        let types: Vec<Type> = operands.iter().map(|operand| operand.ty).collect();
        let mut operands = operands.into_iter();
        let mut left = operands.next()?;
        for (operator, right) in operators.iter().zip(operands) {
            let ty = check_operands(*operator, &left, &right, findings)?;
            let span = Span { start: first.span.start, end: right.span.end };
            let height = left.height.max(right.height) + 1;
            let node = Expression::Binary(*operator, Box::new(left.node), Box::new(right.node), span);
            left = limited(Typed { node, ty, span, height }, findings)?;
        }
        warn_if_published_reading_differs(&operators, &types, left.span, findings);
        Some(left)
    }
}

/// The same, unless it is too high.
fn limited<T>(typed: Typed<T>, findings: &mut Findings) -> Option<Typed<T>> {
    if typed.height <= MAX_HEIGHT {
        return Some(typed);
    }
    let error = Diagnostic::error(typed.span, format!("this expression has more than {MAX_HEIGHT} levels"));
    findings.push(error.with_help("compute a part of it in an assignment of its own"));
    None
}

/// The type of the result, if the operands are of the right types.
fn check_operands(
    operator: BinaryOperator,
    left: &Typed<Expression>,
    right: &Typed<Expression>,
    findings: &mut Findings,
) -> Option<Type> {
    let (takes, gives) = signature(operator);
    let fits = match takes {
        Some(ty) => {
            let help = match ty {
                Type::Boolean => "this operator joins Booleans; an Integer is compared first: `x = 1`",
                Type::Integer => "this operator joins Integers",
            };
            // Both sides are looked at, so that both are reported.
            expect(ty, help, left, findings) & expect(ty, help, right, findings)
        }
        None if left.ty == right.ty => true,
        None => {
            let span = Span { start: left.span.start, end: right.span.end };
            let message = format!("{} is compared with {}", described(left.ty), described(right.ty));
            findings.error(span, message);
            false
        }
    };
    fits.then_some(gives)
}

/// Whether the expression is of that type; if not, that is reported with `help`.
fn expect(ty: Type, help: &str, typed: &Typed<Expression>, findings: &mut Findings) -> bool {
    if typed.ty != ty {
        let message = format!("expected {}, found {}", described(ty), described(typed.ty));
        findings.push(Diagnostic::error(typed.span, message).with_help(help));
    }
    typed.ty == ty
}
