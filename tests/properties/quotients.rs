//! Quotients: their facts are those of the state space, whoever made them; and as state spaces they are small.

use crate::support::facts_of;
use crate::support::random::random_cases;
use crate::support::reference::{Lts, Shape};
use crate::support::shards::{Split, by_phases, file_of, file_without_sizes, files, sets_files, split, steps_files};
use rand::Rng;
use rand::seq::IndexedRandom;
use seqcon::budget::Budget;
use seqcon::facts;
use seqcon::facts::extract::{Extraction, NoProgress, Options, shard};
use seqcon::facts::quotient::{phases, space, table};
use seqcon::lts::dialect::native;
use seqcon::lts::label::Label;
use seqcon::lts::source::Bytes;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// The table of a state space, straight from the definitions: as a database writes it, with rows in any order.
fn table_of(lts: &Lts) -> String {
    let texts: BTreeSet<&str> = lts.transitions.iter().map(|(_, text, _)| text.as_str()).collect();
    let label = |text: &str| if text == "tau" { None } else { Some(native::parse(text).expect("native")) };
    let mut numbers: BTreeMap<Option<Label>, usize> = BTreeMap::new();
    for text in &texts {
        let next = 3 * numbers.len() + 5;
        numbers.entry(label(text)).or_insert(next);
    }
    let enabled = |state: u64| -> String {
        let out = lts.transitions.iter().filter(|(from, text, to)| *from == state && !(text == "tau" && from == to));
        let set: BTreeSet<usize> = out.map(|(_, text, _)| numbers[&label(text)]).collect();
        set.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
    };
    let mut steps: BTreeMap<String, u64> = BTreeMap::new();
    for (from, text, to) in &lts.transitions {
        let row =
            format!("step,,{},{},{},{},", enabled(*from), numbers[&label(text)], enabled(*to), u8::from(from == to));
        *steps.entry(row).or_default() += 1;
    }
    let mut reached = BTreeSet::from([0]);
    while let Some((_, _, to)) =
        lts.transitions.iter().find(|(from, _, to)| reached.contains(from) && !reached.contains(to))
    {
        reached.insert(*to);
    }
    let mut table = "what,text,before,label,after,is_loop,count\n".to_owned();
    for state in 0..lts.states {
        let _ = writeln!(table, "set,,{},,,,", enabled(state));
    }
    for (row, count) in steps {
        let _ = writeln!(table, "{row}{count}");
    }
    for (label, number) in &numbers {
        let text = label.as_ref().map_or("tau".to_owned(), ToString::to_string);
        let _ = writeln!(table, "label,\"{text}\",,{number},,,");
    }
    let _ = writeln!(table, "initial,,{},,,,\nstates,,,,,,{}", enabled(0), lts.states);
    let _ = writeln!(table, "transitions,,,,,,{}\nreached,,,,,,{}", lts.transitions.len(), reached.len());
    table
}

/// Two shards with the same transitions are taken for one shard that was given twice.
fn without_repetitions(mut lts: Lts) -> Lts {
    let mut seen = BTreeSet::new();
    lts.transitions.retain(|transition| seen.insert(transition.clone()));
    lts
}

fn read(text: &str) -> Extraction {
    let source = Bytes::from_bytes("test", text.into()).expect("not empty");
    facts::read(std::slice::from_ref(&source), &Options::default(), &NoProgress)
        .unwrap_or_else(|error| panic!("{error}\n{text}"))
}

#[test]
fn facts_of_a_table_are_those_of_the_state_space() {
    random_cases(300, |rng| {
        let lts = Lts::random(rng);
        let (whole, table) = (facts_of(lts.to_aut(), &Options::default()).expect("well formed"), read(&table_of(&lts)));
        assert_eq!(table.part.is_some(), whole.part.is_some(), "{}", lts.to_aut());
        assert_eq!(file_of(&table.facts), file_of(&whole.facts), "{}", lts.to_aut());
    });
}

#[test]
fn facts_of_shards_and_of_two_phases_are_those_of_the_whole() {
    random_cases(200, |rng| {
        let lts = without_repetitions(Lts::random(rng));
        let how = *[Split::Modulo, Split::Blocks, Split::Random].choose(rng).expect("not empty");
        let num_of_parts = rng.random_range(1..7);
        let shards = files(&split(&lts.to_aut(), how, num_of_parts, rng));
        let whole = facts_of(lts.to_aut(), &Options::default()).expect("well formed");
        let together = facts::read(&shards, &Options::default(), &NoProgress).expect("all parts are there");
        assert_eq!(together, whole, "{}", lts.to_aut());
        // No phase searches: where it does not tell whether this is a whole, the test knows.
        let options = Options { whole: lts.is_whole(), ..Options::default() };
        let phases = by_phases(&shards, &options).unwrap_or_else(|error| panic!("{error}\n{}", lts.to_aut()));
        assert_eq!(file_of(&phases.facts), file_of(&whole.facts), "{}", lts.to_aut());
    });
}

