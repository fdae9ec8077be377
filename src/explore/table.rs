//! The table that finds states by their contents.
//!
//! It is split into shards by hash, one worker each. A shard is an array of buckets, a cache line each: twelve
//! numbers of states and, for each, eight bits of its hash, the *tag*. A lookup reads one line, and a state only
//! where the tag agrees; if a bucket is full, the search goes on in the next one. Shards grow by a third when seven
//! eighths are full: 6 to 8 bytes a state, unless they are small. The states themselves say what belongs into a larger
//! shard, in the order of their numbers, so that the old one need not be kept meanwhile.
//!
//! Lookups wait for memory most of the time. They are made in groups, in three rounds, of which the first two only
//! touch what the next one needs: so the waits of a group overlap.
//!
//! A block of candidates is inserted in two steps, so that the numbering does not depend on the number of shards.
//! [`Shard::look_up`] marks each candidate as known, or as the first or a later occurrence of a new state within the
//! block; the driver then numbers the first occurrences in their order, and [`Shard::settle`] puts the numbers into
//! the table.

use super::store::{States, hash};
use rayon::prelude::*;
use std::hint::black_box;

/// Numbers in a bucket.
const SLOTS: usize = 12;
/// Candidates that are looked up together.
const GROUP: usize = 32;
/// A shard with fewer buckets is small: three megabytes.
const SMALL: usize = 50_000;
/// Says that a slot has a position within the block, not a number.
const MARK: u32 = 1 << 31;

const LOW_BITS: u128 = u128::from_le_bytes([1; 16]);
const HIGH_BITS: u128 = LOW_BITS << 7;
/// The tags of all slots.
const ALL_SLOTS: u128 = u128::MAX >> (8 * (16 - SLOTS));

/// Twelve slots and their tags; a slot without a state has the tag 0, and none behind it is in use.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Bucket {
    tags: [u8; 16],
    numbers: [u32; SLOTS],
}

const EMPTY: Bucket = Bucket { tags: [0; 16], numbers: [0; SLOTS] };

impl Bucket {
    /// The slots with this tag, a bit in each one's byte; some others may be among them.
    #[inline]
    fn matching(&self, tag: u8) -> u128 {
        zeros(u128::from_le_bytes(self.tags) ^ (LOW_BITS * u128::from(tag))) & ALL_SLOTS
    }

    /// The first slot that is not in use.
    #[inline]
    fn first_empty(&self) -> Option<usize> {
        let slot = slot_of(zeros(u128::from_le_bytes(self.tags)));
        (slot < SLOTS).then_some(slot)
    }
}

/// A bit in each byte that is zero; those above the first one may be wrong.
#[inline]
fn zeros(bytes: u128) -> u128 {
    bytes.wrapping_sub(LOW_BITS) & !bytes & HIGH_BITS
}

#[inline]
fn slot_of(bits: u128) -> usize {
    (bits.trailing_zeros() / 8) as usize
}

#[inline]
fn tag_of(hash: u64) -> u8 {
    (hash as u8).max(1)
}

