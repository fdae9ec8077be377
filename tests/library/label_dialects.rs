//! The label dialects: native, `rw`, generic.

use crate::support::random::random_cases;
use rand::Rng;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use seqcon::lts::dialect::generic::Description;
use seqcon::lts::dialect::{Dialect, LabelError, native, rw};
use seqcon::lts::label::{Access, Label, LabelKind, Step};
use seqcon::ordering::{Accesses, Marks, PartialFence};

fn shared(name: &str) -> Access {
    Access { name: name.to_owned(), local: false, address: Vec::new() }
}

fn local(name: &str) -> Access {
    Access { local: true, ..shared(name) }
}

fn at(access: Access, address: &[Access]) -> Access {
    Access { address: address.to_vec(), ..access }
}

fn condition(reads: &[Access]) -> Step {
    Step::Condition { reads: reads.to_vec() }
}

fn assignment(writes: &[Access], reads: &[Access]) -> Step {
    Step::Assignment { writes: writes.to_vec(), reads: reads.to_vec() }
}

fn plain(thread: &str, instr: &str, steps: &[Step]) -> Label {
    let (thread, instr) = (thread.to_owned(), instr.to_owned());
    Label { thread, instr, kind: LabelKind::Plain, refused: false, steps: steps.to_vec() }
}

#[test]
fn native_reads_the_examples_of_the_format() {
    let v = || at(shared("v[0]"), &[local("x")]);
    let cases = [
        ("T0.0: b0 :=", plain("T0", "0", &[assignment(&[shared("b0")], &[])])),
        ("T0.1: ? b1", plain("T0", "1", &[condition(&[shared("b1")])])),
        ("T0.1: ?! b1", Label { refused: true, ..plain("T0", "1", &[condition(&[shared("b1")])]) }),
        ("T0.3: v[0]@(~x) := v[0]@(~x)", plain("T0", "3", &[assignment(&[v()], &[v()])])),
        (
            "P_0.1: ~myplace := next; next := next",
            plain(
                "P_0",
                "1",
                &[assignment(&[local("myplace")], &[shared("next")]), assignment(&[shared("next")], &[shared("next")])],
            ),
        ),
        ("T0.f3: fence", Label { kind: LabelKind::Fence, ..plain("T0", "f3", &[]) }),
        (
            "T0.5: atomic x := x",
            Label { kind: LabelKind::Atomic, ..plain("T0", "5", &[assignment(&[shared("x")], &[shared("x")])]) },
        ),
        ("T0.3", plain("T0", "3", &[])),
        ("T0.3:", plain("T0", "3", &[])),
        ("T0.3: ?", plain("T0", "3", &[condition(&[])])),
        ("T0.3: ?; x :=", plain("T0", "3", &[condition(&[]), assignment(&[shared("x")], &[])])),
        ("T0.3: :=", plain("T0", "3", &[assignment(&[], &[])])),
        ("T0.3::=x", plain("T0", "3", &[assignment(&[], &[shared("x")])])),
        ("a.b.c.7: x, y :=", plain("a.b.c", "7", &[assignment(&[shared("x"), shared("y")], &[])])),
        ("o'P_0.ST'7: o'x$1#2 := é", plain("o'P_0", "ST'7", &[assignment(&[shared("o'x$1#2")], &[shared("é")])])),
        (" T0.1 :?x ", plain("T0", "1", &[condition(&[shared("x")])])),
        ("T.1: ? v[0][1], v[a[1, 2]; b]", plain("T", "1", &[condition(&[shared("v[0][1]"), shared("v[a[1, 2]; b]")])])),
        (
            "T.1: ? v[0]@(a[1]@(~i), ~k)",
            plain("T", "1", &[condition(&[at(shared("v[0]"), &[at(shared("a[1]"), &[local("i")]), local("k")])])]),
        ),
        (
            "T.1: p->next := *q, obj.field",
            plain("T", "1", &[assignment(&[shared("p->next")], &[shared("*q"), shared("obj.field")])]),
        ),
        ("T.1: fence := atomics", plain("T", "1", &[assignment(&[shared("fence")], &[shared("atomics")])])),
        ("T.1: atomic", Label { kind: LabelKind::Atomic, ..plain("T", "1", &[]) }),
    ];
    for (text, label) in cases {
        assert_eq!(native::parse(text).as_ref(), Ok(&label), "{text}");
        assert_eq!(native::parse(&label.to_string()), Ok(label), "{text}");
    }
}

