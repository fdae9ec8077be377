//! Expressions as mCRL2 terms.

use super::helpers::{Helper, Helpers};
use super::names::Names;
use crate::ids::ThreadAt;
use crate::program::{Assignment, BinaryOperator, Expression, Program, Reference, Scope, Type, UnaryOperator};

/// A term.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Term {
    /// Its text.
    pub text: String,
    /// Whether an operator stands outside of all parentheses.
    has_operator: bool,
}

impl Term {
    /// A name, a number, or a function with its arguments.
    fn whole(text: impl Into<String>) -> Term {
        Term { text: text.into(), has_operator: false }
    }

    fn with_operator(text: String) -> Term {
        Term { text, has_operator: true }
    }

    /// The negation of a Boolean.
    pub(super) fn negated(&self) -> Term {
        Term::with_operator(format!("!{}", self.enclosed()))
    }

    /// The conjunction of Booleans; nothing if there are none.
    pub(super) fn conjunction(terms: &[Term]) -> Option<Term> {
        match terms {
            [] => None,
            [only] => Some(only.clone()),
            several => {
                let operands: Vec<String> = several.iter().map(Term::enclosed).collect();
                Some(Term::with_operator(operands.join(" && ")))
            }
        }
    }

    /// In parentheses if it needs them as an operand.
    pub(super) fn enclosed(&self) -> String {
        if self.has_operator { format!("({})", self.text) } else { self.text.clone() }
    }
}

/// What the variables of a thread are worth at some point of an instruction, in terms of their values before it.
pub(super) struct Environment {
    shared: Vec<Term>,
    locals: Vec<Term>,
}

impl Environment {
    /// Before the instruction.
    pub(super) fn initial(names: &Names, thread: ThreadAt) -> Environment {
        Environment {
            shared: names.shared.iter().map(|name| Term::whole(&name.parameter)).collect(),
            locals: names.threads[thread.index()].locals.iter().map(|name| Term::whole(&name.parameter)).collect(),
        }
    }

    pub(super) fn get(&self, scope: Scope, variable: usize) -> &Term {
        match scope {
            Scope::Shared => &self.shared[variable],
            Scope::Local => &self.locals[variable],
        }
    }

    pub(super) fn set(&mut self, scope: Scope, variable: usize, value: Term) {
        match scope {
            Scope::Shared => self.shared[variable] = value,
            Scope::Local => self.locals[variable] = value,
        }
    }
}

/// Writes expressions of one thread.
pub(super) struct Terms<'a> {
    pub program: &'a Program,
    pub thread: ThreadAt,
    pub helpers: &'a mut Helpers,
}

