//! All that a few threads do among the others: a search over the states of a [scene](super::scene).
//!
//! What the threads have enabled in a state are *sets* of labels, few of them; steps lead from states to sets, so the
//! tables are made of sets once the search has ended.

use super::Stopped;
use super::evaluate::{Depends, Value, ways};
use super::scene::{Scene, State};
use crate::explore::successors::Evaluated;
use crate::explore::watch::Watch;
use crate::ids::LocationAt;
use crate::program::At;
use crate::program::labels::Decision;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// What one of the threads was seen to do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Member {
    pub labels: BTreeSet<Evaluated>,
    /// The second is enabled after a step of the first.
    pub follows: BTreeSet<(Evaluated, Evaluated)>,
    /// The second becomes enabled by a step of somebody else where the first was.
    pub waits: BTreeSet<(Evaluated, Evaluated)>,
    /// Nothing is enabled after these.
    pub last: BTreeSet<Evaluated>,
    /// What it wrote.
    pub written: BTreeSet<(LocationAt, Value)>,
}

/// What a search has shown.
pub(super) struct Shown {
    /// By position in the group.
    pub members: Vec<Member>,
    /// Labels of the first two that are enabled together.
    pub together: BTreeSet<(Evaluated, Evaluated)>,
    pub states: u64,
    pub transitions: u64,
}

/// All states of a scene of at most so many, in the order of discovery.
pub(super) fn states(scene: &Scene<'_>, most: usize, watch: &Watch<'_>) -> Result<Vec<State>, Stopped> {
    Ok(run(scene, most, watch)?.states)
}

/// A set of labels that a thread may have enabled.
type Enabled = Box<[(Evaluated, Depends)]>;

struct Transition {
    member: usize,
    label: Evaluated,
    from: u32,
    to: u32,
    /// It writes a shared location that is held.
    is_seen: bool,
}

/// All states and steps of a scene.
struct Search<'s> {
    scene: &'s Scene<'s>,
    numbers: FxHashMap<State, u32>,
    states: Vec<State>,
    sets: FxHashMap<Enabled, u32>,
    /// For each state and member.
    enabled: Vec<u32>,
    transitions: Vec<Transition>,
    written: Vec<BTreeSet<(LocationAt, Value)>>,
}

/// Explores a scene of at most so many states.
pub(super) fn search(scene: &Scene<'_>, most: usize, watch: &Watch<'_>) -> Result<Shown, Stopped> {
    Ok(run(scene, most, watch)?.shown())
}

fn run<'s>(scene: &'s Scene<'s>, most: usize, watch: &Watch<'_>) -> Result<Search<'s>, Stopped> {
    let mut search = Search {
        scene,
        numbers: FxHashMap::default(),
        states: Vec::new(),
        sets: FxHashMap::default(),
        enabled: Vec::new(),
        transitions: Vec::new(),
        written: vec![BTreeSet::new(); scene.group.len()],
    };
    search.number(scene.initial());
    let mut at = 0;
    while at < search.states.len() {
        if search.states.len() > most {
            return Err(Stopped::TooDetailed);
        }
        watch.check_size(search.states.len()).and_then(|()| watch.check(at)).map_err(Stopped::Limit)?;
        search.expand(at)?;
        at += 1;
    }
    Ok(search)
}

