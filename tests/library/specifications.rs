//! Specifications as a whole: the published state counts, and golden numbers for the bundled models.

use crate::support::corpus::corpus_dir;
use seqcon::aeg::Profile;
use seqcon::analysis::{Analysis, Options};
use seqcon::cycles::Atomicity;
use seqcon::explore::observe::{FactsObserver, Nobody, facts};
use seqcon::explore::{Limits, explore};
use seqcon::facts::Facts;
use seqcon::lang;
use seqcon::memory::{FenceStrength, MemoryModel};
use seqcon::program::Program;
use seqcon::program::compiled::Compiled;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

fn program(path: &Path) -> Program {
    let text = fs::read_to_string(path).expect("the specification is readable");
    lang::parse(&path.display().to_string(), &text).unwrap_or_else(|errors| panic!("{errors}")).program
}

fn facts_of(program: &Program) -> Facts {
    let compiled = Compiled::new(program).expect("few indices");
    let (exploration, watchers) =
        explore(&compiled, &Limits::default(), &mut FactsObserver).expect("specifications do not go wrong");
    facts(program, &watchers, (exploration.states.len() as u64, exploration.transitions))
}

/// Models of the corpus whose counts differ from those of the published translation, with ours, and why.
const DIFFERENT: [(&str, usize, u64, &str); 6] = [
    ("bakery.1", 1937, 6221, SELF_LOOPS),
    ("bakery.3", 57514, 284_898, SELF_LOOPS),
    ("mcs.1", 5963, 22556, SELF_LOOPS),
    ("mcs.3", 84094, 428_590, SELF_LOOPS),
    ("leader_filters.2", 14206, 49362, STATEMENTS),
    ("leader_filters.4", 67113, 254_160, STATEMENTS),
];
const SELF_LOOPS: &str = "the translation leaves out the self-loop of a refused instruction where one of its indices is out of range \
                          or its target's index is computed";
const STATEMENTS: &str = "the translation drops all but the first statement of a transition";
/// Too large for the ordinary suite.
const LARGE: [&str; 3] = ["anderson.6", "mcs.5", "leader_filters.5"];

#[test]
fn state_counts_of_the_corpus_come_out() {
    let Some(corpus) = corpus_dir() else { return };
    let table = fs::read_to_string(corpus.join("state-counts.csv")).expect("the corpus has its counts");
    let mut compared = 0;
    for line in table.lines().skip(1) {
        let columns: Vec<&str> = line.trim().split(',').collect();
        let (name, threads) = (columns[0], columns[1].parse::<usize>().unwrap());
        if LARGE.contains(&name) {
            continue;
        }
        let program = program(&corpus.join(format!("slco/{name}.slco")));
        assert_eq!(program.threads.len(), threads, "{name}");
        let compiled = Compiled::new(&program).expect("few indices");
        let (exploration, _) = explore(&compiled, &Limits::default(), &mut Nobody).expect("no model goes wrong");
        let found = (exploration.states.len(), exploration.transitions);
        let published = (columns[2].parse().unwrap(), columns[3].parse().unwrap());
        match DIFFERENT.iter().find(|row| row.0 == name) {
            None => assert_eq!(found, published, "{name}"),
            Some(&(_, states, transitions, why)) => {
                assert_eq!(found, (states, transitions), "{name}");
                assert_ne!(found, published, "{name} agrees now: {why}");
            }
        }
        compared += 1;
    }
    assert!(compared >= 20, "only {compared} models were compared");
}

/// One row for each bundled specification and memory model; `SEQCON_BLESS=1` writes the table.
#[test]
fn bundled_specifications_give_the_golden_numbers() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let mut paths: Vec<PathBuf> =
        fs::read_dir(root.join("specs")).expect("there are specs").map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| lang::Language::of(&path.display().to_string()).is_some());
    paths.sort();
    assert!(paths.len() >= 20, "only {} specifications", paths.len());
    let mut table =
        "specification,states,transitions,memory_model,atomicity,delays,cumulative_delays,locks,fences,cumulative_fences\n".to_owned();
    for path in &paths {
        let analysis = Analysis::new(facts_of(&program(path)), Profile::Sound);
        for name in ["sc", "tso", "pso", "armv8", "armv7"] {
            let model = MemoryModel::named(name).expect("built in");
            for (atomicity, word) in [(Atomicity::Split, "off"), (Atomicity::Full, "full")] {
                let outcome = analysis.run(&model, &Options { atomicity, ..Options::default() });
                assert!(outcome.recheck.enough && outcome.recheck.each_needed, "{} {name} {word}", path.display());
                writeln!(
                    table,
                    "{},{},{},{name},{word},{},{},{},{},{}",
                    path.file_stem().unwrap().to_string_lossy(),
                    analysis.num_of_states,
                    analysis.num_of_transitions,
                    outcome.num_of_delays(),
                    outcome.num_of_cumulative_delays(),
                    outcome.findings.torn.len(),
                    outcome.num_of_fences(FenceStrength::Plain),
                    outcome.num_of_fences(FenceStrength::Cumulative),
                )
                .unwrap();
            }
        }
    }
    let golden = root.join("tests/golden_specifications.csv");
    if std::env::var_os("SEQCON_BLESS").is_some() {
        fs::write(&golden, table).expect("the table can be written");
    } else {
        assert_eq!(fs::read_to_string(golden).expect("there is a table"), table, "SEQCON_BLESS=1 updates it");
    }
}
