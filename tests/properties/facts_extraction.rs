//! Facts from state spaces: against the corpus' known numbers, against brute force, and whatever the order of lines.

use crate::support::corpus::corpus_dir;
use crate::support::random::random_cases;
use crate::support::reference::{Lts, Shape};
use crate::support::{facts_of, message_of, with_threads};
use flate2::Compression;
use flate2::write::GzEncoder;
use rand::Rng;
use rand::seq::IndexedRandom;
use seqcon::facts::extract::{Extraction, NoProgress, Options, Progress, extract, extract_all};
use seqcon::facts::{self, Facts, Follows, Presumed};
use seqcon::ids::LabelId;
use seqcon::lts::dialect::Dialect;
use seqcon::lts::dialect::generic::Description;
use seqcon::lts::source::Bytes;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::sync::Mutex;

fn options() -> Options {
    Options::default()
}

/// The pairs of `follows`, in words; `+` marks what was newly enabled.
fn follows(facts: &Facts) -> Vec<String> {
    let name = |id: LabelId| facts.labels[id.index()].to_string();
    let pair = |&Follows { from, to, newly }: &Follows| {
        format!("{} -> {}{}", name(from), name(to), if newly { " +" } else { "" })
    };
    facts.follows.iter().map(pair).collect()
}

fn concurrent(facts: &Facts) -> Vec<String> {
    let name = |id: LabelId| facts.labels[id.index()].to_string();
    facts.concurrent.iter().map(|&(a, b)| format!("{} | {}", name(a), name(b))).collect()
}

#[test]
fn the_corpus_has_the_expected_facts() {
    let Some(corpus) = corpus_dir() else { return };
    let table = std::fs::read_to_string(corpus.join("expected-facts.csv")).expect("the table of expected facts");
    let mut lines = table.lines();
    let header: Vec<&str> = lines.next().expect("a header").split(',').collect();
    let column = |name| header.iter().position(|&column| column == name).expect("a column");
    let columns = ["states", "transitions", "labels", "follows", "concurrent"].map(column);
    let mut expected: BTreeMap<&str, [u64; 5]> = BTreeMap::new();
    for line in lines {
        let fields: Vec<&str> = line.split(',').collect();
        let numbers = columns.map(|column| fields[column].parse().expect("a number"));
        let known = expected.entry(fields[column("model")]).or_insert(numbers);
        assert_eq!(*known, numbers, "the facts do not depend on the memory model");
    }
    assert_eq!(expected.len(), 11);
    for (model, expected) in expected {
        let path = corpus
            .join("aut")
            .join(model)
            .with_extension(format!("{}.aut", model.rsplit('.').next().expect("a number")));
        let Extraction { facts, dialect, warnings, .. } = facts::load(&path, &options(), &NoProgress).expect(model);
        let sizes = [facts.labels.len(), facts.follows.len(), facts.concurrent.len()].map(|size| size as u64);
        assert_eq!([facts.states, facts.transitions, sizes[0], sizes[1], sizes[2]], expected, "{model}");
        assert_eq!((dialect.as_str(), warnings.as_slice()), ("rw", [].as_slice()), "{model}");
    }
}

#[test]
fn store_buffering_has_the_facts_one_writes_by_hand() {
    let text = "des (0,4,4)\n(0,\"T0.0: x :=\",1)\n(0,\"T1.0: y :=\",2)\n(1,\"T0.1: ? y\",3)\n(1,\"T1.0: y :=\",3)\n";
    let extraction = facts_of(text, &options()).expect("it is well formed");
    assert_eq!(follows(&extraction.facts), ["T0.0: x := -> T0.1: ? y +"]);
    assert_eq!(concurrent(&extraction.facts), ["T0.0: x := | T1.0: y :=", "T0.1: ? y | T1.0: y :="]);
    assert_eq!((extraction.facts.states, extraction.facts.transitions), (4, 4));
    assert_eq!((extraction.dialect.as_str(), extraction.warnings.len()), ("native", 0));
}

