//! Names that labels, invariants and other tools can take.

use std::collections::HashSet;

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
}

impl Unique {
    /// The name, or with the first number behind it that makes it new.
    pub fn of(&mut self, name: &str, separator: char) -> String {
        let mut candidate = name.to_owned();
        let mut number = 1;
        while !self.taken.insert(candidate.clone()) {
            number += 1;
            candidate = format!("{name}{separator}{number}");
        }
        candidate
    }
}
