//! Engines: published methods that answer one question, does a program have a property under a memory model, each in
//! its own way; and what fences give it the property.
//!
//! An [`Engine`] says what it [decides](Engine::decides). [`Engine::examine`] looks at a program, as far as all memory
//! models share it; what it gives is [`Examined`], which supplies a [`Checker`] for a memory model. A checker tells
//! whether the property holds with fences in place, and if not, what a run or a cycle demands; [`insert()`] makes the
//! fewest fences of that, through the one [loop](crate::insertion), unless an engine has a faster way to the same
//! answer ([`Examined::place`]). Engines know nothing of each other, but for [`auto`], which asks the others. [`all`]
//! lists them.
//!
//! | engine | decides | looks at |
//! |---|---|---|
//! | [`cycles`] | robustness | critical cycles of the abstract event graph |
//! | [`persistence`] | persistence | one simple pattern in the SC state space |
//! | [`auto`] | properties of states | what those below look at, the cheapest first |
//! | [`single_buffer`] | properties of states | one buffer for all threads, backwards from what is forbidden |
//! | [`partial_coherence`] | properties of states | all states, with store buffers kept only in part |
//! | [`buffer_automata`] | properties of states | all states, with what store buffers can hold as automata |
//! | [`store_buffers`] | robustness, the same states, properties of states | runs on store buffers |
//! | [`axioms`] | robustness, the same states at the end | beginnings of executions, and all executions, that axioms allow |
//!
//! *Contract.* Every set of fences at the sites of [`Examined::accesses`] after which the property holds meets every
//! [demand](crate::insertion::Demand) of a checker; a checker that cannot promise that makes no demand, and nothing is
//! inserted; what only an abstraction demands is [marked](Answer::Suspected), and not claimed of the
//! program. A checker that says that the property [holds](Answer::Holds) has proved it; what it rests on is said.

mod answer;
pub mod auto;
pub(crate) mod automata;
pub mod axioms;
pub mod buffer_automata;
mod caveats;
pub mod cycles;
mod insert;
mod judged;
mod ladder;
mod one_by_one;
pub mod partial_coherence;
pub mod persistence;
mod settings;
pub mod single_buffer;
pub mod store_buffers;
pub(crate) mod words;

pub use answer::{Answer, Ground};
pub use caveats::{CHEAP_STATES, of_facts as caveats_of_facts};
pub use insert::insert;
pub use ladder::ladder;
pub use settings::{Approach, Confirm, Settings};

use crate::aeg::Accesses;
use crate::analysis::{Abstraction, Analysis, EngineUse, Explored, ModelOutcome, Options, Outcome};
use crate::budget::Budget;
use crate::caveat::{Caveat, definitions};
use crate::cycles::Atomicity;
use crate::explore::Limits;
use crate::explore::driver::Failure;
use crate::facts::Facts;
use crate::ids::InstrId;
use crate::lts::label::LabelKind;
use crate::memory::{Known, MemoryModel};
use crate::program::compiled::{Fault, TooManyIndices};
use crate::program::{At, Marks, Span};
use crate::property::{Property, PropertyKind};
use crate::provenance::Provenance;
use crate::repair::Repair;
use crate::specification::Specification;
use crate::text::counted;
use crate::weak::semantics::CannotRun;
use crate::weak::split::TooLong;
use std::time::Duration;

/// What an engine is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Description {
    /// Its name, as options take it.
    pub name: &'static str,
    /// The properties that it decides.
    pub properties: &'static [PropertyKind],
    /// The memory models that it is for; none stands for all.
    pub models: &'static [Known],
    /// What it needs to know: a program, or only a state space.
    pub input: &'static str,
    /// Whose method it is.
    pub after: &'static str,
    /// What it does: it finds fences, or judges those that others have found.
    pub purpose: Purpose,
    /// The options that not all engines take, and this one does.
    pub takes: &'static [&'static str],
}

impl Purpose {
    /// In words.
    #[must_use]
    pub fn in_words(self) -> &'static str {
        match self {
            Purpose::Finds => "finds fences",
            Purpose::FindsAndJudges => "runs the program: finds fences, and judges those of others",
            Purpose::Judges => "runs the program: judges the fences of others",
        }
    }
}

/// What an engine is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// It finds fences.
    Finds,
    /// It runs the program, finds fences, and judges those that others have found.
    FindsAndJudges,
    /// It runs the program, and judges the fences that others have found.
    Judges,
}

impl Description {
    /// Whether it is for this memory model, by its rules.
    #[must_use]
    pub fn knows(&self, model: &MemoryModel) -> bool {
        if model.axioms.is_some() {
            return self.name == axioms::NAME;
        }
        self.models.is_empty() || model.known().is_ok_and(|known| self.models.contains(&known))
    }