#[test]
fn a_blocked_evaluation_is_no_step_but_any_other_self_loop_is() {
    let of_loop =
        |label: &str| follows(&facts_of(format!("des (0,1,1)\n(0,\"{label}\",0)\n"), &options()).expect(label).facts);
    assert_eq!(of_loop("T.0: ? x"), [""; 0]);
    assert_eq!(of_loop("T.0: ?! x"), [""; 0]);
    assert_eq!(of_loop("T.0: ? x; := y"), [""; 0]);
    assert_eq!(of_loop("T.0: ? x; ~r := y"), ["T.0: ? x; ~r := y -> T.0: ? x; ~r := y"]);
    assert_eq!(of_loop("T.0: x := x"), ["T.0: x := x -> T.0: x := x"]);
    assert_eq!(of_loop("T.0"), ["T.0 -> T.0"]);
}

#[test]
fn an_internal_step_belongs_to_the_thread_whose_enabled_labels_change() {
    let text = "des (0,4,4)\n(0,\"A.0: x :=\",1)\n(1,\"tau\",2)\n(2,\"A.1: ? y\",3)\n(3,\"tau\",3)\n";
    let extraction = facts_of(text, &options()).expect("it is well formed");
    assert_eq!(follows(&extraction.facts), ["A.0: x := -> A.1: ? y +"]);
    assert_eq!(extraction.warnings, [""; 0]);

    // The internal step disables A's label and enables B's: nobody can tell whose it is.
    let text = "des (0,3,3)\n(0,\"A.0: x :=\",0)\n(0,\"tau\",1)\n(1,\"B.0: y :=\",2)\n";
    let extraction = facts_of(text, &options()).expect("it is well formed");
    assert_eq!(extraction.warnings.len(), 1);
    assert!(extraction.warnings[0].starts_with("1 internal step changes"), "{:?}", extraction.warnings);
}

#[test]
fn other_labels_can_be_taken_as_internal() {
    let text = "des (0,3,4)\n(0,\"A.0: x :=\",1)\n(1,\"i\",2)\n(2,\"A.1: ? y\",3)\n";
    let message = message_of(text, &options());
    assert!(message.starts_with("test.aut:3:5: expected") && message.ends_with("say --tau i"), "{message}");
    let tau = Options { tau: vec!["tau".to_owned(), "i".to_owned()], ..options() };
    assert_eq!(follows(&facts_of(text, &tau).expect("i is internal").facts), ["A.0: x := -> A.1: ? y +"]);
    let internal = Options { internal: Some(regex::Regex::new("^[a-z]+$").expect("a pattern")), ..options() };
    assert_eq!(facts_of(text, &internal).expect("i is internal").facts, facts_of(text, &tau).expect("again").facts);
}

#[test]
fn a_visible_label_i_without_tau_gives_a_hint() {
    let description = Description::from_toml("label = '^(?<thread>(?<instr>.))'").expect("a description");
    let generic = Options { dialect: Some(Dialect::Generic(description)), ..options() };
    let warnings = facts_of("des (0,1,1)\n(0,i,0)\n", &generic).expect("the description reads it").warnings;
    assert!(warnings.len() == 1 && warnings[0].ends_with("say --tau i"), "{warnings:?}");
    assert_eq!(facts_of("des (0,2,1)\n(0,i,0)\n(0,tau,0)\n", &generic).expect("likewise").warnings, [""; 0]);
}

#[test]
fn different_spellings_of_a_label_are_one_label() {
    let text = "des (0,3,2)\n(0,\"T.0: x := y\",1)\n(1,\"T.0:x:=y\",0)\n(1,\"T.0: x :=  y\",1)\n";
    let facts = facts_of(text, &options()).expect("it is well formed").facts;
    assert_eq!(follows(&facts), ["T.0: x := y -> T.0: x := y"]);
}

