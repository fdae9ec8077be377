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
        (&["verify", "specs/peterson.slco", "--mm", "power"], 3, "verified up to 2 rounds"),
        (&["verify", "specs/mp.slco", "--mm", "power", "--as-is"], 1, "power: violated"),
    ];
    for (arguments, status, says) in cases {
        let (found, out, errors) = run(arguments);
        assert_eq!(found, status, "{arguments:?}: {out}{errors}");
        assert!(out.contains(says), "{arguments:?}: {out}");
    }
}

/// Nothing to go wrong is not verified without a word: T1 waits for itself, and what is behind that never happens.
#[test]
fn what_never_happens_is_said_before_the_verdict() {
    let path = scratch("stuck.slco");
    let text = "model Q { classes C { variables Integer head := 1 Integer tail state machines
        T0 { initial A states B transitions A -> B { tail := 1 } }
        T1 { variables Integer h initial A states B transitions A -> B { h = head } } } objects o : C() }";
    fs::write(&path, text).unwrap();
    let path = path.to_str().unwrap();
    let said = "warning: never taken: T1.0 (h = head), line 3";
    let report = scratch("stuck.json");
    let report = report.to_str().unwrap();
    assert_eq!(run(&["-q", "analyse", path, "--mm", "tso", "--json", report]).0, 0);
    for more in [&[][..], &["--as-is"], &["--with", report], &["--mm", "tso,pso"]] {
        let (status, out, errors) = run(&[&["verify", path], more].concat());
        assert_eq!(status, 0, "{more:?}: {out}{errors}");
        let (caveat, verdict) = (out.find(said), out.find("tso: verified"));
        assert!(caveat.is_some() && caveat < verdict && out.matches(said).count() == 1, "{more:?}: {out}");
        assert!(!errors.contains("never taken"), "{more:?}: {errors}");
    }
    let (_, out, errors) = run(&["-q", "verify", path]);
    assert!(!out.contains("never taken") && errors.contains("never taken: T1.0 (h = head), line 3"), "{out}{errors}");
    // What fix writes to standard output is a program.
    let (_, out, errors) = run(&["fix", path]);
    assert!(!out.contains("never taken") && errors.contains("never taken: T1.0 (h = head), line 3"), "{out}{errors}");
    let (_, out, errors) = run(&["verify", "specs/sb.slco"]);
    assert!(out.starts_with("tso: verified") && errors.is_empty(), "{out}{errors}");
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

/// A fence at a state would have to stand on a transition without a statement, too: two after instructions do as well.
#[test]
fn what_cannot_be_written_at_a_state_is_written_after_instructions() {
    let path = scratch("bare-transition.slco");
    let text = "model e { classes C { variables Integer x Integer y Integer z Integer w state machines
        T0 { variables Integer r initial s0 states s1 s2 s3 s4 transitions
             s0 -> s1 { x := 1 } s1 -> s2 s0 -> s2 { z := 1 } s2 -> s3 { r := y } s2 -> s4 { r := w } }
        T1 { variables Integer r Integer q initial a states b c d e transitions
             a -> b { y := 1; fence } b -> c { w := 1; fence } c -> d { r := x } d -> e { q := z } } } objects o : C() }";
    fs::write(&path, text).unwrap();
    let fixed = scratch("bare-transition-fixed.slco");
    let (path, fixed) = (path.to_str().unwrap(), fixed.to_str().unwrap());
    let (status, _, errors) = run(&["fix", path, "--mm", "tso", "-o", fixed]);
    assert_eq!(status, 0, "{errors}");
    let (status, out, errors) = run(&["verify", fixed, "--mm", "tso", "--as-is"]);
    assert_eq!(status, 0, "{out}{errors}");
}
