//! Properties of states: names are those that can be observed of a program, all of them.

use super::Findings;
use super::expressions::Variables;
use crate::lang::slco::syntax;
use crate::lang::{Diagnostic, ParsedCondition};
use crate::program::Type;
use crate::property::{Observables, StateCondition};

/// Checks a property that was written as `text`, or tells all that is wrong with it.
pub fn invariant(
    text: &str,
    observables: &Observables,
    expression: &syntax::Expression,
) -> Result<ParsedCondition, Vec<Diagnostic>> {
    let mut findings = Findings::default();
    let variables = Variables::new(&observables.variables, &[]);
    let help = "an invariant is a condition: it holds in a state or not";
    let expression = variables.expression_of(Type::Boolean, help, expression, &mut findings);
    let warnings = findings.into_warnings()?;
    let expression = expression.expect("an expression that is none was reported");
    Ok(ParsedCondition { condition: StateCondition::new(text, observables, expression), warnings })
}
