//! The programs that come with Memorax: as many fences as Memorax itself finds (`corpus/rmm/expected.csv`, measured) on
//! TSO and PSO; what it refuses is refused here, and what it did not finish has an answer.

use crate::support::corpus::corpus_dir;
use crate::support::engines::{after_writes, asked, named, never_of};
use seqcon::analysis::{Inserted, Options};
use seqcon::engines::{Settings, Trouble};
use seqcon::memory::MemoryModel;
use seqcon::specification::Specification;
use seqcon::trial;
use std::collections::BTreeSet;
use std::fs;

/// States of a search that is to end soon.
const FEW: usize = 50_000;

/// How many fences are enough for what a program of the corpus forbids: only after writes, as Memorax puts them.
fn fences(specification: &Specification, model: &str, states: usize) -> Result<usize, Trouble> {
    let searches = trial::Limits { states, ..Settings::default().searches };
    let settings = Settings { searches, ..Settings::default() };
    let property = never_of(specification).expect("every program of the corpus forbids something");
    asked(named("single-buffer"), specification, &property, &settings, |examined| {
        let options = Options { sites: Some(after_writes(examined)), ..Options::default() };
        let outcome = examined.place(&MemoryModel::named(model).expect("built in"), &options)?;
        assert_eq!(outcome.inserted, Inserted::Enough, "{} on {model}", specification.name);
        Ok(outcome.fences.len())
    })?
}

#[test]
fn programs_of_memorax_need_as_many_fences_as_it_says() {
    let Some(corpus) = corpus_dir() else { return };
    let folder = corpus.join("rmm");
    let mut rows = csv::Reader::from_path(folder.join("expected.csv")).unwrap();
    let (mut agreed, mut refused, mut new) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for row in rows.records() {
        let row = row.unwrap();
        let (program, model, expected, seconds) = (&row[0], &row[1], &row[2], &row[3]);
        let text = fs::read_to_string(folder.join(program)).unwrap();
        let (specification, _) = Specification::parse(program.to_owned(), text).unwrap();
        // What is refused is refused only after a search for a violation nearby.
        let states = if seconds.starts_with("refused") { FEW } else { Settings::default().searches.states };
        let found = fences(&specification, model, states);
        let key = (program.to_owned(), model.to_owned());
        match (expected.parse::<usize>(), found) {
            (Ok(expected), Ok(found)) => {
                assert_eq!(found, expected, "{program} on {model}");
                agreed.insert(key);
            }
            (Err(_), Err(Trouble::Unsupported(why))) if seconds.starts_with("refused") => {
                let names_a_variable =
                    specification.program.shared.iter().any(|variable| why.contains(&format!(" {} ", variable.name)));
                assert!(names_a_variable && why.contains("has no bound"), "{program} on {model}: {why}");
                refused.insert(key);
            }
            (Err(_), Ok(found)) if seconds.starts_with("not finished") => {
                println!("{program} on {model}: {found} fences (Memorax: {seconds})");
                new.insert(key);
            }
            (_, found) => panic!("{program} on {model}: Memorax says {expected:?}, {seconds}; seqcon says {found:?}"),
        }
    }
    assert_eq!((agreed.len(), refused.len(), new.len()), (16, 1, 2));
}

/// Tickets that are never given back have no bound. (That is found out slowly, so not on both models for each.)
#[test]
fn what_has_no_bound_is_refused_by_name() {
    let Some(corpus) = corpus_dir() else { return };
    for (program, model, variable) in
        [("bakery", "pso", "n_P0"), ("ticket_spin_lock", "pso", "head"), ("ticket_spin_lock.2", "tso", "head")]
    {
        let name = format!("{program}.rmm");
        let text = fs::read_to_string(corpus.join("rmm").join(&name)).unwrap();
        let (specification, _) = Specification::parse(name, text).unwrap();
        match fences(&specification, model, FEW) {
            Err(Trouble::Unsupported(why)) => {
                assert!(why.contains(&format!("the variable {variable} can have more than")), "{program}: {why}");
            }
            found => panic!("{program} on {model} has no bound, but: {found:?}"),
        }
    }
}
