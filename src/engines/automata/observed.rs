//! What can be told of a thread where states are judged: as much as a condition mentions, and no more.
//!
//! Of a control state that is which of those it is that the condition asks for, if it is one of them: all others are
//! alike. What a thread cannot do for ever in two states, and what cannot be told here, makes them one
//! ([`Automata`](super::Automata)).
//!
//! Of deadlocks it is told here only whether a thread has ended; when it is stuck elsewhere is another thing that is
//! told apart ([`leaving`](super::leaving)).

use crate::ids::Slot;
use crate::weak::forbidden::Forbidden;
use crate::weak::split::SplitProgram;
use crate::weak::threads::{ConfigId, Configurations};
use fixedbitset::FixedBitSet;
use std::collections::BTreeSet;

/// What stands for all control states that a condition does not ask for.
const ELSEWHERE: i64 = -1;
/// What stands for a thread that has gone wrong.
const WRONG: i64 = -2;

/// What can be told of states.
pub struct Observed {
    /// By slot: memory, then the locals of all threads.
    slots: FixedBitSet,
    memory: usize,
    /// The first slot of the locals of each thread.
    locals: Vec<usize>,
    /// For each thread the control states that are asked for.
    places: Vec<BTreeSet<i64>>,
    /// States are judged only where all threads have ended.
    at_the_end: bool,
    /// Whether a thread has ended is told.
    tells_ends: bool,
}

impl Observed {
    /// What something forbidden mentions.
    pub fn of(split: &SplitProgram, forbidden: Forbidden<'_>) -> Observed {
        let memory = split.memory.len();
        let mut controls = memory;
        let mut locals = Vec::new();
        for thread in &split.threads {
            locals.push(controls);
            controls += thread.locals.len();
        }
        let mut slots = FixedBitSet::with_capacity(controls);
        let mut places = vec![BTreeSet::new(); split.threads.len()];
        match forbidden {
            Forbidden::State(condition) => {
                condition.for_each_slot(&mut |slot: Slot| {
                    if slot.index() < controls {
                        slots.insert(slot.index());
                    }
                });
                condition.for_each_place(&mut |slot: Slot, state: i64| {
                    if let Some(thread) = slot.index().checked_sub(controls) {
                        places[thread].insert(state);
                    }
                });
            }
            Forbidden::End(_) => slots.insert_range(..),
            Forbidden::Deadlock => {}
        }
        let at_the_end = matches!(forbidden, Forbidden::End(_));
        let tells_ends = matches!(forbidden, Forbidden::Deadlock);
        Observed { slots, memory, locals, places, at_the_end, tells_ends }
    }

    /// What can be told of a thread; nothing where states are not judged.
    pub fn key(&self, thread: usize, known: &Configurations<'_>, id: ConfigId) -> Option<Vec<i64>> {
        let config = known.config(id);
        let is_judged = known.is_judged(id) && (!self.at_the_end || known.steps(id).is_empty());
        is_judged.then(|| {
            let locals = config.frame.iter().enumerate();
            let locals = locals.filter(|(local, _)| self.slots.contains(self.locals[thread] + local));
            let control = i64::from(config.control.0);
            let place = if self.places[thread].contains(&control) { control } else { ELSEWHERE };
            let wrong = config.is_faulty.then_some(WRONG);
            let has_ended = self.tells_ends.then(|| i64::from(known.steps(id).is_empty()));
            locals.map(|(_, value)| *value).chain([place]).chain(wrong).chain(has_ended).collect()
        })
    }

    /// The locations that are mentioned; none for deadlocks.
    pub fn locations(&self) -> Vec<usize> {
        (0..self.memory).filter(|&location| self.slots.contains(location)).collect()
    }
}
