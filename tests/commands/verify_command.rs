//! `seqcon verify` and `seqcon fix` as commands: what they print, and the exit status.

use crate::support::command::run;
use std::fs;
use std::path::{Path, PathBuf};

fn scratch(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

#[test]
fn the_exit_status_tells_the_verdict() {
    let cases: [(&[&str], i32, &str); 5] = [
        (&["verify", "specs/sb.slco"], 0, "tso: verified"),
        (&["verify", "specs/sb.slco", "--as-is"], 1, "x = 1 becomes visible"),
        (&["verify", "specs/peterson-3.slco", "--max-weak-states", "10"], 3, "not decided"),
        (&["verify", "specs/peterson.slco", "--mm", "power", "--as-is"], 3, "not decided"),
        (&["verify", "specs/mp.slco", "--mm", "power", "--as-is"], 1, "power: violated"),
    ];
    for (arguments, status, says) in cases {
        let (found, out, errors) = run(arguments);
        assert_eq!(found, status, "{arguments:?}: {out}{errors}");
        assert!(out.contains(says), "{arguments:?}: {out}");
    }
}

#[test]
fn a_report_is_put_in_and_must_fit() {
    let report = scratch("sb.json");
    let path = report.to_str().unwrap();
    assert_eq!(run(&["-q", "analyse", "specs/sb.slco", "--mm", "tso", "--json", path]).0, 0);
    let (status, out, _) = run(&["verify", "specs/sb.slco", "--with", path]);
    assert!(status == 0 && out.contains("2 fences"), "{out}");
    // Under another model, for another program, and no report at all.
    let none = scratch("none.json");
    fs::write(&none, "{}").unwrap();
    let cases: [(&[&str], &str); 3] = [
        (&["verify", "specs/sb.slco", "--mm", "pso", "--with", path], "no result for pso"),
        (&["verify", "specs/peterson.slco", "--with", path], "does not have"),
        (&["verify", "specs/sb.slco", "--with", none.to_str().unwrap()], "no report"),
    ];
    for (arguments, says) in cases {
        let (status, _, errors) = run(arguments);
        assert!(status == 2 && errors.contains(says), "{arguments:?}: {status} {errors}");
    }
}

#[test]
fn a_fixed_specification_is_verified_as_it_is() {
    let fixed = scratch("fixed.slco");
    let path = fixed.to_str().unwrap();
    for model in ["tso", "pso"] {
        assert_eq!(run(&["fix", "specs/dekker.slco", "--mm", model, "-o", path]).0, 0);
        let (status, out, errors) = run(&["verify", path, "--mm", model, "--as-is"]);
        assert_eq!(status, 0, "{model}: {out}{errors}");
        let (_, unchanged, _) = run(&["fix", path, "--mm", model]);
        assert_eq!(unchanged, fs::read_to_string(&fixed).unwrap(), "there is nothing more to do");
    }
    let (status, _, errors) = run(&["fix", "litmus/sb.litmus"]);
    assert!(status == 2 && errors.contains(".slco"), "{errors}");
}
