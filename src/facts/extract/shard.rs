//! A shard as the phases of a [quotient](crate::facts::quotient::phases) read it, and a whole state space as its
//! quotient.
//!
//! The first pass is the one that every state space gets: what is enabled, thread by thread. Here the local sets of
//! all threads in a state together are one *enabled set*, which takes four more bytes a state; and the second pass
//! collects the distinct steps between enabled sets instead of those that each thread sees. Steps are counted, so that
//! it shows if some are missing.
//!
//! Shards are known again by their [hash](super::fingerprint).

use super::chunks::{At, Counted, Meter, Worker, pass};
use super::discovery::Discovery;
use super::enabled::Enabled;
use super::fingerprint::{Contents, LabelHashes};
use super::labels::{INTERNAL, Known, Lookup, Seen};
use super::layout::Layout;
use super::local_sets::EMPTY;
use super::stop::Reason;
use super::{First, Options, Progress, Question};
use crate::facts::quotient::phases::Sets;
use crate::facts::quotient::{Builder, Quotient, Reached, Step};
use crate::ids::ThreadId;
use crate::lts::error::Error;
use crate::lts::source::Bytes;
use crate::lts::space::{Transition, UNREAD};
use rustc_hash::FxHashMap;

/// The quotient of a state space in one file or several.
///
/// # Errors
/// As for [`extract_all`](super::extract_all).
pub fn quotient(sources: &[Bytes], options: &Options, progress: &dyn Progress) -> Result<Quotient, Error> {
    let mut first = First::read(Layout::of_headers(sources, options)?, options, progress)?;
    first.layout.check_counts(first.enabled.transitions, first.enabled.states)?;
    let First { layout, reading, labels, enabled } = &first;
    let mut builder = Builder::default();
    let of_position = enabled_sets(enabled, labels, &mut builder);
    let numbers = Numbers::of(labels, &mut builder);
    let question = Question::new(layout, enabled, labels, options);
    let meter = Meter::new(progress, &options.budget, layout.bodies(), Counted::Second);
    let workers = pass(layout.bodies(), &meter, || Discoverer {
        collector: Collector::new(labels, enabled, &numbers, &of_position),
        question: &question,
        input: 0,
    });
    let part = workers.and_then(|workers| Ok((workers, question.answer(layout.bodies(), enabled, &meter)?)));
    let (workers, part) = part.map_err(|stop| stop.into_error(layout.bodies(), reading))?;
    layout.refuse_repeated(question.contents.as_ref().and_then(Contents::repeated))?;
    meter.finish();
    for (step, count) in united(workers.into_iter().map(|worker| worker.collector)) {
        builder.step(step, count);
    }
    let table = &enabled.table;
    let set = |state: u64| table.position(state).and_then(|position| of_position.get(position)).copied();
    let initial = layout.initial().unwrap_or(0);
    let initial = set(initial).unwrap_or_else(|| builder.set(Vec::new()));
    let reached = match (layout.warnings.first().cloned(), part) {
        (None, None) => Reached::All,
        (Some(reason), _) | (None, Some(reason)) => Reached::NotAll(reason),
    };
    Ok(builder.finish(initial, (enabled.states, enabled.transitions), reached))
}

/// A shard, read once.
pub struct ReadShard<'s> {
    first: First<'s>,
    options: &'s Options,
    progress: &'s dyn Progress,
}

