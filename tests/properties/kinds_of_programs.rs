//! Mixtures of fences and marks on random specifications with branches, computed indices, atomic instructions that are
//! no fences, marks and partial fences: with them in place the axioms allow only executions that SC allows. With loops
//! that is so of all executions in which no instruction is taken more than twice.

use crate::support::random::{cases, random_cases};
use crate::support::random_ordered::{Shape, random_ordered};
use rand::Rng;
use rand::rngs::StdRng;
use seqcon::aeg::Profile;
use seqcon::analysis::{Analysis, Offered, Options};
use seqcon::budget::Budget;
use seqcon::cycles::Atomicity;
use seqcon::explore::observe::{FactsObserver, facts};
use seqcon::explore::{Limits, Stop, explore};
use seqcon::kinds::outcome::by_axioms;
use seqcon::lang;
use seqcon::memory::MemoryModel;
use seqcon::program::Program;
use seqcon::program::compiled::Compiled;
use seqcon::readings::{self, Splittable};
use seqcon::repair::Repair;
use seqcon::weak::axiomatic::{Model, outcomes_within};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

const MODELS: [&str; 5] = ["power", "armv7", "armv8", "riscv", "rc11"];

/// How many executions a model allows; nothing if there are too many to look at.
fn executions(program: &Program, model: &Model) -> Option<u64> {
    let budget = Budget::new(Some(Duration::from_secs(3)), None);
    let outcomes = outcomes_within(program, model, 2, &budget).ok()?;
    outcomes.stopped.is_none().then_some(outcomes.executions)
}

/// What was counted.
#[derive(Default)]
struct Counts {
    judged: AtomicUsize,
    repaired: AtomicUsize,
}

/// Where the answer is called complete, the repaired program has only executions of SC.
fn judge(rng: &mut StdRng, shape: Shape, options: &Options, counts: &Counts) {
    let text = random_ordered(rng, shape);
    let program = lang::parse("random.slco", &text).unwrap_or_else(|error| panic!("{error}\n{text}")).program;
    let compiled = Compiled::new(&program).unwrap();
    // A few count without end.
    let limits = Limits { states: Some(100_000), ..Limits::default() };
    let (exploration, watchers) = explore(&compiled, &limits, &mut FactsObserver).unwrap();
    if exploration.stop != Stop::Complete {
        return;
    }
    let facts = facts(&program, &watchers, (exploration.states.len() as u64, exploration.transitions));
    let split = Splittable { program: &program, limit: 20_000 };
    let analysis = readings::analysis(Analysis::new(facts, Profile::Sound), options.atomicity, Some(split)).unwrap();
    let (table, model) = (MemoryModel::named(shape.model).unwrap(), Model::named(shape.model).unwrap());
    let outcome = by_axioms(&analysis, &table, options, analysis.run(&table, options));
    if !outcome.complete {
        return;
    }
    let with = Repair::of(&outcome).put_into(&program);
    let (Some(weak), Some(sc)) = (executions(&with, &model), executions(&with, &Model::sc())) else { return };
    assert_eq!(weak, sc, "{} {options:?}: {:?} are not enough\n{text}", shape.model, outcome.fences);
    counts.judged.fetch_add(1, Ordering::Relaxed);
    counts.repaired.fetch_add(usize::from(!outcome.is_clean()), Ordering::Relaxed);
}

#[test]
fn mixtures_leave_only_executions_of_sc() {
    let counts = Counts::default();
    random_cases(cases(200), |rng| {
        let waits = rng.random_bool(0.5);
        let shape = Shape { model: MODELS[rng.random_range(0..5)], loops: false, composites: false, waits };
        judge(rng, shape, &Options::default(), &counts);
    });
    let [judged, repaired] = [counts.judged, counts.repaired].map(AtomicUsize::into_inner);
    println!("{judged} programs, of which {repaired} need something");
    assert!(repaired * 20 > judged && judged * 2 > cases(200) as usize || judged < 100);
}

/// With loops, with instructions that are not one step as they are read, and full fences alone.
#[test]
fn nor_do_other_readings_and_full_fences_leave_more() {
    let counts = Counts::default();
    random_cases(cases(100), |rng| {
        let model = MODELS[rng.random_range(0..5)];
        let (kinds, atomicity, loops) = match rng.random_range(0..4) {
            0 => (Offered::Full, Atomicity::Full, false),
            1 => (Offered::Mixture, Atomicity::Full, true),
            2 => (Offered::Mixture, Atomicity::Full, false),
            // A fence inside an instruction is put in by making it atomic, and under RC11 that is not quite one step.
            _ if model == "rc11" => return,
            _ => (Offered::Mixture, Atomicity::Split, false),
        };
        let shape = Shape { model, loops, composites: !loops && kinds == Offered::Mixture, waits: !loops };
        judge(rng, shape, &Options { kinds, atomicity, ..Options::default() }, &counts);
    });
    let [judged, repaired] = [counts.judged, counts.repaired].map(AtomicUsize::into_inner);
    println!("{judged} programs, of which {repaired} need something");
    assert!(repaired > 0 || judged < 100);
}
