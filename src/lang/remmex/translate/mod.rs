//! The syntax tree to the program: [`variables`] and [`expressions`] know names and types, [`guards`] makes conditions
//! that read once, [`graph`] numbers the control locations, [`regions`] makes locked regions one step.

mod expressions;
mod graph;
mod guards;
mod regions;
mod variables;

use super::syntax::{Model, Process};
use super::vectors::{self, Table, Where};
use crate::ids::ControlAt;
use crate::lang::names::{Unique, call_by_ends, plain};
use crate::lang::{Diagnostic, Parsed, Severity};
use crate::program::{Instruction, Program, Thread};
use crate::property::Property;
use graph::Graph;
use std::collections::HashSet;
use variables::{Context, Known, declared};

/// How many processes there may be.
const MAX_PROCESSES: usize = 1000;

/// A program, and how it stands in its text.
pub struct Translated {
    /// The program and what is said of it.
    pub parsed: Parsed,
    /// For each thread and instruction, where a fence behind it goes.
    pub ends: Vec<Vec<usize>>,
    /// The same for a fence on the way into the next control state: other ways may have come to it before.
    pub joins: Vec<Vec<usize>>,
    /// For each thread and control state, where a fence goes that is on every way into the state, if that is one place.
    pub entries: Vec<Vec<Option<usize>>>,
    /// For each thread, its locations.
    pub tables: Vec<Table>,
}

/// Translates a program, or tells all that is wrong with it.
pub fn translated(name: &str, model: &Model) -> Result<Translated, Vec<Diagnostic>> {
    let mut findings = Vec::new();
    let shared = declared(&model.shared, &[], &mut findings);
    let mut names = HashSet::new();
    for process in &model.processes {
        if !names.insert(process.name.text.as_str()) {
            let message = format!("there are two processes `{}`", process.name.text);
            findings.push(Diagnostic::error(process.name.span, message));
        }
    }
    if let Some(process) = model.processes.get(MAX_PROCESSES) {
        let message = format!("there are more than {MAX_PROCESSES} processes");
        findings.push(Diagnostic::error(process.name.span, message));
    }
    let built: Vec<Built> = model.processes.iter().map(|process| built(process, &shared, &mut findings)).collect();
    let (mut threads, mut ends, mut joins) = (Vec::new(), Vec::new(), Vec::new());
    let (mut entries, mut tables) = (Vec::new(), Vec::new());
    for Built { thread, ends: own_ends, joins: own_joins, entries: own_entries, table } in built {
        threads.push(thread);
        ends.push(own_ends);
        joins.push(own_joins);
        entries.push(own_entries);
        tables.push(table);
    }
    let shared = shared.into_iter().map(|known| known.variable).collect();
    let program = Program { name: plain(&name.replace('-', "_")), shared, threads };
    let mut properties = Vec::new();
    for vector in &model.nevers {
        let condition = vectors::condition(vector, &program, &tables, &mut findings);
        properties.extend(condition.map(Property::Never));
    }
    let (mut errors, mut warnings): (Vec<_>, Vec<_>) =
        findings.into_iter().partition(|finding| finding.severity == Severity::Error);
    if !errors.is_empty() {
        errors.sort_by_key(|error| error.span);
        errors.dedup();
        return Err(errors);
    }
    warnings.sort_by_key(|warning| warning.span);
    warnings.dedup();
    Ok(Translated { parsed: Parsed { program, properties, warnings }, ends, joins, entries, tables })
}

/// A thread, and how it stands in its text.
struct Built {
    thread: Thread,
    ends: Vec<usize>,
    joins: Vec<usize>,
    entries: Vec<Option<usize>>,
    table: Table,
}

fn built(process: &Process, shared: &[Known], findings: &mut Vec<Diagnostic>) -> Built {
    let locals = declared(&process.locals, shared, findings);
    let context = Context { shared, locals: &locals };
    let graph = Graph::of(process, &context, findings);
    let (drafts, inside) = regions::drafts(&graph, shared, &locals, findings);
    let mut is_state: Vec<bool> = vec![false; graph.locations.len()];
    is_state[0] = true;
    for draft in &drafts {
        is_state[draft.from] = true;
        is_state[draft.to] = true;
    }
    let mut table = Table::default();
    let mut names = Unique::default();
    for label in graph.locations.iter().filter_map(|location| location.label.as_ref()) {
        names.of(&label.text, '_');
    }
    let mut positions = vec![ControlAt(0); graph.locations.len()];
    let (mut states, mut entries) = (Vec::new(), Vec::new());
    for (at, location) in graph.locations.iter().enumerate() {
        table.has_fences |= location.behind_fence.is_some();
        let label = location.label.as_ref();
        if let Some(label) = label.filter(|_| inside.contains(&at)) {
            let error = Diagnostic::error(label.span, "a label stands between `LOCK` and `UNLOCK`");
            findings.push(error.with_help("from `LOCK` to `UNLOCK` is one step here; put it before or behind"));
        }
        let is_own = location.joined.is_none() && (is_state[at] || label.is_some());
        let place = if inside.contains(&at) {
            Where::Inside
        } else if is_own {
            Where::State(ControlAt::new(states.len()))
        } else {
            let meant = &graph.locations[graph.meant(at)];
            Where::Nowhere(location.joined.and(meant.number.or(meant.behind_fence)))
        };
        if let Some(number) = location.number {
            table.numbers.insert(number, place);
        }
        if let Some(label) = label {
            table.labels.insert(label.text.clone(), place);
        }
        if !is_own {
            continue;
        }
        positions[at] = ControlAt::new(states.len());
        entries.push(location.entry.filter(|_| !location.is_head));
        states.push(match (label, location.number, location.behind_fence) {
            (Some(label), ..) => label.text.clone(),
            (None, Some(number), _) => number.to_string(),
            (None, None, behind) => names.of(&format!("fence_{}", behind.unwrap_or_default()), '_'),
        });
    }
    let (mut instructions, mut ends, mut joins) = (Vec::new(), Vec::new(), Vec::new());
    for draft in drafts {
        let (from, to) = (positions[draft.from], positions[draft.to]);
        ends.push(draft.end);
        joins.push(draft.join);
        instructions.push(Instruction {
            name: String::new(),
            from,
            to,
            priority: 0,
            condition: draft.condition,
            assignments: draft.assignments,
            kind: draft.kind,
            span: draft.span,
        });
    }
    call_by_ends(&states, &mut instructions);
    let locals = locals.into_iter().map(|known| known.variable).collect();
    let thread = Thread { name: process.name.text.clone(), locals, states, initial: positions[0], instructions };
    Built { thread, ends, joins, entries, table }
}
