//! Cycles judged by axioms: classic results, and the litmus tests of the corpus.

use crate::support::corpus::corpus_dir;
use rayon::prelude::*;
use seqcon::aeg::Profile;
use seqcon::analysis::{Analysis, Confirming, ModelOutcome, Offered, Options};
use seqcon::explore::observe::{FactsObserver, facts};
use seqcon::explore::{Limits, explore};
use seqcon::kinds::outcome::by_axioms;
use seqcon::lang;
use seqcon::memory::MemoryModel;
use seqcon::ordering::Marks;
use seqcon::placement::cost::place_name;
use seqcon::program::Program;
use seqcon::program::compiled::Compiled;
use seqcon::repair::Repair;
use seqcon::weak::axiomatic::{Model, outcomes};
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

fn analysis(program: &Program) -> Analysis {
    let compiled = Compiled::new(program).unwrap();
    let (exploration, watchers) = explore(&compiled, &Limits::default(), &mut FactsObserver).unwrap();
    let facts = facts(program, &watchers, (exploration.states.len() as u64, exploration.transitions));
    Analysis::new(facts, Profile::Sound)
}

fn outcome(program: &Program, model: &str, options: &Options) -> (Analysis, ModelOutcome) {
    let (analysis, model) = (analysis(program), MemoryModel::named(model).unwrap());
    let by_table = analysis.run(&model, options);
    let outcome = by_axioms(&analysis, &model, options, by_table);
    (analysis, outcome)
}

/// What is put in, in words.
fn mixture(program: &Program, model: &str) -> Vec<String> {
    let (analysis, outcome) = outcome(program, model, &Options::default());
    assert!(outcome.recheck.enough && outcome.recheck.each_needed);
    let words = |fence: &seqcon::analysis::Fence| {
        let (thread, instr) = analysis.graph.names_of(fence.site.instr);
        format!("{} {} {thread}.{instr}", fence.mnemonic, place_name(fence.site.place))
    };
    outcome.fences.iter().map(words).collect()
}

fn litmus(text: &str) -> Program {
    lang::parse("test.litmus", text).unwrap().program
}

/// Threads of an SLCO model, each with its statements one after the other.
pub fn slco(threads: &[&[&str]]) -> Program {
    let machine = |(number, statements): (usize, &&[&str])| {
        let step = |(at, statement): (usize, &&str)| format!("s{at} -> s{} {{ {statement} }} ", at + 1);
        let steps: String = statements.iter().enumerate().map(step).collect();
        let states: String = (1..=statements.len()).map(|state| format!("s{state} ")).collect();
        format!("T{number} {{ variables Integer r Integer s initial s0 states {states} transitions {steps} }}\n")
    };
    let machines: String = threads.iter().enumerate().map(machine).collect();
    let text = format!(
        "model m {{ classes C {{ variables Integer x Integer y Integer z Integer[2] v state machines {machines} }} objects o : C() }}"
    );
    lang::parse("m.slco", &text).unwrap_or_else(|error| panic!("{error}\n{text}")).program
}

const MP: [&[&str]; 2] = [&["x := 1", "y := 1"], &["r := y", "s := x"]];
const SB: [&[&str]; 2] = [&["x := 1", "r := y"], &["y := 1", "r := x"]];
const IRIW: [&[&str]; 4] = [&["x := 1"], &["y := 1"], &["r := x", "s := y"], &["r := y", "s := x"]];

#[test]
fn message_passing_needs_light_fences_or_a_release_and_an_acquire() {
    assert_eq!(mixture(&slco(&MP), "power"), ["lwsync after T0.0", "lwsync after T1.0"]);
    assert_eq!(mixture(&slco(&MP), "armv7"), ["dmb ishst after T0.0", "dmb after T1.0"]);
    assert_eq!(mixture(&slco(&MP), "armv8"), ["stlr on T0.1", "ldapr on T1.0"]);
    assert_eq!(mixture(&slco(&MP), "riscv"), ["fence w,w after T0.0", "fence r,r after T1.0"]);
    assert_eq!(mixture(&slco(&MP), "rc11"), ["memory_order_release on T0.1", "memory_order_acquire on T1.0"]);
    let published = slco(&[&["release y := 1"], &["acquire r := y"]]);
    assert_eq!(mixture(&published, "armv8"), [""; 0]);
    let marked = slco(&[&["x := 1", "release y := 1"], &["acquire r := y", "s := x"]]);
    assert_eq!(mixture(&marked, "armv8"), [""; 0]);
    assert_eq!(mixture(&marked, "rc11"), [""; 0]);
}

