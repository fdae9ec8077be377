//! Who watches: nobody, the facts, the `.aut` writer.

use super::driver::Observer;
use super::successors::{Evaluated, LocalStates, Visitor, Whose};
use crate::facts::{Facts, Follows, Waits};
use crate::ids::{LabelId, ThreadAt};
use crate::lts::label::Label;
use crate::lts::writer::Sink;
use crate::outline::Outline;
use crate::program::Program;
use crate::program::labels::{Decision, label};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

/// Only counts.
pub struct Nobody;

/// Sees nothing.
pub struct Nothing;

impl Visitor for Nothing {
    fn step(&mut self, _: Evaluated, _: Option<&[u64]>) {}
}

impl Observer for Nobody {
    type Watcher = Nothing;

    fn watcher(&self) -> Nothing {
        Nothing
    }
}

/// Collects the facts (method §2) on the fly: no transition is stored, and none is looked at twice.
///
/// What a thread has enabled after its own step is evaluated with the step, and so is what another thread has enabled
/// after a step that may change it. Sets of labels are interned: those of a thread (local sets), and those of a
/// state.
pub struct FactsObserver;

/// Watches an exploration that forgets locals which are never read again: for observers that look at labels alone, and
/// need not count the states that others count.
pub struct Forgetting<O>(pub O);

impl<O: Observer> Observer for Forgetting<O> {
    type Watcher = O::Watcher;

    fn watcher(&self) -> O::Watcher {
        self.0.watcher()
    }

    fn leaves_out(&self) -> Option<Arc<LocalStates>> {
        self.0.leaves_out()
    }

    fn forgets(&self) -> bool {
        true
    }

    fn block(&mut self, watchers: &mut [&mut O::Watcher], first: usize, numbers: &[u32]) -> io::Result<()> {
        self.0.block(watchers, first, numbers)
    }
}

/// The facts that one worker has seen; labels and local sets are numbered as it met them.
#[derive(Default)]
pub struct FactsWatcher {
    labels: FxHashMap<Evaluated, u32>,
    local_sets: FxHashMap<Box<[u32]>, u32>,
    /// What is enabled in the state at hand.
    enabled: Vec<u32>,
    /// Where the labels of each thread begin in `enabled`.
    threads: Vec<(ThreadAt, usize)>,
    /// What a thread has enabled after a step of the state at hand; the step is its own, or another thread's.
    outlooks: Vec<Outlook>,
    /// The labels of the outlooks, one after the other.
    outlook_labels: Vec<u32>,
    enabled_sets: FxHashSet<Box<[u32]>>,
    /// A step, the local set before it, and the one after it.
    steps: FxHashSet<(u32, u32, u32)>,
    /// Local sets before and after a step of another thread.
    waking: FxHashSet<(u32, u32)>,
}

struct Outlook {
    thread: ThreadAt,
    /// The label of the thread's own step.
    own_step: Option<u32>,
    begin: usize,
}

impl FactsWatcher {
    fn label(&mut self, evaluated: Evaluated) -> u32 {
        let next = self.labels.len() as u32;
        *self.labels.entry(evaluated).or_insert(next)
    }

    fn settle_outlooks(&mut self) {
        let FactsWatcher { local_sets, enabled, threads, outlooks, outlook_labels, steps, waking, .. } = self;
        for (position, outlook) in outlooks.iter().enumerate() {
            let end = outlooks.get(position + 1).map_or(outlook_labels.len(), |next| next.begin);
            let after = intern(local_sets, &outlook_labels[outlook.begin..end]);
            let own = threads.iter().position(|(thread, _)| *thread == outlook.thread);
            let before = own.map_or(&[][..], |own| {
                let end = threads.get(own + 1).map_or(enabled.len(), |(_, begin)| *begin);
                &enabled[threads[own].1..end]
            });
            let before = intern(local_sets, before);
            match outlook.own_step {
                Some(step) => {
                    steps.insert((step, before, after));
                }
                None if before != after => {
                    waking.insert((before, after));
                }
                None => {}
            }
        }
        outlooks.clear();
        outlook_labels.clear();
    }
}

