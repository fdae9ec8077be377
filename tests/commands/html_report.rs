//! `report.html`: what is in the file, and what a real browser makes of it (`support/chromium.rs` says when that part
//! is skipped).

use crate::support::chromium::{Browser, FRAMES};
use crate::support::command::seqcon;
use crate::support::pages::{
    HOSTILE_LOCATIONS, HOSTILE_THREADS, Written, analyse, hostile, hostile_comments, long_location, peterson, thousand,
};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// What of `report.html` must be as in `report.json`.
fn assert_same_as_json(written: &Written) {
    let data = written.data();
    let results = data["results"].as_array().unwrap();
    assert_eq!(results.len(), written.json["results"].as_array().unwrap().len());
    for (in_page, in_json) in results.iter().zip(written.json["results"].as_array().unwrap()) {
        assert_eq!(in_page["summary"], in_json["summary"]);
        let mut fences = in_page["fences"].as_array().unwrap().clone();
        for fence in &mut fences {
            let at = fence.as_object_mut().unwrap().remove("at").unwrap();
            let instruction = &data["instructions"][usize::try_from(at.as_u64().unwrap()).unwrap()];
            assert_eq!(instruction["name"], fence["instruction"]);
        }
        assert_eq!(json!(fences), in_json["fences"]);
        let name = |node: &Value| {
            let node = &data["nodes"][usize::try_from(node.as_u64().unwrap()).unwrap()];
            let instruction = &data["instructions"][usize::try_from(node["instruction"].as_u64().unwrap()).unwrap()];
            let location = &data["locations"][usize::try_from(node["location"].as_u64().unwrap()).unwrap()];
            let thread = &data["threads"][usize::try_from(instruction["thread"].as_u64().unwrap()).unwrap()];
            let access = format!("{} {}", node["kind"].as_str().unwrap(), location.as_str().unwrap());
            (thread.clone(), instruction["name"].clone(), json!(access))
        };
        let (delays, expected) = (in_page["delays"].as_array().unwrap(), in_json["delays"].as_array().unwrap());
        assert_eq!(delays.len(), expected.len());
        for (delay, expected) in delays.iter().zip(expected) {
            let steps: Vec<_> =
                delay["witness"].as_array().unwrap().iter().map(|step| (name(&step[0]), step[1].clone())).collect();
            let expected: Vec<_> = expected["witness"]
                .as_array()
                .unwrap()
                .iter()
                .map(|row| {
                    ((row["thread"].clone(), row["instruction"].clone(), row["access"].clone()), row["edge"].clone())
                })
                .collect();
            assert_eq!(steps, expected);
        }
    }
}

/// What a browser would load: only the values of attributes and of `url(…)` matter, text may mention addresses.
fn assert_loads_nothing(page: &str) {
    let markup: String = {
        let mut rest = page;
        let mut markup = String::new();
        while let Some((before, script)) = rest.split_once("<script") {
            markup.push_str(before);
            rest = script.split_once("</script>").expect("every script ends").1;
        }
        markup + rest
    };
    for forbidden in ["src=", "<link", "<iframe", "<object", "<embed", "@import", "url(", "http-equiv=\"refresh"] {
        assert!(!markup.contains(forbidden), "{forbidden} in the page");
    }
    let links = regex::Regex::new(r#"href="([^"]*)""#).unwrap();
    assert!(links.captures_iter(&markup).all(|link| link[1].starts_with('#')), "a link leaves the page");
    assert!(markup.contains("default-src 'none'"), "no policy");
    for holder in ["The Cytoscape Consortium", "Chris Pettitt"] {
        let notice = page
            .split("<script")
            .any(|script| script.contains(holder) && script.contains("Permission is hereby granted, free of charge"));
        assert!(notice, "the licence of {holder} is not in the page");
    }
}

#[test]
fn the_file_holds_what_report_json_holds_and_loads_nothing() {
    let written = peterson();
    assert_same_as_json(&written);
    assert_loads_nothing(&written.page);
    let data = written.data();
    assert_eq!(data["inputs"], written.json["inputs"]);
    assert!(data["command"].as_str().unwrap().starts_with("seqcon -q analyse specs/peterson.slco --mm tso,pso,armv7"));
    let text: Vec<String> = data["listing"]["lines"]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| line["pieces"].as_array().unwrap().iter().map(|piece| piece["text"].as_str().unwrap()).collect())
        .collect();
    let specification = Path::new(env!("CARGO_MANIFEST_DIR")).join("specs/peterson.slco");
    assert_eq!(text.join("\n") + "\n", fs::read_to_string(specification).unwrap(), "the program's text is all there");
}

