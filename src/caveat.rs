//! What a reader must know before believing an answer: what it rests on, and what looks odd about its input.
//!
//! A [`Caveat`] is one sentence about a whole model, carried by the [`Outcome`](crate::analysis::Outcome). Every report says the same sentences, once each: the text before the first result, `report.json` under
//! `caveats`, the page among its notices, SARIF as notifications; the summary line counts the warnings. Who finds something out makes the caveat: there is no list of findings here, only their [topics](Topic).
//! What holds under one memory model only is part of its result, and no caveat.

use crate::aeg::Profile;
use crate::cycles::ConflictRule;
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
            Topic::Definitions => Level::Warning,
        }
    }

    /// The name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Topic::Definitions => "definitions",
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

/// Definitions that are known to miss violations; `conflicts` are those that apply.
#[must_use]
pub fn of_definitions(profile: Profile, conflicts: ConflictRule) -> Vec<Caveat> {
    let profile = match profile {
        Profile::Sound => None,
        Profile::Literal => Some(
            "--profile literal has no program order across waits, and is known to miss violations: what is suggested may not be enough",
        ),
        Profile::Published => Some(
            "--profile published has the definitions of the paper, which are known to miss violations: what is suggested may not be enough",
        ),
    };
    let conflicts = match (profile, conflicts) {
        (None, ConflictRule::Concurrent) => Some(
            "--conflicts concurrent takes only accesses that are enabled together for conflicts, and is known to miss violations: what is suggested may not be enough",
        ),
        _ => None,
    };
    profile.into_iter().chain(conflicts).map(|sentence| Caveat::new(Topic::Definitions, sentence)).collect()
}
