//! Expressions with their types, and conditions that test a shared variable.

use super::variables::{Context, Reported, expected};
use crate::lang::Diagnostic;
use crate::lang::remmex::syntax;
use crate::program::arithmetic::apply;
use crate::program::{BinaryOperator, Expression, Reference, Span, Type, UnaryOperator};

/// A condition in which tests of a shared variable are kept apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Guard {
    /// What only depends on the process.
    Local(Expression),
    /// One of the [tests](Tests).
    Test(usize),
    /// The contrary.
    Not(Box<Guard>),
    /// An operator on Booleans.
    Binary(BinaryOperator, Box<Guard>, Box<Guard>, Span),
}

/// The tests of a condition: all of the same variable.
#[derive(Clone, Debug, Default)]
pub struct Tests {
    /// The variable or element, its type, and its text; none if there is no test.
    pub tested: Option<(Reference, Type, String)>,
    /// The values that it is compared with.
    pub values: Vec<Expression>,
}

/// The name of a type.
pub fn type_name(ty: Type) -> &'static str {
    match ty {
        Type::Integer => "an int",
        Type::Boolean => "a bool",
    }
}

impl Context<'_> {
    /// The condition of a branch.
    pub fn guard(
        &self,
        expression: &syntax::Expression,
        findings: &mut Vec<Diagnostic>,
    ) -> Result<(Guard, Tests), Reported> {
        let mut tests = Tests::default();
        let (guard, ty) = self.typed(expression, Some(&mut tests), findings)?;
        wanted(Type::Boolean, ty, expression.span(), findings)?;
        Ok((guard, tests))
    }

    /// An expression of this type over variables of the process.
    pub fn plain(
        &self,
        expression: &syntax::Expression,
        ty: Type,
        findings: &mut Vec<Diagnostic>,
    ) -> Result<Expression, Reported> {
        let (guard, found) = self.typed(expression, None, findings)?;
        wanted(ty, found, expression.span(), findings)?;
        Ok(guard.with(&|_| Expression::Constant(0)))
    }

    /// An expression with its type; tests may only be in it if there is a place for them.
    fn typed(
        &self,
        expression: &syntax::Expression,
        tests: Option<&mut Tests>,
        findings: &mut Vec<Diagnostic>,
    ) -> Result<(Guard, Type), Reported> {
        match expression {
            syntax::Expression::Literal(literal, _) => {
                Ok((Guard::Local(Expression::Constant(literal.value())), literal.ty()))
            }
            syntax::Expression::Read(place) => {
                let (reference, ty) = self.local(place, findings)?;
                Ok((Guard::Local(Expression::Read(reference)), ty))
            }
            syntax::Expression::Load(span) => {
                let error = Diagnostic::error(*span, "a shared variable cannot be read within an expression");
                findings.push(error.with_help("read it into a variable of the process: `r = loadval(x);`"));
                Err(Reported)
            }
            syntax::Expression::Test(place, value, span) => self.test(place, value, *span, tests, findings),
            syntax::Expression::Not(operand, span) => {
                let is_test = matches!(**operand, syntax::Expression::Test(..));
                let (guard, ty) = self.typed(operand, tests, findings)?;
                if !is_test && guard.has_test() {
                    let error = Diagnostic::error(*span, "`!` cannot stand before an expression with a `load`");
                    findings.push(error.with_help("it stands directly before a `load`: `!load(x, 0)`"));
                    return Err(Reported);
                }
                wanted(Type::Boolean, ty, operand.span(), findings)?;
                Ok((
                    match guard {
                        Guard::Local(operand) => Guard::Local(not(operand)),
                        guard => Guard::Not(Box::new(guard)),
                    },
                    Type::Boolean,
                ))
            }
            syntax::Expression::Binary(operator, left, right, span) => {
                self.binary(*operator, left, right, *span, tests, findings)
            }
        }
    }

    fn binary(
        &self,
        operator: BinaryOperator,
        left: &syntax::Expression,
        right: &syntax::Expression,
        span: Span,
        mut tests: Option<&mut Tests>,
        findings: &mut Vec<Diagnostic>,
    ) -> Result<(Guard, Type), Reported> {
        let (left_at, right_at) = (left.span(), right.span());
        let left = self.typed(left, tests.as_deref_mut(), findings);
        let right = self.typed(right, tests, findings);
        let ((left, left_type), (right, right_type)) = (left?, right?);
        let (operands, result) = match operator {
            BinaryOperator::Or | BinaryOperator::And => (Type::Boolean, Type::Boolean),
            BinaryOperator::Equal | BinaryOperator::NotEqual => (left_type, Type::Boolean),
            BinaryOperator::Less
            | BinaryOperator::LessEqual
            | BinaryOperator::Greater
            | BinaryOperator::GreaterEqual => (Type::Integer, Type::Boolean),
            _ => (Type::Integer, Type::Integer),
        };
        let is_left = wanted(operands, left_type, left_at, findings);
        let is_right = wanted(operands, right_type, right_at, findings);
        is_left?;
        is_right?;
        Ok((
            match (left, right) {
                (Guard::Local(left), Guard::Local(right)) => Guard::Local(folded(operator, left, right, span)),
                (left, right) => Guard::Binary(operator, Box::new(left), Box::new(right), span),
            },
            result,
        ))
    }

    fn test(
        &self,
        place: &syntax::Place,
        value: &syntax::Expression,
        span: Span,
        tests: Option<&mut Tests>,
        findings: &mut Vec<Diagnostic>,
    ) -> Result<(Guard, Type), Reported> {
        let Some(tests) = tests else {
            let error = Diagnostic::error(span, "`load` can only stand in the condition of a branch");
            findings.push(error.with_help("read the variable into one of the process: `r = loadval(x);`"));
            return Err(Reported);
        };
        let reference = self.shared(place, findings);
        // The index may be wrong, and the value, too.
        let (reference, ty) = match reference {
            Ok(known) => known,
            Err(Reported) => {
                let _ = self.typed(value, None, findings);
                return Err(Reported);
            }
        };
        let value = self.plain(value, ty, findings)?;
        match &tests.tested {
            Some((known, _, _)) if bare_reference(known) != bare_reference(&reference) => {
                let message = "this condition reads two shared variables";
                let error = Diagnostic::error(span, message);
                findings.push(error.with_help(
                    "a condition reads one variable or element; put a second `if` into the branch, or read one of them before: `r = loadval(x);`",
                ));
                return Err(Reported);
            }
            Some(_) => {}
            None => tests.tested = Some((reference, ty, place.name.text.clone())),
        }
        let known = tests.values.iter().position(|known| bare(known) == bare(&value));
        let number = known.unwrap_or(tests.values.len());
        if known.is_none() {
            tests.values.push(value);
        }
        Ok((Guard::Test(number), Type::Boolean))
    }
}