#[test]
fn a_thousand_vertices_are_written_whole() {
    let written = thousand();
    assert_same_as_json(&written);
    let data = written.data();
    assert_eq!(data["nodes"].as_array().unwrap().len(), 1000);
    assert_eq!(data["results"][0]["fences"].as_array().unwrap().len(), 500);
    assert_eq!(data["inputs"].as_array().unwrap().len(), 10);
    // Each thread is a straight line of 100 instructions.
    assert_eq!(data["program_edges"].as_array().unwrap().len(), 10 * 99);
    for instruction in data["instructions"].as_array().unwrap() {
        assert_eq!(instruction["row"].to_string(), instruction["name"].as_str().unwrap());
    }
}

#[test]
fn hostile_names_are_data_and_not_markup() {
    let written = hostile();
    assert_same_as_json(&written);
    assert_loads_nothing(&written.page);
    for name in ["<script>alert", "<img", "</title><script>", "<b>", "<i>0", "\u{2028}", "\u{2029}", "arated<!--"] {
        assert!(!written.page.contains(name), "{name:?} in the page");
    }
    let data = written.data();
    let threads: BTreeSet<&str> =
        data["threads"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    assert_eq!(threads, BTreeSet::from(HOSTILE_THREADS));
    let locations: BTreeSet<&str> =
        data["locations"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    let long = long_location();
    let comments = hostile_comments();
    assert_same_as_json(&comments);
    assert_loads_nothing(&comments.page);
    assert!(!comments.page.contains("<script>alert"), "a comment became markup");
    assert_eq!(locations, BTreeSet::from([HOSTILE_LOCATIONS[0], HOSTILE_LOCATIONS[1], &long]));
}

#[test]
fn the_same_command_writes_the_same_bytes() {
    let write = || {
        let output = seqcon(&["-q", "analyse", "specs/mcs.slco", "--mm", "tso,power", "--atomicity", "--html", "-"]);
        assert!(output.status.success());
        output.stdout
    };
    let first = write();
    assert!(first.starts_with(b"<!doctype html>"));
    assert!(first == write(), "two runs differ");
}

// In a browser.

fn screenshots() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("target/report-screenshots")
}

/// Nothing went wrong, and nothing was asked for but the file.
fn assert_quiet(browser: &Browser, path: &Path) {
    assert_eq!(browser.problems(), Vec::<String>::new());
    let file = format!("file://{}", fs::canonicalize(path).unwrap().display());
    let is_page = |url: &str| url.replace("%3C", "<").replace("%3E", ">").split('#').next() == Some(file.as_str());
    let others: Vec<String> = browser.requests().into_iter().filter(|url| !is_page(url)).collect();
    assert_eq!(others, Vec::<String>::new(), "requested besides {file}");
}

/// Moves the graph so that the fence is in the middle, and clicks on it with the mouse.
fn click_fence_in_graph(browser: &mut Browser, fence: usize) {
    let place = browser.evaluate(&format!(
        "(async () => {{
            const cy = seqconReport.graph.cy, element = document.getElementById('graph');
            element.scrollIntoView({{block: 'center'}});
            cy.zoom(1); cy.center(cy.$id('f{fence}'));
            await {FRAMES};
            const box = element.getBoundingClientRect(), at = cy.$id('f{fence}').renderedPosition();
            return [box.x + at.x, box.y + at.y];
        }})()"
    ));
    browser.click_at(place[0].as_f64().expect("x"), place[1].as_f64().expect("y"));
    browser.wait_until(&format!("seqconReport.state.fence === {fence}"), "the click on the fence has selected it");
}

/// What `report.json` says is lit when the fence is selected: the accesses of the shortest witness that it serves, in
/// order with the edges that leave them, and the ends of the delays.
fn expected_light(result: &Value, fence: usize) -> (Vec<(String, String)>, BTreeSet<String>) {
    let delays = result["delays"].as_array().unwrap();
    let serves: Vec<usize> = result["fences"][fence]["serves"]
        .as_array()
        .unwrap()
        .iter()
        .map(|position| usize::try_from(position.as_u64().unwrap()).unwrap())
        .collect();
    let text = |row: &Value, keys: [&str; 3]| keys.map(|key| row[key].as_str().unwrap().to_owned()).join(" ");
    let shortest = serves.iter().min_by_key(|&&delay| delays[delay]["witness"].as_array().unwrap().len()).unwrap();
    let steps = delays[*shortest]["witness"].as_array().unwrap().iter();
    let witness =
        steps.map(|row| (text(row, ["thread", "instruction", "access"]), row["edge"].as_str().unwrap().to_owned()));
    let ends = serves.iter().flat_map(|&delay| {
        let row = &delays[delay];
        [text(row, ["thread", "from_instruction", "from_access"]), text(row, ["thread", "to_instruction", "to_access"])]
    });
    (witness.collect(), ends.collect())
}

