//! Litmus tests of all languages: every test of the corpus and of diyone7 is read, and what they do under SC is what
//! herd7 says.

use crate::support::corpus::corpus_dir;
use crate::support::herd::{Said, diy, under_sc};
use crate::support::interleavings::{Final, accesses_twice, finals};
use crate::support::litmus::verdict;
use crate::support::tools::tools;
use rayon::prelude::*;
use seqcon::lang::litmus::{Test, read};
use seqcon::property::{FinalCondition, Quantifier};
use seqcon::weak::axiomatic::litmus::Answer;
use seqcon::weak::axiomatic::{Model, outcomes};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The tests of the corpus that are not read, all for accesses to parts of a location.
const REFUSED: [&str; 5] =
    ["CO-MIXED-1.litmus", "CO-MIXED-1b.litmus", "CO-MIXED-6-sep+reader.litmus", "CO-MIXED-6.litmus", "MP+stp+addr+60.litmus"];

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|end| end == "litmus")).collect();
    files.sort();
    files
}

#[test]
fn all_tests_of_the_corpus_are_read() {
    let Some(corpus) = corpus_dir() else { return };
    let mut refused = BTreeSet::new();
    for (folder, count) in [("AARCH64", 902), ("C11", 66), ("PPC", 1186), ("RISCV", 1201), ("X86", 252)] {
        let files = files(&corpus.join("litmus").join(folder));
        assert_eq!(files.len(), count, "{folder}");
        for file in files {
            let name = file.file_name().unwrap().to_str().unwrap().to_owned();
            let text = fs::read_to_string(&file).unwrap();
            match read(&name, &text) {
                Ok(test) => assert!(test.condition.is_some(), "{name}"),
                Err(errors) => {
                    let errors = errors.to_string();
                    let why = ["leads to no element of this location", "`STP` is not supported"];
                    assert!(why.iter().any(|why| errors.contains(why)), "{errors}");
                    refused.insert(name);
                }
            }
        }
    }
    assert_eq!(refused.iter().map(String::as_str).collect::<Vec<_>>(), REFUSED);
}

/// The verdicts of Dartagnan's test suite, under the models that are there.
#[test]
fn verdicts_for_more_languages_are_the_expected_ones() {
    let Some(corpus) = corpus_dir() else { return };
    let corpus = corpus.join("litmus");
    let table = fs::read_to_string(corpus.join("expected-more.csv")).unwrap();
    let rows: Vec<Vec<&str>> = table.lines().skip(1).map(|line| line.trim().split(',').collect()).collect();
    assert_eq!(rows.len(), 2169);
    let absent: BTreeSet<&str> = rows.iter().map(|row| row[1]).filter(|name| Model::named(name).is_none()).collect();
    if !absent.is_empty() {
        eprintln!("SKIPPED: no axioms for {absent:?}");
    }
    let is_asked = |row: &&Vec<&str>| !REFUSED.iter().any(|name| row[0].ends_with(name));
    let differing: Vec<&str> = rows
        .par_iter()
        .filter(is_asked)
        .filter_map(|row| {
            let text = fs::read_to_string(corpus.join(row[0])).unwrap();
            let test = read(row[0], &text).unwrap();
            assert_eq!(test.architecture.memory_model(), row[1], "{}", row[0]);
            let verdict = verdict(&test.program, test.condition.as_ref(), Model::named(row[1])?, 2).unwrap();
            let expected = if row[2] == "1" { Answer::Holds } else { Answer::Fails };
            (verdict.condition != Some(expected)).then_some(row[0])
        })
        .collect();
    assert_eq!(differing, [""; 0]);
}

/// The final states of a test under SC; nothing if there are too many.
fn under_our_sc(test: &Test) -> Option<BTreeSet<Final>> {
    if !accesses_twice(&test.program) {
        return finals(&test.program, 200_000);
    }
    let outcomes = outcomes(&test.program, Model::Sc, 2).ok().filter(|outcomes| outcomes.complete)?;
    Some(outcomes.ends.into_iter().map(|end| (end.shared, end.locals)).collect())
}

