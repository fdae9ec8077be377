//! An automaton as it is, to walk through without a table.

use super::{Language, Languages, Letter};

/// A deterministic automaton; every state leads to the end of some word.
#[derive(Clone, Debug)]
pub struct Plain {
    moves: Vec<Vec<(Letter, u32)>>,
    accepting: Vec<bool>,
}

impl Plain {
    /// Where words begin; nothing if there is none.
    #[must_use]
    pub fn initial(&self) -> Option<u32> {
        (!self.moves.is_empty()).then_some(0)
    }

    /// Whether words end at a state.
    #[must_use]
    pub fn is_accepting(&self, state: u32) -> bool {
        self.accepting[state as usize]
    }

    /// Where each letter leads from a state.
    #[must_use]
    pub fn moves(&self, state: u32) -> &[(Letter, u32)] {
        &self.moves[state as usize]
    }

    /// Where a letter leads from a state.
    #[must_use]
    pub fn next(&self, state: u32, letter: Letter) -> Option<u32> {
        self.moves(state).iter().find(|(known, _)| *known == letter).map(|&(_, next)| next)
    }
}

impl Languages {
    /// The automaton of a language.
    #[must_use]
    pub fn plain(&self, l: Language) -> Plain {
        let automaton = self.automaton(l);
        let states = 0..automaton.len() as u32;
        Plain {
            moves: states.clone().map(|state| automaton.moves(state).to_vec()).collect(),
            accepting: states.map(|state| automaton.accepts(state)).collect(),
        }
    }
}
