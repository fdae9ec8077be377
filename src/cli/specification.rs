//! Specifications: read, explored, and what is said about it.

use super::arguments::LimitArguments;
use super::failure::Failure;
use super::interrupt::Interruptible;
use super::progress::{Spinner, short};
use super::runs::Shown;
use crate::engines::Subject;
use crate::explore::driver::{self, Observer};
use crate::explore::observe::{FactsObserver, facts};
use crate::explore::successors::Evaluated;
use crate::explore::{Exploration, Limits, Stop, Violation, explore};
use crate::export::Origin;
use crate::facts::Facts;
use crate::lang::diagnostic::Diagnostic;
use crate::program::Span;
use crate::property::{Property, StateCondition};
use crate::specification::{Asked, Specification};
use crate::tell;
use crate::text::LineColumn;
use crate::text::counted;
use std::fs;
use std::path::Path;

/// Where an invariant is from, for messages.
const INVARIANT: &str = "--invariant";
/// Where a condition that no state satisfies is from.
const NEVER: &str = "--never";
/// How many steps before a fault are shown.
const STEPS_TO_FAULT: usize = 20;

/// Does something that ends at these limits, or when Ctrl-C is pressed.
pub fn with_limits<T>(subject: Subject<'_>, limits: &LimitArguments, work: impl FnOnce(&Limits<'_>) -> T) -> T {
    match subject {
        Subject::Program(specification) => within(limits, &specification.invariants, work),
        Subject::StateSpace(_) => within(limits, &[], work),
    }
}

