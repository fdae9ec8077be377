//! Whether what the first report asked for stands in the program of the second.
//!
//! That is read off its instructions and the control states between them: a fence stands after an instruction if
//! nothing but fences begins in the state that it leads to, before it if nothing but fences leads to where it begins
//! or if one stands after some that led there, at a state if one stands after some that led there. A fence within an
//! instruction, and a lock, are put in by making it atomic; marks by the marks, or by that. Of a state space no
//! control states are known, and nothing is said to stand in it.
//!
//! Whether it is the right kind of fence, and on all ways where one is needed, is not asked here: the second report no
//! longer asks for it.

use super::report::{Fence, Instruction, Report};
use super::same::{Named, Same};
use std::collections::HashMap;

/// The two programs.
pub(super) struct InPlace<'r> {
    before: &'r Report,
    after: &'r Report,
    /// The instructions of the second one, by their names in the first.
    now: HashMap<Named, &'r Instruction>,
}

impl<'r> InPlace<'r> {
    pub(super) fn new(before: &'r Report, after: &'r Report, same: &Same) -> InPlace<'r> {
        let now = after.instructions.iter().map(|known| (same.named(known.named()), known)).collect();
        InPlace { before, after, now }
    }

    /// Whether the fence stands there now.
    pub(super) fn has_fence(&self, fence: &Fence) -> bool {
        let instruction = fence.named();
        match fence.position.as_str() {
            "after" => self.is_fenced_behind(&instruction),
            "before" => self.is_fenced_before(&instruction) || self.ways(&instruction, |from, _| from),
            "state" => self.ways(&instruction, |_, to| to),
            "inside" => self.is_atomic(&instruction),
            "on" => self.is_atomic(&instruction) || self.has_marks(&instruction, &fence.kind),
            _ => false,
        }
    }

    /// Whether the instruction is atomic now.
    pub(super) fn is_atomic(&self, instruction: &Named) -> bool {
        self.now.get(instruction).is_some_and(|now| now.kind.starts_with("atomic"))
    }

    fn has_marks(&self, instruction: &Named, marks: &str) -> bool {
        let words = |text: &str| -> Vec<String> {
            text.split([',', ' ', '[', ']']).filter(|word| !word.is_empty()).map(str::to_owned).collect()
        };
        let known = self.now.get(instruction).map(|now| words(&now.kind));
        known.is_some_and(|known| words(marks).iter().all(|mark| known.contains(mark)))
    }

    fn is_fenced_behind(&self, instruction: &Named) -> bool {
        let Some(Instruction { thread, to: Some(to), .. }) = self.now.get(instruction) else { return false };
        self.only_fences(|known| known.thread == *thread && known.from.as_ref() == Some(to))
    }

    fn is_fenced_before(&self, instruction: &Named) -> bool {
        let Some(Instruction { thread, from: Some(from), .. }) = self.now.get(instruction) else { return false };
        self.only_fences(|known| known.thread == *thread && known.to.as_ref() == Some(from))
    }

    /// Whether there are such instructions, and all of them are fences.
    fn only_fences(&self, is_such: impl Fn(&Instruction) -> bool) -> bool {
        let mut such = self.after.instructions.iter().filter(|known| is_such(known)).peekable();
        such.peek().is_some() && such.all(Instruction::is_fence)
    }

    /// Whether a fence stands behind something that led to a control state of the instruction: the one that is chosen
    /// of its two. The others may have nothing to keep in order.
    fn ways(
        &self,
        instruction: &Named,
        chosen: impl for<'s> Fn(&'s Option<String>, &'s Option<String>) -> &'s Option<String>,
    ) -> bool {
        let Some(then) = self.before.instructions.iter().find(|known| known.named() == *instruction) else {
            return false;
        };
        let Some(state) = chosen(&then.from, &then.to) else { return false };
        let leads_there = |known: &&Instruction| known.thread == then.thread && known.to.as_ref() == Some(state);
        self.before.instructions.iter().filter(leads_there).any(|way| self.is_fenced_behind(&way.named()))
    }
}
