//! What orders memory besides full fences: fences that order less than all, and marks on accesses.
//!
//! These are the words that all input languages and all memory models share; which of them an architecture has, and
//! what it calls them, is said where its assembly is read and written.
//!
//! | word | POWER | ARM | RISC-V | C11 |
//! |---|---|---|---|---|
//! | [`PartialFence::Lightweight`] | `lwsync` | | `fence.tso` | |
//! | [`PartialFence::Stores`] | `eieio` | `dmb ishst` | `fence w,w` | |
//! | [`PartialFence::Loads`] | | `dmb ishld` | `fence r,rw` | |
//! | [`PartialFence::Between`] | | | `fence` with other sets | |
//! | [`PartialFence::Control`] | `isync` | `isb` | `fence.i` | |
//! | [`PartialFence::Acquire`], … | | | | `atomic_thread_fence` |
//! | [`Marks::ACQUIRE`], [`Marks::RELEASE`] | | `ldar`, `stlr` | `.aq`, `.rl` | `memory_order_acquire`, … |
//! | [`Marks::ACQUIRE_PC`] | | `ldapr` | | |
//! | [`Marks::EXCLUSIVE`] | `lwarx`, `stwcx.` | `ldxr`, `stxr` | `lr`, `sc` | |
//! | [`Marks::RELAXED`], [`Marks::SC`] | | | | `memory_order_relaxed`, `memory_order_seq_cst` |
//!
//! A memory model that does not know one of them takes it for nothing, which is safe: less is ordered.

#![forbid(unsafe_code)]

use std::fmt;

/// What a partial fence orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PartialFence {
    /// All but a write before it and a read after it: `lwsync`, `fence.tso`.
    Lightweight,
    /// Writes before it and writes after it: `eieio`, `dmb.st`.
    Stores,
    /// Reads before it and all after it: `dmb.ld`.
    Loads,
    /// These accesses before it and those after it: `fence rw,w`. Not [all](Accesses::All) on both sides, and not what
    /// [`Stores`](PartialFence::Stores) and [`Loads`](PartialFence::Loads) are.
    Between(Accesses, Accesses),
    /// What branches before it depend on, and all after it: `isync`, `isb`.
    Control,
    /// `atomic_thread_fence(memory_order_acquire)`.
    Acquire,
    /// `atomic_thread_fence(memory_order_release)`.
    Release,
    /// `atomic_thread_fence(memory_order_acq_rel)`.
    AcquireRelease,
}

/// Some accesses, by their kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Accesses {
    /// Reads.
    Reads,
    /// Writes.
    Writes,
    /// Both.
    All,
}

impl fmt::Display for Accesses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Accesses::Reads => "r",
            Accesses::Writes => "w",
            Accesses::All => "rw",
        })
    }
}

impl PartialFence {
    /// The fence between two sets of accesses; nothing if it is a full one.
    #[must_use]
    pub fn between(before: Accesses, after: Accesses) -> Option<PartialFence> {
        match (before, after) {
            (Accesses::All, Accesses::All) => None,
            (Accesses::Writes, Accesses::Writes) => Some(PartialFence::Stores),
            (Accesses::Reads, Accesses::All) => Some(PartialFence::Loads),
            (before, after) => Some(PartialFence::Between(before, after)),
        }
    }

    /// Whether it keeps the order of writes before it and writes behind it.
    #[must_use]
    pub fn orders_stores(self) -> bool {
        match self {
            PartialFence::Lightweight
            | PartialFence::Stores
            | PartialFence::Release
            | PartialFence::AcquireRelease
            | PartialFence::Between(Accesses::Writes | Accesses::All, Accesses::Writes | Accesses::All) => true,
            PartialFence::Loads | PartialFence::Control | PartialFence::Acquire | PartialFence::Between(..) => false,
        }
    }

    /// Whether it keeps the order of a write before it and a read behind it, as only few partial fences do.
    #[must_use]
    pub fn orders_loads_behind_stores(self) -> bool {
        matches!(self, PartialFence::Between(Accesses::Writes | Accesses::All, Accesses::Reads | Accesses::All))
    }

    /// The partial fence of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<PartialFence> {
        use Accesses::{All, Reads, Writes};
        use PartialFence::{Acquire, AcquireRelease, Control, Lightweight, Release};
        let others = [Lightweight, Control, Acquire, Release, AcquireRelease];
        let sets = [Reads, Writes, All];
        let between = sets.into_iter().flat_map(|before| sets.map(|after| PartialFence::between(before, after)));
        others.into_iter().chain(between.flatten()).find(|fence| fence.to_string() == name)
    }
}

/// The name of a partial fence, as labels and specifications write it: `lightweight`, `stores`, `rw,w`.
impl fmt::Display for PartialFence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PartialFence::Lightweight => "lightweight",
            PartialFence::Stores => "stores",
            PartialFence::Loads => "loads",
            PartialFence::Between(before, after) => return write!(f, "{before},{after}"),
            PartialFence::Control => "control",
            PartialFence::Acquire => "acquire",
            PartialFence::Release => "release",
            PartialFence::AcquireRelease => "acq_rel",
        })
    }
}

/// A set of marks of an instruction's accesses: [`ACQUIRE`](Marks::ACQUIRE) and [`ACQUIRE_PC`](Marks::ACQUIRE_PC) are
/// those of its reads, [`RELEASE`](Marks::RELEASE) that of its writes, the others are of all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Marks(u8);

impl Marks {
    /// No mark: a plain access.
    pub const NONE: Marks = Marks(0);
    /// An atomic access of C11, of whatever order.
    pub const RELAXED: Marks = Marks(1);
    /// Reads are before all that comes later.
    pub const ACQUIRE: Marks = Marks(2);
    /// Reads are before all that comes later, but not after release writes before them (`ldapr`).
    pub const ACQUIRE_PC: Marks = Marks(4);
    /// Writes are after all that came before.
    pub const RELEASE: Marks = Marks(8);
    /// Sequentially consistent, as C11 has it.
    pub const SC: Marks = Marks(16);
    /// One of a pair of a load and a store, which succeeds only if nobody wrote between them.
    pub const EXCLUSIVE: Marks = Marks(32);

    /// All marks, with the names that labels and specifications have for them.
    pub const NAMES: [(&'static str, Marks); 6] = [
        ("relaxed", Marks::RELAXED),
        ("acquire", Marks::ACQUIRE),
        ("acquire_pc", Marks::ACQUIRE_PC),
        ("release", Marks::RELEASE),
        ("seq_cst", Marks::SC),
        ("exclusive", Marks::EXCLUSIVE),
    ];

    /// Both together.
    #[must_use]
    pub const fn and(self, other: Marks) -> Marks {
        Marks(self.0 | other.0)
    }

    /// The marks of these names, with commas between; none for an empty text.
    #[must_use]
    pub fn named(names: &str) -> Option<Marks> {
        let mark = |name: &str| Marks::NAMES.iter().find(|(known, _)| *known == name.trim()).map(|(_, mark)| *mark);
        let mut names = names.split(',').filter(|_| !names.trim().is_empty());
        names.try_fold(Marks::NONE, |marks, name| mark(name).map(|another| marks.and(another)))
    }

    /// Whether all of these are among them.
    #[must_use]
    pub const fn has(self, other: Marks) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

/// The names of the marks, with commas between.
impl fmt::Display for Marks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = Marks::NAMES.iter().filter(|(_, mark)| self.has(*mark)).map(|(name, _)| *name);
        f.write_str(&names.collect::<Vec<_>>().join(", "))
    }
}
