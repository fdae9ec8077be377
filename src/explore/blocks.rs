//! Packed states, expanded block by block: what every exploration shares.
//!
//! States are expanded in blocks. Within a block, workers expand equal parts and collect the successors as
//! *candidates*, in order; each shard of the table then looks up the candidates of its part of the hash range; the new
//! ones are numbered in the order of the candidates. So the numbering is that of a sequential search: it depends
//! neither on the number of workers nor on the number of shards. Blocks of few states are not shared out.
//!
//! *Merged states.* The last words of a state, so many, may be a set that is not part of what the state is: states
//! that agree in the others are one, whose set is the union. When the set of a state grows that was expanded before,
//! the state is to be expanded [again](Blocks::unite).

use super::store::{States, hash};
use super::table::{Candidates, Sharing, Table};
use rayon::prelude::*;

/// States of a block: enough work to share, little enough to stay in the cache.
pub const BLOCK: usize = 1 << 14;

/// Handing out fewer states than this takes longer than expanding them.
const SHARED_STATES: usize = 1024;

/// Handing out fewer candidates than this takes longer than looking them up.
const SHARED_CANDIDATES: usize = 1 << 12;

/// Expands states.
pub trait Expand: Send {
    /// Why a state cannot be expanded.
    type Trouble: Send;

    /// Adds the successors of the state with this number.
    ///
    /// # Errors
    /// If it cannot be expanded.
    fn expand(&mut self, number: usize, state: &[u64], successors: &mut Successors) -> Result<(), Self::Trouble>;
}

/// The words of a state: those that tell states apart, and those of the set that is united.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Words {
    /// How many tell states apart.
    pub key: usize,
    /// How many are a set.
    pub set: usize,
}

/// The successors of the states that a worker has expanded in a block.
pub struct Successors {
    words: Words,
    keys: Vec<u64>,
    sets: Vec<u64>,
    hashes: Vec<u64>,
    /// The number of each state, and how many successors there were before its own.
    sources: Vec<(u32, u32)>,
}

impl Successors {
    fn new(words: Words) -> Successors {
        Successors { words, keys: Vec::new(), sets: Vec::new(), hashes: Vec::new(), sources: Vec::new() }
    }

    /// One more.
    #[inline]
    pub fn push(&mut self, state: &[u64]) {
        let (key, set) = state.split_at(self.words.key);
        self.keys.extend_from_slice(key);
        self.sets.extend_from_slice(set);
        self.hashes.push(hash(key));
    }

    fn clear(&mut self) {
        self.keys.clear();
        self.sets.clear();
        self.hashes.clear();
        self.sources.clear();
    }
}

/// Expands its part of a block. Workers stand beside each other, and must not write to one cache line.
#[repr(align(128))]
struct Worker<E> {
    expander: E,
    /// The state at hand.
    state: Vec<u64>,
    successors: Successors,
}

impl<E: Expand> Worker<E> {
    /// Expands these states; the first trouble, with the state's number.
    fn expand(&mut self, states: &States, sets: &[u64], part: &[u32]) -> Option<(usize, E::Trouble)> {
        let Words { key, set } = self.successors.words;
        self.successors.clear();
        part.iter().find_map(|&number| {
            let at = number as usize;
            states.load(at, &mut self.state[..key]);
            self.state[key..].copy_from_slice(&sets[at * set..(at + 1) * set]);
            self.successors.sources.push((number, self.successors.hashes.len() as u32));
            let result = self.expander.expand(at, &self.state, &mut self.successors);
            result.err().map(|trouble| (at, trouble))
        })
    }
}

/// The candidates of all workers, one worker's after the other's.
struct Block<'c> {
    successors: Vec<&'c Successors>,
    /// The position of each worker's first candidate.
    firsts: Vec<usize>,
    num_of_candidates: usize,
}

impl<'c> Block<'c> {
    fn new(successors: impl Iterator<Item = &'c Successors>) -> Block<'c> {
        let successors: Vec<&Successors> = successors.collect();
        let mut firsts = Vec::with_capacity(successors.len());
        let mut num_of_candidates = 0;
        for of_worker in &successors {
            firsts.push(num_of_candidates);
            num_of_candidates += of_worker.hashes.len();
        }
        Block { successors, firsts, num_of_candidates }
    }
}

impl Candidates for Block<'_> {
    #[inline]
    fn state(&self, position: u32) -> &[u64] {
        let position = position as usize;
        let owner = self.firsts.iter().rposition(|&first| first <= position).unwrap_or(0);
        let Successors { keys, words, .. } = self.successors[owner];
        let offset = (position - self.firsts[owner]) * words.key;
        &keys[offset..offset + words.key]
    }

    #[inline]
    fn hashes(&self) -> impl Iterator<Item = u64> {
        self.successors.iter().flat_map(|of_worker| of_worker.hashes.iter().copied())
    }
}

