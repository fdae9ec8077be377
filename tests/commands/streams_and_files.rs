//! Streams and files: a reader that goes away, outputs that would destroy inputs, signals, files that change while
//! they are read, answers that are a part only, and texts that would garble a terminal.

use crate::support::command::{command, seqcon, text};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A directory to work in.
struct Place(TempDir);

impl Place {
    fn new() -> Place {
        Place(tempfile::tempdir().expect("a temporary directory"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn name(&self, name: &str) -> String {
        self.path(name).to_str().expect("UTF-8").to_owned()
    }

    fn file(&self, name: &str, contents: impl AsRef<[u8]>) -> String {
        fs::write(self.path(name), contents).expect("written");
        self.name(name)
    }

    /// The names of what is in it.
    fn listed(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).expect("readable");
        let mut names: Vec<String> =
            entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8")).collect();
        names.sort();
        names
    }
}

fn status(output: &Output) -> Option<i32> {
    output.status.code()
}

/// Runs it with streams whose readers have gone away before anything is written.
fn unread(arguments: &[&str]) -> Option<i32> {
    let mut child = command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("seqcon starts");
    drop(child.stdout.take());
    drop(child.stderr.take());
    child.wait().expect("it ends").code()
}

const WRITE: &str = "model m { classes P { variables Integer x Integer y Integer r Integer s state machines
T0 { initial a states b c transitions a -> b { x := 1 } b -> c { r := y } }
T1 { initial a states b c transitions a -> b { y := 1 } b -> c { s := x } } } objects p: P() }";

fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

#[test]
fn the_status_is_that_of_the_work_though_nobody_reads() {
    let place = Place::new();
    let (json, csv) = (place.name("r.json"), place.name("f.csv"));
    for (arguments, expected) in [
        (&["verify", "specs/sb.slco", "--as-is", "--mm", "tso"][..], 1),
        (&["analyse", "lts/sb.aut", "--mm", "tso", "--check", "--csv", "-", "--json", &json], 1),
        (&["analyse", "lts/sb.aut", "--mm", "tso", "--check"], 1),
        (&["-q", "analyse", "specs/peterson-3.slco", "--mm", "tso", "--max-states", "50"], 3),
        (&["explore", "specs/peterson-3.slco", "-o", "-", "--max-states", "500"], 3),
        (&["explore", "specs/peterson.slco", "--invariant", "not P0@CS"], 1),
        (&["facts", "specs/peterson-3.slco", "--max-states", "50"], 3),
        (&["matrix", "specs/peterson-3.slco", "--max-states", "50", "--csv", &csv], 3),
        (&["info", "specs/peterson-3.slco", "--max-states", "50"], 3),
        (&["litmus", "litmus/sb.litmus"], 0),
        (&["verify", "specs/absent.slco"], 2),
    ] {
        assert_eq!(unread(arguments), Some(expected), "{arguments:?}");
    }
    // What was named beside the stream is there.
    assert!(fs::read_to_string(json).expect("written").contains("schema_version"));
    assert!(fs::read_to_string(csv).expect("written").starts_with("model,thread,"));
}

#[test]
fn a_stream_that_is_full_is_still_an_error() {
    if !Path::new("/dev/full").exists() {
        return;
    }
    for arguments in [&["verify", "specs/sb.slco"][..], &["analyse", "lts/sb.aut"], &["info", "lts/sb.aut"]] {
        let full = fs::File::options().write(true).open("/dev/full").expect("a device");
        let output = command(arguments).stdout(full).output().expect("seqcon starts");
        assert_eq!(status(&output), Some(2), "{arguments:?}");
    }
}

