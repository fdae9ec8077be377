//! How an instruction with several accesses is read (method §8).
//!
//! A state space has whole instructions; a processor has single accesses. What an answer means depends on what the
//! program's instructions are meant to be, so every answer says which reading it has.

/// The reading of instructions with several accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Atomicity {
    /// Each is to be one step: those that can be torn are found, and locked.
    Full,
    /// The same for those that write; conditions are performed read by read.
    Updates,
    /// Each is atomic and ordered by other means: the answer is that for the program with all of them `atomic`.
    Presumed,
    /// None is meant to be one step: every access is a step of its own, in any order that dependencies leave open,
    /// and sequential consistency is that of the split program.
    Split,
}

impl Atomicity {
    /// All readings, the default one first.
    pub const ALL: [Atomicity; 4] = [Atomicity::Full, Atomicity::Updates, Atomicity::Presumed, Atomicity::Split];

    /// Whether an instruction may be performed in parts, with others in between, although that can be told: then the
    /// facts of whole instructions are not all.
    #[must_use]
    pub fn lets_tear(self) -> bool {
        matches!(self, Atomicity::Updates | Atomicity::Split)
    }
}