/// All states so far, the table that finds them, and the workers.
pub struct Blocks<E> {
    /// What tells the states apart, in the order of discovery.
    pub states: States,
    table: Table,
    workers: Vec<Worker<E>>,
    words: Words,
    /// The sets of all states.
    sets: Vec<u64>,
}

impl<E: Expand> Blocks<E> {
    /// With these states, at least one, and their sets, if they have such.
    pub fn new(states: States, table: Table, sets: Vec<u64>, expanders: impl Iterator<Item = E>) -> Blocks<E> {
        let words = Words { key: states.words(), set: sets.len() / states.len() };
        let worker =
            |expander| Worker { expander, state: vec![0; words.key + words.set], successors: Successors::new(words) };
        Blocks { states, table, workers: expanders.map(worker).collect(), words, sets }
    }

    /// Expands these states, each worker its part; the first trouble in the order of the states, with the state's
    /// number.
    pub fn expand(&mut self, block: &[u32]) -> Result<(), (usize, E::Trouble)> {
        let (states, sets) = (&self.states, &self.sets);
        if block.len() < SHARED_STATES {
            self.workers.iter_mut().skip(1).for_each(|worker| worker.successors.clear());
            return self.workers[0].expand(states, sets, block).map_or(Ok(()), Err);
        }
        let part = block.len().div_ceil(self.workers.len());
        let parts = self.workers.par_iter_mut().enumerate().map(|(position, worker)| {
            let first = (position * part).min(block.len());
            worker.expand(states, sets, &block[first..(first + part).min(block.len())])
        });
        let troubles: Vec<Option<(usize, E::Trouble)>> = parts.collect();
        troubles.into_iter().flatten().next().map_or(Ok(()), Err)
    }

    /// Numbers the successors, the new ones among them as new states; gives the numbers, worker by worker, in the
    /// order in which they were found, beside what expands states.
    pub fn insert(&mut self) -> (Vec<&mut E>, &[u32]) {
        let block = Block::new(self.workers.iter().map(|worker| &worker.successors));
        let sharing = if block.num_of_candidates < SHARED_CANDIDATES { Sharing::Alone } else { Sharing::Shared };
        self.table.insert(&mut self.states, &block, sharing);
        (self.workers.iter_mut().map(|worker| &mut worker.expander).collect(), self.table.numbers())
    }

    /// After [`insert`](Blocks::insert): adds the sets of the successors to those of their states, and calls `grown`
    /// for each state whose set has grown, of those that were there before, and `found` for each new one, with the
    /// state that it was found from.
    pub fn unite(&mut self, known: usize, mut grown: impl FnMut(u32), mut found: impl FnMut(u32)) {
        let Words { set, .. } = self.words;
        self.sets.resize(self.states.len() * set, 0);
        let mut numbers = self.table.numbers().iter();
        let mut next = known as u32;
        for worker in &self.workers {
            let Successors { sources, hashes, sets, .. } = &worker.successors;
            let mut at = 0;
            for (position, &(source, _)) in sources.iter().enumerate() {
                let end = sources.get(position + 1).map_or(hashes.len(), |&(_, first)| first as usize);
                for successor in at..end {
                    let number = *numbers.next().expect("every successor has a number");
                    if number == next {
                        found(source);
                        next += 1;
                    }
                    let old = &mut self.sets[number as usize * set..(number as usize + 1) * set];
                    let mut has_grown = false;
                    for (old, more) in old.iter_mut().zip(&sets[successor * set..(successor + 1) * set]) {
                        has_grown |= more & !*old != 0;
                        *old |= more;
                    }
                    if has_grown && (number as usize) < known {
                        grown(number);
                    }
                }
                at = end;
            }
        }
    }

    /// Whether a state is there, with a set that includes this one's.
    pub fn has(&self, state: &[u64]) -> bool {
        let (key, set) = state.split_at(self.words.key);
        let found = self.table.find(&self.states, key);
        found.is_some_and(|number| {
            let known = &self.sets[number as usize * self.words.set..];
            set.iter().zip(known).all(|(own, known)| own & !known == 0)
        })
    }

    /// A whole state, with its set.
    pub fn load(&self, number: usize, state: &mut [u64]) {
        let Words { key, set } = self.words;
        self.states.load(number, &mut state[..key]);
        state[key..].copy_from_slice(&self.sets[number * set..(number + 1) * set]);
    }

    /// What expands states.
    pub fn expanders(&mut self) -> impl Iterator<Item = &mut E> {
        self.workers.iter_mut().map(|worker| &mut worker.expander)
    }

    /// The states, the table, and what expanded them.
    pub fn into_parts(self) -> (States, Table, Vec<E>) {
        (self.states, self.table, self.workers.into_iter().map(|worker| worker.expander).collect())
    }

    /// Bytes of states and table.
    pub fn bytes(&self) -> usize {
        self.states.bytes() + self.table.bytes() + 8 * self.sets.capacity()
    }
}
