//! Where a fence can stand (method §9).

use crate::ids::InstrId;

/// A place in the program where a fence can stand. The order is that of the program text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Site {
    /// The instruction; for one at a control state the first that leads there
    /// ([`Outline::site_behind`](super::Outline::site_behind)).
    pub instr: InstrId,
    /// Where at the instruction.
    pub place: Place,
}

/// Where at an instruction a fence stands; the order is that of the program text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// On every way into the instruction.
    Before,
    /// Within it: after the accesses of the levels below this one, before the others. Level 1 of
    /// `if x = 0 then y := z` is after the condition.
    Inside(u32),
    /// On every way out of it.
    After,
    /// On its accesses: marks.
    On,
    /// At the control state that the instruction leads to: on every way into that state, by whatever instruction, and
    /// so on every way on from there. A thread that starts in the state passes no fence.
    State,
}

impl Site {
    /// Before the instruction.
    #[must_use]
    pub fn before(instr: InstrId) -> Site {
        Site { instr, place: Place::Before }
    }

    /// Inside the instruction, before this level of its accesses.
    #[must_use]
    pub fn inside(instr: InstrId, level: u32) -> Site {
        Site { instr, place: Place::Inside(level) }
    }

    /// On the accesses of the instruction.
    #[must_use]
    pub fn on(instr: InstrId) -> Site {
        Site { instr, place: Place::On }
    }

    /// After the instruction.
    #[must_use]
    pub fn after(instr: InstrId) -> Site {
        Site { instr, place: Place::After }
    }
}
