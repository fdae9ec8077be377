//! Robustness on TSO of the programs of the corpus, without the whole state space where that is large: all get the
//! proved minimum, and it is Trencher's where that has one. A usual run looks at a third of them, a long one
//! (`scripts/soak`) at all.

use crate::support::corpus::corpus_dir;
use crate::support::engines::{examined, examined_for, named, placed};
use crate::support::random::is_long_run;
use seqcon::analysis::{Abstraction, ModelOutcome, Options};
use seqcon::engines::{Approach, Settings};
use seqcon::lang;
use seqcon::memory::MemoryModel;
use seqcon::placement::Minimality;
use seqcon::program::Program;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Programs by what they need beyond what Trencher has found: those on which it was not run to its end.
const KNOWN: [(&str, usize); 12] = [
    ("persist/single/mutex/simple_dekker/simple_dekker.txt", 4),
    ("persist/single/mutex/dekker/dekker.txt", 8),
    ("persist/single/mutex/burns/burns.txt", 9),
    ("persist/single/mutex/dijkstra/dijkstra.txt", 8),
    ("persist/single/mutex/peterson/peterson.txt", 4),
    ("persist/single/mutex/szymanski4/szymanski4.txt", 16),
    ("persist/single/mutex/clhlock/clhlock.txt", 4),
    ("persist/single/nbw/nbw_w_wr/nbw_w_wr.txt", 1),
    ("persist/single/nbw/seqlock/seqlock.txt", 0),
    ("persist/single/schedule/parker/parker.txt", 1),
    ("persist/single/dynamic_struture_algorithms/cilk/cilk-the-wsq.txt", 2),
    ("persist/single/dynamic_struture_algorithms/chase_lev/chase-lev-wsq.txt", 1),
];

fn read(path: &Path) -> Program {
    let text = fs::read_to_string(path).unwrap();
    lang::parse(&path.display().to_string(), &text).unwrap_or_else(|errors| panic!("{errors}")).program
}

fn by_default(program: &Program) -> (ModelOutcome, Option<Abstraction>) {
    let tso = [MemoryModel::named("tso").unwrap()];
    let found = examined_for(named("cycles"), program, &Settings::default(), (&tso, None), |examined| {
        (placed(examined, "tso", &Options::default()), examined.abstraction())
    });
    found.unwrap()
}

/// All programs in a folder, but for those in Remmex's language.
fn programs(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && name != "parameterized" {
            programs(&path, found);
        } else if name.ends_with(".txt") && !name.ends_with("_Remmex.txt") {
            found.push(path);
        }
    }
}

#[test]
fn all_programs_get_a_proved_minimum() {
    let Some(corpus) = corpus_dir() else { return };
    let mut reader = csv::Reader::from_path(corpus.join("robustness.csv")).unwrap();
    let rows = reader.records().map(|row| row.unwrap());
    let trencher: BTreeMap<String, usize> = rows.map(|row| (row[0].to_owned(), row[3].parse().unwrap())).collect();
    let expected = |name: &str| {
        let known = KNOWN.iter().find(|(program, _)| *program == name).map(|(_, fences)| *fences);
        trencher.get(name).copied().or(known)
    };
    let mut paths = Vec::new();
    ["trencher", "persist"].iter().for_each(|folder| programs(&corpus.join(folder), &mut paths));
    let all = paths.len();
    let mut position = 0;
    paths.retain(|_| {
        position += 1;
        is_long_run() || position % 3 == 0
    });
    let (mut compared, mut abstracted) = (0, 0);
    for path in &paths {
        let name = path.strip_prefix(&corpus).unwrap().to_string_lossy().into_owned();
        let (outcome, abstraction) = by_default(&read(path));
        println!("{name},{},{:?},{abstraction:?}", outcome.fences.len(), outcome.placement.minimality);
        assert!(outcome.complete && outcome.recheck.enough, "{name}");
        assert_eq!(outcome.placement.minimality, Minimality::Program, "{name}");
        if let Some(fences) = expected(&name) {
            assert_eq!(outcome.fences.len(), fences, "{name}");
            compared += 1;
        }
        abstracted += usize::from(abstraction.is_some());
    }
    println!("{} of {all} programs, {compared} compared, {abstracted} abstracted", paths.len());
    assert!(all >= 72 && 2 * compared > paths.len() && 4 * abstracted > paths.len(), "{compared} {abstracted}");
}

/// A family, the names of its files, its smallest and largest size, and its fences over the number of processes.
type Family = (&'static str, &'static str, usize, fn(usize) -> usize);

const FAMILIES: [Family; 8] = [
    ("burns", "burns", 10, |processes| 2 * processes - 1),
    ("dclocking", "dc_locking", 10, |_| 0),
    ("dijkstra", "dijkstra", 10, |processes| 2 * processes),
    ("increase-sequence", "increase_sequence", 10, |_| 0),
    ("partial-dekker", "partial-dekker", 10, |processes| 2 * processes),
    ("pgsql", "pgsql", 20, |processes| processes + (processes / 2).min(2)),
    ("seqlock", "seqlock", 20, |_| 0),
    ("szymanski", "szymanski", 10, |processes| 4 * processes),
];

#[test]
fn families_get_a_proved_minimum_up_to_the_largest() {
    let Some(corpus) = corpus_dir() else { return };
    for (family, file, largest, expected) in FAMILIES {
        for size in if is_long_run() { vec![2, 4, largest] } else { vec![4] } {
            let path = corpus.join("persist/parameterized").join(family).join(format!("{file}{size}.txt"));
            let (outcome, _) = by_default(&read(&path));
            let found = (outcome.fences.len(), outcome.placement.minimality);
            assert_eq!(found, (expected(size), Minimality::Program), "{}", path.display());
        }
    }
}

/// The largest published models get fences, with both bounds.
#[test]
fn the_largest_models_get_fences_with_both_bounds() {
    let Some(corpus) = corpus_dir() else { return };
    for (model, file) in [("tso", "slco-large/anderson.5"), ("armv7", "slco-large/anderson.5")] {
        let program = read(&corpus.join(format!("{file}.slco")));
        let settings = Settings { approach: Approach::Abstract(Abstraction::Environment), ..Settings::default() };
        let outcome = examined(named("cycles"), &program, &settings, None, |examined| {
            placed(examined, model, &Options { atomicity: examined.atomicity(), ..Options::default() })
        });
        let outcome = outcome.unwrap();
        println!("{file} {model}: {} fences, {:?}", outcome.fences.len(), outcome.placement.minimality);
        assert!(outcome.complete && outcome.recheck.enough, "{file} {model}");
        assert_ne!(outcome.placement.minimality, Minimality::Greedy);
    }
}
