//! Regular languages by number, against words: what an expression means is told by its definition, word by word.

use crate::support::random::{cases, random_cases};
use rand::Rng;
use rand::rngs::StdRng;
use seqcon::regular::{Language, Languages, Letter};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};

const LETTERS: u32 = 3;

/// How a language is made.
#[derive(Debug)]
enum Term {
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
const CLASSIFIERS: [fn(Letter) -> Option<u32>; 3] = [
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

fn erased(word: &[Letter], letter: Letter) -> Vec<Letter> {
    word.iter().copied().filter(|&known| known != letter).collect()
}

fn newest(key: usize, word: &[Letter]) -> Option<u32> {
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
struct Definition {
    known: HashMap<(*const Term, Vec<Letter>), bool>,
}

impl Definition {
    fn has(&mut self, term: &Term, word: &[Letter]) -> bool {
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
fn words(longest: usize) -> Vec<Vec<Letter>> {
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
fn random_language(rng: &mut StdRng, languages: &mut Languages) -> (Term, Language) {
    let size = rng.random_range(0..8);
    let term = term(rng, size, false);
    let language = language(languages, &term);
    (term, language)
}

/// A shortest word that is in the one and not in the other, if there is one: all pairs of what remains after a word.
fn difference(languages: &mut Languages, one: Language, other: Language) -> Option<Vec<Letter>> {
    let mut queue = VecDeque::from([(one, other, vec![])]);
    let mut known = HashSet::from([(one, other)]);
    while let Some((l, r, word)) = queue.pop_front() {
        if languages.accepts_empty(l) && !languages.accepts_empty(r) {
            return Some(word);
        }
        for letter in 0..LETTERS {
            let next = (languages.quotient(l, letter), languages.quotient(r, letter));
            if known.insert(next) {
                queue.push_back((next.0, next.1, [&word[..], &[letter]].concat()));
            }
        }
    }
    None
}

#[test]
fn words_are_those_of_the_definition() {
    let words = words(5);
    let large = Cell::new(0);
    let cases = cases(600);
    random_cases(cases, |rng| {
        let mut languages = Languages::new();
        let (term, l) = random_language(rng, &mut languages);
        let mut definition = Definition::default();
        let mut first = BTreeSet::new();
        let mut shortest = None;
        for word in &words {
            let expected = definition.has(&term, word);
            assert_eq!(languages.contains(l, word), expected, "{word:?} of {term:?}");
            if expected {
                first.extend(word.first().copied());
                shortest = shortest.or(Some(word.clone()));
            }
        }
        assert_eq!(languages.accepts_empty(l), definition.has(&term, &[]), "{term:?}");
        assert_eq!(languages.is_unit(l), shortest == Some(vec![]) && languages.first(l).is_empty(), "{term:?}");
        // A longer word may be the shortest one, or the only one that has a first letter: then it shows it.
        let found = languages.shortest(l);
        match &found {
            Some(found) if found.len() > 5 => assert!(definition.has(&term, found), "{found:?} of {term:?}"),
            found => assert_eq!(found, &shortest, "{term:?}"),
        }
        assert_eq!(found.is_none(), l == Language::EMPTY, "{term:?}");
        let letters = languages.first(l);
        assert!(letters.is_sorted_by(|one, other| one < other), "{letters:?}");
        for &letter in &letters {
            let rest = languages.quotient(l, letter);
            let rest = languages.shortest(rest).unwrap_or_else(|| panic!("{letter} begins no word of {term:?}"));
            assert!(definition.has(&term, &[&[letter], &rest[..]].concat()), "{letter}, {rest:?} of {term:?}");
        }
        assert!(first.is_subset(&letters.iter().copied().collect()), "{first:?}, {letters:?} of {term:?}");
        large.set(large.get() + u64::from(languages.num_of_states(l) > 3));
    });
    assert!(large.get() * 10 >= cases || cases < 100, "only {} languages of more than three states", large.get());
}

#[test]
fn newest_classes_are_those_of_words() {
    let words = words(5);
    random_cases(cases(400), |rng| {
        let mut languages = Languages::new();
        let (term, l) = random_language(rng, &mut languages);
        let mut definition = Definition::default();
        for (key, classify) in CLASSIFIERS.into_iter().enumerate() {
            let of_words: BTreeSet<Option<u32>> =
                words.iter().filter(|word| definition.has(&term, word)).map(|word| newest(key, word)).collect();
            let classes = languages.newest(l, key as u32, classify);
            assert!(classes.is_sorted_by(|one, other| one < other), "{classes:?}");
            assert!(of_words.iter().all(|class| classes.contains(class)), "{of_words:?}, {classes:?} of {term:?}");
            let mut whole = Language::EMPTY;
            for &class in &classes[..] {
                let part = languages.restrict(l, key as u32, class, classify);
                let word = languages.shortest(part).unwrap_or_else(|| panic!("{class:?} of {term:?}"));
                assert!(definition.has(&term, &word) && newest(key, &word) == class, "{class:?}, {word:?} of {term:?}");
                whole = languages.union(whole, part);
            }
            assert_eq!(whole, l, "{term:?}");
        }
    });
}

#[test]
fn one_language_has_one_number_and_inclusion_is_shown_by_words() {
    let [equal, included, others] = [const { Cell::new(0) }; 3];
    let cases = cases(600);
    let count = |of: &Cell<u64>| of.set(of.get() + 1);
    random_cases(cases, |rng| {
        let mut languages = Languages::new();
        let ((one_term, one), (other_term, other)) =
            (random_language(rng, &mut languages), random_language(rng, &mut languages));
        // Pairs that have something to do with each other.
        let (both, common) = (languages.union(one, other), languages.intersect(one, other));
        let mut definition = Definition::default();
        for (l, r) in [(one, other), (other, one), (one, both), (both, one), (common, other), (other, common)] {
            let [mut has_l, mut has_r] = [false; 2];
            let mut has = |of: Language, word: &[Letter]| {
                let (in_one, in_other) = (definition.has(&one_term, word), definition.has(&other_term, word));
                if of == one {
                    in_one
                } else if of == other {
                    in_other
                } else if of == both {
                    in_one || in_other
                } else {
                    in_one && in_other
                }
            };
            match difference(&mut languages, l, r) {
                None => assert!(languages.includes(r, l), "{one_term:?}, {other_term:?}"),
                Some(word) => {
                    (has_l, has_r) = (has(l, &word), has(r, &word));
                    assert!(has_l && !has_r, "{word:?}: {one_term:?}, {other_term:?}");
                    assert!(!languages.includes(r, l), "{word:?}: {one_term:?}, {other_term:?}");
                }
            }
            let are_equal = languages.includes(r, l) && languages.includes(l, r);
            assert_eq!(are_equal, l == r, "{one_term:?}, {other_term:?}");
            count(if l == r {
                &equal
            } else if has_l == has_r {
                &included
            } else {
                &others
            });
        }
    });
    let counts = [equal.get(), included.get(), others.get()];
    assert!(counts.iter().all(|&count| count * 10 >= cases) || cases < 100, "{counts:?}");
}

#[test]
fn laws_hold_as_equal_numbers() {
    random_cases(cases(400), |rng| {
        let mut table = Languages::new();
        let t = &mut table;
        let ((lt, l), (mt, m), (nt, n)) = (random_language(rng, t), random_language(rng, t), random_language(rng, t));
        let letter = rng.random_range(0..LETTERS);
        let only = t.word(&[letter]);
        let mut same =
            |law: &str, left: &dyn Fn(&mut Languages) -> Language, right: &dyn Fn(&mut Languages) -> Language| {
                let (left, right) = (left(t), right(t));
                assert_eq!(left, right, "{law}, letter {letter}: {lt:?}, {mt:?}, {nt:?}");
            };
        let concat = |t: &mut Languages, l, r| t.concat(l, r);
        let union = |t: &mut Languages, l, r| t.union(l, r);
        same("L·a", &|t| t.append(l, letter), &|t| t.concat(l, only));
        same(
            "(a·L)/a",
            &|t| {
                let longer = concat(t, only, l);
                t.quotient(longer, letter)
            },
            &|_| l,
        );
        same(
            "L(M|N)",
            &|t| {
                let right = union(t, m, n);
                concat(t, l, right)
            },
            &|t| {
                let (left, right) = (concat(t, l, m), concat(t, l, n));
                union(t, left, right)
            },
        );
        same(
            "(LM)N",
            &|t| {
                let left = concat(t, l, m);
                concat(t, left, n)
            },
            &|t| {
                let right = concat(t, m, n);
                concat(t, l, right)
            },
        );
        same(
            "L(ML)*",
            &|t| {
                let once = concat(t, m, l);
                let star = t.star(once);
                concat(t, l, star)
            },
            &|t| {
                let once = concat(t, l, m);
                let star = t.star(once);
                concat(t, star, l)
            },
        );
        same(
            "(L|M)*",
            &|t| {
                let either = union(t, l, m);
                t.star(either)
            },
            &|t| {
                let stars = (t.star(l), t.star(m));
                let both = concat(t, stars.0, stars.1);
                t.star(both)
            },
        );
        same("ε|LL*", &|t| t.star(l), &|t| {
            let star = t.star(l);
            let some = concat(t, l, star);
            union(t, Language::UNIT, some)
        });
        same(
            "L&(M|N)",
            &|t| {
                let right = union(t, m, n);
                t.intersect(l, right)
            },
            &|t| {
                let parts = (t.intersect(l, m), t.intersect(n, l));
                union(t, parts.0, parts.1)
            },
        );
        same(
            "what is in L without a letter",
            &|t| {
                let image = t.erase(l, |known| known == letter);
                t.with_erased_in(l, |known| known == letter, image)
            },
            &|_| l,
        );
    });
}

/// What a language becomes without a letter, where it has few words.
#[test]
fn letters_are_erased_from_every_word() {
    let words = words(5);
    random_cases(cases(300), |rng| {
        let mut languages = Languages::new();
        let (term, l) = random_language(rng, &mut languages);
        let letter = rng.random_range(0..LETTERS);
        let image = languages.erase(l, |known| known == letter);
        let (mut finite, mut expected) = (Language::EMPTY, Language::EMPTY);
        for word in words.iter().filter(|word| languages.contains(l, word)).collect::<Vec<_>>() {
            let without = erased(word, letter);
            assert!(languages.contains(image, &without), "{word:?} without {letter} of {term:?}");
            let (whole, without) = (languages.word(word), languages.word(&without));
            (finite, expected) = (languages.union(finite, whole), languages.union(expected, without));
        }
        assert_eq!(languages.erase(finite, |known| known == letter), expected, "{letter} of {term:?}");
    });
}

/// Every state is what remains after some word, all of them differ (by pairs that are marked one after the other), and
/// none is empty.
#[test]
fn automata_are_minimal() {
    random_cases(cases(400), |rng| {
        let mut languages = Languages::new();
        let (term, l) = random_language(rng, &mut languages);
        let mut rest: BTreeMap<Language, Vec<Language>> = BTreeMap::new();
        let mut open = vec![l];
        while let Some(at) = open.pop() {
            let behind: Vec<Language> = (0..LETTERS).map(|letter| languages.quotient(at, letter)).collect();
            if rest.insert(at, behind.clone()).is_none() {
                open.extend(behind);
            }
        }
        let not_empty = rest.keys().filter(|&&at| at != Language::EMPTY).count();
        assert_eq!(languages.num_of_states(l), not_empty, "{term:?}");
        let all: Vec<Language> = rest.keys().copied().collect();
        let pairs = || all.iter().flat_map(|&one| all.iter().map(move |&other| (one, other)));
        let mut differ: HashSet<(Language, Language)> =
            pairs().filter(|&(one, other)| languages.accepts_empty(one) != languages.accepts_empty(other)).collect();
        loop {
            let lead = |&(one, other): &(Language, Language), differ: &HashSet<_>| {
                rest[&one].iter().zip(&rest[&other]).any(|(&one, &other)| differ.contains(&(one, other)))
            };
            let more: Vec<_> = pairs().filter(|pair| !differ.contains(pair) && lead(pair, &differ)).collect();
            if more.is_empty() {
                break;
            }
            differ.extend(more);
        }
        assert_eq!(differ.len(), all.len() * (all.len() - 1), "two numbers for one language: {term:?}");
    });
}

/// Reads regular expressions over `a`, `b`, `c`.
struct Reader<'a> {
    rest: &'a str,
    languages: &'a mut Languages,
}

impl Reader<'_> {
    fn takes(&mut self, sign: &str) -> bool {
        let rest = self.rest.strip_prefix(sign);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn choice(&mut self) -> Language {
        let mut all = self.sequence();
        while self.takes("|") {
            let next = self.sequence();
            all = self.languages.union(all, next);
        }
        all
    }

    fn sequence(&mut self) -> Language {
        let mut all = Language::UNIT;
        while !self.rest.is_empty() && !self.rest.starts_with(['|', ')']) {
            let mut next = self.one();
            while self.rest.starts_with(['*', '?']) {
                next = if self.takes("*") { self.languages.star(next) } else { next };
                next = if self.takes("?") { self.languages.union(next, Language::UNIT) } else { next };
            }
            all = self.languages.concat(all, next);
        }
        all
    }

    fn one(&mut self) -> Language {
        if self.takes("(") {
            let inner = self.choice();
            assert!(self.takes(")"), "{}", self.rest);
            return inner;
        }
        if self.takes("ε") {
            return Language::UNIT;
        }
        if self.takes("∅") {
            return Language::EMPTY;
        }
        let letter = (0..LETTERS).find(|&letter| self.takes(&name(letter)));
        self.languages.word(&[letter.unwrap_or_else(|| panic!("{}", self.rest))])
    }
}

fn name(letter: Letter) -> String {
    char::from(b'a' + letter as u8).to_string()
}

#[test]
fn expressions_mean_what_they_show() {
    random_cases(cases(400), |rng| {
        let mut languages = Languages::new();
        let (term, l) = random_language(rng, &mut languages);
        let shown = languages.show(l, name);
        let read = Reader { rest: &shown, languages: &mut languages }.choice();
        assert_eq!(read, l, "{shown}: {term:?}");
    });
}
