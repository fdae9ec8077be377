//! Runs in the program's words: who did what, and what waited in the store buffers afterwards.

use crate::ids::{InstrId, ThreadAt};
use crate::memory::Kind;

/// Why something goes wrong, in the program's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// What can be shown of it.
    pub evidence: Evidence,
    /// What is wrong with it.
    pub because: String,
}

/// What can be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// A run.
    Run(Run),
    /// No run, but lines about it, as where an execution ends; empty if there is nothing to show.
    Text(String),
}

impl Evidence {
    /// Nothing to show.
    #[must_use]
    pub fn none() -> Evidence {
        Evidence::Text(String::new())
    }

    /// The run, if it is one.
    #[must_use]
    pub fn run(&self) -> Option<&Run> {
        match self {
            Evidence::Run(run) => Some(run),
            Evidence::Text(_) => None,
        }
    }
}

/// Steps of all threads, one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// The names of the program's threads.
    pub threads: Vec<String>,
    /// Whether writes wait in store buffers; else they are visible at once.
    pub has_buffers: bool,
    /// The steps.
    pub steps: Vec<RunStep>,
}

/// A step of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunStep {
    /// Whose it is: the position in [`Run::threads`].
    pub thread: ThreadAt,
    /// What happens.
    pub deed: Deed,
    /// For each thread the writes that wait in its buffer afterwards, oldest first; of a run without buffers nothing.
    pub buffers: Vec<Vec<Waiting>>,
}

/// What happens in a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Deed {
    /// A thread executes an instruction, or a part of one.
    Executes {
        /// The instruction.
        instr: InstrId,
        /// Its name with that of its thread, as `T0.0`.
        name: String,
        /// Its text on one line.
        text: String,
        /// Its accesses to shared memory, in order.
        accesses: Vec<RunAccess>,
    },
    /// A write that waited becomes visible to all.
    BecomesVisible {
        /// The write.
        write: Waiting,
        /// The instruction that made it, if that is a step of the run.
        of: Option<InstrId>,
    },
}

impl Deed {
    /// The instruction that is executed, or whose write becomes visible.
    #[must_use]
    pub fn instr(&self) -> Option<InstrId> {
        match self {
            Deed::Executes { instr, .. } => Some(*instr),
            Deed::BecomesVisible { of, .. } => *of,
        }
    }

    /// What it does to shared memory, as `W x = 1, R y = 0` or `x = 1 becomes visible`.
    #[must_use]
    pub fn in_words(&self) -> String {
        match self {
            Deed::Executes { accesses, .. } => accesses.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
            Deed::BecomesVisible { write, .. } => format!("{write} becomes visible"),
        }
    }
}

/// An access with the value that was read or written; shown as `W x = 1`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunAccess {
    /// Read or write.
    pub kind: Kind,
    /// The name of the location.
    pub location: String,
    /// The value.
    pub value: i64,
}

impl std::fmt::Display for RunAccess {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} = {}", self.kind, self.location, self.value)
    }
}

/// A write in a store buffer; shown as `x = 1`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// The name of the location.
    pub location: String,
    /// The value.
    pub value: i64,
}

impl std::fmt::Display for Waiting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} = {}", self.location, self.value)
    }
}
