//! What is wrong, or looks odd, in an input, before anything is asked of it: for editors and for CI.
//!
//! A text is read; all errors are told at once. What was understood is explored, as far as the limits allow, for what
//! never happens in it (the [caveats](crate::caveat) of an analysis: threads that never move, instructions that are
//! never taken, control states that are never reached) and for faults (a division by 0). Where not all states were
//! looked at, nothing can be said of those; then control states are told that no chain of transitions leads to,
//! whatever the conditions, which takes no exploration. State spaces and facts files are read in full.
//!
//! *Limits.* Properties are not checked: `seqcon explore` does that. Pairs of loads and stores exclusive cannot be
//! explored; that is said. Costs are those of an exploration, up to [`CHEAP_STATES`] unless more are allowed.

mod chains;
mod index;

use crate::budget::Budget;
use crate::caveat::{Caveat, Level, Topic};
use crate::engines::{CHEAP_STATES, Subject, caveats_of_facts};
use crate::explore::driver::Failure;
use crate::explore::observe::{FactsObserver, facts};
use crate::explore::{Limits, Stop, explore};
use crate::facts::Facts;
use crate::lang::{self, Diagnostic, Diagnostics, Language};
use crate::program::Span;
use crate::program::compiled::Compiled;
use crate::specification::Specification;
use crate::text::{LineColumn, counted};
use serde::Serialize;

/// How bad something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The input has no meaning, or a run of it ends in a fault.
    Error,
    /// It has a meaning, but perhaps not the intended one.
    Warning,
    /// How something was taken, or why it was not looked at.
    Note,
}

impl Severity {
    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        }
    }
}

/// Where something stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Nowhere in particular.
    Whole,
    /// From a line and a column on, both from 1.
    Begins(LineColumn),
    /// Here in the text of a specification.
    Span(Span),
}

/// One thing that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// What it is about, for programs: [`TEXT`], [`FAULT`], [`INDEX`], [`NOT_EXPLORED`], or a
    /// [topic](crate::caveat::Topic) of caveats.
    pub topic: &'static str,
    /// What it is.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
    /// Where.
    pub place: Place,
}

/// What the text itself says: syntax, names, types.
pub const TEXT: &str = "text";
/// What ends a run.
pub const FAULT: &str = "fault";
/// An index that is out of range.
pub const INDEX: &str = "index-out-of-range";
/// Why states were not looked at.
pub const NOT_EXPLORED: &str = "not-explored";
/// What no chain of transitions leads to.
pub const NEVER_REACHED: &str = "never-reached";

/// What was found in an input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// In the order of the text; what stands nowhere in particular comes first.
    pub findings: Vec<Finding>,
    /// Whether all states were looked at for what never happens.
    pub is_complete: bool,
    /// The limit that kept them from being looked at.
    pub limit: Option<&'static str>,
}

impl Checked {
    /// An input that cannot be read for one reason.
    #[must_use]
    pub fn unreadable(message: String, place: Place) -> Checked {
        let finding = Finding { severity: Severity::Error, topic: TEXT, message, help: None, place };
        Checked { findings: vec![finding], is_complete: false, limit: None }
    }

    /// How many findings are so bad.
    #[must_use]
    pub fn count(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|finding| finding.severity == severity).count()
    }

    fn sorted(mut self) -> Checked {
        self.findings.sort_by_key(|finding| match finding.place {
            Place::Whole => (0, 0, finding.severity),
            Place::Begins(place) => (place.line, place.column, finding.severity),
            Place::Span(span) => (span.start + 1, span.end, finding.severity),
        });
        self
    }
}

/// Looks at a specification; the name tells its language. Without limits it is not explored.
#[must_use]
pub fn specification(name: &str, text: &str, limits: Option<&Limits<'_>>) -> Checked {
    let parsed = match lang::parse(name, text) {
        Ok(parsed) => parsed,
        Err(errors) => return Checked { findings: of_errors(&errors), ..Checked::default() },
    };
    if let Err(error) = Compiled::new(&parsed.program) {
        let error = Diagnostic::error(error.span, "this instruction computes too many indices")
            .with_help("split it into several instructions");
        return Checked { findings: vec![of_diagnostic(&error)], ..Checked::default() };
    }
    let mut findings: Vec<Finding> = parsed.warnings.iter().map(of_diagnostic).collect();
    let specification = match Specification::new(name.to_owned(), text.to_owned(), parsed) {
        Ok((specification, _)) => specification,
        Err(wrong) => return Checked::unreadable(wrong.to_string(), Place::Whole),
    };
    let explored = explored(&specification, limits, &mut findings);
    if !explored.is_complete {
        findings.extend(chains::unreached(&specification.program, &specification.source().text));
    }
    Checked { findings, ..explored }.sorted()
}

/// Looks at the facts of a state space.
#[must_use]
pub fn state_space(facts: Facts, budget: &Budget) -> Checked {
    let is_complete = !facts.cut_off;
    let subject = facts.clone();
    let caveats = caveats_of_facts(facts, Subject::StateSpace(&subject), budget);
    Checked { findings: caveats.into_iter().map(of_caveat).collect(), is_complete, limit: None }.sorted()
}

