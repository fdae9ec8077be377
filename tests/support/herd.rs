//! What herd7 says of litmus tests, and litmus tests by diyone7.

use super::tools::tools;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// SC, with read-modify-writes that nobody comes between: herd's own SC does not order the read of one before its
/// write.
pub const SC: &str = "\"SC\"
include \"cos.cat\"
acyclic po | rmw | fr | rf | co as sc
empty rmw & (fre;coe) as atom
";

/// What herd7 says of a test.
pub struct Said {
    /// The final states, each by what it says of registers (`0:X1`) and locations (`[x]`).
    pub states: BTreeSet<BTreeMap<String, String>>,
    /// Whether the final condition holds.
    pub holds: bool,
}

/// What herd7 says of tests under SC, by the name in their first line; what it cannot read is missing, as is a name
/// that several tests have. Nothing, if it is not there.
pub fn under_sc(files: &[PathBuf], scratch: &Path) -> Option<BTreeMap<String, Said>> {
    let model = scratch.join("sc.cat");
    fs::write(&model, SC).expect("the scratch directory is writable");
    under(files, &model)
}

/// The same under another model: a text, or one that herd7 has.
pub fn under(files: &[PathBuf], model: &Path) -> Option<BTreeMap<String, Said>> {
    let [herd] = tools(["herd7"])?;
    let mut all = BTreeMap::new();
    let mut repeated = BTreeSet::new();
    for some in files.chunks(100) {
        let output = Command::new(&herd).arg("-model").arg(model).args(some).output().expect("herd7 runs");
        for (name, said) in parsed(&String::from_utf8_lossy(&output.stdout)) {
            if all.insert(name.clone(), said).is_some() {
                repeated.insert(name);
            }
        }
    }
    all.retain(|name, _| !repeated.contains(name));
    Some(all)
}

fn parsed(text: &str) -> Vec<(String, Said)> {
    let mut found = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let Some(name) = line.strip_prefix("Test ").and_then(|rest| rest.split(' ').next()) else { continue };
        let count = lines.next().and_then(|line| line.strip_prefix("States ")).and_then(|count| count.parse().ok());
        let Some(count) = count else { continue };
        let state = |line: &str| -> BTreeMap<String, String> {
            let parts = line.split(';').filter_map(|part| part.split_once('='));
            parts.map(|(place, value)| (place.trim().to_owned(), value.trim().to_owned())).collect()
        };
        let states = lines.by_ref().take(count).map(state).collect();
        let holds = lines.next() == Some("Ok");
        found.push((name.to_owned(), Said { states, holds }));
    }
    found
}

/// The test that diyone7 writes for a cycle, under this name; nothing if it has none for this architecture.
pub fn diy(diyone: &Path, architecture: &str, cycle: &str, name: &str) -> Option<String> {
    let output = Command::new(diyone).args(["-arch", architecture]).args(cycle.split(' ')).output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let rest = text.strip_prefix(architecture)?.strip_prefix(" A\n")?.to_owned();
    output.status.success().then(|| format!("{architecture} {name}\n{rest}"))
}
