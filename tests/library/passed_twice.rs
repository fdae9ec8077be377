//! Instructions that are not one step, and cycles that pass through one of them twice (`--atomicity split`).

use crate::kinds::slco;
use seqcon::aeg::Profile;
use seqcon::analysis::{Analysis, Confirming, Options};
use seqcon::cycles::Atomicity;
use seqcon::explore::observe::{FactsObserver, facts};
use seqcon::explore::{Limits, explore};
use seqcon::kinds::outcome::by_axioms;
use seqcon::memory::MemoryModel;
use seqcon::program::Program;
use seqcon::program::compiled::Compiled;
use seqcon::readings::{self, Splittable};
use seqcon::repair::Repair;
use seqcon::weak::axiomatic::{Model, outcomes};

fn analysis(program: &Program, atomicity: Atomicity) -> Analysis {
    let compiled = Compiled::new(program).unwrap();
    let (exploration, watchers) = explore(&compiled, &Limits::default(), &mut FactsObserver).unwrap();
    let facts = facts(program, &watchers, (exploration.states.len() as u64, exploration.transitions));
    let split = Splittable { program, limit: 10_000 };
    readings::analysis(Analysis::new(facts, Profile::Sound), atomicity, Some(split)).unwrap()
}

fn is_robust(program: &Program, model: &str) -> bool {
    let executions = |model: &Model| outcomes(program, model, 1).unwrap().executions;
    executions(&Model::named(model).unwrap()) == executions(&Model::sc())
}

/// Nothing orders the two writes of the first thread, and the readers disagree about which came first: a cycle that
/// visits that thread twice. It was not searched for, and "no fence: proved" was the answer, on every memory model.
#[test]
fn a_cycle_that_passes_twice_through_an_instruction_leaves_the_answer_open() {
    let disagreeing = slco(&[&["[x := 1; y := 1]"], &["r := x", "s := y"], &["r := y", "s := x"]]);
    let agreeing = slco(&[&["[x := 1; y := 1]"], &["r := x", "s := y"], &["r := x", "s := y"]]);
    let whole = slco(&[&["atomic [x := 1; y := 1]"], &["r := x", "s := y"], &["r := y", "s := x"]]);
    assert!(!is_robust(&disagreeing, "armv8"));
    assert!(analysis(&disagreeing, Atomicity::Split).cut_off);
    assert!(!analysis(&disagreeing, Atomicity::Full).cut_off, "there it is torn, and locked");
    assert!(!analysis(&agreeing, Atomicity::Split).cut_off);
    assert!(!analysis(&whole, Atomicity::Split).cut_off);
    // Where other threads stand between the readers, on TSO, too.
    let longer = slco(&[&["[x := 1; y := 1]"], &["r := x", "z := 1"], &["r := y", "s := x"], &["z := 2", "r := y"]]);
    assert!(!is_robust(&longer, "tso"));
    assert!(analysis(&longer, Atomicity::Split).cut_off);
}

/// The write of z is the write between those of the second thread and what the third one reads, and its own thread is
/// passed elsewhere, by accesses of the same instruction that are not ordered with it.
#[test]
fn axioms_are_not_asked_where_a_write_between_is_passed_beside() {
    let program = slco(&[&["[r := x; y := r; z := 2]"], &["r := y", "z := r - r + 1"], &["r := z", "x := r"]]);
    assert!(!is_robust(&program, "power"));
    let options = Options { atomicity: Atomicity::Split, ..Options::default() };
    let outcome = |model: &str| {
        let (analysis, model) = (analysis(&program, Atomicity::Split), MemoryModel::named(model).unwrap());
        by_axioms(&analysis, &model, &options, analysis.run(&model, &options))
    };
    let power = outcome("power");
    assert_eq!(power.confirming, Confirming::NotAsked);
    assert!(is_robust(&Repair::of(&power).put_into(&program), "power"), "{:?}", power.fences);
    assert!(is_robust(&program, "armv8") && outcome("armv8").fences.is_empty(), "there stores are atomic");
}
