//! `report.html` in a browser, as it is opened: everything is counted, drawn, readable, and nothing is cut off
//! (`support/chromium.rs` says when this is skipped).

use crate::support::chromium::Browser;
use crate::support::command::seqcon;
use crate::support::pages::analyse;
use serde_json::json;

/// Everything that is put in is counted and drawn, whatever its kind.
#[test]
fn a_browser_shows_acquires_and_releases() {
    let written = analyse(tempfile::tempdir().unwrap(), &["specs/dekker.slco", "--mm", "armv8,tso"]);
    let Some(mut browser) = Browser::start() else { return };
    browser.prefer("light");
    browser.open(&written.path(), "");
    for (model, result) in written.json["results"].as_array().unwrap().iter().enumerate() {
        let fences = result["fences"].as_array().unwrap();
        browser.click(&format!("[data-card='{model}']"));
        browser.wait_until(&format!("seqconReport.state.model === {model}"), "the memory model is selected");
        let tile = browser.evaluate(
            "(() => { const tile = document.querySelector('.card.current .number-tile'); return [tile.textContent, tile.classList.contains('needed')]; })()",
        );
        assert_eq!(tile, json!([format!("{}fences", fences.len()), true]));
        let drawn = browser.evaluate("document.querySelectorAll('#program .inserted button[data-fence]').length");
        assert_eq!(drawn, json!(fences.len()), "all are in the program's text");
    }
    let kinds = browser.evaluate("[...document.querySelectorAll('[data-kinds]')].map((line) => line.textContent)");
    assert_eq!(kinds, json!(["fences: 2 full, 6 acquire or release, 2 store-store"]), "TSO has full ones only");
    let marked = "[...document.querySelectorAll('#program .inserted')].map((line) => line.textContent).filter((text) => text.includes(' on P'))";
    browser.click("[data-card='0']");
    browser.wait_until(&format!("{marked}.length === 6"), "each mark is in the text");
    // A chip has the text of its instruction; in the row of the instruction it has not.
    let chip = browser.evaluate("document.querySelector(\".card.current button[data-fence='2']\").textContent");
    assert_eq!(chip, json!("F2 stlr on P0.5 wants[0] := false"));
    let chip = browser
        .evaluate("document.querySelector(\"#matrix-table button[data-model='0'][data-fence='2']\").textContent");
    assert_eq!(chip, json!("F2 stlr on it"));
    assert_eq!(browser.problems(), Vec::<String>::new());
}

/// Nothing is cut off, and labels can be read, on a wide and on a narrow screen.
#[test]
fn a_browser_cuts_nothing_off() {
    let never = ["specs/properties/simple-dekker.slco", "--mm", "tso", "--property", "never", "--name"];
    let name = ["a-rather-long-name-of-a-model-that-is-one-word"];
    let run = analyse(tempfile::tempdir().unwrap(), &[&never[..], &name].concat());
    let large = analyse(tempfile::tempdir().unwrap(), &["specs/properties/peterson-3.slco", "--mm", "tso"]);
    let Some(mut browser) = Browser::start() else { return };
    for width in [1400, 800] {
        browser.resize(width, 1000);
        browser.open(&run.path(), "#mm=tso&fence=0");
        // What is wider than its box has to be scrolled for.
        let wide = browser.evaluate(
            "['.top', '#program', '#details .scroll', '.card'].filter((selector) => { const box = document.querySelector(selector); return box.scrollWidth > box.clientWidth; })",
        );
        assert_eq!(wide, json!([]), "at {width} pixels");
        let links = browser.evaluate(
            "Math.max(...[...document.querySelectorAll('.top nav a')].map((link) => link.getClientRects().length))",
        );
        assert_eq!(links, json!(1), "no link is broken over lines");
        browser.open(&large.path(), "");
        // Letters of the graph have 12 pixels at a zoom of 1.
        let zoom = browser.evaluate("seqconReport.graph.cy.zoom()").as_f64().unwrap();
        assert!(zoom >= 0.9, "{zoom} at {width} pixels");
        let status = browser.evaluate("document.getElementById('graph-status').textContent");
        assert!(status.as_str().unwrap().contains("there is more than fits"), "{status}");
    }
}

/// After a limit was reached, what was not found is not shown as unneeded.
#[test]
fn a_browser_shows_what_is_not_known() {
    let directory = tempfile::tempdir().unwrap();
    let page = directory.path().join("report.html");
    let path = page.to_str().unwrap();
    let output = seqcon(&["-q", "analyse", "specs/sb.slco", "--mm", "sc,tso", "--max-states", "3", "--html", path]);
    assert_eq!(output.status.code(), Some(3));
    let Some(mut browser) = Browser::start() else { return };
    browser.open(&page, "");
    let tiles = browser
        .evaluate("[...document.querySelectorAll('.card')].map((card) => card.querySelector('.figure').textContent)");
    assert_eq!(tiles, json!(["?", "2?"]));
    let cells = browser.evaluate(
        "[...document.querySelectorAll('#matrix-table tbody tr')].map((row) => row.querySelector('td').textContent)",
    );
    assert_eq!(cells, json!(["?", "?"]));
}
