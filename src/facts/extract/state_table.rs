//! The enabled set of every state, packed into bits.
//!
//! A state's enabled set (`out(s)` of method §2) is one [local set](super::local_sets) for each thread. Local sets
//! are few, so their numbers take few bits, and all of them together usually fit into one or two words of 32 bits a
//! state. Six threads with up to 31 local sets each take four bytes a state, however many of the possible
//! combinations occur.
//!
//! How many threads and local sets there are shows only while the file is being read. A thread has a *field* of some
//! bits; when a set does not fit into its thread's field, the layout is made anew and all states are repacked, which
//! excludes the workers for a moment. Spare bits are shared out among the fields, so that happens a few times, early
//! in the file.
//!
//! Fields never cross words, and each field is united on its own. So a state with several words needs no lock: every
//! word is compared and swapped by itself.

use super::chunks::lock;
use super::layout::Numbering;
use super::local_sets::{self, EMPTY, LocalSets};
use crate::ids::ThreadId;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError, RwLock, RwLockReadGuard};

const WORD_BITS: u32 = u32::BITS;

/// Tables smaller than this are never refused.
const ALWAYS_ALLOWED_BYTES: usize = 1 << 24;

/// What a transition may take of a larger table: four times as much as the shortest line.
const BYTES_PER_TRANSITION: usize = 28;

/// Something did not fit: [make room](Builder::make_room) and try again.
#[derive(Debug)]
pub(super) struct Overflow;

/// The table would take far more memory than the text.
#[derive(Debug)]
pub(super) struct TooManyThreads(pub(super) usize);

/// Where a thread's local set stands within the words of a state.
#[derive(Clone, Copy, Debug, Default)]
struct Field {
    word: usize,
    shift: u32,
    /// As many ones as the field has bits; so also the largest set that fits.
    mask: u32,
}

impl Field {
    #[inline]
    fn of(self, words: &[AtomicU32]) -> u32 {
        self.of_word(words[self.word].load(Ordering::Relaxed))
    }

    #[inline]
    fn of_word(self, word: u32) -> u32 {
        word >> self.shift & self.mask
    }
}

/// The table.
pub(super) struct StateTable {
    numbering: Numbering,
    /// By thread.
    fields: Vec<Field>,
    /// Words a state.
    stride: usize,
    /// Relaxed ordering is enough: the numbers refer to data that is read under a lock, or after the pass.
    words: Vec<AtomicU32>,
}

impl StateTable {
    /// What a thread has enabled in a state; the empty set, if the state has no transitions.
    #[inline]
    pub(super) fn local_set(&self, state: u64, thread: ThreadId) -> u32 {
        self.words(state).map_or(EMPTY, |words| self.fields.get(thread.index()).map_or(EMPTY, |field| field.of(words)))
    }

    /// Calls `visit` for every thread but `own` that has something else enabled in state b than in state a, with the
    /// two local sets.
    #[inline]
    pub(super) fn for_each_other_that_differs(
        &self,
        a: u64,
        b: u64,
        own: ThreadId,
        mut visit: impl FnMut(ThreadId, u32, u32),
    ) {
        let set = |words: Option<&[AtomicU32]>, position: usize| {
            words.map_or(0, |words| words[position].load(Ordering::Relaxed))
        };
        let (a, b) = (self.words(a), self.words(b));
        for position in 0..self.stride {
            let (a, b) = (set(a, position), set(b, position));
            // Most steps change nothing for others.
            let own_bits = self.fields.get(own.index()).filter(|own| own.word == position);
            if (a ^ b) & !own_bits.map_or(0, |own| own.mask << own.shift) == 0 {
                continue;
            }
            for (thread, field) in self.fields.iter().enumerate().filter(|(_, field)| field.word == position) {
                let (before, after) = (field.of_word(a), field.of_word(b));
                if before != after && thread != own.index() {
                    visit(ThreadId::new(thread), before, after);
                }
            }
        }
    }

