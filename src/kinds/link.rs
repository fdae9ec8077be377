//! What stands between two accesses of a thread on a path: fences by kind, and how the second depends on the first.
//!
//! A [`Link`] is a set of facts about a path, each of which orders something under some model and none of which
//! forbids an order: a link with more facts is at least as strong. So of the paths between two accesses only the
//! weakest links matter, those that no other is a subset of.
//!
//! *Dependencies through another read.* In `r := x; s := v[r]; y := s` what is written to y does not depend on the read
//! of x by itself: it depends on the read of `v[r]`, whose address does. Such a read between is a *step* of the link;
//! chains of address dependencies count as one step, for they order what one does.

use crate::ordering::{Accesses, PartialFence};
use std::ops::{BitOr, BitOrAssign};

/// A set of facts about a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Link(u32);

/// How an access depends on an earlier read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dependency {
    /// Its address does.
    Address,
    /// What it writes does.
    Data,
    /// A condition before it does.
    Control,
    /// A condition before it does, and a control fence stands between.
    ControlFence,
}

impl Dependency {
    /// All of them.
    pub const ALL: [Dependency; 4] =
        [Dependency::Address, Dependency::Data, Dependency::Control, Dependency::ControlFence];
}

/// What a dependency is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum On {
    /// The first access of the path.
    First,
    /// A read between, whose address depends on the first access.
    Step,
}

/// The fences of a link: full ones, and all kinds of partial ones that models know.
const FENCES: [Option<PartialFence>; 13] = {
    use Accesses::{All, Reads, Writes};
    use PartialFence::{Acquire, AcquireRelease, Between, Lightweight, Loads, Release, Stores};
    [
        None,
        Some(Lightweight),
        Some(Stores),
        Some(Loads),
        Some(Between(Reads, Reads)),
        Some(Between(Reads, Writes)),
        Some(Between(Writes, Reads)),
        Some(Between(Writes, All)),
        Some(Between(All, Reads)),
        Some(Between(All, Writes)),
        Some(Acquire),
        Some(Release),
        Some(AcquireRelease),
    ]
};

impl Link {
    /// Nothing but program order.
    pub const NONE: Link = Link(0);
    /// A full fence.
    pub const FULL: Link = Link(1);
    /// An access before the second one has an address that depends on the first one.
    pub const PRECEDED: Link = Link(1 << 31);

    /// A partial fence; nothing for one that only counts behind a condition.
    #[must_use]
    pub fn fence(kind: PartialFence) -> Link {
        let position = FENCES.iter().position(|known| *known == Some(kind));
        position.map_or(Link::NONE, |position| Link(1 << position))
    }

    /// A dependency.
    #[must_use]
    pub fn dependency(on: On, kind: Dependency) -> Link {
        Link(1 << (FENCES.len() + 4 * on as usize + kind as usize))
    }

    /// Whether all of these facts are among its own.
    #[must_use]
    pub fn has(self, other: Link) -> bool {
        self.0 & other.0 == other.0
    }

    /// Its fences; none stands for a full one, and then for all others, too.
    pub fn fences(self) -> impl Iterator<Item = Option<PartialFence>> {
        let count = if self.has(Link::FULL) { 1 } else { FENCES.len() };
        (0..count).filter(move |position| self.has(Link(1 << position))).map(|position| FENCES[position])
    }

    /// The dependencies on the first access, or on a step between.
    pub fn dependencies(self, on: On) -> impl Iterator<Item = Dependency> {
        Dependency::ALL.into_iter().filter(move |&kind| self.has(Link::dependency(on, kind)))
    }
}

impl BitOr for Link {
    type Output = Link;

    fn bitor(self, other: Link) -> Link {
        Link(self.0 | other.0)
    }
}

impl BitOrAssign for Link {
    fn bitor_assign(&mut self, other: Link) {
        self.0 |= other.0;
    }
}

/// Adds a link to a list of weakest ones; says whether it was new. With each goes whatever tells how it came about.
pub fn keep_weakest<T>(weakest: &mut Vec<(Link, T)>, link: Link, told: impl FnOnce() -> T) -> bool {
    if weakest.iter().any(|(known, _)| link.has(*known)) {
        return false;
    }
    weakest.retain(|(known, _)| !known.has(link));
    weakest.push((link, told()));
    true
}
