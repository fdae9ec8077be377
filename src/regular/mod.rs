//! Small regular languages, by number: what store buffers can hold.
//!
//! A word is the content of a buffer, its first letter the oldest entry. A [`Language`] is a number in a table of
//! [`Languages`], which holds for each its minimal automaton: deterministic, without states that no word passes, and
//! numbered breadth-first along ascending letters. There is one such automaton for each language (Myhill and Nerode),
//! so that equal languages have equal numbers, and no operation needs to compare automata. What has been computed is
//! remembered by the numbers of the operands, as the same few operations are asked for millions of times.
//!
//! There is no alphabet: a letter that an automaton has no move for leads nowhere. The empty language has no state.
//!
//! The operations are the textbook's: products for union, intersection, inclusion and what is known of the newest
//! entry; subsets of states (Rabin and Scott) for concatenation, iteration and erased letters; partitions refined
//! after Moore for what these leave to be merged. Appending a letter and taking one away merge nothing, see there.
//! Products take the product of the numbers of states, subsets an exponential number in the worst case; for contents
//! of buffers both stay within a few states more than the results have. Nothing is ever forgotten: a table grows with
//! the languages and the questions, and there is a table for each search.
//!
//! Written here, as crates for regular expressions (`regex-automata`, `regex-syntax`) know neither inclusion nor
//! quotients, and their alphabet is bytes; libraries of automata (`automata_core`, `l1-dfa`) have some of the
//! operations, but give a new automaton for every answer, and no number by which it is known again.
//!
//! | part | holds |
//! |---|---|
//! | `automaton` | deterministic automata, explored from whatever their states are, and minimised |
//! | `subsets` | nondeterministic ones with silent moves, made deterministic |
//! | `classes` | what the newest letter of a class is |
//! | `plain` | an automaton to walk through |
//! | `show` | regular expressions |

mod automaton;
mod classes;
mod plain;
mod show;
mod subsets;

pub use plain::Plain;

use automaton::{Automaton, State};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::rc::Rc;
use subsets::Nondeterministic;

/// An entry of a buffer; whoever asks numbers them.
pub type Letter = u32;

/// A language, by its number in a table of [`Languages`]. In one table equal numbers are equal languages.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Language(u32);

impl Language {
    /// No word. It is the first of every table.
    pub const EMPTY: Self = Self(0);
    /// The empty word alone. It is the second of every table.
    pub const UNIT: Self = Self(1);

    /// The position in its table.
    #[inline]
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A table of languages, each of them once.
#[derive(Default)]
struct Table {
    automata: Vec<Rc<Automaton>>,
    numbers: FxHashMap<Rc<Automaton>, Language>,
}

impl Table {
    /// The number of the language of an automaton that is minimal and canonically numbered.
    fn intern(&mut self, automaton: Automaton) -> Language {
        if let Some(&known) = self.numbers.get(&automaton) {
            return known;
        }
        let number = Language(u32::try_from(self.automata.len()).expect("memory ends before 2^32 languages"));
        let automaton = Rc::new(automaton);
        self.automata.push(Rc::clone(&automaton));
        self.numbers.insert(automaton, number);
        number
    }
}

/// Languages and what has been asked of them.
pub struct Languages {
    table: Table,
    appended: FxHashMap<(Language, Letter), Language>,
    quotients: FxHashMap<(Language, Letter), Language>,
    concatenated: FxHashMap<(Language, Language), Language>,
    united: FxHashMap<(Language, Language), Language>,
    intersected: FxHashMap<(Language, Language), Language>,
    stars: FxHashMap<Language, Language>,
    included: FxHashMap<(Language, Language), bool>,
    newest: FxHashMap<(Language, u32), Rc<[Option<u32>]>>,
    restricted: FxHashMap<(Language, u32, Option<u32>), Language>,
}

impl Default for Languages {
    fn default() -> Self {
        Self::new()
    }
}

impl Languages {
    /// A table with [`Language::EMPTY`] and [`Language::UNIT`].
    #[must_use]
    pub fn new() -> Self {
        let mut table = Table::default();
        table.intern(Automaton::empty());
        table.intern(Automaton::of_word(&[]));
        Self {
            table,
            appended: FxHashMap::default(),
            quotients: FxHashMap::default(),
            concatenated: FxHashMap::default(),
            united: FxHashMap::default(),
            intersected: FxHashMap::default(),
            stars: FxHashMap::default(),
            included: FxHashMap::default(),
            newest: FxHashMap::default(),
            restricted: FxHashMap::default(),
        }
    }

