//! What a reader must know before believing an answer: what it rests on, and what looks odd about its input.
//!
//! A [`Caveat`] is one sentence about a whole model, carried by the [`Outcome`](crate::analysis::Outcome). Every
//! report says the same sentences, once each: the text before the first result, `report.json` under `caveats`, the
//! page among its notices, SARIF as notifications; the summary line counts the warnings. Who finds something out
//! makes the caveat: there is no list of findings here, only their [topics](Topic). What holds under one memory model
//! only is part of its result, and no caveat.

pub mod arrays;
pub mod conflicts;
pub mod definitions;
pub mod idle;
pub mod unseen;

use crate::program::Span;
use serde::Serialize;

/// One thing to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caveat {
    /// What it is about, for programs.
    pub topic: Topic,
    /// What it is, for people: begins in lower case, and has no full stop.
    pub sentence: String,
    /// The part of the specification that it is about.
    pub span: Option<Span>,
}

/// What caveats are about; the names are those of `report.json`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Topic {
    /// The definitions asked for are known to miss violations.
    Definitions,
    /// What the state space does not show, and what was presumed instead.
    Unseen,
    /// The word of the user was taken for it that the state space shows all refused conditions.
    RefusalsShown,
    /// Names that were taken to be one location.
    TakenTogether,
    /// What was odd when the input was read.
    Input,
    /// In the initial state nothing can be done.
    DeadlocksAtOnce,
    /// A thread that takes no step.
    NeverMoves,
    /// An instruction that is evaluated, or could be, and never taken.
    NeverTaken,
    /// Control states that no step leads to.
    NeverReached,
    /// An instruction without a condition that steps of other threads disable.
    Disabled,
    /// No two accesses can conflict.
    NoConflicts,
}

/// How much it weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// How something was taken.
    Note,
    /// The answer may not be what it seems.
    Warning,
}

impl Topic {
    /// How much caveats about this weigh.
    #[must_use]
    pub fn level(self) -> Level {
        match self {
            Topic::Definitions
            | Topic::Unseen
            | Topic::Input
            | Topic::DeadlocksAtOnce
            | Topic::NeverMoves
            | Topic::NeverTaken
            | Topic::NeverReached
            | Topic::Disabled
            | Topic::NoConflicts => Level::Warning,
            Topic::RefusalsShown | Topic::TakenTogether => Level::Note,
        }
    }

    /// The name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Topic::Definitions => "definitions",
            Topic::Unseen => "unseen",
            Topic::RefusalsShown => "refusals-shown",
            Topic::TakenTogether => "taken-together",
            Topic::Input => "input",
            Topic::DeadlocksAtOnce => "deadlocks-at-once",
            Topic::NeverMoves => "never-moves",
            Topic::NeverTaken => "never-taken",
            Topic::NeverReached => "never-reached",
            Topic::Disabled => "disabled",
            Topic::NoConflicts => "no-conflicts",
        }
    }
}

impl Level {
    /// The name in reports, also in SARIF.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Level::Note => "note",
            Level::Warning => "warning",
        }
    }
}

impl Caveat {
    /// About no place in particular.
    #[must_use]
    pub fn new(topic: Topic, sentence: impl Into<String>) -> Caveat {
        Caveat { topic, sentence: sentence.into(), span: None }
    }

    /// About a part of the specification.
    #[must_use]
    pub fn at(self, span: Span) -> Caveat {
        Caveat { span: Some(span), ..self }
    }

    /// The sentence with its weight, as people read it.
    #[must_use]
    pub fn in_words(&self) -> String {
        format!("{}: {}", self.topic.level().name(), self.sentence)
    }
}

/// Names as people list them: `a, b and c`, the first few.
fn listed(names: impl Iterator<Item = String>) -> String {
    const SHOWN: usize = 6;
    let mut names: Vec<String> = names.collect();
    if names.len() > SHOWN {
        let more = names.len() - SHOWN + 1;
        names.truncate(SHOWN - 1);
        names.push(format!("{more} more"));
    }
    let last = names.pop().unwrap_or_default();
    if names.is_empty() { last } else { format!("{} and {last}", names.join(", ")) }
}
