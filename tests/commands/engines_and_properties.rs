//! `--engine` and `--property`, alike in `analyse`, `verify` and `fix`.

use crate::support::command::run;

#[test]
fn a_property_has_its_engine() {
    let (status, out, errors) = run(&["-q", "analyse", "specs/sb.slco", "--property", "persistent"]);
    assert_eq!((status, &*errors), (0, ""));
    assert!(out.contains("memory_model=tso") && out.contains("engine=persistence"), "{out}");
    let (status, out, _) = run(&["-q", "analyse", "specs/sb.slco", "--property", "same-states"]);
    assert_eq!(status, 0);
    assert!(out.contains("memory_model=tso") && out.contains("fences=2 "), "{out}");
    assert!(out.contains("memory_model=pso") && out.contains("engine=store-buffers"), "{out}");
}

#[test]
fn fewer_fences_keep_the_same_states() {
    // Nobody reads back what T0 wrote last, so no state tells that it waited.
    let text = "model m { classes C { variables Integer x Integer y Integer z state machines
        T0 { variables Integer r initial a states b c transitions a -> b { x := 1 } b -> c { r := y } }
        T1 { initial a states b c transitions a -> b { y := 1 } b -> c { z := x * 0 } } } objects o : C() }";
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("m.slco");
    std::fs::write(&path, text).unwrap();
    let path = path.to_str().unwrap();
    let fences = |property: &str| {
        let (status, out, errors) =
            run(&["-q", "analyse", path, "--mm", "tso", "--engine", "store-buffers", "--property", property]);
        assert_eq!((status, &*errors), (0, ""));
        let fences = out.split("fences=").nth(1).unwrap().split(' ').next().unwrap().to_owned();
        assert!(out.contains("minimal=program complete=yes"), "{out}");
        fences.parse::<usize>().unwrap()
    };
    assert_eq!((fences("robust"), fences("same-states")), (2, 0));
}

#[test]
fn a_run_is_the_reason_for_a_fence() {
    let arguments =
        ["analyse", "specs/sb.slco", "--mm", "tso", "--engine", "store-buffers", "--property", "same-states"];
    let (status, out, errors) = run(&arguments);
    assert_eq!((status, &*errors), (0, ""));
    assert!(out.contains("this run is possible:"), "{out}");
    assert!(
        out.contains("All buffers are empty, and no run under sequential consistency reaches this state."),
        "{out}"
    );
    let (_, json, _) = run(&[&arguments[..], &["--json", "-"]].concat());
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let result = &json["results"][0];
    assert_eq!(result["fences"].as_array().unwrap().len(), 2);
    assert!(!result["runs"].as_array().unwrap().is_empty());
    assert!(!result["fences"][0]["stops"].as_array().unwrap().is_empty());
    assert_eq!(json["engine"]["name"], "store-buffers");
}

#[test]
fn verify_asks_whom_it_is_told_to_ask() {
    let verify = |more: &[&str]| run(&[&["verify", "specs/peterson.slco", "--mm", "tso"], more].concat());
    // The event graph has more than the program does: what it leaves open is perhaps not so.
    for (engine, rests_on, as_is) in
        [("store-buffers", "rests on: an exact search", 1), ("cycles", "rests on: the event graph", 3)]
    {
        let (status, out, _) = verify(&["--engine", engine]);
        assert_eq!(status, 0, "{out}");
        assert!(out.contains(rests_on), "{out}");
        let (status, out, _) = verify(&["--engine", engine, "--as-is"]);
        assert_eq!(status, as_is, "{out}");
    }
    let (status, out, _) = run(&["verify", "specs/peterson.slco", "--property", "persistent"]);
    assert_eq!(status, 0, "{out}");
    assert!(out.contains("program order and the store order") && out.contains("no pattern is left open"), "{out}");
    let (status, out, _) = run(&["verify", "specs/peterson.slco", "--property", "persistent", "--as-is"]);
    assert_eq!(status, 1, "{out}");
    assert!(out.contains("violated") && out.contains("becomes visible"), "{out}");
}

#[test]
fn fix_takes_the_fences_of_any_engine() {
    for engine in ["cycles", "persistence", "store-buffers"] {
        let (status, fixed, errors) = run(&["fix", "specs/sb.slco", "--engine", engine]);
        assert_eq!((status, &*errors), (0, ""), "{engine}");
        assert_eq!(fixed.matches("; fence").count(), 2, "{engine}: {fixed}");
    }
    let (status, fixed, _) = run(&["fix", "specs/sb.slco", "--property", "same-states", "--mm", "pso"]);
    assert_eq!((status, fixed.matches("; fence").count()), (0, 2));
}

#[test]
fn what_an_engine_does_not_do_is_refused() {
    for (arguments, problem) in [
        (
            &["analyse", "specs/sb.slco", "--engine", "axioms"][..],
            "the engine axioms only judges fences that others have found (seqcon verify); use --engine cycles or store-buffers",
        ),
        (
            &["analyse", "specs/sb.slco", "--engine", "cycles", "--property", "persistent"],
            "the engine cycles decides robust, not persistent; use --engine persistence",
        ),
        (
            &["fix", "specs/sb.slco", "--engine", "persistence", "--mm", "armv7"],
            "the engine persistence is for tso, not for armv7; give --mm tso, or use --engine cycles",
        ),
        (&["verify", "specs/sb.slco", "--mm", "rmo"], "the memory model rmo cannot be run"),
        (
            &["verify", "specs/sb.slco", "--engine", "store-buffers", "--mm", "power"],
            "the engine store-buffers is for tso, pso, not for power",
        ),
        (
            &["analyse", "lts/sb.aut", "--engine", "store-buffers"],
            "the engine store-buffers needs the values that a program reads and writes",
        ),
        (
            &["analyse", "specs/sb.slco", "--engine", "store-buffers", "--cycles", "all"],
            "the engine store-buffers has no --cycles; use --engine cycles",
        ),
    ] {
        let (status, _, errors) = run(arguments);
        assert_eq!(status, 2, "{errors}");
        assert!(errors.contains(problem), "{errors}");
    }
}