#[test]
fn huge_state_numbers_take_no_memory() {
    let text = "des (999999999999,3,1000000000000)\n(999999999999,\"T.0: x :=\",7)\n(7,\"T.1: y :=\",123456789012)\n(7,\"U.0\",0)\n";
    let facts = facts_of(text, &options()).expect("sparse numbers are numbers").facts;
    assert_eq!(follows(&facts), ["T.0: x := -> T.1: y := +"]);
    assert_eq!(concurrent(&facts), ["T.1: y := | U.0"]);
    assert_eq!(facts.states, 1_000_000_000_000);
    assert!(facts.cut_off, "most of those states are missing");
    let text = format!("des (0,1,{})\n(0,\"T.0\",{})\n", u64::MAX, u64::MAX - 1);
    assert_eq!(facts_of(text, &options()).expect("64 bits").facts.states, u64::MAX);
}

#[test]
fn extraction_is_what_the_definitions_say() {
    random_cases(3000, |rng| {
        let lts = Lts::random(rng);
        let threads = rng.random_range(1..4);
        let extraction = with_threads(threads, || facts_of(lts.to_aut(), &options()));
        // Many random states are not reached from the first one, which is said there, and changes no table. Where
        // some do not even occur, they may be taken for ends of threads or not.
        let occurs = |state| lts.transitions.iter().any(|(from, _, to)| [*from, *to].contains(&state));
        let presumed =
            |facts: &Facts| if (0..lts.states).all(occurs) { facts.presumed.clone() } else { Presumed::Nothing };
        let (facts, expected) = (extraction.expect("it is well formed").facts, lts.facts());
        assert_eq!(presumed(&facts), presumed(&expected), "{}", lts.to_aut());
        let shown = |facts: Facts| Facts { cut_off: false, presumed: Presumed::Nothing, ..facts };
        assert_eq!(shown(facts), shown(expected), "{}", lts.to_aut());
    });
}

#[test]
fn the_order_of_lines_the_number_of_threads_and_compression_do_not_matter() {
    random_cases(1000, |rng| {
        let lts = Lts::random(rng);
        let of =
            |lts: &Lts, threads| with_threads(threads, || facts_of(lts.to_aut(), &options()).expect("well formed"));
        let one = of(&lts, 1);
        assert_eq!(of(&lts, 2), one);
        assert_eq!(of(&lts.shuffled(rng), 1), one);
        assert_eq!(of(&lts.shuffled(rng), 2), one);
        let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
        gzip.write_all(lts.to_aut().as_bytes()).expect("writing to memory");
        assert_eq!(facts_of(gzip.finish().expect("compressing"), &options()).expect("well formed"), one);
        let sparse = Lts {
            states: lts.states * 1_000_003 + 5,
            transitions: lts
                .transitions
                .iter()
                .map(|(from, label, to)| (from * 1_000_003 + 5, label.clone(), to * 1_000_003 + 5))
                .collect(),
        };
        let sparse = of(&sparse, 2);
        assert_eq!(
            (sparse.facts.follows, sparse.facts.concurrent),
            (one.facts.follows.clone(), one.facts.concurrent.clone())
        );
    });
}

#[test]
fn transitions_in_several_files_are_one_state_space_however_they_are_split() {
    random_cases(1000, |rng| {
        let lts = Lts::random(rng);
        let whole = facts_of(lts.to_aut(), &options()).expect("well formed");
        // Two parts with the same transitions would be one part given twice.
        let (mut parts, mut seen) = (vec![Vec::new(); rng.random_range(1..6)], BTreeSet::new());
        if !lts.transitions.iter().all(|transition| seen.insert(format!("{transition:?}"))) {
            return;
        }
        for transition in &lts.transitions {
            let part = rng.random_range(0..parts.len());
            parts[part].push(transition.clone());
        }
        let text = |transitions: &Vec<_>| {
            let text = Lts { states: lts.states, transitions: transitions.clone() }.to_aut();
            let (_, lines) = text.split_once('\n').expect("a header");
            format!("des (0,{},{})\n{lines}", lts.transitions.len(), lts.states)
        };
        let bytes = |text: String| Bytes::from_bytes("part.aut", text.into_bytes()).expect("not empty");
        let parts: Vec<Bytes> = parts.iter().map(text).map(bytes).collect();
        assert_eq!(extract_all(&parts, &options(), &NoProgress).expect("well formed"), whole, "{}", lts.to_aut());
    });
}

