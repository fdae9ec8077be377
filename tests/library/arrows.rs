//! A station knows only those that the drawing in `docs/architecture.md` says it does.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

type Arrows = BTreeMap<String, BTreeSet<String>>;

/// What may know all stations: the command.
const TOP: [&str; 3] = ["cli", "lib", "main"];

/// The stations of the drawing in their order, and the arrows.
fn drawn(page: &str) -> (Vec<String>, Arrows) {
    let block = page.split("```arrows\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a block of arrows");
    let lines = block.lines().map(|line| line.split_once(':').unwrap_or_else(|| panic!("{line}: expected a colon")));
    let lines: Vec<(&str, &str)> = lines.collect();
    let order = lines.iter().map(|(station, _)| (*station).to_owned()).collect();
    let known = |known: &str| known.split_whitespace().map(str::to_owned).collect();
    (order, lines.iter().map(|(station, others)| ((*station).to_owned(), known(others))).collect())
}

/// The stations that a text names, but for those in comments and in its unit tests, which stand at its end.
fn named(text: &str) -> BTreeSet<String> {
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    let code = code.lines().map(|line| line.split("//").next().unwrap_or_default());
    let after = code.flat_map(|line| line.split("crate::").skip(1).map(str::to_owned).collect::<Vec<_>>());
    let name = |rest: String| rest.split(|c: char| !c.is_ascii_lowercase() && c != '_').next().unwrap_or("").to_owned();
    after.map(name).filter(|name| !name.is_empty()).collect()
}

fn collect(station: Option<&str>, directory: &Path, arrows: &mut Arrows) {
    for entry in fs::read_dir(directory).expect("a directory").map(|entry| entry.expect("an entry").path()) {
        let stem = entry.file_stem().expect("a name").to_str().expect("UTF-8").to_owned();
        let station = station.unwrap_or(&stem);
        if entry.is_dir() {
            collect(Some(station), &entry, arrows);
        } else if entry.extension().is_some_and(|extension| extension == "rs") {
            let others = named(&fs::read_to_string(&entry).expect("UTF-8"));
            let known = arrows.entry(station.to_owned()).or_default();
            known.extend(others.into_iter().filter(|other| other != station));
        }
    }
}

/// The arrows of the source, without those of the command, and without macros.
fn found() -> Arrows {
    let mut arrows = Arrows::new();
    collect(None, &Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut arrows);
    arrows.retain(|station, _| !TOP.contains(&&**station));
    let stations: BTreeSet<String> = arrows.keys().cloned().collect();
    for known in arrows.values_mut() {
        known.retain(|other| stations.contains(other) || TOP.contains(&&**other));
    }
    arrows
}

/// What is wrong with a drawing of these arrows.
fn faults(order: &[String], drawn: &Arrows, found: &Arrows) -> Vec<String> {
    let mut faults = Vec::new();
    let none = BTreeSet::new();
    for station in drawn.keys().chain(found.keys()).collect::<BTreeSet<_>>() {
        let (known, used) = (drawn.get(station).unwrap_or(&none), found.get(station).unwrap_or(&none));
        if !found.contains_key(station) || !drawn.contains_key(station) {
            faults.push(format!("{station} is a station of one only"));
        }
        faults.extend(used.difference(known).map(|other| format!("{station} -> {other} is not drawn")));
        faults.extend(known.difference(used).map(|other| format!("{station} -> {other} is drawn, but not used")));
        let position = |name: &String| order.iter().position(|known| known == name);
        let up = known.iter().filter(|other| position(other) >= position(station));
        faults.extend(up.map(|other| format!("{station} -> {other} points up")));
    }
    faults
}

#[test]
fn stations_know_only_those_that_the_drawing_says() {
    let page =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/architecture.md")).expect("the page");
    let (order, drawn) = drawn(&page);
    assert_eq!(faults(&order, &drawn, &found()), Vec::<String>::new(), "see docs/architecture.md");
}

#[test]
fn an_arrow_that_is_added_is_found() {
    let (order, drawn) = drawn("```arrows\nids:\nlts: ids\nfacts: ids lts\n```");
    let arrows = |facts: &str, lts: &str| -> Arrows {
        [("ids", ""), ("lts", lts), ("facts", facts)].map(|(name, text)| (name.to_owned(), named(text))).into()
    };
    let of_facts = "use crate::ids::LabelId;\nuse crate::lts::{Label, error};";
    assert_eq!(faults(&order, &drawn, &arrows(of_facts, "use crate::ids; // crate::facts")), Vec::<String>::new());
    let (wrong, of_lts) = ("lts -> facts is not drawn", "use crate::ids;\nlet a = crate::facts::load;");
    assert_eq!(faults(&order, &drawn, &arrows(of_facts, of_lts)), [wrong]);
    assert_eq!(
        faults(&order, &drawn, &arrows("use crate::ids;", "use crate::ids;")),
        ["facts -> lts is drawn, but not used"]
    );
    let (order, turned) = self::drawn("```arrows\nlts: ids\nids:\n```");
    assert_eq!(faults(&order, &turned, &turned), ["lts -> ids points up"]);
}
