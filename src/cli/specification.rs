//! Specifications: read, explored, and what is said about it.

use super::arguments::LimitArguments;
use super::failure::Failure;
use super::progress::Spinner;
use crate::explore::driver::{self, Observer};
use crate::explore::observe::{FactsObserver, facts};
use crate::explore::successors::Evaluated;
use crate::explore::{Exploration, Limits, Stop, explore};
use crate::export::Origin;
use crate::facts::Facts;
use crate::lang::{self, Diagnostic, Language};
use crate::program::compiled::{Compiled, Fault};
use crate::program::labels::label;
use crate::program::{InstructionKind, Program, Span};
use crate::repair::At;
use crate::weak::split::TooLong;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::time::Duration;

/// A specification, ready to be explored.
pub struct Specification {
    pub name: String,
    pub text: String,
    pub program: Program,
    compiled: Compiled,
}

impl Specification {
    /// Whether the name of the file says that it is a specification.
    pub fn is_one(path: &Path) -> bool {
        path.to_str().is_some_and(|name| Language::of(name).is_some())
    }

    /// Reads a specification; warnings go to standard error.
    pub fn read(path: &Path) -> Result<Specification, Failure> {
        let name = path.display().to_string();
        let bytes = fs::read(path).map_err(|error| Failure::in_file(path, error))?;
        let text = String::from_utf8(bytes).map_err(|error| {
            let valid = error.utf8_error().valid_up_to();
            Failure::in_file(path, format!("byte {valid} is not UTF-8; save the file as UTF-8"))
        })?;
        let (specification, warnings) = Specification::parse(name, text)?;
        for warning in &warnings {
            eprintln!("seqcon: {}", warning.render(&specification.name, &specification.text));
        }
        Ok(specification)
    }

    /// A specification made from one that was read: nothing is said about it.
    pub fn from_text(name: String, text: String) -> Result<Specification, Failure> {
        Ok(Specification::parse(name, text)?.0)
    }

    fn parse(name: String, text: String) -> Result<(Specification, Vec<Diagnostic>), Failure> {
        let parsed = lang::parse(&name, &text).map_err(|errors| Failure::Usage(errors.to_string()))?;
        let compiled = Compiled::new(&parsed.program).map_err(|error| {
            let place = place(&text, error.span);
            Failure::Usage(format!("{name}:{place}: this instruction computes too many indices; split it"))
        })?;
        Ok((Specification { name, text, program: parsed.program, compiled }, parsed.warnings))
    }

    /// Whether an instruction has a statement of its own: a transition without statements is an instruction without one.
    pub fn has_statement(&self, (thread, instruction): At) -> bool {
        let instruction = &self.program.threads[thread].instructions[instruction];
        instruction.condition.is_some()
            || !instruction.assignments.is_empty()
            || instruction.kind != InstructionKind::Plain
    }

