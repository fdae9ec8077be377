//! The families of `corpus/persist/parameterized`: as many fences as grow with the number of processes, proved to be
//! the fewest, up to the largest size that there is.

// Outside of test functions clippy does not know that this is a test.
#![allow(clippy::unwrap_used)]

use crate::support::corpus::corpus_dir;
use crate::support::engines::{examined, named, placed};
use seqcon::analysis::Options;
use seqcon::engines::{Approach, Settings};
use seqcon::lang;
use seqcon::placement::Minimality;
use std::path::Path;

/// A family, the names of its files, its sizes, and its fences over the number of processes.
type Family = (&'static str, &'static str, &'static [usize], fn(usize) -> usize);

const UP_TO_10: &[usize] = &[2, 3, 4, 5, 6, 7, 8, 9, 10];
const UP_TO_20: &[usize] = &[2, 4, 6, 8, 10, 12, 14, 16, 18, 20];

const FAMILIES: [Family; 8] = [
    ("burns", "burns", UP_TO_10, |processes| 2 * processes - 1),
    ("dclocking", "dc_locking", UP_TO_10, |_| 0),
    ("dijkstra", "dijkstra", UP_TO_10, |processes| 2 * processes),
    ("increase-sequence", "increase_sequence", UP_TO_10, |_| 0),
    ("partial-dekker", "partial-dekker", UP_TO_10, |processes| 2 * processes),
    // Two for each waiter, of which there are at most two, and one for each waker.
    ("pgsql", "pgsql", UP_TO_20, |processes| processes + (processes / 2).min(2)),
    ("seqlock", "seqlock", UP_TO_20, |_| 0),
    ("szymanski", "szymanski", UP_TO_10, |processes| 4 * processes),
];

/// The number of fences, and whether it is proved that fewer are not enough.
fn fences(path: &Path, approach: Approach) -> (usize, bool) {
    let text = std::fs::read_to_string(path).unwrap();
    let name = path.display().to_string();
    let program = lang::parse(&name, &text).unwrap_or_else(|errors| panic!("{errors}")).program;
    let settings = Settings { approach, ..Settings::default() };
    let outcome = examined(named("persistence"), &program, &settings, None, |examined| {
        placed(examined, "tso", &Options::default())
    });
    let outcome = outcome.unwrap();
    assert!(outcome.complete && outcome.recheck.enough && outcome.recheck.each_needed, "{name}");
    (outcome.fences.len(), outcome.placement.minimality == Minimality::Program)
}

#[test]
fn families_grow_as_they_should() {
    let Some(corpus) = corpus_dir() else { return };
    for (family, file, sizes, expected) in FAMILIES {
        for &size in sizes {
            let path = corpus.join("persist/parameterized").join(family).join(format!("{file}{size}.txt"));
            assert_eq!(fences(&path, Approach::Auto), (expected(size), true), "{}", path.display());
            if size == 2 {
                // What the whole state space of the smallest one says.
                assert_eq!(fences(&path, Approach::Program), (expected(size), true), "{}", path.display());
            }
        }
    }
}
