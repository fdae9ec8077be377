//! The programs of `specs/properties/` and `specs/partial-coherence/` under sequential consistency: which keep their
//! properties, and that the places which the properties are about can be reached. Of the latter also the fences: those
//! in them, and those that they lack.

use crate::support::engines::{asked, named, never_of, placed};
use seqcon::analysis::{Inserted, Options};
use seqcon::engines::Settings;
use seqcon::engines::partial_coherence::Coherence;
use seqcon::explore::observe::Nobody;
use seqcon::explore::{Limits, Stop, explore};
use seqcon::ids::ControlAt;
use seqcon::program::single_access::SingleAccess;
use seqcon::program::{Instruction, InstructionKind};
use seqcon::property::Property;
use seqcon::specification::Specification;
use std::fs;
use std::path::{Path, PathBuf};

/// Those that are wrong even under sequential consistency.
const WRONG: [&str; 2] = ["producer-consumer-1-n2", "producer-consumer-1-n3"];

/// Those that are about deadlocks, which no condition in the text tells, and how many fences they need against them on
/// TSO and on PSO, as their headers say.
const DEADLOCKS: [(&str, usize, usize); 2] = [("deadlock-example", 2, 2), ("pso-deadlock-example", 0, 2)];

/// What must be reached besides critical sections and what is behind assertions.
const REACHED: [(&str, &str); 6] = [
    ("sense-barrier", "P0@work and P1@work and P0.e and P1.e"),
    ("sense-0", "P0@work and P1@work and P0.s and P1.s"),
    ("sense-1", "P0@work and P1@work and P0.s and P1.s"),
    ("tournament-barrier", "Champion@work and Loser@work and Champion.sense"),
    ("alternating-bit", "Sender.sent = 3 and Receiver.got = 0"),
    ("increasing-sequence", "Client.v1 = 3 and Client.v2 = 20"),
];

/// The programs of Blender's paper; how many fences each thread has is the number in the name.
const PARTIAL_COHERENCE: &str = "specs/partial-coherence";

/// Their fences for each thread that are missing on TSO and on PSO, as their headers say.
const MISSING: [(&str, usize, usize); 15] = [
    ("clh-0", 0, 1),
    ("clh-2", 0, 0),
    ("dek-0", 2, 2),
    ("dek-2", 0, 0),
    ("fast-0", 2, 3),
    ("fast-1a", 1, 2),
    ("fast-1b", 1, 2),
    ("fast-1c", 2, 2),
    ("fast-3", 0, 0),
    ("lam-0", 2, 2),
    ("lam-2", 0, 0),
    ("pet-0", 1, 2),
    ("pet-2", 0, 0),
    ("sense-0", 0, 1),
    ("sense-1", 0, 0),
];

