//! Expressions over the operations on languages, and which words they mean by their definitions.

use rand::Rng;
use rand::rngs::StdRng;
use seqcon::regular::{Language, Languages, Letter};
use std::collections::HashMap;

/// Letters are 0 to 2.
pub const LETTERS: u32 = 3;

/// How a language is made.
#[derive(Debug)]
pub enum Term {
    Word(Vec<Letter>),
    Append(Box<Term>, Letter),
    Concat(Box<Term>, Box<Term>),
    Union(Box<Term>, Box<Term>),
    Star(Box<Term>),
    Intersect(Box<Term>, Box<Term>),
    Quotient(Box<Term>, Letter),
    Restrict(Box<Term>, usize, Option<u32>),
    WithErasedIn(Box<Term>, Letter, Box<Term>),
    /// And the same where the letter is erased in the words that it is made of.
    Erase(Box<Term>, Letter, Box<Term>),
}

/// Classifiers, by their keys.
pub const CLASSIFIERS: [fn(Letter) -> Option<u32>; 3] = [
    |letter| (letter != 2).then_some(letter),
    |letter| (letter == 1).then_some(7),
    // Two letters of one class, and one of another.
    |letter| Some(letter / 2),
];

/// A term of at most so many operations; a rational one is made of words, concatenations, unions and stars.
fn term(rng: &mut StdRng, size: u32, is_rational: bool) -> Term {
    let letter = rng.random_range(0..LETTERS);
    if size == 0 || rng.random_ratio(1, 12) {
        return Term::Word((0..rng.random_range(0..=3)).map(|_| rng.random_range(0..LETTERS)).collect());
    }
    let left = rng.random_range(0..size);
    let one = |rng: &mut StdRng| Box::new(term(rng, size - 1, is_rational));
    let two =
        |rng: &mut StdRng| (Box::new(term(rng, left, is_rational)), Box::new(term(rng, size - 1 - left, is_rational)));
    match rng.random_range(0..if is_rational { 8 } else { 14 }) {
        0 => Term::Append(one(rng), letter),
        1 | 2 => {
            let (l, r) = two(rng);
            Term::Concat(l, r)
        }
        3..=5 => {
            let (l, r) = two(rng);
            Term::Union(l, r)
        }
        6 | 7 => Term::Star(one(rng)),
        8 => {
            let (l, r) = two(rng);
            Term::Intersect(l, r)
        }
        9 | 10 => Term::Quotient(one(rng), letter),
        11 => {
            let key = rng.random_range(0..CLASSIFIERS.len());
            let class = if rng.random_ratio(1, 3) { None } else { CLASSIFIERS[key](letter) };
            Term::Restrict(one(rng), key, class)
        }
        12 => {
            let (l, r) = two(rng);
            Term::WithErasedIn(l, letter, r)
        }
        _ => {
            let whole = term(rng, size - 1, true);
            let image = without(&whole, letter);
            Term::Erase(Box::new(whole), letter, Box::new(image))
        }
    }
}

/// Erasing a letter is a homomorphism: it can as well be erased in the words that a rational term is made of.
fn without(term: &Term, letter: Letter) -> Term {
    let of = |term: &Term| Box::new(without(term, letter));
    match term {
        Term::Word(word) => Term::Word(erased(word, letter)),
        Term::Append(l, last) => {
            Term::Concat(of(l), Box::new(Term::Word(if *last == letter { vec![] } else { vec![*last] })))
        }
        Term::Concat(l, r) => Term::Concat(of(l), of(r)),
        Term::Union(l, r) => Term::Union(of(l), of(r)),
        Term::Star(l) => Term::Star(of(l)),
        other => panic!("{other:?} is not rational"),
    }
}

pub fn erased(word: &[Letter], letter: Letter) -> Vec<Letter> {
    word.iter().copied().filter(|&known| known != letter).collect()
}

pub fn newest(key: usize, word: &[Letter]) -> Option<u32> {
    word.iter().rev().find_map(|&letter| CLASSIFIERS[key](letter))
}

fn language(languages: &mut Languages, term: &Term) -> Language {
    let mut of = |term: &Term| language(languages, term);
    match term {
        Term::Word(word) => languages.word(word),
        Term::Append(l, letter) => {
            let l = of(l);
            languages.append(l, *letter)
        }
        Term::Concat(l, r) => {
            let (l, r) = (of(l), of(r));
            languages.concat(l, r)
        }
        Term::Union(l, r) => {
            let (l, r) = (of(l), of(r));
            languages.union(l, r)
        }
        Term::Star(l) => {
            let l = of(l);
            languages.star(l)
        }
        Term::Intersect(l, r) => {
            let (l, r) = (of(l), of(r));
            languages.intersect(l, r)
        }
        Term::Quotient(l, letter) => {
            let l = of(l);
            languages.quotient(l, *letter)
        }
        Term::Restrict(l, key, class) => {
            let l = of(l);
            languages.restrict(l, *key as u32, *class, CLASSIFIERS[*key])
        }
        Term::WithErasedIn(l, letter, r) => {
            let (l, r) = (of(l), of(r));
            languages.with_erased_in(l, |known| known == *letter, r)
        }
        Term::Erase(l, letter, _) => {
            let l = of(l);
            languages.erase(l, |known| known == *letter)
        }
    }
}

/// Which words are in the languages of terms, by the definitions of the operations.
#[derive(Default)]
pub struct Definition {
    known: HashMap<(*const Term, Vec<Letter>), bool>,
}

impl Definition {
    pub fn has(&mut self, term: &Term, word: &[Letter]) -> bool {
        if let Some(&known) = self.known.get(&(std::ptr::from_ref(term), word.to_vec())) {
            return known;
        }
        let mut splits = (0..=word.len()).map(|at| word.split_at(at));
        let has = match term {
            Term::Word(only) => word == only,
            Term::Append(l, letter) => {
                word.split_last().is_some_and(|(last, rest)| last == letter && self.has(l, rest))
            }
            Term::Concat(l, r) => splits.any(|(before, behind)| self.has(l, before) && self.has(r, behind)),
            Term::Union(l, r) => self.has(l, word) || self.has(r, word),
            Term::Star(l) => {
                word.is_empty() || splits.skip(1).any(|(before, behind)| self.has(l, before) && self.has(term, behind))
            }
            Term::Intersect(l, r) => self.has(l, word) && self.has(r, word),
            Term::Quotient(l, letter) => self.has(l, &[&[*letter], word].concat()),
            Term::Restrict(l, key, class) => newest(*key, word) == *class && self.has(l, word),
            Term::WithErasedIn(l, letter, r) => self.has(l, word) && self.has(r, &erased(word, *letter)),
            Term::Erase(_, _, image) => self.has(image, word),
        };
        self.known.insert((std::ptr::from_ref(term), word.to_vec()), has);
        has
    }
}

/// All words of at most this length, shorter ones first, and by their letters.
pub fn words(longest: usize) -> Vec<Vec<Letter>> {
    let mut all = vec![vec![]];
    let mut at = 0;
    while all[at].len() < longest {
        let longer: Vec<Vec<Letter>> = (0..LETTERS).map(|letter| [&all[at][..], &[letter]].concat()).collect();
        all.extend(longer);
        at += 1;
    }
    all
}

/// A random language with its term.
pub fn random_language(rng: &mut StdRng, languages: &mut Languages) -> (Term, Language) {
    let size = rng.random_range(0..8);
    let term = term(rng, size, false);
    let language = language(languages, &term);
    (term, language)
}