#[test]
fn no_command_writes_onto_what_it_reads() {
    let place = Place::new();
    let litmus = place.file("sb.litmus", fs::read(repository("litmus/sb.litmus")).expect("readable"));
    let specification = place.file("sb.slco", fs::read(repository("specs/sb.slco")).expect("readable"));
    let report = place.name("r.json");
    assert_eq!(status(&seqcon(&["analyse", &specification, "--mm", "tso", "--json", &report])), Some(0));
    let dialect = place.file("d.toml", "label = '^(?<thread>\\w+)_(?<instr>\\d+)$'\n");
    let table = place.file("mm.toml", fs::read(repository("src/memory/builtin/tso.toml")).expect("readable"));
    let before: Vec<Vec<u8>> =
        place.listed().iter().map(|name| fs::read(place.path(name)).expect("readable")).collect();
    let directory = place.0.path().to_str().expect("UTF-8");
    for arguments in [
        &["litmus", &litmus, "--csv", &litmus][..],
        &["litmus", directory, "--csv", &litmus],
        &["fix", &specification, "--with", &report, "-o", &report],
        &["fix", &specification, "-o", &specification],
        &["fix", &specification, "--mm", &table, "-o", &table],
        &["facts", "lts/sb.aut", "--dialect", &dialect, "-o", &dialect],
        &["matrix", "lts/sb.aut", "--dialect", &dialect, "--csv", &dialect],
        &["export", &specification, "--to", "mcrl2", "-o", &specification],
    ] {
        let output = seqcon(arguments);
        assert_eq!(status(&output), Some(2), "{arguments:?}");
        assert!(text(&output.stderr).contains("is an input"), "{arguments:?}: {}", text(&output.stderr));
    }
    let after: Vec<Vec<u8>> = place.listed().iter().map(|name| fs::read(place.path(name)).expect("readable")).collect();
    assert!(before == after, "an input was changed");
}

#[test]
fn exported_litmus_tests_do_not_replace_the_input() {
    let place = Place::new();
    let first = place.name("tests");
    let litmus = place.file("sb.litmus", fs::read(repository("litmus/sb.litmus")).expect("readable"));
    assert_eq!(status(&seqcon(&["analyse", &litmus, "--mm", "tso", "--litmus", &first])), Some(0));
    let test = fs::read_dir(&first).expect("a directory").next().expect("a test").expect("an entry").path();
    let contents = fs::read(&test).expect("readable");
    // The test that is exported of `x` under `tso` may itself be analysed, and would be exported to its own place.
    let named = test.file_name().and_then(|name| name.to_str()).expect("UTF-8");
    fs::copy(&litmus, &test).expect("copied");
    let output = seqcon(&["analyse", test.to_str().expect("UTF-8"), "--name", "sb", "--mm", "tso", "--litmus", &first]);
    assert_eq!(status(&output), Some(2), "{named}: {}", text(&output.stderr));
    assert_eq!(fs::read(&test).expect("readable"), fs::read(&litmus).expect("readable"));
    assert_ne!(contents, fs::read(&litmus).expect("readable"), "the export is not the input itself");
}

#[test]
fn a_link_that_leads_nowhere_stays_a_link() {
    let place = Place::new();
    fs::create_dir(place.path("results")).expect("made");
    std::os::unix::fs::symlink("results/r.json", place.path("link.json")).expect("made");
    std::os::unix::fs::symlink("link.json", place.path("second.json")).expect("made");
    let output = seqcon(&["analyse", "lts/sb.aut", "--mm", "tso", "--json", &place.name("second.json")]);
    assert_eq!(status(&output), Some(0), "{}", text(&output.stderr));
    for link in ["link.json", "second.json"] {
        assert!(fs::symlink_metadata(place.path(link)).expect("there").is_symlink(), "{link} was replaced");
    }
    assert!(fs::read_to_string(place.path("results/r.json")).expect("written").contains("schema_version"));
    // Two ways to one place are two reports for one place, also before it is there.
    fs::remove_file(place.path("results/r.json")).expect("removed");
    let output =
        seqcon(&["analyse", "lts/sb.aut", "--json", &place.name("link.json"), "--csv", &place.name("results/r.json")]);
    assert_eq!(status(&output), Some(2));
    assert!(text(&output.stderr).contains("two reports cannot go to one place"), "{}", text(&output.stderr));
}

