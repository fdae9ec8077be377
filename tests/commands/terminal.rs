//! What people see on the terminal, byte for byte.
//!
//! Each snapshot in `tests/snapshots/` is the output of one command. `SEQCON_BLESS=1 cargo test --test commands
//! terminal::` writes them anew; read the difference before you commit it.

use crate::support::command::command;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Runs `seqcon` where the environment says nothing of colours but this.
fn coloured_as(arguments: &[&str], environment: &[(&str, &str)]) -> Output {
    let mut command = command(arguments);
    for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "CI", "TERM"] {
        command.env_remove(name);
    }
    command.envs(environment.iter().copied()).output().unwrap()
}

/// The standard output of a command that ends with this status; the time it took is made constant.
fn shown(arguments: &[&str], environment: &[(&str, &str)], status: i32) -> String {
    let output = coloured_as(arguments, environment);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "{arguments:?}: {errors}");
    let text = String::from_utf8(output.stdout).unwrap();
    regex::Regex::new(r"seconds=\d+\.\d+").unwrap().replace_all(&text, "seconds=0.00").into_owned()
}

fn check(name: &str, real: &str) {
    let path = root().join("tests/snapshots").join(name).with_extension("txt");
    if std::env::var_os("SEQCON_BLESS").is_some() {
        std::fs::write(&path, real).unwrap();
        return;
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    assert!(real == expected, "{name} is not what is shown; SEQCON_BLESS=1 updates it. Real:\n{real}");
}

fn snapshot(name: &str, arguments: &[&str]) {
    check(name, &shown(arguments, &[], 0));
}

#[test]
fn fences_of_a_specification_with_its_source() {
    snapshot("peterson-tso", &["analyse", "specs/peterson.slco", "--mm", "tso"]);
    snapshot("peterson-armv7", &["analyse", "specs/peterson.slco", "--mm", "armv7"]);
}

#[test]
fn several_memory_models_and_nothing_needed() {
    snapshot("mp-several", &["analyse", "specs/mp.slco", "--mm", "sc,tso,pso"]);
}

#[test]
fn a_state_space_has_labels_only() {
    snapshot("mp-labels", &["analyse", "lts/mp.aut", "--mm", "pso"]);
}

#[test]
fn locks() {
    snapshot("counter-atomicity", &["analyse", "lts/counter.aut", "--mm", "tso", "--atomicity"]);
    snapshot("bakery-atomicity", &["analyse", "specs/bakery.slco", "--mm", "tso", "--atomicity"]);
}

#[test]
fn every_cycle_is_drawn_on_request() {
    snapshot("iriw-explained", &["analyse", "lts/iriw.aut", "--mm", "power", "--explain"]);
    snapshot("counter-explained", &["analyse", "lts/counter.aut", "--mm", "tso", "--atomicity", "--explain"]);
    // Six threads do not fit into 80 columns.
    snapshot("ring-explained", &["analyse", "lts/sb-ring-6.aut", "--mm", "tso", "--explain"]);
}

#[test]
fn the_repaired_program_is_run_on_request() {
    snapshot("sb-verified", &["analyse", "specs/sb.slco", "--mm", "tso,pso,armv7", "--verify"]);
    // A reader that waits for the flag: the published definitions see no conflict on x.
    let waiting = std::fs::read_to_string(root().join("specs/mp.slco")).unwrap().replace("{ r := f }", "{ f = 1 }");
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("mp.slco");
    std::fs::write(&path, waiting).unwrap();
    let arguments = ["analyse", path.to_str().unwrap(), "--mm", "pso", "--profile", "published", "--verify"];
    check("mp-published-violated", &shown(&arguments, &[], 1));
}

#[test]
fn a_part_of_a_state_space_is_called_so() {
    check("peterson-part", &shown(&["analyse", "specs/peterson.slco", "--mm", "tso", "--max-states", "5"], &[], 3));
}

#[test]
fn colours_are_for_terminals_and_can_be_refused() {
    let arguments = ["analyse", "specs/sb.slco", "--mm", "tso"];
    let plain = shown(&arguments, &[], 0);
    assert!(!plain.contains('\x1b'), "a pipe is no terminal");
    let forced = shown(&arguments, &[("CLICOLOR_FORCE", "1")], 0);
    check("sb-coloured", &forced);
    assert!(forced.contains('\x1b'), "colours were asked for");
    assert_eq!(anstream::adapter::strip_str(&forced).to_string(), plain, "colours change nothing else");
}

/// A terminal, from `script` of util-linux: the only way to have one without a library.
#[cfg(target_os = "linux")]
#[test]
fn a_terminal_gets_colours_unless_no_color_is_set() {
    if Command::new("script").arg("--version").output().is_err() {
        eprintln!("SKIPPED: a_terminal_gets_colours_unless_no_color_is_set: there is no `script` command");
        return;
    }
    let on_a_terminal = |no_color: bool| {
        let command = format!("{} analyse specs/sb.slco --mm tso", env!("CARGO_BIN_EXE_seqcon"));
        let mut script = Command::new("script");
        script.args(["-qec", &command, "/dev/null"]).current_dir(root()).env("TERM", "xterm").env_remove("NO_COLOR");
        if no_color {
            script.env("NO_COLOR", "1");
        }
        String::from_utf8(script.output().unwrap().stdout).unwrap()
    };
    assert!(on_a_terminal(false).contains("\x1b[1mtso\x1b[0m"));
    let refused = on_a_terminal(true);
    assert!(refused.contains("tso (Total Store Order") && !refused.contains("\x1b[1m"), "{refused:?}");
}

/// What has no end but a limit, and says on a terminal how far it is, and nothing elsewhere.
#[cfg(target_os = "linux")]
#[test]
fn a_terminal_is_told_how_far_long_work_is() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("endless.slco");
    let endless = "model m { classes C { variables Integer x Integer y
        state machines a { initial s transitions s -> s { x := x + 1 } } b { initial s transitions s -> s { y := y + 1 } } }
        objects o : C() }";
    std::fs::write(&path, endless).unwrap();
    let arguments = ["explore", path.to_str().unwrap(), "--timeout", "4"];
    let output = coloured_as(&arguments, &[]);
    let (shown, told) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(3), "{told}");
    assert!(shown.starts_with("states=") && shown.lines().count() == 1, "{shown}");
    assert!(told.lines().count() == 1 && told.contains("stopped at the limit on time"), "{told}");
    if Command::new("script").arg("--version").output().is_err() {
        eprintln!("SKIPPED: a_terminal_is_told_how_far_long_work_is: there is no `script` command");
        return;
    }
    let command = format!("{} {}", env!("CARGO_BIN_EXE_seqcon"), arguments.join(" "));
    let output = Command::new("script").args(["-qec", &command, "/dev/null"]).env("TERM", "xterm").output().unwrap();
    let seen = anstream::adapter::strip_str(&String::from_utf8_lossy(&output.stdout)).to_string();
    let line = regex::Regex::new(
        r"00:00:0[2-9] · exploring endless.slco · [0-9.,]+M? states \([0-9.,]+M?/s\) · [0-9.]+ [KMG]iB · d",
    );
    assert!(line.unwrap().is_match(&seen), "{seen}");
}

