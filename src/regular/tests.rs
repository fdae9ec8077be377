//! Examples; random languages are in `tests/properties/regular_languages.rs`.

use super::{Language, Languages, Letter};

/// `a` to `z` for 0 to 25.
fn name(letter: Letter) -> String {
    char::from(b'a' + letter as u8).to_string()
}

#[test]
fn the_first_two_are_always_there() {
    let mut languages = Languages::new();
    assert_eq!((languages.len(), languages.word(&[])), (2, Language::UNIT));
    assert_eq!([Language::EMPTY, Language::UNIT].map(|l| languages.num_of_states(l)), [0, 1]);
    assert_eq!([Language::EMPTY, Language::UNIT].map(|l| languages.accepts_empty(l)), [false, true]);
    assert_eq!([Language::EMPTY, Language::UNIT].map(|l| languages.contains(l, &[])), [false, true]);
    assert_eq!([Language::EMPTY, Language::UNIT].map(|l| languages.shortest(l)), [None, Some(vec![])]);
    assert_eq!([Language::EMPTY, Language::UNIT].map(|l| languages.star(l)), [Language::UNIT; 2]);
    assert!(languages.includes(Language::UNIT, Language::EMPTY));
    assert!(!languages.includes(Language::EMPTY, Language::UNIT));
    assert_eq!(languages.quotient(Language::UNIT, 0), Language::EMPTY);
    assert!(languages.newest(Language::EMPTY, 0, Some).is_empty());
    assert_eq!(languages.newest(Language::UNIT, 0, Some)[..], [None]);
    assert_eq!(languages.len(), 2);
}

#[test]
fn expressions_are_short_for_cycles() {
    let mut languages = Languages::new();
    let once = languages.word(&[0, 1]);
    let many = languages.star(once);
    let some = languages.concat(once, many);
    let either = languages.word(&[2]);
    let either = languages.union(either, once);
    let any = languages.star(either);
    let perhaps = languages.union(Language::UNIT, either);
    let shown = [Language::EMPTY, Language::UNIT, once, many, some, either, any, perhaps];
    let shown = shown.map(|l| languages.show(l, name));
    assert_eq!(shown, ["∅", "ε", "ab", "(ab)*", "ab(ab)*", "c|ab", "(c|ab)*", "(c|ab)?"]);
    // Names that are longer than a character stand apart.
    assert_eq!(languages.show(some, |letter| format!("x={letter}")), "x=0 x=1 (x=0 x=1)*");
    let star = languages.word(&[0]);
    let star = languages.star(star);
    assert_eq!(languages.show(star, |letter| format!("x={letter}")), "(x=0)*");
}

/// A buffer of stores `x=0`, `x=1` (letters 0 and 1) and of another location (letter 2).
#[test]
fn a_reader_sees_the_newest_store() {
    let mut languages = Languages::new();
    let classify = |letter: Letter| (letter < 2).then_some(letter);
    let turn = languages.word(&[0, 1]);
    let turns = languages.star(turn);
    let behind = languages.append(turns, 2);
    assert_eq!(languages.newest(behind, 0, classify)[..], [None, Some(1)]);
    let from_memory = languages.restrict(behind, 0, None, classify);
    assert_eq!(from_memory, languages.word(&[2]));
    let from_buffer = languages.restrict(behind, 0, Some(1), classify);
    assert_eq!(languages.show(from_buffer, name), "ab(ab)*c");
    assert_eq!(languages.restrict(behind, 0, Some(0), classify), Language::EMPTY);
    assert_eq!(languages.first(behind), [0, 2]);
    let (rest, without) = (languages.quotient(behind, 0), languages.erase(behind, |letter| letter == 2));
    assert_eq!(languages.show(rest, name), "b(ab)*c");
    assert_eq!(without, turns);
    assert_eq!(languages.with_erased_in(behind, |letter| letter == 2, turn), languages.word(&[0, 1, 2]));
}

/// Appending a letter needs no minimisation, whether the letter may be in the words or not.
#[test]
fn appending_follows_words_that_go_on() {
    let mut languages = Languages::new();
    let letter = languages.word(&[0]);
    let any = languages.star(letter);
    let some = languages.append(any, 0);
    assert_eq!((languages.num_of_states(some), languages.concat(letter, any)), (2, some));
    let more = languages.append(some, 0);
    assert_eq!(languages.num_of_states(more), 3);
    assert!(languages.includes(some, more) && !languages.includes(more, some));
}