/// Waits until something is so.
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([name, &child.id().to_string()]).status().expect("kill runs");
    assert!(sent.success());
}

#[test]
fn a_signal_leaves_no_file_behind_that_is_not_whole() {
    for name in ["-TERM", "-INT", "-HUP"] {
        let place = Place::new();
        let pipe = place.name("pipe");
        assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs").success());
        // The table is staged; then the report waits for somebody who reads the pipe, which nobody does.
        let csv = place.file("f.csv", "the old table\n");
        let mut child = command(&["analyse", "lts/sb.aut", "--mm", "tso", "--csv", &csv, "--json", &pipe])
            .stdout(Stdio::null())
            .spawn()
            .expect("seqcon starts");
        until("nothing is staged", || place.listed().iter().any(|file| file.starts_with(".seqcon-")));
        signal(&child, name);
        until("it does not end", || child.try_wait().expect("a child").is_some());
        assert!(!child.wait().expect("a child").success());
        assert_eq!(place.listed(), ["f.csv", "pipe"], "after {name}");
        assert_eq!(fs::read_to_string(&csv).expect("readable"), "the old table\n");
    }
}

#[test]
fn a_run_that_is_not_to_be_hung_up_goes_on() {
    let place = Place::new();
    let pipe = place.name("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs").success());
    let csv = place.name("f.csv");
    let mut child = Command::new("nohup")
        .arg(env!("CARGO_BIN_EXE_seqcon"))
        .args(["analyse", "lts/sb.aut", "--mm", "tso", "--csv", &csv, "--json", &pipe])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("nohup runs");
    until("nothing is staged", || place.listed().iter().any(|file| file.starts_with(".seqcon-")));
    signal(&child, "-HUP");
    std::thread::sleep(Duration::from_millis(200));
    let mut report = String::new();
    fs::File::open(&pipe).expect("a pipe").read_to_string(&mut report).expect("readable");
    assert!(child.wait().expect("a child").success());
    assert!(report.contains("schema_version") && Path::new(&csv).exists());
}

/// The input is replaced after it was read: the recorded hash is that of what was read.
#[test]
fn the_recorded_hash_is_of_what_was_read() {
    for input in ["lts/sb.aut", "specs/sb.slco"] {
        let place = Place::new();
        let pipe = place.name("pipe");
        assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs").success());
        let contents = fs::read(repository(input)).expect("readable");
        let copy = place.file(Path::new(input).file_name().unwrap().to_str().unwrap(), &contents);
        let json = place.name("r.json");
        let mut child = command(&["analyse", &copy, "--mm", "tso", "--cost", &pipe, "--json", &json])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("seqcon starts");
        // The costs are read when the input has been.
        let costs = fs::File::options().write(true).open(&pipe).expect("a pipe");
        let changed: String = text(&contents).replace("T1", "T9").replace("P1", "P9") + "\n";
        fs::write(place.path("new"), changed).expect("written");
        fs::rename(place.path("new"), &copy).expect("renamed");
        drop(costs);
        assert!(child.wait().expect("a child").success(), "{input}");
        let report: serde_json::Value =
            serde_json::from_str(&fs::read_to_string(json).expect("written")).expect("JSON");
        assert_eq!(report["inputs"][0]["sha256"], seqcon::provenance::sha256(&contents), "{input}");
    }
}

