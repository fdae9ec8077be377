//! What a thread can do alone after its write: the local graph of a [pattern](Pattern).
//!
//! Memory stays as it is, so the graph is over control states and locals only, and finite for finite programs; spin
//! loops are cycles in it. A node offers reads, taken or refused: a condition that does not hold has been read, too.
//! Only what leads to the read of a hot location is kept, and nodes are numbered as a search meets them, so that
//! graphs that differ in nothing but values are equal. There are few different ones, whatever the number of entries.
//!
//! A thread that counts without end has no finite graph. One of more than some thousand nodes is made again with
//! values that are not [told apart](Machine::distinguished) unknown; what it shows is then not certain.

use super::machine::{Machine, Role};
use super::record::{Entries, Fringe, Key, add};
use super::values::{Value, assign, condition_reads, evaluate, is_taken, reads, written};
use crate::ids::{InstrAt, LocationAt, ThreadAt};
use crate::program::At;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, VecDeque};

/// A state of the thread alone.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Node {
    /// The instructions that can be taken, and where they lead.
    pub edges: Vec<(InstrAt, usize)>,
    /// Reads of hot locations: the instruction and the location.
    pub reads: Vec<(InstrAt, LocationAt)>,
}

/// A write and all that the thread can do after it until it reads a location that others are about to change: the
/// pivot's part of the fragility pattern, for many runs at once.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Pattern {
    /// The pivot.
    pub thread: ThreadAt,
    /// Its write.
    pub write: InstrAt,
    /// The location written; none if that is not known.
    pub written: Option<LocationAt>,
    /// What it can do afterwards; it starts at node 0.
    pub nodes: Vec<Node>,
    /// Whether it can really do all that, as far as the values after the write are known.
    pub is_exact: bool,
}

/// The most nodes of a graph over all values.
const MOST: usize = 5_000;

impl Pattern {
    /// An instruction of the pivot.
    pub(super) fn at(&self, instruction: InstrAt) -> At {
        At { thread: self.thread, instruction }
    }
}

/// All patterns, and for each hot location of each who is about to change it.
pub(super) type Patterns = BTreeMap<Pattern, BTreeMap<LocationAt, Fringe>>;

/// The patterns of the entries of a record table.
pub(super) fn patterns(machine: &Machine<'_>, entries: &Entries) -> Patterns {
    let mut patterns = Patterns::new();
    for (key, hot) in entries {
        let exact = search(machine, key, hot, &|_| true, MOST);
        let is_exact = exact.is_some();
        let widened = || search(machine, key, hot, &|value| machine.distinguished.contains(&value), usize::MAX);
        let Some(nodes) = exact.or_else(widened).and_then(|nodes| leading_to_reads(&nodes)) else { continue };
        let (thread, write, written) = (key.at.thread, key.at.instruction, key.written);
        let pattern = patterns.entry(Pattern { thread, write, written, nodes, is_exact }).or_default();
        for (&location, &fringe) in hot {
            add(pattern, location, fringe);
        }
    }
    patterns
}

/// The local graph, as far as it leads to a read of a hot location; nothing if nothing does.
fn leading_to_reads(nodes: &[Node]) -> Option<Vec<Node>> {
    let mut leads: Vec<bool> = nodes.iter().map(|node| !node.reads.is_empty()).collect();
    let mut changed = true;
    while changed {
        changed = false;
        for (number, node) in nodes.iter().enumerate() {
            if !leads[number] && node.edges.iter().any(|&(_, to)| leads[to]) {
                leads[number] = true;
                changed = true;
            }
        }
    }
    if !leads[0] {
        return None;
    }
    // Numbered again as a search meets them.
    let mut numbers = vec![None; nodes.len()];
    let mut order = vec![0];
    numbers[0] = Some(0);
    let mut kept = Vec::new();
    while let Some(&number) = order.get(kept.len()) {
        let node: &Node = &nodes[number];
        let mut edges = Vec::new();
        for &(instruction, to) in node.edges.iter().filter(|&&(_, to)| leads[to]) {
            let number = *numbers[to].get_or_insert_with(|| {
                order.push(to);
                order.len() - 1
            });
            edges.push((instruction, number));
        }
        kept.push(Node { edges, reads: node.reads.clone() });
    }
    Some(kept)
}

/// The whole local graph over the values that are told apart; nothing if it has more than so many nodes.
fn search(
    machine: &Machine<'_>,
    key: &Key,
    hot: &BTreeMap<LocationAt, Fringe>,
    tells_apart: &dyn Fn(i64) -> bool,
    most: usize,
) -> Option<Vec<Node>> {
    let thread = key.at.thread;
    let control = machine.step(key.at).to;
    let mut values: Vec<Value> = vec![None; machine.compiled.initial.len()];
    for (slot, &value) in machine.region(thread, control).decides.iter().zip(&key.values) {
        values[slot.index()] = value;
    }
    let locals = machine.locals(thread);
    let start = (control, values[locals.clone()].to_vec());
    let mut numbers = FxHashMap::from_iter([(start.clone(), 0)]);
    let mut queue = VecDeque::from([start]);
    let mut nodes = Vec::new();
    while let Some((control, own)) = queue.pop_front() {
        if nodes.len() >= most {
            return None;
        }
        let mut node = Node::default();
        for step in machine.steps(thread, control) {
            let role = machine.role(At { thread, instruction: step.instruction });
            if role == Role::Barrier {
                continue;
            }
            values[locals.clone()].copy_from_slice(&own);
            let mut read = Vec::new();
            condition_reads(step, &values, machine.shared, &mut read);
            let mut goes_on = is_taken(step, &values) != Some(false);
            if goes_on {
                for (target, value) in &step.assignments {
                    reads(value, &values, machine.shared, &mut read);
                    let goes = written(target, &values);
                    let is_shared = goes.slots.first().is_some_and(|slot| slot.location(machine.shared).is_some());
                    if is_shared {
                        // Of a write only that it may miss its array is harmless.
                        goes_on &= goes.may_miss;
                    } else {
                        let value = evaluate(value, &values).filter(|&value| tells_apart(value));
                        assign(&goes, value, &mut values);
                    }
                }
            }
            let read = read.into_iter().filter(|location| hot.contains_key(location));
            node.reads.extend(read.map(|location| (step.instruction, location)));
            if goes_on {
                let next = (step.to, values[locals.clone()].to_vec());
                let count = numbers.len();
                let number = *numbers.entry(next.clone()).or_insert_with(|| {
                    queue.push_back(next);
                    count
                });
                node.edges.push((step.instruction, number));
            }
        }
        nodes.push(node);
    }
    Some(nodes)
}
