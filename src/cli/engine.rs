//! Engines and properties on the command line: which are asked for, and what an engine is told.

use super::arguments::{EngineArguments, LimitArguments, PropertyArgument, Verbosity};
use super::failure::Failure;
use super::interrupt::Interruptible;
use super::specification::with_limits;
use crate::engines::{self, Engine, Examined, Settings, Subject, Task, Trouble};
use crate::memory::MemoryModel;
use crate::program::At;
use crate::property::{Property, PropertyKind, StateCondition};
use crate::report::streams;
use crate::specification::Specification;
use crate::tell;
use std::io::Write;
use std::process::ExitCode;

/// Lists the engines.
pub fn list(verbosity: Verbosity) -> Result<ExitCode, Failure> {
    let mut out = streams::text();
    for (position, engine) in engines::all().into_iter().enumerate() {
        let description = engine.description();
        if verbosity == Verbosity::Quiet {
            writeln!(out, "{}", description.name)?;
            continue;
        }
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
    pub wanted: Wanted,
}

/// A property as it is asked for, before the program is known.
#[derive(Clone)]
pub enum Wanted {
    /// One that needs no condition.
    Named(Property),
    /// That no state satisfies these conditions, nor those that the specification forbids itself.
    Never(Vec<String>),
    /// The final condition of the specification.
    Final,
}

/// Where a condition is from, for messages.
const NEVER: &str = "--never";

impl Wanted {
    pub fn kind(&self) -> PropertyKind {
        match self {
            Wanted::Named(property) => property.kind(),
            Wanted::Never(_) => PropertyKind::Never,
            Wanted::Final => PropertyKind::Final,
        }
    }

    /// The property of this subject.
    pub fn of(&self, subject: Subject<'_>, engine: &dyn Engine) -> Result<Property, Failure> {
        match (self, subject) {
            (Wanted::Named(property), _) => Ok(property.clone()),
            (_, Subject::StateSpace(_)) => Err(needs_program(engine.description().name)),
            (_, Subject::Program(specification)) => {
                self.of_specification(specification, &mut |warning| tell!("{warning}"))
            }
        }
    }

    /// The property of this specification; warnings are for whoever asks first.
    pub fn of_specification(
        &self,
        specification: &Specification,
        warn: &mut dyn FnMut(String),
    ) -> Result<Property, Failure> {
        let stated = |kind: PropertyKind| specification.properties.iter().filter(move |known| known.kind() == kind);
        let name = &specification.name;
        match self {
            Wanted::Named(property) => Ok(property.clone()),
            Wanted::Final => stated(PropertyKind::Final)
                .next()
                .cloned()
                .ok_or_else(|| Failure::Usage(format!("{name} states no condition on final states; litmus tests do"))),
            Wanted::Never(texts) => {
                let mut conditions: Vec<StateCondition> = Vec::new();
                for property in stated(PropertyKind::Never) {
                    conditions.extend(property.condition().cloned());
                }
                for text in texts {
                    let (property, warnings) = specification
                        .never(NEVER, text)
                        .map_err(|wrong| Failure::Usage(wrong.to_string().trim_end().to_owned()))?;
                    warnings.iter().for_each(|known| warn(format!("seqcon: {}", known.render(NEVER, text).trim_end())));
                    conditions.extend(property.condition().cloned());
                }
                StateCondition::any_of(conditions).map(Property::Never).ok_or_else(|| {
                    Failure::Usage(format!(
                        "{name} states nothing that is never to be; give a condition with --never, for example --never 'P0@CS and P1@CS'"
                    ))
                })
            }
        }
    }
}

impl PropertyArgument {
    /// What is asked for, with conditions from the command line.
    fn wanted(self, conditions: &[String]) -> Wanted {
        match self {
            PropertyArgument::Robust => Wanted::Named(Property::Robust),
            PropertyArgument::Persistent => Wanted::Named(Property::Persistent),
            PropertyArgument::SameStates => Wanted::Named(Property::SameStates),
            PropertyArgument::NoDeadlock => Wanted::Named(Property::NoDeadlock),
            PropertyArgument::Never => Wanted::Never(conditions.to_vec()),
            PropertyArgument::Final => Wanted::Final,
        }
    }
}

impl EngineArguments {
    /// The property that is asked for; robustness, unless the engine is for another one.
    pub fn wanted(&self) -> Result<Wanted, Failure> {
        if self.deadlock {
            return Ok(Wanted::Named(Property::NoDeadlock));
        }
        match (self.property, &self.engine) {
            (Some(PropertyArgument::Never), _) => Ok(PropertyArgument::Never.wanted(&self.never)),
            (Some(_), _) if !self.never.is_empty() => {
                Err(Failure::Usage("--never is --property never with a condition; give one of them".to_owned()))
            }
            (None, _) if !self.never.is_empty() => Ok(PropertyArgument::Never.wanted(&self.never)),
            (Some(asked), _) => Ok(asked.wanted(&[])),
            (None, Some(name)) => {
                let first = named(name)?.description().properties[0];
                Ok(first.without_condition().map_or(Wanted::Never(Vec::new()), Wanted::Named))
            }
            (None, None) => Ok(Wanted::Named(Property::Robust)),
        }
    }

    /// The engine that finds fences, and for which property.
    pub fn finding(&self) -> Result<Chosen, Failure> {
        let wanted = self.wanted()?;
        let kind = wanted.kind();
        let engine = match &self.engine {
            Some(name) => named(name)?,
            None => engines::finding(kind).ok_or_else(|| nobody(kind, "finds fences for"))?,
        };
        let description = engine.description();
        if !description.properties.contains(&kind) {
            return Err(does_not_decide(engine, kind));
        }
        if !description.finds() {
            return Err(Failure::Usage(format!(
                "the engine {} only judges fences that others have found (seqcon verify); use {}",
                description.name,
                others(|other| other.finds() && other.properties.contains(&kind))
            )));
        }
        Ok(Chosen { engine, wanted })
    }

    /// The engine that judges a program under a memory model.
    pub fn judging(&self, model: &MemoryModel) -> Result<Chosen, Failure> {
        let wanted = self.wanted()?;
        let kind = wanted.kind();
        let engine = match &self.engine {
            Some(name) => named(name)?,
            None => match engines::judging(kind, model) {
                Some(engine) => engine,
                None => return Err(not_run(model).unwrap_or_else(|| nobody_for(kind, model))),
            },
        };
        if !engine.description().properties.contains(&kind) {
            return Err(does_not_decide(engine, kind));
        }
        let chosen = Chosen { engine, wanted };
        refuse_models(&chosen, std::slice::from_ref(model))?;
        Ok(chosen)
    }
}

/// Nothing runs the memory model, if that is so.
pub fn not_run(model: &MemoryModel) -> Option<Failure> {
    crate::weak::semantics::Semantics::of(model).err().map(|cannot| Failure::Usage(cannot.to_string()))
}

pub fn nobody(property: PropertyKind, what: &str) -> Failure {
    Failure::Usage(format!("no engine {what} the property {}; see 'seqcon engines'", property.name()))
}

/// Nobody judges it under this model.
fn nobody_for(property: PropertyKind, model: &MemoryModel) -> Failure {
    let of_states = [PropertyKind::Never, PropertyKind::Final, PropertyKind::NoDeadlock].contains(&property);
    let elsewhere =
        if of_states { ", but under tso and pso; under it robustness can be asked, without --property" } else { "" };
    let (property, model) = (property.name(), &model.name);
    Failure::Usage(format!("no engine judges the property {property} under {model}{elsewhere}; see 'seqcon engines'"))
}

fn does_not_decide(engine: &dyn Engine, property: PropertyKind) -> Failure {
    let description = engine.description();
    let decided: Vec<&str> = description.properties.iter().map(|kind| kind.name()).collect();
    Failure::Usage(format!(
        "the engine {} decides {}, not {}; use {}",
        description.name,
        decided.join(", "),
        property.name(),
        others(|other| other.properties.contains(&property))
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
pub fn refuse_models(chosen: &Chosen, models: &[MemoryModel]) -> Result<(), Failure> {
    let engine = chosen.engine;
    let description = engine.description();
    let Some(model) = models.iter().find(|model| !description.knows(model)) else { return Ok(()) };
    let models = description.models_in_words();
    let why = match model.known() {
        Ok(known) if known.name() == model.name => String::new(),
        Ok(known) => format!(" (its rules are those of {known})"),
        Err(unknown) => format!(" ({unknown})"),
    };
    // The default engine is for all models, but not for conditions on states.
    let of_states = [PropertyKind::Never, PropertyKind::Final, PropertyKind::NoDeadlock];
    let (engine, name, list) = (description.name, &model.name, models.replace(", ", ","));
    Err(Failure::Usage(if of_states.contains(&chosen.wanted.kind()) {
        format!(
            "the property {} is answered under {} only (by the engine {engine}), not under {name}{why}; give --mm {list}, or ask for robustness under {name}, without --property, --never and --deadlock",
            chosen.wanted.kind().name(),
            models.replace(", ", " and ")
        )
    } else {
        format!("the engine {engine} is for {models}, not for {name}{why}; give --mm {list}, or use --engine cycles")
    }))
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
    let property = chosen.wanted.of(subject, chosen.engine)?;
    with_limits(subject, limits, |bounds| {
        let task = Task { subject, property: &property, models, limits: bounds, rest: &rest, settings };
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
