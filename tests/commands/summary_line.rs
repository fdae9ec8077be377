//! The summary line and `summary.csv` count what their names say.

use crate::support::command::run;
use std::collections::{BTreeMap, BTreeSet};

/// What a run prints that succeeds.
fn printed(arguments: &[&str]) -> String {
    let (status, output, errors) = run(arguments);
    assert_eq!(status, 0, "{errors}");
    output
}

/// The lines of `name=value` words as maps.
fn lines(text: &str) -> Vec<BTreeMap<String, String>> {
    let word = |word: &str| word.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
    text.lines().map(|line| line.split(' ').map(|part| word(part).expect("name=value")).collect()).collect()
}

/// Two programs: one with cumulative fences, and one with more torn instructions than locks.
const CASES: [(&str, &[&str]); 3] = [
    ("specs/peterson.slco", &[]),
    ("specs/peterson.slco", &["--confirm=off"]),
    ("lts/snapshot.aut", &["--atomicity=full"]),
];

#[test]
fn fences_locks_and_torn_instructions_are_counted_as_they_are_listed() {
    let (mut cumulative, mut shared_locks) = (0, 0);
    for (input, options) in CASES {
        let arguments = [&["analyse", input, "--mm", "tso,armv7"], options].concat();
        let shown = lines(&printed(&[&arguments[..], &["-q"]].concat()));
        let report: serde_json::Value =
            serde_json::from_str(&printed(&[&arguments[..], &["--json", "-"]].concat())).expect("JSON");
        let csv = printed(&[&arguments[..], &["--summary-csv", "-"]].concat());
        let mut csv = csv::Reader::from_reader(csv.as_bytes());
        let rows: Vec<BTreeMap<String, String>> = csv.deserialize().map(|row| row.expect("a row")).collect();
        for ((line, row), result) in shown.iter().zip(&rows).zip(report["results"].as_array().expect("results")) {
            let listed = |table: &str| result[table].as_array().expect("a list").clone();
            let of_kind = |kind: &str| listed("fences").iter().filter(|fence| fence["kind"] == kind).count();
            let locks: BTreeSet<u64> = listed("locks").iter().map(|lock| lock["lock"].as_u64().unwrap()).collect();
            let is_torn = |role: &str| role.starts_with("torn");
            let torn: BTreeSet<String> = listed("locks")
                .iter()
                .filter(|lock| is_torn(lock["role"].as_str().unwrap()))
                .map(|lock| format!("{}.{}", lock["thread"], lock["instruction"]))
                .collect();
            let expected = [
                ("fences", listed("fences").len()),
                ("plain_fences", of_kind("plain")),
                ("cumulative_fences", of_kind("cumulative")),
                ("locks", locks.len()),
                ("torn", torn.len()),
            ];
            for (name, count) in expected {
                assert_eq!(line[name], count.to_string(), "{input}: {name} on the summary line");
                assert_eq!(row[name], count.to_string(), "{input}: {name} in summary.csv");
                assert_eq!(result["summary"][name], count, "{input}: {name} in report.json");
            }
            cumulative += of_kind("cumulative");
            shared_locks += torn.len() - locks.len();
        }
    }
    // Else the names could be mixed up, and nobody would see it.
    assert!(cumulative > 0, "no cumulative fence");
    assert!(shared_locks > 0, "no lock of two torn instructions");
}

#[test]
fn the_whole_time_is_that_of_exploring_and_of_analysing() {
    let arguments = ["analyse", "specs/peterson-3.slco", "--mm", "tso,pso"];
    let shown = lines(&printed(&[&arguments[..], &["-q"]].concat()));
    let csv = printed(&[&arguments[..], &["--summary-csv", "-"]].concat());
    let mut csv = csv::Reader::from_reader(csv.as_bytes());
    let rows: Vec<BTreeMap<String, String>> = csv.deserialize().map(|row| row.expect("all columns")).collect();
    assert_eq!((shown.len(), rows.len()), (2, 2));
    // The line has hundredths, of which each may be rounded; the table has millionths.
    for (times, rounding) in shown.iter().map(|line| (line, 0.0151)).chain(rows.iter().map(|row| (row, 3e-6))) {
        let time = |name: &str| times[name].parse::<f64>().expect("seconds");
        let parts = time("explore_seconds") + time("analyse_seconds");
        assert!((time("seconds") - parts).abs() < rounding, "{times:?}");
    }
    for row in &rows {
        assert!(row["explore_seconds"] != "0.0" && row["analyse_seconds"] != "0.0", "{row:?}");
    }
}
