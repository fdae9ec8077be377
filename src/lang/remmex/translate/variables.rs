//! Declarations, and what names and indices mean.
//!
//! Arrays of several dimensions are one row of elements, the last index running fastest. An index that is a constant
//! is checked here; one that is computed is [bounded](BinaryOperator::Bounded), so that one out of range is a fault.

use super::expressions::{folded, type_name};
use crate::lang::Diagnostic;
use crate::lang::remmex::syntax::{self, Declaration, Initial, Name, Place};
use crate::lang::similar::nearest;
use crate::program::{BinaryOperator, Expression, Reference, Scope, Span, Type, Variable};
use std::collections::HashSet;

/// How many elements all arrays of one declaration list may have together.
const MAX_ELEMENTS: usize = 1 << 16;

/// An error was reported.
pub struct Reported;

/// A variable or an array with its sizes.
#[derive(Clone, Debug)]
pub struct Known {
    /// As the program has it.
    pub variable: Variable,
    /// The sizes of an array, the first one first.
    pub sizes: Vec<i64>,
}

/// The variables of a list of declarations. Names that others have are errors.
pub fn declared(declarations: &[Declaration], others: &[Known], findings: &mut Vec<Diagnostic>) -> Vec<Known> {
    let mut names = HashSet::new();
    let mut known = Vec::new();
    let mut room = MAX_ELEMENTS;
    for declaration in declarations {
        let name = &declaration.name;
        if !names.insert(name.text.as_str()) {
            findings.push(Diagnostic::error(name.span, format!("there are two variables `{}`", name.text)));
        }
        if others.iter().any(|other| other.variable.name == name.text) {
            let error = Diagnostic::error(name.span, format!("there is a shared variable `{}`", name.text));
            findings.push(error.with_help("give the variable of the process another name"));
        }
        match one(declaration, &mut room, findings) {
            Ok(variable) => known.push(variable),
            // So that its name is known.
            Err(Reported) => known.push(Known {
                variable: variable(declaration, vec![0; declaration.sizes.len().max(1)]),
                sizes: declaration.sizes.iter().map(|_| i64::MAX).collect(),
            }),
        }
    }
    known
}

fn variable(declaration: &Declaration, initial: Vec<i64>) -> Variable {
    let Name { text, span } = declaration.name.clone();
    let is_array = !declaration.sizes.is_empty();
    Variable { name: text, ty: declaration.ty, modulus: None, is_array, initial, span }
}

fn one(declaration: &Declaration, room: &mut usize, findings: &mut Vec<Diagnostic>) -> Result<Known, Reported> {
    let mut elements = 1_usize;
    for &(size, span) in &declaration.sizes {
        let total = usize::try_from(size).ok().and_then(|size| elements.checked_mul(size));
        match total.filter(|total| (1..=*room).contains(total)) {
            Some(total) => elements = total,
            None => {
                let message = match size {
                    0 => "an array has at least one element".to_owned(),
                    _ => format!("the arrays have more than {MAX_ELEMENTS} elements"),
                };
                findings.push(Diagnostic::error(span, message));
                return Err(Reported);
            }
        }
    }
    *room = room.saturating_sub(elements);
    let mut initial = vec![0; elements];
    if let Some(given) = &declaration.initial {
        let mut values = Vec::new();
        let sizes: Vec<i64> = declaration.sizes.iter().map(|(size, _)| *size).collect();
        initials(declaration, given, &sizes, &mut values, findings)?;
        initial = values;
    }
    let sizes = declaration.sizes.iter().map(|(size, _)| *size).collect();
    Ok(Known { variable: variable(declaration, initial), sizes })
}

/// The values of an array with these sizes: nested as the array is, or all in one list.
fn initials(
    declaration: &Declaration,
    given: &Initial,
    sizes: &[i64],
    values: &mut Vec<i64>,
    findings: &mut Vec<Diagnostic>,
) -> Result<(), Reported> {
    match (given, sizes) {
        (Initial::Value(value, span), []) => {
            if value.ty() != declaration.ty {
                findings.push(expected(declaration.ty, value.ty(), *span));
                return Err(Reported);
            }
            values.push(value.value());
            Ok(())
        }
        (Initial::Value(_, span), _) => {
            let error = Diagnostic::error(*span, format!("`{}` is an array", declaration.name.text));
            findings.push(error.with_help("it has a value for each element: `{0, 0}`"));
            Err(Reported)
        }
        (Initial::List(_, span), []) => {
            let what = if declaration.sizes.is_empty() { "is no array" } else { "has fewer dimensions" };
            findings.push(Diagnostic::error(*span, format!("`{}` {what}", declaration.name.text)));
            Err(Reported)
        }
        (Initial::List(list, span), [size, inner @ ..]) => {
            let is_flat = list.iter().all(|value| matches!(value, Initial::Value(..)));
            let (wanted, inner) = if is_flat { (sizes.iter().product(), &[][..]) } else { (*size, inner) };
            if i64::try_from(list.len()) != Ok(wanted) {
                let message = format!("expected {wanted} values, found {}", list.len());
                findings.push(Diagnostic::error(*span, message));
                return Err(Reported);
            }
            list.iter().try_for_each(|value| initials(declaration, value, inner, values, findings))
        }
    }
}

