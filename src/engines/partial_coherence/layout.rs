//! Abstract states in bits: where each thread is, the memory, and an abstract buffer for each [`Queue`].
//!
//! A queue is a store buffer: on TSO one for each thread, on PSO one for each thread and location. What can wait in it
//! is an [`Entry`], a location and a value, counted from 0; fields have the number of an entry and one more, and 0
//! stands for none. Its head comes oldest first, without gaps. Of its set the newest entry of each location is known,
//! as long as there is one, and on TSO the newest of all; what is not known is 0, so that equal states are equal words.
//!
//! *Limit.* A set has at most 64 entries.

use super::coherence::Coherence;
use crate::engines::automata::{Automaton, Location, Operation, Stop, Value};
use crate::explore::blocks::Words;
use crate::weak::Machine;
use std::collections::BTreeSet;

/// Some bits of a state; they do not cross the border of a word.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    word: usize,
    shift: u32,
    mask: u64,
}

impl Field {
    #[inline]
    pub fn get(self, state: &[u64]) -> u64 {
        (state[self.word] >> self.shift) & self.mask
    }

    #[inline]
    pub fn set(self, state: &mut [u64], value: u64) {
        let word = &mut state[self.word];
        *word = (*word & !(self.mask << self.shift)) | (value << self.shift);
    }
}

/// Lays fields out, from a word on.
struct Fields {
    word: usize,
    used: u32,
}

impl Fields {
    fn from(word: usize) -> Fields {
        Fields { word, used: 0 }
    }

    /// A field of so many bits.
    fn of_bits(&mut self, bits: u32) -> Field {
        if self.used + bits > 64 {
            self.word += 1;
            self.used = 0;
        }
        let mask = if bits == 0 { 0 } else { u64::MAX >> (64 - bits) };
        let field = Field { word: self.word, shift: self.used.min(63), mask };
        self.used += bits;
        field
    }

    /// A field for numbers up to this one.
    fn up_to(&mut self, most: usize) -> Field {
        self.of_bits(usize::BITS - most.leading_zeros())
    }

    fn words(&self) -> usize {
        self.word + usize::from(self.used > 0)
    }

    fn bytes(&self) -> usize {
        8 * self.word + self.used.div_ceil(8) as usize
    }
}

/// What can wait: a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    pub location: Location,
    pub value: Value,
    /// Of its instruction, where instructions are told apart.
    pub label: u32,
}

/// What a queue can have of a location.
#[derive(Clone, Debug)]
pub struct Held {
    pub location: Location,
    /// The entries of the location, as bits.
    pub entries: u64,
    /// Which of them is the newest in the set.
    pub newest: Field,
}

/// An abstract buffer.
#[derive(Clone, Debug)]
pub struct Queue {
    /// What can wait, in order.
    pub entries: Vec<Entry>,
    /// The oldest writes.
    pub head: Vec<Field>,
    /// Those behind them, as bits.
    pub set: Field,
    pub held: Vec<Held>,
    /// For each entry its place in `held`.
    pub place: Vec<usize>,
    /// Which entry of the set is the newest; none of a queue of one location.
    pub newest: Option<Field>,
}

impl Queue {
    /// Whether nothing waits.
    #[inline]
    pub fn is_empty(&self, state: &[u64]) -> bool {
        self.set.get(state) == 0 && self.head.first().is_none_or(|first| first.get(state) == 0)
    }
}

/// Where everything is.
pub struct Layout {
    /// The state of each thread.
    pub threads: Vec<Field>,
    /// The value of each location.
    pub memory: Vec<Field>,
    pub queues: Vec<Queue>,
    /// The queues of each thread.
    pub of_thread: Vec<std::ops::Range<usize>>,
    /// For each thread and location the queue, and the place of the location in it, if the thread writes it.
    queue_of: Vec<Vec<Option<(usize, usize)>>>,
    /// The words of a state.
    pub words: Words,
    /// The bytes of those that tell states apart.
    pub bytes: usize,
}

