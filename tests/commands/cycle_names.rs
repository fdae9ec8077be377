//! A cycle has one name: what keeps two accesses in order is named by the drawing, the lists of cycles, the tables,
//! all reports and the litmus test alike.

use crate::support::command::run;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// A program, its memory model, and its only cycle from the delay on.
struct Case {
    program: &'static str,
    model: &'static str,
    cycle: [&'static str; 4],
}

/// The address of the second read is what the first one has read.
const ADDRESS: Case = Case {
    program: "model dep { classes C { variables Integer[2] x Integer y state machines
        A { initial s states t u transitions s -> t { x[1] := 1 } t -> u { y := 1 } }
        B { variables Integer r Integer v initial s states t u
            transitions s -> t { r := y } t -> u { v := x[r] } } }
      objects o : C() }",
    model: "power",
    cycle: ["PodWW", "Rfe", "DpAddrdR", "Fre"],
};

/// The write comes behind a branch on what was read.
const CONTROL: Case = Case {
    program: "model dep { classes C { variables Integer x Integer y state machines
        A { initial s states t u transitions s -> t { x := 2 } t -> u { y := 1 } }
        B { variables Integer r initial s states t u v
            transitions s -> t { r := y } t -> u { r = 1 } u -> v { x := 1 } } }
      objects o : C() }",
    model: "armv7",
    cycle: ["PodWW", "Rfe", "DpCtrldW", "Coe"],
};

fn read(directory: &Path, name: &str) -> String {
    fs::read_to_string(directory.join(name)).unwrap()
}

/// All strings anywhere in a value.
fn strings(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => found.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| strings(item, found)),
        Value::Object(fields) => fields.values().for_each(|field| strings(field, found)),
        _ => {}
    }
}

/// The edges that a text names, in the words of diy.
fn edges(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric());
    let is_edge = |word: &&str| {
        ["Pod", "Pos", "Dp", "Sync", "DMB"].iter().any(|known| word.starts_with(known))
            || ["Rfe", "Fre", "Coe"].contains(word)
    };
    words.filter(is_edge).map(str::to_owned).collect()
}

fn check(case: &Case) {
    let scratch = TempDir::new().unwrap();
    let (out, litmus) = (scratch.path().join("out"), scratch.path().join("litmus"));
    let spec = scratch.path().join("dep.slco");
    fs::write(&spec, case.program).unwrap();
    let analysed = |options: &[&str]| {
        let (status, out, errors) = run(&[&["analyse", spec.to_str().unwrap(), "--mm", case.model], options].concat());
        assert_eq!(status, 0, "{errors}");
        out
    };
    let drawn = analysed(&["--out", out.to_str().unwrap(), "--litmus", litmus.to_str().unwrap()]);
    let wanted: BTreeSet<String> = case.cycle.iter().map(|&edge| edge.to_owned()).collect();
    let name = case.cycle.join(" ");
    assert_eq!(edges(&drawn), wanted, "the drawing:\n{drawn}");
    assert_eq!(edges(&analysed(&["--explain"])), wanted, "--explain");

    let report: Value = serde_json::from_str(&read(&out, "report.json")).unwrap();
    let delay = &report["results"][0]["delays"][0];
    assert_eq!(delay["witness_name"], name.as_str());
    let steps: Vec<&str> =
        delay["witness"].as_array().unwrap().iter().map(|step| step["edge"].as_str().unwrap()).collect();
    assert_eq!(steps, case.cycle);

    let mut told = Vec::new();
    strings(&serde_json::from_str(&read(&out, "report.sarif")).unwrap(), &mut told);
    assert!(told.contains(&format!("A critical cycle: {name}.")), "{told:?}");
    let flow: BTreeSet<String> = told.iter().filter(|text| text.ends_with(')')).flat_map(|text| edges(text)).collect();
    assert!(wanted.is_subset(&flow) && !flow.contains("PodRR") && !flow.contains("PodRW"), "{flow:?}");

    let page = read(&out, "report.html");
    for edge in case.cycle {
        assert!(page.contains(&format!(",\"{edge}\"]")), "{edge} is on no step of the page");
    }
    assert!(!page.contains("\"PodRR\"") && !page.contains("\"PodRW\""));

    // The tables and the lists of cycles, and a drawing of one.
    let table = scratch.path().join("cycles.csv");
    let listed = analysed(&["--cycles", "all", "--cycles-csv", table.to_str().unwrap()]);
    let line = listed.lines().find(|line| line.contains("cycle 0:")).unwrap();
    assert_eq!(edges(line), wanted, "{line}");
    let rows = fs::read_to_string(&table).unwrap();
    let column: Vec<&str> = rows.lines().skip(1).map(|row| row.split(',').nth(7).unwrap()).collect();
    assert_eq!(column.iter().map(|&edge| edge.to_owned()).collect::<BTreeSet<_>>(), wanted, "{rows}");
    let dot = scratch.path().join("cycle.dot");
    analysed(&["--dot", dot.to_str().unwrap(), "--cycle", "0"]);
    let dot = fs::read_to_string(&dot).unwrap();
    assert!(dot.contains(&format!("delay 0 ({name})")), "{dot}");
    let inner = case.cycle[2];
    assert!(dot.contains(&format!("xlabel=\"{inner}\"")), "{dot}");

    let tests: Vec<_> = fs::read_dir(&litmus).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(tests, [format!("{}-{}.litmus", case.model, case.cycle.join("+")).as_str()]);
    assert!(read(&litmus, tests[0].to_str().unwrap()).contains(&format!("Cycle={name}\n")));
}

#[test]
fn an_address_dependency_has_one_name_in_all_formats() {
    check(&ADDRESS);
}

#[test]
fn a_control_dependency_has_one_name_in_all_formats() {
    check(&CONTROL);
}
