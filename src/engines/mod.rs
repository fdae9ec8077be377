//! Engines: published methods that answer the same question, where does a program need fences, each in its own way.
//!
//! An [`Engine`] knows its name, the property that its fences guarantee, and the memory models that it is for.
//! [`Engine::check`] looks at the state space of a program once and gives [`Evidence`]; [`Evidence::insert_fences`]
//! makes a [`ModelOutcome`] of it, which goes through the same reports as that of any other engine. Engines know
//! nothing of each other. [`all`] lists them; the first is the default.
//!
//! | engine | guarantees | looks at |
//! |---|---|---|
//! | [`cycles`] | robustness: every run is sequentially consistent | critical cycles of the abstract event graph |
//! | [`persistence`] | the program and store orders of every run are those of a sequentially consistent one | one simple pattern in the SC state space |

pub mod cycles;
pub mod persistence;

use crate::analysis::{Abstraction, Analysis, ModelOutcome, Options};
use crate::explore::Limits;
use crate::explore::driver::Failure;
use crate::memory::{Known, MemoryModel};
use crate::program::compiled::{Compiled, Fault, TooManyIndices};
use crate::program::{At, Program, Span};
use crate::weak::buffers::{BufferState, BufferStep};
use std::str::FromStr;

/// What an engine is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Description {
    /// Its name, as options take it.
    pub name: &'static str,
    /// The property that holds with its fences in place, in one sentence.
    pub guarantees: &'static str,
    /// The memory models that it is for; none stands for all.
    pub models: &'static [Known],
    /// What it needs to know: a program, or only a state space.
    pub input: &'static str,
    /// Whose method it is.
    pub after: &'static str,
}

impl Description {
    /// Whether it is for this memory model, by its rules.
    #[must_use]
    pub fn knows(&self, model: &MemoryModel) -> bool {
        self.models.is_empty() || model.known().is_ok_and(|known| self.models.contains(&known))
    }

    /// The memory models in words.
    #[must_use]
    pub fn models_in_words(&self) -> String {
        if self.models.is_empty() { "all".to_owned() } else { Known::list(self.models) }
    }
}

/// What is asked of an engine.
#[derive(Clone, Copy)]
pub struct Task<'a> {
    /// The program.
    pub program: &'a Program,
    /// The program, compiled.
    pub compiled: &'a Compiled,
    /// When to stop exploring.
    pub limits: &'a Limits<'a>,
    /// What is looked at.
    pub approach: Approach,
}

/// What an engine looks at: the program, or an abstraction that has all its runs, and perhaps more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Approach {
    /// Whatever is enough for an answer.
    #[default]
    Auto,
    /// The program itself.
    Program,
    /// This abstraction.
    Abstract(Abstraction),
}

impl FromStr for Approach {
    type Err = String;

    fn from_str(text: &str) -> Result<Approach, String> {
        match text {
            "auto" => Ok(Approach::Auto),
            "none" => Ok(Approach::Program),
            _ => match text.parse() {
                Ok(abstraction) => Ok(Approach::Abstract(abstraction)),
                Err(expected) => Err(format!("{expected}, auto, or none")),
            },
        }
    }
}

/// Why an engine has no answer.
#[derive(Debug)]
pub enum Trouble {
    /// The exploration of the program failed.
    Exploration(Failure),
    /// The program goes wrong at an instruction once it is performed access by access.
    Fault(Fault, At),
    /// A fence would have to stand inside an instruction, where the engine has no place for one.
    Inside(At),
    /// An instruction computes too many indices.
    TooManyIndices(Span),
    /// The engine does not do what is asked: why, and what to do instead.
    Unsupported(String),
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Trouble {
        Trouble::Exploration(failure)
    }
}

impl From<TooManyIndices> for Trouble {
    fn from(error: TooManyIndices) -> Trouble {
        Trouble::TooManyIndices(error.span)
    }
}

/// A run under a weak memory model: each step, and the store buffers after it.
pub type Run = Vec<(BufferStep, BufferState)>;

/// What a check has found.
pub trait Evidence {
    /// What reports need to know of the program.
    fn analysis(&self) -> &Analysis;

    /// Whether the program has the engine's property under this model as it stands.
    fn holds(&self, model: &MemoryModel) -> bool;

    /// The abstraction that was looked at instead of the program, if one was.
    fn abstraction(&self) -> Option<Abstraction>;

    /// How often an index was out of range in what was explored.
    fn out_of_range(&self) -> u64 {
        0
    }

    /// The fewest fences after which it has it.
    fn insert_fences(&self, model: &MemoryModel, options: &Options) -> ModelOutcome;

    /// A run for each finding that has one, in the order of the delays of [`Evidence::insert_fences`].
    fn runs(&self, model: &MemoryModel) -> Vec<Run>;
}

/// A method.
pub trait Engine: Sync {
    /// What it is.
    fn description(&self) -> Description;

    /// Looks at the program.
    ///
    /// # Errors
    /// If the program goes wrong, or the engine does not do what is asked.
    fn check(&self, task: &Task<'_>) -> Result<Box<dyn Evidence>, Trouble>;
}

/// All engines, the default first.
#[must_use]
pub fn all() -> [&'static dyn Engine; 2] {
    [&cycles::Cycles, &persistence::Persistence]
}

/// The engine of this name.
#[must_use]
pub fn named(name: &str) -> Option<&'static dyn Engine> {
    all().into_iter().find(|engine| engine.description().name == name)
}
