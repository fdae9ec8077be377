//! Names that labels, invariants and other tools can take.

use crate::ids::ControlAt;
use crate::program::{Instruction, InstructionKind};
use std::collections::{HashMap, HashSet};

/// The name with its letters, digits and underscores; `+` and `-` in words, anything else an underscore.
pub fn plain(name: &str) -> String {
    let mut plain = String::with_capacity(name.len());
    for character in name.chars() {
        match character {
            '+' => plain.push_str("_plus_"),
            '-' => plain.push_str("_minus_"),
            character if character.is_ascii_alphanumeric() => plain.push(character),
            _ => plain.push('_'),
        }
    }
    plain
}

/// Gives every name once.
#[derive(Default)]
pub struct Unique {
    taken: HashSet<String>,
    /// By name, the last number that was put behind it: those before it are taken.
    numbers: HashMap<(String, char), usize>,
}

impl Unique {
    /// The name, or with the first number behind it that makes it new.
    pub fn of(&mut self, name: &str, separator: char) -> String {
        if self.taken.insert(name.to_owned()) {
            return name.to_owned();
        }
        let number = self.numbers.entry((name.to_owned(), separator)).or_insert(1);
        loop {
            *number += 1;
            let candidate = format!("{name}{separator}{number}");
            if self.taken.insert(candidate.clone()) {
                return candidate;
            }
        }
    }
}

/// Whether an instruction only keeps order: putting one into a program must not rename the others.
fn is_fence(kind: InstructionKind) -> bool {
    matches!(kind, InstructionKind::Fence | InstructionKind::PartialFence(_))
}

/// Numbers as names, in the order of the text. Fences take none, so that numbers stay what they are when fences are
/// put in: a fence is called after the instruction before it, `1f`, and `f` where there is none.
#[derive(Default)]
pub struct Numbers {
    next: usize,
    fences: Unique,
}

impl Numbers {
    /// The name of the next instruction.
    pub fn of(&mut self, kind: InstructionKind) -> String {
        if is_fence(kind) {
            let before = self.next.checked_sub(1).map_or(String::new(), |number| number.to_string());
            return self.fences.of(&format!("{before}f"), '_');
        }
        self.next += 1;
        (self.next - 1).to_string()
    }
}

/// Whether a state has no name of its own, as it is there for a fence: `fence_3`, or `free_f1`, as `seqcon fix` writes
/// it.
fn is_of_fence(state: &str) -> bool {
    let number = state.rsplit_once("_f").map_or("", |(_, number)| number);
    state.starts_with("fence_") || !number.is_empty() && number.chars().all(|c| c.is_ascii_digit())
}

/// Calls the instructions of a thread by their ends, `FROM-TO`, a second one with these ends `FROM-TO-2`. What leads to
/// a state that only a fence leaves, and that has no name of its own, is called by the state behind: so it has the name
/// that it has without the fence.
pub fn call_by_ends(states: &[String], instructions: &mut [Instruction]) {
    let mut ways_out: HashMap<ControlAt, usize> = HashMap::new();
    instructions.iter().for_each(|instruction| *ways_out.entry(instruction.from).or_default() += 1);
    let behind: HashMap<ControlAt, ControlAt> = instructions
        .iter()
        .filter(|instruction| is_fence(instruction.kind) && ways_out[&instruction.from] == 1)
        .filter(|fence| is_of_fence(&states[fence.from.index()]))
        .map(|instruction| (instruction.from, instruction.to))
        .collect();
    let mut names = Unique::default();
    for instruction in instructions {
        let mut to = instruction.to;
        // Fences may follow each other, and even in a circle.
        let fences_on = if is_fence(instruction.kind) { 0 } else { behind.len() };
        for _ in 0..fences_on {
            let Some(&next) = behind.get(&to) else { break };
            to = next;
        }
        let name = format!("{}-{}", states[instruction.from.index()], states[to.index()]);
        instruction.name = names.of(&name, '-');
    }
}

#[cfg(test)]
mod tests {
    use super::{Numbers, call_by_ends};
    use crate::ids::ControlAt;
    use crate::program::{Instruction, InstructionKind, PartialFence, Span};

    #[test]
    fn fences_take_no_number() {
        let mut numbers = Numbers::default();
        let (plain, fence) = (InstructionKind::Plain, InstructionKind::Fence);
        let stores = InstructionKind::PartialFence(PartialFence::Stores);
        let kinds = [fence, plain, fence, stores, plain, InstructionKind::Atomic, fence];
        let names = kinds.map(|kind| numbers.of(kind));
        assert_eq!(names, ["f", "0", "0f", "0f_2", "1", "2", "2f"]);
    }

    /// The names of instructions from and to states; those that are marked are fences.
    fn called(ways: &[(usize, usize, bool)]) -> Vec<String> {
        let instruction = |&(from, to, is_fence): &(usize, usize, bool)| Instruction {
            name: String::new(),
            from: ControlAt::new(from),
            to: ControlAt::new(to),
            priority: 0,
            condition: None,
            assignments: Vec::new(),
            kind: if is_fence { InstructionKind::Fence } else { InstructionKind::Plain },
            span: Span::default(),
        };
        let states: Vec<String> = ["a", "b", "c", "b_f1", "fence_x"].map(str::to_owned).into();
        let mut instructions: Vec<Instruction> = ways.iter().map(instruction).collect();
        call_by_ends(&states, &mut instructions);
        instructions.into_iter().map(|instruction| instruction.name).collect()
    }

    #[test]
    fn a_fence_does_not_rename_what_leads_to_it() {
        assert_eq!(called(&[(0, 1, false), (1, 2, false)]), ["a-b", "b-c"]);
        // One between, two between, and one that something else competes with.
        assert_eq!(called(&[(0, 3, false), (3, 1, true), (1, 2, false)]), ["a-b", "b_f1-b", "b-c"]);
        assert_eq!(called(&[(0, 4, false), (4, 3, true), (3, 1, true)]), ["a-b", "fence_x-b_f1", "b_f1-b"]);
        assert_eq!(called(&[(0, 3, false), (3, 1, true), (3, 2, false)]), ["a-b_f1", "b_f1-b", "b_f1-c"]);
        // A state with a name of its own keeps it.
        assert_eq!(called(&[(0, 1, false), (1, 2, true)]), ["a-b", "b-c"]);
        // Several ways to one fence, and fences in a circle.
        assert_eq!(called(&[(0, 3, false), (0, 3, false), (3, 1, true)]), ["a-b", "a-b-2", "b_f1-b"]);
        assert_eq!(called(&[(3, 4, true), (4, 3, true), (0, 4, false)]).len(), 3);
    }
}