fn intern(sets: &mut FxHashMap<Box<[u32]>, u32>, set: &[u32]) -> u32 {
    let next = sets.len() as u32;
    match sets.get(set) {
        Some(&id) => id,
        None => *sets.entry(set.into()).or_insert(next),
    }
}

impl Visitor for FactsWatcher {
    fn step(&mut self, evaluated: Evaluated, _: Option<&[u64]>) {
        if self.threads.last().is_none_or(|(thread, _)| *thread != evaluated.at.thread) {
            self.threads.push((evaluated.at.thread, self.enabled.len()));
        }
        let label = self.label(evaluated);
        self.enabled.push(label);
    }

    fn wants_outlooks(&self) -> bool {
        true
    }

    fn outlook(&mut self, thread: ThreadAt, whose: Whose) {
        let own_step = match whose {
            Whose::Own => self.enabled.last().copied(),
            Whose::Other => None,
        };
        self.outlooks.push(Outlook { thread, own_step, begin: self.outlook_labels.len() });
    }

    fn next(&mut self, evaluated: Evaluated) {
        let next = self.label(evaluated);
        self.outlook_labels.push(next);
    }

    fn end_of_state(&mut self) {
        self.settle_outlooks();
        if !self.enabled_sets.contains(self.enabled.as_slice()) {
            self.enabled_sets.insert(self.enabled.as_slice().into());
        }
        self.enabled.clear();
        self.threads.clear();
    }

    fn discard_block(&mut self) {
        // Facts of whole states stay true; those of the last one are not complete.
        self.enabled.clear();
        self.threads.clear();
        self.outlooks.clear();
        self.outlook_labels.clear();
    }
}

impl Observer for FactsObserver {
    type Watcher = FactsWatcher;

    fn watcher(&self) -> FactsWatcher {
        FactsWatcher::default()
    }
}

/// The facts that the workers have seen together.
#[must_use]
pub fn facts(program: &Program, watchers: &[FactsWatcher], size: (u64, u64)) -> Facts {
    // Different evaluations can make the same accesses: they have one label.
    let mut label_ids: BTreeMap<Label, u32> = BTreeMap::new();
    let mut labels: Vec<Label> = Vec::new();
    let mut local_sets = FxHashMap::default();
    let mut steps = FxHashSet::default();
    let mut waking: FxHashSet<(u32, u32)> = FxHashSet::default();
    let mut concurrent = FxHashSet::default();
    for watcher in watchers {
        // A worker's numbers become positions in `labels`.
        let mut positions = vec![0; watcher.labels.len()];
        for (&evaluated, &id) in &watcher.labels {
            let label = label_of(program, evaluated);
            positions[id as usize] = *label_ids.entry(label.clone()).or_insert_with(|| {
                labels.push(label);
                labels.len() as u32 - 1
            });
        }
        let members_of = |set: &[u32]| -> Vec<u32> {
            let mut members: Vec<u32> = set.iter().map(|&label| positions[label as usize]).collect();
            members.sort_unstable();
            members.dedup();
            members
        };
        let mut set_ids = vec![0; watcher.local_sets.len()];
        for (set, &id) in &watcher.local_sets {
            set_ids[id as usize] = intern(&mut local_sets, &members_of(set));
        }
        let set = |id: u32| set_ids[id as usize];
        steps.extend(watcher.steps.iter().map(|&(step, b, a)| (positions[step as usize], set(b), set(a))));
        waking.extend(watcher.waking.iter().map(|&(before, after)| (set(before), set(after))));
        for set in &watcher.enabled_sets {
            let members = members_of(set);
            for (position, &a) in members.iter().enumerate() {
                let thread = |label: u32| &labels[label as usize].thread;
                concurrent.extend(members[position + 1..].iter().filter(|&&b| thread(a) != thread(b)).map(|&b| (a, b)));
            }
        }
    }
    let mut members: Vec<&[u32]> = vec![&[]; local_sets.len()];
    for (set, &id) in &local_sets {
        members[id as usize] = set;
    }
    let members = &members;
    let new_in = |before: u32, after: u32| {
        let (before, after) = (members[before as usize], members[after as usize]);
        after.iter().copied().map(move |label| (label, !before.contains(&label)))
    };
    let follows = steps.iter().flat_map(|&(step, before, after)| {
        new_in(before, after).map(move |(next, newly)| Follows { from: LabelId(step), to: LabelId(next), newly })
    });
    let mut waits = Waits::default();
    for &(before, after) in &waking {
        let woken = new_in(before, after).filter(|(_, newly)| *newly);
        let old = members[before as usize];
        waits.with_labels.extend(woken.flat_map(|(new, _)| old.iter().map(move |&old| (LabelId(old), LabelId(new)))));
    }
    // A thread that waits has refused evaluations; one that has nothing enabled has ended.
    let last = steps.iter().filter(|(_, _, after)| members[*after as usize].is_empty());
    waits.without.begin.extend(last.map(|&(step, _, _)| LabelId(step)));
    let concurrent = concurrent.into_iter().map(|(a, b)| (LabelId(a), LabelId(b)));
    let facts = Facts::canonical_with_waits(&labels, follows, waits, concurrent, size);
    Facts { outline: Some(Outline::of_program(program)), ..facts }
}

