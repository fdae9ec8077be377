//! The search through the abstract program, by the [machinery](crate::explore::blocks) of explorations.
//!
//! Breadth first; a state whose set has grown is expanded again once no new ones are left. Each state is kept with the
//! one that it was found from, so that there is a way to each: what a state could do when it was expanded it still can
//! once its set is larger.
//!
//! *Cost.* As many states as there are; with sets that are united each is expanded at most as often as its set can
//! grow.

use super::expander::{Bad, Expander, Traced};
use super::space::Space;
use crate::budget::Budget;
use crate::explore::blocks::{BLOCK, Blocks};
use crate::explore::store::States;
use crate::explore::table::Table;
use crate::weak::visited::LimitReached;
use std::collections::BTreeSet;

/// What a search has found.
pub enum Found<'s> {
    /// No state is bad: these are all.
    Closed(Reached<'s>),
    /// A run to a bad state.
    Bad(Run, Bad),
}

/// A run of the abstract program.
pub struct Run {
    /// The steps.
    pub steps: Vec<Traced>,
    /// The states that it goes through, as far as they were kept: of a search without
    /// [private](super::space::Reduction) steps, the one before each step.
    pub states: Vec<Vec<u64>>,
}

/// All states that are reached.
pub struct Reached<'s> {
    blocks: Blocks<Expander<'s>>,
    /// What can be written in them that is in no domain: locations, by position, and values.
    pub outside: BTreeSet<(usize, i64)>,
}

impl Reached<'_> {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.blocks.states.len()
    }

    /// Whether a state is one of them, or is part of one: its set is included.
    pub fn has(&self, state: &[u64]) -> bool {
        self.blocks.has(state)
    }

    /// One of them.
    pub fn load(&self, number: usize, state: &mut [u64]) {
        self.blocks.load(number, state);
    }
}

/// Looks for a bad state.
///
/// # Errors
/// If there are more states than may be seen, or the budget is exhausted.
pub fn search<'s>(space: &'s Space<'s>, most: usize, budget: &Budget) -> Result<Found<'s>, LimitReached> {
    let (initial, first_steps) = Expander::new(space).initial();
    let words = space.layout.words;
    let mut states = States::new(space.layout.bytes);
    states.push(&initial[..words.key]);
    let workers = rayon::current_num_threads();
    let table = Table::new(workers, &states);
    let sets = initial[words.key..].to_vec();
    let mut blocks = Blocks::new(states, table, sets, (0..workers).map(|_| Expander::new(space)));
    let mut parents: Vec<u32> = vec![0];
    let mut expanded = 0;
    let mut again: Vec<u32> = Vec::new();
    loop {
        let known = blocks.states.len();
        let block: Vec<u32> = match expanded < known {
            true => (expanded as u32..known.min(expanded + BLOCK) as u32).collect(),
            false => {
                again.sort_unstable();
                again.dedup();
                again.drain(..again.len().min(BLOCK)).collect()
            }
        };
        if block.is_empty() {
            let outside = blocks.expanders().flat_map(|expander| std::mem::take(&mut expander.outside)).collect();
            return Ok(Found::Closed(Reached { blocks, outside }));
        }
        // For each state, as all searches pay; the clock is looked at now and then.
        block.iter().try_for_each(|_| budget.check()).map_err(LimitReached::Budget)?;
        budget.found_states(blocks.states.len());
        if let Err((number, bad)) = blocks.expand(&block) {
            return Ok(Found::Bad(way_to(space, &blocks, &parents, number, first_steps), bad));
        }
        expanded = expanded.max(block.last().map_or(0, |&last| last as usize + 1));
        blocks.insert();
        // Those that are not yet expanded will be with all that they have.
        let is_expanded = |number: &u32| (*number as usize) < expanded;
        blocks.unite(known, |grown| again.extend(Some(grown).filter(is_expanded)), |source| parents.push(source));
        if blocks.states.len() > most {
            return Err(LimitReached::States);
        }
    }
}

/// The steps that lead to a state.
fn way_to(
    space: &Space<'_>,
    blocks: &Blocks<Expander<'_>>,
    parents: &[u32],
    number: usize,
    first_steps: Vec<Traced>,
) -> Run {
    let mut chain = vec![number];
    let mut at = number;
    while at != 0 {
        at = parents[at] as usize;
        chain.push(at);
    }
    chain.reverse();
    let states = chain.iter().map(|&number| {
        let mut state = vec![0; space.layout.len()];
        blocks.load(number, &mut state);
        state
    });
    let states: Vec<Vec<u64>> = states.collect();
    let mut expander = Expander::new(space);
    let mut steps = first_steps;
    for pair in states.windows(2) {
        let way = expander.way(&pair[0], &pair[1][..space.layout.words.key]);
        steps.extend(way.expect("a state was found from the one before it"));
    }
    Run { steps, states }
}