#[test]
fn what_is_not_decided_has_a_status_of_its_own() {
    let arguments = ["analyse", "specs/sb.slco", "--mm", "tso", "--engine", "store-buffers", "--max-weak-states", "3"];
    let (status, out, _) = run(&arguments);
    assert_eq!(status, 3, "{out}");
    assert!(out.contains("it is not known which fences are enough: a search reached 3 states"), "{out}");
    let (status, _, errors) = run(&["fix", "specs/sb.slco", "--engine", "store-buffers", "--max-weak-states", "3"]);
    assert_eq!(status, 3, "{errors}");
    assert!(errors.contains("it is not known which fences are enough for tso: a search reached 3 states"), "{errors}");
}

#[test]
fn a_store_store_fence_is_enough_for_message_passing_on_pso() {
    let text = "ARM mp
{ 0:R2=x; 0:R3=y; 1:R2=x; 1:R3=y; }
 P0 | P1 ;
 MOV R0,#1 | LDR R0,[R3] ;
 STR R0,[R2] | LDR R1,[R2] ;
 DMB ST | ;
 STR R0,[R3] | ;
exists (1:R0=1 /\\ 1:R1=0)";
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("mp.litmus");
    std::fs::write(&path, text).unwrap();
    let path = path.to_str().unwrap();
    for arguments in [
        &["analyse", path, "--mm", "pso", "--engine", "store-buffers"][..],
        &["verify", path, "--mm", "pso", "--as-is"],
        &["analyse", path, "--mm", "pso"],
    ] {
        let (status, out, errors) = run(arguments);
        assert_eq!(status, 0, "{out}{errors}");
        assert!(!out.contains("fences=1"), "{out}");
    }
    std::fs::write(path, text.replace("DMB ST", "NOP   ")).unwrap();
    assert_ne!(run(&["verify", path, "--mm", "pso", "--as-is"]).0, 0);
}

/// An update that is to be one step and can be torn is not verified, nor repaired by fences.
#[test]
fn updates_are_one_step_where_they_are_read_so() {
    let text = "model counter { classes C { variables Integer x state machines
        T { initial a states b transitions a -> b { x := x + 1 } }
        U { initial a states b transitions a -> b { x := x + 1 } } } objects o : C() }";
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("counter.slco");
    std::fs::write(&path, text).unwrap();
    let path = path.to_str().unwrap();
    for atomicity in ["updates", "full"] {
        let (status, out, _) = run(&["verify", path, "--as-is", "--mm", "tso", "--atomicity", atomicity]);
        assert_eq!(status, 1, "{out}");
        assert!(out.contains("is torn"), "{out}");
        let analyse = ["analyse", path, "--mm", "tso", "--engine", "store-buffers", "--atomicity", atomicity];
        let (status, out, _) = run(&analyse);
        assert_eq!(status, 1, "{out}");
        assert!(out.contains("no fences are enough") && out.contains("is torn"), "{out}");
        let (status, _, errors) = run(&[&["fix"], &analyse[1..]].concat());
        assert_eq!(status, 1, "{errors}");
        assert!(errors.contains("no fences are enough for tso"), "{errors}");
        // The main analysis locks it.
        let (status, out, _) = run(&["verify", path, "--mm", "tso", "--atomicity", atomicity]);
        assert_eq!(status, 0, "{out}");
    }
    let (status, out, _) = run(&["verify", path, "--as-is", "--mm", "tso", "--atomicity", "split"]);
    assert_eq!(status, 0, "{out}");
}

/// On PSO a read that takes its value from a waiting write of its own can still be one that a fence must come before:
/// the write may become visible and be lost while an earlier one waits.
#[test]
fn a_read_of_an_own_write_counts_where_writes_overtake_each_other() {
    let text = "model pso { classes L { variables Integer x y z g state machines
        T { variables Integer r p initial s0 states s1 s2 s3 s4 s5 transitions
            s0 -> s1 { x := 1 } s1 -> s2 { y := 1 } s2 -> s3 { z := 1 } s3 -> s4 { r := y } s4 -> s5 { p := g } }
        U { variables Integer s initial a states a1 a2 b1 b2 c transitions
            a -> a1 { y = 0 } a1 -> b1 { atomic [ y := 2 ] } b1 -> c { s := x }
            a -> a2 { s := x } a2 -> b2 { y = 0 } b2 -> c { atomic [ z = 0; y := 2 ] } }
        W { variables Integer k n initial a0 states a1 a b c transitions
            a0 -> a1 { n := 1 } a1 -> a { n := 2 } a -> b { atomic [ g := 1 ] } b -> c { k := z } } }
        objects l : L() }";
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("pso.slco");
    std::fs::write(&path, text).unwrap();
    let (status, out, errors) =
        run(&["-q", "analyse", path.to_str().unwrap(), "--mm", "pso", "--property", "same-states"]);
    assert_eq!((status, &*errors), (0, ""), "{out}");
    assert!(out.contains(" fences=1 ") && out.contains("minimal=program complete=yes"), "{out}");
}
