//! Reading `.aut`: what six real writers write, what the grammar allows, and what it refuses.

use crate::support::random::random_cases;
use crate::support::{facts_of, message_of};
use rand::Rng;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use seqcon::facts::extract::{Escapes, Options};
use seqcon::lts::aut::{self, Counts, Fault, Header};
use seqcon::lts::writer;
use std::sync::LazyLock;

type Transitions = Vec<(u64, String, u64)>;

/// Header and transitions of a text.
fn read(text: &[u8]) -> Result<(Header, Transitions), Fault> {
    let (header, start) = aut::header(text)?;
    let owned = |transition: aut::Transition<'_>| {
        let text_at = |place: usize| text[place..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        assert!(text_at(transition.places[0]) > 0 && text_at(transition.places[2]) > 0, "places point at numbers");
        assert!(text[transition.places[1]..].starts_with(transition.label), "the label's place points at it");
        (transition.from, String::from_utf8_lossy(transition.label).into_owned(), transition.to)
    };
    let transitions = aut::transitions(text, start..text.len()).map(|transition| transition.map(owned));
    Ok((header, transitions.collect::<Result<_, _>>()?))
}

fn read_counts(text: &str) -> (Counts, Transitions) {
    match read(text.as_bytes()) {
        Ok((Header::Finished { counts, .. }, transitions)) => (counts, transitions),
        other => panic!("{text:?} gave {other:?}"),
    }
}

fn transition(from: u64, label: &str, to: u64) -> (u64, String, u64) {
    (from, label.to_owned(), to)
}

const RW: &str = "rw(o, thr1, ST'1170, [A'([lc'(var_o'x)], [])])";

#[test]
fn reads_what_mcrl2_saves() {
    let (counts, transitions) = read_counts(&format!("des (0,2,2)\n(0,\"c2(d1, true)\",1)\n(1,\"{RW}\",0)\n"));
    assert_eq!(counts, Counts { initial: 0, transitions: 2, states: 2 });
    assert_eq!(transitions, [transition(0, "c2(d1, true)", 1), transition(1, RW, 0)]);
}

#[test]
fn reads_what_lps2lts_streams_with_a_padded_header() {
    let header = format!("{:51}", "des (0,1,2)");
    let (counts, transitions) = read_counts(&format!("{header}\n(0,\"{RW}\",1)\n"));
    assert_eq!(counts, Counts { initial: 0, transitions: 1, states: 2 });
    assert_eq!(transitions, [transition(0, RW, 1)]);
}

#[test]
fn reads_what_ltsmin_writes_without_a_blank_and_with_escapes() {
    let text = "des(0,3,2)                    \n(0,\"la\\\"bel\",1)\n(0,#0A#,1)\n(1,17,0)\n";
    let (counts, transitions) = read_counts(text);
    assert_eq!(counts.transitions, 3);
    assert_eq!(transitions, [transition(0, "la\\\"bel", 1), transition(0, "#0A#", 1), transition(1, "17", 0)]);
}

#[test]
fn reads_what_merc_writes_with_blanks_after_commas() {
    let (counts, transitions) = read_counts("des (0, 1, 2)\n(0, \"T0.0: x :=\", 1)\n");
    assert_eq!(counts, Counts { initial: 0, transitions: 1, states: 2 });
    assert_eq!(transitions, [transition(0, "T0.0: x :=", 1)]);
}

#[test]
fn reads_what_merc_streams_with_left_over_blanks_on_the_second_line() {
    let (_, transitions) = read_counts("des (0, 1, 2)\n                 (0, \"a\", 1)\n");
    assert_eq!(transitions, [transition(0, "a", 1)]);
}

#[test]
fn reads_what_cadp_writes_with_unquoted_labels() {
    let text = "des (0, 2, 2)\n(0, \"RA !ADD (0, EMPTYSET) !+1 !+1\", 1)\n(1, i, 0)\n";
    let (_, transitions) = read_counts(text);
    assert_eq!(transitions, [transition(0, "RA !ADD (0, EMPTYSET) !+1 !+1", 1), transition(1, "i", 0)]);
    let (_, transitions) = read_counts("des (0, 1, 2)\n(0,  RA !ADD (0, E) !+1  ,1)\n");
    assert_eq!(transitions, [transition(0, "RA !ADD (0, E) !+1", 1)]);
}

#[test]
fn reads_blanks_around_every_token_crlf_blank_lines_and_a_missing_last_newline() {
    let text = "\n  des ( 0 ,\t3 , 2 ) \r\n\r\n ( 0 , \"a, b\" , 1 ) \r\n   \n(1,\"c\",0)\t\n(1,\"\",1)";
    let (counts, transitions) = read_counts(text);
    assert_eq!(counts, Counts { initial: 0, transitions: 3, states: 2 });
    assert_eq!(transitions, [transition(0, "a, b", 1), transition(1, "c", 0), transition(1, "", 1)]);
}

