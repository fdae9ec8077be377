//! Tables 7.2 to 7.15 of Linden's thesis, "On the Verification of Programs on Relaxed Memory Models" (Liège, 2014), by
//! the engine `buffer-automata`: every verdict is the published one, no more fences are needed than are published, nor
//! more full ones for fences of stores, and fences put in one by one are as many as are published.

use crate::support::engines::{answer, asked, named, never_of, placed};
use crate::support::random::is_long_run;
use seqcon::analysis::{Inserted, ModelOutcome, Options};
use seqcon::engines::buffer_automata::Reductions;
use seqcon::engines::{Answer, Settings};
use seqcon::memory::FenceStrength;
use seqcon::placement::cost::Costs;
use seqcon::placement::{Method, Minimality};
use seqcon::property::Property;
use seqcon::repair::Repair;
use seqcon::specification::Specification;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// One row, of a search that ended, or that is said to have found something.
struct Row {
    table: String,
    model: String,
    property: String,
    mode: String,
    program: String,
    processes: usize,
    finished: bool,
    /// Full fences and fences of stores.
    fences: Option<(usize, usize)>,
    verdict: String,
}

impl Row {
    fn name(&self) -> String {
        format!("table {}, {} on {}", self.table, self.program, self.model)
    }
}

/// The rows that the tool itself was run for, if the digest is there.
fn published() -> Option<Vec<Row>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/design/seeds/remmex-tables.csv");
    let Ok(text) = fs::read_to_string(&path) else {
        eprintln!("SKIPPED: no {}", path.display());
        return None;
    };
    let mut rows = csv::Reader::from_reader(text.as_bytes());
    let row = |row: csv::StringRecord| {
        let count = |column: usize| row[column].parse::<usize>().ok();
        Row {
            table: row[0].to_owned(),
            model: row[2].to_lowercase(),
            property: row[3].to_owned(),
            mode: row[4].to_owned(),
            program: row[5].to_owned(),
            processes: row[6].parse().unwrap(),
            finished: &row[7] == "yes",
            fences: count(11).map(|full| (full, count(12).unwrap_or(0))),
            verdict: row[14].to_owned(),
        }
    };
    Some(rows.records().map(Result::unwrap).filter(|row| &row[1] == "Remmex").map(row).collect())
}

/// The program of a row, and what is asked of it: a row without a property has one that is about nothing.
fn asked_in(row: &Row) -> (Specification, Property) {
    let name = format!("{}.rmx", row.program);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("specs/remmex").join(&name);
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let (specification, _) = Specification::parse(name, text).unwrap();
    assert_eq!(specification.program.threads.len(), row.processes, "{}", row.name());
    let property = match &*row.property {
        "safety" => never_of(&specification).expect("a property"),
        "deadlock" => Property::NoDeadlock,
        "none (dummy error state)" => {
            let nowhere = format!("1{}", " 100".repeat(row.processes));
            specification.never("-e", &nowhere).unwrap().0
        }
        other => panic!("{other}"),
    };
    (specification, property)
}

/// Whether a row takes too long for every day; if so, that is said.
fn is_left_out(row: &Row) -> bool {
    let is_slow = match (&*row.program, &*row.model) {
        ("bakery-3", _) => true,
        ("increasing-sequence", _) => true,
        ("peterson-gen-3", "pso") => row.mode != "whole-state-space",
        _ => false,
    };
    let is_left_out = is_slow && !is_long_run();
    if is_left_out {
        println!("SKIPPED: {}, {}, takes too long for every day; SEQCON_CASES=1 runs it", row.name(), row.mode);
    }
    is_left_out
}

/// Where the search ends only without reductions: breadth first, while a thread that loops goes first, its languages
/// grow before there is one that includes them (docs/engines/buffer-automata.md).
const WITHOUT_REDUCTION: [&str; 1] = ["mixable-cycles-2"];

