//! What is known of the newest letter of a class: a reader sees the newest entry of its location.
//!
//! A classifier gives some letters a class: the stores of one location, say, by their values. The automaton is run
//! beside one that remembers the class of the last letter that had one.

use super::automaton::{Automaton, State};
use super::{Language, Languages, Letter};
use rustc_hash::FxHashSet;
use std::rc::Rc;

impl Languages {
    /// For every word the class of its last letter that has one, and none if no letter has: all that occur, in order.
    ///
    /// Remembered by `key`, which names the classifier: with one key it must always be the same.
    pub fn newest(&mut self, l: Language, key: u32, classify: impl Fn(Letter) -> Option<u32>) -> Rc<[Option<u32>]> {
        if let Some(known) = self.newest.get(&(l, key)) {
            return Rc::clone(known);
        }
        let result: Rc<[Option<u32>]> = classes(self.automaton(l), classify).into();
        self.newest.insert((l, key), Rc::clone(&result));
        result
    }

    /// The words of `l` whose last letter that has a class has this one; with none those in which no letter has one.
    ///
    /// Remembered by `key`, which names the classifier: with one key it must always be the same.
    pub fn restrict(
        &mut self,
        l: Language,
        key: u32,
        class: Option<u32>,
        classify: impl Fn(Letter) -> Option<u32>,
    ) -> Language {
        if l == Language::EMPTY {
            return l;
        }
        if let Some(&known) = self.restricted.get(&(l, key, class)) {
            return known;
        }
        let occurring = self.newest(l, key, &classify);
        let result = if !occurring.contains(&class) {
            Language::EMPTY
        } else if occurring.len() == 1 {
            l
        } else {
            let made = restricted(self.automaton(l), class, classify);
            self.table.intern(made.minimal())
        };
        self.restricted.insert((l, key, class), result);
        result
    }
}

/// The classes that are the last ones of words.
fn classes(automaton: &Automaton, classify: impl Fn(Letter) -> Option<u32>) -> Vec<Option<u32>> {
    let mut found: Vec<(State, Option<u32>)> = automaton.states().take(1).map(|start| (start, None)).collect();
    let mut known: FxHashSet<(State, Option<u32>)> = found.iter().copied().collect();
    let mut classes = Vec::new();
    while let Some((state, class)) = found.pop() {
        if automaton.accepts(state) {
            classes.push(class);
        }
        for &(letter, to) in automaton.moves(state) {
            let next = (to, classify(letter).or(class));
            if known.insert(next) {
                found.push(next);
            }
        }
    }
    classes.sort_unstable();
    classes.dedup();
    classes
}

/// The words whose last class is this one. Not minimal.
fn restricted(automaton: &Automaton, class: Option<u32>, classify: impl Fn(Letter) -> Option<u32>) -> Automaton {
    // Beside the state: whether the last class is this one. That there was none ends with the first that has one.
    Automaton::explore(
        (0, class.is_none()),
        |&(state, is_last)| is_last && automaton.accepts(state),
        |&(state, is_last), moves| {
            moves.extend(automaton.moves(state).iter().filter_map(|&(letter, to)| match classify(letter) {
                None => Some((letter, (to, is_last))),
                Some(_) if class.is_none() => None,
                of_letter @ Some(_) => Some((letter, (to, of_letter == class))),
            }));
        },
    )
}