/// The shard that a hash belongs to, from its middle bits: the bucket within the shard is taken from the upper ones.
#[inline]
#[must_use]
pub fn shard_of(hash: u64, shards: usize) -> usize {
    ((u64::from((hash >> 16) as u32) * shards as u64) >> 32) as usize
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

/// Candidates of a block, by their positions.
pub trait Candidates: Sync {
    /// The candidate at a position.
    fn state(&self, position: u32) -> &[u64];

    /// The hashes of all candidates, in the order of their positions.
    fn hashes(&self) -> impl Iterator<Item = u64>;
}

/// One shard of the table.
pub struct Shard {
    number: usize,
    num_of_shards: usize,
    buckets: Vec<Bucket>,
    used: usize,
    /// Where a mark stands instead of a number, and which one.
    unsettled: Vec<(u32, usize, usize)>,
}

impl Shard {
    /// The shard with this number, with those of the states that belong to it.
    #[must_use]
    pub fn new(number: usize, num_of_shards: usize, states: &States) -> Shard {
        let mut shard = Shard { number, num_of_shards, buckets: Vec::new(), used: 0, unsettled: Vec::new() };
        shard.rebuild(states.len() / num_of_shards * 9 / 8 / SLOTS + 16, states);
        shard
    }

    #[inline]
    fn first_bucket(&self, hash: u64) -> usize {
        // The upper half of the hash, scaled to the number of buckets: no power of two is needed.
        ((u128::from(hash) * self.buckets.len() as u128) >> 64) as usize
    }

    #[inline]
    fn next_bucket(&self, bucket: usize) -> usize {
        if bucket + 1 == self.buckets.len() { 0 } else { bucket + 1 }
    }

    /// Looks up those candidates that belong to the shard, in their order, and marks those that are new.
    pub fn look_up(&mut self, states: &States, candidates: &impl Candidates) -> Vec<Found> {
        let mut found = Vec::new();
        let all = candidates.hashes().enumerate().map(|(position, hash)| (position as u32, hash));
        self.for_groups(all, |shard, group| shard.look_up_group(states, candidates, group, &mut found));
        found
    }

    /// Those that belong to the shard, in groups.
    fn for_groups(&mut self, all: impl Iterator<Item = (u32, u64)>, mut each: impl FnMut(&mut Self, &[(u32, u64)])) {
        let (mut group, mut length) = ([(0, 0); GROUP], 0);
        for (number, hash) in all {
            // Nothing predicts which shard the next one belongs to, so there is no branch: what belongs elsewhere is
            // overwritten.
            group[length] = (number, hash);
            length += usize::from(shard_of(hash, self.num_of_shards) == self.number);
            if length == GROUP {
                each(self, &group);
                length = 0;
            }
        }
        each(self, &group[..length]);
    }

    fn look_up_group(
        &mut self,
        states: &States,
        candidates: &impl Candidates,
        group: &[(u32, u64)],
        found: &mut Vec<Found>,
    ) {
        if (self.used + group.len()) * 8 > self.buckets.len() * SLOTS * 7 {
            self.grow(states, candidates);
        }
        self.touch(group);
        for &(position, _) in group {
            // Another worker may have made it, and have it in its own cache.
            black_box(candidates.state(position)[0]);
        }
        for &(_, hash) in group {
            let bucket = &self.buckets[self.first_bucket(hash)];
            let matching = bucket.matching(tag_of(hash));
            if matching != 0 {
                let number = bucket.numbers[slot_of(matching)];
                if number & MARK == 0 {
                    black_box(states.word(number as usize, 0));
                }
            }
        }
        for &(position, hash) in group {
            found.push(self.look_up_one(states, candidates, position, hash));
        }
    }

    /// Brings the buckets of a group into the cache.
    #[inline]
    fn touch(&self, group: &[(u32, u64)]) {
        for &(_, hash) in group {
            black_box(self.buckets[self.first_bucket(hash)].tags[0]);
        }
    }

    #[inline]
    fn look_up_one(&mut self, states: &States, candidates: &impl Candidates, position: u32, hash: u64) -> Found {
        let state = candidates.state(position);
        let mut at = self.first_bucket(hash);
        loop {
            let bucket = &self.buckets[at];
            let mut matching = bucket.matching(tag_of(hash));
            while matching != 0 {
                let number = bucket.numbers[slot_of(matching)];
                if number & MARK != 0 {
                    let first = number & !MARK;
                    if candidates.state(first) == state {
                        return Found::Again(first);
                    }
                } else if states.is(number as usize, state) {
                    return Found::Known(number);
                }
                matching &= matching - 1;
            }
            if let Some(slot) = bucket.first_empty() {
                self.put(at, slot, hash, position | MARK);
                self.unsettled.push((position, at, slot));
                return Found::First;
            }
            at = self.next_bucket(at);
        }
    }

    #[inline]
    fn put(&mut self, bucket: usize, slot: usize, hash: u64, number: u32) {
        let bucket = &mut self.buckets[bucket];
        bucket.tags[slot] = tag_of(hash);
        bucket.numbers[slot] = number;
        self.used += 1;
    }

    /// Puts a number where its hash belongs; gives the place.
    #[inline]
    fn insert(&mut self, hash: u64, number: u32) -> (usize, usize) {
        let mut at = self.first_bucket(hash);
        loop {
            if let Some(slot) = self.buckets[at].first_empty() {
                self.put(at, slot, hash, number);
                return (at, slot);
            }
            at = self.next_bucket(at);
        }
    }

    fn insert_group(&mut self, group: &[(u32, u64)]) {
        self.touch(group);
        for &(number, hash) in group {
            self.insert(hash, number);
        }
    }

    /// Replaces marks by the numbers that the candidates got.
    pub fn settle(&mut self, numbers: &[u32]) {
        for (position, bucket, slot) in self.unsettled.drain(..) {
            self.buckets[bucket].numbers[slot] = numbers[position as usize];
        }
    }

    /// Bytes in use.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.buckets.capacity() * size_of::<Bucket>()
    }

    #[cold]
    fn grow(&mut self, states: &States, candidates: &impl Candidates) {
        // Every shard looks at all states when it grows, so as long as it is small it grows by as much as it has.
        let more = if self.buckets.len() < SMALL { self.buckets.len() } else { self.buckets.len() / 3 };
        let larger = self.buckets.len() + more + GROUP;
        self.rebuild(larger, states);
        let mut unsettled = std::mem::take(&mut self.unsettled);
        for (position, bucket, slot) in &mut unsettled {
            (*bucket, *slot) = self.insert(hash(candidates.state(*position)), *position | MARK);
        }
        self.unsettled = unsettled;
    }

    /// So many buckets, with those of the states that belong here.
    fn rebuild(&mut self, num_of_buckets: usize, states: &States) {
        // The old ones first, so that there are never both.
        self.buckets = Vec::new();
        self.buckets = vec![EMPTY; num_of_buckets];
        self.used = 0;
        let mut state = vec![0; states.words()];
        let all = (0..states.len()).map(|number| {
            states.load(number, &mut state);
            (number as u32, hash(&state))
        });
        self.for_groups(all, Shard::insert_group);
    }
}