#[test]
fn headers_of_several_files_agree_or_the_first_difference_is_named() {
    let bytes = |name: &str, text: &str| Bytes::from_bytes(name, text.into()).expect("not empty");
    let first = || bytes("a.aut", "des (0,2,2)\n(0,\"T.0\",1)\n");
    let message = |second: &str| {
        let parts = [first(), bytes("b.aut", second)];
        extract_all(&parts, &options(), &NoProgress).expect_err("this should be refused").to_string()
    };
    let wrong = message("des (0,2,3)\n(1,\"T.1\",0)\n");
    assert!(wrong.starts_with("b.aut:1:10: expected 2 states, as in a.aut, found 3"), "{wrong}");
    let wrong = message("des (1,2,2)\n(1,\"T.1\",0)\n");
    assert!(wrong.starts_with("b.aut:1:6: expected the initial state 0, as in a.aut, found 1"), "{wrong}");
    let wrong = message("des (0,7,2)\n(1,\"T.1\",0)\n");
    let expected = "b.aut:1:8: expected 2 transitions, those of all shards together, as in a.aut, found 7";
    assert!(wrong.starts_with(expected), "{wrong}");
    let wrong = message("des (0,2,2)\n(1,\"T.1\",0)\n(1,\"T.2\",0)\n");
    let expected = "a.aut:1:8: expected 3 transitions, as many as the 2 shards have together, found 2";
    assert!(wrong.starts_with(expected), "{wrong}");
    let wrong = message("des (0,2,2)\n(1,\"T.1\",2)\n");
    assert!(wrong.starts_with("b.aut:2:10: expected a state below 2"), "{wrong}");
}

#[test]
fn internal_steps_from_state_to_state_are_never_missed() {
    random_cases(1000, |rng| {
        let lts = Lts::random_of(rng, Shape::Small);
        let facts = facts_of(lts.to_aut(), &options()).expect("well formed").facts;
        let label = |id: LabelId| facts.labels[id.index()].clone();
        let follows: BTreeSet<_> = facts.follows.iter().map(|pair| (label(pair.from), label(pair.to))).collect();
        let needed = lts.follows_from_state_to_state();
        assert!(follows.is_superset(&needed), "{}: {:?}", lts.to_aut(), needed.difference(&follows));
        if lts.transitions.iter().all(|(_, label, _)| label != "tau") {
            assert_eq!(follows, needed);
        }
    });
}

#[test]
fn facts_of_shards_merge_into_the_facts_of_the_whole() {
    random_cases(1000, |rng| {
        let mut lts = Lts::random(rng);
        lts.transitions.retain(|(_, label, _)| label != "tau");
        let cut = rng.random_range(0..=lts.states);
        // A shard has its transitions and what is enabled in the states they lead to (method §2).
        let shard = |keep: &dyn Fn(u64) -> bool| {
            let targets: BTreeSet<u64> =
                lts.transitions.iter().filter(|step| keep(step.0)).map(|step| step.2).collect();
            let kept = lts.transitions.iter().filter(|step| keep(step.0) || targets.contains(&step.0));
            Lts { states: lts.states, transitions: kept.cloned().collect() }
        };
        let facts = |lts: &Lts| facts_of(lts.to_aut(), &options()).expect("well formed").facts;
        let parts = [facts(&shard(&|state| state < cut)), facts(&shard(&|state| state >= cut))];
        let (merged, whole) = (Facts::merge(&parts), facts(&lts));
        assert_eq!(merged.labels, whole.labels);
        assert_eq!(merged.follows, whole.follows);
        assert_eq!(merged.concurrent, whole.concurrent);
        assert_eq!(merged.transitions, parts[0].transitions + parts[1].transitions);
        assert_eq!(Facts::merge(&[whole.clone(), Facts::default()]), whole);
    });
}

