//! Declarations of variables and their values at the start.

use super::Findings;
use crate::lang::Diagnostic;
use crate::lang::slco::syntax::{BaseType, Declaration, DeclaredType, Initial, InitialForm, Value};
use crate::program::{Span, Type, Variable};

/// The declared variables, in order.
pub fn variables(declarations: &[Declaration], findings: &mut Findings) -> Vec<Variable> {
    let variable = |declaration: &Declaration| {
        let Declaration { ty, name, initial } = declaration;
        Variable {
            name: name.text.clone(),
            ty: type_of(ty.base),
            modulus: (ty.base == BaseType::Byte).then_some(256),
            is_array: ty.size.is_some(),
            initial: initial_values(*ty, &name.text, initial.as_ref(), findings),
            span: name.span,
        }
    };
    declarations.iter().map(variable).collect()
}

fn type_of(base: BaseType) -> Type {
    match base {
        BaseType::Integer | BaseType::Byte => Type::Integer,
        BaseType::Boolean => Type::Boolean,
    }
}

/// The values at the start of a variable of that type, as many as it has elements.
pub fn initial_values(ty: DeclaredType, name: &str, initial: Option<&Initial>, findings: &mut Findings) -> Vec<i64> {
    let size = ty.size.unwrap_or(1);
    // The published tool chain starts Booleans with true.
    let default = vec![if ty.base == BaseType::Boolean { 1 } else { 0 }; size];
    let Some(initial) = initial else { return default };
    match (ty.size, initial.form) {
        (None, InitialForm::List) => {
            let error =
                Diagnostic::error(initial.span, format!("`{name}` is not an array, but its initial value is a list"));
            findings
                .push(error.with_help(format!("an array is declared with its size: `{}[2] {name}`", word(ty.base))));
            return default;
        }
        (Some(_), InitialForm::Single) => {
            let error =
                Diagnostic::error(initial.span, format!("`{name}` is an array, but its initial value is no list"));
            findings.push(error.with_help("write the values of all elements: `:= [0, 0]`"));
            return default;
        }
        (Some(size), InitialForm::List) if initial.values.len() != size => {
            let (found, elements) = (initial.values.len(), if size == 1 { "element" } else { "elements" });
            let message = format!("`{name}` has {size} {elements}, but its initial value has {found}");
            findings.error(initial.span, message);
            return default;
        }
        _ => {}
    }
    initial.values.iter().map(|(value, span)| initial_value(ty.base, *value, *span, findings)).collect()
}

fn initial_value(base: BaseType, value: Value, span: Span, findings: &mut Findings) -> i64 {
    match (base, value) {
        (BaseType::Boolean, Value::Boolean(value)) => i64::from(value),
        (BaseType::Boolean, Value::Integer(value)) => {
            let error = Diagnostic::error(span, "expected a Boolean, found an Integer");
            findings.push(error.with_help("the Booleans are `true` and `false`"));
            value
        }
        (_, Value::Boolean(value)) => {
            findings.error(span, "expected an Integer, found a Boolean");
            i64::from(value)
        }
        (_, Value::Integer(value)) => {
            if base == BaseType::Byte && u8::try_from(value).is_err() {
                let warning = Diagnostic::warning(span, format!("{value} is not between 0 and 255, as a Byte is"));
                findings.push(warning.with_help("it is kept as it is; what is assigned later is taken modulo 256"));
            }
            value
        }
    }
}

fn word(base: BaseType) -> &'static str {
    match base {
        BaseType::Integer => "Integer",
        BaseType::Boolean => "Boolean",
        BaseType::Byte => "Byte",
    }
}
