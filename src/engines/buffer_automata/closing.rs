//! The states that were seen, made closed under steps: an invariant, which is all that a positive answer rests on.
//!
//! *Closed.* The start is included by some state; and from each state every step that is to be followed leads into a
//! state. Then every state that the machine reaches, by whatever run, is included by one of these, or nothing
//! forbidden can be reached by what is left out: from a state of which only the moves of one thread are followed the
//! run goes on with its first move of that thread, and is shorter than before; if it has none, the move that makes no
//! difference is made first, and the run is as long as before, but its state has a smaller *rank*. (Marks that leave
//! buffers do not count for the length of a run: it can have more of them than before only where it has become
//! shorter, and between two others there are finitely many.) States of which all steps are
//! followed have rank 0, others one more than the least rank among the states that the moves lead into for which the
//! thread can [go first](super::persistent). Every state must have one. With ranks every place that a thread can
//! come to is seen, too, and so all instructions that go wrong.
//!
//! What a step leads to must be included by *one* state. States that others include are not needed.
//!
//! What the search has left out, by a sleep set, is found here and followed; so an error there would cost time. A
//! state without a rank gets all its steps followed.

use super::search::{Ended, Search, counts};
use super::tree::{Followed, NodeId, includes};
use crate::regular::Language;
use crate::weak::system::State;

/// A state of the invariant.
pub struct Member {
    /// Memory and threads.
    pub shared: State,
    /// What the buffers can hold.
    pub buffers: Box<[Language]>,
    /// Which steps are followed.
    pub followed: Followed,
}

/// Makes the states closed; those that are needed, and how many the search had left out.
///
/// # Errors
/// If something was met that the search had left out, or a limit was reached.
pub fn close(search: &mut Search<'_, '_>) -> Result<(Vec<Member>, usize), Ended> {
    let seen = search.tree.nodes.len();
    let mut open: Vec<NodeId> = (0..seen as NodeId).rev().collect();
    loop {
        while let Some(node) = open.pop() {
            if !search.tree.node(node).is_included {
                follow(search, node, &mut open)?;
            }
        }
        let needed: Vec<NodeId> =
            (0..search.tree.nodes.len() as NodeId).filter(|&node| !search.tree.node(node).is_included).collect();
        let unranked = unranked(search, &needed);
        let Some(&first) = unranked.first() else {
            let left_out = search.tree.nodes.len() - seen;
            let member = |node: NodeId| Member {
                shared: search.tree.shared(node).clone(),
                buffers: search.tree.node(node).buffers.clone(),
                followed: search.tree.node(node).followed,
            };
            return Ok((needed.into_iter().map(member).collect(), left_out));
        };
        search.tree.nodes[first as usize].followed = Followed::All;
        open.push(first);
    }
}

/// Adds what the steps of a state lead to, where no state includes it.
fn follow(search: &mut Search<'_, '_>, node: NodeId, open: &mut Vec<NodeId>) -> Result<(), Ended> {
    let state = search.tree.state(node);
    let followed = search.tree.node(node).followed;
    for (step, mut next) in search.steps_of(&state, followed) {
        let shared = search.tree.number(next.shared.clone());
        if search.tree.including(&mut search.space, shared, &next.buffers).is_some() {
            continue;
        }
        let found = Some((node, step));
        let round = search.accelerate(&mut next, shared, found);
        let added = search.add(&next, shared, found, round)?;
        let (followed, _) = search.followed(&next, added);
        search.tree.nodes[added as usize].followed = followed;
        open.push(added);
    }
    Ok(())
}

/// The states that have no rank.
fn unranked(search: &mut Search<'_, '_>, needed: &[NodeId]) -> Vec<NodeId> {
    let mut has_rank = vec![false; search.tree.nodes.len()];
    // For each state of which only some steps are followed, the states that its moves lead into.
    let mut waiting: Vec<(NodeId, Vec<NodeId>)> = Vec::new();
    for &node in needed {
        let Followed::Only(thread) = search.tree.node(node).followed else {
            has_rank[node as usize] = true;
            continue;
        };
        let state = search.tree.state(node);
        let why = search.persistent.goes_first(&mut search.space, &state.shared, thread);
        let mut into = Vec::new();
        for (step, next) in search.steps_of(&state, Followed::Only(thread)) {
            if why.is_some_and(|why| counts(why, step)) {
                let shared = search.tree.number(next.shared.clone());
                let including = search.tree.alike(shared).iter().copied();
                let tree = &search.tree;
                let space = &mut search.space;
                into.extend(including.filter(|&other| includes(space, &tree.node(other).buffers, &next.buffers)));
            }
        }
        waiting.push((node, into));
    }
    // Successors were mostly found later.
    waiting.reverse();
    loop {
        let before = waiting.len();
        waiting.retain(|(node, into)| {
            let found = into.iter().any(|&next| has_rank[next as usize]);
            has_rank[*node as usize] = found;
            !found
        });
        if waiting.len() == before || waiting.is_empty() {
            return waiting.into_iter().rev().map(|(node, _)| node).collect();
        }
    }
}