/// In the graph, exactly the accesses of the witness are lit, its edges lead round, and the ends of all delays are
/// marked.
fn assert_light(browser: &mut Browser, result: &Value, fence: usize) {
    let (witness, ends) = expected_light(result, fence);
    let names = |value: Value| -> BTreeSet<String> {
        value.as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned()).collect()
    };
    let of_class = |class: &str| {
        format!(
            "seqconReport.graph.cy.nodes('.vertex.{class}').map((element) => {{
                const {{ data }} = seqconReport, node = data.nodes[element.data('node')], instruction = data.instructions[node.instruction];
                return `${{data.threads[instruction.thread]}} ${{instruction.name}} ${{node.kind}} ${{data.locations[node.location]}}`;
            }})"
        )
    };
    let lit = names(browser.evaluate(&of_class("witness")));
    assert_eq!(lit, witness.iter().map(|(access, _)| access.clone()).collect(), "the accesses of the witness are lit");
    assert_eq!(names(browser.evaluate(&of_class("delayed"))), ends, "the ends of the delays are marked");
    assert!(names(browser.evaluate(&of_class("witness.dim"))).is_empty(), "what is lit does not step back");
    let edges = browser.evaluate(
        "seqconReport.graph.cy.edges('.cycle').map((edge) => [edge.source().data('node'), edge.target().data('node'), edge.data('label')])",
    );
    let edges = edges.as_array().unwrap();
    let labels: Vec<&str> = edges.iter().map(|edge| edge[2].as_str().unwrap()).collect();
    assert_eq!(labels, witness.iter().map(|(_, edge)| edge.as_str()).collect::<Vec<_>>());
    for (edge, next) in edges.iter().zip(edges.iter().cycle().skip(1)) {
        assert_eq!(edge[1], next[0], "the edges lead round");
    }
    let delays = browser.evaluate("seqconReport.graph.cy.edges('.delay').length");
    assert_eq!(delays, json!(result["fences"][fence]["serves"].as_array().unwrap().len()));
    let pressed = browser.evaluate(&format!(
        "[...document.querySelectorAll('button[aria-pressed=true][data-fence]')].every((button) => Number(button.dataset.fence) === {fence})
         && document.querySelectorAll('.card.current button[aria-pressed=true][data-fence]').length === 1
         && document.querySelectorAll('#program button[aria-pressed=true][data-fence]').length === 1"
    ));
    assert_eq!(pressed, json!(true), "it is selected in the card and in the text, too");
}

#[test]
fn a_browser_shows_peterson() {
    let written = peterson();
    let Some(mut browser) = Browser::start() else { return };
    browser.prefer("light");
    browser.open(&written.path(), "");
    for (number, result) in written.json["results"].as_array().unwrap().iter().enumerate() {
        let fences = result["fences"].as_array().unwrap().len();
        browser.click(&format!("[data-card='{number}']"));
        browser.wait_until(&format!("seqconReport.state.model === {number}"), "the memory model is selected");
        let shown = browser.evaluate(
            "[document.querySelectorAll('.card.current button[data-fence]').length, document.querySelectorAll('#program button[data-fence]').length, seqconReport.graph.cy.nodes('.fence').length]",
        );
        assert_eq!(shown, json!([fences, fences, fences]), "the fences are in the card, in the text and in the graph");
        for fence in 0..fences {
            click_fence_in_graph(&mut browser, fence);
            assert_light(&mut browser, result, fence);
        }
    }
    browser.click("[data-card='0']");
    browser.wait_until("seqconReport.state.model === 0 && seqconReport.state.fence === null", "nothing is selected");
    assert_eq!(browser.evaluate("seqconReport.graph.cy.elements('.witness, .cycle, .delay, .dim').length"), json!(0));
    browser.screenshot(&screenshots().join("peterson-light.png"));

    // The same from the text, and by the keyboard.
    let results = &written.json["results"];
    browser.click("#program button[data-fence='1']");
    browser.wait_until("seqconReport.state.fence === 1", "the click in the text has selected the fence");
    assert_light(&mut browser, &results[0], 1);
    browser.evaluate("document.activeElement.blur(); scrollTo(0, document.getElementById('workbench').offsetTop - 80)");
    browser.press("n");
    browser.wait_until("seqconReport.state.fence === 0", "the key has selected the next fence");
    assert_light(&mut browser, &results[0], 0);
    browser.evaluate("seqconReport.graph.fitAll()");
    browser.screenshot(&screenshots().join("peterson-fence-light.png"));
    browser.press("m");
    browser.wait_until("seqconReport.state.model === 1", "the key has selected the next memory model");
    assert_quiet(&browser, &written.path());
}

