//! What `docs/slco.md` says of the language is true: its examples are read, its words are the parser's, and the
//! smaller traps are as described. (The larger ones have commands, which are executed with those of all documents.)

use seqcon::explore::observe::Nobody;
use seqcon::explore::{Limits, Stop, explore};
use seqcon::lang::{self, slco};
use seqcon::specification::Specification;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

fn document() -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/slco.md")).unwrap()
}

/// The blocks of the language, each with what stands behind its name.
fn blocks(document: &str) -> Vec<(&str, &str)> {
    let blocks = document.split("\n```").skip(1).step_by(2);
    let slco = blocks.filter_map(|block| block.strip_prefix("slco"));
    slco.map(|block| block.split_once('\n').expect("a block has lines")).map(|(of, text)| (of.trim(), text)).collect()
}

fn with_statements(variables: &str, statements: &str) -> String {
    let transition = format!("start -> done {{ {statements}\n }}");
    with_transitions(variables, &transition)
}

fn with_transitions(variables: &str, transitions: &str) -> String {
    format!(
        "model m {{ classes C {{ variables {variables}
           state machines t {{ initial start states wait enter leave again done transitions {transitions}\n }} }}
         objects o : C() }}"
    )
}

const VARIABLES: &str = "Integer x y wants turn Boolean flag := false Integer[3] slots";

#[test]
fn every_example_is_read_without_a_warning() {
    let document = document();
    let blocks = blocks(&document);
    for kind in ["statements", "transitions", "variables", "never", ""] {
        assert!(blocks.iter().any(|(of, _)| *of == kind), "no example of {kind:?}");
    }
    for (of, text) in &blocks {
        let model = match *of {
            "statements" => with_statements(VARIABLES, text),
            "transitions" => with_transitions(VARIABLES, text),
            "variables" => with_statements(text, "true"),
            "never" => {
                let machine = "{ variables Integer r initial start states enter leave transitions start -> enter }";
                format!("model m {{ classes C {{ state machines P {machine} Q {machine} }} objects o : C() {text} }}")
            }
            _ => (*text).to_owned(),
        };
        let parsed = lang::parse("example.slco", &model).unwrap_or_else(|errors| panic!("{of}:\n{text}\n{errors}"));
        assert_eq!(parsed.warnings, [], "{text}");
    }
    assert!(blocks.len() >= 15, "only {} examples were found", blocks.len());
}

/// The words in back quotes of the paragraph that begins so.
fn words_of<'d>(document: &'d str, beginning: &str) -> BTreeSet<&'d str> {
    let paragraph = document.split("\n\n").find(|paragraph| paragraph.starts_with(beginning)).expect(beginning);
    let paragraph = paragraph.split(". The words").next().unwrap_or_default();
    paragraph.split('`').skip(1).step_by(2).collect()
}

#[test]
fn the_words_that_cannot_be_names_are_those_of_the_parser() {
    let document = document();
    assert_eq!(words_of(&document, "Words that cannot be names"), BTreeSet::from(slco::KEYWORDS));
}

/// The alternatives of a rule of the grammar that are words.
fn alternatives<'d>(document: &'d str, rule: &str) -> Vec<&'d str> {
    let rule = format!("\n{rule} ");
    let (_, behind) = document.split_once(&rule).expect("the grammar has this rule");
    let end = behind.find(['⊕', '(']).unwrap_or(behind.len());
    behind[..end].split_whitespace().filter(|word| !["=", "|"].contains(word)).collect()
}

#[test]
fn the_words_for_marks_and_fences_are_those_of_the_parser() {
    let document = document();
    let marks: BTreeSet<&str> = alternatives(&document, "MARK").into_iter().collect();
    assert_eq!(marks, slco::mark_words().collect());
    let kinds = alternatives(&document, "KIND");
    assert!(kinds.len() >= 7, "{kinds:?}");
    for kind in kinds {
        let model = with_statements("Integer x", &format!("x := 1; fence {kind}; x := 2"));
        assert!(lang::parse("m.slco", &model).is_ok(), "{kind}");
    }
    // All that the parser offers is in the document.
    let wrong = lang::parse("m.slco", &with_statements("Integer x", "fence nonsense")).unwrap_err().to_string();
    let offered = wrong.lines().next().unwrap().split('`').skip(1).step_by(2).filter(|word| word.len() > 2);
    for word in offered.filter(|word| *word != "nonsense") {
        assert!(alternatives(&document, "KIND").contains(&word), "{word} is not in the document");
    }
}

