//! Engines and properties on the command line: which are asked for, and what an engine is told.

use super::arguments::{EngineArguments, LimitArguments, PropertyArgument};
use super::failure::Failure;
use super::interrupt::Interruptible;
use super::specification::with_limits;
use crate::engines::{self, Engine, Examined, Settings, Subject, Task, Trouble};
use crate::memory::MemoryModel;
use crate::program::At;
use crate::property::Property;
use crate::report::streams;
use crate::specification::Specification;
use crate::tell;
use std::io::Write;
use std::process::ExitCode;

/// Lists the engines.
pub fn list() -> Result<ExitCode, Failure> {
    let mut out = streams::text();
    for (position, engine) in engines::all().into_iter().enumerate() {
        let description = engine.description();
        let default = if position == 0 { " (the default)" } else { "" };
        writeln!(out, "{}{default}", description.name)?;
        writeln!(out, "  does           {}", description.purpose.in_words())?;
        for property in description.properties {
            writeln!(out, "  guarantees     {}", property.in_words())?;
        }
        writeln!(out, "  memory models  {}", description.models_in_words())?;
        writeln!(out, "  input          {}", description.input)?;
        writeln!(out, "  after          {}", description.after)?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// An engine and the property that it is asked for.
pub struct Chosen {
    pub engine: &'static dyn Engine,
    pub property: Property,
}

impl PropertyArgument {
    /// The property.
    pub fn property(self) -> Property {
        match self {
            PropertyArgument::Robust => Property::Robust,
            PropertyArgument::Persistent => Property::Persistent,
            PropertyArgument::SameStates => Property::SameStates,
        }
    }
}

impl EngineArguments {
    /// The property that is asked for; robustness, unless the engine is for another one.
    pub fn property(&self) -> Result<Property, Failure> {
        match (self.property, &self.engine) {
            (Some(asked), _) => Ok(asked.property()),
            (None, Some(name)) => {
                let first = named(name)?.description().properties[0];
                first.without_condition().ok_or_else(|| {
                    Failure::Usage(format!("the engine {name} decides conditions on states: give one with --never"))
                })
            }
            (None, None) => Ok(Property::Robust),
        }
    }

    /// The engine that finds fences, and for which property.
    pub fn finding(&self) -> Result<Chosen, Failure> {
        let property = self.property()?;
        let engine = match &self.engine {
            Some(name) => named(name)?,
            None => engines::finding(&property).ok_or_else(|| nobody(&property, "finds fences for"))?,
        };
        let description = engine.description();
        if !description.properties.contains(&property.kind()) {
            return Err(does_not_decide(engine, &property));
        }
        if !description.finds() {
            return Err(Failure::Usage(format!(
                "the engine {} only judges fences that others have found (seqcon verify); use {}",
                description.name,
                others(|other| other.finds() && other.properties.contains(&property.kind()))
            )));
        }
        Ok(Chosen { engine, property })
    }

    /// The engine that judges a program under a memory model.
    pub fn judging(&self, model: &MemoryModel) -> Result<Chosen, Failure> {
        let property = self.property()?;
        let engine = match &self.engine {
            Some(name) => named(name)?,
            None => match engines::judging(&property, model) {
                Some(engine) => engine,
                None => return Err(not_run(model).unwrap_or_else(|| nobody(&property, "judges"))),
            },
        };
        if !engine.description().properties.contains(&property.kind()) {
            return Err(does_not_decide(engine, &property));
        }
        refuse_models(engine, std::slice::from_ref(model))?;
        Ok(Chosen { engine, property })
    }
}

/// Nothing runs the memory model, if that is so.
pub fn not_run(model: &MemoryModel) -> Option<Failure> {
    crate::weak::semantics::Semantics::of(model).err().map(|cannot| Failure::Usage(cannot.to_string()))
}

pub fn nobody(property: &Property, what: &str) -> Failure {
    Failure::Usage(format!("no engine {what} the property {property}; see 'seqcon engines'"))
}

fn does_not_decide(engine: &dyn Engine, property: &Property) -> Failure {
    let description = engine.description();
    let decided: Vec<&str> = description.properties.iter().map(|kind| kind.name()).collect();
    Failure::Usage(format!(
        "the engine {} decides {}, not {property}; use {}",
        description.name,
        decided.join(", "),
        others(|other| other.properties.contains(&property.kind()))
    ))
}

/// The engines of which this is so, as an option.
fn others(are: impl Fn(engines::Description) -> bool) -> String {
    let names = engines::all().into_iter().map(Engine::description).filter(|known| are(*known));
    let names: Vec<&str> = names.map(|known| known.name).collect();
    format!("--engine {}", names.join(" or "))
}

/// The engine of that name.
fn named(name: &str) -> Result<&'static dyn Engine, Failure> {
    engines::named(name).ok_or_else(|| {
        let known: Vec<&str> = engines::all().iter().map(|engine| engine.description().name).collect();
        Failure::Usage(format!("there is no engine {name:?}: expected one of {}", known.join(", ")))
    })
}

/// Memory models that the engine is not for are refused before anything is read.
pub fn refuse_models(engine: &dyn Engine, models: &[MemoryModel]) -> Result<(), Failure> {
    let description = engine.description();
    let Some(model) = models.iter().find(|model| !description.knows(model)) else { return Ok(()) };
    let models = description.models_in_words();
    let why = match model.known() {
        Ok(known) if known.name() == model.name => String::new(),
        Ok(known) => format!(" (its rules are those of {known})"),
        Err(unknown) => format!(" ({unknown})"),
    };
    Err(Failure::Usage(format!(
        "the engine {} is for {models}, not for {}{why}; give --mm {}, or use --engine cycles",
        description.name,
        model.name,
        models.replace(", ", ",")
    )))
}

/// Options that the engine does not take are refused, too.
pub fn refuse_options(engine: &dyn Engine, asked: &[(bool, &'static str)]) -> Result<(), Failure> {
    let takes = |engine: &dyn Engine, option: &str| engine.description().takes.contains(&option);
    let refused = asked.iter().find(|(is_asked, option)| *is_asked && !takes(engine, option));
    let Some(&(_, option)) = refused else { return Ok(()) };
    let other = engines::all().into_iter().find(|other| takes(*other, option));
    let other = other.map_or("", |other| other.description().name);
    Err(Failure::Usage(match engine.description().name {
        name if name == engines::all()[0].description().name => format!("{option} is for --engine {other}"),
        name => format!("the engine {name} has no {option}; use --engine {other}"),
    }))
}

/// Has an engine look at something, and goes on with what it has found. What the exploration left out is said.
pub fn examine<T>(
    chosen: &Chosen,
    (subject, models): (Subject<'_>, &[MemoryModel]),
    settings: &Settings,
    limits: &LimitArguments,
    work: impl FnOnce(&Task<'_>, &dyn Examined) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let _heard = Interruptible::new();
    let rest = || limits.budget.for_the_rest();
    with_limits(subject, limits, |bounds| {
        let task = Task { subject, property: &chosen.property, models, limits: bounds, rest: &rest, settings };
        let examined = chosen.engine.examine(&task).map_err(|trouble| failure(subject, trouble))?;
        if let Subject::Program(specification) = subject {
            specification.tell_out_of_range(limits, examined.out_of_range())?;
            if let Some(stopped) = examined.stopped_exploring() {
                tell!("seqcon: warning: {}: {stopped}; the result is not complete", specification.name);
            }
        }
        work(&task, &*examined)
    })
}

/// Why an engine has no answer, in words.
pub fn failure(subject: Subject<'_>, trouble: Trouble) -> Failure {
    match (trouble, subject) {
        (Trouble::Unsupported(problem), _) => Failure::Usage(problem),
        (Trouble::CannotRun(cannot), _) => Failure::Usage(cannot.to_string()),
        (Trouble::NeedsProgram(engine), _) => needs_program(engine),
        (trouble, Subject::Program(specification)) => of_program(specification, trouble),
        (_, Subject::StateSpace(_)) => {
            Failure::Usage("an instruction has more than 64 operations; split it".to_owned())
        }
    }
}

/// The engine needs to know more than labels say.
pub fn needs_program(engine: &str) -> Failure {
    Failure::Usage(format!(
        "the engine {engine} needs the values that a program reads and writes, and so specifications as inputs, without --merge (a state space has only labels)"
    ))
}

fn of_program(specification: &Specification, trouble: Trouble) -> Failure {
    let named = |at: At| {
        let (thread, instruction) = (specification.program.thread(at.thread), specification.program.instruction(at));
        (format!("{}.{}", thread.name, instruction.name), instruction.span)
    };
    match trouble {
        Trouble::Exploration(failure) => specification.failure(failure),
        Trouble::Inside(at) => {
            let (name, span) = named(at);
            let problem = format!(
                "{name} writes and then reads: a fence would have to stand inside it, where this engine has no place; write it as two instructions or as an atomic one, or use --engine cycles"
            );
            specification.failure_at(span, problem)
        }
        Trouble::TooManyIndices(span) => {
            specification.failure_at(span, "this instruction computes too many indices; split it")
        }
        Trouble::TooLong(span) => {
            specification.failure_at(span.unwrap_or_default(), "this instruction has more than 64 operations; split it")
        }
        Trouble::Fault(fault, at) => {
            let (name, span) = named(at);
            specification.failure_at(span, format!("{} in {name}, performed access by access", fault.kind))
        }
        Trouble::Unsupported(problem) => Failure::Usage(problem),
        Trouble::CannotRun(cannot) => Failure::Usage(cannot.to_string()),
        Trouble::NeedsProgram(engine) => needs_program(engine),
    }
}
