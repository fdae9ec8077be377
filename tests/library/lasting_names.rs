//! Fences that are put into a text rename no other instruction, in any language, and change no fingerprint of others.

use crate::support::command::run;
use crate::support::random::{cases, random_cases};
use rand::Rng;
use seqcon::lang::edit::{Change, edited};
use seqcon::lang::{self, Language};
use seqcon::program::{At, InstructionKind, Program};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The bundled specifications of languages into whose texts fences can be put.
fn specifications() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    for folder in ["specs", "specs/properties", "specs/partial-coherence", "specs/remmex"] {
        let entries = fs::read_dir(root.join(folder)).unwrap().map(|entry| entry.unwrap().path());
        let is_text = |path: &PathBuf| Language::of(path.to_str().unwrap()).is_some_and(|known| known.edit.is_some());
        found.extend(entries.filter(is_text));
    }
    found.sort();
    found
}

fn is_fence(kind: InstructionKind) -> bool {
    matches!(kind, InstructionKind::Fence | InstructionKind::PartialFence(_))
}

/// For each thread the names of the instructions that are no fences, in the order of the text.
fn names(program: &Program) -> BTreeMap<String, Vec<String>> {
    let thread = |thread: &seqcon::program::Thread| {
        let others = thread.instructions.iter().filter(|instruction| !is_fence(instruction.kind));
        (thread.name.clone(), others.map(|instruction| instruction.name.clone()).collect())
    };
    program.threads.iter().map(thread).collect()
}

#[test]
fn fences_rename_nothing() {
    let specifications = specifications();
    random_cases(cases(3), |rng| {
        for path in &specifications {
            let name = path.to_str().unwrap();
            let text = fs::read_to_string(path).unwrap();
            let program = lang::parse(name, &text).unwrap().program;
            let sites: Vec<At> = program.instructions_at().map(|(at, _)| at).collect();
            let changes: Vec<Change> =
                sites.into_iter().filter(|_| rng.random_bool(0.3)).map(Change::FenceAfter).collect();
            // Not everything has a statement behind which a fence could stand.
            let changes: Vec<Change> =
                changes.into_iter().filter(|&change| edited(name, &text, &program, &[change]).is_ok()).collect();
            let fenced = edited(name, &text, &program, &changes).unwrap();
            let again = lang::parse(name, &fenced).unwrap().program;
            assert_eq!(names(&program), names(&again), "{name} with {changes:?}:\n{fenced}");
        }
    });
    let languages: BTreeSet<&str> =
        specifications.iter().map(|path| Language::of(path.to_str().unwrap()).unwrap().name).collect();
    assert_eq!(languages.len(), 4, "{languages:?}");
}

#[test]
fn litmus_tests_count_no_fences() {
    let test = |fence: &str| {
        format!(
            "X86 SB\n{{ }}\n P0 | P1 ;\n MOV [x],$1 | MOV [y],$1 ;\n{fence} MOV EAX,[y] | MOV EAX,[x] ;\nexists (0:EAX=0)\n"
        )
    };
    let program = |text: &str| lang::parse("sb.litmus", text).unwrap().program;
    assert_eq!(names(&program(&test(""))), names(&program(&test(" MFENCE | MFENCE ;\n"))));
    let c = |fence: &str| {
        format!(
            "C SB\n{{ }}\nP0 (atomic_int* x, atomic_int* y) {{\n  atomic_store_explicit(x, 1, memory_order_relaxed);\n{fence}  int r = atomic_load_explicit(y, memory_order_relaxed);\n}}\nexists (0:r=0)\n"
        )
    };
    let fenced = c("  atomic_thread_fence(memory_order_seq_cst);\n");
    assert_eq!(names(&program(&c(""))), names(&program(&fenced)));
}

/// The fingerprints of what `analyse` finds in a specification of this text, by the sentence that tells it.
fn fingerprints(text: &str) -> BTreeSet<String> {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("peterson.slco");
    fs::write(&path, text).unwrap();
    let (status, shown, errors) = run(&["-q", "analyse", path.to_str().unwrap(), "--mm", "tso", "--sarif", "-"]);
    assert_eq!(status, 0, "{errors}");
    let log: Value = serde_json::from_str(&shown).unwrap();
    let results = log["runs"][0]["results"].as_array().unwrap();
    let of = |result: &Value| result["partialFingerprints"]["seqconResult/v2"].as_str().unwrap().to_owned();
    results.iter().map(of).collect()
}

#[test]
fn fingerprints_survive_edits_elsewhere() {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("specs/peterson.slco")).unwrap();
    let original = fingerprints(&text);
    assert_eq!(original.len(), 2);
    // A comment, and a statement that gives all that follow it another number.
    let moved = text.replace("NCS -> polite { wants", "// first of all\n NCS -> polite { turn := 1; wants");
    assert_ne!(moved, text);
    assert_eq!(fingerprints(&moved), original);
    // One fence put in: the other result stays itself.
    let one = fingerprints(&text.replace("{ turn := 1 }", "{ turn := 1; fence }"));
    assert!(one.len() == 1 && one.is_subset(&original), "{one:?}");
    // What stands there says something else: it is another result.
    let other = fingerprints(&text.replace("{ turn := 1 }", "{ turn := 2 - 1 }"));
    assert_eq!(other.intersection(&original).count(), 1);
}
