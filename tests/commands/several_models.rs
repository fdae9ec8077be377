//! Several inputs: each is a model of its own, `--merge` unites explorations of one program, and parts of one state
//! space are refused.

use crate::support::command::{seqcon, stderr, stdout};
use crate::support::corpus::corpus_dir;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;
use tempfile::TempDir;

/// One error, exit status 2, nothing on standard output; gives the message.
fn refusal(arguments: &[&str]) -> String {
    let output = seqcon(arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}{}", stdout(&output), stderr(&output));
    assert_eq!(stdout(&output), "", "{arguments:?}");
    stderr(&output)
}

fn succeeds(arguments: &[&str]) -> Output {
    let output = seqcon(arguments);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", stderr(&output));
    output
}

/// A cell of a CSV file without quotes in it.
fn cells(table: &str) -> Vec<Vec<&str>> {
    table.lines().map(|line| line.split(',').collect()).collect()
}

/// The value of a key in a summary line.
fn value<'a>(line: &'a str, key: &str) -> &'a str {
    line.split(' ')
        .find_map(|word| word.strip_prefix(key)?.strip_prefix('='))
        .unwrap_or_else(|| panic!("{key}: {line}"))
}

/// The state spaces in a directory, sorted.
fn state_spaces(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|extension| extension == "aut")).collect();
    files.sort();
    files
}

fn bundled() -> Vec<PathBuf> {
    state_spaces(&Path::new(env!("CARGO_MANIFEST_DIR")).join("lts"))
}

#[test]
fn several_files_are_several_models_each_with_its_own_answer() {
    let files = ["lts/sb.aut", "lts/mp.aut", "specs/lb.slco"];
    let together = succeeds(&[&["analyse", "--mm", "tso,power", "--quiet"], &files[..]].concat());
    let mut alone = String::new();
    for file in files {
        alone += &stdout(&succeeds(&["analyse", "--mm", "tso,power", "--quiet", file]));
    }
    let timeless =
        |text: &str| regex::Regex::new(r"seconds=\d+\.\d+").unwrap().replace_all(text, "seconds=_").into_owned();
    assert_eq!(timeless(&stdout(&together)), timeless(&alone));
    let text = stdout(&succeeds(&[&["analyse", "--mm", "tso"], &files[..]].concat()));
    for (name, file) in [("sb", files[0]), ("mp", files[1]), ("lb", files[2])] {
        assert!(text.contains(&format!("model {name} ({file})\n")), "{text}");
    }
}

#[test]
fn all_bundled_state_spaces_at_once_give_a_line_each() {
    let files: Vec<String> = bundled().iter().map(|path| path.display().to_string()).collect();
    assert!(files.len() >= 22);
    let arguments: Vec<&str> =
        ["analyse", "--mm", "tso", "--quiet"].into_iter().chain(files.iter().map(String::as_str)).collect();
    let output = succeeds(&arguments);
    let text = stdout(&output);
    let models: Vec<&str> = text.lines().map(|line| value(line, "model")).collect();
    let expected: Vec<&str> = files.iter().map(|file| Path::new(file).file_stem().unwrap().to_str().unwrap()).collect();
    assert_eq!(models, expected);
}

#[test]
fn the_first_column_of_every_table_is_the_model() {
    let scratch = TempDir::new().unwrap();
    let out = scratch.path().join("out");
    let out_text = out.to_str().unwrap();
    succeeds(&[
        "analyse",
        "lts/sb.aut",
        "lts/counter.aut",
        "--atomicity",
        "--cycles",
        "all",
        "--mm",
        "tso,power",
        "--out",
        out_text,
        "-q",
    ]);
    for (name, with_counter) in
        [("fences.csv", false), ("locks.csv", true), ("delays.csv", false), ("cycles.csv", true), ("summary.csv", true)]
    {
        let table = fs::read_to_string(out.join(name)).unwrap();
        let rows = cells(&table);
        assert_eq!(rows[0][..2], ["model", "memory_model"], "{name}");
        let of =
            |model: &str| rows[1..].iter().filter(|row| row[0] == model && ["tso", "power"].contains(&row[1])).count();
        assert_eq!(of("sb") + of("counter"), rows.len() - 1, "{name}: {table}");
        assert_eq!(of("counter") > 0, with_counter, "{name}: {table}");
        assert!(of("sb") > 0 || name == "locks.csv", "{name}: {table}");
    }
    let matrix = stdout(&succeeds(&["matrix", "lts/sb.aut", "lts/mp.aut", "--csv", "-"]));
    let rows = cells(&matrix);
    assert_eq!(rows[0][..2], ["model", "thread"]);
    assert!(rows.iter().any(|row| row[0] == "sb") && rows.iter().any(|row| row[0] == "mp"), "{matrix}");
}