    /// For every state in a part of the table: what each thread has enabled. Parts are for parallel reading.
    pub(super) fn parts(&self) -> impl Iterator<Item = Part<'_>> {
        const PART_STATES: usize = 1 << 14;
        self.words.chunks(PART_STATES * self.stride).map(|words| Part { table: self, words })
    }

    /// The number of states that have an entry.
    pub(super) fn num_of_states(&self) -> usize {
        self.words.len() / self.stride
    }

    /// Where a state stands in the table; states with smaller numbers stand before it.
    #[inline]
    pub(super) fn position(&self, state: u64) -> Option<usize> {
        match &self.numbering {
            Numbering::Dense(size) => usize::try_from(state).ok().filter(|position| position < size),
            Numbering::Sparse(states) => states.binary_search(&state).ok(),
        }
    }

    /// The state that stands there.
    pub(super) fn state_at(&self, position: usize) -> Option<u64> {
        match &self.numbering {
            Numbering::Dense(size) => (position < *size).then_some(position as u64),
            Numbering::Sparse(states) => states.get(position).copied(),
        }
    }

    #[inline]
    fn words(&self, state: u64) -> Option<&[AtomicU32]> {
        let position = self.position(state)?;
        self.words.get(position.checked_mul(self.stride)?..)?.get(..self.stride)
    }

    /// Unites a state's enabled set with the local sets of `threads`.
    pub(super) fn unite(
        &self,
        state: u64,
        threads: &[ThreadId],
        local_set: &[u32],
        locals: &mut local_sets::Cache<'_>,
    ) -> Result<(), Overflow> {
        let words = self.words(state).expect("every state below the limit, or that occurs, has an entry");
        for (position, word) in words.iter().enumerate() {
            let mut added = 0;
            for &thread in threads {
                let field = self.fields.get(thread.index()).ok_or(Overflow)?;
                if field.word == position {
                    added |= field.holding(local_set[thread.index()])?;
                }
            }
            // Nearly always the state is new.
            let (mut present, mut united) = (0, added);
            while let Err(other) = word.compare_exchange(present, united, Ordering::Relaxed, Ordering::Relaxed) {
                present = other;
                united = self.union(position, present, added, locals)?;
            }
        }
        Ok(())
    }

    fn union(&self, position: usize, a: u32, b: u32, locals: &mut local_sets::Cache<'_>) -> Result<u32, Overflow> {
        let mut united = 0;
        for (thread, field) in self.fields.iter().enumerate().filter(|(_, field)| field.word == position) {
            let union = locals.union(ThreadId::new(thread), field.of_word(a), field.of_word(b));
            united |= field.holding(union)?;
        }
        Ok(united)
    }

    fn fits(&self, sizes: &[usize]) -> bool {
        let largest = |size: usize| size - 1;
        sizes.len() <= self.fields.len()
            && sizes.iter().zip(&self.fields).all(|(&size, field)| largest(size) <= field.mask as usize)
    }

    fn repack(&mut self, sizes: &[usize], memory_limit: usize) -> Result<(), TooManyThreads> {
        let (fields, stride) = lay_out(sizes);
        let states = self.words.len() / self.stride;
        let bytes = states.saturating_mul(stride).saturating_mul(size_of::<u32>());
        if bytes > memory_limit.max(ALWAYS_ALLOWED_BYTES) && stride > self.stride {
            return Err(TooManyThreads(sizes.len()));
        }
        let moves: Vec<(Field, Field)> = self.fields.iter().copied().zip(fields.iter().copied()).collect();
        let mut old = vec![0; self.stride];
        let mut new = vec![0; stride];
        if stride == self.stride {
            for words in self.words.chunks_mut(stride) {
                // States that were not reached yet are most of them.
                if words.iter_mut().all(|word| *word.get_mut() == 0) {
                    continue;
                }
                old.iter_mut().zip(&mut *words).for_each(|(old, word)| *old = *word.get_mut());
                repack_state(&moves, &old, &mut new);
                words.iter_mut().zip(&new).for_each(|(word, new)| *word.get_mut() = *new);
            }
        } else {
            let old_words = std::mem::take(&mut self.words);
            self.words.reserve_exact(states * stride);
            for words in old_words.chunks(self.stride) {
                old.iter_mut().zip(words).for_each(|(old, word)| *old = word.load(Ordering::Relaxed));
                repack_state(&moves, &old, &mut new);
                self.words.extend(new.iter().map(|&word| AtomicU32::new(word)));
            }
        }
        (self.fields, self.stride) = (fields, stride);
        Ok(())
    }
}

