//! What threads write: all that a thread has to know of the others here.

use super::evaluate::Value;
use crate::ids::{LocationAt, ThreadAt};
use std::collections::BTreeSet;

/// For each thread the locations that it writes, with the values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interference {
    /// By thread.
    pub written: Vec<BTreeSet<(LocationAt, Value)>>,
}

impl Interference {
    /// Nobody writes anything.
    pub(super) fn none(threads: usize) -> Interference {
        Interference { written: vec![BTreeSet::new(); threads] }
    }

    /// Whether somebody who is not in the group writes a location.
    pub(super) fn changes(&self, location: LocationAt, group: &[ThreadAt]) -> bool {
        let others = ThreadAt::all(self.written.len()).filter(|thread| !group.contains(thread));
        others.into_iter().any(|thread| self.by(thread, location).next().is_some())
    }

    /// The values that somebody writes to a location.
    pub(super) fn values(&self, location: LocationAt) -> impl Iterator<Item = Value> {
        ThreadAt::all(self.written.len()).flat_map(move |thread| self.by(thread, location))
    }

    fn by(&self, thread: ThreadAt, location: LocationAt) -> impl Iterator<Item = Value> {
        // No value comes first.
        let from = self.written[thread.index()].range((location, None)..);
        from.take_while(move |(written, _)| *written == location).map(|&(_, value)| value)
    }
}
