//! `report.json` as far as a comparison needs it.

use super::same::{Named, Same};
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The newest schema that is understood.
const SCHEMA_VERSION: u64 = 2;

/// Why a comparison cannot be made.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Mismatch {
    /// It is no report.
    #[error("this is no report of seqcon: {0}; write one with 'seqcon analyse SPEC --json FILE'")]
    NoReport(String),
    /// It is a report of a later version.
    #[error(
        "this report has schema version {0}, and this version of seqcon reads up to {SCHEMA_VERSION}; use a newer seqcon, or write the report again with this one"
    )]
    TooNew(u64),
    /// It has the results of several models.
    #[error(
        "this report is of several models ({0}), and one with one is compared; analyse each file by itself, with a --json of its own"
    )]
    SeveralModels(String),
    /// It has no result for the memory model.
    #[error("the report has no result for {0:?}; it has {1}")]
    NoModel(String, String),
    /// There is nothing to compare.
    #[error(
        "the reports have no memory model in common: the first has {0}, the second {1}; --mm NAME,NAME compares two different ones"
    )]
    NothingInCommon(String, String),
}

/// A report.
#[derive(Clone, Debug, Deserialize)]
pub struct Report {
    #[serde(default)]
    seqcon: String,
    #[serde(default)]
    model: String,
    #[serde(default)]
    inputs: Vec<Input>,
    /// Reports of earlier versions have none.
    #[serde(default)]
    pub(super) instructions: Vec<Instruction>,
    /// One for each memory model.
    pub results: Vec<ResultObject>,
}

#[derive(Clone, Debug, Deserialize)]
struct Input {
    path: String,
    sha256: Option<String>,
}

/// An instruction of the program.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Instruction {
    pub(super) thread: String,
    pub(super) instruction: String,
    pub(super) text: String,
    pub(super) identity: String,
    pub(super) kind: String,
    pub(super) from: Option<String>,
    pub(super) to: Option<String>,
}

impl Instruction {
    pub(super) fn named(&self) -> Named {
        (self.thread.clone(), self.instruction.clone())
    }

    /// `P0.1`
    pub(super) fn name(&self) -> String {
        format!("{}.{}", self.thread, self.instruction)
    }

    pub(super) fn is_fence(&self) -> bool {
        self.kind.starts_with("fence")
    }
}

