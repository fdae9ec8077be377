//! Engines, asked by a program alone.

use seqcon::analysis::{ModelOutcome, Options};
use seqcon::budget::Budget;
use seqcon::engines::{self, Answer, Engine, Examined, Settings, Subject, Task, Trouble};
use seqcon::explore::Limits;
use seqcon::memory::{Kind, MemoryModel};
use seqcon::outline::Site;
use seqcon::program::Program;
use seqcon::property::{Property, StateCondition};
use seqcon::repair::Repair;
use seqcon::specification::Specification;
use std::collections::BTreeSet;

/// What an engine finds in a program, as far as so many states tell.
pub fn examined<T>(
    engine: &dyn Engine,
    program: &Program,
    settings: &Settings,
    states: Option<usize>,
    work: impl FnOnce(&dyn Examined) -> T,
) -> Result<T, Trouble> {
    examined_for(engine, program, settings, (&[], states), work)
}

/// The same, where it is known which memory models will be asked for.
pub fn examined_for<T>(
    engine: &dyn Engine,
    program: &Program,
    settings: &Settings,
    (models, states): (&[MemoryModel], Option<usize>),
    work: impl FnOnce(&dyn Examined) -> T,
) -> Result<T, Trouble> {
    let specification = Specification::of_program(program.clone()).expect("few indices");
    let limits = Limits { states, ..Limits::default() };
    let description = engine.description();
    let task = Task {
        subject: Subject::Program(&specification),
        property: &description.properties[0].without_condition().expect("an engine of named properties"),
        models,
        limits: &limits,
        rest: &Budget::default,
        settings,
    };
    engine.examine(&task).map(|examined| work(&*examined))
}

/// The engine of that name.
pub fn named(name: &str) -> &'static dyn Engine {
    engines::named(name).expect("there is one")
}

/// Its fences.
pub fn placed(examined: &dyn Examined, model: &str, options: &Options) -> ModelOutcome {
    let model = MemoryModel::named(model).expect("built in");
    examined.place(&model, options).unwrap_or_else(|trouble| panic!("{trouble:?}"))
}

/// Its answer on the program with a repair in place.
pub fn answer(examined: &dyn Examined, model: &str, repair: &Repair) -> Answer {
    let model = MemoryModel::named(model).expect("built in");
    let answer = examined.checker(&model).and_then(|mut checker| checker.check(repair));
    answer.unwrap_or_else(|trouble| panic!("{trouble:?}"))
}

/// What an engine finds in a specification that is to have a property.
pub fn asked<T>(
    engine: &dyn Engine,
    specification: &Specification,
    property: &Property,
    settings: &Settings,
    work: impl FnOnce(&dyn Examined) -> T,
) -> Result<T, Trouble> {
    let limits = Limits::default();
    let subject = Subject::Program(specification);
    let task = Task { subject, property, models: &[], limits: &limits, rest: &Budget::default, settings };
    engine.examine(&task).map(|examined| work(&*examined))
}

/// That no state is one of those which a specification forbids itself; none if it forbids none.
pub fn never_of(specification: &Specification) -> Option<Property> {
    let conditions = specification.properties.iter().filter_map(Property::condition).cloned().collect();
    StateCondition::any_of(conditions).map(Property::Never)
}

/// The sites right after instructions that write.
pub fn after_writes(examined: &dyn Examined) -> BTreeSet<Site> {
    let accesses = &examined.accesses().vertices;
    accesses.iter().filter(|access| access.kind == Kind::Write).map(|access| Site::after(access.instr)).collect()
}
