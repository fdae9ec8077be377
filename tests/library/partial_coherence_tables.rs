//! Tables 1 and 2 of Kuperstein, Vechev and Yahav, "Partial-Coherence Abstractions for Relaxed Memory Models" (PLDI
//! 2011), on PSO: the models of `specs/partial-coherence/` are verified or not as published, and need as many fences as
//! is published that they do, or fewer; and the numbers of states are near those of the digest's prototype.

use crate::support::engines::{asked, named, never_of, placed};
use seqcon::analysis::{Inserted, Options};
use seqcon::engines::Settings;
use seqcon::engines::partial_coherence::{
    Abstracting, Coherence, Inference, Judgement, Labels, Reduction, View, count, judge,
};
use seqcon::property::Property;
use seqcon::specification::Specification;
use seqcon::weak::Machine;
use seqcon::weak::forbidden::Forbidden;
use seqcon::weak::split::SplitProgram;
use std::fs;
use std::path::Path;

fn specification(name: &str) -> (Specification, Property) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("specs/partial-coherence/{name}.slco"));
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let (specification, _) = Specification::parse(format!("{name}.slco"), text).unwrap();
    let property = never_of(&specification).expect("a property");
    (specification, property)
}

fn view(coherence: Coherence, reduction: Reduction) -> View {
    View { machine: Machine::Pso, coherence, reduction, most: 20_000_000 }
}

/// Published rows: the rows of one of the tables of the digest, if it is there.
fn published(table: &str) -> Option<Vec<csv::StringRecord>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/design/seeds/blender-tables.csv");
    let Ok(text) = fs::read_to_string(&path) else {
        eprintln!("SKIPPED: no {}", path.display());
        return None;
    };
    let mut rows = csv::Reader::from_reader(text.as_bytes());
    Some(rows.records().map(Result::unwrap).filter(|row| &row[0] == table).collect())
}

/// The model of a row.
fn model(row: &csv::StringRecord) -> String {
    let name = row[1].to_lowercase();
    let digit = name.find(|c: char| c.is_ascii_digit()).expect("the number of fences");
    format!("{}-{}", &name[..digit], &name[digit..])
}

fn coherence(row: &csv::StringRecord) -> Coherence {
    let head = || row[3].parse().unwrap();
    match &row[2] {
        "Set" => Coherence::Set,
        "FD" => Coherence::Full(head()),
        "PD" => Coherence::Partial(head()),
        other => panic!("{other}"),
    }
}

/// The increment of the barrier is a full fence here, and in the paper waits only for writes to the counter: so nothing
/// waits when an epoch begins, and even sets are enough.
const VERIFIED_HERE: (&str, Coherence) = ("sense-1", Coherence::Set);

#[test]
fn programs_with_fences_are_verified_as_in_table_1() {
    let Some(rows) = published("1") else { return };
    assert_eq!(rows.len(), 18);
    for row in &rows {
        let (specification, property) = specification(&model(row));
        let split = SplitProgram::new(&specification.program).unwrap();
        let forbidden = Forbidden::by(&property).unwrap();
        for reduction in [Reduction::Private, Reduction::Off] {
            let view = view(coherence(row), reduction);
            let judged =
                judge(&split, &specification.outline, forbidden, view).unwrap_or_else(|stop| panic!("{stop:?}"));
            match (judged, &row[4]) {
                (Judgement::Proved(_), "counterexample") if (&*model(row), view.coherence) == VERIFIED_HERE => {}
                (Judgement::Proved(_), "verified") | (Judgement::Suspected(_), "counterexample") => {}
                (Judgement::Violated(_), _) => panic!("{row:?}: the program has enough fences"),
                (Judgement::Suspected(_), _) => panic!("{row:?} {reduction:?}: suspected"),
                (Judgement::Proved(_), _) => panic!("{row:?} {reduction:?}: proved"),
                (Judgement::GoesWrong(_) | Judgement::Doubtful, _) => panic!("{row:?} {reduction:?}"),
            }
        }
    }
}

/// States of the digest's prototype, which takes the programs as they are written; with labels where fences are found.
#[test]
fn numbers_of_states_are_near_those_of_the_prototype() {
    use Coherence::{Full, Partial, Set};
    let rows: [(&str, Coherence, Labels, usize); 10] = [
        ("pet-2", Set, Labels::None, 8_244),
        ("pet-2", Full(0), Labels::None, 2_682),
        ("pet-2", Full(1), Labels::None, 1_848),
        ("pet-2", Partial(0), Labels::None, 2_214),
        ("pet-0", Full(0), Labels::Instructions, 63_000),
        ("pet-0", Partial(0), Labels::Instructions, 22_680),
        ("pet-0", Partial(1), Labels::Instructions, 205_336),
        ("fast-3", Set, Labels::None, 28_911),
        ("fast-3", Full(0), Labels::None, 14_135),
        ("fast-3", Full(1), Labels::None, 9_303),
    ];
    for (name, coherence, labels, expected) in rows {
        let (specification, property) = specification(name);
        let split = SplitProgram::new(&specification.program).unwrap();
        let forbidden = Forbidden::by(&property).unwrap();
        let found = count(&split, forbidden, labels, view(coherence, Reduction::Off)).unwrap();
        println!("{name} {coherence} {labels:?}: {found}, prototype {expected}");
        let (least, most) = (expected * 7 / 10, expected * 13 / 10);
        assert!((least..=most).contains(&found), "{name} {coherence}: {found}, prototype {expected}");
    }
}

/// What an inference finds: the fences, or none for the abstraction.
fn inferred(name: &str, coherence: Coherence, inference: Inference) -> Option<usize> {
    let (specification, property) = specification(name);
    let abstracting = Abstracting { coherence, inference, ..Abstracting::default() };
    let mut settings = Settings { abstracting, ..Settings::default() };
    settings.searches.states = 20_000_000;
    let outcome = asked(named("partial-coherence"), &specification, &property, &settings, |examined| {
        placed(examined, "pso", &Options::default())
    });
    let outcome = outcome.unwrap_or_else(|trouble| panic!("{name}: {trouble:?}"));
    match outcome.inserted {
        Inserted::Enough => Some(outcome.fences.len()),
        Inserted::NotAbstractly(_) => None,
        other => panic!("{name} {coherence}: {other:?}"),
    }
}

/// The fewest fences on PSO, in both processes together.
fn fewest(name: &str) -> usize {
    match name {
        "sense-0" | "clh-0" => 2,
        "pet-0" | "dek-0" | "lam-0" | "fast-1a" | "fast-1b" | "fast-1c" => 4,
        "fast-0" => 6,
        other => panic!("{other}"),
    }
}

#[test]
fn fences_are_found_as_in_table_2_or_fewer() {
    let Some(rows) = published("2") else { return };
    assert_eq!(rows.len(), 45);
    for row in &rows {
        let (name, coherence) = (model(row), coherence(row));
        let found = inferred(&name, coherence, Inference::Sites);
        println!("{name} {coherence}: {found:?}, published {}", &row[4]);
        match &row[4] {
            "optimal" => assert_eq!(found, Some(fewest(&name)), "{row:?}"),
            // The joint optimum can be better than what is published.
            "suboptimal" => assert!(found.is_some_and(|found| found >= fewest(&name)), "{row:?}"),
            "unfixable" => assert_eq!(found, None, "{row:?}"),
            "out_of_memory" | "ambiguous" => {}
            other => panic!("{other}"),
        }
    }
}
