//! `seqcon info`: what is in a file, before anything is analysed.
//!
//! A specification is explored up to [`CHEAP_STATES`] states; a state space is read once, and its labels tell the
//! threads, instructions and locations.

use super::arguments::{InfoArguments, InputArguments, LimitArguments, Verbosity};
use super::batch;
use super::documents::{Document, summary_lines};
use super::failure::Failure;
use super::input::name_of_input;
use super::places::refuse_clashes;
use super::progress::ByteBar;
use crate::caveat;
use crate::engines::CHEAP_STATES;
use crate::explore::Stop;
use crate::explore::observe::Nobody;
use crate::facts::extract::Extraction;
use crate::facts::{self, Facts};
use crate::lts::is_facts;
use crate::lts::label::{Access, Label, Step};
use crate::natural::natural_order;
use crate::program::{Program, Thread, Type, Variable};
use crate::report::names::yes_no;
use crate::report::rows::word;
use crate::specification::Specification;
use crate::tell;
use crate::text::counted;
use crate::text::excerpt::printable;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const SCHEMA_VERSION: u32 = 1;

#[derive(Serialize)]
struct Files {
    files: Vec<Info>,
}

/// What is known of a file; what its kind does not tell is absent.
#[derive(Serialize)]
struct Info {
    file: String,
    kind: Kind,
    /// The name that a specification gives itself.
    model: Option<String>,
    /// How labels are written.
    dialect: Option<String>,
    states: u64,
    transitions: u64,
    /// Whether states and transitions are all of them.
    complete: bool,
    deadlocks: Option<u64>,
    out_of_range: Option<u64>,
    labels: Option<usize>,
    threads: Vec<ThreadInfo>,
    shared: Vec<VariableInfo>,
}

#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    Specification,
    StateSpace,
    Facts,
}

#[derive(Serialize)]
struct ThreadInfo {
    name: String,
    instructions: usize,
    control_states: Option<usize>,
    locals: Vec<VariableInfo>,
}

#[derive(Serialize)]
struct VariableInfo {
    name: String,
    #[serde(rename = "type")]
    ty: Option<&'static str>,
    /// The number of elements of an array; in a state space, of those that are accessed.
    elements: Option<usize>,
    /// As a specification writes it.
    initial: Option<String>,
}

pub fn run(arguments: &InfoArguments, verbosity: Verbosity) -> Result<ExitCode, Failure> {
    let input = &arguments.input;
    input.language.refuse_for(&input.inputs)?;
    refuse_clashes(arguments.document.path(), input.files())?;
    let models: Vec<&[PathBuf]> = if input.shards {
        input.refuse_specifications("is no part of a state space")?;
        vec![&input.inputs]
    } else {
        input.inputs.chunks(1).collect()
    };
    let mut done = batch::each(&models, 1, |paths| info(paths, input))?;
    let files: Vec<Info> = std::mem::take(&mut done.results).into_iter().map(|(_, info)| info).collect();
    if files.is_empty() {
        return Ok(done.exit_status(0));
    }
    let is_complete = files.iter().all(|info| info.complete);
    let taken = arguments.document.takes_stdout();
    let text = if taken || verbosity == Verbosity::Quiet {
        files.iter().map(summary_line).collect()
    } else {
        files.iter().map(shown).collect::<Vec<_>>().join("\n")
    };
    arguments.document.write(|| Document::new(SCHEMA_VERSION, Files { files }))?;
    let mut out = summary_lines(taken);
    out.write_all(text.as_bytes()).and_then(|()| out.flush())?;
    Ok(done.exit_status(if is_complete { 0 } else { 3 }))
}

/// What is in a file, or in the parts of one state space.
fn info(paths: &[PathBuf], input: &InputArguments) -> Result<Info, Failure> {
    let path = &paths[0];
    if input.language.is_specification(path) {
        return of_specification(&input.language.read(path)?, &input.limits);
    }
    let options = input.options()?;
    let sources = input.sources(paths, &options)?;
    let bar = ByteBar::new(&format!("reading {}", path.display()));
    let Extraction { facts, dialect, mut warnings, part } = facts::read(&sources, &options, &bar)?;
    warnings.extend(part);
    bar.finish();
    for warning in &warnings {
        tell!("seqcon: warning: {}: {warning}", name_of_input(path));
    }
    for caveat in caveat::unseen::caveats(&facts) {
        tell!("seqcon: {}: {}", name_of_input(path), caveat.in_words());
    }
    let is_facts_file = is_facts(sources[0].bytes());
    let (kind, dialect) = if is_facts_file { (Kind::Facts, None) } else { (Kind::StateSpace, Some(dialect)) };
    Ok(of_facts(path, kind, dialect, &facts))
}