#[test]
fn native_says_what_it_expected_where() {
    let cases = [
        ("", 0, "`thread.instruction`"),
        ("hello", 0, "`thread.instruction`"),
        (".1: x :=", 0, "a thread name"),
        ("T.: x :=", 2, "an instruction name"),
        ("T .1: x :=", 1, "a thread name"),
        ("T.1 x := y", 3, "an instruction name"),
        ("T.1: x", 6, "`:=`"),
        ("T.1: x := 1", 10, "a variable name"),
        ("T.1: x :=; ", 11, "a step"),
        ("T.1: x := y,", 12, "a variable name"),
        ("T.1: x := y z", 12, "the end of the label"),
        ("T.1: x[0 := y", 6, "an index"),
        ("T.1: ? x@y", 9, "`(` after `@`"),
        ("T.1: ? x@(~y", 12, "`)`"),
        ("T.1: ? x@()", 10, "a variable name"),
        ("T.1: ? atomic", 7, "a variable name"),
        ("T.1: fence x", 11, "`:=`"),
        ("T.1: (x)", 5, "a"),
    ];
    for (text, offset, expected) in cases {
        let error = native::parse(text).expect_err(text);
        assert!(error.offset == offset && error.expected.starts_with(expected), "{text:?}: {error:?}");
    }
}

#[test]
fn nesting_without_end_is_an_error_and_not_an_overflow() {
    let native_text = format!("T.1: ? {}", "x@(".repeat(100_000));
    assert!(native::parse(&native_text).expect_err("too deep").expected.contains("nested less deeply"));
    let rw_text = format!("rw(o, t, ST'1, [A'([{}", "lcdp'(var_o'x, [".repeat(100_000));
    assert!(rw::parse(&rw_text).expect_err("too deep").expected.contains("nested less deeply"));
    assert!(native::parse(&format!("T.1: ? x{}", "[".repeat(100_000))).is_err());
    // As deep as the other dialect goes, the native one must go, too: facts files are native.
    for depth in 1..40 {
        let text =
            format!("rw(o, t, ST'1, [A'([{}var_o'y{}], [])])", "lcdp'(var_o'x, [".repeat(depth), "])".repeat(depth));
        if let Ok(label) = rw::parse(&text) {
            assert_eq!(native::parse(&label.to_string()), Ok(label));
        } else {
            assert!(depth > 30);
        }
    }
}

#[test]
fn rw_reads_the_labels_of_the_published_translation() {
    let o = |name: &str| shared(&format!("globalObject'{name}"));
    let l = |name: &str| local(&format!("globalObject'{name}"));
    let cases = [
        (
            "rw(globalObject, thr1, ST'207, [A'([], [lc'(var_globalObject'f1)])])",
            plain("globalObject'thr1", "ST'207", &[assignment(&[o("f1")], &[])]),
        ),
        (
            "rw(globalObject, thr1, ST'258, [A'([lc'(var_globalObject'f2)], [])])",
            plain("globalObject'thr1", "ST'258", &[condition(&[o("f2")])]),
        ),
        ("rw(globalObject, thr1, ST'301, [A'([], [])])", plain("globalObject'thr1", "ST'301", &[condition(&[])])),
        ("rw( globalObject,thr1 ,ST'301,[ ] )", plain("globalObject'thr1", "ST'301", &[])),
        (
            "rw(globalObject, P_0, ST'496, [A'([lc'(var_globalObject'P_0'j), lcdp'(var_globalObject'number(1), \
             [var_globalObject'P_0'j])], []), A'([], [lc'(var_globalObject'P_0'max)]), A'([], [])])",
            plain(
                "globalObject'P_0",
                "ST'496",
                &[
                    condition(&[l("P_0'j"), at(o("number[1]"), &[l("P_0'j")])]),
                    assignment(&[l("P_0'max")], &[]),
                    assignment(&[], &[]),
                ],
            ),
        ),
        (
            "rw(o, t, ST'1, [A'([], [lcdp'(var_o'a(3), [lc'(var_o'b), lcdp'(var_o't'c(0), [])])])])",
            plain("o't", "ST'1", &[assignment(&[at(shared("o'a[3]"), &[shared("o'b"), local("o't'c[0]")])], &[])]),
        ),
    ];
    for (text, label) in cases {
        assert_eq!(rw::parse(text).as_ref(), Ok(&label), "{text}");
        assert_eq!(native::parse(&label.to_string()), Ok(label), "{text}");
    }
}

