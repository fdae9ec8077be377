//! The accesses that reports name: those that were seen, and those of the patterns.

use super::local::{Pattern, Patterns};
use super::machine::{Machine, Role};
use super::values::written;
use crate::ids::InstrId;
use crate::lts::label::{Access, Label, Step};
use crate::memory::Kind;
use crate::program::Program;
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
    let instr = |thread: usize, number: usize| {
        machine.outline.instr((thread, machine.single.origins[thread][number].instruction))
    };
    let mut accesses = BTreeSet::new();
    for (pattern, hot) in patterns {
        let written = pattern.written.map_or_else(|| some_written(machine, pattern), |slot| vec![slot]);
        let write = instr(pattern.thread, pattern.write);
        accesses.extend(written.into_iter().map(|slot| (write, Kind::Write, locations[slot].clone())));
        let reads = pattern.nodes.iter().flat_map(|node| &node.reads);
        let read = |&(read, slot): &(usize, usize)| (instr(pattern.thread, read), Kind::Read, locations[slot].clone());
        accesses.extend(reads.map(read));
        let changes = hot
            .iter()
            .map(|(&slot, fringe)| (instr(fringe.thread, fringe.instruction), Kind::Write, locations[slot].clone()));
        accesses.extend(changes);
    }
    accesses
}

/// The locations that the write of a pattern may go to.
pub(super) fn some_written(machine: &Machine<'_>, pattern: &Pattern) -> Vec<usize> {
    let Role::Write(position) = machine.roles[pattern.thread][pattern.write] else { return Vec::new() };
    let nothing = vec![None; machine.compiled.initial.len()];
    written(&machine.step(pattern.thread, pattern.write).assignments[position].0, &nothing).slots
}

/// The names of all locations, by slot.
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
