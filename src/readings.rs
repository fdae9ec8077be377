//! What the readings of instructions with several accesses need, and what each would answer (method §8).
//!
//! A state space shows whole instructions. For [`Full`](Atomicity::Full) and [`Presumed`](Atomicity::Presumed) that
//! is all there is to see: torn instructions are locked, or all are atomic. The other two let instructions be
//! interrupted. As long as nobody can tell, every run is that of whole instructions, and their facts are enough; if
//! some instruction can be torn under sequential consistency already, the facts must be [those of the split
//! program](weak::facts), which needs the program itself. Of a bare state space the answer is then one for a part,
//! and says so ([`Analysis::interrupted`]).
//!
//! Nor can cycles be told as elsewhere where one may pass through an instruction twice ([`twice`]): then the answer
//! under [`Split`](Atomicity::Split) is one for a part, too.
//!
//! Which facts are needed does not depend on the memory model: what is sequentially consistent does not.

mod twice;

use crate::aeg::Profile;
use crate::analysis::{Analysis, Options, OtherReading};
use crate::budget::Budget;
use crate::cycles::Atomicity;
use crate::facts::Facts;
use crate::ids::InstrId;
use crate::memory::MemoryModel;
use crate::program::{Program, Scope};
use crate::repair::Repair;
use crate::weak;
use crate::weak::split::{SplitProgram, TooLong};
use std::collections::BTreeSet;

/// A program that can be explored access by access, up to so many states.
#[derive(Clone, Copy)]
pub struct Splittable<'p> {
    /// The program.
    pub program: &'p Program,
    /// The most states.
    pub limit: usize,
}

/// The analysis for a reading, from that of the state space of whole instructions.
///
/// # Errors
/// If an instruction is too long to be split.
pub fn analysis(whole: Analysis, atomicity: Atomicity, program: Option<Splittable<'_>>) -> Result<Analysis, TooLong> {
    let mut analysis = with_facts(whole, atomicity, program)?;
    let is_of_steps = atomicity == Atomicity::Split && analysis.profile == Profile::Sound;
    if is_of_steps && twice::is_possible(&analysis) {
        analysis.cut_off = true;
        analysis.missing.get_or_insert_with(|| PASSED_TWICE.to_owned());
    }
    Ok(analysis)
}

/// The cycles that are missing.
const PASSED_TWICE: &str = "cycles that pass twice through an instruction that writes several locations in no order \
                            are not searched for; split it, or make it atomic";

/// The analysis with the facts that a reading needs.
fn with_facts(whole: Analysis, atomicity: Atomicity, program: Option<Splittable<'_>>) -> Result<Analysis, TooLong> {
    if let (Atomicity::Presumed, Some(Splittable { program, .. })) = (atomicity, program) {
        return with_all_composites(whole, program);
    }
    // The other profiles are the paper's, which knows whole instructions only.
    if !atomicity.lets_tear() || whole.profile != Profile::Sound {
        return Ok(whole);
    }
    let whole = match program {
        Some(Splittable { program, .. }) => with_all_updates(whole, program),
        None => whole,
    };
    let is_locked = |analysis: &Analysis, instr: InstrId| {
        atomicity == Atomicity::Updates && analysis.graph.instruction(instr).update
    };
    let torn = torn(&whole);
    let interrupted: Vec<InstrId> = torn.iter().copied().filter(|&instr| !is_locked(&whole, instr)).collect();
    if interrupted.is_empty() {
        return Ok(whole);
    }
    let Some(Splittable { program, limit }) = program else {
        let mut part = whole;
        (part.interrupted, part.cut_off) = (interrupted, true);
        part.missing = Some("it shows whole instructions only, and some can be interrupted".to_owned());
        return Ok(part);
    };
    let mut locked: BTreeSet<InstrId> = torn.into_iter().filter(|&instr| is_locked(&whole, instr)).collect();
    loop {
        let budget = &whole.graph.budget;
        let mut split = SplitProgram { budget: budget.clone(), ..SplitProgram::new(program)? };
        Repair { locked: locked.clone(), ..Repair::default() }.apply(&whole.graph.outline, &mut split);
        let facts = weak::facts::facts(program, &split, limit);
        let missing = facts.cut_off.then(|| missing(&facts, limit, budget));
        let mut analysis = with_all_updates(Analysis::within(facts, whole.profile, budget), program).because(missing);
        // What was seen access by access can tear more.
        let more: BTreeSet<InstrId> =
            self::torn(&analysis).into_iter().filter(|&instr| is_locked(&analysis, instr)).collect();
        if more.is_subset(&locked) {
            if more != locked {
                // What is torn only as long as it is not locked would not be named: these facts are not those of its
                // answer.
                analysis.cut_off = true;
                analysis.missing = Some("an instruction is torn only where another one is".to_owned());
            }
            return Ok(analysis);
        }
        locked.extend(more);
    }
}