#[test]
fn an_unfinished_state_space_can_be_recovered() {
    let recover = Options { recover: true, ..options() };
    for header in ["des                      ", "des(?,?,?)"] {
        let text = format!("{header}\n(0,\"T.0: x :=\",1)\n(1,\"T.1: y :=\",5)\n(5,\"T.2: ? ");
        let message = message_of(&text, &options());
        assert!(message.contains("unfinished state space (the generator was interrupted)"), "{message}");
        assert!(message.contains("--recover"), "{message}");
        let extraction = facts_of(&text, &recover).expect("the complete lines are read");
        assert_eq!(follows(&extraction.facts), ["T.0: x := -> T.1: y := +"]);
        assert_eq!((extraction.facts.states, extraction.facts.transitions), (3, 2));
        assert_eq!(extraction.warnings.len(), 2, "{:?}", extraction.warnings);
    }
    // What is wrong before the last line is an error all the same.
    let message = message_of("des \n(0,\"T.0: x :=\",1\n(1,\"T.1: y :=\",5)\n", &recover);
    assert!(message.starts_with("test.aut:2:17: expected `)`"), "{message}");
    let sparse = facts_of("des \n(0,\"T.0: x :=\",9000000)\n", &recover).expect("large numbers");
    assert_eq!(sparse.facts.states, 2);
    assert_eq!(facts_of("des \n", &recover).expect("nothing but the initial state").facts.states, 1);
}

#[test]
fn wrong_counts_are_errors_or_with_lenient_warnings() {
    let lenient = Options { lenient: true, ..options() };
    let cases = [
        ("des (0,2,2)\n(0,\"T.0\",1)\n", "test.aut:1:8: expected 1 transitions, as many as follow, found 2;", (2, 1)),
        ("des (0,0,2)\n(0,\"T.0\",1)\n", "test.aut:1:8: expected 1 transitions, as many as follow, found 0;", (2, 1)),
        ("des (0,1,1)\n(0,\"T.0\",1)\n", "test.aut:2:10: expected a state below 1,", (2, 1)),
        ("des (0,1,2)\n(7,\"T.0\",1)\n", "test.aut:2:2: expected a state below 2,", (8, 1)),
        ("des (2,1,2)\n(0,\"T.0\",1)\n", "test.aut:1:6: expected an initial state below 2,", (3, 1)),
        ("des (0,0,0)\n", "test.aut:1:10: expected at least one state, found 0;", (1, 0)),
        ("des (0,1,1)\n", "test.aut:1:8: expected 0 transitions", (1, 0)),
    ];
    for (text, expected, counts) in cases {
        let message = message_of(text, &options());
        assert!(message.starts_with(expected) && message.contains("--lenient"), "{message}");
        let extraction = facts_of(text, &lenient).expect("the counts do not matter");
        assert_eq!((extraction.facts.states, extraction.facts.transitions), counts, "{text}");
        assert!(!extraction.warnings.is_empty(), "{text}");
    }
    let text = "des (0,1,2)\n(0,\"T.0\",1)\n";
    assert_eq!(facts_of(text, &lenient).expect("all is well").warnings, [""; 0]);
}

#[test]
fn a_header_that_lies_about_sizes_is_caught_without_memory() {
    for text in [
        format!("des (0,{0},{0})\n(0,\"T.0\",1)\n", 1_u64 << 60),
        format!("des (0,{0},{0})\n(0,\"T.0\",1)\n", u64::MAX),
        format!("des (0,0,{})\n(0,\"T.0\",1)\n", u64::MAX),
    ] {
        assert!(message_of(text, &options()).contains("expected 1 transitions"));
    }
}

