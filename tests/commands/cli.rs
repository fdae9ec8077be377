//! The command as a user runs it: exit status, output, files, and what happens when something is wrong.

use crate::support::command::{command, seqcon, stderr, stdout};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// The results of a report: all but which file it is about.
fn results(report: &str) -> String {
    let report: serde_json::Value = serde_json::from_str(report).unwrap();
    report["results"].to_string()
}

/// The output without the time it took.
fn timeless(text: &str) -> String {
    regex::Regex::new(r"seconds=\d+\.\d+").expect("a valid expression").replace_all(text, "seconds=_").into_owned()
}

/// One clear error, exit status 2, nothing on standard output; gives the message.
fn refusal(arguments: &[&str]) -> String {
    let output = seqcon(arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", stderr(&output));
    assert_eq!(stdout(&output), "", "{arguments:?}");
    let message = stderr(&output);
    assert!(!message.contains("panicked"), "{message}");
    assert_eq!(message.matches("seqcon: ").count(), 1, "one message: {message}");
    message
}

fn file(directory: &TempDir, name: &str, contents: &[u8]) -> String {
    let path = directory.path().join(name);
    fs::write(&path, contents).expect("the file can be written");
    path.to_str().expect("the path is UTF-8").to_owned()
}

fn scratch() -> TempDir {
    TempDir::new().expect("a temporary directory")
}

#[test]
fn the_summary_line_has_the_documented_form() {
    let output = seqcon(&["-q", "analyse", "lts/iriw.aut", "--mm", "x86,arm"]);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(
        timeless(&stdout(&output)),
        "model=iriw memory_model=tso states=36 vertices=6 delays=0 torn=0 locks=0 fences=0 plain_fences=0 cumulative_fences=0 minimal=program complete=yes seconds=_ explore_seconds=_ analyse_seconds=_\n\
         model=iriw memory_model=armv7 states=36 vertices=6 delays=2 torn=0 locks=0 fences=2 plain_fences=2 cumulative_fences=0 minimal=event-graph complete=yes seconds=_ explore_seconds=_ analyse_seconds=_\n"
    );
    assert_eq!(stderr(&output), "");
}

#[test]
fn check_tells_by_the_exit_status_whether_synchronisation_is_missing() {
    let status = |mm: &str| seqcon(&["-q", "analyse", "lts/sb.aut", "--mm", mm, "--check"]).status.code();
    assert_eq!(status("sc"), Some(0));
    assert_eq!(status("tso"), Some(1));
    assert_eq!(status("sc,tso"), Some(1));
    let lock = |atomicity: &str| {
        seqcon(&["-q", "analyse", "lts/counter.aut", "--mm", "sc", "--check", atomicity]).status.code()
    };
    assert_eq!(lock("--atomicity=presumed"), Some(0));
    assert_eq!(lock("--atomicity"), Some(1));
    // What follows when the counter's increment is interrupted, a state space of whole instructions does not show.
    assert_eq!(lock("--atomicity=off"), Some(3));
}

#[test]
fn all_reports_are_written_with_their_documented_columns() {
    let directory = scratch();
    let out = directory.path().join("new/reports");
    let arguments = ["analyse", "lts/dekker.aut", "--mm", "tso,armv7", "--atomicity=full", "--cycles", "all", "--out"];
    let output = seqcon(&[&arguments[..], &[out.to_str().unwrap()]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let formats = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/formats.md")).unwrap();
    for name in ["fences.csv", "locks.csv", "delays.csv", "cycles.csv", "summary.csv"] {
        let row = formats.lines().find(|line| line.starts_with(&format!("| `{name}`"))).expect("documented");
        let columns = row.rsplit('`').nth(1).expect("the columns are the last code on the line");
        let mut reader = csv::Reader::from_path(out.join(name)).expect("the report was written");
        assert_eq!(reader.headers().unwrap().iter().collect::<Vec<_>>().join(","), columns, "{name}");
        // The reader refuses rows of another length than the header's.
        let rows = reader.records().collect::<Result<Vec<_>, _>>().expect("every row has all columns").len();
        assert!(rows > 0 || name == "locks.csv", "{name} has rows");
    }
    let report: serde_json::Value = serde_json::from_reader(fs::File::open(out.join("report.json")).unwrap()).unwrap();
    assert_eq!(report["schema_version"], 2);
    assert_eq!(report["results"].as_array().unwrap().len(), 2);
    let tso = &report["results"][0];
    assert_eq!(tso["summary"]["memory_model"], "tso");
    assert_eq!(tso["rechecked"]["enough"], true);
    for column in ["memory_model", "thread", "instruction", "position", "kind", "mnemonic", "cost", "delays", "source"]
    {
        assert!(tso["fences"][0].get(column).is_some(), "a fence has {column}");
    }
    assert!(tso["delays"][0]["witness"].as_array().unwrap().len() >= 4);
}

#[test]
fn the_output_does_not_depend_on_the_number_of_threads_or_the_order_of_lines() {
    let directory = scratch();
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("lts/dekker.aut")).unwrap();
    let (header, lines) = text.split_once('\n').unwrap();
    let reversed: Vec<&str> = lines.lines().rev().collect();
    let shuffled = file(&directory, "dekker.aut", format!("{header}\n{}\n", reversed.join("\n")).as_bytes());
    let json = |input: &str, threads: &str| {
        let output = seqcon(&[
            "analyse",
            input,
            "--threads",
            threads,
            "--mm",
            "tso,pso,armv7",
            "--atomicity",
            "--cycles",
            "all",
            "--json",
            "-",
        ]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        stdout(&output)
    };
    let expected = json("lts/dekker.aut", "1");
    assert!(expected.contains("\"witness\""));
    assert_eq!(json("lts/dekker.aut", "2"), expected);
    assert_eq!(results(&json(&shuffled, "2")), results(&expected));
}

#[test]
fn facts_standard_input_and_gzip_give_the_same_result_as_the_state_space() {
    let directory = scratch();
    let analyse = |input: &str| {
        let output = seqcon(&["analyse", input, "--name", "x", "--mm", "armv7", "--json", "-"]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        results(&stdout(&output))
    };
    let expected = analyse("lts/wrc.aut");
    let facts = directory.path().join("wrc.facts");
    let facts = facts.to_str().unwrap();
    assert_eq!(seqcon(&["facts", "lts/wrc.aut", "-o", facts]).status.code(), Some(0));
    assert_eq!(analyse(facts), expected);

    let text = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("lts/wrc.aut")).unwrap();
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(&text).unwrap();
    assert_eq!(analyse(&file(&directory, "wrc.aut.gz", &encoder.finish().unwrap())), expected);

    let mut child = command(&["analyse", "-", "--name", "x", "--mm", "armv7", "--json", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(&text).unwrap();
    assert_eq!(results(&stdout(&child.wait_with_output().unwrap())), expected);
}

#[test]
fn a_models_own_table_can_be_used_and_shown() {
    let directory = scratch();
    let tso = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/memory/builtin/tso.toml")).unwrap();
    let mine =
        tso.replace("name = \"tso\"", "name = \"mine\"").replace("\"W x -> W y\" = \"yes\"", "\"W x -> W y\" = \"no\"");
    let mine = file(&directory, "mine.toml", mine.as_bytes());
    let output = seqcon(&["-q", "analyse", "lts/mp.aut", "--mm", &mine]);
    assert!(stdout(&output).contains("memory_model=mine states=5 vertices=4 delays=1"), "{}", stdout(&output));
    assert!(stdout(&seqcon(&["models", "show", &mine])).contains("MP      allowed"));
    let broken = file(&directory, "broken.toml", b"name = 3");
    assert!(refusal(&["models", "show", &broken]).contains("broken.toml"));
    assert!(refusal(&["analyse", "lts/mp.aut", "--mm", "itanium"]).contains("itanium"));
}

#[test]
fn costs_move_a_fence_to_a_cheaper_place() {
    let directory = scratch();
    let place = |costs: &str| {
        let costs = file(&directory, "costs.toml", costs.as_bytes());
        stdout(&seqcon(&["analyse", "lts/sb.aut", "--mm", "tso", "--cost", &costs, "--csv", "-"]))
    };
    assert!(place("").contains("tso,T0,0,after,plain,mfence,1,"));
    assert!(place("[points]\n\"T0.0 after\" = 9").contains("tso,T0,1,before,plain,mfence,1,"));
    assert!(place("plain = 5\ncumulative = 5").contains("tso,T0,0,after,plain,mfence,5,"));
    let upside_down = file(&directory, "upside-down.toml", b"plain = 5\ncumulative = 4");
    assert!(refusal(&["analyse", "lts/sb.aut", "--cost", &upside_down]).contains("cumulative"));
    let wrong = file(&directory, "wrong.toml", b"[points]\n\"T7.0 after\" = 2");
    assert!(refusal(&["analyse", "lts/sb.aut", "--cost", &wrong]).contains("T7.0 after"));
    let zero = file(&directory, "zero.toml", b"plain = 0");
    assert!(refusal(&["analyse", "lts/sb.aut", "--cost", &zero]).contains("from 1"));
}

#[test]
fn a_limit_on_listed_cycles_is_said_and_never_silent() {
    let run = |cycles: &str| seqcon(&["analyse", "lts/peterson.aut", "--mm", "tso", "--cycles", cycles]);
    let some = run("1");
    assert!(stdout(&some).contains("complete=no"));
    assert!(stdout(&some).contains("and more"));
    assert_eq!(some.status.code(), Some(3));
    let all = run("all");
    assert!(stdout(&all).contains("complete=yes"));
    assert_eq!(all.status.code(), Some(0));
}

#[test]
fn what_a_limit_left_out_is_never_forgotten() {
    let directory = scratch();
    let facts = directory.path().join("part.facts");
    let facts = facts.to_str().unwrap();
    assert_eq!(seqcon(&["facts", "specs/peterson.slco", "--max-states", "3", "-o", facts]).status.code(), Some(3));
    for input in [&["analyse", facts][..], &["analyse", "specs/peterson.slco", "--max-states", "3"]] {
        let output = seqcon(&[input, &["--mm", "tso"]].concat());
        assert_eq!(output.status.code(), Some(3), "{input:?}");
        assert!(stdout(&output).contains("only a part of the state space is known"), "{}", stdout(&output));
        assert!(stdout(&output).contains("minimal=no complete=no"), "{}", stdout(&output));
    }
    let cut = file(&directory, "cut.aut", b"des (0,2,2)\n(0,\"T0.0: x :=\",1)\n(0,\"T1.0: y");
    assert_eq!(seqcon(&["analyse", &cut, "--recover", "--mm", "tso"]).status.code(), Some(3));
}

#[test]
fn greedy_placement_never_claims_to_be_minimal() {
    let output = seqcon(&["-q", "analyse", "lts/peterson.aut", "--mm", "armv7", "--placement", "greedy"]);
    assert!(stdout(&output).contains("minimal=no"));
}

#[test]
fn wrong_input_gets_one_clear_error() {
    let directory = scratch();
    let line = b"(0,\"T0.0: x :=\",1)\n";
    let with_header = |header: &str| [header.as_bytes(), line].concat();
    for (name, contents, expected) in [
        ("empty.aut", Vec::new(), "empty.aut"),
        ("header.aut", b"des (0,1,2)\n".to_vec(), "header.aut:"),
        ("more.aut", with_header("des (0,2,2)\n"), "more.aut:"),
        ("fewer.aut", with_header("des (0,0,2)\n"), "fewer.aut:"),
        ("state.aut", with_header("des (0,1,1)\n"), "state.aut:2:"),
        ("cut.aut", b"des (0,2,2)\n(0,\"T0.0: x :=\",1)\n(0,\"T1.0: y".to_vec(), "cut.aut:3:"),
        ("label.aut", b"des (0,1,2)\n(0,\"what is this\",1)\n".to_vec(), "label.aut:2:"),
        ("random.aut", (0..5000_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect(), "random.aut"),
        ("killed.aut", b"des                                    \n(0,\"T0.0: x :=\",1)\n".to_vec(), "--recover"),
        (
            "long.aut",
            [b"des (0,1,2)\n(0,\"".to_vec(), vec![b'x'; 100_000_000], b"\",1)\n".to_vec()].concat(),
            "long.aut:2:",
        ),
    ] {
        let message = refusal(&["analyse", &file(&directory, name, &contents)]);
        assert!(message.contains(expected), "{name}: {message}");
        assert!(message.len() < 2000, "{name}: the message is {} bytes long", message.len());
        fs::remove_file(directory.path().join(name)).unwrap();
    }
    let message = refusal(&["analyse", directory.path().to_str().unwrap()]);
    assert!(message.contains("directory"), "{message}");
    assert!(refusal(&["analyse", "no/such/file.aut"]).contains("no/such/file.aut"));
}

#[cfg(unix)]
#[test]
fn a_file_without_permission_is_an_error() {
    use std::os::unix::fs::PermissionsExt;
    let directory = scratch();
    let secret = file(&directory, "secret.aut", b"des (0,0,1)\n");
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o000)).unwrap();
    if fs::File::open(&secret).is_ok() {
        println!("SKIPPED: this user may read every file");
        return;
    }
    assert!(refusal(&["analyse", &secret]).contains("secret.aut"));
}

/// A limit on the size of files stands for a full disk: writes fail half-way, the directory stays as it was.
#[cfg(unix)]
#[test]
fn a_full_disk_leaves_no_partial_report_behind() {
    let directory = scratch();
    let out = directory.path().join("reports");
    fs::create_dir(&out).unwrap();
    fs::write(out.join("fences.csv"), "the old report\n").unwrap();
    // 4 blocks of 512 or 1024 bytes: the first tables fit, the others do not.
    let script = format!(
        "trap '' XFSZ; ulimit -f 4; exec '{}' analyse lts/dekker.aut --mm armv7 --out '{}'",
        env!("CARGO_BIN_EXE_seqcon"),
        out.display()
    );
    let output =
        Command::new("bash").args(["-c", &script]).current_dir(env!("CARGO_MANIFEST_DIR")).output().expect("bash runs");
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("cannot be written"), "{}", stderr(&output));
    let left: Vec<_> = fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["fences.csv"], "nothing new is left behind");
    assert_eq!(fs::read_to_string(out.join("fences.csv")).unwrap(), "the old report\n");
}

#[cfg(target_os = "linux")]
#[test]
fn a_device_that_is_full_is_an_error() {
    assert!(refusal(&["analyse", "lts/sb.aut", "--json", "/dev/full"]).contains("/dev/full"));
}

#[test]
fn a_reader_who_has_seen_enough_is_no_error() {
    let script =
        format!("'{}' analyse lts/dekker.aut | head -n 1; echo ${{PIPESTATUS[0]}}", env!("CARGO_BIN_EXE_seqcon"));
    let output =
        Command::new("bash").args(["-c", &script]).current_dir(env!("CARGO_MANIFEST_DIR")).output().expect("bash runs");
    assert!(stdout(&output).ends_with("\n0\n"), "{}", stdout(&output));
    assert_eq!(stderr(&output), "");
}

#[test]
fn wrong_arguments_are_refused_with_the_exit_status_of_wrong_input() {
    for arguments in
        [&["analyse"][..], &["analyse", "lts/sb.aut", "--cycles", "many"], &["fly"], &["--threads", "0", "models"]]
    {
        assert_eq!(seqcon(arguments).status.code(), Some(2), "{arguments:?}");
    }
    assert!(refusal(&["analyse", "lts/sb.aut", "--internal", "("]).contains("--internal"));
    assert!(refusal(&["analyse", "lts/sb.aut", "--dialect", "klingon"]).contains("klingon"));
}

#[test]
fn nor_is_one_of_a_table_or_a_state_space() {
    for arguments in [&["explore", "specs/peterson-3.slco", "-o", "-"][..], &["facts", "lts/sb-ring-6.aut"]] {
        let mut child = command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", stderr(&output));
        assert!(!stderr(&output).contains("written"), "{arguments:?}: {}", stderr(&output));
    }
}

/// An output must not destroy an input, or another output, however they are spelled.
#[cfg(unix)]
#[test]
fn outputs_do_not_clash() {
    let directory = scratch();
    let place = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let specification = place("sb.slco");
    fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("specs/sb.slco"), &specification).unwrap();
    std::os::unix::fs::symlink(&specification, place("link.slco")).unwrap();
    let text = fs::read(&specification).unwrap();
    let dotted = directory.path().join("./.").join("a.dot").to_str().unwrap().to_owned();
    for outputs in [
        &["--html", &specification][..],
        &["--csv", &place("link.slco")],
        &["--dot", &place("a.dot"), "--csv", &dotted],
        &["--json", &place("all/report.json"), "--out", &place("all")],
    ] {
        let arguments: Vec<&str> =
            ["analyse", &specification, "--mm", "tso"].into_iter().chain(outputs.iter().copied()).collect();
        let message = refusal(&arguments);
        assert!(message.contains("is an input") || message.contains("two reports"), "{message}");
    }
    assert!(refusal(&["facts", &specification, "-o", &specification]).contains("is an input"));
    assert!(refusal(&["explore", &specification, "-o", &specification]).contains("is an input"));
    assert_eq!(fs::read(&specification).unwrap(), text);
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 2, "nothing was written");
    // A file beside the others in a directory that --out makes.
    let csv = place("all/x.csv");
    assert!(
        seqcon(&["analyse", &specification, "--mm", "tso", "--csv", &csv, "--out", &place("all")]).status.success()
    );
    assert!(Path::new(&csv).is_file());
}

#[cfg(unix)]
#[test]
fn permissions_and_links_of_outputs_are_kept() {
    use std::os::unix::fs::PermissionsExt;
    let directory = scratch();
    let place = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let mode = |path: &str| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let (private, link, new) = (file(&directory, "private.json", b""), place("link.json"), place("new.json"));
    fs::set_permissions(&private, fs::Permissions::from_mode(0o600)).unwrap();
    std::os::unix::fs::symlink(&private, &link).unwrap();
    let write =
        |path: &str| assert!(seqcon(&["analyse", "lts/sb.aut", "--mm", "tso", "--json", path]).status.success());
    write(&link);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink(), "the link is still one");
    assert!(fs::read_to_string(&private).unwrap().contains("schema_version"));
    assert_eq!(mode(&private), 0o600);
    let shell = format!("umask 027; exec {} analyse lts/sb.aut --mm tso --json {new}", env!("CARGO_BIN_EXE_seqcon"));
    let status =
        Command::new("sh").args(["-c", &shell]).current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap().status;
    assert!(status.success());
    assert_eq!(mode(&new), 0o640);
}