impl<'s> ReadShard<'s> {
    /// Reads a shard for the first time.
    ///
    /// # Errors
    /// As for [`extract`](super::extract).
    pub fn read(source: &'s Bytes, options: &'s Options, progress: &'s dyn Progress) -> Result<ReadShard<'s>, Error> {
        let first = First::read(Layout::of_shard(source, options)?, options, progress)?;
        Ok(ReadShard { first, options, progress })
    }

    /// Its file.
    fn name(&self) -> &str {
        self.first.layout.bodies().first().map_or("", |body| body.space.source().name())
    }

    /// The position of a state, if the shard may have it.
    #[must_use]
    pub fn position(&self, state: u64) -> Option<usize> {
        self.first.enabled.table.position(state)
    }

    /// How many positions there are.
    #[must_use]
    pub fn num_of_positions(&self) -> usize {
        self.first.enabled.table.num_of_states()
    }

    /// What is enabled, and which states are discovered.
    ///
    /// # Errors
    /// If the shard has changed meanwhile, or a limit is reached.
    pub fn sets(self) -> Result<Sets, Error> {
        let table = &self.first.enabled.table;
        let discovery = match self.first.layout.initial() {
            Some(initial) => Discovery::new(table, initial).unwrap_or_else(|| Discovery::of_no_initial(table)),
            None => Discovery::of_no_initial(table),
        };
        let hashes = LabelHashes::of(&self.first.labels);
        let workers = self.pass(|| Fingerprint {
            texts: Lookup::new(&self.first.labels),
            hashes: &hashes,
            discovery: &discovery,
            enabled: &self.first.enabled,
            hash: 0,
            largest: 0,
        })?;
        let mut builder = Builder::default();
        let of_position = enabled_sets(&self.first.enabled, &self.first.labels, &mut builder);
        let empty = builder.set(Vec::new());
        let with_transitions = (0..).zip(&of_position).filter(|(_, set)| **set != empty);
        let sources = with_transitions.filter_map(|(position, &set)| Some((table.state_at(position)?, set))).collect();
        let (labels, sets) = builder.into_parts();
        Ok(Sets {
            name: self.name().to_owned(),
            hash: workers.iter().fold(0, |sum, worker| sum.wrapping_add(worker.hash)),
            header: self.first.layout.header(),
            transitions: self.first.enabled.transitions,
            largest: workers.iter().map(|worker| worker.largest).max().unwrap_or(0),
            labels,
            sets,
            sources,
            discovered: discovery.runs(table),
        })
    }

    /// The steps between the sets of the builder, by position of the state (each has one), and the hash of the shard.
    ///
    /// # Errors
    /// If the shard has changed meanwhile, or a limit is reached.
    pub fn steps(&self, of_position: &[u32], builder: &mut Builder) -> Result<(FxHashMap<Step, u64>, u64), Error> {
        let labels = Numbers::of(&self.first.labels, builder);
        let hashes = LabelHashes::of(&self.first.labels);
        let workers = self.pass(|| {
            let collector = Collector::new(&self.first.labels, &self.first.enabled, &labels, of_position);
            Hashed { collector, hashes: &hashes, hash: 0 }
        })?;
        let hash = workers.iter().fold(0_u64, |sum, worker| sum.wrapping_add(worker.hash));
        Ok((united(workers.into_iter().map(|worker| worker.collector)), hash))
    }

    fn pass<W: Worker>(&self, worker: impl Fn() -> W + Sync) -> Result<Vec<W>, Error> {
        let meter = Meter::new(self.progress, &self.options.budget, self.first.layout.bodies(), Counted::Second);
        let workers = pass(self.first.layout.bodies(), &meter, worker);
        workers.map_err(|stop| stop.into_error(self.first.layout.bodies(), &self.first.reading))
    }
}

/// The numbers that a builder has for labels.
struct Numbers {
    of_label: Vec<u32>,
    internal: u32,
}

impl Numbers {
    fn of(known: &Known, builder: &mut Builder) -> Numbers {
        let of_label = known.labels.iter().map(|label| builder.label(Some(label.clone()))).collect();
        // Nobody asks for it if there is none.
        let internal = if known.internal.is_some() { builder.label(None) } else { INTERNAL };
        Numbers { of_label, internal }
    }

    fn get(&self, label: u32) -> u32 {
        if label == INTERNAL { self.internal } else { self.of_label[label as usize] }
    }
}

/// Gives every enabled set a number of the builder; by position of the state.
fn enabled_sets(enabled: &Enabled, known: &Known, builder: &mut Builder) -> Vec<u32> {
    let labels = Numbers::of(known, builder);
    let mut numbers: FxHashMap<Box<[u32]>, u32> = FxHashMap::default();
    let mut of_position = Vec::with_capacity(enabled.table.num_of_states());
    for part in enabled.table.parts() {
        part.for_each(|local_sets| {
            let number = numbers.get(local_sets).copied().unwrap_or_else(|| {
                let mut members: Vec<u32> = Vec::new();
                for (thread, &set) in local_sets.iter().enumerate().filter(|(_, set)| **set != EMPTY) {
                    let own = enabled.locals.members(ThreadId::new(thread), set);
                    members.extend(own.iter().map(|&label| labels.get(label)));
                }
                let number = builder.set(members);
                numbers.insert(local_sets.into(), number);
                number
            });
            of_position.push(number);
        });
    }
    of_position
}

/// How many steps a worker keeps at hand, so that few transitions are hashed into the table of all.
const RECENT: usize = 1 << 10;

/// Collects the distinct steps between enabled sets, and counts their transitions.
struct Collector<'t> {
    texts: Lookup<'t>,
    enabled: &'t Enabled,
    labels: &'t Numbers,
    of_position: &'t [u32],
    recent: Vec<(Step, u64)>,
    steps: FxHashMap<Step, u64>,
}

