//! The litmus tests of the corpus: verdicts by the axioms, and fences by the analysis wherever a test does more than
//! SC allows.

use crate::support::corpus::corpus_dir;
use crate::support::litmus::{axioms, verdict};
use rayon::prelude::*;
use seqcon::aeg::Profile;
use seqcon::analysis::{Analysis, Options};
use seqcon::engines::single_buffer::{Rules, Stop, backwards};
use seqcon::explore::observe::{FactsObserver, facts};
use seqcon::explore::{Limits, explore};
use seqcon::facts::Facts;
use seqcon::lang::litmus::{self, Test};
use seqcon::lang::parse_condition;
use seqcon::memory::MemoryModel;
use seqcon::program::Program;
use seqcon::program::compiled::Compiled;
use seqcon::property::{Observed, Proposition, Quantifier};
use seqcon::weak::axiomatic::litmus::Answer;
use seqcon::weak::axiomatic::{Model, outcomes};
use seqcon::weak::forbidden::{Forbidden, search};
use seqcon::weak::split::SplitProgram;
use seqcon::weak::verify::{Question, Verdict};
use seqcon::weak::{Granularity, Machine};
use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};

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
            let verdict =
                verdict(&row.test.program, row.test.condition.as_ref(), &axioms(&row.memory_model), UNROLL).unwrap();
            assert!(verdict.outcomes.complete, "{}", row.name);
            verdict.condition != Some(if row.expected { Answer::Holds } else { Answer::Fails })
        })
        .map(|row| row.name.as_str())
        .collect();
    assert_eq!(differing, [""; 0]);
}

/// The same by other people's texts of the models, which are read and never part of the project.
#[test]
fn verdicts_by_the_texts_of_the_corpus_are_the_expected_ones_too() {
    let Some(rows) = rows() else { return };
    let texts = corpus_dir().expect("there are rows").join("cat");
    let model = |name: &str| Model::from_file(&texts.join(name)).unwrap_or_else(|error| panic!("{error}"));
    let (power, tso, sc) = (model("power.cat"), model("tso.cat"), model("sc.cat"));
    for name in ["aarch64.cat", "arm.cat", "riscv.cat", "rc11.cat", "c11.cat"] {
        model(name);
    }
    let differing: Vec<&str> = rows
        .par_iter()
        .filter(|row| {
            let model = if row.memory_model == "power" { &power } else { &tso };
            let (program, condition) = (&row.test.program, row.test.condition.as_ref());
            let found = verdict(program, condition, model, UNROLL).unwrap();
            let ends = |model: &Model| outcomes(program, model, UNROLL).unwrap().ends;
            assert_eq!(found.outcomes.ends, ends(&axioms(&row.memory_model)), "{}", row.name);
            assert_eq!(ends(&sc), ends(&axioms("sc")), "{}", row.name);
            found.condition != Some(if row.expected { Answer::Holds } else { Answer::Fails })
        })
        .map(|row| row.name.as_str())
        .collect();
    assert_eq!(differing, [""; 0]);
}

/// A proposition on final values, as a condition on states; locals are those of their threads.
fn in_words(proposition: &Proposition, program: &Program, locations: &[String]) -> String {
    let all = |parts: &[Proposition], word: &str, none: &str| {
        let parts: Vec<String> = parts.iter().map(|part| in_words(part, program, locations)).collect();
        if parts.is_empty() { none.to_owned() } else { format!("({})", parts.join(word)) }
    };
    match proposition {
        Proposition::Constant(truth) => truth.to_string(),
        Proposition::Is(Observed::Shared(location), value) => format!("{} = {value}", locations[location.index()]),
        Proposition::Is(Observed::Local(thread, local), value) => {
            let thread = program.thread(*thread);
            format!("{}.{} = {value}", thread.name, thread.locals[*local].name)
        }
        Proposition::Not(inner) => format!("(not {})", in_words(inner, program, locations)),
        Proposition::All(parts) => all(parts, " and ", "true"),
        Proposition::Any(parts) => all(parts, " or ", "false"),
    }
}

/// What Dartagnan's suite says of tests for x86, by all states on store buffers, and by the search backwards.
#[test]
fn outcomes_on_tso_are_the_expected_ones_by_states_and_backwards() {
    let Some(rows) = rows() else { return };
    let (by_states, backwards_too) = (AtomicUsize::new(0), AtomicUsize::new(0));
    rows.par_iter().filter(|row| row.memory_model == "tso").for_each(|row| {
        let (program, condition) = (&row.test.program, row.test.condition.as_ref().unwrap());
        let is_reached = row.expected == (condition.quantifier == Quantifier::Exists);
        let split = SplitProgram::new(program).unwrap();
        let question =
            Question { machine: Machine::Tso, granularity: Granularity::Accesses, bound: 8, limit: 1_000_000 };
        let is_violated = |verdict: Verdict| match verdict {
            Verdict::Violated(_) => true,
            Verdict::Verified(_) => false,
            other => panic!("{}: {other:?}", row.name),
        };
        let found = is_violated(search(&split, &question, Forbidden::End(condition)).unwrap());
        assert_eq!(found, is_reached, "{} by states", row.name);
        by_states.fetch_add(1, Ordering::Relaxed);
        let ends = program.threads.iter().map(|thread| {
            let is_end = |state: &usize| thread.instructions.iter().all(|known| known.from.index() != *state);
            let ends = (0..thread.states.len()).filter(is_end);
            let ends: Vec<String> = ends.map(|state| format!("{}@{}", thread.name, thread.states[state])).collect();
            format!("({})", ends.join(" or "))
        });
        let mut parts: Vec<String> = ends.collect();
        let words = in_words(&condition.proposition, program, &split.locations);
        parts.push(if condition.quantifier == Quantifier::Forall { format!("(not {words})") } else { words });
        let Ok(parsed) = parse_condition("test", &parts.join(" and "), program) else { return };
        match backwards(&split, Machine::Tso, Forbidden::State(&parsed.condition), 20_000, Rules::ALL) {
            Ok(verdict) => assert_eq!(is_violated(verdict), is_reached, "{} backwards", row.name),
            Err(Stop::Limit(_)) => return,
            Err(stop) => panic!("{}: {stop:?}", row.name),
        }
        backwards_too.fetch_add(1, Ordering::Relaxed);
    });
    let (by_states, backwards_too) = (by_states.into_inner(), backwards_too.into_inner());
    println!("{by_states} tests by states, {backwards_too} of them backwards, too");
    // The others end at the limit, or have names that a condition cannot say.
    assert!(by_states == 252 && backwards_too > 150, "{by_states} {backwards_too}");
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
        let ends = |model: &str| outcomes(&row.test.program, &axioms(model), UNROLL).unwrap().ends;
        let (sc, weak) = (ends("sc"), ends(&row.memory_model));
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
