//! The runs of one group of threads as those of another one that is [alike](crate::program::alike).

use crate::program::At;
use crate::program::alike::Shape;
use crate::weak::attack::{Pair, Vertex, Witness};
use crate::weak::system::Event;
use crate::weak::threads::Access;

/// The run of a group, as the same run of another group; nothing if these are not alike.
#[must_use]
pub fn renamed(witness: &Witness, from: &Shape, to: &Shape) -> Option<Witness> {
    let thread = |thread| from.thread_in(to, thread);
    let location = |location| from.location_in(to, location);
    let vertex = |vertex: Vertex| Some(Vertex { location: location(vertex.location)?, ..vertex });
    let access = |access: &Access| Some(Access { location: location(access.location)?, ..*access });
    let event = |event: &Event| {
        let accesses = event.accesses.iter().map(access).collect::<Option<_>>()?;
        Some(Event { at: At { thread: thread(event.at.thread)?, ..event.at }, accesses, ..event.clone() })
    };
    let Pair { thread: own, from: delayed, to: overtaking } = witness.pair;
    Some(Witness {
        pair: Pair { thread: thread(own)?, from: vertex(delayed)?, to: vertex(overtaking)? },
        before: witness.before.iter().map(event).collect::<Option<_>>()?,
        private: witness.private.iter().map(|(own, seen)| Some((event(own)?, *seen))).collect::<Option<_>>()?,
        others: witness.others.iter().map(event).collect::<Option<_>>()?,
    })
}
