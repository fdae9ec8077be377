//! `seqcon litmus` as a user runs it, and litmus tests as specifications.

use crate::support::command::run;
use std::fs;

#[test]
fn verdicts_are_lines_and_a_table() {
    let directory = tempfile::TempDir::new().unwrap();
    let csv = directory.path().join("verdicts.csv");
    let (status, out, _) = run(&["litmus", "litmus", "--mm", "sc,tso", "--csv", csv.to_str().unwrap()]);
    assert_eq!(status, 0);
    assert_eq!(
        out,
        "mp+lwsync+addr.litmus sc: exists: does not hold (3 executions, 3 outcomes)\n\
         mp+lwsync+addr.litmus tso: exists: does not hold (3 executions, 3 outcomes)\n\
         sb.litmus sc: exists: does not hold (3 executions, 3 outcomes)\n\
         sb.litmus tso: exists: holds (4 executions, 4 outcomes)\n\
         tests=4 condition_holds=1 unknown=0 executions=13\n"
    );
    assert_eq!(
        fs::read_to_string(csv).unwrap(),
        "model,memory_model,condition_holds,complete\nmp+lwsync+addr.litmus,sc,0,yes\nmp+lwsync+addr.litmus,tso,0,yes\nsb.litmus,sc,0,yes\nsb.litmus,tso,1,yes\n"
    );
    let (status, out, err) = run(&["litmus", "litmus/sb.litmus", "--csv", "-"]);
    assert_eq!(
        (status, out.as_str()),
        (0, "model,memory_model,condition_holds,complete\nlitmus/sb.litmus,tso,1,yes\n")
    );
    assert_eq!(err, "tests=1 condition_holds=1 unknown=0 executions=4\n");
}

#[test]
fn a_test_with_a_loop_that_is_cut_off_is_not_complete() {
    let directory = tempfile::TempDir::new().unwrap();
    let path = directory.path().join("loop.litmus");
    fs::write(
        &path,
        "X86 loop\n{ }\n P0 | P1 ;\n L: MOV EAX,[x] | MOV [x],$1 ;\n CMP EAX,$1 | ;\n JNE L | ;\nforall 0:EAX=1\n",
    )
    .unwrap();
    let (status, out, _) = run(&["litmus", path.to_str().unwrap()]);
    assert_eq!(status, 3);
    assert!(out.contains("forall: unknown (2 executions, 1 outcome, loops cut off after 2 rounds)"), "{out}");
    let (status, table, _) = run(&["litmus", path.to_str().unwrap(), "--csv", "-"]);
    assert_eq!((status, table.ends_with(",tso,unknown,no\n")), (3, true), "{table}");
}

#[test]
fn what_is_wrong_ends_with_status_2() {
    let directory = tempfile::TempDir::new().unwrap();
    let path = directory.path().join("wrong.litmus");
    fs::write(&path, "X86 wrong\n{ }\n P0 ;\n CLFLUSH [x] ;\nexists x=1\n").unwrap();
    let wrong = path.to_str().unwrap();
    let csv = directory.path().join("verdicts.csv");
    for arguments in [&["litmus", wrong, "--csv", csv.to_str().unwrap()][..], &["analyse", wrong]] {
        let (status, out, err) = run(arguments);
        assert_eq!((status, out.as_str()), (2, ""));
        assert!(err.contains("wrong.litmus:4:2: error: the instruction `CLFLUSH` is not supported"), "{err}");
        assert!(!csv.exists(), "nothing is left behind");
    }
    // The others are answered all the same.
    let (status, out, err) = run(&["litmus", "litmus", wrong, "--mm", "tso", "--csv", csv.to_str().unwrap()]);
    assert_eq!(status, 2);
    assert!(out.ends_with("tests=2 condition_holds=1 unknown=0 executions=7\n"), "{out}");
    assert!(err.contains("wrong.litmus:4:2: error: the instruction `CLFLUSH` is not supported"), "{err}");
    assert_eq!(fs::read_to_string(&csv).unwrap().lines().count(), 3);
    let (status, _, err) = run(&["litmus", "litmus", "--mm", "alpha"]);
    assert_eq!(
        (status, err.contains("there are axioms for sc, tso, pso, armv8, riscv, armv7, power, rc11")),
        (2, true),
        "{err}"
    );
    let (status, _, err) = run(&["litmus", directory.path().join("nothing").to_str().unwrap()]);
    assert_eq!((status, err.contains("nothing: No such file")), (2, true), "{err}");
    fs::remove_file(path).unwrap();
    let (status, _, err) = run(&["litmus", directory.path().to_str().unwrap()]);
    assert_eq!((status, err.contains("no .litmus file in this directory")), (2, true), "{err}");
}

#[test]
fn a_litmus_test_is_a_specification() {
    let (status, out, _) = run(&["-q", "analyse", "litmus/sb.litmus", "--mm", "tso"]);
    assert_eq!(status, 0);
    assert!(out.starts_with("model=sb memory_model=tso ") && out.contains(" fences=2 "), "{out}");
    let (status, out, _) = run(&["explore", "litmus/mp+lwsync+addr.litmus", "-o", "-"]);
    assert_eq!(status, 0);
    assert!(out.contains("\"P1.2: ~r5 := x[0]@(~r3)\""), "the address dependency is kept: {out}");
}