#[test]
fn tables_and_drawings_of_a_part_say_so() {
    let place = Place::new();
    let model = place.file("sb.slco", WRITE);
    for (states, complete) in [("2", "no"), ("1000", "yes")] {
        let out = place.name(states);
        let output =
            seqcon(&["analyse", &model, "--mm", "tso", "--max-states", states, "--cycles", "all", "--out", &out]);
        let expected = if complete == "no" { 3 } else { 0 };
        assert_eq!(status(&output), Some(expected), "{}", text(&output.stderr));
        for table in ["fences.csv", "locks.csv", "delays.csv", "cycles.csv", "summary.csv"] {
            let mut reader = csv::Reader::from_path(Path::new(&out).join(table)).expect("written");
            let column = reader.headers().expect("a header").iter().position(|name| name == "complete");
            let column = column.unwrap_or_else(|| panic!("{table} has no column complete"));
            let said: Vec<String> = reader.records().map(|row| row.expect("a row")[column].to_owned()).collect();
            assert!(said.iter().all(|cell| cell == complete), "{table}: {said:?}");
            // A table without rows would say nothing.
            assert!(complete == "yes" || !said.is_empty(), "{table} of a part says nothing");
        }
        let dot = fs::read_to_string(Path::new(&out).join("aeg.dot")).expect("written");
        assert_eq!(dot.contains("not complete"), complete == "no", "{dot}");
        let csv = place.name("matrix.csv");
        let output = seqcon(&["matrix", &model, "--max-states", states, "--csv", &csv]);
        assert_eq!(status(&output), Some(expected));
        assert_eq!(text(&output.stdout).contains("not complete"), complete == "no", "{}", text(&output.stdout));
        let mut reader = csv::Reader::from_path(&csv).expect("written");
        let last = reader.headers().expect("a header").iter().next_back().map(str::to_owned);
        assert_eq!(last.as_deref(), Some("complete"));
        let said: Vec<String> =
            reader.records().map(|row| row.expect("a row").iter().next_back().unwrap().to_owned()).collect();
        assert!(!said.is_empty() && said.iter().all(|cell| cell == complete), "{said:?}");
    }
}

#[test]
fn a_limit_is_status_3_in_fix_and_info() {
    let place = Place::new();
    let fixed = place.name("fixed.slco");
    let output = seqcon(&["fix", "specs/peterson.slco", "--mm", "tso", "--max-states", "3", "-o", &fixed]);
    assert_eq!(status(&output), Some(3), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("not all of the state space was explored"), "{}", text(&output.stderr));
    assert!(!Path::new(&fixed).exists());
    for (states, expected) in [("3", 3), ("1000", 0)] {
        for json in [&[][..], &["--json", "-"]] {
            let arguments = [&["info", "specs/peterson.slco", "--max-states", states], json].concat();
            assert_eq!(status(&seqcon(&arguments)), Some(expected), "{arguments:?}");
        }
    }
}

