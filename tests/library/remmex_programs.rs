//! The programs of `specs/remmex/`: Remmex's benchmarks, with the locations that its command lines name, and what it
//! found of them.

use crate::support::engines::{answer, asked, named, never_of};
use seqcon::engines::{Answer, Settings};
use seqcon::explore::observe::Nobody;
use seqcon::explore::{Limits, Stop, explore};
use seqcon::lang::Severity;
use seqcon::lang::edit::{Change, edited};
use seqcon::outline::{Outline, Site};
use seqcon::program::InstructionKind;
use seqcon::program::single_access::SingleAccess;
use seqcon::property::Property;
use seqcon::repair::Repair;
use seqcon::specification::Specification;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Programs with the error states of the published command lines, and whether they keep them on TSO and on PSO.
const SAFETY: [(&str, &str, bool); 12] = [
    ("alternating-bit", "-e 2 3 12 -e 2 12 3", true),
    ("bakery-2", "-e 2 15 15", false),
    ("bakery-3", "-e 2 28 28 28", false),
    ("burns", "-e 2 4 3", false),
    ("clh-queue-lock", "-e 2 15 15", true),
    ("dekker", "-e 2 4 4", false),
    ("dijkstra", "-e 2 3 3", false),
    ("fast-mutex", "-e 2 36 36", false),
    ("increasing-sequence", "-e 1 100 4", true),
    ("peterson", "-e 2 5 5", false),
    ("peterson-gen-3", "-e 2 4 4 4", false),
    ("szymanski", "-e 2 16 17", false),
];

/// Whether there are deadlocks under SC, on TSO and on PSO, where that is said of them.
const DEADLOCKS: [(&str, [bool; 3]); 4] = [
    ("bakery-2", [true, true, true]),
    ("cycle-unlocking", [true, true, true]),
    ("deadlock-example", [false, true, true]),
    ("pso-deadlock-example", [false, false, true]),
];

fn read(name: &str) -> Specification {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("specs/remmex/{name}.rmx"));
    let text = fs::read_to_string(path).expect("it is bundled");
    let (specification, warnings) = Specification::parse(format!("{name}.rmx"), text).unwrap();
    assert_eq!(warnings, [], "{name}");
    specification
}

/// How the exploration under sequential consistency ends, if this never holds, and how many deadlocks there are.
fn explored(specification: &Specification, never: Option<&Property>) -> (Stop, usize) {
    let invariants: Vec<_> =
        never.and_then(Property::condition).map(|condition| condition.negated()).into_iter().collect();
    let limits = Limits { invariants: &invariants, ..Limits::default() };
    let (exploration, _) = explore(&specification.compiled, &limits, &mut Nobody).expect("nothing goes wrong");
    (exploration.stop, usize::try_from(exploration.deadlocks).unwrap())
}

#[test]
fn all_programs_are_there_and_have_one_access_an_instruction() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("specs/remmex");
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert_eq!(names.len(), 17);
    for name in names {
        let specification = read(&name);
        let text = &specification.text;
        assert!(text.starts_with("// ") && text.contains("\n// Source: "), "{name}");
        assert!(text.contains("\n// SC: ") && text.contains("\n// Expect: "), "{name}");
        let program = &specification.program;
        let is_atomic = program.instructions_at().any(|(_, known)| known.kind == InstructionKind::Atomic);
        assert_eq!(is_atomic, name == "clh-queue-lock", "{name}");
        if !is_atomic {
            assert_eq!(SingleAccess::of(program).program, *program, "{name}");
        }
        assert_eq!(specification.properties.is_empty(), !SAFETY.iter().any(|(known, ..)| *known == name), "{name}");
    }
}

/// The numbers of the command lines are the places that the files have labels for, and those are reached.
#[test]
fn published_locations_are_critical_sections() {
    for (name, vectors, _) in SAFETY {
        let specification = read(name);
        let (by_number, warnings) = specification.never("-e", vectors).unwrap();
        assert!(warnings.iter().all(|warning| warning.severity == Severity::Warning) && warnings.is_empty(), "{name}");
        let own = never_of(&specification).expect("it has a property");
        assert_eq!(by_number, own, "{name}");
        for thread in &specification.program.threads {
            for state in thread.states.iter().filter(|state| matches!(state.as_str(), "cs" | "first" | "second")) {
                let place = format!("{}@{state}", thread.name);
                let (reached, _) = specification.never("test", &place).unwrap();
                assert_eq!(explored(&specification, Some(&reached)).0, Stop::Violated, "{name}: {place}");
            }
        }
    }
}

#[test]
fn properties_hold_under_sequential_consistency() {
    for (name, ..) in SAFETY {
        let specification = read(name);
        let own = never_of(&specification).expect("it has a property");
        let (stop, deadlocks) = explored(&specification, Some(&own));
        assert_eq!(stop, Stop::Complete, "{name}");
        let has_deadlock = matches!(name, "bakery-2" | "bakery-3" | "increasing-sequence");
        assert_eq!(deadlocks > 0, has_deadlock, "{name}");
    }
}