/// The value of a register or a location that herd names, in one of our final states.
fn value_of(test: &Test, (shared, locals): &Final, place: &str) -> i64 {
    let program = &test.program;
    if let Some((thread, register)) = place.split_once(':') {
        let thread: usize = thread.parse().unwrap();
        let wanted = register.trim_start_matches('%');
        let is_it = |name: &str| name.eq_ignore_ascii_case(wanted) || name.strip_prefix("sym_") == Some(wanted);
        let position = program.threads[thread].locals.iter().position(|local| is_it(&local.name));
        // A register that the test never mentions but in its list of locations.
        return position.map_or(0, |position| locals[thread][position]);
    }
    let name = place.trim_start_matches('[').trim_end_matches(']');
    shared[program.shared.iter().position(|variable| variable.name == name).unwrap()]
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
    NotCompared,
}

fn compare(test: &Test, said: &Said) -> Compared {
    let Some(ours) = under_our_sc(test) else { return Compared::NotCompared };
    let Some(first) = said.states.first() else { return Compared::NotCompared };
    let places: Vec<&String> = first.keys().collect();
    if places.iter().any(|place| place.contains('[') && !place.ends_with(']')) {
        return Compared::NotCompared;
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
            (path, judged.unwrap_or(Compared::NotCompared))
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
            Compared::NotCompared => println!("not compared: {}", path.display()),
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
    for (operator, marks) in operators.into_iter().flat_map(|operator| ["", "A", "L", "AL"].map(|marks| (operator, marks))) {
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
        tests.push((path, only(&text)));
    }
    let paths: Vec<PathBuf> = tests.iter().map(|(path, _)| path.clone()).collect();
    let Some(said) = under_sc(&paths, scratch.path()) else { return };
    let (count, differing) = compared(&tests, &said);
    println!("{count} of {} compared", tests.len());
    assert_eq!(differing, [""; 0]);
    assert!(count >= 80, "only {count} of {} were compared", tests.len());
}

/// Reads a test that is right.
fn only(test: &str) -> Test {
    read("t.litmus", test).unwrap_or_else(|errors| panic!("{errors}"))
}

/// What a filter does not let pass is not asked.
#[test]
fn filters_say_which_states_are_asked() {
    let asked = |end: &str| {
        let text = format!("X86 t\n{{ int x=1; }}\nP0 ;\nMOV EAX,[x] ;\nlocations [x; 0:EAX;]\n{end}");
        let Test { program, condition, .. } = only(&text);
        verdict(&program, condition.as_ref(), Model::Sc, 1).unwrap().condition
    };
    assert_eq!(asked("exists (0:EAX=1)"), Some(Answer::Holds));
    assert_eq!(asked("filter (x=0) exists (0:EAX=1)"), Some(Answer::Fails));
    assert_eq!(asked("filter (x=0)\nforall (0:EAX=7)"), Some(Answer::Holds));
    assert_eq!(asked("filter (x=1)\nforall (0:EAX=7)"), Some(Answer::Fails));
    assert_eq!(asked("forall (x=1 => 0:EAX=1)"), Some(Answer::Holds));
    assert_eq!(asked("filter (x=1)"), None);
}

/// The final states of a test.
fn ends(text: &str) -> BTreeSet<Final> {
    finals(&only(text).program, 10_000).unwrap()
}

#[test]
fn initial_states_have_types_arrays_and_addresses() {
    let text = "AArch64 t\n{ int x[2]={3,4}; uint64_t y; int *p=x; atomic_int z=7; uint64_t 0:X3=5; int 0:X4; 0:X1=x; 0:X2=y; 0:X9=p; }
 P0 ;\n LDR W5,[X1,#4] ;\n STR X3,[X2] ;\n LDR X6,[X9] ;\n LDR W7,[X6] ;\n STR X1,[X9] ;\nexists (x[1]=4 /\\ 0:X6=x /\\ p=&x)";
    let test = only(text);
    let ends = finals(&test.program, 1000).unwrap();
    let end = ends.first().unwrap();
    assert_eq!(ends.len(), 1);
    assert_eq!([value_of(&test, end, "0:X5"), value_of(&test, end, "0:X7"), value_of(&test, end, "0:X4")], [4, 3, 0]);
    let FinalCondition { quantifier, .. } = test.condition.as_ref().unwrap();
    assert_eq!(*quantifier, Quantifier::Exists);
    let states = ends.iter().map(|(shared, locals)| (shared.as_slice(), locals.as_slice()));
    assert!(test.condition.as_ref().unwrap().holds(states));
}

/// A store exclusive needs a load exclusive of the same location before it, and nobody's write in between.
#[test]
fn stores_exclusive() {
    let codes = [
        ("PPC", "0:r2=x; 1:r2=x;", "li r1,1 ;\n lwarx r3,r0,r2 ;\n stwcx. r1,r0,r2", "lwarx"),
        ("ARM", "%x=x;", "MOV R1,#1 ;\n LDREX R3,[%x] ;\n STREX R4,R1,[%x]", "LDREX"),
        ("AArch64", "0:X2=x;", "MOV W1,#1 ;\n LDXR W3,[X2] ;\n STLXR W4,W1,[X2]", "LDXR"),
        ("RISCV", "0:x6=x;", "li t0,1 ;\n lr.w x7,0(x6) ;\n sc.w.rl x8,t0,(x6)", "lr.w"),
    ];
    for (architecture, initial, code, load) in codes {
        let initial = initial.replace("1:r2=x;", "");
        let text = format!("{architecture} t\n{{ {initial} }}\nP0 ;\n {code} ;\nexists (x=1)");
        let values: BTreeSet<i64> = ends(&text).into_iter().map(|(shared, _)| shared[0]).collect();
        assert_eq!(values, BTreeSet::from([0, 1]), "{architecture}: it may fail, and may succeed");
        let without: Vec<&str> = text.lines().filter(|line| !line.contains(load)).collect();
        let values: BTreeSet<i64> = ends(&without.join("\n")).into_iter().map(|(shared, _)| shared[0]).collect();
        assert_eq!(values, BTreeSet::from([0]), "{architecture}: without a load it fails");
    }
}

#[test]
fn comparing_and_exchanging() {
    let cas = |expected: &str| {
        format!("AArch64 t\n{{ x=5; 0:X1=x; }}\nP0 ;\n MOV W2,{expected} ;\n MOV W3,#9 ;\n CASAL W2,W3,[X1] ;\nexists (x=9)")
    };
    let x = |text: &str| ends(text).into_iter().map(|(shared, _)| shared[0]).collect::<Vec<_>>();
    assert_eq!((x(&cas("#5")), x(&cas("#6"))), (vec![9], vec![5]));
    let x86 = |expected: &str| {
        format!("X86 t\n{{ x=5; 0:EAX={expected}; 0:EBX=9; }}\nP0 ;\n LOCK CMPXCHG [x],EBX ;\n JNE L ;\n MOV [y],$1 ;\n L: ;\nexists (y=1)")
    };
    let both = |text: &str| ends(text).into_iter().map(|(shared, _)| shared).collect::<Vec<_>>();
    assert_eq!((both(&x86("5")), both(&x86("6"))), (vec![vec![9, 1]], vec![vec![5, 0]]));
    let c = |form: &str| {
        format!("C t\n{{ x=5; }}\nP0 (atomic_int* x) {{ int e = 6; int r0 = atomic_compare_exchange_{form}(x, &e, 9); }}\nexists (0:r0=1)")
    };
    for form in ["strong", "weak"] {
        let found = ends(&c(form));
        assert!(found.iter().all(|(shared, locals)| shared[0] == 5 && locals[0][0] == 5), "{form} {found:?}");
        let right = ends(&c(form).replace("int e = 6", "int e = 5"));
        assert_eq!(right.len(), if form == "weak" { 2 } else { 1 }, "the weak form may fail");
    }
}

#[test]
fn statements_of_c() {
    let text = "C t // a comment\n{ int x[2] = {1, 2}; [y] = 3; }\n/* another (* one *) */\nP0 (int* x, volatile int *y) {
  int i = 0, sum = 0, odd;
  while (i < 2 && x[i] != 0) { sum += *(x + i); i++; }
  if (!(sum == 3) || *y != 3) odd = -1; else { odd = (sum | 4) ^ ~0 & 2; }
  do { *y = *y - 1; } while (*y > 1);
}\nforall (y=1 /\\ 0:sum=3 /\\ 0:odd=5 /\\ 0:i=2)";
    let test = only(text);
    let ends = finals(&test.program, 10_000).unwrap();
    assert_eq!(ends.len(), 1);
    let states = ends.iter().map(|(shared, locals)| (shared.as_slice(), locals.as_slice()));
    assert!(test.condition.as_ref().unwrap().holds(states), "{ends:?}");
}

/// What is wrong is told once, at its place, however deep or large it is.
#[test]
fn hostile_texts_are_refused() {
    let c = |body: &str| format!("C t\n{{ }}\nP0 (int* x) {{ {body} }}\nexists (x=1)");
    let arm = |code: &str| format!("AArch64 t\n{{ 0:X1=x; }}\nP0 ;\n {code} ;\nexists (x=1)");
    let deep = |open: &str, close: &str| format!("int r = {}1{};", open.repeat(50_000), close.repeat(50_000));
    let wrong = [
        (c(&deep("(", ")")), "nest at most 50 deep"),
        (c(&deep("- ", "")), "nest at most 50 deep"),
        (c(&deep("1 + ", "")), "at most 200 operators"),
        (c(&"{".repeat(50_000)), "is not closed"),
        (c(&format!("{}{}", "{".repeat(5000), "}".repeat(5000))), "nest at most 50 deep"),
        (c("int r = 99999999999999999999;"), "expected an integer of at most 63 bits"),
        (c("int r = x;"), "`x` is an address"),
        (c("int* p = x;"), "pointers in variables are not supported"),
        (c("r = 1;"), "there is no variable `r`"),
        (c("for (;;) {}"), "`for` is not supported"),
        (c("atomic_load_explicit(x, memory_order_release);"), "cannot have this order"),
        (c("atomic_load(y);"), "`y` is no location of this thread"),
        (c("x[1] = 2;"), "there is no element 1"),
        (c("int r = 1"), "expected `;`"),
        ("C t\n{ }\nP0 (int* x) {\n".to_owned(), "is not closed"),
        ("C t\n{ }\nP0 (int x) { }".to_owned(), "expected a pointer"),
        ("C t\n{ int x[99999999999]; }\nP0 () { }".to_owned(), "expected a length from 1 to 4096"),
        (arm("LDRB W0,[X1]"), "the instruction `LDRB` is not supported"),
        (arm("SWPALB W0,W1,[X1]"), "bytes and half words"),
        (arm("LDR W0,[X1,#99999999999999999999]"), "expected a constant offset"),
        (arm("LDR W0,[X1,#4]"), "leads to no element"),
        (arm("LDR W0,[X2]"), "`X2` holds no address"),
        (arm("DMB FOO"), "expected SY, ISH"),
        ("X86 t\n{ }\nP0 ;\n MOVNTI [x],EAX ;\nexists (x=1)".to_owned(), "passes the caches by"),
        ("RISCV t\n{ 0:x6=x; }\nP0 ;\n fence a,b ;\nexists (x=1)".to_owned(), "expected a set of accesses"),
    ];
    for (text, message) in wrong {
        let errors = read("t.litmus", &text).expect_err(message);
        let shown: String = errors.to_string().chars().take(2000).collect();
        assert!(shown.contains(message), "{message}: {shown}");
        assert_eq!(errors.errors().len(), 1, "{shown}");
    }
}