#[test]
fn eighty_columns_are_enough_for_the_bundled_specifications() {
    let models = "tso,pso,armv8,armv7,power";
    let is_specification = |path: &PathBuf| path.is_file();
    let paths = std::fs::read_dir(root().join("specs")).unwrap().map(|entry| entry.unwrap().path());
    let mut specifications = 0;
    for path in paths.filter(is_specification) {
        specifications += 1;
        let path = Path::new("specs").join(path.file_name().unwrap());
        let analysed = shown(&["analyse", path.to_str().unwrap(), "--mm", models, "--explain", "--atomicity"], &[], 0);
        let text = analysed + &shown(&["matrix", path.to_str().unwrap()], &[], 0);
        // The last lines are for grep.
        let too_long = text.lines().find(|line| line.chars().count() > 80 && !line.starts_with("model="));
        assert_eq!(too_long, None, "{}", path.display());
    }
    assert!(specifications > 20);
}

#[test]
fn a_source_cannot_garble_the_terminal() {
    let hostile = "\x1b[31mred\u{202e}";
    let text = std::fs::read_to_string(root().join("specs/sb.slco")).unwrap();
    let text = text.replace("{ x := 1 }", &format!("{{ x /* {hostile} */ := 1 /* {hostile} */ }}"));
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("sb.slco");
    std::fs::write(&path, text).unwrap();
    let shown = shown(&["analyse", path.to_str().unwrap(), "--mm", "tso", "--explain"], &[("CLICOLOR_FORCE", "1")], 0);
    assert!(shown.matches("[31mred").count() >= 3, "the table and the source quote the instruction: {shown}");
    assert!(!shown.contains("\x1b[31mred") && !shown.contains('\u{202e}'), "{shown:?}");
}

#[test]
fn a_partial_fence_that_is_left_out_of_account_is_named() {
    let text = shown(&["analyse", "litmus/mp+lwsync+addr.litmus", "--mm", "power", "--confirm=off"], &[], 0);
    assert!(text.contains("is a partial fence, and not taken into account"), "{text}");
    assert!(!shown(&["analyse", "litmus/sb.litmus", "--mm", "tso"], &[], 0).contains("partial"));
}

#[test]
fn wide_characters_and_long_names_keep_the_columns() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("sb.aut");
    let text = std::fs::read_to_string(root().join("lts/sb.aut")).unwrap();
    let text = text.replace("T1", &"長".repeat(3)).replace(" y", &format!(" {}", "y".repeat(200)));
    std::fs::write(&path, text).unwrap();
    let arguments = ["analyse", path.to_str().unwrap(), "--mm", "tso"];
    let output = coloured_as(&arguments, &[]);
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let too_wide = shown.lines().find(|line| seqcon::text::excerpt::width(line) > 80 && !line.starts_with("model="));
    assert_eq!(too_wide, None, "{shown}");
}