/// Where the table of delays has more rows than the card counts delays, the card says what the others are.
fn assert_pairs_add_up(browser: &mut Browser, results: &Value) {
    for (model, result) in results.as_array().unwrap().iter().enumerate() {
        let (rows, delays) = (result["delays"].as_array().unwrap().len() as u64, &result["summary"]["delays"]);
        let text = format!("document.querySelector('[data-pairs=\"{model}\"]')?.textContent ?? ''");
        let text = browser.evaluate(&text);
        let numbers: Vec<u64> =
            text.as_str().unwrap().split(|c: char| !c.is_ascii_digit()).filter_map(|word| word.parse().ok()).collect();
        match &numbers[..] {
            [] => assert_eq!(rows, delays.as_u64().unwrap()),
            [all, parts @ ..] => {
                assert_eq!((*all, parts.iter().sum(), parts[0]), (rows, rows, delays.as_u64().unwrap()));
            }
        }
    }
}

#[test]
fn a_browser_filters_searches_and_follows_an_address() {
    let written = peterson();
    let Some(mut browser) = Browser::start() else { return };
    browser.prefer("dark");
    browser.open(&written.path(), "#mm=armv7&fence=2");
    assert_light(&mut browser, &written.json["results"][2], 2);
    // Numbers and names are those of the terminal and of the other files.
    assert_eq!(browser.evaluate("location.hash"), json!("#mm=armv7&fence=2"));
    let kicker = "document.querySelector('#details .kicker').textContent";
    let fences = written.json["results"][2]["fences"].as_array().unwrap().len();
    assert_eq!(browser.evaluate(kicker), json!(format!("armv7: F2, one of {fences} fences")));
    let buttons = "[...document.querySelectorAll('.card.current button[data-fence]')].map((button) => button.textContent.split(' ')[0])";
    assert_eq!(browser.evaluate(buttons), json!((0..fences).map(|fence| format!("F{fence}")).collect::<Vec<_>>()));
    let first_row = "document.querySelector('#delay-table tr[data-delay] button').textContent";
    assert_eq!(browser.evaluate(first_row), json!("0"));
    assert_pairs_add_up(&mut browser, &written.json["results"]);
    browser.evaluate("document.getElementById('workbench').scrollIntoView()");
    browser.screenshot(&screenshots().join("peterson-fence-dark.png"));
    browser.evaluate("document.getElementById('matrix').scrollIntoView()");
    browser.screenshot(&screenshots().join("peterson-matrix-dark.png"));

    browser.press("Escape");
    browser.wait_until("seqconReport.state.fence === null", "Escape has cleared the selection");
    let visible = "seqconReport.graph.cy.nodes('.vertex').filter((node) => node.visible()).map((node) => node.data('label')).sort()";
    assert_eq!(browser.evaluate(visible).as_array().unwrap().len(), 10);
    browser.click("#locations-summary");
    for location in ["wants[0]", "wants[1]"] {
        let position =
            written.data()["locations"].as_array().unwrap().iter().position(|name| name == location).unwrap();
        browser.click(&format!("#locations input[data-position='{position}']"));
    }
    assert_eq!(browser.evaluate(visible), json!(["1: W turn", "1: W turn", "3: R turn", "3: R turn"]));
    browser.click("#threads-summary");
    browser.click("#threads input[data-position='1']");
    assert_eq!(browser.evaluate(visible), json!(["1: W turn", "3: R turn"]));
    // What is selected is shown in spite of filters.
    browser.evaluate("seqconReport.select({ fence: 0 })");
    assert_light(&mut browser, &written.json["results"][2], 0);
    browser.click("#search");
    for key in ["t", "u", "r", "n"] {
        browser.press(key);
    }
    browser.wait_until(
        "document.getElementById('graph-status').textContent.includes('4 matches')",
        "the search has found",
    );
    assert_eq!(browser.evaluate("seqconReport.graph.cy.nodes('.match').length"), json!(4));
    // The other layout: program order goes down there, too, but for the steps back to the beginning of the loop.
    browser.evaluate("seqconReport.select({}); document.getElementById('layout').value = 'dagre'; document.getElementById('layout').dispatchEvent(new Event('change'))");
    let upwards = "seqconReport.graph.cy.edges('.po').filter((edge) => edge.source().position('y') >= edge.target().position('y')).map((edge) => edge.source().data('label')[0] + edge.target().data('label')[0]).sort()";
    assert_eq!(browser.evaluate(upwards), json!(["40", "40"]));
    browser.evaluate("document.getElementById('workbench').scrollIntoView()");
    browser.screenshot(&screenshots().join("peterson-control-flow-dark.png"));
    // The theme of the page goes before that of the system.
    let background = "getComputedStyle(document.body).backgroundColor";
    let dark = browser.evaluate(background);
    browser.click("#theme");
    assert_ne!(browser.evaluate(background), dark, "light, although the system is dark");
    browser.click("#theme");
    assert_eq!(browser.evaluate(background), dark);
    assert_quiet(&browser, &written.path());
}

