//! How long the stations take, as ratios within one run (`cargo bench`).
//!
//! For each bundled state space: the delay search against the enumeration of all cycles, and the exact placement
//! against the greedy one. The ratios say what an exact answer costs; absolute times depend on the machine.

use seqcon::aeg::Profile;
use seqcon::analysis::{Analysis, Options};
use seqcon::cycles::Listing;
use seqcon::facts::{self, extract};
use seqcon::memory::MemoryModel;
use seqcon::placement::Method;
use std::path::Path;
use std::time::{Duration, Instant};

const REPETITIONS: u32 = 20;

fn main() {
    println!("{:<20} {:<6} {:>12} {:>20} {:>16}", "program", "model", "search", "enumeration/search", "greedy/exact");
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("lts");
    let mut programs: Vec<_> =
        std::fs::read_dir(directory).expect("bundled").map(|entry| entry.expect("readable").path()).collect();
    programs.sort();
    for program in programs.iter().filter(|path| path.extension().is_some_and(|extension| extension == "aut")) {
        let extraction = facts::load(program, &extract::Options::default(), &extract::NoProgress)
            .expect("bundled state spaces are read");
        let analysis = Analysis::new(extraction.facts, Profile::Sound);
        for name in ["tso", "armv7"] {
            let model = MemoryModel::named(name).expect("built in");
            let time = |options: &Options| {
                let started = Instant::now();
                for _ in 0..REPETITIONS {
                    std::hint::black_box(analysis.run(&model, options));
                }
                started.elapsed() / REPETITIONS
            };
            let exact = time(&Options::default());
            let enumeration = time(&Options { listing: Listing::All, ..Options::default() });
            let greedy = time(&Options { method: Method::Greedy, ..Options::default() });
            let ratio = |part: Duration| part.as_secs_f64() / exact.as_secs_f64();
            let stem = program.file_stem().unwrap_or_default().to_string_lossy();
            println!("{stem:<20} {name:<6} {exact:>12.1?} {:>20.2} {:>16.2}", ratio(enumeration), ratio(greedy));
        }
    }
}