    /// The text that it was read from.
    pub fn origin(&self) -> Origin<'_> {
        Origin { name: &self.name, text: &self.text }
    }

    /// Something is wrong at a place in it.
    pub fn failure_at(&self, span: Span, problem: impl std::fmt::Display) -> Failure {
        Failure::Usage(format!("{}:{}: {problem}", self.name, place(&self.text, span)))
    }

    /// Explores it with an observer, and says nothing.
    pub fn search<O: Observer>(
        &self,
        limits: &LimitArguments,
        observer: &mut O,
    ) -> Result<(Exploration, Vec<O::Watcher>), Failure> {
        let bounds = Limits {
            states: limits.max_states,
            bytes: limits.memory_limit.map(|megabytes| megabytes.saturating_mul(1 << 20)),
            time: limits.timeout.map(|seconds| Duration::from_secs(seconds as u64)),
            interrupted: None,
        };
        let spinner = Spinner::new(format!("exploring {}", self.name));
        let explored = explore(&self.compiled, &bounds, observer);
        drop(spinner);
        let (exploration, watchers) = explored.map_err(|failure| self.failure(failure))?;
        if limits.strict && exploration.out_of_range > 0 {
            return Err(Failure::Usage(self.out_of_range_message(&exploration)));
        }
        Ok((exploration, watchers))
    }

    fn out_of_range_message(&self, exploration: &Exploration) -> String {
        let count = exploration.out_of_range;
        format!("{}: an index was out of range in {count} evaluations; it read 0, its write was ignored", self.name)
    }

    /// Explores it with an observer; a limit that was reached is said on standard error.
    pub fn explore<O: Observer>(
        &self,
        limits: &LimitArguments,
        observer: &mut O,
    ) -> Result<(Exploration, Vec<O::Watcher>), Failure> {
        let (exploration, watchers) = self.search(limits, observer)?;
        if exploration.out_of_range > 0 {
            eprintln!("seqcon: warning: {}", self.out_of_range_message(&exploration));
        }
        if let Some(limit) = limit_name(exploration.stop) {
            eprintln!(
                "seqcon: warning: {}: stopped at {limit} after {} of at least {} states; the result is not complete",
                self.name,
                exploration.expanded,
                exploration.states.len()
            );
        }
        Ok((exploration, watchers))
    }

    /// The facts of its state space.
    pub fn facts(&self, limits: &LimitArguments) -> Result<Facts, Failure> {
        let (exploration, watchers) = self.explore(limits, &mut FactsObserver)?;
        let size = (exploration.states.len() as u64, exploration.transitions);
        let cut_off = exploration.stop != Stop::Complete;
        Ok(Facts { cut_off, ..facts(&self.program, &watchers, size) })
    }

    /// An instruction with more accesses than a search under weak memory can split.
    pub fn too_long(&self, error: TooLong) -> Failure {
        let place = place(&self.text, error.span);
        Failure::Usage(format!("{}:{place}: this instruction has more than 64 operations; split it", self.name))
    }

    fn failure(&self, failure: driver::Failure) -> Failure {
        match failure {
            driver::Failure::Io(error) => Failure::Io(error),
            driver::Failure::Fault { fault, thread, instruction, run } => {
                Failure::Usage(self.fault_message(fault, thread, instruction, &run))
            }
        }
    }

    /// The fault with its place and the run that leads there, its last steps in full.
    fn fault_message(&self, fault: Fault, thread: usize, instruction: usize, run: &[Evaluated]) -> String {
        const SHOWN: usize = 20;
        let thread = &self.program.threads[thread];
        let instruction = &thread.instructions[instruction];
        let span = if fault.span == Span::default() { instruction.span } else { fault.span };
        let place = place(&self.text, span);
        let mut message = format!("{}:{place}: {} in {}.{}", self.name, fault.kind, thread.name, instruction.name);
        let left_out = run.len().saturating_sub(SHOWN);
        let _ = match run.len() {
            0 => write!(message, ", in the initial state"),
            1 => write!(message, "; one step leads there:"),
            steps => write!(message, "; {steps} steps lead there:"),
        };
        if left_out > 0 {
            let _ = write!(message, "\n  … {left_out} steps");
        }
        for step in &run[left_out..] {
            let label = label(&self.program, step.thread as usize, step.instruction as usize, step.verdict, step.key);
            let _ = write!(message, "\n  {label}");
        }
        message
    }
}

fn limit_name(stop: Stop) -> Option<&'static str> {
    match stop {
        Stop::Complete => None,
        Stop::States => Some("the limit on states (--max-states)"),
        Stop::Memory => Some("the limit on memory (--memory-limit)"),
        Stop::Time => Some("the limit on time (--timeout)"),
        Stop::Interrupted => Some("an interruption"),
    }
}

/// Line and column, from 1.
fn place(text: &str, span: Span) -> String {
    let before = &text[..span.start.min(text.len())];
    let line = 1 + before.matches('\n').count();
    let column = 1 + before.chars().rev().take_while(|&c| c != '\n').count();
    format!("{line}:{column}")
}
