//! Reports to look at: of bundled programs, of a large one, and of one with hostile names.

use super::command::command;
use seqcon::aeg::Profile;
use seqcon::analysis::{Analysis, Options, Outcome};
use seqcon::facts::{Facts, Follows};
use seqcon::ids::LabelId;
use seqcon::lts::label::{Access, Label, LabelKind, Step};
use seqcon::memory::{Kind, MemoryModel};
use seqcon::provenance::{Input, Provenance};
use seqcon::report::{self, Report};
use serde_json::Value;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// What one run has written.
pub struct Written {
    directory: TempDir,
    pub page: String,
    pub json: Value,
}

impl Written {
    pub fn path(&self) -> PathBuf {
        self.directory.path().join("report.html")
    }

    /// The document in the page.
    pub fn data(&self) -> Value {
        let begin = r#"<script type="application/json" id="seqcon-data">"#;
        let (_, rest) = self.page.split_once(begin).expect("the data is there");
        let (data, _) = rest.split_once("</script>").expect("it ends");
        serde_json::from_str(data).expect("the data is JSON")
    }
}

/// Analyses and writes both reports.
pub fn analyse(directory: TempDir, arguments: &[&str]) -> Written {
    let [page, json] = ["report.html", "report.json"].map(|name| directory.path().join(name));
    let output = command(&["-q", "analyse"])
        .args(arguments)
        .arg("--html")
        .arg(&page)
        .arg("--json")
        .arg(&json)
        .output()
        .expect("seqcon runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let json = serde_json::from_slice(&fs::read(json).unwrap()).unwrap();
    Written { page: fs::read_to_string(page).unwrap(), json, directory }
}

pub fn peterson() -> Written {
    analyse(tempfile::tempdir().unwrap(), &["specs/peterson.slco", "--mm", "tso,pso,armv7"])
}

/// Five pairs of threads, each fifty rounds of store buffering on locations of their own: 1,000 accesses. A cycle
/// needs two accesses of one round, so every round of every thread has one delay and, on TSO, one fence after its
/// write: 500.
pub fn thousand() -> Written {
    let directory = tempfile::tempdir().unwrap();
    let mut files = Vec::new();
    for thread in 0..10 {
        let (pair, side) = (thread / 2, thread % 2);
        let mut text = "des (0,100,101)\n".to_owned();
        for round in 0..50 {
            let [mine, other] = [side, 1 - side].map(|side| format!("{}{pair}[{round}]", ["a", "b"][side]));
            let at = 2 * round;
            writeln!(text, r#"({at},"T{thread}.{at}: {mine} :=",{})"#, at + 1).unwrap();
            writeln!(text, r#"({},"T{thread}.{}: ~r := {other}",{})"#, at + 1, at + 1, at + 2).unwrap();
        }
        let path = directory.path().join(format!("t{thread}.aut"));
        fs::write(&path, text).unwrap();
        files.push(path.display().to_string());
    }
    let options = ["--mm", "tso,pso", "--conflicts", "reachable", "--merge", "--name", "a thousand"];
    let arguments: Vec<&str> = files.iter().map(String::as_str).chain(options).collect();
    analyse(directory, &arguments)
}

pub const HOSTILE_THREADS: [&str; 2] = ["<script>alert('t')</script>", "\u{202e}\"live\" 'q' &amp; </script>"];
pub const HOSTILE_LOCATIONS: [&str; 2] = ["<img src=x onerror=alert(1)>", "sep\u{2028}\u{2029}arated<!--"];

pub fn long_location() -> String {
    format!("begin{}end", "L".repeat(10_000))
}

/// Store buffering in which every name is an attack, and one location has 10,000 letters. Readers of files refuse
/// most of these names; reports do not rely on that.
pub fn hostile() -> Written {
    let [first, second] = HOSTILE_LOCATIONS;
    let long = long_location();
    let access = |name: &str| Access { name: name.to_owned(), local: false, address: Vec::new() };
    let label = |(thread, instr, kind, location): (usize, &str, Kind, &str)| {
        let step = match kind {
            Kind::Write => Step::Assignment { writes: vec![access(location)], reads: Vec::new() },
            Kind::Read => Step::Condition { reads: vec![access(location)] },
        };
        Label {
            thread: HOSTILE_THREADS[thread].to_owned(),
            instr: instr.to_owned(),
            kind: LabelKind::Plain,
            refused: false,
            steps: vec![step],
        }
    };
    let labels = [
        (0, "<i>0", Kind::Write, first),
        (0, "1", Kind::Write, &long),
        (0, "2\"onclick=\"alert(3)", Kind::Read, second),
        (1, "0", Kind::Write, second),
        (1, "1", Kind::Read, &long),
        (1, "2", Kind::Read, first),
    ]
    .map(label);
    let pair = |from: usize, to: usize| (LabelId::new(from), LabelId::new(to));
    let follows = [(0, 1), (1, 2), (3, 4), (4, 5)].map(|(from, to)| pair(from, to));
    let follows = follows.map(|(from, to)| Follows { from, to, newly: true });
    let concurrent = (0..3).flat_map(|a| (3..6).map(move |b| pair(a, b)));
    let analysis = Analysis::new(Facts::canonical(&labels, follows, concurrent, (16, 24)), Profile::Sound);
    let options = Options::default();
    let models =
        ["tso", "armv7"].map(|name| MemoryModel::builtin().into_iter().find(|model| model.name == name).unwrap());
    let results = models.iter().map(|model| analysis.run(model, &options)).collect();
    let outcome = Outcome {
        provenance: Provenance {
            command: "seqcon analyse '<b>\u{202e}'".to_owned(),
            inputs: vec![Input { path: "<img src=y>\u{2029}".to_owned(), sha256: None }],
            refused: Vec::new(),
        },
        ..Outcome::of_analysis("</title><script>alert(2)</script>", analysis, options, results)
    };
    let directory = tempfile::tempdir().unwrap();
    let mut json = Vec::new();
    report::json::Json.write(&outcome, &mut json).unwrap();
    let mut page = Vec::new();
    report::html::Html.write(&outcome, &mut page).unwrap();
    fs::write(directory.path().join("report.html"), &page).unwrap();
    Written { directory, page: String::from_utf8(page).unwrap(), json: serde_json::from_slice(&json).unwrap() }
}

/// A specification whose comments are attacks.
pub fn hostile_comments() -> Written {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("<b>sb.slco");
    let specification = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("specs/sb.slco")).unwrap();
    let comment = format!("// </script><script>alert(4)</script> \u{202e} {}\n", "c".repeat(10_000));
    fs::write(&path, comment + &specification).unwrap();
    analyse(directory, &[path.to_str().unwrap(), "--mm", "tso"])
}