    /// The memory models in words.
    #[must_use]
    pub fn models_in_words(&self) -> String {
        if self.models.is_empty() { "all".to_owned() } else { Known::list(self.models) }
    }

    /// Whether it can be asked for fences.
    #[must_use]
    pub fn finds(&self) -> bool {
        self.purpose != Purpose::Judges
    }

    /// Whether it runs the program, and so can judge what others have found.
    #[must_use]
    pub fn judges(&self) -> bool {
        self.purpose != Purpose::Finds
    }
}

/// What is asked of an engine.
#[derive(Clone, Copy)]
pub struct Task<'a> {
    /// What is looked at.
    pub subject: Subject<'a>,
    /// What must hold.
    pub property: &'a Property,
    /// The memory models that will be asked for: whoever looks no further than needed wants to know. None, if that is
    /// not known.
    pub models: &'a [MemoryModel],
    /// When to stop exploring.
    pub limits: &'a Limits<'a>,
    /// What may be used for the rest, once it is known how the exploration has ended.
    pub rest: &'a dyn Fn() -> Budget,
    /// How the engine goes about it.
    pub settings: &'a Settings,
}

/// What an engine looks at.
#[derive(Clone, Copy)]
pub enum Subject<'a> {
    /// A program.
    Program(&'a Specification),
    /// Only the facts of a state space.
    StateSpace(&'a Facts),
}

impl Subject<'_> {
    /// For engines that know nothing of pairs of a load and a store exclusive.
    ///
    /// # Errors
    /// If there is one of such a pair.
    fn refuse_exclusives(&self) -> Result<(), Trouble> {
        match self {
            Subject::Program(specification) => {
                let program = &specification.program;
                program.exclusive().map_or(Ok(()), |at| {
                    let span = program.instruction(at).span;
                    Err(Trouble::Unsupported(specification.placed(span, program.exclusive_problem(at))))
                })
            }
            Subject::StateSpace(facts) => {
                let is_exclusive = |kind| match kind {
                    LabelKind::Marked(marks) | LabelKind::Rmw(marks) => marks.has(Marks::EXCLUSIVE),
                    LabelKind::Plain | LabelKind::Fence | LabelKind::PartialFence(_) | LabelKind::Atomic => false,
                };
                facts.labels.iter().find(|label| is_exclusive(label.kind)).map_or(Ok(()), |label| {
                    Err(Trouble::Unsupported(format!(
                        "{}.{} is one of a pair of a load and a store exclusive, and no engine for state spaces knows these pairs",
                        label.thread, label.instr
                    )))
                })
            }
        }
    }
}

