//! The syntax tree to the program: [`memory`] knows the variables, [`access`] what one statement does, [`flow`] how
//! statements follow each other, [`start`] what comes before the first one.

mod access;
mod expressions;
mod flow;
mod locked;
mod memory;
mod start;

use super::syntax::{Model, Name, Vector};
use crate::lang::names::plain;
use crate::lang::similar::nearest;
use crate::lang::{Diagnostic, Parsed, Severity};
use crate::program::{BinaryOperator, Expression, Program, Reference, Scope, Span};
use crate::property::{Observables, Property, StateCondition};
use crate::text::counted;
use flow::Flow;
pub use flow::{Place, Spot};
use memory::Memory;
use std::collections::HashMap;

/// How many processes there may be.
const MAX_PROCESSES: usize = 1000;
/// How many instructions all processes together may have.
const MAX_INSTRUCTIONS: usize = 200_000;
/// How many labels are listed where one is missing.
const LISTED_LABELS: usize = 20;

/// A program, and how it stands in its text.
pub struct Translated {
    /// The program and what is said of it.
    pub parsed: Parsed,
    /// For each thread and instruction, where a fence behind it goes.
    pub spots: Vec<Vec<Spot>>,
    /// For each thread and control state, what a fence stands before that is on every way into the state.
    pub entries: Vec<Vec<Option<Place>>>,
}

/// Translates a program, or tells all that is wrong with it.
pub fn translated(name: &str, model: &Model) -> Result<Translated, Vec<Diagnostic>> {
    let mut findings = Vec::new();
    let copies: Vec<usize> = (model.processes.iter().enumerate())
        .flat_map(|(position, process)| std::iter::repeat_n(position, process.count.map_or(1, |(count, _)| count)))
        .take(MAX_PROCESSES + 1)
        .collect();
    if copies.len() > MAX_PROCESSES {
        let last = &model.processes[copies[MAX_PROCESSES]];
        let span = last.count.map_or(last.span, |(_, span)| span);
        return Err(vec![Diagnostic::error(span, format!("there are more than {MAX_PROCESSES} processes"))]);
    }
    let memory = Memory::new(model, &copies, &mut findings);
    let mut budget = MAX_INSTRUCTIONS;
    let (mut threads, mut labels, mut spots, mut entries) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (pid, &position) in copies.iter().enumerate() {
        let process = &model.processes[position];
        let Some(flow) = Flow::of(process, pid, &memory, budget, &mut findings) else { break };
        let built = flow.thread(process, &memory, &mut findings);
        budget = budget.saturating_sub(built.thread.instructions.len());
        threads.push(built.thread);
        labels.push(built.labels);
        spots.push(built.spots);
        entries.push(built.entries);
    }
    if let Some(span) = model.predicates {
        let warning = Diagnostic::warning(span, "predicates are ignored");
        findings.push(warning.with_help("they only guide the abstraction of Memorax"));
    }
    let program = Program { name: plain(&name.replace('-', "_")), shared: memory.variables, threads };
    let is_whole = program.threads.len() == copies.len();
    let vectors: Vec<Option<Vec<(usize, &Name)>>> = if is_whole {
        model.forbidden.iter().map(|vector| checked(vector, &labels, &mut findings)).collect()
    } else {
        Vec::new()
    };
    let (mut errors, mut warnings): (Vec<_>, Vec<_>) =
        findings.into_iter().partition(|finding| finding.severity == Severity::Error);
    if !errors.is_empty() {
        errors.sort_by_key(|error| error.span);
        errors.dedup();
        return Err(errors);
    }
    warnings.sort_by_key(|warning| warning.span);
    warnings.dedup();
    let vectors: Vec<Vec<(usize, &Name)>> = vectors.into_iter().flatten().collect();
    let properties = never(&program, &vectors).into_iter().collect();
    Ok(Translated { parsed: Parsed { program, properties, warnings }, spots, entries })
}

