//! A few threads among the others: what of the program is held in a state, and what the environment may change.

use super::evaluate::Value;
use super::interference::Interference;
use crate::ids::{ControlAt, LocationAt, Slot, ThreadAt};
use crate::program::compiled::Compiled;
use crate::program::liveness::Liveness;
use fixedbitset::FixedBitSet;
use std::collections::BTreeSet;

/// What all scenes of a program share.
pub(super) struct Stage<'p> {
    pub compiled: &'p Compiled,
    /// The number of locations; their slots come first.
    pub shared: usize,
    /// The values that are told apart.
    pub distinguished: BTreeSet<i64>,
    /// For each thread.
    pub liveness: Vec<Liveness>,
}

impl<'p> Stage<'p> {
    pub(super) fn new(compiled: &'p Compiled, shared: usize) -> Stage<'p> {
        let distinguished = crate::program::constants::distinguished(compiled);
        let liveness = compiled.threads.iter().map(|thread| Liveness::of(thread, shared)).collect();
        Stage { compiled, shared, distinguished, liveness }
    }

    pub(super) fn threads(&self) -> impl Iterator<Item = ThreadAt> + Clone + use<> {
        ThreadAt::all(self.compiled.threads.len())
    }

    /// What a thread may read, shared or local, and what it may write that is local.
    fn slots_of(&self, thread: ThreadAt) -> FixedBitSet {
        let steps = self.compiled.thread(thread).steps.iter().flatten();
        let reads = steps.clone().flat_map(|step| step.reads());
        let locals = steps.flat_map(|step| step.accesses()).filter(|slot| slot.location(self.shared).is_none());
        reads.chain(locals).map(Slot::index).collect()
    }
}

/// What of a slot is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// It is at this position of a state's values.
    Held(usize),
    /// The environment may change it: it has one of these values whenever somebody looks.
    Free(Vec<Value>),
    /// None of the threads reads it.
    Unread,
}

/// Some threads among the others.
pub(super) struct Scene<'s> {
    pub compiled: &'s Compiled,
    pub shared: usize,
    pub distinguished: &'s BTreeSet<i64>,
    pub group: Vec<ThreadAt>,
    /// For each slot.
    pub places: Vec<Place>,
    /// What is held, by position: shared locations, then locals.
    held: Vec<Held>,
    liveness: Vec<&'s Liveness>,
}

/// A slot that is held.
struct Held {
    slot: Slot,
    /// Whose local it is, by position in the group.
    owner: Option<usize>,
}

/// A state: where the threads are, and the values that are held.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct State {
    pub control: Box<[ControlAt]>,
    pub values: Box<[Value]>,
}

impl<'s> Scene<'s> {
    /// These threads, while all others may at any time write what they write at all. A location with more values
    /// than `detail` has any.
    pub(super) fn new(
        stage: &'s Stage<'_>,
        group: &[ThreadAt],
        interference: &Interference,
        detail: usize,
    ) -> Scene<'s> {
        let slots = stage.compiled.initial.len();
        let used: Vec<FixedBitSet> = group.iter().map(|&thread| stage.slots_of(thread)).collect();
        let mut places = vec![Place::Unread; slots];
        let mut held = Vec::new();
        for slot in Slot::all(slots) {
            let Some(user) = used.iter().position(|used| used.contains(slot.index())) else { continue };
            let location = slot.location(stage.shared);
            let owner = if location.is_none() { Some(user) } else { None };
            places[slot.index()] = match location.filter(|&location| interference.changes(location, group)) {
                Some(location) => Place::Free(values_of(stage, interference, location, detail)),
                None => {
                    held.push(Held { slot, owner });
                    Place::Held(held.len() - 1)
                }
            };
        }
        Scene {
            compiled: stage.compiled,
            shared: stage.shared,
            distinguished: &stage.distinguished,
            group: group.to_vec(),
            places,
            held,
            liveness: group.iter().map(|thread| &stage.liveness[thread.index()]).collect(),
        }
    }

    pub(super) fn initial(&self) -> State {
        let control = self.group.iter().map(|&thread| self.compiled.thread(thread).initial).collect();
        let values = self.held.iter().map(|held| Some(self.compiled.initial[held.slot.index()])).collect();
        State { control, values }
    }

    /// Forgets the dead locals of one of the threads, which is at this control state.
    pub(super) fn forget(&self, member: usize, control: ControlAt, values: &mut [Value]) {
        for (value, held) in values.iter_mut().zip(&self.held) {
            if held.owner == Some(member) && !self.liveness[member].is_live(control, held.slot) {
                *value = Some(0);
            }
        }
    }

    /// Whether the value of a location is held.
    pub(super) fn holds(&self, location: LocationAt) -> bool {
        matches!(self.places[location.index()], Place::Held(_))
    }
}

/// The values that a location may have.
fn values_of(stage: &Stage<'_>, interference: &Interference, location: LocationAt, detail: usize) -> Vec<Value> {
    let initial = stage.compiled.initial[location.index()];
    let values: BTreeSet<Value> = interference.values(location).chain([Some(initial)]).collect();
    if values.contains(&None) || values.len() > detail.max(1) {
        return vec![None];
    }
    values.into_iter().collect()
}