/// A dependency in the reader is enough: message passing, and publication as RCU does it (McKenney and others, "RCU
/// usage in the Linux kernel", 2013: `rcu_assign_pointer` is a store release, `rcu_dereference` a plain load).
#[test]
fn a_dependency_saves_the_fence_of_the_reader() {
    let dependent = litmus(
        "PPC MP+lwsync+addr\n{ 0:r2=x; 0:r4=y; 1:r2=y; 1:r4=x; }\n P0 | P1 ;
 li r1,1 | lwz r1,0(r2) ;\n stw r1,0(r2) | xor r3,r1,r1 ;\n lwsync | lwzx r5,r3,r4 ;\n li r3,1 | ;
 stw r3,0(r4) | ;\nexists (1:r1=1 /\\ 1:r5=0)",
    );
    assert_eq!(mixture(&dependent, "power"), [""; 0]);
    let publication = slco(&[&["v[1] := 1", "y := 1"], &["r := y", "s := v[r]"]]);
    assert_eq!(mixture(&publication, "armv8"), ["stlr on T0.1"]);
    assert_eq!(mixture(&publication, "power"), ["lwsync after T0.0"]);
    assert_eq!(mixture(&publication, "armv7"), ["dmb ishst after T0.0"]);
}

#[test]
fn store_buffering_needs_full_fences_or_pairs_of_release_and_acquire() {
    assert_eq!(mixture(&slco(&SB), "power"), ["sync after T0.0", "sync after T1.0"]);
    assert_eq!(mixture(&slco(&SB), "armv7"), ["dmb after T0.0", "dmb after T1.0"]);
    let pairs = ["stlr on T0.0", "ldar on T0.1", "stlr on T1.0", "ldar on T1.1"];
    assert_eq!(mixture(&slco(&SB), "armv8"), pairs);
    let full = outcome(&slco(&SB), "armv8", &Options { kinds: Offered::Full, ..Options::default() }).1;
    assert_eq!(full.fences.iter().map(|fence| fence.mnemonic.as_str()).collect::<Vec<_>>(), ["dmb ish", "dmb ish"]);
    let all_sc = ["memory_order_seq_cst on T0.0", "memory_order_seq_cst on T0.1"];
    assert_eq!(mixture(&slco(&SB), "rc11")[..2], all_sc);
}

#[test]
fn independent_reads_of_independent_writes_need_sync_on_power_and_no_more_than_ldar_on_armv8() {
    assert_eq!(mixture(&slco(&IRIW), "power"), ["sync after T2.0", "sync after T3.0"]);
    assert_eq!(mixture(&slco(&IRIW), "armv8"), ["ldapr on T2.0", "ldapr on T3.0"]);
}

/// Boehm, "Can seqlocks get along with programming language memory models?" (MSPC 2012): the reader's first load of the
/// sequence number is an acquire, its loads of the data are before the second one; the writer's stores are in order.
/// Lê, Pop, Cohen and Zappa Nardelli, "Correct and efficient work-stealing for weak memory models" (PPoPP 2013): in the
/// deque of Chase and Lev the owner needs a full fence between its write of bottom and its read of top, and the thief
/// keeps its reads of top and bottom in order.
#[test]
fn seqlock_and_chase_lev_get_what_the_literature_says() {
    let of = |name: &str| {
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("specs").join(name);
        lang::parse(name, &fs::read_to_string(path).unwrap()).unwrap().program
    };
    let seqlock = mixture(&of("seqlock.slco"), "armv8");
    assert!(seqlock.contains(&"ldapr on Reader.0".to_owned()), "{seqlock:?}");
    assert!(seqlock.iter().all(|element| !element.starts_with("dmb ish ")), "{seqlock:?}");
    let deque = mixture(&of("chase-lev.slco"), "armv8");
    assert_eq!(deque.iter().filter(|element| element.starts_with("dmb ish ")).count(), 1, "{deque:?}");
    assert!(deque.contains(&"dmb ish after Owner.4".to_owned()), "{deque:?}");
    assert!(deque.iter().any(|element| element.ends_with("Thief.0")), "{deque:?}");
}

