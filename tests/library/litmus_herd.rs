//! Litmus tests under SC: their final states and verdicts are those that herd7 finds, on the corpus, on what diyone7
//! writes, and on single instructions.

use crate::support::corpus::corpus_dir;
use crate::support::herd::{Said, diy, under, under_sc};
use crate::support::interleavings::{Final, accesses_twice, finals};
use crate::support::litmus::{files, value_of};
use crate::support::tools::tools;
use rayon::prelude::*;
use seqcon::lang::litmus::{Test, read};
use seqcon::weak::axiomatic::{Model, outcomes};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

/// The final states of a test under SC; nothing if there are too many.
fn under_our_sc(test: &Test) -> Option<BTreeSet<Final>> {
    if !accesses_twice(&test.program) {
        return finals(&test.program, 200_000);
    }
    let outcomes = outcomes(&test.program, &Model::sc(), 2).ok().filter(|outcomes| outcomes.complete)?;
    Some(outcomes.ends.into_iter().map(|end| (end.shared, end.locals)).collect())
}

/// A value of herd's: a number, or the address of a location.
fn number_of(test: &Test, value: &str) -> i64 {
    let hexadecimal = value.strip_prefix("0x").and_then(|digits| i64::from_str_radix(digits, 16).ok());
    value.parse().ok().or(hexadecimal).unwrap_or_else(|| {
        let location = test.program.shared.iter().position(|variable| variable.name == value).unwrap();
        1_000_000_000 * (i64::try_from(location).unwrap() + 1)
    })
}

/// What came of comparing a test with what herd says of it.
enum Compared {
    Same,
    Differs(String),
    /// There are too many states, herd found none, or it shows a whole array.
    Unknown,
}

fn compare(test: &Test, said: &Said) -> Compared {
    let Some(ours) = under_our_sc(test) else { return Compared::Unknown };
    let Some(first) = said.states.first() else { return Compared::Unknown };
    let places: Vec<&String> = first.keys().collect();
    if places.iter().any(|place| place.contains('[') && !place.ends_with(']')) {
        return Compared::Unknown;
    }
    let states = ours.iter().map(|(shared, locals)| (shared.as_slice(), locals.as_slice()));
    let holds = test.condition.as_ref().is_some_and(|condition| condition.holds(states));
    let ours: BTreeSet<Vec<i64>> =
        ours.iter().map(|state| places.iter().map(|place| value_of(test, state, place)).collect()).collect();
    let theirs: BTreeSet<Vec<i64>> =
        said.states.iter().map(|state| state.values().map(|value| number_of(test, value)).collect()).collect();
    if ours == theirs && holds == said.holds {
        return Compared::Same;
    }
    Compared::Differs(format!("of {places:?} we have {ours:?} ({holds}), herd {theirs:?} ({})", said.holds))
}

/// Compares tests with what herd says; gives how many really were compared, and what differs.
fn compared(tests: &[(PathBuf, Test)], said: &BTreeMap<String, Said>) -> (usize, Vec<String>) {
    let judged: Vec<(&PathBuf, Compared)> = tests
        .par_iter()
        .map(|(path, test)| {
            let judged = said.get(&test.program.name).map(|said| compare(test, said));
            (path, judged.unwrap_or(Compared::Unknown))
        })
        .collect();
    let mut differing = Vec::new();
    let mut count = 0;
    for (path, judged) in judged {
        match judged {
            Compared::Same => count += 1,
            Compared::Differs(how) => {
                count += 1;
                differing.push(format!("{}: {how}", path.display()));
            }
            Compared::Unknown => println!("not compared: {}", path.display()),
        }
    }
    (count, differing)
}

#[test]
fn under_sc_the_corpus_does_what_herd_says() {
    let Some(corpus) = corpus_dir() else { return };
    let scratch = tempfile::tempdir().unwrap();
    let folders = [("AARCH64", 880), ("C11", 60), ("PPC", 1100), ("RISCV", 1190), ("X86", 250)];
    let mut differing = Vec::new();
    for (folder, least) in folders {
        let files = files(&corpus.join("litmus").join(folder));
        let Some(said) = under_sc(&files, scratch.path()) else { return };
        let readable = |file: PathBuf| {
            let test = read("t.litmus", &fs::read_to_string(&file).unwrap()).ok()?;
            Some((file, test))
        };
        let tests: Vec<(PathBuf, Test)> = files.into_iter().filter_map(readable).collect();
        let (count, differ) = compared(&tests, &said);
        println!("{folder}: {count} compared, {} differ", differ.len());
        assert!(count >= least, "{folder}: only {count} were compared");
        differing.extend(differ);
    }
    assert_eq!(differing, [""; 0]);
}

