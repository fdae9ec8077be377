//! The abstract program: what a state is, which are bad, and the steps.
//!
//! The rules are those of the paper (semantics 3 and 4), for any [queue](super::layout::Queue); with a queue for each
//! thread, which has several locations, they are those of TSO:
//!
//! | step | if | then |
//! |---|---|---|
//! | read of x | an x is in the set | its newest value; else that of the newest x in the head; else that of the memory |
//! | write | the set is empty and the head is not full | it goes to the end of the head, else into the set, as its newest |
//! | a write becomes visible | the head is not empty | it is the first of the head |
//! | (full) | the head is empty | any of the set, which stays (there are more like it), or leaves, unless it is the newest of its location, or on TSO of all, and not the last one |
//! | (partial) | the head is empty | any of the set, which stays as it is; or for a location its newest, and all of that location are gone |
//! | fence, atomic step | nothing of the thread waits | as without buffers |
//!
//! *Steps that nobody else notices* are made at once ([`Reduction::Private`]): a thread that can only write into its
//! buffer, pass a fence with nothing waiting, or compute, does so before anything else happens. No other thread can
//! tell, nor can what becomes visible meanwhile, and the condition must not either: the thread looks the same to it
//! before and after, and it does not mention the location. No thread goes on so for ever: such steps make no circle.
//! So if some run reaches a bad state, one does that makes these steps first (an ample set, of the program itself:
//! what is kept of the buffers does not matter for it). States in between are not kept.
//!
//! *Deadlocks.* There the step may be of any kind that others do not notice, also a write to a location that somebody
//! waits for, as long as it begins where its thread is never stuck, or where states are not judged. Such a state is in
//! no deadlock, so none is hidden; and a run to a deadlock has the thread leave it, by this step, its only one, which
//! can as well be made first. What it comes to is kept and judged: it may be stuck there. No deadlock is invented,
//! since only what is kept is judged, by what the thread can do there as the program is written
//! ([`leaving`](crate::engines::automata::leaving)), and not by the transitions that are left.

use super::coherence::Coherence;
use super::layout::{Entry, Layout, Queue};
use crate::engines::automata::leaving::Leaving;
use crate::engines::automata::observed::Observed;
use crate::engines::automata::{Automata, Automaton, Location, Operation, Outside, StateAt, Stop, Transition, Value};
use crate::property::{ConditionFault, Quantifier};
use crate::weak::Machine;
use crate::weak::forbidden::Forbidden;
use crate::weak::split::SplitProgram;
use rustc_hash::FxHashMap;

/// Which steps are made at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// None.
    Off,
    /// Those that nobody else notices.
    Private,
}

/// What is known of the threads' states.
pub(super) struct ThreadTable<'a> {
    pub(super) initial: StateAt,
    pub(super) transitions: &'a [Transition],
    /// What would lead out of the domains.
    pub(super) outside: &'a [Outside],
    /// The transitions from each state.
    pub(super) out: Vec<Vec<u32>>,
    /// For each state the transition that is made at once there, if there is one.
    pub(super) private: Vec<Option<u32>>,
    /// For each state its class, if states are judged there: what the condition can tell.
    pub(super) classes: Vec<Option<u32>>,
    /// For each class what is judged of it.
    pub(super) examples: Vec<Example>,
    /// For each state whether its thread has gone wrong.
    pub(super) is_wrong: Vec<bool>,
}

/// A thread where states are judged.
pub(super) struct Example {
    locals: Vec<i64>,
    control: i64,
    has_ended: bool,
    /// When it is not stuck, where deadlocks are asked for.
    leaving: Option<Leaving>,
}

/// Constraints that fences enforce: for each thread, label and queue the entries, as bits, that nothing with the label
/// may overtake.
pub type Enforced = Vec<Vec<Vec<u64>>>;

/// The abstract program.
pub struct Space<'a> {
    pub layout: Layout,
    pub(super) coherence: Coherence,
    pub(super) threads: Vec<ThreadTable<'a>>,
    pub(super) domains: &'a [Vec<i64>],
    pub(super) memory: &'a [Value],
    pub(super) forbidden: Forbidden<'a>,
    /// The locations that the condition mentions.
    pub(super) mentioned: Vec<usize>,
    /// Where fences are thought of as constraints.
    pub(super) enforced: Option<Enforced>,
    /// Whether the search ends at a bad state.
    pub(super) ends_at_bad: bool,
}

