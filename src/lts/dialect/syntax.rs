//! What the hand-written dialects share: names, and a nom error that remembers what was expected where.

#![forbid(unsafe_code)]

use super::LabelError;
use nom::error::{ErrorKind, ParseError};
use nom::{Err, IResult, Parser};

/// Deepest nesting of addresses in addresses; a bound keeps recursion off the end of the stack.
pub(super) const MAX_DEPTH: usize = 32;

/// The word that starts an atomic instruction, and therefore is no variable's name.
pub(super) const ATOMIC: &str = "atomic";

/// A failed expectation; offsets count from the end, because that is what nom's rest of the input tells.
#[derive(Debug)]
pub(super) struct Fault {
    left: usize,
    expected: &'static str,
}

/// nom's result over text with this error.
pub(super) type Parsed<'a, T> = IResult<&'a str, T, Fault>;

impl ParseError<&str> for Fault {
    fn from_error_kind(input: &str, _: ErrorKind) -> Self {
        Fault { left: input.len(), expected: "something else" }
    }

    fn append(_: &str, _: ErrorKind, other: Self) -> Self {
        other
    }

    fn or(self, other: Self) -> Self {
        // Of two alternatives the one that got further was meant.
        if self.left <= other.left { self } else { other }
    }
}

/// Names what a parser reads, for the message if it fails at its first byte.
pub(super) fn expecting<'a, T>(
    expected: &'static str,
    mut parser: impl Parser<&'a str, Output = T, Error = Fault>,
) -> impl FnMut(&'a str) -> Parsed<'a, T> {
    move |input| {
        parser.parse(input).map_err(|error| {
            error.map(|fault| if fault.left == input.len() { Fault { left: fault.left, expected } } else { fault })
        })
    }
}

/// Fails here.
pub(super) fn fail<'a, T>(input: &'a str, expected: &'static str) -> Parsed<'a, T> {
    Err(Err::Error(Fault { left: input.len(), expected }))
}

/// Fails here, whatever alternatives there are: addresses are nested too deeply.
pub(super) fn too_deep<'a, T>(input: &'a str) -> Parsed<'a, T> {
    Err(Err::Failure(Fault { left: input.len(), expected: "addresses that are nested less deeply" }))
}

/// Skips blanks.
pub(super) fn blanks(input: &str) -> &str {
    input.trim_start_matches([' ', '\t'])
}

/// Reads the word or sign `text`, and the blanks before it.
pub(super) fn sign<'a>(text: &'static str, expected: &'static str) -> impl FnMut(&'a str) -> Parsed<'a, ()> {
    move |input| match blanks(input).strip_prefix(text) {
        Some(rest) => Ok((rest, ())),
        None => fail(blanks(input), expected),
    }
}

/// Reads `item {"," item}`. What follows a comma must be an item: its error is the list's error.
pub(super) fn comma_list<'a, T>(
    mut item: impl FnMut(&'a str) -> Parsed<'a, T>,
) -> impl FnMut(&'a str) -> Parsed<'a, Vec<T>> {
    move |input| {
        let (mut rest, first) = item(blanks(input))?;
        let mut items = vec![first];
        while let Some(after) = blanks(rest).strip_prefix(',') {
            let (next, another) = item(blanks(after))?;
            items.push(another);
            rest = next;
        }
        Ok((rest, items))
    }
}

/// Runs a parser over a whole label text.
pub(super) fn whole<'a, T>(
    text: &'a str,
    from: usize,
    mut parser: impl FnMut(&'a str) -> Parsed<'a, T>,
) -> Result<T, LabelError> {
    let error = |fault: &Fault| LabelError { offset: text.len() - fault.left, expected: fault.expected.to_owned() };
    match parser(&text[from..]) {
        Ok((rest, value)) if blanks(rest).is_empty() => Ok(value),
        Ok((rest, _)) => {
            Err(LabelError { offset: text.len() - blanks(rest).len(), expected: "the end of the label".to_owned() })
        }
        Err(Err::Error(fault) | Err::Failure(fault)) => Err(error(&fault)),
        Err(Err::Incomplete(_)) => Err(LabelError { offset: text.len(), expected: "the rest of the label".to_owned() }),
    }
}

/// Whether a character may stand in the name of a thread or an instruction. (A thread's name may have dots besides.)
pub(super) fn is_head_char(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '\'' | '$' | '#' | '-')
}

/// Whether a character may stand in a variable's name, outside of its index. Dots, arrows and stars are there for
/// `object.field`, `p->next` and `*p`.
pub(super) fn is_name_char(character: char) -> bool {
    is_head_char(character) || matches!(character, '.' | '>' | '*' | '&')
}

/// Whether a variable's name without its index can be written in the native dialect: not a constant, not a keyword.
pub(super) fn is_variable(name: &str) -> bool {
    !name.is_empty()
        && name.chars().all(is_name_char)
        && !name.chars().all(|character| character.is_ascii_digit())
        && name != ATOMIC
}

/// Reads indices `[...]`, brackets matched, and gives the length of their text.
pub(super) fn indices_length(text: &str) -> Option<usize> {
    let mut length = 0;
    while text[length..].starts_with('[') {
        let mut depth = 0_usize;
        let end = text[length..].char_indices().find_map(|(position, character)| {
            match character {
                '[' => depth += 1,
                ']' => depth -= 1,
                _ => {}
            }
            (depth == 0).then_some(position + 1)
        })?;
        length += end;
    }
    Some(length)
}