#[test]
fn labels_of_ever_new_threads_are_refused_before_memory_is_full() {
    // Every label has a thread of its own: a table of states and threads would be quadratic in the file.
    let count: u64 = 40_000;
    let mut text = format!("des (0,{count},{})\n", count + 1);
    for state in 0..count {
        text.push_str(&format!("({state},\"T{state}.0\",{})\n", state + 1));
    }
    let message = message_of(text, &options());
    assert!(message.contains("a number of threads in proportion to the file"), "{message}");
}

#[test]
fn progress_counts_both_passes() {
    struct Log(Mutex<Vec<(u64, u64)>>);
    impl Progress for Log {
        fn bytes(&self, done: u64, total: u64) {
            self.0.lock().expect("not poisoned").push((done, total));
        }
    }
    let mut text = String::from("des (0,1000,1001)\n");
    (0..1000).for_each(|state| text.push_str(&format!("({state},\"T.0\",{})\n", state + 1)));
    let total = 2 * text.len() as u64;
    let source = Bytes::from_bytes("test.aut", text.into_bytes()).expect("bytes");
    let log = Log(Mutex::default());
    extract(&source, &options(), &log).expect("well formed");
    let mut log = log.0.into_inner().expect("not poisoned");
    assert!(log.iter().all(|&(done, reported)| done <= reported && reported == total), "{log:?}");
    log.sort_unstable();
    assert!(log.len() > 10 && log[log.len() - 1].0 == total, "{log:?}");
}

#[test]
fn damaged_files_never_panic_and_what_is_accepted_has_the_right_counts() {
    random_cases(5000, |rng| {
        let lts = Lts::random(rng);
        let mut text = lts.to_aut().into_bytes();
        for _ in 0..rng.random_range(1..5) {
            let at = rng.random_range(0..=text.len());
            match rng.random_range(0..6) {
                0 => text.truncate(at),
                1 => text.insert(at, *b"(),\"0 \n\r\x04T.:=?\xff".choose(rng).expect("not empty")),
                2 if at < text.len() => {
                    text.remove(at);
                }
                3 if at < text.len() => text[at] = rng.random(),
                4 => {
                    let end = rng.random_range(at..=text.len());
                    text.extend_from_within(at..end);
                }
                _ => {
                    let end = rng.random_range(at..=text.len());
                    text.drain(at..end);
                }
            }
        }
        let lenient = rng.random_bool(0.3);
        let options = Options { lenient, recover: rng.random_bool(0.3), ..options() };
        let Ok(extraction) = facts_of(&text, &options) else { return };
        let facts = extraction.facts;
        let shown = String::from_utf8_lossy(&text);
        let mut lines = shown
            .lines()
            .map(|line| line.trim_matches([' ', '\t', '\r', '\x0b', '\x0c']))
            .filter(|line| !line.is_empty());
        let header = lines.next().expect("what is accepted has a header");
        let lines = lines.take_while(|line| !line.starts_with('\x04')).count() as u64;
        if options.recover {
            assert!(facts.transitions == lines || facts.transitions + 1 == lines, "{shown}");
        } else {
            assert_eq!(facts.transitions, lines, "{shown}");
        }
        if !options.recover && !options.lenient {
            let numbers: Vec<u64> = header
                .split(|character: char| !character.is_ascii_digit())
                .filter_map(|number| number.parse().ok())
                .collect();
            assert_eq!(numbers[1..], [facts.transitions, facts.states], "{shown}");
        }
        assert!(
            facts
                .follows
                .iter()
                .all(|pair| facts.labels[pair.from.index()].thread == facts.labels[pair.to.index()].thread)
        );
        assert!(facts.concurrent.iter().all(|(a, b)| facts.labels[a.index()].thread != facts.labels[b.index()].thread));
    });
}