fn wanted(wanted: Type, found: Type, span: Span, findings: &mut Vec<Diagnostic>) -> Result<(), Reported> {
    if wanted == found {
        return Ok(());
    }
    findings.push(expected(wanted, found, span));
    Err(Reported)
}

impl Guard {
    fn has_test(&self) -> bool {
        match self {
            Guard::Local(_) => false,
            Guard::Test(_) => true,
            Guard::Not(operand) => operand.has_test(),
            Guard::Binary(_, left, right, _) => left.has_test() || right.has_test(),
        }
    }

    /// The condition with something in the place of each test; constants are put together.
    pub fn with(&self, test: &dyn Fn(usize) -> Expression) -> Expression {
        match self {
            Guard::Local(expression) => expression.clone(),
            Guard::Test(number) => test(*number),
            Guard::Not(operand) => not(operand.with(test)),
            Guard::Binary(operator, left, right, span) => folded(*operator, left.with(test), right.with(test), *span),
        }
    }
}

/// An operator on two expressions; what is known of the result is used.
pub fn folded(operator: BinaryOperator, left: Expression, right: Expression, span: Span) -> Expression {
    if let (Expression::Constant(left), Expression::Constant(right)) = (&left, &right)
        && let Ok(value) = apply(operator, *left, *right)
    {
        return Expression::Constant(value);
    }
    match (operator, &left, &right) {
        (BinaryOperator::And, Expression::Constant(0), _) | (BinaryOperator::And, _, Expression::Constant(0)) => {
            Expression::Constant(0)
        }
        (BinaryOperator::Or, Expression::Constant(1), _) | (BinaryOperator::Or, _, Expression::Constant(1)) => {
            Expression::Constant(1)
        }
        (BinaryOperator::And, Expression::Constant(1), _) | (BinaryOperator::Or, Expression::Constant(0), _) => right,
        (BinaryOperator::And, _, Expression::Constant(1)) | (BinaryOperator::Or, _, Expression::Constant(0)) => left,
        _ => Expression::Binary(operator, Box::new(left), Box::new(right), span),
    }
}

/// The contrary.
pub fn not(expression: Expression) -> Expression {
    match expression {
        Expression::Constant(value) => Expression::Constant(i64::from(value == 0)),
        Expression::Unary(UnaryOperator::Not, operand) => *operand,
        other => Expression::Unary(UnaryOperator::Not, Box::new(other)),
    }
}

/// The expression without places in the text, so that it can be compared.
pub fn bare(expression: &Expression) -> Expression {
    match expression {
        Expression::Constant(value) => Expression::Constant(*value),
        Expression::Read(reference) => Expression::Read(bare_reference(reference)),
        Expression::Unary(operator, operand) => Expression::Unary(*operator, Box::new(bare(operand))),
        Expression::Binary(operator, left, right, _) => {
            Expression::Binary(*operator, Box::new(bare(left)), Box::new(bare(right)), Span::default())
        }
    }
}

/// The reference without places in the text.
pub fn bare_reference(reference: &Reference) -> Reference {
    let index = reference.index.as_ref().map(|index| Box::new(bare(index)));
    Reference { index, span: Span::default(), ..*reference }
}
