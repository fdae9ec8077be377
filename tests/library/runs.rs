//! Runs with hostile names, in every format.

use crate::support::outcomes::{HOSTILE, hostile};
use crate::toys::{outcome, toy};
use seqcon::analysis::Outcome;
use seqcon::engines;
use seqcon::report::html::Html;
use seqcon::report::json::Json;
use seqcon::report::runs::{Style, write};
use seqcon::report::{Report, text};
use serde_json::Value;

fn hostile_outcome() -> Outcome {
    let engine = engines::named("store-buffers").unwrap();
    hostile(outcome(engine, &toy("x=1 y\ny=1 x")))
}

#[test]
fn a_terminal_gets_no_commands_but_colours() {
    let outcome = hostile_outcome();
    let mut shown = String::new();
    text::write_explained(&outcome, &outcome.results[0], &mut shown).unwrap();
    for told in &outcome.results[0].runs {
        for style in [Style::List, Style::Drawing] {
            write(told, style, &mut shown).unwrap();
        }
    }
    // The run is in it.
    assert!(shown.contains("becomes visible") && shown.contains("alert(1)"), "{shown}");
    let runs = shown.split("this run is possible:").skip(1).collect::<String>();
    let plain = anstream::adapter::strip_str(&runs).to_string();
    assert!(!plain.contains(|c: char| (c.is_control() && c != '\n') || c == '\u{202e}'), "{plain:?}");
}

#[test]
fn json_and_the_page_have_the_names_as_they_are() {
    let outcome = hostile_outcome();
    let mut json = Vec::new();
    Json.write(&outcome, &mut json).unwrap();
    let json: Value = serde_json::from_slice(&json).unwrap();
    let mut page = Vec::new();
    Html.write(&outcome, &mut page).unwrap();
    let page = String::from_utf8(page).unwrap();
    let (_, data) = page.split_once(r#"id="seqcon-data">"#).unwrap();
    let (data, _) = data.split_once("</script>").unwrap();
    let data: Value = serde_json::from_str(data).unwrap();
    let runs = &outcome.results[0].runs;
    assert!(!runs.is_empty());
    for (number, told) in runs.iter().enumerate() {
        let run = told.evidence.run().unwrap();
        let found = &json["results"][0]["runs"][number]["run"];
        assert_eq!(found["threads"][1], HOSTILE[1]);
        assert_eq!(found["steps"][0]["text"], HOSTILE[1]);
        assert_eq!(found["steps"].as_array().unwrap().len(), run.steps.len());
        let found = &data["results"][0]["runs"][number];
        assert_eq!(found["threads"][1], HOSTILE[1]);
        assert_eq!(found["steps"][0]["accesses"][0][1], format!("{} = 1", HOSTILE[2]));
    }
}