impl<'a> Task<'a> {
    /// The program.
    ///
    /// # Errors
    /// If there is none: this engine needs one.
    pub fn program(&self, engine: &'static str) -> Result<&'a Specification, Trouble> {
        match self.subject {
            Subject::Program(specification) => Ok(specification),
            Subject::StateSpace(_) => Err(Trouble::NeedsProgram(engine)),
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
    /// An instruction is too long to be performed access by access; the engine may not know where it stands.
    TooLong(Option<Span>),
    /// This engine needs a program, and there is only a state space.
    NeedsProgram(&'static str),
    /// Nothing runs the memory model.
    CannotRun(CannotRun),
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

impl From<TooLong> for Trouble {
    fn from(error: TooLong) -> Trouble {
        Trouble::TooLong(Some(error.span))
    }
}

/// Knows whether a property holds under a memory model with fences and locks in place. It may keep whatever it likes
/// between calls.
pub trait Checker {
    /// Whether the property holds with these in place.
    ///
    /// # Errors
    /// If the program goes wrong.
    fn check(&mut self, repair: &Repair) -> Result<Answer, Trouble>;
}

/// What an engine has found before a memory model is named.
pub trait Examined {
    /// The program, as far as reasons speak of it.
    fn accesses(&self) -> &Accesses;

    /// How much was looked at.
    fn explored(&self) -> Explored;

    /// The event graph, if it was looked at.
    fn analysis(&self) -> Option<&Analysis> {
        None
    }

    /// What must be known before the results are believed.
    fn caveats(&self) -> Vec<Caveat>;

    /// The abstraction that was looked at instead of the program, if one was.
    fn abstraction(&self) -> Option<Abstraction> {
        None
    }

    /// How instructions with several accesses are read.
    fn atomicity(&self) -> Atomicity;

    /// Instructions with several accesses that nothing makes atomic: how they are read decides the result.
    fn composites(&self) -> Vec<InstrId> {
        Vec::new()
    }

    /// How often an index was out of range in what was explored.
    fn out_of_range(&self) -> u64 {
        0
    }

    /// At which limit the exploration has ended, and after how many states, if it was one.
    fn stopped_exploring(&self) -> Option<String> {
        let Explored { states, cut_off, missing, .. } = self.explored();
        cut_off.then(|| {
            format!("stopped at {} after {}", missing.as_deref().unwrap_or("a limit"), counted(states, "state"))
        })
    }

    /// Whether its checker heeds fences of stores, where the model has a use for them: then these are put in where they
    /// are enough.
    fn knows_store_fences(&self, model: &MemoryModel) -> bool {
        let _ = model;
        false
    }

    /// What may be used.
    fn budget(&self) -> &Budget;

    /// Who judges the program with fences in place.
    ///
    /// # Errors
    /// If the engine cannot run the memory model.
    fn checker<'c>(&'c self, model: &'c MemoryModel) -> Result<Box<dyn Checker + 'c>, Trouble>;

    /// The fewest fences after which the property holds, with the reasons for them.
    ///
    /// # Errors
    /// If the program goes wrong.
    fn place(&self, model: &MemoryModel, options: &Options) -> Result<ModelOutcome, Trouble>;
}

/// A method.
pub trait Engine: Sync {
    /// What it is.
    fn description(&self) -> Description;

    /// Whether it decides a property under a memory model.
    fn decides(&self, property: &Property, model: &MemoryModel) -> bool {
        let description = self.description();
        description.properties.contains(&property.kind()) && description.knows(model)
    }

    /// Looks at the program.
    ///
    /// # Errors
    /// If the program goes wrong, or the engine does not do what is asked.
    fn examine<'a>(&self, task: &Task<'a>) -> Result<Box<dyn Examined + 'a>, Trouble>;
}

/// All engines. Of those that decide a property the first is the default, to find fences and to judge them.
#[must_use]
pub fn all() -> [&'static dyn Engine; 8] {
    [
        &cycles::Cycles,
        &persistence::Persistence,
        &auto::Auto,
        &single_buffer::SingleBuffer,
        &partial_coherence::PartialCoherence,
        &buffer_automata::BufferAutomata,
        &store_buffers::StoreBuffers,
        &axioms::Axioms,
    ]
}

/// The engine of this name.
#[must_use]
pub fn named(name: &str) -> Option<&'static dyn Engine> {
    all().into_iter().find(|engine| engine.description().name == name)
}

/// The engine that finds fences for a property, unless another one is asked for.
#[must_use]
pub fn finding(property: PropertyKind) -> Option<&'static dyn Engine> {
    let finds = |engine: &&dyn Engine| {
        let description = engine.description();
        description.finds() && description.properties.contains(&property)
    };
    all().into_iter().find(finds)
}

/// The engine that judges whether a program has a property under a memory model, unless another one is asked for: one
/// that runs the program. Only where none runs a program for the property at all may the engine judge that finds the
/// fences.
#[must_use]
pub fn judging(property: PropertyKind, model: &MemoryModel) -> Option<&'static dyn Engine> {
    let asked = || all().into_iter().filter(|engine| engine.description().properties.contains(&property));
    let is_run = asked().any(|engine| engine.description().judges());
    let can_judge = |engine: &&dyn Engine| engine.description().judges() || !is_run;
    asked().filter(can_judge).find(|engine| engine.description().knows(model))
}

/// What is judged of a program that is to have a property: the property itself, or what is next to it on the ladder,
/// if nobody runs the program for it.
#[must_use]
pub fn judged_property(property: PropertyKind) -> PropertyKind {
    match property {
        PropertyKind::Persistent => PropertyKind::SameStates,
        other => other,
    }
}

/// The results of an engine, ready to be reported; name and provenance are for the caller.
#[must_use]
pub fn outcome(
    engine: &dyn Engine,
    task: &Task<'_>,
    examined: &dyn Examined,
    options: Options,
    results: Vec<ModelOutcome>,
    explored_in: Duration,
) -> Outcome {
    let source = match task.subject {
        Subject::Program(specification) => Some(specification.source()),
        Subject::StateSpace(_) => None,
    };
    let analysis = examined.analysis().cloned().map(|mut analysis| {
        analysis.graph.budget = analysis.graph.budget.settled();
        analysis
    });
    let mut outcome = Outcome {
        model: String::new(),
        property: task.property.clone(),
        engine: EngineUse { name: engine.description().name.to_owned(), abstraction: examined.abstraction() },
        accesses: examined.accesses().clone(),
        explored: examined.explored(),
        analysis,
        options,
        explored_in,
        results,
        caveats: Vec::new(),
        source,
        provenance: Provenance::default(),
    };
    outcome.caveats = definitions::caveats(task.settings.profile, outcome.conflict_rule());
    outcome.caveats.extend(examined.caveats());
    outcome
}