#[test]
fn rw_says_what_it_expected_where() {
    let cases = [
        ("tau", 0, "`rw(object"),
        ("rw[o", 2, "`(` after `rw`"),
        ("rw(, t", 3, "the object's name"),
        ("rw(o, t, ST'1, A'([], []))", 15, "`[`"),
        ("rw(o, t, ST'1, [B'([], [])])", 16, "`A'("),
        ("rw(o, t, ST'1, [A'([], [])]", 27, "`)` at the end"),
        ("rw(o, t, ST'1, [A'([], [])]) x", 29, "the end of the label"),
        ("rw(o, t, ST'1, [A'([ld'(var_o'x)], [])])", 20, "`lc'(variable)`"),
        ("rw(o, t, ST'1, [A'([lc'(x)], [])])", 24, "`var_object'name`"),
        ("rw(o, t, ST'1, [A'([lc'(var_x)], [])])", 24, "`var_object'name`"),
        ("rw(o, t, ST'1, [A'([lc'(var_a'b'c'd)], [])])", 24, "`var_object'name`"),
        ("rw(o, t, ST'1, [A'([lc'(var_o'x()], [])])", 32, "an index"),
        ("rw(o, t, ST'1, [A'([lc'(var_o'x) lc'(var_o'y)], [])])", 33, "`,` or `]`"),
        ("rw(o, t, ST'1, [A'([lc'(var_o'x)])])", 33, "`,` between reads and writes"),
    ];
    for (text, offset, expected) in cases {
        let error = rw::parse(text).expect_err(text);
        assert!(error.offset == offset && error.expected.starts_with(expected), "{text:?}: {error:?}");
    }
}

#[test]
fn generic_reads_by_description() {
    let description = Description::from_toml(
        r"
        label = '^(?<thread>\w+)_(?<instr>\d+) ?(?:c\((?<condition>[^)]*)\))?(?<refused>!)?(?:w\((?<writes>[^)]*)\))?(?:r\((?<reads>[^)]*)\))?(?<fence>mb)?(?<atomic>lock)?$'
        local = '^r\d'
        ",
    )
    .expect("a description");
    let cases = [
        ("p_1 w(x)", plain("p", "1", &[assignment(&[shared("x")], &[])])),
        ("p_1 r(x, r1)", plain("p", "1", &[condition(&[shared("x"), local("r1")])])),
        ("p_1 w(r1)r(x[0],y)", plain("p", "1", &[assignment(&[local("r1")], &[shared("x[0]"), shared("y")])])),
        ("p_1 c(z)w(x)r(y)", plain("p", "1", &[condition(&[shared("z")]), assignment(&[shared("x")], &[shared("y")])])),
        ("p_1 c(z)", plain("p", "1", &[condition(&[shared("z")])])),
        ("p_1 c(z)!", Label { refused: true, ..plain("p", "1", &[condition(&[shared("z")])]) }),
        ("p_1 mb", Label { kind: LabelKind::Fence, ..plain("p", "1", &[]) }),
        (
            "p_1 w(x)r(x)lock",
            Label { kind: LabelKind::Atomic, ..plain("p", "1", &[assignment(&[shared("x")], &[shared("x")])]) },
        ),
        ("p_1", plain("p", "1", &[])),
    ];
    for (text, label) in cases {
        assert_eq!(description.parse(text).as_ref(), Ok(&label), "{text}");
        assert_eq!(native::parse(&label.to_string()), Ok(label), "{text}");
    }
    for (text, expected) in
        [("nothing", "a label that matches"), ("p_1 w(x+y)", "a variable name"), ("p_1 r(7)", "a variable name")]
    {
        let error = description.parse(text).expect_err(text);
        assert!(error.expected.starts_with(expected), "{error:?}");
    }
    let spaced = Description::from_toml(
        r#"label = '(?<thread>\w)(?<instr>\d):(?<reads>.*)'
        separator = ";""#,
    );
    let label = spaced.expect("a description").parse("a0:x; y").expect("it matches");
    assert_eq!(label, plain("a", "0", &[condition(&[shared("x"), shared("y")])]));
}

#[test]
fn a_wrong_description_is_explained() {
    let cases = [
        ("", "there is neither `label`, an expression for labels, nor a `[[rule]]`"),
        ("label = 7", "invalid type"),
        ("label = '('", "`label` is not a regular expression"),
        ("label = '(?<instr>.)'", "`label` has no group `thread`"),
        ("label = '(?<thread>.)'", "`label` has no group `instr`"),
        (
            "label = '(?<thread>.)(?<instr>.)(?<read>.)'",
            "a group `read` that means nothing; the groups are thread, instr, reads",
        ),
        ("label = '(?<thread>.)(?<instr>.)'\nlocal = '['", "`local` is not a regular expression"),
        ("label = '(?<thread>.)(?<instr>.)'\nseparator = ''", "`separator` is empty"),
        ("label = '(?<thread>.)(?<instr>.)'\nlocals = ''", "unknown field `locals`"),
    ];
    for (text, expected) in cases {
        let message = Description::from_toml(text).expect_err(text).to_string();
        assert!(message.contains(expected), "{text:?}: {message}");
    }
}

