//! Names that labels, invariants and other tools can take.

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
