//! What searches have shown, as [facts](crate::facts).

use super::search::{Member, Shown};
use crate::explore::successors::Evaluated;
use crate::facts::{Facts, Follows, Waits};
use crate::ids::{LabelId, ThreadAt};
use crate::lts::label::Label;
use crate::outline::Outline;
use crate::program::Program;
use crate::program::labels::label;
use std::collections::{BTreeMap, BTreeSet};

/// What is known of the threads: each search that a thread takes part in shows at least all that it does.
pub(super) struct Tables {
    members: Vec<Member>,
    /// Of two threads that were looked at together, what is enabled together.
    together: BTreeMap<[ThreadAt; 2], BTreeSet<(Evaluated, Evaluated)>>,
    pub states: u64,
    transitions: u64,
}

impl Tables {
    /// Of searches of one thread each.
    pub(super) fn of_each(alone: Vec<Shown>) -> Tables {
        let (states, transitions) =
            (alone.iter().map(|shown| shown.states).sum(), alone.iter().map(|shown| shown.transitions).sum());
        let members = alone.into_iter().flat_map(|shown| shown.members).collect();
        Tables { members, together: BTreeMap::new(), states, transitions }
    }

    /// Takes away what two threads together do not do.
    pub(super) fn refine(&mut self, pair: [ThreadAt; 2], shown: Shown) {
        self.states += shown.states;
        self.transitions += shown.transitions;
        for (thread, seen) in pair.into_iter().zip(&shown.members) {
            let known = &mut self.members[thread.index()];
            known.labels.retain(|label| seen.labels.contains(label));
            known.follows.retain(|pair| seen.follows.contains(pair));
            known.waits.retain(|pair| seen.waits.contains(pair));
            known.last.retain(|label| seen.last.contains(label));
        }
        self.together.insert(pair, shown.together);
    }

    /// The facts.
    pub(super) fn facts(&self, program: &Program) -> Facts {
        let mut labels: Vec<Label> = Vec::new();
        let mut numbers: BTreeMap<Evaluated, LabelId> = BTreeMap::new();
        for &evaluated in self.members.iter().flat_map(|member| &member.labels) {
            let Evaluated { at, verdict, key } = evaluated;
            labels.push(label(program, at, verdict, key));
            numbers.insert(evaluated, LabelId::new(labels.len() - 1));
        }
        // What one search has and another has not is not there.
        let both = |a: &Evaluated, b: &Evaluated| Some((*numbers.get(a)?, *numbers.get(b)?));
        let mut follows = Vec::new();
        let mut waits = Waits::default();
        for member in &self.members {
            let pairs = member.follows.iter().filter_map(|(from, to)| both(from, to));
            follows.extend(pairs.map(|(from, to)| Follows { from, to, newly: true }));
            waits.with_labels.extend(member.waits.iter().filter_map(|(before, woken)| both(before, woken)));
            waits.without.begin.extend(member.last.iter().filter_map(|label| numbers.get(label)));
        }
        let mut concurrent = Vec::new();
        for (first, ours) in ThreadAt::all(self.members.len()).zip(&self.members) {
            for (second, theirs) in ThreadAt::all(self.members.len()).zip(&self.members).skip(first.index() + 1) {
                match self.together.get(&[first, second]) {
                    Some(together) => concurrent.extend(together.iter().filter_map(|(a, b)| both(a, b))),
                    None => {
                        let pairs = ours.labels.iter().flat_map(|a| theirs.labels.iter().map(move |b| (a, b)));
                        concurrent.extend(pairs.filter_map(|(a, b)| both(a, b)));
                    }
                }
            }
        }
        let size = (self.states, self.transitions);
        let facts = Facts::canonical_with_waits(&labels, follows, waits, concurrent, size);
        Facts { outline: Some(Outline::of_program(program)), ..facts }
    }
}