#[test]
fn reads_numbers_up_to_64_bits_and_refuses_larger_ones() {
    let (counts, transitions) =
        read_counts("des (0,1,18446744073709551615)\n(4294967296,\"a\",18446744073709551614)\n");
    assert_eq!(counts.states, u64::MAX);
    assert_eq!(transitions, [transition(1 << 32, "a", u64::MAX - 1)]);
    for number in ["18446744073709551616", "99999999999999999999", "184467440737095516150"] {
        for text in [
            format!("des (0,1,{number})\n"),
            format!("des (0,1,9)\n({number},\"a\",0)\n"),
            format!("des (0,1,9)\n(0,\"a\",{number})\n"),
        ] {
            let fault = read(text.as_bytes()).expect_err("more than 64 bits");
            assert_eq!(
                fault,
                Fault { offset: text.find(number).expect("it is there"), expected: "a number below 2^64" }
            );
        }
    }
    let (_, transitions) = read_counts("des (0,1,9)\n(000000000000000000000007,\"a\",0000000000000000000000008)\n");
    assert_eq!(transitions, [transition(7, "a", 8)]);
}

#[test]
fn stops_at_the_end_of_text_byte() {
    let (_, transitions) = read_counts("des (0,1,2)\n(0,\"a\x04b\",1)\n \x04 and (whatever\nfollows");
    assert_eq!(transitions, [transition(0, "a\x04b", 1)]);
    let text = "des (0,1,1)\n(0,\"T0.0: x :=\",0)\n\x04des (0,1,1)\n(0,\"nonsense\",7)\n";
    let extraction = facts_of(text, &Options::default()).expect("what follows EOT is not read");
    assert_eq!((extraction.facts.transitions, extraction.facts.labels.len()), (1, 1));
}

#[test]
fn a_byte_order_mark_is_skipped() {
    assert_eq!(read_counts("\u{feff}des (0,0,1)\n").0.states, 1);
}

#[test]
fn an_unfinished_header_is_told_from_a_wrong_one() {
    for text in [
        "des",
        "des      ",
        "des                 \n(0,\"a\",1)\n",
        "des(?,?,?)\n(0,\"a\",1)\n",
        "des ( ? , ? , ? )  \n",
    ] {
        let (header, _) = read(text.as_bytes()).expect("an unfinished header is a header");
        assert!(matches!(header, Header::Unfinished { .. }), "{text:?} gave {header:?}");
    }
}

#[test]
fn faults_point_at_what_is_wrong() {
    let cases = [
        ("hello", 0, "the header"),
        ("des 0,1,1)", 4, "`(` after `des`"),
        ("des (x,1,1)", 5, "the number of the initial state"),
        ("des (0;1,1)", 6, "`,` after the initial state"),
        ("des (0,,1)", 7, "the number of transitions"),
        ("des (0,1 1)", 9, "`,` after the number of transitions"),
        ("des (0,1,-1)", 9, "the number of states"),
        ("des (0,1,1]", 10, "`)` after the number of states"),
        ("des (0,1,1) x", 12, "the end of the line"),
        ("des (0,1,1)\n0,\"a\",0)", 12, "a transition"),
        ("des (0,1,1)\n(x,\"a\",0)", 13, "the number of the source state"),
        ("des (0,1,1)\n(0 \"a\",0)", 15, "`,` after the source state"),
        ("des (0,1,1)\n(0,\"a\",x0)", 20, "`,` between the label"),
        ("des (0,1,1)\n(0,\"a\",0x)", 19, "the number of the target state"),
        ("des (0,1,1)\n(0,\"a\",0", 20, "`)` at the end"),
        ("des (0,1,1)\n(0,\"a\" 0)", 18, "`,` between the label"),
        ("des (0,1,1)\n(0,,0)", 15, "a label"),
        ("des (0,1,1)\n(0,\",0)", 16, "`\"` at the end of the label"),
        ("des (0,1,1)\n(0,\"a,0)", 17, "`\"` at the end of the label"),
        ("des (0,1,1)\n(0,\"a\",0 1/2 1)", 24, "`,` between the label"),
    ];
    for (text, offset, expected) in cases {
        let fault = read(text.as_bytes()).expect_err(text);
        assert_eq!(fault.offset, offset, "{text:?}: {fault:?}");
        assert!(fault.expected.starts_with(expected), "{text:?}: {fault:?}");
    }
}

#[test]
fn escapes_are_read_as_the_user_says() {
    let text = "des (0,2,2)\n(0,\"T0.0: v[\\\"a\\\"] :=\",1)\n(1,#54302e313a203f2078#,0)\n";
    let ltsmin = Options { escapes: Escapes::Ltsmin, ..Options::default() };
    let extraction = facts_of(text, &ltsmin).expect("LTSmin's escapes");
    let labels: Vec<String> = extraction.facts.labels.iter().map(ToString::to_string).collect();
    assert_eq!(labels, ["T0.0: v[\"a\"] :=", "T0.1: ? x"]);
    assert_eq!(extraction.warnings, [""; 0]);

    let text = "des (0,1,2)\n(0,\"T0.0: v[\\\"a\\\"] :=\",1)\n";
    let extraction = facts_of(text, &Options::default()).expect("a backslash is a character");
    assert_eq!(extraction.facts.labels[0].to_string(), "T0.0: v[\\\"a\\\"] :=");
    assert_eq!(extraction.warnings.len(), 1);
    assert!(extraction.warnings[0].contains("--escapes ltsmin"), "{:?}", extraction.warnings);

    let message = message_of("des (0,1,2)\n(0,\"T0.0: v[\\a] :=\",1)\n", &ltsmin);
    assert!(message.starts_with("test.aut:2:13: expected an escape"), "{message}");
    let message = message_of("des (0,1,2)\n(0,#5#,1)\n", &ltsmin);
    assert!(message.contains("a pair of hexadecimal digits"), "{message}");
}

