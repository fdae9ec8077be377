//! From the text of a specification to a verdict under weak memory, step by step.

use seqcon::aeg::Profile;
use seqcon::analysis::{Analysis, ModelOutcome, Options};
use seqcon::confirm::{Limits, Subject, granularity, place_by_default, place_confirmed};
use seqcon::cycles::Atomicity;
use seqcon::explore::observe::{FactsObserver, facts};
use seqcon::explore::{Limits as ExploreLimits, explore};
use seqcon::facts::Facts;
use seqcon::lang;
use seqcon::memory::MemoryModel;
use seqcon::outline::Outline;
use seqcon::program::Program;
use seqcon::program::compiled::Compiled;
use seqcon::property::Property;
use seqcon::readings::{self, Splittable};
use seqcon::repair::Repair;
use seqcon::weak::Machine;
use seqcon::weak::split::{SplitProgram, TooLong};
use seqcon::weak::verify::{Question, Verdict, robust, same_states, same_states_within_bound};

/// The program of a specification.
pub fn program(text: &str) -> Program {
    lang::parse("test.slco", text).unwrap_or_else(|errors| panic!("{errors}\n{text}")).program
}

/// The analysis of a program.
pub fn analysis(program: &Program, profile: Profile) -> Analysis {
    Analysis::new(whole_facts(program), profile)
}

/// The facts of its state space.
pub fn whole_facts(program: &Program) -> Facts {
    let compiled = Compiled::new(program).expect("few indices");
    let explored = explore(&compiled, &ExploreLimits::default(), &mut FactsObserver);
    let (exploration, watchers) = explored.unwrap_or_else(|failure| panic!("{failure:?}"));
    let size = (exploration.states.len() as u64, exploration.transitions);
    facts(program, &watchers, size)
}

/// The analysis of a program for a reading of its composite instructions.
pub fn analysis_for(program: &Program, atomicity: Atomicity, limits: Limits) -> Analysis {
    let splittable = Splittable { program, limit: limits.states };
    readings::analysis(analysis(program, Profile::Sound), atomicity, Some(splittable)).expect("short instructions")
}

/// Its result under a memory model.
pub fn outcome(analysis: &Analysis, model: &str, atomicity: Atomicity) -> ModelOutcome {
    analysis.run(&named(model), &Options { atomicity, ..Options::default() })
}

/// How fences are placed where delays are confirmed.
type Placing = fn(Subject<'_>, Limits) -> Result<ModelOutcome, TooLong>;

fn placed(
    place: Placing,
    program: &Program,
    analysis: &Analysis,
    (model, atomicity): (&str, Atomicity),
    limits: Limits,
) -> ModelOutcome {
    let options = Options { atomicity, ..Options::default() };
    place(Subject { program, analysis, model: &named(model), options: &options }, limits).expect("short instructions")
}

/// Its result by default: with the allowance of `analyse`, or less if the limits are smaller.
pub fn by_default(
    program: &Program,
    analysis: &Analysis,
    model: &str,
    reading: Atomicity,
    limits: Limits,
) -> ModelOutcome {
    placed(place_by_default, program, analysis, (model, reading), limits)
}

/// Its result with fences only for what is not proved infeasible.
pub fn confirmed(
    program: &Program,
    analysis: &Analysis,
    model: &str,
    reading: Atomicity,
    limits: Limits,
) -> ModelOutcome {
    placed(place_confirmed, program, analysis, (model, reading), limits)
}

/// The verdict on a program with a repair put in.
pub fn judge(
    program: &Program,
    repair: &Repair,
    model: &str,
    atomicity: Atomicity,
    property: &Property,
    limits: Limits,
) -> Verdict {
    let split = repaired(program, repair, atomicity);
    let question = question(model, atomicity, limits);
    match property {
        Property::SameStates => same_states(&split, &question),
        _ => robust(&split, &question),
    }
}

/// The verdict on its states by those of the machine alone. Where traces are [`Verdict::Bounded`] the library would
/// examine them again for [`judge`], which takes far longer.
pub fn judge_states(program: &Program, repair: &Repair, model: &str, atomicity: Atomicity, limits: Limits) -> Verdict {
    same_states_within_bound(&repaired(program, repair, atomicity), &question(model, atomicity, limits))
}

fn question(model: &str, atomicity: Atomicity, limits: Limits) -> Question {
    Question {
        machine: Machine::of(&named(model)).expect("tso or pso"),
        granularity: granularity(atomicity),
        bound: limits.buffer,
        limit: limits.states,
    }
}

/// The program with a repair put in, as a reading of its composite instructions has it.
fn repaired(program: &Program, repair: &Repair, atomicity: Atomicity) -> SplitProgram {
    let mut split = SplitProgram::new(program).expect("short instructions");
    repair.apply(&Outline::of_program(program), &mut split);
    if atomicity == Atomicity::Presumed {
        for at in split.composites() {
            split.lock(at);
        }
    }
    split
}

/// A built-in memory model.
pub fn named(model: &str) -> MemoryModel {
    MemoryModel::named(model).expect("built in")
}