impl<'a> Space<'a> {
    /// Of these automata.
    ///
    /// # Errors
    /// If they are too large.
    pub fn new(
        split: &SplitProgram,
        automata: &'a Automata<'_>,
        forbidden: Forbidden<'a>,
        (machine, coherence): (Machine, Coherence),
        reduction: Reduction,
    ) -> Result<Space<'a>, Stop> {
        let layout = Layout::new(&automata.threads, &automata.domains, machine, coherence)?;
        let observed = Observed::of(split, forbidden);
        let mut mentioned = observed.locations();
        let leaving = automata.threads.iter().flat_map(|automaton| automaton.leaving.iter().flatten());
        mentioned.extend(leaving.flat_map(Leaving::locations).map(usize::from));
        mentioned.sort_unstable();
        mentioned.dedup();
        let mut threads = Vec::with_capacity(automata.threads.len());
        for (number, automaton) in automata.threads.iter().enumerate() {
            let configurations = &automata.configurations[number];
            let keys = automaton.examples.iter().zip(&automaton.leaving).map(|(&id, leaving)| {
                let mut key = observed.key(number, configurations, id)?;
                leaving.iter().for_each(|leaving| key.extend(leaving.code()));
                Some(key)
            });
            let mut known: FxHashMap<Vec<i64>, u32> = FxHashMap::default();
            let (mut classes, mut examples) = (Vec::new(), Vec::new());
            for (state, (key, &id)) in keys.zip(&automaton.examples).enumerate() {
                classes.push(key.map(|key| {
                    *known.entry(key).or_insert_with(|| {
                        let config = configurations.config(id);
                        examples.push(Example {
                            locals: config.frame.to_vec(),
                            control: i64::from(config.control.0),
                            has_ended: configurations.steps(id).is_empty(),
                            leaving: automaton.leaving[state].clone(),
                        });
                        examples.len() as u32 - 1
                    })
                }));
            }
            let is_wrong = automaton.examples.iter().map(|&id| configurations.config(id).is_faulty).collect();
            let mut out = vec![Vec::new(); automaton.examples.len()];
            for (transition, known) in automaton.transitions.iter().enumerate() {
                out[known.from as usize].push(transition as u32);
            }
            let private = match reduction {
                Reduction::Off => vec![None; out.len()],
                Reduction::Private => match forbidden {
                    Forbidden::Deadlock => private(automaton, &out, |known| {
                        automaton.leaving[known.from as usize].as_ref().is_none_or(Leaving::is_certain)
                    }),
                    Forbidden::State(_) | Forbidden::End(_) => private(automaton, &out, |known| {
                        let is_mentioned = match &known.operation {
                            Operation::Write(location, _) => mentioned.contains(&(*location as usize)),
                            _ => false,
                        };
                        !is_mentioned && classes[known.from as usize] == classes[known.to as usize]
                    }),
                },
            };
            threads.push(ThreadTable {
                initial: automaton.initial,
                transitions: &automaton.transitions,
                outside: &automaton.outside,
                out,
                private,
                classes,
                examples,
                is_wrong,
            });
        }
        let (domains, memory) = (&automata.domains[..], &automata.memory[..]);
        Ok(Space {
            layout,
            coherence,
            threads,
            domains,
            memory,
            forbidden,
            mentioned,
            enforced: None,
            ends_at_bad: true,
        })
    }

    /// The same, with what would violate one of these constraints left out.
    pub fn enforcing(self, enforced: Enforced) -> Space<'a> {
        Space { enforced: Some(enforced), ..self }
    }

    /// The same, searched beyond bad states, to count.
    #[cfg(feature = "internals")]
    pub fn going_on(self) -> Space<'a> {
        Space { ends_at_bad: false, ..self }
    }

    /// For each thread and state the transition that is made at once, if there is one.
    pub fn private(&self) -> Vec<&[Option<u32>]> {
        self.threads.iter().map(|table| &table.private[..]).collect()
    }

    pub(super) fn thread_state(&self, state: &[u64], thread: usize) -> usize {
        self.layout.threads[thread].get(state) as usize
    }

    /// The value that a thread reads: of several, all of them.
    #[inline]
    fn reads(&self, state: &[u64], thread: usize, location: Location, value: Value) -> bool {
        let Some((queue, place)) = self.layout.queue_of(thread, location) else {
            return self.layout.memory[location as usize].get(state) == u64::from(value);
        };
        let queue = &self.layout.queues[queue];
        let held = &queue.held[place];
        let set = queue.set.get(state) & held.entries;
        if set != 0 {
            return match self.coherence {
                Coherence::Set => bits(set).any(|entry| queue.entries[entry].value == value),
                Coherence::Full(_) | Coherence::Partial(_) => {
                    queue.entries[held.newest.get(state) as usize - 1].value == value
                }
            };
        }
        for field in queue.head.iter().rev() {
            if let Some(entry) = (field.get(state) as usize).checked_sub(1)
                && queue.entries[entry].location == location
            {
                return queue.entries[entry].value == value;
            }
        }
        self.layout.memory[location as usize].get(state) == u64::from(value)
    }

    /// Whether a transition can be made.
    pub(super) fn is_enabled(&self, state: &[u64], thread: usize, known: &Transition) -> bool {
        if known.drained && !self.layout.is_drained(state, thread) {
            return false;
        }
        let has_values = match &known.operation {
            Operation::Silent => return true,
            Operation::Write(..) => true,
            Operation::Read(location, value) => self.reads(state, thread, *location, *value),
            // What is one step is drained.
            Operation::Whole(reads, _) => self.has(state, reads),
        };
        has_values && !self.is_prevented(state, thread, known.label)
    }

    /// Whether the memory has these values.
    pub(super) fn has(&self, state: &[u64], values: &[(Location, Value)]) -> bool {
        values.iter().all(|&(location, value)| self.layout.memory[location as usize].get(state) == u64::from(value))
    }

    /// Whether a constraint forbids that something with this label is done now. Of what waits every entry of a fully
    /// disjunctive buffer is there, so that one is enough; of a set that was united each may be missing.
    fn is_prevented(&self, state: &[u64], thread: usize, label: u32) -> bool {
        let Some(enforced) = &self.enforced else { return false };
        let of_label = &enforced[thread][label as usize];
        let queues = self.layout.of_thread[thread].clone();
        let waiting = queues.zip(of_label).map(|(queue, &enforced)| {
            let queue = &self.layout.queues[queue];
            let head = queue.head.iter().filter_map(|field| field.get(state).checked_sub(1));
            (head.fold(queue.set.get(state), |bits, entry| bits | 1 << entry), enforced)
        });
        match self.coherence {
            Coherence::Partial(_) => {
                let waiting: Vec<(u64, u64)> = waiting.collect();
                waiting.iter().any(|&(waiting, _)| waiting != 0)
                    && waiting.iter().all(|&(waiting, enforced)| waiting & !enforced == 0)
            }
            Coherence::Set | Coherence::Full(_) => {
                let mut waiting = waiting;
                waiting.any(|(waiting, enforced)| waiting & enforced != 0)
            }
        }
    }

    /// The labels of all that waits of a thread.
    pub fn waiting_labels(&self, state: &[u64], thread: usize) -> Vec<u32> {
        let mut labels = Vec::new();
        for queue in &self.layout.queues[self.layout.of_thread[thread].clone()] {
            let head = queue.head.iter().filter_map(|field| field.get(state).checked_sub(1));
            let waiting = head.fold(queue.set.get(state), |bits, entry| bits | 1 << entry);
            labels.extend(bits(waiting).map(|entry| queue.entries[entry].label));
        }
        labels.sort_unstable();
        labels.dedup();
        labels
    }

    /// A transition that can be made.
    pub(super) fn make(&self, state: &mut [u64], thread: usize, known: &Transition) {
        self.layout.threads[thread].set(state, u64::from(known.to));
        match &known.operation {
            Operation::Silent | Operation::Read(..) => {}
            Operation::Write(location, value) => {
                self.write(state, thread, Entry { location: *location, value: *value, label: known.label });
            }
            Operation::Whole(_, writes) => {
                for &(location, value) in writes {
                    self.layout.memory[location as usize].set(state, u64::from(value));
                }
            }
        }
    }

    fn write(&self, state: &mut [u64], thread: usize, entry: Entry) {
        let (queue, place) = self.layout.queue_of(thread, entry.location).expect("the thread writes the location");
        let queue = &self.layout.queues[queue];
        let number = queue.entries.binary_search(&entry).expect("the thread writes the value");
        let set = queue.set.get(state);
        if set == 0
            && let Some(free) = queue.head.iter().find(|field| field.get(state) == 0)
        {
            free.set(state, number as u64 + 1);
            return;
        }
        queue.set.set(state, set | 1 << number);
        if self.coherence != Coherence::Set {
            queue.held[place].newest.set(state, number as u64 + 1);
            queue.newest.iter().for_each(|newest| newest.set(state, number as u64 + 1));
        }
    }

    /// An entry becomes visible in the memory.
    pub(super) fn show(&self, state: &mut [u64], queue: &Queue, entry: usize) -> Location {
        let Entry { location, value, .. } = queue.entries[entry];
        self.layout.memory[location as usize].set(state, u64::from(value));
        location
    }

    /// Goes on in a thread as long as nobody else notices.
    pub(super) fn go_on(&self, state: &mut [u64], thread: usize, mut made: impl FnMut(&[u64], u32)) {
        let table = &self.threads[thread];
        while let Some(transition) = table.private[self.thread_state(state, thread)] {
            let known = &table.transitions[transition as usize];
            if known.drained && !self.layout.is_drained(state, thread) {
                break;
            }
            self.make(state, thread, known);
            made(state, transition);
        }
    }

    /// A thread that has gone wrong, if there is one.
    pub fn wrong(&self, state: &[u64]) -> Option<usize> {
        (0..self.threads.len()).find(|&thread| self.threads[thread].is_wrong[self.thread_state(state, thread)])
    }

    /// What the condition says where these classes and values are.
    pub(super) fn is_forbidden(&self, key: &[u32]) -> Result<bool, ConditionFault> {
        let (classes, values) = key.split_at(self.threads.len());
        let mut memory = vec![0; self.domains.len()];
        for (&location, &value) in self.mentioned.iter().zip(values) {
            memory[location] = self.domains[location][value as usize];
        }
        let examples = || self.threads.iter().zip(classes).map(|(table, &class)| &table.examples[class as usize]);
        match self.forbidden {
            Forbidden::State(condition) => {
                let mut observed = memory;
                examples().for_each(|example| observed.extend(&example.locals));
                examples().for_each(|example| observed.push(example.control));
                Ok(condition.which_holds(&observed)?.is_some())
            }
            Forbidden::End(condition) => {
                let locals: Vec<Vec<i64>> = examples().map(|example| example.locals.clone()).collect();
                Ok(condition.proposition.holds((&memory, &locals)) == (condition.quantifier != Quantifier::Forall))
            }
            Forbidden::Deadlock => {
                let has = |location: Location, value: Value| {
                    let of_location = self.mentioned.binary_search(&(location as usize));
                    of_location.is_ok_and(|at| values[at] == u32::from(value))
                };
                // Of what may be stuck somewhere it is known where.
                let is_stuck = |example: &Example| example.leaving.as_ref().is_none_or(|leaving| leaving.is_stuck(has));
                Ok(examples().all(is_stuck) && !examples().all(|example| example.has_ended))
            }
        }
    }
}

