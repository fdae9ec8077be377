//! What the default says of its fences is so: they are enough, and where it says "each is needed by a run" no smaller
//! set is.

use crate::support::random::{cases, random_cases};
use crate::support::random_slco::{Shape, random_specification};
use crate::support::trust::{analysis_for, by_default, judge, outcome, program};
use seqcon::analysis::{Analysis, Confirming, ModelOutcome};
use seqcon::confirm::Limits;
use seqcon::cycles::Atomicity;
use seqcon::outline::Site;
use seqcon::placement::Minimality;
use seqcon::program::Program;
use seqcon::property::Property;
use seqcon::repair::Repair;
use seqcon::weak::verify::Verdict;
use seqcon::weak::visited::{Allowance, LimitReached, Visited};
use std::cell::Cell;
use std::fs;

const LIMITS: Limits = Limits { states: 10_000, buffer: 4 };

const SHAPE: Shape =
    Shape { most_threads: 4, most_instructions: 3, loops: true, composites: true, waits: true, fences: true };

/// A random program with what the default suggests for it.
struct Case {
    text: String,
    program: Program,
    analysis: Analysis,
    outcome: ModelOutcome,
    model: &'static str,
    atomicity: Atomicity,
}

impl Case {
    fn new(text: String, model: &'static str, atomicity: Atomicity, limits: Limits) -> Case {
        let program = program(&text);
        let analysis = analysis_for(&program, atomicity, LIMITS);
        let outcome = by_default(&program, &analysis, model, atomicity, limits);
        Case { text, program, analysis, outcome, model, atomicity }
    }

    fn repair(&self) -> Repair {
        Repair::of(&self.outcome)
    }

    fn judge(&self, repair: &Repair, property: &Property) -> Verdict {
        judge(&self.program, repair, self.model, self.atomicity, property, LIMITS)
    }

    /// Whether it could be judged that the suggestions are enough; panics if they are not.
    fn is_enough(&self) -> bool {
        let repair = self.repair();
        [&Property::Robust, &Property::SameStates].into_iter().all(|property| match self.judge(&repair, property) {
            Verdict::Verified(_) => true,
            Verdict::Violated(violation) => {
                panic!("{} {property:?}: {violation:?} with {repair:?} in\n{}", self.model, self.text)
            }
            _ => false,
        })
    }

    /// Every fence that is removed brings a run back.
    fn check_each_is_needed(&self) {
        let repair = self.repair();
        for fence in repair.fences.keys() {
            let mut without = repair.clone();
            without.fences.remove(fence);
            let verdict = self.judge(&without, &Property::Robust);
            assert!(
                matches!(verdict, Verdict::Violated(_)),
                "{}: {fence:?} is not needed: {verdict:?}\n{}",
                self.model,
                self.text
            );
        }
    }

    /// No set with one fence less is enough, wherever its fences stand.
    fn check_no_smaller_set_is_enough(&self) {
        let sites: Vec<Site> = self.analysis.graph.sites().into_iter().collect();
        for fences in subsets(&sites, self.outcome.fences.len() - 1) {
            let repair = Repair { fences: Repair::full(fences).fences, ..self.repair() };
            let verdict = self.judge(&repair, &Property::Robust);
            assert!(!matches!(verdict, Verdict::Verified(_)), "{}: {repair:?} is enough\n{}", self.model, self.text);
        }
    }
}

fn subsets<T: Copy>(of: &[T], size: usize) -> Vec<Vec<T>> {
    match (size, of.split_first()) {
        (0, _) => vec![Vec::new()],
        (_, None) => Vec::new(),
        (_, Some((&first, rest))) => {
            let with = subsets(rest, size - 1).into_iter().map(|set| [vec![first], set].concat());
            with.chain(subsets(rest, size)).collect()
        }
    }
}

/// The default is enough, says "needed" only of what is, and now and then leaves out what the event graph asks for.
fn default_is_true(usual: u64, model: &'static str, atomicity: Atomicity, limits: Limits) -> [u32; 3] {
    let (claimed, fewer, skipped) = (Cell::new(0), Cell::new(0), Cell::new(0));
    let count = |counter: &Cell<u32>| counter.set(counter.get() + 1);
    random_cases(cases(usual), |rng| {
        let case = Case::new(random_specification(rng, &SHAPE), model, atomicity, limits);
        if case.analysis.cut_off || !case.is_enough() {
            return count(&skipped);
        }
        if case.outcome.fences.len() < outcome(&case.analysis, model, atomicity).fences.len() {
            count(&fewer);
        }
        if case.outcome.placement.minimality == Minimality::Program && !case.outcome.fences.is_empty() {
            case.check_each_is_needed();
            count(&claimed);
        }
    });
    println!("{} claimed, {} with fewer fences, {} skipped", claimed.get(), fewer.get(), skipped.get());
    [claimed.get(), fewer.get(), skipped.get()]
}

