//! The run that leads to a state, as short as can be.
//!
//! Predecessors are not stored. A state's first predecessor in the order of the numbers is one step nearer to the
//! initial state, as the search is breadth-first; and it was expanded in the block in which the state was found, so
//! that [`Discoveries`], two numbers a block, say where to look for it. Each step of the run costs the expansion of
//! at most one block.

use super::layout::Layout;
use super::store::States;
use super::successors::{Evaluated, Expander, Visitor};
use crate::program::compiled::Compiled;

/// Which block found which states.
#[derive(Default)]
pub(super) struct Discoveries {
    /// For each block: how many states were expanded after it, and how many were known.
    blocks: Vec<(usize, usize)>,
}

impl Discoveries {
    /// Notes the end of a block.
    pub(super) fn end_block(&mut self, expanded: usize, known: usize) {
        self.blocks.push((expanded, known));
    }

    /// The states of the block that found this one.
    fn expanded_at(&self, state: usize) -> std::ops::Range<usize> {
        let block = self.blocks.partition_point(|&(_, known)| known <= state);
        let first = block.checked_sub(1).map_or(0, |before| self.blocks[before].0);
        first..self.blocks.get(block).map_or(state, |&(end, _)| end)
    }

    /// How many steps from the initial state this one is: at least so many, and exactly so many as long as no layer is
    /// larger than a block.
    pub(super) fn depth_of(&self, state: usize) -> usize {
        std::iter::successors(Some(state), |&at| (at > 0).then(|| self.expanded_at(at).start)).count() - 1
    }

    /// A shortest run from the initial state to this one.
    pub(super) fn run_to(&self, state: usize, states: &States, compiled: &Compiled, layout: &Layout) -> Vec<Evaluated> {
        let mut run = Vec::new();
        let mut target = state;
        let mut expander = Expander::new(compiled, layout);
        let (mut wanted, mut packed) = (vec![0; states.words()], vec![0; states.words()]);
        while target > 0 {
            states.load(target, &mut wanted);
            let step = self.expanded_at(target).find_map(|candidate| {
                let mut finder = Finder { wanted: &wanted, found: None };
                states.load(candidate, &mut packed);
                // A state that was expanded once expands again.
                expander.expand(&packed, &mut finder).ok()?;
                finder.found.map(|evaluated| (candidate, evaluated))
            });
            let Some((predecessor, evaluated)) = step else { break };
            run.push(evaluated);
            target = predecessor;
        }
        run.reverse();
        run
    }
}

/// Looks for a step to a given state.
struct Finder<'s> {
    wanted: &'s [u64],
    found: Option<Evaluated>,
}

impl Visitor for Finder<'_> {
    fn step(&mut self, evaluated: Evaluated, successor: Option<&[u64]>) {
        if self.found.is_none() && successor == Some(self.wanted) {
            self.found = Some(evaluated);
        }
    }
}
