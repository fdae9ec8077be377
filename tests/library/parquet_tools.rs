//! Tables that pyarrow and DuckDB write are read, and both read what seqcon writes: all state spaces of the corpus and
//! of `lts/`. Skipped, visibly, where no Python has both.

use crate::support::corpus::corpus_dir;
use crate::support::python::python_with;
use seqcon::budget::Budget;
use seqcon::facts::extract::{NoProgress, Options};
use seqcon::facts::{Facts, load};
use seqcon::lts::copy::copy;
use seqcon::lts::output::Format;
use seqcon::lts::source::Bytes;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// How many tables of each state space the script writes.
const STYLES: usize = 8;

fn facts(path: &Path) -> Facts {
    load(path, &Options { whole: true, ..Options::default() }, &NoProgress)
        .unwrap_or_else(|error| panic!("{error}"))
        .facts
}

#[test]
fn pyarrow_and_duckdb_write_what_is_read_and_read_what_is_written() {
    let (Some(python), Some(corpus)) = (python_with("duckdb, pyarrow.parquet"), corpus_dir()) else { return };
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir().expect("a folder");
    let files = [root.join("lts"), corpus.join("aut")]
        .into_iter()
        .flat_map(|folder| fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()));
    let files: Vec<PathBuf> = files.filter(|path| path.extension().is_some_and(|name| name == "aut")).collect();
    assert!(files.len() >= 30);
    let stem = |path: &Path| path.file_stem().expect("a name").to_str().expect("UTF-8").to_owned();
    for path in &files {
        let source = Bytes::open(path).expect("it can be opened");
        let mut table = copy(&source, Format::Parquet, &Budget::default()).expect("it can be converted");
        let mut out = fs::File::create(folder.path().join(format!("{}.own.parquet", stem(path)))).expect("a file");
        table.write(&mut out).expect("it can be written");
    }
    let script = root.join("tests/support/parquet_tools.py");
    let output = Command::new(python).arg(script).arg(folder.path()).args(&files).output().expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for path in &files {
        let expected = facts(path);
        for style in 0..STYLES {
            let table = folder.path().join(format!("{}.{style}.parquet", stem(path)));
            assert_eq!(facts(&table), expected, "{}", table.display());
        }
    }
    // Where pages have checksums, no bit of them changes unseen.
    let whole = fs::read(folder.path().join("dekker.checked.parquet")).expect("it was written");
    let expected = facts(&root.join("lts/dekker.aut"));
    let damaged = folder.path().join("damaged.parquet");
    let mut refused = 0;
    for at in (4..whole.len()).step_by(3) {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (at % 8);
        fs::write(&damaged, bytes).expect("written");
        match load(&damaged, &Options { whole: true, ..Options::default() }, &NoProgress) {
            Ok(read) => assert_eq!(read.facts, expected, "byte {at}"),
            Err(_) => refused += 1,
        }
    }
    assert!(refused > 100, "{refused}");
}