/// Moves the fields of one state.
fn repack_state(moves: &[(Field, Field)], old: &[u32], new: &mut [u32]) {
    new.fill(0);
    for (from, to) in moves {
        new[to.word] |= from.of_word(old[from.word]) << to.shift;
    }
}

impl Field {
    fn holding(self, set: u32) -> Result<u32, Overflow> {
        if set <= self.mask { Ok(set << self.shift) } else { Err(Overflow) }
    }
}

/// Fields for threads with so many sets each, and the number of words. Where threads are many, more are expected.
fn lay_out(sizes: &[usize]) -> (Vec<Field>, usize) {
    let expected = sizes.len() / 4;
    let sizes: Vec<usize> = sizes.iter().copied().chain(std::iter::repeat_n(1, expected)).collect();
    // At least one bit, so that a thread without sets has room for its first.
    let needed = |size: usize| (usize::BITS - (size - 1).leading_zeros()).clamp(1, WORD_BITS);
    let mut free: Vec<u32> = vec![WORD_BITS];
    let mut fields = Vec::with_capacity(sizes.len());
    for &size in &sizes {
        let bits = needed(size);
        let word = free.iter().position(|&free| free >= bits).unwrap_or_else(|| {
            free.push(WORD_BITS);
            free.len() - 1
        });
        free[word] -= bits;
        fields.push((word, bits));
    }
    // Share the spare bits out, one at a time, so that the fields' sizes may still grow.
    while free.iter().zip(0..).any(|(&free, word)| free > 0 && fields.iter().any(|field| field.0 == word)) {
        for (word, bits) in &mut fields {
            if free[*word] > 0 {
                free[*word] -= 1;
                *bits += 1;
            }
        }
    }
    let mut used = vec![0; free.len()];
    let place = |(word, bits): (usize, u32)| {
        let shift = used[word];
        used[word] += bits;
        Field { word, shift, mask: u32::MAX >> (WORD_BITS - bits) }
    };
    (fields.into_iter().map(place).collect(), free.len())
}

/// See [`StateTable::parts`].
pub(super) struct Part<'t> {
    table: &'t StateTable,
    words: &'t [AtomicU32],
}

impl Part<'_> {
    /// Calls `each` with the local sets of every state, by thread.
    pub(super) fn for_each(&self, mut each: impl FnMut(&[u32])) {
        let mut local_sets = vec![EMPTY; self.table.fields.len()];
        for words in self.words.chunks(self.table.stride) {
            for (local_set, field) in local_sets.iter_mut().zip(&self.table.fields) {
                *local_set = field.of(words);
            }
            each(&local_sets);
        }
    }
}

/// The table while it is being filled.
pub(super) struct Builder {
    table: RwLock<StateTable>,
    memory_limit: usize,
}

impl Builder {
    /// A table in which nothing is enabled, for so many transitions.
    pub(super) fn new(numbering: Numbering, transitions: u64) -> Self {
        let states = match &numbering {
            Numbering::Dense(size) => *size,
            Numbering::Sparse(states) => states.len(),
        };
        let words = (0..states).map(|_| AtomicU32::new(0)).collect();
        let table = StateTable { numbering, fields: Vec::new(), stride: 1, words };
        Builder {
            table: RwLock::new(table),
            memory_limit: usize::try_from(transitions)
                .map_or(usize::MAX, |most| most.saturating_mul(BYTES_PER_TRANSITION)),
        }
    }

    /// The table as it is laid out now; to be given back before [`make_room`](Self::make_room).
    pub(super) fn table(&self) -> RwLockReadGuard<'_, StateTable> {
        self.table.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes room for all local sets that are known.
    pub(super) fn make_room(&self, locals: &Mutex<LocalSets>) -> Result<(), TooManyThreads> {
        let mut table = self.table.write().unwrap_or_else(PoisonError::into_inner);
        let sizes: Vec<usize> = lock(locals).sizes().collect();
        // Another worker may have made it.
        if table.fits(&sizes) { Ok(()) } else { table.repack(&sizes, self.memory_limit) }
    }

    /// The table, when the pass is over.
    pub(super) fn finish(self) -> StateTable {
        self.table.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}
