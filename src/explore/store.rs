//! All states, in the order of discovery, and the table that finds them.
//!
//! The states lie one after the other in an array, which is also the queue of the breadth-first search: a state's number is its position. The table is
//! split into shards by hash, one worker each; a slot has 32 bits of the hash and 32 bits for the number, so a lookup touches the array only where
//! those bits agree. Tables grow by half when four fifths are full: with one word a state, at most 23 bytes a state all in.
//!
//! A block of candidates is inserted in two steps, so that the numbering does not depend on the number of shards. [`Shard::lookup`] marks each candidate as known, or as the first or a
//! later occurrence of a new state within the block; the driver then numbers the first occurrences in their order, and [`Shard::settle`] puts the numbers into the table.

use rustc_hash::FxHasher;
use std::hash::Hasher;

/// No state has this number; the largest half is for marks.
const EMPTY: u64 = u64::MAX;

/// The largest number of states: numbers are 31 bits, the other half are marks within a block.
pub const MOST_STATES: usize = (1 << 31) - 1;

/// The states.
pub struct States {
    words: usize,
    packed: Vec<u64>,
}

impl States {
    /// No states, of this many words each.
    #[must_use]
    pub fn new(words: usize) -> States {
        States { words, packed: Vec::new() }
    }

    /// The packed state with this number.
    #[inline]
    #[must_use]
    pub fn get(&self, number: usize) -> &[u64] {
        &self.packed[number * self.words..(number + 1) * self.words]
    }

    /// Appends a state.
    pub fn push(&mut self, state: &[u64]) {
        self.packed.extend_from_slice(state);
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.packed.len() / self.words
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.packed.is_empty()
    }

    /// Bytes in use.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.packed.capacity() * size_of::<u64>()
    }
}

/// The hash of a packed state.
#[inline]
#[must_use]
pub fn hash(state: &[u64]) -> u64 {
    let mut hasher = FxHasher::default();
    for &word in state {
        hasher.write_u64(word);
    }
    // The multiplication of the last step mixes upwards only; the shard and the slot are taken from the upper bits, the fingerprint from the lower.
    let hash = hasher.finish();
    (hash ^ (hash >> 32)).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// The shard that a hash belongs to, from its middle bits: the slot within the shard is taken from the upper ones.
#[inline]
#[must_use]
pub fn shard_of(hash: u64, shards: usize) -> usize {
    ((hash >> 16) as u32 as usize) % shards
}

/// What is known about a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// A state that was there before this block.
    Known(u32),
    /// The first occurrence of a new state.
    First,
    /// A later occurrence of a new state; the position of the first one.
    Again(u32),
}

/// One shard of the table.
pub struct Shard {
    slots: Vec<u64>,
    used: usize,
    /// Slots with a mark instead of a number.
    unsettled: Vec<usize>,
}

impl Shard {
    /// An empty shard.
    #[must_use]
    pub fn new() -> Shard {
        Shard { slots: vec![EMPTY; 1 << 10], used: 0, unsettled: Vec::new() }
    }

    #[inline]
    fn first_slot(&self, hash: u64) -> usize {
        // The upper half of the hash, scaled to the number of slots: no power of two is needed.
        ((u128::from(hash) * self.slots.len() as u128) >> 64) as usize
    }

    /// Looks a candidate up, and marks its slot if it is new; `candidate` gives the state at an earlier position of the block.
    #[inline]
    pub fn lookup<'s>(
        &mut self,
        states: &'s States,
        candidate: impl Fn(u32) -> &'s [u64],
        position: u32,
        hash: u64,
    ) -> Found {
        if self.used * 5 >= self.slots.len() * 4 {
            self.grow(states, &candidate);
        }
        let fingerprint = hash & 0xFFFF_FFFF;
        let mut slot = self.first_slot(hash);
        loop {
            let entry = self.slots[slot];
            if entry == EMPTY {
                self.slots[slot] = (fingerprint << 32) | u64::from(position | MARK);
                self.used += 1;
                self.unsettled.push(slot);
                return Found::First;
            }
            if entry >> 32 == fingerprint {
                let number = entry as u32;
                if number & MARK != 0 {
                    let first = number & !MARK;
                    if candidate(first) == candidate(position) {
                        return Found::Again(first);
                    }
                } else if states.get(number as usize) == candidate(position) {
                    return Found::Known(number);
                }
            }
            slot += 1;
            if slot == self.slots.len() {
                slot = 0;
            }
        }
    }

    /// Replaces marks by the numbers that the candidates got.
    pub fn settle(&mut self, number: impl Fn(u32) -> u32) {
        for slot in self.unsettled.drain(..) {
            let entry = self.slots[slot];
            let first = entry as u32 & !MARK;
            self.slots[slot] = (entry & !0xFFFF_FFFF) | u64::from(number(first));
        }
    }

    /// Bytes in use.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.slots.capacity() * size_of::<u64>()
    }

    #[cold]
    fn grow<'s>(&mut self, states: &'s States, candidate: &impl Fn(u32) -> &'s [u64]) {
        let larger = self.slots.len() + self.slots.len() / 2;
        let old = std::mem::replace(&mut self.slots, vec![EMPTY; larger]);
        self.unsettled.clear();
        for entry in old.into_iter().filter(|&entry| entry != EMPTY) {
            let number = entry as u32;
            let is_marked = number & MARK != 0;
            let state = if is_marked { candidate(number & !MARK) } else { states.get(number as usize) };
            let mut slot = self.first_slot(hash(state));
            while self.slots[slot] != EMPTY {
                slot = if slot + 1 == self.slots.len() { 0 } else { slot + 1 };
            }
            self.slots[slot] = entry;
            if is_marked {
                self.unsettled.push(slot);
            }
        }
    }
}

impl Default for Shard {
    fn default() -> Self {
        Shard::new()
    }
}

/// Says that a slot has a position within the block, not a number.
const MARK: u32 = 1 << 31;