/// The same where these conditions must hold in every state.
pub fn within<T>(limits: &LimitArguments, invariants: &[StateCondition], work: impl FnOnce(&Limits<'_>) -> T) -> T {
    let interruptible = Interruptible::new();
    let budget = limits.budget.budget().heeding(interruptible.requested());
    let bounds = Limits {
        states: limits.max_states,
        bytes: limits.budget.bytes(),
        time: limits.budget.budget().time_left(),
        interrupted: Some(interruptible.requested()),
        invariants,
        budget: Some(&budget),
    };
    work(&bounds)
}

impl Specification {
    /// Reads a specification; warnings go to standard error.
    pub fn read(path: &Path) -> Result<Specification, Failure> {
        let bytes = fs::read(path).map_err(|error| Failure::in_file(path, error))?;
        Specification::of_bytes(path, path.display().to_string(), bytes)
    }

    /// The specification that these bytes are, which came from a path; its name tells its language.
    pub fn of_bytes(path: &Path, name: String, bytes: Vec<u8>) -> Result<Specification, Failure> {
        let text = String::from_utf8(bytes).map_err(|error| {
            let valid = error.utf8_error().valid_up_to();
            Failure::in_file(path, format!("byte {valid} is not UTF-8; save the file as UTF-8"))
        })?;
        let (specification, warnings) =
            Specification::parse(name, text).map_err(|wrong| Failure::Usage(wrong.to_string()))?;
        for warning in &warnings {
            tell!("seqcon: {}", warning.render(&specification.name, &specification.text));
        }
        Ok(specification)
    }

    /// The same, with conditions that must hold in every state; warnings go to standard error.
    pub fn with_invariants(mut self, texts: &[String]) -> Result<Specification, Failure> {
        for text in texts {
            let parsed = self.condition(INVARIANT, text).map_err(|errors| Failure::Usage(errors.to_string()))?;
            for warning in &parsed.warnings {
                tell!("seqcon: {}", warning.render(INVARIANT, text).trim_end());
            }
            self.invariants.push(parsed.condition);
            self.asked.push(Asked::Invariant);
        }
        Ok(self)
    }

    /// The same, with conditions that no state may satisfy; warnings go to standard error.
    pub fn with_nevers(mut self, texts: &[String]) -> Result<Specification, Failure> {
        for property in self.nevers(texts)? {
            self.ask(property, Asked::Never);
        }
        Ok(self)
    }

    /// The same, with what its own text says of its states.
    pub fn with_own_properties(mut self) -> Specification {
        for property in self.properties.clone() {
            self.ask(property, Asked::Own);
        }
        self
    }

    /// The properties that no state satisfies these conditions, which are from `--never`; warnings go to standard
    /// error.
    pub fn nevers(&self, texts: &[String]) -> Result<Vec<Property>, Failure> {
        let never = |text: &String| {
            let (property, warnings) = self.never(NEVER, text).map_err(|errors| Failure::Usage(errors.to_string()))?;
            for warning in &warnings {
                tell!("seqcon: {}", warning.render(NEVER, text).trim_end());
            }
            Ok(property)
        };
        texts.iter().map(never).collect()
    }

    /// A property of single states is an invariant; another one is not.
    fn ask(&mut self, property: Property, asked: fn(Property) -> Asked) {
        if let Property::Never(condition) = &property {
            self.invariants.push(condition.negated());
            self.asked.push(asked(property));
        }
    }

    /// The text that it was read from.
    pub fn origin(&self) -> Origin<'_> {
        Origin { name: &self.name, text: &self.text }
    }

    /// Something is wrong at a place in it.
    pub fn failure_at(&self, span: Span, problem: impl std::fmt::Display) -> Failure {
        Failure::Usage(self.placed(span, problem))
    }

    /// Explores it with an observer, and says nothing.
    pub fn search<O: Observer>(
        &self,
        limits: &LimitArguments,
        observer: &mut O,
    ) -> Result<(Exploration, Vec<O::Watcher>), Failure> {
        if let Some(at) = self.program.exclusive() {
            return Err(self.failure_at(self.program.instruction(at).span, self.program.exclusive_problem(at)));
        }
        let explored = with_limits(Subject::Program(self), limits, |bounds| {
            let _spinner = Spinner::new(format!("exploring {}", short(&self.name)));
            explore(&self.compiled, bounds, observer)
        });
        let (exploration, watchers) = explored.map_err(|failure| self.failure(failure))?;
        if limits.strict && exploration.out_of_range > 0 {
            return Err(Failure::Usage(self.out_of_range_message(exploration.out_of_range)));
        }
        Ok((exploration, watchers))
    }

    /// Warns if an index was out of range so often; if limits are strict that is an error.
    pub fn tell_out_of_range(&self, limits: &LimitArguments, count: u64) -> Result<(), Failure> {
        match count {
            0 => Ok(()),
            _ if limits.strict => Err(Failure::Usage(self.out_of_range_message(count))),
            _ => {
                tell!("seqcon: warning: {}", self.out_of_range_message(count));
                Ok(())
            }
        }
    }

    fn out_of_range_message(&self, count: u64) -> String {
        format!(
            "{}: an index was out of range in {}; it read 0, its write was ignored",
            self.name,
            counted(count, "evaluation")
        )
    }

    /// Explores it with an observer; a limit that was reached is said on standard error.
    pub fn explore<O: Observer>(
        &self,
        limits: &LimitArguments,
        observer: &mut O,
    ) -> Result<(Exploration, Vec<O::Watcher>), Failure> {
        let (exploration, watchers) = self.search(limits, observer)?;
        self.tell_out_of_range(limits, exploration.out_of_range)?;
        if let Some(limit) = exploration.stop.limit() {
            tell!(
                "seqcon: warning: {}: stopped at {limit} after {} of at least {}; the result is not complete",
                self.name,
                exploration.expanded,
                counted(exploration.states.len(), "state")
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

    /// Why it could not be explored.
    pub fn failure(&self, failure: driver::Failure) -> Failure {
        match failure {
            driver::Failure::Io(error) => Failure::Io(error),
            driver::Failure::Fault { fault, at, run } => {
                let thread = self.program.thread(at.thread);
                let instruction = thread.instruction(at.instruction);
                let span = if fault.span == Span::default() { instruction.span } else { fault.span };
                let place = LineColumn::of(&self.text, span.start);
                let what = format!("{} in {}.{}", fault.kind, thread.name, instruction.name);
                let run = self.run_to_fault(&run);
                Failure::Usage(format!("{}:{}:{}: {what}{run}", self.name, place.line, place.column))
            }
            driver::Failure::Invariant { fault, invariant, run } => {
                let own = &self.invariants[invariant].text;
                let (origin, text) = match self.asked[invariant] {
                    Asked::Invariant => (INVARIANT, own),
                    Asked::Never(_) => (NEVER, own),
                    Asked::Own(_) => (self.name.as_str(), &self.text),
                };
                let error = Diagnostic::error(fault.span, fault.kind.to_string()).render(origin, text);
                Failure::Usage(format!("{}it was evaluated in {}{}", error, self.name, self.run_to_fault(&run)))
            }
        }
    }

    /// Where a run has led, with its last steps.
    fn run_to_fault(&self, run: &[Evaluated]) -> String {
        let lead = match run.len() {
            0 => return ", in the initial state".to_owned(),
            1 => "; one step leads there:".to_owned(),
            steps => format!("; {steps} steps lead there:"),
        };
        format!("{lead}\n{}", self.shown().run(run, STEPS_TO_FAULT).trim_end())
    }

    /// For who shows runs and states.
    pub fn shown(&self) -> Shown<'_> {
        Shown { text: &self.text, program: &self.program, compiled: &self.compiled }
    }

    /// What does not hold.
    pub fn violated(&self, violation: &Violation) -> String {
        let (what, condition) = self.what_is_violated(violation);
        format!("{what} violated: {condition}")
    }

    /// What does not hold: what it is, and its text.
    pub fn what_is_violated(&self, violation: &Violation) -> (&'static str, String) {
        match &self.asked[violation.invariant] {
            Asked::Invariant => ("invariant", self.invariants[violation.invariant].text.clone()),
            Asked::Never(property) | Asked::Own(property) => ("property", property.to_string()),
        }
    }

    /// How that came about: the run, and the state it ends in.
    pub fn counterexample(&self, violation: &Violation) -> String {
        let steps = match violation.run.len() {
            0 => "in the initial state:\n".to_owned(),
            1 => format!("after one step:\n{}in this state:\n", self.shown().run(&violation.run, usize::MAX)),
            steps => {
                let run = self.shown().run(&violation.run, usize::MAX);
                format!("after {steps} steps, and no fewer:\n{run}in this state:\n")
            }
        };
        steps + &self.shown().state(&violation.control, &violation.values)
    }
}