/// The values of the shared variables at the end of the only run.
fn last_values(variables: &str, statements: &str) -> Vec<i64> {
    let text = with_statements(variables, statements);
    let (specification, _) = Specification::parse("m.slco".to_owned(), text).unwrap();
    let (exploration, _) = explore(&specification.compiled, &Limits::default(), &mut Nobody).expect("it goes well");
    assert_eq!(exploration.stop, Stop::Complete);
    exploration.unpacked(&specification.compiled, exploration.states.len() - 1).1
}

/// The first line of what is said about these statements.
fn said(variables: &str, statements: &str) -> String {
    match lang::parse("m.slco", &with_statements(variables, statements)) {
        Ok(parsed) => parsed.warnings.first().map_or_else(String::new, |warning| warning.message.clone()),
        Err(errors) => errors.errors()[0].message.clone(),
    }
}

#[test]
fn the_smaller_traps_are_as_described() {
    // Without a type it is that of the variable before; blanks and no commas; the size belongs to the type.
    assert_eq!(last_values("Boolean a b Integer c d", "true"), [1, 1, 0, 0]);
    assert!(said("Integer x, y", "true").contains("found `,`"));
    assert!(said("Integer x[2]", "true").contains("found `[`"));
    // `not` binds tightest.
    assert!(said("Integer x", "not x = 1").contains("expected a Boolean"));
    assert_eq!(said("Integer x", "not (x = 1)"), "");
    // Operators of one level are read from the left, with a warning.
    assert!(said("Integer x", "x := 9 - 3 - 2").contains("from left to right"));
    assert_eq!(last_values("Integer x", "x := 9 - 3 - 2"), [4]);
    // An index that is out of range reads 0 and writes nothing.
    assert_eq!(last_values("Integer[2] a := [5, 5] Integer x := 7", "x := a[x]; a[x + 2] := 1"), [5, 5, 0]);
    // A Byte is taken modulo 256 where it is assigned, and nowhere else.
    assert_eq!(last_values("Byte b := 255 Integer x", "x := b + 1; b := b + 1"), [0, 256]);
    // `/` rounds down, and `%` has the sign of its right side.
    assert_eq!(last_values("Integer x y", "x := -7 / 2; y := -7 % 2"), [-4, 1]);
    assert_eq!(last_values("Integer x y", "x := 7 / (-2); y := 7 % (-2)"), [-4, -1]);
    // A composite sees what it did, and there is no short cut.
    assert_eq!(last_values("Integer x y", "[x := 1; y := x]"), [1, 1]);
    let text = with_statements("Integer x", "x = 0 or 1 / x = 1");
    let (specification, _) = Specification::parse("m.slco".to_owned(), text).unwrap();
    assert!(explore(&specification.compiled, &Limits::default(), &mut Nobody).is_err(), "1 / x is evaluated");
}

#[test]
fn an_initial_state_that_is_declared_once_more_is_one_state() {
    let text = "model m { classes C { variables Integer x
      state machines t { initial a states a b transitions a -> b { x := 1 } } } objects o : C() }";
    let parsed = lang::parse("m.slco", text).unwrap();
    assert_eq!(parsed.program.threads[0].states, ["a", "b"]);
    assert_eq!(parsed.warnings.len(), 1);
    assert!(parsed.warnings[0].message.contains("`a` is the initial state, and declared once more"));
    let plain = lang::parse("m.slco", &text.replace("states a b", "states b")).unwrap();
    assert_eq!(plain.warnings, []);
    assert_eq!(plain.program.threads[0].states, parsed.program.threads[0].states);
    // Twice among the others is still a slip.
    assert!(lang::parse("m.slco", &text.replace("states a b", "states a a b")).is_err());
}

#[test]
fn every_error_says_where_the_language_is_described() {
    for (name, text) in [("m.slco", "model"), ("m.slco", "model m { classes C { } objects o : D() }")] {
        let shown = lang::parse(name, text).unwrap_err().to_string();
        let last = shown.lines().last().unwrap();
        assert_eq!(last, "m.slco: the language is described in docs/slco.md, and in short in `seqcon help slco`");
    }
}
