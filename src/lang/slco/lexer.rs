//! Text to tokens.
//!
//! A token is its kind and its span; its text is looked up in the source. White space and comments are dropped. What is
//! no token is reported and skipped, so that one stray character does not hide the errors behind it.

use crate::lang::Diagnostic;
use crate::program::Span;
use nom::branch::alt;
use nom::bytes::complete::{tag, take_until, take_while, take_while1};
use nom::character::complete::{digit1, satisfy};
use nom::combinator::{recognize, value};
use nom::error::ErrorKind;
use nom::multi::many0_count;
use nom::sequence::{delimited, pair, preceded};
use nom::{IResult, Parser};

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// A name or a keyword.
    Word,
    /// An integer without a sign.
    Number,
    /// An operator or a delimiter.
    Symbol,
    /// The end of the text; stands behind the last token.
    End,
}

/// A token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// Where it stands.
    pub span: Span,
}

/// The symbols, longest first. `==`, `!`, `&` and `|` are no SLCO, but people write them: as tokens they get advice.
const SYMBOLS: [&str; 31] = [
    ":=", "->", "!=", "<>", "<=", ">=", "==", "**", "||", "&&", "{", "}", "[", "]", "(", ")", ":", ";", ",", ".", "=",
    "<", ">", "+", "-", "*", "/", "%", "!", "&", "|",
];

/// Behind this word conditions on states come, and nothing else.
const NEVER: &str = "never";

/// All tokens of a model, the last one an [`TokenKind::End`]; what is no token goes to `errors`. There are none if a
/// comment has no end: nobody knows what it was to hide.
pub fn tokens(text: &str, errors: &mut Vec<Diagnostic>) -> Option<Vec<Token>> {
    tokens_with_words(text, word, errors)
}

/// The tokens of a condition on states: a word is a path, `thread.variable` or `thread@state`.
pub fn condition_tokens(text: &str, errors: &mut Vec<Diagnostic>) -> Option<Vec<Token>> {
    tokens_with_words(text, path, errors)
}

fn tokens_with_words(
    text: &str,
    mut word: fn(&str) -> IResult<&str, &str>,
    errors: &mut Vec<Diagnostic>,
) -> Option<Vec<Token>> {
    let mut tokens = Vec::new();
    let mut rest = text;
    let offset_of = |rest: &str| text.len() - rest.len();
    loop {
        rest = skip_blanks(rest);
        let start = offset_of(rest);
        if rest.is_empty() {
            break;
        }
        if rest.starts_with("/*") {
            let opening = Span { start, end: start + 2 };
            let unterminated = Diagnostic::error(opening, "this comment has no end");
            errors.push(unterminated.with_help("a comment that begins with `/*` ends with `*/`; comments do not nest"));
            return None;
        }
        if let Ok((behind, kind)) = token(rest, word) {
            rest = behind;
            let end = offset_of(rest);
            tokens.push(Token { kind, span: Span { start, end } });
            if &text[start..end] == NEVER {
                word = path;
            }
        } else {
            let strange = rest.find(|c: char| c.is_ascii()).unwrap_or(rest.len()).max(1);
            let shown: String = rest[..strange].chars().take(20).flat_map(printable).collect();
            errors.push(Diagnostic::error(Span { start, end: start + strange }, format!("`{shown}` does not belong here"))
                .with_help("names consist of the letters a to z and A to Z, digits and `_`; other characters only stand in comments"));
            rest = &rest[strange..];
        }
    }
    let end = tokens.last().map_or(0, |token| token.span.end);
    tokens.push(Token { kind: TokenKind::End, span: Span { start: end, end } });
    Some(tokens)
}

/// The character, or its escape if it would not be seen.
fn printable(character: char) -> Vec<char> {
    if character.is_control() { character.escape_default().collect() } else { vec![character] }
}

fn token(input: &str, word: fn(&str) -> IResult<&str, &str>) -> IResult<&str, TokenKind> {
    alt((value(TokenKind::Word, word), value(TokenKind::Number, digit1), value(TokenKind::Symbol, symbol))).parse(input)
}

fn word(input: &str) -> IResult<&str, &str> {
    let first = satisfy(|c| c.is_ascii_alphabetic() || c == '_');
    recognize(pair(first, take_while(|c: char| c.is_ascii_alphanumeric() || c == '_'))).parse(input)
}

/// Words with a dot or an at sign between them, without blanks. Reports put an apostrophe behind an object's name.
/// Control states may be numbers.
fn path(input: &str) -> IResult<&str, &str> {
    let state = take_while1(|c: char| c.is_ascii_alphanumeric() || c == '_');
    let own = recognize(pair(satisfy(|c| matches!(c, '.' | '\'')), word));
    let place = recognize(pair(satisfy(|c| c == '@'), state));
    recognize(pair(word, many0_count(alt((own, place))))).parse(input)
}

fn symbol(input: &str) -> IResult<&str, &str> {
    let known = SYMBOLS.iter().find(|symbol| input.starts_with(**symbol));
    let known = known.ok_or_else(|| nom::Err::Error(nom::error::Error::new(input, ErrorKind::OneOf)))?;
    tag(*known).parse(input)
}

/// The text behind white space, finished comments and byte order marks.
fn skip_blanks(input: &str) -> &str {
    let blank = take_while1(|c: char| c.is_whitespace() || c == '\u{feff}');
    let line_comment = preceded(tag("//"), take_while(|c| c != '\n'));
    let block_comment = delimited(tag("/*"), take_until("*/"), tag("*/"));
    let skipped: IResult<&str, usize> = many0_count(alt((blank, line_comment, block_comment))).parse(input);
    skipped.map_or(input, |(behind, _)| behind)
}

#[cfg(test)]
mod tests {
    use super::tokens;

    fn texts(text: &str) -> Vec<&str> {
        let mut errors = Vec::new();
        let found = tokens(text, &mut errors).expect("all comments end");
        assert_eq!(errors, []);
        found.iter().map(|token| &text[token.span.start..token.span.end]).collect()
    }

    #[test]
    fn the_longest_symbol_wins_and_comments_vanish() {
        let text = "\u{feff}a:=b**-1<>c/*x\n//*/->d // end * / \r }\r\n1:e->/**/f";
        let expected = ["a", ":=", "b", "**", "-", "1", "<>", "c", "->", "d", "1", ":", "e", "->", "f", ""];
        assert_eq!(texts(text), expected);
    }

    #[test]
    fn strange_characters_are_reported_and_skipped() {
        let mut errors = Vec::new();
        let found = tokens("a @ b ü字 c \u{1} d", &mut errors).expect("all comments end");
        assert_eq!(found.len(), 5);
        let messages: Vec<&str> = errors.iter().map(|error| error.message.as_str()).collect();
        let strange = ["`@` does not belong here", "`ü字` does not belong here", "`\\u{1}` does not belong here"];
        assert_eq!(messages, strange);
    }
}
