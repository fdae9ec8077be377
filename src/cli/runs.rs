//! Runs and states in the words of the specification.
//!
//! A step is shown as its instruction stands in the source, with the control states between which it leads and, as a
//! comment, the values that it changed. Variables and control states are written as `--invariant` takes them.

use crate::explore::successors::Evaluated;
use crate::ids::ControlAt;
use crate::program::compiled::{Compiled, Trace};
use crate::program::{Instruction, Program, Span, Type, Variable};
use crate::property::Observables;
use crate::text::counted;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// A specification whose runs are shown.
pub struct Shown<'a> {
    pub text: &'a str,
    pub program: &'a Program,
    pub compiled: &'a Compiled,
}

/// A step, as a person or a script reads it.
#[derive(Serialize)]
pub struct ShownStep<'a> {
    thread: String,
    instruction: &'a str,
    from: &'a str,
    to: &'a str,
    /// The instruction as it stands in the source; none if the transition has no statement.
    text: Option<String>,
    /// The values that the step changed, by the names of their variables.
    changes: BTreeMap<String, String>,
    /// The same in the order of the program.
    #[serde(skip)]
    changes_in_words: String,
}

/// A state.
#[derive(Serialize)]
pub struct ShownState<'a> {
    shared: BTreeMap<String, String>,
    threads: Vec<ShownThread<'a>>,
}

#[derive(Serialize)]
struct ShownThread<'a> {
    thread: String,
    at: &'a str,
    locals: BTreeMap<String, String>,
}

impl<'a> Shown<'a> {
    /// The steps of a run from the initial state.
    pub fn steps(&self, run: &[Evaluated]) -> Vec<ShownStep<'a>> {
        let observables = Observables::of(self.program);
        let mut values = self.compiled.initial.clone();
        let step = |step: &Evaluated| {
            let before = values.clone();
            self.perform(step, &mut values);
            let thread = self.program.thread(step.at.thread);
            let instruction = thread.instruction(step.at.instruction);
            let changes = changes(&observables, &before, &values);
            let in_words = changes.iter().map(|(name, value)| format!("{name} = {value}"));
            ShownStep {
                thread: dotted(&thread.name),
                instruction: &instruction.name,
                from: &thread.states[instruction.from.index()],
                to: &thread.states[instruction.to.index()],
                text: self.source(instruction),
                changes_in_words: in_words.collect::<Vec<_>>().join(", "),
                changes: changes.into_iter().collect(),
            }
        };
        run.iter().map(step).collect()
    }

    /// The steps of a run from the initial state, one a line, numbered; only the last `most` of them.
    pub fn run(&self, run: &[Evaluated], most: usize) -> String {
        let left_out = run.len().saturating_sub(most);
        let digits = run.len().to_string().len();
        let mut shown = String::new();
        if left_out > 0 {
            let _ = writeln!(shown, "  … {}", counted(left_out, "step"));
        }
        for (number, step) in self.steps(run).iter().enumerate().skip(left_out) {
            let ShownStep { thread, from, to, text, changes_in_words, .. } = step;
            let _ = write!(shown, "  {:>digits$}. {thread}: {from} -> {to}", number + 1);
            if let Some(source) = text {
                let _ = write!(shown, " {{ {source} }}");
            }
            if !changes_in_words.is_empty() {
                let _ = write!(shown, "  // {changes_in_words}");
            }
            shown.push('\n');
        }
        shown
    }

    /// Performs a step that was performed before: it cannot go wrong now.
    fn perform(&self, step: &Evaluated, values: &mut [i64]) {
        if let Some(step) = self.compiled.thread(step.at.thread).step_of(step.at.instruction) {
            let performed = step.execute(values, &mut Trace::default());
            debug_assert!(performed.is_ok(), "a step of a run went wrong");
        }
    }

    /// The instruction as it stands in the source, on one line and without comments; none if the transition has no
    /// statement.
    fn source(&self, instruction: &Instruction) -> Option<String> {
        if instruction.condition.is_none()
            && instruction.assignments.is_empty()
            && instruction.kind == crate::program::InstructionKind::Plain
        {
            return None;
        }
        let Span { start, end } = instruction.span;
        let mut rest = self.text.get(start..end)?;
        let mut source = String::new();
        while let Some(comment) = rest.find("//").into_iter().chain(rest.find("/*")).min() {
            source.push_str(&rest[..comment]);
            source.push(' ');
            let (mark, from) = if rest[comment..].starts_with("//") { ("\n", 2) } else { ("*/", 2) };
            let behind = &rest[comment + from..];
            rest = behind.find(mark).map_or("", |end| &behind[end + mark.len()..]);
        }
        source.push_str(rest);
        Some(source.split_whitespace().collect::<Vec<_>>().join(" "))
    }

    /// A state: its shared variables a line each, and a line for each thread.
    pub fn state(&self, control: &[ControlAt], values: &[i64]) -> String {
        let mut shown = String::new();
        let mut rest = values;
        for variable in &self.program.shared {
            let _ = writeln!(shown, "  {} = {}", dotted(&variable.name), value(variable, take(variable, &mut rest)));
        }
        for (thread, &state) in self.program.threads.iter().zip(control) {
            let name = dotted(&thread.name);
            let _ = write!(shown, "  {name}@{}", thread.states[state.index()]);
            for variable in &thread.locals {
                let _ = write!(shown, ", {name}.{} = {}", variable.name, value(variable, take(variable, &mut rest)));
            }
            shown.push('\n');
        }
        shown
    }

    /// The same as data.
    pub fn data(&self, control: &[ControlAt], values: &[i64]) -> ShownState<'a> {
        let mut rest = values;
        let mut named = |variables: &[Variable]| -> BTreeMap<String, String> {
            let named = |variable: &Variable| (dotted(&variable.name), value(variable, take(variable, &mut rest)));
            variables.iter().map(named).collect()
        };
        let shared = named(&self.program.shared);
        let threads = self.program.threads.iter().zip(control).map(|(thread, &state)| ShownThread {
            thread: dotted(&thread.name),
            at: &thread.states[state.index()],
            locals: named(&thread.locals),
        });
        ShownState { shared, threads: threads.collect() }
    }
}

fn dotted(name: &str) -> String {
    name.replace('\'', ".")
}

/// The values of a variable, which come first in `rest`.
fn take<'v>(variable: &Variable, rest: &mut &'v [i64]) -> &'v [i64] {
    let (own, behind) = rest.split_at(variable.initial.len());
    *rest = behind;
    own
}

fn value(variable: &Variable, values: &[i64]) -> String {
    let element = |value: &i64| match variable.ty {
        Type::Boolean => (*value != 0).to_string(),
        Type::Integer => value.to_string(),
    };
    let elements: Vec<String> = values.iter().map(element).collect();
    if variable.is_array { format!("[{}]", elements.join(", ")) } else { elements.concat() }
}

/// What differs, with its values afterwards, in the order of the program.
fn changes(observables: &Observables, before: &[i64], after: &[i64]) -> Vec<(String, String)> {
    let mut changed = Vec::new();
    let (mut before, mut after) = (before, after);
    for variable in &observables.variables {
        if after.is_empty() {
            // Only control states follow.
            break;
        }
        let (old, new) = (take(variable, &mut before), take(variable, &mut after));
        for position in (0..new.len()).filter(|&position| old[position] != new[position]) {
            let index = if variable.is_array { format!("[{position}]") } else { String::new() };
            let single = Variable { is_array: false, ..variable.clone() };
            changed.push((format!("{}{index}", variable.name), value(&single, &new[position..=position])));
        }
    }
    changed
}