fn label_of(program: &Program, evaluated: Evaluated) -> Label {
    label(program, evaluated.at, evaluated.verdict, evaluated.key)
}

/// Hands the state space on, transition by transition.
pub struct AutObserver<'p, W> {
    program: &'p Program,
    out: W,
    texts: FxHashMap<Evaluated, Box<str>>,
    transitions: u64,
}

/// The steps of one worker's part of a block.
#[derive(Default)]
pub struct AutWatcher {
    steps: Vec<Evaluated>,
    /// Number of steps of each state.
    ends: Vec<usize>,
}

impl Visitor for AutWatcher {
    fn step(&mut self, evaluated: Evaluated, _: Option<&[u64]>) {
        self.steps.push(evaluated);
    }

    fn end_of_state(&mut self) {
        self.ends.push(self.steps.len());
    }

    fn discard_block(&mut self) {
        self.steps.clear();
        self.ends.clear();
    }
}

impl<'p, W: Sink> AutObserver<'p, W> {
    /// Hands the transitions to `out`; the header, whose counts are known only at the end, is for the caller.
    pub fn new(program: &'p Program, out: W) -> AutObserver<'p, W> {
        AutObserver { program, out, texts: FxHashMap::default(), transitions: 0 }
    }

    /// The number of transitions so far.
    #[must_use]
    pub fn transitions(&self) -> u64 {
        self.transitions
    }

    /// The output.
    pub fn into_inner(self) -> W {
        self.out
    }
}

impl<W: Sink> Observer for AutObserver<'_, W> {
    type Watcher = AutWatcher;

    fn watcher(&self) -> AutWatcher {
        AutWatcher::default()
    }

    fn block(&mut self, watchers: &mut [&mut AutWatcher], first: usize, numbers: &[u32]) -> io::Result<()> {
        let mut state = first as u64;
        let mut numbers = numbers.iter();
        for watcher in watchers.iter_mut() {
            let mut begin = 0;
            for &end in &watcher.ends {
                for &evaluated in &watcher.steps[begin..end] {
                    let target = match evaluated.verdict {
                        Decision::Taken => numbers.next().map_or(state, |&number| u64::from(number)),
                        Decision::Refused => state,
                    };
                    let program = self.program;
                    let text =
                        self.texts.entry(evaluated).or_insert_with(|| label_of(program, evaluated).to_string().into());
                    self.out.transition(state, text.as_bytes(), target)?;
                    self.transitions += 1;
                }
                begin = end;
                state += 1;
            }
            watcher.discard_block();
        }
        Ok(())
    }
}
