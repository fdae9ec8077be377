//! Bad input: one clear error that says where, what and what to do; never a panic.

use crate::support::random::random_cases;
use crate::support::{facts_of, message_of, with_threads};
use rand::Rng;
use seqcon::facts;
use seqcon::facts::extract::{NoProgress, Options};
use seqcon::lts::dialect::Dialect;
use std::path::Path;

fn load_message(path: &Path) -> String {
    facts::load(path, &Options::default(), &NoProgress).expect_err("this should be refused").to_string()
}

#[test]
fn an_empty_file() {
    let message = message_of("", &Options::default());
    assert_eq!(
        message,
        "test.aut:1:1: expected a state space or a facts file, found the end of the file; \
         the tool that writes it may have failed"
    );
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("empty.aut");
    std::fs::write(&path, "").expect("writing a file");
    assert!(load_message(&path).contains("empty.aut:1:1: expected a state space"));
}

#[test]
fn a_header_only() {
    let extraction =
        facts_of("des (0,0,1)\n", &Options::default()).expect("one state and no transitions are a state space");
    assert_eq!((extraction.facts.states, extraction.facts.labels.len()), (1, 0));
    let message = message_of("des (0,5,3)\n", &Options::default());
    assert!(message.starts_with("test.aut:1:8: expected 0 transitions, as many as follow, found 5; "), "{message}");
}

#[test]
fn a_truncated_last_line() {
    for (text, expected) in [
        (
            "des (0,2,2)\n(0,\"T.0\",1)\n(1,\"T.0\",0",
            "test.aut:3:11: expected `)` at the end of the transition, found the end of the file; ",
        ),
        (
            "des (0,2,2)\n(0,\"T.0\",1)\n(1,\"T.",
            "test.aut:3:7: expected `)` at the end of the transition, found the end of the file; ",
        ),
        (
            "des (0,2,2)\n(0,\"T.0\",1)\n(1",
            "test.aut:3:3: expected `,` after the source state, found the end of the file; ",
        ),
        (
            "des (0,2,2)\n(0,\"T.0\",1)\n(",
            "test.aut:3:2: expected the number of the source state, found the end of the file; ",
        ),
    ] {
        let message = message_of(text, &Options::default());
        assert!(
            message.starts_with(expected) && message.ends_with("--recover reads the transitions before"),
            "{message}"
        );
    }
}

#[test]
fn a_label_that_no_dialect_reads_is_quoted_with_the_remedies() {
    let message = message_of("des (0,1,1)\n(0,\"send(d1, true)\",0)\n", &Options::default());
    assert!(message.starts_with("test.aut:2:5: expected `thread.instruction`"), "{message}");
    for part in ["found the label `send(d1, true)`", "--dialect FILE", "--internal PATTERN", "--tau NAMES"] {
        assert!(message.contains(part), "{part} is not in {message}");
    }
    let message = message_of("des (0,2,1)\n(0,\"T.0: x :=\",0)\n(0,\"T.1: x := 3\",0)\n", &Options::default());
    assert!(message.starts_with("test.aut:3:15: expected a variable name"), "{message}");
    assert!(
        message.contains("found `3` in the label `T.1: x := 3`; the dialect was chosen by the first label"),
        "{message}"
    );
    let rw = Options { dialect: Some(Dialect::Rw), ..Options::default() };
    let message = message_of("des (0,1,1)\n(0,\"T.0: x :=\",0)\n", &rw);
    assert!(message.contains("(rw dialect)") && message.contains("given with --dialect"), "{message}");
}

#[test]
fn a_long_label_is_cut_in_the_message() {
    let message = message_of(format!("des (0,1,1)\n(0,\"{}\",0)\n", "é".repeat(5000)), &Options::default());
    assert!(message.contains(&format!("found the label `{}`…;", "é".repeat(120))), "{message}");
}

#[test]
fn labels_that_are_not_utf8_are_shown_lossily() {
    let message = message_of(b"des (0,1,1)\n(0,\"T.0: caf\xe9 :=\",0)\n", &Options::default());
    assert!(message.contains("`T.0: caf\u{fffd} :=`"), "{message}");
}

#[test]
fn a_line_of_a_hundred_megabytes() {
    let long = 100 << 20;
    let mut text = b"des (0,2,2)\n(0,\"T.0: x :=\",1)\n".to_vec();
    text.resize(text.len() + long, b'x');
    let message = message_of(&text, &Options::default());
    assert!(message.starts_with("test.aut:3:1: expected a transition") && message.len() < 400, "{message}");

    let mut text = b"des (0,2,2)\n(0,\"T.0: x :=\",1)\n(1,\"T.0: ".to_vec();
    text.resize(text.len() + long, b'x');
    text.extend(b" :=\",0)\n");
    let message = message_of(&text, &Options::default());
    assert!(message.starts_with("test.aut:3:5: expected a label of at most a megabyte"), "{message}");
    assert!(message.len() < 500, "{message}");
}

#[test]
fn random_bytes() {
    random_cases(2000, |rng| {
        let mut bytes: Vec<u8> = (0..rng.random_range(1..300)).map(|_| rng.random()).collect();
        if rng.random_bool(0.5) {
            bytes.splice(0..0, *b"des (0,1,1)\n");
        }
        let message = message_of(&bytes, &Options::default());
        assert!(message.starts_with("test.aut"), "{message}");
    });
}

#[test]
fn a_directory_a_missing_file_and_a_file_without_permission() {
    let folder = tempfile::tempdir().expect("a folder");
    let message = load_message(folder.path());
    assert!(message.contains(": cannot read: is a directory; name a file in it"), "{message}");
    let message = load_message(&folder.path().join("missing.aut"));
    assert!(
        message.contains("missing.aut: cannot open: ") && message.ends_with("; check the path and its permissions"),
        "{message}"
    );
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let path = folder.path().join("secret.aut");
        std::fs::write(&path, "des (0,0,1)\n").expect("writing a file");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).expect("taking the permission away");
        if std::fs::File::open(&path).is_ok() {
            eprintln!("SKIPPED: this user may read every file");
        } else {
            assert!(load_message(&path).contains("secret.aut: cannot open: "));
        }
    }
}

#[test]
fn damaged_gzip() {
    let message = message_of(b"\x1f\x8b\x08\x00garbage", &Options::default());
    assert!(
        message.starts_with("test.aut: cannot decompress: ") && message.ends_with("the gzip file is damaged"),
        "{message}"
    );
}

#[test]
fn the_first_error_in_the_file_is_reported_whatever_the_number_of_threads() {
    random_cases(1000, |rng| {
        let lines: usize = rng.random_range(50..200);
        let mut text = format!("des (0,{lines},{})\n", lines + 1);
        for line in 0..lines {
            // The first line is right, so that the dialect is known.
            let label = if line > 0 && rng.random_bool(0.03) { "oops" } else { "T.0: x :=" };
            text.push_str(&format!("({line},\"{label}\",{})\n", line + 1));
        }
        let first = text.lines().position(|line| line.contains("oops")).map(|line| line + 1);
        for threads in [1, 2, 3] {
            let outcome = with_threads(threads, || facts_of(&text, &Options::default()));
            let line = outcome.err().and_then(|error| error.place()).map(|place| place.line as usize);
            assert_eq!(line, first);
        }
    });
}
