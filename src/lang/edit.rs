//! What is put into the text of a program, said of its instructions; each language writes it in its own words, or says
//! what it cannot write.

use super::Language;
use crate::program::{At, Marks, PartialFence, Program};

/// What is put in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// A fence on every way into the instruction.
    FenceBefore(At),
    /// A fence on every way out of the instruction.
    FenceAfter(At),
    /// A fence at the control state that the instruction leads to, on every way there.
    FenceAtTarget(At),
    /// A fence that orders less than all, on every way into the instruction.
    PartialFenceBefore(At, PartialFence),
    /// The same on every way out of the instruction.
    PartialFenceAfter(At, PartialFence),
    /// The same at the control state that the instruction leads to, on every way there.
    PartialFenceAtTarget(At, PartialFence),
    /// The accesses of the instruction carry these marks, besides those that they have.
    Mark(At, Marks),
    /// The instruction becomes atomic.
    Atomic(At),
}

/// What a language cannot write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CannotWrite {
    /// Nothing can be put into its texts.
    Anything,
    /// Only fences can: no instruction becomes atomic.
    Atomic,
    /// It has no word for fences of this kind.
    PartialFence(PartialFence),
    /// It has no word for these marks on this instruction.
    Marks(At, Marks),
    /// Nothing can stand at this instruction, as it has no statement of its own.
    At(At),
}

/// The text with these changes made, everything else byte for byte as it is; `path_name` tells its language, and
/// `program` is what it says.
///
/// # Errors
/// If the language cannot write one of the changes: the first such.
pub fn edited(path_name: &str, text: &str, program: &Program, changes: &[Change]) -> Result<String, CannotWrite> {
    if changes.is_empty() {
        return Ok(text.to_owned());
    }
    match Language::of(path_name).and_then(|language| language.edit) {
        Some(edit) => edit(text, program, changes),
        None => Err(CannotWrite::Anything),
    }
}