fn paths_in(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

fn paths() -> Vec<PathBuf> {
    ["specs/properties", PARTIAL_COHERENCE].into_iter().flat_map(paths_in).collect()
}

fn read(path: &Path) -> Specification {
    let name = format!("{}.slco", name_of(path));
    Specification::parse(name, fs::read_to_string(path).unwrap()).unwrap().0
}

fn name_of(path: &Path) -> String {
    path.file_stem().unwrap().to_string_lossy().into_owned()
}

fn fails(specification: &Specification, property: &Property) -> bool {
    let Property::Never(condition) = property else { panic!("{property} is about single states") };
    let invariants = [condition.negated()];
    let limits = Limits { invariants: &invariants, ..Limits::default() };
    let (exploration, _) = explore(&specification.compiled, &limits, &mut Nobody).expect("nothing goes wrong");
    assert!(matches!(exploration.stop, Stop::Violated | Stop::Complete));
    exploration.stop == Stop::Violated
}

fn is_reached(specification: &Specification, condition: &str) -> bool {
    fails(specification, &specification.never("reached", condition).expect("a right condition").0)
}

#[test]
fn the_programs_with_properties_keep_them_under_sequential_consistency() {
    let of_deadlocks = |path: &PathBuf| DEADLOCKS.iter().any(|(name, ..)| *name == name_of(path));
    let paths: Vec<PathBuf> = paths().into_iter().filter(|path| !of_deadlocks(path)).collect();
    for path in &paths {
        let text = fs::read_to_string(path).unwrap();
        let name = name_of(path);
        assert!(text.starts_with("// ") && text.contains("\n// Source: ") && text.contains("\n// SC: "), "{name}");
        let (specification, warnings) = Specification::parse(format!("{name}.slco"), text).unwrap();
        assert!(warnings.is_empty() && specification.program.threads.len() >= 2, "{name}: {warnings:?}");
        assert!(!specification.properties.is_empty(), "{name} has no property");
        let single = SingleAccess::of(&specification.program).program;
        assert_eq!(single, specification.program, "{name}: every instruction has at most one shared access");
        for property in &specification.properties {
            assert_eq!(fails(&specification, property), WRONG.contains(&name.as_str()), "{name}: {property}");
        }
        let mut places = 0;
        for thread in &specification.program.threads {
            let is_failure = |state: &ControlAt| thread.states[state.index()].starts_with("failed_");
            let failing = thread.instructions.iter().filter(|instruction| is_failure(&instruction.to));
            let behind = failing.flat_map(|failing| {
                let other = |other: &&Instruction| other.span == failing.span && other.to != failing.to;
                thread.instructions.iter().find(other).map(|other| thread.states[other.to.index()].as_str())
            });
            let sections = thread.states.iter().map(String::as_str).filter(|state| *state == "CS");
            for state in behind.chain(sections) {
                assert!(
                    is_reached(&specification, &format!("{}@{state}", thread.name)),
                    "{name}: {}@{state}",
                    thread.name
                );
                places += 1;
            }
        }
        for (_, condition) in REACHED.iter().filter(|(program, _)| *program == name) {
            assert!(is_reached(&specification, condition), "{name}: {condition}");
            places += 1;
        }
        assert!(places > 0, "nothing of {name} was looked for");
    }
    assert_eq!(paths.len(), 17 + 5 + 3 + 15);
}

/// The fewest fences against deadlocks are as many by each engine. That some are enough says that there is no deadlock
/// under sequential consistency: no fence would help against it.
#[test]
fn programs_that_deadlock_only_with_store_buffers_need_fences() {
    for (name, on_tso, on_pso) in DEADLOCKS {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("specs/properties/{name}.slco"));
        let text = fs::read_to_string(&path).unwrap();
        assert!(
            text.starts_with("// ") && text.contains("\n// Source: ") && text.contains("\n// SC: no deadlock"),
            "{name}"
        );
        let specification = read(&path);
        for (model, fences) in [("tso", on_tso), ("pso", on_pso)] {
            for engine in ["auto", "single-buffer", "partial-coherence"] {
                let mut settings = Settings::default();
                settings.abstracting.coherence = Coherence::Full(2);
                let outcome = asked(named(engine), &specification, &Property::NoDeadlock, &settings, |examined| {
                    placed(examined, model, &Options::default())
                });
                let outcome = outcome.unwrap();
                assert_eq!(outcome.inserted, Inserted::Enough, "{name}: {engine} {model}");
                assert_eq!(outcome.fences.len(), fences, "{name}: {engine} {model}");
            }
        }
    }
}

#[test]
fn programs_have_the_fences_that_their_names_tell() {
    for path in paths_in(PARTIAL_COHERENCE) {
        let (name, specification) = (name_of(&path), read(&path));
        let (_, number) = name.split_once('-').expect("a number");
        let number: usize = number.trim_end_matches(char::is_alphabetic).parse().unwrap();
        for thread in &specification.program.threads {
            let fences = thread.instructions.iter().filter(|instruction| instruction.kind == InstructionKind::Fence);
            assert_eq!(fences.count(), number, "{name}: {}", thread.name);
        }
    }
}

#[test]
fn programs_lack_the_fences_that_their_headers_tell() {
    let paths = paths_in(PARTIAL_COHERENCE);
    assert_eq!(paths.len(), MISSING.len());
    for (path, (name, on_tso, on_pso)) in paths.iter().zip(MISSING) {
        assert_eq!(name_of(path), name);
        let specification = read(path);
        let threads = specification.program.threads.len();
        let property = never_of(&specification).expect("a property");
        for (model, missing) in [("tso", on_tso), ("pso", on_pso)] {
            let outcome = asked(named("single-buffer"), &specification, &property, &Settings::default(), |examined| {
                placed(examined, model, &Options::default())
            });
            let outcome = outcome.unwrap_or_else(|trouble| panic!("{name}: {trouble:?}"));
            assert_eq!((outcome.inserted, outcome.complete), (Inserted::Enough, true), "{name} on {model}");
            assert_eq!(outcome.fences.len(), missing * threads, "{name} on {model}");
        }
    }
}
