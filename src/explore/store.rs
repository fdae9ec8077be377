//! All states, in the order of discovery: [`States`]. The table that finds them is [`table`](super::table).
//!
//! A state is a few 64-bit words, of which the last one is rarely full: in memory it takes only the bytes that it
//! needs. The states lie one after the other, which is also the queue of the breadth-first search: a state's number
//! is its position. The array grows by an eighth, so that little of it is unused.

use rustc_hash::FxHasher;
use std::hash::Hasher;

/// The largest number of states: numbers are 31 bits, the other half are marks within a block.
pub const MOST_STATES: usize = (1 << 31) - 1;

/// Every word is read as eight bytes, so as many follow the last state.
const PADDING: [u8; 8] = [0; 8];

/// The states.
pub struct States {
    /// 64-bit words of a state.
    words: usize,
    /// Bytes of a state.
    stride: usize,
    /// The bits of the last word that are in use.
    last_mask: u64,
    len: usize,
    packed: Vec<u8>,
}

impl States {
    /// No states, of this many bytes each.
    #[must_use]
    pub fn new(bytes: usize) -> States {
        let stride = bytes.max(1);
        let in_last = (stride - 1) % 8 + 1;
        States {
            words: stride.div_ceil(8),
            stride,
            last_mask: u64::MAX >> (64 - 8 * in_last),
            len: 0,
            packed: PADDING.to_vec(),
        }
    }

    /// A word of the state with this number.
    #[inline]
    #[must_use]
    pub fn word(&self, number: usize, word: usize) -> u64 {
        let at = number * self.stride + 8 * word;
        let bytes = self.packed[at..at + 8].try_into().expect("a slice of eight bytes has eight bytes");
        let value = u64::from_le_bytes(bytes);
        if word + 1 == self.words { value & self.last_mask } else { value }
    }

    /// Copies the packed state with this number.
    #[inline]
    pub fn load(&self, number: usize, state: &mut [u64]) {
        for (word, value) in state.iter_mut().enumerate() {
            *value = self.word(number, word);
        }
    }

    /// Whether the state with this number is this one.
    #[inline]
    #[must_use]
    pub fn is(&self, number: usize, state: &[u64]) -> bool {
        state.iter().enumerate().all(|(word, &value)| self.word(number, word) == value)
    }

    /// Appends a state.
    pub fn push(&mut self, state: &[u64]) {
        if self.packed.capacity() - self.packed.len() < self.stride {
            self.packed.reserve_exact((self.packed.len() / 8).max(1 << 12));
        }
        let end = self.len * self.stride;
        self.packed.truncate(end);
        for word in state {
            self.packed.extend_from_slice(&word.to_le_bytes());
        }
        self.packed.truncate(end + self.stride);
        self.packed.extend_from_slice(&PADDING);
        self.len += 1;
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// 64-bit words of a state.
    #[must_use]
    pub fn words(&self) -> usize {
        self.words
    }

    /// Bytes in use.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.packed.capacity()
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
    // The multiplication of the last step mixes upwards only; the bucket is taken from the upper bits, the shard from
    // the middle, the tag from the lower.
    let hash = hasher.finish();
    (hash ^ (hash >> 32)).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_of_any_length_come_back() {
        for bytes in 1..=24 {
            let mut states = States::new(bytes);
            let used: u64 = u64::MAX >> (64 - 8 * ((bytes - 1) % 8 + 1));
            let state = |number: u64| -> Vec<u64> {
                let mut state: Vec<u64> = (0..bytes.div_ceil(8) as u64).map(|word| hash(&[number, word])).collect();
                *state.last_mut().expect("there is a word") &= used;
                state
            };
            (0..300).for_each(|number| states.push(&state(number)));
            let mut loaded = vec![0; states.words()];
            for number in 0..300 {
                states.load(number, &mut loaded);
                assert_eq!(loaded, state(number as u64), "{bytes} bytes");
                assert!(states.is(number, &loaded));
            }
            assert!(states.bytes() <= 300 * bytes + (1 << 13));
        }
    }
}
