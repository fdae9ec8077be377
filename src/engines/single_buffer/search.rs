//! Backwards from what is forbidden: a set of minimal configurations that is closed under predecessors.
//!
//! The set is an antichain, in buckets of configurations that can be compared at all. A configuration that a known one
//! covers adds nothing; one that covers others replaces them. The order is a well-quasi-order, so this ends. If the
//! start of all runs is found, a forbidden state can be reached, and the chain of steps that were undone tells how.

use crate::engines::automata::{StateAt, Value};
use crate::weak::split::SplitProgram;
use crate::weak::visited::LimitReached;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::hash::Hash;

/// A forbidden state: where the threads are, and values of the memory, of which some may not matter.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Target {
    /// The state of each thread.
    pub states: Box<[StateAt]>,
    /// The memory.
    pub memory: Vec<Value>,
}

/// What was undone to get to a minor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undone {
    /// Nothing: it is forbidden.
    Nothing,
    /// A transition of a thread, by its number, and the moves of its pointer before it.
    Step(usize, u32),
    /// A write of a thread to a location became visible.
    Update(usize, u8),
}

/// The parts of the rules, so that tests can see that each is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Rule {
    /// A pointer comes from the message before.
    MoveToMessage,
    /// A pointer comes from a message that only larger configurations have.
    MoveToNew,
    /// A write is taken away.
    Write,
    /// A write is taken away, and one just before it is the last.
    WriteBehind,
    /// A write is taken away, and one further before is the last.
    WriteBetween,
    /// A step that is one is taken away.
    Whole,
    /// A step that is one is taken away, and its thread has seen a message that only larger configurations have.
    WholeBehind,
    /// A write that became visible waits again (PSO).
    Update,
    /// A write is taken away, and another one waits (PSO).
    Replace,
}

/// Which rules there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules(u16);

impl Rules {
    /// All rules.
    pub const ALL: Rules = Rules(u16::MAX);

    /// All but one.
    #[cfg(feature = "internals")]
    #[must_use]
    pub fn without(rule: Rule) -> Rules {
        Rules(!(1 << rule as u8))
    }

    /// Whether this one is among them.
    pub fn has(self, rule: Rule) -> bool {
        self.0 & 1 << rule as u8 != 0
    }
}

/// Configurations of a machine, and its steps backwards.
pub trait Semantics {
    /// A configuration that stands for all larger ones.
    type Minor: Clone + Eq + Hash;
    /// What configurations have in common that can be compared.
    type Bucket: Eq + Hash;

    /// The minors of a forbidden state with empty buffers.
    ///
    /// # Errors
    /// If there are more than `most`.
    fn starts(&self, target: &Target, most: usize) -> Result<Vec<Self::Minor>, LimitReached>;
    /// The minors of all configurations from which a step leads into what this one stands for, and of those that a
    /// step of the search takes at once; nothing that cannot be reached has to be among them.
    ///
    /// # Errors
    /// If there are more than `most`.
    fn predecessors(
        &self,
        minor: &Self::Minor,
        most: usize,
        found: &mut Vec<(Self::Minor, Undone)>,
    ) -> Result<(), LimitReached>;
    /// Whether it stands for the start of all runs.
    fn is_start_of_run(&self, minor: &Self::Minor) -> bool;
    /// Its bucket.
    fn bucket(&self, minor: &Self::Minor) -> Self::Bucket;
    /// Whether the first, of the same bucket, stands for all that the second stands for.
    fn covers(&self, small: &Self::Minor, large: &Self::Minor) -> bool;
    /// How large it is: small ones are looked at first.
    fn size(&self, minor: &Self::Minor) -> usize;
    /// Whether something was left out because it is too large: then nothing is proved.
    fn is_cut_off(&self) -> bool {
        false
    }
}

/// What came of a search.
pub enum Found<M> {
    /// A forbidden state is reached: the minors from the start of the run on, each with the step that leads from
    /// there.
    Reached(Vec<(M, Undone)>),
    /// None is: the minimal configurations from which one would be.
    Closed(Vec<M>),
}

struct Node<M> {
    minor: M,
    /// The minor that a step leads to from here, and the step.
    next: u32,
    undone: Undone,
    is_minimal: bool,
}

/// The configurations seen so far.
struct Antichain<S: Semantics> {
    nodes: Vec<Node<S::Minor>>,
    buckets: FxHashMap<S::Bucket, Vec<u32>>,
    /// What is still to be looked at, by size.
    open: Vec<VecDeque<u32>>,
}

impl<S: Semantics> Antichain<S> {
    fn add(&mut self, semantics: &S, minor: S::Minor, next: u32, undone: Undone) {
        let bucket = self.buckets.entry(semantics.bucket(&minor)).or_default();
        let nodes = &mut self.nodes;
        if bucket.iter().any(|&known| semantics.covers(&nodes[known as usize].minor, &minor)) {
            return;
        }
        bucket.retain(|&known| {
            let known = &mut nodes[known as usize];
            known.is_minimal = !semantics.covers(&minor, &known.minor);
            known.is_minimal
        });
        let number = nodes.len() as u32;
        bucket.push(number);
        let size = semantics.size(&minor);
        if self.open.len() <= size {
            self.open.resize(size + 1, VecDeque::new());
        }
        self.open[size].push_back(number);
        nodes.push(Node { minor, next, undone, is_minimal: true });
    }

    fn pop(&mut self) -> Option<u32> {
        self.open.iter_mut().find_map(VecDeque::pop_front)
    }
}

/// Searches backwards from the targets.
///
/// # Errors
/// If there are more configurations than the limit, or the budget is exhausted.
pub fn search<S: Semantics>(
    semantics: &S,
    targets: &[Target],
    program: &SplitProgram,
    limit: usize,
) -> Result<Found<S::Minor>, LimitReached> {
    let mut antichain: Antichain<S> = Antichain { nodes: Vec::new(), buckets: FxHashMap::default(), open: Vec::new() };
    // A step may give more than it adds, for most of it may be known: there is room for that, and an end to it.
    let most = limit.saturating_mul(10);
    for target in targets {
        program.budget.check().map_err(LimitReached::Budget)?;
        for start in semantics.starts(target, most)? {
            antichain.add(semantics, start, u32::MAX, Undone::Nothing);
        }
        if antichain.nodes.len() > limit {
            return Err(LimitReached::States);
        }
    }
    let mut found = Vec::new();
    while let Some(number) = antichain.pop() {
        program.budget.check().map_err(LimitReached::Budget)?;
        let node = &antichain.nodes[number as usize];
        if !node.is_minimal {
            continue;
        }
        if semantics.is_start_of_run(&node.minor) {
            return Ok(Found::Reached(chain(&antichain.nodes, number)));
        }
        semantics.predecessors(&node.minor, most, &mut found)?;
        for (minor, undone) in found.drain(..) {
            antichain.add(semantics, minor, number, undone);
        }
        if antichain.nodes.len() > limit {
            return Err(LimitReached::States);
        }
    }
    if semantics.is_cut_off() {
        return Err(LimitReached::States);
    }
    let minimal = antichain.nodes.into_iter().filter(|node| node.is_minimal).map(|node| node.minor);
    Ok(Found::Closed(minimal.collect()))
}

fn chain<M: Clone>(nodes: &[Node<M>], first: u32) -> Vec<(M, Undone)> {
    let mut chain = Vec::new();
    let mut at = first;
    while at != u32::MAX {
        let node = &nodes[at as usize];
        chain.push((node.minor.clone(), node.undone));
        at = node.next;
    }
    chain
}
