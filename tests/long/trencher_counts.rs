//! The number of fences that TSO needs, beside what Trencher finds (`robustness.csv` of the corpus).
//!
//! Trencher decides robustness exactly, by attacks: its number is the fewest fences, each after a transition, with
//! which every run has the trace of a sequentially consistent one. `--only-confirmed` is the same notion and must
//! give the same number on every program, and so must the default, unless it has spent its budget; the event graph
//! alone (`--confirm=off`) may give more, and where it does is listed with the reason.

use crate::support::corpus::corpus_dir;
use crate::support::trust::{by_default, confirmed, judge, outcome};
use seqcon::aeg::Profile;
use seqcon::analysis::{Analysis, Confirmation, Confirming, ModelOutcome};
use seqcon::confirm::Limits;
use seqcon::cycles::Atomicity;
use seqcon::explore::observe::{FactsObserver, facts};
use seqcon::explore::{Limits as ExploreLimits, Stop, explore};
use seqcon::lang;
use seqcon::placement::Minimality;
use seqcon::program::Program;
use seqcon::program::compiled::Compiled;
use seqcon::property::Property;
use seqcon::repair::Repair;
use seqcon::weak::verify::Verdict;
use std::fs;
use std::path::Path;

const LIMITS: Limits = Limits { states: 1_000_000, buffer: 6 };

/// Where the event graph asks for more fences than are needed: program, how many, and why.
const MORE: [(&str, usize, &str); 9] = [
    ("persist/parameterized/dclocking/dc_locking2.txt", 2, FAILED_LOCK),
    ("persist/parameterized/dclocking/dc_locking3.txt", 3, FAILED_LOCK),
    ("persist/parameterized/dclocking/dc_locking4.txt", 4, FAILED_LOCK),
    ("persist/single/mutex/inline_pgsql/inline_pgsql.txt", 8, VALUES),
    ("persist/single/mutex/lamport2/lamport2.txt", 8, VALUES),
    ("trencher/mcs-lock.txt", 2, VALUES),
    ("trencher/memorax/dijkstra.txt", 6, VALUES),
    ("trencher/memorax/lamport_fast.txt", 8, VALUES),
    ("persist/single/mutex/dclocking/dc_locking.txt", 6, FAILED_LOCK),
];
/// Of these, such as the default finds Trencher's number for within its budget.
const WITHIN_BUDGET: [&str; 6] = [
    "persist/parameterized/dclocking/dc_locking2.txt",
    "persist/parameterized/dclocking/dc_locking3.txt",
    "persist/parameterized/dclocking/dc_locking4.txt",
    "persist/single/mutex/lamport2/lamport2.txt",
    "trencher/mcs-lock.txt",
    "trencher/memorax/lamport_fast.txt",
];
const VALUES: &str =
    "a cycle of the event graph that no run closes, because of the values that its reads would have to see";
const FAILED_LOCK: &str = "a lock that is not free is a read here, which closes a cycle that values rule out";

/// How many states a program may have to be tried; `SEQCON_STATES` sets it.
fn states() -> usize {
    std::env::var("SEQCON_STATES").map_or(60_000, |states| states.parse().expect("SEQCON_STATES is a number"))
}

/// The analysis, unless the program has too many states.
fn analysis(program: &Program) -> Option<Analysis> {
    let compiled = Compiled::new(program).expect("few indices");
    let limits = ExploreLimits { states: Some(states()), ..ExploreLimits::default() };
    let (exploration, watchers) = explore(&compiled, &limits, &mut FactsObserver).expect("nothing goes wrong");
    let size = (exploration.states.len() as u64, exploration.transitions);
    (exploration.stop == Stop::Complete).then(|| Analysis::new(facts(program, &watchers, size), Profile::Sound))
}

fn is_verified(program: &Program, repair: &Repair) -> bool {
    let verdict = judge(program, repair, "tso", Atomicity::Split, &Property::Robust, LIMITS);
    assert!(!matches!(verdict, Verdict::Undecided(_)), "the limits are too small");
    matches!(verdict, Verdict::Verified(_))
}

fn read(path: &Path) -> Program {
    let text = fs::read_to_string(path).unwrap();
    lang::parse(&path.display().to_string(), &text).unwrap_or_else(|errors| panic!("{errors}")).program
}

