//! The programs of `specs/properties/` under sequential consistency: which keep their properties, and that the places
//! which the properties are about can be reached.

use seqcon::explore::observe::Nobody;
use seqcon::explore::{Limits, Stop, explore};
use seqcon::ids::ControlAt;
use seqcon::program::Instruction;
use seqcon::program::single_access::SingleAccess;
use seqcon::property::Property;
use seqcon::specification::Specification;
use std::fs;
use std::path::{Path, PathBuf};

/// Those that are wrong even under sequential consistency.
const WRONG: [&str; 2] = ["producer-consumer-1-n2", "producer-consumer-1-n3"];

/// What must be reached besides critical sections and what is behind assertions.
const REACHED: [(&str, &str); 4] = [
    ("sense-barrier", "P0@work and P1@work and P0.e and P1.e"),
    ("tournament-barrier", "Champion@work and Loser@work and Champion.sense"),
    ("alternating-bit", "Sender.sent = 3 and Receiver.got = 0"),
    ("increasing-sequence", "Client.v1 = 3 and Client.v2 = 20"),
];

fn paths() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("specs/properties");
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
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
    let paths = paths();
    for path in &paths {
        let text = fs::read_to_string(path).unwrap();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
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
    assert_eq!(paths.len(), 17 + 5);
}