/// The numbers of the bits that are set.
pub fn bits(mut set: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lowest = set.trailing_zeros();
        set &= set.wrapping_sub(1);
        (lowest < 64).then_some(lowest as usize)
    })
}

/// For each state the transition that can be made at once: that others do not notice, and that may be made so.
fn private(automaton: &Automaton, out: &[Vec<u32>], may_be: impl Fn(&Transition) -> bool) -> Vec<Option<u32>> {
    let alone = |state: usize| {
        let [only] = out[state][..] else { return None };
        if automaton.outside.iter().any(|known| known.from as usize == state) {
            return None;
        }
        let known = &automaton.transitions[only as usize];
        let is_unnoticed = match &known.operation {
            Operation::Silent | Operation::Write(..) => true,
            Operation::Read(..) | Operation::Whole(..) => false,
        };
        (is_unnoticed && may_be(known)).then_some(only)
    };
    let mut private: Vec<Option<u32>> = (0..out.len()).map(alone).collect();
    // Where they go round, the one is left out that closes the circle.
    let mut seen = vec![usize::MAX; out.len()];
    for start in 0..out.len() {
        let mut at = start;
        while seen[at] == usize::MAX {
            seen[at] = start;
            let Some(transition) = private[at] else { break };
            let to = automaton.transitions[transition as usize].to as usize;
            if seen[to] == start {
                private[at] = None;
                break;
            }
            at = to;
        }
    }
    private
}

impl Space<'_> {
    /// Whether the last write like this one may become visible now: it is not the newest of its location, nor of all,
    /// or nothing is left that must come before it.
    pub(super) fn can_leave(&self, state: &[u64], queue: &Queue, set: u64, entry: usize) -> bool {
        let number = entry as u64 + 1;
        let held = &queue.held[queue.place[entry]];
        self.coherence == Coherence::Set
            || ((held.newest.get(state) != number || set & held.entries == 1 << entry)
                && queue.newest.is_none_or(|newest| newest.get(state) != number || set == 1 << entry))
    }

    /// Entries leave the set.
    pub(super) fn leave(&self, state: &mut [u64], queue: &Queue, entries: u64) {
        let set = queue.set.get(state) & !entries;
        queue.set.set(state, set);
        if self.coherence == Coherence::Set {
            return;
        }
        for held in &queue.held {
            if set & held.entries == 0 {
                held.newest.set(state, 0);
            }
        }
        if set == 0 {
            queue.newest.iter().for_each(|newest| newest.set(state, 0));
        }
    }
}