/// Why a part of the split program is missing.
fn missing(facts: &Facts, limit: usize, budget: &Budget) -> String {
    match budget.exhausted() {
        Some(exhausted) => exhausted.to_string(),
        None if facts.states >= limit as u64 => "the limit on states (--max-weak-states)".to_owned(),
        None => "an evaluation goes wrong only because its instruction was interrupted".to_owned(),
    }
}

/// The analysis in which every instruction of the text with several accesses counts as such, also one of which no
/// state shows more than a refused condition.
fn with_all_composites(mut whole: Analysis, program: &Program) -> Result<Analysis, TooLong> {
    for at in SplitProgram::new(program)?.composites() {
        let instr = whole.graph.outline.instr(at);
        let known = &mut whole.graph.instructions[instr.index()];
        // What was never tried is no part of the answer.
        known.composite |= !known.labels.is_empty();
    }
    Ok(whole)
}

/// The analysis in which every instruction of the text that writes shared memory counts as an update, also one of which
/// no state shows more than a refused condition: torn, the condition may hold.
fn with_all_updates(mut analysis: Analysis, program: &Program) -> Analysis {
    for instr in analysis.graph.outline.instrs() {
        let Some(at) = analysis.graph.outline.at(instr) else { continue };
        let assignments = &program.instruction(at).assignments;
        let writes = assignments.iter().any(|assignment| assignment.target.scope == Scope::Shared);
        analysis.graph.instructions[instr.index()].update |= writes;
    }
    analysis
}

/// The instructions that can be torn under sequential consistency.
fn torn(analysis: &Analysis) -> Vec<InstrId> {
    let sc = MemoryModel::named("sc").expect("built in");
    let options = Options { atomicity: Atomicity::Full, ..Options::default() };
    analysis.find(&sc, &options).torn.into_iter().map(|torn| torn.instr).collect()
}

/// Above so many accesses other readings are not tried beside the one that was asked for.
const MOST_VERTICES: usize = 300;
/// Up to so many states they may explore.
pub const STATES_FOR_OTHERS: usize = 50_000;

/// What the readings besides the one that was asked for answer under a memory model; nothing for a program without
/// instructions that have several accesses, or for a large one.
pub struct Others {
    analyses: Vec<(Atomicity, Analysis)>,
}

impl Others {
    /// Prepares the other readings.
    ///
    /// # Errors
    /// If an instruction is too long to be split.
    pub fn new(whole: &Analysis, asked: Atomicity, program: Option<Splittable<'_>>) -> Result<Others, TooLong> {
        let mut analyses = Vec::new();
        let is_tried = whole.profile == Profile::Sound && whole.graph.vertices.len() <= MOST_VERTICES;
        if is_tried && !whole.graph.composites().is_empty() {
            let others = [Atomicity::Full, Atomicity::Split, Atomicity::Presumed].into_iter();
            for atomicity in others.filter(|&atomicity| atomicity != asked) {
                analyses.push((atomicity, analysis(whole.clone(), atomicity, program)?));
            }
        }
        Ok(Others { analyses })
    }

    /// Their answers.
    #[must_use]
    pub fn run(&self, model: &MemoryModel, options: &Options) -> Vec<OtherReading> {
        let answer = |(atomicity, analysis): &(Atomicity, Analysis)| {
            let options = Options { atomicity: *atomicity, listing: crate::cycles::Listing::None, ..options.clone() };
            let outcome = analysis.run(model, &options);
            OtherReading {
                atomicity: *atomicity,
                fences: outcome.fences.len(),
                locks: outcome.locks.len(),
                complete: !analysis.cut_off && outcome.stopped.is_none(),
            }
        };
        self.analyses.iter().map(answer).collect()
    }
}