    /// How many languages there are, [`Language::EMPTY`] and [`Language::UNIT`] among them.
    #[must_use]
    #[allow(clippy::len_without_is_empty, reason = "it never is")]
    pub fn len(&self) -> usize {
        self.table.automata.len()
    }

    /// How many states the minimal automaton has: the languages other than the empty one that can remain after some
    /// first letters.
    #[must_use]
    pub fn num_of_states(&self, l: Language) -> usize {
        self.automaton(l).len()
    }

    fn automaton(&self, l: Language) -> &Automaton {
        &self.table.automata[l.index()]
    }

    /// Exactly this word.
    pub fn word(&mut self, letters: &[Letter]) -> Language {
        self.table.intern(Automaton::of_word(letters))
    }

    /// All words of `l`, with this letter behind.
    ///
    /// What remains of `L·a` after some letters is `K·a`, perhaps with the empty word, where `K` remains of `L`; these
    /// differ if the `K` do, so that pairs of a state and a bit are a minimal automaton already.
    pub fn append(&mut self, l: Language, letter: Letter) -> Language {
        if l == Language::EMPTY {
            return l;
        }
        if let Some(&known) = self.appended.get(&(l, letter)) {
            return known;
        }
        let before = self.automaton(l);
        // The state before the letter, if it can still come, and whether it has come.
        let made = Automaton::explore(
            (Some(0), false),
            |&(_, is_over)| is_over,
            |&(state, _), moves| {
                let Some(state) = state else { return };
                let may_end = before.accepts(state);
                moves.extend(before.moves(state).iter().map(|&(by, to)| (by, (Some(to), may_end && by == letter))));
                if may_end && let Err(place) = before.moves(state).binary_search_by_key(&letter, |&(by, _)| by) {
                    moves.insert(place, (letter, (None, true)));
                }
            },
        );
        let result = self.table.intern(made);
        self.appended.insert((l, letter), result);
        result
    }

    /// All words of `l`, each followed by one of `r`.
    pub fn concat(&mut self, l: Language, r: Language) -> Language {
        if l == Language::EMPTY || r == Language::UNIT {
            return l;
        }
        if r == Language::EMPTY || l == Language::UNIT {
            return r;
        }
        if let Some(&known) = self.concatenated.get(&(l, r)) {
            return known;
        }
        let made = Nondeterministic::concatenated(self.automaton(l), self.automaton(r)).determined();
        let result = self.table.intern(made.minimal());
        self.concatenated.insert((l, r), result);
        result
    }

    /// The words of both.
    pub fn union(&mut self, l: Language, r: Language) -> Language {
        let (l, r) = (l.min(r), l.max(r));
        if l == r || l == Language::EMPTY {
            return r;
        }
        if let Some(&known) = self.united.get(&(l, r)) {
            return known;
        }
        let made = Automaton::united(self.automaton(l), self.automaton(r));
        let result = self.table.intern(made.minimal());
        self.united.insert((l, r), result);
        result
    }

    /// Any number of words of `l`, one behind the other; none is the empty word.
    pub fn star(&mut self, l: Language) -> Language {
        if l == Language::EMPTY || l == Language::UNIT {
            return Language::UNIT;
        }
        if let Some(&known) = self.stars.get(&l) {
            return known;
        }
        let made = Nondeterministic::iterated(self.automaton(l)).determined();
        let result = self.table.intern(made.minimal());
        self.stars.insert(l, result);
        result
    }

    /// The words that are in both.
    pub fn intersect(&mut self, l: Language, r: Language) -> Language {
        let (l, r) = (l.min(r), l.max(r));
        if l == r || l == Language::EMPTY {
            return l;
        }
        if let Some(&known) = self.intersected.get(&(l, r)) {
            return known;
        }
        let made = Automaton::intersected(self.automaton(l), self.automaton(r), |_| false);
        let result = self.table.intern(made.minimal());
        self.intersected.insert((l, r), result);
        result
    }