/// Tests that get elements, though their ends are those of SC. In the first three a write is overwritten by its own
/// thread: an execution is not sequentially consistent, and its end is. `RSW+W` has two reads of one location, of which
/// no execution sees different writes.
const NOT_NEEDED: [&str; 4] = [
    "AARCH64/R+po-po-wsipl+pola.litmus",
    "AARCH64/R+po-wsipl+pola.litmus",
    "AARCH64/R+po-wsipl+polp-ctrlpa.litmus",
    "RISCV/RSW+W.litmus",
];

/// Every test of the corpus that does more than SC gets something, after which it does not; and no other does, but for
/// those that are named. Programs with exclusive pairs are not analysed.
#[test]
fn tests_of_the_corpus_get_what_they_need_and_no_more() {
    let Some(corpus) = corpus_dir() else { return };
    let folders = [("PPC", "power"), ("AARCH64", "armv8"), ("RISCV", "riscv")];
    let mut not_needed: Vec<String> = Vec::new();
    for (folder, name) in folders {
        let (model, sc) = (Model::named(name).unwrap(), Model::sc());
        let entries = fs::read_dir(corpus.join("litmus").join(folder)).unwrap();
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        let judge = |path: &PathBuf| {
            let text = fs::read_to_string(path).unwrap();
            let program = lang::parse(&path.display().to_string(), &text).ok()?.program;
            if program.instructions_at().any(|(_, known)| known.kind.marks().has(Marks::EXCLUSIVE)) {
                return None;
            }
            let ends = |program: &Program, model: &Model| outcomes(program, model, 2).unwrap().ends;
            let is_weak = ends(&program, &model) != ends(&program, &sc);
            let outcome = outcome(&program, name, &Options::default()).1;
            assert!(!is_weak || !outcome.fences.is_empty(), "{} needs something", path.display());
            let repaired = Repair::of(&outcome).put_into(&program);
            assert_eq!(ends(&repaired, &model), ends(&repaired, &sc), "{}", path.display());
            let file = path.file_name().unwrap().to_string_lossy();
            Some((is_weak, (!is_weak && !outcome.fences.is_empty()).then(|| format!("{folder}/{file}"))))
        };
        let judged: Vec<_> = paths.par_iter().filter_map(judge).collect();
        let weak = judged.iter().filter(|(is_weak, _)| *is_weak).count();
        println!("{folder}: {} tests, {weak} do more than SC", judged.len());
        assert!(weak > 200, "{folder}: {weak}");
        not_needed.extend(judged.into_iter().filter_map(|(_, name)| name));
    }
    assert_eq!(not_needed, NOT_NEEDED);
}

/// An instruction that is indivisible and no fence lets a cycle of C11 through, in at one access and out at another,
/// and the table has no delay for it.
#[test]
fn a_cycle_through_an_instruction_that_is_no_fence_is_seen() {
    let program =
        slco(&[&["seq_cst x := 1"], &["atomic relaxed [s := x; y := 1]"], &["acquire r := y", "fence", "s := x"]]);
    let (model, sc) = (Model::named("rc11").unwrap(), Model::sc());
    let executions = |program: &Program, model: &Model| outcomes(program, model, 1).unwrap().executions;
    assert!(executions(&program, &model) > executions(&program, &sc));
    let found = outcome(&program, "rc11", &Options::default()).1;
    assert_eq!((found.findings.delays.len(), found.confirming), (0, Confirming::ByAxioms));
    assert_eq!(found.fences.iter().map(|fence| fence.mnemonic.as_str()).collect::<Vec<_>>(), ["memory_order_seq_cst"]);
    let repaired = Repair::of(&found).put_into(&program);
    assert_eq!(executions(&repaired, &model), executions(&repaired, &sc));
    // Nor do the axioms of C11 say that an instruction which is a full fence is whole for accesses without marks.
    let program = slco(&[&["atomic [x := 1; r := y]"], &["atomic [r := x; s := x]", "y := 2"]]);
    assert!(executions(&program, &model) > executions(&program, &sc));
    let found = outcome(&program, "rc11", &Options::default()).1;
    let repaired = Repair::of(&found).put_into(&program);
    assert_eq!(executions(&repaired, &model), executions(&repaired, &sc));
}

