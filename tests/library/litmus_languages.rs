//! Litmus tests of all languages: every test of the corpus is read, has its expected verdict where its memory model is
//! there, and what the languages have is understood.

use crate::support::corpus::corpus_dir;
use crate::support::interleavings::{Final, finals};
use crate::support::litmus::{files, value_of, verdict};
use rayon::prelude::*;
use seqcon::lang::litmus::{Test, read};
use seqcon::property::{FinalCondition, Quantifier};
use seqcon::weak::axiomatic::Model;
use seqcon::weak::axiomatic::litmus::Answer;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The tests of the corpus that are not read, all for accesses to parts of a location.
const REFUSED: [&str; 5] = [
    "CO-MIXED-1.litmus",
    "CO-MIXED-1b.litmus",
    "CO-MIXED-6-sep+reader.litmus",
    "CO-MIXED-6.litmus",
    "MP+stp+addr+60.litmus",
];

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
            let verdict = verdict(&test.program, test.condition.as_ref(), &Model::named(row[1])?, 2).unwrap();
            let expected = if row[2] == "1" { Answer::Holds } else { Answer::Fails };
            (verdict.condition != Some(expected)).then_some(row[0])
        })
        .collect();
    // The result of a store conditional depends on the store in RVWMO, and here on nothing: more is allowed.
    assert_eq!(differing, ["RISCV/ISA-DEP-WW-ADDR.litmus"]);
}

/// The same by the cat files of the corpus, which other people wrote.
#[test]
fn verdicts_by_the_cat_files_of_the_corpus_are_the_expected_ones() {
    let Some(corpus) = corpus_dir() else { return };
    let table = fs::read_to_string(corpus.join("litmus/expected-more.csv")).unwrap();
    let models = [("armv8", "aarch64.cat"), ("riscv", "riscv.cat"), ("rc11", "rc11.cat")]
        .map(|(name, file)| (name, Model::from_file(&corpus.join("cat").join(file)).unwrap()));
    let rows: Vec<Vec<&str>> = table.lines().skip(1).map(|line| line.trim().split(',').collect()).collect();
    let differs = |row: &&Vec<&str>| {
        let text = fs::read_to_string(corpus.join("litmus").join(row[0])).unwrap();
        let test = read(row[0], &text).unwrap();
        let (_, model) = models.iter().find(|(name, _)| *name == row[1]).unwrap();
        let expected = if row[2] == "1" { Answer::Holds } else { Answer::Fails };
        verdict(&test.program, test.condition.as_ref(), model, 2).unwrap().condition != Some(expected)
    };
    let is_asked = |row: &&Vec<&str>| !REFUSED.iter().any(|name| row[0].ends_with(name));
    let differing: Vec<&str> = rows.par_iter().filter(is_asked).filter(differs).map(|row| row[0]).collect();
    assert_eq!(differing, ["RISCV/ISA-DEP-WW-ADDR.litmus"]);
}

/// Reads a test that is right.
fn only(test: &str) -> Test {
    read("t.litmus", test).unwrap_or_else(|errors| panic!("{errors}"))
}

/// Our own tests have the verdicts that their comments tell, under SC.
#[test]
fn our_own_tests_are_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("litmus-languages");
    let files = files(&folder);
    assert_eq!(files.len(), 8);
    for file in files {
        let test = only(&fs::read_to_string(&file).unwrap());
        let ends = finals(&test.program, 10_000).unwrap();
        let condition = test.condition.unwrap();
        let states = ends.iter().map(|(shared, locals)| (shared.as_slice(), locals.as_slice()));
        assert_eq!(condition.holds(states), condition.quantifier != Quantifier::Exists, "{}", file.display());
    }
}

/// What a filter does not let pass is not asked.
#[test]
fn filters_say_which_states_are_asked() {
    let asked = |end: &str| {
        let text = format!("X86 t\n{{ int x=1; }}\nP0 ;\nMOV EAX,[x] ;\nlocations [x; 0:EAX;]\n{end}");
        let Test { program, condition, .. } = only(&text);
        verdict(&program, condition.as_ref(), &Model::sc(), 1).unwrap().condition
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
    let text = "AArch64 t\n{ int x[2]={3,4}; uint64_t y; int *p=x; atomic_int z=7;
 uint64_t 0:X3=5; int 0:X4; 0:X1=x; 0:X2=y; 0:X9=p; }
 P0 ;\n LDR W5,[X1,#4] ;\n STR X3,[X2] ;\n LDR X6,[X9] ;\n LDR W7,[X6] ;\n STR X1,[X9] ;
exists (x[1]=4 /\\ 0:X6=x /\\ p=&x)";
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
        format!(
            "AArch64 t\n{{ x=5; 0:X1=x; }}\nP0 ;\n MOV W2,{expected} ;\n MOV W3,#9 ;\n CASAL W2,W3,[X1] ;\nexists (x=9)"
        )
    };
    let x = |text: &str| ends(text).into_iter().map(|(shared, _)| shared[0]).collect::<Vec<_>>();
    assert_eq!((x(&cas("#5")), x(&cas("#6"))), (vec![9], vec![5]));
    let x86 = |expected: &str| {
        format!(
            "X86 t\n{{ x=5; 0:EAX={expected}; 0:EBX=9; }}\nP0 ;\n LOCK CMPXCHG [x],EBX ;\n JNE L ;
 MOV [y],$1 ;\n L: ;\nexists (y=1)"
        )
    };
    let both = |text: &str| ends(text).into_iter().map(|(shared, _)| shared).collect::<Vec<_>>();
    assert_eq!((both(&x86("5")), both(&x86("6"))), (vec![vec![9, 1]], vec![vec![5, 0]]));
    let c = |form: &str| {
        format!(
            "C t\n{{ x=5; }}\nP0 (atomic_int* x) {{
  int e = 6; int r0 = atomic_compare_exchange_{form}(x, &e, 9); }}\nexists (0:r0=1)"
        )
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
    let text =
        "C t // a comment\n{ int x[2] = {1, 2}; [y] = 3; }\n/* another (* one *) */\nP0 (int* x, volatile int *y) {
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
