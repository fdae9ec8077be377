//! Which instruction of the second report is which of the first.
//!
//! They are matched by what they are (`identity` of a report), of those that are left by thread and name: so an
//! instruction that was made atomic, or edited where it stands, is still itself. Reports of earlier versions say no
//! identities, and are matched by names alone. Everything in the second report is then called as in the first; what is
//! new in it and has a name that the first one uses for something else gets a prime.

use super::Change;
use super::report::{Instruction, Report};
use std::collections::{HashMap, HashSet};

/// An instruction of a report: its thread and its name.
pub(super) type Named = (String, String);

/// How the instructions of the second report are called in the first.
#[derive(Debug, Default)]
pub(super) struct Same {
    names: HashMap<Named, Named>,
    /// Those that are what they were, by their names in the first report.
    unchanged: HashSet<Named>,
    /// What instructions say, by their names in the first report.
    texts: HashMap<Named, String>,
    /// The instructions with other names in the second report.
    pub(super) renamed: Vec<Change>,
}

impl Same {
    pub(super) fn of(before: &Report, after: &Report) -> Same {
        let mut same = Same::default();
        if before.instructions.is_empty() || after.instructions.is_empty() {
            return same;
        }
        let by_identity: HashMap<&str, &Instruction> =
            before.instructions.iter().map(|known| (known.identity.as_str(), known)).collect();
        let by_name: HashMap<Named, &Instruction> =
            before.instructions.iter().map(|known| (known.named(), known)).collect();
        let mut open = Vec::new();
        for new in &after.instructions {
            match by_identity.get(new.identity.as_str()) {
                Some(old) => {
                    same.unchanged.insert(old.named());
                    same.names.insert(new.named(), old.named());
                    if old.named() != new.named() {
                        let (before, after) = (old.name(), new.name());
                        same.renamed.push(Change { what: new.text.clone(), before, after });
                    }
                }
                None => open.push(new),
            }
        }
        let mut taken = same.unchanged.clone();
        for new in open {
            // A fence that was put in is nothing that was there, whatever it is called.
            let is_it = |old: &&&Instruction| !taken.contains(&old.named()) && old.is_fence() == new.is_fence();
            let called = match by_name.get(&new.named()).filter(is_it) {
                Some(old) => old.named(),
                None if by_name.contains_key(&new.named()) => (new.thread.clone(), format!("{}'", new.instruction)),
                None => new.named(),
            };
            taken.insert(called.clone());
            same.names.insert(new.named(), called);
        }
        let texts = before.instructions.iter().map(|known| (known.named(), known.text.clone()));
        same.texts = texts.collect();
        for new in &after.instructions {
            let called = same.names[&new.named()].clone();
            same.texts.entry(called).or_insert_with(|| new.text.clone());
        }
        same
    }

    /// What an instruction of the second report is called in the first.
    pub(super) fn named(&self, instruction: Named) -> Named {
        self.names.get(&instruction).cloned().unwrap_or(instruction)
    }

    /// Whether an instruction of the first report is in the second as it was.
    pub(super) fn is_unchanged(&self, instruction: &Named) -> bool {
        self.unchanged.contains(instruction)
    }

    /// What an instruction says, by its name in the first report.
    pub(super) fn text(&self, instruction: &Named) -> Option<&str> {
        self.texts.get(instruction).map(String::as_str)
    }
}
