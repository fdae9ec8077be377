//! Programs in which nothing can conflict: no memory model can do anything to them, and usually something else was
//! meant.

use super::{Caveat, Topic};
use crate::aeg::AbstractEventGraph;
use crate::memory::Kind;
use std::collections::{BTreeMap, BTreeSet};

/// What the labels of a state space may be suspected of.
const DIALECT: &str = " (usually a sign that the labels are read in a wrong way: see --dialect)";

/// What is said if no two accesses conflict; `is_bare` if only labels are known, and no specification. Nothing if
/// only a part of the state space is known.
#[must_use]
pub fn caveats(graph: &AbstractEventGraph, is_bare: bool) -> Option<Caveat> {
    let mut locations: BTreeMap<_, (BTreeSet<_>, bool)> = BTreeMap::new();
    for vertex in &graph.vertices {
        let (threads, is_written) = locations.entry(vertex.location).or_default();
        threads.insert(vertex.thread);
        *is_written |= vertex.kind == Kind::Write;
    }
    let mut shared = locations.values().filter(|(threads, _)| threads.len() > 1).peekable();
    let are_shared = shared.peek().is_some();
    if graph.evaluations.is_empty() || shared.any(|&(_, is_written)| is_written) {
        return None;
    }
    let found: BTreeSet<_> = graph.evaluations.iter().map(|evaluation| evaluation.thread).collect();
    let found: Vec<&String> = found.into_iter().map(|thread| &graph.threads[thread.index()]).collect();
    let why = match &found[..] {
        [only] => format!("only one thread was found, {only}"),
        _ if are_shared => "no location that two threads access is written".to_owned(),
        _ if graph.vertices.is_empty() => "no shared location is accessed".to_owned(),
        _ => "no location is accessed by two threads".to_owned(),
    };
    let suspicion = if is_bare { DIALECT } else { "" };
    Some(Caveat::new(Topic::NoConflicts, format!("{why}: nothing can conflict{suspicion}")))
}