/// What comes after the read of a swap need not come after its write: herd7 and the manual allow it.
#[test]
fn a_swap_is_no_fence_for_what_depends_on_its_read() {
    let text = "AArch64 sb+swp-addr+stlr-ldar\n{ 0:X0=x; 0:X1=y; 1:X0=x; 1:X1=y; }\n P0 | P1 ;\n\
                MOV W2,#1 | MOV W2,#1 ;\n SWP W2,W3,[X0] | STLR W2,[X1] ;\n\
                EOR W4,W3,W3 | LDAR W3,[X0] ;\n LDR W5,[X1,W4,SXTW] | ;\n\
                exists (0:X3=0 /\\ 0:X5=0 /\\ 1:X3=0)\n";
    let program = litmus(text);
    assert!(!mixture(&program, "armv8").is_empty());
    let ends = |model: &str| {
        let model = Model::named(model).unwrap();
        outcomes(&program, &model, 1).unwrap().ends.len()
    };
    assert_eq!((ends("sc"), ends("armv8")), (3, 4));
}

/// An instruction that reads a location and writes it twice is in one piece, with all of its accesses, and is taken.
#[test]
fn an_indivisible_instruction_that_writes_twice_is_in_one_piece() {
    let program = slco(&[&["atomic [x = 0; x := 2; x := 1]"], &["r := x"]]);
    for model in Model::builtin() {
        let ends = outcomes(&program, &model, 1).unwrap().ends;
        let seen: BTreeSet<(i64, i64)> = ends.iter().map(|end| (end.shared[0], end.locals[1][0])).collect();
        assert_eq!(seen, BTreeSet::from([(1, 0), (1, 1)]), "{}", model.name());
    }
}

/// No full fence makes a difference here, and then nothing is called enough.
#[test]
fn full_fences_that_are_not_enough_are_not_called_so() {
    let program =
        slco(&[&["seq_cst x := 1"], &["atomic relaxed [s := x; y := 1]"], &["acquire r := y", "fence", "s := x"]]);
    let full = outcome(&program, "rc11", &Options { kinds: Offered::Full, ..Options::default() }).1;
    assert_eq!((full.confirming, full.complete), (Confirming::NoMixture, false));
}

/// A model whose axioms are not asked is answered by its table, and one with too many cycles says so.
#[test]
fn who_was_asked_is_said() {
    let options = Options::default();
    assert_eq!(outcome(&slco(&SB), "power", &options).1.confirming, Confirming::ByAxioms);
    assert_eq!(outcome(&slco(&SB), "rmo", &options).1.confirming, Confirming::NotAsked);
    let infeasible = slco(&[&["x := 1", "fence", "y := 1"], &["r := y", "s := v[r]", "s := x"]]);
    let outcome = outcome(&infeasible, "power", &options).1;
    assert_eq!(outcome.confirming, Confirming::ByAxioms);
}

/// Of paths round a loop only what every one has is looked at: then nothing cheaper is ruled out for certain, and that
/// is said.
#[test]
fn where_paths_go_round_loops_the_cost_is_not_the_last_word() {
    assert_eq!(outcome(&slco(&MP), "armv8", &Options::default()).1.confirming, Confirming::ByAxioms);
    let seqlock = fs::read_to_string(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("specs/seqlock.slco")).unwrap();
    let program = lang::parse("seqlock.slco", &seqlock).unwrap().program;
    assert_eq!(outcome(&program, "armv8", &Options::default()).1.confirming, Confirming::ByAxiomsRoughly);
}
