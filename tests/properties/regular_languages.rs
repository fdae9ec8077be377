//! Regular languages by number, against words: what an expression means is told by its definition, word by word.

mod terms;

use crate::support::random::{cases, random_cases};
use rand::Rng;
use seqcon::regular::{Language, Languages, Letter};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};
use terms::{CLASSIFIERS, Definition, LETTERS, erased, newest, random_language, words};

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