/// A random label: anything but a line feed.
fn random_label(rng: &mut StdRng) -> Vec<u8> {
    let pieces: [&[u8]; 12] =
        [b"a", b"T0.1", b", ", b"\"", b"(", b")", b" ", b"\\", b"\xc3\xa9", b"\xff", b",7)", b"!+1"];
    (0..rng.random_range(0..8)).flat_map(|_| pieces.choose(rng).expect("not empty").to_vec()).collect()
}

#[test]
fn what_is_written_is_read_back() {
    random_cases(2000, |rng| {
        let number = |rng: &mut StdRng| if rng.random_bool(0.1) { rng.random() } else { rng.random_range(0..1000) };
        let counts = Counts { initial: number(rng), transitions: number(rng), states: number(rng) };
        let transitions: Vec<(u64, Vec<u8>, u64)> =
            (0..rng.random_range(0..20)).map(|_| (number(rng), random_label(rng), number(rng))).collect();
        let mut text = Vec::new();
        writer::header(&mut text, counts).expect("writing to memory");
        for (from, label, to) in &transitions {
            writer::transition(&mut text, *from, label, *to).expect("writing to memory");
        }
        let (header, start) = aut::header(&text).expect("a header was written");
        assert!(matches!(header, Header::Finished { counts: read, .. } if read == counts));
        let read: Vec<_> = aut::transitions(&text, start..text.len())
            .map(|transition| transition.expect("transitions were written"))
            .map(|transition| (transition.from, transition.label.to_vec(), transition.to))
            .collect();
        assert_eq!(read, transitions);
    });
}

#[test]
fn the_writer_has_the_shape_of_mcrl2() {
    let mut text = Vec::new();
    writer::header(&mut text, Counts { initial: 0, transitions: 1, states: 2 }).expect("writing to memory");
    writer::transition(&mut text, 0, b"a(1, 2)", 1).expect("writing to memory");
    assert_eq!(text, b"des (0,1,2)\n(0,\"a(1, 2)\",1)\n");
}

/// The grammar of a line once more, as a regular expression: slow, and independent of the parser.
static LINE: LazyLock<regex::bytes::Regex> = LazyLock::new(|| {
    let blanks = r"[ \t\r\x0b\x0c]*";
    let line = format!(r"(?s-u)^{blanks}\({blanks}([0-9]+){blanks},(.*),{blanks}([0-9]+){blanks}\){blanks}$");
    regex::bytes::Regex::new(&line).expect("it is well formed")
});

fn reference_line(line: &[u8]) -> Option<(u64, Vec<u8>, u64)> {
    let groups = LINE.captures(line)?;
    let number = |digits: &[u8]| std::str::from_utf8(digits).ok()?.parse().ok();
    let blank = |byte: &u8| b" \t\r\x0b\x0c".contains(byte);
    let label = &groups[2];
    let start = label.iter().position(|byte| !blank(byte))?;
    let end = label.iter().rposition(|byte| !blank(byte))? + 1;
    let label = match &label[start..end] {
        [b'"', inner @ .., b'"'] => inner,
        [b'"', ..] => return None,
        bare => bare,
    };
    Some((number(&groups[1])?, label.to_vec(), number(&groups[3])?))
}

#[test]
fn the_parser_agrees_with_a_regular_expression_on_damaged_lines() {
    random_cases(20_000, |rng| {
        let mut line = format!("({},\"", rng.random_range(0..2000)).into_bytes();
        line.extend(random_label(rng));
        line.extend(format!("\",{})", rng.random_range(0..2000)).into_bytes());
        for _ in 0..rng.random_range(0..4) {
            let at = rng.random_range(0..=line.len());
            match rng.random_range(0..3) {
                0 if at < line.len() => {
                    line.remove(at);
                }
                1 if at < line.len() => line[at] = *b"(),\"0 x\t".choose(rng).expect("not empty"),
                _ => line.insert(at, *b"(),\"9 \r\x0c".choose(rng).expect("not empty")),
            }
        }
        if line.iter().all(|byte| b" \t\r\x0c".contains(byte)) {
            return;
        }
        let read = aut::transitions(&line, 0..line.len()).next().expect("the line is not blank");
        let read = read.ok().map(|transition| (transition.from, transition.label.to_vec(), transition.to));
        assert_eq!(read, reference_line(&line), "{:?}", String::from_utf8_lossy(&line));
    });
}
