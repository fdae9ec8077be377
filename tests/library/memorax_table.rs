//! Table 1 of Abdulla, Atig, Chen, Leonardsson and Rezine, "Counter-example guided fence insertion under TSO" (TACAS
//! 2012), row by row: the models of `specs/properties/` need as many fences as the paper says, and have as many minimal
//! sets of fences, with fences only right after writes, as there.

use crate::support::engines::{after_writes, asked, named, never_of, placed};
use crate::support::random::is_long_run;
use seqcon::analysis::{Deed, Inserted, Options, Run};
use seqcon::cycles::Listing;
use seqcon::engines::Settings;
use seqcon::memory::Kind;
use seqcon::specification::Specification;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// What the paper says of a program: fences for each process and minimal sets; none if it is wrong without weak memory.
type Answer = Option<(usize, usize)>;

/// The row of the table, the model, and what the paper says.
const ROWS: [(usize, &str, Answer); 17] = [
    (1, "simple-dekker", Some((1, 1))),
    (2, "full-dekker", Some((1, 1))),
    (3, "peterson", Some((1, 1))),
    (4, "bakery", Some((2, 4))),
    (5, "lamport-fast", Some((2, 1))),
    (6, "clh", Some((0, 1))),
    (7, "sense-barrier", Some((0, 1))),
    (8, "burns", Some((1, 1))),
    (9, "dijkstra", Some((1, 1))),
    (10, "tournament-barrier", Some((0, 1))),
    (11, "task-scheduling", Some((0, 1))),
    (12, "increasing-sequence", Some((0, 1))),
    (13, "alternating-bit", Some((0, 1))),
    (14, "producer-consumer-1-n2", None),
    (15, "producer-consumer-1-n3", None),
    (16, "producer-consumer-2-n2", Some((0, 1))),
    (17, "producer-consumer-2-n3", Some((0, 1))),
];

/// The search for this one takes half a minute.
const SLOW: &str = "producer-consumer-2-n3";

/// The figures here are those of the table as it was taken from the paper.
#[test]
fn the_figures_are_those_of_the_paper() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/design/seeds/memorax-tables.csv");
    let Ok(text) = fs::read_to_string(&path) else {
        eprintln!("SKIPPED: no {}", path.display());
        return;
    };
    let mut rows = csv::Reader::from_reader(text.as_bytes());
    let rows: Vec<csv::StringRecord> = rows.records().map(Result::unwrap).filter(|row| &row[0] == "1").collect();
    assert_eq!(rows.len(), ROWS.len());
    for (row, (number, name, answer)) in rows.iter().zip(ROWS) {
        assert_eq!(row[1].parse(), Ok(number));
        // The first word of the program's name is in the name of ours, so no two rows are exchanged.
        let word = row[2].to_lowercase().replace("lamport bakery", "bakery").replace("a task", "task");
        let word = word.split(' ').next().unwrap();
        assert!(name.contains(word), "row {number}: {:?} is not {name}", &row[2]);
        let fences = row[9].trim_end_matches(" per process").parse().ok();
        let sets: usize = row[10].parse().unwrap();
        assert_eq!(fences.map(|fences: usize| (fences, sets)), answer, "row {number}: {row:?}");
    }
}

/// Whether nobody could tell a run from one without buffers: no thread reads while a write of its own waits, so every
/// write may as well take effect only when it becomes visible.
fn is_sequentially_consistent(run: &Run) -> bool {
    let mut before: &[Vec<_>] = &[];
    run.steps.iter().all(|step| {
        let waits = before.get(step.thread.index()).is_some_and(|waiting| !waiting.is_empty());
        before = &step.buffers;
        let Deed::Executes { accesses, .. } = &step.deed else { return true };
        !(waits && accesses.iter().any(|access| access.kind == Kind::Read))
    })
}

fn check(row: usize, name: &str, answer: Answer) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("specs/properties/{name}.slco"));
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains(&format!("row {row} of table 1")), "{name} says which row it is");
    let (specification, _) = Specification::parse(format!("{name}.slco"), text).unwrap();
    let property = never_of(&specification).expect("a property");
    let outcome = asked(named("single-buffer"), &specification, &property, &Settings::default(), |examined| {
        let options = Options { sites: Some(after_writes(examined)), minimal_sets: Listing::All, ..Options::default() };
        placed(examined, "tso", &options)
    });
    let outcome = outcome.unwrap_or_else(|trouble| panic!("{name}: {trouble:?}"));
    let Some((per_process, sets)) = answer else {
        assert_eq!(outcome.inserted, Inserted::Unfixable, "row {row}, {name}");
        let run = outcome.runs[0].evidence.run().expect("a run");
        assert!(is_sequentially_consistent(run), "row {row}, {name}: {run:?}");
        return;
    };
    let processes = specification.program.threads.len();
    assert_eq!(outcome.inserted, Inserted::Enough, "row {row}, {name}");
    assert_eq!(outcome.fences.len(), per_process * processes, "row {row}, {name}: fences");
    let minimal = outcome.minimal_sets.expect("they were asked for");
    assert!(minimal.complete && outcome.complete, "row {row}, {name}");
    let [listed] = &minimal.parts[..] else { panic!("the program is one part") };
    assert_eq!(listed.len(), sets, "row {row}, {name}: minimal sets {listed:?}");
    assert_eq!(listed.iter().map(Vec::len).min(), Some(outcome.fences.len()), "row {row}, {name}");
    let distinct: BTreeSet<BTreeSet<_>> = listed.iter().map(|set| set.iter().copied().collect()).collect();
    assert_eq!(distinct.len(), sets, "row {row}, {name}: {listed:?}");
    let chosen = outcome.fences.iter().map(|fence| fence.site).collect();
    assert!(distinct.contains(&chosen), "row {row}, {name}: {chosen:?} is none of {listed:?}");
}

#[test]
fn every_row_has_the_fences_and_the_minimal_sets_of_the_paper() {
    for (row, name, answer) in ROWS {
        if name == SLOW && !is_long_run() {
            println!("SKIPPED: row {row}, {name}, takes half a minute; SEQCON_CASES=1 runs it");
            continue;
        }
        check(row, name, answer);
    }
}

/// A run that only store buffers have is not taken for one that is wrong anyway.
#[test]
fn a_read_past_a_waiting_write_is_told_from_sequential_consistency() {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("specs/sb.slco")).unwrap();
    let (specification, _) = Specification::parse("sb.slco".to_owned(), text).unwrap();
    let (property, _) = specification.never("test", "T0@s2 and T1@s2 and T0.r = 0 and T1.r = 0").unwrap();
    let outcome = asked(named("single-buffer"), &specification, &property, &Settings::default(), |examined| {
        placed(examined, "tso", &Options::default())
    });
    let outcome = outcome.unwrap_or_else(|trouble| panic!("{trouble:?}"));
    assert_eq!((outcome.inserted, outcome.fences.len()), (Inserted::Enough, 2));
    assert!(!is_sequentially_consistent(outcome.runs[0].evidence.run().expect("a run")));
}