#[test]
fn reports_of_several_models_say_which_is_which() {
    let scratch = TempDir::new().unwrap();
    let out = scratch.path().join("out");
    succeeds(&["analyse", "lts/sb.aut", "specs/mp.slco", "--mm", "tso,pso", "--out", out.to_str().unwrap(), "-q"]);
    let json =
        |name: &str| -> serde_json::Value { serde_json::from_slice(&fs::read(out.join(name)).unwrap()).unwrap() };
    let report = json("report.json");
    assert!(report.get("results").is_none());
    let models = report["models"].as_array().unwrap();
    assert_eq!(models[0]["model"], "sb");
    assert_eq!(models[0]["inputs"][0]["path"], "lts/sb.aut");
    assert_eq!(models[0]["inputs"].as_array().unwrap().len(), 1);
    assert_eq!(models[0]["results"][0]["fences"].as_array().unwrap().len(), 2);
    assert_eq!(models[1]["model"], "mp");
    assert_eq!(models[1]["results"][0]["fences"].as_array().unwrap().len(), 0);
    let sarif = json("report.sarif");
    let runs = sarif["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 2);
    assert_eq!(runs[0]["automationDetails"]["id"], "seqcon/sb");
    assert_eq!(runs[1]["automationDetails"]["id"], "seqcon/mp");
    assert_eq!(runs[0]["results"].as_array().unwrap().len(), 4, "two fences under each memory model");
    let dot = fs::read_to_string(out.join("aeg.dot")).unwrap();
    assert_eq!(dot.matches("digraph").count(), 4);
    for (model, other) in [("sb", "mp"), ("mp", "sb")] {
        let page = fs::read_to_string(out.join(model).join("report.html")).unwrap();
        assert!(page.contains(&format!("\"model\":\"{model}\"")) && !page.contains(&format!("\"model\":\"{other}\"")));
    }
    assert!(!out.join("report.html").exists());
}

#[test]
fn what_is_about_one_model_is_refused_for_several_and_the_remedy_named() {
    let scratch = TempDir::new().unwrap();
    let page = scratch.path().join("page.html");
    let files = ["analyse", "lts/sb.aut", "lts/mp.aut", "--mm", "tso"];
    for (arguments, remedy) in [
        (vec!["--html", page.to_str().unwrap()], "--out DIR"),
        (vec!["--name", "both"], "the name of its file"),
        (vec!["--dot", "-", "--cycle", "0"], "name one file"),
    ] {
        let message = refusal(&[&files[..], &arguments].concat());
        let option = if arguments.contains(&"--cycle") { "--cycle" } else { arguments[0] };
        assert!(message.starts_with(&format!("seqcon: {option} ")), "{message}");
        assert!(message.contains(remedy) && message.contains("--merge"), "{message}");
    }
    assert!(!page.exists());
    assert!(refusal(&["facts", "lts/sb.aut", "lts/mp.aut"]).contains("--merge"));
    assert!(refusal(&["analyse", "lts/sb.aut", "specs/sb.slco", "--verify"]).contains("specifications"));
    assert!(refusal(&["analyse", "lts/sb.aut", "./lts/sb.aut"]).contains("named twice"));
}

#[test]
fn a_report_of_several_models_is_refused_where_one_is_needed() {
    let scratch = TempDir::new().unwrap();
    let path = scratch.path().join("report.json");
    let report = path.to_str().unwrap();
    succeeds(&["analyse", "specs/sb.slco", "specs/mp.slco", "--mm", "tso", "--json", report, "-q"]);
    for arguments in [
        vec!["compare", report, report],
        vec!["fix", "specs/sb.slco", "--with", report],
        vec!["verify", "specs/sb.slco", "--with", report],
    ] {
        let message = refusal(&arguments);
        assert!(message.contains("several models (sb, mp)"), "{message}");
    }
}

#[test]
fn models_of_one_name_are_told_apart() {
    let text = stdout(&succeeds(&["analyse", "lts/sb.aut", "specs/sb.slco", "--mm", "tso", "--quiet"]));
    let models: Vec<&str> = text.lines().map(|line| value(line, "model")).collect();
    assert_eq!(models, ["lts/sb", "specs/sb"]);
}

#[test]
fn nothing_is_written_if_one_of_several_merged_inputs_is_wrong() {
    let scratch = TempDir::new().unwrap();
    let broken = scratch.path().join("broken.aut");
    fs::write(&broken, "des (0,2,2)\n(0,\"T0.0: x :=\",1)\n").unwrap();
    let out = scratch.path().join("out");
    let arguments = ["analyse", "--merge", "lts/sb.aut", broken.to_str().unwrap(), "--out", out.to_str().unwrap()];
    let message = refusal(&arguments);
    assert!(message.contains("broken.aut:1:8"), "{message}");
    assert!(!out.exists());
}

#[test]
fn merging_unites_explorations_of_one_program_and_checks_that_they_are() {
    let scratch = TempDir::new().unwrap();
    let write = |name: &str, text: &str| {
        let path = scratch.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    // Store buffering, and the same threads with T1 waiting for something that holds here: what each exploration
    // lacks the other has.
    let first = write(
        "first.aut",
        "des (0,4,4)\n(0,\"T0.0: x :=\",1)\n(0,\"T1.0: y :=\",2)\n(1,\"T1.0: y :=\",3)\n(2,\"T0.0: x :=\",3)\n",
    );
    let second = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("lts/sb.aut")).unwrap();
    let second = write("second.aut", &second);
    let output = succeeds(&["analyse", "--merge", &first, &second, "--mm", "tso", "--quiet"]);
    let text = stdout(&output);
    assert_eq!(text.lines().count(), 1, "{text}");
    assert_eq!((value(&text, "model"), value(&text, "states"), value(&text, "fences")), ("first", "13", "2"));
    let facts = scratch.path().join("both.facts");
    succeeds(&["facts", "--merge", &first, &second, "-o", facts.to_str().unwrap()]);
    let of_facts = stdout(&succeeds(&["analyse", facts.to_str().unwrap(), "--mm", "tso", "--quiet"]));
    assert_eq!((value(&of_facts, "states"), value(&of_facts, "fences")), ("13", "2"));
    // Another program, in which T1.0 writes something else.
    let third = write("third.aut", "des (0,1,2)\n(0,\"T1.0: z :=\",1)\n");
    for command in ["analyse", "facts", "matrix"] {
        let message = refusal(&[command, "--merge", &second, &third]);
        for named in ["second.aut", "third.aut", "`T1.0: y :=`", "`T1.0: z :=`"] {
            assert!(message.contains(named), "{named}: {message}");
        }
    }
    assert!(
        refusal(&["analyse", "--merge", "specs/sb.slco", "specs/mp.slco"]).contains("not explorations of one program")
    );
}

#[test]
fn evaluations_of_one_instruction_are_not_taken_for_contradictions() {
    let scratch = TempDir::new().unwrap();
    let Some(corpus) = corpus_dir() else { return };
    for name in ["peterson.1", "dekker.2", "anderson.2", "bakery.1"] {
        let whole = corpus.join("aut").join(format!("{name}.aut"));
        // The same program explored twice: nothing changes but the counts.
        let copy = scratch.path().join(format!("{name}-again.aut"));
        fs::copy(&whole, &copy).unwrap();
        let whole = whole.to_str().unwrap();
        let once = stdout(&succeeds(&["analyse", whole, "--mm", "tso,pso", "--quiet"]));
        let twice =
            stdout(&succeeds(&["analyse", "--merge", whole, copy.to_str().unwrap(), "--mm", "tso,pso", "--quiet"]));
        for (once, twice) in once.lines().zip(twice.lines()) {
            assert_eq!(value(once, "fences"), value(twice, "fences"), "{name}");
        }
    }
}

/// From, label, to.
type Transition = (u64, String, u64);

/// A state space as text: header and transitions.
struct StateSpace {
    initial: u64,
    states: u64,
    transitions: Vec<Transition>,
}

impl StateSpace {
    fn read(path: &Path) -> StateSpace {
        let text = fs::read_to_string(path).unwrap();
        let mut lines = text.lines();
        let numbers: Vec<u64> = lines
            .next()
            .unwrap()
            .split(|c: char| !c.is_ascii_digit())
            .filter_map(|number| number.parse().ok())
            .collect();
        let transition = |line: &str| {
            let (from, rest) = line.strip_prefix('(')?.split_once(',')?;
            let (label, to) = rest.trim_end().strip_suffix(')')?.rsplit_once(',')?;
            Some((from.parse().unwrap(), label.to_owned(), to.parse().unwrap()))
        };
        let transitions: Vec<_> = lines.filter_map(transition).collect();
        assert_eq!(transitions.len() as u64, numbers[1], "{}", path.display());
        StateSpace { initial: numbers[0], states: numbers[2], transitions }
    }

    /// All ways of splitting it that are tried, each with its name.
    fn splits(&self) -> Vec<(String, Vec<Vec<Transition>>)> {
        let part = |wanted: &dyn Fn(usize, u64) -> bool| -> Vec<Transition> {
            let all = self.transitions.iter().enumerate();
            all.filter(|(position, transition)| wanted(*position, transition.0)).map(|(_, t)| t.clone()).collect()
        };
        let mut splits = Vec::new();
        for count in [2, 4] {
            let by_source = (0..count).map(|number| part(&|_, source| source % count == number)).collect();
            splits.push((format!("source modulo {count}"), by_source));
            let in_turn = (0..count).map(|number| part(&|position, _| position as u64 % count == number)).collect();
            splits.push((format!("in turn, {count}"), in_turn));
        }
        let half = self.transitions.len() / 2;
        splits.push((
            "halves".to_owned(),
            vec![part(&|position, _| position < half), part(&|position, _| position >= half)],
        ));
        splits
    }
}

/// The header that a part gets.
#[derive(Clone, Copy, Debug)]
enum Header {
    /// That of the whole.
    Kept,
    /// With its own number of transitions.
    OwnTransitions,
    /// Also with the smallest number of states that there is room for.
    OwnStates,
    /// And with states numbered anew.
    Renumbered,
}

fn part(whole: &StateSpace, transitions: &[Transition], header: Header) -> String {
    let largest = transitions.iter().map(|&(from, _, to)| from.max(to)).chain([whole.initial]).max().unwrap();
    let mut numbers = std::collections::BTreeMap::from([(whole.initial, 0)]);
    let (initial, count, states) = match header {
        Header::Kept => (whole.initial, whole.transitions.len(), whole.states),
        Header::OwnTransitions => (whole.initial, transitions.len(), whole.states),
        Header::OwnStates => (whole.initial, transitions.len(), largest + 1),
        Header::Renumbered => {
            for &(from, _, to) in transitions {
                for state in [from, to] {
                    let next = numbers.len() as u64;
                    numbers.entry(state).or_insert(next);
                }
            }
            (0, transitions.len(), numbers.len() as u64)
        }
    };
    let number = |state: u64| match header {
        Header::Renumbered => numbers[&state],
        _ => state,
    };
    let mut text = format!("des ({initial},{count},{states})\n");
    for (from, label, to) in transitions {
        text += &format!("({},{label},{})\n", number(*from), number(*to));
    }
    text
}

/// The number of fences of each model and memory model.
fn fences(output: &Output) -> Vec<u64> {
    let number = |line: &str| -> u64 {
        ["fences", "cumulative_fences"].map(|key| value(line, key).parse::<u64>().unwrap()).iter().sum()
    };
    stdout(output).lines().map(number).collect()
}

#[test]
fn parts_of_a_state_space_are_refused_or_give_the_fences_of_the_whole() {
    let scratch = TempDir::new().unwrap();
    let corpus = corpus_dir().map(|corpus| state_spaces(&corpus.join("aut"))).unwrap_or_default();
    let files: Vec<PathBuf> = corpus.into_iter().chain(bundled()).collect();
    assert!(files.len() >= 22, "{}", files.len());
    let (mut refused, mut tried) = (0, 0);
    for file in files {
        let whole = StateSpace::read(&file);
        let expected = fences(&succeeds(&["analyse", file.to_str().unwrap(), "--mm", "power", "--quiet"]));
        for (split, parts) in whole.splits() {
            for header in [Header::Kept, Header::OwnTransitions, Header::OwnStates, Header::Renumbered] {
                let paths: Vec<String> = (0..parts.len())
                    .map(|number| scratch.path().join(format!("part{number}.aut")).to_str().unwrap().to_owned())
                    .collect();
                for (path, transitions) in paths.iter().zip(&parts) {
                    fs::write(path, part(&whole, transitions, header)).unwrap();
                }
                for merging in [&[][..], &["--merge"]] {
                    let names = paths.iter().map(String::as_str);
                    let arguments: Vec<&str> = ["analyse", "--mm", "power", "--quiet"]
                        .into_iter()
                        .chain(merging.iter().copied())
                        .chain(names)
                        .collect();
                    let output = seqcon(&arguments);
                    let case = format!("{}, {split}, {header:?}, {merging:?}", file.display());
                    tried += 1;
                    if output.status.code() == Some(2) {
                        refused += 1;
                        let message = stderr(&output);
                        assert!(
                            message.contains("shard") && message.contains("--shards takes all"),
                            "{case}: {message}"
                        );
                        continue;
                    }
                    assert_eq!(output.status.code(), Some(0), "{case}");
                    // Parts with numbers of their own can be explorations of their own: none of the fences may be lost.
                    let is_right = |found: &u64| match header {
                        Header::Renumbered => *found >= expected[0],
                        _ => *found == expected[0],
                    };
                    assert!(fences(&output).iter().all(is_right), "{case}: {}", stdout(&output));
                }
            }
        }
    }
    // Some tiny ones fall into parts that could be explorations of their own.
    assert!(refused * 100 >= tried * 99, "{refused} of {tried}");
}

#[test]
fn a_part_that_is_taken_for_what_it_is_gives_no_complete_answer() {
    let scratch = TempDir::new().unwrap();
    let whole = StateSpace::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("lts/peterson.aut"));
    let (_, parts) = whole.splits().swap_remove(0);
    let path = scratch.path().join("part.aut");
    fs::write(&path, part(&whole, &parts[0], Header::OwnTransitions)).unwrap();
    let path = path.to_str().unwrap();
    let output = seqcon(&["analyse", path, "--lenient", "--mm", "tso"]);
    assert_eq!(output.status.code(), Some(3));
    let text = stdout(&output);
    assert!(text.contains("nothing leads from the initial state 0 to state"), "{text}");
    assert!(text.contains("complete=no") && text.contains("minimal=no "), "{text}");
    let facts = scratch.path().join("part.facts");
    let facts = facts.to_str().unwrap();
    assert_eq!(seqcon(&["facts", path, "--lenient", "-o", facts]).status.code(), Some(3));
    assert_eq!(seqcon(&["analyse", facts, "--mm", "tso", "-q"]).status.code(), Some(3), "the facts remember it");
}

#[test]
fn states_in_no_order_of_discovery_are_no_sign_of_a_part() {
    let scratch = TempDir::new().unwrap();
    let path = scratch.path().join("backwards.aut");
    for file in ["lts/peterson.aut", "lts/iriw.aut", "lts/sb-ring-5.aut"] {
        let whole = StateSpace::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join(file));
        let turned = |state: u64| whole.states - 1 - state;
        let mut text = format!("des ({},{},{})\n", turned(whole.initial), whole.transitions.len(), whole.states);
        for (from, label, to) in &whole.transitions {
            text += &format!("({},{label},{})\n", turned(*from), turned(*to));
        }
        fs::write(&path, text).unwrap();
        let turned = succeeds(&["analyse", path.to_str().unwrap(), "--mm", "tso,power", "--quiet"]);
        assert_eq!(fences(&turned), fences(&succeeds(&["analyse", file, "--mm", "tso,power", "--quiet"])));
    }
}
