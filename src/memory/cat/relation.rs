//! Relations and sets over few events, with memory of their own.
//!
//! Row `a` of a relation has a bit for every `b` with `(a, b)` in it; a row takes one word as long as there are at
//! most 64 events. What is done to the bits is in [`matrix`].

use super::matrix::{self, Shape};
use std::ops::{BitAnd, BitOr, Sub};

const BITS: usize = u64::BITS as usize;

/// A relation over events `0..size`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relation {
    size: usize,
    words: usize,
    rows: Vec<u64>,
}

/// A set of events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventSet {
    words: Vec<u64>,
}

impl EventSet {
    /// The events with a property.
    pub fn new(size: usize, mut has: impl FnMut(usize) -> bool) -> EventSet {
        let mut words = vec![0; size.div_ceil(BITS)];
        (0..size).filter(|&event| has(event)).for_each(|event| words[event / BITS] |= 1 << (event % BITS));
        EventSet { words }
    }

    /// Whether the event is in it.
    #[must_use]
    pub fn contains(&self, event: usize) -> bool {
        self.words[event / BITS] >> (event % BITS) & 1 == 1
    }

    /// Its bits.
    #[must_use]
    pub fn words(&self) -> &[u64] {
        &self.words
    }
}

impl Relation {
    /// The empty relation.
    #[must_use]
    pub fn empty(size: usize) -> Relation {
        let words = size.div_ceil(BITS);
        Relation { size, words, rows: vec![0; size * words] }
    }

    /// The pairs with a property.
    pub fn new(size: usize, mut has: impl FnMut(usize, usize) -> bool) -> Relation {
        let mut relation = Relation::empty(size);
        for from in 0..size {
            (0..size).filter(|&to| has(from, to)).for_each(|to| relation.insert(from, to));
        }
        relation
    }

    /// Over how many events it is.
    #[must_use]
    pub fn size(&self) -> usize {
        self.size
    }

    /// Adds a pair.
    pub fn insert(&mut self, from: usize, to: usize) {
        self.rows[from * self.words + to / BITS] |= 1 << (to % BITS);
    }

    /// Whether the pair is in it.
    #[must_use]
    pub fn contains(&self, from: usize, to: usize) -> bool {
        self.rows[from * self.words + to / BITS] >> (to % BITS) & 1 == 1
    }

    /// Whether no pair is in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.iter().all(|word| *word == 0)
    }

    /// Its bits, row by row.
    #[must_use]
    pub fn rows(&self) -> &[u64] {
        &self.rows
    }

    /// Its pairs.
    pub fn pairs(&self) -> impl Iterator<Item = (usize, usize)> {
        let size = self.size;
        (0..size).flat_map(move |from| (0..size).map(move |to| (from, to))).filter(|&(a, b)| self.contains(a, b))
    }

    fn shape(&self) -> Shape {
        Shape::new(self.size)
    }

    /// `self ; other`.
    #[must_use]
    pub fn then(&self, other: &Relation) -> Relation {
        let mut result = Relation::empty(self.size);
        matrix::sequence(self.shape(), &mut result.rows, &self.rows, &other.rows);
        result
    }

    /// The transitive closure.
    #[must_use]
    pub fn plus(mut self) -> Relation {
        matrix::close(self.shape(), &mut self.rows);
        self
    }

    /// With the identity.
    #[must_use]
    pub fn optional(mut self) -> Relation {
        (0..self.size).for_each(|event| self.insert(event, event));
        self
    }

    /// The reflexive transitive closure.
    #[must_use]
    pub fn star(self) -> Relation {
        self.plus().optional()
    }

    /// The pairs from one set to another.
    #[must_use]
    pub fn restricted(&self, from: &EventSet, to: &EventSet) -> Relation {
        let mut result = self.clone();
        for event in 0..self.size {
            let row = &mut result.rows[event * self.words..(event + 1) * self.words];
            let keep = from.contains(event);
            row.iter_mut().zip(&to.words).for_each(|(word, mask)| *word &= if keep { *mask } else { 0 });
        }
        result
    }

    /// The pairs that start in a set.
    #[must_use]
    pub fn starting_in(&self, from: &EventSet) -> Relation {
        let mut result = self.clone();
        for event in (0..self.size).filter(|&event| !from.contains(event)) {
            result.rows[event * self.words..(event + 1) * self.words].fill(0);
        }
        result
    }

    /// Whether no event is related to itself.
    #[must_use]
    pub fn is_irreflexive(&self) -> bool {
        (0..self.size).all(|event| !self.contains(event, event))
    }

    /// Whether there is no cycle.
    #[must_use]
    pub fn is_acyclic(&self) -> bool {
        matrix::is_acyclic(self.shape(), &self.rows)
    }

    fn by_words(mut self, other: &Relation, operation: impl Fn(u64, u64) -> u64) -> Relation {
        self.rows.iter_mut().zip(&other.rows).for_each(|(word, with)| *word = operation(*word, *with));
        self
    }
}

impl BitOr<&Relation> for Relation {
    type Output = Relation;

    fn bitor(self, other: &Relation) -> Relation {
        self.by_words(other, |a, b| a | b)
    }
}

impl BitOr for &Relation {
    type Output = Relation;

    fn bitor(self, other: &Relation) -> Relation {
        self.clone() | other
    }
}

impl BitAnd for &Relation {
    type Output = Relation;

    fn bitand(self, other: &Relation) -> Relation {
        self.clone().by_words(other, |a, b| a & b)
    }
}

impl Sub for &Relation {
    type Output = Relation;

    fn sub(self, other: &Relation) -> Relation {
        self.clone().by_words(other, |a, b| a & !b)
    }
}

#[cfg(test)]
mod tests {
    use super::{EventSet, Relation};

    fn of(size: usize, pairs: &[(usize, usize)]) -> Relation {
        Relation::new(size, |from, to| pairs.contains(&(from, to)))
    }

    /// Beyond one word, too.
    #[test]
    fn operations_are_those_of_sets_of_pairs() {
        for shift in [0, 60, 130] {
            let size = shift + 5;
            let pairs = |list: &[(usize, usize)]| -> Vec<(usize, usize)> {
                list.iter().map(|(from, to)| (from + shift, to + shift)).collect()
            };
            let chain = of(size, &pairs(&[(0, 1), (1, 2), (2, 3)]));
            let back = of(size, &pairs(&[(3, 4), (4, 0), (1, 2)]));
            assert_eq!(chain.then(&back), of(size, &pairs(&[(0, 2), (2, 4)])));
            assert_eq!(chain.clone().plus(), of(size, &pairs(&[(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)])));
            assert_eq!(&chain & &back, of(size, &pairs(&[(1, 2)])));
            assert_eq!(&chain - &back, of(size, &pairs(&[(0, 1), (2, 3)])));
            assert!(chain.is_acyclic() && back.is_acyclic());
            assert!(!(&chain | &back).is_acyclic());
            let (from, to) = (EventSet::new(size, |e| e != shift), EventSet::new(size, |e| e != shift + 3));
            assert_eq!(chain.restricted(&from, &to), of(size, &pairs(&[(1, 2)])));
            assert!(!chain.clone().star().is_irreflexive() && chain.is_irreflexive() && !chain.is_empty());
        }
    }
}