/// Cycles for all architectures, and more for each.
fn cycles(architecture: &str) -> Vec<String> {
    let all = [
        "PodWR Fre PodWR Fre",
        "PodWW Rfe PodRR Fre",
        "PodRW Rfe PodRW Rfe",
        "PodWW Coe PodWW Coe",
        "Rfe PodRW Rfe PodRR Fre",
        "Rfe PodRR Fre Rfe PodRR Fre",
        "PodWW Coe PodWR Fre",
        "PodWW Rfe PodRW Coe",
        "Rmw PodWR Fre PodWR Hat",
        "PodWR Rmw PodWR Fre",
        "Rmw PodWW Rfe PodRR Hat",
        "Rmw Coe Rmw Hat",
    ];
    let dependencies = [
        "PodWW Rfe DpAddrdR Fre",
        "PodRW Rfe DpDatadW Rfe",
        "PodRW Rfe DpCtrldW Rfe",
        "DpAddrdW Rfe DpDatadW Rfe",
        "PodWW Rfe DpCtrldR Fre",
    ];
    let own: &[&str] = match architecture {
        "PPC" => &[
            "SyncdWW Rfe DpAddrdR Fre",
            "LwSyncdWW Rfe DpCtrlIsyncdR Fre",
            "EieiodWW Rfe ISyncdRR Fre",
            "LxSx PodWR Fre PodWR Hat",
        ],
        "ARM" => &[
            "DMBdWW Rfe DpCtrlIsbdR Fre",
            "DMB.STdWW Rfe DSBdRR Fre",
            "DSB.STdWW Rfe ISBdRR Fre",
            "LxSx PodWR Fre PodWR Hat",
        ],
        "AArch64" => &[
            "DMB.SYdWW Rfe DpCtrlIsbdR Fre",
            "DMB.STdWW Rfe DMB.LDdRR Fre",
            "DSB.STdWW Rfe DSB.LDdRR Fre",
            "DSB.SYdWR Fre ISBdWR Fre",
            "PodWWPL RfeLA PodRRAP Fre",
            "PodWWPL RfeLQ PodRRQP Fre",
            "PodWRLA FreAL PodWRLA FreAL",
            "PodWW Rfe DpAddrCseldR Fre",
            "PodWW Rfe DpCtrlCseldR Fre",
            "PodRW Rfe DpDataCseldW Rfe",
            "LxSx PodWR Fre PodWR Hat",
            "Amo.Cas PodWR Fre PodWR Hat",
            "Amo.Swp PodWR Fre PodWR Hat",
            "Amo.LdAdd PodWR Fre PodWR Hat",
            "Amo.LdClr PodWR Fre PodWR Hat",
            "Amo.LdEor PodWR Fre PodWR Hat",
            "Amo.LdSet PodWR Fre PodWR Hat",
            "Amo.StAdd PodWR Fre PodWR Hat",
            "Amo.StClr PodWR Fre PodWR Hat",
            "Amo.StEor PodWR Fre PodWR Hat",
            "Amo.StSet PodWR Fre PodWR Hat",
            "Amo.CasAL PodWRLP Fre PodWR HatPA",
            "Amo.SwpAL PodWRLP Fre PodWR HatPA",
        ],
        "RISCV" => &[
            "Fence.rw.wdWW Rfe Fence.r.rwdRR Fre",
            "Fence.tsodWR Fre PodWR Fre",
            "Fence.rw.rwdWR Fre Fence.iorw.iorwdWR Fre",
            "Fence.w.wdWW Rfe DpCtrlFenceIdR Fre",
            "PodWWPRl RfeRlAq PodRRAqP Fre",
            "Exch PodWR Fre PodWR Hat",
        ],
        "X86" | "X86_64" => &["MFencedWR Fre MFencedWR Fre", "Exch PodWR Fre PodWR Hat", "LFencedWR Fre SFencedWR Fre"],
        _ => &[
            "FenceScdWR Fre FenceScdWR Fre",
            "FenceReldWW Rfe FenceAcqdRR Fre",
            "FenceARdWW Rfe FenceCondRR Fre",
            "PodWWRlxRel RfeRelAcq PodRRAcqRlx FreRlxRlx",
            "PodWRScSc FreScSc PodWRScSc FreScSc",
        ],
    };
    let has_dependencies = !architecture.starts_with("X86");
    let dependencies = dependencies.into_iter().filter(|_| has_dependencies);
    all.into_iter().chain(dependencies).chain(own.iter().copied()).map(str::to_owned).collect()
}

