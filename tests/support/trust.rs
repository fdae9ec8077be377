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
use seqcon::readings::{self, Splittable};
use seqcon::repair::Repair;
use seqcon::weak::buffers::Buffers;
use seqcon::weak::split::{SplitProgram, TooLong};
use seqcon::weak::verify::{Property, Question, Verdict, verify};
use seqcon::weak::visited::Visited;
use seqcon::weak::{Granularity, Machine};

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
    property: Property,
    limits: Limits,
) -> Verdict {
    let split = repaired(program, repair, atomicity);
    let question = Question {
        machine: Machine::of(&named(model)).expect("tso or pso"),
        granularity: granularity(atomicity),
        property,
        bound: limits.buffer,
        limit: limits.states,
    };
    verify(&split, &question)
}

/// Whether a machine whose buffers are full is, between two instructions with empty buffers, only where sequential
/// consistency comes, too; nothing if there are more states than the limit.
///
/// This is what [`Property::States`] says of a program whose traces are [`Verdict::Bounded`]. But `verify` examines the
/// traces again to answer that, which takes far longer than to look at the states.
pub fn has_only_consistent_states(
    program: &Program,
    repair: &Repair,
    model: &str,
    atomicity: Atomicity,
    limits: Limits,
) -> Option<bool> {
    let split = repaired(program, repair, atomicity);
    let mut buffers = Buffers::new(&split, Machine::of(&named(model)).expect("tso or pso"), limits.buffer);
    buffers.system.granularity = granularity(atomicity);
    let consistent = buffers.system.reach(limits.states).ok()?;
    buffers.system.granularity = Granularity::Accesses;
    let mut visited = Visited::new(limits.states);
    visited.start(buffers.initial()).ok()?;
    let mut at = 0;
    while (at as usize) < visited.len() {
        let state = visited.get(at);
        if buffers.is_at_boundary(&state) && consistent.find(&state.shared).is_none() {
            return Some(false);
        }
        for (_, next) in buffers.steps(&state) {
            visited.insert(next, at).ok()?;
        }
        at += 1;
    }
    Some(true)
}

/// The program with a repair put in, as a reading of its composite instructions has it.
fn repaired(program: &Program, repair: &Repair, atomicity: Atomicity) -> SplitProgram {
    let mut split = SplitProgram::new(program).expect("short instructions");
    repair.apply(&Outline::of_program(program), &mut split);
    if atomicity == Atomicity::Presumed {
        for (thread, instruction) in split.composites() {
            split.threads[thread].lock(instruction);
        }
    }
    split
}

/// A built-in memory model.
pub fn named(model: &str) -> MemoryModel {
    MemoryModel::named(model).expect("built in")
}