impl Search<'_> {
    fn number(&mut self, state: State) -> u32 {
        let next = self.states.len() as u32;
        *self.numbers.entry(state).or_insert_with_key(|state| {
            self.states.push(state.clone());
            next
        })
    }

    fn expand(&mut self, at: usize) -> Result<(), Stopped> {
        let state = self.states[at].clone();
        for (member, &thread) in self.scene.group.iter().enumerate() {
            let control = state.control[member];
            let mut labels: Vec<(Evaluated, Depends)> = Vec::new();
            for step in self.scene.compiled.thread(thread).steps_from(control) {
                let at_step = At { thread, instruction: step.instruction };
                let mut reached = Vec::new();
                ways(self.scene, step, (&state.values, &[]), |way| {
                    let label = Evaluated { at: at_step, verdict: way.verdict, key: way.key };
                    labels.push((label, way.depends));
                    self.written[member].extend(&way.written);
                    // A self-loop with a condition and no write is a blocked evaluation (method §2).
                    let is_blocked = step.has_condition() && !way.has_written && step.to == control;
                    if way.verdict == Decision::Taken && !is_blocked {
                        let is_seen = way.written.iter().any(|(location, _)| self.scene.holds(*location));
                        reached.push((label, way.after, is_seen));
                    }
                })
                .map_err(|_| Stopped::TooDetailed)?;
                for (label, mut values, is_seen) in reached {
                    self.scene.forget(member, step.to, &mut values);
                    let mut control = state.control.clone();
                    control[member] = step.to;
                    let to = self.number(State { control, values });
                    self.transitions.push(Transition { member, label, from: at as u32, to, is_seen });
                }
            }
            labels.sort_unstable();
            labels.dedup();
            let next = self.sets.len() as u32;
            let set = *self.sets.entry(labels.into()).or_insert(next);
            self.enabled.push(set);
        }
        Ok(())
    }

    fn shown(self) -> Shown {
        let group = self.scene.group.len();
        let mut sets: Vec<&[(Evaluated, Depends)]> = vec![&[]; self.sets.len()];
        for (set, &number) in &self.sets {
            sets[number as usize] = set;
        }
        let enabled = |state: usize, member: usize| self.enabled[state * group + member];
        let mut members = vec![Member::default(); group];
        let (mut alone, mut together) = (FxHashSet::default(), FxHashSet::default());
        for state in 0..self.states.len() {
            alone.extend((0..group).map(|member| (member, enabled(state, member))));
            if group > 1 {
                together.insert((enabled(state, 0), enabled(state, 1)));
            }
        }
        for (member, set) in alone {
            let member = &mut members[member];
            let labels = sets[set as usize];
            member.labels.extend(labels.iter().map(|(label, _)| label));
            member.waits.extend(waits(labels, labels, Depends::Environment));
        }
        let (mut steps, mut waking) = (FxHashSet::default(), FxHashSet::default());
        for &Transition { member, label, from, to, is_seen } in &self.transitions {
            steps.insert((member, label, enabled(to as usize, member)));
            for other in (0..group).filter(|&other| is_seen && other != member) {
                waking.insert((other, enabled(from as usize, other), enabled(to as usize, other)));
            }
        }
        for (member, label, set) in steps {
            let after = sets[set as usize];
            members[member].follows.extend(after.iter().map(|&(next, _)| (label, next)));
            if after.is_empty() {
                members[member].last.insert(label);
            }
        }
        for (member, before, after) in waking {
            members[member].waits.extend(waits(sets[before as usize], sets[after as usize], Depends::Group));
        }
        let mut pairs = BTreeSet::new();
        for (first, second) in together {
            let (first, second) = (sets[first as usize], sets[second as usize]);
            pairs.extend(first.iter().flat_map(|&(a, _)| second.iter().map(move |&(b, _)| (a, b))));
        }
        for (member, written) in members.iter_mut().zip(self.written) {
            member.written = written;
        }
        let (states, transitions) = (self.states.len() as u64, self.transitions.len() as u64);
        Shown { members, together: pairs, states, transitions }
    }
}

/// What may have been enabled before and what may have become enabled since, by a step of who changes at least that
/// much. What is in both sets may have become enabled, too: the real sets are parts of these.
fn waits(
    before: &[(Evaluated, Depends)],
    after: &[(Evaluated, Depends)],
    on: Depends,
) -> impl Iterator<Item = (Evaluated, Evaluated)> {
    let woken = after.iter().filter(move |(_, depends)| *depends >= on);
    woken.flat_map(move |&(woken, _)| {
        before.iter().map(move |&(label, _)| (label, woken)).filter(|(label, woken)| label != woken)
    })
}