fn of_specification(specification: &Specification, limits: &LimitArguments) -> Result<Info, Failure> {
    let limits = LimitArguments { max_states: limits.max_states.or(Some(CHEAP_STATES)), ..limits.clone() };
    let (exploration, _) = specification.search(&limits, &mut Nobody)?;
    let Program { name, shared, threads } = &specification.program;
    Ok(Info {
        file: specification.name.clone(),
        kind: Kind::Specification,
        model: Some(name.clone()),
        dialect: None,
        states: exploration.states.len() as u64,
        transitions: exploration.transitions,
        complete: exploration.stop == Stop::Complete,
        deadlocks: Some(exploration.deadlocks),
        out_of_range: Some(exploration.out_of_range),
        labels: None,
        threads: threads.iter().map(of_thread).collect(),
        shared: shared.iter().map(of_variable).collect(),
    })
}

fn of_thread(thread: &Thread) -> ThreadInfo {
    ThreadInfo {
        name: thread.name.clone(),
        instructions: thread.instructions.len(),
        control_states: Some(thread.states.len()),
        locals: thread.locals.iter().map(of_variable).collect(),
    }
}

fn of_variable(variable: &Variable) -> VariableInfo {
    let values = variable.initial.iter().map(|value| match variable.ty {
        Type::Boolean => (*value != 0).to_string(),
        Type::Integer => value.to_string(),
    });
    let values = values.collect::<Vec<_>>().join(", ");
    VariableInfo {
        name: variable.name.clone(),
        ty: Some(match (variable.ty, variable.modulus) {
            (Type::Boolean, _) => "Boolean",
            (Type::Integer, Some(_)) => "Byte",
            (Type::Integer, None) => "Integer",
        }),
        elements: variable.is_array.then_some(variable.initial.len()),
        initial: Some(if variable.is_array { format!("[{values}]") } else { values }),
    }
}

/// What labels tell.
fn of_facts(path: &Path, kind: Kind, dialect: Option<String>, facts: &Facts) -> Info {
    let mut shared: BTreeSet<&str> = BTreeSet::new();
    let mut threads: BTreeMap<&str, (BTreeSet<&str>, BTreeSet<&str>)> = BTreeMap::new();
    for label in &facts.labels {
        let (instructions, locals) = threads.entry(&label.thread).or_default();
        instructions.insert(&label.instr);
        for_each_access(label, &mut |access| {
            if access.local {
                locals.insert(&access.name)
            } else {
                shared.insert(&access.name)
            };
        });
    }
    let mut threads: Vec<ThreadInfo> = threads
        .into_iter()
        .map(|(name, (instructions, locals))| ThreadInfo {
            name: name.to_owned(),
            instructions: instructions.len(),
            control_states: None,
            locals: of_names(&locals),
        })
        .collect();
    threads.sort_by(|a, b| natural_order(&a.name, &b.name));
    Info {
        file: name_of_input(path),
        kind,
        model: None,
        dialect,
        states: facts.states,
        transitions: facts.transitions,
        complete: !facts.cut_off,
        deadlocks: None,
        out_of_range: None,
        labels: Some(facts.labels.len()),
        threads,
        shared: of_names(&shared),
    }
}

fn for_each_access<'a>(label: &'a Label, visit: &mut impl FnMut(&'a Access)) {
    let mut waiting: Vec<&Access> = Vec::new();
    for step in &label.steps {
        match step {
            Step::Condition { reads } => waiting.extend(reads),
            Step::Assignment { writes, reads } => waiting.extend(writes.iter().chain(reads)),
        }
    }
    while let Some(access) = waiting.pop() {
        visit(access);
        waiting.extend(&access.address);
    }
}