/// The result under one memory model.
#[derive(Clone, Debug, Deserialize)]
pub struct ResultObject {
    summary: BTreeMap<String, Value>,
    /// If it is not known which fences are enough, or if none are.
    inserted: Option<Value>,
    #[serde(default)]
    verified: BTreeMap<String, Value>,
    pub(super) fences: Vec<Fence>,
    pub(super) locks: Vec<Lock>,
    pub(super) delays: Vec<Delay>,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct Fence {
    pub(super) thread: String,
    pub(super) instruction: String,
    pub(super) position: String,
    level: Option<u32>,
    pub(super) kind: String,
    mnemonic: String,
    #[serde(default)]
    serves: Vec<usize>,
    /// What the instruction says, if that is known.
    #[serde(skip)]
    text: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct Lock {
    lock: Option<u64>,
    pub(super) thread: String,
    pub(super) instruction: String,
    role: String,
    locations: String,
    /// What the instruction says, if that is known.
    #[serde(skip)]
    text: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct Delay {
    pub(super) thread: String,
    pub(super) from_instruction: String,
    from_access: String,
    pub(super) to_instruction: String,
    to_access: String,
    cumulative: String,
    confirmed: String,
}

impl Report {
    /// Reads a report.
    ///
    /// # Errors
    /// If it is none, or one that is too new.
    pub fn from_json(json: &str) -> Result<Report, Mismatch> {
        let no_report = |problem: String| Mismatch::NoReport(problem);
        let value: Value = serde_json::from_str(json).map_err(|error| no_report(error.to_string()))?;
        let version = value.get("schema_version").and_then(Value::as_u64);
        let version = version.ok_or_else(|| no_report("it has no schema_version".to_owned()))?;
        if let Some(models) = value.get("models").and_then(Value::as_array) {
            return Err(Mismatch::SeveralModels(names(models)));
        }
        if value.get("results").is_none() {
            return Err(no_report("it has no results".to_owned()));
        }
        if version > SCHEMA_VERSION {
            return Err(Mismatch::TooNew(version));
        }
        let mut report: Report = serde_json::from_value(value).map_err(|error| no_report(error.to_string()))?;
        if version == 1 {
            report.results.iter_mut().for_each(ResultObject::count_as_now);
        }
        // Reports from before fences of stores were put in do not count them.
        for result in &mut report.results {
            result.summary.entry("store_fences".to_owned()).or_insert_with(|| 0.into());
        }
        match report.results.iter().find(|result| result.memory_model().is_empty()) {
            Some(_) => Err(no_report("a result has no memory_model".to_owned())),
            None => Ok(report),
        }
    }

    /// The result for a memory model.
    ///
    /// # Errors
    /// If there is none.
    pub fn result(&self, memory_model: &str) -> Result<&ResultObject, Mismatch> {
        self.results.iter().find(|result| result.memory_model() == memory_model).ok_or_else(|| {
            let known: Vec<&str> = self.results.iter().map(ResultObject::memory_model).collect();
            Mismatch::NoModel(memory_model.to_owned(), known.join(", "))
        })
    }

    /// What the program is, as far as the report tells.
    pub(super) fn program(&self) -> BTreeSet<(&str, &str)> {
        self.instructions.iter().map(|known| (known.identity.as_str(), known.kind.as_str())).collect()
    }

    /// How it came about.
    pub(super) fn origin(&self) -> BTreeMap<String, String> {
        let inputs = self.inputs.iter().map(|Input { path, sha256 }| match sha256 {
            Some(hash) => format!("{path} (sha256 {})", hash.get(..12).unwrap_or(hash)),
            None => path.clone(),
        });
        BTreeMap::from([
            ("model".to_owned(), self.model.clone()),
            ("seqcon".to_owned(), self.seqcon.clone()),
            ("inputs".to_owned(), inputs.collect::<Vec<_>>().join(", ")),
        ])
    }
}

/// The names of models.
fn names(models: &[Value]) -> String {
    let names = models.iter().filter_map(|model| model.get("model").and_then(Value::as_str));
    names.collect::<Vec<_>>().join(", ")
}

impl ResultObject {
    /// The memory model.
    #[must_use]
    pub fn memory_model(&self) -> &str {
        self.summary.get("memory_model").and_then(Value::as_str).unwrap_or("")
    }

    /// Schema 1 had the plain fences as `fences` and the torn instructions as `locks`.
    fn count_as_now(&mut self) {
        let counted = |name: &str| self.summary.get(name).and_then(Value::as_u64);
        let (Some(plain), Some(cumulative), Some(torn)) =
            (counted("fences"), counted("cumulative_fences"), counted("locks"))
        else {
            return;
        };
        let locks: BTreeSet<u64> = self.locks.iter().filter_map(|row| row.lock).collect();
        let counts =
            [("torn", torn), ("locks", locks.len() as u64), ("fences", plain + cumulative), ("plain_fences", plain)];
        self.summary.extend(counts.map(|(name, count)| (name.to_owned(), count.into())));
    }

    /// The columns of `summary.csv`, but for the times, and for the program's name, and the verdict of a verification.
    pub(super) fn figures(&self) -> BTreeMap<String, String> {
        let shown = |value: &Value| match value {
            Value::String(text) => text.clone(),
            Value::Null => "-".to_owned(),
            other => other.to_string(),
        };
        let verdict = self.verified.get("verdict").map(|verdict| ("verified".to_owned(), shown(verdict)));
        let figures = self.summary.iter().filter(|(name, _)| *name != "model");
        figures.map(|(name, value)| (name.clone(), shown(value))).chain(verdict).collect()
    }

    /// The same with the names of another report, and with what instructions say.
    pub(super) fn called(&self, named: impl Fn(Named) -> Named, same: &Same) -> ResultObject {
        let text = |instruction: &Named| same.text(instruction).map(str::to_owned);
        let fence = |fence: &Fence| {
            let (thread, instruction) = named(fence.named());
            let text = text(&(thread.clone(), instruction.clone()));
            Fence { thread, instruction, text, ..fence.clone() }
        };
        let lock = |lock: &Lock| {
            let (thread, instruction) = named(lock.named());
            let text = text(&(thread.clone(), instruction.clone()));
            Lock { thread, instruction, text, ..lock.clone() }
        };
        let delay = |delay: &Delay| {
            let (_, to_instruction) = named((delay.thread.clone(), delay.to_instruction.clone()));
            let (thread, from_instruction) = named((delay.thread.clone(), delay.from_instruction.clone()));
            Delay { thread, from_instruction, to_instruction, ..delay.clone() }
        };
        ResultObject {
            fences: self.fences.iter().map(fence).collect(),
            locks: self.locks.iter().map(lock).collect(),
            delays: self.delays.iter().map(delay).collect(),
            ..self.clone()
        }
    }

    /// Whether it asks for nothing, and says so of all of the program.
    pub(super) fn asks_for_nothing(&self) -> bool {
        let is_complete = self.summary.get("complete").and_then(Value::as_str) == Some("yes");
        is_complete && self.inserted.is_none() && self.fences.is_empty() && self.locks.is_empty()
    }

    /// The names of the delays that a fence serves.
    pub(super) fn served_by(&self, fence: &Fence) -> BTreeSet<String> {
        fence.serves.iter().filter_map(|&position| self.delays.get(position)).map(Delay::name).collect()
    }
}

/// So much is shown of what an instruction says.
const MOST_SHOWN: usize = 50;

/// ` (turn := 1)`
fn said(text: Option<&str>) -> String {
    match text {
        None | Some("") => String::new(),
        Some(text) if text.chars().count() <= MOST_SHOWN => format!(" ({text})"),
        Some(text) => format!(" ({}…)", text.chars().take(MOST_SHOWN - 1).collect::<String>()),
    }
}

impl Fence {
    /// `after P0.1`
    pub(super) fn name(&self) -> String {
        let level = self.level.map_or(String::new(), |level| format!(" {level}"));
        let position = if self.position == "state" { "at the state behind" } else { &self.position };
        format!("{position}{level} {}.{}{}", self.thread, self.instruction, said(self.text.as_deref()))
    }

    pub(super) fn named(&self) -> Named {
        (self.thread.clone(), self.instruction.clone())
    }

    pub(super) fn details(&self) -> String {
        format!("{}, {}", self.mnemonic, self.kind)
    }
}

impl Lock {
    pub(super) fn name(&self) -> String {
        format!("{}.{}{}", self.thread, self.instruction, said(self.text.as_deref()))
    }

    pub(super) fn named(&self) -> Named {
        (self.thread.clone(), self.instruction.clone())
    }

    pub(super) fn details(&self) -> String {
        format!("{} of {}", self.role, self.locations)
    }
}

impl Delay {
    /// `P0.0 W x -> P0.1 R y`
    pub(super) fn name(&self) -> String {
        let Delay { thread, from_instruction, from_access, to_instruction, to_access, .. } = self;
        format!("{thread}.{from_instruction} {from_access} -> {thread}.{to_instruction} {to_access}")
    }

    pub(super) fn details(&self) -> String {
        let cumulative = if self.cumulative == "yes" { "cumulative" } else { "plain" };
        format!("{cumulative}, confirmed: {}", self.confirmed)
    }
}