fn holds(specification: &Specification, engine: &str, property: &Property, model: &str) -> bool {
    let found = asked(named(engine), specification, property, &Settings::default(), |examined| {
        answer(examined, model, &Repair::default())
    });
    match found.unwrap_or_else(|trouble| panic!("{}: {trouble:?}", specification.name)) {
        Answer::Holds(_) => true,
        Answer::Fails { .. } => false,
        other => panic!("{} on {model}: {other:?}", specification.name),
    }
}

#[test]
fn properties_on_weak_memory_are_as_published() {
    for (name, _, is_kept) in SAFETY {
        let specification = read(name);
        let own = never_of(&specification).expect("it has a property");
        for model in ["tso", "pso"] {
            assert_eq!(holds(&specification, "auto", &own, model), is_kept, "{name} on {model}");
        }
    }
}

#[test]
fn deadlocks_are_as_published() {
    for (name, has_deadlock) in DEADLOCKS {
        let specification = read(name);
        let found = ["tso", "pso"].map(|model| !holds(&specification, "store-buffers", &Property::NoDeadlock, model));
        assert_eq!(found, has_deadlock[1..], "{name}");
        let in_sc = explored(&specification, None).1;
        // What ends is no deadlock, but counts as one there.
        assert!((in_sc > 0) == has_deadlock[0] || name == "pso-deadlock-example", "{name}: {in_sc}");
    }
}

/// The places of published fences: each `M` (and, on PSO, `S`) of the comments.
fn with_published_fences(name: &str, marks: &[&str]) -> (Specification, usize) {
    let text = read(name).text;
    let mut fences = 0;
    let put_in = |line: &str| {
        let mark = line.rsplit_once("// ").filter(|(code, _)| !code.trim().is_empty()).map(|(_, mark)| mark);
        match mark.filter(|mark| marks.contains(mark)) {
            Some(mark) => {
                fences += 1;
                line.replace(&format!("// {mark}"), if mark == "S" { "SFENCE" } else { "MFENCE" })
            }
            None => line.to_owned(),
        }
    };
    let text: Vec<String> = text.lines().map(put_in).collect();
    let (specification, warnings) = Specification::parse(format!("{name}.rmx"), text.join("\n")).unwrap();
    assert_eq!(warnings, []);
    (specification, fences)
}

/// With the published fences in place the properties hold; so the comments are right.
#[test]
fn published_fences_are_enough() {
    let published = [
        ("bakery-2", 4, 2),
        ("burns", 2, 0),
        ("dekker", 4, 0),
        ("dijkstra", 2, 0),
        ("fast-mutex", 4, 2),
        ("peterson", 2, 2),
        ("peterson-gen-3", 3, 3),
        ("szymanski", 3, 0),
    ];
    for (name, full, stores) in published {
        for (model, marks, expected) in [("tso", &["M"][..], full), ("pso", &["M", "S"][..], full + stores)] {
            let (specification, fences) = with_published_fences(name, marks);
            assert_eq!(fences, expected, "{name} on {model}");
            let own = never_of(&specification).expect("it has a property");
            assert!(holds(&specification, "buffer-automata", &own, model), "{name} on {model}");
        }
    }
    // Numbers are what they were.
    let (specification, _) = with_published_fences("fast-mutex", &["M", "S"]);
    let (by_number, warnings) = specification.never("-e", "2 36 36").unwrap();
    assert_eq!(by_number, never_of(&specification).unwrap());
    assert_eq!(warnings.len(), 1);
}

/// What is put into the text is what is put into the program.
#[test]
fn fences_after_instructions_are_those_of_the_program() {
    for name in ["dekker", "peterson", "burns", "szymanski", "clh-queue-lock", "deadlock-example", "bakery-2"] {
        let specification = read(name);
        let program = &specification.program;
        let outline = Outline::of_program(program);
        for (at, known) in program.instructions_at() {
            let text = edited(&specification.name, &specification.text, program, &[Change::FenceAfter(at)]).unwrap();
            let (changed, _) = Specification::parse(specification.name.clone(), text).unwrap();
            // All ways of one condition have one place.
            let same =
                program.instructions_at().filter(|(other, own)| other.thread == at.thread && own.span == known.span);
            let thread = &program.thread(at.thread).name;
            let site = |name: &str| Site::after(outline.find_shown(thread, name).expect("it is there"));
            let is_region = known.kind == InstructionKind::Atomic;
            let fences: BTreeSet<Site> = match is_region {
                true => BTreeSet::from([site(&known.name)]),
                false => same.map(|(_, own)| site(&own.name)).collect(),
            };
            let several = fences.len() > 1;
            let repaired = Repair::full(fences).put_into(program);
            let repaired = Specification::of_program(repaired).unwrap();
            let states = |specification: &Specification| {
                explore(&specification.compiled, &Limits::default(), &mut Nobody).unwrap().0.states.len()
            };
            let (found, expected) = (states(&changed), states(&repaired));
            assert!(found == expected || several && found <= expected, "{name} {}: {found} {expected}", known.name);
        }
    }
}
