//! The accesses that reports name: those that were seen, and those of the patterns.

use super::local::{Pattern, Patterns};
use super::machine::{Machine, Role};
use super::values::written;
use crate::ids::{InstrId, LocationAt};
use crate::lts::label::{Access, Label, Step};
use crate::memory::Kind;
use crate::program::{At, Program};
use std::collections::BTreeSet;

/// An access of an instruction as it is written; the location by its name.
pub(super) type NamedAccess = (InstrId, Kind, String);

/// The shared accesses of an evaluation.
pub(super) fn accesses_of_label(instr: InstrId, label: &Label) -> BTreeSet<NamedAccess> {
    let mut accesses = BTreeSet::new();
    for step in &label.steps {
        let (writes, reads) = match step {
            Step::Condition { reads } => (&[][..], reads),
            Step::Assignment { writes, reads } => (&writes[..], reads),
        };
        for write in writes {
            if !write.local {
                accesses.insert((instr, Kind::Write, write.name.clone()));
            }
            write.address.iter().for_each(|read| add_reads(instr, read, &mut accesses));
        }
        reads.iter().for_each(|read| add_reads(instr, read, &mut accesses));
    }
    accesses
}

/// A read, and what its address reads.
fn add_reads(instr: InstrId, read: &Access, accesses: &mut BTreeSet<NamedAccess>) {
    if !read.local {
        accesses.insert((instr, Kind::Read, read.name.clone()));
    }
    read.address.iter().for_each(|inner| add_reads(instr, inner, accesses));
}

/// The accesses of the patterns.
pub(super) fn accesses_of_patterns(
    program: &Program,
    machine: &Machine<'_>,
    patterns: &Patterns,
) -> BTreeSet<NamedAccess> {
    let locations = locations(program);
    let instr = |at: At| machine.outline.instr(machine.origin(at));
    let name = |location: LocationAt| locations[location.index()].clone();
    let mut accesses = BTreeSet::new();
    for (pattern, hot) in patterns {
        let written = pattern.written.map_or_else(|| some_written(machine, pattern), |location| vec![location]);
        let write = instr(pattern.at(pattern.write));
        accesses.extend(written.into_iter().map(|location| (write, Kind::Write, name(location))));
        let reads = pattern.nodes.iter().flat_map(|node| &node.reads);
        accesses.extend(reads.map(|&(read, location)| (instr(pattern.at(read)), Kind::Read, name(location))));
        accesses.extend(hot.iter().map(|(&location, fringe)| (instr(fringe.at), Kind::Write, name(location))));
    }
    accesses
}

/// The locations that the write of a pattern may go to.
pub(super) fn some_written(machine: &Machine<'_>, pattern: &Pattern) -> Vec<LocationAt> {
    let write = pattern.at(pattern.write);
    let Role::Write(position) = machine.role(write) else { return Vec::new() };
    let nothing = vec![None; machine.compiled.initial.len()];
    let slots = written(&machine.step(write).assignments[position].0, &nothing).slots;
    slots.into_iter().filter_map(|slot| slot.location(machine.shared)).collect()
}

/// The names of all locations.
pub(super) fn locations(program: &Program) -> Vec<String> {
    let mut names = Vec::new();
    for variable in &program.shared {
        if variable.is_array {
            names.extend((0..variable.initial.len()).map(|element| format!("{}[{element}]", variable.name)));
        } else {
            names.push(variable.name.clone());
        }
    }
    names
}