impl Terms<'_> {
    /// The term of an expression; a constant's type is what is wanted.
    pub(super) fn expression(&mut self, expression: &Expression, wanted: Type, environment: &Environment) -> Term {
        match expression {
            Expression::Constant(value) => constant(*value, wanted),
            Expression::Read(reference) => self.read(reference, environment),
            // Faults are not part of mCRL2's arithmetic.
            Expression::Binary(BinaryOperator::Bounded, value, ..) => self.expression(value, wanted, environment),
            Expression::Unary(operator, operand) => {
                let ty = match operator {
                    UnaryOperator::Not | UnaryOperator::Indicator => Type::Boolean,
                    UnaryOperator::Minus => Type::Integer,
                };
                let operand = self.expression(operand, ty, environment);
                match operator {
                    UnaryOperator::Not => operand.negated(),
                    UnaryOperator::Minus => Term::with_operator(format!("-{}", operand.enclosed())),
                    UnaryOperator::Indicator => Term::whole(format!("if({}, 1, 0)", operand.text)),
                }
            }
            Expression::Binary(operator, left, right, _) => {
                let ty = self.operand_type(*operator, left, right);
                let left = self.expression(left, ty, environment);
                let right = self.expression(right, ty, environment);
                self.binary(*operator, &left, &right)
            }
        }
    }

    fn read(&mut self, reference: &Reference, environment: &Environment) -> Term {
        let value = environment.get(reference.scope, reference.variable);
        let Some(index) = &reference.index else { return value.clone() };
        let array = value.text.clone();
        let index = self.expression(index, Type::Integer, environment);
        let helper = match reference.variable(self.program, self.thread).ty {
            Type::Integer => Helper::At,
            Type::Boolean => Helper::AtBool,
        };
        Term::whole(self.helpers.apply(helper, &[&array, &index.text]))
    }

    /// What a variable is worth after an assignment to it.
    pub(super) fn assigned(&mut self, assignment: &Assignment, environment: &Environment) -> Term {
        let target = &assignment.target;
        let variable = target.variable(self.program, self.thread);
        let mut value = self.expression(&assignment.value, variable.ty, environment);
        let modulus = variable.modulus.filter(|modulus| {
            // A constant that fits is what it is.
            !matches!(&assignment.value, Expression::Constant(value) if (0..*modulus).contains(value))
        });
        if let Some(modulus) = modulus {
            value = Term::with_operator(format!("{} mod {modulus}", value.enclosed()));
        }
        let Some(index) = &target.index else { return value };
        let array = environment.get(target.scope, target.variable).text.clone();
        let index = self.expression(index, Type::Integer, environment);
        let helper = match variable.ty {
            Type::Integer => Helper::Put,
            Type::Boolean => Helper::PutBool,
        };
        Term::whole(self.helpers.apply(helper, &[&array, &index.text, &value.text]))
    }

    /// The type of an operator's operands.
    fn operand_type(&self, operator: BinaryOperator, left: &Expression, right: &Expression) -> Type {
        match operator {
            BinaryOperator::Or | BinaryOperator::Xor | BinaryOperator::And => Type::Boolean,
            // Two constants may be compared as what they are not: the outcome is the same.
            BinaryOperator::Equal | BinaryOperator::NotEqual => {
                self.type_of(left).or_else(|| self.type_of(right)).unwrap_or(Type::Integer)
            }
            _ => Type::Integer,
        }
    }

    /// The type of an expression; a constant alone does not tell.
    fn type_of(&self, expression: &Expression) -> Option<Type> {
        match expression {
            Expression::Constant(_) => None,
            Expression::Read(reference) => Some(reference.variable(self.program, self.thread).ty),
            Expression::Unary(UnaryOperator::Not, _) => Some(Type::Boolean),
            Expression::Unary(UnaryOperator::Minus | UnaryOperator::Indicator, _) => Some(Type::Integer),
            Expression::Binary(operator, ..) => Some(match operator {
                BinaryOperator::Add
                | BinaryOperator::Subtract
                | BinaryOperator::Multiply
                | BinaryOperator::Divide
                | BinaryOperator::Modulo
                | BinaryOperator::Power
                | BinaryOperator::BitwiseXor
                | BinaryOperator::BitwiseAnd
                | BinaryOperator::Bounded => Type::Integer,
                _ => Type::Boolean,
            }),
        }
    }

    fn binary(&mut self, operator: BinaryOperator, left: &Term, right: &Term) -> Term {
        // What is divided by a positive constant needs no conversion.
        let by_positive =
            !right.has_operator && right.text.bytes().all(|byte| byte.is_ascii_digit()) && right.text != "0";
        let sign = match operator {
            BinaryOperator::Or => "||",
            // Bits are refused before; see `has_bits`.
            BinaryOperator::Xor | BinaryOperator::NotEqual | BinaryOperator::BitwiseXor => "!=",
            BinaryOperator::And | BinaryOperator::BitwiseAnd => "&&",
            BinaryOperator::Bounded => return left.clone(),
            BinaryOperator::Equal => "==",
            BinaryOperator::Less => "<",
            BinaryOperator::LessEqual => "<=",
            BinaryOperator::Greater => ">",
            BinaryOperator::GreaterEqual => ">=",
            BinaryOperator::Add => "+",
            BinaryOperator::Subtract => "-",
            BinaryOperator::Multiply => "*",
            BinaryOperator::Divide if by_positive => "div",
            BinaryOperator::Modulo if by_positive => "mod",
            BinaryOperator::Divide => return self.call(Helper::Quotient, left, right),
            BinaryOperator::Modulo => return self.call(Helper::Remainder, left, right),
            BinaryOperator::Power => return self.call(Helper::Power, left, right),
        };
        Term::with_operator(format!("{} {sign} {}", left.enclosed(), right.enclosed()))
    }

    fn call(&mut self, helper: Helper, left: &Term, right: &Term) -> Term {
        Term::whole(self.helpers.apply(helper, &[&left.text, &right.text]))
    }
}

/// Whether the expression works on bits, which mCRL2's integers do not have.
pub(super) fn has_bits(expression: &Expression) -> bool {
    match expression {
        Expression::Constant(_) => false,
        Expression::Read(reference) => reference.index.as_ref().is_some_and(|index| has_bits(index)),
        Expression::Unary(_, operand) => has_bits(operand),
        Expression::Binary(operator, left, right, _) => {
            matches!(operator, BinaryOperator::BitwiseXor | BinaryOperator::BitwiseAnd)
                || has_bits(left)
                || has_bits(right)
        }
    }
}

/// A constant.
pub(super) fn constant(value: i64, ty: Type) -> Term {
    match ty {
        Type::Boolean => Term::whole(if value == 0 { "false" } else { "true" }),
        Type::Integer if value < 0 => Term::with_operator(value.to_string()),
        Type::Integer => Term::whole(value.to_string()),
    }
}

/// Whether some index reads an array at an index that is no constant.
pub(super) fn has_nested_addresses(program: &Program) -> bool {
    let instructions = program.threads.iter().flat_map(|thread| &thread.instructions);
    instructions.into_iter().any(|instruction| {
        let values = instruction.assignments.iter().map(|assignment| &assignment.value);
        let targets = instruction.assignments.iter().map(|assignment| &assignment.target);
        instruction.condition.iter().chain(values).any(in_expression) || targets.into_iter().any(in_reference)
    })
}

fn in_expression(expression: &Expression) -> bool {
    any_reference(expression, &mut in_reference)
}

fn in_reference(reference: &Reference) -> bool {
    let computed =
        |inner: &Reference| inner.index.as_deref().is_some_and(|index| !matches!(index, Expression::Constant(_)));
    reference
        .index
        .as_ref()
        .is_some_and(|index| any_reference(index, &mut |inner| computed(inner) || in_reference(inner)))
}

fn any_reference(expression: &Expression, holds: &mut impl FnMut(&Reference) -> bool) -> bool {
    match expression {
        Expression::Constant(_) => false,
        Expression::Read(reference) => holds(reference),
        Expression::Unary(_, operand) => any_reference(operand, holds),
        Expression::Binary(_, left, right, _) => any_reference(left, holds) || any_reference(right, holds),
    }
}