/// All shards.
pub struct Table {
    shards: Vec<Shard>,
    /// The numbers of the last block's candidates; its marks are replaced when the next block comes.
    numbers: Vec<u32>,
}

impl Table {
    /// A table with these states.
    #[must_use]
    pub fn new(num_of_shards: usize, states: &States) -> Table {
        let shards = (0..num_of_shards).into_par_iter().map(|number| Shard::new(number, num_of_shards, states));
        Table { shards: shards.collect(), numbers: Vec::new() }
    }

    /// Number of shards.
    #[must_use]
    pub fn num_of_shards(&self) -> usize {
        self.shards.len()
    }

    /// The number of each of the candidates that were inserted last.
    #[must_use]
    pub fn numbers(&self) -> &[u32] {
        &self.numbers
    }

    /// Looks all candidates up and appends the new ones to the states; [`numbers`](Table::numbers) has the number of
    /// each.
    pub fn insert(&mut self, states: &mut States, candidates: &impl Candidates, sharing: Sharing) {
        let (known, numbers) = (&*states, &self.numbers);
        let look_up = |shard: &mut Shard| {
            shard.settle(numbers);
            shard.look_up(known, candidates).into_iter()
        };
        let mut found: Vec<std::vec::IntoIter<Found>> = match sharing {
            Sharing::Alone => self.shards.iter_mut().map(look_up).collect(),
            Sharing::Shared => self.shards.par_iter_mut().map(look_up).collect(),
        };
        self.numbers.clear();
        let num_of_shards = self.shards.len();
        for (position, hash) in candidates.hashes().enumerate() {
            let found = found[shard_of(hash, num_of_shards)].next().expect("every candidate was looked up");
            let number = match found {
                Found::Known(number) => number,
                Found::Again(first) => self.numbers[first as usize],
                Found::First => {
                    states.push(candidates.state(position as u32));
                    states.len() as u32 - 1
                }
            };
            self.numbers.push(number);
        }
    }

    /// The number of a state, if it is there.
    #[must_use]
    pub fn find(&self, states: &States, state: &[u64]) -> Option<u32> {
        let hash = hash(state);
        let shard = &self.shards[shard_of(hash, self.shards.len())];
        let mut at = shard.first_bucket(hash);
        loop {
            let bucket = &shard.buckets[at];
            let mut matching = bucket.matching(tag_of(hash));
            while matching != 0 {
                let number = bucket.numbers[slot_of(matching)];
                // Those of the last block are still marked.
                let number = if number & MARK == 0 { number } else { self.numbers[(number & !MARK) as usize] };
                if states.is(number as usize, state) {
                    return Some(number);
                }
                matching &= matching - 1;
            }
            if bucket.first_empty().is_some() {
                return None;
            }
            at = shard.next_bucket(at);
        }
    }

    /// Bytes in use.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.shards.iter().map(Shard::bytes).sum()
    }
}

/// Whether a block is large enough to be shared out to the workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// One worker does it: handing out would take longer.
    Alone,
    /// All workers do it.
    Shared,
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    struct Block(Vec<[u64; 1]>);

    impl Candidates for Block {
        fn state(&self, position: u32) -> &[u64] {
            &self.0[position as usize]
        }

        fn hashes(&self) -> impl Iterator<Item = u64> {
            self.0.iter().map(|state| hash(state))
        }
    }

    #[test]
    fn candidates_are_found_as_a_map_finds_them() {
        let mut states = States::new(2);
        let mut shard = Shard::new(0, 1, &states);
        let mut known: HashMap<u64, u32> = HashMap::new();
        for round in 0..40_u64 {
            // Values repeat within a block and across blocks.
            let block = Block(
                (0..700).map(|n| [hash(&[round / 2, n % 500]) % (40 + 300 * round)]).map(|s| [s[0] & 0xFFFF]).collect(),
            );
            let mut firsts: HashMap<u64, u32> = HashMap::new();
            let found = shard.look_up(&states, &block);
            let mut numbers = Vec::new();
            for (position, (&[state], found)) in block.0.iter().zip(found).enumerate() {
                let expected = match (known.get(&state), firsts.get(&state)) {
                    (Some(&number), _) => Found::Known(number),
                    (None, Some(&first)) => Found::Again(first),
                    (None, None) => Found::First,
                };
                assert_eq!(found, expected, "round {round}, position {position}");
                numbers.push(match found {
                    Found::Known(number) => number,
                    Found::Again(first) => numbers[first as usize],
                    Found::First => {
                        firsts.insert(state, position as u32);
                        states.push(&[state]);
                        states.len() as u32 - 1
                    }
                });
            }
            shard.settle(&numbers);
            known.extend(firsts.iter().map(|(&state, &first)| (state, numbers[first as usize])));
        }
        assert!(known.len() > 3000 && states.len() == known.len());
    }
}