/// Characters that a terminal takes for commands, or that turn text round.
fn garbles(shown: &str) -> bool {
    shown.chars().any(|c| c.is_control() && c != '\n' || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'))
}

#[test]
fn what_is_shown_cannot_garble_a_terminal() {
    let place = Place::new();
    let evil = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{202e}\u{9b}31m";
    let specification = WRITE
        .replace("{ x := 1 }", &format!("{{ x /* {evil} */ := 1 }}"))
        .replace("model m", &format!("// {evil}\nmodel m"));
    let model = place.file("sb.slco", &specification);
    let odd = place.file(&format!("sb{evil}.slco"), &specification);
    let wrong = place.file("wrong.slco", WRITE.replace("x := 1", &format!("x := \"{evil}\"")));
    let report = place.name("r.json");
    assert_eq!(status(&seqcon(&["analyse", &model, "--mm", "tso", "--json", &report])), Some(0));
    let changed = fs::read_to_string(&report).expect("written").replace("\"T0\"", "\"T\\u001b[31m0\"");
    let changed = changed.replace("0.1.0", "0.1.0\\u001b[31m");
    let changed = place.file("changed.json", changed);
    for arguments in [
        &["analyse", &model, "--mm", "tso", "--explain"][..],
        &["analyse", &model, "--mm", "tso", "--name", evil],
        &["analyse", &odd, "--mm", "tso", "--verify"],
        &["matrix", &model],
        &["verify", &model, "--as-is"],
        &["verify", &odd],
        &["info", &odd],
        &["explore", &model, "--invariant", "not p.T0@c"],
        &["compare", &report, &changed],
        &["fix", &model, "--with", &changed, "--diff"],
        &["analyse", &wrong],
        &["analyse", &place.name(&format!("absent{evil}.aut"))],
    ] {
        // Colours of our own are wanted on a terminal, and only there; here is none.
        let output = seqcon(arguments);
        let data = arguments.contains(&"--diff");
        assert!(data || !garbles(&text(&output.stdout)), "{arguments:?}: {:?}", text(&output.stdout));
        assert!(!garbles(&text(&output.stderr)), "{arguments:?}: {:?}", text(&output.stderr));
    }
    // On a terminal, where our colours stay, nothing else does.
    let coloured =
        command(&["analyse", &odd, "--mm", "tso", "--explain", "--name", evil]).env("CLICOLOR_FORCE", "1").output();
    let shown = text(&coloured.expect("seqcon starts").stdout);
    let ours = regex::Regex::new("\u{1b}\\[[0-9;]*m").expect("an expression");
    assert!(ours.is_match(&shown), "there are no colours");
    for found in ours.find_iter(&shown) {
        assert!(
            ["\u{1b}[0m", "\u{1b}[1m", "\u{1b}[32m", "\u{1b}[31m", "\u{1b}[36m"].contains(&found.as_str()),
            "{found:?}"
        );
    }
    assert!(!garbles(&ours.replace_all(&shown, "")), "{shown:?}");
}

#[test]
fn a_table_of_a_memory_model_has_no_characters_that_are_not_shown() {
    let place = Place::new();
    let table = fs::read_to_string(repository("src/memory/builtin/tso.toml")).expect("readable");
    assert!(seqcon(&["models", "show", &place.file("same.toml", &table)]).status.success());
    for (part, with) in [("mfence", "m\\u001b[31mfence"), ("Total Store Order", "Total\\nStore Order")] {
        assert!(table.contains(part));
        let output = seqcon(&["models", "show", &place.file("mine.toml", table.replace(part, with))]);
        assert_eq!(status(&output), Some(2), "{part}");
        assert!(text(&output.stderr).contains("characters that a terminal would not show"), "{}", text(&output.stderr));
    }
}

#[test]
fn a_name_cannot_forge_a_summary_line_or_a_part_of_one() {
    let forged = "x\nmodel=y memory_model=tso fences=0 minimal=proved complete=yes";
    let shown = text(&seqcon(&["-q", "analyse", "lts/sb.aut", "--mm", "tso", "--name", forged]).stdout);
    assert_eq!(shown.lines().count(), 1, "{shown}");
    assert_eq!(
        shown.split(' ').filter(|word| word.starts_with("fences=")).collect::<Vec<_>>(),
        ["fences=2"],
        "{shown}"
    );
    assert!(shown.starts_with("model=x_model=y_memory_model=tso_fences=0_"), "{shown}");
}

#[test]
fn cells_that_a_spreadsheet_would_evaluate_are_guarded() {
    let csv = text(
        &seqcon(&["analyse", "lts/sb.aut", "--mm", "tso", "--name", "=cmd|' /C calc'!A0", "--summary-csv", "-"]).stdout,
    );
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let row = reader.records().next().expect("a row").expect("readable");
    assert_eq!(&row[0], "'=cmd|' /C calc'!A0");
    assert!(row.iter().all(|cell| !cell.starts_with(['=', '+', '-', '@'])), "{row:?}");
    // A thread of labels may be called `-T`, and a location `-x`.
    let place = Place::new();
    let state_space = fs::read_to_string(repository("lts/sb.aut")).expect("readable").replace("T0.", "-T.");
    let model = place.file("minus.aut", state_space);
    let csv = text(&seqcon(&["analyse", &model, "--mm", "tso", "--csv", "-"]).stdout);
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let threads: Vec<String> = reader.records().map(|row| row.expect("a row")[2].to_owned()).collect();
    assert!(threads.contains(&"'-T".to_owned()), "{csv}");
}
