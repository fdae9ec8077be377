//! The litmus tests of the corpus: verdicts by the axioms, and fences by the analysis wherever a test does more than
//! SC allows.

use crate::support::corpus::corpus_dir;
use crate::support::litmus::verdict;
use rayon::prelude::*;
use seqcon::aeg::Profile;
use seqcon::analysis::{Analysis, Options};
use seqcon::explore::observe::{FactsObserver, facts};
use seqcon::explore::{Limits, explore};
use seqcon::facts::Facts;
use seqcon::lang::litmus::{self, Test};
use seqcon::memory::MemoryModel;
use seqcon::program::Program;
use seqcon::program::compiled::Compiled;
use seqcon::weak::axiomatic::litmus::Answer;
use seqcon::weak::axiomatic::{Model, outcomes};
use std::fs;

/// The tests are loop-free.
const UNROLL: usize = 1;

/// A test, its memory model, and whether its condition is expected to hold.
struct Row {
    name: String,
    test: Test,
    memory_model: String,
    expected: bool,
}

fn rows() -> Option<Vec<Row>> {
    let corpus = corpus_dir()?.join("litmus");
    let table = fs::read_to_string(corpus.join("expected.csv")).expect("the corpus has its verdicts");
    let row = |line: &str| {
        let columns: Vec<&str> = line.trim().split(',').collect();
        let text = fs::read_to_string(corpus.join(columns[0])).expect("the test is readable");
        let test = litmus::read(columns[0], &text).unwrap_or_else(|errors| panic!("{errors}"));
        assert_eq!(test.architecture.memory_model(), columns[1], "{}", columns[0]);
        let expected = columns[2] == "1";
        Row { name: columns[0].to_owned(), test, memory_model: columns[1].to_owned(), expected }
    };
    Some(table.lines().skip(1).map(row).collect())
}

#[test]
fn verdicts_are_the_expected_ones() {
    let Some(rows) = rows() else { return };
    assert_eq!(rows.len(), 1438);
    let differing: Vec<&str> = rows
        .par_iter()
        .filter(|row| {
            let verdict = verdict(
                &row.test.program,
                row.test.condition.as_ref(),
                Model::named(&row.memory_model).unwrap(),
                UNROLL,
            )
            .unwrap();
            assert!(verdict.outcomes.complete, "{}", row.name);
            verdict.condition != Some(if row.expected { Answer::Holds } else { Answer::Fails })
        })
        .map(|row| row.name.as_str())
        .collect();
    assert_eq!(differing, [""; 0]);
}

fn facts_of(program: &Program) -> Facts {
    let compiled = Compiled::new(program).unwrap();
    let (exploration, watchers) = explore(&compiled, &Limits::default(), &mut FactsObserver).unwrap();
    facts(program, &watchers, (exploration.states.len() as u64, exploration.transitions))
}

#[test]
fn what_does_more_than_sc_gets_a_fence() {
    let Some(rows) = rows() else { return };
    let judge = |row: &Row| {
        let ends = |model| outcomes(&row.test.program, model, UNROLL).unwrap().ends;
        let (sc, weak) = (ends(Model::Sc), ends(Model::named(&row.memory_model).unwrap()));
        assert!(sc.is_subset(&weak), "{}", row.name);
        let table = MemoryModel::named(&row.memory_model).unwrap();
        let analysis = Analysis::new(facts_of(&row.test.program), Profile::Sound);
        let fences = analysis.run(&table, &Options::default()).fences.len();
        let is_weak = weak != sc;
        assert!(!is_weak || fences > 0, "{} needs a fence under {}", row.name, row.memory_model);
        (is_weak, fences > 0)
    };
    let judged: Vec<(bool, bool)> = rows.par_iter().map(judge).collect();
    let weak = judged.iter().filter(|(is_weak, _)| *is_weak).count();
    let fenced = judged.iter().filter(|(_, is_fenced)| *is_fenced).count();
    println!("{weak} of {} tests do more than SC allows; {fenced} get fences", judged.len());
    assert!(weak > 800, "the corpus has weak tests: {weak}");
}