impl<'t> Collector<'t> {
    fn new(known: &'t Known, enabled: &'t Enabled, labels: &'t Numbers, of_position: &'t [u32]) -> Collector<'t> {
        let nothing = (Step { before: 0, label: INTERNAL, after: 0, is_loop: false }, 0);
        let recent = vec![nothing; RECENT];
        Collector { texts: Lookup::new(known), enabled, labels, of_position, recent, steps: FxHashMap::default() }
    }

    fn set(&self, state: u64) -> Option<u32> {
        self.of_position.get(self.enabled.table.position(state)?).copied()
    }

    #[inline]
    fn add(&mut self, transition: &Transition) -> Result<Seen, At<Reason>> {
        if transition.label == UNREAD {
            return Err(At { at: transition.at, what: Reason::Changed });
        }
        let seen = self.texts.seen(transition.label);
        let is_loop = transition.from == transition.to && (seen.number == INTERNAL || seen.only_a_condition);
        let (Some(before), Some(after)) = (self.set(transition.from), self.set(transition.to)) else {
            return Err(At { at: transition.at, what: Reason::Changed });
        };
        let step = Step { before, label: self.labels.get(seen.number), after, is_loop };
        let mixed =
            step.label.wrapping_mul(0x9e37_79b1) ^ before.wrapping_mul(0x85eb_ca77) ^ after.wrapping_mul(0xc2b2_ae3d);
        let recent = &mut self.recent[(mixed >> 16) as usize & (RECENT - 1)];
        if recent.0 == step {
            recent.1 += 1;
        } else {
            let (old, count) = std::mem::replace(recent, (step, 1));
            if count > 0 {
                *self.steps.entry(old).or_default() += count;
            }
        }
        Ok(seen)
    }
}

/// The steps of all collectors.
fn united<'t>(collectors: impl Iterator<Item = Collector<'t>>) -> FxHashMap<Step, u64> {
    let mut steps: FxHashMap<Step, u64> = FxHashMap::default();
    for collector in collectors {
        let recent = collector.recent.into_iter().filter(|(_, count)| *count > 0);
        for (step, count) in recent.chain(collector.steps) {
            *steps.entry(step).or_default() += count;
        }
    }
    steps
}

/// Collects steps, and the hash of the shard.
struct Hashed<'t> {
    collector: Collector<'t>,
    hashes: &'t LabelHashes,
    hash: u64,
}

impl Worker for Hashed<'_> {
    #[inline]
    fn label(&mut self, text: &[u8]) -> Option<u32> {
        self.collector.texts.get(text)
    }

    fn batch(&mut self, transitions: &[Transition]) -> Result<(), At<Reason>> {
        for transition in transitions {
            let seen = self.collector.add(transition)?;
            self.hash = self.hash.wrapping_add(self.hashes.of_transition(transition, seen.number));
        }
        Ok(())
    }
}

/// Collects steps, and what is asked in the same pass.
struct Discoverer<'t> {
    collector: Collector<'t>,
    question: &'t Question,
    /// Which input the transitions at hand are in.
    input: usize,
}

impl Worker for Discoverer<'_> {
    fn begin_chunk(&mut self, input: usize) {
        self.input = input;
    }

    #[inline]
    fn label(&mut self, text: &[u8]) -> Option<u32> {
        self.collector.texts.get(text)
    }

    fn batch(&mut self, transitions: &[Transition]) -> Result<(), At<Reason>> {
        for transition in transitions {
            self.collector.add(transition)?;
            if let Some(discovery) = &self.question.discovery {
                discover(discovery, self.collector.enabled, transition);
            }
        }
        if let Some(contents) = &self.question.contents {
            contents.add(self.input, transitions, |label| self.collector.texts.seen(label).number);
        }
        Ok(())
    }
}

fn discover(discovery: &Discovery, enabled: &Enabled, transition: &Transition) {
    let table = &enabled.table;
    if let (Some(from), Some(to)) = (table.position(transition.from), table.position(transition.to)) {
        discovery.step(from, to);
    }
}

/// What the first phase needs besides enabled sets.
struct Fingerprint<'t> {
    texts: Lookup<'t>,
    hashes: &'t LabelHashes,
    discovery: &'t Discovery,
    enabled: &'t Enabled,
    hash: u64,
    largest: u64,
}

impl Worker for Fingerprint<'_> {
    #[inline]
    fn label(&mut self, text: &[u8]) -> Option<u32> {
        self.texts.get(text)
    }

    fn batch(&mut self, transitions: &[Transition]) -> Result<(), At<Reason>> {
        for transition in transitions {
            if transition.label == UNREAD {
                return Err(At { at: transition.at, what: Reason::Changed });
            }
            let seen = self.texts.seen(transition.label);
            self.hash = self.hash.wrapping_add(self.hashes.of_transition(transition, seen.number));
            self.largest = self.largest.max(transition.from).max(transition.to);
            discover(self.discovery, self.enabled, transition);
        }
        Ok(())
    }
}