/// The fences for confirmed delays are enough, and each of them is needed.
fn is_minimal(program: &Program, outcome: &ModelOutcome) -> bool {
    let repair = Repair::of(outcome);
    let without = |fence| {
        let mut fewer = repair.clone();
        fewer.fences.remove(fence);
        fewer
    };
    is_verified(program, &repair) && repair.fences.keys().all(|fence| !is_verified(program, &without(fence)))
}

#[test]
fn confirmed_fences_are_as_many_as_trencher_finds() {
    let Some(corpus) = corpus_dir() else { return };
    let mut reader = csv::Reader::from_path(corpus.join("robustness.csv")).unwrap();
    let (mut compared, mut too_large, mut equal) = (0, Vec::new(), Vec::new());
    println!("program,threads,trencher,confirmed,event graph,default,confirming");
    for row in reader.records() {
        let row = row.unwrap();
        let (name, threads, trencher) = (&row[0], row[1].parse::<usize>().unwrap(), row[3].parse::<usize>().unwrap());
        assert_eq!(&row[2] == "robust", trencher == 0, "{name}");
        let path = corpus.join(name);
        if !path.is_file() {
            println!("SKIPPED: no {name}");
            continue;
        }
        let program = read(&path);
        assert_eq!(program.threads.len(), threads, "{name}");
        let Some(analysis) = analysis(&program) else {
            too_large.push(name.to_owned());
            continue;
        };
        let trusted = outcome(&analysis, "tso", Atomicity::Split);
        let exact = confirmed(&program, &analysis, "tso", Atomicity::Split, LIMITS);
        let default = by_default(&program, &analysis, "tso", Atomicity::Split, LIMITS);
        println!(
            "{name},{threads},{trencher},{},{},{},{:?}",
            exact.fences.len(),
            trusted.fences.len(),
            default.fences.len(),
            default.confirming
        );
        assert_eq!(exact.placement.minimality, Minimality::Program, "{name}");
        match default.placement.minimality {
            Minimality::Program => {
                assert_eq!(default.fences.len(), trencher, "fences of {name} by default");
                equal.push(name.to_owned());
            }
            _ => {
                assert!(matches!(default.confirming, Confirming::OutOfStates(_)), "{name}: {:?}", default.confirming);
                assert!(
                    (trencher..=trusted.fences.len()).contains(&default.fences.len()),
                    "fences of {name} by default"
                );
            }
        }
        assert!(!exact.confirmations.contains(&Confirmation::Unknown), "{name}");
        assert_eq!(exact.fences.len(), trencher, "confirmed fences of {name}");
        match MORE.iter().find(|(program, ..)| *program == name) {
            None => assert_eq!(trusted.fences.len(), trencher, "fences of {name}"),
            Some((_, fences, why)) => {
                assert_eq!(trusted.fences.len(), *fences, "fences of {name}: {why}");
                assert!(*fences > trencher, "{name} has no more fences than are needed now");
                assert!(is_verified(&program, &Repair::of(&trusted)), "{name} with all fences");
                assert!(is_minimal(&program, &exact), "{name} with the confirmed fences");
            }
        }
        compared += 1;
    }
    for name in &too_large {
        println!("LEFT OUT: {name} has more than {} states; SEQCON_STATES allows more", states());
    }
    println!("{compared} compared, {} left out", too_large.len());
    assert!(compared >= 35, "only {compared} programs were compared");
    for name in WITHIN_BUDGET {
        assert!(equal.iter().any(|known| known == name), "the default does not find Trencher's number for {name}");
    }
}

#[test]
fn bundled_automata_are_verified_with_their_fences_and_each_confirmed_one_is_needed() {
    let mut programs = 0;
    for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("specs")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "txt") {
            continue;
        }
        let program = read(&path);
        let analysis = analysis(&program).expect("bundled programs are small");
        let default = outcome(&analysis, "tso", Atomicity::Split);
        assert!(is_verified(&program, &Repair::of(&default)), "{}", path.display());
        let exact = confirmed(&program, &analysis, "tso", Atomicity::Split, LIMITS);
        assert!(is_minimal(&program, &exact), "{}", path.display());
        programs += 1;
    }
    assert_eq!(programs, 3);
}
