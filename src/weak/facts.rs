//! The facts of a program whose instructions are performed access by access (method §2, §8).
//!
//! Where instructions are not meant to be atomic (`--atomicity split`), sequential consistency is that of the *split*
//! program, and so are its facts: an instruction that was interrupted can see values, take branches and access
//! elements that no whole instruction does. The labels are those of the whole program, one for each evaluation of an
//! instruction from its first access to its last, so that everything that speaks of instructions goes on doing so.
//!
//! All states of the split program under sequential consistency are explored; a *configuration* is where a thread is
//! between two instructions, with its locals.
//!
//! - `labels`: the evaluations that some run completes;
//! - `follows(A, B)`: A, taken, leads to a configuration from which B is evaluated in some state. That includes what
//!   a thread does after it has waited there, so there are no `waits`;
//! - `concurrent(A, B)`: in some state one thread is in, or in the middle of an instruction begun in, a configuration
//!   from which A is evaluated, and another one likewise for B.
//!
//! Both include what a state enables, and a little more: what one configuration evaluates in different states is not
//! told apart. More facts ask for more fences, never for fewer.
//!
//! An evaluation that goes wrong only because it was interrupted (a division by what has become 0) has no label,
//! though it has made accesses: then these are the facts of a part, too.
//!
//! *Complexity.* That of the split program's state space, which is larger than that of whole instructions by the
//! number of their interleavings; at the limit the facts are those of a part, and say so.

use super::Granularity;
use super::split::SplitProgram;
use super::system::System;
use super::threads::{ConfigId, Evaluated};
use super::visited::Visited;
use crate::facts::{Facts, Follows};
use crate::ids::{InstrAt, LabelId, ThreadAt};
use crate::lts::label::Label;
use crate::outline::Outline;
use crate::program::labels::{Decision, label};
use crate::program::{At, Program};
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;

/// The facts of `split`, which is `program` access by access, perhaps with some instructions made atomic; of at most
/// so many states.
#[must_use]
pub fn facts(program: &Program, split: &SplitProgram, limit: usize) -> Facts {
    let mut system = System::new(split, Granularity::Accesses);
    system.threads.iter_mut().for_each(|thread| thread.note_evaluations());
    let mut together = vec![FxHashSet::default(); split.threads.len() * split.threads.len()];
    let Explored { states, transitions, cut_off } = explore(&mut system, &mut together, limit);
    let mut tables = Tables { labels: Vec::new(), evaluated_from: Vec::new(), follows: Vec::new() };
    for thread in split.threads_at() {
        tables.add(program, thread, &system.thread(thread).evaluations());
    }
    let mut concurrent = Vec::new();
    for (position, pairs) in together.iter().enumerate() {
        let (first, second) = (position / split.threads.len(), position % split.threads.len());
        let (first, second) = (ThreadAt::new(first), ThreadAt::new(second));
        for &(a, b) in pairs {
            let (ours, theirs) = (tables.evaluated(first, a), tables.evaluated(second, b));
            concurrent.extend(ours.iter().flat_map(|&a| theirs.iter().map(move |&b| (a, b))));
        }
    }
    let facts = Facts::canonical(&tables.labels, tables.follows, concurrent, (states, transitions));
    Facts { cut_off, outline: Some(Outline::of_program(program)), ..facts }
}

struct Explored {
    states: u64,
    transitions: u64,
    cut_off: bool,
}

/// Explores all states; notes for each pair of threads which configurations they were in together.
fn explore(system: &mut System<'_>, together: &mut [FxHashSet<(ConfigId, ConfigId)>], limit: usize) -> Explored {
    let threads = system.threads.len();
    let mut visited = Visited::within(limit, &system.program.budget);
    let (mut transitions, mut cut_off) = (0, visited.start(system.initial()).is_err());
    let mut at = 0;
    while (at as usize) < visited.len() {
        if system.program.budget.is_over() {
            cut_off = true;
            break;
        }
        let state = visited.get(at);
        let threads_at = system.program.threads_at();
        cut_off |= threads_at.clone().any(|thread| system.thread(thread).config(state.config(thread)).is_faulty);
        let begun: Vec<ConfigId> =
            threads_at.map(|thread| system.thread_mut(thread).begun_at(state.config(thread))).collect();
        for first in 0..threads {
            for second in first + 1..threads {
                together[first * threads + second].insert((begun[first], begun[second]));
            }
        }
        for (_, next) in system.steps(&state) {
            transitions += 1;
            cut_off |= visited.insert(next, at).is_err();
        }
        at += 1;
    }
    Explored { states: visited.len() as u64, transitions, cut_off }
}

/// What the evaluations of all threads come to.
struct Tables {
    labels: Vec<Label>,
    /// For each thread, the labels that are evaluated from each configuration.
    evaluated_from: Vec<BTreeMap<ConfigId, Vec<LabelId>>>,
    follows: Vec<Follows>,
}

impl Tables {
    /// Adds the evaluations of the next thread.
    fn add(&mut self, program: &Program, thread: ThreadAt, evaluations: &[&Evaluated]) {
        let mut numbers: BTreeMap<(InstrAt, bool, u64), LabelId> = BTreeMap::new();
        let mut from: BTreeMap<ConfigId, Vec<LabelId>> = BTreeMap::new();
        let mut taken: Vec<(LabelId, ConfigId)> = Vec::new();
        for evaluated in evaluations {
            let is_taken = evaluated.verdict == Decision::Taken;
            let id = *numbers.entry((evaluated.instruction, is_taken, evaluated.key)).or_insert_with(|| {
                let at = At { thread, instruction: evaluated.instruction };
                self.labels.push(label(program, at, evaluated.verdict, evaluated.key));
                LabelId::new(self.labels.len() - 1)
            });
            from.entry(evaluated.from).or_default().push(id);
            // A blocked evaluation comes before nothing.
            let is_blocked = evaluated.from == evaluated.to && self.labels[id.index()].is_only_a_condition();
            if is_taken && !is_blocked {
                taken.push((id, evaluated.to));
            }
        }
        for (earlier, config) in taken {
            let later = from.get(&config).into_iter().flatten();
            self.follows.extend(later.map(|&later| Follows { from: earlier, to: later, newly: true }));
        }
        self.evaluated_from.push(from);
    }

    /// The labels that a thread evaluates from a configuration.
    fn evaluated(&self, thread: ThreadAt, config: ConfigId) -> &[LabelId] {
        self.evaluated_from[thread.index()].get(&config).map_or(&[], |labels| labels)
    }
}
