//! Random cases with a printed seed.

use rand::SeedableRng;
use rand::rngs::StdRng;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// So many random cases as usual, or as `SEQCON_CASES` says.
pub fn cases(usual: u64) -> u64 {
    std::env::var("SEQCON_CASES").map_or(usual, |cases| cases.parse().expect("SEQCON_CASES is a number"))
}

/// Whether this is a long run (`scripts/soak`): then there is time for large programs, too.
pub fn is_long_run() -> bool {
    std::env::var_os("SEQCON_CASES").is_some()
}

/// Runs `test` on so many random cases. The seed is printed, and `SEQCON_SEED` sets it; a failing case prints the seed
/// that gives this case as its first.
pub fn random_cases(cases: u64, test: impl Fn(&mut StdRng)) {
    let seed: u64 = match std::env::var("SEQCON_SEED") {
        Ok(text) => text.parse().expect("SEQCON_SEED is a number"),
        Err(_) => rand::random::<u32>().into(),
    };
    println!("SEQCON_SEED={seed}, {cases} cases");
    for case in 0..cases {
        let case_seed = seed.wrapping_add(case);
        let mut rng = StdRng::seed_from_u64(case_seed);
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| test(&mut rng))) {
            eprintln!("case {case} failed; SEQCON_SEED={case_seed} runs it first");
            resume_unwind(panic);
        }
    }
}
