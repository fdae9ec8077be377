//! `witness.svg`: well-formed whatever the names, all of it within the picture, the same bytes each time; and the
//! picture of the README is what its command draws.

use crate::support::command::run;
use crate::support::outcomes::{hostile, of_specification, of_state_space, specifications, state_spaces};
use seqcon::analysis::{Confirmation, Confirming, Options, Outcome};
use seqcon::report::Report;
use seqcon::report::svg::{Svg, check};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

fn drawn(outcome: &Outcome, number: usize) -> String {
    let mut bytes = Vec::new();
    Svg { number: Some(number) }.write(outcome, &mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

/// An element: its name, its attributes, and the text directly in it.
#[derive(Debug)]
struct Element {
    name: String,
    attributes: Vec<(String, String)>,
    text: String,
}

impl Element {
    fn get(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    fn number(&self, name: &str) -> usize {
        let value = self.get(name).unwrap_or_else(|| panic!("{self:?} has {name}"));
        value.parse().unwrap_or_else(|_| panic!("{self:?}: {name} is a whole number"))
    }
}

/// Reads what is written here, and nothing else that XML may be: every element is closed in its order, `<` and `&` are
/// escaped, and no character is one that XML forbids.
fn elements(document: &str) -> Vec<Element> {
    let is_forbidden = |c: char| c.is_control() && c != '\n';
    assert!(!document.contains(is_forbidden), "{document}");
    let (mut elements, mut open): (Vec<Element>, Vec<usize>) = (Vec::new(), Vec::new());
    let mut rest = document;
    while let Some(begin) = rest.find('<') {
        let text = &rest[..begin];
        assert!(!text.contains('>'), "{text}");
        for reference in text.split('&').skip(1) {
            let known = ["lt;", "gt;", "amp;", "quot;"];
            assert!(known.iter().any(|known| reference.starts_with(known)), "&{reference}");
        }
        if let Some(&innermost) = open.last() {
            elements[innermost].text += text;
        }
        let end = begin + rest[begin..].find('>').expect("a tag ends");
        let tag = &rest[begin + 1..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            let closed = open.pop().expect("something is open");
            assert_eq!(elements[closed].name, name);
            continue;
        }
        let (tag, is_empty) = tag.strip_suffix('/').map_or((tag, false), |tag| (tag, true));
        let (name, attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        let mut parts = attributes.split('"').collect::<Vec<_>>();
        parts.pop();
        let attributes =
            parts.chunks(2).map(|pair| (pair[0].trim().trim_end_matches('=').to_owned(), pair[1].to_owned()));
        elements.push(Element { name: name.to_owned(), attributes: attributes.collect(), text: String::new() });
        if !is_empty {
            open.push(elements.len() - 1);
        }
    }
    assert!(open.is_empty() && rest.trim().is_empty(), "{rest}");
    elements
}

/// Checks a picture; gives the texts in it.
fn check_picture(document: &str) -> Vec<String> {
    let elements = elements(document);
    let (wide, high) = (elements[0].number("width"), elements[0].number("height"));
    assert_eq!(elements[0].name, "svg");
    for element in &elements {
        let (right, below) = match element.name.as_str() {
            "rect" => (
                element.get("x").map_or(0, |_| element.number("x")) + element.number("width"),
                element.get("y").map_or(0, |_| element.number("y")) + element.number("height"),
            ),
            "text" => {
                let columns = element
                    .text
                    .replace("&lt;", "<")
                    .replace("&gt;", ">")
                    .replace("&quot;", "\"")
                    .replace("&amp;", "&");
                let columns = columns.chars().count();
                // A column is at least 6 pixels in 11-pixel letters.
                let own = columns * 6;
                let is_middle = element.get("text-anchor") == Some("middle");
                let left = if is_middle { own / 2 } else { 0 };
                assert!(element.number("x") >= left, "{element:?} begins in the picture");
                (element.number("x") + own - left, element.number("y"))
            }
            _ => continue,
        };
        assert!(right <= wide && below <= high, "{element:?} is in {wide} x {high}");
    }
    elements.into_iter().filter(|element| element.name == "text").map(|element| element.text).collect()
}

#[test]
fn every_reason_of_bundled_programs_is_drawn() {
    let models = ["tso", "pso", "power"];
    let specifications = specifications();
    let programs = specifications.iter().map(|name| of_specification(name, &models, &Options::default()));
    let spaces = state_spaces();
    let mut pictures = 0;
    for outcome in programs.chain(spaces.iter().map(|name| of_state_space(name, &models, &Options::default()))) {
        for number in [0, 1, 7] {
            let document = drawn(&outcome, number);
            assert_eq!(document, drawn(&outcome, number));
            let texts = check_picture(&document);
            for result in &outcome.results {
                let Some(delay) = result.all_delays().nth(number) else { continue };
                // Each access of the cycle is there.
                for segment in &delay.witness.segments {
                    let access = seqcon::report::names::access(&outcome.accesses, segment.entry);
                    assert!(texts.contains(&access), "{access}: {texts:?}");
                }
                pictures += 1;
            }
        }
    }
    assert!(pictures > 50, "{pictures}");
}

#[test]
fn hostile_names_are_text() {
    for number in 0..3 {
        let outcome = hostile(of_state_space("peterson", &["tso", "power"], &Options::default()));
        check_picture(&drawn(&outcome, number));
    }
}

#[test]
fn a_reason_that_is_not_there_is_an_error() {
    let outcome = of_state_space("sb", &["tso"], &Options::default());
    assert_eq!(check(&outcome, 1), Ok(()));
    let error = check(&outcome, 2).unwrap_err().to_string();
    assert!(error.starts_with("under tso there are 2 reasons, numbered from 0 to 1; "), "{error}");
    let (status, _, errors) = run(&["-q", "analyse", "lts/sb.aut", "--mm", "tso", "--svg", "-", "--cycle", "2"]);
    assert_eq!(status, 2);
    assert!(errors.contains("--cycle 2: under tso there are 2 reasons"), "{errors}");
    // Nothing to show is no error, unless a number was asked for.
    let (status, shown, _) = run(&["-q", "analyse", "lts/mp.aut", "--mm", "tso", "--svg", "-"]);
    assert_eq!(status, 0);
    assert!(check_picture(&shown).iter().any(|text| text == "mp under tso: nothing to show"), "{shown}");
}

#[test]
fn a_cycle_that_is_ruled_out_is_said_to_be_and_others_are_preferred() {
    let drawn = |path: &str, model: &str, options: &[&str]| {
        let (status, shown, errors) = run(&[&["-q", "analyse", path, "--mm", model, "--svg", "-"], options].concat());
        assert_eq!(status, 0, "{errors}");
        shown
    };
    // Of the delays of Dekker's algorithm the last ones have no run.
    let refuted = drawn("specs/dekker.slco", "tso", &["--cycle", "33"]);
    assert!(check_picture(&refuted).iter().any(|text| text.ends_with(": ruled out, no run has it")), "{refuted}");
    assert!(!refuted.contains("<path class=\"delay\""), "{refuted}");
    // `mark` leaves them where they are.
    for options in [&[][..], &["--confirm=mark"]] {
        let first = drawn("specs/dekker.slco", "tso", options);
        assert!(!first.contains("ruled out") && first.contains("<path class=\"delay\""), "{first}");
    }
    // The first delay is found to be impossible, as if nothing else was left.
    let mut outcome = of_specification("sb", &["tso"], &Options::default());
    let result = &mut outcome.results[0];
    result.confirmations = vec![Confirmation::No, Confirmation::Unknown];
    result.confirming = Confirming::ByAxioms;
    let default = |outcome: &Outcome| {
        let mut bytes = Vec::new();
        Svg { number: None }.write(outcome, &mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    };
    assert!(default(&outcome).contains(" under tso: delay 1, "), "{}", default(&outcome));
    outcome.results[0].confirmations = vec![Confirmation::No; 2];
    assert!(default(&outcome).contains(": ruled out, the axioms forbid it"), "{}", default(&outcome));
}

#[test]
fn verify_draws_the_run_of_a_violation() {
    let verified = |arguments: &[&str]| {
        let (status, shown, errors) =
            run(&[&["verify", "specs/sb.slco", "--mm", "tso", "--svg", "-"], arguments].concat());
        (status, check_picture(&shown), errors)
    };
    let (status, texts, errors) = verified(&["--as-is"]);
    for expected in ["sb under tso: violated", "buffer of T0", "becomes visible"] {
        assert!(texts.iter().any(|text| text == expected), "{expected}: {texts:?}");
    }
    assert!(status == 1 && errors.starts_with("model=sb memory_model=tso verdict=violated "), "{errors}");
    let (status, texts, _) = verified(&[]);
    assert_eq!((status, texts), (0, vec!["sb under tso: verified".to_owned()]));
}

#[test]
fn a_run_has_lanes_and_buffers() {
    let (status, shown, errors) = run(&[
        "-q",
        "analyse",
        "specs/properties/simple-dekker.slco",
        "--mm",
        "tso",
        "--property",
        "never",
        "--svg",
        "-",
    ]);
    assert_eq!(status, 0, "{errors}");
    let texts = check_picture(&shown);
    for expected in ["simple-dekker under tso: run 0", "becomes visible"] {
        assert!(texts.iter().any(|text| text == expected), "{expected}: {texts:?}");
    }
    assert!(texts.iter().any(|text| text.starts_with("buffer of ")), "{texts:?}");
    // What waits is in its box once for each step after which it waits.
    let boxes = shown.matches("class=\"waits\"").count();
    assert!(boxes >= 2, "{shown}");
}

#[test]
fn dependencies_are_drawn_as_such() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("addr.slco");
    let text = "model addr { classes C { variables Integer f Integer[2] a state machines
        T0 { initial s0 states s1 s2 transitions s0 -> s1 { a[1] := 1 } s1 -> s2 { f := 1 } }
        T1 { variables Integer r s initial s0 states s1 s2 transitions s0 -> s1 { r := f } s1 -> s2 { s := a[r] } } }
        objects o : C() }";
    fs::write(&path, text).unwrap();
    let analysed = |option: &str| {
        let (status, shown, errors) = run(&["-q", "analyse", path.to_str().unwrap(), "--mm", "armv8", option, "-"]);
        assert_eq!(status, 0, "{errors}");
        shown
    };
    let svg = analysed("--svg");
    assert!(svg.contains("<text class=\"edge dependency\"") && svg.contains(">DpAddrdR</text>"), "{svg}");
    assert!(svg.contains("<path class=\"dependency\""), "{svg}");
    let dot = analysed("--dot");
    assert!(dot.contains("[class=\"dependency\", xlabel=\"DpAddrdR\", color=\"indigo\""), "{dot}");
}

#[test]
fn the_picture_of_the_readme_is_what_its_command_draws() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = fs::read_to_string(root.join("README.md")).unwrap();
    let command = "$ seqcon -q analyse specs/peterson.slco --mm tso --svg peterson.svg";
    assert!(readme.contains(command) && readme.contains("(docs/pictures/peterson-cycle.svg)"));
    let (status, shown, errors) = run(&["-q", "analyse", "specs/peterson.slco", "--mm", "tso", "--svg", "-"]);
    assert_eq!(status, 0, "{errors}");
    let known = fs::read_to_string(root.join("docs/pictures/peterson-cycle.svg")).unwrap();
    assert!(shown == known, "write docs/pictures/peterson-cycle.svg again, and look at it");
}