#[test]
fn a_browser_shows_locks() {
    let written = analyse(tempfile::tempdir().unwrap(), &["lts/counter.aut", "--mm", "tso", "--atomicity"]);
    let Some(mut browser) = Browser::start() else { return };
    browser.prefer("light");
    browser.open(&written.path(), "");
    // The torn instruction and its partner both acquire and release the lock.
    assert_eq!(browser.evaluate("document.querySelectorAll('#program button[data-lock]').length"), json!(4));
    browser.click("#program button[data-lock='0']");
    browser.wait_until("seqconReport.state.lock === 0", "the click has selected the lock");
    let lit = "seqconReport.graph.cy.nodes('.witness').map((node) => node.data('label')).sort()";
    assert_eq!(browser.evaluate(lit), json!(["0: R x", "0: W x", "0: W x"]), "TornsWR Fre Coe");
    assert_eq!(browser.evaluate("seqconReport.graph.cy.nodes('.locked').length"), json!(3));
    let heading = "document.querySelector('#details .kicker').textContent + location.hash";
    assert_eq!(browser.evaluate(heading), json!("tso: L0, the only lock#mm=tso&lock=0"));
    browser.evaluate("scrollTo(0, 0)");
    browser.screenshot(&screenshots().join("counter-lock-light.png"));
    assert_quiet(&browser, &written.path());
}

/// Two writes lead to one state that two reads leave.
const JUNCTION: &str = include_str!("../support/junction.txt");

#[test]
fn a_browser_shows_a_fence_at_a_state_and_how_it_was_found() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("junction.txt");
    fs::write(&path, JUNCTION).unwrap();
    let options = ["--engine", "persistence", "--abstraction", "environment"];
    let written = analyse(directory, &[&[path.to_str().unwrap()][..], &options].concat());
    assert_same_as_json(&written);
    assert_eq!(written.json["results"][0]["fences"][0]["position"], "state");
    let Some(mut browser) = Browser::start() else { return };
    browser.prefer("light");
    browser.open(&written.path(), "");
    let notices = browser.evaluate("document.getElementById('notices').textContent");
    let notices = notices.as_str().unwrap();
    assert!(notices.contains("Engine persistence, which guarantees") && notices.contains("--abstraction environment"));
    click_fence_in_graph(&mut browser, 0);
    assert_light(&mut browser, &written.json["results"][0], 0);
    let details = browser.evaluate("document.getElementById('details').textContent");
    assert!(details.as_str().unwrap().contains("mfence at the state behind p.a-q"), "{details}");
    browser.evaluate("scrollTo(0, 0)");
    browser.screenshot(&screenshots().join("state-fence-light.png"));
    assert_quiet(&browser, &written.path());
}