/// The error of a wrong type.
pub fn expected(wanted: Type, found: Type, span: Span) -> Diagnostic {
    let error = Diagnostic::error(span, format!("expected {}, found {}", type_name(wanted), type_name(found)));
    error.with_help(match wanted {
        Type::Boolean => "Boolean values are `true` and `false`, `load(x, 1)` and comparisons",
        Type::Integer => "integers are `0`, `1`, …; they are not `true` and `false`",
    })
}

/// What a process knows: the shared variables and its own.
pub struct Context<'a> {
    /// The shared variables.
    pub shared: &'a [Known],
    /// Those of the process.
    pub locals: &'a [Known],
}

impl Context<'_> {
    /// A variable of the process.
    pub fn local(&self, place: &Place, findings: &mut Vec<Diagnostic>) -> Result<(Reference, Type), Reported> {
        let name = &place.name;
        if let Some(position) = find(self.locals, name) {
            return self.reference(Scope::Local, position, place, findings);
        }
        findings.push(if find(self.shared, name).is_some() {
            let error =
                Diagnostic::error(name.span, format!("`{0}` is shared and cannot be used like this", name.text));
            error.with_help(format!(
                "`store({0}, 1)` writes it, `r = loadval({0})` reads it, `load({0}, 1)` tests it",
                name.text
            ))
        } else {
            let error = Diagnostic::error(name.span, format!("there is no variable `{}`", name.text));
            error.with_help(match nearest(&name.text, names(self.locals)) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => "the variables of a process are declared at its beginning: `int r;`".to_owned(),
            })
        });
        Err(Reported)
    }

    /// A shared variable.
    pub fn shared(&self, place: &Place, findings: &mut Vec<Diagnostic>) -> Result<(Reference, Type), Reported> {
        let name = &place.name;
        if let Some(position) = find(self.shared, name) {
            return self.reference(Scope::Shared, position, place, findings);
        }
        findings.push(if find(self.locals, name).is_some() {
            let error = Diagnostic::error(name.span, format!("`{}` is not shared", name.text));
            error.with_help(format!("a variable of the process is used by its name alone: `{} = 1`", name.text))
        } else {
            let error = Diagnostic::error(name.span, format!("there is no shared variable `{}`", name.text));
            error.with_help(match nearest(&name.text, names(self.shared)) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => "shared variables are declared before the first `proctype`: `int x = 0;`".to_owned(),
            })
        });
        Err(Reported)
    }

    fn reference(
        &self,
        scope: Scope,
        variable: usize,
        place: &Place,
        findings: &mut Vec<Diagnostic>,
    ) -> Result<(Reference, Type), Reported> {
        let known = if scope == Scope::Shared { &self.shared[variable] } else { &self.locals[variable] };
        if known.sizes.len() != place.indices.len() {
            let name = &known.variable.name;
            let message = match (known.sizes.len(), place.indices.len()) {
                (0, _) => format!("`{name}` is no array"),
                (1, 0) => format!("`{name}` is an array"),
                (wanted, found) => format!("`{name}` has {wanted} indices, found {found}"),
            };
            let help = match known.sizes.len() {
                0 => format!("write `{name}`"),
                wanted => format!("an element is written `{name}{}`", "[0]".repeat(wanted)),
            };
            findings.push(Diagnostic::error(place.span, message).with_help(help));
            return Err(Reported);
        }
        let indices: Vec<Result<Expression, Reported>> =
            place.indices.iter().zip(&known.sizes).map(|(index, size)| self.index(index, *size, findings)).collect();
        let mut whole: Option<Expression> = None;
        for (index, size) in indices.into_iter().zip(&known.sizes) {
            let index = index?;
            whole = Some(match whole {
                None => index,
                Some(before) => {
                    let size = Expression::Constant(*size);
                    let row = folded(BinaryOperator::Multiply, before, size, place.span);
                    folded(BinaryOperator::Add, row, index, place.span)
                }
            });
        }
        let index = whole.map(Box::new);
        Ok((Reference { scope, variable, index, span: place.span }, known.variable.ty))
    }

    fn index(
        &self,
        index: &syntax::Expression,
        size: i64,
        findings: &mut Vec<Diagnostic>,
    ) -> Result<Expression, Reported> {
        let span = index.span();
        match self.plain(index, Type::Integer, findings)? {
            Expression::Constant(value) if (0..size).contains(&value) => Ok(Expression::Constant(value)),
            Expression::Constant(value) => {
                let error = Diagnostic::error(span, format!("the index {value} is out of range"));
                findings.push(error.with_help(format!("indices are from 0 to {}", size - 1)));
                Err(Reported)
            }
            computed => {
                let size = Box::new(Expression::Constant(size));
                Ok(Expression::Binary(BinaryOperator::Bounded, Box::new(computed), size, span))
            }
        }
    }
}

fn find(known: &[Known], name: &Name) -> Option<usize> {
    known.iter().position(|known| known.variable.name == name.text)
}

fn names(known: &[Known]) -> impl Iterator<Item = &str> {
    known.iter().map(|known| known.variable.name.as_str())
}