#[test]
fn the_default_is_enough_and_each_fence_that_it_says_is_needed_is_on_tso() {
    let [claimed, fewer, _] = default_is_true(600, "tso", Atomicity::Full, LIMITS);
    assert!(claimed > 0 && fewer > 0, "this test shows nothing");
}

#[test]
fn the_default_is_enough_and_each_fence_that_it_says_is_needed_is_on_pso() {
    let [claimed, fewer, _] = default_is_true(400, "pso", Atomicity::Full, LIMITS);
    assert!(claimed > 0 && fewer > 0, "this test shows nothing");
}

#[test]
fn the_default_is_enough_in_the_other_readings() {
    for model in ["tso", "pso"] {
        for atomicity in [Atomicity::Split, Atomicity::Presumed, Atomicity::Updates] {
            let [claimed, ..] = default_is_true(200, model, atomicity, LIMITS);
            assert!(claimed > 0, "{model} {atomicity:?}: this test shows nothing");
        }
    }
}

#[test]
fn a_budget_that_is_spent_leaves_the_default_enough() {
    for model in ["tso", "pso"] {
        for states in [20, 60, 150] {
            default_is_true(80, model, Atomicity::Full, Limits { states, ..LIMITS });
        }
    }
}

#[test]
fn no_smaller_set_is_enough_where_the_default_says_so() {
    let tried = Cell::new(0);
    for model in ["tso", "pso"] {
        random_cases(cases(150), |rng| {
            let shape = Shape { most_threads: 3, ..SHAPE };
            let case = Case::new(random_specification(rng, &shape), model, Atomicity::Full, LIMITS);
            let is_claimed = case.outcome.placement.minimality == Minimality::Program;
            if is_claimed && (1..=3).contains(&case.outcome.fences.len()) {
                case.check_no_smaller_set_is_enough();
                tried.set(tried.get() + 1);
            }
        });
    }
    println!("{} programs", tried.get());
    assert!(tried.get() > 0, "this test shows nothing");
}

/// Fences by default and by the event graph alone.
fn fences(spec: &str, model: &'static str, atomicity: Atomicity) -> (usize, usize, ModelOutcome) {
    let text = fs::read_to_string(spec).unwrap();
    let case = Case::new(text, model, atomicity, Limits { states: 300_000, ..LIMITS });
    let trusted = outcome(&case.analysis, model, atomicity);
    (case.outcome.fences.len(), trusted.fences.len(), case.outcome)
}

#[test]
fn bundled_specifications_get_the_fewest_fences_within_the_budget() {
    for (spec, model, fewest, trusted) in [
        ("specs/mcs.slco", "tso", 0, 2),
        ("specs/lamport-fast.slco", "tso", 4, 8),
        ("specs/lamport-fast.slco", "pso", 8, 12),
        ("specs/seqlock.slco", "pso", 2, 3),
        ("specs/peterson.slco", "pso", 4, 4),
    ] {
        let (found, asked, outcome) = fences(spec, model, Atomicity::Full);
        assert_eq!((found, asked), (fewest, trusted), "{spec} {model}");
        assert_eq!(outcome.placement.minimality, Minimality::Program, "{spec} {model}");
    }
}

#[test]
fn without_a_machine_the_event_graph_is_trusted() {
    let (found, asked, outcome) = fences("specs/mcs.slco", "power", Atomicity::Full);
    assert_eq!(found, asked);
    assert_eq!(outcome.placement.minimality, Minimality::EventGraph);
    assert_eq!(outcome.confirming, Confirming::NoMachine);
}

#[test]
fn searches_that_share_a_budget_spend_it_together() {
    let allowance = Allowance::together(3);
    let mut first = Visited::new(allowance.clone());
    let mut second = Visited::new(allowance.clone());
    assert_eq!((first.start(1), first.start(2), first.start(1)), (Ok(0), Ok(1), Ok(0)));
    assert_eq!((second.start(1), second.start(2)), (Ok(0), Err(LimitReached::States)));
    assert_eq!((first.start(3), allowance.left()), (Err(LimitReached::States), 0));
    let mut alone = Visited::new(1);
    assert_eq!((alone.start(1), alone.start(2)), (Ok(0), Err(LimitReached::States)));
}
