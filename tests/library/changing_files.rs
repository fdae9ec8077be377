//! A state space that is written to while it is read gives an error, never a result.

use seqcon::facts::extract::{Options, Progress};
use seqcon::facts::load;
use seqcon::lts::source::explain_lost_bytes;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Once;

/// Changes the file as soon as something of it was read.
struct Change<F> {
    once: Once,
    change: F,
}

impl<F: Fn() + Sync> Progress for Change<F> {
    fn bytes(&self, _: u64, _: u64) {
        self.once.call_once(|| (self.change)());
    }
}

fn while_reading(change: impl Fn() + Sync) -> impl Progress {
    Change { once: Once::new(), change }
}

/// A state space of some megabytes: a ring of states.
fn state_space(directory: &Path) -> PathBuf {
    let path = directory.join("ring.aut");
    let states = 200_000;
    let mut text = format!("des (0,{states},{states})\n");
    for state in 0..states {
        text += &format!("({state},\"T0.{}: x :=\",{})\n", state % 2, (state + 1) % states);
    }
    fs::write(&path, text).expect("written");
    path
}

fn append(path: &Path, text: &str) {
    File::options().append(true).open(path).and_then(|mut file| file.write_all(text.as_bytes())).expect("appended");
}

#[test]
fn a_file_that_grows_is_refused() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = state_space(directory.path());
    let options = Options::default();
    assert!(load(&path, &options, &while_reading(|| {})).is_ok());
    let error = load(&path, &options, &while_reading(|| append(&path, "\n"))).expect_err("it changed").to_string();
    assert!(error.contains("ring.aut") && error.contains("it changed while it was read; wait until"), "{error}");
}

#[test]
fn a_file_that_is_replaced_was_read_as_it_was() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = state_space(directory.path());
    let before = load(&path, &Options::default(), &while_reading(|| {})).expect("readable").facts;
    let replace = || {
        fs::write(directory.path().join("new"), "des (0,0,1)\n").expect("written");
        fs::rename(directory.path().join("new"), &path).expect("renamed");
    };
    let after = load(&path, &Options::default(), &while_reading(replace)).expect("readable").facts;
    assert_eq!((before.states, before.labels), (after.states, after.labels));
}

/// In a process of its own, which this ends.
#[test]
#[ignore = "started by the test below"]
fn a_file_that_shrinks_in_a_process_of_its_own() {
    let Some(path) = std::env::var_os("SEQCON_SHRINKING").map(PathBuf::from) else { return };
    explain_lost_bytes();
    let shrink = || File::options().write(true).open(&path).and_then(|file| file.set_len(1)).expect("shortened");
    let read = load(&path, &Options::default(), &while_reading(shrink));
    panic!("it was read to its end: {:?}", read.map(|read| read.facts.states));
}

#[cfg(unix)]
#[test]
fn a_file_that_shrinks_ends_in_one_clear_error() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = state_space(directory.path());
    let output = Command::new(std::env::current_exe().expect("this test"))
        .args(["--exact", "changing_files::a_file_that_shrinks_in_a_process_of_its_own", "--ignored", "--nocapture"])
        .env("SEQCON_SHRINKING", &path)
        .output()
        .expect("the test starts");
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert_eq!(message.lines().filter(|line| line.starts_with("seqcon: ")).count(), 1, "{message}");
    assert!(message.contains("ring.aut: cannot be read any more: it became shorter while it was read"), "{message}");
}
