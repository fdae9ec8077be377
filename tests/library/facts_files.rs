//! Facts files: written, read back, and refused when they are damaged.

use crate::support::random::random_cases;
use crate::support::reference::Lts;
use rand::Rng;
use seqcon::facts::extract::{NoProgress, Options};
use seqcon::facts::{self, Facts, Presumed, file};

fn written(facts: &Facts) -> Vec<u8> {
    let mut bytes = Vec::new();
    file::write(facts, &mut bytes).expect("writing to memory");
    bytes
}

fn message_of(bytes: &[u8]) -> String {
    file::read(bytes, "model.facts").expect_err("this should be refused").to_string()
}

fn example() -> Lts {
    let transition = |from, label: &str, to| (from, label.to_owned(), to);
    let transitions =
        vec![transition(0, "T0.0: b0 :=", 1), transition(1, "T0.1: ? b1", 1), transition(1, "T1.0: b1 :=", 0)];
    Lts { states: 2, transitions }
}

/// Its facts, with nothing presumed.
fn example_facts() -> Facts {
    Facts { presumed: Presumed::Nothing, ..example().facts() }
}

#[test]
fn a_facts_file_is_text_that_people_can_read() {
    let text = "seqcon-facts 1\nstates 2\ntransitions 3\ncut_off 0\nlabels 3\nT0.0: b0 :=\nT0.1: ? b1\nT1.0: b1 :=\n\
                follows 1\n0 1 new\nwaits 1\n1 0\nbegin 1\n2\nlapse 0\nend 1\n2\nconcurrent 1\n1 2\npresumed 0\nchecksum ";
    let bytes = written(&example_facts());
    assert!(String::from_utf8_lossy(&bytes).starts_with(text), "{}", String::from_utf8_lossy(&bytes));
    assert!(seqcon::lts::is_facts(&bytes) && !seqcon::lts::is_facts(b"des (0,0,1)") && !seqcon::lts::is_facts(b""));
}

#[test]
fn what_is_written_is_read_back() {
    random_cases(1000, |rng| {
        let facts = Lts::random(rng).facts();
        let bytes = written(&facts);
        assert_eq!(file::read(&bytes, "model.facts").expect("it was written"), facts);
        assert_eq!(written(&facts), bytes);
    });
}

#[test]
fn merging_files_is_merging_facts() {
    random_cases(1000, |rng| {
        let parts = [Lts::random(rng).facts(), Lts::random(rng).facts()];
        let read = parts.clone().map(|part| file::read(&written(&part), "part").expect("it was written"));
        let merged = Facts::merge(&read);
        assert_eq!(merged, Facts::merge(&[parts[1].clone(), parts[0].clone()]), "the order does not matter");
        assert_eq!(merged.states, parts[0].states + parts[1].states);
        let named = |facts: &Facts| -> Vec<(String, String)> {
            let name = |id: seqcon::ids::LabelId| facts.labels[id.index()].to_string();
            facts.follows.iter().map(|pair| (name(pair.from), name(pair.to))).collect()
        };
        let mut expected = [named(&parts[0]), named(&parts[1])].concat();
        let mut found = named(&merged);
        expected.sort_unstable();
        expected.dedup();
        found.sort_unstable();
        assert_eq!(found, expected);
    });
}

#[test]
fn every_truncation_and_every_changed_byte_is_noticed() {
    let bytes = written(&example().facts());
    for length in 0..bytes.len() {
        let message = message_of(&bytes[..length]);
        assert!(message.starts_with("model.facts:"), "{message}");
    }
    for position in 0..bytes.len() {
        for change in [1, 0x20, 0x80] {
            let mut damaged = bytes.clone();
            damaged[position] ^= change;
            assert!(file::read(&damaged, "model.facts").is_err(), "{}", String::from_utf8_lossy(&damaged));
        }
    }
    assert!(message_of(&[bytes.as_slice(), b"more"].concat()).contains("expected the end of the file"));
}

#[test]
fn damaged_files_never_panic() {
    random_cases(500, |rng| {
        let whole = written(&Lts::random(rng).facts());
        // To make a file takes far longer than to read it, so each is damaged ten times.
        for _ in 0..10 {
            let mut bytes = whole.clone();
            for _ in 0..rng.random_range(1..4) {
                let at = rng.random_range(0..bytes.len());
                bytes[at] = if rng.random_bool(0.5) { b'9' } else { rng.random() };
            }
            // An error or, by replacing a byte by itself, the facts.
            let _ = file::read(&bytes, "model.facts");
        }
    });
}

#[test]
fn messages_name_the_line() {
    let text = String::from_utf8(written(&example_facts())).expect("it is text");
    let cases = [
        (text.replace("facts 1", "facts 2"), "model.facts:1:1: expected `seqcon-facts 1`, found `seqcon-facts 2`;"),
        (
            text.replace("states 2", "states two"),
            "model.facts:2:1: expected `states` and a number, found `states two`;",
        ),
        (text.replace("labels 3", "labels 4"), "model.facts:9:1: expected `thread.instruction`"),
        (text.replace("b0 :=", "b0 ="), "model.facts:6:10: expected `:=`, found `=` in the label `T0.0: b0 =`;"),
        (
            text.replace("0 1 new", "0 3 new"),
            "model.facts:10:1: expected two label positions below 3, found `0 3 new`;",
        ),
        (text.replace("0 1 new", "0 2 new"), "model.facts:10:1: expected two labels of the same thread"),
        (text.replace("begin 1\n2\n", "begin 1\n7\n"), "model.facts:14:1: expected a label's position, found `7`;"),
        (text.replace("\n1 0\n", "\n1 2\n"), "model.facts:12:1: expected two labels of the same thread"),
        (text.replace("\n1 2\n", "\n0 1\n"), "model.facts:19:1: expected two labels of different threads"),
        (text.replace("presumed 0", "presumed 2"), "model.facts:20:1: expected `presumed 0` or `presumed 1`, found"),
        (text.replace("states 2", "states 3"), "model.facts:21:1: expected the checksum of the lines before"),
    ];
    for (text, expected) in cases {
        let message = message_of(text.as_bytes());
        assert!(message.starts_with(expected), "{message}");
    }
}

#[test]
fn load_takes_state_spaces_and_facts_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let lts = example();
    let (aut, facts) = (folder.path().join("model.aut"), folder.path().join("model.facts"));
    std::fs::write(&aut, lts.to_aut()).expect("writing a file");
    std::fs::write(&facts, written(&lts.facts())).expect("writing a file");
    for path in [aut, facts] {
        let extraction = facts::load(&path, &Options::default(), &NoProgress).expect("both are read");
        assert_eq!(extraction.facts, lts.facts());
        assert_eq!(extraction.dialect, "native");
    }
}