impl Layout {
    /// For these threads.
    ///
    /// # Errors
    /// If a buffer can have more than 64 different writes.
    pub fn new(
        threads: &[Automaton],
        domains: &[Vec<i64>],
        machine: Machine,
        coherence: Coherence,
    ) -> Result<Layout, Stop> {
        let mut fields = Fields::from(0);
        let of_threads = threads.iter().map(|thread| fields.up_to(thread.examples.len() - 1)).collect();
        let memory = domains.iter().map(|domain| fields.up_to(domain.len() - 1)).collect();
        let mut queues = Vec::new();
        let mut of_thread = Vec::new();
        let mut queue_of = vec![vec![None; domains.len()]; threads.len()];
        let mut sets = Vec::new();
        for (number, thread) in threads.iter().enumerate() {
            let first = queues.len();
            for entries in entries(thread, machine) {
                if entries.len() > 64 {
                    let problem = "writes more than 64 different values (to all locations together, on tso) that may wait; bound them more narrowly (for example with %)";
                    return Err(Stop::ThreadTooLarge {
                        thread: number,
                        locals: Vec::new(),
                        problem: problem.to_owned(),
                    });
                }
                let head = (0..coherence.head()).map(|_| fields.up_to(entries.len())).collect();
                let locations: BTreeSet<Location> = entries.iter().map(|entry| entry.location).collect();
                for (place, &location) in locations.iter().enumerate() {
                    queue_of[number][location as usize] = Some((queues.len(), place));
                }
                let held = locations.iter().map(|&location| {
                    let of_location = (0..entries.len()).filter(|&entry| entries[entry].location == location);
                    let newest =
                        if coherence == Coherence::Set { fields.up_to(0) } else { fields.up_to(entries.len()) };
                    Held { location, entries: of_location.fold(0, |bits, entry| bits | 1 << entry), newest }
                });
                let held: Vec<Held> = held.collect();
                let place = |entry: &Entry| held.iter().position(|held| held.location == entry.location);
                let place = entries.iter().map(|entry| place(entry).expect("its location is held")).collect();
                let newest = (held.len() > 1 && coherence != Coherence::Set).then(|| fields.up_to(entries.len()));
                sets.push(entries.len() as u32);
                queues.push(Queue { entries, head, set: Field { word: 0, shift: 0, mask: 0 }, held, place, newest });
            }
            of_thread.push(first..queues.len());
        }
        // Sets that are united stand behind all that tells states apart.
        let is_united = matches!(coherence, Coherence::Partial(_));
        // There is at least a word.
        fields.of_bits(1);
        let key = fields.words();
        let mut of_sets = if is_united { Fields::from(key) } else { fields };
        queues.iter_mut().zip(sets).for_each(|(queue, bits)| queue.set = of_sets.of_bits(bits));
        let words = match is_united {
            true => Words { key, set: of_sets.words() - key },
            false => Words { key: of_sets.words(), set: 0 },
        };
        let bytes = if is_united { 8 * key } else { of_sets.bytes() };
        Ok(Layout { threads: of_threads, memory, queues, of_thread, queue_of, words, bytes })
    }

    /// All words of a state.
    pub fn len(&self) -> usize {
        self.words.key + self.words.set
    }

    /// The queue that a thread's writes to a location wait in, and the place of the location there.
    #[inline]
    pub fn queue_of(&self, thread: usize, location: Location) -> Option<(usize, usize)> {
        self.queue_of[thread][location as usize]
    }

    /// Whether nothing of a thread waits.
    #[inline]
    pub fn is_drained(&self, state: &[u64], thread: usize) -> bool {
        self.queues[self.of_thread[thread].clone()].iter().all(|queue| queue.is_empty(state))
    }

    /// Whether nothing waits.
    #[inline]
    pub fn is_all_drained(&self, state: &[u64]) -> bool {
        self.queues.iter().all(|queue| queue.is_empty(state))
    }
}

/// What can wait in each queue of a thread.
fn entries(thread: &Automaton, machine: Machine) -> Vec<Vec<Entry>> {
    let written = thread.transitions.iter().filter_map(|known| match known.operation {
        Operation::Write(location, value) => Some(Entry { location, value, label: known.label }),
        _ => None,
    });
    let written: BTreeSet<Entry> = written.collect();
    let written: Vec<Entry> = written.into_iter().collect();
    match machine {
        _ if written.is_empty() => Vec::new(),
        Machine::Tso => vec![written],
        Machine::Pso => written.chunk_by(|one, other| one.location == other.location).map(<[_]>::to_vec).collect(),
    }
}