/// Variables by the names of their accesses: the elements of an array are one variable.
fn of_names(names: &BTreeSet<&str>) -> Vec<VariableInfo> {
    let mut elements: BTreeMap<&str, Option<usize>> = BTreeMap::new();
    for name in names {
        match name.split_once('[') {
            None => drop(elements.entry(name).or_insert(None)),
            Some((array, _)) => *elements.entry(array).or_insert(None).get_or_insert(0) += 1,
        }
    }
    let mut variables: Vec<VariableInfo> = elements
        .into_iter()
        .map(|(name, elements)| VariableInfo { name: name.to_owned(), ty: None, elements, initial: None })
        .collect();
    variables.sort_by(|a, b| natural_order(&a.name, &b.name));
    variables
}

/// For `grep`.
fn summary_line(info: &Info) -> String {
    let kind = match info.kind {
        Kind::Specification => "specification",
        Kind::StateSpace => "state-space",
        Kind::Facts => "facts",
    };
    let instructions: usize = info.threads.iter().map(|thread| thread.instructions).sum();
    format!(
        "file={} kind={kind} states={} transitions={} threads={} instructions={instructions} variables={} complete={}\n",
        word(&info.file),
        info.states,
        info.transitions,
        info.threads.len(),
        info.shared.len(),
        yes_no(info.complete)
    )
}

/// For people.
fn shown(info: &Info) -> String {
    let what = match info.kind {
        Kind::Specification => "a specification".to_owned(),
        Kind::StateSpace => "a state space".to_owned(),
        Kind::Facts => "a facts file".to_owned(),
    };
    let model = info.model.as_ref().map_or(String::new(), |model| format!(", model {model}"));
    let dialect = info.dialect.as_ref().map_or(String::new(), |dialect| format!(", labels in the {dialect} dialect"));
    let mut text = format!("{}: {what}{model}{dialect}\n", printable(&info.file));
    let more = if info.complete { "" } else { "at least " };
    let mut line = |name: &str, value: String| {
        let _ = writeln!(text, "  {name:<12} {value}");
    };
    line("states", format!("{more}{}", info.states));
    line("transitions", format!("{more}{}", info.transitions));
    if let Some(deadlocks) = info.deadlocks.filter(|_| info.complete) {
        line("deadlocks", deadlocks.to_string());
    }
    if let Some(count) = info.out_of_range.filter(|&count| count > 0) {
        line("out of range", format!("an index, in {more}{}", counted(count, "evaluation")));
    }
    if let Some(labels) = info.labels {
        line("labels", labels.to_string());
    }
    line("threads", info.threads.len().to_string());
    let rows = info.threads.iter().map(thread_row).collect();
    text.push_str(&aligned(rows));
    let _ = writeln!(text, "  {:<12} {}", "variables", info.shared.len());
    let rows = info.shared.iter().map(variable_row).collect();
    text.push_str(&aligned(rows));
    text
}

fn thread_row(thread: &ThreadInfo) -> Vec<String> {
    let mut row = vec![thread.name.clone(), counted(thread.instructions, "instruction")];
    row.extend(thread.control_states.map(|states| counted(states, "control state")));
    let locals: Vec<String> = thread.locals.iter().map(|local| variable_row(local).join(" ")).collect();
    row.push(if locals.is_empty() { String::new() } else { format!("locals {}", locals.join(", ")) });
    row
}

fn variable_row(variable: &VariableInfo) -> Vec<String> {
    let elements = variable.elements.map_or(String::new(), |elements| format!("[{elements}]"));
    match (variable.ty, &variable.initial) {
        (Some(ty), Some(initial)) => vec![format!("{ty}{elements}"), variable.name.clone(), format!(":= {initial}")],
        _ => vec![format!("{}{elements}", variable.name)],
    }
}

/// Rows with columns as wide as they need to be.
fn aligned(rows: Vec<Vec<String>>) -> String {
    let mut widths: Vec<usize> = Vec::new();
    for row in &rows {
        widths.resize(widths.len().max(row.len()), 0);
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let mut text = String::new();
    for row in rows {
        let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        let _ = writeln!(text, "    {}", cells.join("  ").trim_end());
    }
    text
}
