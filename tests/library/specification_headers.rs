//! What the header of a bundled specification says about fences and locks is what the golden table has (which
//! `tests/library/specifications.rs` computes).

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The memory models that headers speak of; nothing is needed on SC.
const MODELS: [&str; 4] = ["tso", "pso", "armv8", "armv7"];

/// A row of the table: locks, fences, cumulative fences.
type Row = [usize; 3];

/// The table by specification, memory model and atomicity.
fn golden() -> BTreeMap<(String, String, String), Row> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden_specifications.csv");
    let mut reader = csv::Reader::from_path(path).expect("there is a table");
    let headers = reader.headers().unwrap().clone();
    let rows = reader.records().map(|record| {
        let record = record.unwrap();
        let cell = |name: &str| {
            let column = headers.iter().position(|header| header == name);
            record[column.unwrap_or_else(|| panic!("no column {name}"))].to_owned()
        };
        let key = (cell("specification"), cell("memory_model"), cell("atomicity"));
        (key, ["locks", "fences", "cumulative_fences"].map(|name| cell(name).parse().unwrap()))
    });
    rows.collect()
}

#[test]
fn headers_say_what_the_golden_table_has() {
    let golden = golden();
    let specifications: Vec<String> = {
        let mut names: Vec<String> = golden.keys().map(|(name, ..)| name.clone()).collect();
        names.dedup();
        names
    };
    assert!(specifications.len() >= 20, "only {} specifications", specifications.len());
    for name in specifications {
        let row = |model: &str, atomicity: &str| golden[&(name.clone(), model.to_owned(), atomicity.to_owned())];
        // Headers speak of the default reading; what can be torn can be torn on every model.
        let [torn, ..] = row("sc", "full");
        assert_eq!(row("sc", "full"), [torn, 0, 0], "{name} under SC");
        let needs = MODELS.map(|model| {
            let [locks, fences, cumulative] = row(model, "full");
            assert_eq!(locks, torn, "{name} under {model}");
            if torn == 0 {
                assert_eq!(row(model, "off"), [0, fences, cumulative], "{name}: nothing is torn under {model}");
            }
            if cumulative == 0 {
                format!("{model} {fences}")
            } else {
                format!("{model} {fences} + {cumulative} cumulative")
            }
        });
        let locks = if torn == 0 { "no".to_owned() } else { torn.to_string() };
        let in_language =
            |extension: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("specs/{name}.{extension}"));
        let languages = [("slco", "//", ""), ("txt", "#", ""), ("rmm", "/*", " */")];
        let known = languages.map(|(extension, comment, end)| (in_language(extension), comment, end));
        let (path, comment, end) = known.into_iter().find(|(path, ..)| path.is_file()).expect("one of them");
        let expected = format!("{comment} Expect: fences {}; {locks} locks.{end}", needs.join(", "));
        let text = fs::read_to_string(&path).expect("the specification is there");
        let said: Vec<&str> = text.lines().filter(|line| line.starts_with(&format!("{comment} Expect: "))).collect();
        assert_eq!(said, [expected.as_str()], "the header of {}", path.display());
    }
}