#[test]
fn phases_know_that_all_is_reached_only_if_it_is() {
    random_cases(200, |rng| {
        let lts = without_repetitions(Lts::random_of(rng, Shape::Small));
        let shards = files(&split(&lts.to_aut(), Split::Random, 3, rng));
        let phases = by_phases(&shards, &Options::default()).expect("all parts are there");
        let parents: BTreeSet<u64> =
            lts.transitions.iter().filter(|(from, _, to)| from < to).map(|step| step.2).collect();
        // Every state but the first has a step to it from one with a smaller number.
        assert_eq!(phases.part.is_none(), parents.len() as u64 + 1 == lts.states, "{}", lts.to_aut());
        assert!(phases.part.is_some() || lts.is_whole());
        assert_eq!(phases.facts.cut_off, phases.part.is_some());
    });
}

#[test]
fn reduced_state_spaces_have_the_same_facts_and_as_few_states_as_their_sets_and_steps_need() {
    random_cases(300, |rng| {
        let lts = Lts::random(rng);
        let reduced = |text: &str| {
            let quotient =
                shard::quotient(&files(&[text.to_owned()]), &Options::default(), &NoProgress).expect("well formed");
            let mut out = Vec::new();
            space::write(&quotient, &mut out).expect("memory");
            String::from_utf8(out).expect("text")
        };
        let text = reduced(&lts.to_aut());
        if !lts.is_whole() {
            assert!(text.starts_with("des (?,?,?)\n"), "{text}");
            return;
        }
        let whole = facts_of(lts.to_aut(), &Options::default()).expect("well formed");
        let small = facts_of(&text, &Options::default()).unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(small.part, None, "{}{text}", lts.to_aut());
        assert_eq!(file_without_sizes(&small.facts), file_without_sizes(&whole.facts), "{}{text}", lts.to_aut());
        assert_eq!(reduced(&text), text);
        assert_eq!(small.facts.states, needed_states(&lts), "{}{text}", lts.to_aut());
        assert!(small.facts.states <= whole.facts.states);
    });
}

/// How many states every state space with these sets and steps has at least: for each set one, or two if some step
/// leads from a state to another one with the same set, and could not be a self-loop.
fn needed_states(lts: &Lts) -> u64 {
    let label = |text: &str| if text == "tau" { None } else { Some(native::parse(text).expect("native")) };
    let enabled = |state: u64| -> BTreeSet<Option<Label>> {
        let out = lts.transitions.iter().filter(|(from, text, to)| *from == state && !(text == "tau" && from == to));
        out.map(|(_, text, _)| label(text)).collect()
    };
    let sets: BTreeSet<_> = (0..lts.states).map(enabled).collect();
    let needs_two = |set: &BTreeSet<Option<Label>>| {
        let leaving = lts.transitions.iter().filter(|(from, _, to)| from != to && enabled(*from) == *set);
        let (within, without): (Vec<_>, Vec<_>) = leaving.partition(|(_, _, to)| enabled(*to) == *set);
        let holds = within.iter().any(|(_, text, _)| label(text).is_some_and(|label| label.is_only_a_condition()));
        let internal = |steps: &[&(u64, String, u64)]| steps.iter().any(|(_, text, _)| text == "tau");
        holds || internal(&within) && !internal(&without)
    };
    sets.iter().map(|set| if needs_two(set) { 2 } else { 1 }).sum()
}

#[test]
fn damaged_tables_and_sets_never_panic() {
    random_cases(300, |rng| {
        let lts = without_repetitions(Lts::random_of(rng, Shape::Small));
        let shards = files(&split(&lts.to_aut(), Split::Random, 2, rng));
        let options = Options::default();
        let sets = sets_files(&shards, &options).expect("well formed");
        let steps = steps_files(&shards, &sets, &options).expect("well formed");
        let mut damaged = [&sets[0], &steps[0]].choose(rng).expect("not empty").bytes().to_vec();
        let is_table = table::is_table(&damaged);
        let at = rng.random_range(0..damaged.len());
        match rng.random_range(0..3) {
            0 => damaged.truncate(at),
            1 => damaged[at] ^= 1 << rng.random_range(0..8),
            _ => damaged.insert(at, rng.random()),
        }
        // All bytes are under a checksum.
        if is_table {
            assert!(
                table::read(&damaged, "damaged", &Budget::default()).is_err(),
                "{}",
                String::from_utf8_lossy(&damaged)
            );
        } else {
            assert!(phases::read_sets(&damaged, "damaged").is_err(), "{}", String::from_utf8_lossy(&damaged));
        }
        // A table of an engine has none: it must not be taken for another one.
        let mut table = table_of(&lts).into_bytes();
        let before = table::read(&table, "table", &Budget::default()).expect("well formed");
        table.truncate(rng.random_range(0..table.len()));
        if let Ok(after) = table::read(&table, "table", &Budget::default()) {
            assert_eq!(after, before);
        }
    });
}