#[test]
fn what_diyone_writes_is_read_and_does_what_herd_says() {
    let Some([diyone]) = tools(["diyone7"]) else { return };
    let scratch = tempfile::tempdir().unwrap();
    let mut tests = Vec::new();
    for (architecture, least) in
        [("PPC", 12), ("ARM", 12), ("AArch64", 24), ("RISCV", 14), ("X86", 10), ("X86_64", 10), ("C", 10)]
    {
        let before = tests.len();
        for (number, cycle) in cycles(architecture).iter().enumerate() {
            let name = format!("{architecture}-{number}");
            let Some(text) = diy(&diyone, architecture, cycle, &name) else { continue };
            let path = scratch.path().join(format!("{name}.litmus"));
            fs::write(&path, &text).unwrap();
            let test = read(&name, &text).unwrap_or_else(|errors| panic!("{cycle}\n{text}\n{errors}"));
            tests.push((path, test));
        }
        let count = tests.len() - before;
        println!("{architecture}: {count} tests of diyone7");
        assert!(count >= least, "{architecture}: only {count} tests were written");
    }
    let paths: Vec<PathBuf> = tests.iter().map(|(path, _)| path.clone()).collect();
    let Some(said) = under_sc(&paths, scratch.path()) else { return };
    let (count, differing) = compared(&tests, &said);
    println!("{count} of {} compared", tests.len());
    assert_eq!(differing, [""; 0]);
    assert!(count * 10 >= tests.len() * 9, "only {count} of {} were compared", tests.len());
}

/// Instructions that read and write, each with values that tell it from the others.
fn with_values() -> Vec<(String, String)> {
    let mut tests = Vec::new();
    let operators = ["SWP", "LDADD", "LDSET", "LDCLR", "LDEOR", "LDSMAX", "LDSMIN"];
    for (operator, marks) in
        operators.into_iter().flat_map(|operator| ["", "A", "L", "AL"].map(|marks| (operator, marks)))
    {
        let code = format!("{operator}{marks} W2,W3,[X1]");
        tests.push((code, "AArch64", "x=6; 0:X1=x; 0:X2=3; 0:X3=9;", "0:X2=0 /\\ 0:X3=0"));
    }
    for operator in ["STADD", "STSET", "STCLR", "STEOR", "STADDL"] {
        tests.push((format!("{operator} W2,[X1]"), "AArch64", "x=6; 0:X1=x; 0:X2=3;", "0:X2=0"));
    }
    for expected in [6, 7] {
        let initial = if expected == 6 { "x=6; 0:X1=x; 0:X2=6; 0:X3=9;" } else { "x=6; 0:X1=x; 0:X2=7; 0:X3=9;" };
        for marks in ["", "A", "L", "AL"] {
            tests.push((format!("CAS{marks} W2,W3,[X1]"), "AArch64", initial, "0:X2=0 /\\ 0:X3=0"));
        }
    }
    for code in ["ADD W2,W1,#5", "SUB W2,W1,#5", "EOR W2,W1,W3", "AND W2,W1,W3", "ORR W2,W1,W3"] {
        tests.push((code.to_owned(), "AArch64", "0:X1=6; 0:X3=3;", "0:X2=0"));
    }
    for code in ["amoswap", "amoadd", "amoand", "amoor", "amoxor", "amomax", "amomin"] {
        for marks in ["", ".aq", ".rl", ".aq.rl"] {
            let code = format!("{code}.w{marks} x7,x5,(x6)");
            tests.push((code, "RISCV", "x=6; 0:x6=x; 0:x5=3;", "0:x7=0"));
        }
    }
    for code in ["add x7,x5,x6", "sub x7,x5,x6", "and x7,x5,x6", "or x7,x5,x6", "xor x7,x5,x6", "addi x7,x5,4"] {
        tests.push((code.to_owned(), "RISCV", "0:x5=6; 0:x6=3;", "0:x7=0"));
    }
    for code in ["add r3,r1,r2", "xor r3,r1,r2", "and r3,r1,r2", "or r3,r1,r2", "addi r3,r1,4"] {
        tests.push((code.to_owned(), "PPC", "0:r1=6; 0:r2=3;", "0:r3=0"));
    }
    // Of these herd reads no `XADD`, and no `LOCK` before `CMPXCHG`.
    for code in ["LOCK XADD [x],EBX", "XCHG [x],EBX", "LOCK CMPXCHG [x],EBX", "LOCK INC [x]", "LOCK DEC [x]"] {
        tests.push((code.to_owned(), "X86", "x=6; 0:EAX=6; 0:EBX=3;", "0:EAX=0 /\\ 0:EBX=0"));
        tests.push((code.to_owned(), "X86", "x=6; 0:EAX=5; 0:EBX=3;", "0:EAX=0 /\\ 0:EBX=0"));
    }
    let text = |(number, (code, architecture, initial, places)): (usize, (String, &str, &str, &str))| {
        let name = format!("own-{number}");
        let condition = if initial.contains("x=6;") { format!("x=0 /\\ {places}") } else { places.to_owned() };
        let text = format!("{architecture} {name}\n{{ {initial} }}\n P0 ;\n {code} ;\nexists ({condition})\n");
        (name, text)
    };
    tests.into_iter().enumerate().map(text).collect()
}

