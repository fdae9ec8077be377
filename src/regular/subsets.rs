//! Nondeterministic automata with silent moves, made deterministic: the states of the result are the sets of states
//! that a word may lead to (Rabin and Scott), as far as words lead to them.

use super::Letter;
use super::automaton::{Automaton, State};

/// A state: whether words may end there, and where else they may go. A move without a letter is silent.
#[derive(Default)]
struct Node {
    accepts: bool,
    moves: Vec<(Option<Letter>, State)>,
}

/// A nondeterministic automaton; state 0 is the start.
pub(super) struct Nondeterministic {
    nodes: Vec<Node>,
}

impl Nondeterministic {
    fn of(automaton: &Automaton) -> Self {
        let node = |state| Node {
            accepts: automaton.accepts(state),
            moves: automaton.moves(state).iter().map(|&(letter, to)| (Some(letter), to)).collect(),
        };
        Self { nodes: automaton.states().map(node).collect() }
    }

    /// Words of the one and then of the other; neither is empty.
    pub(super) fn concatenated(before: &Automaton, behind: &Automaton) -> Self {
        let mut all = Self::of(before);
        let offset = all.nodes.len() as State;
        for node in all.nodes.iter_mut().filter(|node| node.accepts) {
            node.accepts = false;
            node.moves.push((None, offset));
        }
        all.nodes.extend(Self::of(behind).nodes.into_iter().map(|mut node| {
            node.moves.iter_mut().for_each(|(_, to)| *to += offset);
            node
        }));
        all
    }

    /// Any number of words, one behind the other; there is some word.
    pub(super) fn iterated(once: &Automaton) -> Self {
        let mut all = Self::of(once);
        for node in all.nodes.iter_mut().filter(|node| node.accepts) {
            node.moves.push((None, 0));
        }
        // A start of its own: to accept at the old one would accept whatever leads back to it.
        let start = Node { accepts: true, moves: vec![(None, 0)] };
        all.nodes.insert(0, start);
        all.nodes.iter_mut().flat_map(|node| &mut node.moves).for_each(|(_, to)| *to += 1);
        all
    }

    /// Some letters become silent; there is some word.
    pub(super) fn erased(automaton: &Automaton, is_erased: impl Fn(Letter) -> bool) -> Self {
        let mut all = Self::of(automaton);
        for (letter, _) in all.nodes.iter_mut().flat_map(|node| &mut node.moves) {
            *letter = letter.filter(|&letter| !is_erased(letter));
        }
        all
    }

    /// The deterministic automaton of the same language. Not minimal.
    pub(super) fn determined(&self) -> Automaton {
        let mut leads = Vec::new();
        Automaton::explore(
            self.closed(vec![0]),
            |states| states.iter().any(|&state| self.nodes[state as usize].accepts),
            |states, moves| {
                let all = states.iter().flat_map(|&state| &self.nodes[state as usize].moves);
                leads.extend(all.filter_map(|&(letter, to)| letter.map(|letter| (letter, to))));
                leads.sort_unstable();
                for of_letter in leads.chunk_by(|(one, _), (other, _)| one == other) {
                    let states = of_letter.iter().map(|&(_, to)| to).collect();
                    moves.extend(of_letter.first().map(|&(letter, _)| (letter, self.closed(states))));
                }
                leads.clear();
            },
        )
    }

    /// These states and those that silent moves lead to, in order.
    fn closed(&self, mut states: Vec<State>) -> Vec<State> {
        states.dedup();
        let mut at = 0;
        while let Some(&state) = states.get(at) {
            let silent = self.nodes[state as usize].moves.iter().filter(|(letter, _)| letter.is_none());
            for &(_, to) in silent {
                if !states.contains(&to) {
                    states.push(to);
                }
            }
            at += 1;
        }
        states.sort_unstable();
        states
    }
}