/// The processes that a vector speaks of, each with its label, if it is right.
fn checked<'m>(
    vector: &'m Vector,
    labels: &[Vec<String>],
    findings: &mut Vec<Diagnostic>,
) -> Option<Vec<(usize, &'m Name)>> {
    const HELP: &str = "a forbidden vector has a label for each process, or `*` for any; `;` stands between vectors";
    if vector.labels.len() != labels.len() {
        let message = format!(
            "this vector has {} for {}",
            counted(vector.labels.len(), "label"),
            counted(labels.len(), "process")
        );
        findings.push(Diagnostic::error(vector.span, message).with_help(HELP));
        return None;
    }
    let named: Vec<(usize, &Name)> =
        vector.labels.iter().enumerate().filter_map(|(pid, label)| Some((pid, label.as_ref()?))).collect();
    if named.is_empty() {
        let error = Diagnostic::error(vector.span, "this forbids every state");
        findings.push(error.with_help("at least one process has a label"));
        return None;
    }
    let mut is_right = true;
    for (pid, label) in &named {
        if !labels[*pid].contains(&label.text) {
            findings.push(unknown_label(label, &format!("process {pid}"), &labels[*pid]));
            is_right = false;
        }
    }
    is_right.then_some(named)
}

/// The error of a label that a process does not have.
fn unknown_label(label: &Name, process: &str, known: &[String]) -> Diagnostic {
    let error = Diagnostic::error(label.span, format!("{process} has no label `{}`", label.text));
    let listed: Vec<String> = known.iter().take(LISTED_LABELS).map(|known| format!("`{known}`")).collect();
    let more = if known.len() > LISTED_LABELS { ", …" } else { "" };
    let all = match listed.len() {
        0 => "it has no labels".to_owned(),
        1 => format!("its only label is {}", listed[0]),
        _ => format!("its labels are {}{more}", listed.join(", ")),
    };
    error.with_help(match nearest(&label.text, known.iter().map(String::as_str)) {
        Some(meant) => format!("did you mean `{meant}`? {all}"),
        None => all,
    })
}

/// No state is one of the forbidden ones.
fn never(program: &Program, vectors: &[Vec<(usize, &Name)>]) -> Option<Property> {
    if vectors.is_empty() {
        return None;
    }
    let observables = Observables::of(program);
    let positions: HashMap<&str, usize> =
        observables.variables.iter().enumerate().map(|(position, known)| (known.name.as_str(), position)).collect();
    let (mut texts, mut expressions) = (Vec::new(), Vec::new());
    for vector in vectors {
        let names: Vec<String> =
            vector.iter().map(|(pid, label)| format!("{}@{}", program.threads[*pid].name, label.text)).collect();
        let read = |name: &String| {
            let variable = positions.get(name.as_str()).copied()?;
            let reference = Reference { scope: Scope::Shared, variable, index: None, span: Span::default() };
            Some(Expression::Read(reference))
        };
        expressions.extend(balanced(BinaryOperator::And, names.iter().filter_map(read).collect()));
        let is_alone = vectors.len() == 1 || names.len() == 1;
        texts.push(if is_alone { names.join(" and ") } else { format!("({})", names.join(" and ")) });
    }
    let expression = balanced(BinaryOperator::Or, expressions)?;
    Some(Property::Never(StateCondition::new(&texts.join(" or "), &observables, expression)))
}

/// All of these joined, in a tree that is no deeper than it must be.
fn balanced(operator: BinaryOperator, mut parts: Vec<Expression>) -> Option<Expression> {
    while parts.len() > 1 {
        let mut pairs = Vec::with_capacity(parts.len().div_ceil(2));
        let mut rest = parts.into_iter();
        while let Some(left) = rest.next() {
            pairs.push(match rest.next() {
                Some(right) => Expression::Binary(operator, Box::new(left), Box::new(right), Span::default()),
                None => left,
            });
        }
        parts = pairs;
    }
    parts.pop()
}
