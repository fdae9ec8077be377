//! Interned sets of labels: equal sets have equal numbers.
//!
//! All members stand in one array, so a set costs its members and about fourteen bytes. Number 0 is the empty set.

use super::chunks::lock;
use rustc_hash::FxHashMap;
use std::hash::Hasher;
use std::sync::Mutex;

/// The number of the empty set.
pub(super) const EMPTY: u32 = 0;

const VACANT: u32 = u32::MAX;

/// Lists of numbers, each distinct one stored once.
pub(super) struct Sets {
    members: Vec<u32>,
    /// Where each list ends in `members`.
    ends: Vec<usize>,
    /// Open addressing with linear probing over the lists' numbers; a power of two, at most half full.
    slots: Vec<u32>,
}

impl Sets {
    /// The empty set alone.
    pub(super) fn new() -> Self {
        let mut sets = Sets { members: Vec::new(), ends: Vec::new(), slots: vec![VACANT; 16] };
        sets.intern(&[]);
        sets
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The members of set `number`.
    #[inline]
    pub(super) fn members(&self, number: u32) -> &[u32] {
        let number = number as usize;
        let start = if number == 0 { 0 } else { self.ends[number - 1] };
        &self.members[start..self.ends[number]]
    }

    /// The number of a list; sets are given sorted.
    #[inline]
    pub(super) fn intern(&mut self, list: &[u32]) -> u32 {
        let mut slot = self.home(list);
        loop {
            match self.slots[slot] {
                VACANT => break,
                number if self.members(number) == list => return number,
                _ => slot = (slot + 1) & (self.slots.len() - 1),
            }
        }
        let number = u32::try_from(self.ends.len()).expect("memory ends before 2^32 distinct sets");
        self.members.extend_from_slice(list);
        self.ends.push(self.members.len());
        self.slots[slot] = number;
        if 2 * self.ends.len() > self.slots.len() {
            self.grow();
        }
        number
    }

    fn home(&self, list: &[u32]) -> usize {
        let mut hasher = rustc_hash::FxHasher::default();
        for &member in list {
            hasher.write_u32(member);
        }
        let bits = self.slots.len().trailing_zeros();
        usize::try_from(hasher.finish() >> (64 - bits)).expect("fewer bits than the table's length has")
    }

    fn grow(&mut self) {
        self.slots = vec![VACANT; 2 * self.slots.len()];
        for number in 0..self.ends.len() {
            let number = u32::try_from(number).expect("it was a number before");
            let mut slot = self.home(self.members(number));
            while self.slots[slot] != VACANT {
                slot = (slot + 1) & (self.slots.len() - 1);
            }
            self.slots[slot] = number;
        }
    }
}

/// A worker's view of the sets that all workers share.
pub(super) struct Cache<'t> {
    shared: &'t Mutex<Sets>,
    /// Lists as they came, unsorted and with repetitions, and the number of the set of each.
    lists: Sets,
    set_of_list: Vec<u32>,
    unions: FxHashMap<(u32, u32), u32>,
    sorted: Vec<u32>,
}

/// A cache that grows beyond this is not caching: it is emptied.
const CACHED: usize = 1 << 16;

impl<'t> Cache<'t> {
    pub(super) fn new(shared: &'t Mutex<Sets>) -> Self {
        let (lists, sorted) = (Sets::new(), Vec::new());
        Cache { shared, lists, set_of_list: vec![EMPTY], unions: FxHashMap::default(), sorted }
    }

    /// The number of the set of the members of `list`, in any order, with repetitions.
    #[inline]
    pub(super) fn set_of(&mut self, list: &[u32]) -> u32 {
        let number = self.lists.intern(list) as usize;
        if let Some(&set) = self.set_of_list.get(number) {
            return set;
        }
        self.sorted.clear();
        self.sorted.extend_from_slice(list);
        self.sorted.sort_unstable();
        self.sorted.dedup();
        let set = lock(self.shared).intern(&self.sorted);
        if self.set_of_list.len() == CACHED {
            self.lists = Sets::new();
            self.set_of_list = vec![EMPTY];
        } else {
            self.set_of_list.push(set);
        }
        set
    }

    /// The number of the union of two sets.
    pub(super) fn union(&mut self, a: u32, b: u32) -> u32 {
        if a == b || b == EMPTY {
            return a;
        }
        let pair = if a < b { (a, b) } else { (b, a) };
        if let Some(&union) = self.unions.get(&pair) {
            return union;
        }
        let mut shared = lock(self.shared);
        self.sorted.clear();
        self.sorted.extend_from_slice(shared.members(a));
        self.sorted.extend_from_slice(shared.members(b));
        self.sorted.sort_unstable();
        self.sorted.dedup();
        let union = shared.intern(&self.sorted);
        if self.unions.len() == CACHED {
            self.unions.clear();
        }
        self.unions.insert(pair, union);
        union
    }
}
