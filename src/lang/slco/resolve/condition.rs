//! Conditions on states, and the properties that a model has: names are those that can be observed of a program.

use super::Findings;
use super::expressions::Variables;
use super::machine::Assertion;
use super::names::check_unique;
use crate::ids::ThreadAt;
use crate::lang::slco::syntax::{self, Never};
use crate::lang::{Diagnostic, ParsedCondition};
use crate::program::{Expression, Program, Type, Variable};
use crate::property::{Observables, Property, StateCondition};

/// Checks a condition that was written as `text`, or tells all that is wrong with it. Second names of what can be
/// observed stand with their first ones.
pub fn condition(
    text: &str,
    observables: &Observables,
    aliases: &[(String, String)],
    expression: &syntax::Expression,
) -> Result<ParsedCondition, Vec<Diagnostic>> {
    let mut findings = Findings::default();
    let mut known = observables.clone();
    let mut meant = Vec::new();
    for (alias, name) in aliases {
        if let Some(position) = observables.variables.iter().position(|variable| variable.name == *name) {
            known.variables.push(Variable { name: alias.clone(), ..observables.variables[position].clone() });
            meant.push(position);
        }
    }
    let expression = checked(&known, expression, &mut findings);
    let warnings = findings.into_warnings()?;
    let mut expression = expression.expect("an expression that is none was reported");
    by_first_names(&mut expression, observables.variables.len(), &meant);
    Ok(ParsedCondition { condition: StateCondition::new(text, observables, expression), warnings })
}

/// Puts the first names, so many, into the places of the second ones.
fn by_first_names(expression: &mut Expression, first_names: usize, meant: &[usize]) {
    match expression {
        Expression::Constant(_) => {}
        Expression::Read(reference) => {
            if let Some(index) = &mut reference.index {
                by_first_names(index, first_names, meant);
            }
            if let Some(alias) = reference.variable.checked_sub(first_names) {
                reference.variable = meant[alias];
            }
        }
        Expression::Unary(_, operand) => by_first_names(operand, first_names, meant),
        Expression::Binary(_, left, right, _) => {
            by_first_names(left, first_names, meant);
            by_first_names(right, first_names, meant);
        }
    }
}

fn checked(observables: &Observables, expression: &syntax::Expression, findings: &mut Findings) -> Option<Expression> {
    let help = "this is a condition: it holds in a state or not";
    Variables::observed(observables).expression_of(Type::Boolean, help, expression, findings)
}

/// What a model says of its program, whose threads have these assertions.
pub fn properties(
    nevers: &[Never],
    assertions: &[(ThreadAt, Assertion)],
    program: &Program,
    findings: &mut Findings,
) -> Vec<Property> {
    if nevers.is_empty() && assertions.is_empty() {
        return Vec::new();
    }
    check_unique("properties", nevers.iter().map(|never| &never.name), findings);
    let observables = Observables::of(program);
    let mut properties = Vec::new();
    for Never { name, condition, text } in nevers {
        if let Some(expression) = checked(&observables, condition, findings) {
            properties.push(StateCondition::new(text, &observables, expression).named(&name.text));
        }
    }
    for (thread, Assertion { failed, text, transition }) in assertions {
        if let Some(place) = observables.place(*thread, *failed) {
            let text = format!("assert {text} in {}, {transition}", program.thread(*thread).name);
            properties.push(StateCondition::failed_assertion(&text, &observables, place));
        }
    }
    properties.into_iter().map(Property::Never).collect()
}
