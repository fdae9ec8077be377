//! The syntax tree to the program: names are looked up, types checked, objects instantiated.
//!
//! Each class is checked once, whether it has objects or not, and gives its threads with positions of shared variables
//! that count from its own first variable; an object is a copy of these, shifted to where its variables begin.

mod condition;
mod expressions;
mod machine;
mod names;
mod observed;
mod reading;
mod variables;

use super::syntax::{Class, Model, Object};
use crate::ids::ThreadAt;
use crate::lang::{Diagnostic, Parsed, Severity};
use crate::program::{Expression, Program, Reference, Scope, Span, Thread, Variable};
pub use condition::condition;
use machine::Assertion;
use names::{check_unique, unknown};
use std::collections::HashMap;

/// A class that was checked.
struct Template {
    variables: Vec<Variable>,
    threads: Vec<(Thread, Vec<Assertion>)>,
}

/// Where errors and warnings are collected.
#[derive(Default)]
struct Findings {
    all: Vec<Diagnostic>,
}

impl Findings {
    fn push(&mut self, diagnostic: Diagnostic) {
        self.all.push(diagnostic);
    }

    fn has_errors(&self) -> bool {
        self.all.iter().any(|finding| finding.severity == Severity::Error)
    }

    fn error(&mut self, span: Span, message: impl Into<String>) {
        self.push(Diagnostic::error(span, message));
    }

    /// The warnings in the order of the text, or the errors if there are any.
    fn into_warnings(self) -> Result<Vec<Diagnostic>, Vec<Diagnostic>> {
        let (errors, mut warnings): (Vec<_>, Vec<_>) =
            self.all.into_iter().partition(|finding| finding.severity == Severity::Error);
        warnings.sort_by_key(|warning| warning.span);
        if errors.is_empty() { Ok(warnings) } else { Err(errors) }
    }
}

/// Translates a model, or tells all that is wrong with it.
pub fn program(model: &Model) -> Result<Parsed, Vec<Diagnostic>> {
    let mut findings = Findings::default();
    check_unique("classes", model.classes.iter().map(|class| &class.name), &mut findings);
    check_unique("objects", model.objects.iter().map(|object| &object.name), &mut findings);
    let templates: Vec<Template> = model.classes.iter().map(|class| template(class, &mut findings)).collect();
    let positions: HashMap<&str, usize> =
        model.classes.iter().enumerate().map(|(position, class)| (class.name.text.as_str(), position)).collect();
    let mut program = Program { name: model.name.text.clone(), shared: Vec::new(), threads: Vec::new() };
    let mut assertions = Vec::new();
    let naming = if model.objects.len() == 1 { Naming::Plain } else { Naming::ByObject };
    for object in &model.objects {
        match positions.get(object.class.text.as_str()) {
            Some(&position) => {
                instantiate(
                    object,
                    &model.classes[position],
                    &templates[position],
                    naming,
                    (&mut program, &mut assertions),
                    &mut findings,
                );
            }
            None => {
                let classes = model.classes.iter().map(|class| class.name.text.as_str());
                findings.push(unknown("class", &object.class, classes));
            }
        }
    }
    if program.threads.is_empty() {
        findings.push(Diagnostic::warning(model.name.span, "no object has a state machine: there is nothing to run"));
    }
    // Where something is wrong, names may be missing that a property means.
    let is_known = !findings.has_errors();
    let properties =
        if is_known { condition::properties(&model.nevers, &assertions, &program, &mut findings) } else { Vec::new() };
    findings.into_warnings().map(|warnings| Parsed { program, properties, warnings })
}

fn template(class: &Class, findings: &mut Findings) -> Template {
    check_unique("variables", class.variables.iter().map(|variable| &variable.name), findings);
    check_unique("state machines", class.machines.iter().map(|machine| &machine.name), findings);
    let variables = variables::variables(&class.variables, findings);
    let threads = class.machines.iter().map(|machine| machine::thread(machine, &variables, findings)).collect();
    Template { variables, threads }
}

/// How threads and shared variables are called.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Naming {
    /// There is one object.
    Plain,
    /// `object'name`; an apostrophe is in no name, so that these names are unique.
    ByObject,
}

/// Adds the variables, threads and assertions of an object.
fn instantiate(
    object: &Object,
    class: &Class,
    template: &Template,
    naming: Naming,
    (program, assertions): (&mut Program, &mut Vec<(ThreadAt, Assertion)>),
    findings: &mut Findings,
) {
    let named = |name: &str| match naming {
        Naming::Plain => name.to_owned(),
        Naming::ByObject => format!("{}'{name}", object.name.text),
    };
    let first = program.shared.len();
    program.shared.extend(template.variables.iter().cloned());
    check_unique("initial values of", object.initialisations.iter().map(|(name, _)| name), findings);
    for (name, initial) in &object.initialisations {
        match class.variables.iter().position(|variable| variable.name.text == name.text) {
            Some(position) => {
                let declaration = &class.variables[position];
                let values = variables::initial_values(declaration.ty, &name.text, Some(initial), findings);
                program.shared[first + position].initial = values;
            }
            None => {
                let known = class.variables.iter().map(|variable| variable.name.text.as_str());
                findings.push(unknown("variable", name, known));
            }
        }
    }
    for variable in &mut program.shared[first..] {
        variable.name = named(&variable.name);
    }
    for (thread, own) in &template.threads {
        let position = ThreadAt::new(program.threads.len());
        assertions.extend(own.iter().map(|assertion| (position, assertion.clone())));
        let mut thread = thread.clone();
        thread.name = named(&thread.name);
        shift_thread(&mut thread, first);
        program.threads.push(thread);
    }
}

fn shift_thread(thread: &mut Thread, by: usize) {
    for instruction in &mut thread.instructions {
        if let Some(condition) = &mut instruction.condition {
            shift(condition, by);
        }
        for assignment in &mut instruction.assignments {
            shift_reference(&mut assignment.target, by);
            shift(&mut assignment.value, by);
        }
    }
}

fn shift_reference(reference: &mut Reference, by: usize) {
    if reference.scope == Scope::Shared {
        reference.variable += by;
    }
    if let Some(index) = &mut reference.index {
        shift(index, by);
    }
}

fn shift(expression: &mut Expression, by: usize) {
    match expression {
        Expression::Constant(_) => {}
        Expression::Read(reference) => shift_reference(reference, by),
        Expression::Unary(_, operand) => shift(operand, by),
        Expression::Binary(_, left, right, _) => {
            shift(left, by);
            shift(right, by);
        }
    }
}