    /// What remains of the words of `l` that begin with this letter, without it.
    ///
    /// The states behind the letter are those of a minimal automaton, as they tell apart what remains.
    pub fn quotient(&mut self, l: Language, letter: Letter) -> Language {
        if l == Language::EMPTY {
            return l;
        }
        if let Some(&known) = self.quotients.get(&(l, letter)) {
            return known;
        }
        let whole = self.automaton(l);
        // Not remembered, as it is found as fast.
        let Some(start) = whole.step(0, letter) else { return Language::EMPTY };
        let moves = |state: &State, moves: &mut Vec<_>| moves.extend_from_slice(whole.moves(*state));
        let made = Automaton::explore(start, |&state| whole.accepts(state), moves);
        let result = self.table.intern(made);
        self.quotients.insert((l, letter), result);
        result
    }

    /// The letters that begin a word, in ascending order.
    #[must_use]
    pub fn first(&self, l: Language) -> Vec<Letter> {
        if l == Language::EMPTY {
            return Vec::new();
        }
        self.automaton(l).moves(0).iter().map(|&(letter, _)| letter).collect()
    }

    /// Whether the empty word is in it.
    #[must_use]
    pub fn accepts_empty(&self, l: Language) -> bool {
        l != Language::EMPTY && self.automaton(l).accepts(0)
    }

    /// Whether it is the empty word alone.
    #[must_use]
    pub fn is_unit(&self, l: Language) -> bool {
        l == Language::UNIT
    }

    /// Whether every word of `smaller` is in `larger`.
    pub fn includes(&mut self, larger: Language, smaller: Language) -> bool {
        if larger == smaller || smaller == Language::EMPTY {
            return true;
        }
        if larger == Language::EMPTY {
            return false;
        }
        if let Some(&known) = self.included.get(&(larger, smaller)) {
            return known;
        }
        let result = Automaton::includes(self.automaton(larger), self.automaton(smaller));
        self.included.insert((larger, smaller), result);
        result
    }

    /// Whether this word is in it.
    #[must_use]
    pub fn contains(&self, l: Language, word: &[Letter]) -> bool {
        if l == Language::EMPTY {
            return false;
        }
        let automaton = self.automaton(l);
        let end = word.iter().try_fold(0, |state, &letter| automaton.step(state, letter));
        end.is_some_and(|state| automaton.accepts(state))
    }

    /// The words of `l` without some letters. Not remembered.
    pub fn erase(&mut self, l: Language, erased: impl Fn(Letter) -> bool) -> Language {
        if !self.automaton(l).letters().any(&erased) {
            return l;
        }
        let made = Nondeterministic::erased(self.automaton(l), erased).determined();
        self.table.intern(made.minimal())
    }

    /// The words of `l` that without some letters are in `r`, which has none of these: words of `r` that have some are
    /// not met. Not remembered.
    pub fn with_erased_in(&mut self, l: Language, erased: impl Fn(Letter) -> bool, r: Language) -> Language {
        if l == Language::EMPTY || r == Language::EMPTY {
            return Language::EMPTY;
        }
        let made = Automaton::intersected(self.automaton(l), self.automaton(r), erased);
        self.table.intern(made.minimal())
    }

    /// A shortest word, and the first of these by their letters; nothing of the empty language.
    #[must_use]
    pub fn shortest(&self, l: Language) -> Option<Vec<Letter>> {
        self.automaton(l).shortest()
    }

    /// The same among the words that have only such letters.
    #[must_use]
    pub fn shortest_of(&self, l: Language, is_allowed: impl Fn(Letter) -> bool) -> Option<Vec<Letter>> {
        let automaton = self.automaton(l);
        let mut seen = vec![false; automaton.len()];
        let start = (!seen.is_empty()).then(|| (0, Vec::new()));
        let mut open: VecDeque<(State, Vec<Letter>)> = start.into_iter().collect();
        while let Some((state, word)) = open.pop_front() {
            if std::mem::replace(&mut seen[state as usize], true) {
                continue;
            }
            if automaton.accepts(state) {
                return Some(word);
            }
            for &(letter, next) in automaton.moves(state).iter().filter(|(letter, _)| is_allowed(*letter)) {
                open.push_back((next, word.iter().copied().chain([letter]).collect()));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests;