#[test]
fn a_browser_shows_a_thousand_vertices() {
    let written = thousand();
    let Some(mut browser) = Browser::start() else { return };
    browser.prefer("light");
    browser.open(&written.path(), "");
    assert_eq!(browser.evaluate("seqconReport.graph.cy.nodes('.vertex').length"), json!(1000));
    assert_eq!(browser.evaluate("document.querySelectorAll('#program button[data-fence]').length"), json!(500));
    let chips = "[...document.querySelectorAll('.card.current button[data-fence]')].filter((chip) => chip.checkVisibility()).length";
    assert_eq!(browser.evaluate(chips), json!(10), "the first ones are shown, and how many there are");
    let result = &written.json["results"][0];
    for fence in [0, 137, 499] {
        click_fence_in_graph(&mut browser, fence);
        assert_light(&mut browser, result, fence);
    }
    assert_eq!(browser.evaluate(chips), json!(500), "what is selected is not hidden");
    browser.click(".card.current button[data-fence='250']");
    browser.wait_until("seqconReport.state.fence === 250", "the click in the card has selected the fence");
    assert_light(&mut browser, result, 250);
    browser.evaluate("document.getElementById('workbench').scrollIntoView()");
    browser.screenshot(&screenshots().join("thousand-fence-light.png"));
    let spent = browser.evaluate(
        "(() => {
            const time = (work) => { const begin = performance.now(); work(); return Math.round(performance.now() - begin); };
            const drawn = performance.getEntriesByType('navigation')[0];
            const layout = (name) => () => seqconReport.graph.layOut(name);
            return { load: Math.round(drawn.domComplete), select: time(() => seqconReport.select({ fence: 42 })), model: time(() => seqconReport.select({ model: 1 })), columns: time(layout('columns')), dagre: time(layout('dagre')), nodes: seqconReport.graph.cy.nodes('.vertex').length };
        })()",
    );
    eprintln!("1,000 vertices, milliseconds: {spent}");
    browser.click("#zoom-fit");
    browser.screenshot(&screenshots().join("thousand-control-flow-light.png"));
    assert_quiet(&browser, &written.path());
}

#[test]
fn a_browser_shows_hostile_names_as_text() {
    let written = hostile();
    let Some(mut browser) = Browser::start() else { return };
    browser.prefer("light");
    browser.open(&written.path(), "");
    assert_eq!(browser.evaluate("document.querySelectorAll('img, iframe, b script').length"), json!(0));
    assert_eq!(browser.evaluate("document.scripts.length"), json!(4), "the data and three scripts");
    assert_eq!(
        browser.evaluate("document.querySelector('#program-name bdi').textContent"),
        json!("</title><script>alert(2)</script>")
    );
    let text = browser.evaluate("document.body.innerText");
    let text = text.as_str().unwrap();
    for shown in [
        "<script>alert('t')</script>",
        "⟨U+202E⟩\"live\" 'q' &amp; </script>",
        "<img src=x onerror=alert(1)>",
        "sep⟨U+2028⟩⟨U+2029⟩arated<!--",
    ] {
        assert!(text.contains(shown), "{shown} is not shown in\n{text}");
    }
    // The long name is shortened where it is shown, and whole in a title.
    assert!(!text.contains(&"L".repeat(500)), "a name of 10,000 letters is shown whole");
    let title = browser.evaluate("[...document.querySelectorAll('#details bdi[title], #program [title], #matrix bdi[title], #delays bdi[title]')].some((element) => element.title.includes('L'.repeat(10000) + 'end'))");
    assert_eq!(title, json!(true), "nobody tells the whole name");
    let result = &written.json["results"][0];
    for fence in 0..result["fences"].as_array().unwrap().len() {
        click_fence_in_graph(&mut browser, fence);
        assert_light(&mut browser, result, fence);
    }
    assert!(
        browser.evaluate("document.documentElement.scrollWidth <= innerWidth") == json!(true),
        "a name widens the page"
    );
    browser.evaluate("scrollTo(0, 0)");
    browser.screenshot(&screenshots().join("hostile-light.png"));
    browser.evaluate("document.getElementById('workbench').scrollIntoView()");
    browser.screenshot(&screenshots().join("hostile-fence-light.png"));
    assert_quiet(&browser, &written.path());
}

#[test]
fn a_browser_shows_hostile_comments_as_text() {
    let written = hostile_comments();
    let Some(mut browser) = Browser::start() else { return };
    browser.open(&written.path(), "");
    let text = browser.evaluate("document.getElementById('program').innerText");
    assert!(text.as_str().unwrap().contains("// </script><script>alert(4)</script> ⟨U+202E⟩ ccc"), "{text}");
    click_fence_in_graph(&mut browser, 0);
    assert_light(&mut browser, &written.json["results"][0], 0);
    assert_quiet(&browser, &written.path());
}