#[test]
fn what_instructions_compute_is_what_herd_says() {
    let scratch = tempfile::tempdir().unwrap();
    let mut tests = Vec::new();
    for (name, text) in with_values() {
        let path = scratch.path().join(format!("{name}.litmus"));
        fs::write(&path, &text).unwrap();
        tests.push((path, read(&name, &text).unwrap_or_else(|errors| panic!("{errors}"))));
    }
    let paths: Vec<PathBuf> = tests.iter().map(|(path, _)| path.clone()).collect();
    let Some(said) = under_sc(&paths, scratch.path()) else { return };
    let (count, differing) = compared(&tests, &said);
    println!("{count} of {} compared", tests.len());
    assert_eq!(differing, [""; 0]);
    assert!(count >= 80, "only {count} of {} were compared", tests.len());
}

/// Instructions of RISC-V that are marked on both sides, in store buffering, load buffering and message passing: RVWMO
/// as herd7 has it.
#[test]
fn marks_on_both_sides_are_what_herd_says() {
    let scratch = tempfile::tempdir().unwrap();
    let load = |mark: &str| [format!("lr.w{mark} x9,0(x20)"), format!("lw{mark} x9,0(x20)")];
    let store = |mark: &str| [format!("sc.w{mark} x10,x8,0(x21)"), format!("sw{mark} x8,0(x21)")];
    let mut tests = Vec::new();
    for mark in ["", ".aqrl"] {
        for (load, store) in load(mark).into_iter().zip(store(mark)) {
            let plain = ["lw x9,0(x20)", "sw x8,0(x21)"];
            for (first, second) in [
                (&*store, plain[0]),
                (plain[1], &*load),
                (&*load, plain[1]),
                (plain[0], &*store),
                (&*store, &*load),
                (&*load, &*store),
            ] {
                // A store conditional needs its load, of the same location.
                let code = |instruction: &str| match instruction.starts_with("sc") {
                    true => vec!["lr.w x11,0(x21)".to_owned(), instruction.to_owned()],
                    false => vec![instruction.to_owned()],
                };
                let thread: Vec<String> = [code(first), code(second)].concat();
                let rows = thread.iter().map(|line| format!(" {line} | {line} ;\n")).collect::<String>();
                let is_load_first = first.starts_with('l');
                let condition = if is_load_first { "0:x9=1 /\\ 1:x9=1" } else { "0:x9=0 /\\ 1:x9=0 /\\ x=1 /\\ y=1" };
                let name = format!("marks-{}", tests.len());
                let text = format!(
                    "RISCV {name}\n{{ 0:x8=1; 0:x20=x; 0:x21=y; 1:x8=1; 1:x20=y; 1:x21=x; }}\n P0 | P1 ;\n{rows}exists ({condition})\n"
                );
                let path = scratch.path().join(format!("{name}.litmus"));
                fs::write(&path, &text).unwrap();
                let test = read(&name, &text).unwrap_or_else(|errors| panic!("{errors}\n{text}"));
                tests.push((path, text, test));
            }
        }
    }
    let paths: Vec<PathBuf> = tests.iter().map(|(path, ..)| path.clone()).collect();
    let Some(said) = under(&paths, std::path::Path::new("riscv.cat")) else { return };
    let model = Model::named("riscv").unwrap();
    let mut allowed = [0; 2];
    for (_, text, test) in &tests {
        let Some(said) = said.get(&test.program.name) else { panic!("herd7 does not read\n{text}") };
        let ours = outcomes(&test.program, &model, 2).unwrap();
        let states = ours.ends.iter().map(|end| (end.shared.as_slice(), end.locals.as_slice()));
        let holds = test.condition.as_ref().is_some_and(|condition| condition.holds(states));
        assert_eq!(holds, said.holds, "{text}");
        allowed[usize::from(holds)] += 1;
    }
    assert!(allowed.iter().all(|&count| count > 4), "{allowed:?}");
}

#[test]
fn marks_that_an_access_cannot_have_are_refused() {
    for code in ["lw.rl x9,0(x20)", "lr.w.rl x9,0(x20)", "sw.aq x8,0(x20)", "sc.w.aq x10,x8,0(x20)"] {
        let text = format!("RISCV t\n{{ 0:x20=x; 0:x8=1; }}\n P0 ;\n {code} ;\nexists (x=0)\n");
        let refused = read("t", &text).expect_err("it is refused").to_string();
        assert!(refused.contains("alone"), "{refused}");
    }
}