/// What exploring a specification tells; without the findings, which go to the list.
fn explored(specification: &Specification, limits: Option<&Limits<'_>>, findings: &mut Vec<Finding>) -> Checked {
    let Some(limits) = limits else { return Checked::default() };
    if let Some(at) = specification.program.exclusive() {
        findings.push(Finding {
            severity: Severity::Note,
            topic: NOT_EXPLORED,
            message: specification.program.exclusive_problem(at),
            help: None,
            place: Place::Span(specification.program.instruction(at).span),
        });
        return Checked::default();
    }
    let most = limits.states.unwrap_or(CHEAP_STATES);
    let limits = Limits { states: Some(most), invariants: &[], ..*limits };
    let (exploration, watchers) = match explore(&specification.compiled, &limits, &mut FactsObserver) {
        Ok(explored) => explored,
        Err(failure) => {
            findings.push(of_failure(specification, &failure));
            return Checked::default();
        }
    };
    if exploration.out_of_range > 0 {
        let program = &specification.program;
        let first =
            index::out_of_range(&specification.compiled, &exploration, &limits.budget.cloned().unwrap_or_default());
        let named = first.map_or(String::new(), |at| {
            let thread = program.thread(at.thread);
            let of = if exploration.out_of_range > 1 { ", one of them of" } else { " of" };
            format!("{of} {}.{}", thread.name, thread.instruction(at.instruction).name)
        });
        findings.push(Finding {
            severity: Severity::Warning,
            topic: INDEX,
            message: format!("an index was out of range in {}{named}", counted(exploration.out_of_range, "evaluation")),
            help: Some("it reads as 0 or false, and what is written to it is lost".to_owned()),
            place: first.map_or(Place::Whole, |at| Place::Span(program.instruction(at).span)),
        });
    }
    if exploration.stop != Stop::Complete {
        let limit = exploration.stop.limit();
        let (expanded, known) = (exploration.expanded, exploration.states.len());
        findings.push(Finding {
            severity: Severity::Note,
            topic: NOT_EXPLORED,
            message: format!(
                "stopped at {} after {expanded} of at least {known} states: what never happens in the others is not known",
                limit.unwrap_or_default()
            ),
            help: None,
            place: Place::Whole,
        });
        return Checked { limit, ..Checked::default() };
    }
    let size = (exploration.states.len() as u64, exploration.transitions);
    let facts = facts(&specification.program, &watchers, size);
    let budget = limits.budget.cloned().unwrap_or_default();
    findings.extend(caveats_of_facts(facts, Subject::Program(specification), &budget).into_iter().map(of_caveat));
    Checked { is_complete: true, ..Checked::default() }
}

fn of_errors(errors: &Diagnostics) -> Vec<Finding> {
    errors.errors().iter().map(of_diagnostic).collect()
}

fn of_diagnostic(diagnostic: &Diagnostic) -> Finding {
    Finding {
        severity: match diagnostic.severity {
            lang::Severity::Error => Severity::Error,
            lang::Severity::Warning => Severity::Warning,
        },
        topic: TEXT,
        message: diagnostic.message.clone(),
        help: diagnostic.help.clone(),
        place: Place::Span(diagnostic.span),
    }
}

fn of_caveat(caveat: Caveat) -> Finding {
    Finding {
        severity: match caveat.topic.level() {
            Level::Warning => Severity::Warning,
            Level::Note => Severity::Note,
        },
        topic: caveat.topic.name(),
        message: caveat.sentence,
        help: None,
        place: caveat.span.map_or(Place::Whole, Place::Span),
    }
}

/// Why an exploration failed.
fn of_failure(specification: &Specification, failure: &Failure) -> Finding {
    let (fault, at, run) = match failure {
        Failure::Fault { fault, at, run } => (fault, at, run),
        Failure::Invariant { fault, .. } => return not_explored(fault.kind.to_string()),
        Failure::Io(error) => return not_explored(error.to_string()),
    };
    let instruction = specification.program.instruction(*at);
    let span = if fault.span == Span::default() { instruction.span } else { fault.span };
    let steps = match run.len() {
        1 => "one step leads there".to_owned(),
        steps => format!("{steps} steps lead there"),
    };
    Finding {
        severity: Severity::Error,
        topic: FAULT,
        message: format!("{} in {}", fault.kind, specification.program.name_of(*at)),
        help: Some(format!("{steps}; `seqcon explore` shows them")),
        place: Place::Span(span),
    }
}

fn not_explored(why: String) -> Finding {
    Finding { severity: Severity::Error, topic: NOT_EXPLORED, message: why, help: None, place: Place::Whole }
}

/// What was odd when an input was read.
#[must_use]
pub fn odd(sentence: String) -> Finding {
    of_caveat(Caveat::new(Topic::Input, sentence))
}

/// The language of a specification; a name of something else has none.
#[must_use]
pub fn language_of(name: &str) -> Option<Language> {
    Language::of(name)
}
