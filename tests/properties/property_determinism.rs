//! The same result whatever the number of threads and the order of the lines of the input: the whole analysis,
//! compared piece by piece.

use crate::support::analyse::{facts_of_text, model, models};
use crate::support::mini::state_space;
use crate::support::programs::{bundled, sb_ring};
use crate::support::random::random_cases;
use crate::support::random_mini::{Shape, random_program};
use rand::SeedableRng;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rayon::ThreadPool;
use seqcon::aeg::Profile;
use seqcon::analysis::{Analysis, Options};
use seqcon::cycles::{Atomicity, Listing};
use seqcon::memory::MemoryModel;

fn pool(threads: usize) -> ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a thread pool")
}

/// Everything that the analysis says, but how long it took.
fn result(text: &str, memory_model: &MemoryModel, options: &Options) -> String {
    let analysis = Analysis::new(facts_of_text(text), Profile::Sound);
    let outcome = analysis.run(memory_model, options);
    let counts = (analysis.num_of_states, analysis.num_of_transitions);
    let (found, fences, locks) = (&outcome.findings, &outcome.fences, &outcome.locks);
    let rest = (&outcome.placement, outcome.recheck, &outcome.composites, outcome.complete);
    format!("{counts:?} {:?} {found:#?} {fences:#?} {locks:#?} {rest:?}", analysis.labels)
}

/// The same transitions in another order.
fn shuffled(text: &str, rng: &mut StdRng) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    lines[1..].shuffle(rng);
    lines.join("\n") + "\n"
}

#[test]
fn random_programs_give_the_same_for_one_and_two_threads_and_shuffled_lines() {
    let shape = Shape { most_threads: 3, most_instrs: 4, loops: true, composite: true, waits: true };
    let (one, two) = (pool(1), pool(2));
    random_cases(1000, |rng| {
        let text = state_space(&random_program(rng, &shape));
        let other = shuffled(&text, rng);
        let options = Options { atomicity: Atomicity::Updates, listing: Listing::First(20), ..Options::default() };
        for memory_model in ["tso", "armv7"].map(model) {
            let with_one = one.install(|| result(&text, memory_model, &options));
            let with_two = two.install(|| result(&other, memory_model, &options));
            assert!(with_one == with_two, "{} differs for\n{text}\nand\n{other}", memory_model.name);
        }
    });
}

#[test]
fn bundled_and_larger_programs_give_the_same_for_one_and_two_threads_and_shuffled_lines() {
    let (one, two) = (pool(1), pool(2));
    // The larger one is read in several chunks.
    let rings = [7, 9].map(|n| (format!("a ring of {n}"), sb_ring(n)));
    for (name, program) in bundled().into_iter().chain(rings) {
        let text = state_space(&program);
        let other = shuffled(&text, &mut StdRng::seed_from_u64(1));
        for memory_model in models() {
            let options = Options { atomicity: Atomicity::Full, ..Options::default() };
            let with_one = one.install(|| result(&text, memory_model, &options));
            let with_two = two.install(|| result(&other, memory_model, &options));
            assert!(with_one == with_two, "{name} differs under {}", memory_model.name);
        }
    }
}
