//! A program with the suggested fences and locks in it needs nothing more (method §10).

use crate::support::analyse::{facts_of, model, models};
use crate::support::mini::state_space;
use crate::support::programs::bundled;
use crate::support::random::{cases, random_cases};
use crate::support::random_facts::{self, random_facts};
use crate::support::random_mini::{self, random_program};
use crate::support::repair::{repaired_facts, repaired_program};
use rand::seq::IndexedRandom;
use seqcon::aeg::Profile;
use seqcon::analysis::{Analysis, ModelOutcome, Options};
use seqcon::cycles::{Atomicity, ConflictRule};
use seqcon::facts::Facts;
use std::cell::Cell;

#[track_caller]
fn assert_nothing_left(repaired: Facts, profile: Profile, outcome: &ModelOutcome, options: &Options, program: &str) {
    let again = Analysis::new(repaired, profile).run(&outcome.model, options);
    let torn = again.findings.torn.len();
    let delays = again.findings.delays.len();
    assert!(
        torn == 0 && delays == 0 && again.is_clean(),
        "{torn} torn instructions and {delays} delays are left under {} with {profile:?} {:?} {:?} in\n{program}",
        outcome.model.name,
        options.conflicts,
        options.atomicity
    );
}

#[test]
fn repaired_facts_need_nothing_more() {
    let shape = random_facts::Shape {
        most_threads: 3,
        most_instrs: 3,
        most_locations: 3,
        most_accesses: 6,
        loops: true,
        dependencies: true,
    };
    let repaired_cases = Cell::new(0);
    random_cases(cases(2000), |rng| {
        let facts = random_facts(rng, &shape);
        let profile = *[Profile::Sound, Profile::Literal, Profile::Published].choose(rng).expect("not empty");
        let rules = [ConflictRule::Auto, ConflictRule::Concurrent, ConflictRule::Reachable];
        let atomicities = Atomicity::ALL;
        let options = Options {
            conflicts: *rules.choose(rng).expect("not empty"),
            atomicity: *atomicities.choose(rng).expect("not empty"),
            ..Options::default()
        };
        let analysis = Analysis::new(facts.clone(), profile);
        let outcome = analysis.run(models().choose(rng).expect("not empty"), &options);
        if let Some(repaired) = repaired_facts(&facts, &analysis, &outcome) {
            repaired_cases.set(repaired_cases.get() + usize::from(!outcome.is_clean()));
            let labels: Vec<String> = repaired.labels.iter().map(ToString::to_string).collect();
            let follows: Vec<_> = repaired.follows.iter().map(|pair| (pair.from.0, pair.to.0)).collect();
            assert_nothing_left(repaired, profile, &outcome, &options, &format!("{labels:#?}\n{follows:?}"));
        }
    });
    println!("{} programs were repaired", repaired_cases.get());
}

#[test]
fn repaired_programs_need_nothing_more_in_their_new_state_space() {
    let shape = random_mini::Shape { most_threads: 3, most_instrs: 4, loops: true, composite: true, waits: true };
    let repaired_cases = Cell::new(0);
    random_cases(cases(2000), |rng| {
        let program = random_program(rng, &shape);
        let analysis = Analysis::new(facts_of(&program), Profile::Sound);
        let readings = [Atomicity::Full, Atomicity::Presumed, Atomicity::Split];
        let options = Options { atomicity: *readings.choose(rng).expect("not empty"), ..Options::default() };
        for memory_model in ["tso", "pso", "armv7", "armv8"] {
            let outcome = analysis.run(model(memory_model), &options);
            if let Some(repaired) = repaired_program(&program, &analysis, &outcome) {
                repaired_cases.set(repaired_cases.get() + usize::from(!outcome.is_clean()));
                let (before, after) = (state_space(&program), state_space(&repaired.program));
                let text = format!("{before}\nwhich is with fences and locks\n{after}");
                assert_nothing_left(facts_of(&repaired.program), Profile::Sound, &outcome, &options, &text);
            }
        }
    });
    println!("{} programs were repaired", repaired_cases.get());
}

#[test]
fn repaired_bundled_programs_need_nothing_more() {
    for (name, program) in bundled() {
        let analysis = Analysis::new(facts_of(&program), Profile::Sound);
        for memory_model in models() {
            for atomicity in Atomicity::ALL {
                let options = Options { atomicity, ..Options::default() };
                let outcome = analysis.run(memory_model, &options);
                if let Some(repaired) = repaired_program(&program, &analysis, &outcome) {
                    assert_nothing_left(facts_of(&repaired.program), Profile::Sound, &outcome, &options, &name);
                }
            }
        }
    }
}