#[test]
fn verdicts_are_as_published() {
    let Some(rows) = published() else { return };
    let mut compared = 0;
    for row in rows.iter().filter(|row| row.mode == "whole-state-space") {
        // Where the published search did not end it is said to have found a violation all the same.
        let holds = match &*row.verdict {
            "violation found" | "deadlock found" => false,
            "safe" | "explored, no property" => true,
            other => panic!("{}: {other}", row.name()),
        };
        if is_left_out(row) {
            continue;
        }
        let (specification, property) = asked_in(row);
        let judged = |settings: &Settings| {
            let found = asked(named("buffer-automata"), &specification, &property, settings, |examined| {
                answer(examined, &row.model, &Repair::default())
            });
            found.unwrap_or_else(|trouble| panic!("{}: {trouble:?}", row.name()))
        };
        let mut settings = Settings::default();
        if WITHOUT_REDUCTION.contains(&&*row.program) {
            settings.searches.states = 1_000;
            assert!(matches!(judged(&settings), Answer::Undecided(_)), "{} is decided now with reductions", row.name());
            println!("DIFFERENT: {}: not decided within 1,000 states with the default reduction", row.name());
            settings = Settings { reductions: Reductions::NONE, ..Settings::default() };
        }
        match judged(&settings) {
            Answer::Holds(ground) => {
                println!("{}: holds, {}", row.name(), ground.rests_on);
                assert!(holds, "{}: published {}", row.name(), row.verdict);
            }
            Answer::Fails { .. } => assert!(!holds, "{}: published {}", row.name(), row.verdict),
            other => panic!("{}: {other:?}", row.name()),
        }
        compared += usize::from(row.finished);
    }
    let expected = if is_long_run() { 20 } else { 18 };
    assert_eq!(compared, expected, "finished rows");
}

/// The full fences and the fences of stores of an outcome that is enough.
fn mixture(outcome: &ModelOutcome) -> (usize, usize) {
    assert_eq!(outcome.inserted, Inserted::Enough);
    let stores = outcome.fences.iter().filter(|fence| fence.strength == FenceStrength::Stores).count();
    (outcome.fences.len() - stores, stores)
}

/// What a mixture weighs, if a fence of stores is half as much as a full one.
fn weight((full, stores): (usize, usize)) -> usize {
    2 * full + stores
}

/// What was found for one program on one memory model.
struct Found {
    fewest: (usize, usize),
    lightest: (usize, usize),
    one_by_one: (usize, usize),
}

fn found(row: &Row) -> Found {
    let (specification, property) = asked_in(row);
    let found = asked(named("buffer-automata"), &specification, &property, &Settings::default(), |examined| {
        let proved = |options: &Options| {
            let outcome = placed(examined, &row.model, options);
            assert_eq!(outcome.placement.minimality, Minimality::Program, "{}", row.name());
            mixture(&outcome)
        };
        let fewest = proved(&Options::default());
        // On TSO all fences are full.
        let lightest = if row.model == "tso" {
            fewest
        } else {
            let text = "plain = 2\ncumulative = 2\nstores = 1\n";
            let costs = Costs::from_toml(text, examined.accesses(), |site| format!("{site:?}")).unwrap();
            proved(&Options { costs, ..Options::default() })
        };
        let outcome = placed(examined, &row.model, &Options { method: Method::Greedy, ..Options::default() });
        assert_eq!(outcome.placement.minimality, Minimality::Greedy, "{}", row.name());
        let repair = Repair::of(&outcome);
        let holds = answer(examined, &row.model, &repair);
        assert!(matches!(holds, Answer::Holds(_)), "{}: {repair:?} {holds:?}", row.name());
        Found { fewest, lightest, one_by_one: mixture(&outcome) }
    });
    found.unwrap_or_else(|trouble| panic!("{}: {trouble:?}", row.name()))
}

#[test]
fn fences_are_as_many_as_published_or_fewer() {
    let Some(rows) = published() else { return };
    let mut known: BTreeMap<(&str, &str), Found> = BTreeMap::new();
    let [mut compared, mut fewer] = [0, 0];
    for row in rows.iter().filter(|row| row.finished && row.mode != "whole-state-space") {
        assert!(row.verdict.ends_with("after correction"), "{}", row.name());
        let published = row.fences.unwrap_or_else(|| panic!("{}: no numbers", row.name()));
        if is_left_out(row) {
            continue;
        }
        let found = known.entry((&row.program, &row.model)).or_insert_with(|| found(row));
        let (name, Found { fewest, lightest, one_by_one }) = (row.name(), found);
        println!(
            "{name}, {}: published {published:?}, fewest {fewest:?}, lightest {lightest:?}, one by one {one_by_one:?}",
            row.mode
        );
        let all = |(full, stores): (usize, usize)| full + stores;
        assert!(all(*fewest) <= all(published), "{name}: {fewest:?}, published {published:?}");
        assert!(weight(*lightest) <= weight(published), "{name}: {lightest:?}, published {published:?}");
        assert!(all(*one_by_one) >= all(*fewest) && weight(*one_by_one) >= weight(*lightest), "{name}");
        // Fences that are left out one by one are all that the correction of a deadlock has, too.
        if row.mode.ends_with("maximal-permissive") || row.property == "deadlock" {
            assert_eq!(*one_by_one, published, "{name}: one by one");
        }
        compared += 1;
        fewer += usize::from(all(*fewest) < all(published));
    }
    println!("{compared} rows, of which {fewer} have fewer fences here");
    let expected = if is_long_run() { 39 } else { 33 };
    assert_eq!(compared, expected, "finished rows");
}