#[test]
fn the_dialect_is_detected() {
    let name = |text: &str| Dialect::detect(text).map(|dialect| dialect.name().to_owned());
    assert_eq!(name("rw(o, t, ST'1, [])").as_deref(), Some("rw"));
    assert_eq!(name("T0.0: x :=").as_deref(), Some("native"));
    assert_eq!(name("send(d1)"), None);
}

fn random_access(rng: &mut StdRng, depth: usize) -> Access {
    let name = ["x", "o'f1", "v[0]", "v[0][a]", "P_0'j", "é", "n0", "fence", "a.b"].choose(rng).expect("not empty");
    let address = if depth < 3 && rng.random_bool(0.2) { random_accesses(rng, 1, depth + 1) } else { Vec::new() };
    Access { name: (*name).to_owned(), local: rng.random_bool(0.3), address }
}

fn random_accesses(rng: &mut StdRng, least: usize, depth: usize) -> Vec<Access> {
    (0..rng.random_range(least..least + 3)).map(|_| random_access(rng, depth)).collect()
}

fn random_label(rng: &mut StdRng) -> Label {
    let kinds = [
        LabelKind::Plain,
        LabelKind::Atomic,
        LabelKind::Fence,
        LabelKind::PartialFence(PartialFence::Lightweight),
        LabelKind::PartialFence(PartialFence::Between(Accesses::All, Accesses::Writes)),
        LabelKind::Marked(Marks::ACQUIRE),
        LabelKind::Marked(Marks::RELAXED.and(Marks::RELEASE)),
        LabelKind::Rmw(Marks::NONE),
        LabelKind::Rmw(Marks::ACQUIRE.and(Marks::EXCLUSIVE)),
    ];
    let kind = *kinds.choose(rng).expect("not empty");
    let is_fence = matches!(kind, LabelKind::Fence | LabelKind::PartialFence(_));
    let steps: Vec<Step> = (0..if is_fence { 0 } else { rng.random_range(0..4) })
        .map(|_| match rng.random_bool(0.5) {
            true => Step::Condition { reads: random_accesses(rng, 0, 0) },
            false => Step::Assignment { writes: random_accesses(rng, 0, 0), reads: random_accesses(rng, 0, 0) },
        })
        .collect();
    let has_condition = steps.iter().any(|step| matches!(step, Step::Condition { .. }));
    let thread = (*["T0", "o'P_0", "a.b", "é"].choose(rng).expect("not empty")).to_owned();
    let instr = (*["0", "ST'207", "f3"].choose(rng).expect("not empty")).to_owned();
    Label { thread, instr, kind, refused: has_condition && rng.random_bool(0.3), steps }
}

#[test]
fn native_reads_what_labels_display() {
    random_cases(5000, |rng| {
        let label = random_label(rng);
        assert_eq!(native::parse(&label.to_string()), Ok(label));
    });
}

#[test]
fn damaged_labels_never_panic_and_what_is_read_is_displayed_faithfully() {
    let corpus = [
        "rw(o, P_0, ST'496, [A'([lc'(var_o'P_0'j), lcdp'(var_o'n(1), [var_o'P_0'j])], []), A'([], [lc'(var_o'P_0'max)])])",
        "P_0.1: ?! a, v[0]@(~x, y[1]@(z)); ~myplace := next; next := next",
        "T0.5: atomic x := x",
        "T0.f3: fence",
    ];
    random_cases(20_000, |rng| {
        let mut text: Vec<char> = corpus.choose(rng).expect("not empty").chars().collect();
        for _ in 0..rng.random_range(1..5) {
            let Some(last) = text.len().checked_sub(1) else { break };
            let at = rng.random_range(0..=last);
            match rng.random_range(0..3) {
                0 => {
                    text.remove(at);
                }
                1 => text
                    .insert(at, *['[', ']', '(', ')', '\'', ':', '.', 'é', '~', ' '].choose(rng).expect("not empty")),
                _ => text.truncate(at + 1),
            }
        }
        let text: String = text.into_iter().collect();
        for parse in [native::parse, rw::parse] {
            match parse(&text) {
                Ok(label) => assert_eq!(native::parse(&label.to_string()), Ok(label), "{text}"),
                Err(LabelError { offset, .. }) => assert!(text.is_char_boundary(offset), "{text}: {offset}"),
            }
        }
    });
}
